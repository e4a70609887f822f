#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../script/matcher_node.hpp"
#include "../script/near_miss.hpp"
#include "../script/script.hpp"
#include "record.hpp"

namespace mock_gateway::detail {

class ChaosRules;

/// Compares the request with the stub. Never runs the test's functions: their results are in `function_results`, or
/// unknown. The caller sets the exchange of the result.
NearMiss compare(const StubState& stub, const ChatCall& call, const FunctionResults& function_results,
                 const Script::States& states);
/// Whether all conditions are known to hold.
bool all_hold(const NearMiss& near);
StubReference reference_to(const StubState& stub);
/// Returns all texts in it that may contain a key.
std::vector<std::string*> texts_of(NearMiss& near);
/// Returns the condition lines, indented by two spaces: "  ✔ has tool \"f\"".
std::string condition_lines(const std::vector<NearMiss::Condition>& conditions);

/// Returns the request in one line: `  user: "wether in Paris?"   stream: true   tools: get_weather`.
std::string brief(const ChatCall& call);

/// The reason that no stub answered a request.
struct Diagnosis {
  /// The request in brief and up to three stubs, closest first.
  std::string text;
  /// The closest stub in one line: `"weather question" (agent_test.cpp:41), 2 of 3`.
  std::string closest;
  /// The stubs in the text.
  std::vector<NearMiss> near_misses;
};
Diagnosis diagnose(const ChatCall& call, const Script::Choice& choice, const Script::States& states);

/// Returns the first line of an exchange's problem: `no stub matched  POST /v1/chat/completions  key "billing service"
/// exchange 3`.
std::string headline(Problem::Kind kind, const ReceivedRequest& request, std::uint64_t exchange);

/// Returns the recorded chat request in one line; empty for other requests.
std::string brief(const ExchangeRecord& record);

/// Whether the gateway itself refused the request because of its content: 400, 404 for a path, 405, 413, 415, or 401
/// for a key that the gateway never had. Excludes scripted and forced failures, and the 401, 403 and 429 of a key that
/// the gateway has or had.
bool is_refusal(const ExchangeRecord& record);
/// Returns the reason of such a refusal in one line: `temperature: expected a number, got a string ("hot")`. Empty for
/// 401 and for requests that were not refused.
std::string refusal(const ExchangeRecord& record);
/// Whether the default reply could not answer a valid request.
bool has_no_default_reply(const ExchangeRecord& record);

/// Returns what chaos did to the scope's recorded exchanges and how to repeat it: `chaos: seed 1, 2 rules, 7 of 100
/// requests struck; Options{}.seed(1) or --seed 1 repeats these strikes`. Empty without chaos.
std::string chaos_line(const ChaosRules& chaos, const JournalState& journal, const RequestScope& scope);

/// A recorded chat request, parsed again for reports on stubs with unmet expectations.
class RecordedCall {
 public:
  explicit RecordedCall(std::shared_ptr<ExchangeRecord> record);

  const ExchangeRecord& record() const { return *record_; }
  /// Whether it was a chat request, regardless of the answer.
  bool is_chat() const { return chat_ != nullptr; }
  ChatCall call() const { return {*chat_, record_->request}; }
  /// Whether it is a chat request that meets all conditions. Runs the test's functions and lets their exceptions pass.
  bool meets(const std::vector<Matcher>& conditions) const;

 private:
  std::shared_ptr<ExchangeRecord> record_;
  std::shared_ptr<const ChatRequest> chat_;
};

}  // namespace mock_gateway::detail
