// Combining matchers with `&&`, `||`, `!`; bare strings; the text of the last user message; explaining conditions.

#include "matcher.hpp"

#include <algorithm>  // find_if, min
#include <utility>
#include <vector>

#include "../answer/tokens.hpp"
#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/handoff.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"
#include "../request/chat_request.hpp"
#include "excerpts.hpp"
#include "matcher_node.hpp"

namespace mock_gateway {
namespace detail {
namespace text_matching {

bool has_part(const TextMatcherNode& node, std::string_view text) {
  return text.find(node.operand) != std::string_view::npos;
}

bool asks_function(const TextMatcherNode& node, std::string_view text) {
  hand_off_event_loop();
  return node.function(text);
}

bool matches_both(const TextMatcherNode& node, std::string_view text) {
  return node.parts[0].matches(text) && node.parts[1].matches(text);
}

std::string explain_first_mismatch(const TextMatcherNode& node, std::string_view text) {
  const TextMatcher& first = node.parts[0];
  return first.built_in() && first.matches(text) ? node.parts[1].explain(text) : first.explain(text);
}

/// Returns the size of the longest beginning of `part` that occurs in `text`, and the end of its occurrence. Takes
/// linear time (Knuth, Morris and Pratt).
std::pair<std::size_t, std::size_t> longest_beginning(std::string_view part, std::string_view text) {
  std::vector<std::size_t> shorter(part.size() + 1);  // for each beginning, the longest one that it also ends with
  std::pair<std::size_t, std::size_t> longest;
  const auto next_size = [&](std::size_t size, char character) {
    while (size > 0 && part[size] != character) size = shorter[size];
    return part[size] == character ? size + 1 : 0;
  };
  for (std::size_t at = 1; at < part.size(); ++at) shorter[at + 1] = next_size(shorter[at], part[at]);
  std::size_t size = 0;
  for (std::size_t at = 0; at < text.size() && size < part.size(); ++at) {
    size = next_size(size, text[at]);
    if (size > longest.first) longest = {size, at + 1};
  }
  return longest;
}

std::string explain_part(const TextMatcherNode& node, std::string_view text) {
  const std::string& part = node.operand;
  const bool is_short = part.size() <= excerpts::shown_bytes && text.size() <= excerpts::shown_bytes;
  if (part.empty() || is_short) return excerpts::quoted(text);
  const auto [size, end] = longest_beginning(part, text);
  // Less is found in any text.
  constexpr std::size_t least = 16;
  if (size < std::min(least, part.size() / 2 + 1) || size == part.size()) return excerpts::quoted(text);
  return excerpts::difference(part, text.substr(end - size, part.size()), end - size) + "; the first " +
         excerpts::grouped(size) + " of its " + excerpts::grouped(part.size()) + " bytes were found, up to byte " +
         excerpts::grouped(end);
}

bool matches_either(const TextMatcherNode& node, std::string_view text) {
  return node.parts[0].matches(text) || node.parts[1].matches(text);
}

bool matches_not(const TextMatcherNode& node, std::string_view text) { return !node.parts[0].matches(text); }

}  // namespace text_matching
}  // namespace detail

TextMatcher::TextMatcher(const char* part)
    : TextMatcher(part == nullptr ? throw GatewayError("a text matcher's text is a null pointer") : std::string(part)) {
}

TextMatcher::TextMatcher(std::string part) {
  std::string description = "contains " + detail::excerpts::quoted(part);
  detail::TextMatcherNode node{detail::text_matching::has_part, std::move(description),
                               detail::text_matching::explain_part};
  node.operand = std::move(part);
  *this = TextMatcher(std::move(node));
}

TextMatcher::TextMatcher(std::string description, std::function<bool(std::string_view)> test) {
  if (!test) throw GatewayError("the text matcher \"" + description + "\" has no function");
  detail::TextMatcherNode node{detail::text_matching::asks_function, std::move(description)};
  node.built_in = false;
  node.function = std::move(test);
  *this = TextMatcher(std::move(node));
}

TextMatcher::TextMatcher(detail::TextMatcherNode node)
    : node_(detail::share<detail::TextMatcherNode>(std::move(node))) {}

bool TextMatcher::matches(std::string_view text) const { return node_->test(*node_, text); }

const std::string& TextMatcher::to_string() const { return node_->description; }

std::string TextMatcher::explain(std::string_view text) const {
  return node_->explain ? node_->explain(*node_, text) : detail::excerpts::quoted(text);
}

bool TextMatcher::built_in() const { return node_->built_in; }

TextMatcher operator&&(const TextMatcher& a, const TextMatcher& b) {
  detail::TextMatcherNode node{detail::text_matching::matches_both,
                               "(" + a.to_string() + " and " + b.to_string() + ")"};
  node.explain = detail::text_matching::explain_first_mismatch;
  node.built_in = a.built_in() && b.built_in();
  node.parts = {a, b};
  return detail::Access::make<TextMatcher>(std::move(node));
}

TextMatcher operator||(const TextMatcher& a, const TextMatcher& b) {
  detail::TextMatcherNode node{detail::text_matching::matches_either,
                               "(" + a.to_string() + " or " + b.to_string() + ")"};
  node.built_in = a.built_in() && b.built_in();
  node.parts = {a, b};
  return detail::Access::make<TextMatcher>(std::move(node));
}

TextMatcher operator!(const TextMatcher& matcher) {
  detail::TextMatcherNode node{detail::text_matching::matches_not, "not (" + matcher.to_string() + ")"};
  node.built_in = matcher.built_in();
  node.parts = {matcher};
  return detail::Access::make<TextMatcher>(std::move(node));
}

const std::string& ChatCall::user_text() const {
  if (!user_text_) user_text_ = chat_.last_user_text();
  return *user_text_;
}

std::size_t ChatCall::prompt_tokens() const {
  if (!prompt_tokens_)
    prompt_tokens_ = tokens_ ? tokens_->count_prompt(chat_) : detail::Tokens(Tokenizer()).count_prompt(chat_);
  return *prompt_tokens_;
}

Matcher::Matcher(detail::MatcherNode node) : node_(detail::share<detail::MatcherNode>(std::move(node))) {}

const std::string& Matcher::to_string() const { return node_->description; }

namespace detail {
namespace composition {

/// Flattens conditions of the same kind, so that a && b && c has three parts.
Matcher combined(MatcherNode::Kind kind, const char* word, const Matcher& a, const Matcher& b) {
  MatcherNode node;
  node.kind = kind;
  for (const Matcher& side : {a, b}) {
    if (Access::node(side).kind == kind) {
      node.parts.insert(node.parts.end(), Access::node(side).parts.begin(), Access::node(side).parts.end());
    } else {
      node.parts.push_back(side);
    }
  }
  for (const Matcher& part : node.parts) node.description += (node.description.empty() ? "(" : word) + part.to_string();
  node.description += ")";
  return detail::Access::make<Matcher>(std::move(node));
}

}  // namespace composition
}  // namespace detail

Matcher operator&&(const Matcher& a, const Matcher& b) {
  return detail::composition::combined(detail::MatcherNode::Kind::all, " and ", a, b);
}

Matcher operator||(const Matcher& a, const Matcher& b) {
  return detail::composition::combined(detail::MatcherNode::Kind::any, " or ", a, b);
}

Matcher operator!(const Matcher& matcher) {
  using Kind = detail::MatcherNode::Kind;
  const Kind kind = detail::Access::node(matcher).kind;
  detail::MatcherNode node;
  node.kind = Kind::negation;
  // The texts of these kinds have parentheses already.
  const bool enclosed = kind == Kind::all || kind == Kind::any;
  node.description = enclosed ? "not " + matcher.to_string() : "not (" + matcher.to_string() + ")";
  node.parts = {matcher};
  return detail::Access::make<Matcher>(std::move(node));
}

namespace detail {

std::optional<bool> FunctionResults::find(const MatcherNode& node) const {
  const auto found =
      std::find_if(results_.rbegin(), results_.rend(), [&node](const auto& result) { return result.first == &node; });
  if (found == results_.rend()) return std::nullopt;
  return found->second;
}

bool decide(const Matcher& matcher, const ChatCall& call, FunctionResults& function_results) {
  const MatcherNode& node = detail::Access::node(matcher);
  switch (node.kind) {
    case MatcherNode::Kind::leaf: break;
    case MatcherNode::Kind::all:
    case MatcherNode::Kind::any: {
      const bool is_any = node.kind == MatcherNode::Kind::any;
      for (const Matcher& part : node.parts)
        if (decide(part, call, function_results) == is_any) return is_any;
      return !is_any;
    }
    case MatcherNode::Kind::negation: return !decide(node.parts.front(), call, function_results);
  }
  const bool matched = node.test(call);
  if (!node.built_in) function_results.record(node, matched);
  return matched;
}

namespace explanation {

/// Returns the result of prompt_tokens_are(); empty if the test's tokenizer throws.
std::optional<bool> test_tokens(const MatcherNode& node, const ChatCall& call) {
  try {
    return node.test(call);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// Appends the report about a node of kind `all` or `any`.
std::optional<bool> explain_parts(const MatcherNode& node, const ChatCall& call,
                                  const FunctionResults& function_results, std::size_t depth,
                                  std::vector<NearMiss::Condition>& conditions) {
  const bool is_all = node.kind == MatcherNode::Kind::all;
  // "all of" needs a heading only within "any of", to mark its parts as one condition.
  const bool has_heading = !is_all || depth > 0;
  const std::size_t heading = conditions.size();
  if (has_heading) conditions.push_back({depth, std::nullopt, is_all ? "all of" : "any of", ""});
  std::optional<bool> holds = is_all;
  for (const Matcher& part : node.parts) {
    const std::optional<bool> matched =
        explain(part, call, function_results, has_heading ? depth + 1 : depth, conditions);
    if (matched == !is_all) holds = matched;
    if (!matched && holds == is_all) holds = std::nullopt;
  }
  if (has_heading) conditions[heading].holds = holds;
  return holds;
}

std::optional<bool> explain_negation(const MatcherNode& node, const ChatCall& call,
                                     const FunctionResults& function_results, std::size_t depth,
                                     std::vector<NearMiss::Condition>& conditions) {
  std::vector<NearMiss::Condition> inner;
  std::optional<bool> matched = explain(node.parts.front(), call, function_results, depth, inner);
  if (matched) matched = !*matched;
  std::string actual;
  const MatcherNode& part = detail::Access::node(node.parts.front());
  if (matched == false && part.kind == MatcherNode::Kind::leaf && part.actual) actual = part.actual(part, call);
  conditions.push_back({depth, matched, node.description, std::move(actual)});
  return matched;
}

}  // namespace explanation

std::vector<Matcher> undecided(const std::vector<Matcher>& matchers, const ChatCall& call,
                               const FunctionResults& function_results, bool held) {
  struct Assumption {
    Assumption() { skipped_searches().match = true; }
    ~Assumption() { skipped_searches().match = false; }
  };
  const Assumption all_match;
  std::vector<NearMiss::Condition> unread;
  std::vector<Matcher> skipping;
  bool holds = true;
  for (const Matcher& matcher : matchers) {
    const std::size_t skipped = skipped_searches().count;
    holds = explain(matcher, call, function_results, 0, unread).value_or(true) && holds;
    if (skipped_searches().count != skipped) skipping.push_back(matcher);
  }
  return holds == held ? std::vector<Matcher>() : skipping;
}

std::vector<RequestScope> scopes_of(const std::vector<Matcher>& matchers) {
  std::vector<RequestScope> scopes;
  for (const Matcher& matcher : matchers) {
    const MatcherNode& node = Access::node(matcher);
    if (node.scope) scopes.push_back(*node.scope);
    if (node.kind != MatcherNode::Kind::all) continue;
    for (RequestScope& part : scopes_of(node.parts)) scopes.push_back(std::move(part));
  }
  return scopes;
}

std::string only_key(const std::vector<RequestScope>& scopes) {
  for (const RequestScope& scope : scopes)
    if (std::string key = scope.key(); !key.empty()) return key;
  return {};
}

std::optional<bool> explain(const Matcher& matcher, const ChatCall& call, const FunctionResults& function_results,
                            std::size_t depth, std::vector<NearMiss::Condition>& conditions) {
  const MatcherNode& node = detail::Access::node(matcher);
  switch (node.kind) {
    case MatcherNode::Kind::leaf: break;
    case MatcherNode::Kind::all:
    case MatcherNode::Kind::any: return explanation::explain_parts(node, call, function_results, depth, conditions);
    case MatcherNode::Kind::negation:
      return explanation::explain_negation(node, call, function_results, depth, conditions);
  }
  std::optional<bool> matched = node.built_in ? std::optional<bool>(node.test(call)) : function_results.find(node);
  if (!matched && node.field) matched = explanation::test_tokens(node, call);
  std::string actual = matched == false && node.actual ? node.actual(node, call) : std::string();
  conditions.push_back({depth, matched, node.description, std::move(actual)});
  return matched;
}

}  // namespace detail
}  // namespace mock_gateway
