#include "schema_value.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "../core/text.hpp"

namespace mock_gateway {
namespace detail {
namespace schema {

Span Span::of(const Json& number) {
  constexpr double exact_limit = 9007199254740992.0;  // 2^53
  Span span;
  span.low = span.high = Decimal::of(number);
  if (!number.is_number_float()) return span;
  const double value = number.get<double>();
  if (std::fabs(value) < exact_limit) return span;
  const double below = std::nextafter(value, -std::numeric_limits<double>::infinity());
  const double above = std::nextafter(value, std::numeric_limits<double>::infinity());
  if (std::isfinite(below)) span.low = Decimal::of(Json(below));
  if (std::isfinite(above)) span.high = Decimal::of(Json(above));
  span.exact = false;
  return span;
}

Verdict negation(Verdict verdict) {
  if (verdict == Verdict::unsure) return verdict;
  return verdict == Verdict::yes ? Verdict::no : Verdict::yes;
}

Verdict at_least(const Span& value, const Span& bound, bool exclusive) {
  const int surely = value.low.compare(bound.high);
  const int possibly = value.high.compare(bound.low);
  if (exclusive) return surely > 0 ? Verdict::yes : possibly <= 0 ? Verdict::no : Verdict::unsure;
  return surely >= 0 ? Verdict::yes : possibly < 0 ? Verdict::no : Verdict::unsure;
}

Verdict is_multiple(const Json& value, const Json& divisor) {
  const Span span = Span::of(value);
  const Span unit = Span::of(divisor);
  if (span.low.is_zero() && span.exact) return Verdict::yes;
  if (!span.exact || !unit.exact) return Verdict::unsure;
  const bool decimal = span.low.is_multiple_of(unit.low);
  if (!value.is_number_float() && !divisor.is_number_float()) return decimal ? Verdict::yes : Verdict::no;
  const double quotient = value.get<double>() / divisor.get<double>();
  if (!std::isfinite(quotient)) return Verdict::unsure;
  const bool binary = std::floor(quotient) == quotient;
  if (decimal != binary) return Verdict::unsure;
  return decimal ? Verdict::yes : Verdict::no;
}

bool is_integer_value(const Json& value) {
  if (value.is_number_integer()) return true;
  if (!value.is_number_float()) return false;
  const double number = value.get<double>();
  return std::floor(number) == number;
}

bool within_depth(const Json& value, std::size_t limit) {
  if (!value.is_structured()) return true;
  if (limit == 0) return false;
  return std::all_of(value.begin(), value.end(), [limit](const Json& part) { return within_depth(part, limit - 1); });
}

Verdict equal(const Json& left, const Json& right) {
  if (left.is_number() && right.is_number()) {
    // Below 2^63 a double is as good as its text; beyond, the text may have been an integer with more digits.
    const auto lossy = [](const Json& number) {
      return number.is_number_float() && std::fabs(number.get<double>()) >= 9223372036854775808.0;
    };
    if (lossy(left) || lossy(right)) {
      const Span first = Span::of(left);
      const Span second = Span::of(right);
      const bool apart = first.high.compare(second.low) < 0 || second.high.compare(first.low) < 0;
      return apart ? Verdict::no : Verdict::unsure;
    }
    return Decimal::of(left).compare(Decimal::of(right)) == 0 ? Verdict::yes : Verdict::no;
  }
  if (left.type() != right.type()) return Verdict::no;
  if (!left.is_structured()) return left == right ? Verdict::yes : Verdict::no;
  if (left.size() != right.size()) return Verdict::no;
  Verdict all = Verdict::yes;
  for (auto item = left.begin(); item != left.end() && all != Verdict::no; ++item) {
    if (left.is_array()) {
      all = std::min(all, equal(*item, right[static_cast<std::size_t>(item - left.begin())]));
    } else {
      const auto other = right.find(item.key());
      all = other == right.end() ? Verdict::no : std::min(all, equal(*item, *other));
    }
  }
  return all;
}

namespace values {

void append_canonical(std::string& out, const Json& value) {
  if (value.is_number()) {
    out += Decimal::of(value).text();
  } else if (value.is_string()) {
    text::append_json_string(out, value.get_ref<const std::string&>());
  } else if (value.is_array()) {
    out += '[';
    for (const Json& item : value) {
      append_canonical(out, item);
      out += ',';
    }
    out += ']';
  } else if (value.is_object()) {
    std::map<std::string_view, const Json*> sorted;
    for (auto item = value.begin(); item != value.end(); ++item) sorted[item.key()] = &*item;
    out += '{';
    for (const auto& [name, item] : sorted) {
      text::append_json_string(out, name);
      append_canonical(out, *item);
      out += ',';
    }
    out += '}';
  } else {
    out += value.dump();
  }
}

}  // namespace values

std::string canonical(const Json& value) {
  std::string out;
  values::append_canonical(out, value);
  return out;
}

std::string quoted(const Json& value) {
  if (!within_depth(value, max_instance_depth)) return "a deeply nested value";
  return text::excerpt(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
}

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
