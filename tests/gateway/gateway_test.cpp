// Start, addresses, options and end of gateways.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::Http;
using test_support::RawConnection;
using test_support::Response;

namespace gateway_test {

std::string message_of(const std::function<void()>& code) {
  try {
    code();
  } catch (const GatewayError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("a gateway answers as soon as its constructor returns") {
  for (int run = 0; run < 50; ++run) {
    Gateway gateway;
    CHECK(Http(gateway).ask("Hi").size() > 0);
  }
}

TEST_CASE("base_url ends in /v1, root_url does not, and both carry host and port") {
  Gateway gateway;
  CHECK(gateway.host() == "127.0.0.1");
  CHECK(gateway.port() > 0);
  CHECK(gateway.root_url() == "http://127.0.0.1:" + std::to_string(gateway.port()));
  CHECK(gateway.base_url() == gateway.root_url() + "/v1");
}

TEST_CASE("a gateway listens on the requested port, which is free again after its destruction") {
  int port = 0;
  {
    Gateway gateway;
    port = gateway.port();
    CHECK(Http(gateway).ask("Hi").size() > 0);
  }
  Gateway again{Options{}.port(port)};
  CHECK(again.port() == port);
  CHECK(Http(again).ask("Hi").size() > 0);
}

TEST_CASE("a taken port throws a clear error, and two gateways never share a port") {
  Gateway first;
  const std::string message = message_of([&] { Gateway second{Options{}.port(first.port())}; });
  CHECK(contains(message, "port " + std::to_string(first.port()) + " is taken"));
  CHECK(contains(message, "choose another port"));
  CHECK(Http(first).ask("Hi").size() > 0);
}

TEST_CASE("a host of another machine throws a clear error") {
  CHECK(contains(message_of([] { Gateway gateway{Options{}.host("192.0.2.1")}; }), "192.0.2.1"));
  CHECK(contains(message_of([] { Gateway gateway{Options{}.host("no such host")}; }), "no such host"));
}

TEST_CASE("a gateway can listen on a name, on IPv6 and on all addresses") {
  Gateway named{Options{}.host("localhost")};
  CHECK(contains(named.base_url(), "http://localhost:"));
  CHECK(Http("localhost", named.port(), named.api_key()).get("/v1/models").status == 200);
  Gateway everywhere{Options{}.host("0.0.0.0")};
  CHECK(contains(everywhere.base_url(), "http://127.0.0.1:"));
  CHECK(Http("127.0.0.1", everywhere.port(), everywhere.api_key()).get("/v1/models").status == 200);
}

TEST_CASE("an invalid option throws an error with its name") {
  CHECK(contains(message_of([] { Gateway gateway{Options{}.port(70000)}; }), "port must be from 0 to 65535"));
  CHECK(contains(message_of([] { Gateway gateway{Options{}.host("")}; }), "host"));
  CHECK(contains(message_of([] { Gateway gateway{Options{}.max_n(0)}; }), "max_n"));
  CHECK(contains(message_of([] { Gateway gateway{Options{}.max_body(0)}; }), "max_body"));
  CHECK(contains(message_of([] { Gateway gateway{Options{}.max_head(1023)}; }), "max_head must be at least 1024"));
  CHECK_NOTHROW(Gateway{Options{}.max_head(1024).max_body(1).max_n(1).journal_limits(1, 1)});
  const std::chrono::nanoseconds least{1};
  for (const Options& options :
       {Options{}.read_timeout(least), Options{}.write_timeout(least), Options{}.idle_timeout(least),
        Options{}.head_timeout(least), Options{}.body_timeout(least), Options{}.stall_guard(least)})
    CHECK_NOTHROW(Gateway{options});
  for (const int port : {-1, 65536})
    CHECK(contains(message_of([&] { Gateway gateway{Options{}.port(port)}; }), "port must be from 0 to 65535"));
  CHECK(contains(message_of([] { Gateway gateway{Options{}.journal_limits(0, 1)}; }), "needs at least 1 of each"));
  CHECK(contains(message_of([] { Gateway gateway{Options{}.journal_limits(1, 0)}; }), "needs at least 1 of each"));
  CHECK(contains(message_of([] { Gateway gateway{Options{}.pace(Pace().chunked(by_pieces({"a"})))}; }), "by_pieces"));
  for (const Duration time : {Duration(0s), Duration(-1ns)}) {
    for (const Options& options :
         {Options{}.read_timeout(time), Options{}.write_timeout(time), Options{}.idle_timeout(time),
          Options{}.head_timeout(time), Options{}.body_timeout(time)}) {
      CHECK(contains(message_of([&] { Gateway gateway{options}; }), "timeouts must be positive"));
    }
    CHECK(contains(message_of([&] { Gateway gateway{Options{}.stall_guard(time)}; }), "stall_guard must be positive"));
  }
  CHECK(contains(message_of([] { Gateway gateway{Options{}.model("a").model("a")}; }), "\"a\" is given twice"));
  CHECK(contains(message_of([] { Gateway gateway{Options{}.model("")}; }), "id must not be empty"));
  CHECK(contains(message_of([] { Gateway gateway{Options{}.api_key(" secret")}; }), "printable ASCII without a space"));
  CHECK(contains(message_of([] { Gateway gateway{Options{}.api_key("")}; }), "neither empty"));
  // JSON cannot contain invalid UTF-8, so no reply could send such an id and no request could name it.
  CHECK(contains(message_of([] { Gateway gateway{Options{}.model("\xff")}; }), "model's id is sent as JSON"));
  CHECK(contains(message_of([] { Gateway gateway{Options{}.model("a", "b\xff")}; }), "model's owner is sent as JSON"));
  const auto with_key = [](const KeyOptions& key) { Gateway gateway{Options{}.key("a", key)}; };
  CHECK(contains(message_of([&] { with_key(KeyOptions{}.secret("sk-a").models({"a", "\xff"})); }), "must be UTF-8"));
  Gateway gateway;
  const CreatedKey key = gateway.keys().create("a");
  CHECK(contains(message_of([&] { gateway.keys().limit_models(key.id, {"\xff"}); }), "must be UTF-8"));
}

TEST_CASE("many gateways coexist, each with its own keys and script") {
  std::vector<Gateway> gateways;
  for (int i = 0; i < 20; ++i) {
    gateways.emplace_back(Options{}.seed(static_cast<std::uint64_t>(i)));
    gateways.back().chat().reply("gateway " + std::to_string(i));
  }
  std::set<int> ports;
  for (int i = 0; i < 20; ++i) {
    const Gateway& gateway = gateways[static_cast<std::size_t>(i)];
    ports.insert(gateway.port());
    CHECK(Http(gateway).ask("Hi") == "gateway " + std::to_string(i));
  }
  CHECK(ports.size() == 20);
  CHECK(Http(gateways[0]).with_key(gateways[1].api_key()).chat().status == 401);
}

TEST_CASE("a gateway can be moved while clients use it") {
  Gateway gateway;
  gateway.chat().reply("before");
  const Http http = Http(gateway).keep_alive();
  CHECK(http.ask("Hi") == "before");
  Gateway moved = std::move(gateway);
  moved.chat().reply("after");
  CHECK(http.ask("Hi") == "after");
}

TEST_CASE("handles outlive their gateway") {
  auto gateway = std::make_unique<Gateway>();
  Stub stub = gateway->chat().reply("Hello.");
  const Keys keys = gateway->keys();
  const Journal journal = gateway->journal();
  Http(*gateway).ask("Hi");
  const Exchange exchange = stub.last_call();
  gateway.reset();
  CHECK(stub.calls() == 1);
  CHECK(exchange.outcome() == Outcome::Kind::completed);
  CHECK(journal.count() == 1);
  CHECK(keys.list().size() == 1);
  CHECK_NOTHROW(keys.create("late"));
}

TEST_CASE("a gateway serves several models, each with its own id and owner") {
  Gateway gateway{Options{}.model("fast", "team a").model("deep", "team b")};
  const Http http(gateway);
  const Json list = http.get("/v1/models").json();
  REQUIRE(list["data"].size() == 2);
  CHECK(list["object"] == "list");
  CHECK(list["data"][0]["id"] == "fast");
  CHECK(list["data"][0]["object"] == "model");
  CHECK(list["data"][0]["owned_by"] == "team a");
  CHECK(list["data"][1]["id"] == "deep");
  CHECK(http.get("/v1/models/deep").json() == list["data"][1]);
  CHECK(http.chat({{"model", "deep"}}).json()["model"] == "deep");
  const Response unknown = http.chat({{"model", "mock-model"}});
  CHECK(unknown.status == 404);
  CHECK(unknown.error_code() == "model_not_found");
}

TEST_CASE("the same seed repeats secrets, ids and replies; another seed does not") {
  const auto run = [](std::uint64_t seed) {
    ManualClock clock;
    Gateway gateway{Options{}.seed(seed).clock(clock)};
    const Http http(gateway);
    return gateway.api_key() + gateway.keys().create("k").secret + http.chat().body + http.chat().body +
           http.stream().body;
  };
  CHECK(run(7) == run(7));
  CHECK(run(7) != run(8));
}

TEST_CASE("a default key that the test chooses is valid from the start") {
  Gateway gateway{Options{}
                      .api_key("sk-mine")
                      .key("second", KeyOptions{}.secret("sk-second"))
                      .key("third", KeyOptions{}.secret("sk-third").disabled())};
  CHECK(gateway.api_key() == "sk-mine");
  CHECK(Http(gateway).chat().status == 200);
  CHECK(Http(gateway).with_key("sk-second").chat().status == 200);
  CHECK(Http(gateway).with_key("sk-third").chat().status == 403);
}

TEST_CASE("reset forgets stubs, failures and journal, and keeps keys and mounted operations") {
  Gateway gateway;
  const Http http(gateway);
  const auto key = gateway.keys().create("kept");
  gateway.on("POST", "/v1/images/generations", [](const ReceivedRequest&) { return Json{{"ok", true}}; });
  gateway.chat().reply("scripted");
  CHECK(http.ask("Hi") == "scripted");
  gateway.fail_always(server_error());
  CHECK(http.chat().status == 500);
  gateway.reset();
  CHECK(gateway.journal().count() == 0);
  CHECK(http.ask("Hi") != "scripted");
  CHECK(http.with_key(key.secret).post("/v1/images/generations", Json::object()).json()["ok"] == true);
}

TEST_CASE("the log function is called at the end of each exchange, and its exceptions are ignored") {
  std::mutex mutex;
  std::vector<std::string> lines;
  Gateway gateway{Options{}.on_exchange([&](const Exchange& exchange) {
    const std::lock_guard<std::mutex> lock(mutex);
    lines.push_back(exchange.summary());
    if (lines.size() == 1) throw std::runtime_error("disk full");
  })};
  const Http http(gateway);
  http.chat();
  http.without_key().chat();
  REQUIRE(test_support::eventually([&] {
    const std::lock_guard<std::mutex> lock(mutex);
    return lines.size() == 2;
  }));
  std::sort(lines.begin(), lines.end());  // sorted by id, because two connections may end in any order
  CHECK(contains(lines[0], "#1 POST /v1/chat/completions 200 default reply completed"));
  CHECK(contains(lines[1], "#2 POST /v1/chat/completions 401 "));
}

TEST_CASE("stop() ends open streams at once, and the journal records that") {
  Gateway gateway;
  Stub stub = gateway.chat().reply(text("one two").fault(after_events(1), stall()));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(connection.receive_until("\n\n").found);
  const Exchange exchange = stub.last_call();
  CHECK(exchange.outcome(0s) == Outcome::Kind::pending);
  gateway.stop();
  CHECK(exchange.outcome() == Outcome::Kind::stopped);
  CHECK(connection.receive_all().end != test_support::End::open);
}

TEST_CASE("stop() waits for a blocking function of the test") {
  std::promise<void> entered;
  std::promise<void> release;
  std::atomic<bool> returned{false};
  auto gateway = std::make_unique<Gateway>();
  gateway->chat().reply([&](const ChatRequest&) -> Reply {
    entered.set_value();
    release.get_future().wait();
    returned = true;
    return "late";
  });
  RawConnection connection(*gateway);
  connection.send(Http(*gateway).format_chat());
  entered.get_future().wait();
  auto stopping = std::async(std::launch::async, [&] {
    gateway.reset();
    return returned.load();
  });
  CHECK(connection.receive_all().end == End::fin);  // the connection ends at once, before the function returns
  CHECK_FALSE(returned);
  release.set_value();
  CHECK(stopping.get());
}

TEST_CASE("several threads may call stop() in parallel") {
  for (int run = 0; run < 100; ++run) {
    Gateway gateway;
    auto other = std::async(std::launch::async, [&] { gateway.stop(); });
    gateway.stop();
    other.get();
  }
}

TEST_CASE("a handler can stop another gateway, but not its own") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.on("POST", "/v1/stop", [&](const ReceivedRequest&) {
    gateway.stop();
    return Json::object();
  });
  CHECK(Http(gateway).post("/v1/stop", Json::object()).status == 500);
  CHECK(contains(gateway.journal().last().decision().detail, "it would wait for itself"));
  Gateway other;
  other.on("POST", "/v1/stop", [&](const ReceivedRequest&) {
    gateway.stop();
    return Json::object();
  });
  CHECK(Http(other).post("/v1/stop", Json::object()).status == 200);
}

TEST_CASE("a gateway without a body limit accepts any announced size") {
  Gateway gateway{Options{}.max_body(std::numeric_limits<std::size_t>::max())};
  RawConnection connection(gateway);
  connection.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000000000000000\r\n\r\n{");
  connection.shutdown_write();
  CHECK(connection.receive_response().error_message() ==
        "the client closed the connection after 1 of 9000000000000000000 bytes of the body");
  CHECK(Http(gateway).chat().status == 200);
}

TEST_CASE("reports can show a stub with invalid UTF-8") {
  Gateway gateway{Options{}.unmatched(Unmatched::allowed)};
  gateway.chat().when(user_says("caf\xe9")).reply("yes");
  const Response response = Http(gateway).chat();
  CHECK(response.status == 422);
  CHECK(response.error_code() == "no_stub_matched");
  CHECK(gateway.journal().last().decision() == Decision::Kind::unmatched);
}

TEST_CASE("a call during which the tokenizer throws counts as a call of its stub") {
  Gateway gateway{Options{}.verify_on_destruction(false).tokenizer(
      [](std::string_view) -> std::vector<std::string> { throw std::runtime_error("no vocabulary"); })};
  Stub stub = gateway.chat().reply("Hello.");
  CHECK(Http(gateway).chat().status == 500);
  CHECK(stub.calls() == 1);
  CHECK(contains(stub.last_call().decision().detail, "no vocabulary"));
}

}  // namespace gateway_test
