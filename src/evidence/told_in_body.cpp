// Retry advice in the body of a 429: the words that name a delay or a daily quota.

#include <algorithm>  // any_of
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "../core/text.hpp"
#include "review_parts.hpp"

namespace mock_gateway::detail {
namespace told_in_body {

struct Unit {
  std::string_view name;
  Duration duration;
};

/// Longer names come before their prefixes.
inline constexpr Unit units[] = {
    {"milliseconds", std::chrono::milliseconds{1}},
    {"millisecond", std::chrono::milliseconds{1}},
    {"seconds", std::chrono::seconds{1}},
    {"second", std::chrono::seconds{1}},
    {"minutes", std::chrono::minutes{1}},
    {"minute", std::chrono::minutes{1}},
    {"hours", std::chrono::hours{1}},
    {"hour", std::chrono::hours{1}},
    {"ms", std::chrono::milliseconds{1}},
    {"s", std::chrono::seconds{1}},
    {"m", std::chrono::minutes{1}},
    {"h", std::chrono::hours{1}},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

std::string_view without_spaces(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

const Unit* unit_at(std::string_view text) {
  for (const Unit& unit : units) {
    if (text.substr(0, unit.name.size()) != unit.name) continue;
    const bool ends = text.size() == unit.name.size() || !is_letter(text[unit.name.size()]);
    if (ends) return &unit;
  }
  return nullptr;
}

/// Returns the time at the start of the text: "300ms", "1.5s", "1m2s", "20 seconds".
std::optional<Duration> time_at(std::string_view text) {
  constexpr Duration longest = std::chrono::hours{24} * 365;
  std::optional<Duration> sum;
  while (!text.empty() && is_digit(text.front())) {
    const std::size_t size = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::string_view rest = without_spaces(text.substr(size));
    const Unit* const unit = unit_at(rest);
    if (!unit) break;
    const std::optional<Duration> part = review::parse_number(text.substr(0, size), unit->duration);
    if (!part || *part > longest || sum.value_or(Duration{0}) > longest) return std::nullopt;
    sum = sum.value_or(Duration{0}) + *part;
    text = without_spaces(rest.substr(unit->name.size()));
  }
  return sum;
}

std::optional<Duration> time_behind(std::string_view body, std::string_view words) {
  for (std::size_t at = body.find(words); at != std::string_view::npos; at = body.find(words, at + 1)) {
    const std::string_view rest = body.substr(at + words.size());
    if (const auto time = time_at(rest.substr(std::min(rest.find_first_not_of("\\\": "), rest.size())))) return time;
  }
  return std::nullopt;
}

bool has_word(std::string_view body, std::string_view word) {
  for (std::size_t at = body.find(word); at != std::string_view::npos; at = body.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter(body[at - 1])) && (end == body.size() || !is_letter(body[end]))) return true;
  }
  return false;
}

}  // namespace told_in_body

void note_body(RetryAdvice& advice, std::string_view body) {
  constexpr std::size_t longest = std::size_t{64} << 10;  // real bodies name their limits within it
  const std::string lower = text::lower_ascii(body.substr(0, longest));
  for (const std::string_view words : {"retrydelay", "try again in ", "retry in ", "retry after "}) {
    if (!advice.in_body) advice.in_body = told_in_body::time_behind(lower, words);
  }
  if (advice.in_body == Duration{0}) advice.in_body.reset();
  // Examples: "GenerateRequestsPerDayPerProjectPerModel", "requests per day (RPD)", "free-models-per-day".
  constexpr std::array<std::string_view, 4> parts = {"perday", "per day", "per_day", "per-day"};
  constexpr std::array<std::string_view, 3> words = {"daily", "rpd", "tpd"};
  advice.of_a_day =
      std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return lower.find(part) != lower.npos; }) ||
      std::any_of(words.begin(), words.end(),
                  [&](std::string_view word) { return told_in_body::has_word(lower, word); });
}

}  // namespace mock_gateway::detail
