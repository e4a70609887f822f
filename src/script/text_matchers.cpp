// Matchers of texts; the maximum length of a text for `matches_regex`.

#include <algorithm>  // min
#include <memory>
#include <optional>
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/pattern.hpp"
#include "../core/shared.hpp"
#include "excerpts.hpp"
#include "matcher_node.hpp"
#include "matchers.hpp"

namespace mock_gateway {
namespace detail {
namespace matchers {

inline constexpr std::size_t max_searched_bytes = 65536;

TextMatcher text_matcher(std::string description, bool (*test)(const TextMatcherNode&, std::string_view),
                         std::string (*explain)(const TextMatcherNode&, std::string_view), std::string operand) {
  TextMatcherNode node{test, std::move(description), explain};
  node.operand = std::move(operand);
  return detail::Access::make<TextMatcher>(std::move(node));
}

bool is_equal(const TextMatcherNode& node, std::string_view text) { return text == node.operand; }

std::string explain_equal(const TextMatcherNode& node, std::string_view text) {
  const bool is_short = node.operand.size() <= excerpts::shown_bytes && text.size() <= excerpts::shown_bytes;
  return is_short ? excerpts::quoted(text) : excerpts::difference(node.operand, text);
}

bool has_start(const TextMatcherNode& node, std::string_view text) {
  return text.substr(0, node.operand.size()) == node.operand;
}

std::string explain_start(const TextMatcherNode& node, std::string_view text) {
  // An excerpt from the start of the text shows the difference, unless the wanted start is long.
  return node.operand.size() <= excerpts::shown_bytes || has_start(node, text)
             ? excerpts::quoted(text)
             : excerpts::difference(node.operand, text);
}

std::string_view tail(const TextMatcherNode& node, std::string_view text) {
  return text.substr(text.size() - std::min(text.size(), node.operand.size()));
}

bool has_end(const TextMatcherNode& node, std::string_view text) { return tail(node, text) == node.operand; }

std::string explain_end(const TextMatcherNode& node, std::string_view text) {
  const std::string_view actual = tail(node, text);
  return node.operand.size() <= excerpts::shown_bytes || actual == node.operand
             ? excerpts::quoted_end(text)
             : excerpts::difference(node.operand, actual, text.size() - actual.size());
}

bool has_anything(const TextMatcherNode&, std::string_view) { return true; }

/// Whether the pattern matches; empty if the search takes too many steps.
std::optional<bool> search(const schema::Pattern& pattern, std::string_view text) {
  schema::Budget budget;
  try {
    return schema::occurs(pattern, text, budget);
  } catch (const schema::Unsupported&) {
    return std::nullopt;
  }
}

std::string explain_search(const schema::Pattern& pattern, std::string_view text) {
  if (text.size() > max_searched_bytes) {
    return "not searched: it has " + excerpts::grouped(text.size()) + " bytes, more than " +
           excerpts::grouped(max_searched_bytes);
  }
  if (!search(pattern, text)) return "given up after " + excerpts::grouped(schema::work_limit) + " steps";
  return excerpts::quoted(text);
}

bool has_pattern(const TextMatcherNode& node, std::string_view text) {
  std::optional<bool> found;
  if (text.size() <= max_searched_bytes) found = search(*node.pattern, text);
  if (found) return *found;
  ++skipped_searches().count;
  return skipped_searches().match;
}

std::string explain_pattern(const TextMatcherNode& node, std::string_view text) {
  return explain_search(*node.pattern, text);
}

}  // namespace matchers

SkippedSearches& skipped_searches() {
  thread_local SkippedSearches own;
  return own;
}

std::string skipped_lines(const std::string& text, const std::string& owner, const std::vector<Matcher>& undecided) {
  std::string lines = text + " was too long to be searched by a pattern of " + owner + ": more than " +
                      excerpts::grouped(matchers::max_searched_bytes) + " bytes, or " +
                      excerpts::grouped(schema::work_limit) + " steps";
  for (const Matcher& matcher : undecided) lines += "\n  ? " + matcher.to_string();
  return lines;
}

}  // namespace detail

TextMatcher contains(std::string part) { return TextMatcher(std::move(part)); }

TextMatcher equals(std::string text) {
  using namespace detail::matchers;
  return text_matcher("is " + detail::excerpts::quoted(text), is_equal, explain_equal, text);
}

TextMatcher starts_with(std::string start) {
  using namespace detail::matchers;
  return text_matcher("starts with " + detail::excerpts::quoted(start), has_start, explain_start, start);
}

TextMatcher ends_with(std::string end) {
  using namespace detail::matchers;
  return text_matcher("ends with " + detail::excerpts::quoted(end), has_end, explain_end, end);
}

TextMatcher matches_regex(std::string pattern) {
  using detail::schema::Pattern;
  std::shared_ptr<const Pattern> parsed;
  try {
    detail::schema::Budget budget(detail::schema::none);
    parsed = detail::share<const Pattern>(detail::schema::parse_pattern(pattern, "", budget, false));
  } catch (const detail::schema::Unsupported& unsupported) {
    throw GatewayError("matches_regex(" + detail::excerpts::quoted(pattern) + "): " + unsupported.reason +
                       " TextMatcher(description, function) takes any other test of a text.");
  }
  detail::TextMatcherNode node{detail::matchers::has_pattern,
                               "matches the pattern " + detail::excerpts::quoted(pattern),
                               detail::matchers::explain_pattern};
  node.pattern = std::move(parsed);
  node.operand = std::move(pattern);
  return detail::Access::make<TextMatcher>(std::move(node));
}

TextMatcher any_text() {
  return detail::matchers::text_matcher("is anything", detail::matchers::has_anything, nullptr, "");
}

}  // namespace mock_gateway
