#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "version.hpp"

namespace mock_gateway::detail {
namespace text {

/// Decodes the character at byte `offset`. Returns its length and sets `code_point`; returns 0 at the end and for bytes
/// that are not UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
std::size_t decode_utf8(std::string_view text, std::size_t offset, char32_t& code_point);

/// Returns the number of leading bytes that are valid UTF-8: the text's size, or the offset of the first invalid byte.
std::size_t valid_utf8_prefix(std::string_view text);

/// Returns the length, at most 3, of an incomplete character at the start. Returns 0 if there is none.
std::size_t incomplete_utf8_prefix(std::string_view text);

bool is_valid_utf8(std::string_view text);

/// Returns the number of characters (code points). Each invalid byte counts as one.
std::size_t code_points(std::string_view text);

/// A position in a text. Both numbers start at 1; columns count characters.
struct Position {
  std::size_t line;
  std::size_t column;
};

Position position_in(std::string_view text, std::size_t offset);

/// Returns the length in bytes of the character at byte `offset`, or 1 for an invalid byte, 0 at the end.
std::size_t next_code_point(std::string_view text, std::size_t offset);

/// Appends a character as UTF-8. Surrogates and values beyond U+10FFFF become U+FFFD.
void append_utf8(std::string& out, char32_t code_point);

/// Replaces each invalid byte by U+FFFD, because JSON must be UTF-8.
std::string as_utf8(std::string_view text);

/// Cuts the text to `max_bytes` bytes, between characters, and appends "…" if anything was cut.
std::string excerpt(std::string_view text, std::size_t max_bytes);

/// Whether the character can disguise or break a line, or control a terminal: control characters, separators of lines
/// and paragraphs, bidirectional controls, and zero-width characters except the joiners that scripts need.
bool is_disruptive(char32_t character);

/// Makes one line that is safe for terminals: escapes disruptive characters as in JSON (`\n`, `\u009b`), replaces
/// invalid bytes by U+FFFD, and cuts as excerpt() does. `quotable`: also escapes quotation marks and backslashes.
std::string printable(std::string_view text, std::size_t max_bytes = std::string_view::npos, bool quotable = false);

/// Does the same for several lines, keeping line ends.
std::string printable_lines(std::string_view text);

/// Appends a line end to a text of several lines, so that further output starts on a new line.
std::string ended_lines(std::string text);

/// Returns text such as "1 event", "2 events".
std::string counted(std::size_t count, std::string_view noun);

/// Appends `utf8` as a quoted JSON string, exactly as Json::dump() writes valid UTF-8.
void append_json_string(std::string& out, std::string_view utf8);

inline constexpr std::string_view hex_digits = "0123456789abcdef";

/// Returns the value of a hexadecimal digit, or -1.
int hex_value(char digit);

/// Returns the value of the two hexadecimal digits at `offset`, or -1 without two digits.
int hex_byte(std::string_view text, std::size_t offset);

/// Returns `count` divided by `unit`, a power of ten, without trailing zeros: "1.5" for 1500 and 1000.
std::string decimal(std::int64_t count, std::int64_t unit);

/// Returns the shortest text that reads back as the same number, in any locale, such as "0.1", "1e+300" or "NaN".
std::string number(double value);

/// Parses 1 to 9 decimal digits; empty for any other text.
std::optional<std::int64_t> whole_number(std::string_view digits);

/// Whether the text is an HTTP token, such as a field name (RFC 9110, 5.6.2).
bool is_token(std::string_view text);

/// Converts ASCII letters to lower case, independent of the locale. Other bytes are unchanged.
std::string lower_ascii(std::string_view text);

/// Returns the number of byte insertions, deletions and replacements between two texts.
std::size_t edit_distance(std::string_view left, std::string_view right);

bool equals_ignoring_case(std::string_view left, std::string_view right);

/// Removes spaces and tabs at both ends, the optional whitespace of HTTP fields (RFC 9110, 5.6.3).
std::string_view trim(std::string_view text);

/// Decodes %XX escapes (RFC 3986; '+' stays '+'). Empty if an escape is invalid. The result may contain any bytes.
std::optional<std::string> percent_decode(std::string_view text);

/// Encodes bytes in base64 with padding (RFC 4648, section 4).
std::string base64(std::string_view bytes);

/// Returns text such as "0.5 s", in whole milliseconds rounded down. Below 1 ms: "0.4 ms". Below 0: as for 0.
std::string seconds(std::chrono::nanoseconds duration);

/// Returns a duration as in scripts: "1m", "90s", "1.5ms".
std::string scripted(std::chrono::nanoseconds duration);

}  // namespace text
}  // namespace mock_gateway::detail
