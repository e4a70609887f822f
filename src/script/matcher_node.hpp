// What a condition is made of.

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

/// What the tester's own functions said while a stub was being decided. A report looks here instead of asking them
/// again.
class FunctionResults {
 public:
  void record(const MatcherNode& node, bool matched) { results_.emplace_back(&node, matched); }
  /// Nothing when the function was not asked.
  std::optional<bool> find(const MatcherNode& node) const;

 private:
  std::vector<std::pair<const MatcherNode*, bool>> results_;
};

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

struct MatcherNode {
  enum class Kind { leaf, all, any, negation };
  /// Whether the request matches; of leaves only.
  bool test(const ChatCall& call) const { return tests(*this, call); }

  // What choosing among many stubs reads comes first, in one line of the cache.
  Kind kind = Kind::leaf;
  /// Whether no function of the tester's is part of a leaf.
  bool built_in = true;
  bool (*tests)(const MatcherNode& node, const ChatCall& call) = nullptr;
  /// What a report shows in place of what a leaf expected. Never calls the tester's functions. May be null.
  std::string (*actual)(const MatcherNode& node, const ChatCall& call) = nullptr;

  // What the two functions of a leaf use: what they look at, and what it should be.
  std::optional<TextMatcher> text;
  std::string operand;
  /// Null but for matchers of request fields.
  const RequestField* field = nullptr;
  /// Whether a request without the field matches, where the field is looked for in the body alone.
  bool matches_absent = false;
  bool by_call_id = false;
  std::int64_t number = 0;
  std::optional<Range> range;
  Json json;
  std::vector<std::string> path;
  std::vector<std::string> (*values_of)(const ReceivedRequest& http, std::string_view name) = nullptr;
  /// The tester's.
  std::function<bool(const ChatCall&)> function;

  std::string description;
  /// The matchers that all, any and negation are made of.
  std::vector<Matcher> parts;
  /// The one test whose requests a leaf lets through; empty for others.
  std::optional<RequestScope> scope;
};

/// The scopes of the matchers that isolate and must match.
std::vector<RequestScope> scopes_of(const std::vector<Matcher>& matchers);
/// The key, by id or description, whose requests alone are in all of them; empty: those of others can be too.
std::string only_key(const std::vector<RequestScope>& scopes);

/// Whether the request matches. Runs the tester's functions, whose exceptions pass, and notes what they said.
bool decide(const Matcher& matcher, const ChatCall& call, FunctionResults& function_results);
/// Appends what a report shows of the matcher, without running the tester's functions. Returns whether the request
/// matches; nothing when that depends on a function that was not asked.
std::optional<bool> explain(const Matcher& matcher, const ChatCall& call, const FunctionResults& function_results,
                            std::size_t depth, std::vector<NearMiss::Condition>& conditions);

}  // namespace mock_gateway::detail
