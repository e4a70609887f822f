#include "excerpts.hpp"

#include <algorithm>  // min, mismatch

#include "../core/text.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {
namespace excerpts {

/// Around a difference: what both texts share before it, and all that is shown of one of them.
inline constexpr std::size_t shared_bytes = 24;
inline constexpr std::size_t window_bytes = 80;

/// Whether a report that holds this character could look like something else, or be torn apart.
MOCK_GATEWAY_INLINE bool is_disruptive(char32_t character) {
  return character < 0x20 || (character >= 0x7f && character <= 0x9f) || character == 0x200e || character == 0x200f ||
         (character >= 0x2028 && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069) ||
         character == 0xfeff;
}

MOCK_GATEWAY_INLINE void append_escape(std::string& out, char32_t character) {
  switch (character) {
    case U'\b': out += "\\b"; return;
    case U'\t': out += "\\t"; return;
    case U'\n': out += "\\n"; return;
    case U'\f': out += "\\f"; return;
    case U'\r': out += "\\r"; return;
    default: break;
  }
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\u";
  for (const unsigned shift : {12u, 8u, 4u, 0u}) out += digits[(character >> shift) & 0x0f];
}

/// At most `most` bytes of the text, escaped, with "…" when something was cut.
MOCK_GATEWAY_INLINE std::string escaped(std::string_view text, std::size_t most, bool quotes) {
  std::string out;
  for (std::size_t offset = 0; offset < text.size();) {
    char32_t character = 0;
    const std::size_t decoded = text::decode_utf8(text, offset, character);
    const std::size_t length = decoded == 0 ? 1 : decoded;
    if (offset + length > most) return out + "…";
    if (decoded == 0) {
      out += "\xef\xbf\xbd";
    } else if (is_disruptive(character)) {
      append_escape(out, character);
    } else {
      if (quotes && (character == U'"' || character == U'\\')) out += '\\';
      out += text.substr(offset, length);
    }
    offset += length;
  }
  return out;
}

/// Where the character begins that the byte at `at` is part of.
MOCK_GATEWAY_INLINE std::size_t character_start(std::string_view text, std::size_t at) {
  const std::size_t least = at < 3 ? 0 : at - 3;
  std::size_t start = at;
  while (start > least && start < text.size() && (static_cast<unsigned char>(text[start]) & 0xc0u) == 0x80u) --start;
  return start;
}

MOCK_GATEWAY_INLINE std::string quoted_from(std::string_view text, std::size_t start, std::size_t most) {
  return (start > 0 ? "\"…" : "\"") + escaped(text.substr(start), most, true) + "\"";
}

MOCK_GATEWAY_INLINE std::string plain(std::string_view text, std::size_t most) { return escaped(text, most, false); }

MOCK_GATEWAY_INLINE std::string quoted(std::string_view text) { return quoted_from(text, 0, shown_bytes); }

MOCK_GATEWAY_INLINE std::string quoted_end(std::string_view text) {
  if (text.size() <= shown_bytes) return quoted(text);
  const std::size_t start = character_start(text, text.size() - shown_bytes);
  return quoted_from(text, start, text.size() - start);
}

MOCK_GATEWAY_INLINE std::string difference(std::string_view expected, std::string_view actual, std::size_t skipped) {
  if (expected == actual) return quoted(actual);
  if (expected.size() <= shown_bytes && actual.size() <= shown_bytes) {
    return quoted(actual) + " instead of " + quoted(expected);
  }
  const std::size_t common = std::min(expected.size(), actual.size());
  const auto end = actual.begin() + static_cast<std::string_view::difference_type>(common);
  const auto differing = std::mismatch(actual.begin(), end, expected.begin()).first;
  const std::size_t same = static_cast<std::size_t>(differing - actual.begin());
  // In the longer of the two there is a byte at `same`.
  const std::size_t place = character_start(actual.size() > expected.size() ? actual : expected, same);
  const std::size_t start = place <= shared_bytes ? 0 : character_start(actual, place - shared_bytes);
  return quoted_from(actual, start, window_bytes) + " instead of " + quoted_from(expected, start, window_bytes) +
         " from byte " + grouped(skipped + place + 1) + " on";
}

MOCK_GATEWAY_INLINE std::string json(const Json& value) {
  // Values of the tester's may hold what is not UTF-8.
  return plain(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

MOCK_GATEWAY_INLINE std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t place = digits.size(); place > 3;) digits.insert(place -= 3, ",");
  return digits;
}

}  // namespace excerpts
}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
