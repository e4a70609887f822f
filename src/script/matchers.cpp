// All matchers with their comments (in the header); the code for messages, tool results, headers, query, key and the
// test's functions.

#include "matchers.hpp"

#include <algorithm>  // any_of, min, replace
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/handoff.hpp"
#include "../core/text.hpp"
#include "../model/checks.hpp"
#include "../model/failure.hpp"
#include "excerpts.hpp"
#include "matcher_node.hpp"

namespace mock_gateway {
namespace detail {
namespace matchers {

MatcherNode leaf(std::string description, Test test, Actual actual, std::string operand) {
  MatcherNode node;
  node.description = std::move(description);
  node.tests = test;
  node.actual = actual;
  node.operand = std::move(operand);
  return node;
}

MatcherNode text_leaf(std::string description, const TextMatcher& text, Test test, Actual actual, std::string operand) {
  MatcherNode node = leaf(std::move(description), test, actual, std::move(operand));
  node.built_in = text.built_in();
  node.text = text;
  return node;
}

std::string shown(const TextMatcher& matcher, std::string_view text) {
  return matcher.built_in() ? matcher.explain(text) : excerpts::quoted(text);
}

bool is_any_text(const TextMatcher& text) { return text.built_in() && text.to_string() == "is anything"; }

std::string and_text(const TextMatcher& text) {
  return is_any_text(text) ? std::string() : " and its text " + text.to_string();
}

std::string listed(const char* heading, const std::vector<std::string_view>& texts) {
  std::string list;
  for (const std::string_view text : texts) {
    if (list.size() > excerpts::shown_bytes) break;
    if (!list.empty()) list += ", ";
    list += text;
  }
  return heading + excerpts::plain(list);
}

// ---- Messages

bool is_user_message(const wire::Message& message) { return message.role == "user"; }

bool has_user_message(const ChatRequest& chat) {
  return std::any_of(chat.messages.rbegin(), chat.messages.rend(), is_user_message);
}

std::string last_role(const ChatRequest& chat) {
  return chat.messages.empty() ? "no messages"
                               : "last message is of role " + excerpts::plain(chat.messages.back().role);
}

bool user_text_matches(const MatcherNode& node, const ChatCall& call) {
  const std::string& said = call.user_text();
  return (!said.empty() || has_user_message(call.chat())) && node.text->matches(said);
}

std::string actual_user_text(const MatcherNode& node, const ChatCall& call) {
  return has_user_message(call.chat()) ? shown(*node.text, call.user_text()) : "no user message";
}

/// Whether the message is of the operand's kind: a "system message", or any "message".
bool is_of_kind(const MatcherNode& node, const wire::Message& message) {
  return node.operand == "message" || message.role == "system" || message.role == "developer";
}

bool some_message_matches(const MatcherNode& node, const ChatCall& call) {
  for (const wire::Message& message : call.chat().messages)
    if (is_of_kind(node, message) && node.text->matches(message.text())) return true;
  return false;
}

std::string actual_messages(const MatcherNode& node, const ChatCall& call) {
  // Shows the matching message, for the report of a negation. Without one, shows the last message.
  const wire::Message* matching = nullptr;
  const wire::Message* last = nullptr;
  std::size_t count = 0;
  for (const wire::Message& message : call.chat().messages) {
    if (!is_of_kind(node, message)) continue;
    ++count;
    last = &message;
    if (matching == nullptr && node.built_in && node.text->matches(message.text())) matching = &message;
  }
  if (last == nullptr) return "no " + node.operand;
  const wire::Message* chosen = matching != nullptr ? matching : last;
  const std::string said = shown(*node.text, chosen->text());
  if (count == 1) return said;
  return text::counted(count, node.operand) + ", " + (chosen == last ? "the last" : "one") + " of role " +
         excerpts::plain(chosen->role) + ": " + said;
}

/// Returns the message at the position; null if there is none. Negative positions count from the end.
const wire::Message* message_at(const ChatRequest& chat, std::int64_t position) {
  const auto count = static_cast<std::ptrdiff_t>(chat.messages.size());
  const std::ptrdiff_t index = position < 0 ? count + position : position;
  return index < 0 || index >= count ? nullptr : &chat.messages[static_cast<std::size_t>(index)];
}

bool message_matches(const MatcherNode& node, const ChatCall& call) {
  const wire::Message* message = message_at(call.chat(), node.number);
  return message != nullptr && message->role == node.operand && node.text->matches(message->text());
}

std::string actual_message(const MatcherNode& node, const ChatCall& call) {
  const wire::Message* message = message_at(call.chat(), node.number);
  if (message == nullptr) return "only " + text::counted(call.chat().messages.size(), "message");
  return "role " + excerpts::plain(message->role) + ": " +
         (message->role == node.operand ? shown(*node.text, message->text()) : excerpts::quoted(message->text()));
}

struct ToolResult {
  const wire::Message* message;
  /// The name of the called function; null if no call has its id.
  const std::string* function;
};

/// Returns the tool results after the assistant's last message. Clients append reminders, so other messages may follow.
std::vector<ToolResult> unanswered_tool_results(const ChatRequest& chat) {
  std::vector<ToolResult> results;
  const auto is_tool = [](const wire::Message& message) { return message.role == "tool"; };
  std::size_t first = chat.messages.size();
  while (first > 0 && chat.messages[first - 1].role != "assistant") --first;
  if (std::none_of(chat.messages.begin() + static_cast<std::ptrdiff_t>(first), chat.messages.end(), is_tool))
    return results;
  // Searches from the end: of several calls with the same id, the latest counts.
  std::unordered_map<std::string_view, const std::string*> functions;
  for (std::size_t index = first; index-- > 0;) {
    const std::vector<wire::ToolCall>& calls = chat.messages[index].tool_calls;
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) functions.emplace(call->id, &call->name);
  }
  for (std::size_t index = first; index < chat.messages.size(); ++index) {
    if (!is_tool(chat.messages[index])) continue;
    const auto function = functions.find(chat.messages[index].tool_call_id);
    results.push_back({&chat.messages[index], function == functions.end() ? nullptr : function->second});
  }
  return results;
}

bool is_of(const MatcherNode& node, const ToolResult& result) {
  if (node.by_call_id) return result.message->tool_call_id == node.operand;
  return result.function != nullptr && *result.function == node.operand;
}

bool has_tool_result(const MatcherNode&, const ChatCall& call) { return !unanswered_tool_results(call.chat()).empty(); }

bool tool_result_matches(const MatcherNode& node, const ChatCall& call) {
  for (const ToolResult& result : unanswered_tool_results(call.chat()))
    if (is_of(node, result) && node.text->matches(result.message->text())) return true;
  return false;
}

std::string actual_tool_results(const MatcherNode& node, const ChatCall& call) {
  const std::vector<ToolResult> results = unanswered_tool_results(call.chat());
  if (results.empty()) return last_role(call.chat());
  constexpr std::size_t most = 5;
  std::string list;
  for (std::size_t index = 0; index < std::min(results.size(), most); ++index) {
    const ToolResult& result = results[index];
    const std::string said = result.message->text();
    if (!list.empty()) list += "; ";
    list += "call " + excerpts::quoted(result.message->tool_call_id) + " of " +
            (result.function == nullptr ? "no known function" : excerpts::plain(*result.function)) + ": " +
            (node.text && is_of(node, result) ? shown(*node.text, said) : excerpts::quoted(said));
  }
  if (results.size() > most) list += "; and " + std::to_string(results.size() - most) + " more";
  return list;
}

Matcher unanswered_tool_result(const char* what, std::string operand, bool by_call_id, const TextMatcher& text) {
  std::string description = std::string("has an unanswered tool result of ") + what + excerpts::quoted(operand);
  MatcherNode node =
      text_leaf(description + and_text(text), text, tool_result_matches, actual_tool_results, std::move(operand));
  node.by_call_id = by_call_id;
  return detail::Access::make<Matcher>(std::move(node));
}

// ---- The HTTP request

std::string shown_values(const TextMatcher& text, const std::vector<std::string>& values) {
  if (values.empty()) return "not sent";
  if (values.size() == 1) return shown(text, values.front());
  constexpr std::size_t most = 5;
  std::string list;
  for (std::size_t index = 0; index < std::min(values.size(), most); ++index) {
    list += (list.empty() ? "" : ", ") + excerpts::quoted(values[index]);
  }
  return values.size() > most ? list + " and " + std::to_string(values.size() - most) + " more" : list;
}

/// Decodes a value of the query. Returns an invalid encoding unchanged.
std::string query_decoded(std::string_view encoded) {
  std::string spaced(encoded);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  std::optional<std::string> decoded = text::percent_decode(spaced);
  return decoded ? std::move(*decoded) : std::string(encoded);
}

std::vector<std::string> query_values(const ReceivedRequest& http, std::string_view name) {
  const std::string query = http.query();
  std::vector<std::string> values;
  for (std::size_t start = 0; start < query.size();) {
    const std::size_t end = std::min(query.find('&', start), query.size());
    const std::string_view parameter = std::string_view(query).substr(start, end - start);
    const std::size_t equal_sign = std::min(parameter.find('='), parameter.size());
    if (!parameter.empty() && query_decoded(parameter.substr(0, equal_sign)) == name) {
      values.push_back(query_decoded(parameter.substr(std::min(equal_sign + 1, parameter.size()))));
    }
    start = end + 1;
  }
  return values;
}

std::vector<std::string> header_values(const ReceivedRequest& http, std::string_view name) {
  return http.headers.all(name);
}

bool some_value_matches(const MatcherNode& node, const ChatCall& call) {
  for (const std::string& value : node.values_of(call.http(), node.operand))
    if (node.text->matches(value)) return true;
  return false;
}

std::string actual_values(const MatcherNode& node, const ChatCall& call) {
  return shown_values(*node.text, node.values_of(call.http(), node.operand));
}

Matcher some_value(std::string description, std::string name,
                   std::vector<std::string> (*values_of)(const ReceivedRequest&, std::string_view),
                   const TextMatcher& text) {
  if (!is_any_text(text)) description += " " + text.to_string();
  MatcherNode node = text_leaf(std::move(description), text, some_value_matches, actual_values, std::move(name));
  node.values_of = values_of;
  return detail::Access::make<Matcher>(std::move(node));
}

bool scope_covers(const MatcherNode& node, const ChatCall& call) { return node.scope->covers(call.http()); }

std::string actual_key(const MatcherNode&, const ChatCall& call) {
  const ReceivedRequest& http = call.http();
  if (http.key_id.empty()) return "no key of the gateway's";
  const std::string id = excerpts::quoted(http.key_id);
  return http.key_description.empty() ? id : id + ", " + excerpts::quoted(http.key_description);
}

bool asks_function(const MatcherNode& node, const ChatCall& call) {
  hand_off_event_loop();
  return node.function(call);
}

}  // namespace matchers
}  // namespace detail

Matcher user_says(TextMatcher text) {
  using namespace detail::matchers;
  return detail::Access::make<Matcher>(
      text_leaf("user text " + text.to_string(), text, user_text_matches, actual_user_text));
}

Matcher system_says(TextMatcher text) {
  using namespace detail::matchers;
  std::string description = "system text " + text.to_string();
  return detail::Access::make<Matcher>(
      text_leaf(std::move(description), text, some_message_matches, actual_messages, "system message"));
}

Matcher any_message_says(TextMatcher text) {
  using namespace detail::matchers;
  std::string description = "text of some message " + text.to_string();
  return detail::Access::make<Matcher>(
      text_leaf(std::move(description), text, some_message_matches, actual_messages, "message"));
}

Matcher message_is(int position, std::string role, TextMatcher text) {
  using namespace detail::matchers;
  const std::string place = position == -1 ? "last message" : "message " + std::to_string(position);
  std::string description = place + " is of role " + detail::excerpts::plain(role) + and_text(text);
  detail::MatcherNode node = text_leaf(std::move(description), text, message_matches, actual_message, std::move(role));
  node.number = position;
  return detail::Access::make<Matcher>(std::move(node));
}

Matcher last_is_tool_result() {
  using namespace detail::matchers;
  return detail::Access::make<Matcher>(leaf("has an unanswered tool result", has_tool_result, actual_tool_results));
}

Matcher tool_result(std::string function, TextMatcher text) {
  return detail::matchers::unanswered_tool_result("", std::move(function), false, text);
}

Matcher tool_result_of(std::string call_id, TextMatcher text) {
  return detail::matchers::unanswered_tool_result("call ", std::move(call_id), true, text);
}

Matcher has_header(std::string name) { return has_header(std::move(name), any_text()); }

Matcher has_header(std::string name, TextMatcher value) {
  using namespace detail::matchers;
  detail::require_header_field(name, "");
  std::string description = (is_any_text(value) ? "has header " : "header ") + name;
  return some_value(std::move(description), std::move(name), header_values, value);
}

Matcher header_is(std::string name, std::string value) {
  using namespace detail::matchers;
  RequestScope scope = with_header(name, value);
  std::string description = "header " + name + " is " + detail::excerpts::quoted(value);
  detail::MatcherNode node =
      text_leaf(std::move(description), equals(std::move(value)), scope_covers, actual_values, std::move(name));
  node.values_of = header_values;
  node.scope = std::move(scope);
  return detail::Access::make<Matcher>(std::move(node));
}

Matcher key_is(std::string id_or_description) {
  using namespace detail::matchers;
  RequestScope scope(id_or_description);
  detail::MatcherNode node = leaf("key is " + detail::excerpts::quoted(id_or_description), scope_covers, actual_key);
  node.scope = std::move(scope);
  return detail::Access::make<Matcher>(std::move(node));
}

Matcher has_query(std::string name, TextMatcher value) {
  using namespace detail::matchers;
  std::string description = (is_any_text(value) ? "query has " : "query parameter ") + detail::excerpts::plain(name);
  return some_value(std::move(description), std::move(name), query_values, value);
}

Matcher matching(std::string name, std::function<bool(const ChatRequest&)> test) {
  std::function<bool(const ChatCall&)> of_call;
  if (test) of_call = [test = std::move(test)](const ChatCall& call) { return test(call.chat()); };
  return matching_call(std::move(name), std::move(of_call));
}

Matcher matching_call(std::string name, std::function<bool(const ChatCall&)> test) {
  if (name.empty()) throw GatewayError("a custom condition needs a name for reports");
  if (!test) throw GatewayError("the condition " + detail::excerpts::quoted(name) + " has no function");
  detail::MatcherNode node = detail::matchers::leaf(std::move(name), detail::matchers::asks_function, nullptr);
  node.function = std::move(test);
  node.built_in = false;
  return detail::Access::make<Matcher>(std::move(node));
}

}  // namespace mock_gateway
