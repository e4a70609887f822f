#include "matcher.hpp"

#include <utility>

#include "../core/error.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {
namespace matchers {

std::string quoted(const std::string& text);
/// The function that a tool result answers: that of the newest call before it with the same id; empty without one.
std::string called_function(const ChatRequest& request, const Message& result);

MOCK_GATEWAY_INLINE std::string quoted(const std::string& text) { return '"' + text + '"'; }

MOCK_GATEWAY_INLINE std::string called_function(const ChatRequest& request, const Message& result) {
  for (auto message = request.messages.rbegin(); message != request.messages.rend(); ++message) {
    for (const ToolCall& call : message->tool_calls) {
      if (call.id == result.tool_call_id) return call.name;
    }
  }
  return {};
}

}  // namespace matchers
}  // namespace detail

MOCK_GATEWAY_INLINE TextMatcher::TextMatcher(const char* part) : TextMatcher(std::string(part)) {}

MOCK_GATEWAY_INLINE TextMatcher::TextMatcher(std::string part)
    : description_("contains " + detail::matchers::quoted(part)),
      test_([part = std::move(part)](std::string_view text) { return text.find(part) != std::string_view::npos; }) {}

MOCK_GATEWAY_INLINE TextMatcher::TextMatcher(std::string description, std::function<bool(std::string_view)> test)
    : description_(std::move(description)), test_(std::move(test)) {
  if (!test_) throw GatewayError("the text matcher \"" + description_ + "\" has no function to ask");
}

MOCK_GATEWAY_INLINE TextMatcher contains(std::string part) { return TextMatcher(std::move(part)); }

MOCK_GATEWAY_INLINE TextMatcher equals(std::string text) {
  std::string description = "equals " + detail::matchers::quoted(text);
  return {std::move(description), [text = std::move(text)](std::string_view actual) { return actual == text; }};
}

MOCK_GATEWAY_INLINE TextMatcher starts_with(std::string start) {
  std::string description = "starts with " + detail::matchers::quoted(start);
  return {std::move(description),
          [start = std::move(start)](std::string_view actual) { return actual.substr(0, start.size()) == start; }};
}

MOCK_GATEWAY_INLINE TextMatcher operator&&(const TextMatcher& a, const TextMatcher& b) {
  return {"(" + a.describe() + ") and (" + b.describe() + ")",
          [a, b](std::string_view text) { return a.matches(text) && b.matches(text); }};
}

MOCK_GATEWAY_INLINE TextMatcher operator||(const TextMatcher& a, const TextMatcher& b) {
  return {"(" + a.describe() + ") or (" + b.describe() + ")",
          [a, b](std::string_view text) { return a.matches(text) || b.matches(text); }};
}

MOCK_GATEWAY_INLINE TextMatcher operator!(const TextMatcher& matcher) {
  return {"not (" + matcher.describe() + ")", [matcher](std::string_view text) { return !matcher.matches(text); }};
}

MOCK_GATEWAY_INLINE Matcher::Matcher(std::string description, std::function<bool(const ChatRequest&)> test)
    : description_(std::move(description)), test_(std::move(test)) {
  if (!test_) throw GatewayError("the matcher \"" + description_ + "\" has no function to ask");
}

MOCK_GATEWAY_INLINE Matcher user_says(TextMatcher text) {
  std::string description = "user text " + text.describe();
  return {std::move(description),
          [text = std::move(text)](const ChatRequest& request) { return text.matches(request.last_user_text()); }};
}

MOCK_GATEWAY_INLINE Matcher has_tool(std::string name) {
  std::string description = "has tool " + detail::matchers::quoted(name);
  return {std::move(description),
          [name = std::move(name)](const ChatRequest& request) { return request.has_tool(name); }};
}

MOCK_GATEWAY_INLINE Matcher last_is_tool_result() {
  return {"last message is a tool result", [](const ChatRequest& request) {
            return !request.messages.empty() && request.messages.back().role == "tool";
          }};
}

MOCK_GATEWAY_INLINE Matcher tool_result(std::string function, TextMatcher text) {
  std::string description =
      "last message is the result of " + detail::matchers::quoted(function) + " and " + text.describe();
  return {std::move(description), [function = std::move(function), text = std::move(text)](const ChatRequest& request) {
            if (request.messages.empty() || request.messages.back().role != "tool") return false;
            const Message& result = request.messages.back();
            return detail::matchers::called_function(request, result) == function && text.matches(result.text());
          }};
}

MOCK_GATEWAY_INLINE Matcher matching(std::string name, std::function<bool(const ChatRequest&)> test) {
  return {std::move(name), std::move(test)};
}

MOCK_GATEWAY_INLINE Matcher operator&&(const Matcher& a, const Matcher& b) {
  return {"(" + a.describe() + ") and (" + b.describe() + ")",
          [a, b](const ChatRequest& request) { return a.matches(request) && b.matches(request); }};
}

MOCK_GATEWAY_INLINE Matcher operator||(const Matcher& a, const Matcher& b) {
  return {"(" + a.describe() + ") or (" + b.describe() + ")",
          [a, b](const ChatRequest& request) { return a.matches(request) || b.matches(request); }};
}

MOCK_GATEWAY_INLINE Matcher operator!(const Matcher& matcher) {
  return {"not (" + matcher.describe() + ")",
          [matcher](const ChatRequest& request) { return !matcher.matches(request); }};
}

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
