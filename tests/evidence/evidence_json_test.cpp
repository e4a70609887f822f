// The exact JSON of exchanges, verifications and reviews. Bodies may have any bytes; secrets are masked.

#include <chrono>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/raw_requests.hpp"
#include "support/text.hpp"

namespace evidence_json_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::chat_head;
using test_support::chat_path;
using test_support::has_part;
using test_support::Http;
using test_support::RawConnection;

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Converts readable JSON to the form of dump(). Replaces "FILE" by the path of this file, and LINE by `line`.
inline std::string golden(const std::string& text, int line = 0) {
  return Json::parse(replaced(replaced(text, "\"FILE\"", Json(__FILE__).dump()), "LINE", std::to_string(line))).dump();
}

/// A gateway whose clock is stopped at 2024-01-01T00:00:00Z.
struct Wire {
  explicit Wire(Options options = {}) : gateway(options.clock(clock).verify_on_destruction(false)) {}

  /// Waits for the newest exchange to end and returns it.
  Json exchange() const {
    REQUIRE(gateway.journal().wait_until_idle(10s));
    return as_json(gateway.journal().last());
  }
  /// Returns the problem that verify() reports. The test fails unless there is exactly one.
  Json problem() const {
    const Json problems = as_json(gateway.verify())["problems"];
    REQUIRE(problems.size() == 1);
    return problems[0];
  }

  ManualClock clock;
  Gateway gateway;
  Http http{gateway};
};

// --- Exchanges -------------------------------------------------------------------------------------------------------

TEST_CASE("an exchange's JSON contains the request, the stub, the outcome and times") {
  Wire wire;
  const Stub stub = wire.gateway.chat().named("greeting").reply(text("a b").first_token_after(1250ms));
  const std::string body = chat_body().dump();
  RawConnection client(wire.gateway);
  client.send(replaced(chat_head(wire.gateway, {"X-Test: 7", "x-test: 8", "Content-Type: application/json",
                                                "Content-Length: " + std::to_string(body.size())}),
                       chat_path, std::string(chat_path) + "?trace=1") +
              body);
  REQUIRE(wire.clock.wait_for_waits(1, 10s));
  wire.clock.advance(1250ms);
  const std::string answer = client.receive_response().raw;
  const std::string expected = golden(R"json({
    "id": 1,
    "connection": {"id": 1, "position": 1, "fault": null},
    "received": "2024-01-01T00:00:00.000Z",
    "first_byte": "2024-01-01T00:00:01.250Z",
    "ended": "2024-01-01T00:00:01.250Z",
    "first_byte_ms": 1250.0,
    "ended_ms": 1250.0,
    "request": {
      "method": "POST",
      "target": "/v1/chat/completions?trace=1",
      "path": "/v1/chat/completions",
      "headers": [["Host", "gateway"], ["Authorization", "Bearer sk-***"], ["X-Test", "7"], ["x-test", "8"],
                  ["Content-Type", "application/json"], ["Content-Length", "66"]],
      "body": {"json": {"model": "mock-model", "messages": [{"role": "user", "content": "Hi"}]}},
      "raw": null
    },
    "key": {"id": "key_1", "description": "default key"},
    "decision": {"kind": "stub", "detail": "greeting", "refusal": null},
    "stub": {"id": 1, "name": "greeting", "title": "\"greeting\" (evidence_json_test.cpp:LINE)", "file": "FILE",
             "line": LINE},
    "near_misses": [],
    "status": 200,
    "outcome": "completed",
    "waiting": null,
    "sent": {"events": 0, "tokens": 2, "bytes": 424242},
    "departure": null,
    "faults": [],
    "chaos": [],
    "guard_expired": false
  })json",
                                      stub.where().line);
  CHECK(wire.exchange().dump() == replaced(expected, "424242", std::to_string(answer.size())));
}

TEST_CASE("an unmatched exchange contains the closest stubs") {
  Wire wire;
  const Stub once = wire.gateway.chat().named("once").times(1).reply("x");
  wire.http.chat();
  const Stub stub =
      wire.gateway.chat()
          .named("weather")
          .when(model_is("mock-model"), !user_says("Hi"), matching("odd", [](const ChatRequest&) { return true; }))
          .reply("Sunny.");
  wire.http.chat();
  const Json exchange = wire.exchange();
  CHECK(exchange["decision"]["kind"] == "unmatched");
  CHECK(exchange["decision"]["detail"] == wire.gateway.journal().last().decision().detail);
  CHECK(exchange["stub"].is_null());
  REQUIRE(exchange["near_misses"].size() == 2);
  CHECK(exchange["near_misses"][0].dump() == golden(R"json({
    "exchange": 2,
    "stub": {"id": 1, "name": "once", "title": "\"once\" (evidence_json_test.cpp:LINE)", "file": "FILE", "line": LINE},
    "matched": 0,
    "total": 0,
    "passed_over": "exhausted after 1 call",
    "conditions": []
  })json",
                                                    once.where().line));
  CHECK(exchange["near_misses"][1].dump() == golden(R"json({
    "exchange": 2,
    "stub": {"id": 2, "name": "weather", "title": "\"weather\" (evidence_json_test.cpp:LINE)", "file": "FILE",
             "line": LINE},
    "matched": 1,
    "total": 3,
    "passed_over": null,
    "conditions": [
      {"holds": true, "depth": 0, "expected": "model is \"mock-model\"", "actual": null},
      {"holds": false, "depth": 0, "expected": "not (user text contains \"Hi\")", "actual": "\"Hi\""},
      {"holds": null, "depth": 0, "expected": "odd", "actual": null}
    ]
  })json",
                                                    stub.where().line));
  CHECK(wire.problem()["near_misses"] == exchange["near_misses"]);

  const std::vector<NearMiss> near_misses = wire.gateway.journal().last().near_misses();
  REQUIRE(near_misses.size() == 2);
  CHECK(near_misses[0].exchange == 2);
  CHECK(near_misses[0].stub.title == once.title());
  REQUIRE(near_misses[1].conditions.size() == 3);
  CHECK(near_misses[1].conditions[0].holds == true);
  CHECK(near_misses[1].conditions[2].holds == std::nullopt);
}

TEST_CASE("the JSON of a refused request contains the reason and no stub") {
  Wire wire;
  wire.http.without_key().chat({{"temperature", "hot"}});
  CHECK(wire.exchange()["key"].is_null());
  CHECK(wire.exchange()["decision"].dump() ==
        R"({"kind":"rejected","detail":"401 unauthorized","refusal":"no key was sent"})");
  wire.http.chat({{"temperature", "hot"}});
  CHECK(wire.exchange()["decision"]["refusal"] == R"(temperature: expected a number, got a string ("hot"))");
  CHECK(wire.exchange()["status"] == 400);
}

TEST_CASE("the JSON of a stream that a fault ended contains its times") {
  Wire wire;
  wire.gateway.chat().reply(text("a b c").every(20ms).fault(after_tokens(2), reset_connection()));
  RawConnection client(wire.gateway);
  client.send(Http(wire.gateway).format_chat({{"stream", true}}));
  REQUIRE(wire.clock.wait_for_waits(1, 10s));
  wire.clock.advance(20ms);
  client.receive_all();
  const Json exchange = wire.exchange();
  CHECK(exchange["outcome"] == "broken by fault");
  CHECK(exchange["faults"].dump() == R"(["reset the connection after 2 tokens"])");
  CHECK(exchange["sent"]["events"] == 3);
  CHECK(exchange["sent"]["tokens"] == 2);
  CHECK(exchange["first_byte_ms"].dump() == "0.0");
  CHECK(exchange["ended_ms"].dump() == "20.0");
  CHECK(exchange["departure"].is_null());
}

TEST_CASE("the JSON of a running exchange has no end and does not wait for one") {
  Wire wire;
  Gate gate(1min);
  wire.gateway.chat().reply(text("a b").hold(gate, before_token(2)));
  RawConnection client(wire.gateway);
  client.send(wire.http.format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(10s));
  const Json exchange = as_json(wire.gateway.journal().last());
  CHECK(exchange["outcome"] == "pending");
  CHECK(exchange["ended"].is_null());
  CHECK(exchange["ended_ms"].is_null());
  CHECK(exchange["first_byte"] == "2024-01-01T00:00:00.000Z");
  gate.open();
  CHECK(client.receive_response().done());
  CHECK(wire.exchange()["outcome"] == "completed");
}

TEST_CASE("the JSON of an exchange says how its client left") {
  Wire wire;
  Gate gate(1min);
  wire.gateway.chat().reply(text("a b").hold(gate, before_token(2)));
  RawConnection client(wire.gateway);
  client.send(wire.http.format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_delivered(10s));
  wire.clock.advance(1500us);
  client.abort();
  const Exchange exchange = wire.gateway.journal().last();
  REQUIRE(exchange.wait_for_client_to_leave(10s));
  const Json departure = as_json(exchange)["departure"];
  const std::string bytes = std::to_string(exchange.departure()->bytes);
  CHECK(departure.dump() == R"({"how":"reset","at":"2024-01-01T00:00:00.001Z","events":2,"tokens":1,"bytes":)" + bytes +
                                R"(,"delivered":)" + bytes + R"(,"after_last_write_ms":1.5})");
}

TEST_CASE("the JSON of an exchange contains the effects of chaos and connection faults") {
  Wire wire;
  wire.gateway.chaos(Chaos(unsolicited_continue()));
  wire.gateway.next_connection(unsolicited_continue());
  wire.gateway.chat().reply("x");
  RawConnection client(wire.gateway);
  client.send(wire.http.format_chat());
  REQUIRE(client.receive_until("chat.completion").found);
  const Json exchange = wire.exchange();
  CHECK(exchange["connection"]["fault"] == "unsolicited 100 Continue");
  CHECK(exchange["chaos"].size() == 1);
}

TEST_CASE("a body is marked as JSON, text or base64") {
  Wire wire;
  wire.gateway.on("POST", "/v1/files", [](const ReceivedRequest&) { return HttpReply(200, "", "text/plain"); });
  const auto recorded = [&](const std::string& body) {
    wire.http.post("/v1/files", body);
    return wire.exchange()["request"]["body"].dump();
  };
  CHECK(recorded(R"({"b": 1, "a": [true, null, 0.5, "é"]})") == R"({"json":{"b":1,"a":[true,null,0.5,"é"]}})");
  CHECK(recorded(R"("text")") == R"({"json":"text"})");
  CHECK(recorded("null") == R"({"json":null})");
  CHECK(recorded("hello\n\x1b[2J") == R"({"text":"hello\n\u001b[2J"})");
  // These bodies are kept as text: parsing them as JSON would lose information.
  CHECK(recorded(R"({"a": 1, "a": 2})") == R"({"text":"{\"a\": 1, \"a\": 2}"})");
  CHECK(recorded("1e999") == R"({"text":"1e999"})");
  CHECK(recorded(std::string("\x00\xff\x10", 3)) == R"({"base64":"AP8Q"})");
  CHECK(recorded("\xff\xfe\xfd\xfb") == R"({"base64":"//79+w=="})");
  CHECK(recorded("\xff\xfe\xfd\xfb\xfa") == R"({"base64":"//79+/o="})");
  wire.http.get("/v1/models");
  CHECK(wire.exchange()["request"]["body"].is_null());
}

TEST_CASE("malformed HTTP is recorded as received, even with invalid UTF-8") {
  Wire wire;
  test_support::answer_to(wire.gateway, "hello \xff\r\n\r\n");
  Json exchange = wire.exchange();
  CHECK(exchange["decision"]["kind"] == "malformed");
  CHECK(exchange["request"]["raw"]["base64"] == "aGVsbG8g/w0KDQo=");
  CHECK_NOTHROW(exchange.dump());

  wire.http.with_header("X-Odd", "\xff|\xc3\xa9").get("/v1/models");
  exchange = wire.exchange();
  CHECK(exchange["request"]["headers"].back().dump() == "[\"X-Odd\",\"\xef\xbf\xbd|\xc3\xa9\"]");
  CHECK(exchange["request"]["raw"].is_null());

  wire.gateway.chat().named("na\xefve").when(user_says("\xff")).reply("x");
  wire.gateway.keys().create("caf\xe9", KeyOptions().secret("sk-cafe"));
  wire.http.with_key("sk-cafe").chat();
  CHECK(wire.exchange()["key"]["description"] == "caf\xef\xbf\xbd");
  CHECK_NOTHROW(wire.exchange().dump());
  CHECK_NOTHROW(as_json(wire.gateway.verify()).dump());
}

TEST_CASE("evidence contains no secret") {
  const std::string own = "sk-0123456789abcdefghijklmnop";
  const std::string foreign = "sk-proj-Zq81xV_7d2-Lm0Tr55WbK9cY3nEa";
  Wire wire(Options().api_key(own));
  Gateway& gateway = wire.gateway;
  gateway.on("POST", "/v1/files", [](const ReceivedRequest&) { return HttpReply(200, "", "text/plain"); });
  for (const std::string& key : {own, foreign}) {
    gateway.keys().create("for " + key, KeyOptions().secret("sk-of-" + std::to_string(key.size())));
    wire.http.with_key(key).with_header("X-Debug", key).with_header(key, "name").get("/v1/models?key=" + key);
    wire.http.post("/v1/files", Json{{"key", key}});
    wire.http.post("/v1/files", "key " + key);
    wire.http.post("/v1/files", "\xff " + key);
    test_support::answer_to(gateway, key + " /\xff HTTP/1.1\r\n\r\n");
    wire.http.with_key("sk-of-" + std::to_string(key.size())).chat(Json(key));
    wire.http.chat({{"temperature", key}});
    gateway.chat()
        .named("the stub of " + key)
        .when(user_says("stub " + key))
        .should(user_says("x" + key))
        .expect(2)
        .reply(key);
    wire.http.chat(Json("stub " + key));
    gateway.chat().when(user_says("thrown " + key)).reply([key](const ChatRequest&) -> Reply {
      throw std::runtime_error(key);
    });
    wire.http.chat(Json("thrown " + key));
    wire.http.chat(Json("unmatched " + key));
  }
  std::string shown;
  REQUIRE(gateway.journal().wait_until_idle(10s));
  for (const Exchange& exchange : gateway.journal().all()) shown += as_json(exchange).dump() + "\n";
  shown += as_json(gateway.verify()).dump() + as_json(gateway.review()).dump();
  CHECK(gateway.journal().count() == 20);
  CHECK(has_part(shown, "sk-***"));
  CHECK(has_part(shown, "the stub of sk-***"));
  CHECK(has_part(shown, "for sk-***"));
  for (const char* part : {"0123456789abc", "defghijklmnop", "proj-Zq81", "cY3nEa"}) CHECK_FALSE(has_part(shown, part));
}

TEST_CASE("a key in the name of a stub is masked in the exchange") {
  Wire wire;
  const std::string key = wire.gateway.api_key();
  wire.gateway.chat().named("of " + key).reply("a");
  wire.http.chat();
  const Json exchange = wire.exchange();
  CHECK(exchange["stub"]["name"] == "of sk-***");
  CHECK(has_part(exchange["stub"]["title"].get<std::string>(), "\"of sk-***\""));
  CHECK_FALSE(has_part(exchange.dump(), key));
}

TEST_CASE("a text that contains a secret is masked even if the key was created after the text") {
  Wire wire;
  const std::string secret = "0123456789abcdef";
  const CreatedKey shop = wire.gateway.keys().create("shop of " + secret);
  wire.gateway.chat().named("stub of " + secret).when(user_says("of " + secret)).expect(2).reply("a");
  wire.http.with_key(shop.secret).chat(Json("of " + secret));
  wire.http.with_key(shop.secret).chat(Json("unmatched"));
  CHECK(as_json(wire.gateway.journal().at(1))["key"]["description"] == "shop of " + secret);
  wire.gateway.keys().create("later", KeyOptions().secret(secret));
  for (const std::uint64_t id : {1U, 2U})
    CHECK(as_json(wire.gateway.journal().at(id))["key"]["description"] == "shop of ***");
  CHECK(as_json(wire.gateway.journal().at(1))["stub"]["name"] == "stub of ***");
  const Json verification = as_json(wire.gateway.verify());
  CHECK(verification["problems"].size() == 2);
  CHECK(has_part(verification.dump(), "shop of ***"));
  CHECK(has_part(verification.dump(), "stub of ***"));
  CHECK_FALSE(has_part(verification.dump(), secret));
}

// --- Verification ----------------------------------------------------------------------------------------------------

TEST_CASE("a verification without problems says so and lists the satisfied stubs") {
  Wire wire;
  const Stub asked = wire.gateway.chat().named("asked").should(stream_is(false)).expect(between(1, 2)).reply("x");
  const Stub never = wire.gateway.chat().named("never").when(user_says("old")).never();
  const Stub unused = wire.gateway.chat().when(user_says("unused")).reply("x");
  wire.http.chat();
  std::string expected = R"json({
    "ok": true,
    "problems": [],
    "stubs": [{"id": 1, "name": "asked", "title": "\"asked\" (evidence_json_test.cpp:LINE)", "file": "FILE",
               "line": LINE, "calls": 1, "expected": "from 1 to 2", "should": true, "met": true},
              {"id": 2, "name": "never", "title": "\"never\" (evidence_json_test.cpp:NEVER)", "file": "FILE",
               "line": NEVER, "calls": 0, "expected": "0", "should": false, "met": true}],
    "notes": ["never called: the stub at evidence_json_test.cpp:UNUSED"],
    "evicted": 0,
    "open": 0,
    "message": "nothing is wrong\nnever called: the stub at evidence_json_test.cpp:UNUSED"
  })json";
  expected = replaced(expected, "NEVER", std::to_string(never.where().line));
  expected = replaced(expected, "UNUSED", std::to_string(unused.where().line));
  CHECK(as_json(wire.gateway.verify()).dump() == golden(expected, asked.where().line));
}

TEST_CASE("a verification contains the numbers of evicted and running exchanges") {
  Wire wire(Options().journal_limits(1, 1 << 20));
  Gate gate(1min);
  wire.gateway.chat().reply("x", "y", text("z").hold(gate, before_token(1)));
  wire.http.chat();
  wire.http.chat();
  RawConnection client(wire.gateway);
  client.send(wire.http.format_chat());
  REQUIRE(gate.wait_until_reached(10s));
  const Verification verification = wire.gateway.verify();
  CHECK(verification.evicted() == 2);
  CHECK(verification.open() == 1);
  CHECK(as_json(verification)["evicted"] == 2);
  CHECK(as_json(verification)["open"] == 1);
  gate.open();
  CHECK(client.receive_response().text() == "z");
}

TEST_CASE("an unmatched request is a problem with the closest stubs") {
  Wire wire;
  const Stub stub =
      wire.gateway.chat().named("weather").when(model_is("mock-model"), user_says("weather")).reply("Sunny.");
  wire.http.chat();
  CHECK(wire.problem().dump() == golden(R"json({
    "kind": "unmatched",
    "message": "no stub matched  POST /v1/chat/completions  key \"default key\"  exchange 1\n  user: \"Hi\"\nclosest: \"weather\" (evidence_json_test.cpp:LINE), 1 of 2\n  ✔ model is \"mock-model\"\n  ✘ user text contains \"weather\"    actual \"Hi\"",
    "exchanges": [1],
    "stub": null,
    "file": null,
    "line": null,
    "near_misses": [{
      "exchange": 1,
      "stub": {"id": 1, "name": "weather", "title": "\"weather\" (evidence_json_test.cpp:LINE)", "file": "FILE",
               "line": LINE},
      "matched": 1,
      "total": 2,
      "passed_over": null,
      "conditions": [{"holds": true, "depth": 0, "expected": "model is \"mock-model\"", "actual": null},
                     {"holds": false, "depth": 0, "expected": "user text contains \"weather\"", "actual": "\"Hi\""}]
    }]
  })json",
                                        stub.where().line));
}

TEST_CASE("an unmet expectation is a problem with its source line and the nearest requests") {
  Wire wire;
  const Stub stub = wire.gateway.chat().named("wanted").when(user_says("Hello")).expect(1).reply("x");
  const auto place = [&](const Json& problem) {
    CHECK(problem["kind"] == "unmet expectation");
    CHECK(problem["stub"]["id"] == 1);
    CHECK(problem["stub"]["title"] == stub.title());
    CHECK(problem["file"] == __FILE__);
    CHECK(problem["line"] == stub.where().line);
    const Json judged = as_json(wire.gateway.verify())["stubs"];
    REQUIRE(judged.size() == 1);
    CHECK(judged[0]["id"] == 1);
    CHECK(judged[0]["met"] == false);
  };
  SUBCASE("no request came") {
    place(wire.problem());
    CHECK(wire.problem()["near_misses"].empty());
  }
  SUBCASE("another request came") {
    wire.gateway.chat().reply("y");
    wire.http.chat(Json("Hi"));
    place(wire.problem());
    CHECK(wire.problem()["near_misses"].dump() == golden(R"json([{
      "exchange": 1,
      "stub": {"id": 1, "name": "wanted", "title": "\"wanted\" (evidence_json_test.cpp:LINE)", "file": "FILE",
               "line": LINE},
      "matched": 0,
      "total": 1,
      "passed_over": null,
      "conditions": [{"holds": false, "depth": 0, "expected": "user text contains \"Hello\"", "actual": "\"Hi\""}]
    }])json",
                                                         stub.where().line));
  }
  SUBCASE("another stub answered") {
    const Stub newer = wire.gateway.chat().named("newer").reply("y");
    wire.http.chat(Json("Hello"));
    place(wire.problem());
    const Json near = wire.problem()["near_misses"];
    REQUIRE(near.size() == 1);
    CHECK(near[0]["exchange"] == 1);
    CHECK(near[0]["matched"] == 1);
    CHECK(near[0]["passed_over"] == newer.title() + " answered: it is newer");
  }
  SUBCASE("the stub was called too often") {
    wire.http.chat(Json("Hello"));
    wire.http.chat(Json("Hello"));
    place(wire.problem());
    CHECK(wire.problem()["exchanges"].dump() == "[1,2]");
    CHECK(wire.problem()["near_misses"].empty());
  }
}

TEST_CASE("every other problem contains its kind, its exchanges and its stub") {
  Wire wire;
  Gateway& gateway = wire.gateway;
  const auto check = [&](const char* kind, const Stub& stub) {
    const Json problem = wire.problem();
    CHECK(problem["kind"] == kind);
    CHECK(problem["exchanges"].dump() == "[1]");
    CHECK(problem["stub"]["title"] == stub.title());
    CHECK(problem["line"] == stub.where().line);
    CHECK(problem["message"].get<std::string>() == gateway.verify().problems()[0].text);
  };
  SUBCASE("a request that breaks should(), and the unmet expectation of its stub") {
    const Stub stub = gateway.chat().should(stream_is(true)).reply("x");
    wire.http.chat();
    check("invalid", stub);
    CHECK(as_json(gateway.verify())["stubs"][0]["met"] == false);
  }
  SUBCASE("a function that threw") {
    const Stub stub = gateway.chat().reply([](const ChatRequest&) -> Reply { throw std::runtime_error("oops"); });
    wire.http.chat();
    check("callback failed", stub);
    CHECK(wire.exchange()["decision"].dump().find("oops") != std::string::npos);
  }
  SUBCASE("a reply that does not fit its request") {
    const Stub stub = gateway.chat().reply(text("one two").chunked(by_pieces({"one"})));
    wire.http.chat();
    check("answer failed", stub);
  }
  SUBCASE("a reply that ended before its fault") {
    const Stub stub = gateway.chat().reply(text("a b").fault(after_tokens(9), reset_connection()));
    wire.http.stream();
    check("fault not reached", stub);
    CHECK(wire.exchange()["faults"].dump() == R"(["reset the connection after 9 tokens: not reached"])");
  }
  SUBCASE("a reply that ended before its hold") {
    const Stub stub = gateway.chat().reply(text("a b").hold(Gate(), before_token(9)));
    wire.http.stream();
    check("place not reached", stub);
  }
  SUBCASE("a gate that was never opened") {
    const Stub stub = gateway.chat().reply(text("a b").hold(Gate(1ms), before_token(2)));
    wire.http.stream();
    check("guard expired", stub);
    CHECK(wire.exchange()["guard_expired"] == true);
  }
}

TEST_CASE("an unused connection fault is a problem with its source line and no stub") {
  Wire wire;
  wire.gateway.next_connection(reset_on_accept());
  const int line = __LINE__ - 1;
  const Json problem = wire.problem();
  CHECK(problem["kind"] == "fault not reached");
  CHECK(problem["exchanges"].empty());
  CHECK(problem["stub"].is_null());
  CHECK(problem["file"] == __FILE__);
  CHECK(problem["line"] == line);
}

TEST_CASE("stubs called in the wrong order are a problem") {
  Wire wire;
  const Stub second = wire.gateway.chat().when(user_says("b")).reply("x");
  const Stub first = wire.gateway.chat().when(user_says("a")).reply("x");
  wire.http.chat(Json("b"));
  wire.http.chat(Json("a"));
  const Json verification = as_json(called_in_order(first, second));
  CHECK(verification["ok"] == false);
  REQUIRE(verification["problems"].size() == 1);
  CHECK(verification["problems"][0]["kind"] == "out of order");
  CHECK(verification["problems"][0]["exchanges"].dump() == "[1,2]");
  CHECK(verification["problems"][0]["stub"]["title"] == second.title());
  CHECK(verification["message"] == verification["problems"][0]["message"]);
}

TEST_CASE("a verification that the test converts to JSON counts as read") {
  Gateway gateway;
  gateway.chat().expect(1).reply("x");
  CHECK(as_json(gateway.verify())["ok"] == false);
}

// --- Review ----------------------------------------------------------------------------------------------------------

TEST_CASE("the JSON of a review lists its findings") {
  Wire wire;
  CHECK(as_json(wire.gateway.review()).dump() ==
        R"({"ok":true,"findings":[],"judged":0,"evicted":0,"open":0,"chaos":null,)"
        R"("message":"clean: no exchange was recorded"})");
  wire.gateway.chat().reply(rate_limited(2s), text("x"));
  wire.http.chat();
  wire.http.chat({{"stop", "END"}});
  wire.gateway.fail_next(rate_limited(2s));
  wire.http.chat();
  wire.http.chat();
  const Json review = as_json(wire.gateway.review());
  CHECK(review.dump() == golden(R"json({
    "ok": false,
    "findings": [
      {
        "code": "retry_after_ignored",
        "severity": "error",
        "fails_review": true,
        "message": "retried after 0 s, but Retry-After was 2 s. Wait as long as the header says before retrying.",
        "exchanges": [3, 4]
      },
      {
        "code": "stop_as_string",
        "severity": "warning",
        "fails_review": true,
        "message": "stop: documented as an array; send [\"…\"] in place of the string.",
        "exchanges": [2]
      },
      {
        "code": "key_used_while_limited",
        "severity": "note",
        "fails_review": false,
        "message": "1 other request with key \"default key\" came before the 2 s that its 429 named had passed. Let all callers of a key wait that long.",
        "exchanges": [1, 2]
      }
    ],
    "judged": 4,
    "evicted": 0,
    "open": 0,
    "chaos": null,
    "message": "3 findings in 3 calls, 4 tries, 2 injected faults\nretry_after_ignored (exchange 4 after 3): retried after 0 s, but Retry-After was 2 s. Wait as long as the header says before retrying.\nstop_as_string (exchange 2): stop: documented as an array; send [\"…\"] in place of the string.\nnote: key_used_while_limited (exchange 2 after 1): 1 other request with key \"default key\" came before the 2 s that its 429 named had passed. Let all callers of a key wait that long."
  })json"));
}

TEST_CASE("a review reports the effects of chaos") {
  Wire wire;
  wire.gateway.chaos(Chaos(overloaded()).nth(1));
  wire.http.chat();
  const Review review = wire.gateway.review();
  CHECK(review.chaos().substr(0, 14) == "chaos: seed 1,");
  CHECK(as_json(review)["chaos"] == review.chaos());
}

// --- Words for kinds -------------------------------------------------------------------------------------------------

// If a kind is missing from a list, -Wswitch makes that a compile error.

bool is_listed(Problem::Kind kind) {
  switch (kind) {
    case Problem::Kind::unmatched:
    case Problem::Kind::unmet_expectation:
    case Problem::Kind::invalid:
    case Problem::Kind::callback_failed:
    case Problem::Kind::answer_failed:
    case Problem::Kind::fault_not_reached:
    case Problem::Kind::place_not_reached:
    case Problem::Kind::guard_expired:
    case Problem::Kind::out_of_order:
    case Problem::Kind::not_searched: return true;
  }
  return false;
}

bool is_listed(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::pending:
    case Outcome::Kind::completed:
    case Outcome::Kind::client_left:
    case Outcome::Kind::broken_by_fault:
    case Outcome::Kind::client_stalled:
    case Outcome::Kind::stopped:
    case Outcome::Kind::guard_expired: return true;
  }
  return false;
}

bool is_listed(Decision::Kind kind) {
  switch (kind) {
    case Decision::Kind::stub:
    case Decision::Kind::default_reply:
    case Decision::Kind::unmatched:
    case Decision::Kind::forced_failure:
    case Decision::Kind::chaos:
    case Decision::Kind::rejected:
    case Decision::Kind::models:
    case Decision::Kind::embeddings:
    case Decision::Kind::handler:
    case Decision::Kind::preflight:
    case Decision::Kind::callback_failed:
    case Decision::Kind::answer_failed:
    case Decision::Kind::malformed: return true;
  }
  return false;
}

/// Returns the number of kinds if each has its own word, otherwise 0.
template <class Kind>
std::size_t count_words() {
  std::set<std::string> words;
  int kinds = 0;
  for (; is_listed(static_cast<Kind>(kinds)); ++kinds) words.insert(to_string(static_cast<Kind>(kinds)));
  const bool whole = words.size() == static_cast<std::size_t>(kinds) && words.count("") + words.count("unknown") == 0;
  return whole ? words.size() : 0;
}

TEST_CASE("every kind has its own word") {
  CHECK(count_words<Problem::Kind>() == 10);
  CHECK(count_words<Outcome::Kind>() == 7);
  CHECK(count_words<Decision::Kind>() == 13);
  CHECK(to_string(Severity::error) == "error");
  CHECK(to_string(Severity::warning) == "warning");
  CHECK(to_string(Departure::How::closed) == "closed");
}

TEST_CASE("the JSON of every finding contains its code") {
  std::set<std::string> codes;
  for (const std::string& code : finding_codes()) {
    Json finding = as_json(Finding{code, "m", Severity::warning, {2, 3}});
    const std::string rest = R"("message":"m","exchanges":[2,3]})";
    CHECK(finding.dump() == R"({"code":")" + code + R"(","severity":"warning","fails_review":true,)" + rest);
    finding = as_json(Finding{code, "m", Severity::error, {2, 3}, false});
    CHECK(finding.dump() == R"({"code":")" + code + R"(","severity":"error","fails_review":false,)" + rest);
    codes.insert(finding["code"]);
  }
  CHECK(codes.count("") == 0);
  CHECK(codes.size() == finding_codes().size());
}

}  // namespace evidence_json_test
