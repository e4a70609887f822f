// The diagnosis of an unmatched request: the three closest stubs, with ✔ and ✘ lines. The first lines of problems, the
// line about chaos, and which requests count as refused.

#include "diagnosis.hpp"

#include <algorithm>  // min, stable_sort
#include <utility>

#include "../core/error.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"
#include "../model/failure.hpp"
#include "../model/operation.hpp"
#include "../model/request_error.hpp"
#include "../request/chat_parser.hpp"
#include "../script/chaos_rules.hpp"
#include "../script/excerpts.hpp"
#include "../script/matcher_node.hpp"

namespace mock_gateway::detail {
namespace diagnoses {

/// Returns why the stub may not answer, apart from its matchers.
std::string passed_over(const StubState& stub, const Script::States& states) {
  const StubPlan& plan = stub.plan();
  if (stub.removed()) return "removed";
  if (stub.exhausted() && plan.nothing_more) return "nothing more after " + text::counted(stub.calls(), "call");
  if (stub.exhausted()) return "exhausted after " + text::counted(stub.calls(), "call");
  for (const MachineState& wanted : plan.in_states) {
    const std::string& state = Script::state_in(states, wanted.machine);
    if (state != wanted.state)
      return "state machine \"" + wanted.machine + "\" is \"" + state + "\", not \"" + wanted.state + "\"";
  }
  return {};
}

std::string tools(const ChatRequest& chat) {
  constexpr std::size_t most = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(most, chat.tools.size()); ++i) {
    names += (i == 0 ? "" : ", ") + excerpts::plain(chat.tools[i].name);
  }
  if (chat.tools.size() > most) names += " and " + std::to_string(chat.tools.size() - most) + " more";
  return names;
}

std::size_t misses(const NearMiss& miss) { return miss.total - miss.matched + (miss.passed_over.empty() ? 0 : 1); }

}  // namespace diagnoses

NearMiss compare(const StubState& stub, const ChatCall& call, const FunctionResults& function_results,
                 const Script::States& states) {
  NearMiss miss;
  miss.stub = reference_to(stub);
  for (const Matcher& matcher : stub.plan().matchers) explain(matcher, call, function_results, 0, miss.conditions);
  for (const NearMiss::Condition& condition : miss.conditions) {
    if (condition.depth > 0) continue;
    ++miss.total;
    if (condition.holds == true) ++miss.matched;
  }
  miss.passed_over = diagnoses::passed_over(stub, states);
  return miss;
}

bool all_hold(const NearMiss& miss) { return miss.matched == miss.total; }

StubReference reference_to(const StubState& stub) { return {stub.id(), stub.plan().name, stub.title(), stub.where()}; }

std::vector<std::string*> texts_of(NearMiss& miss) {
  std::vector<std::string*> texts = {&miss.stub.name, &miss.stub.title, &miss.passed_over};
  for (NearMiss::Condition& condition : miss.conditions) {
    texts.push_back(&condition.expected);
    texts.push_back(&condition.actual);
  }
  return texts;
}

std::string condition_lines(const std::vector<NearMiss::Condition>& conditions) {
  std::string lines;
  for (const NearMiss::Condition& condition : conditions) {
    lines.append(2 + 2 * condition.depth, ' ');
    lines += !condition.holds ? "? " : *condition.holds ? "✔ " : "✘ ";
    lines += condition.expected;
    if (!condition.holds) lines += "    not evaluated";
    if (!condition.actual.empty()) lines += "    actual " + condition.actual;
    lines += '\n';
  }
  return lines;
}

std::string brief(const ChatCall& call) {
  const ChatRequest& chat = call.chat();
  std::string line = "  user: " + excerpts::quoted(call.user_text());
  if (!chat.messages.empty() && chat.messages.back().role != "user") {
    const wire::Message& last = chat.messages.back();
    line += "   last: " + excerpts::plain(last.role) + " " + excerpts::quoted(last.text());
  }
  if (chat.stream) line += "   stream: true";
  if (!chat.tools.empty()) line += "   tools: " + diagnoses::tools(chat);
  return line + '\n';
}

Diagnosis diagnose(const ChatCall& call, const Script::Choice& choice, const Script::States& states) {
  constexpr std::size_t most = 3;
  std::vector<NearMiss> candidates;
  for (const auto& stub : *choice.considered) {
    candidates.push_back(compare(*stub, call, choice.function_results, states));
    NearMiss& miss = candidates.back();
    if (choice.stub && choice.stub != stub && all_hold(miss) && miss.passed_over.empty()) {
      const bool lower = stub->plan().priority < choice.stub->plan().priority;
      miss.passed_over = lower ? "lower priority" : "older";
    }
  }
  // A stub that refused the request is the reason, even if other stubs are closer.
  const std::uint64_t refused = choice.stub ? choice.stub->id() : 0;
  std::stable_sort(candidates.begin(), candidates.end(), [refused](const NearMiss& a, const NearMiss& b) {
    if ((a.stub.id == refused) != (b.stub.id == refused)) return a.stub.id == refused;
    if (diagnoses::misses(a) != diagnoses::misses(b)) return diagnoses::misses(a) < diagnoses::misses(b);
    return a.matched > b.matched;
  });

  Diagnosis diagnosis;
  diagnosis.text = brief(call);
  for (NearMiss& miss : candidates) {
    if (diagnosis.near_misses.size() == most) break;
    std::string line = miss.stub.title;
    if (!all_hold(miss)) line += ", " + std::to_string(miss.matched) + " of " + std::to_string(miss.total);
    if (!miss.passed_over.empty()) line += ", " + miss.passed_over;
    const bool is_first = diagnosis.near_misses.empty();
    if (is_first) diagnosis.closest = line;
    diagnosis.text += (is_first ? "closest: " : "next: ") + line + '\n';
    if (!all_hold(miss)) diagnosis.text += condition_lines(miss.conditions);
    diagnosis.near_misses.push_back(std::move(miss));
  }
  if (candidates.size() > most) {
    diagnosis.text += "and " + std::to_string(candidates.size() - most) + " more, further away\n";
  }
  diagnosis.text.pop_back();
  diagnosis.text = text::printable_lines(diagnosis.text);
  diagnosis.closest = text::printable(diagnosis.closest);
  return diagnosis;
}

std::string headline(Problem::Kind kind, const ReceivedRequest& request, std::uint64_t exchange) {
  std::string line;
  switch (kind) {
    case Problem::Kind::unmatched: line = "no stub matched"; break;
    case Problem::Kind::invalid: line = "a request fails a should condition"; break;
    case Problem::Kind::callback_failed: line = "a function of the test threw"; break;
    case Problem::Kind::answer_failed: line = "an answer could not be generated"; break;
    case Problem::Kind::fault_not_reached: line = "a fault was never reached"; break;
    case Problem::Kind::place_not_reached: line = "a place in a reply was never reached"; break;
    case Problem::Kind::not_searched: line = "a text was not searched"; break;
    case Problem::Kind::guard_expired: line = "a wait ran into its real-time guard"; break;
    case Problem::Kind::unmet_expectation:
    case Problem::Kind::out_of_order: break;  // these concern stubs, not exchanges
  }
  line += "  " + text::printable(request.method) + " " + text::printable(request.path());
  if (!request.key_id.empty()) {
    const std::string& description = request.key_description;
    line += "  key " + excerpts::quoted(description.empty() ? request.key_id : description);
  }
  return line + "  exchange " + std::to_string(exchange);
}

bool is_refusal(const ExchangeRecord& record) {
  if (record.decision != Decision::Kind::rejected && record.decision != Decision::Kind::malformed) return false;
  switch (record.status) {
    case 400: return record.advice.code != "context_length_exceeded";
    case 405:
    case 415: return true;
    case 413: return record.advice.code != "rate_limit_exceeded";
    case 401: return record.request.key_id.empty();
    case 404: return record.advice.code == "unknown_path";
    default: return false;
  }
}

std::string refusal(const ExchangeRecord& record) {
  constexpr std::size_t most = 400;
  if (!is_refusal(record) || record.status == 401) return {};
  std::string reason = excerpts::plain(record.refusal, most);
  if (!reason.empty() && reason.back() == '.') reason.pop_back();
  return reason;
}

bool is_broken_off(const ExchangeRecord& record) {
  return record.decision == Decision::Kind::malformed && record.advice.code == "incomplete_request";
}

bool has_no_default_reply(const ExchangeRecord& record) { return record.advice.code == "unsupported_schema"; }

std::string chaos_line(const ChaosRules& chaos, const JournalState& journal, const RequestScope& scope) {
  if (!chaos.used()) return {};
  std::size_t requests = 0;
  std::size_t struck = 0;
  for (const auto& record : journal.snapshot()) {
    if (!record->under_chaos || !scope.covers(record->request)) continue;
    ++requests;
    if (record->chaos_strikes() > 0) ++struck;
  }
  const std::size_t rules = chaos.count();
  if (rules == 0 && requests == 0) return {};
  const std::string seed = std::to_string(chaos.seed());
  return "chaos: seed " + seed + ", " + (rules == 0 ? "no rules left" : text::counted(rules, "rule")) + ", " +
         std::to_string(struck) + " of " + text::counted(requests, "request") + " struck; Options{}.seed(" + seed +
         ") or --seed " + seed + " repeats these strikes";
}

RecordedCall::RecordedCall(std::shared_ptr<ExchangeRecord> record) : record_(std::move(record)) {
  if (!record_->is_for_chat) return;
  try {
    chat_ = share<const ChatRequest>(parse_chat_request(record_->request.body, record_->acceptance, record_->limits));
  } catch (const RequestError&) {
    // It was no chat request, or masked keys made it invalid.
  }
}

bool RecordedCall::meets(const std::vector<Matcher>& conditions) const {
  if (!is_chat()) return false;
  const ChatCall asked = call();
  FunctionResults results;
  const std::size_t skipped = skipped_searches().count;
  const bool met = std::all_of(conditions.begin(), conditions.end(),
                               [&](const Matcher& condition) { return decide(condition, asked, results); });
  if (skipped_searches().count == skipped) return met;
  const std::vector<Matcher> open = undecided(conditions, asked, results, met);
  if (!open.empty())
    throw GatewayError(skipped_lines("the text of exchange " + std::to_string(record_->id), "this search", open));
  return met;
}

std::string brief(const ExchangeRecord& record) {
  if (!record.chat) return {};
  try {
    const ChatRequest chat = parse_chat_request(record.request.body, record.acceptance, record.limits);
    return brief(ChatCall(chat, record.request));
  } catch (const RequestError&) {
    return {};
  }
}

}  // namespace mock_gateway::detail
