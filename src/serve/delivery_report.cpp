// Faults, holds and places that were not reached; waits ended by guards.

#include "runner.hpp"

#include <string>
#include <utility>
#include <vector>

#include "../core/access.hpp"
#include "../evidence/diagnosis.hpp"
#include "../model/fault_rows.hpp"
#include "../model/reply_data.hpp"

namespace mock_gateway::detail {
namespace delivery_report {

/// Returns the number of scripted faults of the reply. Chaos faults follow them.
std::size_t scripted_faults(const DeliveryPlan& plan) {
  return plan.chaos.empty() ? Access::data(*plan.reply).faults.size() : plan.scripted_faults;
}

void note_chaos(ExchangeRecord& record, const DeliveryPlan& plan, const Delivery& delivery) {
  std::size_t fault = plan.scripted_faults;
  for (std::size_t i = 0; i < plan.chaos.size(); ++i)
    if (plan.chaos[i].fault && !delivery.reached(fault++)) record.mark_chaos_missed(i);
}

void note_script(ExchangeRecord& record, const DeliveryPlan& plan, const Delivery& delivery, Delivery::Result result) {
  const ReplyData& reply = Access::data(*plan.reply);
  std::vector<ExchangeRecord::ScriptedFault> faults;
  bool finish_was_sent = result == Delivery::Result::completed;
  for (std::size_t i = 0; i < scripted_faults(plan); ++i) {
    faults.push_back({reply.faults[i], delivery.reached(i)});
    if (delivery.reached(i) && faults::row_of(reply.faults[i].effect).has(EffectTraits::omits_event))
      finish_was_sent = false;
  }
  std::string unusual = finish_was_sent ? plan.unusual : std::string();
  if (plan.stream && record.progress.events > 0) {
    const bool whole = result == Delivery::Result::completed || record.progress.done;
    // If the stall guard ended the wait, a problem reports it.
    const bool is_told = result == Delivery::Result::guard_expired;
    const std::string written = unusual_in(is_told ? reply.sse.open_after_done(false) : reply.sse, whole);
    unusual += (unusual.empty() || written.empty() ? "" : ", ") + written;
  }
  record.mark_delivered(std::move(faults), std::move(unusual));
}

void report(JournalState& journal, const ExchangeRecord& record, Problem::Kind kind, const std::string& what) {
  std::string text = brief(record) + "  " + what;
  if (record.stub) text += "\n  reply of " + record.stub->title();
  journal.report(record, {{kind, std::move(text)}});
}

void report_missed(JournalState& journal, const ExchangeRecord& record, const DeliveryPlan& plan,
                   const Delivery& delivery, std::size_t chunks) {
  const ReplyData& reply = Access::data(*plan.reply);
  const auto ended = [&] {
    return ": the reply ended after " + std::to_string(record.progress.tokens) + " tokens and " +
           std::to_string(record.progress.events) + " events";
  };
  const auto missed_place = [&](const std::string& what) {
    report(journal, record, Problem::Kind::place_not_reached,
           what + ended() + ", " + std::to_string(record.bytes) + " bytes");
  };
  for (std::size_t i = 0; i < scripted_faults(plan); ++i)
    if (!delivery.reached(i))
      report(journal, record, Problem::Kind::fault_not_reached,
             reply.faults[i].effect.to_string() + " " + reply.faults[i].trigger.to_string() + ended());
  for (std::size_t i = 0; i < reply.holds.size(); ++i)
    if (!delivery.reached_hold(i)) missed_place("hold " + reply.holds[i].place.to_string());
  for (const ExtraChunk& extra : reply.extra_chunks) {
    if (extra.number > chunks) missed_place("extra fields of chunk " + std::to_string(extra.number));
  }
  if (reply.writes.kind == Writes::Kind::split && !delivery.is_split())
    missed_place("split write after " + std::to_string(reply.writes.size) + " bytes");
}

}  // namespace delivery_report

void report_delivery(JournalState& journal, ExchangeRecord& record, const DeliveryPlan& plan, const Delivery& delivery,
                     const DeliveryEnd& end) {
  delivery_report::note_chaos(record, plan, delivery);
  // A sweep itself reports faults that were not reached.
  if (plan.reply && !Access::data(*plan.reply).swept) {
    delivery_report::note_script(record, plan, delivery, end.result);
    if (end.result == Delivery::Result::completed)
      delivery_report::report_missed(journal, record, plan, delivery, end.chunks);
  }
  const auto report_guard = [&](const std::string& what) {
    delivery_report::report(journal, record, Problem::Kind::guard_expired, what);
  };
  if (end.is_guard_spent) report_guard("a gate was not opened, or a manual clock not advanced, in time");
  if (end.result == Delivery::Result::guard_expired)
    report_guard("exchange " + std::to_string(record.id) + " " + delivery.expired_wait());
}

}  // namespace mock_gateway::detail
