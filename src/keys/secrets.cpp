#include "secrets.hpp"

#include <algorithm>  // max, min
#include <vector>

#include "../core/text.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {
namespace secrets {

/// Which escapes a reading of the text decodes. A secret may hold "%" and "\" itself, so no single reading finds all.
struct Reading {
  bool percent;
  bool json;
};

/// The next position from `from` on where a secret may begin: its "s", plain or escaped.
class Candidates {
 public:
  explicit Candidates(std::string_view text)
      : text_(text), plain_(find_plain(0)), percent_(text.find("%73")), json_(text.find("\\u0073")) {}

  std::size_t next(std::size_t from);

 private:
  std::size_t find_plain(std::size_t from) const;

  std::string_view text_;
  std::size_t plain_;
  std::size_t percent_;
  std::size_t json_;
};

/// Bytes of a text from one position on, escapes decoded, and where in the text each of them ends.
struct Decoded {
  std::string bytes;
  std::vector<std::size_t> ends;
};

int hex_digit(char digit);
/// The byte that two hexadecimal digits at `at` stand for; -1 when there are none.
int hex_byte(std::string_view text, std::size_t at);
void decode(std::string_view text, std::size_t from, std::size_t most, const Reading& reading, Decoded& out);
/// How many bytes of the text a secret takes that begins at `at`; 0 when none does.
std::size_t length_at(std::string_view text, std::size_t at, const Known& known, Decoded& decoded);

MOCK_GATEWAY_INLINE bool is_sensitive_header(std::string_view name) {
  constexpr std::string_view suffix = "api-key";  // api-key, x-api-key, x-goog-api-key
  if (name.size() >= suffix.size() && text::equals_ignoring_case(name.substr(name.size() - suffix.size()), suffix)) {
    return true;
  }
  for (const std::string_view sensitive : {"Authorization", "Proxy-Authorization", "Cookie", "x-auth-token"}) {
    if (text::equals_ignoring_case(name, sensitive)) return true;
  }
  return false;
}

MOCK_GATEWAY_INLINE bool looks_like_key(std::string_view text) { return text.size() > 3 && text.substr(0, 3) == "sk-"; }

MOCK_GATEWAY_INLINE std::size_t Candidates::find_plain(std::size_t from) const {
  // Only "sk-", or "s" and "sk" before an escape: "s" alone would make every word with one a candidate.
  for (std::size_t at = text_.find('s', from); at != std::string_view::npos; at = text_.find('s', at + 1)) {
    const char after = at + 1 < text_.size() ? text_[at + 1] : '\0';
    if (after == 'k') {
      const char third = at + 2 < text_.size() ? text_[at + 2] : '\0';
      if (third == '-' || third == '%' || third == '\\') return at;
    } else if (after == '%' || after == '\\') {
      return at;
    }
  }
  return std::string_view::npos;
}

MOCK_GATEWAY_INLINE std::size_t Candidates::next(std::size_t from) {
  constexpr std::size_t none = std::string_view::npos;
  if (plain_ != none && plain_ < from) plain_ = find_plain(from);
  if (percent_ != none && percent_ < from) percent_ = text_.find("%73", from);
  if (json_ != none && json_ < from) json_ = text_.find("\\u0073", from);
  return std::min({plain_, percent_, json_});
}

MOCK_GATEWAY_INLINE int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

MOCK_GATEWAY_INLINE int hex_byte(std::string_view text, std::size_t at) {
  if (at + 2 > text.size()) return -1;
  const int high = hex_digit(text[at]);
  const int low = hex_digit(text[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

MOCK_GATEWAY_INLINE void decode(std::string_view text, std::size_t from, std::size_t most, const Reading& reading,
                                Decoded& out) {
  out.bytes.clear();
  out.ends.clear();
  std::size_t at = from;
  while (at < text.size() && out.bytes.size() < most) {
    char byte = text[at];
    std::size_t length = 1;
    if (byte == '%' && reading.percent) {
      const int value = hex_byte(text, at + 1);
      if (value >= 0) byte = static_cast<char>(value), length = 3;
    } else if (byte == '\\' && reading.json && at + 1 < text.size()) {
      const char escaped = text[at + 1];
      if (escaped == '"' || escaped == '\\' || escaped == '/') {
        byte = escaped, length = 2;
      } else if (escaped == 'u' && text.substr(at + 2, 2) == "00") {
        const int value = hex_byte(text, at + 4);
        if (value >= 0) byte = static_cast<char>(value), length = 6;
      }
    }
    at += length;
    out.bytes += byte;
    out.ends.push_back(at);
    // What does not begin like a key needs no more.
    if (out.bytes.size() == 3 && out.bytes != "sk-") break;
  }
}

MOCK_GATEWAY_INLINE std::size_t length_at(std::string_view text, std::size_t at, const Known& known, Decoded& decoded) {
  const auto has_escapes = [](std::string_view piece) {
    return piece.find('%') != std::string_view::npos || piece.find('\\') != std::string_view::npos;
  };
  const std::size_t start = std::min<std::size_t>(8, known.longest);  // enough to tell a key from "desk-bound"
  const std::string_view window = text.substr(at, known.longest);
  const std::string_view head = window.substr(0, start);
  if (!has_escapes(head)) {
    if (!looks_like_key(head) || !known.may_begin(head)) return 0;
    if (!has_escapes(window)) return known.prefix(window);
  }
  constexpr Reading readings[] = {{false, false}, {true, true}, {true, false}, {false, true}};
  std::size_t longest = 0;
  for (const Reading& reading : readings) {
    decode(text, at, start, reading, decoded);
    if (!looks_like_key(decoded.bytes) || !known.may_begin(decoded.bytes)) continue;
    decode(text, at, known.longest, reading, decoded);
    const std::size_t length = known.prefix(decoded.bytes);
    if (length > 0) longest = std::max(longest, decoded.ends[length - 1] - at);
  }
  return longest;
}

MOCK_GATEWAY_INLINE std::size_t mask(std::string& text, const Known& known) {
  if (known.longest == 0) return 0;
  Candidates candidates{text};
  std::string result;
  std::size_t copied = 0;
  std::size_t found = 0;
  Decoded decoded;
  for (std::size_t at = candidates.next(0); at != std::string_view::npos;) {
    const std::size_t length = length_at(text, at, known, decoded);
    if (length == 0) {
      at = candidates.next(at + 1);
      continue;
    }
    ++found;
    result.append(text, copied, at - copied).append(masked);
    copied = at + length;
    at = candidates.next(copied);
  }
  if (found > 0) text = result.append(text, copied, std::string::npos);
  return found;
}

}  // namespace secrets
}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
