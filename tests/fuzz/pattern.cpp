// Fuzzes regular expressions of schemas and of matches_regex(). A pattern must be rejected with a reason or parsed. A
// parsed pattern is searched in a text, and a matching text is generated. Short plain patterns are compared with
// std::regex. The first line of an input is the pattern, the rest is the text.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include "core/pattern.hpp"
#include "core/random.hpp"
#include "finding.hpp"
#include "script/matchers.hpp"

namespace fuzz {

using namespace mock_gateway;
namespace schema = detail::schema;

constexpr double seconds = 5;

/// Returns whether the pattern occurs in the text, or nothing if the search would take too much work.
std::optional<bool> search(const schema::Pattern& pattern, std::string_view subject) {
  const TimeLimit limit(seconds, "searching for a pattern");
  try {
    schema::Budget budget;
    return schema::occurs(pattern, subject, budget);
  } catch (const schema::Unsupported&) {
    return std::nullopt;
  }
}

void require_a_text_that_matches(const schema::Pattern& pattern) {
  const TimeLimit limit(seconds, "making a text for a pattern");
  try {
    schema::Budget budget;
    detail::Random random(3);
    const std::optional<std::string> made = schema::text_of(pattern, 3, 40, 4, random, budget);
    if (!made) return;
    require(detail::text::code_points(*made) <= 40, "a generated text is too long: " + *made);
    require(search(pattern, *made).value_or(true), "a generated text does not match: " + *made);
  } catch (const schema::Unsupported&) {
  }
}

/// Returns whether std::regex searches the pattern fast. It backtracks, so nested repetitions could take hours.
bool is_cheap(const std::string& pattern, std::string_view subject) {
  const bool repeats_group = pattern.find(")*") != std::string::npos || pattern.find(")+") != std::string::npos;
  const auto repeats = std::count_if(pattern.begin(), pattern.end(), [](char c) { return c == '*' || c == '+'; });
  return pattern.size() <= 14 && (repeats_group ? repeats <= 2 && subject.size() <= 4 : subject.size() <= 8);
}

/// Returns whether both engines give the pattern the same meaning.
bool is_plain(const std::string& pattern, std::string_view subject) {
  return is_cheap(pattern, subject) && pattern.find_first_not_of("abc01()[]-|*+?.^$") == std::string::npos &&
         subject.find_first_not_of("abc01-") == std::string::npos && pattern.find("(?") == std::string::npos &&
         pattern.find("[]") == std::string::npos && pattern.find("[^]") == std::string::npos;
}

void attack(std::string_view input) {
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string source(input.substr(0, end));
  const std::string_view subject = input.substr(std::min(end + 1, input.size()));
  std::optional<schema::Pattern> pattern;
  try {
    const TimeLimit limit(seconds, "reading a pattern");
    schema::Budget budget(schema::none);
    pattern = schema::parse_pattern(source, "", budget, false);
  } catch (const schema::Unsupported& unsupported) {
    require(detail::text::is_valid_utf8(unsupported.reason), "a reason is not UTF-8: " + unsupported.reason);
  }
  std::optional<TextMatcher> matcher;
  try {
    matcher = matches_regex(source);
  } catch (const GatewayError&) {
  }
  require(pattern.has_value() == matcher.has_value(), "a schema and matches_regex disagree about: " + source);
  if (!pattern) return;

  const std::optional<bool> occurs = search(*pattern, subject);
  {
    const TimeLimit limit(seconds, "matches_regex");
    if (occurs) require(matcher->matches(subject) == *occurs, "matches_regex and a schema have different results");
    matcher->explain(subject);
  }
  require_a_text_that_matches(*pattern);
  if (occurs && is_plain(source, subject)) {
    try {
      const std::regex standard(source, std::regex::ECMAScript);
      require(std::regex_search(subject.begin(), subject.end(), standard) == *occurs,
              "std::regex has another result: " + source);
    } catch (const std::regex_error&) {
      // std::regex supports fewer patterns and gives up earlier.
    }
  }
}

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::attack({reinterpret_cast<const char*>(data), size});
  return 0;
}
