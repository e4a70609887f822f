#include "schema_value.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "../core/text.hpp"
#include "words.hpp"

namespace mock_gateway {
namespace detail {
namespace schema {

namespace values {

/// Whether a number may have been written with digits that its double has lost, and that other readers keep: integers
/// beyond 64 bits are read as doubles.
bool is_lossy(const Json& value) {
  if (value.is_structured()) return std::any_of(value.begin(), value.end(), is_lossy);
  return value.is_number_float() && std::fabs(value.get<double>()) >= 9223372036854775808.0;
}

/// Less than, equal to or greater than zero, as `left` is to `right`.
int compare(const Decimal& left, const Decimal& right) {
  if (left.negative != right.negative) return left.negative ? -1 : 1;
  const auto magnitude = [](const Decimal& number) {
    return number.digits.empty() ? -1000 : static_cast<int>(number.digits.size()) + number.exponent;
  };
  int order = magnitude(left) - magnitude(right);
  if (order == 0) order = left.digits.compare(right.digits);
  return left.negative ? -order : order;
}

// Parts of the strict patterns below. They leave out what readers disagree on: leap days and seconds, more digits of a
// second than nine, names with "--", and names near the greatest length.
std::string_view part(char letter) {
  switch (letter) {
    case 'D':  // a date
      return "(?!0000)\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|"
             "02-(?:0[1-9]|1\\d|2[0-8]))";
    case 'T':  // a time
      return "(?:[01]\\d|2[0-3])(?::[0-5]\\d){2}(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)";
    case 'L': return "(?:[A-Za-z0-9](?:-?[A-Za-z0-9]){0,15}\\.)";      // a label of a name
    case 'M': return "[A-Za-z](?:-?[A-Za-z0-9]){0,15}";                // the last label
    case 'O': return "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";        // of an IPv4 address
    case 'X': return "[0-9A-Fa-f]{1,4}";                               // of an IPv6 address
    case 'U': return "[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2}";  // of a path
    default: return "\\d{1,9}";
  }
}

inline constexpr Format formats[] = {
    {"date-time", "20%d%d-0%n-1%dT0%d:%s%d:%s%dZ", "^%DT%T$", "^\\d.{6}\\d"},
    {"date", "20%d%d-0%n-1%d", "^%D$", "^\\d[\\d+W-]{6,}$"},
    {"time", "0%d:%s%d:%s%dZ", "^%T$", "^\\d.*:"},
    {"duration", "P%nDT%nH",
     "^P(?!$)(?:%9W|(?:%9Y(?:%9M(?:%9D)?)?|%9M(?:%9D)?|%9D)?(?:T(?:%9H(?:%9M(?:%9S)?)?|%9M(?:%9S)?|%9S))?)$",
     "^.?[Pp]"},
    {"email", "%w.%w@example.com", "^(?:[A-Za-z0-9_+-]{1,15}\\.){0,3}[A-Za-z0-9_+-]{1,16}@%L{1,4}%M$", "@"},
    {"hostname", "%w.example.com", "^%L{0,5}%M$", "^[^ @:/]+$"},
    {"ipv4", "10.%n%d.%d.1%d", "^(?:%O\\.){3}%O$", "^[0-9.xXa-fA-F]+$"},
    {"ipv6", "2001:db8::%n%x%x",
     "^(?:%X(?::%X){7}|(?!:*[0-9A-Fa-f]+(?::+[0-9A-Fa-f]+){7})(?:%X(?::%X)*)?::(?:%X(?::%X)*)?)$", ":"},
    {"uuid", "%x%x%x%x%x%x%x%x-%x%x%x%x-4%x%x%x-8%x%x%x-%x%x%x%x%x%x%x%x%x%x%x%x",
     "^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$", "^.{32}"},
    {"uuid4", "%x%x%x%x%x%x%x%x-%x%x%x%x-4%x%x%x-8%x%x%x-%x%x%x%x%x%x%x%x%x%x%x%x",
     "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", "^.{32}"},
    {"uri", "https://example.com/%w",
     "^[A-Za-z][A-Za-z0-9+.-]*:(?!$)(?://(?:%L{0,5}%M|(?:%O\\.){3}%O)(?::\\d{1,4})?(?=[/?#]|$)|(?!//))(?:%U)*"
     "(?:\\?(?:%U|\\?)*)?(?:#(?:%U|\\?)*)?$",
     ":"},
};

}  // namespace values

Decimal::Decimal(const Json& number) {
  const std::string written = number.dump();
  const std::size_t power = std::min(written.find('e'), written.size());
  bool fraction = false;
  for (const char character : std::string_view(written).substr(0, power)) {
    negative = negative || character == '-';
    fraction = fraction || character == '.';
    if (character < '0' || character > '9') continue;
    if (character != '0' || !digits.empty()) digits += character;
    exponent -= fraction ? 1 : 0;
  }
  if (power < written.size()) exponent += std::stoi(written.substr(power + 1));
  for (; !digits.empty() && digits.back() == '0'; ++exponent) digits.pop_back();
  if (digits.empty()) negative = false, exponent = 0;
}

std::optional<std::uint64_t> Decimal::scaled(int places) const {
  const std::string written = digits + std::string(static_cast<std::size_t>(std::min(exponent + places, 20)), '0');
  std::uint64_t amount = 0;
  for (const char character : written) {
    const auto digit = static_cast<std::uint64_t>(character - '0');
    if (amount > (static_cast<std::uint64_t>(-1) - digit) / 10) return std::nullopt;
    amount = amount * 10 + digit;
  }
  return amount;
}

Verdict at_least(const Json& value, const Json& bound, bool exclusive) {
  const bool lossy = values::is_lossy(value) || values::is_lossy(bound);
  const double edge = bound.get<double>();
  if (lossy && std::nextafter(value.get<double>(), edge) == edge) return Verdict::unsure;
  const int order = values::compare(Decimal(value), Decimal(bound));
  return (exclusive ? order > 0 : order >= 0) ? Verdict::yes : Verdict::no;
}

Verdict is_multiple(const Json& value, const Json& divisor) {
  const Decimal number(value);
  const Decimal unit(divisor);
  if (number.digits.empty()) return Verdict::yes;
  const int places = -std::min(number.exponent, unit.exponent);
  const std::uint64_t step = unit.scaled(places).value_or(0);
  constexpr std::uint64_t longest = 1000000000000000000;  // ten times as much fits into 64 bits
  if (step == 0 || step > longest || values::is_lossy(value) || values::is_lossy(divisor)) return Verdict::unsure;
  std::uint64_t rest = 0;
  for (const char digit : number.digits + std::string(static_cast<std::size_t>(number.exponent + places), '0')) {
    rest = (rest * 10 + static_cast<std::uint64_t>(digit - '0')) % step;
  }
  const double quotient = value.get<double>() / divisor.get<double>();
  const bool binary = std::isfinite(quotient) && std::floor(quotient) == quotient;
  const bool only_integers = value.is_number_integer() && divisor.is_number_integer();
  if (!only_integers && binary != (rest == 0)) return Verdict::unsure;
  return rest == 0 ? Verdict::yes : Verdict::no;
}

bool is_integer_value(const Json& value) {
  return value.is_number_integer() ||
         (value.is_number_float() && std::floor(value.get<double>()) == value.get<double>());
}

std::string canonical(const Json& value) {
  if (value.is_number()) {
    const Decimal number(value);
    return (number.negative ? "-" : "") + number.digits + "e" + std::to_string(number.exponent);
  }
  if (!value.is_structured()) return value.dump();
  std::map<std::string, std::string> parts;
  std::string out(1, value.is_array() ? '[' : '{');
  for (auto item = value.begin(); item != value.end(); ++item) {
    if (value.is_array())
      out += canonical(*item) + ",";
    else
      parts[Json(item.key()).dump()] = canonical(*item);
  }
  for (const auto& [name, part] : parts) out += name + part + ",";
  return out + "]";
}

Verdict equal(const Json& left, const Json& right) {
  const bool alike = left.type() == right.type() || (left.is_number() && right.is_number());
  if (alike && (values::is_lossy(left) || values::is_lossy(right))) return Verdict::unsure;
  return alike && canonical(left) == canonical(right) ? Verdict::yes : Verdict::no;
}

const Format* format_named(std::string_view name) {
  const auto format = std::find_if(std::begin(values::formats), std::end(values::formats),
                                   [name](const Format& known) { return known.name == name; });
  return format == std::end(values::formats) ? nullptr : format;
}

std::string strict_pattern(const Format& format) {
  std::string pattern;
  for (std::size_t index = 0; index < format.strict.size(); ++index) {
    if (format.strict[index] == '%')
      pattern += values::part(format.strict[++index]);
    else
      pattern += format.strict[index];
  }
  return pattern;
}

std::string usual_text(const Format& format, Random& random) {
  std::string made;
  for (std::size_t index = 0; index < format.usual.size(); ++index) {
    const char kind = format.usual[index] == '%' ? format.usual[++index] : '\0';
    const std::size_t first = kind == 'n' ? 1 : 0;
    if (kind == '\0')
      made += format.usual[index];
    else if (kind == 'w')
      made += words::word(random);
    else
      made += "0123456789abcdef"[first + random.below(kind == 'x' ? 16 : kind == 's' ? 6 : 10 - first)];
  }
  return made;
}

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
