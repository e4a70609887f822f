// How reports shorten texts (to 120 bytes), and what they show around a difference.

#include "excerpts.hpp"

#include <algorithm>  // min, mismatch

#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace excerpts {

/// What an excerpt shows: at most this much of the common text before the difference, and this much of a text in all.
inline constexpr std::size_t shared_bytes = 24;
inline constexpr std::size_t window_bytes = 80;

std::size_t character_start(std::string_view text, std::size_t at) {
  const std::size_t least = at < 3 ? 0 : at - 3;
  std::size_t start = at;
  while (start > least && start < text.size() && (static_cast<unsigned char>(text[start]) & 0xc0u) == 0x80u) --start;
  return start;
}

std::string quoted_from(std::string_view text, std::size_t start, std::size_t most) {
  return (start > 0 ? "\"…" : "\"") + text::printable(text.substr(start), most, true) + "\"";
}

std::string plain(std::string_view text, std::size_t most) { return text::printable(text, most); }

std::string quoted(std::string_view text) { return quoted_from(text, 0, shown_bytes); }

std::string quoted_end(std::string_view text) {
  if (text.size() <= shown_bytes) return quoted(text);
  const std::size_t start = character_start(text, text.size() - shown_bytes);
  return quoted_from(text, start, text.size() - start);
}

std::string difference(std::string_view expected, std::string_view actual, std::size_t skipped) {
  if (expected == actual) return quoted(actual);
  if (expected.size() <= shown_bytes && actual.size() <= shown_bytes) {
    return quoted(actual) + " instead of " + quoted(expected);
  }
  const std::size_t common = std::min(expected.size(), actual.size());
  const auto end = actual.begin() + static_cast<std::string_view::difference_type>(common);
  const auto differing = std::mismatch(actual.begin(), end, expected.begin()).first;
  const std::size_t same = static_cast<std::size_t>(differing - actual.begin());
  // `same` may be the end of the shorter text, so use the longer one.
  const std::size_t place = character_start(actual.size() > expected.size() ? actual : expected, same);
  const std::size_t start = place <= shared_bytes ? 0 : character_start(actual, place - shared_bytes);
  return quoted_from(actual, start, window_bytes) + " instead of " + quoted_from(expected, start, window_bytes) +
         " from byte " + grouped(skipped + place + 1) + " on";
}

std::string json(const Json& value) {
  // Values from the test may contain invalid UTF-8.
  return plain(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t place = digits.size(); place > 3;) digits.insert(place -= 3, ",");
  return digits;
}

}  // namespace excerpts
}  // namespace mock_gateway::detail
