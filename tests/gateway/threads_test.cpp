// Threads of the gateway: waiting clients occupy no thread, and a blocking function of a test delays no other client.

#include <dirent.h>
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/timing.hpp"

namespace threads_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::ConnectionOptions;
using test_support::End;
using test_support::eventually;
using test_support::Http;
using test_support::patience;
using test_support::RawConnection;
using test_support::sanitized;

/// A latch at which functions of the test wait until it is opened, for at most 60 s.
class Latch {
 public:
  ~Latch() { open(); }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++waiting_;
    opened_.wait_for(lock, 60s, [this] { return open_; });
    --waiting_;
  }
  void open() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      open_ = true;
    }
    opened_.notify_all();
  }
  std::size_t waiting() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return waiting_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  std::size_t waiting_ = 0;
  bool open_ = false;
};

/// Open connections to a gateway, on each of which one request was answered.
struct Kept {
  explicit Kept(const Gateway& gateway, std::size_t count) : http(gateway) {
    while (connections.size() < count) {
      connections.emplace_back(gateway);
      connections.back().send(http.format("GET", "/v1/models"));
      REQUIRE(connections.back().receive_response().status == 200);
    }
  }
  /// Sends a request on each connection. Returns whether all get a response.
  bool are_answered() {
    for (RawConnection& connection : connections) connection.send(http.format("GET", "/v1/models"));
    bool all = true;
    for (RawConnection& connection : connections)
      if (connection.receive_response(patience).status != 200) all = false;
    return all;
  }

  Http http;
  std::vector<RawConnection> connections;
};

/// A function of the test that a gateway calls during a request with the message "wait" or at its end. The function
/// waits at the latch.
struct Tester {
  const char* name;
  std::function<Options(Options, Latch&)> options;
  std::function<void(Gateway&, Latch&)> script;
  const char* path = test_support::chat_path;
};

bool says_wait(const ChatRequest& request) { return request.messages.back().content == "wait"; }

std::vector<Tester> testers() {
  const auto same = [](Options options, Latch&) { return options; };
  return {
      {"a reply function", same,
       [](Gateway& gateway, Latch& latch) {
         gateway.chat().reply([&latch](const ChatRequest&) {
           latch.wait();
           return text("late");
         });
       }},
      {"a matcher of a request", same,
       [](Gateway& gateway, Latch& latch) {
         gateway.chat()
             .when(matching("waits",
                            [&latch](const ChatRequest& request) {
                              if (says_wait(request)) latch.wait();
                              return true;
                            }))
             .reply("late");
       }},
      {"a matcher of a call", same,
       [](Gateway& gateway, Latch& latch) {
         gateway.chat()
             .when(matching_call("waits",
                                 [&latch](const ChatCall&) {
                                   latch.wait();
                                   return true;
                                 }))
             .reply("late");
       }},
      {"a matcher of a text", same,
       [](Gateway& gateway, Latch& latch) {
         gateway.chat()
             .when(user_says(TextMatcher("waits",
                                         [&latch](std::string_view) {
                                           latch.wait();
                                           return true;
                                         })))
             .reply("late");
       }},
      {"a handler", same,
       [](Gateway& gateway, Latch& latch) {
         gateway.on("POST", "/v1/wait", [&latch](const ReceivedRequest&) {
           latch.wait();
           return HttpReply(200, "late");
         });
       },
       "/v1/wait"},
      {"a tokenizer",
       [](Options options, Latch& latch) {
         return options.tokenizer([&latch](std::string_view text) {
           if (text == "late") latch.wait();
           return std::vector<std::string>{std::string(text)};
         });
       },
       [](Gateway& gateway, Latch&) { gateway.chat().reply("late"); }},
      {"on_exchange",
       [](Options options, Latch& latch) {
         return options.on_exchange([&latch](const Exchange& exchange) {
           if (exchange.request().method == "POST") latch.wait();
         });
       },
       [](Gateway& gateway, Latch&) { gateway.chat().reply("early"); }},
  };
}

TEST_CASE("a blocking function of the test delays no other client") {
  for (const Tester& tester : testers()) {
    CAPTURE(tester.name);
    Latch latch;
    Gateway gateway{tester.options(Options{}, latch)};
    tester.script(gateway, latch);
    Kept kept(gateway, 12);
    std::vector<RawConnection> blocked;
    for (std::size_t count = 1; count <= 6; ++count) {
      blocked.emplace_back(gateway);
      const Json body{{"model", "mock-model"}, {"messages", {{{"role", "user"}, {"content", "wait"}}}}};
      blocked.back().send(kept.http.format("POST", tester.path, body.dump()));
      REQUIRE(eventually([&] { return latch.waiting() == count; }));
      CHECK(kept.are_answered());
    }
    latch.open();
    for (RawConnection& connection : blocked) CHECK(connection.receive_response().status == 200);
    CHECK(kept.are_answered());
  }
}

TEST_CASE("a blocking on_connection_hit delays no other client") {
  Latch latch;
  Gateway gateway{Options{}.on_connection_hit([&latch](const ConnectionHit&) { latch.wait(); })};
  Kept kept(gateway, 12);
  gateway.next_connection(reset_when_reused());
  RawConnection struck = std::move(kept.connections.back());
  kept.connections.pop_back();
  struck.send(kept.http.format("GET", "/v1/models"));
  REQUIRE(eventually([&] { return latch.waiting() == 1; }));
  CHECK(kept.are_answered());
  latch.open();
  CHECK(struck.receive_all().end == End::reset);
}

TEST_CASE("a thousand blocking functions in parallel delay no other client") {
  const std::size_t count = sanitized ? 100 : 1000;
  Latch latch;
  Gateway gateway;
  gateway.chat().reply([&latch](const ChatRequest&) {
    latch.wait();
    return text("late");
  });
  Kept kept(gateway, 4);
  std::vector<RawConnection> blocked;
  while (blocked.size() < count) {
    blocked.emplace_back(gateway);
    blocked.back().send(kept.http.format_chat());
  }
  REQUIRE(eventually([&] { return latch.waiting() == count; }, 60s));
  CHECK(kept.are_answered());
  latch.open();
  for (RawConnection& connection : blocked) CHECK(connection.receive_response(60s).text() == "late");
}

TEST_CASE("clients that send partial requests or do not read delay no other client") {
  Gateway gateway;
  gateway.chat().reply(text(std::string(std::size_t{8} << 20, 'x')));
  Kept kept(gateway, 12);
  const std::string request = kept.http.format_chat();
  const std::size_t head = request.find("\r\n\r\n") + 4;
  std::vector<RawConnection> slow;
  ConnectionOptions small;
  small.receive_buffer = 4096;
  for (const std::size_t part : {std::size_t{1}, head / 2, head, head + 1, request.size()}) {
    CAPTURE(part);
    for (int i = 0; i < 5; ++i) {
      slow.emplace_back(gateway, small);
      slow.back().send(request.substr(0, part));
    }
    CHECK(kept.are_answered());
  }
}

#ifdef __linux__

std::size_t threads() {
  std::size_t count = 0;
  DIR* const folder = ::opendir("/proc/self/task");
  REQUIRE(folder != nullptr);
  while (const dirent* const entry = ::readdir(folder))
    if (entry->d_name[0] != '.') ++count;
  ::closedir(folder);
  return count;
}

TEST_CASE("a client that has its reply occupies no thread, and a gateway without clients has one thread") {
  const std::size_t before = threads();
  Gateway gateway;
  {
    Kept kept(gateway, 300);
    // One thread accepts. The threads that wait for clients are one per processor, at most four.
    CHECK(eventually([&] { return threads() <= before + 5; }));
    CHECK(kept.are_answered());
  }
  CHECK(eventually([&] { return threads() <= before + 1; }));
  CHECK(Http(gateway).request("GET", "/v1/models").status == 200);
}

/// Clients that each have an exchange that waits.
struct Waiting {
  const char* name;
  std::function<void(Gateway&, const Gate&)> script;
  /// Starts the exchange.
  std::function<void(RawConnection&, const Http&)> client;
  /// Whether the journal records the exchange before its wait ends.
  bool is_recorded = true;
  std::size_t clients = 40;
};

std::vector<Waiting> waiting() {
  const auto asks = [](RawConnection& connection, const Http& http) {
    connection.send(http.format_chat(Json{{"stream", true}}));
  };
  const auto reply = [](Reply answer) {
    return [answer](Gateway& gateway, const Gate&) { gateway.chat().reply(answer); };
  };
  const auto none = [](Gateway&, const Gate&) {};
  const auto fault = [](const ConnectionFault& struck) {
    return [struck](Gateway& gateway, const Gate&) { gateway.next_connection(struck, 1000); };
  };
  return {
      {"a paced stream", reply(text("one two").every(60s)), asks},
      {"a late first token", reply(text("one two").first_token_after(60s)), asks},
      {"a plain reply that is late", reply(text("one two").first_token_after(60s)),
       [](RawConnection& connection, const Http& http) { connection.send(http.format_chat()); }},
      {"a stall", reply(text("one two").fault(after_tokens(1), stall())), asks},
      {"a stall for a while", reply(text("one two").fault(after_tokens(1), stall(60s))), asks},
      {"a hold",
       [](Gateway& gateway, const Gate& gate) { gateway.chat().reply(text("one two").hold(gate, before_token(2))); },
       asks},
      {"pings", reply(text("one two").every(60s).sse(SseDialect().ping_every(50ms))), asks},
      {"a half-closed connection", reply(text("one two").fault(after_tokens(1), half_close())), asks},
      {"a stream left open", reply(text("one two").sse(SseDialect().open_after_done(true))), asks},
      // The reply exceeds the system's buffers. There are few clients, because each megabyte is expensive with the
      // thread sanitizer.
      {"a client that does not read", reply(text(std::string(std::size_t{5} << 20, 'x'))), asks, true, 7},
      {"a reset, before which a reply is to arrive that the client does not read",
       [](Gateway& gateway, const Gate&) {
         gateway.chat().reply(text(std::string(100'000, 'x')));
         gateway.next_connection(reset_when_reused(), 1000);
       },
       [](RawConnection& connection, const Http& http) { connection.send(http.format_chat() + http.format_chat()); }},
      {"a stub that asks the test for its reply",
       [](Gateway& gateway, const Gate&) {
         gateway.load(Json::parse(R"({"mock_gateway": 1, "stubs": [{"reply": {"ask": true}}]})"));
       },
       asks, false},
      {"a part of a head", none,
       [](RawConnection& connection, const Http& http) { connection.send(http.format_chat().substr(0, 40)); }, false},
      {"a part of a body", none,
       [](RawConnection& connection, const Http& http) {
         const std::string request = http.format_chat();
         connection.send(request.substr(0, request.size() - 5));
       },
       false},
      {"a part of a chunk", none,
       [](RawConnection& connection, const Http& http) {
         std::string request = http.format_chat();
         request.replace(request.find("Content-Length"), request.find("\r\n\r\n") - request.find("Content-Length"),
                         "Transfer-Encoding: chunked");
         connection.send(request.substr(0, request.find("\r\n\r\n") + 4) + "40\r\n{");
       },
       false},
      {"a body that is read slowly", fault(slow_body(1, 60s)),
       [](RawConnection& connection, const Http& http) { connection.send(http.format_chat()); }, false},
  };
}

TEST_CASE("a waiting exchange occupies no thread") {
  for (const Waiting& one : waiting()) {
    CAPTURE(one.name);
    const std::size_t before = threads();
    Gateway gateway{Options{}.verify_on_destruction(false)};
    const Gate gate(60s);
    one.script(gateway, gate);
    const Http http(gateway);
    std::vector<RawConnection> clients;
    ConnectionOptions small;
    small.receive_buffer = 4096;
    while (clients.size() < one.clients) {
      clients.emplace_back(gateway, small);
      one.client(clients.back(), http);
    }
    if (one.is_recorded) CHECK(gateway.journal().wait_for(clients.size(), 30s));
    // These requests are served by the threads that read the earlier requests.
    for (int i = 0; i < 10; ++i) CHECK(http.request("GET", "/v1/models").status == 200);
    CHECK(eventually([&] { return threads() <= before + 5; }));
    gateway.reset();
    CHECK(http.request("GET", "/v1/models").status == 200);
  }
}

#endif

TEST_CASE("a reply of a function's thread is sent on time even if its client sends another request meanwhile") {
  std::atomic<int> called{0};  // outlives the gateway: the last request may run until the gateway ends
  std::atomic<int> released{0};
  Gateway gateway;
  gateway.chat().reply([&](const ChatRequest&) {
    const int mine = ++called;
    CHECK(eventually([&] { return released >= mine; }));
    return text("one two three").slice_writes(20);
  });
  Kept other(gateway, 1);
  const std::string request = other.http.format_chat(Json{{"stream", true}});
  RawConnection connection(gateway);
  connection.send(request);
  for (int round = 1; round <= 20; ++round) {
    REQUIRE(eventually([&] { return called == round; }));
    connection.send(request);
    CHECK(other.are_answered());  // served by the thread that receives acknowledgements
    const auto before = std::chrono::steady_clock::now();
    released = round;
    CHECK(connection.receive_response().status == 200);
    CHECK(std::chrono::steady_clock::now() - before < 5s);
  }
  released = 1000;
}

TEST_CASE("a connection that the client half-closed is closed after the reply") {
  Gateway gateway;
  const Http http(gateway);
  for (int i = 0; i < 50; ++i) {
    RawConnection connection(gateway);
    connection.send(http.format("GET", "/v1/models"));
    if (i % 2 == 1) CHECK(connection.receive_response().status == 200);
    connection.shutdown_write();
    if (i % 2 == 0) CHECK(connection.receive_response().status == 200);
    CHECK(connection.receive_all().end == End::fin);
  }
}

TEST_CASE("a request that a client sends before the previous reply is answered next") {
  Gateway gateway;
  Gate gate;
  gateway.chat().reply(text("held").hold(gate, before_event(1)));
  const Http http(gateway);
  for (int i = 0; i < 20; ++i) {
    RawConnection connection(gateway);
    connection.send(http.format_chat());
    REQUIRE(gate.wait_until_reached(static_cast<std::size_t>(i) + 1, patience));
    connection.send(http.format("GET", "/v1/models"));
    gate.release();
    CHECK(connection.receive_response().text() == "held");
    CHECK(connection.receive_response().status == 200);
  }
}

TEST_CASE("a client that pipelines thousands of requests delays no other client") {
  const std::size_t count = sanitized ? 500 : 3000;
  Gateway gateway;
  Kept kept(gateway, 4);  // one thread waits for all four connections
  RawConnection flooding = std::move(kept.connections.back());
  kept.connections.pop_back();
  std::string requests;
  for (std::size_t i = 0; i < count; ++i) requests += kept.http.format("GET", "/v1/models");
  std::atomic<std::size_t> answered{0};
  std::thread reading([&] {
    while (answered < count && flooding.receive_response(patience).status == 200) ++answered;
  });
  flooding.send(requests);
  REQUIRE(eventually([&] { return answered > 0; }));
  CHECK(kept.are_answered());
  CHECK(answered < count);
  reading.join();
  CHECK(answered == count);
}

TEST_CASE("an idle connection is closed after the idle timeout") {
  Gateway gateway{Options{}.idle_timeout(150ms)};
  Kept kept(gateway, 20);
  const auto before = std::chrono::steady_clock::now();
  CHECK(kept.are_answered());
  for (RawConnection& connection : kept.connections) CHECK(connection.receive_all().end == End::fin);
  CHECK(std::chrono::steady_clock::now() - before >= 140ms);
}

TEST_CASE("a stopping gateway closes a thousand silent connections") {
  const std::size_t count = sanitized ? 200 : 1000;
  std::optional<Gateway> gateway;
  gateway.emplace();
  Kept kept(*gateway, count);
  gateway.reset();
  for (RawConnection& connection : kept.connections) CHECK(connection.receive_all().end == End::fin);
}

}  // namespace threads_test
