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
/// unknown. The caller sets NearMiss::exchange.
NearMiss compare(const StubState& stub, const ChatCall& call, const FunctionResults& function_results,
                 const Script::States& states);
bool all_hold(const NearMiss& miss);
StubReference reference_to(const StubState& stub);
/// Returns the texts of a near miss that may contain a key.
std::vector<std::string*> texts_of(NearMiss& miss);
/// Returns a line for each condition, indented by two spaces: "  ✔ has tool \"f\"".
std::string condition_lines(const std::vector<NearMiss::Condition>& conditions);

/// Returns the request in one line: `  user: "wether in Paris?"   stream: true   tools: get_weather`.
std::string brief(const ChatCall& call);

struct Diagnosis {
  /// The request in brief and up to three stubs, closest first.
  std::string text;
  /// The closest stub in one line: `"weather question" (agent_test.cpp:41), 2 of 3`.
  std::string closest;
  std::vector<NearMiss> near_misses;
};
Diagnosis diagnose(const ChatCall& call, const Script::Choice& choice, const Script::States& states);

/// Returns the first line of a problem: `no stub matched  POST /v1/chat/completions  key "billing"   exchange 3`.
std::string headline(Problem::Kind kind, const ReceivedRequest& request, std::uint64_t exchange);

std::string brief(const ExchangeRecord& record);

/// Whether the gateway itself refused the request because of its content. These are 400, 404 for a path, 405, 413, 415,
/// and 401 for a key that the gateway never had. Excludes scripted and forced failures, the 401, 403 and 429 of a key
/// that the gateway has or had, and prompts that a client must shorten.
bool is_refusal(const ExchangeRecord& record);
/// Returns the reason of a refusal, except for 401: `temperature: expected a number, got null`. Otherwise empty.
std::string refusal(const ExchangeRecord& record);
/// Whether the client closed the connection before the request was complete, as it may if its user cancels the call.
bool is_broken_off(const ExchangeRecord& record);
bool has_no_default_reply(const ExchangeRecord& record);

/// Returns the line about chaos: `chaos: seed 1, 2 rules, 7 of 100 requests struck; …`. Empty if there was no chaos.
std::string chaos_line(const ChaosRules& chaos, const JournalState& journal, const RequestScope& scope);

class RecordedCall {
 public:
  explicit RecordedCall(std::shared_ptr<ExchangeRecord> record);

  const ExchangeRecord& record() const { return *record_; }
  bool is_chat() const { return chat_ != nullptr; }
  ChatCall call() const { return {*chat_, record_->request, &record_->tokens}; }
  /// Whether it is a chat request that meets all conditions. Runs the test's functions; these may throw.
  /// Throws GatewayError if that depends on a text that was too long to be searched by a pattern.
  bool meets(const std::vector<Matcher>& conditions) const;

 private:
  std::shared_ptr<ExchangeRecord> record_;
  std::shared_ptr<const ChatRequest> chat_;
};

}  // namespace mock_gateway::detail
