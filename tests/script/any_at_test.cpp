// any_at: conditions on one element of an array or member of an object, and the report of the closest one. Matchers of
// the prompt's tokens and the body's bytes.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/matching.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/verification.hpp"

namespace any_at_test {

using namespace mock_gateway;
using matching_support::check;
using matching_support::explain_lines;
using matching_support::matches;
using matching_support::message;
using matching_support::said;
using matching_support::Sent;
using matching_support::with;
using test_support::chat_body;
using test_support::contains;
using test_support::error_of;
using test_support::Http;
using test_support::kinds;

const Matcher bare = any_at("/messages", json_at("/role", "assistant"), !has_field("reasoning_content"));
const std::string thought = R"({"role":"assistant","content":"Yes","reasoning_content":"r"})";

/// Returns the actual value that the report shows.
std::string actual_of(const Matcher& matcher, const Sent& sent) {
  const std::string line = explain_lines(matcher, sent);
  const std::string start = "✘ " + matcher.to_string() + "    actual ";
  REQUIRE(line.substr(0, start.size()) == start);
  return line.substr(start.size());
}

TEST_CASE("some element must meet all conditions together") {
  CHECK(
      bare.to_string() ==
      "some element of /messages matches: (json at /role is \"assistant\" and not (has field \"reasoning_content\"))");
  const std::string hi = message("user", "Hi");
  const std::string yes = message("assistant", "Yes");
  check({
      {bare, said(hi + "," + yes + "," + hi), said(hi + "," + thought + "," + hi),
       "✘ " + bare.to_string() +
           "    actual closest: element 1 of /messages: ✘ not (has field \"reasoning_content\"), actual \"r\""},
      {any_at("/messages", has_field("name")), said(R"({"role":"user","name":"x","content":"Hi"})"), said(hi),
       "✘ some element of /messages matches: has field \"name\"    actual closest: element 0 of /messages: ✘ has field "
       "\"name\", actual fields: role, content"},
      {any_at("/metadata", json_at("", 7)), with(R"("metadata":{"a":1,"b":7.0})"), with(R"("metadata":{"a":1,"b":2})"),
       "✘ some element of /metadata matches: json at the root is 7    actual closest: member \"a\" of /metadata: ✘ "
       "json "
       "at the root is 7, actual 1"},
      {any_at("/messages", json_at("/role", "tool") || json_text_at("/content", "H")), said(hi), said(yes),
       "✘ some element of /messages matches: (json at /role is \"tool\" or text at /content contains \"H\")    actual "
       "closest: element 0 of /messages: ✘ (json at /role is \"tool\" or text at /content contains \"H\")"},
      {any_at("/messages", body_includes({{"role", "user"}}), json_text_at("/content", "ye")),
       said(message("user", "ye")), said(hi + "," + message("assistant", "Yes")),
       "✘ some element of /messages matches: (body includes {\"role\":\"user\"} and text at /content contains \"ye\")"
       "    actual closest: element 0 of /messages: ✘ text at /content contains \"ye\", actual \"Hi\""},
      {any_at("/messages", any_at("/content", json_at("/type", "text"))),
       said(R"({"role":"user","content":[{"type":"text","text":"Hi"}]})"), said(hi),
       "✘ some element of /messages matches: some element of /content matches: json at /type is \"text\"    actual "
       "closest: element 0 of /messages: ✘ some element of /content matches: json at /type is \"text\", actual no "
       "array "
       "or object: \"Hi\""},
  });
}

TEST_CASE("the negation says that every element meets a condition") {
  const Matcher named = !any_at("/messages", !has_field("name"));
  const std::string with_name = R"({"role":"user","name":"x","content":"Hi"})";
  check({{named, said(with_name + "," + with_name), said(with_name + "," + message("user", "Hi")),
          "✘ not (some element of /messages matches: not (has field \"name\"))    actual element 1 of /messages: "
          "{\"role\":\"user\",\"content\":\"Hi\"}"}});
  CHECK(matches(!any_at("/tools", !has_field("function")), with("")));
}

TEST_CASE("a value that is missing, empty or neither array nor object has no matching element") {
  const Matcher any = json_at("", nullptr) || !json_at("", nullptr);
  const auto at = [&](const char* pointer) {
    return actual_of(any_at(pointer, any), with(R"("metadata":{},"stop":[])"));
  };
  CHECK(at("/tools") == "nothing there");
  CHECK(at("/messages/1") == "nothing there");
  CHECK(at("/metadata") == "empty");
  CHECK(at("/stop") == "empty");
  CHECK(at("/model") == "no array or object: \"mock-model\"");
  CHECK(matches(any_at("", json_at("", "mock-model")), with("")));
  CHECK(actual_of(any_at("/stop", has_field("0")), with(R"("stop":["a"])")) ==
        "closest: element 0 of /stop: ✘ has field \"0\", actual no object: \"a\"");
}

TEST_CASE("the closest element fails the fewest conditions, and of several the last of them") {
  const Matcher three = any_at("/messages", json_at("/role", "user"), json_at("/content", "b"), has_field("name"));
  const auto closest = [&](const std::string& messages) {
    const std::string actual = actual_of(three, said(messages));
    return actual.substr(0, actual.find(" of"));
  };
  const std::string only_role = message("user", "a");
  const std::string no_role = R"({"role":"assistant","content":"b","name":"x"})";
  CHECK(closest(only_role + "," + no_role) == "closest: element 1");
  CHECK(closest(no_role + "," + message("user", "b")) == "closest: element 1");
  CHECK(closest(only_role + "," + only_role) == "closest: element 0");
}

TEST_CASE("only matchers of JSON can be conditions on an element") {
  const std::string advice =
      "\" is about the whole request, not about an element; within any_at, use json_at, json_text_at, has_field, "
      "body_includes or any_at, or combine these";
  const Matcher custom = matching("mine", [](const ChatRequest&) { return true; });
  for (const Matcher& wrong : {user_says("x"), model_is("x"), n_is(2), prompt_tokens_are(1), body_bytes_are(1),
                               has_header("x"), key_is("x"), last_is_tool_result(), custom}) {
    const std::string error = "mock_gateway: the matcher \"" + wrong.to_string() + advice;
    CHECK(error_of([&] { any_at("/messages", wrong); }) == error);
    CHECK(error_of([&] { any_at("/messages", has_field("x"), !(has_field("y") || wrong)); }) == error);
  }
  CHECK(error_of([] { any_at("messages", has_field("x")); }) ==
        "mock_gateway: \"messages\" is no JSON pointer: it begins with \"/\", or is empty for the whole body");
}

TEST_CASE("a user's function is asked once for each element, never for a report") {
  std::size_t calls = 0;
  const TextMatcher odd("is odd", [&](std::string_view text) { return ++calls, text == "odd"; });
  const Matcher matcher = any_at("/messages", json_at("/role", "user"), json_text_at("/content", odd));
  const std::string a = message("user", "a");
  CHECK(explain_lines(matcher, said(a + "," + message("assistant", "odd") + "," + message("user", "b"))) ==
        "✘ " + matcher.to_string() +
            "    actual closest: element 0 of /messages: {\"role\":\"user\",\"content\":\"a\"}");
  CHECK(calls == 2);
  CHECK(explain_lines(matcher, said(a + "," + message("user", "odd") + "," + a)) == "✔ " + matcher.to_string());
  CHECK(calls == 4);
  CHECK(explain_lines(!matcher, said(message("user", "odd"))) ==
        "✘ not (" + matcher.to_string() +
            ")    actual closest: element 0 of /messages: {\"role\":\"user\",\"content\":\"odd\"}");
  const TextMatcher throws("throws", [](std::string_view) -> bool { throw std::runtime_error("boom"); });
  CHECK_THROWS_WITH(matches(any_at("/messages", json_text_at("/content", throws)), said(a)), "boom");
}

TEST_CASE("any_at works in stubs, should conditions, chaos and the journal") {
  Gateway gateway(Options().verify_on_destruction(false));
  const Http http(gateway);
  const Json history = {{{"role", "user"}, {"content", "a"}}, {{"role", "assistant"}, {"content", "b"}}};
  gateway.chat().named("checks").should(!bare).reply("checked");
  gateway.chat().named("many").when(any_at("/messages", json_text_at("/content", "many"))).expect(1).reply("many");
  gateway.chaos(Chaos(bad_gateway()).when(any_at("/stop", json_at("", "END"))));
  CHECK(http.ask("many") == "many");
  CHECK(http.chat({{"messages", history}}).text() == "checked");
  CHECK(http.chat({{"stop", {"a", "END"}}}).status == 502);
  CHECK(gateway.journal().count(bare) == 1);
  CHECK(gateway.journal().find(!any_at("/messages", json_at("/role", "user"))).empty());
  const Verification verification = gateway.verify();
  REQUIRE(kinds(verification) == std::vector{Problem::Kind::invalid});
  CHECK(contains(
      verification.problems()[0].text,
      "✘ not (" + bare.to_string() + ")    actual element 1 of /messages: {\"role\":\"assistant\",\"content\":\"b\"}"));
}

TEST_CASE("the prompt's tokens are counted as for usage, by the default or the test's tokenizer") {
  const Tokenizer letters = [](std::string_view text) {
    std::vector<std::string> pieces;
    for (const char letter : text) pieces.emplace_back(1, letter);
    return pieces;
  };
  for (const auto& [options, tokens] : {std::pair{Options(), 6}, std::pair{Options().tokenizer(letters), 8}}) {
    Gateway gateway(options.verify_on_destruction(false));
    const Http http(gateway);
    gateway.chat().reply("other");
    gateway.chat().when(prompt_tokens_are(tokens)).should(prompt_tokens_are(at_most(5))).reply("counted");
    const test_support::Response counted = http.chat("a b c");
    CHECK(counted.text() == "counted");
    CHECK(counted.usage()["prompt_tokens"] == tokens);
    CHECK(http.ask("a") == "other");
    CHECK(gateway.journal().count(prompt_tokens_are(tokens)) == 1);
    CHECK(gateway.journal().count(prompt_tokens_are(at_least(1))) == 2);
    CHECK(contains(gateway.verify().message(),
                   "✘ number of prompt tokens is at most 5    actual " + std::to_string(tokens)));
    std::size_t seen = 0;
    gateway.chat()
        .when(matching_call("counts", [&](const ChatCall& call) { return (seen = call.prompt_tokens()) > 0; }))
        .reply("x");
    http.chat("a b c");
    CHECK(seen == static_cast<std::size_t>(tokens));
    const Journal journal = gateway.journal();
    static_cast<void>(Gateway(std::move(gateway)));  // ends it
    CHECK(journal.count(prompt_tokens_are(tokens)) == 2);
  }
  CHECK(actual_of(prompt_tokens_are(5), said(message("user", "a") + "," + message("user", "b c"))) == "9");
}

TEST_CASE("the body's bytes are those of the request, also in a chaos rule") {
  Gateway gateway(Options().verify_on_destruction(false));
  const Http http(gateway);
  const auto bytes = static_cast<double>(chat_body("Hi").dump().size());
  gateway.chat().when(body_bytes_are(bytes)).reply("exact");
  CHECK(http.ask("Hi") == "exact");
  CHECK(http.chat("Hi!").status == 422);
  CHECK(contains(gateway.verify().message(), "✘ number of body bytes is " + std::to_string(static_cast<int>(bytes)) +
                                                 "    actual " + std::to_string(static_cast<int>(bytes) + 1)));
  gateway.chaos(Chaos(overloaded()).when(body_bytes_are(at_least(1000)), prompt_tokens_are(4)));
  CHECK(http.chat(std::string(1000, 'a')).status == 529);
  CHECK(http.chat("Hi").status == 200);
}

TEST_CASE("a tokenizer that throws in a matcher gets 500, and a report does not run into it") {
  bool broken = true;
  const Tokenizer tokenizer = [&](std::string_view text) {
    if (broken) throw std::runtime_error("boom");
    return std::vector{std::string(text)};
  };
  Gateway gateway(Options().tokenizer(tokenizer).verify_on_destruction(false));
  const Http http(gateway);
  gateway.chat().named("long").when(prompt_tokens_are(at_least(9))).expect(1).reply("x");
  CHECK(http.chat().status == 500);
  const Verification verification = gateway.verify();
  const std::string text = verification.message();
  CHECK(contains(text, "the matcher \"number of prompt tokens is at least 9\" of \"long\""));
  CHECK(contains(text, "threw: the function given to Options::tokenizer threw: boom"));
  CHECK(contains(text, "? number of prompt tokens is at least 9    not evaluated"));
  CHECK_THROWS_WITH(gateway.journal().count(prompt_tokens_are(1)),
                    "the function given to Options::tokenizer threw: boom");
  broken = false;
  CHECK(gateway.journal().count(prompt_tokens_are(4)) == 1);
}

}  // namespace any_at_test
