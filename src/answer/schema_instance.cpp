#include "schema_instance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../core/text.hpp"
#include "words.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {
namespace schema {

inline constexpr std::size_t none = static_cast<std::size_t>(-1);

// Limits. They keep a hostile or absurd schema from costing a test more than a fraction of a second, or its stack.
inline constexpr std::size_t max_instance_depth = 64;
inline constexpr std::size_t max_value_depth = 200;
inline constexpr std::size_t max_schema_depth = 200;
inline constexpr std::size_t max_subschemas = 10000;
inline constexpr std::size_t max_chain = 100;  // schemas that apply to one value, one through another
inline constexpr std::size_t max_frames = 400;
inline constexpr std::size_t max_items = 10000;
inline constexpr std::size_t max_new_names = 1000;  // properties that minProperties asks for beyond the declared ones
inline constexpr std::size_t max_characters = 100000;
inline constexpr std::size_t max_output = 4000000;    // bytes of an instance, about
inline constexpr std::size_t generous_values = 2000;  // beyond, optional parts are left out
inline constexpr std::size_t relaxed_depth = 4;       // from here on recursion ends where it can
inline constexpr std::size_t work_limit = 5000000;    // steps of all kinds
inline constexpr std::size_t max_pattern_states = 20000;
inline constexpr std::size_t max_pattern_nesting = 100;
inline constexpr std::size_t max_automaton_states = 5000;
inline constexpr std::size_t max_automaton_entries = 1500000;
inline constexpr std::size_t unbounded_height = 1000000;

/// What can be said about a value: `unsure` where validators disagree.
enum class Verdict { no, unsure, yes };

MOCK_GATEWAY_INLINE Verdict negation(Verdict verdict) {
  if (verdict == Verdict::unsure) return verdict;
  return verdict == Verdict::yes ? Verdict::no : Verdict::yes;
}

/// Counts work and nesting of function calls, so that both end with Unsupported instead of a hang or a crash.
class Budget {
 public:
  void spend(std::size_t steps) {
    spent_ += steps;
    if (spent_ > work_limit) throw Unsupported{"", "The schema takes too much work: it is too large or too ambiguous."};
  }
  void enter() {
    if (++frames_ > max_frames) throw Unsupported{"", "The schema applies too many nested subschemas to one value."};
  }
  void leave() { --frames_; }

 private:
  std::size_t spent_ = 0;
  std::size_t frames_ = 0;
};

class Frame {
 public:
  explicit Frame(Budget& budget) : budget_(budget) { budget_.enter(); }
  ~Frame() { budget_.leave(); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

 private:
  Budget& budget_;
};

// ---- Exact decimal arithmetic -------------------------------------------------------------------------------------
// JSON numbers are decimal; binary floating point answers "is 0.3 a multiple of 0.1" wrongly. Digit strings have the
// most significant digit first and no leading zeros; the empty string is zero.

MOCK_GATEWAY_INLINE void strip_leading_zeros(std::string& digits) { digits.erase(0, digits.find_first_not_of('0')); }

MOCK_GATEWAY_INLINE int compare_digits(const std::string& left, const std::string& right) {
  if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
  return left.compare(right);
}

MOCK_GATEWAY_INLINE std::string add_digits(const std::string& left, const std::string& right) {
  std::string sum;
  int carry = 0;
  for (std::size_t place = 0; place < std::max(left.size(), right.size()) || carry != 0; ++place) {
    int digit = carry;
    if (place < left.size()) digit += left[left.size() - 1 - place] - '0';
    if (place < right.size()) digit += right[right.size() - 1 - place] - '0';
    sum.push_back(static_cast<char>('0' + digit % 10));
    carry = digit / 10;
  }
  std::reverse(sum.begin(), sum.end());
  return sum;
}

/// `left` must not be less than `right`.
MOCK_GATEWAY_INLINE std::string subtract_digits(const std::string& left, const std::string& right) {
  std::string difference = left;
  int borrow = 0;
  for (std::size_t place = 0; place < left.size(); ++place) {
    char& target = difference[left.size() - 1 - place];
    int digit = target - '0' - borrow;
    if (place < right.size()) digit -= right[right.size() - 1 - place] - '0';
    borrow = digit < 0 ? 1 : 0;
    target = static_cast<char>('0' + digit + 10 * borrow);
  }
  strip_leading_zeros(difference);
  return difference;
}

MOCK_GATEWAY_INLINE std::string multiply_digits(const std::string& left, const std::string& right) {
  std::vector<int> places(left.size() + right.size(), 0);
  for (std::size_t i = left.size(); i-- > 0;) {
    for (std::size_t j = right.size(); j-- > 0;) {
      const int value = places[i + j + 1] + (left[i] - '0') * (right[j] - '0');
      places[i + j + 1] = value % 10;
      places[i + j] += value / 10;
    }
  }
  std::string product;
  for (const int place : places) product.push_back(static_cast<char>('0' + place));
  strip_leading_zeros(product);
  return product;
}

/// The quotient, rounded down; `divisor` must not be zero.
MOCK_GATEWAY_INLINE std::string divide_digits(const std::string& dividend, const std::string& divisor,
                                              std::string& remainder) {
  std::string quotient;
  remainder.clear();
  for (const char digit : dividend) {
    remainder.push_back(digit);
    strip_leading_zeros(remainder);
    char count = '0';
    while (compare_digits(remainder, divisor) >= 0) {
      remainder = subtract_digits(remainder, divisor);
      ++count;
    }
    quotient.push_back(count);
  }
  strip_leading_zeros(quotient);
  return quotient;
}

/// A decimal number of any size: digits × 10^exponent, without trailing zeros in the digits.
class Decimal {
 public:
  Decimal() = default;
  Decimal(bool negative, std::string digits, int exponent)
      : negative_(negative), digits_(std::move(digits)), exponent_(exponent) {
    normalize();
  }
  /// Reads a JSON number as it is written.
  explicit Decimal(std::string_view number) {
    std::size_t index = 0;
    if (index < number.size() && number[index] == '-') negative_ = true, ++index;
    bool fraction = false;
    for (; index < number.size() && number[index] != 'e' && number[index] != 'E'; ++index) {
      if (number[index] == '.') {
        fraction = true;
      } else {
        digits_.push_back(number[index]);
        if (fraction) --exponent_;
      }
    }
    if (index < number.size()) {
      ++index;
      const bool minus = index < number.size() && number[index] == '-';
      int power = 0;
      for (; index < number.size(); ++index) {
        if (number[index] >= '0' && number[index] <= '9' && power < 100000) power = power * 10 + (number[index] - '0');
      }
      exponent_ += minus ? -power : power;
    }
    normalize();
  }

  static Decimal of(const Json& number) { return Decimal(std::string_view(number.dump())); }
  static Decimal power_of_ten(int exponent) { return Decimal(false, "1", exponent); }

  bool is_zero() const { return digits_.empty(); }
  bool is_negative() const { return negative_; }
  bool is_integer() const { return exponent_ >= 0; }
  const std::string& digits() const { return digits_; }
  int exponent() const { return exponent_; }
  /// The number of digits before the decimal point; zero or less for a number below one.
  int magnitude() const { return static_cast<int>(digits_.size()) + exponent_; }
  Decimal negated() const { return Decimal(!negative_, digits_, exponent_); }

  int compare(const Decimal& other) const {
    if (negative_ != other.negative_) return negative_ ? -1 : 1;
    int order = 0;
    if (is_zero() || other.is_zero()) {
      order = static_cast<int>(!is_zero()) - static_cast<int>(!other.is_zero());
    } else if (magnitude() != other.magnitude()) {
      order = magnitude() < other.magnitude() ? -1 : 1;
    } else {
      order = digits_.compare(other.digits_);
    }
    return negative_ ? -order : order;
  }

  Decimal plus(const Decimal& other) const {
    if (is_zero()) return other;
    if (other.is_zero()) return *this;
    const int common = std::min(exponent_, other.exponent_);
    const std::string left = scaled(common);
    const std::string right = other.scaled(common);
    if (negative_ == other.negative_) return Decimal(negative_, add_digits(left, right), common);
    if (compare_digits(left, right) >= 0) return Decimal(negative_, subtract_digits(left, right), common);
    return Decimal(other.negative_, subtract_digits(right, left), common);
  }

  Decimal times(const Decimal& other) const {
    return Decimal(negative_ != other.negative_, multiply_digits(digits_, other.digits_), exponent_ + other.exponent_);
  }

  /// The largest integer that is at most this divided by `divisor`, which must be positive.
  Decimal floor_over(const Decimal& divisor) const {
    const int common = std::min(exponent_, divisor.exponent_);
    std::string remainder;
    std::string quotient = divide_digits(scaled(common), divisor.scaled(common), remainder);
    if (negative_ && !remainder.empty()) quotient = add_digits(quotient, "1");
    return Decimal(negative_, quotient, 0);
  }

  Decimal ceiling_over(const Decimal& divisor) const { return negated().floor_over(divisor).negated(); }

  bool is_multiple_of(const Decimal& divisor) const {
    if (is_zero()) return true;
    const int common = std::min(exponent_, divisor.exponent_);
    std::string remainder;
    divide_digits(scaled(common), divisor.scaled(common), remainder);
    return remainder.empty();
  }

  /// The digits as an integer when the exponent is lowered to `exponent`.
  std::string scaled(int exponent) const {
    if (is_zero()) return {};
    return digits_ + std::string(static_cast<std::size_t>(exponent_ - exponent), '0');
  }

  /// The same for equal numbers, and a JSON number.
  std::string text() const {
    if (is_zero()) return "0";
    return (negative_ ? "-" : "") + digits_ + "e" + std::to_string(exponent_);
  }

 private:
  void normalize() {
    strip_leading_zeros(digits_);
    while (!digits_.empty() && digits_.back() == '0') {
      digits_.pop_back();
      ++exponent_;
    }
    if (digits_.empty()) negative_ = false, exponent_ = 0;
  }

  bool negative_ = false;
  std::string digits_;
  int exponent_ = 0;
};

/// The JSON number nearest to a decimal: an integer where 64 bits hold it, else a double. Empty when none is finite.
MOCK_GATEWAY_INLINE std::optional<Json> to_json(const Decimal& decimal) {
  std::string literal = decimal.text();
  if (decimal.is_integer() && decimal.magnitude() <= 20) {
    literal = (decimal.is_negative() ? "-" : "") + (decimal.is_zero() ? "0" : decimal.scaled(0));
  }
  Json number = Json::parse(literal, nullptr, false);
  if (!number.is_number()) return std::nullopt;
  return number;
}

/// What a JSON number may stand for. A double beyond 2^53 has lost digits that the text it was read from may have had,
/// and that other readers keep.
struct Span {
  Decimal low;
  Decimal high;
  bool exact = true;

  static Span of(const Json& number) {
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
};

MOCK_GATEWAY_INLINE Verdict at_least(const Span& value, const Span& bound, bool exclusive) {
  const int surely = value.low.compare(bound.high);
  const int possibly = value.high.compare(bound.low);
  if (exclusive) return surely > 0 ? Verdict::yes : possibly <= 0 ? Verdict::no : Verdict::unsure;
  return surely >= 0 ? Verdict::yes : possibly < 0 ? Verdict::no : Verdict::unsure;
}

/// Whether `value` is a multiple of `divisor`. Some validators divide doubles, others decimals: only where both agree
/// is it certain.
MOCK_GATEWAY_INLINE Verdict is_multiple(const Json& value, const Json& divisor) {
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

/// The least common multiple of two positive decimals; empty when it is too large to be of use.
MOCK_GATEWAY_INLINE std::optional<Decimal> common_multiple(const Decimal& left, const Decimal& right) {
  const int common = std::min(left.exponent(), right.exponent());
  if (left.magnitude() - common > 18 || right.magnitude() - common > 18) return std::nullopt;
  const auto number = [common](const Decimal& decimal) {
    std::uint64_t value = 0;
    for (const char digit : decimal.scaled(common)) value = value * 10 + static_cast<std::uint64_t>(digit - '0');
    return value;
  };
  const std::uint64_t first = number(left);
  const std::uint64_t second = number(right) / std::gcd(first, number(right));
  if (second != 0 && first > std::numeric_limits<std::uint64_t>::max() / second) return std::nullopt;
  return Decimal(false, std::to_string(first * second), common);
}

// ---- Values -------------------------------------------------------------------------------------------------------

MOCK_GATEWAY_INLINE bool is_integer_value(const Json& value) {
  if (value.is_number_integer()) return true;
  if (!value.is_number_float()) return false;
  const double number = value.get<double>();
  return std::floor(number) == number;
}

MOCK_GATEWAY_INLINE bool within_depth(const Json& value, std::size_t limit) {
  if (!value.is_structured()) return true;
  if (limit == 0) return false;
  return std::all_of(value.begin(), value.end(), [limit](const Json& part) { return within_depth(part, limit - 1); });
}

/// JSON Schema's equality: 1 equals 1.0, and the order of properties does not matter.
MOCK_GATEWAY_INLINE Verdict equal(const Json& left, const Json& right) {
  if (left.is_number_integer() && right.is_number_integer()) return left == right ? Verdict::yes : Verdict::no;
  if (left.is_number() && right.is_number()) {
    // Below 2^64 a double is as good as its text; beyond, the text may have been an integer with more digits.
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

/// A text that two values share exactly when they are equal.
MOCK_GATEWAY_INLINE void append_canonical(std::string& out, const Json& value) {
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

MOCK_GATEWAY_INLINE std::string canonical(const Json& value) {
  std::string out;
  append_canonical(out, value);
  return out;
}

/// A value as a reason quotes it.
MOCK_GATEWAY_INLINE std::string quoted(const Json& value) {
  if (!within_depth(value, max_instance_depth)) return "a deeply nested value";
  return text::excerpt(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
}

// ---- Patterns -----------------------------------------------------------------------------------------------------

/// A set of code points as sorted, disjoint ranges, both ends included.
class CharacterSet {
 public:
  void add(char32_t first, char32_t last) { ranges_.emplace_back(first, last); }
  void add(const CharacterSet& other) { ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end()); }

  void normalize() {
    std::sort(ranges_.begin(), ranges_.end());
    std::vector<std::pair<char32_t, char32_t>> merged;
    for (const auto& range : ranges_) {
      if (!merged.empty() && range.first <= merged.back().second + 1) {
        merged.back().second = std::max(merged.back().second, range.second);
      } else {
        merged.push_back(range);
      }
    }
    ranges_ = std::move(merged);
  }

  void invert() {
    normalize();
    std::vector<std::pair<char32_t, char32_t>> inverted;
    char32_t next = 0;
    for (const auto& range : ranges_) {
      if (range.first > next) inverted.emplace_back(next, range.first - 1);
      next = range.second + 1;
    }
    if (next <= 0x10ffff) inverted.emplace_back(next, 0x10ffff);
    ranges_ = std::move(inverted);
  }

  bool contains(char32_t character) const {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), character,
                                        [](char32_t value, const auto& range) { return value < range.first; });
    return after != ranges_.begin() && character <= std::prev(after)->second;
  }

  const std::vector<std::pair<char32_t, char32_t>>& ranges() const { return ranges_; }

 private:
  std::vector<std::pair<char32_t, char32_t>> ranges_;
};

enum class StateKind { set, split, begin, end, match };

struct PatternState {
  StateKind kind = StateKind::match;
  std::size_t set = none;          // of `set`
  std::size_t next = none;         // of all but `match`
  std::size_t alternative = none;  // of `split`
};

/// A nondeterministic automaton (Thompson's construction): matching takes time proportional to text × states, whatever
/// the pattern.
struct Pattern {
  std::vector<PatternState> states;
  std::vector<CharacterSet> sets;
  std::size_t start = none;
};

enum class TermKind { empty, set, begin, end, sequence, alternatives, repeat };

struct Term {
  TermKind kind = TermKind::empty;
  std::size_t set = none;
  std::vector<std::size_t> parts;
  std::size_t least = 0;
  std::size_t most = none;
};

class PatternParser {
 public:
  /// `path` is where in the schema the pattern stands.
  PatternParser(const std::string& source, const std::string& path) : path_(path) {
    for (std::size_t offset = 0; offset < source.size();) {
      char32_t character = 0;
      const std::size_t length = text::decode_utf8(source, offset, character);
      if (length == 0) refuse("is not UTF-8");
      source_.push_back(character);
      offset += length;
    }
  }

  Pattern parse() {
    const std::size_t root = alternatives(0);
    if (!at_end()) refuse("has a ')' without a '('");
    Pattern pattern;
    pattern.sets = std::move(sets_);
    pattern.states.push_back(PatternState{});
    pattern.start = emit(pattern, root, 0);
    return pattern;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Unsupported{path_, "The pattern " + what + " (at character " + std::to_string(position_ + 1) + ")."};
  }

  bool at_end() const { return position_ >= source_.size(); }
  char32_t peek(std::size_t ahead = 0) const {
    return position_ + ahead < source_.size() ? source_[position_ + ahead] : U'\0';
  }
  bool take(char32_t character) {
    if (at_end() || peek() != character) return false;
    ++position_;
    return true;
  }

  std::size_t add(Term term) {
    terms_.push_back(std::move(term));
    return terms_.size() - 1;
  }
  std::size_t add_set(CharacterSet set) {
    set.normalize();
    sets_.push_back(std::move(set));
    Term term;
    term.kind = TermKind::set;
    term.set = sets_.size() - 1;
    return add(std::move(term));
  }

  std::size_t alternatives(std::size_t nesting) {
    if (nesting > max_pattern_nesting) refuse("nests its groups too deeply");
    Term term;
    term.kind = TermKind::alternatives;
    do {
      term.parts.push_back(sequence(nesting));
    } while (take(U'|'));
    return term.parts.size() == 1 ? term.parts.front() : add(std::move(term));
  }

  std::size_t sequence(std::size_t nesting) {
    Term term;
    term.kind = TermKind::sequence;
    while (!at_end() && peek() != U'|' && peek() != U')') term.parts.push_back(quantified(nesting));
    return term.parts.size() == 1 ? term.parts.front() : add(std::move(term));
  }

  std::size_t quantified(std::size_t nesting) {
    const std::size_t part = atom(nesting);
    Term term;
    term.kind = TermKind::repeat;
    if (take(U'*')) {
      term.least = 0, term.most = none;
    } else if (take(U'+')) {
      term.least = 1, term.most = none;
    } else if (take(U'?')) {
      term.least = 0, term.most = 1;
    } else if (take(U'{')) {
      term.least = count();
      term.most = term.least;
      if (take(U',')) term.most = peek() == U'}' ? none : count();
      if (!take(U'}')) refuse("has a '{' that is no quantifier; a literal one is written \\{");
      if (term.most < term.least) refuse("has a quantifier whose bounds are out of order");
    } else {
      return part;
    }
    if (terms_[part].kind == TermKind::begin || terms_[part].kind == TermKind::end) refuse("repeats an anchor");
    take(U'?');  // lazy: the same texts match
    const char32_t next = peek();
    if (!at_end() && (next == U'*' || next == U'+' || next == U'?' || next == U'{')) refuse("has nothing to repeat");
    term.parts.push_back(part);
    return add(std::move(term));
  }

  std::size_t count() {
    if (peek() < U'0' || peek() > U'9') refuse("has a '{' that is no quantifier; a literal one is written \\{");
    std::size_t value = 0;
    while (peek() >= U'0' && peek() <= U'9') {
      value = value * 10 + (source_[position_++] - U'0');
      if (value > max_characters) refuse("has a quantifier above " + std::to_string(max_characters));
    }
    return value;
  }

  std::size_t atom(std::size_t nesting) {
    const char32_t character = source_[position_++];
    CharacterSet set;
    Term term;
    switch (character) {
      case U'^': term.kind = TermKind::begin; return add(std::move(term));
      case U'$': term.kind = TermKind::end; return add(std::move(term));
      case U'(': return group(nesting);
      case U'[': return add_set(bracket());
      case U'\\': return add_set(escape(false));
      case U'.':
        for (const char32_t line_end : {U'\n', U'\r', U'\u2028', U'\u2029'}) set.add(line_end, line_end);
        set.invert();
        return add_set(std::move(set));
      case U'*':
      case U'+':
      case U'?': --position_; refuse("has nothing to repeat");
      case U'{':
      case U'}':
      case U']': --position_; refuse("has a bare '{', '}' or ']'; a literal one is written with a backslash");
      default: set.add(character, character); return add_set(std::move(set));
    }
  }

  std::size_t group(std::size_t nesting) {
    if (take(U'?')) {
      if (take(U'<')) {
        if (peek() == U'=' || peek() == U'!') refuse("uses lookbehind, which is not supported");
        while (!at_end() && peek() != U'>') ++position_;
        if (!take(U'>')) refuse("has a group whose name does not end");
      } else if (peek() == U'=' || peek() == U'!') {
        refuse("uses lookahead, which is not supported");
      } else if (!take(U':')) {
        refuse("uses a kind of group that is not supported");
      }
    }
    const std::size_t inner = alternatives(nesting + 1);
    if (!take(U')')) refuse("has a '(' without a ')'");
    // Wrapped, so that a quantifier after a group that holds only an anchor is not mistaken for a repeated anchor.
    Term term;
    term.kind = TermKind::sequence;
    term.parts.push_back(inner);
    return add(std::move(term));
  }

  std::optional<char32_t> hexadecimal(std::size_t digits) {
    char32_t value = 0;
    for (std::size_t index = 0; index < digits; ++index) {
      const char32_t digit = peek(index);
      if (digit >= U'0' && digit <= U'9') {
        value = value * 16 + (digit - U'0');
      } else if (digit >= U'a' && digit <= U'f') {
        value = value * 16 + (digit - U'a' + 10);
      } else if (digit >= U'A' && digit <= U'F') {
        value = value * 16 + (digit - U'A' + 10);
      } else {
        return std::nullopt;
      }
    }
    position_ += digits;
    return value;
  }

  char32_t unicode_escape() {
    if (take(U'{')) {
      std::size_t digits = 0;
      while (peek(digits) != U'}' && digits < 7) ++digits;
      const std::optional<char32_t> value = digits == 0 ? std::nullopt : hexadecimal(digits);
      if (!value || !take(U'}') || *value > 0x10ffff) refuse("has a malformed \\u{…} escape");
      return *value;
    }
    const std::optional<char32_t> value = hexadecimal(4);
    if (!value) refuse("has a malformed \\u escape");
    if (*value >= 0xd800 && *value <= 0xdbff && peek() == U'\\' && peek(1) == U'u') {
      const std::size_t back = position_;
      position_ += 2;
      const std::optional<char32_t> low = hexadecimal(4);
      if (low && *low >= 0xdc00 && *low <= 0xdfff) return 0x10000 + ((*value - 0xd800) << 10) + (*low - 0xdc00);
      position_ = back;
    }
    return *value;
  }

  /// What follows a backslash.
  CharacterSet escape(bool in_class) {
    if (at_end()) refuse("ends with a backslash");
    const char32_t character = source_[position_++];
    CharacterSet set;
    const auto single = [&set](char32_t value) {
      set.add(value, value);
      return set;
    };
    switch (character) {
      case U'd':
      case U'D': set.add(U'0', U'9'); break;
      case U'w':
      case U'W':
        set.add(U'0', U'9');
        set.add(U'A', U'Z');
        set.add(U'_', U'_');
        set.add(U'a', U'z');
        break;
      case U's':
      case U'S':
        set.add(0x09, 0x0d);
        set.add(0x2000, 0x200a);
        for (const char32_t space : {0x20u, 0xa0u, 0x1680u, 0x2028u, 0x2029u, 0x202fu, 0x205fu, 0x3000u, 0xfeffu}) {
          set.add(space, space);
        }
        break;
      case U't': return single(U'\t');
      case U'n': return single(U'\n');
      case U'v': return single(U'\v');
      case U'f': return single(U'\f');
      case U'r': return single(U'\r');
      case U'0':
        if (peek() >= U'0' && peek() <= U'9') refuse("uses an octal escape, which is not supported");
        return single(0);
      case U'c': {
        const char32_t letter = peek();
        const bool is_letter = (letter >= U'a' && letter <= U'z') || (letter >= U'A' && letter <= U'Z');
        if (!is_letter) refuse("has a malformed \\c escape");
        ++position_;
        return single(letter & 0x1fu);
      }
      case U'x': {
        const std::optional<char32_t> value = hexadecimal(2);
        if (!value) refuse("has a malformed \\x escape");
        return single(*value);
      }
      case U'u': return single(unicode_escape());
      case U'b':
        if (in_class) return single(U'\b');
        refuse("uses \\b, which is not supported");
      case U'B': refuse("uses \\B, which is not supported");
      case U'p':
      case U'P': refuse("uses a Unicode property, which is not supported");
      case U'k': refuse("uses a backreference, which is not supported");
      default:
        if (character >= U'1' && character <= U'9') refuse("uses a backreference, which is not supported");
        if ((character >= U'a' && character <= U'z') || (character >= U'A' && character <= U'Z') || character >= 0x80 ||
            character < 0x21) {
          refuse("has an escape that is not supported");
        }
        return single(character);
    }
    if (character == U'D' || character == U'W' || character == U'S') set.invert();
    return set;
  }

  CharacterSet class_member() {
    const char32_t character = source_[position_++];
    if (character == U'\\') return escape(true);
    CharacterSet set;
    set.add(character, character);
    return set;
  }

  CharacterSet bracket() {
    const bool inverted = take(U'^');
    if (peek() == U']') refuse("has an empty character class");
    CharacterSet set;
    const auto is_single = [](const CharacterSet& members) {
      return members.ranges().size() == 1 && members.ranges()[0].first == members.ranges()[0].second;
    };
    for (;;) {
      if (at_end()) refuse("has a '[' without a ']'");
      if (take(U']')) break;
      const CharacterSet first = class_member();
      if (peek() == U'-' && peek(1) != U']' && position_ + 1 < source_.size()) {
        const std::size_t hyphen = position_++;
        const CharacterSet last = class_member();
        if (is_single(first) && is_single(last)) {
          const char32_t low = first.ranges()[0].first;
          const char32_t high = last.ranges()[0].first;
          if (low > high) refuse("has a range that is out of order");
          set.add(low, high);
          continue;
        }
        position_ = hyphen;  // beside a class such as \w the hyphen is literal
      }
      set.add(first);
    }
    if (inverted) set.invert();
    return set;
  }

  std::size_t add_state(Pattern& pattern, StateKind kind, std::size_t next) {
    if (pattern.states.size() >= max_pattern_states) refuse("is too large");
    PatternState state;
    state.kind = kind;
    state.next = next;
    pattern.states.push_back(state);
    return pattern.states.size() - 1;
  }

  /// Adds the states of a term that continue with `next`, and returns where they start.
  std::size_t emit(Pattern& pattern, std::size_t index, std::size_t next) {
    const Term& term = terms_[index];
    switch (term.kind) {
      case TermKind::empty: return next;
      case TermKind::begin: return add_state(pattern, StateKind::begin, next);
      case TermKind::end: return add_state(pattern, StateKind::end, next);
      case TermKind::set: {
        const std::size_t state = add_state(pattern, StateKind::set, next);
        pattern.states[state].set = term.set;
        return state;
      }
      case TermKind::sequence:
        for (std::size_t part = term.parts.size(); part-- > 0;) next = emit(pattern, term.parts[part], next);
        return next;
      case TermKind::alternatives: {
        std::size_t start = emit(pattern, term.parts.back(), next);
        for (std::size_t part = term.parts.size() - 1; part-- > 0;) {
          const std::size_t first = emit(pattern, term.parts[part], next);
          const std::size_t split = add_state(pattern, StateKind::split, first);
          pattern.states[split].alternative = start;
          start = split;
        }
        return start;
      }
      case TermKind::repeat: break;
    }
    std::size_t start = next;
    if (term.most == none) {
      start = add_state(pattern, StateKind::split, none);
      const std::size_t body = emit(pattern, term.parts[0], start);
      pattern.states[start].next = body;
      pattern.states[start].alternative = next;
    } else {
      for (std::size_t copy = term.least; copy < term.most; ++copy) {
        const std::size_t body = emit(pattern, term.parts[0], start);
        const std::size_t split = add_state(pattern, StateKind::split, body);
        pattern.states[split].alternative = next;
        start = split;
      }
    }
    for (std::size_t copy = 0; copy < term.least; ++copy) start = emit(pattern, term.parts[0], start);
    return start;
  }

  std::string path_;
  std::u32string source_;
  std::size_t position_ = 0;
  std::vector<Term> terms_;
  std::vector<CharacterSet> sets_;
};

/// Follows a pattern's automaton, all states at once.
class PatternRun {
 public:
  PatternRun(const Pattern& pattern, Budget& budget)
      : pattern_(pattern), budget_(budget), seen_(pattern.states.size(), 0) {}

  /// The states that can be reached from `from` without a character: those that read one, the match, and the '$'
  /// anchors, which stay until the end of the text is known. Sorted.
  std::vector<std::size_t> closure(const std::vector<std::size_t>& from, bool at_start, bool at_end) {
    ++generation_;
    std::vector<std::size_t> reached;
    pending_ = from;
    while (!pending_.empty()) {
      const std::size_t index = pending_.back();
      pending_.pop_back();
      if (seen_[index] == generation_) continue;
      seen_[index] = generation_;
      const PatternState& state = pattern_.states[index];
      switch (state.kind) {
        case StateKind::split:
          pending_.push_back(state.alternative);
          pending_.push_back(state.next);
          break;
        case StateKind::begin:
          if (at_start) pending_.push_back(state.next);
          break;
        case StateKind::end:
          if (at_end) pending_.push_back(state.next);
          reached.push_back(index);
          break;
        case StateKind::set:
        case StateKind::match: reached.push_back(index); break;
      }
    }
    budget_.spend(1 + reached.size());
    std::sort(reached.begin(), reached.end());
    return reached;
  }

  std::vector<std::size_t> step(const std::vector<std::size_t>& states, char32_t character) const {
    std::vector<std::size_t> next;
    for (const std::size_t index : states) {
      const PatternState& state = pattern_.states[index];
      if (state.kind == StateKind::set && pattern_.sets[state.set].contains(character)) next.push_back(state.next);
    }
    return next;
  }

  /// The match is always the first state.
  static bool matched(const std::vector<std::size_t>& states) { return !states.empty() && states.front() == 0; }

  /// Whether the pattern occurs anywhere in the text.
  bool search(std::string_view subject) {
    std::vector<std::size_t> states = closure({pattern_.start}, true, false);
    for (std::size_t offset = 0;;) {
      if (matched(states)) return true;
      if (offset >= subject.size()) return matched(closure(states, offset == 0, true));
      char32_t character = 0xfffd;
      const std::size_t length = std::max<std::size_t>(1, text::decode_utf8(subject, offset, character));
      offset += length;
      std::vector<std::size_t> next = step(states, character);
      next.push_back(pattern_.start);
      states = closure(next, false, false);
    }
  }

 private:
  const Pattern& pattern_;
  Budget& budget_;
  std::vector<std::size_t> seen_;
  std::vector<std::size_t> pending_;
  std::size_t generation_ = 0;
};

/// Makes texts that match all of several patterns and have a wanted length: the patterns' common automaton is made
/// deterministic as far as it is needed, and walked length by length.
class PatternWalk {
 public:
  /// `whole`: the patterns match the text from end to end instead of somewhere in it. `plain`: printable ASCII only.
  PatternWalk(const std::vector<const Pattern*>& patterns, bool whole, bool plain, Budget& budget)
      : patterns_(patterns), whole_(whole), budget_(budget) {
    for (const Pattern* pattern : patterns_) runs_.emplace_back(*pattern, budget);
    make_atoms(plain);
    std::vector<Set> sets;
    for (std::size_t index = 0; index < patterns_.size(); ++index) {
      sets.push_back(settle(runs_[index].closure({patterns_[index]->start}, true, false)));
    }
    add_state(std::move(sets), true);
  }

  /// A text of `least` to `most` characters. `spare`: how many characters longer than necessary it may be.
  std::optional<std::string> text_of(std::size_t least, std::size_t most, std::size_t spare, Random& random) {
    std::vector<Entry> entries{Entry{0, none, none}};
    std::vector<std::size_t> layer_of_state;  // entry of each state in the layer that is being made
    std::vector<std::size_t> weights;
    std::vector<std::size_t> endings;
    std::size_t layer = 0;
    std::size_t longest = most;
    for (std::size_t length = 0;; ++length) {
      const std::size_t layer_end = entries.size();
      if (length >= least) {
        std::size_t choices = 0;
        std::size_t chosen = none;
        for (std::size_t entry = layer; entry < layer_end; ++entry) {
          if (accepting_[entries[entry].state] && random.below(++choices) == 0) chosen = entry;
        }
        if (chosen != none) {
          if (endings.empty()) longest = std::min(most, length + spare);
          endings.push_back(chosen);
        }
      }
      const std::size_t dead_end = std::max<std::size_t>(least, max_automaton_states);
      if (length >= longest || (endings.empty() && length > dead_end + accepting_.size())) break;
      layer_of_state.assign(accepting_.size(), none);
      weights.clear();
      for (std::size_t entry = layer; entry < layer_end; ++entry) {
        for (std::size_t atom = 0; atom < atoms_.size(); ++atom) {
          const std::size_t next = transition(entries[entry].state, atom);
          if (next == none) continue;
          budget_.spend(1);
          if (next >= layer_of_state.size()) layer_of_state.resize(next + 1, none);
          if (layer_of_state[next] == none) {
            layer_of_state[next] = entries.size();
            entries.push_back(Entry{next, entry, atom});
            weights.push_back(atoms_[atom].weight);
          } else {
            // One of all ways here, chosen in proportion to the weights without storing them.
            const std::size_t known = layer_of_state[next];
            std::size_t& total = weights[known - layer_end];
            total += atoms_[atom].weight;
            if (random.below(total) < atoms_[atom].weight) entries[known] = Entry{next, entry, atom};
          }
        }
      }
      if (entries.size() == layer_end || entries.size() > max_automaton_entries) break;
      layer = layer_end;
    }
    if (endings.empty()) return std::nullopt;
    std::u32string reversed;
    std::size_t entry = endings[random.below(endings.size())];
    for (; entries[entry].before != none; entry = entries[entry].before) {
      reversed.push_back(character_of(atoms_[entries[entry].atom], random));
    }
    std::string made;
    for (std::size_t index = reversed.size(); index-- > 0;) text::append_utf8(made, reversed[index]);
    return made;
  }

 private:
  using Set = std::vector<std::size_t>;

  struct Atom {  // a range of characters that no pattern tells apart
    char32_t first;
    char32_t last;
    std::size_t weight;
  };
  struct Entry {  // a state that can be reached with a number of characters, and one way to reach it
    std::size_t state;
    std::size_t before;
    std::size_t atom;
  };

  static bool is_letter_or_digit(char32_t character) {
    return (character >= U'0' && character <= U'9') || (character >= U'A' && character <= U'Z') ||
           (character >= U'a' && character <= U'z');
  }

  void make_atoms(bool plain) {
    std::set<char32_t> starts{0,    0x20, U'0', U'9' + 1, U'A',   U'Z' + 1, U'a',    U'z' + 1,
                              0x7f, 0xa1, 0xc0, 0x100,    0xd800, 0xe000,   0x110000};
    for (const Pattern* pattern : patterns_) {
      for (const CharacterSet& set : pattern->sets) {
        for (const auto& range : set.ranges()) {
          starts.insert(range.first);
          starts.insert(range.second + 1);
        }
      }
    }
    for (auto start = starts.begin(); std::next(start) != starts.end(); ++start) {
      const char32_t first = *start;
      const char32_t last = *std::next(start) - 1;
      const bool surrogate = first >= 0xd800 && first <= 0xdfff;
      const bool printable = first >= 0x20 && last <= 0x7e;
      if (surrogate || (plain && !printable)) continue;
      const std::size_t weight = !is_letter_or_digit(first) ? 1 : first >= U'a' ? 8 : 4;
      atoms_.push_back(Atom{first, last, weight});
    }
  }

  static char32_t character_of(const Atom& atom, Random& random) {
    const std::uint64_t choices = std::min<std::uint64_t>(atom.last - atom.first + 1, 26);
    return atom.first + static_cast<char32_t>(random.below(choices));
  }

  /// Once found, a pattern that may match anywhere stays found.
  Set settle(Set states) const {
    if (!whole_ && PatternRun::matched(states)) return Set{0};
    return states;
  }

  std::size_t add_state(std::vector<Set> sets, bool at_start) {
    bool accepting = true;
    for (std::size_t index = 0; index < sets.size() && accepting; ++index) {
      accepting =
          PatternRun::matched(sets[index]) || PatternRun::matched(runs_[index].closure(sets[index], at_start, true));
    }
    accepting_.push_back(accepting);
    sets_.push_back(std::move(sets));
    transitions_.emplace_back(atoms_.size(), unknown);
    return accepting_.size() - 1;
  }

  std::size_t transition(std::size_t state, std::size_t atom) {
    const std::size_t known = transitions_[state][atom];
    if (known != unknown) return known;
    std::vector<Set> sets;
    bool dead = false;
    for (std::size_t index = 0; index < patterns_.size() && !dead; ++index) {
      const Set& current = sets_[state][index];
      if (!whole_ && PatternRun::matched(current)) {
        sets.push_back(current);
        continue;
      }
      Set next = runs_[index].step(current, atoms_[atom].first);
      if (!whole_) next.push_back(patterns_[index]->start);
      sets.push_back(settle(runs_[index].closure(next, false, false)));
      dead = sets.back().empty();
    }
    std::size_t target = none;
    if (!dead) {
      const auto place = numbers_.find(sets);
      if (place != numbers_.end()) {
        target = place->second;
      } else if (accepting_.size() < max_automaton_states) {
        target = add_state(sets, false);
        numbers_.emplace(std::move(sets), target);
      }
    }
    transitions_[state][atom] = target;
    return target;
  }

  static constexpr std::size_t unknown = none - 1;

  std::vector<const Pattern*> patterns_;
  bool whole_;
  Budget& budget_;
  std::deque<PatternRun> runs_;
  std::vector<Atom> atoms_;
  std::vector<std::vector<Set>> sets_;
  std::vector<bool> accepting_;
  std::vector<std::vector<std::size_t>> transitions_;
  std::map<std::vector<Set>, std::size_t> numbers_;
};

// ---- Formats ------------------------------------------------------------------------------------------------------

enum class Format { any, date_time, date, time, duration, email, hostname, ipv4, ipv6, uuid, uri };

MOCK_GATEWAY_INLINE std::optional<Format> format_named(std::string_view name) {
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

MOCK_GATEWAY_INLINE bool is_digit(char character) { return character >= '0' && character <= '9'; }
MOCK_GATEWAY_INLINE bool is_letter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}
MOCK_GATEWAY_INLINE bool is_hex(char character) {
  return is_digit(character) || (character >= 'a' && character <= 'f') || (character >= 'A' && character <= 'F');
}
MOCK_GATEWAY_INLINE bool has_only(std::string_view subject, std::string_view characters) {
  return subject.find_first_not_of(characters) == std::string_view::npos;
}

/// The value of `count` digits at `offset`; empty when they are not there.
MOCK_GATEWAY_INLINE std::optional<int> digits_at(std::string_view subject, std::size_t offset, std::size_t count) {
  if (offset > subject.size() || subject.size() - offset < count) return std::nullopt;
  int value = 0;
  for (std::size_t index = offset; index < offset + count; ++index) {
    if (!is_digit(subject[index])) return std::nullopt;
    value = value * 10 + (subject[index] - '0');
  }
  return value;
}

MOCK_GATEWAY_INLINE bool is_date(std::string_view subject) {
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
MOCK_GATEWAY_INLINE bool is_time(std::string_view subject) {
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
MOCK_GATEWAY_INLINE bool is_duration(std::string_view subject) {
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

MOCK_GATEWAY_INLINE bool is_hostname(std::string_view subject) {
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

MOCK_GATEWAY_INLINE bool is_email(std::string_view subject) {
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

MOCK_GATEWAY_INLINE bool is_ipv4(std::string_view subject) {
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
MOCK_GATEWAY_INLINE bool is_ipv6(std::string_view subject) {
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

MOCK_GATEWAY_INLINE bool is_uuid(std::string_view subject) {
  if (subject.size() != 36) return false;
  for (std::size_t index = 0; index < subject.size(); ++index) {
    const bool hyphen = index == 8 || index == 13 || index == 18 || index == 23;
    if (hyphen ? subject[index] != '-' : !is_hex(subject[index])) return false;
  }
  return true;
}

/// A scheme, and then characters of RFC 3986 only; with "//", a host name and perhaps a port.
MOCK_GATEWAY_INLINE bool is_uri(std::string_view subject) {
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

/// Whether a text is of a format: `no` only when no reader would take it.
MOCK_GATEWAY_INLINE Verdict format_verdict(Format format, std::string_view subject) {
  const auto has = [subject](std::string_view part) { return subject.find(part) != std::string_view::npos; };
  bool strict = false;
  bool conceivable = false;
  switch (format) {
    case Format::any: return Verdict::yes;
    case Format::date_time:
      strict =
          subject.size() > 11 && is_date(subject.substr(0, 10)) && subject[10] == 'T' && is_time(subject.substr(11));
      conceivable = subject.size() >= 8 && is_digit(subject[0]) && is_digit(subject[7]);
      break;
    case Format::date:
      strict = is_date(subject);
      conceivable = subject.size() >= 7 && is_digit(subject[0]) && has_only(subject, "0123456789-+W");
      break;
    case Format::time:
      strict = is_time(subject);
      conceivable = subject.size() >= 4 && is_digit(subject[0]) && has(":");
      break;
    case Format::duration:
      strict = is_duration(subject);
      conceivable = subject.size() >= 2 && (subject[0] == 'P' || subject[1] == 'P' || subject[0] == 'p');
      break;
    case Format::email:
      strict = is_email(subject);
      conceivable = has("@");
      break;
    case Format::hostname:
      strict = is_hostname(subject);
      conceivable = !subject.empty() && subject.find_first_of(" @:/") == std::string_view::npos;
      break;
    case Format::ipv4:
      strict = is_ipv4(subject);
      conceivable = !subject.empty() && has_only(subject, "0123456789.xXabcdefABCDEF");
      break;
    case Format::ipv6:
      strict = is_ipv6(subject);
      conceivable = has(":");
      break;
    case Format::uuid:
      strict = is_uuid(subject);
      conceivable = subject.size() >= 32;
      break;
    case Format::uri:
      strict = is_uri(subject);
      conceivable = has(":");
      break;
  }
  return strict ? Verdict::yes : conceivable ? Verdict::unsure : Verdict::no;
}

MOCK_GATEWAY_INLINE std::string two_digits(std::uint64_t value) {
  return {static_cast<char>('0' + value / 10), static_cast<char>('0' + value % 10)};
}

MOCK_GATEWAY_INLINE std::string random_digits(std::size_t count, Random& random) {
  std::string digits;
  for (std::size_t index = 0; index < count; ++index) {
    digits.push_back(static_cast<char>('0' + (index == 0 ? 1 + random.below(9) : random.below(10))));
  }
  return digits;
}

MOCK_GATEWAY_INLINE std::string random_letters(std::size_t count, Random& random) {
  std::string letters;
  for (std::size_t index = 0; index < count; ++index) letters.push_back(static_cast<char>('a' + random.below(26)));
  return letters;
}

MOCK_GATEWAY_INLINE std::string random_hex(std::size_t count, Random& random) {
  std::string digits;
  for (std::size_t index = 0; index < count; ++index) digits.push_back("0123456789abcdef"[random.below(16)]);
  return digits;
}

// One random draw per statement below: the order in which the operands of one expression are evaluated is open, and the
// same seed must give the same text from every compiler.

/// Two digits below `bound`, added to `first`.
MOCK_GATEWAY_INLINE std::string random_pair(std::uint64_t first, std::uint64_t bound, Random& random) {
  return two_digits(first + random.below(bound));
}

MOCK_GATEWAY_INLINE std::string time_text(std::size_t length, Random& random) {
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

MOCK_GATEWAY_INLINE std::string date_text(Random& random) {
  std::string date = "20" + random_pair(0, 38, random);
  date += "-" + random_pair(1, 12, random);
  date += "-" + random_pair(1, 28, random);
  return date;
}

MOCK_GATEWAY_INLINE std::string duration_text(std::size_t length, Random& random) {
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
MOCK_GATEWAY_INLINE std::string hostname_text(std::size_t length, Random& random) {
  constexpr std::string_view ending = ".example.com";
  if (length == 0) return words::word(random) + std::string(ending);
  if (length > ending.size() && length - ending.size() <= 63) {
    return random_letters(length - ending.size(), random) + std::string(ending);
  }
  std::string name = random_letters(length, random);
  for (std::size_t dot = 60; dot + 2 < length; dot += 60) name[dot] = '.';
  return name;
}

/// A text of a format, of `length` characters where the format can have it; 0 for a usual one.
MOCK_GATEWAY_INLINE std::string format_text(Format format, std::size_t length, Random& random) {
  switch (format) {
    case Format::any: break;
    case Format::date_time: {
      const std::string date = date_text(random);
      return date + "T" + time_text(length > 11 ? length - 11 : 0, random);
    }
    case Format::date: return date_text(random);
    case Format::time: return time_text(length, random);
    case Format::duration: return duration_text(length, random);
    case Format::email: {
      const std::string first = length == 0 ? words::word(random) : random_letters(60, random);
      if (length == 0) return first + "." + words::word(random) + "@example.com";
      const std::string_view domain = length > 13 ? "@example.com" : "@e.co";
      const std::size_t local = length > domain.size() ? length - domain.size() : 1;
      if (local <= 64) return random_letters(local, random) + std::string(domain);
      return first + "@" + hostname_text(length - 61, random);
    }
    case Format::hostname: return hostname_text(length, random);
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
      if (length == 0) return "2001:db8::" + random_hex(4, random);
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
            address += random_hex(1, random);
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
      for (const std::size_t size : sizes) address += (address.empty() ? "" : ":") + random_hex(size, random);
      return address;
    }
    case Format::uuid: {
      std::string digits = random_hex(32, random);  // as RFC 9562's version 4
      digits[12] = '4';
      digits[16] = "89ab"[random.below(4)];
      for (const std::size_t hyphen : {20u, 16u, 12u, 8u}) digits.insert(hyphen, "-");
      return digits;
    }
    case Format::uri: {
      constexpr std::string_view base = "https://example.com/";
      if (length == 0) return std::string(base) + words::word(random);
      if (length > base.size()) return std::string(base) + random_letters(length - base.size(), random);
      if (length >= 9) return "http://" + random_letters(length - 7, random);
      return "a:" + random_letters(length > 2 ? length - 2 : 1, random);
    }
  }
  return {};
}

// ---- The schema, read once ----------------------------------------------------------------------------------------

enum TypeBit : unsigned {
  null_bit = 1,
  boolean_bit = 2,
  integer_bit = 4,
  fraction_bit = 8,  // numbers that need not be integers; "number" is both
  string_bit = 16,
  array_bit = 32,
  object_bit = 64,
  all_bits = 127
};

/// One subschema.
struct Node {
  const Json* json = nullptr;
  std::string path;
  std::size_t depth = 0;
  bool other_base = false;  // inside a subschema with an $id of its own

  bool never = false;
  unsigned types = all_bits;
  bool typed = false;
  unsigned hinted = 0;  // the types that the other keywords are about
  const Json* constant = nullptr;
  const Json* enumeration = nullptr;

  const Json* minimum = nullptr;
  const Json* maximum = nullptr;
  const Json* exclusive_minimum = nullptr;
  const Json* exclusive_maximum = nullptr;
  const Json* multiple_of = nullptr;

  std::size_t min_length = 0;
  std::size_t max_length = none;
  std::size_t pattern = none;
  Format format = Format::any;

  std::size_t min_items = 0;
  std::size_t max_items = none;
  bool unique_items = false;
  std::vector<std::size_t> prefix;
  std::size_t items = none;
  std::size_t contains = none;

  std::size_t min_properties = 0;
  std::size_t max_properties = none;
  std::vector<std::string> names;  // of `properties`, in their order
  std::map<std::string, std::size_t, std::less<>> properties;
  std::vector<std::pair<std::size_t, std::size_t>> pattern_properties;  // pattern, node
  std::size_t additional = none;
  std::size_t property_names = none;
  std::vector<std::string> required;
  std::map<std::string, std::vector<std::string>> dependents;

  std::vector<std::size_t> all_of;
  std::vector<std::size_t> any_of;
  std::vector<std::size_t> one_of;
  std::size_t negated = none;
  std::size_t reference = none;

  bool recursive = false;
  std::size_t component = none;           // subschemas that reach each other share one
  std::size_t height = unbounded_height;  // at least so many levels has every instance

  /// What applies to the same value as this one.
  std::vector<std::size_t> beside() const {
    std::vector<std::size_t> found = all_of;
    found.insert(found.end(), any_of.begin(), any_of.end());
    found.insert(found.end(), one_of.begin(), one_of.end());
    if (negated != none) found.push_back(negated);
    if (reference != none) found.push_back(reference);
    return found;
  }

  /// What applies to a part of the value.
  std::vector<std::size_t> below() const {
    std::vector<std::size_t> found = prefix;
    for (const auto& [name, node] : properties) found.push_back(node);
    for (const auto& [matcher, node] : pattern_properties) found.push_back(node);
    for (const std::size_t node : {items, contains, additional, property_names}) {
      if (node != none) found.push_back(node);
    }
    return found;
  }
};

MOCK_GATEWAY_INLINE std::string pointer_token(std::string_view key) {
  std::string token = "/";
  for (const char character : key) {
    if (character == '~') {
      token += "~0";
    } else if (character == '/') {
      token += "~1";
    } else {
      token += character;
    }
  }
  return token;
}

/// All subschemas that can be reached from the root, checked. The schema must outlive it.
class Program {
 public:
  explicit Program(const Json& root) : root_(root) {
    intern(root, "", 0, false);
    for (std::size_t index = 0; index < nodes_.size(); ++index) read(index);
    order_by_application();
    find_recursion();
    measure_heights();
  }

  const Node& node(std::size_t index) const { return nodes_[index]; }
  const Pattern& pattern(std::size_t index) const { return patterns_[index]; }

 private:
  std::size_t intern(const Json& schema, const std::string& path, std::size_t depth, bool other_base) {
    const auto known = index_.find(&schema);
    if (known != index_.end()) return known->second;
    if (!schema.is_object() && !schema.is_boolean()) {
      throw Unsupported{path, "A schema must be an object or a boolean, not " + quoted(schema) + "."};
    }
    if (depth > max_schema_depth) {
      throw Unsupported{path, "The schema is nested deeper than " + std::to_string(max_schema_depth) + " levels."};
    }
    if (nodes_.size() >= max_subschemas) {
      throw Unsupported{path, "The schema has more than " + std::to_string(max_subschemas) + " subschemas."};
    }
    Node node;
    node.json = &schema;
    node.path = path;
    node.depth = depth;
    node.other_base = other_base;
    nodes_.push_back(std::move(node));
    index_.emplace(&schema, nodes_.size() - 1);
    return nodes_.size() - 1;
  }

  std::size_t child(const Node& node, const Json& schema, const std::string& suffix) {
    return intern(schema, node.path + suffix, node.depth + 1, node.other_base);
  }

  std::vector<std::size_t> children(const Node& node, const std::string& key, const Json& list) {
    if (!list.is_array() || list.empty()) {
      throw Unsupported{node.path + "/" + key, "\"" + key + "\" must be an array of at least one schema."};
    }
    std::vector<std::size_t> found;
    for (std::size_t index = 0; index < list.size(); ++index) {
      found.push_back(child(node, list[index], "/" + key + "/" + std::to_string(index)));
    }
    return found;
  }

  static std::size_t size_of(const Node& node, const std::string& key, const Json& value) {
    const bool valid = value.is_number() && is_integer_value(value) && value.get<double>() >= 0;
    if (!valid) {
      throw Unsupported{node.path + "/" + key,
                        "\"" + key + "\" must be an integer of at least 0, not " + quoted(value) + "."};
    }
    constexpr double huge = 1e9;  // beyond every limit here
    return value.get<double>() >= huge ? static_cast<std::size_t>(huge) : value.get<std::size_t>();
  }

  static const Json* number_of(const Node& node, const std::string& key, const Json& value) {
    if (!value.is_number()) {
      throw Unsupported{node.path + "/" + key, "\"" + key + "\" must be a number, not " + quoted(value) + "."};
    }
    return &value;
  }

  static std::vector<std::string> strings_of(const std::string& path, const std::string& key, const Json& value) {
    std::vector<std::string> found;
    bool valid = value.is_array();
    for (std::size_t index = 0; valid && index < value.size(); ++index) {
      valid = value[index].is_string();
      if (valid) found.push_back(value[index].get<std::string>());
    }
    if (!valid) throw Unsupported{path, "\"" + key + "\" must be an array of strings, not " + quoted(value) + "."};
    return found;
  }

  static unsigned type_bits(const std::string& path, const Json& name) {
    if (name == "null") return null_bit;
    if (name == "boolean") return boolean_bit;
    if (name == "integer") return integer_bit;
    if (name == "number") return integer_bit | fraction_bit;
    if (name == "string") return string_bit;
    if (name == "array") return array_bit;
    if (name == "object") return object_bit;
    throw Unsupported{path, quoted(name) + " is not a type."};
  }

  std::size_t pattern_of(const std::string& path, const std::string& source) {
    const auto known = pattern_index_.find(source);
    if (known != pattern_index_.end()) return known->second;
    patterns_.push_back(PatternParser(source, path).parse());
    pattern_index_.emplace(source, patterns_.size() - 1);
    return patterns_.size() - 1;
  }

  void read(std::size_t index) {
    Node& node = nodes_[index];  // a deque's elements stay where they are
    if (node.json->is_boolean()) {
      node.never = !node.json->get<bool>();
      return;
    }
    const auto id = node.json->find("$id");
    const bool own_base = index != 0 && id != node.json->end() && id->is_string();
    if (own_base && id->get_ref<const std::string&>().substr(0, 1) != "#") node.other_base = true;
    for (auto item = node.json->begin(); item != node.json->end(); ++item) {
      const std::string& key = item.key();
      if (!read_general(node, key, *item) && !read_scalar(node, key, *item) && !read_array(node, key, *item) &&
          !read_object(node, key, *item)) {
        refuse_unsupported(node, key);
      }
    }
  }

  bool read_general(Node& node, const std::string& key, const Json& value) {
    const std::string path = node.path + pointer_token(key);
    if (key == "type") {
      unsigned bits = 0;
      if (value.is_array() && !value.empty()) {
        for (std::size_t index = 0; index < value.size(); ++index) {
          bits |= type_bits(path + "/" + std::to_string(index), value[index]);
        }
      } else if (value.is_string()) {
        bits = type_bits(path, value);
      } else {
        throw Unsupported{path, "\"type\" must be the name of a type or an array of them, not " + quoted(value) + "."};
      }
      node.types = bits;
      node.typed = true;
    } else if (key == "const" || key == "enum") {
      if (!within_depth(value, max_instance_depth)) throw Unsupported{path, "The value is nested too deeply."};
      if (key == "enum" && (!value.is_array() || value.empty())) {
        throw Unsupported{path, "\"enum\" must be an array of at least one value."};
      }
      (key == "const" ? node.constant : node.enumeration) = &value;
    } else if (key == "allOf") {
      node.all_of = children(node, key, value);
    } else if (key == "anyOf") {
      node.any_of = children(node, key, value);
    } else if (key == "oneOf") {
      node.one_of = children(node, key, value);
    } else if (key == "not") {
      node.negated = child(node, value, "/not");
    } else if (key == "$ref") {
      node.reference = resolve(node, path, value);
    } else if (key == "$defs" || key == "definitions") {
      if (!value.is_object()) throw Unsupported{path, "\"" + key + "\" must be an object, not " + quoted(value) + "."};
    } else {
      return false;
    }
    return true;
  }

  bool read_scalar(Node& node, const std::string& key, const Json& value) {
    const std::string path = node.path + pointer_token(key);
    if (key == "minimum") {
      node.minimum = number_of(node, key, value);
    } else if (key == "maximum") {
      node.maximum = number_of(node, key, value);
    } else if (key == "exclusiveMinimum") {
      node.exclusive_minimum = number_of(node, key, value);
    } else if (key == "exclusiveMaximum") {
      node.exclusive_maximum = number_of(node, key, value);
    } else if (key == "multipleOf") {
      node.multiple_of = number_of(node, key, value);
      if (value.get<double>() <= 0) throw Unsupported{path, "\"multipleOf\" must be greater than 0."};
    } else if (key == "minLength") {
      node.min_length = size_of(node, key, value);
      node.hinted |= string_bit;
      return true;
    } else if (key == "maxLength") {
      node.max_length = size_of(node, key, value);
      node.hinted |= string_bit;
      return true;
    } else if (key == "pattern") {
      if (!value.is_string()) throw Unsupported{path, "\"pattern\" must be a string, not " + quoted(value) + "."};
      node.pattern = pattern_of(path, value.get<std::string>());
      node.hinted |= string_bit;
      return true;
    } else if (key == "format") {
      if (!value.is_string()) throw Unsupported{path, "\"format\" must be a string, not " + quoted(value) + "."};
      const std::optional<Format> format = format_named(value.get_ref<const std::string&>());
      if (!format) throw Unsupported{path, "The format " + quoted(value) + " is not supported."};
      node.format = *format;
      node.hinted |= string_bit;
      return true;
    } else {
      return false;
    }
    node.hinted |= integer_bit | fraction_bit;
    return true;
  }

  bool read_array(Node& node, const std::string& key, const Json& value) {
    if (key == "minItems") {
      node.min_items = size_of(node, key, value);
      if (node.min_items > max_items) {
        throw Unsupported{node.path + "/minItems", "At most " + std::to_string(max_items) + " items can be asked for."};
      }
    } else if (key == "maxItems") {
      node.max_items = size_of(node, key, value);
    } else if (key == "uniqueItems") {
      if (!value.is_boolean()) throw Unsupported{node.path + "/uniqueItems", "\"uniqueItems\" must be a boolean."};
      node.unique_items = value.get<bool>();
    } else if (key == "prefixItems") {
      node.prefix = children(node, key, value);
    } else if (key == "items") {
      if (value.is_array()) {
        throw Unsupported{node.path + "/items", "\"items\" as an array is not supported; \"prefixItems\" is."};
      }
      node.items = child(node, value, "/items");
    } else if (key == "contains") {
      node.contains = child(node, value, "/contains");
    } else {
      return false;
    }
    node.hinted |= array_bit;
    return true;
  }

  bool read_object(Node& node, const std::string& key, const Json& value) {
    const std::string path = node.path + pointer_token(key);
    const auto need_object = [&] {
      if (!value.is_object()) throw Unsupported{path, "\"" + key + "\" must be an object, not " + quoted(value) + "."};
    };
    if (key == "properties") {
      need_object();
      for (auto item = value.begin(); item != value.end(); ++item) {
        const bool is_new =
            node.properties.emplace(item.key(), child(node, *item, "/properties" + pointer_token(item.key()))).second;
        if (is_new) node.names.push_back(item.key());
      }
    } else if (key == "patternProperties") {
      need_object();
      for (auto item = value.begin(); item != value.end(); ++item) {
        const std::string place = path + pointer_token(item.key());
        node.pattern_properties.emplace_back(pattern_of(place, item.key()),
                                             child(node, *item, "/patternProperties" + pointer_token(item.key())));
      }
    } else if (key == "additionalProperties") {
      node.additional = child(node, value, "/additionalProperties");
    } else if (key == "propertyNames") {
      node.property_names = child(node, value, "/propertyNames");
    } else if (key == "required") {
      node.required = strings_of(path, key, value);
    } else if (key == "dependentRequired") {
      need_object();
      for (auto item = value.begin(); item != value.end(); ++item) {
        node.dependents[item.key()] = strings_of(path + pointer_token(item.key()), item.key(), *item);
      }
    } else if (key == "minProperties") {
      node.min_properties = size_of(node, key, value);
    } else if (key == "maxProperties") {
      node.max_properties = size_of(node, key, value);
    } else {
      return false;
    }
    node.hinted |= object_bit;
    return true;
  }

  static void refuse_unsupported(const Node& node, const std::string& key) {
    constexpr std::string_view refused[] = {
        "if",
        "then",
        "else",
        "dependentSchemas",
        "dependencies",
        "unevaluatedProperties",
        "$dynamicRef",
        "minContains",
        "maxContains",
        "additionalItems",
        "contentMediaType",
        "unevaluatedItems",
        "$recursiveRef",
        "divisibleBy",
        "disallow",
        "extends",
        "contentEncoding",
        "contentSchema",
    };
    if (std::find(std::begin(refused), std::end(refused), key) != std::end(refused)) {
      throw Unsupported{node.path + pointer_token(key), "The keyword \"" + key + "\" is not supported."};
    }
  }

  /// An object finds its members one by one; many references into a large one need better.
  const Json* member_of(const Json& object, const std::string& name) {
    constexpr std::size_t large = 32;
    if (object.size() < large) {
      const auto member = object.find(name);
      return member == object.end() ? nullptr : &*member;
    }
    auto& members = members_[&object];
    if (members.empty()) {
      for (auto item = object.begin(); item != object.end(); ++item) members.emplace(item.key(), &*item);
    }
    const auto member = members.find(name);
    return member == members.end() ? nullptr : member->second;
  }

  std::size_t resolve(const Node& node, const std::string& path, const Json& value) {
    if (!value.is_string()) throw Unsupported{path, "\"$ref\" must be a string, not " + quoted(value) + "."};
    const auto& reference = value.get_ref<const std::string&>();
    if (reference.empty() || reference[0] != '#' || (reference.size() > 1 && reference[1] != '/')) {
      throw Unsupported{
          path, "Only references by JSON pointer into the same document are supported, not " + quoted(value) + "."};
    }
    if (node.other_base) throw Unsupported{path, "References below a nested \"$id\" are not supported."};
    const auto unresolved = [&](const std::string& why) {
      return Unsupported{path, "The reference " + quoted(value) + " does not resolve: " + why + "."};
    };
    const std::optional<std::string> pointer = text::percent_decode(std::string_view(reference).substr(1));
    if (!pointer) throw unresolved("a percent escape is malformed");
    const Json* target = &root_;
    std::string target_path;
    std::size_t depth = 0;
    bool other_base = false;
    for (std::size_t start = 1; start <= pointer->size();) {
      const std::size_t end = std::min(pointer->find('/', start), pointer->size());
      const std::string_view raw = std::string_view(*pointer).substr(start, end - start);
      start = end + 1;
      std::string token;
      for (std::size_t index = 0; index < raw.size(); ++index) {
        if (raw[index] != '~') {
          token += raw[index];
          continue;
        }
        const char escape = index + 1 < raw.size() ? raw[++index] : ' ';
        if (escape != '0' && escape != '1') throw unresolved("'~' must be followed by 0 or 1");
        token += escape == '0' ? '~' : '/';
      }
      const Json* next = nullptr;
      if (target->is_object()) {
        next = member_of(*target, token);
      } else if (target->is_array()) {
        const bool is_index =
            !token.empty() && token.size() <= 9 && has_only(token, "0123456789") && (token == "0" || token[0] != '0');
        const std::size_t index = is_index ? static_cast<std::size_t>(std::stoul(token)) : none;
        if (index < target->size()) next = &(*target)[index];
      }
      if (next == nullptr) throw unresolved("there is no " + quoted(Json(token)));
      target = next;
      target_path += pointer_token(token);
      ++depth;
      if (start <= pointer->size() && target->is_object()) {
        const Json* id = member_of(*target, "$id");
        if (id != nullptr && id->is_string()) other_base = true;
      }
    }
    return intern(*target, target_path, depth, other_base);
  }

  /// Orders the nodes so that what applies to the same value comes after what applies it, and refuses circles.
  void order_by_application() {
    std::vector<std::size_t> waiting(nodes_.size(), 0);
    std::vector<std::size_t> chain(nodes_.size(), 0);
    for (const Node& node : nodes_) {
      for (const std::size_t other : node.beside()) ++waiting[other];
    }
    for (std::size_t index = 0; index < nodes_.size(); ++index) {
      if (waiting[index] == 0) order_.push_back(index);
    }
    for (std::size_t place = 0; place < order_.size(); ++place) {
      const std::size_t index = order_[place];
      if (chain[index] > max_chain) {
        throw Unsupported{nodes_[index].path,
                          "More than " + std::to_string(max_chain) + " subschemas apply to one value through another."};
      }
      for (const std::size_t other : nodes_[index].beside()) {
        chain[other] = std::max(chain[other], chain[index] + 1);
        if (--waiting[other] == 0) order_.push_back(other);
      }
    }
    for (std::size_t index = 0; index < nodes_.size(); ++index) {
      const std::size_t target = nodes_[index].reference;
      if (target != none && waiting[index] != 0 && waiting[target] != 0) {
        throw Unsupported{nodes_[index].path + "/$ref", "The reference leads back to itself without reading a value."};
      }
    }
  }

  std::vector<std::size_t> successors(std::size_t index) const {
    std::vector<std::size_t> all = nodes_[index].beside();
    const std::vector<std::size_t> parts = nodes_[index].below();
    all.insert(all.end(), parts.begin(), parts.end());
    return all;
  }

  /// Kosaraju's algorithm, without recursion.
  void find_recursion() {
    std::vector<std::vector<std::size_t>> forward(nodes_.size());
    std::vector<std::vector<std::size_t>> backward(nodes_.size());
    for (std::size_t index = 0; index < nodes_.size(); ++index) {
      forward[index] = successors(index);
      for (const std::size_t other : forward[index]) {
        backward[other].push_back(index);
        if (other == index) nodes_[index].recursive = true;
      }
    }
    std::vector<std::size_t> finished;
    std::vector<bool> seen(nodes_.size(), false);
    std::vector<std::pair<std::size_t, std::size_t>> open;  // node, its next successor
    for (std::size_t root = 0; root < nodes_.size(); ++root) {
      if (seen[root]) continue;
      seen[root] = true;
      open.emplace_back(root, 0);
      while (!open.empty()) {
        const std::size_t index = open.back().first;
        if (open.back().second == forward[index].size()) {
          finished.push_back(index);
          open.pop_back();
          continue;
        }
        const std::size_t next = forward[index][open.back().second++];
        if (seen[next]) continue;
        seen[next] = true;
        open.emplace_back(next, 0);
      }
    }
    std::vector<std::size_t> pending;
    for (std::size_t place = finished.size(); place-- > 0;) {
      const std::size_t root = finished[place];
      if (nodes_[root].component != none) continue;
      std::vector<std::size_t> members;
      nodes_[root].component = root;
      pending.push_back(root);
      while (!pending.empty()) {
        const std::size_t index = pending.back();
        pending.pop_back();
        members.push_back(index);
        for (const std::size_t before : backward[index]) {
          if (nodes_[before].component != none) continue;
          nodes_[before].component = root;
          pending.push_back(before);
        }
      }
      for (const std::size_t member : members) {
        if (members.size() > 1) nodes_[member].recursive = true;
      }
    }
  }

  std::size_t height_of(const Node& node) const {
    if (node.never) return unbounded_height;
    if (node.constant != nullptr || node.enumeration != nullptr) return 0;
    std::size_t height = 0;
    const auto raise = [&height](std::size_t other) { height = std::max(height, other); };
    for (const std::size_t part : node.all_of) raise(nodes_[part].height);
    if (node.reference != none) raise(nodes_[node.reference].height);
    for (const std::vector<std::size_t>* choice : {&node.any_of, &node.one_of}) {
      std::size_t least = choice->empty() ? 0 : unbounded_height;
      for (const std::size_t part : *choice) least = std::min(least, nodes_[part].height);
      raise(least);
    }
    if ((node.types & ~static_cast<unsigned>(array_bit | object_bit)) != 0) return height;
    std::size_t parts = unbounded_height;
    if ((node.types & object_bit) != 0) {
      std::size_t tallest = 0;
      for (const std::string& name : node.required) {
        const auto property = node.properties.find(name);
        if (property != node.properties.end()) tallest = std::max(tallest, nodes_[property->second].height + 1);
      }
      parts = std::min(parts, tallest);
    }
    if ((node.types & array_bit) != 0) {
      std::size_t tallest = 0;
      for (std::size_t index = 0; index < std::min(node.min_items, node.prefix.size()); ++index) {
        tallest = std::max(tallest, nodes_[node.prefix[index]].height + 1);
      }
      if (node.min_items > node.prefix.size() && node.items != none) {
        tallest = std::max(tallest, nodes_[node.items].height + 1);
      }
      parts = std::min(parts, tallest);
    }
    raise(parts);
    return std::min(height, unbounded_height);
  }

  /// Heights only sink from "endless": what keeps it has no finite instance. Each pass settles one more level.
  void measure_heights() {
    for (std::size_t pass = 0; pass <= max_instance_depth + 1; ++pass) {
      bool changed = false;
      for (std::size_t place = order_.size(); place-- > 0;) {
        Node& node = nodes_[order_[place]];
        const std::size_t height = height_of(node);
        if (height != node.height) node.height = height, changed = true;
      }
      if (!changed) break;
    }
  }

  const Json& root_;
  std::deque<Node> nodes_;
  std::unordered_map<const Json*, std::size_t> index_;
  std::unordered_map<const Json*, std::unordered_map<std::string, const Json*>> members_;
  std::deque<Pattern> patterns_;
  std::unordered_map<std::string, std::size_t> pattern_index_;
  std::vector<std::size_t> order_;
};

// ---- Checking a value ---------------------------------------------------------------------------------------------

class Checker {
 public:
  Checker(const Program& program, Budget& budget) : program_(program), budget_(budget) {}

  Verdict verdict(std::size_t index, const Json& value) {
    const Frame frame(budget_);
    budget_.spend(1);
    const Node& node = program_.node(index);
    if (node.never) return Verdict::no;
    if ((type_of(value) & node.types) == 0) return Verdict::no;
    Verdict all = value_verdict(node, value);
    if (all != Verdict::no && node.reference != none) all = std::min(all, verdict(node.reference, value));
    for (const std::size_t part : node.all_of) {
      if (all == Verdict::no) return all;
      all = std::min(all, verdict(part, value));
    }
    if (all != Verdict::no && !node.any_of.empty()) all = std::min(all, any_verdict(node, value));
    if (all != Verdict::no && !node.one_of.empty()) all = std::min(all, one_verdict(node, value));
    if (all != Verdict::no && node.negated != none) all = std::min(all, negation(verdict(node.negated, value)));
    if (all == Verdict::no) return all;
    if (value.is_number()) all = std::min(all, number_verdict(node, value));
    if (value.is_string()) all = std::min(all, string_verdict(node, value.get_ref<const std::string&>()));
    if (value.is_array()) all = std::min(all, array_verdict(node, value));
    if (value.is_object()) all = std::min(all, object_verdict(node, value));
    return all;
  }

  Verdict number_verdict(const Node& node, const Json& value) {
    Verdict all = Verdict::yes;
    const Span span = Span::of(value);
    const auto bound = [&](const Json* limit, bool upper, bool exclusive) {
      if (limit == nullptr || all == Verdict::no) return;
      const Span edge = Span::of(*limit);
      if (upper) {
        const Span mirrored{span.high.negated(), span.low.negated(), span.exact};
        all = std::min(all, at_least(mirrored, Span{edge.high.negated(), edge.low.negated(), edge.exact}, exclusive));
      } else {
        all = std::min(all, at_least(span, edge, exclusive));
      }
    };
    bound(node.minimum, false, false);
    bound(node.exclusive_minimum, false, true);
    bound(node.maximum, true, false);
    bound(node.exclusive_maximum, true, true);
    if (node.multiple_of != nullptr) all = std::min(all, is_multiple(value, *node.multiple_of));
    return all;
  }

  Verdict string_verdict(const Node& node, const std::string& value) {
    if (node.min_length > 0 || node.max_length != none) {
      budget_.spend(value.size() / 8);
      const std::size_t length = text::code_points(value);
      if (length < node.min_length || length > node.max_length) return Verdict::no;
    }
    if (node.pattern != none && !matches(node.pattern, value)) return Verdict::no;
    return format_verdict(node.format, value);
  }

  bool matches(std::size_t pattern, std::string_view value) {
    return PatternRun(program_.pattern(pattern), budget_).search(value);
  }

 private:
  static unsigned type_of(const Json& value) {
    if (value.is_null()) return null_bit;
    if (value.is_boolean()) return boolean_bit;
    if (value.is_number()) return is_integer_value(value) ? integer_bit : fraction_bit;
    if (value.is_string()) return string_bit;
    return value.is_array() ? array_bit : object_bit;
  }

  Verdict value_verdict(const Node& node, const Json& value) {
    Verdict all = Verdict::yes;
    if (node.constant != nullptr) all = equal(*node.constant, value);
    if (node.enumeration != nullptr && all != Verdict::no) {
      Verdict any = Verdict::no;
      budget_.spend(node.enumeration->size() / 8);
      for (const Json& candidate : *node.enumeration) {
        any = std::max(any, equal(candidate, value));
        if (any == Verdict::yes) break;
      }
      all = std::min(all, any);
    }
    return all;
  }

  Verdict any_verdict(const Node& node, const Json& value) {
    Verdict any = Verdict::no;
    for (const std::size_t part : node.any_of) {
      any = std::max(any, verdict(part, value));
      if (any == Verdict::yes) break;
    }
    return any;
  }

  Verdict one_verdict(const Node& node, const Json& value) {
    std::size_t certain = 0;
    std::size_t possible = 0;
    for (const std::size_t part : node.one_of) {
      const Verdict one = verdict(part, value);
      if (one == Verdict::yes) ++certain;
      if (one != Verdict::no) ++possible;
      if (certain > 1) return Verdict::no;
    }
    if (possible == 0) return Verdict::no;
    return certain == 1 && possible == 1 ? Verdict::yes : Verdict::unsure;
  }

  Verdict array_verdict(const Node& node, const Json& value) {
    if (value.size() < node.min_items || value.size() > node.max_items) return Verdict::no;
    Verdict all = Verdict::yes;
    for (std::size_t index = 0; index < value.size() && all != Verdict::no; ++index) {
      const std::size_t part = index < node.prefix.size() ? node.prefix[index] : node.items;
      if (part != none) all = std::min(all, verdict(part, value[index]));
    }
    if (all != Verdict::no && node.contains != none) {
      Verdict any = Verdict::no;
      for (std::size_t index = 0; index < value.size() && any != Verdict::yes; ++index) {
        any = std::max(any, verdict(node.contains, value[index]));
      }
      all = std::min(all, any);
    }
    if (all != Verdict::no && node.unique_items) {
      std::unordered_set<std::string> seen;
      for (const Json& item : value) {
        budget_.spend(4);
        if (!seen.insert(canonical(item)).second) return Verdict::no;
      }
    }
    return all;
  }

  Verdict object_verdict(const Node& node, const Json& value) {
    if (value.size() < node.min_properties || value.size() > node.max_properties) return Verdict::no;
    for (const std::string& name : node.required) {
      budget_.spend(value.size() / 16);
      if (!value.contains(name)) return Verdict::no;
    }
    for (const auto& [name, others] : node.dependents) {
      if (!value.contains(name)) continue;
      for (const std::string& other : others) {
        if (!value.contains(other)) return Verdict::no;
      }
    }
    Verdict all = Verdict::yes;
    for (auto item = value.begin(); item != value.end() && all != Verdict::no; ++item) {
      bool known = false;
      const auto property = node.properties.find(item.key());
      if (property != node.properties.end()) {
        known = true;
        all = std::min(all, verdict(property->second, *item));
      }
      for (const auto& [matcher, part] : node.pattern_properties) {
        if (all == Verdict::no || !matches(matcher, item.key())) continue;
        known = true;
        all = std::min(all, verdict(part, *item));
      }
      if (!known && node.additional != none) all = std::min(all, verdict(node.additional, *item));
      if (node.property_names != none) all = std::min(all, verdict(node.property_names, Json(item.key())));
    }
    return all;
  }

  const Program& program_;
  Budget& budget_;
};

// ---- Making an instance -------------------------------------------------------------------------------------------

/// Values that are taken, in canonical form.
using Taken = std::unordered_set<std::string>;

/// All subschemas that one value must satisfy.
struct Demand {
  std::vector<std::size_t> nodes;
  std::vector<std::size_t> negated;
  std::vector<std::pair<std::size_t, bool>> choices;  // node, true for its oneOf: alternatives still to be chosen
  unsigned types = all_bits;
  bool never = false;
  std::size_t pattern = none;  // of a property's name, beside what the subschemas say
};

class Maker {
 public:
  Maker(const Program& program, Budget& budget, Random& random)
      : program_(program), budget_(budget), checker_(program, budget), random_(random) {}

  Json root() {
    if (program_.node(0).height > max_instance_depth) {
      throw Unsupported{"", program_.node(0).height >= unbounded_height
                                ? "No instance exists: the schema is contradictory or requires itself without end."
                                : "Every instance is nested too deeply."};
    }
    std::optional<Json> value = make({0}, nullptr, 0, all_bits);
    if (!value) throw Unsupported{failure_path_, failure_};
    if (checker_.verdict(0, *value) != Verdict::yes) {
      throw Unsupported{"", "No instance was found that the schema certainly accepts."};
    }
    return std::move(*value);
  }

 private:
  std::nullopt_t fail(const Demand& demand, const std::string& keyword, std::string reason) {
    failure_path_ = (demand.nodes.empty() ? std::string() : program_.node(demand.nodes.front()).path) + keyword;
    failure_ = std::move(reason);
    return std::nullopt;
  }
  std::nullopt_t fail_at(std::size_t node, const std::string& keyword, std::string reason) {
    failure_path_ = program_.node(node).path + keyword;
    failure_ = std::move(reason);
    return std::nullopt;
  }

  void count_output(std::size_t characters) {
    constexpr std::size_t value_size = 16;  // what a value takes at least, in memory rather than as text
    ++output_;
    output_size_ += value_size + characters;
    if (output_size_ > max_output) throw Unsupported{"", "The smallest instance is too large."};
  }

  /// Adds a subschema and all that it applies to the same value.
  void expand(Demand& demand, std::size_t start) {
    std::vector<std::size_t> pending{start};
    while (!pending.empty()) {
      const std::size_t index = pending.back();
      pending.pop_back();
      budget_.spend(1 + demand.nodes.size() / 8);
      if (std::find(demand.nodes.begin(), demand.nodes.end(), index) != demand.nodes.end()) continue;
      demand.nodes.push_back(index);
      const Node& node = program_.node(index);
      demand.types &= node.types;
      if (node.never || node.height > max_instance_depth) demand.never = true;
      if (node.reference != none) pending.push_back(node.reference);
      pending.insert(pending.end(), node.all_of.rbegin(), node.all_of.rend());
      if (!node.any_of.empty()) demand.choices.emplace_back(index, false);
      if (!node.one_of.empty()) demand.choices.emplace_back(index, true);
      if (node.negated != none) forbid(demand, node.negated);
    }
  }

  void forbid(Demand& demand, std::size_t index) {
    demand.negated.push_back(index);
    const Node& node = program_.node(index);
    if (node.negated != none && node.json->size() == 1) expand(demand, node.negated);
    if (!node.json->is_object() || !node.typed || node.json->size() != 1) return;
    unsigned types = node.types;
    if ((types & fraction_bit) == 0 && (demand.types & fraction_bit) != 0) types &= ~static_cast<unsigned>(integer_bit);
    demand.types &= ~types;
  }

  std::optional<Json> make(const std::vector<std::size_t>& nodes, const Taken* taken, std::size_t depth,
                           unsigned types) {
    Demand demand;
    demand.types = types;
    for (const std::size_t node : nodes) expand(demand, node);
    if (depth > max_instance_depth) {
      return fail(demand, "",
                  "Every instance is nested deeper than " + std::to_string(max_instance_depth) + " levels.");
    }
    return choose(demand, taken, depth);
  }

  /// Settles one anyOf or oneOf after another, then makes a value.
  std::optional<Json> choose(const Demand& demand, const Taken* taken, std::size_t depth) {
    const Frame frame(budget_);
    budget_.spend(10);
    if (demand.never) return fail(demand, "", "Nothing satisfies a schema that is false or endless.");
    if (demand.types == 0) return fail(demand, "", "No type satisfies all subschemas that apply.");
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      if (node.constant != nullptr || node.enumeration != nullptr) return listed(demand, node, taken);
    }
    if (demand.choices.empty()) return typed(demand, taken, depth);
    const auto [index, exactly_one] = demand.choices.front();
    const Node& node = program_.node(index);
    for (const std::size_t chosen : ordered(node, exactly_one ? node.one_of : node.any_of, depth)) {
      Demand next = demand;
      next.choices.erase(next.choices.begin());
      expand(next, chosen);
      if (exactly_one) {
        for (const std::size_t other : node.one_of) {
          if (other != chosen) forbid(next, other);
        }
      }
      if (std::optional<Json> value = choose(next, taken, depth)) return value;
    }
    return fail_at(index, exactly_one ? "/oneOf" : "/anyOf",
                   exactly_one ? "No instance was found that satisfies exactly one alternative."
                               : "No instance was found that satisfies any alternative.");
  }

  /// Alternatives, likeliest first: recursion ends early, null comes last more often than not.
  std::vector<std::size_t> ordered(const Node& owner, const std::vector<std::size_t>& alternatives, std::size_t depth) {
    std::vector<std::size_t> order = alternatives;
    for (std::size_t index = order.size(); index > 1; --index) std::swap(order[index - 1], order[random_.below(index)]);
    if (random_.below(4) != 0) {
      std::stable_partition(order.begin(), order.end(),
                            [this](std::size_t node) { return program_.node(node).types != null_bit; });
    }
    if (depth >= relaxed_depth || output_ > generous_values) {
      std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        const auto rank = [&](std::size_t node) {
          return std::make_pair(is_recursion(owner, node), program_.node(node).height);
        };
        return rank(left) < rank(right);
      });
    }
    return order;
  }

  bool is_recursion(const Node& owner, std::size_t part) const {
    return owner.recursive && owner.component == program_.node(part).component;
  }

  bool is_recursion(const Demand& demand, const std::vector<std::size_t>& parts) const {
    for (const std::size_t part : parts) {
      for (const std::size_t owner : demand.nodes) {
        if (is_recursion(program_.node(owner), part)) return true;
      }
    }
    return false;
  }

  /// Whether a value that fits its type is none of those excluded.
  bool is_free(const Demand& demand, const Taken* taken, const Json& value) {
    if (taken != nullptr && taken->count(canonical(value)) != 0) return false;
    for (const std::size_t node : demand.negated) {
      if (checker_.verdict(node, value) != Verdict::no) return false;
    }
    return true;
  }

  std::optional<Json> listed(const Demand& demand, const Node& node, const Taken* taken) {
    std::vector<const Json*> candidates;
    if (node.constant != nullptr) {
      candidates.push_back(node.constant);
    } else {
      for (const Json& value : *node.enumeration) candidates.push_back(&value);
    }
    std::vector<std::string>& keys = listed_[&node];  // many unique items from one long list must not take forever
    if (taken != nullptr && keys.empty()) {
      for (const Json* candidate : candidates) keys.push_back(canonical(*candidate));
    }
    const std::size_t first = static_cast<std::size_t>(random_.below(candidates.size()));
    for (std::size_t index = 0; index < candidates.size(); ++index) {
      const std::size_t choice = (first + index) % candidates.size();
      budget_.spend(1);
      if (taken != nullptr && taken->count(keys[choice]) != 0) continue;
      const Json& value = *candidates[choice];
      bool fits = is_free(demand, nullptr, value);
      for (std::size_t place = 0; place < demand.nodes.size() && fits; ++place) {
        fits = checker_.verdict(demand.nodes[place], value) == Verdict::yes;
      }
      if (!fits) continue;
      count_output(value.size());
      return value;
    }
    failure_path_ = node.path + (node.constant != nullptr ? "/const" : "/enum");
    failure_ = "None of the values certainly satisfies all that applies to it.";
    return std::nullopt;
  }

  std::vector<unsigned> type_order(const Demand& demand, std::size_t depth) {
    constexpr unsigned kinds[] = {string_bit, integer_bit | fraction_bit, boolean_bit, array_bit, object_bit, null_bit};
    bool stated = false;
    bool recursive = false;
    unsigned hinted = 0;
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      stated = stated || node.typed;
      recursive = recursive || node.recursive;
      hinted |= node.hinted;
    }
    std::vector<unsigned> order;
    for (const unsigned kind : kinds) {
      if ((demand.types & kind) != 0) order.push_back(kind);
    }
    if (stated) {
      for (std::size_t index = order.size(); index > 1; --index)
        std::swap(order[index - 1], order[random_.below(index)]);
      if (random_.below(4) != 0) {
        std::stable_partition(order.begin(), order.end(), [](unsigned kind) { return kind != null_bit; });
      }
    } else {
      std::stable_partition(order.begin(), order.end(), [hinted](unsigned kind) { return (kind & hinted) != 0; });
    }
    if (recursive && (depth >= relaxed_depth || output_ > generous_values)) {
      std::stable_partition(order.begin(), order.end(),
                            [](unsigned kind) { return kind != array_bit && kind != object_bit; });
    }
    return order;
  }

  std::optional<Json> typed(const Demand& demand, const Taken* taken, std::size_t depth) {
    constexpr std::size_t generous_attempts = 60;
    const bool picky = !demand.negated.empty() || taken != nullptr;
    for (const unsigned kind : type_order(demand, depth)) {
      for (std::size_t attempt = 0; attempt < (picky ? generous_attempts : 1); ++attempt) {
        std::optional<Json> value;
        switch (kind) {
          case null_bit: value = Json(nullptr); break;
          case boolean_bit: value = Json((random_.below(2) == 0) != (attempt % 2 == 0)); break;
          case string_bit: value = string(demand, attempt); break;
          case array_bit: value = array(demand, depth, attempt); break;
          case object_bit: value = object(demand, depth, attempt); break;
          default: value = number(demand, taken);
        }
        if (!value) break;
        if (picky && !is_free(demand, taken, *value)) {
          fail(demand, "",
               taken != nullptr ? "No further value was found that is different from the others."
                                : "No instance was found that what it must not be does not match.");
          if (kind == null_bit) break;
          continue;
        }
        count_output(value->is_string() ? value->get_ref<const std::string&>().size() : 0);
        return value;
      }
    }
    return std::nullopt;
  }

  // -- numbers

  std::optional<Json> number(const Demand& demand, const Taken* taken) {
    const bool integer = (demand.types & fraction_bit) == 0;
    std::optional<Decimal> low;
    std::optional<Decimal> high;
    std::optional<Decimal> step;
    bool multiples = false;
    bool hopeless = false;
    std::vector<Json> candidates;  // beside those on the grid of the step
    if (integer) step = Decimal::power_of_ten(0);
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      for (const Json* bound : {node.minimum, node.exclusive_minimum}) {
        if (bound == nullptr) continue;
        const Decimal edge = Span::of(*bound).high;
        if (!low || low->compare(edge) < 0) low = edge;
        add_neighbours(candidates, *bound, std::numeric_limits<double>::max());
      }
      for (const Json* bound : {node.maximum, node.exclusive_maximum}) {
        if (bound == nullptr) continue;
        const Decimal edge = Span::of(*bound).low;
        if (!high || high->compare(edge) > 0) high = edge;
        add_neighbours(candidates, *bound, std::numeric_limits<double>::lowest());
      }
      if (node.multiple_of != nullptr && !hopeless) {
        multiples = true;
        const Decimal unit = Decimal::of(*node.multiple_of);
        step = step ? common_multiple(*step, unit) : unit;
        hopeless = !step;
      }
    }
    // Beyond 64 bits only doubles are left, and readers disagree on what they are multiples of.
    const bool beyond = (low && low->magnitude() > 20) || (high && high->is_negative() && high->magnitude() > 20);
    hopeless = hopeless || (multiples && beyond);
    candidates.emplace_back(0);
    for (const std::size_t index : demand.negated) {  // just outside of what must not be
      const Node& node = program_.node(index);
      for (const Json* bound : {node.minimum, node.maximum, node.exclusive_minimum, node.exclusive_maximum}) {
        if (bound == nullptr) continue;
        for (const char* const step_out : {"-1", "0", "1"}) {
          if (std::optional<Json> value = to_json(Decimal::of(*bound).plus(Decimal(step_out))))
            candidates.push_back(*value);
        }
      }
    }
    if (low && high) {
      if (const std::optional<Json> middle = to_json(low->plus(*high).times(Decimal("0.5"))))
        candidates.push_back(*middle);
    }
    const auto fits = [&](const Json& value) {
      budget_.spend(20);
      if (!value.is_number() || (integer && !is_integer_value(value))) return false;
      for (const std::size_t index : demand.nodes) {
        if (checker_.number_verdict(program_.node(index), value) != Verdict::yes) return false;
      }
      return is_free(demand, taken, value);
    };
    if (!hopeless) {
      if (!step) step = Decimal::power_of_ten(fraction_exponent(low, high));
      if (std::optional<Json> value =
              on_grid(*step, low, high, multiples, taken == nullptr ? 0 : taken->size(), fits)) {
        return value;
      }
    }
    for (const Json& candidate : candidates) {
      if (fits(candidate)) return candidate;
    }
    return fail(demand, "", "No number was found that satisfies all bounds.");
  }

  /// A bound and the next doubles on the allowed side. The second is certain even where the bound is not exact.
  static void add_neighbours(std::vector<Json>& candidates, const Json& bound, double towards) {
    candidates.push_back(bound);
    const double next = std::nextafter(bound.get<double>(), towards);
    candidates.emplace_back(next);
    candidates.emplace_back(std::nextafter(next, towards));
  }

  /// Steps of tenths, or as small as the bounds make necessary.
  static int fraction_exponent(const std::optional<Decimal>& low, const std::optional<Decimal>& high) {
    if (!low || !high) return -1;
    const Decimal width = high->plus(low->negated());
    return width.is_zero() ? -1 : std::min(-1, width.magnitude() - 2);
  }

  /// A multiple of the step between the bounds, near zero where possible.
  template <typename Fits>
  std::optional<Json> on_grid(const Decimal& step, const std::optional<Decimal>& low,
                              const std::optional<Decimal>& high, bool exact, std::size_t taken, const Fits& fits) {
    const Decimal window(std::to_string(100 + 4 * taken));
    std::optional<Decimal> least;
    std::optional<Decimal> most;
    if (low) least = low->ceiling_over(step);
    if (high) most = high->floor_over(step);
    if (least && most && least->compare(*most) > 0) return std::nullopt;
    Decimal base;
    if (least && base.compare(*least) < 0) base = *least;
    if (most && base.compare(*most) > 0) base = *most;
    Decimal top = base.plus(window);
    if (most && top.compare(*most) > 0) {
      top = *most;
      base = top.plus(window.negated());
      if (least && base.compare(*least) < 0) base = *least;
    }
    const Decimal width = top.plus(base.negated());
    const std::size_t choices = static_cast<std::size_t>(std::stoul(width.is_zero() ? "0" : width.scaled(0))) + 1;
    constexpr std::size_t draws = 20;  // at random first, then one after another: those taken lie close together
    const std::size_t first = static_cast<std::size_t>(random_.below(choices));
    for (std::size_t index = 0; index < draws + choices; ++index) {
      const std::size_t offset =
          index < draws ? static_cast<std::size_t>(random_.below(choices)) : (first + index) % choices;
      const Decimal wanted = base.plus(Decimal(std::to_string(offset))).times(step);
      budget_.spend(1 + wanted.digits().size());
      std::optional<Json> value = to_json(wanted);
      if (!value || (exact && Decimal::of(*value).compare(wanted) != 0)) continue;
      if (fits(*value)) return value;
    }
    return std::nullopt;
  }

  // -- strings

  std::optional<Json> string(const Demand& demand, std::size_t attempt) {
    std::size_t least = 0;
    std::size_t most = none;
    std::vector<const Pattern*> patterns;
    bool formatted = false;
    if (demand.pattern != none) patterns.push_back(&program_.pattern(demand.pattern));
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      least = std::max(least, node.min_length);
      most = std::min(most, node.max_length);
      formatted = formatted || node.format != Format::any;
      if (node.pattern == none) continue;
      const Pattern* pattern = &program_.pattern(node.pattern);
      if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) patterns.push_back(pattern);
    }
    if (least > most) return fail(demand, "", "The least length is above the greatest.");
    if (least > max_characters) {
      return fail(demand, "", "At most " + std::to_string(max_characters) + " characters can be asked for.");
    }
    if (formatted) return formatted_string(demand, patterns, least, most);
    if (patterns.empty()) return Json(plain_string(least, most, attempt));
    std::optional<std::string> made = matching(patterns, least, most, attempt);
    if (!made) return fail(demand, "", "No text was found that matches all patterns with a length that is allowed.");
    return Json(std::move(*made));
  }

  std::string plain_string(std::size_t least, std::size_t most, std::size_t attempt) {
    if (attempt % 2 == 1) {  // words alone run out: there are few short ones
      const std::size_t longest = std::min(most, std::max<std::size_t>(least, 8));
      return random_.alphanumeric(least + static_cast<std::size_t>(random_.below(longest - least + 1)));
    }
    if (attempt % 4 == 2 && most < 4) {  // nor are there many short texts of letters and digits
      std::string made(std::max<std::size_t>(least, most), ' ');
      for (char& character : made) character = static_cast<char>('!' + random_.below('~' - '!' + 1));
      return made;
    }
    const std::size_t count = 1 + static_cast<std::size_t>(random_.below(3)) + attempt / 8;
    std::string made = words::word(random_);
    for (std::size_t index = 1; index < count || made.size() < least; ++index) made += " " + words::word(random_);
    const std::size_t longest = std::min(most, std::max<std::size_t>(least, 40));
    if (made.size() > longest) {
      const std::size_t space = made.rfind(' ', longest);
      made.resize(space != std::string::npos && space >= least && space > 0 ? space : longest);
    }
    if (!made.empty() && made.back() == ' ') made.back() = 's';
    return made;
  }

  /// Whole matches in printable ASCII look best; the rest is for patterns that cannot have them.
  std::optional<std::string> matching(const std::vector<const Pattern*>& patterns, std::size_t least, std::size_t most,
                                      std::size_t attempt) {
    const std::size_t spare = 6 + attempt;
    const bool whole_first = attempt % 3 != 2;  // the whole matches may be few
    for (const bool plain : {true, false}) {
      for (const bool whole : {whole_first, !whole_first}) {
        const auto key = std::make_pair(patterns, std::make_pair(plain, whole));
        auto walk = walks_.find(key);
        if (walk == walks_.end()) walk = walks_.try_emplace(key, patterns, whole, plain, budget_).first;
        std::optional<std::string> made = walk->second.text_of(least, most, whole ? spare : attempt, random_);
        if (made) return made;
      }
    }
    return std::nullopt;
  }

  std::optional<Json> formatted_string(const Demand& demand, const std::vector<const Pattern*>& patterns,
                                       std::size_t least, std::size_t most) {
    constexpr std::size_t attempts = 60;
    constexpr std::size_t longest_format = 260;
    const auto fits = [&](const std::string& candidate) {
      for (const std::size_t index : demand.nodes) {
        if (checker_.string_verdict(program_.node(index), candidate) != Verdict::yes) return false;
      }
      return true;
    };
    const std::size_t longest = std::min(most, std::max<std::size_t>(least, 40));
    for (std::size_t attempt = 0; attempt < attempts && least <= longest_format; ++attempt) {
      for (const std::size_t index : demand.nodes) {
        const Format format = program_.node(index).format;
        if (format == Format::any) continue;
        std::size_t length = 0;
        if (attempt > 0) length = least + static_cast<std::size_t>(random_.below(longest - least + 1));
        std::string candidate = format_text(format, length, random_);
        if (fits(candidate)) return Json(std::move(candidate));
      }
    }
    for (std::size_t attempt = 0; attempt < attempts && !patterns.empty(); ++attempt) {
      std::optional<std::string> candidate = matching(patterns, least, most, attempt);
      if (!candidate) break;
      if (fits(*candidate)) return Json(std::move(*candidate));
    }
    return fail(demand, "", "No text was found that has the format and satisfies the other bounds.");
  }

  // -- arrays

  struct Row {  // what the subschemas say about an array, together
    std::size_t least = 0;
    std::size_t most = max_items;
    std::size_t size = 0;  // to aim at
    bool unique = false;
    std::size_t prefix = 0;           // places with subschemas of their own
    std::vector<std::size_t> wanted;  // by `contains`
  };

  std::optional<Json> array(const Demand& demand, std::size_t depth, std::size_t attempt) {
    Row row;
    bool recursive = false;
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      row.least = std::max(row.least, node.min_items);
      row.most = std::min(row.most, node.max_items);
      row.prefix = std::max(row.prefix, node.prefix.size());
      row.unique = row.unique || node.unique_items;
      if (node.items != none) recursive = recursive || is_recursion(node, node.items);
      for (const std::size_t part : node.prefix) recursive = recursive || is_recursion(node, part);
      if (node.contains != none) row.wanted.push_back(node.contains);
    }
    if (row.least > row.most) return fail(demand, "", "The least number of items is above the greatest.");
    const bool brief = output_ > generous_values || attempt % 4 == 1 || (recursive && depth >= relaxed_depth);
    row.size = row.least;
    if (!brief) {
      const std::size_t some = 1 + static_cast<std::size_t>(random_.below(3 + attempt / 8));
      row.size = std::max({row.least, row.prefix, recursive ? 1 : some});
    }
    row.size = std::min(row.size, row.most);
    std::optional<Json> made = filled(demand, row, depth, false);
    if (!made && !row.wanted.empty()) made = filled(demand, row, depth, true);
    return made;
  }

  /// What `contains` asks for is placed among the last items, or as early as it fits.
  std::optional<Json> filled(const Demand& demand, const Row& row, std::size_t depth, bool early) {
    std::vector<std::size_t> wanted = row.wanted;
    Json made = Json::array();
    Taken items;
    const Taken* taken = row.unique ? &items : nullptr;
    while (made.size() < row.most && (made.size() < row.size || !wanted.empty())) {
      const std::vector<std::size_t> parts = item_nodes(demand, made.size());
      std::optional<Json> item;
      const bool due = early || made.size() + wanted.size() >= row.size;
      if (due && wanted.size() > 1) {
        std::vector<std::size_t> all = parts;
        all.insert(all.end(), wanted.begin(), wanted.end());
        item = make(all, taken, depth + 1, all_bits);
      }
      for (std::size_t place = 0; place < wanted.size() && due && !item; ++place) {
        std::vector<std::size_t> both = parts;
        both.push_back(wanted[place]);
        item = make(both, taken, depth + 1, all_bits);
      }
      if (!item) item = make(parts, taken, depth + 1, all_bits);
      if (!item) {
        if (made.size() >= row.least && wanted.empty()) break;
        return std::nullopt;
      }
      // One item may satisfy several, whether it was made for them or not.
      const auto is_met = [&](std::size_t node) { return checker_.verdict(node, *item) == Verdict::yes; };
      const auto unmet = std::remove_if(wanted.begin(), wanted.end(), is_met);
      // Beyond the prefix all places are alike: what does not fit one of them fits none.
      if (due && unmet == wanted.end() && !wanted.empty() && made.size() >= row.prefix) break;
      wanted.erase(unmet, wanted.end());
      if (row.unique) items.insert(canonical(*item));
      made.push_back(std::move(*item));
    }
    if (!wanted.empty()) return fail_at(wanted.front(), "", "No item was found that \"contains\" asks for.");
    return made;
  }

  std::vector<std::size_t> item_nodes(const Demand& demand, std::size_t place) const {
    std::vector<std::size_t> parts;
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      const std::size_t part = place < node.prefix.size() ? node.prefix[place] : node.items;
      if (part != none) parts.push_back(part);
    }
    return parts;
  }

  // -- objects

  struct Shape {  // what the subschemas say about an object, together
    std::vector<std::string> declared;
    std::set<std::string> known;  // the same names
    std::vector<std::string> required;
    std::vector<std::size_t> name_nodes;
    std::size_t least = 0;
    std::size_t most = none;
    bool is_map = false;  // only additional properties, of a stated schema
  };

  using Values = std::map<std::string, Json>;

  Shape shape_of(const Demand& demand) const {
    Shape shape;
    bool open = false;
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      for (const std::string& name : node.names) {
        if (shape.known.insert(name).second) shape.declared.push_back(name);
      }
      shape.required.insert(shape.required.end(), node.required.begin(), node.required.end());
      shape.least = std::max(shape.least, node.min_properties);
      shape.most = std::min(shape.most, node.max_properties);
      if (node.property_names != none) shape.name_nodes.push_back(node.property_names);
      if (node.additional != none && !program_.node(node.additional).json->empty() &&
          program_.node(node.additional).json->is_object()) {
        open = !is_recursion(node, node.additional);
      }
    }
    shape.is_map = open && shape.declared.empty();
    return shape;
  }

  std::vector<std::size_t> property_nodes(const Demand& demand, const std::string& name) {
    std::vector<std::size_t> parts;
    for (const std::size_t index : demand.nodes) {
      const Node& node = program_.node(index);
      budget_.spend(1);
      bool known = false;
      const auto property = node.properties.find(name);
      if (property != node.properties.end()) {
        known = true;
        parts.push_back(property->second);
      }
      for (const auto& [matcher, part] : node.pattern_properties) {
        if (!checker_.matches(matcher, name)) continue;
        known = true;
        parts.push_back(part);
      }
      if (!known && node.additional != none) parts.push_back(node.additional);
    }
    return parts;
  }

  bool is_name_allowed(const Shape& shape, const std::string& name) {
    for (const std::size_t node : shape.name_nodes) {
      if (checker_.verdict(node, Json(name)) != Verdict::yes) return false;
    }
    return true;
  }

  /// The names that must be there when `names` are, themselves included, without those that are there already.
  std::vector<std::string> with_dependents(const Demand& demand, const std::vector<std::string>& names,
                                           const Values& present) const {
    std::vector<std::string> all;
    std::set<std::string> seen;
    std::vector<std::string> pending(names.rbegin(), names.rend());
    while (!pending.empty()) {
      const std::string name = std::move(pending.back());
      pending.pop_back();
      if (present.count(name) != 0 || !seen.insert(name).second) continue;
      all.push_back(name);
      for (const std::size_t index : demand.nodes) {
        const auto& dependents = program_.node(index).dependents;
        const auto others = dependents.find(name);
        if (others != dependents.end()) pending.insert(pending.end(), others->second.begin(), others->second.end());
      }
    }
    return all;
  }

  /// Adds all of the names with a value each, or none.
  bool add_properties(const Demand& demand, const Shape& shape, const std::vector<std::string>& names,
                      std::size_t depth, Values& values, std::vector<std::string>& order) {
    if (values.size() + names.size() > shape.most) {
      fail(demand, "", "More properties are needed than are allowed.");
      return false;
    }
    Values made;
    for (const std::string& name : names) {
      if (!is_name_allowed(shape, name)) {
        fail(demand, "", "The property " + quoted(Json(name)) + " is needed, but its name is not allowed.");
        return false;
      }
      std::optional<Json> value = make(property_nodes(demand, name), nullptr, depth + 1, all_bits);
      if (!value) return false;
      made.emplace(name, std::move(*value));
    }
    for (const std::string& name : names) {
      values[name] = std::move(made[name]);
      if (shape.known.count(name) == 0) order.push_back(name);
    }
    return true;
  }

  std::optional<Json> object(const Demand& demand, std::size_t depth, std::size_t attempt) {
    const Shape shape = shape_of(demand);
    if (shape.least > shape.most) return fail(demand, "", "The least number of properties is above the greatest.");
    Values values;
    std::vector<std::string> undeclared;  // in the order in which they came
    if (!add_properties(demand, shape, with_dependents(demand, shape.required, values), depth, values, undeclared)) {
      return std::nullopt;
    }
    std::vector<std::string> skipped;
    for (const std::string& name : shape.declared) {
      if (values.count(name) != 0) continue;
      // Later attempts are for schemas that forbid combinations: fewer properties, then any selection.
      const bool wanted = attempt == 0 || (attempt > 1 && random_.below(2) == 0);
      if (!wanted || output_ > generous_values || is_recursion(demand, property_nodes(demand, name)) ||
          !add_properties(demand, shape, with_dependents(demand, {name}, values), depth, values, undeclared)) {
        skipped.push_back(name);
      }
    }
    for (const std::string& name : skipped) {
      if (values.size() >= shape.least) break;
      if (values.count(name) == 0) {
        add_properties(demand, shape, with_dependents(demand, {name}, values), depth, values, undeclared);
      }
    }
    std::size_t goal = shape.least;
    if (shape.is_map && attempt == 0 && output_ <= generous_values) {
      goal = std::max<std::size_t>(goal, 1 + random_.below(2));
    } else if (attempt > 2) {  // objects that must differ may need more to differ in
      goal = std::max<std::size_t>(goal, values.size() + random_.below(3));
    }
    if (goal > values.size() + max_new_names) {
      return fail(demand, "/minProperties", "Too many properties are asked for.");
    }
    if (!invent_properties(demand, shape, goal, depth, values, undeclared) && values.size() < shape.least) {
      return fail(demand, "/minProperties", "Not enough properties could be found.");
    }
    Json made = Json::object();
    auto& members = made.get_ref<Json::object_t&>();
    for (const std::vector<std::string>* names :
         {&shape.declared, static_cast<const std::vector<std::string>*>(&undeclared)}) {
      for (const std::string& name : *names) {
        const auto value = values.find(name);
        if (value == values.end()) continue;
        output_size_ += name.size();
        members.emplace_back(name, std::move(value->second));  // the names are known to differ
      }
    }
    return made;
  }

  bool invent_properties(const Demand& demand, const Shape& shape, std::size_t goal, std::size_t depth, Values& values,
                         std::vector<std::string>& order) {
    constexpr std::size_t patience = 20;
    std::vector<std::size_t> matchers;
    for (const std::size_t index : demand.nodes) {
      for (const auto& [matcher, node] : program_.node(index).pattern_properties) matchers.push_back(matcher);
    }
    Taken taken;
    for (const auto& [name, value] : values) taken.insert(canonical(Json(name)));
    std::size_t failures = 0;
    for (std::size_t attempt = 0; values.size() < goal && values.size() < shape.most && failures < patience;
         ++attempt) {
      const std::optional<Json> made = invent_name(shape, matchers, taken, attempt);
      const std::string name = made ? made->get<std::string>() : std::string();
      const bool usable = made && values.count(name) == 0 && shape.known.count(name) == 0;
      if (made) taken.insert(canonical(*made));
      if (!usable || !add_properties(demand, shape, with_dependents(demand, {name}, values), depth, values, order)) {
        ++failures;
      }
    }
    return values.size() >= goal;
  }

  /// A name that is not declared, for patternProperties and for additionalProperties by turns.
  std::optional<Json> invent_name(const Shape& shape, const std::vector<std::size_t>& matchers, const Taken& taken,
                                  std::size_t attempt) {
    const bool matched = !matchers.empty() && attempt % 2 == 0;
    if (!matched && shape.name_nodes.empty()) {
      return Json(words::word(random_) + (attempt < 4 ? "" : "_" + std::to_string(attempt)));
    }
    Demand demand;
    demand.types = string_bit;
    for (const std::size_t node : shape.name_nodes) expand(demand, node);
    if (matched) demand.pattern = matchers[random_.below(matchers.size())];
    return choose(demand, &taken, max_instance_depth);
  }

  const Program& program_;
  Budget& budget_;
  Checker checker_;
  Random& random_;
  std::map<std::pair<std::vector<const Pattern*>, std::pair<bool, bool>>, PatternWalk> walks_;
  std::map<const Node*, std::vector<std::string>> listed_;
  std::size_t output_ = 0;       // values made, those that were dropped included
  std::size_t output_size_ = 0;  // and about their bytes
  std::string failure_path_;
  std::string failure_ = "No instance was found.";
};

MOCK_GATEWAY_INLINE void check(const Json& schema) { const Program program(schema); }

MOCK_GATEWAY_INLINE Json instance(const Json& schema, Random& random) {
  const Program program(schema);
  Budget budget;
  return Maker(program, budget, random).root();
}

MOCK_GATEWAY_INLINE bool accepts(const Json& schema, const Json& value) {
  const Program program(schema);
  if (!within_depth(value, max_value_depth)) throw Unsupported{"", "The value is nested too deeply."};
  Budget budget;
  return Checker(program, budget).verdict(0, value) == Verdict::yes;
}

}  // namespace schema
}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
