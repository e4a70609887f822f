#pragma once

#include <atomic>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../core/clock.hpp"
#include "../core/source_location.hpp"
#include "../keys/key_store.hpp"
#include "../script/connection_faults.hpp"
#include "../script/script.hpp"
#include "diagnosis.hpp"
#include "journal.hpp"

namespace mock_gateway {

/// What verify() found wrong.
struct VerificationIssue {
  enum class Kind {
    /// No stub answered a request.
    unmatched,
    /// A stub was not called as often as it expects.
    unmet_expectation,
    /// A stub answered a request that is not as it should be.
    invalid,
    /// A function of the tester's threw.
    callback_failed,
    /// The gateway could not make an answer, although no function of the tester's threw.
    answer_failed,
    /// A reply ended before the trigger of one of its faults, or no connection came to a fault that waits for one.
    fault_not_reached,
    /// A reply ended before a place at which it was to be held, or its bytes to be split.
    place_not_reached,
    /// A gate, a wait on a manual clock, a client's sleep on it or a scripted wait without end was ended by its
    /// real-time guard.
    guard_expired,
    /// Stubs were not called in order.
    out_of_order,
  };
  Kind kind;
  /// Whole lines, the last one not ended.
  std::string text;
  /// The exchanges that it is about.
  std::vector<std::uint64_t> exchanges{};
  /// Where the stub was written that it is about; else unknown.
  SourceLocation where{};
};

std::string to_string(VerificationIssue::Kind kind);
std::ostream& operator<<(std::ostream& out, VerificationIssue::Kind kind);

namespace detail {

/// Which issues somebody has looked at, so that a gateway's destructor tells only the others.
class Told {
 public:
  void tell(const std::vector<std::string>& issues);
  bool knows(const std::string& issue) const;
  void clear();

 private:
  mutable std::mutex mutex_;
  std::set<std::string> issues_;
};

}  // namespace detail

/// The result of verify(): true when nothing is wrong. Prints itself: CHECK(gateway.verify()). Looking at it in
/// any way but notes() counts as having been told.
class [[nodiscard]] Verification {
 public:
  explicit operator bool() const { return issues().empty(); }
  const std::vector<VerificationIssue>& issues() const&;
  std::vector<VerificationIssue> issues() && { return issues(); }
  /// What is no mistake by itself: what chaos did; of the first ten exchanges that a scripted fault broke, or that
  /// ended with another finish_reason than stop and tool_calls, what happened; stubs that were never called, or always
  /// hidden by others. A line each.
  const std::vector<std::string>& notes() const& { return notes_; }
  std::vector<std::string> notes() && { return std::move(notes_); }
  /// As it prints itself: the first 20 issues and the first 20 notes.
  std::string message() const;

  /// For the library. `identities` name the issues in `told`.
  Verification(std::vector<VerificationIssue> issues, std::vector<std::string> notes,
               std::vector<std::string> identities, std::shared_ptr<detail::Told> told);

 private:
  std::vector<VerificationIssue> issues_;
  std::vector<std::string> notes_;
  std::vector<std::string> identities_;
  std::shared_ptr<detail::Told> told_;
};

/// Its message, with a line end behind it if it has several lines.
std::ostream& operator<<(std::ostream& out, const Verification& verification);

namespace detail {

/// Judges script and journal as they are now.
class Verifier {
 public:
  Verifier(std::shared_ptr<Script> script, std::shared_ptr<JournalState> journal, std::shared_ptr<KeyStore> keys,
           std::shared_ptr<ConnectionFaults> connection_faults, std::shared_ptr<const ChaosRules> chaos, Clock clock);

  /// Waits first, in real time, until no exchange of the scope is under way, at most `patience`. Throws GatewayError
  /// for a key that the gateway never had.
  Verification verify(const RequestScope& scope, Duration patience) const;
  /// Of what nobody has looked at yet; empty when there is nothing.
  std::string untold() const;
  void reset();

 private:
  /// An issue, and the name under which it is told.
  using Issues = std::vector<std::pair<VerificationIssue, std::string>>;
  using Calls = std::vector<RecordedCall>;
  Issues issues(const RequestScope& scope, const Script::Stubs& stubs, const Calls& calls) const;
  void add_problems(const RequestScope& scope, Issues& issues) const;
  void add_connection_faults(Issues& issues) const;
  void add_expired_sleeps(Issues& issues) const;
  std::vector<std::string> notes(const RequestScope& scope, const Script::Stubs& stubs, const Calls& calls) const;
  Script::Stubs stubs(const RequestScope& scope) const;
  /// The newest chat requests, oldest first; none when no stub asks for them.
  Calls calls(const RequestScope& scope, const Script::Stubs& stubs) const;
  /// Without a key, which a stub's name or a matcher may hold.
  std::string masked(std::string text) const;

  std::shared_ptr<Script> script_;
  std::shared_ptr<JournalState> journal_;
  std::shared_ptr<KeyStore> keys_;
  std::shared_ptr<ConnectionFaults> connection_faults_;
  std::shared_ptr<const ChaosRules> chaos_;
  Clock clock_;
  std::atomic<std::size_t> sleeps_before_;  // expired on the clock before the gateway was made or reset
  std::shared_ptr<Told> told_ = std::make_shared<Told>();
};

/// Every call of each stub came before every call of the next, and each was called.
Verification verify_order(const std::vector<std::shared_ptr<StubState>>& stubs);

}  // namespace detail
}  // namespace mock_gateway
