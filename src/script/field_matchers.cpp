// Matchers of fields and of JSON in the body, their names and "actual" in reports.

#include <algorithm>  // count_if, find, min
#include <optional>
#include <utility>

#include "../core/error.hpp"
#include "../core/json_pointer.hpp"
#include "excerpts.hpp"
#include "json_comparison.hpp"
#include "matcher_leaf.hpp"
#include "matcher_node.hpp"
#include "matchers.hpp"

namespace mock_gateway {
namespace detail {
namespace matchers {

/// In the order of ChatField.
inline constexpr const char* field_names[] = {"model",
                                              "stream",
                                              "stream_options.include_usage",
                                              "temperature",
                                              "top_p",
                                              "max_tokens",
                                              "n",
                                              "presence_penalty",
                                              "repetition_penalty",
                                              "seed",
                                              "stop",
                                              "tool_choice",
                                              "parallel_tool_calls",
                                              "response_format",
                                              "response schema",
                                              "enable_thinking",
                                              "logprobs",
                                              "number of user messages",
                                              "number of messages",
                                              "number of tools"};

std::string name_of(ChatField field) { return field_names[static_cast<std::size_t>(field)]; }

std::optional<double> number_of(const ChatRequest& chat, ChatField field) {
  switch (field) {
    case ChatField::temperature: return chat.temperature;
    case ChatField::top_p: return chat.top_p;
    case ChatField::max_tokens: return chat.max_tokens;
    case ChatField::n: return static_cast<double>(chat.n);
    case ChatField::presence_penalty: return chat.presence_penalty;
    case ChatField::repetition_penalty: return chat.repetition_penalty;
    case ChatField::user_messages:
      return static_cast<double>(std::count_if(chat.messages.begin(), chat.messages.end(), is_user_message));
    case ChatField::messages: return static_cast<double>(chat.messages.size());
    case ChatField::tools: return static_cast<double>(chat.tools.size());
    default: return std::nullopt;
  }
}

std::string_view word(const wire::ToolChoice& choice) {
  switch (choice.mode) {
    case wire::ToolChoice::Mode::none: return "none";
    case wire::ToolChoice::Mode::automatic: return "auto";
    case wire::ToolChoice::Mode::required: return "required";
    case wire::ToolChoice::Mode::named: break;
  }
  return choice.name;
}

std::string_view word(wire::ResponseFormat::Kind kind) {
  switch (kind) {
    case wire::ResponseFormat::Kind::text: return "text";
    case wire::ResponseFormat::Kind::json_object: return "json_object";
    case wire::ResponseFormat::Kind::json_schema: break;
  }
  return "json_schema";
}

std::optional<std::string_view> word(std::optional<bool> flag) {
  if (!flag) return std::nullopt;
  return *flag ? "true" : "false";
}

/// The field as text, when it is one of a few words, or text.
std::optional<std::string_view> word_of(const ChatRequest& chat, ChatField field) {
  switch (field) {
    case ChatField::model: return chat.model;
    case ChatField::stream: return word(chat.stream);
    case ChatField::include_usage: return word(chat.include_usage);
    case ChatField::tool_choice: return word(chat.tool_choice);
    case ChatField::parallel_tool_calls: return word(chat.parallel_tool_calls);
    case ChatField::response_format:
      return word(chat.response_format ? chat.response_format->kind : wire::ResponseFormat::Kind::text);
    case ChatField::response_schema:
      if (!chat.response_format || chat.response_format->kind != wire::ResponseFormat::Kind::json_schema)
        return std::nullopt;
      return chat.response_format->name;
    case ChatField::enable_thinking: return word(chat.enable_thinking);
    case ChatField::logprobs: return word(chat.logprobs);
    default: return std::nullopt;
  }
}

/// A value of the body as it was sent: the parsed request no longer knows a default from a value.
std::string sent(const Json* value) { return value == nullptr ? "not sent" : excerpts::json(*value); }

std::string actual_tools(const MatcherNode&, const ChatCall& call) {
  if (call.chat().tools.empty()) return "no tools";
  std::vector<std::string_view> names;
  for (const wire::Tool& tool : call.chat().tools) names.push_back(tool.name);
  return listed("tools: ", names);
}

std::string actual_field(const MatcherNode& node, const ChatCall& call) {
  const ChatRequest& chat = call.chat();
  const auto field = [&chat](const char* name) { return json_pointer::child(chat.body, name); };
  const auto within = [](const Json* value, const char* name) {
    return value == nullptr ? nullptr : json_pointer::child(*value, name);
  };
  switch (node.field) {
    case ChatField::include_usage: return sent(within(field("stream_options"), "include_usage"));
    case ChatField::tool_choice:
      return excerpts::quoted(word(chat.tool_choice)) + (field("tool_choice") == nullptr ? " (not sent)" : "");
    case ChatField::response_format: {
      const Json* type = within(field("response_format"), "type");
      return sent(type == nullptr ? field("response_format") : type);
    }
    case ChatField::response_schema: {
      if (const auto name = word_of(chat, node.field)) return excerpts::quoted(*name);
      const Json* format = field("response_format");
      return format == nullptr ? "response_format not sent" : "response_format " + excerpts::json(*format);
    }
    case ChatField::user_messages:
    case ChatField::messages: return std::to_string(static_cast<std::size_t>(number_of(chat, node.field).value_or(0)));
    case ChatField::tools:
      return (chat.tools.empty() ? "" : std::to_string(chat.tools.size()) + ", ") + actual_tools(node, call);
    default: return sent(field(field_names[static_cast<std::size_t>(node.field)]));
  }
}

bool number_matches(const MatcherNode& node, const ChatCall& call) {
  const std::optional<double> number = number_of(call.chat(), node.field);
  return number && node.range->contains(*number);
}

bool word_matches(const MatcherNode& node, const ChatCall& call) {
  return word_of(call.chat(), node.field) == std::string_view(node.operand);
}

bool seed_matches(const MatcherNode& node, const ChatCall& call) { return call.chat().seed == node.number; }

bool stop_has(const MatcherNode& node, const ChatCall& call) {
  const std::vector<std::string>& stop = call.chat().stop;
  return std::find(stop.begin(), stop.end(), node.operand) != stop.end();
}

bool offers_tool(const MatcherNode& node, const ChatCall& call) { return call.chat().has_tool(node.operand); }

MatcherNode field_leaf(ChatField field, std::string description, Test test, std::string operand = "") {
  MatcherNode node = leaf(std::move(description), test, actual_field, std::move(operand));
  node.field = field;
  return node;
}

Matcher number_is(ChatField field, const Range& range) {
  MatcherNode node = field_leaf(field, name_of(field) + " is " + range.to_string(), number_matches);
  node.range = range;
  return Matcher(std::move(node));
}

Matcher flag_is(ChatField field, bool flag) {
  const std::string value = flag ? "true" : "false";
  return Matcher(field_leaf(field, name_of(field) + " is " + value, word_matches, value));
}

Matcher word_is(ChatField field, std::string value) {
  std::string description = name_of(field) + " is " + excerpts::quoted(value);
  return Matcher(field_leaf(field, std::move(description), word_matches, std::move(value)));
}

// ---- JSON

/// The names of a JSON pointer. Throws GatewayError.
std::vector<std::string> parse_pointer(const std::string& source) {
  const auto refuse = [&source](const char* why) {
    throw GatewayError(excerpts::quoted(source) + " is no JSON pointer: " + why);
  };
  if (!source.empty() && source.front() != '/') refuse("it begins with \"/\", or is empty for the whole body");
  std::vector<std::string> names;
  for (std::size_t start = 1; start <= source.size();) {
    const std::size_t end = std::min(source.find('/', start), source.size());
    std::optional<std::string> name = json_pointer::name_of(std::string_view(source).substr(start, end - start));
    if (!name) refuse("\"~\" is written ~0, and \"/\" within a name ~1");
    names.push_back(std::move(*name));
    start = end + 1;
  }
  return names;
}

const Json* value_at(const Json& root, const std::vector<std::string>& pointer) {
  const Json* value = &root;
  for (const std::string& name : pointer) {
    value = json_pointer::child(*value, name);
    if (value == nullptr) return nullptr;
  }
  return value;
}

bool body_has_field(const MatcherNode& node, const ChatCall& call) {
  return json_pointer::child(call.chat().body, node.operand) != nullptr;
}

std::string actual_fields(const MatcherNode& node, const ChatCall& call) {
  if (const Json* value = json_pointer::child(call.chat().body, node.operand)) return excerpts::json(*value);
  std::vector<std::string_view> names;
  for (const auto& field : call.chat().body.get_ref<const Json::object_t&>()) names.push_back(field.first);
  return listed("fields: ", names);
}

bool json_matches(const MatcherNode& node, const ChatCall& call) {
  const Json* actual = value_at(call.chat().body, node.path);
  return actual != nullptr && json_comparison::same(node.json, *actual);
}

/// What is at a pointer: whole when it is short, else what differs.
std::string actual_json(const MatcherNode& node, const ChatCall& call) {
  const Json* actual = value_at(call.chat().body, node.path);
  if (actual == nullptr) return "nothing there";
  const std::string whole = actual->dump(-1, ' ', false, Json::error_handler_t::replace);
  std::optional<json_comparison::Difference> difference =
      json_comparison::first_difference(node.json, *actual, json_comparison::Extent::whole);
  if (whole.size() <= excerpts::shown_bytes || !difference) return excerpts::plain(whole);
  difference->pointer.insert(0, node.operand);
  return json_comparison::explain(*difference);
}

bool json_text_matches(const MatcherNode& node, const ChatCall& call) {
  const Json* actual = value_at(call.chat().body, node.path);
  return actual != nullptr && actual->is_string() && node.text->matches(actual->get_ref<const std::string&>());
}

std::string actual_json_text(const MatcherNode& node, const ChatCall& call) {
  const Json* actual = value_at(call.chat().body, node.path);
  if (actual == nullptr) return "nothing there";
  if (!actual->is_string()) return "no text: " + excerpts::json(*actual);
  return shown(*node.text, actual->get_ref<const std::string&>());
}

std::optional<json_comparison::Difference> body_difference(const MatcherNode& node, const ChatCall& call) {
  return json_comparison::first_difference(node.json, call.chat().body, json_comparison::Extent::part);
}

bool body_matches(const MatcherNode& node, const ChatCall& call) { return !body_difference(node, call); }

std::string actual_body(const MatcherNode& node, const ChatCall& call) {
  const std::optional<json_comparison::Difference> found = body_difference(node, call);
  return found ? json_comparison::explain(*found) : std::string();
}

}  // namespace matchers
}  // namespace detail

Matcher turns_are(Range count) { return detail::matchers::number_is(detail::ChatField::user_messages, count); }
Matcher messages_are(Range count) { return detail::matchers::number_is(detail::ChatField::messages, count); }
Matcher tools_are(Range count) { return detail::matchers::number_is(detail::ChatField::tools, count); }
Matcher model_is(std::string id) { return detail::matchers::word_is(detail::ChatField::model, std::move(id)); }
Matcher stream_is(bool stream) { return detail::matchers::flag_is(detail::ChatField::stream, stream); }
Matcher include_usage_is(bool include_usage) {
  return detail::matchers::flag_is(detail::ChatField::include_usage, include_usage);
}
Matcher temperature_is(Range range) { return detail::matchers::number_is(detail::ChatField::temperature, range); }
Matcher top_p_is(Range range) { return detail::matchers::number_is(detail::ChatField::top_p, range); }
Matcher max_tokens_is(Range range) { return detail::matchers::number_is(detail::ChatField::max_tokens, range); }
Matcher presence_penalty_is(Range range) {
  return detail::matchers::number_is(detail::ChatField::presence_penalty, range);
}
Matcher repetition_penalty_is(Range range) {
  return detail::matchers::number_is(detail::ChatField::repetition_penalty, range);
}
Matcher n_is(Range range) { return detail::matchers::number_is(detail::ChatField::n, range); }
Matcher tool_choice_is(std::string choice) {
  return detail::matchers::word_is(detail::ChatField::tool_choice, std::move(choice));
}
Matcher parallel_tool_calls_is(bool parallel) {
  return detail::matchers::flag_is(detail::ChatField::parallel_tool_calls, parallel);
}
Matcher response_schema_is(std::string name) {
  return detail::matchers::word_is(detail::ChatField::response_schema, std::move(name));
}
Matcher enable_thinking_is(bool enabled) {
  return detail::matchers::flag_is(detail::ChatField::enable_thinking, enabled);
}
Matcher logprobs_is(bool logprobs) { return detail::matchers::flag_is(detail::ChatField::logprobs, logprobs); }

Matcher response_format_is(std::string type) {
  if (type != "text" && type != "json_object" && type != "json_schema") {
    throw GatewayError("a response_format is \"text\", \"json_object\" or \"json_schema\", not " +
                       detail::excerpts::quoted(type));
  }
  return detail::matchers::word_is(detail::ChatField::response_format, std::move(type));
}

Matcher seed_is(std::int64_t seed) {
  using namespace detail::matchers;
  detail::MatcherNode node = field_leaf(detail::ChatField::seed, "seed is " + std::to_string(seed), seed_matches);
  node.number = seed;
  return Matcher(std::move(node));
}

Matcher has_stop(std::string sequence) {
  using namespace detail::matchers;
  std::string description = "stop has " + detail::excerpts::quoted(sequence);
  return Matcher(field_leaf(detail::ChatField::stop, std::move(description), stop_has, std::move(sequence)));
}

Matcher has_tool(std::string name) {
  using namespace detail::matchers;
  return Matcher(leaf("has tool " + detail::excerpts::quoted(name), offers_tool, actual_tools, name));
}

Matcher has_field(std::string name) {
  using namespace detail::matchers;
  return Matcher(leaf("has field " + detail::excerpts::quoted(name), body_has_field, actual_fields, name));
}

Matcher json_at(std::string pointer, Json value) {
  using namespace detail::matchers;
  std::vector<std::string> path = parse_pointer(pointer);
  std::string description =
      "json at " + detail::json_comparison::place(pointer) + " is " + detail::excerpts::json(value);
  detail::MatcherNode node = leaf(std::move(description), json_matches, actual_json, std::move(pointer));
  node.path = std::move(path);
  node.json = std::move(value);
  return Matcher(std::move(node));
}

Matcher json_text_at(std::string pointer, TextMatcher text) {
  using namespace detail::matchers;
  std::vector<std::string> path = parse_pointer(pointer);
  std::string description = "text at " + detail::json_comparison::place(pointer) + " " + text.to_string();
  detail::MatcherNode node = text_leaf(std::move(description), text, json_text_matches, actual_json_text);
  node.path = std::move(path);
  return Matcher(std::move(node));
}

Matcher body_includes(Json part) {
  using namespace detail::matchers;
  detail::MatcherNode node = leaf("body includes " + detail::excerpts::json(part), body_matches, actual_body);
  node.json = std::move(part);
  return Matcher(std::move(node));
}

}  // namespace mock_gateway
