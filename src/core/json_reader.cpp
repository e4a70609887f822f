// Reads JSON: error texts, comments, duplicate keys. The maximum nesting (512) is in the header.

#include "json_reader.hpp"

#include <algorithm>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <system_error>
#include <utility>

#include "json_pointer.hpp"

namespace mock_gateway::detail {
namespace json_reading {

bool is_digit(char character) { return character >= '0' && character <= '9'; }

/// Uses explicit stacks, so that deep nesting uses none of the thread's stack.
class Reader {
 public:
  Reader(std::string_view text, const JsonReadOptions& options)
      : whole_(text), text_(text.substr(0, text::valid_utf8_prefix(text))), options_(options) {
    values_.reserve(32);
    keys_.reserve(32);
    frames_.reserve(16);
  }

  Json read() {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;
    while (go_on(read_value())) continue;
    skip_space();
    if (at_ < whole_.size()) fail_expected("the end of the text");
    return std::move(values_.front());
  }

 private:
  struct Frame {
    bool object;
    std::size_t values;  // index of its first value in values_
    std::size_t keys;    // index of its first key in keys_
    std::size_t place;   // its index in JsonReadOptions::places
  };

  /// Returns the next character, or NUL at the end.
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  /// Consumes the character, which must not be NUL, if it is next.
  bool take(char character) {
    if (next() != character) return false;
    ++at_;
    return true;
  }

  void skip_space() {
    if (next() > '/') return;  // neither white space nor a comment
    for (;;) {
      while (next() == ' ' || next() == '\n' || next() == '\r' || next() == '\t') ++at_;
      if (!options_.comments || next() != '/') return;
      const bool line = text_.substr(at_, 2) == "//";
      if (!line && text_.substr(at_, 2) != "/*") return;
      const std::size_t end = line ? text_.find_first_of("\r\n", at_) : text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + (line ? 0 : 2);
      if (end == std::string_view::npos && !line) fail_expected("the end of a comment");
    }
  }

  /// Reads a value, or the start of an array or object. Returns whether it was the latter.
  bool read_value() {
    skip_space();
    if (++count_ > options_.max_values) fail(at_, "more than " + std::to_string(options_.max_values) + " values");
    if (options_.places != nullptr) note_place();
    const char first = next();
    if (first == '{' || first == '[') {
      open(first == '{');
      return true;
    }
    const bool number = first == '-' || is_digit(first);
    values_.push_back(first == '"' ? Json(read_string()) : number ? read_number() : read_literal());
    if (options_.places != nullptr) options_.places->back().end = at_;
    return false;
  }

  Json read_literal() {
    for (const std::string_view literal : {"null", "true", "false"}) {
      if (text_.substr(at_, literal.size()) != literal) continue;
      at_ += literal.size();
      return literal == "null" ? Json() : Json(literal == "true");
    }
    fail_expected("a value");
  }

  Json read_number() {
    const std::size_t begin = at_;
    const bool negative = take('-');
    const bool zero = take('0');
    if (zero && is_digit(next())) fail(at_, "a digit after a leading 0");
    if (!zero) read_digits();
    const std::size_t point = at_ - begin;
    const bool fraction = take('.');
    if (fraction) read_digits();
    const bool exponent = take('e') || take('E');
    if (exponent) {
      if (!take('+')) take('-');
      read_digits();
    }
    const char* const first = text_.data() + begin;
    const char* const last = text_.data() + at_;
    std::int64_t with_sign = 0;
    std::uint64_t without_sign = 0;
    if (!fraction && !exponent) {
      if (negative && std::from_chars(first, last, with_sign).ec == std::errc{}) return Json(with_sign);
      if (!negative && std::from_chars(first, last, without_sign).ec == std::errc{}) return Json(without_sign);
    }
    std::string literal(first, last);
    if (fraction) literal.replace(point, 1, std::localeconv()->decimal_point);  // strtod depends on the locale
    const double real = std::strtod(literal.c_str(), nullptr);
    if (!std::isfinite(real)) fail(begin, "a number beyond the range of double");
    return Json(real);
  }

  void read_digits() {
    if (!is_digit(next())) fail_expected("a digit");
    while (is_digit(next())) ++at_;
  }

  void refuse_trailing_comma(bool object) {
    skip_space();
    if (object && next() == '}') fail_expected("a key in quotation marks", "JSON has no comma after the last member");
    if (!object && next() == ']') fail_expected("a value", "JSON has no comma after the last element");
  }

  void read_key() {
    skip_space();
    if (next() != '"') fail_expected("a key in quotation marks");
    key_at_ = at_;
    keys_.push_back(read_string());
    skip_space();
    if (!take(':')) fail_expected("':'");
  }

  std::string read_string() {
    const auto is_plain = [](char character) {
      return static_cast<unsigned char>(character) >= 0x20 && character != '"' && character != '\\';
    };
    std::string string;
    ++at_;
    for (;;) {
      const char* const begin = text_.data() + at_;
      const char* const end = std::find_if_not(begin, text_.data() + text_.size(), is_plain);
      string.append(begin, end);
      at_ += static_cast<std::size_t>(end - begin);
      if (take('"')) return string;
      if (at_ == text_.size()) fail_expected("the end of a string");
      if (!take('\\')) fail_expected("an escape for a control character");
      read_escape(string);
    }
  }

  void read_escape(std::string& string) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view characters = "\"\\/\b\f\n\r\t";
    constexpr const char* half = "half a surrogate pair";
    const std::size_t letter = letters.find(next());
    if (letter != std::string_view::npos) {
      string += characters[letter];
      ++at_;
      return;
    }
    if (!take('u')) fail_expected("one of \"\\/bfnrtu after a backslash");
    char32_t character = read_code_unit();
    if (character >= 0xdc00 && character <= 0xdfff) fail(at_ - 4, half);
    if (character >= 0xd800 && character <= 0xdbff) {
      if (!take('\\') || !take('u')) fail(at_, half);
      const char32_t second = read_code_unit();
      if (second < 0xdc00 || second > 0xdfff) fail(at_ - 4, half);
      character = 0x10000 + ((character - 0xd800) << 10) + (second - 0xdc00);
    }
    text::append_utf8(string, character);
  }

  char32_t read_code_unit() {
    char32_t unit = 0;
    for (int count = 0; count < 4; ++count, ++at_) {
      const int digit = text::hex_value(next());
      if (digit < 0) fail_expected("a hexadecimal digit");
      unit = unit * 16 + static_cast<char32_t>(digit);
    }
    return unit;
  }

  void open(bool object) {
    if (frames_.size() == options_.max_depth) {
      fail(at_, "more than " + std::to_string(options_.max_depth) + " levels of nesting");
    }
    const std::size_t place = options_.places != nullptr ? options_.places->size() - 1 : 0;
    frames_.push_back(Frame{object, values_.size(), keys_.size(), place});
    ++at_;
  }

  /// Closes finished containers. Returns whether a value follows. If it is an object's member, also reads its key.
  bool go_on(bool opened) {
    for (; !frames_.empty(); opened = false) {
      skip_space();
      const bool object = frames_.back().object;
      if (take(object ? '}' : ']')) {
        close();
        continue;
      }
      if (!opened && !take(',')) fail_expected(object ? "',' or '}'" : "',' or ']'");
      if (!opened) refuse_trailing_comma(object);
      if (object) read_key();
      return true;
    }
    return false;
  }

  void close() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    const std::size_t count = values_.size() - frame.values;
    Json closed(frame.object ? Json::value_t::object : Json::value_t::array);
    auto* const array = closed.get_ptr<Json::array_t*>();
    auto* const object = closed.get_ptr<Json::object_t*>();
    if (frame.object) discard_duplicates(frame);
    frame.object ? object->reserve(count) : array->reserve(count);
    for (std::size_t index = 0; index < count; ++index) {
      Json& value = values_[frame.values + index];
      if (!frame.object) {
        array->push_back(std::move(value));
      } else if (!value.is_discarded()) {
        object->emplace_back(std::move(keys_[frame.keys + index]), std::move(value));
      }
    }
    keys_.resize(frame.keys);
    values_.resize(frame.values);
    values_.push_back(std::move(closed));
    if (options_.places != nullptr) (*options_.places)[frame.place].end = at_;
  }

  static bool are_few_and_different(const std::string* keys, std::size_t count) {
    constexpr std::size_t few = 12;
    if (count > few) return false;
    for (std::size_t first = 0; first < count; ++first)
      for (std::size_t second = first + 1; second < count; ++second)
        if (keys[first] == keys[second]) return false;
    return true;
  }

  /// Moves the last value of each repeated key to the position of the first, and marks the others as discarded.
  void discard_duplicates(const Frame& closing) {
    const std::string* const keys = keys_.data() + closing.keys;
    Json* const values = values_.data() + closing.values;
    const std::size_t count = keys_.size() - closing.keys;
    if (are_few_and_different(keys, count)) return;
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(), [keys](std::size_t left, std::size_t right) {
      const int difference = keys[left].compare(keys[right]);
      return difference != 0 ? difference < 0 : left < right;
    });
    for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
      const std::size_t first = order_[begin];
      for (end = begin + 1; end < order_.size() && keys[order_[end]] == keys[first]; ++end) {
        values[first] = std::move(values[order_[end]]);
        values[order_[end]] = Json(Json::value_t::discarded);
      }
      if (end == begin + 1 || options_.duplicates == nullptr || options_.duplicates->size() == 100) continue;
      options_.duplicates->push_back(JsonDuplicate{path(closing, false), keys[first]});
    }
  }

  void note_place() {
    const Frame here{false, values_.size(), keys_.size(), 0};
    const bool member = !frames_.empty() && frames_.back().object;
    options_.places->push_back(JsonPlace{path(here, true), member ? key_at_ : at_, at_, at_});
  }

  /// Returns the path of a value: as a JSON pointer, or as in messages ("messages[0]").
  std::string path(const Frame& value, bool pointer) const {
    constexpr std::size_t shown = 60;
    std::string path;
    for (std::size_t index = 0; index < frames_.size(); ++index) {
      const Frame& frame = frames_[index];
      const Frame& inner = index + 1 < frames_.size() ? frames_[index + 1] : value;
      const std::string name = frame.object ? keys_[inner.keys - 1] : std::to_string(inner.values - frame.values);
      if (pointer) {
        path += json_pointer::token(name);
      } else if (frame.object) {
        path += (path.empty() ? "" : ".") + text::excerpt(name, shown);
      } else {
        path += "[" + name + "]";
      }
    }
    return path;
  }

  [[noreturn]] void fail(std::size_t offset, const std::string& reason) const {
    if (offset < text_.size() || offset == whole_.size())
      throw JsonError(offset, text::position_in(whole_, offset), reason);
    const std::size_t wrong = offset + text::incomplete_utf8_prefix(whole_.substr(offset));
    throw JsonError(wrong, text::position_in(whole_, wrong), "a byte that is not UTF-8");
  }

  [[noreturn]] void fail_expected(std::string_view expected, std::string_view why = "") const {
    fail(at_, "expected " + std::string(expected) + ", got " + token() + (why.empty() ? "" : "; ") + std::string(why));
  }

  std::string token() const {
    if (at_ == text_.size()) return "the end of the text";
    if (next() == '"') return "a string";
    if (next() == '-' || is_digit(next())) return "a number";
    return "'" + text::printable(text_.substr(at_, text::next_code_point(text_, at_))) + "'";
  }

  const std::string_view whole_;
  const std::string_view text_;  // up to the first invalid UTF-8 byte
  const JsonReadOptions& options_;
  std::size_t at_ = 0;
  std::size_t key_at_ = 0;
  std::size_t count_ = 0;     // of values
  std::vector<Json> values_;  // complete values in open containers
  std::vector<std::string> keys_;
  std::vector<Frame> frames_;
  std::vector<std::size_t> order_;
};

}  // namespace json_reading

JsonError::JsonError(std::size_t its_offset, text::Position its_position, const std::string& its_reason)
    : std::runtime_error("invalid JSON at line " + std::to_string(its_position.line) + ", column " +
                         std::to_string(its_position.column) + ": " + its_reason),
      offset(its_offset),
      position(its_position),
      reason(its_reason) {}

Json read_json(std::string_view text, const JsonReadOptions& options) {
  return json_reading::Reader(text, options).read();
}

Json read_json_if_valid(std::string_view text) {
  try {
    return read_json(text);
  } catch (const JsonError&) {
    return Json(Json::value_t::discarded);
  }
}

}  // namespace mock_gateway::detail
