// What `verify()` and `review()` work on; its code is in `verification.cpp`, and that of the review in `review.cpp`.

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
#include "../keys/key_store.hpp"
#include "../script/connection_faults.hpp"
#include "../script/script.hpp"
#include "diagnosis.hpp"
#include "record.hpp"
#include "review.hpp"
#include "verification.hpp"

namespace mock_gateway {
namespace detail {

/// Which problems somebody has looked at, and which notes were printed, so that a gateway's end tells only the others.
class ReportedProblems {
 public:
  void add(const std::vector<std::string>& problems);
  bool contains(const std::string& found) const;
  void add_notes(const std::vector<std::string>& notes);
  /// Those that were not added before; from now on they have been.
  std::vector<std::string> new_notes(std::vector<std::string> notes);
  /// These belong to earlier tests, and no others do. A number of exchanges or connections may be printed once more: in
  /// the next test the same number is of others.
  void pass_over(const std::vector<std::string>& notes);
  /// Those that do not belong to earlier tests.
  std::vector<std::string> not_passed_over(std::vector<std::string> notes) const;
  void clear();

 private:
  mutable std::mutex mutex_;
  std::set<std::string> problems_;
  std::set<std::string> notes_;
  std::set<std::string> passed_over_;
};

/// Judges script and journal as they are now.
class Verifier {
 public:
  Verifier(std::shared_ptr<Script> script, std::shared_ptr<JournalState> journal, std::shared_ptr<KeyStore> keys,
           std::shared_ptr<ConnectionFaults> connection_faults, std::shared_ptr<const ChaosRules> chaos, Clock clock,
           std::vector<std::string> without_findings);

  /// Waits first, in real time, until no exchange of the scope is under way, at most `patience`. Throws GatewayError
  /// for a key that the gateway never had.
  Verification verify(const RequestScope& scope, Duration patience) const;
  /// What the client did wrong; it waits in the same way.
  Review review(const RequestScope& scope, Duration patience) const;
  /// What nobody has looked at yet.
  struct Unreported {
    /// The message about problems and notes; empty when there is no such problem.
    std::string problems;
    /// The notes, when there is none: what to print when the test has failed.
    std::string notes;
  };
  /// Without problems: notes alone. `since`: as below, for findings.
  Unreported unreported(bool with_problems, std::uint64_t since) const;
  /// What verify() notes of exchanges after `since`, and did not print yet; not of stubs, which later requests may
  /// call. Findings about these that fail no review come first, unless a review has printed them.
  std::string new_notes(std::uint64_t since) const;
  /// What chaos and faults of connections have done until now is not new any more.
  void pass_over_notes() const;
  void reset();

 private:
  /// A problem, and the name under which it is told.
  using Problems = std::vector<std::pair<Problem, std::string>>;
  using Calls = std::vector<RecordedCall>;
  Problems problems(const RequestScope& scope, const Script::Stubs& stubs, const Calls& calls) const;
  void add_problems(const RequestScope& scope, Problems& problems) const;
  void add_connection_faults(Problems& problems) const;
  void add_expired_sleeps(Problems& problems) const;
  std::vector<std::string> notes(const RequestScope& scope, const Script::Stubs& stubs, const Calls& calls) const;
  /// One note of all that nobody has printed, in the words of a review, or none; from now on they have been printed.
  std::vector<std::string> new_findings(std::uint64_t since) const;
  Script::Stubs stubs(const RequestScope& scope) const;
  /// The newest chat requests, oldest first; none when no stub asks for them.
  Calls calls(const RequestScope& scope, const Script::Stubs& stubs) const;
  /// Those that ask something of the client, judged by the problems.
  std::vector<VerifiedStub> verified(const RequestScope& scope, const Script::Stubs& stubs,
                                     const std::vector<Problem>& problems) const;
  /// The text without keys, which a stub's name or a matcher may hold.
  std::string masked(std::string text) const;
  void mask(StubReference& stub) const;
  void mask(Problem& found) const;

  std::shared_ptr<Script> script_;
  std::shared_ptr<JournalState> journal_;
  std::shared_ptr<KeyStore> keys_;
  std::shared_ptr<ConnectionFaults> connection_faults_;
  std::shared_ptr<const ChaosRules> chaos_;
  Clock clock_;
  std::vector<std::string> without_findings_;
  std::atomic<std::size_t> sleeps_before_;  // expired on the clock before the gateway was made or reset
  std::shared_ptr<ReportedProblems> reported_ = std::make_shared<ReportedProblems>();
};

/// Every call of each stub came before every call of the next, and each was called.
Verification verify_order(const std::vector<std::shared_ptr<StubState>>& stubs);

}  // namespace detail

}  // namespace mock_gateway
