// Replies that the journal keeps with Options::keep_answers: the sent bytes, their times, and how the reply ended.

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace kept_answer_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using Ending = SentAnswer::Ending;
using test_support::chat_path;
using test_support::Http;
using test_support::patience;
using test_support::RawConnection;
using test_support::Response;

inline Options keeping() { return Options().keep_answers(true); }

/// Waits until the gateway is idle and returns the recorded reply of the newest exchange.
inline SentAnswer sent(const Gateway& gateway) {
  REQUIRE(gateway.journal().wait_until_idle(patience));
  const std::optional<SentAnswer> answer = gateway.journal().last().answer();
  REQUIRE(answer);
  return *answer;
}

inline std::vector<std::string> texts(const SentAnswer& answer) {
  std::vector<std::string> all;
  for (const SentAnswer::Part& part : answer.parts) all.push_back(part.bytes);
  return all;
}

/// Checks that the recorded parts equal the HTTP chunks that the client received.
inline void check_chunks(const SentAnswer& answer, const Response& response) {
  std::vector<std::size_t> sizes;
  for (const SentAnswer::Part& part : answer.parts) sizes.push_back(part.bytes.size());
  CHECK(sizes == response.chunks);
  CHECK(answer.body() == response.body);
}

inline void check_head(const SentAnswer& answer, const Response& response) {
  CHECK(answer.status == response.status);
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " " + response.reason + "\r\n";
  for (const wire::Header& field : answer.headers) head += field.name + ": " + field.value + "\r\n";
  CHECK(head + "\r\n" == response.head);
}

TEST_CASE("by default the journal keeps no replies") {
  Gateway gateway;
  Http(gateway).chat();
  REQUIRE(gateway.journal().wait_until_idle(patience));
  CHECK_FALSE(gateway.journal().last().answer());
}

TEST_CASE("a plain reply is kept as sent, including its head") {
  Gateway gateway(keeping());
  gateway.chat().reply(text("Zürich").header("x-a", "1").add_header("x-a", "2"));
  const Response response = Http(gateway).chat();
  const SentAnswer answer = sent(gateway);
  check_head(answer, response);
  CHECK(answer.parts.size() == 1);
  CHECK(answer.body() == response.body);
  CHECK(answer.ending == Ending::whole);
  CHECK_FALSE(answer.is_streamed);
  CHECK_FALSE(answer.is_cut);
  CHECK_FALSE(answer.has_masked_key);
  const Response models = Http(gateway).get("/v1/models");
  CHECK(sent(gateway).body() == models.body);
  const Response refused = Http(gateway).with_key("sk-nobody").get("/v1/models");
  CHECK(sent(gateway).body() == refused.body);
  CHECK(sent(gateway).status == 401);
  gateway.on("GET", "/v1/bytes", [](const ReceivedRequest&) { return HttpReply(200, std::string("\0\xff\r\n", 4)); });
  Http(gateway).get("/v1/bytes");
  CHECK(sent(gateway).body() == std::string("\0\xff\r\n", 4));
}

TEST_CASE("a stream is kept event by event, without chunk framing and gzip") {
  Gateway gateway(keeping());
  const Http http(gateway);
  for (const SseDialect& dialect :
       {SseDialect(), SseDialect().line_end("\r\n").ids(true).comment("c").byte_order_mark(true)}) {
    gateway.chat().reply(text("one two three").sse(dialect));
    const Response response = http.stream();
    const SentAnswer answer = sent(gateway);
    check_head(answer, response);
    check_chunks(answer, response);
    CHECK(answer.ending == Ending::whole);
    CHECK(answer.is_streamed);
  }
  const std::string plain = sent(gateway).body();
  gateway.chat().reply(
      text("one two three").sse(SseDialect().line_end("\r\n").ids(true).comment("c").byte_order_mark(true).gzip(true)));
  http.stream();
  const SentAnswer compressed = sent(gateway);
  CHECK(compressed.is_compressed);
  CHECK(compressed.body().size() == plain.size());  // the contents differ in the ids
  CHECK(compressed.headers.find("Content-Encoding") == "gzip");
}

TEST_CASE("a payload that looks like framing is kept unchanged") {
  Gateway gateway(keeping());
  gateway.chat().reply(chunks({raw_bytes("\r\n"), raw_bytes("2\r\n\r\n\r\n"), raw_bytes("0\r\n\r\n")}));
  const Response response = Http(gateway).stream();
  check_chunks(sent(gateway), response);
  CHECK(texts(sent(gateway))[1] == "2\r\n\r\n\r\n");
}

TEST_CASE("each part has the time when it was sent, on the gateway's clock") {
  ManualClock clock;
  Gateway gateway(keeping().clock(clock));
  gateway.chat().reply(text("one two").first_token_after(100ms).every(50ms).fault(at_end(), stall(7ms)));
  std::thread client([&] { Http(gateway).stream(); });
  for (const Duration step : {Duration(100ms), Duration(50ms), Duration(7ms)}) {
    REQUIRE(clock.wait_for_waits(1, patience));
    clock.advance(step);
  }
  client.join();
  const SentAnswer answer = sent(gateway);
  std::vector<Duration> times;
  for (const SentAnswer::Part& part : answer.parts) times.push_back(part.at);
  REQUIRE(times.size() == 5);
  CHECK(times == std::vector<Duration>{0ms, 100ms, 150ms, 150ms, 150ms});
  CHECK(answer.head_at == Duration{0});
  CHECK(answer.ended_at == Duration(157ms));
}

TEST_CASE("a reply with a fault is kept up to the fault, and records how it ended") {
  // The destructor would report the expired stall guard.
  Gateway gateway(keeping().stall_guard(test_support::short_guard).verify_on_destruction(false));
  const Http http = Http(gateway).allow_incomplete();
  struct Case {
    Fault fault;
    Ending ending;
    std::size_t parts;
  };
  const std::vector<Case> cases = {
      {{after_tokens(2), reset_connection()}, Ending::reset, 3},
      {{after_tokens(2), close_connection()}, Ending::closed, 3},
      {{after_tokens(1), stall()}, Ending::reset, 2},  // the stall guard resets the connection
      {{after_headers(), reset_connection()}, Ending::reset, 0},
      {{inside_event(2, 9), close_connection()}, Ending::closed, 2},
      {{before_done(), close_connection()}, Ending::closed, 5},
      {{at_end(), close_connection()}, Ending::closed, 6},
      {{after_tokens(2), error_event(server_error())}, Ending::whole, 5},
      {{after_events(2), skip_event()}, Ending::whole, 5},
  };
  for (const Case& one : cases) {
    gateway.chat().reply(text("one two three").fault(one.fault.trigger, one.fault.effect));
    const Response response = http.stream();
    const SentAnswer answer = sent(gateway);
    CAPTURE(gateway.journal().last().faults());
    CHECK(answer.ending == one.ending);
    CHECK(answer.parts.size() == one.parts);
    if (one.ending != Ending::reset) CHECK(answer.body() == response.body);
  }
  gateway.chat().reply(text("one two").fault(before_headers(), reset_connection()));
  http.stream();
  CHECK(sent(gateway).status == 0);
  CHECK(sent(gateway).headers.empty());
}

TEST_CASE("bytes outside the body are kept apart from it") {
  Gateway gateway(keeping());
  const Http http = Http(gateway).allow_incomplete();
  gateway.chat().reply(text("one two").fault(after_tokens(1), garbage("no chunk")));
  http.stream();
  CHECK(sent(gateway).garbage == "no chunk");
  CHECK(sent(gateway).parts.size() == 2);
  gateway.chat().reply(text("one two").fault(inside_event(2, 10), truncate()));
  const Response cut = http.stream();
  CHECK(sent(gateway).missing > 0);
  CHECK(sent(gateway).parts.back().bytes.size() == 10);
  CHECK(sent(gateway).body() == cut.body);
  gateway.chat().reply(text("Hi").early_hints({{"Link", "</a>; rel=preload"}}));
  gateway.next_connection(unsolicited_continue());
  http.chat();
  const SentAnswer answer = sent(gateway);
  REQUIRE(answer.interim.size() == 2);
  CHECK(answer.interim[0].status == 100);
  CHECK(answer.interim[1].status == 103);
  CHECK(answer.interim[1].headers.find("Link") == "</a>; rel=preload");
}

TEST_CASE("if the client leaves, the bytes sent so far are kept") {
  Gateway gateway(keeping());
  Gate gate;
  gateway.chat().reply(text("one two three").hold(gate, before_token(2)));
  {
    RawConnection connection(gateway.host(), gateway.port());
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    REQUIRE(gate.wait_until_reached(patience));
    const SentAnswer so_far = *gateway.journal().last().answer();
    CHECK(so_far.ending == Ending::open);
    CHECK(so_far.parts.size() == 2);
    connection.abort();
  }
  REQUIRE(gateway.journal().last().wait_for_client_to_leave(patience));
  gate.open();
  const SentAnswer answer = sent(gateway);
  CHECK(answer.ending == Ending::abandoned);
  CHECK(answer.parts.size() == 2);
}

TEST_CASE("keys are masked in kept replies") {
  Gateway gateway(keeping().key("billing", KeyOptions().secret("sk-billing")));
  gateway.chat().reply(text("your key is sk-billing.").header("x-key", "sk-billing"),
                       chunks({raw_bytes("data: sk-bil"), raw_bytes("ling\n\n")}));
  Http(gateway).chat();
  SentAnswer answer = sent(gateway);
  CHECK(answer.has_masked_key);
  CHECK(answer.headers.find("x-key") == "sk-***");
  CHECK(answer.body().find("sk-billing") == std::string::npos);
  CHECK(answer.body().find("your key is sk-***.") != std::string::npos);
  Http(gateway).stream();
  answer = sent(gateway);
  CHECK(texts(answer) == std::vector<std::string>{"data: sk-***\n\ndata: [DONE]\n\n"});
  gateway.chat().reply(text("Hi").early_hints({{"X-Key", "sk-billing"}, {"Link", "</a?key=sk-billing>"}}));
  Http(gateway).chat();
  answer = sent(gateway);
  CHECK(answer.has_masked_key);
  REQUIRE(answer.interim.size() == 1);
  CHECK(answer.interim[0].headers.find("X-Key") == "sk-***");
  CHECK(answer.interim[0].headers.find("Link") == "</a?key=sk-***>");
}

TEST_CASE("the kept bytes of a reply have the same limit as those of a request") {
  Gateway gateway(keeping().max_body(3000));
  gateway.chat().reply(text(std::string(2000, 'x')), text(std::string(4000, 'x')));
  Http(gateway).chat();
  CHECK_FALSE(sent(gateway).is_cut);
  const Response whole = Http(gateway).chat();
  CHECK(whole.complete);
  CHECK(sent(gateway).is_cut);
  CHECK(sent(gateway).body().size() <= 3000);
  CHECK(sent(gateway).ending == Ending::whole);
}

TEST_CASE("kept replies count against the journal's byte limit") {
  Gateway gateway(keeping().journal_limits(1000, 100'000));
  gateway.chat().reply(text(std::string(30'000, 'x')));
  const Http http = Http(gateway).keep_alive();
  for (int i = 0; i < 10; ++i) http.chat();
  REQUIRE(gateway.journal().wait_until_idle(patience));
  CHECK(gateway.journal().evicted() >= 7);
  CHECK(gateway.journal().all().size() >= 1);
  CHECK(gateway.journal().last().answer()->body().size() > 30'000);
  gateway.journal().clear();
  for (int i = 0; i < 2; ++i) http.chat();
  REQUIRE(gateway.journal().wait_until_idle(patience));
  CHECK(gateway.journal().evicted() == 0);
}

TEST_CASE("a kept reply can be read while other exchanges are under way") {
  Gateway gateway(keeping().journal_limits(20, 1'000'000));
  gateway.chat().reply(text("one two three four five").every(1ms));
  std::vector<std::thread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&] {
      const Http http = Http(gateway).keep_alive();
      for (int i = 0; i < 20; ++i) http.stream();
    });
  }
  std::size_t seen = 0;
  while (gateway.journal().count() < 80) {
    for (const Exchange& exchange : gateway.journal().all()) seen += exchange.answer()->parts.size();
  }
  for (std::thread& client : clients) client.join();
  REQUIRE(gateway.journal().wait_until_idle(patience));
  CHECK(seen > 0);
  for (const Exchange& exchange : gateway.journal().all()) CHECK(exchange.answer()->parts.size() == 8);
}

TEST_CASE("each element of a handwritten stream is sent at its scheduled time") {
  ManualClock clock;
  Gateway gateway(keeping().clock(clock));
  const Json hello = {{"choices", {{{"index", 0}, {"delta", {{"content", "Hello."}}}}}}};
  gateway.chat().reply(
      chunks({raw_bytes(": a\n\n"), raw_bytes(": b\n\n").at(30ms), json_chunk(hello).at(50ms), event("id: 7").at(40ms)})
          .every(1s)
          .sse(SseDialect().done(false)));
  std::thread client([&] { Http(gateway).stream(); });
  for (const Duration step : {Duration(30ms), Duration(20ms)}) {
    REQUIRE(clock.wait_for_waits(1, patience));
    clock.advance(step);
  }
  client.join();
  std::vector<Duration> times;
  for (const SentAnswer::Part& part : sent(gateway).parts) times.push_back(part.at);
  CHECK(times == std::vector<Duration>{0ms, 30ms, 50ms, 50ms});
  CHECK(*raw_bytes("x").at(3ms).time() == Duration(3ms));
  CHECK_THROWS_AS(raw_bytes("x").at(-1ms), GatewayError);
}

TEST_CASE("a gateway loads a bundle like a script") {
  const Json bundle = Json::parse(R"({
    "bundle": {"about": "prompts of a client", "version": "0.1.0", "seed": 1,
               "exchange": {"id": 3, "request": {"body": {"json": {}}}}, "findings": [{"code": "unknown_field"}]},
    "mock_gateway": 1,
    "stubs": [{"when": {"user_says": {"equals": "Hi"}, "stream_is": true},
               "reply": {"chunks": [{"raw_bytes": "data: 1\n\n"}, {"raw_bytes": "data: 2\n\n", "at": "70ms"}],
                         "sse": {"done": false}, "faults": [{"at_end": true, "effect": "reset_connection"}]}}]
  })");
  ManualClock clock;
  Gateway gateway(keeping().clock(clock));
  gateway.load(bundle);
  std::thread client([&] { Http(gateway).allow_incomplete().stream(Json("Hi")); });
  REQUIRE(clock.wait_for_waits(1, patience));
  clock.advance(70ms);
  client.join();
  const SentAnswer answer = sent(gateway);
  CHECK(texts(answer) == std::vector<std::string>{"data: 1\n\n", "data: 2\n\n"});
  CHECK(answer.parts[1].at == Duration(70ms));
  CHECK(answer.ending == Ending::reset);
  for (const char* const wrong : {R"({"bundle": 1, "mock_gateway": 1})", R"({"bundle": {}, "mock_gateway": 1})",
                                  R"({"bundle": {"about": "x", "findings": [1]}, "mock_gateway": 1})",
                                  R"({"bundle": {"about": "x", "other": 1}, "mock_gateway": 1})"})
    CHECK_THROWS_AS(ScriptDocument::from_json(Json::parse(wrong)), ScriptError);
}

}  // namespace kept_answer_test
