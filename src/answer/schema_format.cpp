#include "schema_format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../core/text.hpp"
#include "schema_budget.hpp"
#include "words.hpp"

namespace mock_gateway {
namespace detail {
namespace schema {

namespace formats {

bool is_digit(char character) { return character >= '0' && character <= '9'; }
bool is_letter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}
bool is_hex(char character) {
  return is_digit(character) || (character >= 'a' && character <= 'f') || (character >= 'A' && character <= 'F');
}
bool has_only(std::string_view subject, std::string_view characters) {
  return subject.find_first_not_of(characters) == std::string_view::npos;
}

/// The value of `count` digits at `offset`; empty when they are not there.
std::optional<int> digits_at(std::string_view subject, std::size_t offset, std::size_t count) {
  if (offset > subject.size() || subject.size() - offset < count) return std::nullopt;
  int value = 0;
  for (std::size_t index = offset; index < offset + count; ++index) {
    if (!is_digit(subject[index])) return std::nullopt;
    value = value * 10 + (subject[index] - '0');
  }
  return value;
}

bool is_date(std::string_view subject) {
  const std::optional<int> year = digits_at(subject, 0, 4);
  const std::optional<int> month = digits_at(subject, 5, 2);
  const std::optional<int> day = digits_at(subject, 8, 2);
  if (subject.size() != 10 || subject[4] != '-' || subject[7] != '-' || !year || !month || !day) return false;
  constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (*year < 1 || *month < 1 || *month > 12 || *day < 1) return false;
  const bool leap = (*year % 4 == 0 && *year % 100 != 0) || *year % 400 == 0;
  return *day <= days[*month - 1] + (*month == 2 && leap ? 1 : 0);
}

/// RFC 3339's full-time, without leap seconds, in capitals, and with at most nine digits of fraction: what all readers
/// take.
bool is_time(std::string_view subject) {
  const std::optional<int> hour = digits_at(subject, 0, 2);
  const std::optional<int> minute = digits_at(subject, 3, 2);
  const std::optional<int> second = digits_at(subject, 6, 2);
  if (!hour || !minute || !second || subject[2] != ':' || subject[5] != ':') return false;
  if (*hour > 23 || *minute > 59 || *second > 59) return false;
  std::string_view rest = subject.substr(8);
  if (!rest.empty() && rest[0] == '.') {
    std::size_t digits = 1;
    while (digits < rest.size() && is_digit(rest[digits])) ++digits;
    if (digits < 2 || digits > 10) return false;
    rest.remove_prefix(digits);
  }
  if (rest == "Z") return true;
  const std::optional<int> hours = digits_at(rest, 1, 2);
  const std::optional<int> minutes = digits_at(rest, 4, 2);
  return rest.size() == 6 && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':' && hours && *hours <= 23 && minutes &&
         *minutes <= 59;
}

/// RFC 3339's appendix A: a unit follows the one before it without a gap, such as hours, then minutes.
bool is_duration(std::string_view subject) {
  if (subject.size() < 3 || subject[0] != 'P') return false;
  std::string_view units = "YMD";
  std::size_t expected = none;  // the place in `units` that must come next
  bool any = false;
  bool in_time = false;
  for (std::size_t index = 1; index < subject.size();) {
    if (subject[index] == 'T') {
      if (in_time) return false;
      in_time = true;
      any = false;
      units = "HMS";
      expected = none;
      ++index;
      continue;
    }
    const std::size_t start = index;
    while (index < subject.size() && is_digit(subject[index])) ++index;
    if (index == start || index == subject.size() || index - start > 9) return false;
    const char unit = subject[index++];
    if (unit == 'W') return !in_time && start == 1 && index == subject.size();
    const std::size_t place = units.find(unit);
    if (place == std::string_view::npos || (expected != none && place != expected)) return false;
    expected = place + 1;
    any = true;
  }
  return any;
}

bool is_hostname(std::string_view subject) {
  if (subject.empty() || subject.size() > 253) return false;
  std::size_t length = 0;  // of the label
  for (std::size_t index = 0; index <= subject.size(); ++index) {
    if (index == subject.size() || subject[index] == '.') {
      if (length == 0 || length > 63 || subject[index - 1] == '-') return false;
      length = 0;
    } else {
      const char character = subject[index];
      if (!is_digit(character) && !is_letter(character) && (character != '-' || length == 0)) return false;
      ++length;
    }
  }
  // A last label of digits only would be read as an address, and "xn--" announces an encoding that must be valid.
  const std::size_t dot = subject.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? subject : subject.substr(dot + 1);
  return !has_only(last, "0123456789") && text::lower_ascii(subject).find("xn--") == std::string::npos;
}

bool is_email(std::string_view subject) {
  const std::size_t at = subject.find('@');
  if (at == std::string_view::npos || at == 0 || at > 64 || subject.size() > 254) return false;
  const std::string_view local = subject.substr(0, at);
  for (const char character : local) {
    const bool plain = is_digit(character) || is_letter(character) || character == '.' || character == '_' ||
                       character == '-' || character == '+';
    if (!plain) return false;
  }
  if (local.front() == '.' || local.back() == '.' || local.find("..") != std::string_view::npos) return false;
  return is_hostname(subject.substr(at + 1)) && subject.find('.', at) != std::string_view::npos;
}

bool is_ipv4(std::string_view subject) {
  std::size_t index = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (index >= subject.size() || subject[index++] != '.')) return false;
    const std::size_t start = index;
    int value = 0;
    while (index < subject.size() && is_digit(subject[index]) && index - start < 3) {
      value = value * 10 + (subject[index++] - '0');
    }
    const bool leading_zero = index - start > 1 && subject[start] == '0';
    if (index == start || leading_zero || value > 255) return false;
  }
  return index == subject.size();
}

/// RFC 4291's forms of hexadecimal groups, with or without "::"; not those that end in an IPv4 address.
bool is_ipv6(std::string_view subject) {
  const std::size_t gap = subject.find("::");
  const auto groups = [](std::string_view part) -> int {  // -1: malformed
    if (part.empty()) return 0;
    int count = 0;
    std::size_t length = 0;
    for (std::size_t index = 0; index <= part.size(); ++index) {
      if (index == part.size() || part[index] == ':') {
        if (length == 0 || length > 4) return -1;
        ++count;
        length = 0;
      } else if (is_hex(part[index])) {
        ++length;
      } else {
        return -1;
      }
    }
    return count;
  };
  if (gap == std::string_view::npos) return groups(subject) == 8;
  const int before = groups(subject.substr(0, gap));
  const int after = groups(subject.substr(gap + 2));
  return before >= 0 && after >= 0 && before + after <= 7;
}

bool is_uuid(std::string_view subject) {
  if (subject.size() != 36) return false;
  for (std::size_t index = 0; index < subject.size(); ++index) {
    const bool hyphen = index == 8 || index == 13 || index == 18 || index == 23;
    if (hyphen ? subject[index] != '-' : !is_hex(subject[index])) return false;
  }
  return true;
}

/// A scheme, and then characters of RFC 3986 only; with "//", a host name and perhaps a port.
bool is_uri(std::string_view subject) {
  const std::size_t colon = subject.find(':');
  if (colon == std::string_view::npos || colon == 0 || !is_letter(subject[0])) return false;
  for (const char character : subject.substr(0, colon)) {
    const bool plain =
        is_digit(character) || is_letter(character) || character == '+' || character == '-' || character == '.';
    if (!plain) return false;
  }
  std::string_view rest = subject.substr(colon + 1);
  if (rest.empty()) return false;
  if (rest.size() >= 2 && rest[0] == '/' && rest[1] == '/') {
    rest.remove_prefix(2);
    const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
    std::string_view host = rest.substr(0, end);
    const std::size_t port = host.find(':');
    if (port != std::string_view::npos) {
      const std::string_view digits = host.substr(port + 1);
      if (digits.empty() || digits.size() > 5 || !has_only(digits, "0123456789")) return false;
      host = host.substr(0, port);
    }
    if (!is_hostname(host) && !is_ipv4(host)) return false;
    rest.remove_prefix(end);
  }
  bool fragment = false;
  for (std::size_t index = 0; index < rest.size(); ++index) {
    const char character = rest[index];
    if (character == '%') {
      if (rest.size() - index < 3 || !is_hex(rest[index + 1]) || !is_hex(rest[index + 2])) return false;
    } else if (character == '#') {
      if (fragment) return false;
      fragment = true;
    } else if (!is_digit(character) && !is_letter(character) &&
               std::string_view("-._~:/?@!$&'()*+,;=").find(character) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

std::string two_digits(std::uint64_t value) {
  return {static_cast<char>('0' + value / 10), static_cast<char>('0' + value % 10)};
}

std::string random_digits(std::size_t count, Random& random) {
  std::string digits;
  for (std::size_t index = 0; index < count; ++index) {
    digits.push_back(static_cast<char>('0' + (index == 0 ? 1 + random.below(9) : random.below(10))));
  }
  return digits;
}

std::string random_letters(std::size_t count, Random& random) {
  std::string letters;
  for (std::size_t index = 0; index < count; ++index) letters.push_back(static_cast<char>('a' + random.below(26)));
  return letters;
}

std::string random_hex(std::size_t count, Random& random) {
  std::string digits;
  for (std::size_t index = 0; index < count; ++index) digits.push_back("0123456789abcdef"[random.below(16)]);
  return digits;
}

// One random draw per statement below: the order in which the operands of one expression are evaluated is open, and the
// same seed must give the same text from every compiler.

/// Two digits below `bound`, added to `first`.
std::string random_pair(std::uint64_t first, std::uint64_t bound, Random& random) {
  return two_digits(first + random.below(bound));
}

std::string time_text(std::size_t length, Random& random) {
  std::string time = random_pair(0, 24, random);
  time += ":" + random_pair(0, 60, random);
  time += ":" + random_pair(0, 60, random);
  std::string zone = "Z";
  const bool offset = length == 0 ? random.below(4) == 0 : length >= 14 && length != 15 && random.below(2) == 0;
  if (offset) {
    zone = random.below(2) == 0 ? "+" : "-";
    zone += random_pair(0, 13, random) + ":00";
  }
  const std::size_t plain = time.size() + zone.size();
  if (length > plain + 1) time += "." + random_digits(length - plain - 1, random);
  return time + zone;
}

std::string date_text(Random& random) {
  std::string date = "20" + random_pair(0, 38, random);
  date += "-" + random_pair(1, 12, random);
  date += "-" + random_pair(1, 28, random);
  return date;
}

std::string duration_text(std::size_t length, Random& random) {
  const std::uint64_t form = random.below(3);
  if (length < 3) {
    if (form == 0) return "P" + random_digits(1, random) + "D";
    const std::string hours = random_digits(1, random);
    return "PT" + hours + "H" + random_digits(2, random) + "M";
  }
  if (form == 0 && length >= 4) return "PT" + random_digits(length - 3, random) + "M";
  if (form == 1 && length >= 8) {
    const std::string days = random_digits(length - 6, random);
    return "P" + days + "DT" + random_digits(1, random) + "H";
  }
  return "P" + random_digits(length - 2, random) + "D";
}

/// A host name of `length` characters; 0 for a usual one.
std::string hostname_text(std::size_t length, Random& random) {
  constexpr std::string_view ending = ".example.com";
  if (length == 0) return words::word(random) + std::string(ending);
  if (length > ending.size() && length - ending.size() <= 63) {
    return random_letters(length - ending.size(), random) + std::string(ending);
  }
  std::string name = random_letters(length, random);
  for (std::size_t dot = 60; dot + 2 < length; dot += 60) name[dot] = '.';
  return name;
}

}  // namespace formats

std::optional<Format> format_named(std::string_view name) {
  if (name == "date-time") return Format::date_time;
  if (name == "date") return Format::date;
  if (name == "time") return Format::time;
  if (name == "duration") return Format::duration;
  if (name == "email") return Format::email;
  if (name == "hostname") return Format::hostname;
  if (name == "ipv4") return Format::ipv4;
  if (name == "ipv6") return Format::ipv6;
  if (name == "uuid") return Format::uuid;
  if (name == "uri") return Format::uri;
  return std::nullopt;
}

Verdict format_verdict(Format format, std::string_view subject) {
  const auto has = [subject](std::string_view part) { return subject.find(part) != std::string_view::npos; };
  bool strict = false;
  bool conceivable = false;
  switch (format) {
    case Format::any: return Verdict::yes;
    case Format::date_time:
      strict = subject.size() > 11 && formats::is_date(subject.substr(0, 10)) && subject[10] == 'T' &&
               formats::is_time(subject.substr(11));
      conceivable = subject.size() >= 8 && formats::is_digit(subject[0]) && formats::is_digit(subject[7]);
      break;
    case Format::date:
      strict = formats::is_date(subject);
      conceivable = subject.size() >= 7 && formats::is_digit(subject[0]) && formats::has_only(subject, "0123456789-+W");
      break;
    case Format::time:
      strict = formats::is_time(subject);
      conceivable = subject.size() >= 4 && formats::is_digit(subject[0]) && has(":");
      break;
    case Format::duration:
      strict = formats::is_duration(subject);
      conceivable = subject.size() >= 2 && (subject[0] == 'P' || subject[1] == 'P' || subject[0] == 'p');
      break;
    case Format::email:
      strict = formats::is_email(subject);
      conceivable = has("@");
      break;
    case Format::hostname:
      strict = formats::is_hostname(subject);
      conceivable = !subject.empty() && subject.find_first_of(" @:/") == std::string_view::npos;
      break;
    case Format::ipv4:
      strict = formats::is_ipv4(subject);
      conceivable = !subject.empty() && formats::has_only(subject, "0123456789.xXabcdefABCDEF");
      break;
    case Format::ipv6:
      strict = formats::is_ipv6(subject);
      conceivable = has(":");
      break;
    case Format::uuid:
      strict = formats::is_uuid(subject);
      conceivable = subject.size() >= 32;
      break;
    case Format::uri:
      strict = formats::is_uri(subject);
      conceivable = has(":");
      break;
  }
  return strict ? Verdict::yes : conceivable ? Verdict::unsure : Verdict::no;
}

std::string format_text(Format format, std::size_t length, Random& random) {
  switch (format) {
    case Format::any: break;
    case Format::date_time: {
      const std::string date = formats::date_text(random);
      return date + "T" + formats::time_text(length > 11 ? length - 11 : 0, random);
    }
    case Format::date: return formats::date_text(random);
    case Format::time: return formats::time_text(length, random);
    case Format::duration: return formats::duration_text(length, random);
    case Format::email: {
      const std::string first = length == 0 ? words::word(random) : formats::random_letters(60, random);
      if (length == 0) return first + "." + words::word(random) + "@example.com";
      const std::string_view domain = length > 13 ? "@example.com" : "@e.co";
      const std::size_t local = length > domain.size() ? length - domain.size() : 1;
      if (local <= 64) return formats::random_letters(local, random) + std::string(domain);
      return first + "@" + formats::hostname_text(length - 61, random);
    }
    case Format::hostname: return formats::hostname_text(length, random);
    case Format::ipv4: {
      std::size_t sizes[] = {1, 1, 1, 1};
      const std::size_t wanted = length == 0 ? 7 + random.below(9) : std::min<std::size_t>(length, 15);
      for (std::size_t extra = 7; extra < wanted;) {
        std::size_t& size = sizes[random.below(4)];
        if (size < 3) ++size, ++extra;
      }
      std::string address;
      for (const std::size_t size : sizes) {
        if (!address.empty()) address += '.';
        address += size == 1   ? std::to_string(random.below(10))
                   : size == 2 ? std::to_string(10 + random.below(90))
                               : std::to_string(100 + random.below(156));
      }
      return address;
    }
    case Format::ipv6: {
      if (length == 0) return "2001:db8::" + formats::random_hex(4, random);
      if (length < 15) {  // "::", with groups after it
        std::string address = "::";
        while (address.size() < length) {
          const std::size_t left = length - address.size();
          if (address.size() > 2 && left > 1 && address.back() != ':' && random.below(3) == 0) {
            address += ':';
            continue;
          }
          const std::size_t colon = address.rfind(':');
          if (address.size() - colon - 1 == 4) {
            address += ':';
            if (left == 1) break;
          } else {
            address += formats::random_hex(1, random);
          }
        }
        return address;
      }
      std::size_t sizes[] = {1, 1, 1, 1, 1, 1, 1, 1};
      for (std::size_t extra = 15; extra < std::min<std::size_t>(length, 39);) {
        std::size_t& size = sizes[random.below(8)];
        if (size < 4) ++size, ++extra;
      }
      std::string address;
      for (const std::size_t size : sizes) address += (address.empty() ? "" : ":") + formats::random_hex(size, random);
      return address;
    }
    case Format::uuid: {
      std::string digits = formats::random_hex(32, random);  // as RFC 9562's version 4
      digits[12] = '4';
      digits[16] = "89ab"[random.below(4)];
      for (const std::size_t hyphen : {20u, 16u, 12u, 8u}) digits.insert(hyphen, "-");
      return digits;
    }
    case Format::uri: {
      constexpr std::string_view base = "https://example.com/";
      if (length == 0) return std::string(base) + words::word(random);
      if (length > base.size()) return std::string(base) + formats::random_letters(length - base.size(), random);
      if (length >= 9) return "http://" + formats::random_letters(length - 7, random);
      return "a:" + formats::random_letters(length > 2 ? length - 2 : 1, random);
    }
  }
  return {};
}

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
