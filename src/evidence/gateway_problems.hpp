#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../core/clock.hpp"
#include "../core/shared.hpp"
#include "../keys/key_store.hpp"
#include "../script/chaos_rules.hpp"
#include "../script/connection_faults.hpp"
#include "../script/script.hpp"
#include "diagnosis.hpp"
#include "record.hpp"
#include "review.hpp"
#include "verification.hpp"

namespace mock_gateway::detail {

/// The parts shared by connections, verify() and handles such as Keys, Stub and Journal. Each is thread-safe.
struct GatewayParts {
  Clock clock;
  std::shared_ptr<KeyStore> keys;
  std::shared_ptr<Script> script;
  std::shared_ptr<JournalState> journal;
  std::shared_ptr<ConnectionFaults> connection_faults;
  std::shared_ptr<ChaosRules> chaos;
};

/// The problems already seen and the notes already printed, which the gateway's destructor does not repeat.
class ReportedProblems {
 public:
  void add(const std::vector<std::string>& problems);
  bool contains(const std::string& found) const;
  void add_notes(const std::vector<std::string>& notes);
  std::vector<std::string> new_notes(std::vector<std::string> notes);
  /// Sets the notes of earlier tests. Mere counts may be printed again: the same count means other exchanges.
  void pass_over(const std::vector<std::string>& notes);
  std::vector<std::string> not_passed_over(std::vector<std::string> notes) const;
  void clear();

 private:
  mutable std::mutex mutex_;
  std::set<std::string> problems_;
  std::set<std::string> notes_;
  std::set<std::string> passed_over_;
};

class GatewayProblems {
 public:
  /// The gateway must outlive this object.
  GatewayProblems(const GatewayParts& gateway, std::vector<std::string> without_findings);

  /// Waits in real time, up to `patience`, for the scope's open exchanges. Throws GatewayError for an unknown key.
  Verification verify(const RequestScope& scope, Duration patience) const;
  /// Returns the client's mistakes, after waiting like verify().
  Review review(const RequestScope& scope, Duration patience) const;
  struct Unreported {
    /// The message about problems and notes; empty if there are no problems.
    std::string problems;
    /// The notes, if there are no problems: to print when the test has failed.
    std::string notes;
  };
  /// Returns problems (if `with_problems`) and notes. Includes only findings about exchanges after `since`.
  Unreported unreported(bool with_problems, std::uint64_t since) const;
  /// Returns the unprinted notes about exchanges after `since`. Excludes notes about stubs, because later requests may
  /// call them. Findings that fail no review come first, unless a review has printed them.
  std::string new_notes(std::uint64_t since) const;
  /// Marks the notes so far about chaos and connection faults as notes of earlier tests.
  void pass_over_notes() const;
  void reset();

 private:
  /// Each problem with its identity, by which ReportedProblems knows it.
  using Problems = std::vector<std::pair<Problem, std::string>>;
  using Calls = std::vector<RecordedCall>;
  Problems problems(const RequestScope& scope, const Script::Stubs& stubs, const Calls& calls) const;
  void add_problems(const RequestScope& scope, Problems& problems) const;
  void add_connection_faults(Problems& problems) const;
  void add_expired_sleeps(Problems& problems) const;
  std::vector<std::string> notes(const RequestScope& scope, const Script::Stubs& stubs, const Calls& calls) const;
  /// Returns one note with all unprinted findings in the wording of a review, or none, and marks them as printed.
  std::vector<std::string> new_findings(std::uint64_t since) const;
  bool is_in_real_time() const;
  Script::Stubs stubs(const RequestScope& scope) const;
  /// Returns up to 200 of the newest requests, oldest first, to explain problems of stubs; empty if no stub has one.
  Calls calls(const RequestScope& scope, const Script::Stubs& stubs) const;
  std::vector<VerifiedStub> verified(const RequestScope& scope, const Script::Stubs& stubs,
                                     const std::vector<Problem>& problems) const;
  /// Returns the text with masked keys, which names of stubs and matchers may contain.
  std::string masked(std::string text) const;
  void mask(StubReference& stub) const;
  void mask(Problem& found) const;

  const GatewayParts& gateway_;
  std::vector<std::string> without_findings_;
  std::atomic<std::size_t> sleeps_before_;  // expired sleeps when the gateway was created or reset
  std::shared_ptr<ReportedProblems> reported_ = share<ReportedProblems>();
};

Verification verify_order(const std::vector<std::shared_ptr<StubState>>& stubs);

/// Returns a note for each exchange after `since` with scripted faults, a failure or an unusual answer, at most ten.
std::vector<std::string> notes_of_exchanges(const JournalState& journal, const RequestScope& scope,
                                            std::uint64_t since);
std::vector<std::string> notes_of_connections(const JournalState& journal);
std::vector<std::string> first_connections(std::vector<std::string> lines);
std::vector<std::string> notes_of_open(const JournalState& journal, const RequestScope& scope);

std::string lines_of(const std::vector<std::string>& notes);
std::string message_of(const std::vector<Problem>& problems, const std::vector<std::string>& notes);

}  // namespace mock_gateway::detail
