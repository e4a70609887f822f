// Valid script documents. Each line of good_scripts.jsonl is a document, {"script": text}. Together they use every key
// and every word of the schema. Further tests check what clients receive for complicated keys.

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/script_files.hpp"
#include "support/script_rows.hpp"
#include "support/text.hpp"

namespace good_scripts_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::has_part;
using test_support::Http;
using test_support::patience;
using test_support::RawConnection;
using test_support::Response;
using test_support::script_corpus;
using test_support::ScriptFile;
using test_support::ScriptRows;

TEST_CASE("every good script is read, starts a gateway and is mounted on it") {
  const std::vector<Json> cases = script_corpus("good_scripts.jsonl");
  CHECK(cases.size() >= 40);
  for (const Json& one : cases) {
    const std::string script = one["script"];
    INFO(script);
    const ScriptFile file(script);
    const auto serve = [&file] {
      const ScriptDocument document = ScriptDocument::read({file.path()});
      Gateway gateway(document.options().verify_on_destruction(false));
      const LoadedScript loaded = document.mount(gateway);
      static_cast<void>(loaded.stubs());
    };
    CHECK_NOTHROW(serve());
  }
}

/// The set of keys and words of the schema that no document uses yet, named by their places in the schema.
class Vocabulary {
 public:
  explicit Vocabulary(Json schema) : schema_(std::move(schema)) { collect(schema_, ""); }

  /// Removes the keys and words that a document uses.
  void use(const Json& document) { walk(document, schema_, ""); }
  const std::set<std::string>& unused() const { return unused_; }

 private:
  static std::string word(const std::string& place, const Json& value) { return place + " is " + value.dump(); }

  void collect(const Json& part, const std::string& place) {
    if (!part.is_structured()) return;
    if (part.contains("properties")) {
      for (const auto& [key, type] : part["properties"].items())
        if (type != true && type != false) unused_.insert(place + "/properties/" + key);
    }
    if (part.contains("enum") && !has_part(place, "/written_reply/")) {
      for (const Json& value : part["enum"]) unused_.insert(word(place, value));
    }
    for (const auto& [key, inner] : part.items()) {
      // Subschemas below "not" and "oneOf" only exclude values and define no keys.
      if (key != "not" && key != "oneOf") collect(inner, place + "/" + key);
    }
  }

  void walk(const Json& value, const Json& type, const std::string& place) {
    if (!type.is_object()) return;
    if (type.contains("$ref")) {
      const std::string target = type["$ref"].get<std::string>().substr(1);
      walk(value, schema_.at(Json::json_pointer(target)), target);
    }
    if (type.contains("enum")) unused_.erase(word(place, value));
    for (const std::string several : {"anyOf", "allOf"}) {
      if (!type.contains(several)) continue;
      for (std::size_t index = 0; index < type[several].size(); ++index)
        walk(value, type[several][index], place + "/" + several + "/" + std::to_string(index));
    }
    if (value.is_array() && type.contains("items")) {
      for (const Json& element : value) walk(element, type["items"], place + "/items");
    }
    if (!value.is_object() || !type.contains("properties")) return;
    for (const auto& [key, member] : value.items()) {
      if (!type["properties"].contains(key)) continue;
      const std::string there = place + "/properties/" + key;
      unused_.erase(there);
      walk(member, type["properties"][key], there);
    }
  }

  Json schema_;
  std::set<std::string> unused_;
};

TEST_CASE("the good scripts use every key and every word of the schema") {
  Vocabulary vocabulary(script_schema());
  CHECK(vocabulary.unused().size() > 300);
  for (const Json& one : script_corpus("good_scripts.jsonl"))
    vocabulary.use(Json::parse(one["script"].get<std::string>(), nullptr, true, true));
  std::string missing;
  for (const std::string& place : vocabulary.unused()) missing += place + "\n";
  CHECK(missing == "");
}

/// Calls `see` for each object type of the schema that has properties.
void each_object_type(const Json& part, const std::function<void(const Json&)>& see) {
  if (part.is_object() && part.contains("properties")) see(part["properties"]);
  if (part.is_structured())
    for (const Json& inner : part) each_object_type(inner, see);
}

TEST_CASE("the schema allows the keys that accompany a failure wherever it allows a failure") {
  int places = 0;
  each_object_type(script_schema(), [&places](const Json& properties) {
    if (!properties.contains("failure") || properties["failure"].is_boolean()) return;
    ++places;
    for (const char* const key :
         {"retry_after", "retry_after_text", "retry_after_date", "without_retry_after", "retry_after_ms",
          "should_retry", "type", "param", "error_body", "error_json", "content_type"}) {
      CAPTURE(key);
      CHECK(properties.contains(key));
    }
  });
  CHECK(places == 4);  // replies, operations, failures and chaos
}

/// A gateway with a mounted document.
class Served {
 public:
  explicit Served(const std::string& sections)
      : document_(
            ScriptDocument::from_json(Json::parse(R"({"mock_gateway": 1, )" + sections + "}", nullptr, true, true))),
        gateway_(document_.options(Options{}.clock(InstantClock{})).verify_on_destruction(false)),
        script_(document_.mount(gateway_)),
        http_(gateway_) {}

  const Http& http() const { return http_; }
  Gateway& gateway() { return gateway_; }
  const LoadedScript& script() const { return script_; }

 private:
  ScriptDocument document_;
  Gateway gateway_;
  LoadedScript script_;
  Http http_;
};

std::string replying(const std::string& reply) { return R"("stubs": [{"reply": )" + reply + "}]"; }

TEST_CASE("a tool call in a script has arguments, malformed arguments or an input") {
  Served served(replying(R"({"tool_calls": [{"name": "f", "arguments": {"city": "Paris"}, "id": "call_7"},
    {"name": "g", "malformed_arguments": "{\"a\": ", "id": "call_8"}, {"name": "h", "input": "SELECT 1", "id": "call_9"},
    {"name": "i", "input": ""}]})"));
  const Json calls = served.http().chat().message()["tool_calls"];
  REQUIRE(calls.size() == 4);
  CHECK(calls[0]["id"] == "call_7");
  CHECK(calls[1]["id"] == "call_8");
  CHECK(calls[2]["id"] == "call_9");
  CHECK(calls[3]["id"] != "");  // the gateway generates the id
  CHECK(Json::parse(calls[0]["function"]["arguments"].get<std::string>()) == Json{{"city", "Paris"}});
  CHECK(calls[1]["function"]["arguments"] == "{\"a\": ");
  CHECK(calls[2]["custom"]["input"] == "SELECT 1");
}

TEST_CASE("keys that accompany a failure appear in its response") {
  Served served(R"("stubs": [{"replies": [
    {"failure": {"status": 500, "code": "broken", "message": "It broke."}, "retry_after": "1.5s", "retry_after_ms": "1500ms",
     "should_retry": false, "type": "server_error", "headers": {"X-Trace": ["a", "b"]}},
    {"failure": 502, "error_body": "<html>", "content_type": "text/html"},
    {"failure": 429, "retry_after_text": "soon", "error_json": {"detail": "slow down"}}]}])");
  const Response first = served.http().chat();
  CHECK(first.status == 500);
  CHECK(first.error_code() == "broken");
  CHECK(first.error_type() == "server_error");
  CHECK(first.header("Retry-After") == "1.5");
  CHECK(first.header("retry-after-ms") == "1500");
  CHECK(first.header("x-should-retry") == "false");
  CHECK(first.all("X-Trace") == std::vector<std::string>{"a", "b"});
  const Response second = served.http().chat();
  CHECK(second.body == "<html>");
  CHECK(second.header("Content-Type") == "text/html");
  const Response third = served.http().chat();
  CHECK(third.header("Retry-After") == "soon");
  CHECK(third.json() == Json{{"detail", "slow down"}});
}

TEST_CASE("a 429 in any section has Retry-After: 1 unless the script omits it") {
  const auto first_in = [](const std::string& section) {
    return [section](const std::string& failure) { return section + "{" + failure + "}]"; };
  };
  const std::vector<std::function<std::string(const std::string&)>> sections = {
      [](const std::string& failure) { return replying("{" + failure + "}"); },
      first_in(R"("failures": [)"),
      first_in(R"("chaos": [)"),
      [](const std::string& failure) {
        return R"("operations": [{"method": "POST", "path": "/v1/files", "reply": {)" + failure + "}}]";
      },
  };
  const std::pair<const char*, std::vector<std::string>> failures[] = {
      {R"("failure": "rate_limited")", {"1"}},
      {R"("failure": 429)", {"1"}},
      {R"("failure": {"status": 429, "code": "slow", "message": "m"})", {"1"}},
      {R"("failure": 429, "error_json": {})", {"1"}},
      {R"("failure": 429, "retry_after_ms": "5ms")", {"1"}},
      {R"("failure": 429, "retry_after": "3s")", {"3"}},
      {R"("failure": 429, "retry_after_text": "soon")", {"soon"}},
      {R"("failure": 429, "headers": {"retry-after": "0"})", {"0"}},
      {R"("failure": 429, "without_retry_after": true)", {}},
  };
  for (const auto& section : sections) {
    for (const auto& [failure, expected] : failures) {
      const std::string script = section(failure);
      CAPTURE(script);
      Served served(script);
      const bool is_operation = has_part(script, "operations");
      const Response response = is_operation ? served.http().post("/v1/files", "{}") : served.http().chat();
      CHECK(response.status == 429);
      CHECK(response.all("Retry-After") == expected);
    }
  }
  Served connections(
      R"("connections": [{"fault": {"reply_before_body": {"status": 429, "code": "slow", "message": "m"}}}])");
  CHECK(connections.http().chat().all("Retry-After") == std::vector<std::string>{"1"});
  Served raw(replying(R"({"raw_reply": {"status": 429, "body": "{}"}})"));
  CHECK_FALSE(raw.http().chat().has("Retry-After"));
}

TEST_CASE("raw replies and chunks are sent byte by byte") {
  Served served(R"("stubs": [{"replies": [{"raw_reply": {"status": 203, "base64": "AP-A", "content_type": "a/b"}},
    {"chunks": [{"json": {"x": 1}}, {"raw_bytes": ": hi\n\n"}, {"raw_base64": "OiBhCgo="}, {"event": "id: 7"}],
     "sse": {"done": false, "line_end": "\r\n"}}]}])");
  const Response raw = served.http().chat();
  CHECK(raw.status == 203);
  CHECK(raw.header("Content-Type") == "a/b");
  CHECK(raw.body == std::string("\0\xff\x80", 3));
  CHECK(served.http().stream().body == "data: {\"x\":1}\r\n\r\n: hi\n\n: a\n\nid: 7\r\n\r\n");
}

TEST_CASE("a fault happens at its trigger") {
  Served served(
      R"("stubs": [{"replies": [{"text": "one two three", "faults": [{"after_tokens": 2, "effect": "reset_connection"}]},
    {"text": "one two three", "faults": [{"before_done": true, "effect": "skip_event"}]},
    {"text": "one two", "faults": [{"after_tokens": 1, "effect": {"error_event": {"error": {"message": "Gone."}}}}]},
    {"text": "one", "faults": [{"before_headers": true, "effect": {"garbage_base64": "/w=="}}]}]}])");
  const Http http = served.http().allow_incomplete();
  const Response reset = http.stream();
  CHECK(reset.end == End::reset);
  CHECK(reset.joined_text() == "one two");
  CHECK(!http.stream().done());
  const std::vector<Json> events = http.stream().json_events();
  CHECK(events.back() == Json{{"error", {{"message", "Gone."}}}});
  RawConnection connection(served.gateway());
  connection.send(http.format_chat());
  CHECK(connection.receive_all().bytes == "\xff");
}

TEST_CASE("a gate of the document holds a reply until the test opens the gate") {
  const ScriptDocument document = ScriptDocument::from_json(Json::parse(
      R"({"mock_gateway": 1, "stubs": [{"reply": {"text": "one two", "hold": {"gate": "first", "before_token": 2}}}]})"));
  Gateway gateway(Options{}.verify_on_destruction(false));
  const LoadedScript script = document.mount(gateway);
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  CHECK(connection.receive_until("\"content\":\"one\"").found);
  CHECK(!has_part(connection.buffered(), "two"));
  script.gate("first").open();
  CHECK(connection.receive_until("[DONE]").found);
}

TEST_CASE("a script can set the model, the id and the time of a completion") {
  Served served(replying(R"({"text": "a b", "model": "other", "finish_reason": "length",
    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total": 7}, "extra": {"service_tier": "flex"},
    "extra_message": {"annotations": []}, "extra_chunks": [{"number": 2, "fields": {"x": 1}}], "chunked": {"characters": 1}})"));
  const Json body = served.http().chat().json();
  CHECK(body["model"] == "other");
  CHECK(body["choices"][0]["finish_reason"] == "length");
  CHECK(body["usage"]["total_tokens"] == 7);
  CHECK(body["service_tier"] == "flex");
  CHECK(body["choices"][0]["message"]["annotations"] == Json::array());
  const std::vector<Json> events = served.http().stream().json_events();
  REQUIRE(events.size() >= 4);
  CHECK(events[1]["x"] == 1);
  CHECK(!events[2].contains("x"));
  CHECK(events[1]["choices"][0]["delta"]["content"] == "a");
  CHECK(events[2]["choices"][0]["delta"]["content"] == " ");
}

TEST_CASE("a script can set different endings for choices, and early hints") {
  Served served(replying(
      R"({"choices": ["a", {"text": "b", "finish_reason": "length"}], "early_hints": {"Link": "</a>; rel=preload"}})"));
  RawConnection connection(served.gateway());
  connection.send(served.http().format_chat({{"n", 2}}));
  const Response hints = connection.receive_response();
  CHECK(hints.status == 103);
  CHECK(hints.header("Link") == "</a>; rel=preload");
  const Response whole = connection.receive_response();
  CHECK(whole.text(0) == "a");
  CHECK(whole.text(1) == "b");
  CHECK(whole.finish_reason(1) == "length");
}

TEST_CASE("matchers combined with any, all and not choose the stub") {
  Served served(R"("stubs": [
    {"when": {"any": [{"user_says": {"equals": "one"}}, {"user_says": {"starts_with": "two", "not": "three"}}]}, "reply": "any"},
    {"when": {"not": {"last_is_tool_result": false}}, "reply": "tool"},
    {"when": {"json_at": {"pointer": "/metadata/a~1b", "value": 1.0}}, "reply": "pointer"},
    {"when": {"user_says": {"matches_regex": "^[0-9]+$"}, "temperature_is": {"between": [0, 0.5]}}, "reply": "number"},
    {"reply": "else"}])");
  const Http& http = served.http();
  CHECK(http.ask("one") == "any");
  CHECK(http.ask("two more") == "any");
  CHECK(http.ask("two three") == "else");
  CHECK(http.chat({{"metadata", {{"a/b", 1}}}}).text() == "pointer");
  CHECK(http.ask("12") == "else");
  CHECK(http.chat({{"temperature", 0.25}, {"messages", {{{"role", "user"}, {"content", "12"}}}}}).text() == "number");
}

TEST_CASE("state machines and the keys `times` and `then` decide which stub answers next") {
  Served served(R"("states": {"door": "closed"}, "stubs": [
    {"when": {"user_says": "open"}, "in_state": {"door": "closed"}, "then_state": {"door": "open"}, "reply": "opened"},
    {"when": {"user_says": "open"}, "in_state": {"door": "open"}, "reply": "it is open"},
    {"when": {"user_says": "once"}, "times": 1, "reply": "first"},
    {"when": {"user_says": "once"}, "reply": "later"},
    {"when": {"user_says": "end"}, "replies": ["last"], "then": "nothing_more"},
    {"when": {"user_says": "bad"}, "never": true}])");
  const Http& http = served.http();
  CHECK(http.ask("open") == "opened");
  CHECK(http.ask("open") == "it is open");
  CHECK(http.ask("once") == "first");
  CHECK(http.ask("once") == "later");
  CHECK(http.ask("end") == "last");
  CHECK(http.chat(Json("end")).status == 422);
  CHECK(http.chat(Json("bad")).error_code() == "never_expected");
}

/// Returns the times at which the parts of a streamed reply are sent. `serve` mounts the reply on a gateway.
template <class Serve>
std::vector<Duration> times_of_stream(const Serve& serve) {
  ManualClock clock;
  Gateway gateway(Options{}.clock(clock).keep_answers(true));
  serve(gateway);
  std::thread client([&gateway] { Http(gateway).stream(); });
  CHECK(clock.wait_for_waits(1, patience));
  clock.advance(1h);
  client.join();
  CHECK(gateway.journal().wait_until_idle(patience));
  std::vector<Duration> times;
  const SentAnswer answer = *gateway.journal().last().answer();
  for (const SentAnswer::Part& part : answer.parts) times.push_back(part.at);
  return times;
}

TEST_CASE("a distribution in a script equals that of the C++ function of its name") {
  struct Row {
    const char* script;
    Reply reply;
  };
  const Reply words = text("one two three four five six seven eight");
  const std::vector<Row> rows = {
      {R"("every": {"uniform": ["10ms", "50ms"]})", words.every(uniform(10ms, 50ms))},
      {R"("every": {"normal": ["20ms", "5ms"]})", words.every(normal(20ms, 5ms))},
      {R"("every": {"log_normal": ["20ms", 0.5]})", words.every(log_normal(20ms, 0.5))},
      {R"("every": {"recorded": ["10ms", "30ms"]})", words.every(recorded({10ms, 30ms}))},
      {R"("tokens_per_second": {"uniform": [5, 50]})", words.tokens_per_second(uniform(5.0, 50.0))},
      {R"("tokens_per_second": {"normal": [20, 5]})", words.tokens_per_second(normal(20.0, 5.0))},
      {R"("tokens_per_second": {"log_normal": [20, 0.5]})", words.tokens_per_second(log_normal(20.0, 0.5))},
      {R"("tokens_per_second": {"recorded": [10, 30]})", words.tokens_per_second(recorded({10.0, 30.0}))},
  };
  std::set<std::vector<Duration>> all;
  ScriptRows noted;
  for (const Row& row : rows) {
    CAPTURE(row.script);
    const Json script =
        Json::parse(R"({"mock_gateway": 1, "stubs": [{"reply": {"text": "one two three four five six seven eight", )" +
                    std::string(row.script) + "}}]}");
    noted.add(script);
    const std::vector<Duration> times = times_of_stream([&](Gateway& gateway) { gateway.load(script); });
    CHECK(times == times_of_stream([&](Gateway& gateway) { gateway.chat().reply(row.reply); }));
    all.insert(times);
  }
  CHECK(all.size() == rows.size());
  CHECK(test_support::listed(noted.missing({"timing", "rate"})) == "");
}

TEST_CASE("operations, forced failures, chaos and connection faults work from a script") {
  Served served(R"("keys": [{"name": "billing", "secret": "sk-billing-0123456789"}],
    "operations": [{"method": "POST", "path": "/v1/files/{id}", "reply": {"status": 201, "json": {"ok": true}, "headers": {"A": ["b", "c"]}}},
                   {"method": "GET", "path": "/broken", "reply": {"failure": 503, "retry_after": "2s", "headers": {"A": "b"}}}],
    "failures": [{"failure": 500, "times": 1, "for": {"key": "billing"}}, {"failure": 503, "always": true, "for": {"operation": "list_models"}}],
    "chaos": [{"failure": "overloaded", "nth": 2, "when": {"user_says": "chaos"}}],
    "connections": [{"fault": {"garbage_on_accept": "SSH"}}],
    "stubs": [{"reply": "a"}])");
  RawConnection struck(served.gateway());
  CHECK(struck.receive_all().bytes == "SSH");
  const Http& http = served.http();
  const Response made = http.post("/v1/files/7", Json::object());
  CHECK(made.status == 201);
  CHECK(made.all("A") == std::vector<std::string>{"b", "c"});
  const Response broken = http.get("/broken");
  CHECK(broken.status == 503);
  CHECK(broken.header("Retry-After") == "2");
  CHECK(broken.header("A") == "b");
  const Http billing = http.with_key("sk-billing-0123456789");
  CHECK(billing.chat().status == 500);
  CHECK(billing.chat().status == 200);
  CHECK(http.get("/v1/models").status == 503);
  CHECK(http.get("/v1/models").status == 503);
  CHECK(http.chat(Json("chaos")).status == 200);
  CHECK(http.chat(Json("chaos")).status == 529);
}

TEST_CASE("a header with two values is sent twice, in every section that has failures") {
  Served served(
      R"("operations": [{"method": "GET", "path": "/broken", "reply": {"failure": 503, "headers": {"A": ["b", "c"]}}}],
    "failures": [{"failure": 500, "headers": {"A": ["d", "e"]}}],
    "chaos": [{"failure": "overloaded", "headers": {"A": ["f", "g"]}}],
    "stubs": [{"reply": "a"}])");
  using Values = std::vector<std::string>;
  const Response forced = served.http().chat();
  CHECK(forced.status == 500);
  CHECK(forced.all("A") == Values{"d", "e"});
  const Response struck = served.http().chat();
  CHECK(struck.status == 529);
  CHECK(struck.all("A") == Values{"f", "g"});
  const Response broken = served.http().get("/broken");
  CHECK(broken.status == 503);
  CHECK(broken.all("A") == Values{"b", "c"});
}

/// Returns a response format for which no default reply can be generated.
Json unanswerable() {
  return {{"response_format",
           {{"type", "json_schema"}, {"json_schema", {{"name", "endless"}, {"schema", {{"$ref", "#"}}}}}}}};
}

TEST_CASE("a request that the default reply cannot answer is refused and does not count as a call") {
  Served served(R"("stubs": [{"name": "any", "should": {"temperature_is": 0}, "reply": {"default": true}}])");
  CHECK(served.http().chat(unanswerable()).error_code() == "unsupported_schema");
  CHECK(served.script().stub("any").calls() == 0);
  CHECK(served.gateway().journal().last().decision() == Decision::Kind::rejected);
  CHECK(served.gateway().verify());
  CHECK(served.http().chat({{"temperature", 0}}).status == 200);
  CHECK(served.script().stub("any").calls() == 1);
}

TEST_CASE("a request that the default reply cannot answer uses no turn, step or state of its stub") {
  Served served(R"("stubs": [
    {"name": "once", "when": {"user_says": "once"}, "times": 1, "expect": 1, "reply": {"default": true}},
    {"name": "steps", "when": {"user_says": "steps"}, "replies": ["first", {"default": true}, "third"]},
    {"name": "moves", "when": {"user_says": "moves"}, "in_state": {"door": "started"},
     "then_state": {"door": "open"}, "reply": {"default": true}},
    {"reply": "older"}])");
  const Http http = served.http();
  const auto asks = [](const char* text) { return Json{{"messages", {{{"role", "user"}, {"content", text}}}}}; };
  const auto refused = [&](const char* text) {
    Json request = asks(text);
    request.update(unanswerable());
    return http.chat(request).status == 400;
  };
  const auto answered = [&](const char* text) { return http.chat(asks(text)).text(); };
  for (int i = 0; i < 3; ++i) CHECK(refused("once"));
  CHECK(has_part(served.gateway().verify().message(),
                 "  exchange 1 was refused by the default reply: 400 response_format.json_schema.schema"));
  CHECK(answered("once") != "older");
  CHECK(answered("once") == "older");
  CHECK_FALSE(refused("once"));  // the stub is exhausted, and the older stub ignores the schema

  CHECK_FALSE(refused("steps"));  // a scripted reply is sent unchanged
  CHECK(refused("steps"));
  CHECK(answered("steps") != "third");
  CHECK(answered("steps") == "third");
  CHECK(served.script().stub("steps").calls() == 3);

  CHECK(refused("moves"));
  CHECK(served.gateway().state("door") == "started");
  CHECK(answered("moves") != "older");
  CHECK(served.gateway().state("door") == "open");
  CHECK(answered("moves") == "older");
  CHECK(served.script().stub("once").calls() == 1);
  CHECK(served.gateway().verify());
}

TEST_CASE("the settings in the gateway section affect requests and replies") {
  Served served(
      R"("gateway": {"models": ["fast", {"id": "deep", "owner": "me"}], "acceptance": {"base": "strict", "tool_role": true},
    "limit": "3/1h", "max_n": 2, "clock": "manual", "unmatched": "allowed"}, "stubs": [{"reply": "a"}])");
  const Json models = served.http().get("/v1/models").json()["data"];
  REQUIRE(models.size() == 2);
  CHECK(models[1]["id"] == "deep");
  CHECK(models[1]["owned_by"] == "me");
  CHECK(served.http().chat({{"model", "fast"}, {"n", 3}}).status == 400);
  CHECK(served.http().chat({{"model", "fast"}, {"unheard_of", 1}}).status == 400);
  CHECK(served.http().chat({{"model", "fast"}}).status == 429);
}

TEST_CASE("a whole number may be written with a fraction of zero, and a seed may have 64 bits") {
  const ScriptDocument small =
      ScriptDocument::from_json(Json::parse(R"({"mock_gateway": 1.0, "gateway": {"seed": 7.0}})"));
  const ScriptDocument large =
      ScriptDocument::from_json(Json::parse(R"({"mock_gateway": 1, "gateway": {"seed": 18446744073709551615}})"));
  CHECK(Gateway(small.options()).api_key() == Gateway(Options{}.seed(7)).api_key());
  CHECK(Gateway(large.options()).api_key() == Gateway(Options{}.seed(18446744073709551615ULL)).api_key());
}

}  // namespace good_scripts_test
