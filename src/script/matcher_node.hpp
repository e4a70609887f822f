// The parts of a condition.

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

#include "../core/access.hpp"
#include "../core/json.hpp"
#include "../model/range.hpp"
#include "../model/received_request.hpp"
#include "../request/chat_request.hpp"
#include "matcher.hpp"
#include "near_miss.hpp"
#include "scope.hpp"

namespace mock_gateway::detail {

namespace schema {

struct Pattern;

}  // namespace schema

struct MatcherNode;
struct RequestField;

/// The results of the test's functions while a stub was chosen. Reports use them and do not call the functions again.
class FunctionResults {
 public:
  void record(const MatcherNode& node, bool matched) { results_.emplace_back(&node, matched); }
  /// Returns the result of a matcher's function, or nothing if it was not called.
  std::optional<bool> find(const MatcherNode& node) const;

 private:
  std::vector<std::pair<const MatcherNode*, bool>> results_;
};

/// What a thread does with a text that is too long to be searched by a pattern: counts it, and takes it for a match or
/// not, by default not.
struct SkippedSearches {
  std::size_t count = 0;
  bool match = false;
};
SkippedSearches& skipped_searches();

struct TextMatcherNode {
  bool (*test)(const TextMatcherNode& node, std::string_view text);
  std::string description;
  /// Null if reports show an excerpt.
  std::string (*explain)(const TextMatcherNode& node, std::string_view text) = nullptr;
  bool built_in = true;
  std::string operand = {};
  std::shared_ptr<const schema::Pattern> pattern = {};
  std::vector<TextMatcher> parts = {};
  std::function<bool(std::string_view)> function = {};
};

struct MatcherNode {
  enum class Kind { leaf, all, any, negation };
  /// Whether the request matches. Only for leaves.
  bool test(const ChatCall& call) const { return tests(*this, call); }

  // The members for choosing among many stubs come first, in one cache line.
  Kind kind = Kind::leaf;
  bool built_in = true;
  bool (*tests)(const MatcherNode& node, const ChatCall& call) = nullptr;
  /// Returns the actual value of a leaf for reports, without calling the test's functions. May be null.
  std::string (*actual)(const MatcherNode& node, const ChatCall& call) = nullptr;

  std::optional<TextMatcher> text;
  std::string operand;
  /// Only set for matchers of request fields.
  const RequestField* field = nullptr;
  bool by_call_id = false;
  std::int64_t number = 0;
  std::optional<Range> range;
  Json json;
  std::vector<std::string> path;
  std::vector<std::string> (*values_of)(const ReceivedRequest& http, std::string_view name) = nullptr;
  std::function<bool(const ChatCall&)> function;

  std::string description;
  /// The parts of the kinds all, any and negation; the condition on an element of any_at().
  std::vector<Matcher> parts;
  /// For key_is and header_is, the scope of the test that the stub belongs to; otherwise empty.
  std::optional<RequestScope> scope;
};

std::vector<RequestScope> scopes_of(const std::vector<Matcher>& matchers);
/// Returns the only key of the scopes, by id or description, if any.
std::string only_key(const std::vector<RequestScope>& scopes);

/// Runs the test's functions, lets their exceptions pass, and records their results.
bool decide(const Matcher& matcher, const ChatCall& call, FunctionResults& function_results);
/// Appends the report without running the test's functions. Returns whether the request matches; empty if that depends
/// on a function that was not called.
std::optional<bool> explain(const Matcher& matcher, const ChatCall& call, const FunctionResults& function_results,
                            std::size_t depth, std::vector<NearMiss::Condition>& conditions);

/// Returns the matchers for which a text was too long to be searched by a pattern; none unless all of them together
/// might be decided otherwise. `held`: whether all of them held. Does not run the test's functions.
std::vector<Matcher> undecided(const std::vector<Matcher>& matchers, const ChatCall& call,
                               const FunctionResults& function_results, bool held);
/// Returns "its text was too long to be searched by a pattern of the stub at …: …", with a line for each matcher.
std::string skipped_lines(const std::string& text, const std::string& owner, const std::vector<Matcher>& undecided);

// Functions that build matchers; the code is in `matchers.cpp`. A matcher consists of two plain functions and their
// data. Lambdas in std::function would make every including file slower to compile.

namespace matchers {

using Test = bool (*)(const MatcherNode&, const ChatCall&);
using Actual = std::string (*)(const MatcherNode&, const ChatCall&);

MatcherNode leaf(std::string description, Test test, Actual actual, std::string operand = "");
MatcherNode text_leaf(std::string description, const TextMatcher& text, Test test, Actual actual,
                      std::string operand = "");

bool is_user_message(const wire::Message& message);

/// Does not call the test's functions.
std::string shown(const TextMatcher& matcher, std::string_view text);
bool is_any_text(const TextMatcher& text);
/// Returns " and its text contains \"21\""; empty if any text matches.
std::string and_text(const TextMatcher& text);
std::string listed(const char* heading, const std::vector<std::string_view>& texts);

}  // namespace matchers

}  // namespace mock_gateway::detail
