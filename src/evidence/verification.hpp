#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../core/forward.hpp"
#include "../core/source_location.hpp"
#include "../model/range.hpp"
#include "../script/near_miss.hpp"

namespace mock_gateway {

/// Something that verify() reports as wrong.
struct Problem {
  enum class Kind {
    /// No stub answered a request.
    unmatched,
    /// A stub was not called as often as it expects, or one with never() was called.
    unmet_expectation,
    /// A stub answered a request that is not as it should be.
    invalid,
    /// A function of the test threw.
    callback_failed,
    /// The gateway could not make an answer, although no function of the test threw.
    answer_failed,
    /// A reply ended before the trigger of one of its faults, or no connection came to a fault that waits for one.
    fault_not_reached,
    /// A reply ended before a place at which it was to be held, its bytes to be split, or a chunk to get extra fields.
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
  /// Where the stub that it is about was written, or the fault of a connection; else unknown.
  SourceLocation where{};
  /// The stub that it is about; its id is 0 when it is about none.
  StubReference stub{};
  /// The stubs that came closest to a request which none answered, three at most; or the request that came closest to a
  /// stub which was called too seldom.
  std::vector<NearMiss> near_misses{};
};

std::string to_string(Problem::Kind kind);
std::ostream& operator<<(std::ostream& out, Problem::Kind kind);

/// A stub that asks something of the client, as verify() found it.
struct VerifiedStub {
  StubReference stub;
  /// How often it was called.
  std::size_t calls = 0;
  /// How often it expects to be called: 0 for one with never(), empty where it does not say.
  std::optional<Range> expected{};
  /// Whether it says what requests should be.
  bool has_should = false;
  /// Whether it was called as often as it expects, and by requests that are as they should be.
  bool met = true;
};

namespace detail {

struct Access;
class ReportedProblems;

}  // namespace detail

/// The result of verify(): true when there is no problem. Prints itself: CHECK(gateway.verify()). Problems that were
/// looked at in any way are not reported by the gateway's destructor; notes() alone does not look at them.
class [[nodiscard]] Verification {
 public:
  // Defined in the .cpp: a file that copies one need not compile it. A move copies too: a result whose problems were
  // taken away would be true.
  Verification(const Verification& other);
  Verification& operator=(const Verification& other);
  ~Verification();

  /// Whether there is no problem.
  explicit operator bool() const;
  /// The problems in the order in which message() has them.
  const std::vector<Problem>& problems() const&;
  std::vector<Problem> problems() &&;
  /// What is no mistake by itself, a line each: what chaos did; the first ten exchanges that a scripted fault struck,
  /// that got a failure, or whose answer had something unusual (another finish_reason than stop and tool_calls, several
  /// choices, another dialect than the usual one); the first ten connections that a fault struck; stubs that were never
  /// called or always hidden by others, without those of the catalogue; what exchanges under way wait for, and how many
  /// others there are. An adapter prints them, each once, at the end of a test that has failed.
  const std::vector<std::string>& notes() const& { return notes_; }
  std::vector<std::string> notes() &&;
  /// The stubs with expect, never or should, in the order in which they were mounted.
  const std::vector<VerifiedStub>& stubs() const& { return stubs_; }
  std::vector<VerifiedStub> stubs() &&;
  /// How many exchanges of the gateway were evicted from the journal. Their problems are kept.
  std::size_t evicted() const { return evicted_; }
  /// How many exchanges were still under way.
  std::size_t open() const { return open_; }
  /// What it prints: the first 20 problems and the first 20 notes.
  std::string message() const;

 private:
  friend struct detail::Access;
  /// `identities` name the problems in `reported`.
  Verification(std::vector<Problem> problems, std::vector<std::string> notes, std::vector<std::string> identities,
               std::shared_ptr<detail::ReportedProblems> reported, std::vector<VerifiedStub> stubs, std::size_t evicted,
               std::size_t open);

  std::vector<Problem> problems_;
  std::vector<std::string> notes_;
  std::vector<std::string> identities_;
  std::shared_ptr<detail::ReportedProblems> reported_;
  std::vector<VerifiedStub> stubs_;
  std::size_t evicted_;
  std::size_t open_;
};

/// Its message, with a line end behind it if it has several lines.
std::ostream& operator<<(std::ostream& out, const Verification& verification);

namespace detail {

Verification called_in_order(std::initializer_list<const Stub*> stubs);

}  // namespace detail

/// Whether each stub was called, and every call of each came before every call of the next, in the order of the
/// journal, which has a request before its answer begins: `CHECK(called_in_order(login, ask, logout))`.
template <class... Stubs>
Verification called_in_order(const Stub& first, const Stubs&... others) {
  return detail::called_in_order({&first, &others...});
}

}  // namespace mock_gateway
