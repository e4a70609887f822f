// Text functions: UTF-8, truncation with "…", escaping (`is_disruptive`), numbers as text, edit distance, %XX.

#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "json.hpp"
#include "printed.hpp"

namespace mock_gateway::detail {
namespace text {

char lower_letter(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

int hex_byte(std::string_view text, std::size_t offset) {
  if (offset + 2 > text.size()) return -1;
  const int high = hex_value(text[offset]);
  const int low = hex_value(text[offset + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

std::string decimal(std::int64_t count, std::int64_t unit) {
  const auto part = static_cast<std::uint64_t>(unit);
  // Unsigned negation, because the smallest int64 has no positive counterpart.
  const std::uint64_t size = count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
  std::string number = (count < 0 ? "-" : "") + std::to_string(size / part);
  if (size % part == 0) return number;
  std::string fraction = std::to_string(part + size % part).substr(1);  // the leading 1 preserves zeros
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return number + "." + fraction;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  if (std::abs(value) < 1e15 && value == std::floor(value)) return std::to_string(static_cast<long long>(value));
  return Json(value).dump();
}

std::optional<std::int64_t> whole_number(std::string_view digits) {
  if (digits.empty() || digits.size() > 9) return std::nullopt;
  std::int64_t number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + (digit - '0');
  }
  return number;
}

bool is_token(std::string_view text) {
  // Called for every field name of every request, so common characters are checked first.
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char byte) {
    const char letter = lower_letter(byte);
    if ((letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9') || byte == '-') return true;
    return std::string_view("!#$%&'*+.^_`|~").find(byte) != std::string_view::npos;
  });
}

std::size_t decode_utf8(std::string_view text, std::size_t offset, char32_t& code_point) {
  if (offset >= text.size()) return 0;
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[offset + index]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    code_point = lead;
    return 1;
  }
  std::size_t length = 0;
  char32_t value = 0;
  char32_t least = 0;  // smaller values are overlong
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2, value = lead & 0x1fu, least = 0x80;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3, value = lead & 0x0fu, least = 0x800;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4, value = lead & 0x07u, least = 0x10000;
  } else {
    return 0;
  }
  if (text.size() - offset < length) return 0;
  for (std::size_t index = 1; index < length; ++index) {
    if ((byte(index) & 0xc0u) != 0x80u) return 0;
    value = (value << 6) | (byte(index) & 0x3fu);
  }
  if (value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return 0;
  code_point = value;
  return length;
}

std::size_t valid_utf8_prefix(std::string_view text) {
  std::size_t offset = 0;
  while (offset < text.size()) {
    // Most bodies are mostly ASCII: skips eight bytes at a time while no high bit is set.
    std::uint64_t block = 0;
    if (text.size() - offset >= sizeof block) {
      std::memcpy(&block, text.data() + offset, sizeof block);
      if ((block & 0x8080808080808080u) == 0) {
        offset += sizeof block;
        continue;
      }
    }
    char32_t ignored = 0;
    const std::size_t length = decode_utf8(text, offset, ignored);
    if (length == 0) return offset;
    offset += length;
  }
  return offset;
}

bool is_valid_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }

std::size_t incomplete_utf8_prefix(std::string_view text) {
  char32_t ignored = 0;
  for (std::size_t length = std::min<std::size_t>(text.size(), 3); length > 0; --length) {
    // The valid next bytes are a range that begins with 0x80 or ends with 0xbf.
    const std::string begin(text.substr(0, length));
    if (decode_utf8(begin + "\x80\x80\x80", 0, ignored) > length) return length;
    if (decode_utf8(begin + "\xbf\xbf\xbf", 0, ignored) > length) return length;
  }
  return 0;
}

std::size_t next_code_point(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return 0;
  char32_t ignored = 0;
  const std::size_t length = decode_utf8(text, offset, ignored);
  return length == 0 ? 1 : length;
}

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t offset = 0; offset < text.size(); offset += next_code_point(text, offset)) ++count;
  return count;
}

Position position_in(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line_ends = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  return Position{line_ends + 1, code_points(before.substr(before.rfind('\n') + 1)) + 1};
}

void append_utf8(std::string& out, char32_t code_point) {
  if (code_point > 0x10ffff || (code_point >= 0xd800 && code_point <= 0xdfff)) code_point = 0xfffd;
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    put(0xe0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3f));
    put(0x80 | (code_point & 0x3f));
  } else {
    put(0xf0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3f));
    put(0x80 | ((code_point >> 6) & 0x3f));
    put(0x80 | (code_point & 0x3f));
  }
}

std::string as_utf8(std::string_view text) {
  std::string result;
  for (;;) {
    const std::size_t valid = valid_utf8_prefix(text);
    result.append(text.substr(0, valid));
    if (valid == text.size()) return result;
    append_utf8(result, 0xfffd);
    text.remove_prefix(valid + 1);
  }
}

std::string excerpt(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  std::size_t end = 0;
  while (end < max_bytes) {
    const std::size_t length = next_code_point(text, end);
    if (end + length > max_bytes) break;
    end += length;
  }
  return std::string(text.substr(0, end)) + "…";
}

bool is_disruptive(char32_t character) {
  return character < 0x20 || (character >= 0x7f && character <= 0x9f) || character == 0x61c || character == 0x200b ||
         character == 0x200e || character == 0x200f || (character >= 0x2028 && character <= 0x202e) ||
         (character >= 0x2060 && character <= 0x206f) || character == 0xfeff ||
         (character >= 0xfff9 && character <= 0xfffb);
}

void append_escape(std::string& out, char32_t character) {
  switch (character) {
    case U'\b': out += "\\b"; return;
    case U'\t': out += "\\t"; return;
    case U'\n': out += "\\n"; return;
    case U'\f': out += "\\f"; return;
    case U'\r': out += "\\r"; return;
    default: break;
  }
  out += "\\u";
  for (const unsigned shift : {12u, 8u, 4u, 0u}) out += hex_digits[(character >> shift) & 0x0f];
}

std::string printable(std::string_view text, std::size_t max_bytes, bool quotable) {
  std::string out;
  for (std::size_t offset = 0; offset < text.size();) {
    char32_t character = 0;
    const std::size_t decoded = decode_utf8(text, offset, character);
    const std::size_t length = decoded == 0 ? 1 : decoded;
    if (offset + length > max_bytes) return out + "…";
    if (decoded == 0) {
      append_utf8(out, 0xfffd);
    } else if (is_disruptive(character)) {
      append_escape(out, character);
    } else {
      if (quotable && (character == U'"' || character == U'\\')) out += '\\';
      out += text.substr(offset, length);
    }
    offset += length;
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t end = text.find('\n');
    out += printable(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string ended_lines(std::string text) {
  if (text.find('\n') != std::string::npos && text.back() != '\n') text += '\n';
  return text;
}

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

void append_json_string(std::string& out, std::string_view utf8) {
  out.push_back('"');
  const auto needs_escape = [](char character) {
    return static_cast<unsigned char>(character) < 0x20 || character == '"' || character == '\\';
  };
  for (;;) {
    const auto plain = static_cast<std::size_t>(std::find_if(utf8.begin(), utf8.end(), needs_escape) - utf8.begin());
    out.append(utf8.substr(0, plain));
    if (plain == utf8.size()) break;
    const char character = utf8[plain];
    utf8.remove_prefix(plain + 1);
    if (character == '"' || character == '\\')
      out.append("\\").push_back(character);
    else
      append_escape(out, static_cast<unsigned char>(character));
  }
  out.push_back('"');
}

std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& character : lower) character = lower_letter(character);
  return lower;
}

std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::size_t replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return false;
  for (std::size_t index = 0; index < left.size(); ++index) {
    if (left[index] != right[index] && lower_letter(left[index]) != lower_letter(right[index])) return false;
  }
  return true;
}

std::string_view trim(std::string_view text) {
  const auto is_blank = [](char character) { return character == ' ' || character == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string encoded;
  encoded.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [bytes](std::size_t place) {
      return place < bytes.size() ? std::uint32_t{static_cast<unsigned char>(bytes[place])} : 0u;
    };
    const std::uint32_t group = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    for (const unsigned shift : {18u, 12u, 6u, 0u}) encoded += digits[group >> shift & 63u];
    // Digits for bytes beyond the end become padding.
    for (std::size_t missing = at + 3; missing > bytes.size(); --missing)
      encoded[encoded.size() - (missing - bytes.size())] = '=';
  }
  return encoded;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t index = 0; index < text.size(); ++index) {
    if (text[index] != '%') {
      decoded.push_back(text[index]);
      continue;
    }
    const int byte = hex_byte(text, index + 1);
    if (byte < 0) return std::nullopt;
    decoded.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
    index += 2;
  }
  return decoded;
}

std::string seconds(std::chrono::nanoseconds duration) {
  const std::int64_t microseconds = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  if (microseconds >= 1000) return decimal(microseconds / 1000, 1000) + " s";
  if (microseconds > 0) return decimal(microseconds, 1000) + " ms";
  return duration > std::chrono::nanoseconds::zero() ? "less than 0.001 ms" : "0 s";
}

std::string scripted(std::chrono::nanoseconds duration) {
  constexpr std::chrono::hours hour{1};
  constexpr std::chrono::minutes minute{1};
  if (duration % hour == hour.zero()) return std::to_string(duration / hour) + "h";
  if (duration % minute == minute.zero()) return std::to_string(duration / minute) + "m";
  return printed(duration);
}

}  // namespace text
}  // namespace mock_gateway::detail
