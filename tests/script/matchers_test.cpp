// Matchers: the requests that each accepts and rejects, and the exact report. text_matchers_test.cpp tests matchers of
// texts.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "mock_gateway.hpp"
#include "support/internals.hpp"
#include "support/matching.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace matchers_test {

using namespace mock_gateway;
using matching_support::Asked;
using matching_support::check;
using matching_support::explain_lines;
using matching_support::matches;
using matching_support::message;
using matching_support::result_of;
using matching_support::said;
using matching_support::Sent;
using matching_support::user;
using matching_support::weather_call;
using matching_support::with;
using test_support::error_of;
using test_support::repeated;

/// Returns the actual value that the report shows for an unmet condition.
inline std::string actual_of(const Matcher& matcher, const Sent& sent) {
  const std::string line = explain_lines(matcher, sent);
  const std::string expected = "✘ " + matcher.to_string() + "    actual ";
  REQUIRE(line.substr(0, expected.size()) == expected);
  return line.substr(expected.size());
}

const std::string get_weather = R"("tools":[{"type":"function","function":{"name":"get_weather"}}])";
const std::string two_tools =
    R"("tools":[{"type":"function","function":{"name":"get_time"}},{"type":"function","function":{"name":"add"}}])";

// --- Messages --------------------------------------------------------------------------------------------------------

TEST_CASE("messages are matched by role, text, position and number") {
  const std::string system = message("system", "Be brief.");
  const std::string hi = message("user", "Hi");
  const std::string hello = message("assistant", "Hello");
  const std::string bye = message("user", "Bye");
  const std::string all = system + "," + hi + "," + hello + "," + bye;
  check({
      {user_says("Bye"), said(all), said(bye + "," + hi), "✘ user text contains \"Bye\"    actual \"Hi\""},
      {user_says("Hi"), said(hi + "," + hello), said(system), "✘ user text contains \"Hi\"    actual no user message"},
      {user_says("Hi"), said(R"({"role":"user","content":[{"type":"text","text":"H"},{"type":"text","text":"i"}]})"),
       user("H"), "✘ user text contains \"Hi\"    actual \"H\""},
      {system_says("brief"), said(all), said(hi), "✘ system text contains \"brief\"    actual no system message"},
      {system_says("long"), said(message("system", "long") + "," + all), said(all),
       "✘ system text contains \"long\"    actual \"Be brief.\""},
      {system_says("long"), said(message("system", "long")), said(system + "," + message("system", "Be kind.")),
       "✘ system text contains \"long\"    actual 2 system messages, the last of role system: \"Be kind.\""},
      {any_message_says("Hello"), said(all), said(system + "," + hi),
       "✘ text of some message contains \"Hello\"    actual 2 messages, the last of role user: \"Hi\""},
      {message_is(0, "system"), said(all), said(hi), "✘ message 0 is of role system    actual role user: \"Hi\""},
      {message_is(1, "user", "Hi"), said(all), said(hi),
       "✘ message 1 is of role user and its text contains \"Hi\"    actual only 1 message"},
      {message_is(-1, "user", "Bye"), said(all), said(hi),
       "✘ last message is of role user and its text contains \"Bye\"    actual role user: \"Hi\""},
      {message_is(-4, "system"), said(all), said(hi + "," + hello),
       "✘ message -4 is of role system    actual only 2 messages"},
      {turns_are(2), said(all), said(hi), "✘ number of user messages is 2    actual 1"},
      {turns_are(at_least(1)), said(all), said(system), "✘ number of user messages is at least 1    actual 0"},
      {messages_are(between(2, 4)), said(all), said(hi), "✘ number of messages is from 2 to 4    actual 1"},
  });
  // The report of a failed negation shows the message that matched.
  CHECK(explain_lines(!any_message_says("Hello"), said(all)) ==
        "✘ not (text of some message contains \"Hello\")    actual 4 messages, one of role assistant: \"Hello\"");
  const int far = std::numeric_limits<int>::min();
  CHECK_FALSE(matches(message_is(far, "user"), said(all)));
  CHECK_FALSE(matches(message_is(std::numeric_limits<int>::max(), "user"), said(all)));
}

TEST_CASE("tool results are matched by their function or call") {
  const std::string question = message("user", "Weather?");
  const std::string asked = question + "," + weather_call;
  const std::string answered = asked + "," + result_of("call_1", "21 degrees") + "," + result_of("call_2", "noon");
  const std::string going_on = answered + "," + message("assistant", "21.") + "," + message("user", "Thanks");
  check({
      {last_is_tool_result(), said(answered), said(going_on),
       "✘ has an unanswered tool result    actual last message is of role user"},
      {tool_result("get_weather"), said(answered), said(going_on),
       "✘ has an unanswered tool result of \"get_weather\"    actual last message is of role user"},
      {tool_result("get_weather", "21"), said(answered), said(asked + "," + result_of("call_1", "19 degrees")),
       "✘ has an unanswered tool result of \"get_weather\" and its text contains \"21\"    "
       "actual call \"call_1\" of get_weather: \"19 degrees\""},
      {tool_result("get_time", equals("noon")), said(answered),
       said(asked + "," + result_of("call_1", "noon") + "," + result_of("call_9", "noon")),
       "✘ has an unanswered tool result of \"get_time\" and its text is \"noon\"    "
       "actual call \"call_1\" of get_weather: \"noon\"; call \"call_9\" of no known function: \"noon\""},
      {tool_result_of("call_2"), said(answered), said(asked + "," + result_of("call_1", "21")),
       "✘ has an unanswered tool result of call \"call_2\"    actual call \"call_1\" of get_weather: \"21\""},
      {tool_result_of("call_9", "x"), said(result_of("call_9", "x")), said(result_of("call_9", "y")),
       "✘ has an unanswered tool result of call \"call_9\" and its text contains \"x\"    "
       "actual call \"call_9\" of no known function: \"y\""},
  });
  CHECK(explain_lines(!last_is_tool_result(), said(answered)) ==
        "✘ not (has an unanswered tool result)    "
        "actual call \"call_1\" of get_weather: \"21 degrees\"; call \"call_2\" of get_time: \"noon\"");
  // Coding agents append reminders to the results, as user or system messages.
  for (const char* const role : {"user", "system"}) {
    CAPTURE(role);
    const std::string reminded = answered + "," + message(role, "Be brief.");
    for (const Matcher& matcher : {last_is_tool_result(), tool_result("get_weather", "21"), tool_result("get_time"),
                                   tool_result_of("call_1"), tool_result_of("call_2", "noon")})
      CHECK(matches(matcher, said(reminded)));
    const std::string between =
        asked + "," + result_of("call_1", "21") + "," + message(role, "Be brief.") + "," + result_of("call_2", "noon");
    CHECK(matches(tool_result("get_weather") && tool_result("get_time"), said(between)));
  }
  // A conversation may reuse the id of a call. The latest call before the results counts.
  std::string renamed = weather_call;
  renamed.replace(renamed.find("get_weather"), 11, "get_news");
  const std::string again = answered + "," + message("user", "News?") + "," + renamed + "," + result_of("call_1", "n");
  CHECK(matches(tool_result("get_news"), said(again)));
  CHECK_FALSE(matches(tool_result("get_weather"), said(again)));
  std::string many = asked;
  for (int i = 0; i < 8; ++i) many += "," + result_of("call_2", std::to_string(i));
  CHECK(actual_of(tool_result("get_weather"), said(many)) ==
        "call \"call_2\" of get_time: \"0\"; call \"call_2\" of get_time: \"1\"; call \"call_2\" of get_time: \"2\"; "
        "call \"call_2\" of get_time: \"3\"; call \"call_2\" of get_time: \"4\"; and 3 more");
}

TEST_CASE("the report shows the difference to a long expected text only for the message that the matcher is about") {
  const TextMatcher wanted = equals(repeated("noon ", 40));
  const std::string noon = R"("night" instead of "noon noon)";
  const auto begin_of = [](const std::string& actual) { return actual.substr(0, actual.find("noon noon") + 9); };
  const Sent night = user("night");
  CHECK(begin_of(actual_of(message_is(0, "user", wanted), night)) == "role user: " + noon);
  CHECK(actual_of(message_is(0, "system", wanted), night) == R"(role user: "night")");
  const Sent answered = said(message("user", "?") + "," + weather_call + "," + result_of("call_1", "21") + "," +
                             result_of("call_2", "night"));
  CHECK(begin_of(actual_of(tool_result("get_time", wanted), answered)) ==
        R"(call "call_1" of get_weather: "21"; call "call_2" of get_time: )" + noon);
  CHECK(begin_of(actual_of(tool_result_of("call_2", wanted), answered)) ==
        R"(call "call_1" of get_weather: "21"; call "call_2" of get_time: )" + noon);
}

// --- Fields ----------------------------------------------------------------------------------------------------------

TEST_CASE("every documented field is matched by its value or range") {
  check({
      {model_is("mock-model"), with(""), R"({"model":"other","messages":[{"role":"user","content":"Hi"}]})",
       "✘ model is \"mock-model\"    actual \"other\""},
      {stream_is(true), with(R"("stream":true)"), with(R"("stream":false)"), "✘ stream is true    actual false"},
      {stream_is(false), with(R"("stream":false)"), with(R"("stream":true)"), "✘ stream is false    actual true"},
      {stream_is(false), with(""), with(R"("stream":true)"), "✘ stream is false    actual true"},
      {stream_is(true), with(R"("stream":true)"), with(""), "✘ stream is true    actual not sent"},
      {include_usage_is(true), with(R"("stream":true,"stream_options":{"include_usage":true})"),
       with(R"("stream":true,"stream_options":{"include_usage":false})"),
       "✘ stream_options.include_usage is true    actual false"},
      {include_usage_is(true), with(R"("stream":true,"stream_options":{"include_usage":true})"), with(""),
       "✘ stream_options.include_usage is true    actual not sent"},
      {include_usage_is(false), with(""), with(R"("stream":true,"stream_options":{"include_usage":true})"),
       "✘ stream_options.include_usage is false    actual true"},
      {temperature_is(between(0, 1)), with(R"("temperature":1)"), with(R"("temperature":1.2)"),
       "✘ temperature is from 0 to 1    actual 1.2"},
      {temperature_is(0.2), with(R"("temperature":0.2)"), with(""), "✘ temperature is 0.2    actual not sent"},
      {temperature_is(at_most(1)), with(R"("temperature":-5)"), with(R"("temperature":null)"),
       "✘ temperature is at most 1    actual null"},
      {top_p_is(0.5), with(R"("top_p":0.5)"), with(R"("top_p":0.1)"), "✘ top_p is 0.5    actual 0.1"},
      {max_tokens_is(at_least(10)), with(R"("max_tokens":10)"), with(R"("max_tokens":9)"),
       "✘ max_tokens is at least 10    actual 9"},
      {presence_penalty_is(-2), with(R"("presence_penalty":-2.0)"), with(R"("presence_penalty":2)"),
       "✘ presence_penalty is -2    actual 2"},
      {repetition_penalty_is(1.05), with(R"("repetition_penalty":1.05)"), with(""),
       "✘ repetition_penalty is 1.05    actual not sent"},
      {n_is(2), with(R"("n":2)"), with(""), "✘ n is 2    actual not sent"},
      {n_is(1), with(""), with(R"("n":3)"), "✘ n is 1    actual 3"},
      {seed_is(7), with(R"("seed":7)"), with(R"("seed":8)"), "✘ seed is 7    actual 8"},
      {seed_is(9007199254740993), with(R"("seed":9007199254740993)"), with(R"("seed":9007199254740992)"),
       "✘ seed is 9007199254740993    actual 9007199254740992"},
      {has_stop("END"), with(R"("stop":["\n","END"])"), with(R"("stop":["\n"])"),
       R"(✘ stop has "END"    actual ["\n"])"},
      {has_stop("END"), with(R"("stop":"END")"), with(""), "✘ stop has \"END\"    actual not sent"},
      {has_tool("get_weather"), with(get_weather), with(two_tools),
       "✘ has tool \"get_weather\"    actual tools: get_time, add"},
      {has_tool("get_weather"), with(get_weather), with(""), "✘ has tool \"get_weather\"    actual no tools"},
      {tools_are(1), with(get_weather), with(two_tools), "✘ number of tools is 1    actual 2, tools: get_time, add"},
      {tools_are(at_least(1)), with(get_weather), with(""), "✘ number of tools is at least 1    actual no tools"},
      {tool_choice_is("auto"), with(get_weather), with(""), "✘ tool_choice is \"auto\"    actual \"none\" (not sent)"},
      {tool_choice_is("none"), with(""), with(get_weather), "✘ tool_choice is \"none\"    actual \"auto\" (not sent)"},
      {tool_choice_is("required"), with(get_weather + R"(,"tool_choice":"required")"),
       with(get_weather + R"(,"tool_choice":"none")"), "✘ tool_choice is \"required\"    actual \"none\""},
      {tool_choice_is("get_weather"),
       with(get_weather + R"(,"tool_choice":{"type":"function","function":{"name":"get_weather"}})"),
       with(get_weather + R"(,"tool_choice":"auto")"), "✘ tool_choice is \"get_weather\"    actual \"auto\""},
      {parallel_tool_calls_is(false), with(R"("parallel_tool_calls":false)"), with(""),
       "✘ parallel_tool_calls is false    actual not sent"},
      {response_format_is("json_object"), with(R"("response_format":{"type":"json_object"})"), with(""),
       "✘ response_format is \"json_object\"    actual not sent"},
      {response_format_is("text"), with(""), with(R"("response_format":{"type":"json_object"})"),
       "✘ response_format is \"text\"    actual \"json_object\""},
      {response_schema_is("city"),
       with(R"("response_format":{"type":"json_schema","json_schema":{"name":"city","schema":{}}})"),
       with(R"("response_format":{"type":"json_schema","json_schema":{"name":"town","schema":{}}})"),
       "✘ response schema is \"city\"    actual \"town\""},
      {response_schema_is("city"),
       with(R"("response_format":{"type":"json_schema","json_schema":{"name":"city","schema":{}}})"),
       with(R"("response_format":{"type":"json_object"})"),
       "✘ response schema is \"city\"    actual response_format {\"type\":\"json_object\"}"},
      {enable_thinking_is(true), with(R"("enable_thinking":true)"), with(R"("enable_thinking":false)"),
       "✘ enable_thinking is true    actual false"},
      {enable_thinking_is(false), with(R"("enable_thinking":false)"), with(""),
       "✘ enable_thinking is false    actual not sent"},
      {logprobs_is(true), with(R"("logprobs":true)"), with(""), "✘ logprobs is true    actual not sent"},
  });
  CHECK(error_of([] { response_format_is("json"); }) ==
        "mock_gateway: a response_format is \"text\", \"json_object\" or \"json_schema\", not \"json\"");
}

TEST_CASE("a range prints its bounds") {
  CHECK(Range(2).to_string() == "2");
  CHECK(Range(0.1).to_string() == "0.1");
  CHECK(Range(std::size_t{3}).to_string() == "3");
  CHECK(Range(-0.0).to_string() == "0");
  CHECK(Range(0.1234567890123).to_string() == "0.1234567890123");
  CHECK(Range(1e300).to_string() == "1e+300");
  CHECK(between(0, 1.5).to_string() == "from 0 to 1.5");
  CHECK(between(2, 2).to_string() == "2");
  CHECK(at_least(-1).to_string() == "at least -1");
  CHECK(at_most(1e6).to_string() == "at most 1000000");
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(between(-infinity, infinity).to_string() == "any number");
  CHECK(at_least(infinity).to_string() == "infinity");
  CHECK(between(1, 2).contains(1));
  CHECK(between(1, 2).contains(2));
  CHECK_FALSE(between(1, 2).contains(2.0001));
  std::ostringstream out;
  out << at_least(2);
  CHECK(out.str() == "at least 2");
  CHECK(error_of([] { between(2, 1); }) == "mock_gateway: a range from 2 to 1 is empty; give the smaller number first");
  CHECK(error_of([] { return Range{std::numeric_limits<double>::quiet_NaN()}; }) ==
        "mock_gateway: a range needs two numbers, but got NaN");
}

// --- JSON ------------------------------------------------------------------------------------------------------------

TEST_CASE("the body can be matched as JSON, at a place or by a part") {
  const Sent extra = with(R"("metadata":{"a":[1,{"b/c":"x","~":2}],"n":null})");
  check({
      {has_field("temperature"), with(R"("temperature":1)"), with(R"("top_p":1)"),
       "✘ has field \"temperature\"    actual fields: model, messages, top_p"},
      {has_field("seed"), with(R"("seed":null)"), with(""), "✘ has field \"seed\"    actual fields: model, messages"},
      {json_at("/messages/0/role", "user"), with(""), said(message("system", "Hi")),
       "✘ json at /messages/0/role is \"user\"    actual \"system\""},
      {json_at("/metadata/a/1/b~1c", "x"), extra, with(""),
       "✘ json at /metadata/a/1/b~1c is \"x\"    actual nothing there"},
      {json_at("/metadata/a/1/~0", 2), extra, with(R"("metadata":{"a":{"1":2}})"),
       "✘ json at /metadata/a/1/~0 is 2    actual nothing there"},
      {json_at("/metadata/n", nullptr), extra, with(R"("metadata":{"n":0})"),
       "✘ json at /metadata/n is null    actual 0"},
      {json_at("", {{"messages", {{{"content", "Hi"}, {"role", "user"}}}}, {"model", "mock-model"}}), with(""),
       with(R"("n":1)"),
       R"(✘ json at the root is {"messages":[{"content":"Hi","role":"user"}],"model":"mock-model"}    actual )"
       R"({"model":"mock-model","messages":[{"role":"user","content":"Hi"}],"n":1})"},
      {json_text_at("/model", starts_with("mock")), with(""),
       R"({"model":"m","messages":[{"role":"user","content":""}]})",
       "✘ text at /model starts with \"mock\"    actual \"m\""},
      {json_text_at("/metadata/a/1/b~1c", "x"), extra, with(""),
       "✘ text at /metadata/a/1/b~1c contains \"x\"    actual nothing there"},
      {json_text_at("/metadata/x", "1"), with(R"("metadata":{"x":"1"})"), with(R"("metadata":{"x":[1]})"),
       "✘ text at /metadata/x contains \"1\"    actual no text: [1]"},
      {body_includes({{"messages", {{{"role", "user"}}}}}), with(""), said(message("system", "Hi")),
       R"(✘ body includes {"messages":[{"role":"user"}]}    actual at /messages/0/role: "system" instead of "user")"},
      {body_includes({{"messages", {{{"role", "user"}}}}}), with(""),
       said(message("user", "a") + "," + message("user", "b")),
       R"(✘ body includes {"messages":[{"role":"user"}]}    actual )"
       R"(at /messages/1: {"role":"user","content":"b"} instead of nothing)"},
      {body_includes({{"stop", {"a", "b"}}}), with(R"("stop":["a","b"])"), with(R"("stop":["a"])"),
       R"(✘ body includes {"stop":["a","b"]}    actual at /stop/1: nothing instead of "b")"},
      {body_includes({{"metadata", {{"a", {1, {{"b/c", "x"}}}}}}}), extra, with(R"("metadata":{"a":[1,{"b/c":7}]})"),
       R"(✘ body includes {"metadata":{"a":[1,{"b/c":"x"}]}}    actual at /metadata/a/1/b~1c: 7 instead of "x")"},
      {body_includes({{"seed", nullptr}}), with(R"("seed":null)"), with(""),
       "✘ body includes {\"seed\":null}    actual at /seed: nothing instead of null"},
  });
}

TEST_CASE("numbers are compared exactly by value, and objects in any order of members") {
  const auto same = [](const Json& expected, const std::string& sent) {
    return matches(json_at("/x", expected), with("\"x\":" + sent));
  };
  CHECK(same(1, "1.0"));
  CHECK(same(1.0, "1"));
  CHECK(same(-1, "-1.0"));
  CHECK(same(0, "-0.0"));
  CHECK(same(0.5, "5e-1"));
  CHECK(same(1e3, "1000"));
  CHECK(same(9007199254740993, "9007199254740993"));
  CHECK_FALSE(same(9007199254740993, "9007199254740992.0"));
  CHECK_FALSE(same(9007199254740993, "9007199254740992"));
  CHECK(same(std::uint64_t{18446744073709551615u}, "18446744073709551615"));
  CHECK_FALSE(same(-1, "18446744073709551615"));
  CHECK_FALSE(same(std::numeric_limits<std::int64_t>::min(), "9223372036854775808"));
  CHECK(same(std::numeric_limits<std::int64_t>::min(), "-9223372036854775808.0"));
  CHECK_FALSE(same(1, "\"1\""));
  CHECK_FALSE(same(1, "true"));
  CHECK_FALSE(same(0, "null"));
  CHECK_FALSE(same(std::numeric_limits<double>::quiet_NaN(), "null"));
  CHECK(same({{"a", 1}, {"b", {{"c", 2}, {"d", 3}}}}, R"({"b":{"d":3,"c":2},"a":1})"));
  CHECK_FALSE(same({{"a", 1}}, R"({"a":1,"b":2})"));
  CHECK_FALSE(same({{"a", 1}, {"b", 2}}, R"({"a":1})"));
  CHECK_FALSE(same({1, 2}, "[2,1]"));
  CHECK_FALSE(same(Json::array(), "{}"));
  CHECK(matches(body_includes({{"x", {{"a", 1}}}}), with(R"("x":{"b":2,"a":1.0})")));
}

TEST_CASE("the report shows the difference between large values") {
  Json expected = Json::array();
  for (int i = 0; i < 100; ++i) expected.push_back({{"i", i}});
  Json actual = expected;
  actual[70]["i"] = "70";
  CHECK(actual_of(json_at("/x", expected), with("\"x\":" + actual.dump())) == "at /x/70/i: \"70\" instead of 70");
  actual[70] = {{"i", 70}, {"j", 1}};
  CHECK(actual_of(json_at("/x", expected), with("\"x\":" + actual.dump())) == "at /x/70/j: 1 instead of nothing");
  const std::string text(300, 'a');
  CHECK(actual_of(json_at("/x", text + "b"), with("\"x\":\"" + text + "c\"")) ==
        "at /x: \"…" + std::string(24, 'a') + "c\" instead of \"…" + std::string(24, 'a') + "b\" from byte 301 on");
  // The description is truncated too.
  CHECK(json_at("/x", text).to_string() == "json at /x is \"" + std::string(119, 'a') + "…");
}

TEST_CASE("an invalid JSON pointer throws, and a pointer without a target matches nothing") {
  CHECK(error_of([] { json_at("messages/0", 1); }) ==
        "mock_gateway: \"messages/0\" is no JSON pointer: it begins with \"/\", or is empty for the whole body");
  CHECK(error_of([] { json_text_at("/a~2", "x"); }) ==
        "mock_gateway: \"/a~2\" is no JSON pointer: \"~\" is written ~0, and \"/\" within a name ~1");
  CHECK(error_of([] { json_at("/a~", 1); }) != "");
  for (const char* pointer : {"/messages/-", "/messages/01", "/messages/00", "/messages/000000000",
                              "/messages/0000000000", "/messages/1", "/messages/+0", "/messages/ 0", "/messages/",
                              "/messages/99999999999999999999", "/model/0", "/", "//", "/messages/0/role/x"}) {
    INFO(pointer);
    CHECK(explain_lines(json_at(pointer, "user"), with("")) ==
          std::string("✘ json at ") + pointer + " is \"user\"    actual nothing there");
  }
}

TEST_CASE("JSON is compared up to the gateway's limit of nesting") {
  const auto nested = [](const std::string& inner) { return repeated("[", 500) + inner + repeated("]", 500); };
  const Sent deep = with("\"x\":" + nested("1"));
  CHECK(matches(json_at("/x", Json::parse(nested("1"))), deep));
  CHECK(explain_lines(body_includes({{"x", Json::parse(nested("2"))}}), deep).find("1 instead of 2") !=
        std::string::npos);
}

// --- Headers, keys and queries ---------------------------------------------------------------------------------------

TEST_CASE("headers, keys and queries are matched as sent") {
  check({
      {has_header("x-test"), with("").header("X-Test", ""), with("").header("X-Tests", "7"),
       "✘ has header x-test    actual not sent"},
      {has_header("X-Test", "7"), with("").header("x-test", "a 7"), with("").header("x-test", "8"),
       "✘ header X-Test contains \"7\"    actual \"8\""},
      {has_header("x-test", equals("7")), with("").header("x-test", "8").header("X-TEST", "7"),
       with("").header("x-test", "8").header("X-TEST", "9"), "✘ header x-test is \"7\"    actual \"8\", \"9\""},
      {header_is("x-test", "7"), with("").header("X-Test", "7"), with("").header("x-test", "77"),
       "✘ header x-test is \"7\"    actual \"77\""},
      {header_is("x-test", "7"), with("").header("X-Test", "7"), with(""),
       "✘ header x-test is \"7\"    actual not sent"},
      {key_is("key_2"), with("").key("key_2", "billing"), with("").key("key_1", "billing"),
       "✘ key is \"key_2\"    actual \"key_1\", \"billing\""},
      {key_is("billing"), with("").key("key_2", "billing"), with("").key("key_1", ""),
       "✘ key is \"billing\"    actual \"key_1\""},
      {key_is("billing"), with("").key("key_2", "billing"), with(""),
       "✘ key is \"billing\"    actual no key of the gateway's"},
      {has_query("api-version"), with("").query("a=1&api-version"), with("").query("api-versions=1"),
       "✘ query has api-version    actual not sent"},
      {has_query("v", equals("a b&c")), with("").query("x&v=a+b%26c"), with("").query("v=a%2Bb"),
       "✘ query parameter v is \"a b&c\"    actual \"a+b\""},
      {has_query("a=b", "ü"), with("").query("&&a%3Db=%C3%BC"), with("").query("a=b"),
       "✘ query parameter a=b contains \"ü\"    actual not sent"},
      {has_query("v", "%zz"), with("").query("v=%zz"), with("").query("v=%FF%0A"),
       "✘ query parameter v contains \"%zz\"    actual \"\xef\xbf\xbd\\n\""},
      {has_query("v", "2"), with("").query("v=1&v=2"), with("").query("v=1&v=1=3&v="),
       "✘ query parameter v contains \"2\"    actual \"1\", \"1=3\", \"\""},
  });
}

TEST_CASE("the report shows only some of a header's many values") {
  Sent sent = with("");
  for (int i = 0; i < 9; ++i) sent.http.headers.add("x", std::to_string(i));
  CHECK(explain_lines(has_header("x", "9"), sent) ==
        "✘ header x contains \"9\"    actual \"0\", \"1\", \"2\", \"3\", \"4\" and 4 more");
}

TEST_CASE("a stub with header_is or key_is belongs to the test with that header or key") {
  CHECK(mock_gateway::detail::Access::node(header_is("x-test", "7")).scope == with_header("X-Test", "7"));
  CHECK(mock_gateway::detail::Access::node(key_is("billing")).scope == RequestScope("billing"));
  CHECK_FALSE(mock_gateway::detail::Access::node(has_header("x-test", equals("7"))).scope.has_value());
}

TEST_CASE("an invalid header name, or a secret in place of a key's name, throws") {
  CHECK(error_of([] { key_is("sk-abc"); }) ==
        "mock_gateway: name a key by its id (CreatedKey::id) or description, not by its secret");
  CHECK(error_of([] { key_is(""); }) == "mock_gateway: name a key by its id or description; this name is empty");
  CHECK(error_of([] { has_header("x test"); }) ==
        "mock_gateway: \"x test\" is not a header name: it must consist of letters, digits and !#$%&'*+-.^_`|~");
  CHECK(error_of([] { header_is("x test", "7"); }) ==
        "mock_gateway: \"x test\" is not a header name: it must consist of letters, digits and !#$%&'*+-.^_`|~");
  CHECK(error_of([] { header_is("x-test", "7\r\nx-more: 8"); }).find("holds CR, LF or NUL") != std::string::npos);
}

// --- Conditions of the user, and combined matchers -------------------------------------------------------------------

TEST_CASE("a user's condition is evaluated once during matching, never for a report") {
  int asked = 0;
  const Matcher short_talk = matching("is a short talk", [&asked](const ChatRequest& chat) {
    ++asked;
    return chat.messages.size() < 2;
  });
  const Sent long_talk = said(message("user", "a") + "," + message("user", "b"));
  CHECK(explain_lines(short_talk, long_talk) == "✘ is a short talk");
  CHECK(asked == 1);
  CHECK(explain_lines(short_talk, user("a")) == "✔ is a short talk");
  CHECK(asked == 2);
  CHECK(explain_lines(!short_talk, user("a")) == "✘ not (is a short talk)");
  CHECK(asked == 3);

  const Matcher from_browser =
      matching_call("is from a browser", [](const ChatCall& call) { return call.http().headers.has("origin"); });
  CHECK(matches(from_browser, user("").header("Origin", "http://localhost")));
  CHECK(explain_lines(from_browser, user("")) == "✘ is from a browser");
}

TEST_CASE("a condition that was not reached is reported as not evaluated") {
  int asked = 0;
  const Matcher own = matching("is mine", [&asked](const ChatRequest&) { return ++asked > 0; });
  CHECK(explain_lines(stream_is(true) && own, user("Hi")) ==
        "✘ stream is true    actual not sent\n"
        "not evaluated: is mine");
  CHECK(explain_lines(stream_is(false) || own, user("Hi")) ==
        "✔ any of\n"
        "  ✔ stream is false\n"
        "  not evaluated: is mine");
  CHECK(explain_lines(stream_is(true) && !own, user("Hi")) ==
        "✘ stream is true    actual not sent\n"
        "not evaluated: not (is mine)");
  CHECK(asked == 0);
  // The result of a condition that was not evaluated is unknown.
  std::string lines;
  CHECK(Asked(own, user("Hi")).explained(lines) == std::nullopt);
  CHECK(lines == "not evaluated: is mine");
  lines.clear();
  CHECK(Asked(stream_is(false) && own, user("Hi")).explained(lines) == std::nullopt);
  CHECK(lines == "✔ stream is false\nnot evaluated: is mine");
  lines.clear();
  CHECK(Asked(stream_is(true) || own, user("Hi")).explained(lines) == std::nullopt);
  CHECK(lines == "not evaluated: any of\n  ✘ stream is true    actual not sent\n  not evaluated: is mine");
  CHECK(asked == 0);
}

TEST_CASE("a report combines conditions whose result is known or unknown, in any order") {
  const Matcher own = matching("is mine", [](const ChatRequest&) { return true; });
  const Matcher yes = stream_is(false);
  const Matcher no = stream_is(true);
  using Verdict = std::optional<bool>;
  const std::pair<Matcher, Verdict> rows[] = {
      {no && own, false},        {own && no, false},         {yes && no && own, false},  {own && yes && no, false},
      {yes && own, Verdict()},   {own && yes, Verdict()},    {own && own, Verdict()},    {yes || own, true},
      {own || yes, true},        {no || own, Verdict()},     {own || no, Verdict()},     {no || own || yes, true},
      {!(no && own), true},      {!(own && no), true},       {!(yes && own), Verdict()}, {!(yes || own), false},
      {!(own || no), Verdict()}, {(no && own) || no, false}, {(own || yes) && yes, true}};
  for (const auto& row : rows) {
    const Matcher& matcher = row.first;
    const Verdict& verdict = row.second;
    INFO(matcher.to_string());
    std::string lines;
    CHECK(Asked(matcher, user("Hi")).explained(lines) == verdict);
    std::string inner;
    CHECK(Asked(no || matcher, user("Hi")).explained(inner) == verdict);
  }
  CHECK(explain_lines((no && own) || no, user("Hi")) ==
        "✘ any of\n"
        "  ✘ all of\n"
        "    ✘ stream is true    actual not sent\n"
        "    not evaluated: is mine\n"
        "  ✘ stream is true    actual not sent");
}

TEST_CASE("an exception in a condition propagates") {
  const Matcher broken = matching("breaks", [](const ChatRequest&) -> bool { throw std::runtime_error("broken"); });
  CHECK_THROWS_WITH_AS(matches(broken, user("")), "broken", std::runtime_error);
}

TEST_CASE("a condition without a name or a function throws") {
  CHECK(error_of([] { matching("", [](const ChatRequest&) { return true; }); }) ==
        "mock_gateway: a custom condition needs a name for reports");
  CHECK(error_of([] { matching("is mine", nullptr); }) == "mock_gateway: the condition \"is mine\" has no function");
  CHECK(error_of([] { matching_call("is mine", nullptr); }) ==
        "mock_gateway: the condition \"is mine\" has no function");
  CHECK(error_of([] { user_says(static_cast<const char*>(nullptr)); }) ==
        "mock_gateway: a text matcher's text is a null pointer");
}

TEST_CASE("matchers can be combined, and a report has a line for each matcher, indented below alternatives") {
  const Matcher weather = has_tool("get_weather");
  const Matcher hot = temperature_is(at_least(1));
  const Matcher streamed = stream_is(true);
  CHECK((weather && hot && streamed).to_string() ==
        "(has tool \"get_weather\" and temperature is at least 1 and stream is true)");
  CHECK((weather || (hot && !streamed)).to_string() ==
        "(has tool \"get_weather\" or (temperature is at least 1 and not (stream is true)))");
  CHECK((!(weather || hot)).to_string() == "not (has tool \"get_weather\" or temperature is at least 1)");

  CHECK(matches(weather && streamed, with(get_weather + R"(,"stream":true)")));
  CHECK_FALSE(matches(weather && streamed, with(get_weather)));
  CHECK(matches(weather || streamed, with(get_weather)));
  CHECK_FALSE(matches(weather || streamed, with("")));
  CHECK(matches(!weather, with("")));
  CHECK(matches(!!weather, with(get_weather)));
  CHECK_FALSE(matches(!(weather || streamed), with(get_weather)));

  CHECK(explain_lines(user_says("weather") && weather && !streamed, with(R"("stream":true)")) ==
        "✘ user text contains \"weather\"    actual \"Hi\"\n"
        "✘ has tool \"get_weather\"    actual no tools\n"
        "✘ not (stream is true)    actual true");
  CHECK(explain_lines(user_says("Hi") && (weather || (hot && (streamed || n_is(2))) || model_is("m")), with("")) ==
        "✔ user text contains \"Hi\"\n"
        "✘ any of\n"
        "  ✘ has tool \"get_weather\"    actual no tools\n"
        "  ✘ all of\n"
        "    ✘ temperature is at least 1    actual not sent\n"
        "    ✘ any of\n"
        "      ✘ stream is true    actual not sent\n"
        "      ✘ n is 2    actual not sent\n"
        "  ✘ model is \"m\"    actual \"mock-model\"");
  CHECK(explain_lines(!(weather || streamed), with(get_weather)) ==
        "✘ not (has tool \"get_weather\" or stream is true)");
  CHECK(explain_lines(!!weather, with("")) == "✘ not (not (has tool \"get_weather\"))");
}

TEST_CASE("matchers outlive their arguments") {
  std::optional<Matcher> matcher;
  {
    std::string part = "a text that is too long to be stored within a string object";
    Json expected = {{"model", "mock-model"}};
    matcher = user_says(part) && body_includes(expected) && json_at("/model", expected["model"]);
    part.assign(part.size(), '!');
    expected.clear();
  }
  const Matcher copy = *matcher;
  matcher.reset();
  CHECK(matches(copy, user("Here is a text that is too long to be stored within a string object.")));
  CHECK(explain_lines(copy, user("Hi")) ==
        "✘ user text contains \"a text that is too long to be stored within a string object\"    actual \"Hi\"\n"
        "✔ body includes {\"model\":\"mock-model\"}\n"
        "✔ json at /model is \"mock-model\"");
}

TEST_CASE("each condition of a stub is evaluated once per request") {
  int first = 0;
  int second = 0;
  const auto counting = [](int& count) {
    using Node = mock_gateway::detail::TextMatcherNode;
    Node node{[](const Node& own, std::string_view text) { return own.function(text); }, "is counted"};
    node.built_in = true;  // as in the library's own matchers, which may be evaluated before the user's
    node.function = [&count](std::string_view) { return ++count > 0; };
    return user_says(mock_gateway::detail::Access::make<TextMatcher>(std::move(node)));
  };
  Gateway gateway;
  const Stub stub = gateway.chat().when(counting(first)).when(counting(second)).reply("Hello.");
  CHECK(test_support::Http(gateway).ask("Hi.") == "Hello.");
  CHECK(stub.calls() == 1);
  CHECK(first == 1);
  CHECK(second == 1);
}

}  // namespace matchers_test
