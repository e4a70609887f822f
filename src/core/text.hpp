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

/// Decodes the character that starts at byte `offset`. Returns its length in bytes and sets `code_point`; returns 0
/// at the end of the text and for bytes that are not UTF-8 (RFC 3629: no overlong forms, no surrogates, at most
/// U+10FFFF).
std::size_t decode_utf8(std::string_view text, std::size_t offset, char32_t& code_point);

/// The number of leading bytes that are whole, valid UTF-8 characters: the size of the text when all of it is valid,
/// else the offset of the first offending byte.
std::size_t valid_utf8_prefix(std::string_view text);

/// The number of leading bytes, at most 3, that can begin a character, of a text that does not begin with a whole one.
std::size_t incomplete_utf8_prefix(std::string_view text);

bool is_valid_utf8(std::string_view text);

/// The number of characters (code points). An invalid byte counts as one.
std::size_t code_points(std::string_view text);

/// A place in a text. Both count from 1; a column is a character.
struct Position {
  std::size_t line;
  std::size_t column;
};

/// The position of the byte at `offset`.
Position position_in(std::string_view text, std::size_t offset);

/// The length in bytes of the character at byte `offset`; 1 for an invalid byte, 0 at the end.
std::size_t next_code_point(std::string_view text, std::size_t offset);

/// Appends one character as UTF-8. What is no character (a surrogate, beyond U+10FFFF) becomes U+FFFD.
void append_utf8(std::string& out, char32_t code_point);

/// The text with U+FFFD in place of each byte that is not UTF-8, which no JSON could carry.
std::string as_utf8(std::string_view text);

/// At most `max_bytes` bytes of the text, cut between characters and followed by "…" when something was cut.
std::string excerpt(std::string_view text, std::size_t max_bytes);

/// Whether a line that holds this character could look like something else, be torn apart, or steer a terminal: the
/// controls of ASCII and of Latin-1 (U+0000 to U+001F, U+007F to U+009F), line and paragraph separators, the controls
/// of the direction of writing, and characters without any width but the joiners that scripts need.
bool is_disruptive(char32_t character);

/// The text on one line, harmless to a terminal: disruptive characters as JSON escapes them (`\n`, `\u009b`), bytes
/// that are not UTF-8 as U+FFFD. At most `max_bytes` bytes of the text, cut between characters and followed by "…" when
/// something was cut. `quotable`: quotation marks and backslashes get a backslash before them.
std::string printable(std::string_view text, std::size_t max_bytes = std::string_view::npos, bool quotable = false);

/// The same of a text of several lines, which stay.
std::string printable_lines(std::string_view text);

/// The text, with a line end behind it if it has several lines: what is printed next begins a line of its own.
std::string ended_lines(std::string text);

/// "1 event", "2 events".
std::string counted(std::size_t count, std::string_view noun);

/// Appends `utf8` as a JSON string literal with its quotes, byte for byte as Json::dump() writes valid UTF-8.
void append_json_string(std::string& out, std::string_view utf8);

inline constexpr std::string_view hex_digits = "0123456789abcdef";

/// The value of a hexadecimal digit, or -1.
int hex_value(char digit);

/// The value of the two hexadecimal digits at `offset`, or -1 when no two stand there.
int hex_byte(std::string_view text, std::size_t offset);

/// `count` units of which `unit` make one, without trailing zeros: "1.5" for 1500 and 1000, "-2" for -2000 and 1000.
/// `unit` is a power of ten.
std::string decimal(std::int64_t count, std::int64_t unit);

/// As short as it can be while it still reads back as the same number, in any locale: "0.1", "3", "1e+300",
/// "-infinity"; "NaN" for what is no number.
std::string number(double value);

/// The number that 1 to 9 decimal digits write; nothing for any other text.
std::optional<std::int64_t> whole_number(std::string_view digits);

/// Whether it is a token of HTTP, such as the name of a field (RFC 9110, 5.6.2).
bool is_token(std::string_view text);

/// ASCII letters in lower case; all other bytes as they are. Independent of the locale.
std::string lower_ascii(std::string_view text);

/// How many bytes to insert, delete or replace to make one of the other.
std::size_t edit_distance(std::string_view left, std::string_view right);

bool equals_ignoring_case(std::string_view left, std::string_view right);

/// Without the spaces and tabs at both ends: the optional whitespace of an HTTP field (RFC 9110, 5.6.3).
std::string_view trim(std::string_view text);

/// Decodes %XX escapes (RFC 3986; '+' stays '+'). Empty when an escape is not two hexadecimal digits. The result may
/// hold any bytes.
std::optional<std::string> percent_decode(std::string_view text);

/// RFC 4648, 4, padded.
std::string base64(std::string_view bytes);

/// "0.5 s": whole milliseconds, rounded down; below one "0.4 ms", whole microseconds; a negative duration as 0.
std::string seconds(std::chrono::nanoseconds duration);

}  // namespace text
}  // namespace mock_gateway::detail
