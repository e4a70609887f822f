// Replies that quote the request: placeholders, escaping of values, and errors.

#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace templates_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::contains;
using test_support::Http;
using test_support::refused;

Json asking(const std::string& text, const Json& more = Json::object()) {
  Json body = {{"messages", {{{"role", "user"}, {"content", text}}}}};
  body.update(more);
  return body;
}

/// A gateway whose only stub has this reply, and a client.
struct Wire {
  explicit Wire(const Reply& reply, const Options& options = Options()) : gateway(options) {
    gateway.chat().reply(reply);
  }
  std::string text(const std::string& said, const Json& more = Json::object()) const {
    return http.chat(asking(said, more)).text();
  }

  Gateway gateway;
  Http http{gateway};
};

TEST_CASE("each placeholder of a template is replaced by its part of the request") {
  ManualClock clock;
  struct Row {
    const char* place;
    const char* value;
  };
  const std::vector<Row> rows = {
      {"{{request.last_user_text}}", "say \"Hi\""},
      {"{{ request.last_user_text }}", "say \"Hi\""},
      {"{{request.body./model}}", "mock-model"},
      {"{{request.body./messages/0/role}}", "user"},
      {"{{request.body./messages/0}}", R"({"role":"user","content":"say \"Hi\""})"},
      {"{{request.body./temperature}}", "0.5"},
      {"{{request.body./metadata/a~1b}}", "slash"},
      {"{{request.body./nothing}}", ""},
      {"{{request.body./messages/7/role}}", ""},
      {"{{request.body./messages/x}}", ""},
      {"{{request.header.x-id}}", "first"},
      {"{{request.header.X-ID}}", "first"},
      {"{{request.header.x-none}}", ""},
      {"{{count}}", "1"},
      {"no place", "no place"},
      {"} {single} }}", "} {single} }}"},
      {"<{{count}}{{count}}>", "<11>"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.place);
    const Wire wire(text(row.place).templated(), Options{}.clock(clock).acceptance(Acceptance::openai()));
    const Json body = asking("say \"Hi\"", {{"temperature", 0.5}, {"metadata", {{"a/b", "slash"}}}});
    CHECK(wire.http.with_header("x-id", "first").with_header("x-other", "second").chat(body).text() == row.value);
  }
  const Wire wire(text("{{now}}").templated(), Options{}.clock(clock));
  const std::string before = wire.text("Hi");
  CHECK(before.size() == std::string("2026-01-01T00:00:00.000Z").size());
  clock.advance(1s);
  CHECK(wire.text("Hi") != before);
}

TEST_CASE("a template is filled for each request, plain and streamed, in every kind of content") {
  const Wire wire(thinking("About {{request.last_user_text}}.")
                      .text("You said {{request.last_user_text}}, call {{count}}.")
                      .tool_call("look", {{"query", "{{request.last_user_text}}"}, {"n", "{{count}}"}})
                      .extra({{"system_fingerprint", "fp {{count}}"}})
                      .templated(),
                  Options{}.profile(Profile::deepseek));
  const auto plain = wire.http.chat(asking("a \"b\"\n"));
  CHECK(plain.message()["content"] == "You said a \"b\"\n, call 1.");
  CHECK(plain.message()["reasoning_content"] == "About a \"b\"\n.");
  CHECK(Json::parse(plain.message()["tool_calls"][0]["function"]["arguments"].get<std::string>()) ==
        Json{{"query", "a \"b\"\n"}, {"n", "1"}});
  CHECK(plain.json()["system_fingerprint"] == "fp 1");
  const auto stream = wire.http.stream(asking("c"));
  CHECK(stream.joined_text() == "You said c, call 2.");
  CHECK(stream.json_events().front()["system_fingerprint"] == "fp 2");
}

TEST_CASE("values are escaped inside JSON strings, and are written as JSON outside") {
  const std::string said = "\"},{\\ \t\xc3\xa9 {{count}}";
  const auto filled = [&](const Reply& reply) { return Json::parse(Wire(reply.templated()).text(said)); };
  CHECK(filled(json_text({{"said", "<{{request.last_user_text}}>"}})) == Json{{"said", "<" + said + ">"}});
  CHECK(filled(text(R"({"said": {{request.last_user_text}}, "n": {{count}}, "none": {{request.body./none}},)"
                    R"( "message": {{request.body./messages/0}}, "q\"": "{{count}}"})")) ==
        Json{{"said", said},
             {"n", 1},
             {"none", nullptr},
             {"message", {{"role", "user"}, {"content", said}}},
             {"q\"", "1"}});
  CHECK(filled(text(R"([{{count}}, "{{request.body./messages}}"])"))[1] ==
        Json::array({Json{{"role", "user"}, {"content", said}}}).dump());
  // A placeholder inside an inserted value is not replaced.
  CHECK(contains(Wire(text("{{request.last_user_text}}").templated()).text(said), "{{count}}"));
  const Wire malformed(malformed_tool_call("f", R"({"city": "{{request.last_user_text}})").templated());
  CHECK(malformed.http.chat(asking("a\"b")).message()["tool_calls"][0]["function"]["arguments"] == R"({"city": "a\"b)");
  const Wire raw(raw_reply(200, R"({"echo": "{{request.last_user_text}}"})").templated());
  CHECK(raw.http.chat(asking(said)).json() == Json{{"echo", said}});
}

TEST_CASE("a uuid depends on the seed, the request and the call, and differs for each placeholder") {
  const auto uuids = [](std::uint64_t seed, const std::string& said) {
    const Wire wire(text("{{uuid}} {{uuid}}").templated(), Options{}.seed(seed));
    return std::vector<std::string>{wire.text(said), wire.text(said)};
  };
  const std::vector<std::string> first = uuids(1, "Hi");
  CHECK(first == uuids(1, "Hi"));
  std::set<std::string> all;
  for (const auto& pairs : {first, uuids(2, "Hi"), uuids(1, "Ho")})
    for (const std::string& pair : pairs) {
      REQUIRE(pair.size() == 73);
      for (const std::string& uuid : {pair.substr(0, 36), pair.substr(37)}) {
        CHECK(uuid[14] == '4');
        CHECK(contains("89ab", std::string(1, uuid[19])));
        all.insert(uuid);
      }
    }
  CHECK(all.size() == 12);
}

TEST_CASE("without templated() a text is sent unchanged") {
  CHECK(Wire(text("{{count}} {{anything}}")).text("Hi") == "{{count}} {{anything}}");
}

TEST_CASE("keys are masked in quoted text") {
  const Wire wire(text("{{request.header.authorization}}").templated());
  CHECK(!contains(wire.text("Hi"), wire.gateway.api_key()));
}

TEST_CASE("an unknown placeholder makes templated() throw, or causes a 500 if its text is added later") {
  const std::string known =
      " is not a place of a template; known: {{request.last_user_text}}, {{request.body./json/pointer}}, "
      "{{request.header.NAME}}, {{count}}, {{now}}, {{uuid}}";
  for (const char* place : {"{{}}", "{{request.user}}", "{{request.body.model}}", "{{request.header.}}", "{{#if x}}"}) {
    CAPTURE(place);
    CHECK(refused([&] { (void)text(place).templated(); }) == "\"" + std::string(place) + "\"" + known);
    CHECK(refused([&] { (void)tool_call("f", {{"a", place}}).templated(); }) != "not refused");
  }
  CHECK(contains(refused([] { (void)text("a {{count").templated(); }), "\"{{count\" is not a place of a template"));
  CHECK(contains(refused([] { (void)Reply(server_error()).templated(); }), "a failure has no template"));
  CHECK(contains(refused([] { (void)chunks({}).templated(); }), "chunks have no template"));
  CHECK(contains(refused([] { (void)choices(text("a").templated(), text("b")); }), "templated"));
  const Wire wire(text("a").templated().text("{{b}}"), Options{}.verify_on_destruction(false));
  CHECK(wire.http.chat(asking("Hi")).status == 500);
  CHECK(contains(wire.gateway.verify().message(), "\"{{b}}\" is not a place of a template"));
}

TEST_CASE("values of placeholders beyond 32 MiB in all cause a 500 and a problem") {
  const std::string prompt(std::size_t{1} << 20, 'a');
  const auto quotes = [](int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += "{{request.last_user_text}}";
    return all;
  };
  CHECK(Wire(raw_reply(200, quotes(32), "text/plain").templated()).http.chat(asking(prompt)).body.size() == 32u << 20);
  for (const Reply& reply : {text(quotes(33)), text(quotes(20)).thinking(quotes(13)), raw_reply(200, quotes(200))}) {
    const Wire wire(reply.templated(), Options{}.verify_on_destruction(false));
    CHECK(wire.http.chat(asking(prompt)).status == 500);
    CHECK(contains(wire.gateway.verify().message(), "the placeholders of a template may become 32 MiB in all"));
  }
}

TEST_CASE("a template that a reply function returns is filled too") {
  Gateway gateway;
  gateway.chat().reply([](const ChatRequest&) { return text("{{request.last_user_text}} {{count}}").templated(); });
  const Http http{gateway};
  CHECK(http.chat(asking("one")).text() == "one 1");
  CHECK(http.chat(asking("two")).text() == "two 2");
}

}  // namespace templates_test
