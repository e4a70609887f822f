// The notes about exchanges, connections and waits ("broke off … as scripted"), and the maximum numbers of notes.

#include "gateway_problems.hpp"

#include <cstddef>
#include <memory>
#include <mutex>

#include "../core/text.hpp"
#include "../core/timeline.hpp"
#include "../model/fault_rows.hpp"
#include "../script/excerpts.hpp"
#include "diagnosis.hpp"
#include "record.hpp"

namespace mock_gateway::detail {
namespace notes {

/// The maximum number of exchanges, and of connections, in the notes.
inline constexpr std::size_t most = 10;

/// Whether the stall guard ended the wait of this fault. Then a problem already reports it.
bool is_problem_of_guard(const ExchangeRecord& record, const Fault& fault) {
  const Effect& effect = fault.effect;
  if (record.outcome != Outcome::Kind::guard_expired) return false;
  if (!faults::row_of(effect).has(EffectTraits::waits) || effect.gate()) return false;
  return !effect.duration() || later(record.received, *effect.duration()) == TimePoint::max();
}

/// Returns "was answered with 500 internal_error as scripted"; empty if a problem, a finding or chaos_line() tells it.
std::string failure(const ExchangeRecord& record) {
  if (is_broken_off(record)) return "broke off: " + record.refusal;
  if (record.status < 400 || !refusal(record).empty()) return {};
  if (record.stub && record.stub->plan().replies.empty()) return {};  // a stub with never(), whose call is a problem
  const std::string& code = record.advice.code;
  const std::string what = std::to_string(record.status) + (code.empty() ? "" : " " + text::printable(code, 40));
  if (record.decision == Decision::Kind::stub) return "was answered with " + what + " as scripted";
  if (record.decision == Decision::Kind::forced_failure) return "was answered with " + what + ", a forced failure";
  if (record.decision != Decision::Kind::rejected) return {};
  const std::string& description = record.request.key_description;
  const std::string& key = description.empty() ? record.request.key_id : description;
  const bool has_reason = record.status == 401 || record.status == 403 || record.status == 429;
  return "was refused with " + what + (key.empty() ? "" : ", key " + excerpts::quoted(key)) +
         (has_reason ? ": " + record.refusal : "");
}

/// Returns the note about an exchange without its start "exchange 1"; empty if there is none.
std::string line(const ExchangeRecord& record) {
  std::string list;
  const auto add = [&list](const std::string& what) { list += (list.empty() ? " " : ", ") + what; };
  if (const std::string what = failure(record); !what.empty()) add(what);
  for (const ExchangeRecord::ScriptedFault& scripted : record.faults)
    if (scripted.reached && !is_problem_of_guard(record, scripted.fault))
      add(faults::what_happened(scripted.fault) + " as scripted");
  if (!record.unusual.empty()) list += (list.empty() ? ": " : ", ") + record.unusual;
  return list;
}

}  // namespace notes

std::vector<std::string> notes_of_exchanges(const JournalState& journal, const RequestScope& scope,
                                            std::uint64_t since) {
  std::vector<std::string> lines;
  std::size_t more = 0;
  const std::vector<std::shared_ptr<ExchangeRecord>> records = journal.snapshot();
  const std::lock_guard<std::mutex> lock(journal.signal()->mutex);
  for (const auto& record : records) {
    if (record->id <= since || !scope.covers(record->request)) continue;
    const std::string line = notes::line(*record);
    if (line.empty()) continue;
    if (lines.size() < notes::most)
      lines.push_back("exchange " + std::to_string(record->id) + line);
    else
      ++more;
  }
  if (more > 0) lines.push_back("and " + text::counted(more, "more exchange") + " with faults, failures or the like");
  return lines;
}

std::vector<std::string> notes_of_connections(const JournalState& journal) {
  std::vector<std::string> lines;
  for (const ConnectionHit& hit : journal.hits())
    lines.push_back("connection " + std::to_string(hit.connection_id) +
                    " had a scripted fault: " + hit.fault.to_string());
  return lines;
}

std::vector<std::string> first_connections(std::vector<std::string> lines) {
  if (lines.size() <= notes::most) return lines;
  const std::size_t more = lines.size() - notes::most;
  lines.resize(notes::most);
  lines.push_back("and " + text::counted(more, "more connection") + " with scripted faults");
  return lines;
}

std::vector<std::string> notes_of_open(const JournalState& journal, const RequestScope& scope) {
  const std::size_t open = journal.open(scope);
  if (open == 0) return {};
  std::vector<std::string> lines;
  for (const auto& record : journal.open_records(scope)) {
    if (lines.size() == notes::most) break;
    if (const std::optional<ScriptedWait> wait = record->progress.scripted_wait())
      lines.push_back("exchange " + std::to_string(record->id) + " " + wait->under_way());
  }
  if (open <= lines.size()) return lines;
  const std::size_t others = open - lines.size();
  lines.push_back(text::counted(others, lines.empty() ? "exchange" : "more exchange") + (others == 1 ? " is" : " are") +
                  " still under way");
  return lines;
}

}  // namespace mock_gateway::detail
