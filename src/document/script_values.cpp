// The forms of values in scripts: durations, distributions, ranges, chunking, headers, rate limits, operations, base64.

#include "script_values.hpp"

#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <system_error>

#include "../core/error.hpp"
#include "../core/text.hpp"
#include "../keys/secrets.hpp"
#include "../model/checks.hpp"

namespace mock_gateway::detail {
namespace script_types {

ScriptType any() { return {"any JSON", "true"}; }
ScriptType boolean() { return {"true or false", R"({"type":"boolean"})"}; }
ScriptType yes() { return {"true", R"({"const":true})"}; }
ScriptType text() { return {"text", R"({"type":"string"})"}; }
ScriptType name_text() { return {"text", R"({"type":"string","maxLength":256})"}; }
ScriptType base64() {
  return {"base64", R"({"type":"string","contentEncoding":"base64","pattern":"^[A-Za-z0-9+/_-]*=*$"})"};
}
ScriptType count() { return {"whole number, not negative", R"({"type":"integer","minimum":0})"}; }
ScriptType positive() { return {"whole number, at least 1", R"({"type":"integer","minimum":1})"}; }
ScriptType whole() { return {"whole number", R"({"type":"integer"})"}; }
ScriptType number() { return {"number", R"({"type":"number"})"}; }
ScriptType texts() { return {"list of texts", R"({"type":"array","items":{"type":"string"}})"}; }
ScriptType json_object() { return {"JSON object", R"({"type":"object"})"}; }
ScriptType duration() {
  return {"duration", R"({"type":"string","pattern":"^[0-9]{1,12}([.][0-9]{1,9})?(ns|us|ms|s|m|h)$"})"};
}
ScriptType duration_or_off() {
  return {"duration, or \"off\"",
          R"({"type":"string","pattern":"^([0-9]{1,12}([.][0-9]{1,9})?(ns|us|ms|s|m|h)|off)$"})"};
}
inline constexpr const char* limit_schema =
    R"({"type":"string","pattern":"^(?=[0-9]{1,9}/)0*[1-9][0-9]*/[0-9]{1,12}([.][0-9]{1,9})?(ns|us|ms|s|m|h)$"})";

ScriptType rate_limit() { return {"\"REQUESTS/WINDOW\"", limit_schema}; }
ScriptType token_limit() { return {"\"TOKENS/WINDOW\"", limit_schema}; }
ScriptType timing() {
  return {"duration, or a distribution",
          R"({"anyOf":[{"$ref":"#/$defs/duration"},)"
          R"({"type":"object","minProperties":1,"maxProperties":1,"additionalProperties":false,"properties":{)"
          R"("uniform":{"type":"array","items":{"$ref":"#/$defs/duration"},"minItems":2,"maxItems":2},)"
          R"("normal":{"type":"array","items":{"$ref":"#/$defs/duration"},"minItems":2,"maxItems":2},)"
          R"("log_normal":{"type":"array","prefixItems":[{"$ref":"#/$defs/duration"},{"type":"number"}],)"
          R"("minItems":2,"maxItems":2},)"
          R"("recorded":{"type":"array","items":{"$ref":"#/$defs/duration"},"minItems":1}}}]})"};
}
ScriptType rate() {
  return {"number, or a distribution",
          R"({"anyOf":[{"type":"number","exclusiveMinimum":0},)"
          R"({"type":"object","minProperties":1,"maxProperties":1,"additionalProperties":false,"properties":{)"
          R"("uniform":{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2},)"
          R"("normal":{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2},)"
          R"("log_normal":{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2},)"
          R"("recorded":{"type":"array","items":{"type":"number"},"minItems":1}}}]})"};
}
ScriptType chunking() {
  return {"\"tokens\", \"words\", \"characters\", or how many of them, bytes or pieces",
          R"({"anyOf":[{"enum":["tokens","words","characters"]},)"
          R"({"type":"object","minProperties":1,"maxProperties":1,"additionalProperties":false,"properties":{)"
          R"("tokens":{"type":"integer","minimum":1},"words":{"type":"integer","minimum":1},)"
          R"("characters":{"type":"integer","minimum":1},"bytes":{"type":"integer","minimum":1},)"
          R"("pieces":{"type":"array","minItems":1,"items":{"type":"string","minLength":1}}}}]})"};
}
ScriptType headers() {
  return {"object of header fields",
          R"({"type":"object","propertyNames":{"pattern":"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"},"additionalProperties":)"
          R"({"anyOf":[{"$ref":"#/$defs/header_value"},)"
          R"({"type":"array","items":{"$ref":"#/$defs/header_value"},"minItems":1}]}})"};
}
ScriptType header_value() { return {"text", R"({"type":"string","pattern":"^[^\\r\\n\\u0000]*$"})"}; }
ScriptType range() {
  return {"number, or a range",
          R"({"anyOf":[{"type":"number"},)"
          R"({"type":"object","minProperties":1,"maxProperties":1,"additionalProperties":false,"properties":{)"
          R"("at_least":{"type":"number"},"at_most":{"type":"number"},)"
          R"("between":{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2}}}]})"};
}
ScriptType operation() {
  return {"operation", R"({"type":"string","pattern":"^(chat_completions|list_models|[A-Z]+ /[!-~]*)$"})"};
}
ScriptType operations() { return {"list of operations", R"({"type":"array","items":{"$ref":"#/$defs/operation"}})"}; }

}  // namespace script_types

namespace script_values {

const std::string& text_of(const ScriptNode& node) {
  if (!node.value.is_string()) script_reading::fail_expected(node, "a string");
  return node.value.get_ref<const std::string&>();
}

std::string name_length_error(const std::string& name) {
  return name.size() <= most_bytes_of_name ? ""
                                           : "a name has at most " + std::to_string(most_bytes_of_name) +
                                                 " bytes, and this one has " + std::to_string(name.size());
}

const std::string& name_of(const ScriptNode& node) {
  const std::string problem = name_length_error(text_of(node));
  if (!problem.empty()) script_reading::fail(node, problem);
  return text_of(node);
}

const std::string& key_name(const ScriptNode& node) {
  if (secrets::looks_like_key(text_of(node)))
    script_reading::fail(node, "this looks like a secret; refer to a key by its \"name\" or its id");
  return name_of(node);
}

void require_list(const ScriptNode& node, std::size_t size, const char* what) {
  if (!node.value.is_array()) script_reading::fail_expected(node, what);
  if (node.value.size() != size)
    script_reading::fail(node, std::string("expected ") + what + ", got " + std::to_string(node.value.size()));
}

void require_yes(const ScriptNode& node) {
  if (!node.value.is_boolean()) script_reading::fail_expected(node, "true");
  if (!node.value.get<bool>()) script_reading::fail(node, "expected true; for false, leave the key out");
}

std::size_t one_of(const ScriptNode& node, const std::vector<std::string>& words) {
  const std::string& text = text_of(node);
  for (std::size_t index = 0; index < words.size(); ++index)
    if (words[index] == text) return index;
  script_reading::fail(node,
                       "unknown value \"" + text::printable(text, 60) + "\"" + script_reading::suggestion(text, words));
}

int base64_value(char digit) {
  if (digit >= 'A' && digit <= 'Z') return digit - 'A';
  if (digit >= 'a' && digit <= 'z') return digit - 'a' + 26;
  if (digit >= '0' && digit <= '9') return digit - '0' + 52;
  if (digit == '+' || digit == '-') return 62;
  return digit == '/' || digit == '_' ? 63 : -1;
}

std::string decode_base64(const ScriptNode& node) {
  std::string_view digits = text_of(node);
  while (!digits.empty() && digits.back() == '=') digits.remove_suffix(1);
  std::string bytes;
  unsigned buffer = 0;
  int bits = 0;
  for (const char digit : digits) {
    const int value = base64_value(digit);
    if (value < 0) script_reading::fail(node, "expected base64 (RFC 4648)");
    buffer = (buffer << 6 | static_cast<unsigned>(value)) & 0xffffU;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(buffer >> bits & 0xffU);
  }
  if (bits == 6) script_reading::fail(node, "expected base64 (RFC 4648); a digit is missing");
  return bytes;
}

std::string body_of(const ScriptNode& node, const char* kind) {
  if (!kind) return "";
  const ScriptNode body = node.at(kind);
  if (std::string_view(kind) == "json") return body.value.dump();
  return std::string_view(kind) == "body" ? text_of(body) : decode_base64(body);
}

/// Reads a duration such as "1.5s". Empty for invalid text and for more than 100 years.
std::optional<Duration> duration_of(std::string_view text) {
  struct Unit {
    std::string_view name;
    double nanoseconds;
  };
  constexpr Unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 6e10}, {"h", 3.6e12}};
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  // The schema has the same limits on digits.
  const std::size_t whole_digits = std::min(text.find('.'), end);
  if (whole_digits > 12 || (whole_digits < end && end - whole_digits - 1 > 9)) return std::nullopt;
  const std::string_view digits = text.substr(0, end);
  if (digits.empty() || digits.front() == '.' || digits.back() == '.') return std::nullopt;
  if (digits.find('.') != digits.rfind('.')) return std::nullopt;
  // libc++ lacks std::from_chars for doubles, and strtod depends on the locale.
  double number = 0;
  for (const char digit : digits)
    if (digit != '.') number = number * 10 + (digit - '0');
  if (whole_digits < end) number /= std::pow(10.0, static_cast<double>(end - whole_digits - 1));
  for (const Unit& unit : units) {
    constexpr double most = 100.0 * 365 * 24 * 3.6e12;
    if (text.substr(end) != unit.name) continue;
    const double nanoseconds = std::round(number * unit.nanoseconds);
    if (nanoseconds > most) return std::nullopt;
    return Duration(static_cast<std::int64_t>(nanoseconds));
  }
  return std::nullopt;
}

Duration require_duration(const ScriptNode& node, std::string_view text, const std::string& what) {
  if (const std::optional<Duration> duration = duration_of(text)) return *duration;
  script_reading::fail(node, "expected " + what + ", got \"" + text::printable(text, 60) + "\"");
}

std::pair<std::size_t, Duration> number_per_window(const ScriptNode& node, const std::string& what,
                                                   const std::string& least) {
  if (!node.value.is_string()) script_reading::fail_expected(node, what);
  const std::string_view text = text_of(node);
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::optional<std::int64_t> number = text::whole_number(text.substr(0, slash));
  const std::string_view window = slash < text.size() ? text.substr(slash + 1) : std::string_view();
  if (!number || window.empty()) script_reading::fail(node, "expected " + what);
  const Duration time = require_duration(node, window, what);
  if (*number == 0 || time <= Duration{0}) script_reading::fail(node, least + ", and a time longer than 0");
  return {static_cast<std::size_t>(*number), time};
}

Duration pace_time(ScriptReader& reader, const ScriptNode& node) {
  const auto time = read_value<Duration>(reader, node);
  if (time > std::chrono::hours(30 * 24))
    script_reading::fail(node, "a time of a pace is at most 30 days; to wait forever, use the effect \"stall\"");
  return time;
}

const char* distribution(const ScriptNode& node, const char* what) {
  if (!node.value.is_object()) script_reading::fail_expected(node, what);
  return script_reading::single_key(node, {"uniform", "normal", "log_normal", "recorded"}, "a distribution");
}

std::string header_value(const ScriptNode& node, const std::string& name) {
  script_reading::checked(node, [&] { require_header_field(name, text_of(node)); });
  return text_of(node);
}

}  // namespace script_values

bool read_as(As<bool>, ScriptReader&, const ScriptNode& node) {
  if (!node.value.is_boolean()) script_reading::fail_expected(node, "true or false");
  return node.value.get<bool>();
}

std::string read_as(As<std::string>, ScriptReader&, const ScriptNode& node) { return script_values::text_of(node); }

std::int64_t read_as(As<std::int64_t>, ScriptReader&, const ScriptNode& node) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (node.value.is_number_unsigned() && node.value.get<std::uint64_t>() > most)
    script_reading::fail(node, "the number does not fit into 63 bits");
  if (node.value.is_number_integer()) return node.value.get<std::int64_t>();
  // 2.0 is whole, as in JSON Schema. Beyond 2^53 a double may be inexact.
  const double number = node.value.is_number() ? node.value.get<double>() : 0.5;
  if (number != std::floor(number) || std::abs(number) > 9007199254740992.0)
    script_reading::fail_expected(node, "a whole number");
  return static_cast<std::int64_t>(number);
}

std::size_t read_as(As<std::size_t>, ScriptReader& reader, const ScriptNode& node) {
  if (node.value.is_number_unsigned()) return node.value.get<std::size_t>();
  const std::int64_t number = read_value<std::int64_t>(reader, node);
  if (number < 0) script_reading::fail_expected(node, "a number that is not negative");
  return static_cast<std::size_t>(number);
}

int read_as(As<int>, ScriptReader& reader, const ScriptNode& node) {
  const std::int64_t number = read_value<std::int64_t>(reader, node);
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max())
    script_reading::fail(node, "the number does not fit into 32 bits");
  return static_cast<int>(number);
}

double read_as(As<double>, ScriptReader&, const ScriptNode& node) {
  if (!node.value.is_number()) script_reading::fail_expected(node, "a number");
  return node.value.get<double>();
}

Json read_as(As<Json>, ScriptReader&, const ScriptNode& node) { return node.value; }

Duration read_as(As<Duration>, ScriptReader&, const ScriptNode& node) {
  const std::string what = "a duration with its unit, such as \"250us\", \"20ms\", \"1.5s\", \"2m\" or \"1h\"";
  if (!node.value.is_string()) script_reading::fail_expected(node, what);
  return script_values::require_duration(node, script_values::text_of(node), what);
}

std::optional<Duration> read_as(As<std::optional<Duration>>, ScriptReader& reader, const ScriptNode& node) {
  if (node.value == "off") return std::nullopt;
  try {
    return read_value<Duration>(reader, node);
  } catch (const ScriptMistake& mistake) {
    const std::size_t got = mistake.message.rfind(", got ");
    throw ScriptMistake{mistake.pointer, mistake.message.substr(0, got) + ", or \"off\"" + mistake.message.substr(got)};
  }
}

Timing read_as(As<Timing>, ScriptReader& reader, const ScriptNode& node) {
  if (node.value.is_string()) return Timing(script_values::pace_time(reader, node));
  const char* const key =
      script_values::distribution(node, "a duration such as \"20ms\", or uniform, normal, log_normal or recorded");
  const ScriptNode numbers = node.at(key);
  const std::string_view kind = key;
  if (kind == "recorded") return recorded(read_value<std::vector<Duration>>(reader, numbers));
  script_values::require_list(numbers, 2, "a list of two");
  const Duration first = script_values::pace_time(reader, numbers.element(0));
  if (kind == "log_normal") return log_normal(first, read_value<double>(reader, numbers.element(1)));
  const Duration second = script_values::pace_time(reader, numbers.element(1));
  return kind == "uniform" ? uniform(first, second) : normal(first, second);
}

Rate read_as(As<Rate>, ScriptReader& reader, const ScriptNode& node) {
  if (node.value.is_number()) return Rate(node.value.get<double>());
  const std::string_view kind =
      script_values::distribution(node, "a number, or uniform, normal, log_normal or recorded");
  const ScriptNode numbers = node.at(kind.data());
  const std::vector<double> list = read_value<std::vector<double>>(reader, numbers);
  if (kind == "recorded") return recorded(list);
  script_values::require_list(numbers, 2, "a list of two");
  if (kind == "uniform") return uniform(list[0], list[1]);
  return kind == "normal" ? normal(list[0], list[1]) : log_normal(list[0], list[1]);
}

Chunking read_as(As<Chunking>, ScriptReader& reader, const ScriptNode& node) {
  constexpr Chunking::Kind kinds[] = {Chunking::Kind::tokens, Chunking::Kind::words, Chunking::Kind::characters,
                                      Chunking::Kind::bytes};
  if (node.value.is_string()) return Chunking(kinds[script_values::one_of(node, {"tokens", "words", "characters"})], 1);
  if (!node.value.is_object())
    script_reading::fail_expected(node, "\"tokens\", \"words\", \"characters\", or an object such as {\"words\": 2}");
  const std::vector<const char*> keys = {"tokens", "words", "characters", "bytes", "pieces"};
  const std::string_view key = script_reading::single_key(node, keys, "an object that says how a stream is cut");
  const ScriptNode value = node.at(key.data());
  if (key == "pieces") {
    const auto pieces = read_value<std::vector<std::string>>(reader, value);
    if (pieces.empty()) script_reading::fail(value, "the list needs at least one piece");
    for (std::size_t index = 0; index < pieces.size(); ++index)
      if (pieces[index].empty()) script_reading::fail(value.element(index), "expected a text that is not empty");
    return by_pieces(pieces);
  }
  std::size_t kind = 0;
  while (keys[kind] != key) ++kind;
  const auto count = read_value<std::size_t>(reader, value);
  if (count == 0) script_reading::fail_expected(value, "a whole number of at least 1");
  return Chunking(kinds[kind], count);
}

Range read_as(As<Range>, ScriptReader& reader, const ScriptNode& node) {
  if (node.value.is_number()) return Range(node.value.get<double>());
  if (!node.value.is_object()) script_reading::fail_expected(node, "a number, or at_least, at_most or between");
  const std::string_view key = script_reading::single_key(node, {"at_least", "at_most", "between"}, "a range");
  const ScriptNode value = node.at(key.data());
  if (key == "at_least") return at_least(read_value<double>(reader, value));
  if (key == "at_most") return at_most(read_value<double>(reader, value));
  script_values::require_list(value, 2, "a list of two numbers");
  return between(read_value<double>(reader, value.element(0)), read_value<double>(reader, value.element(1)));
}

wire::Headers read_as(As<wire::Headers>, ScriptReader&, const ScriptNode& node) {
  if (!node.value.is_object()) script_reading::fail_expected(node, "an object of header fields");
  wire::Headers headers;
  for (const auto& [name, value] : node.value.get_ref<const Json::object_t&>()) {
    const ScriptNode field = node.member(name, value);
    if (!value.is_array()) {
      headers.add(name, script_values::header_value(field, name));
      continue;
    }
    if (value.empty()) script_reading::fail(field, "the list needs at least one value");
    for (std::size_t index = 0; index < value.size(); ++index)
      headers.add(name, script_values::header_value(field.element(index), name));
  }
  return headers;
}

RateLimit read_as(As<RateLimit>, ScriptReader&, const ScriptNode& node) {
  const auto [requests, window] = script_values::number_per_window(node, "REQUESTS/WINDOW, such as \"60/1m\"",
                                                                   "a limit needs at least one request");
  return {requests, window};
}

TokenLimit read_as(As<TokenLimit>, ScriptReader&, const ScriptNode& node) {
  const auto [tokens, window] = script_values::number_per_window(node, "TOKENS/WINDOW, such as \"6000/1m\"",
                                                                 "a limit of tokens needs at least one token");
  return {tokens, window};
}

Operation read_as(As<Operation>, ScriptReader&, const ScriptNode& node) {
  const std::string& text = script_values::text_of(node);
  if (text == "chat_completions") return chat_completions();
  if (text == "list_models") return list_models();
  const std::size_t space = text.find(' ');
  if (space == std::string::npos || space + 1 >= text.size() || text[space + 1] != '/')
    script_reading::fail(node,
                         "expected an operation: chat_completions, list_models, or a method and path such as \"POST "
                         "/v1/images/generations\"");
  return operation(text.substr(0, space), text.substr(space + 1));
}

}  // namespace mock_gateway::detail
