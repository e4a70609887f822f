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

#include "../core/shared.hpp"
#include "../script/script.hpp"
#include "diagnosis.hpp"
#include "gateway_parts.hpp"
#include "record.hpp"
#include "review.hpp"
#include "verification.hpp"

namespace mock_gateway::detail {

/// Which problems somebody has looked at, and which notes were printed: a gateway's end tells neither again.
class ReportedProblems {
 public:
  void add(const std::vector<std::string>& problems);
  bool contains(const std::string& found) const;
  void add_notes(const std::vector<std::string>& notes);
  /// Adds the notes. Returns those that had not been added before.
  std::vector<std::string> new_notes(std::vector<std::string> notes);
  /// Notes that belong to earlier tests, in place of those of the last call. A note that only counts exchanges or
  /// connections may be printed once more, since the same count means others in the next test.
  void pass_over(const std::vector<std::string>& notes);
  /// The notes without those that belong to earlier tests.
  std::vector<std::string> not_passed_over(std::vector<std::string> notes) const;
  void clear();

 private:
  mutable std::mutex mutex_;
  std::set<std::string> problems_;
  std::set<std::string> notes_;
  std::set<std::string> passed_over_;
};

/// What is wrong with a gateway, and what there is to note, as script and journal are now.
class GatewayProblems {
 public:
  /// The gateway must outlive this.
  GatewayProblems(const GatewayParts& gateway, std::vector<std::string> without_findings);

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
  /// Without `with_problems`: notes alone. `since`: as below, for findings.
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
  /// The stubs that ask something of the client, and whether they are met, by the problems.
  std::vector<VerifiedStub> verified(const RequestScope& scope, const Script::Stubs& stubs,
                                     const std::vector<Problem>& problems) const;
  /// The text without keys, which a stub's name or a matcher may hold.
  std::string masked(std::string text) const;
  void mask(StubReference& stub) const;
  void mask(Problem& found) const;

  const GatewayParts& gateway_;
  std::vector<std::string> without_findings_;
  std::atomic<std::size_t> sleeps_before_;  // expired on the clock before the gateway was made or reset
  std::shared_ptr<ReportedProblems> reported_ = share<ReportedProblems>();
};

/// Every call of each stub came before every call of the next, and each was called.
Verification verify_order(const std::vector<std::shared_ptr<StubState>>& stubs);

/// What verify() notes of the scope's exchanges after `since`, a line each: what their scripts did to the answers, what
/// was unusual in them, and which got a failure; of many exchanges the first ten.
std::vector<std::string> notes_of_exchanges(const JournalState& journal, const RequestScope& scope,
                                            std::uint64_t since);
/// The connections that a scripted fault struck, a line each.
std::vector<std::string> notes_of_connections(const JournalState& journal);
/// The first ten lines about connections, and how many more there are.
std::vector<std::string> first_connections(std::vector<std::string> lines);
/// What is under way: what each exchange waits for as scripted, and how many others there are.
std::vector<std::string> notes_of_open(const JournalState& journal, const RequestScope& scope);

/// The first notes, a line each, and how many more there are.
std::string lines_of(const std::vector<std::string>& notes);
/// What verify() prints, of many problems and notes the first; empty when there are none.
std::string message_of(const std::vector<Problem>& problems, const std::vector<std::string>& notes);

}  // namespace mock_gateway::detail
