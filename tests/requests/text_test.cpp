// Reading and writing of texts, numbers, dates and JSON pointers, with every character, day, status and boundary.

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/internals.hpp"
#include "support/printing.hpp"

namespace text_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
namespace text = detail::text;
namespace calendar = detail::calendar;
namespace json_pointer = detail::json_pointer;

inline std::string utf8(char32_t character) {
  std::string bytes;
  text::append_utf8(bytes, character);
  return bytes;
}

TEST_CASE("every character is converted to UTF-8 and back, and other bytes are invalid") {
  std::size_t mistakes = 0;
  for (char32_t character = 0; character <= 0x110000; ++character) {
    const std::string bytes = utf8(character);
    const bool is_one = character < 0xd800 || (character > 0xdfff && character <= 0x10ffff);
    const std::size_t length = !is_one || character >= 0x800 ? (is_one && character >= 0x10000 ? 4 : 3)
                               : character >= 0x80           ? 2
                                                             : 1;
    char32_t read = 0;
    if (bytes.size() != length || text::decode_utf8(bytes, 0, read) != length || read != (is_one ? character : 0xfffd))
      ++mistakes;
    // A part of the character is invalid, but is the beginning of a character.
    for (std::size_t part = 1; part < length; ++part) {
      const std::string begin = bytes.substr(0, part);
      if (text::decode_utf8(begin, 0, read) != 0 || text::incomplete_utf8_prefix(begin) != part) ++mistakes;
      if (text::valid_utf8_prefix("ab" + begin) != 2 || text::next_code_point(begin, 0) != 1) ++mistakes;
    }
  }
  CHECK(mistakes == 0);
  for (const char* const bytes : {"", "a", "\x80", "\xc0", "\xf5"})
    CHECK_MESSAGE(text::incomplete_utf8_prefix(bytes) == 0, bytes);
  for (const char* const bytes : {"\xe0\x80", "\xed\xa0", "\xf4\x90", "\xf0\x80"})
    CHECK_MESSAGE(text::incomplete_utf8_prefix(bytes) == 1, bytes);
  CHECK(text::incomplete_utf8_prefix("\xf0\x90\x80") == 3);
  CHECK(text::as_utf8("a\xff\xc3"
                      "b\xc3\xa9") ==
        "a\xef\xbf\xbd\xef\xbf\xbd"
        "b\xc3\xa9");
  CHECK(text::code_points("a\xc3\xa9\xff\xf0\x9f\x98\x80") == 4);
}

TEST_CASE("no function reads beyond the end of a string_view") {
  const std::string_view hex = "4f4f";
  CHECK(text::hex_byte(hex.substr(0, 1), 0) == -1);
  CHECK(text::hex_byte(hex.substr(0, 0), 0) == -1);
  CHECK(text::hex_byte(hex.substr(0, 3), 2) == -1);
  CHECK(text::hex_byte(hex.substr(0, 2), 0) == 0x4f);
  CHECK_FALSE(text::percent_decode(std::string_view("a%4f").substr(0, 3)));
  for (const std::string& whole : {utf8(0xe9), utf8(0x6771), utf8(0x1f600)}) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const std::string_view part = std::string_view(whole).substr(0, length);
      char32_t read = 0;
      CHECK(text::decode_utf8(part, 0, read) == 0);
      CHECK(text::valid_utf8_prefix(part) == 0);
      CHECK(text::code_points(part) == length);
      CHECK(text::incomplete_utf8_prefix(part) == length);
    }
  }
  const std::string_view ascii = "abcdefghijklmnopqrstuvwxyz";
  for (std::size_t length = 0; length < 20; ++length) CHECK(text::valid_utf8_prefix(ascii.substr(0, length)) == length);
  CHECK(text::valid_utf8_prefix("abcdefg\xff") == 7);
  CHECK(text::valid_utf8_prefix("abcdefgh\xff") == 8);
}

TEST_CASE("exactly the characters that can control a terminal are escaped") {
  const std::vector<std::pair<char32_t, char32_t>> ranges = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},
                                                             {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},
                                                             {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}};
  std::size_t wrong = 0;
  for (char32_t character = 0; character < 0x11000; ++character) {
    if (character >= 0xd800 && character <= 0xdfff) continue;
    bool is_in = false;
    for (const auto& [first, last] : ranges) is_in = is_in || (character >= first && character <= last);
    if (text::is_disruptive(character) != is_in) ++wrong;
    const std::string shown = text::printable(utf8(character));
    if (is_in != (shown.front() == '\\' && shown.size() > 1)) ++wrong;
    // A JSON parser converts the escape back to the character.
    if (is_in && Json::parse('"' + shown + '"').get<std::string>() != utf8(character)) ++wrong;
    std::string literal;
    text::append_json_string(literal, "a" + utf8(character) + "b");
    if (literal != Json("a" + utf8(character) + "b").dump()) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(text::printable("\b\t\n\f\r\v\x1b") == "\\b\\t\\n\\f\\r\\u000b\\u001b");
  CHECK(text::printable("say \"a\\b\"") == "say \"a\\b\"");
  CHECK(text::printable("say \"a\\b\"", 99, true) == "say \\\"a\\\\b\\\"");
  CHECK(text::printable("a\xff") == "a\xef\xbf\xbd");
  CHECK(text::printable_lines("a\tb\nc\n") == "a\\tb\nc\n");
}

TEST_CASE("a long text is truncated between characters and marked as truncated") {
  const std::string said = "a\xc3\xa9\xf0\x9f\x98\x80z";  // characters of 1, 2, 4 and 1 bytes
  const std::vector<std::string> cut = {"\u2026",
                                        "a\u2026",
                                        "a\u2026",
                                        "a\xc3\xa9\u2026",
                                        "a\xc3\xa9\u2026",
                                        "a\xc3\xa9\u2026",
                                        "a\xc3\xa9\u2026",
                                        "a\xc3\xa9\xf0\x9f\x98\x80\u2026",
                                        said,
                                        said};
  for (std::size_t most = 0; most < cut.size(); ++most) {
    CAPTURE(most);
    CHECK(text::excerpt(said, most) == cut[most]);
    CHECK(text::printable(said, most) == cut[most]);
  }
  CHECK(text::ended_lines("a") == "a");
  CHECK(text::ended_lines("a\nb") == "a\nb\n");
  CHECK(text::ended_lines("a\n") == "a\n");
  CHECK(text::counted(0, "event") == "0 events");
  CHECK(text::counted(1, "event") == "1 event");
  CHECK(text::counted(2, "event") == "2 events");
  const auto place = [](std::string_view all, std::size_t offset) {
    const text::Position position = text::position_in(all, offset);
    return std::make_pair(position.line, position.column);
  };
  using Place = std::pair<std::size_t, std::size_t>;
  CHECK(place("ab\ncd", 0) == Place(1, 1));
  CHECK(place("ab\ncd", 2) == Place(1, 3));
  CHECK(place("ab\ncd", 3) == Place(2, 1));
  CHECK(place("\n\xc3\xa9z", 3) == Place(2, 2));
}

TEST_CASE("numbers, words and escapes are read up to their limits") {
  for (int byte = 0; byte < 256; ++byte) {
    const char one = static_cast<char>(byte);
    const std::string hex = "0123456789abcdef";
    const char lower = one >= 'A' && one <= 'F' ? static_cast<char>(one + 32) : one;
    const std::size_t value = one == '\0' ? std::string::npos : hex.find(lower);
    CHECK(text::hex_value(one) == (value == std::string::npos ? -1 : static_cast<int>(value)));
    const bool is_upper = one >= 'A' && one <= 'Z';
    CHECK(text::lower_ascii(std::string(1, one)) == std::string(1, is_upper ? static_cast<char>(one + 32) : one));
    const bool is_letter = is_upper || (one >= 'a' && one <= 'z');
    const bool is_token = is_letter || (one >= '0' && one <= '9') ||
                          (one != '\0' && std::string("!#$%&'*+-.^_`|~").find(one) != std::string::npos);
    CHECK(text::is_token(std::string(1, one)) == is_token);
  }
  CHECK_FALSE(text::is_token(""));
  CHECK_FALSE(text::is_token("a b"));
  CHECK(text::hex_byte("x4fz", 1) == 0x4f);
  for (const char* const wrong : {"4", "4g", "g4", "gg", ""}) CHECK_MESSAGE(text::hex_byte(wrong, 0) == -1, wrong);
  CHECK(text::percent_decode("a%20b+%C3%a9%00") == std::string("a b+\xc3\xa9\0", 7));
  for (const char* const wrong : {"%", "%4", "%4g", "%g4", "a%", "%%20"})
    CHECK_MESSAGE(!text::percent_decode(wrong), wrong);
  CHECK(text::whole_number("0") == 0);
  CHECK(text::whole_number("007") == 7);
  CHECK(text::whole_number("999999999") == 999'999'999);
  for (const char* const wrong : {"", "1234567890", "1a", "-1", "+1", " 1", "1/", "1:"})
    CHECK_MESSAGE(!text::whole_number(wrong), wrong);
  CHECK(text::decimal(1500, 1000) == "1.5");
  CHECK(text::decimal(-2000, 1000) == "-2");
  CHECK(text::decimal(-1, 1000) == "-0.001");
  CHECK(text::decimal(100'001, 100'000) == "1.00001");
  CHECK(text::decimal(0, 10) == "0");
  CHECK(text::decimal(std::numeric_limits<std::int64_t>::min(), 1'000'000'000) == "-9223372036.854775808");
  CHECK(text::number(0.1) == "0.1");
  CHECK(text::number(3) == "3");
  CHECK(text::number(-0.5) == "-0.5");
  CHECK(text::number(999'999'999'999'999.0) == "999999999999999");
  CHECK(text::number(1e300) == "1e+300");
  CHECK(text::number(std::numeric_limits<double>::infinity()) == "infinity");
  CHECK(text::number(-std::numeric_limits<double>::infinity()) == "-infinity");
  CHECK(text::number(std::numeric_limits<double>::quiet_NaN()) == "NaN");
  CHECK(text::seconds(1500ms) == "1.5 s");
  CHECK(text::seconds(1999us) == "0.001 s");
  CHECK(text::seconds(1ms) == "0.001 s");
  CHECK(text::seconds(999us) == "0.999 ms");
  CHECK(text::seconds(400us + 999ns) == "0.4 ms");
  CHECK(text::seconds(1us) == "0.001 ms");
  CHECK(text::seconds(999ns) == "less than 0.001 ms");
  CHECK(text::seconds(1ns) == "less than 0.001 ms");
  CHECK(text::seconds(0s) == "0 s");
  CHECK(text::seconds(-1s) == "0 s");
  struct Printed {
    Duration duration;
    const char* text;
  };
  for (const Printed& row :
       {Printed{0ns, "0s"}, Printed{1ns, "1ns"}, Printed{999ns, "999ns"}, Printed{1us, "1us"},
        Printed{1001ns, "1.001us"}, Printed{999'999ns, "999.999us"}, Printed{1ms, "1ms"}, Printed{1500us, "1.5ms"},
        Printed{1s, "1s"}, Printed{999ms, "999ms"}, Printed{90min, "5400s"}, Printed{-1ns, "-1ns"},
        Printed{-999ns, "-999ns"}, Printed{-1us, "-1us"}, Printed{-1ms, "-1ms"}, Printed{-1s, "-1s"},
        Printed{-1500ms, "-1.5s"}})
    CHECK(detail::printed(row.duration) == row.text);
  // Durations beyond 64-bit nanoseconds are printed in seconds.
  CHECK(detail::printed(std::chrono::hours{2'500'000}) == "9000000000s");
  CHECK(detail::printed(std::chrono::hours{-2'500'000}) == "-9000000000s");
  CHECK(detail::printed(std::chrono::hours{3'000'000}) == "1.08e+10s");
  CHECK(detail::printed(std::chrono::hours{-3'000'000}) == "-1.08e+10s");
  CHECK(detail::printed(std::chrono::duration<double>{0.25}) == "250ms");
  CHECK(text::trim(" \ta b\t ") == "a b");
  CHECK(text::trim("a") == "a");
  CHECK(text::trim(" \t ").empty());
  CHECK(text::trim("\na\r") == "\na\r");
  CHECK(text::equals_ignoring_case("Retry-AFTER", "retry-after"));
  CHECK_FALSE(text::equals_ignoring_case("a", "ab"));
  CHECK_FALSE(text::equals_ignoring_case("@", "`"));
  CHECK_FALSE(text::equals_ignoring_case("[", "{"));
}

TEST_CASE("words that differ by few bytes count as similar, and bytes are converted to base64") {
  struct Distance {
    const char* left;
    const char* right;
    std::size_t distance;
  };
  for (const Distance& row :
       {Distance{"", "", 0}, Distance{"", "abc", 3}, Distance{"abc", "", 3}, Distance{"abc", "abc", 0},
        Distance{"kitten", "sitting", 3}, Distance{"abc", "ab", 1}, Distance{"abc", "bc", 1}, Distance{"abc", "xbc", 1},
        Distance{"abc", "cab", 2}, Distance{"flaw", "lawn", 2}}) {
    CAPTURE(row.left);
    CAPTURE(row.right);
    CHECK(text::edit_distance(row.left, row.right) == row.distance);
    CHECK(text::edit_distance(row.right, row.left) == row.distance);
  }
  CHECK(text::base64("").empty());
  CHECK(text::base64("f") == "Zg==");
  CHECK(text::base64("fo") == "Zm8=");
  CHECK(text::base64("foo") == "Zm9v");
  CHECK(text::base64("foobar") == "Zm9vYmFy");
  CHECK(text::base64("\xfb\xff\xfe\x80") == "+//+gA==");
}

TEST_CASE("random numbers and fingerprints equal those of SplitMix64 and FNV-1a, and stay within bounds") {
  detail::Random known(0);
  CHECK(known.next() == 0xe220a8397b1dcdafu);
  CHECK(known.next() == 0x6e789e6aa1b965f4u);
  CHECK(known.next() == 0x06c45d188009454fu);
  CHECK(detail::fingerprint("") == 0xcbf29ce484222325u);
  CHECK(detail::fingerprint("a") == 0xaf63dc4c8601ec8cu);
  CHECK(detail::fingerprint("foobar") == 0x85944171f73967e8u);
  CHECK(detail::fingerprint("bar", detail::fingerprint("foo")) == detail::fingerprint("foobar"));

  detail::Random random(1);
  std::set<std::uint64_t> below;
  std::set<std::int64_t> between;
  std::set<char> characters;
  for (int draw = 0; draw < 2000; ++draw) {
    below.insert(random.below(5));
    between.insert(random.between(-2, 2));
    for (const char character : random.alphanumeric(3)) characters.insert(character);
    const double unit = random.unit();
    CHECK(unit >= 0);
    CHECK(unit < 1);
  }
  CHECK(below == std::set<std::uint64_t>{0, 1, 2, 3, 4});
  CHECK(between == std::set<std::int64_t>{-2, -1, 0, 1, 2});
  CHECK(characters.size() == 62);
  CHECK(random.below(1) == 0);
  CHECK(random.between(7, 7) == 7);
  CHECK(random.alphanumeric(0).empty());
  // The size of the whole range does not fit into 64 bits.
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::set<std::int64_t> all;
  for (int draw = 0; draw < 64; ++draw) all.insert(random.between(least, most));
  CHECK(all.size() == 64);
  CHECK(*all.begin() < 0);
  CHECK(*all.rbegin() > 0);
  // If the bound does not divide 2^64, every value is still equally likely.
  constexpr std::uint64_t two_thirds = 0xaaaaaaaaaaaaaaaau;
  int lower = 0;
  for (int draw = 0; draw < 3000; ++draw) lower += random.below(two_thirds) < two_thirds / 2 ? 1 : 0;
  CHECK(lower > 1350);
  CHECK(lower < 1650);
}

TEST_CASE("every day from 1970 to 2200 is converted to its date and back") {
  const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const char* const weekdays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  const auto rfc3339_of = [](std::int64_t year, std::int64_t month, std::int64_t day, std::int64_t second) {
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", int(year), int(month), int(day),
                  int(second / 3600), int(second / 60 % 60), int(second % 60));
    return std::string(text);
  };
  std::int64_t days = 0;
  std::size_t mistakes = 0;
  for (std::int64_t year = 1970; year <= 2200; ++year) {
    const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    for (std::int64_t month = 1; month <= 12; ++month) {
      const std::int64_t length = lengths[month - 1] + (month == 2 && is_leap ? 1 : 0);
      for (std::int64_t day = 1; day <= length; ++day, ++days) {
        const std::int64_t second = days * 7919 % 86400;
        const TimePoint moment{std::chrono::seconds{days * 86400 + second}};
        const std::string date = calendar::http_date(moment);
        if (date.substr(0, 3) != weekdays[(days + 4) % 7]) ++mistakes;
        if (calendar::rfc3339(moment) != rfc3339_of(year, month, day, second)) ++mistakes;
        if (calendar::parse_http_date(date) != moment) ++mistakes;
        if (calendar::unix_seconds(moment) != days * 86400 + second) ++mistakes;
      }
    }
  }
  CHECK(mistakes == 0);
  // Every TimePoint has a date.
  days = -106'751;  // 1677-09-22
  std::int64_t year = 1677;
  std::int64_t month = 9;
  for (std::int64_t day = 22; days <= 106'751; ++days, ++day) {
    const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (day > lengths[month - 1] + (month == 2 && is_leap ? 1 : 0)) {
      day = 1;
      year += month == 12 ? 1 : 0;
      month = month % 12 + 1;
    }
    const TimePoint moment{std::chrono::seconds{days * 86400}};
    if (calendar::http_date(moment).substr(0, 3) != weekdays[(days % 7 + 11) % 7]) ++mistakes;
    if (calendar::rfc3339(moment) != rfc3339_of(year, month, day, 0)) ++mistakes;
  }
  CHECK(mistakes == 0);
  const TimePoint before{-1ns};
  CHECK(calendar::rfc3339(before) == "1969-12-31T23:59:59.999999999Z");
  CHECK(calendar::rfc3339(TimePoint{1704067200s}) == "2024-01-01T00:00:00Z");
  CHECK(calendar::rfc3339(TimePoint{1704067200s + 250ms}) == "2024-01-01T00:00:00.25Z");
  CHECK(calendar::rfc3339_milliseconds(TimePoint{1704067200s + 250ms}) == "2024-01-01T00:00:00.250Z");
  CHECK(calendar::rfc3339_milliseconds(TimePoint{1704067200s + 7ms + 999us}) == "2024-01-01T00:00:00.007Z");
  CHECK(calendar::http_date(TimePoint{784111777s}) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(calendar::parse_http_date(" Sun, 06 Nov 1994 08:49:37 GMT\t") == TimePoint{784111777s});
  CHECK(calendar::parse_http_date("Sun, 06 Nov 1994 23:59:60 GMT") == TimePoint{784080000s + 24h});
  for (const char* const right : {"Thu, 01 Jan 1970 00:00:00 GMT", "Wed, 31 Dec 2200 23:59:59 GMT"})
    CHECK_MESSAGE(calendar::parse_http_date(right), right);
  for (const char* const wrong : {"",
                                  "Sun, 06 Nov 1994 08:49:37",
                                  "Sun, 06 Nov 1994 08:49:37 GMTx",
                                  "Sun; 06 Nov 1994 08:49:37 GMT",
                                  "Sun,-06 Nov 1994 08:49:37 GMT",
                                  "Sun, 06-Nov 1994 08:49:37 GMT",
                                  "Sun, 06 Nov-1994 08:49:37 GMT",
                                  "Sun, 06 Nov 1994T08:49:37 GMT",
                                  "Sun, 06 Nov 1994 08.49:37 GMT",
                                  "Sun, 06 Nov 1994 08:49.37 GMT",
                                  "Sun, 06 Nov 1994 08:49:37_GMT",
                                  "Sun, 06 Nov 1994 08:49:37 UMT",
                                  "Sun, 06 Nov 1994 08:49:37 GNT",
                                  "Sun, 06 Nov 1994 08:49:37 GMS",
                                  "Sun, 06 nov 1994 08:49:37 GMT",
                                  "Sun, 00 Nov 1994 08:49:37 GMT",
                                  "Sun, 32 Nov 1994 08:49:37 GMT",
                                  "Sun, xx Nov 1994 08:49:37 GMT",
                                  "Wed, 31 Dec 1969 23:59:59 GMT",
                                  "Thu, 01 Jan 2201 00:00:00 GMT",
                                  "Sun, 06 Nov 1994 24:00:00 GMT",
                                  "Sun, 06 Nov 1994 08:60:00 GMT",
                                  "Sun, 06 Nov 1994 08:00:61 GMT",
                                  "Sun, 06 Nov 1994 xx:00:00 GMT",
                                  "Sun, 06 Nov 1994 08:xx:00 GMT",
                                  "Sun, 06 Nov 1994 08:00:xx GMT",
                                  "Sun, 06 Nov xxxx 08:00:00 GMT"})
    CHECK_MESSAGE(!calendar::parse_http_date(wrong), wrong);
}

TEST_CASE("a JSON pointer finds only members and elements") {
  for (const auto& [name, token] : std::vector<std::pair<std::string, std::string>>{
           {"a/b", "/a~1b"}, {"~", "/~0"}, {"", "/"}, {"~1/0~", "/~01~10~0"}, {"plain", "/plain"}}) {
    CHECK(json_pointer::token(name) == token);
    CHECK(json_pointer::name_of(token.substr(1)) == name);
  }
  for (const char* const wrong : {"~", "a~", "~2", "~a", "~/"}) CHECK_MESSAGE(!json_pointer::name_of(wrong), wrong);
  Json list = Json::array();
  for (int index = 0; index < 12; ++index) list.push_back(index);
  const Json value = {{"", "empty"}, {"0", "zero"}, {"list", list}};
  CHECK(*json_pointer::child(value, "") == "empty");
  CHECK(*json_pointer::child(value, "0") == "zero");
  CHECK(json_pointer::child(value, "x") == nullptr);
  for (const char* const index : {"0", "1", "9", "10", "11"})
    CHECK(*json_pointer::child(list, index) == std::stoi(index));
  for (const char* const wrong : {"", "12", "00", "01", "-1", "-", "a", "1a", "/", ":", "0000000001", "1000000000"})
    CHECK_MESSAGE(json_pointer::child(list, wrong) == nullptr, wrong);
  CHECK(json_pointer::child(Json("text"), "0") == nullptr);
}

TEST_CASE("each registered status has the reason phrase of RFC 9110") {
  const std::vector<std::pair<int, std::string>> phrases = {{200, "OK"},
                                                            {201, "Created"},
                                                            {202, "Accepted"},
                                                            {204, "No Content"},
                                                            {206, "Partial Content"},
                                                            {301, "Moved Permanently"},
                                                            {302, "Found"},
                                                            {303, "See Other"},
                                                            {304, "Not Modified"},
                                                            {307, "Temporary Redirect"},
                                                            {308, "Permanent Redirect"},
                                                            {400, "Bad Request"},
                                                            {401, "Unauthorized"},
                                                            {402, "Payment Required"},
                                                            {403, "Forbidden"},
                                                            {404, "Not Found"},
                                                            {405, "Method Not Allowed"},
                                                            {406, "Not Acceptable"},
                                                            {408, "Request Timeout"},
                                                            {409, "Conflict"},
                                                            {410, "Gone"},
                                                            {411, "Length Required"},
                                                            {412, "Precondition Failed"},
                                                            {413, "Content Too Large"},
                                                            {414, "URI Too Long"},
                                                            {415, "Unsupported Media Type"},
                                                            {416, "Range Not Satisfiable"},
                                                            {417, "Expectation Failed"},
                                                            {418, "I'm a Teapot"},
                                                            {421, "Misdirected Request"},
                                                            {422, "Unprocessable Content"},
                                                            {423, "Locked"},
                                                            {424, "Failed Dependency"},
                                                            {425, "Too Early"},
                                                            {426, "Upgrade Required"},
                                                            {428, "Precondition Required"},
                                                            {429, "Too Many Requests"},
                                                            {431, "Request Header Fields Too Large"},
                                                            {451, "Unavailable For Legal Reasons"},
                                                            {500, "Internal Server Error"},
                                                            {501, "Not Implemented"},
                                                            {502, "Bad Gateway"},
                                                            {503, "Service Unavailable"},
                                                            {504, "Gateway Timeout"},
                                                            {505, "HTTP Version Not Supported"},
                                                            {507, "Insufficient Storage"},
                                                            {508, "Loop Detected"},
                                                            {511, "Network Authentication Required"},
                                                            {529, "Site is overloaded"}};
  std::set<int> known;
  for (const auto& [status, phrase] : phrases) {
    CHECK(detail::reason_phrase(status) == phrase);
    known.insert(status);
  }
  for (int status = 100; status < 1000; ++status)
    if (known.count(status) == 0) CHECK(detail::reason_phrase(status) == "Unknown");
}

TEST_CASE("a list header contains the tokens of all fields with its name, ignoring case") {
  wire::Headers headers;
  headers.add("X-Other", "close");
  CHECK_FALSE(headers.lists("Connection", "close"));
  headers.add("Connection", "Keep-Alive ,\tCLOSE");
  headers.add("connection", "upgrade");
  for (const char* const token : {"close", "keep-alive", "Upgrade"}) CHECK(headers.lists("CONNECTION", token));
  for (const char* const token : {"clos", "closed", "keep", "", "Keep-Alive ,"})
    CHECK_FALSE(headers.lists("Connection", token));
}

TEST_CASE("header fields are found, set and removed by name, ignoring case, and keep their order") {
  wire::Headers headers;
  headers.add("A", "1");
  headers.add("b", "2");
  headers.add("a", "3");
  headers.add("C", "4");
  headers.add("A", "5");
  const auto shown = [](const wire::Headers& fields) {
    std::string all;
    for (const wire::Header& field : fields) all += field.name + "=" + field.value + " ";
    return all;
  };
  CHECK(headers.find("a") == "1");
  CHECK(headers.find("x") == std::nullopt);
  CHECK(headers.all("a") == std::vector<std::string>{"1", "3", "5"});
  CHECK(headers.all("x").empty());
  CHECK(headers.has("c"));
  CHECK_FALSE(headers.has("x"));
  wire::Headers set = headers;
  set.set("a", "6");
  CHECK(shown(set) == "a=6 b=2 C=4 ");
  set.set("B", "7");
  CHECK(shown(set) == "a=6 B=7 C=4 ");
  set.set("d", "8");
  CHECK(shown(set) == "a=6 B=7 C=4 d=8 ");
  headers.remove("x");
  headers.remove("a");
  CHECK(shown(headers) == "b=2 C=4 ");
  headers.remove("c");
  CHECK(shown(headers) == "b=2 ");
}

TEST_CASE("each value of an enum is printed as the word in a request") {
  using Mode = wire::ToolChoice::Mode;
  CHECK(wire::to_string(Mode::none) == "none");
  CHECK(wire::to_string(Mode::automatic) == "automatic");
  CHECK(wire::to_string(Mode::required) == "required");
  CHECK(wire::to_string(Mode::named) == "named");
  using Kind = wire::ResponseFormat::Kind;
  CHECK(wire::to_string(Kind::text) == "text");
  CHECK(wire::to_string(Kind::json_object) == "json_object");
  CHECK(wire::to_string(Kind::json_schema) == "json_schema");
}

}  // namespace text_test
