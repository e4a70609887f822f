#include "chat_request.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <ostream>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "../core/text.hpp"
#include "chat_parser.hpp"
#include "failure.hpp"
#include "request_error.hpp"

namespace mock_gateway {
namespace detail {
namespace chat_json {

/// Arrays and objects within each other. Real requests need about ten; what walks a value recursively stays far from
/// the end of any thread's stack.
inline constexpr std::size_t max_depth = 512;

/// Builds a Json from nlohmann's SAX events. Its own DOM parser would keep only the last of equal keys unseen, search
/// linearly at every key, copy values while objects grow, and nest without limit.
class Builder {
 public:
  explicit Builder(std::string_view source) : source_(source) {
    // What most requests need, so that the hot path does not grow them step by step.
    values_.reserve(32);
    keys_.reserve(32);
    frames_.reserve(16);
  }

  bool null() { return add(Json(nullptr)); }
  bool boolean(bool value) { return add(Json(value)); }
  bool number_integer(Json::number_integer_t value) { return add(Json(value)); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(Json(value)); }
  bool number_float(Json::number_float_t value, const Json::string_t&) { return add(Json(value)); }
  // Copied, not moved: the lexer goes on with the buffer that it has grown.
  bool string(const Json::string_t& value) { return add(Json(value)); }
  bool binary(const Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(true); }
  bool key(const Json::string_t& name) {
    keys_.push_back(name);
    return true;
  }
  bool end_object();
  bool start_array(std::size_t) { return open(false); }
  bool end_array();
  /// Throws RequestError.
  bool parse_error(std::size_t position, const std::string& token, const Json::exception& error);

  Json take() { return std::move(values_.front()); }
  /// A key that an object had more than once, and the object's path; nothing when there was none.
  struct Duplicate {
    std::string object;
    std::string key;
  };
  const std::vector<Duplicate>& duplicates() const { return duplicates_; }

 private:
  struct Frame {
    bool object;
    std::size_t values;  // where its own begin
    std::size_t keys;
  };

  bool add(Json&& value) {
    values_.push_back(std::move(value));
    return true;
  }
  bool open(bool object);
  bool has_duplicates(std::size_t first_key) const;
  void drop_duplicates(const Frame& frame);
  /// Of the value that is being closed, whose frame is `closing`.
  std::string path(const Frame& closing) const;

  std::string_view source_;
  std::vector<Json> values_;  // complete ones whose container is still open
  std::vector<std::string> keys_;
  std::vector<Frame> frames_;
  std::vector<Duplicate> duplicates_;
};

/// Throws RequestError for invalid JSON at byte `offset`.
[[noreturn]] void fail_at(std::string_view source, std::size_t offset, const std::string& reason);
/// The offset of the bracket that opens level max_depth + 1.
std::size_t too_deep_at(std::string_view source);
/// What nlohmann says of `token`, the source's text that it read last, without its frame and without that text.
std::string reason_of(std::string_view what, std::string_view token);
/// Parses, or throws RequestError.
Json parse(std::string_view source, std::vector<Builder::Duplicate>& duplicates);

void fail_at(std::string_view source, std::size_t offset, const std::string& reason) {
  const std::string_view before = source.substr(0, std::min(offset, source.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = lines == 0 ? 0 : before.rfind('\n') + 1;
  throw RequestError{failure(400, "invalid_json",
                             "invalid JSON at line " + std::to_string(lines + 1) + ", column " +
                                 std::to_string(text::code_points(before.substr(line_start)) + 1) + ": " + reason)};
}

std::size_t too_deep_at(std::string_view source) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t index = 0; index < source.size(); ++index) {
    const char character = source[index];
    if (in_string) {
      if (character == '\\') ++index;
      if (character == '"') in_string = false;
    } else if (character == '"') {
      in_string = true;
    } else if (character == '[' || character == '{') {
      if (++depth > max_depth) return index;
    } else if (character == ']' || character == '}') {
      --depth;  // never below 0: the parser has accepted what stands before
    }
  }
  return source.size();
}

bool Builder::open(bool object) {
  if (frames_.size() == max_depth) {
    fail_at(source_, too_deep_at(source_), "more than " + std::to_string(max_depth) + " levels of nesting");
  }
  frames_.push_back(Frame{object, values_.size(), keys_.size()});
  return true;
}

bool Builder::end_array() {
  const auto first = values_.begin() + static_cast<std::ptrdiff_t>(frames_.back().values);
  Json::array_t array(std::make_move_iterator(first), std::make_move_iterator(values_.end()));
  values_.erase(first, values_.end());
  frames_.pop_back();
  return add(Json(std::move(array)));
}

bool Builder::end_object() {
  const Frame frame = frames_.back();
  frames_.pop_back();
  if (has_duplicates(frame.keys)) drop_duplicates(frame);
  Json::object_t object;
  object.reserve(values_.size() - frame.values);
  for (std::size_t index = 0; frame.values + index < values_.size(); ++index) {
    object.emplace_back(std::move(keys_[frame.keys + index]), std::move(values_[frame.values + index]));
  }
  values_.resize(frame.values);
  keys_.resize(frame.keys);
  return add(Json(std::move(object)));
}

bool Builder::has_duplicates(std::size_t first_key) const {
  constexpr std::size_t few = 24;
  const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(first_key);
  if (keys_.size() - first_key <= few) {
    for (auto key = first; key != keys_.end(); ++key) {
      if (std::find(first, key, *key) != key) return true;
    }
    return false;
  }
  std::vector<std::string_view> sorted(first, keys_.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

void Builder::drop_duplicates(const Frame& frame) {
  std::unordered_map<std::string, std::size_t> seen;  // key to its place; true to the order of first appearance
  std::size_t kept = 0;
  std::vector<std::string> repeated;
  for (std::size_t index = 0; frame.keys + index < keys_.size(); ++index) {
    const auto [place, is_new] = seen.emplace(keys_[frame.keys + index], kept);
    Json& value = values_[frame.values + index];
    if (is_new) {
      if (kept != index) {
        keys_[frame.keys + kept] = std::move(keys_[frame.keys + index]);
        values_[frame.values + kept] = std::move(value);
      }
      ++kept;
    } else {
      values_[frame.values + place->second] = std::move(value);
      repeated.push_back(place->first);
    }
  }
  std::sort(repeated.begin(), repeated.end());
  repeated.erase(std::unique(repeated.begin(), repeated.end()), repeated.end());
  for (std::string& key : repeated) duplicates_.push_back(Duplicate{path(frame), std::move(key)});
  keys_.resize(frame.keys + kept);
  values_.resize(frame.values + kept);
}

std::string Builder::path(const Frame& closing) const {
  std::string path;
  for (std::size_t index = 0; index < frames_.size(); ++index) {
    const Frame& frame = frames_[index];
    const Frame& inner = index + 1 < frames_.size() ? frames_[index + 1] : closing;
    if (frame.object) {
      path += (path.empty() ? "" : ".") + text::excerpt(keys_[inner.keys - 1], 60);
    } else {
      path += "[" + std::to_string(inner.values - frame.values) + "]";
    }
  }
  return path.empty() ? "body" : path;
}

std::string reason_of(std::string_view what, std::string_view token) {
  // The message quotes the token once, after all that is nlohmann's own, and what it expected may follow. The token is
  // found by its place and its length: its client may have put any phrase into it, and bytes that are no UTF-8.
  constexpr std::string_view quote_begin = "; last read: '";
  constexpr std::string_view expected_begin = "'; expected ";
  const std::size_t quote = what.find(quote_begin);
  std::string_view own = what.substr(0, quote);
  std::string_view expected;
  if (quote != std::string_view::npos) {
    std::string_view rest = what.substr(quote + quote_begin.size());
    rest.remove_prefix(std::min(rest.size(), token.size()));
    if (rest.substr(0, expected_begin.size()) == expected_begin) expected = rest.substr(1);
  }
  const std::size_t frame_end = own.find("] ");
  if (frame_end != std::string_view::npos) own.remove_prefix(frame_end + 2);
  const std::size_t syntax_error = own.find(": syntax error ");
  if (syntax_error != std::string_view::npos) {
    const std::size_t dash = own.find("- ", syntax_error);
    if (dash != std::string_view::npos) own.remove_prefix(dash + 2);
  }
  return text::excerpt(std::string(own).append(expected), 200);
}

bool Builder::parse_error(std::size_t position, const std::string& token, const Json::exception& error) {
  // `position` counts the bytes read, the offending one included. Of a whole token in the wrong place, that is its
  // end; strings and numbers, whose text is known, are pointed at where they begin.
  std::size_t offset = position == 0 ? 0 : position - 1;
  const std::string reason = reason_of(error.what(), token);
  const bool whole_token = reason.compare(0, 17, "unexpected string") == 0 ||
                           reason.compare(0, 17, "unexpected number") == 0 ||
                           reason.compare(0, 15, "number overflow") == 0;
  if (whole_token && token.size() <= position && token.size() <= source_.size()) offset = position - token.size();
  fail_at(source_, offset, reason);
}

Json parse(std::string_view source, std::vector<Builder::Duplicate>& duplicates) {
  if (source.empty()) throw RequestError{failure(400, "invalid_json", "invalid JSON: the body is empty")};
  // nlohmann's lexer takes a NUL byte for the end and would ignore what follows.
  const std::size_t nul = source.find('\0');
  if (nul != std::string_view::npos) fail_at(source, nul, "a NUL byte");
  Builder builder(source);
  if (!Json::sax_parse(source.begin(), source.end(), &builder)) fail_at(source, 0, "not JSON");
  duplicates = builder.duplicates();
  return builder.take();
}

}  // namespace chat_json

namespace chat_fields {

/// The place of a value in the body; spelled out only when an error names it.
class Path {
 public:
  explicit Path(std::string_view name) : name_(name) {}
  Path(const Path& parent, std::string_view name) : parent_(&parent), name_(name) {}
  Path(const Path& parent, std::size_t index) : parent_(&parent), index_(index) {}

  /// "messages[0].content".
  std::string to_string() const;

 private:
  const Path* parent_ = nullptr;
  std::string_view name_;  // empty: an element
  std::size_t index_ = 0;
};

/// The documented fields and the extensions, in the order in which they are checked.
enum Field : std::size_t {
  model,
  messages,
  stream,
  stream_options,
  temperature,
  top_p,
  max_tokens,
  max_completion_tokens,
  presence_penalty,
  n,
  seed,
  stop,
  tools,
  tool_choice,
  parallel_tool_calls,
  response_format,
  enable_thinking,
  repetition_penalty,
  logprobs,
  top_logprobs,
  field_count
};

inline constexpr std::array<std::string_view, field_count> field_names = {"model",
                                                                          "messages",
                                                                          "stream",
                                                                          "stream_options",
                                                                          "temperature",
                                                                          "top_p",
                                                                          "max_tokens",
                                                                          "max_completion_tokens",
                                                                          "presence_penalty",
                                                                          "n",
                                                                          "seed",
                                                                          "stop",
                                                                          "tools",
                                                                          "tool_choice",
                                                                          "parallel_tool_calls",
                                                                          "response_format",
                                                                          "enable_thinking",
                                                                          "repetition_penalty",
                                                                          "logprobs",
                                                                          "top_logprobs"};

/// What OpenAI documents beyond these (API reference, "Create chat completion"). Here they have no effect.
inline constexpr std::array<std::string_view, 20> openai_fields = {"audio",
                                                                   "frequency_penalty",
                                                                   "function_call",
                                                                   "functions",
                                                                   "logit_bias",
                                                                   "metadata",
                                                                   "modalities",
                                                                   "moderation",
                                                                   "prediction",
                                                                   "prompt_cache_key",
                                                                   "prompt_cache_options",
                                                                   "prompt_cache_retention",
                                                                   "reasoning_effort",
                                                                   "safety_identifier",
                                                                   "service_tier",
                                                                   "store",
                                                                   "user",
                                                                   "verbosity",
                                                                   "web_search_options",
                                                                   "stream_options.include_obfuscation"};

/// A request with thousands of unknown fields or repeated keys gets this many findings at most.
inline constexpr std::size_t max_findings = 100;

/// "a string (\"hot\")", for the "got" of a message.
std::string describe(const Json& value);
/// "\"a\", \"b\"".
std::string quoted_list(std::initializer_list<std::string_view> values);
[[noreturn]] void fail(const char* code, const Path& path, const std::string& expected, const std::string& actual);
[[noreturn]] void fail_type(const Path& path, const std::string& expected, const Json& actual);
[[noreturn]] void fail_value(const Path& path, const std::string& expected, const Json& actual);
[[noreturn]] void fail_missing(const Path& path, const std::string& expected);

const std::string& require_string(const Json& value, const Path& path);
const std::string& require_filled_string(const Json& value, const Path& path);
bool require_boolean(const Json& value, const Path& path);
double require_number(const Json& value, const Path& path);
double require_number(const Json& value, const Path& path, double least, double most);
std::int64_t require_integer(const Json& value, const Path& path, std::int64_t least, std::int64_t most);
const Json::object_t& require_object(const Json& value, const Path& path);
const Json::array_t& require_array(const Json& value, const Path& path);

/// The member, or null without it. Not Json::find, which for a string_view would make a string.
const Json* member(const Json::object_t& object, std::string_view name);
/// The member, or RequestError.
const Json& require_member(const Json::object_t& object, const Path& path, std::string_view name, const char* expected);

/// Reads one body into one request.
class Reader {
 public:
  Reader(const Acceptance& acceptance, const ChatLimits& limits, ChatRequest& request)
      : acceptance_(acceptance.anything_with_model_and_messages ? Acceptance::lenient() : acceptance),
        limits_(limits),
        request_(request) {}

  void read(const std::vector<chat_json::Builder::Duplicate>& duplicates);

 private:
  void check_duplicates(const std::vector<chat_json::Builder::Duplicate>& duplicates);
  void collect(const Json::object_t& body);
  void unknown_field(const std::string& path, std::string_view name);
  /// Whether a field without effect is taken, and no finding: OpenAI is the service and documents it.
  bool is_known_to_openai(std::string_view name) const;
  void read_all();
  /// As read_all, but what has the wrong shape is left out.
  void read_what_fits();

  void read_messages(const Json& value, const Path& path);
  void read_message(const Json& value, const Path& path);
  void take_message(const Json& value);
  void read_content(const Json* value, const Path& path, bool may_be_null, Message& message);
  void check_parts(const Json::array_t& parts, const Path& path);
  /// Whether a message may go without content.
  bool needs_no_content(const Json::object_t& object, const Message& message) const;
  void read_tool_calls(const Json& value, const Path& path, Message& message);
  void read_field(Field field, const Json& value);
  void read_max_completion_tokens(const Json& value, const Path& path);
  void read_stream_options(const Json& value, const Path& path);
  void read_temperature(const Json& value, const Path& path);
  void read_stop(const Json& value, const Path& path);
  void read_tools(const Json& value, const Path& path);
  void read_tool_choice(const Json& value, const Path& path);
  void read_response_format(const Json& value, const Path& path);
  void read_top_logprobs(const Json& value, const Path& path);

  /// The member unless it is null and null counts as absent.
  const Json* optional_member(const Json::object_t& object, std::string_view name) const;
  std::string expected_role() const;
  std::string expected_tool_type() const;
  /// Whether a tool, a choice of one or a call is custom. Throws RequestError for a type that is not accepted.
  bool read_tool_type(const Json::object_t& object, const Path& path) const;
  /// Whether each tool call is answered, and each tool message an answer.
  void check_tool_messages();
  void add_finding(const char* code, std::string message, Severity severity = Severity::warning);

  const Acceptance acceptance_;
  const ChatLimits& limits_;
  ChatRequest& request_;
  std::array<const Json*, field_count> fields_{};
};

std::string Path::to_string() const {
  const std::string before = parent_ == nullptr ? std::string{} : parent_->to_string();
  if (name_.empty()) return before + "[" + std::to_string(index_) + "]";
  return before.empty() ? std::string(name_) : before + "." + std::string(name_);
}

std::string describe(const Json& value) {
  constexpr std::size_t shown = 60;
  switch (value.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::boolean: return value.get<bool>() ? "a boolean (true)" : "a boolean (false)";
    case Json::value_t::string: {
      std::string literal;
      text::append_json_string(literal, text::excerpt(value.get_ref<const std::string&>(), shown));
      return "a string (" + literal + ")";
    }
    case Json::value_t::array: return value.empty() ? "an empty array" : "an array";
    case Json::value_t::object: return "an object";
    default: return "a number (" + value.dump() + ")";
  }
}

std::string quoted_list(std::initializer_list<std::string_view> values) {
  std::string list;
  for (const std::string_view value : values) {
    if (value.empty()) continue;
    if (!list.empty()) list += ", ";
    list += "\"" + std::string(value) + "\"";
  }
  return list;
}

void fail(const char* code, const Path& path, const std::string& expected, const std::string& actual) {
  const std::string place = path.to_string();
  throw RequestError{failure(400, code, place + ": expected " + expected + ", got " + actual).param(place)};
}

void fail_type(const Path& path, const std::string& expected, const Json& actual) {
  fail("invalid_type", path, expected, describe(actual));
}

void fail_value(const Path& path, const std::string& expected, const Json& actual) {
  std::string description = describe(actual);
  if (actual.is_string() || actual.is_number()) {  // only the value: its type is right
    const std::size_t open = description.find('(');
    description = description.substr(open + 1, description.size() - open - 2);
  }
  fail("invalid_value", path, expected, description);
}

void fail_missing(const Path& path, const std::string& expected) {
  fail("missing_required_parameter", path, expected, "nothing");
}

const std::string& require_string(const Json& value, const Path& path) {
  if (!value.is_string()) fail_type(path, "a string", value);
  return value.get_ref<const std::string&>();
}

const std::string& require_filled_string(const Json& value, const Path& path) {
  const std::string& string = require_string(value, path);
  if (string.empty()) fail_value(path, "a string that is not empty", value);
  return string;
}

bool require_boolean(const Json& value, const Path& path) {
  if (!value.is_boolean()) fail_type(path, "a boolean", value);
  return value.get<bool>();
}

double require_number(const Json& value, const Path& path) {
  if (!value.is_number()) fail_type(path, "a number", value);
  return value.get<double>();
}

double require_number(const Json& value, const Path& path, double least, double most) {
  const double number = require_number(value, path);
  if (number < least) fail("value_below_minimum", path, "at least " + Json(least).dump(), value.dump());
  if (number > most) fail("value_above_maximum", path, "at most " + Json(most).dump(), value.dump());
  return number;
}

std::int64_t require_integer(const Json& value, const Path& path, std::int64_t least, std::int64_t most) {
  constexpr double two_to_63 = 9223372036854775808.0;
  if (!value.is_number()) fail_type(path, "an integer", value);
  bool below = false;
  bool above = false;
  std::int64_t number = 0;
  if (value.is_number_float()) {
    const double real = value.get<double>();
    if (std::trunc(real) != real) fail_type(path, "an integer", value);
    below = real <= -two_to_63;  // also what -2^63 - 1, too large for an integer, is rounded to
    above = real >= two_to_63;
    if (!below && !above) number = static_cast<std::int64_t>(real);
  } else if (value.is_number_unsigned()) {
    const std::uint64_t size = value.get<std::uint64_t>();
    above = size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!above) number = static_cast<std::int64_t>(size);
  } else {
    number = value.get<std::int64_t>();
  }
  if (below || (!above && number < least)) {
    fail("value_below_minimum", path, "at least " + std::to_string(least), value.dump());
  }
  if (above || number > most) fail("value_above_maximum", path, "at most " + std::to_string(most), value.dump());
  return number;
}

const Json::object_t& require_object(const Json& value, const Path& path) {
  if (!value.is_object()) fail_type(path, "an object", value);
  return value.get_ref<const Json::object_t&>();
}

const Json::array_t& require_array(const Json& value, const Path& path) {
  if (!value.is_array()) fail_type(path, "an array", value);
  return value.get_ref<const Json::array_t&>();
}

const Json* member(const Json::object_t& object, std::string_view name) {
  for (const auto& [key, value] : object) {
    if (key == name) return &value;
  }
  return nullptr;
}

const Json& require_member(const Json::object_t& object, const Path& path, std::string_view name,
                           const char* expected) {
  const Json* value = member(object, name);
  if (value == nullptr) fail_missing(Path(path, name), expected);
  return *value;
}

const Json* Reader::optional_member(const Json::object_t& object, std::string_view name) const {
  const Json* value = member(object, name);
  return value != nullptr && value->is_null() && acceptance_.null_as_absent ? nullptr : value;
}

void Reader::add_finding(const char* code, std::string message, Severity severity) {
  if (request_.findings.size() < max_findings) {
    request_.findings.push_back(Finding{code, std::move(message), severity});
  }
}

void Reader::check_tool_messages() {
  const std::vector<Message>& messages = request_.messages;
  const auto place = [](std::size_t index) { return "messages[" + std::to_string(index) + "]"; };
  const auto quoted = [](const std::string& id) {
    std::string literal;
    text::append_json_string(literal, text::excerpt(id, 60));
    return literal;
  };
  std::unordered_set<std::string_view> known;
  for (std::size_t index = 0; index < messages.size(); ++index) {
    const Message& message = messages[index];
    if (message.role == "tool" && known.count(message.tool_call_id) == 0) {
      add_finding("tool_result_unknown_id",
                  place(index) + ".tool_call_id: no call before it has the id " + quoted(message.tool_call_id) +
                      ". Send the call's own id, and keep the assistant's message with the call.",
                  Severity::error);
    }
    if (message.tool_calls.empty()) continue;
    std::unordered_set<std::string_view> answered;
    std::size_t end = index + 1;
    for (; end < messages.size() && messages[end].role == "tool"; ++end) answered.insert(messages[end].tool_call_id);
    std::string missing;
    std::size_t count = 0;
    for (const ToolCall& call : message.tool_calls) {
      known.insert(call.id);
      if (!answered.insert(call.id).second) continue;
      if (++count <= 3) missing += (count == 1 ? "" : ", ") + quoted(call.id);
    }
    if (count == 0) continue;
    if (count > 3) missing += " and " + std::to_string(count - 3) + " more";
    add_finding("tool_call_unanswered",
                place(index) + ".tool_calls: no tool message " +
                    (end < messages.size() ? "before " + place(end) : "up to the end of messages") + " answers " +
                    missing + ". Send each call's result right after the call.",
                Severity::error);
  }
}

void Reader::read(const std::vector<chat_json::Builder::Duplicate>& duplicates) {
  if (!duplicates.empty()) check_duplicates(duplicates);
  const Path root("body");
  collect(require_object(request_.body, root));
  if (acceptance_.anything_with_model_and_messages) {
    read_what_fits();
  } else {
    read_all();
  }
  check_tool_messages();
  if (request_.temperature && request_.top_p) {
    add_finding("temperature_and_top_p", "temperature and top_p are both given; set one of them.");
  }
  if (fields_[tool_choice] == nullptr && !request_.tools.empty()) {
    request_.tool_choice.mode = ToolChoice::Mode::automatic;
  }
}

void Reader::check_duplicates(const std::vector<chat_json::Builder::Duplicate>& duplicates) {
  for (const chat_json::Builder::Duplicate& duplicate : duplicates) {
    const std::string what =
        duplicate.object + ": the key \"" + text::excerpt(duplicate.key, 60) + "\" occurs more than once";
    if (!acceptance_.unknown_fields) {
      throw RequestError{failure(400, "invalid_json", "invalid JSON: " + what).param(duplicate.object)};
    }
    add_finding("duplicate_key", what + "; the last one counts. Send it once.");
  }
}

void Reader::collect(const Json::object_t& body) {
  for (const auto& [key, value] : body) {
    const auto name = std::find(field_names.begin(), field_names.end(), key);
    const auto field = static_cast<std::size_t>(name - field_names.begin());
    if (field == field_count || (!acceptance_.logprobs && (field == logprobs || field == top_logprobs)) ||
        (!acceptance_.max_completion_tokens && field == max_completion_tokens)) {
      if (!is_known_to_openai(key)) unknown_field(text::excerpt(key, 60), key);
    } else if (!value.is_null() || !acceptance_.null_as_absent || field == model || field == messages) {
      fields_[field] = &value;
    }
  }
}

bool Reader::is_known_to_openai(std::string_view name) const {
  return limits_.openai && acceptance_.unknown_fields &&
         std::find(openai_fields.begin(), openai_fields.end(), name) != openai_fields.end();
}

void Reader::unknown_field(const std::string& path, std::string_view name) {
  const char* const advice = name == "frequency_penalty"       ? "use repetition_penalty instead"
                             : name == "max_completion_tokens" ? "use max_tokens instead"
                                                               : "leave it out";
  const std::string message = path + ": not a documented field; " + advice;
  if (!acceptance_.unknown_fields) throw RequestError{failure(400, "unknown_parameter", message).param(path)};
  add_finding("unknown_field", message + ".");
}

void Reader::read_all() {
  if (fields_[model] == nullptr) fail_missing(Path("model"), "a string");
  request_.model = require_filled_string(*fields_[model], Path("model"));
  if (fields_[messages] == nullptr) fail_missing(Path("messages"), "an array");
  read_messages(*fields_[messages], Path("messages"));
  for (std::size_t field = stream; field < field_count; ++field) {
    if (fields_[field] != nullptr) read_field(static_cast<Field>(field), *fields_[field]);
  }
}

void Reader::read_what_fits() {
  if (fields_[model] == nullptr) fail_missing(Path("model"), "a string");
  request_.model = require_string(*fields_[model], Path("model"));
  if (fields_[messages] == nullptr) fail_missing(Path("messages"), "an array");
  for (const Json& message : require_array(*fields_[messages], Path("messages"))) take_message(message);
  for (std::size_t field = stream; field < field_count; ++field) {
    if (fields_[field] == nullptr) continue;
    try {
      read_field(static_cast<Field>(field), *fields_[field]);
    } catch (const RequestError&) {
      fields_[field] = nullptr;  // as if it were absent
    }
  }
}

void Reader::read_messages(const Json& value, const Path& path) {
  const Json::array_t& array = require_array(value, path);
  if (array.empty()) fail_value(path, "at least one message", value);
  request_.messages.reserve(array.size());
  for (std::size_t index = 0; index < array.size(); ++index) read_message(array[index], Path(path, index));
}

std::string Reader::expected_role() const {
  return "one of " + quoted_list({"system", "user", "assistant", acceptance_.tool_role ? "tool" : "",
                                  acceptance_.developer_role ? "developer" : ""});
}

void Reader::read_message(const Json& value, const Path& path) {
  const Json::object_t& object = require_object(value, path);
  Message& message = request_.messages.emplace_back();

  const Path role_path(path, "role");
  const Json* role = member(object, "role");
  if (role == nullptr) fail_missing(role_path, expected_role());
  if (!role->is_string()) fail_type(role_path, "a string", *role);
  message.role = role->get_ref<const std::string&>();
  const bool assistant = message.role == "assistant";
  const bool tool = acceptance_.tool_role && message.role == "tool";
  const bool known = assistant || tool || message.role == "user" || message.role == "system" ||
                     (acceptance_.developer_role && message.role == "developer");
  if (!known) fail_value(role_path, expected_role(), *role);

  if (assistant) {
    const Path calls_path(path, "tool_calls");
    if (acceptance_.tool_calls_in_messages) {
      if (const Json* calls = optional_member(object, "tool_calls")) read_tool_calls(*calls, calls_path, message);
    } else if (member(object, "tool_calls") != nullptr) {
      const std::string place = calls_path.to_string();
      throw RequestError{
          failure(400, "unknown_parameter", place + ": not a documented field; leave it out").param(place)};
    }
  }
  read_content(member(object, "content"), Path(path, "content"), needs_no_content(object, message), message);
  if (const Json* name = optional_member(object, "name")) message.name = require_string(*name, Path(path, "name"));
  if (tool) {
    const Json& id = require_member(object, path, "tool_call_id", "a string");
    message.tool_call_id = require_string(id, Path(path, "tool_call_id"));
  }
}

void Reader::take_message(const Json& value) {
  if (!value.is_object()) return;
  const Json::object_t& object = value.get_ref<const Json::object_t&>();
  const auto take_string = [&object](std::string_view name, std::string& target) {
    const Json* string = member(object, name);
    if (string != nullptr && string->is_string()) target = string->get_ref<const std::string&>();
  };
  Message& message = request_.messages.emplace_back();
  take_string("role", message.role);
  take_string("name", message.name);
  take_string("tool_call_id", message.tool_call_id);
  const Json* content = member(object, "content");
  if (content != nullptr && (content->is_string() || content->is_array())) message.content = *content;
  if (const Json* calls = member(object, "tool_calls")) {
    try {
      read_tool_calls(*calls, Path("tool_calls"), message);
    } catch (const RequestError&) {
      message.tool_calls.clear();
    }
  }
}

bool Reader::needs_no_content(const Json::object_t& object, const Message& message) const {
  if (!acceptance_.null_content_with_tool_calls) return false;
  if (!message.tool_calls.empty()) return true;
  if (!limits_.openai || message.role != "assistant") return false;
  // OpenAI sends these in place of content, and clients send them back.
  for (const std::string_view name : {"refusal", "audio", "function_call"}) {
    const Json* value = member(object, name);
    if (value != nullptr && !value->is_null()) return true;
  }
  return false;
}

void Reader::read_content(const Json* value, const Path& path, bool may_be_null, Message& message) {
  const bool parts = acceptance_.text_parts || acceptance_.other_parts;
  const char* expected = parts ? "a string or an array of parts" : "a string";
  if (value == nullptr || value->is_null()) {
    if (may_be_null) return;
    if (value == nullptr) fail_missing(path, expected);
    fail_type(path, expected, *value);
  }
  if (parts && value->is_array()) {
    if (value->empty()) fail_value(path, "at least one part", *value);
    check_parts(value->get_ref<const Json::array_t&>(), path);
  } else if (!value->is_string()) {
    fail_type(path, expected, *value);
  }
  message.content = *value;
}

void Reader::check_parts(const Json::array_t& parts, const Path& path) {
  for (std::size_t index = 0; index < parts.size(); ++index) {
    const Path part_path(path, index);
    const Json::object_t& part = require_object(parts[index], part_path);
    const Path type_path(part_path, "type");
    const Json& type = require_member(part, part_path, "type", "a string");
    const std::string& kind = require_string(type, type_path);
    const bool is_text = kind == "text";
    if (is_text ? !acceptance_.text_parts : !acceptance_.other_parts) {
      fail_value(type_path, is_text ? "another type than \"text\"" : "\"text\"", type);
    }
    if (is_text) require_string(require_member(part, part_path, "text", "a string"), Path(part_path, "text"));
    if (!limits_.openai || (kind != "image_url" && kind != "input_audio" && kind != "file")) continue;
    const Path content_path(part_path, kind);
    const Json::object_t& content = require_object(require_member(part, part_path, kind, "an object"), content_path);
    const auto require_text = [&](std::string_view name) {
      require_string(require_member(content, content_path, name, "a string"), Path(content_path, name));
    };
    if (kind == "image_url") require_text("url");
    if (kind == "input_audio") {
      require_text("data");
      require_text("format");
    }
  }
}

std::string Reader::expected_tool_type() const {
  return acceptance_.custom_tools ? "one of " + quoted_list({"function", "custom"}) : "\"function\"";
}

bool Reader::read_tool_type(const Json::object_t& object, const Path& path) const {
  const Path type_path(path, "type");
  const Json* type = member(object, "type");
  if (type == nullptr) fail_missing(type_path, expected_tool_type());
  const std::string& kind = require_string(*type, type_path);
  const bool custom = acceptance_.custom_tools && kind == "custom";
  if (!custom && kind != "function") fail_value(type_path, expected_tool_type(), *type);
  return custom;
}

void Reader::read_tool_calls(const Json& value, const Path& path, Message& message) {
  const Json::array_t& array = require_array(value, path);
  message.tool_calls.reserve(array.size());
  for (std::size_t index = 0; index < array.size(); ++index) {
    const Path call_path(path, index);
    const Json::object_t& call = require_object(array[index], call_path);
    ToolCall& target = message.tool_calls.emplace_back();
    target.id = require_string(require_member(call, call_path, "id", "a string"), Path(call_path, "id"));
    target.custom = read_tool_type(call, call_path);
    const std::string_view kind = target.custom ? "custom" : "function";
    const std::string_view arguments = target.custom ? "input" : "arguments";
    const Path function_path(call_path, kind);
    const Json::object_t& function = require_object(require_member(call, call_path, kind, "an object"), function_path);
    target.name =
        require_string(require_member(function, function_path, "name", "a string"), Path(function_path, "name"));
    target.arguments =
        require_string(require_member(function, function_path, arguments, "a string"), Path(function_path, arguments));
  }
}

void Reader::read_field(Field field, const Json& value) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const Path path(field_names[field]);
  switch (field) {
    case stream: request_.stream = require_boolean(value, path); break;
    case stream_options: read_stream_options(value, path); break;
    case temperature: read_temperature(value, path); break;
    case top_p: request_.top_p = require_number(value, path, 0, 1); break;
    case max_tokens: request_.max_tokens = require_integer(value, path, 1, largest); break;
    case max_completion_tokens: read_max_completion_tokens(value, path); break;
    case presence_penalty: request_.presence_penalty = require_number(value, path, -2, 2); break;
    case n: request_.n = require_integer(value, path, 1, limits_.max_n); break;
    case seed: request_.seed = require_integer(value, path, std::numeric_limits<std::int64_t>::min(), largest); break;
    case stop: read_stop(value, path); break;
    case tools: read_tools(value, path); break;
    case tool_choice: read_tool_choice(value, path); break;
    case parallel_tool_calls: request_.parallel_tool_calls = require_boolean(value, path); break;
    case response_format: read_response_format(value, path); break;
    case enable_thinking: request_.enable_thinking = require_boolean(value, path); break;
    case repetition_penalty: request_.repetition_penalty = require_number(value, path); break;
    case logprobs: request_.logprobs = require_boolean(value, path); break;
    case top_logprobs: read_top_logprobs(value, path); break;
    case model:
    case messages:
    case field_count: break;
  }
}

void Reader::read_max_completion_tokens(const Json& value, const Path& path) {
  if (fields_[max_tokens] != nullptr) {
    // OpenAI's own words.
    throw RequestError{failure(400, "invalid_parameter_combination",
                               "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
                           .param("max_tokens")};
  }
  request_.max_tokens = require_integer(value, path, 1, std::numeric_limits<std::int64_t>::max());
}

void Reader::read_stream_options(const Json& value, const Path& path) {
  const Json::object_t& options = require_object(value, path);
  if (const Json* include_usage = optional_member(options, "include_usage")) {
    request_.include_usage = require_boolean(*include_usage, Path(path, "include_usage"));
  }
  for (const auto& option : options) {
    if (option.first != "include_usage") {
      if (is_known_to_openai("stream_options." + option.first)) continue;
      unknown_field(path.to_string() + "." + text::excerpt(option.first, 60), option.first);
    }
  }
  if (!request_.stream) {
    if (!acceptance_.stream_options_without_stream) {
      fail("invalid_value", path, "nothing unless stream is true", "an object");
    }
    add_finding("stream_options_without_stream",
                "stream_options: without stream they have no effect; leave them out or set stream to true.");
  }
}

void Reader::read_temperature(const Json& value, const Path& path) {
  if (limits_.openai) {
    request_.temperature = require_number(value, path, 0, 2);
    return;
  }
  request_.temperature = require_number(value, path);
  if (*request_.temperature < 0 || *request_.temperature > 2) {
    add_finding("temperature_out_of_range",
                "temperature: " + value.dump() + " is outside 0 to 2, which other servers reject; stay within it.");
  }
}

void Reader::read_stop(const Json& value, const Path& path) {
  if (value.is_string() && acceptance_.stop_as_string) {
    request_.stop.push_back(require_filled_string(value, path));
    if (!limits_.openai)
      add_finding("stop_as_string", "stop: documented as an array; send [\"…\"] in place of the string.");
    return;
  }
  if (!value.is_array()) {
    fail_type(path, acceptance_.stop_as_string ? "an array of strings or a string" : "an array of strings", value);
  }
  const Json::array_t& array = value.get_ref<const Json::array_t&>();
  std::vector<std::string> sequences;
  sequences.reserve(array.size());
  for (std::size_t index = 0; index < array.size(); ++index) {
    sequences.push_back(require_filled_string(array[index], Path(path, index)));
  }
  request_.stop = std::move(sequences);
}

void Reader::read_tools(const Json& value, const Path& path) {
  const Json::array_t& array = require_array(value, path);
  std::vector<Tool> tools;
  tools.reserve(array.size());
  for (std::size_t index = 0; index < array.size(); ++index) {
    const Path tool_path(path, index);
    const Json::object_t& object = require_object(array[index], tool_path);
    const bool custom = read_tool_type(object, tool_path);
    const std::string_view kind = custom ? "custom" : "function";
    const Path function_path(tool_path, kind);
    const Json::object_t& function =
        require_object(require_member(object, tool_path, kind, "an object"), function_path);

    Tool& tool = tools.emplace_back();
    tool.custom = custom;
    tool.name =
        require_filled_string(require_member(function, function_path, "name", "a string"), Path(function_path, "name"));
    if (const Json* description = optional_member(function, "description")) {
      tool.description = require_string(*description, Path(function_path, "description"));
    }
    if (custom) {
      if (const Json* format = optional_member(function, "format"))
        require_object(*format, Path(function_path, "format"));
      continue;
    }
    if (const Json* parameters = optional_member(function, "parameters")) {
      require_object(*parameters, Path(function_path, "parameters"));
      tool.parameters = *parameters;
    }
    if (const Json* strict = optional_member(function, "strict")) {
      tool.strict = require_boolean(*strict, Path(function_path, "strict"));
    }
  }
  request_.tools = std::move(tools);
}

void Reader::read_tool_choice(const Json& value, const Path& path) {
  ToolChoice choice;
  if (value.is_string()) {
    const std::string& mode = value.get_ref<const std::string&>();
    if (mode == "none") {
      choice.mode = ToolChoice::Mode::none;
    } else if (mode == "auto") {
      choice.mode = ToolChoice::Mode::automatic;
    } else if (mode == "required" && acceptance_.tool_choice_required) {
      choice.mode = ToolChoice::Mode::required;
      if (request_.tools.empty()) fail("invalid_value", path, "tools for \"required\"", "none");
    } else {
      fail_value(path,
                 "one of " + quoted_list({"none", "auto", acceptance_.tool_choice_required ? "required" : ""}) +
                     " or an object that names a function",
                 value);
    }
  } else if (value.is_object()) {
    const Json::object_t& object = value.get_ref<const Json::object_t&>();
    const bool custom = read_tool_type(object, path);
    const std::string_view kind = custom ? "custom" : "function";
    const Path function_path(path, kind);
    const Json::object_t& function = require_object(require_member(object, path, kind, "an object"), function_path);
    const Path name_path(function_path, "name");
    const Json& name = require_member(function, function_path, "name", "a string");
    choice.mode = ToolChoice::Mode::named;
    choice.name = require_filled_string(name, name_path);
    const bool exists = std::any_of(request_.tools.begin(), request_.tools.end(), [&](const Tool& tool) {
      return tool.name == choice.name && tool.custom == custom;
    });
    if (!exists) fail_value(name_path, custom ? "the name of a custom tool" : "the name of one of tools", name);
  } else {
    fail_type(path, "a string or an object", value);
  }
  request_.tool_choice = std::move(choice);
}

void Reader::read_response_format(const Json& value, const Path& path) {
  const Json::object_t& object = require_object(value, path);
  const Path type_path(path, "type");
  const Json& type = require_member(object, path, "type", "a string");
  const std::string& kind = require_string(type, type_path);
  ResponseFormat format;
  if (kind == "text") {
    format.kind = ResponseFormat::Kind::text;
  } else if (kind == "json_object") {
    format.kind = ResponseFormat::Kind::json_object;
  } else if (kind == "json_schema") {
    format.kind = ResponseFormat::Kind::json_schema;
    const Path schema_path(path, "json_schema");
    const Json::object_t& description =
        require_object(require_member(object, path, "json_schema", "an object"), schema_path);
    format.name =
        require_filled_string(require_member(description, schema_path, "name", "a string"), Path(schema_path, "name"));
    const Json& schema = require_member(description, schema_path, "schema", "an object");
    require_object(schema, Path(schema_path, "schema"));
    format.schema = schema;
    const Json* strict = member(description, "strict");
    if (strict != nullptr && !strict->is_null()) {
      format.strict = require_boolean(*strict, Path(schema_path, "strict"));
    }
    if (const Json* about = optional_member(description, "description")) {
      require_string(*about, Path(schema_path, "description"));
    }
  } else {
    fail_value(type_path, "one of " + quoted_list({"text", "json_object", "json_schema"}), type);
  }
  request_.response_format = std::move(format);
}

void Reader::read_top_logprobs(const Json& value, const Path& path) {
  const std::int64_t count = require_integer(value, path, 0, 20);
  if (!request_.logprobs) fail("invalid_value", path, "nothing unless logprobs is true", value.dump());
  request_.top_logprobs = count;
}

}  // namespace chat_fields

ChatRequest parse_chat_request(std::string_view body, const Acceptance& acceptance, const ChatLimits& limits) {
  ChatRequest request;
  std::vector<chat_json::Builder::Duplicate> duplicates;
  request.body = chat_json::parse(body, duplicates);
  chat_fields::Reader(acceptance, limits, request).read(duplicates);
  return request;
}

}  // namespace detail

Json ToolCall::json() const {
  try {
    std::vector<detail::chat_json::Builder::Duplicate> duplicates;
    return detail::chat_json::parse(arguments, duplicates);
  } catch (const detail::RequestError&) {
    return nullptr;
  }
}

std::string Message::text() const {
  if (content.is_string()) return content.get_ref<const std::string&>();
  std::string joined;
  if (!content.is_array()) return joined;
  for (const Json& part : content) {
    if (!part.is_object()) continue;
    const auto& members = part.get_ref<const Json::object_t&>();
    const Json* type = detail::chat_fields::member(members, "type");
    const Json* value = detail::chat_fields::member(members, "text");
    if (type != nullptr && *type == "text" && value != nullptr && value->is_string()) {
      joined += value->get_ref<const std::string&>();
    }
  }
  return joined;
}

std::string ChatRequest::last_user_text() const {
  const auto last =
      std::find_if(messages.rbegin(), messages.rend(), [](const Message& message) { return message.role == "user"; });
  return last == messages.rend() ? std::string{} : last->text();
}

bool ChatRequest::has_tool(std::string_view name) const { return tool(name) != nullptr; }

const Tool* ChatRequest::tool(std::string_view name) const {
  const auto found = std::find_if(tools.begin(), tools.end(), [name](const Tool& tool) { return tool.name == name; });
  return found == tools.end() ? nullptr : &*found;
}

std::string to_string(ToolChoice::Mode mode) {
  switch (mode) {
    case ToolChoice::Mode::none: return "none";
    case ToolChoice::Mode::automatic: return "automatic";
    case ToolChoice::Mode::required: return "required";
    case ToolChoice::Mode::named: return "named";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, ToolChoice::Mode mode) { return out << to_string(mode); }

std::string to_string(ResponseFormat::Kind kind) {
  switch (kind) {
    case ResponseFormat::Kind::text: return "text";
    case ResponseFormat::Kind::json_object: return "json_object";
    case ResponseFormat::Kind::json_schema: return "json_schema";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, ResponseFormat::Kind kind) { return out << to_string(kind); }

}  // namespace mock_gateway
