#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "../model/chat_request.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {

/// A condition on a string. A bare string means *contains*, case and all.
class TextMatcher {
 public:
  TextMatcher(const char* part);  // NOLINT: implicit, so that user_says("weather") reads as it should
  TextMatcher(std::string part);  // NOLINT: likewise
  TextMatcher(std::string description, std::function<bool(std::string_view)> test);

  bool matches(std::string_view text) const { return test_(text); }
  /// "contains \"weather\"".
  const std::string& describe() const { return description_; }

 private:
  std::string description_;
  std::function<bool(std::string_view)> test_;
};

TextMatcher contains(std::string part);
TextMatcher equals(std::string text);
TextMatcher starts_with(std::string start);
TextMatcher operator&&(const TextMatcher& a, const TextMatcher& b);
TextMatcher operator||(const TextMatcher& a, const TextMatcher& b);
TextMatcher operator!(const TextMatcher& matcher);

/// A condition on a chat request.
class Matcher {
 public:
  /// `test` runs on the connection's thread whenever a stub is being decided, under no lock.
  Matcher(std::string description, std::function<bool(const ChatRequest&)> test);

  bool matches(const ChatRequest& request) const { return test_(request); }
  /// "user text contains \"weather\"".
  const std::string& describe() const { return description_; }

 private:
  std::string description_;
  std::function<bool(const ChatRequest&)> test_;
};

/// The text of the last user message.
Matcher user_says(TextMatcher text);
/// The request offers a function of that name.
Matcher has_tool(std::string name);
/// The last message is a tool result.
Matcher last_is_tool_result();
/// The last message is the result of a call to that function, found by its call's id, and its text matches.
Matcher tool_result(std::string function, TextMatcher text);
/// Any condition, by the name that reports show.
Matcher matching(std::string name, std::function<bool(const ChatRequest&)> test);
Matcher operator&&(const Matcher& a, const Matcher& b);
Matcher operator||(const Matcher& a, const Matcher& b);
Matcher operator!(const Matcher& matcher);

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
