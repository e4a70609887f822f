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

/// Holds the request against the stub. Never runs the tester's functions: what they said is in the results, or is not
/// known. The caller says which exchange it was.
NearMiss compare(const StubState& stub, const ChatCall& call, const FunctionResults& function_results,
                 const Script::States& states);
/// Whether every condition is known to hold.
bool all_hold(const NearMiss& near);
StubReference reference_to(const StubState& stub);
/// Every text in it that may hold a key.
std::vector<std::string*> texts_of(NearMiss& near);
/// The lines of conditions, indented by two: "  ✔ has tool \"f\"".
std::string condition_lines(const std::vector<NearMiss::Condition>& conditions);

/// The request in a line: `  user: "wether in Paris?"   stream: true   tools: get_weather`.
std::string brief(const ChatCall& call);

/// Why no stub answered a request.
struct Diagnosis {
  /// The request in brief and the closest stubs, three at most, the best first.
  std::string text;
  /// The closest in a line: `"weather question" (agent_test.cpp:41), 2 of 3`.
  std::string closest;
  /// The stubs that the text tells of.
  std::vector<NearMiss> near_misses;
};
Diagnosis diagnose(const ChatCall& call, const Script::Choice& choice, const Script::States& states);

/// The first line of an exchange's problem: `no stub matched  POST /v1/chat/completions  key "billing service" exchange
/// 3`.
std::string headline(Problem::Kind kind, const ReceivedRequest& request, std::uint64_t exchange);

/// The recorded chat request in a line; empty when it was none.
std::string brief(const ExchangeRecord& record);

/// Whether the gateway itself refused the request for what its client sent: 400, 404 of a path, 405, 413, 415, or 401
/// for a key that was never the gateway's. No failure that a test scripted or forced is one, nor what becomes of a key
/// that was the gateway's: 401, 403, 429.
bool is_refusal(const ExchangeRecord& record);
/// What was wrong with such a request, on one line: `temperature: expected a number, got a string ("hot")`; empty for
/// 401, and for what is no refusal.
std::string refusal(const ExchangeRecord& record);
/// Whether it was the default reply that refused a valid request.
bool has_no_default_reply(const ExchangeRecord& record);

/// What chaos did to the scope's exchanges that the journal holds, and how to have it again: `chaos: seed 1, 2 rules, 7
/// of 100 requests struck; Options{}.seed(1) or --seed 1 repeats these strikes`. Empty where there was none.
std::string chaos_line(const ChaosRules& chaos, const JournalState& journal, const RequestScope& scope);

/// A recorded chat request, parsed again, for reports on stubs that were not called as expected.
class RecordedCall {
 public:
  explicit RecordedCall(std::shared_ptr<ExchangeRecord> record);

  const ExchangeRecord& record() const { return *record_; }
  /// Whether it was a chat request, answered as such or not.
  bool is_chat() const { return chat_ != nullptr; }
  ChatCall call() const { return {*chat_, record_->request}; }
  /// Whether it is a chat request that meets all of these. Runs the tester's functions, whose exceptions pass.
  bool meets(const std::vector<Matcher>& conditions) const;

 private:
  std::shared_ptr<ExchangeRecord> record_;
  std::shared_ptr<const ChatRequest> chat_;
};

}  // namespace mock_gateway::detail
