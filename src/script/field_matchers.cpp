// The request fields that matchers compare; matchers of JSON in the body or in an element of it.

#include "field_matchers.hpp"

#include <algorithm>  // any_of, count_if, find, min, replace
#include <cstddef>
#include <iterator>  // size
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/json_pointer.hpp"
#include "excerpts.hpp"
#include "json_comparison.hpp"
#include "matcher_node.hpp"
#include "matchers.hpp"

namespace mock_gateway {
namespace detail {
namespace matchers {

// ---- Fields

/// The possible words of `response_format`, in the order of wire::ResponseFormat::Kind.
inline constexpr const char* response_formats[] = {"text", "json_object", "json_schema"};

std::int64_t user_message_count(const ChatCall& call) {
  const std::vector<wire::Message>& messages = call.chat().messages;
  return std::count_if(messages.begin(), messages.end(), is_user_message);
}

std::int64_t message_count(const ChatCall& call) { return static_cast<std::int64_t>(call.chat().messages.size()); }

std::int64_t prompt_token_count(const ChatCall& call) { return static_cast<std::int64_t>(call.prompt_tokens()); }

std::int64_t body_byte_count(const ChatCall& call) { return static_cast<std::int64_t>(call.http().body.size()); }

std::int64_t tool_count(const ChatCall& call) { return static_cast<std::int64_t>(call.chat().tools.size()); }

std::int64_t choice_count(const ChatCall& call) { return call.chat().n; }

std::optional<std::string_view> model_of(const ChatRequest& chat) { return chat.model; }

std::optional<std::string_view> tool_choice_of(const ChatRequest& chat) {
  switch (chat.tool_choice.mode) {
    case wire::ToolChoice::Mode::none: return "none";
    case wire::ToolChoice::Mode::automatic: return "auto";
    case wire::ToolChoice::Mode::required: return "required";
    case wire::ToolChoice::Mode::named: break;
  }
  return chat.tool_choice.name;
}

std::optional<std::string_view> response_format_of(const ChatRequest& chat) {
  const auto kind = chat.response_format ? chat.response_format->kind : wire::ResponseFormat::Kind::text;
  return response_formats[static_cast<std::size_t>(kind)];
}

std::optional<std::string_view> response_schema_of(const ChatRequest& chat) {
  if (!chat.response_format || chat.response_format->kind != wire::ResponseFormat::Kind::json_schema)
    return std::nullopt;
  return chat.response_format->name;
}

bool has_stop_sequence(const ChatRequest& chat, std::string_view sequence) {
  return std::find(chat.stop.begin(), chat.stop.end(), sequence) != chat.stop.end();
}

bool offers_tool(const ChatRequest& chat, std::string_view name) { return chat.has_tool(name); }

/// Formats the value in the body. The parsed request does not tell a default from a sent value.
std::string sent(const Json* value) { return value == nullptr ? "not sent" : excerpts::json(*value); }

std::string actual_field(const MatcherNode& node, const ChatCall& call) {
  return sent(json_pointer::find(call.chat().body, node.field->pointer));
}

std::string actual_count(const MatcherNode& node, const ChatCall& call) {
  return std::to_string(node.field->value.count(call));
}

std::string actual_tools(const MatcherNode&, const ChatCall& call) {
  if (call.chat().tools.empty()) return "no tools";
  std::vector<std::string_view> names;
  for (const wire::Tool& tool : call.chat().tools) names.push_back(tool.name);
  return listed("tools: ", names);
}

std::string actual_tool_count(const MatcherNode& node, const ChatCall& call) {
  const std::size_t count = call.chat().tools.size();
  return (count == 0 ? "" : std::to_string(count) + ", ") + actual_tools(node, call);
}

std::string actual_tool_choice(const MatcherNode& node, const ChatCall& call) {
  return excerpts::quoted(*tool_choice_of(call.chat())) +
         (json_pointer::find(call.chat().body, node.field->pointer) == nullptr ? " (not sent)" : "");
}

std::string actual_response_format(const MatcherNode&, const ChatCall& call) {
  const Json* type = json_pointer::find(call.chat().body, "/response_format/type");
  return sent(type == nullptr ? json_pointer::find(call.chat().body, "/response_format") : type);
}

std::string actual_response_schema(const MatcherNode&, const ChatCall& call) {
  if (const auto name = response_schema_of(call.chat())) return excerpts::quoted(*name);
  return "response_format " + sent(json_pointer::find(call.chat().body, "/response_format"));
}

using Kind = RequestField::Kind;

inline constexpr RequestField message_fields[] = {
    {"turns_are", Kind::number, "/messages", user_message_count, "the number of user messages",
     "number of user messages is", actual_count},
    {"messages_are", Kind::number, "/messages", message_count, "the number of messages", "number of messages is",
     actual_count},
    {"prompt_tokens_are", Kind::number, "/messages", prompt_token_count,
     "the tokens of the prompt as the gateway counts them, as in `usage.prompt_tokens`", "number of prompt tokens is",
     actual_count},
    {"body_bytes_are", Kind::number, "", body_byte_count, "the bytes of the body, with keys masked",
     "number of body bytes is", actual_count},
};

inline constexpr RequestField request_fields[] = {
    {"model_is", Kind::model, "/model", model_of, "`model`"},
    {"stream_is", Kind::flag, "/stream", &ChatRequest::stream, "`stream`; not sent is false"},
    {"include_usage_is", Kind::flag, "/stream_options/include_usage", &ChatRequest::include_usage,
     "`stream_options.include_usage`; not sent is false"},
    {"temperature_is", Kind::number, "/temperature", &ChatRequest::temperature, "`temperature`"},
    {"top_p_is", Kind::number, "/top_p", &ChatRequest::top_p, "`top_p`"},
    {"max_tokens_is", Kind::number, "/max_tokens", &ChatRequest::max_tokens, "`max_tokens`"},
    {"presence_penalty_is", Kind::number, "/presence_penalty", &ChatRequest::presence_penalty, "`presence_penalty`"},
    {"repetition_penalty_is", Kind::number, "/repetition_penalty", &ChatRequest::repetition_penalty,
     "`repetition_penalty`"},
    {"n_is", Kind::number, "/n", choice_count, "`n`; not sent is 1"},
    {"seed_is", Kind::whole, "/seed", &ChatRequest::seed, "`seed`"},
    {"has_stop", Kind::list, "/stop", has_stop_sequence, "`stop` holds this sequence", "stop has"},
    {"has_tool", Kind::list, "/tools", offers_tool, "the request offers this function", "has tool", actual_tools},
    {"tools_are", Kind::number, "/tools", tool_count, "the number of functions offered", "number of tools is",
     actual_tool_count},
    {"tool_choice_is", Kind::word, "/tool_choice", tool_choice_of,
     "none, auto, required, or the function that must be called", nullptr, actual_tool_choice},
    {"parallel_tool_calls_is", Kind::flag, "/parallel_tool_calls", &ChatRequest::parallel_tool_calls,
     "`parallel_tool_calls`"},
    {"response_format_is",
     Kind::word,
     "/response_format",
     response_format_of,
     "text, json_object or json_schema",
     nullptr,
     actual_response_format,
     {response_formats, std::size(response_formats)}},
    {"response_schema_is", Kind::word, "/response_format/json_schema/name", response_schema_of,
     "the name of the schema", "response schema is", actual_response_schema},
    {"enable_thinking_is", Kind::flag, "/enable_thinking", &ChatRequest::enable_thinking, "`enable_thinking`"},
    {"logprobs_is", Kind::flag, "/logprobs", &ChatRequest::logprobs, "`logprobs`; not sent is false"},
};

/// Returns "stream_options.include_usage" for "/stream_options/include_usage".
std::string name_of(const RequestField& field) {
  std::string name = field.pointer + 1;
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

bool number_matches(const MatcherNode& node, const ChatCall& call) {
  const FieldValue& value = node.field->value;
  std::optional<double> number;
  if (value.number != nullptr) number = call.chat().*value.number;
  if (value.whole != nullptr) number = call.chat().*value.whole;
  if (value.count != nullptr) number = static_cast<double>(value.count(call));
  return number && node.range->contains(*number);
}

bool whole_matches(const MatcherNode& node, const ChatCall& call) {
  return call.chat().*node.field->value.whole == node.json.get<std::int64_t>();
}

bool flag_matches(const MatcherNode& node, const ChatCall& call) {
  const FieldValue& value = node.field->value;
  const bool wanted = node.json.get<bool>();
  if (value.flag != nullptr) return call.chat().*value.flag == wanted;
  return call.chat().*value.optional_flag == wanted;
}

bool word_matches(const MatcherNode& node, const ChatCall& call) {
  const FieldValue& value = node.field->value;
  const std::string_view wanted = node.json.get_ref<const std::string&>();
  return value.has != nullptr ? value.has(call.chat(), wanted) : value.word(call.chat()) == wanted;
}

MatcherNode field_leaf(const RequestField& field, const std::string& shown, Test test) {
  std::string description = field.says != nullptr ? field.says : name_of(field) + " is";
  MatcherNode node =
      leaf(std::move(description) + " " + shown, test, field.actual != nullptr ? field.actual : actual_field);
  node.field = &field;
  return node;
}

void require_word(const RequestField& field, const std::string& word) {
  const FieldWords& known = field.words;
  std::string list;
  for (std::size_t index = 0; index < known.count; ++index) {
    if (word == known.words[index]) return;
    list += (index == 0 ? "" : index + 1 < known.count ? ", " : " or ") + excerpts::quoted(known.words[index]);
  }
  if (known.count > 0) throw GatewayError("a " + name_of(field) + " is " + list + ", not " + excerpts::quoted(word));
}

// ---- JSON

/// Throws GatewayError for an invalid pointer.
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

/// Returns the JSON that the matchers look at: the body, or within any_at() the element.
const Json& root_of(const ChatCall& call) {
  const Json* const element = Access::element(call);
  return element != nullptr ? *element : call.chat().body;
}

bool body_has_field(const MatcherNode& node, const ChatCall& call) {
  const Json& root = root_of(call);
  return root.is_object() && json_pointer::child(root, node.operand) != nullptr;
}

std::string actual_fields(const MatcherNode& node, const ChatCall& call) {
  const Json& root = root_of(call);
  if (!root.is_object()) return "no object: " + excerpts::json(root);
  if (const Json* value = json_pointer::child(root, node.operand)) return excerpts::json(*value);
  std::vector<std::string_view> names;
  for (const auto& field : root.get_ref<const Json::object_t&>()) names.push_back(field.first);
  return listed("fields: ", names);
}

bool json_matches(const MatcherNode& node, const ChatCall& call) {
  const Json* actual = value_at(root_of(call), node.path);
  return actual != nullptr && json_comparison::same(node.json, *actual);
}

std::string actual_json(const MatcherNode& node, const ChatCall& call) {
  const Json* actual = value_at(root_of(call), node.path);
  if (actual == nullptr) return "nothing there";
  const std::string whole = actual->dump(-1, ' ', false, Json::error_handler_t::replace);
  std::optional<json_comparison::Difference> difference =
      json_comparison::first_difference(node.json, *actual, json_comparison::Extent::whole);
  if (whole.size() <= excerpts::shown_bytes || !difference) return excerpts::plain(whole);
  difference->pointer.insert(0, node.operand);
  return json_comparison::explain(*difference);
}

bool json_text_matches(const MatcherNode& node, const ChatCall& call) {
  const Json* actual = value_at(root_of(call), node.path);
  return actual != nullptr && actual->is_string() && node.text->matches(actual->get_ref<const std::string&>());
}

std::string actual_json_text(const MatcherNode& node, const ChatCall& call) {
  const Json* actual = value_at(root_of(call), node.path);
  if (actual == nullptr) return "nothing there";
  if (!actual->is_string()) return "no text: " + excerpts::json(*actual);
  return shown(*node.text, actual->get_ref<const std::string&>());
}

std::optional<json_comparison::Difference> body_difference(const MatcherNode& node, const ChatCall& call) {
  return json_comparison::first_difference(node.json, root_of(call), json_comparison::Extent::part);
}

bool body_matches(const MatcherNode& node, const ChatCall& call) { return !body_difference(node, call); }

std::string actual_body(const MatcherNode& node, const ChatCall& call) {
  const std::optional<json_comparison::Difference> found = body_difference(node, call);
  return found ? json_comparison::explain(*found) : std::string();
}

bool some_element_matches(const MatcherNode& node, const ChatCall& call) {
  const Json* const value = value_at(root_of(call), node.path);
  if (value == nullptr || !value->is_structured()) return false;
  ChatCall part(call.chat(), call.http());
  FunctionResults results;
  return std::any_of(value->begin(), value->end(), [&](const Json& element) {
    Access::element(part) = &element;
    return decide(node.parts.front(), part, results);
  });
}

/// Throws GatewayError if the matcher looks at anything but JSON. Returns whether it contains no function of the test.
bool require_json_matcher(const Matcher& matcher) {
  const MatcherNode& node = Access::node(matcher);
  bool built_in = node.built_in;
  if (node.kind != MatcherNode::Kind::leaf) {
    for (const Matcher& part : node.parts) built_in = require_json_matcher(part) && built_in;
    return built_in;
  }
  for (const Test test : {json_matches, json_text_matches, body_has_field, body_matches, some_element_matches})
    if (node.tests == test) return built_in;
  throw GatewayError("the matcher \"" + matcher.to_string() +
                     "\" is about the whole request, not about an element; within any_at, use json_at, json_text_at, "
                     "has_field, body_includes or any_at, or combine these");
}

/// Returns the element that fails the fewest conditions, with these. Of several, the one that meets more of the first.
std::string actual_elements(const MatcherNode& node, const ChatCall& call) {
  const Json* const value = value_at(root_of(call), node.path);
  if (value == nullptr) return "nothing there";
  if (!value->is_structured()) return "no array or object: " + excerpts::json(*value);
  const MatcherNode& condition = Access::node(node.parts.front());
  const std::vector<Matcher>& conditions = condition.kind == MatcherNode::Kind::all ? condition.parts : node.parts;
  ChatCall part(call.chat(), call.http());
  std::pair<std::size_t, std::size_t> least{conditions.size() + 1, 0};
  auto closest = value->end();
  std::string failed;
  for (auto element = value->begin(); element != value->end(); ++element) {
    Access::element(part) = &*element;
    std::pair<std::size_t, std::size_t> rank;  // the failed conditions, and the conditions after the first of these
    std::string list;
    for (const Matcher& one : conditions) {
      std::vector<NearMiss::Condition> lines;
      if (explain(one, part, FunctionResults(), 0, lines) != false) continue;
      if (rank.first++ == 0) rank.second = static_cast<std::size_t>(&conditions.back() - &one);
      list += (list.empty() ? "✘ " : "; ✘ ") + one.to_string();
      if (lines.size() == 1 && !lines[0].actual.empty()) list += ", actual " + lines[0].actual;
    }
    if (rank >= least) continue;
    least = rank;
    closest = element;
    failed = std::move(list);
  }
  if (closest == value->end()) return "empty";
  const std::string name = value->is_object() ? "member " + excerpts::quoted(closest.key())
                                              : "element " + std::to_string(closest - value->begin());
  return (failed.empty() && node.built_in ? "" : "closest: ") + name + " of " + json_comparison::place(node.operand) +
         ": " + (failed.empty() ? excerpts::json(*closest) : failed);
}

}  // namespace matchers

Matcher RequestField::in_range(const Range& range) const {
  MatcherNode node = matchers::field_leaf(*this, range.to_string(), matchers::number_matches);
  node.range = range;
  node.built_in = value.count != matchers::prompt_token_count;  // the tokenizer may be a function of the test
  return Access::make<Matcher>(std::move(node));
}

Matcher RequestField::whole_is(std::int64_t number) const {
  MatcherNode node = matchers::field_leaf(*this, std::to_string(number), matchers::whole_matches);
  node.json = number;
  return Access::make<Matcher>(std::move(node));
}

Matcher RequestField::flag_is(bool flag) const {
  MatcherNode node = matchers::field_leaf(*this, flag ? "true" : "false", matchers::flag_matches);
  node.json = flag;
  return Access::make<Matcher>(std::move(node));
}

Matcher RequestField::word_is(std::string word) const {
  matchers::require_word(*this, word);
  MatcherNode node = matchers::field_leaf(*this, excerpts::quoted(word), matchers::word_matches);
  node.json = std::move(word);
  return Access::make<Matcher>(std::move(node));
}

Rows<RequestField> fields_of_messages() { return {matchers::message_fields, std::size(matchers::message_fields)}; }
Rows<RequestField> fields_of_requests() { return {matchers::request_fields, std::size(matchers::request_fields)}; }

const RequestField& request_field(std::string_view matcher) {
  for (const RequestField& field : matchers::message_fields)
    if (matcher == field.matcher) return field;
  for (const RequestField& field : matchers::request_fields)
    if (matcher == field.matcher) return field;
  throw GatewayError("no matcher of a field has the name " + std::string(matcher));
}

void add_models(const Matcher& matcher, std::vector<std::string>& ids) {
  const MatcherNode& node = Access::node(matcher);
  if (node.kind == MatcherNode::Kind::negation) return;
  if (node.field != nullptr && node.field->kind == RequestField::Kind::model)
    ids.push_back(node.json.get<std::string>());
  for (const Matcher& part : node.parts) add_models(part, ids);
}

}  // namespace detail

Matcher turns_are(Range count) { return detail::request_field("turns_are").in_range(count); }
Matcher messages_are(Range count) { return detail::request_field("messages_are").in_range(count); }
Matcher prompt_tokens_are(Range count) { return detail::request_field("prompt_tokens_are").in_range(count); }
Matcher body_bytes_are(Range count) { return detail::request_field("body_bytes_are").in_range(count); }
Matcher model_is(std::string id) { return detail::request_field("model_is").word_is(std::move(id)); }
Matcher stream_is(bool stream) { return detail::request_field("stream_is").flag_is(stream); }
Matcher include_usage_is(bool include_usage) {
  return detail::request_field("include_usage_is").flag_is(include_usage);
}
Matcher temperature_is(Range range) { return detail::request_field("temperature_is").in_range(range); }
Matcher top_p_is(Range range) { return detail::request_field("top_p_is").in_range(range); }
Matcher max_tokens_is(Range range) { return detail::request_field("max_tokens_is").in_range(range); }
Matcher presence_penalty_is(Range range) { return detail::request_field("presence_penalty_is").in_range(range); }
Matcher repetition_penalty_is(Range range) { return detail::request_field("repetition_penalty_is").in_range(range); }
Matcher n_is(Range range) { return detail::request_field("n_is").in_range(range); }
Matcher seed_is(std::int64_t seed) { return detail::request_field("seed_is").whole_is(seed); }
Matcher has_stop(std::string sequence) { return detail::request_field("has_stop").word_is(std::move(sequence)); }
Matcher has_tool(std::string name) { return detail::request_field("has_tool").word_is(std::move(name)); }
Matcher tools_are(Range count) { return detail::request_field("tools_are").in_range(count); }
Matcher tool_choice_is(std::string choice) {
  return detail::request_field("tool_choice_is").word_is(std::move(choice));
}
Matcher parallel_tool_calls_is(bool parallel) {
  return detail::request_field("parallel_tool_calls_is").flag_is(parallel);
}
Matcher response_format_is(std::string type) {
  return detail::request_field("response_format_is").word_is(std::move(type));
}
Matcher response_schema_is(std::string name) {
  return detail::request_field("response_schema_is").word_is(std::move(name));
}
Matcher enable_thinking_is(bool enabled) { return detail::request_field("enable_thinking_is").flag_is(enabled); }
Matcher logprobs_is(bool logprobs) { return detail::request_field("logprobs_is").flag_is(logprobs); }

Matcher has_field(std::string name) {
  using namespace detail::matchers;
  return detail::Access::make<Matcher>(
      leaf("has field " + detail::excerpts::quoted(name), body_has_field, actual_fields, name));
}

Matcher json_at(std::string pointer, Json value) {
  using namespace detail::matchers;
  std::vector<std::string> path = parse_pointer(pointer);
  std::string description =
      "json at " + detail::json_comparison::place(pointer) + " is " + detail::excerpts::json(value);
  detail::MatcherNode node = leaf(std::move(description), json_matches, actual_json, std::move(pointer));
  node.path = std::move(path);
  node.json = std::move(value);
  return detail::Access::make<Matcher>(std::move(node));
}

Matcher json_text_at(std::string pointer, TextMatcher text) {
  using namespace detail::matchers;
  std::vector<std::string> path = parse_pointer(pointer);
  std::string description = "text at " + detail::json_comparison::place(pointer) + " " + text.to_string();
  detail::MatcherNode node = text_leaf(std::move(description), text, json_text_matches, actual_json_text);
  node.path = std::move(path);
  return detail::Access::make<Matcher>(std::move(node));
}

Matcher body_includes(Json part) {
  using namespace detail::matchers;
  detail::MatcherNode node = leaf("body includes " + detail::excerpts::json(part), body_matches, actual_body);
  node.json = std::move(part);
  return detail::Access::make<Matcher>(std::move(node));
}

Matcher any_at(std::string pointer, Matcher element) {
  using namespace detail::matchers;
  std::vector<std::string> path = parse_pointer(pointer);
  std::string description =
      "some element of " + detail::json_comparison::place(pointer) + " matches: " + element.to_string();
  const bool built_in = require_json_matcher(element);
  detail::MatcherNode node = leaf(std::move(description), some_element_matches, actual_elements, std::move(pointer));
  node.built_in = built_in;
  node.path = std::move(path);
  node.parts = {std::move(element)};
  return detail::Access::make<Matcher>(std::move(node));
}

}  // namespace mock_gateway
