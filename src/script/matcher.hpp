#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "../core/forward.hpp"
#include "../core/shared.hpp"

namespace mock_gateway {

namespace detail {

struct Access;
struct MatcherNode;
struct TextMatcherNode;

}  // namespace detail

/// A condition on a string. A bare string means *contains*, case and all.
class TextMatcher {
 public:
  TextMatcher(const char* part);  // NOLINT: implicit, so that user_says("weather") reads as it should
  TextMatcher(std::string part);  // NOLINT: implicit as above
  /// Any condition, by the description that reports show: "is a postcode". `test` runs like that of matching().
  TextMatcher(std::string description, std::function<bool(std::string_view)> test);

  /// Asks it of one text. Lets pass what a function of the test throws.
  bool matches(std::string_view text) const;
  /// "contains \"weather\"".
  const std::string& to_string() const;
  /// What reports show of a text that does not match: an excerpt in quotes, around the first difference where there
  /// is one.
  std::string explain(std::string_view text) const;
  /// Whether no function of the test is part of it, so that it may be asked again for a report.
  bool built_in() const;

 private:
  friend struct detail::Access;
  explicit TextMatcher(detail::TextMatcherNode node);

  detail::Lasting<const detail::TextMatcherNode> node_;
};

TextMatcher operator&&(const TextMatcher& a, const TextMatcher& b);
TextMatcher operator||(const TextMatcher& a, const TextMatcher& b);
TextMatcher operator!(const TextMatcher& matcher);

/// A chat request that a stub is chosen for: its body, parsed, and how it came.
class ChatCall {
 public:
  /// Both must outlive this.
  ChatCall(const ChatRequest& chat, const ReceivedRequest& http) : chat_(chat), http_(http) {}

  const ChatRequest& chat() const { return chat_; }
  /// Method, target, headers, and the key by id and description; keys are masked.
  const ReceivedRequest& http() const { return http_; }
  /// The text of the last message of role user; empty without one. Made once, however many stubs ask.
  const std::string& user_text() const;

 private:
  const ChatRequest& chat_;
  const ReceivedRequest& http_;
  mutable std::optional<std::string> user_text_;
};

/// A condition on a chat request: one of the functions of matchers.hpp, or several combined by `&&`, `||` and `!`.
class Matcher {
 public:
  /// "user text contains \"weather\"".
  const std::string& to_string() const;

 private:
  friend struct detail::Access;
  explicit Matcher(detail::MatcherNode node);

  detail::Lasting<const detail::MatcherNode> node_;
};

Matcher operator&&(const Matcher& a, const Matcher& b);
Matcher operator||(const Matcher& a, const Matcher& b);
Matcher operator!(const Matcher& matcher);

}  // namespace mock_gateway
