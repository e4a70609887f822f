#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "../core/forward.hpp"
#include "../core/json.hpp"
#include "../core/shared.hpp"

namespace mock_gateway {

namespace detail {

struct Access;
struct MatcherNode;
struct TextMatcherNode;
class Tokens;

}  // namespace detail

/// A condition on a string. A bare string means *contains*, case-sensitive.
class TextMatcher {
 public:
  TextMatcher(const char* part);  // NOLINT: implicit, so that user_says("weather") reads as it should
  TextMatcher(std::string part);  // NOLINT: implicit as above
  /// Any condition, with its description for reports: "is a postcode". `test` runs as in matching().
  TextMatcher(std::string description, std::function<bool(std::string_view)> test);

  /// Whether the text matches. Lets exceptions of the test's functions pass.
  bool matches(std::string_view text) const;
  /// Returns "contains \"weather\"".
  const std::string& to_string() const;
  /// Returns a quoted excerpt of a text that does not match, around the first difference if there is one.
  std::string explain(std::string_view text) const;
  /// Whether it contains no function of the test, so that reports may evaluate it again.
  bool built_in() const;

 private:
  friend struct detail::Access;
  explicit TextMatcher(detail::TextMatcherNode node);

  detail::HandlePointer<const detail::TextMatcherNode> node_;
};

TextMatcher operator&&(const TextMatcher& a, const TextMatcher& b);
TextMatcher operator||(const TextMatcher& a, const TextMatcher& b);
TextMatcher operator!(const TextMatcher& matcher);

/// A chat request for which a stub is chosen: the parsed body and the HTTP request.
class ChatCall {
 public:
  /// All must outlive this. `tokens` is the gateway's tokenizer; null: words are tokens.
  ChatCall(const ChatRequest& chat, const ReceivedRequest& http, const detail::Tokens* tokens = nullptr)
      : chat_(chat), http_(http), tokens_(tokens) {}

  const ChatRequest& chat() const { return chat_; }
  /// Returns the method, target, headers, and the key by id and description; keys are masked.
  const ReceivedRequest& http() const { return http_; }
  /// Returns the text of the last message of role user, if any. Computed once for all stubs.
  const std::string& user_text() const;
  /// Returns the number of tokens of the prompt, as in `usage.prompt_tokens`. Runs the tokenizer once for all stubs.
  std::size_t prompt_tokens() const;

 private:
  friend struct detail::Access;
  const ChatRequest& chat_;
  const ReceivedRequest& http_;
  const detail::Tokens* tokens_;
  const Json* element_ = nullptr;  // within any_at(), the element that its matchers look at
  mutable std::optional<std::string> user_text_;
  mutable std::optional<std::size_t> prompt_tokens_;
};

/// A condition on a chat request: a function of matchers.hpp, or several combined with `&&`, `||` and `!`.
class Matcher {
 public:
  /// Returns "user text contains \"weather\"".
  const std::string& to_string() const;

 private:
  friend struct detail::Access;
  explicit Matcher(detail::MatcherNode node);

  detail::HandlePointer<const detail::MatcherNode> node_;
};

Matcher operator&&(const Matcher& a, const Matcher& b);
Matcher operator||(const Matcher& a, const Matcher& b);
Matcher operator!(const Matcher& matcher);

}  // namespace mock_gateway
