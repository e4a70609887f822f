// The internal representation of matchers.

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
#include "matcher.hpp"
#include "near_miss.hpp"
#include "scope.hpp"

namespace mock_gateway::detail {

namespace schema {

struct Pattern;

}  // namespace schema

struct MatcherNode;
struct RequestField;

/// Results of the test's functions while a stub is chosen. Reports use them instead of calling the functions again.
class FunctionResults {
 public:
  void record(const MatcherNode& node, bool matched) { results_.emplace_back(&node, matched); }
  /// Empty if the function was not called.
  std::optional<bool> find(const MatcherNode& node) const;

 private:
  std::vector<std::pair<const MatcherNode*, bool>> results_;
};

struct TextMatcherNode {
  bool (*test)(const TextMatcherNode& node, std::string_view text);
  std::string description;
  /// Null if reports show an excerpt.
  std::string (*explain)(const TextMatcherNode& node, std::string_view text) = nullptr;
  bool built_in = true;
  // Operands of the two functions.
  std::string operand = {};
  std::shared_ptr<const schema::Pattern> pattern = {};
  std::vector<TextMatcher> parts = {};
  /// A function of the test.
  std::function<bool(std::string_view)> function = {};
};

struct MatcherNode {
  enum class Kind { leaf, all, any, negation };
  /// Whether the request matches. Only for leaves.
  bool test(const ChatCall& call) const { return tests(*this, call); }

  // The members needed to choose among many stubs come first, in one cache line.
  Kind kind = Kind::leaf;
  /// Whether a leaf has no function of the test.
  bool built_in = true;
  bool (*tests)(const MatcherNode& node, const ChatCall& call) = nullptr;
  /// Formats the actual value for a report, without calling functions of the test. May be null.
  std::string (*actual)(const MatcherNode& node, const ChatCall& call) = nullptr;

  // Operands of the two functions of a leaf.
  std::optional<TextMatcher> text;
  std::string operand;
  /// Null except in matchers of request fields.
  const RequestField* field = nullptr;
  /// Whether a request without the field matches. Only for fields that are read from the body.
  bool matches_absent = false;
  bool by_call_id = false;
  std::int64_t number = 0;
  std::optional<Range> range;
  Json json;
  std::vector<std::string> path;
  std::vector<std::string> (*values_of)(const ReceivedRequest& http, std::string_view name) = nullptr;
  /// A function of the test.
  std::function<bool(const ChatCall&)> function;

  std::string description;
  /// The operands of all, any and negation.
  std::vector<Matcher> parts;
  /// The scope of a leaf that isolates a test; empty for others.
  std::optional<RequestScope> scope;
};

/// Returns the scopes of isolating matchers among those that must match.
std::vector<RequestScope> scopes_of(const std::vector<Matcher>& matchers);
/// Returns the only key, by id or description, that the scopes cover; empty if they may cover several.
std::string only_key(const std::vector<RequestScope>& scopes);

/// Whether the request matches. Calls the test's functions and records their results. Their exceptions propagate.
bool decide(const Matcher& matcher, const ChatCall& call, FunctionResults& function_results);
/// Appends the explanation for a report, without calling functions of the test. Returns whether the request matches;
/// empty if that depends on a function that was not called.
std::optional<bool> explain(const Matcher& matcher, const ChatCall& call, const FunctionResults& function_results,
                            std::size_t depth, std::vector<NearMiss::Condition>& conditions);

}  // namespace mock_gateway::detail
