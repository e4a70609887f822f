#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../model/chat_request.hpp"
#include "../model/range.hpp"
#include "../model/received_request.hpp"
#include "scope.hpp"

namespace mock_gateway {
namespace detail {

namespace schema {

struct Pattern;

}  // namespace schema

struct TextMatcherNode;

}  // namespace detail

/// A condition on a string. A bare string means *contains*, case and all.
class TextMatcher {
 public:
  TextMatcher(const char* part);  // NOLINT: implicit, so that user_says("weather") reads as it should
  TextMatcher(std::string part);  // NOLINT: likewise
  /// Any condition, by the description that reports show: "is a postcode". `test` runs like that of matching().
  TextMatcher(std::string description, std::function<bool(std::string_view)> test);

  bool matches(std::string_view text) const;
  /// "contains \"weather\"".
  const std::string& describe() const;
  /// What reports show of a text that does not match: an excerpt in quotes, around the first difference where there
  /// is one.
  std::string explain(std::string_view text) const;
  /// Whether no function of the tester's is part of it, so that it may be asked again for a report.
  bool built_in() const;

  /// For matchers of the library.
  explicit TextMatcher(detail::TextMatcherNode node);

 private:
  std::shared_ptr<const detail::TextMatcherNode> node_;
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

namespace detail {

struct MatcherNode;

/// What the tester's own functions said while a stub was being decided. A report looks here instead of asking them
/// again.
class Trail {
 public:
  void record(const MatcherNode& node, bool matched) { results_.emplace_back(&node, matched); }
  /// Nothing when the function was not asked.
  std::optional<bool> find(const MatcherNode& node) const;

 private:
  std::vector<std::pair<const MatcherNode*, bool>> results_;
};

/// One condition in a report.
struct ExplainedCondition {
  enum class Verdict { match, mismatch, not_evaluated };
  /// How deep it stands within "any of" and "not".
  std::size_t depth = 0;
  Verdict verdict = Verdict::match;
  std::string expected;
  /// What was there instead; empty when there is nothing to say.
  std::string actual;
};

}  // namespace detail

/// A condition on a chat request: one of the functions of matchers.hpp, or several combined by `&&`, `||` and `!`.
class Matcher {
 public:
  /// "user text contains \"weather\"".
  const std::string& describe() const;

  /// For matchers of the library.
  explicit Matcher(detail::MatcherNode node);
  const detail::MatcherNode& node() const { return *node_; }

 private:
  std::shared_ptr<const detail::MatcherNode> node_;
};

Matcher operator&&(const Matcher& a, const Matcher& b);
Matcher operator||(const Matcher& a, const Matcher& b);
Matcher operator!(const Matcher& matcher);

namespace detail {

struct TextMatcherNode {
  bool (*test)(const TextMatcherNode& node, std::string_view text);
  std::string description;
  /// Null: reports show an excerpt.
  std::string (*explain)(const TextMatcherNode& node, std::string_view text) = nullptr;
  bool built_in = true;
  // What the two functions use.
  std::string operand = {};
  std::shared_ptr<const schema::Pattern> pattern = {};
  std::vector<TextMatcher> parts = {};
  /// The tester's.
  std::function<bool(std::string_view)> function = {};
};

/// What a matcher of one field looks at: a field of the body, or how many there are of something.
enum class ChatField {
  model,
  stream,
  include_usage,
  temperature,
  top_p,
  max_tokens,
  n,
  presence_penalty,
  repetition_penalty,
  seed,
  stop,
  tool_choice,
  parallel_tool_calls,
  response_format,
  response_schema,
  enable_thinking,
  logprobs,
  user_messages,
  messages,
  tools,
};

struct MatcherNode {
  enum class Kind { leaf, all, any, negation };
  /// Of a leaf: whether the request matches.
  bool test(const ChatCall& call) const { return tests(*this, call); }

  // What choosing among many stubs reads comes first, in one line of the cache.
  Kind kind = Kind::leaf;
  /// Of a leaf: whether no function of the tester's is part of it.
  bool built_in = true;
  bool (*tests)(const MatcherNode& node, const ChatCall& call) = nullptr;
  /// Of a leaf: what a report shows in place of what was expected. Never calls the tester's functions. May be null.
  std::string (*actual)(const MatcherNode& node, const ChatCall& call) = nullptr;

  // What the two functions of a leaf use: what they look at, and what it should be.
  std::optional<TextMatcher> text;
  std::string operand;
  ChatField field = ChatField::model;
  bool by_call_id = false;
  std::int64_t number = 0;
  std::optional<Range> range;
  Json json;
  std::vector<std::string> path;
  std::vector<std::string> (*values_of)(const ReceivedRequest& http, std::string_view name) = nullptr;
  /// The tester's.
  std::function<bool(const ChatCall&)> function;

  std::string description;
  /// Of all, any and negation.
  std::vector<Matcher> parts;
  /// Of a leaf that lets only the requests of one test through.
  std::optional<RequestScope> scope;
};

/// Whether the request matches. Runs the tester's functions, whose exceptions pass, and notes what they said.
bool decide(const Matcher& matcher, const ChatCall& call, Trail& trail);
/// Appends what a report shows of the matcher, without running the tester's functions. Returns whether the request
/// matches; nothing when that depends on a function that was not asked.
std::optional<bool> explain(const Matcher& matcher, const ChatCall& call, const Trail& trail, std::size_t depth,
                            std::vector<ExplainedCondition>& conditions);

}  // namespace detail

}  // namespace mock_gateway
