// Text matchers, including patterns and functions of the user: the texts that each accepts, and the exact report.

#include <string>
#include <string_view>
#include <vector>

#include "mock_gateway.hpp"
#include "support/internals.hpp"
#include "support/matching.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace text_matchers_test {

using namespace mock_gateway;
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

/// Returns the report of a matcher for the text of a user message.
inline std::string explain_text(const TextMatcher& matcher, const std::string& text) {
  CHECK_FALSE(matcher.matches(text));
  return matcher.explain(text);
}

// --- Texts -----------------------------------------------------------------------------------------------------------

TEST_CASE("a plain string matches anywhere in the text; equals, starts_with and ends_with match at a position") {
  check({
      {user_says("weather"), user("The weather?"), user("wether in Paris?"),
       "✘ user text contains \"weather\"    actual \"wether in Paris?\""},
      {user_says(std::string("weather")), user("weather"), user("Weather"),
       "✘ user text contains \"weather\"    actual \"Weather\""},
      {user_says(contains("a")), user("a"), user("b"), "✘ user text contains \"a\"    actual \"b\""},
      {user_says(equals("weather")), user("weather"), user("weather?"),
       "✘ user text is \"weather\"    actual \"weather?\""},
      {user_says(starts_with("We")), user("Weather"), user("The weather"),
       "✘ user text starts with \"We\"    actual \"The weather\""},
      {user_says(starts_with("Weather")), user("Weather"), user("We"),
       "✘ user text starts with \"Weather\"    actual \"We\""},
      {user_says(ends_with("?")), user("Weather?"), user("Weather."),
       "✘ user text ends with \"?\"    actual \"Weather.\""},
      {user_says(ends_with("weather?")), user("weather?"), user("r?"),
       "✘ user text ends with \"weather?\"    actual \"r?\""},
      {user_says(matches_regex("^w[ea]+ther$")), user("weather"), user("the weather"),
       "✘ user text matches the pattern \"^w[ea]+ther$\"    actual \"the weather\""},
      {user_says(any_text()), user(""), said(message("system", "Hi")),
       "✘ user text is anything    actual no user message"},
  });
}

TEST_CASE("a report shows a difference in a long text with its surroundings") {
  const std::string dog = repeated("0123456789", 30) + "the lazy dog sleeps" + repeated("abcdefghij", 30);
  const std::string cat = repeated("0123456789", 30) + "the lazy cat sleeps" + repeated("abcdefghij", 30);
  CHECK(explain_text(equals(dog), cat) ==
        "\"…567890123456789the lazy cat sleepsabcdefghijabcdefghijabcdefghijabcdefghijabcdef…\" instead of "
        "\"…567890123456789the lazy dog sleepsabcdefghijabcdefghijabcdefghijabcdefghijabcdef…\" from byte 310 on");
  CHECK(explain_text(starts_with(dog.substr(0, 314)), cat) ==
        "\"…567890123456789the lazy cat sleepsabcdefghijabcdefghijabcdefghijabcdefghijabcdef…\" instead of "
        "\"…567890123456789the lazy dog s\" from byte 310 on");
  CHECK(explain_text(ends_with(dog.substr(200)), cat) ==
        "\"…567890123456789the lazy cat sleepsabcdefghijabcdefghijabcdefghijabcdefghijabcdef…\" instead of "
        "\"…567890123456789the lazy dog sleepsabcdefghijabcdefghijabcdefghijabcdefghijabcdef…\" from byte 310 on");
  CHECK(explain_text(equals("short"), cat) ==
        "\"01234567890123456789012345678901234567890123456789012345678901234567890123456789…\" instead of \"short\" "
        "from byte 1 on");
  CHECK(explain_text(equals(cat), cat.substr(0, 320)) ==
        "\"…6789the lazy cat sleepsa\" instead of "
        "\"…6789the lazy cat sleepsabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefg…\" from byte 321 on");
  CHECK(explain_text(contains(dog), "You say: " + cat) ==
        "\"…567890123456789the lazy cat sleepsabcdefghijabcdefghijabcdefghijabcdefghijabcdef…\" instead of "
        "\"…567890123456789the lazy dog sleepsabcdefghijabcdefghijabcdefghijabcdefghijabcdef…\" from byte 319 on; the "
        "first 309 of its 619 bytes were found, up to byte 318");
  CHECK(explain_text(contains("the lazy dog"), cat) ==
        "\"the lazy cat\" instead of \"the lazy dog\"; the first 9 of its 12 bytes were found, up to byte 309");
  // A beginning that overlaps a shorter one is found too.
  CHECK(explain_text(contains(repeated("ab", 20) + "cd" + dog), repeated("ab", 21) + "cx")
            .find("; the first 41 of its 661 bytes were found, up to byte 43") != std::string::npos);
  const std::string end = repeated("aab", 1000);
  CHECK(explain_text(contains(end + "c"), repeated("aab", 2000) + "aac") ==
        "\"…" + repeated("aab", 8) + "a\" instead of \"…" + repeated("aab", 8) +
            "c\" from byte 3,001 on; the first 3,000 of its 3,001 bytes were found, up to byte 3,000");
  // These reports show no difference, only the first 120 characters of the text, or the last 120 for ends_with.
  CHECK(explain_text(starts_with("1"), cat) == "\"" + repeated("0123456789", 12) + "…\"");
  CHECK(explain_text(ends_with("!"), cat) == "\"…" + repeated("abcdefghij", 12) + "\"");
  CHECK(explain_text(contains("!"), cat) == "\"" + repeated("0123456789", 12) + "…\"");
  CHECK(equals(cat).explain(cat) == "\"" + repeated("0123456789", 12) + "…\"");
}

TEST_CASE("a report shows texts up to 120 bytes completely, longer texts around the difference") {
  const auto a = [](std::size_t count) { return std::string(count, 'a'); };
  const std::string at_end = "\"…" + a(25) + "\" instead of \"…" + a(24) + "b\" from byte 121 on";
  CHECK(explain_text(equals(a(119) + "b"), a(120)) == "\"" + a(120) + "\"");
  CHECK(explain_text(equals(a(120) + "b"), a(121)) == at_end);
  CHECK(explain_text(starts_with(a(119) + "b"), a(120)) == "\"" + a(120) + "\"");
  CHECK(explain_text(starts_with(a(119) + "b"), a(121)) == "\"" + a(120) + "…\"");
  CHECK(explain_text(starts_with(a(120) + "b"), a(121)) == at_end);
  CHECK(explain_text(ends_with("b" + a(119)), a(120)) == "\"" + a(120) + "\"");
  CHECK(explain_text(ends_with("b" + a(119)), a(121)) == "\"…" + a(120) + "\"");
  CHECK(explain_text(ends_with("b" + a(120)), a(122)) ==
        "\"" + a(80) + "…\" instead of \"b" + a(79) + "…\" from byte 2 on");
  const auto actual_user = [&](const std::string& expected, const std::string& sent) {
    const std::string lines = explain_lines(body_includes({{"user", expected}}), with("\"user\":\"" + sent + "\""));
    return lines.substr(lines.find("at /user: ") + 10);
  };
  CHECK(actual_user(a(119) + "b", a(120)) == "\"" + a(120) + "\" instead of \"" + a(119) + "b\"");
  CHECK(actual_user(a(120) + "b", a(121)) == at_end);
  CHECK(actual_user(a(119) + "b", a(121)) == "\"…" + a(26) + "\" instead of \"…" + a(24) + "b\" from byte 120 on");
}

TEST_CASE("excerpts are cut between characters") {
  const std::string umlauts = repeated("ä", 100);
  CHECK(explain_text(contains("x"), umlauts) == "\"" + repeated("ä", 60) + "…\"");
  CHECK(explain_text(contains("x"), "y" + umlauts) == "\"y" + repeated("ä", 59) + "…\"");
  // ä and ö have the same first byte, but the report shows the whole character.
  const std::string differing = umlauts + "ö" + umlauts;
  CHECK(explain_text(equals(umlauts + "ä" + umlauts), differing) == "\"…" + repeated("ä", 12) + "ö" +
                                                                        repeated("ä", 27) + "…\" instead of \"…" +
                                                                        repeated("ä", 40) + "…\" from byte 201 on");
  CHECK(explain_text(ends_with("y"), umlauts + "x") == "\"…" + repeated("ä", 60) + "x\"");
}

TEST_CASE("a report stays on one line of printable text") {
  CHECK(explain_text("x", "a\nb\r\n\tc\"d\\e") == R"("a\nb\r\n\tc\"d\\e")");
  CHECK(explain_text("x", std::string("\x1b[31m\0\x7f", 7)) == R"("\u001b[31m\u0000\u007f")");
  CHECK(explain_text("x", "\xff\xfe a \xc3") == "\"\xef\xbf\xbd\xef\xbf\xbd a \xef\xbf\xbd\"");
  CHECK(explain_text("x", "a\u202eb\u2028c\u0085d\ufeff") == R"("a\u202eb\u2028c\u0085d\ufeff")");
  CHECK(contains("a\nb").to_string() == R"(contains "a\nb")");
  CHECK(explain_lines(has_header("x-test", "7"), with("").header("X-Test", "\xff\x01")) ==
        "✘ header x-test contains \"7\"    actual \"\xef\xbf\xbd\\u0001\"");
  CHECK(explain_lines(json_at("/stop", 1), with(R"("stop":["a\nb\u2028"])")) ==
        R"(✘ json at /stop is 1    actual ["a\nb\u2028"])");
  CHECK(explain_lines(has_tool("f"), with(R"("tools":[{"type":"function","function":{"name":"g\nh"}}])")) ==
        R"(✘ has tool "f"    actual tools: g\nh)");
  CHECK(explain_lines(has_field("f"), with(R"("a\u001b[31m":1)")) ==
        R"(✘ has field "f"    actual fields: model, messages, a\u001b[31m)");
}

TEST_CASE("texts of a megabyte are matched completely, and a report shows a part") {
  const std::string megabyte(1u << 20u, 'a');
  CHECK(matches(user_says("b"), user(megabyte + "b")));
  CHECK(explain_lines(user_says("b"), user(megabyte)) ==
        "✘ user text contains \"b\"    actual \"" + std::string(120, 'a') + "…\"");
  CHECK(explain_lines(user_says(equals(megabyte + "b")), user(megabyte + "c")) ==
        "✘ user text is \"" + std::string(120, 'a') + "…\"    actual \"…" + std::string(24, 'a') +
            "c\" instead of \"…" + std::string(24, 'a') + "b\" from byte 1,048,577 on");
  CHECK(explain_lines(body_includes({{"model", megabyte}}), user("")) ==
        "✘ body includes {\"model\":\"" + std::string(110, 'a') +
            "…    actual at /model: \"mock-model\" instead of \"" + std::string(80, 'a') + "…\" from byte 1 on");
}

// --- Patterns --------------------------------------------------------------------------------------------------------

TEST_CASE("a pattern is searched anywhere in the text, character by character") {
  const auto finds = [](const char* pattern, std::string_view text) { return matches_regex(pattern).matches(text); };
  CHECK(finds("b+", "abbc"));
  CHECK(finds("^.$", "ä"));
  CHECK(finds("", ""));
  CHECK(finds("(?:a|b){2,3}c$", "xabac"));
  CHECK(finds("\\d{4}-\\d\\d", "on 2024-05-01"));
  CHECK(finds("[^\\s]+@[a-z]+\\.com", "mail me@example.com now"));
  CHECK_FALSE(finds("^b", "ab"));
  CHECK_FALSE(finds("^b", "a\nb"));
  CHECK_FALSE(finds("a.b", "a\nb"));
  CHECK(finds("a\\sb", "a\nb"));
}

TEST_CASE("a dot in a pattern matches any character except line ends") {
  for (const char* const end : {"\n", "\r", "\r\n", "\u2028", "\u2029"}) {
    const std::string text = std::string("a") + end + "b";
    CAPTURE(text);
    CHECK_FALSE(matches_regex("a.+b").matches(text));
    CHECK(matches_regex("a\\s+b").matches(text));
    CHECK(matches_regex("a[^x]+b").matches(text));
  }
  for (const char* const other : {"\t", "\v", "\f", " ", "\u0085", "\u2027", "\u202a", "\U0001f600"}) {
    const std::string text = std::string("a") + other + "b";
    CAPTURE(text);
    CHECK(matches_regex("^a.b$").matches(text));
  }
}

TEST_CASE("classes, escapes and counts in patterns mean the same as in JavaScript, up to their limits") {
  using Texts = std::vector<std::string>;
  struct Row {
    std::string pattern;
    Texts taken;
    Texts refused;
  };
  const std::string nul(1, '\0');
  const Row rows[] = {
      {"^\\d$", {"0", "9"}, {"/", ":", "\u0663", ""}},
      {"^\\D$", {"/", ":", "\u0663", "\n"}, {"0", "9"}},
      {"^\\w$", {"0", "9", "A", "Z", "_", "a", "z"}, {"/", ":", "@", "[", "^", "`", "{", "\u00e9"}},
      {"^\\W$", {"@", "[", "`", "{", "\u00e9"}, {"A", "Z", "_", "a", "z", "0"}},
      {"^\\s$",
       {"\t", "\n", "\v", "\f", "\r", " ", "\u00a0", "\u1680", "\u2000", "\u200a", "\u2028", "\u2029", "\u202f",
        "\u205f", "\u3000", "\ufeff"},
       {"\b", "\u000e", "\u0085", "\u180e", "\u1fff", "\u200b", "\u2030"}},
      {"^\\S$", {"\b", "\u0085", "\u180e", "\u200b"}, {"\t", "\r", "\u00a0", "\u200a", "\ufeff"}},
      {"^\\t\\n\\v\\f\\r$", {"\t\n\v\f\r"}, {"tnvfr"}},
      {"^\\0\\cA\\cz$", {nul + "\x01\x1a"}, {"0cAcz"}},
      {"^\\x41\\u0042\\u{43}$", {"ABC"}, {"x41"}},
      {"^\\u{1f600}$", {"\U0001f600"}, {"\U0001f601", "u"}},
      {"^\\u{10ffff}$", {"\U0010ffff"}, {"\U0010fffe"}},
      {"^\\u{00041}\\u{9}$", {"A\t"}, {"A9"}},
      {"^\\ud800\\udc00\\udbff\\udfff$", {"\U00010000\U0010ffff"}, {"\U00010001\U0010ffff"}},
      {"^\\ud83d\\ude00$", {"\U0001f600"}, {"\U0001f601"}},
      {"^[\\b]$", {"\b"}, {"b"}},
      {"^\\.\\*\\/\\-$", {".*/-"}, {"a*/-"}},
      {"^[a-c]$", {"a", "b", "c"}, {"`", "d", "-"}},
      {"^[^a-c]$", {"`", "d", "\n", "\U0001f600"}, {"a", "b", "c", ""}},
      {"^[a-]$", {"a", "-"}, {"b"}},
      {"^[-a]$", {"a", "-"}, {"b"}},
      {"^[a\\-z]$", {"a", "-", "z"}, {"b"}},
      {"^[\\d-x]$", {"5", "-", "x"}, {"a", "w"}},
      {"^[.*+?]$", {".", "*", "+", "?"}, {"a"}},
      {"^[\\^\\]]$", {"^", "]"}, {"\\"}},
      {"^a{2}$", {"aa"}, {"a", "aaa"}},
      {"^a{2,}$", {"aa", "aaaaa"}, {"a"}},
      {"^a{1,3}$", {"a", "aaa"}, {"", "aaaa"}},
      {"^a{0}$", {""}, {"a"}},
      {"^a{0,1}b$", {"b", "ab"}, {"aab"}},
      {"^a?b*c+$", {"c", "abbcc", "bc"}, {"ab", "aac"}},
      {"^a*?b+?$", {"b", "aabb"}, {"a"}},
      {"^(ab|c|)$", {"ab", "c", ""}, {"a", "abc"}},
      {"^(?:ab)+$", {"ab", "abab"}, {"", "aba"}},
      {"a|^b$", {"xa", "b"}, {"xb", "bx"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.pattern);
    const TextMatcher matcher = matches_regex(row.pattern);
    for (const std::string& text : row.taken) {
      CAPTURE(text);
      CHECK(matcher.matches(text));
    }
    for (const std::string& text : row.refused) {
      CAPTURE(text);
      CHECK_FALSE(matcher.matches(text));
    }
  }
}

TEST_CASE("searching a pattern takes time proportional to the text and little stack, for any nesting") {
  const std::string text = repeated("ab", 2048);
  for (const char* pattern : {"(a|b)*c", "(.|\\n)*x", "[a-z ]*\\d", "((a|b)*)*c", "(a+)+$x", "(a?){20}c",
                              "(((((((a|b)|c)|d)|e)|f)|g)|h)*x"}) {
    INFO(pattern);
    CHECK_FALSE(matches_regex(pattern).matches(text));
    CHECK(matches_regex(pattern).explain(text) == "\"" + repeated("ab", 60) + "…\"");
  }
}

TEST_CASE("a text of more than 65,536 bytes is not searched for a pattern, and the report says so") {
  const std::string at_limit(65536, 'a');
  CHECK(matches_regex("a$").matches(at_limit));
  CHECK_FALSE(matches_regex("a$").matches(at_limit + "a"));
  CHECK(explain_lines(user_says(matches_regex("a$")), user(at_limit + "a")) ==
        "✘ user text matches the pattern \"a$\"    actual not searched: it has 65,537 bytes, more than 65,536");
  CHECK(matches(user_says(!matches_regex("a$")), user(at_limit + "a")));
}

TEST_CASE("a search with too many steps is abandoned, and the report says so") {
  CHECK(matches_regex("(a?){1000}b").explain(std::string(20000, 'a')) == "given up after 5,000,000 steps");
}

TEST_CASE("the error for an invalid or too complex pattern names the place") {
  const std::string advice = " TextMatcher(description, function) takes any other test of a text.";
  const auto error = [](const char* pattern) { return error_of([pattern] { matches_regex(pattern); }); };
  CHECK(error("(a") ==
        "mock_gateway: matches_regex(\"(a\"): The pattern has a '(' without a ')' (at character 3)." + advice);
  CHECK(
      error("a(?=b)") ==
      "mock_gateway: matches_regex(\"a(?=b)\"): The pattern uses lookahead, which is not supported (at character 4)." +
          advice);
  CHECK(error("(a)\\1") ==
        "mock_gateway: matches_regex(\"(a)\\\\1\"): The pattern uses a backreference, which is not supported (at "
        "character 6)." +
            advice);
  for (const char* const wrong : {"*",
                                  "+a",
                                  "?",
                                  "{",
                                  "}",
                                  "]",
                                  "a)",
                                  "[a",
                                  "[]",
                                  "[z-a]",
                                  "\\",
                                  "\\b",
                                  "\\B",
                                  "\\a",
                                  "\\z",
                                  "\\k",
                                  "\\1",
                                  "\\9",
                                  "\\01",
                                  "\\c",
                                  "\\c1",
                                  "\\c[",
                                  "\\c`",
                                  "\\c{",
                                  "\\c@",
                                  "\\x4",
                                  "\\x4g",
                                  "\\xg4",
                                  "\\u004",
                                  "\\u{}",
                                  "\\u{110000}",
                                  "\\u{1234567}",
                                  "\\u{41",
                                  "\\ud800\\u0041",
                                  "\\ud800\\ue000",
                                  "a{",
                                  "a{x}",
                                  "a{1",
                                  "a{1,",
                                  "a{2,1}",
                                  "a{,2}",
                                  "a{1x}",
                                  "(?<=a)",
                                  "(?<!a)",
                                  "(?=a)",
                                  "(?!a)",
                                  "(?i)a",
                                  "(?",
                                  "(?:a",
                                  "\\\u00e9",
                                  "a**",
                                  "a{2}{2}"}) {
    CAPTURE(wrong);
    CHECK(error(wrong) != "");
  }
  CHECK(error("\xff") != "");
}

// --- Composed texts --------------------------------------------------------------------------------------------------

TEST_CASE("text matchers can be combined, and a report shows which part failed") {
  const TextMatcher both = contains("a") && starts_with("b");
  CHECK(both.to_string() == "(contains \"a\" and starts with \"b\")");
  CHECK(both.matches("ba"));
  CHECK_FALSE(both.matches("ab"));
  const TextMatcher either = contains("a") || contains("b");
  CHECK(either.to_string() == "(contains \"a\" or contains \"b\")");
  CHECK(either.matches("b"));
  CHECK_FALSE(either.matches("c"));
  CHECK((!contains("a")).to_string() == "not (contains \"a\")");
  CHECK((!contains("a")).matches("b"));
  const std::string text(200, 'a');
  CHECK(explain_text(contains("a") && equals(text + "b"), text).find("from byte 201 on") != std::string::npos);
  CHECK(explain_text(contains("b") && equals(text + "b"), text) == "\"" + std::string(120, 'a') + "…\"");
  CHECK(explain_lines(user_says(!contains("a") || (contains("b") && contains("c"))), user("ab")) ==
        "✘ user text (not (contains \"a\") or (contains \"b\" and contains \"c\"))    actual \"ab\"");
}

TEST_CASE("a user's function for a text runs once during matching, never for a report") {
  int asked = 0;
  const TextMatcher postcode("is a postcode", [&asked](std::string_view text) {
    ++asked;
    return text.size() == 5;
  });
  CHECK_FALSE(postcode.built_in());
  CHECK_FALSE((contains("1") && postcode).built_in());
  CHECK_FALSE((contains("1") || postcode).built_in());
  CHECK_FALSE((!postcode).built_in());
  const auto asked_once = [&asked](const Matcher& matcher, const Sent& sent, const std::string& report) {
    asked = 0;
    CHECK(explain_lines(matcher, sent) == report);
    CHECK(asked == 1);
  };
  asked_once(user_says(postcode), user("123"), "✘ user text is a postcode    actual \"123\"");
  asked_once(user_says(postcode), user("12345"), "✔ user text is a postcode");
  asked_once(!user_says(postcode), user("12345"), "✘ not (user text is a postcode)    actual \"12345\"");
  asked_once(system_says(postcode), said(message("system", "1")), "✘ system text is a postcode    actual \"1\"");
  asked_once(any_message_says(postcode), user("1"), "✘ text of some message is a postcode    actual \"1\"");
  asked_once(message_is(0, "user", postcode), user("1"),
             "✘ message 0 is of role user and its text is a postcode    actual role user: \"1\"");
  asked_once(tool_result("get_weather", postcode), said(weather_call + "," + result_of("call_1", "21")),
             "✘ has an unanswered tool result of \"get_weather\" and its text is a postcode    "
             "actual call \"call_1\" of get_weather: \"21\"");
  asked_once(tool_result_of("call_1", postcode), said(weather_call + "," + result_of("call_1", "21")),
             "✘ has an unanswered tool result of call \"call_1\" and its text is a postcode    "
             "actual call \"call_1\" of get_weather: \"21\"");
  asked_once(json_text_at("/model", postcode), user(""), "✘ text at /model is a postcode    actual \"mock-model\"");
  asked_once(has_header("x-zip", postcode), with("").header("x-zip", "1"),
             "✘ header x-zip is a postcode    actual \"1\"");
  asked_once(has_query("zip", postcode), with("").query("zip=1"),
             "✘ query parameter zip is a postcode    actual \"1\"");
}

}  // namespace text_matchers_test
