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

/// A mistake that verify() reports.
struct Problem {
  enum class Kind {
    /// No stub answered a request.
    unmatched,
    /// A stub was not called as often as expected, or one with never() was called.
    unmet_expectation,
    /// A stub answered a request that does not meet its should() conditions.
    invalid,
    /// A function of the test threw.
    callback_failed,
    /// The gateway could not create an answer, although no function of the test threw.
    answer_failed,
    /// A reply ended before the trigger of one of its faults, or a fault for a connection had no connection to strike.
    fault_not_reached,
    /// A reply ended before a hold, before the byte of split_write(), or before a chunk with extra fields.
    place_not_reached,
    /// A real-time guard ended a gate, a wait on a manual clock, a client's sleep on it or an unlimited scripted wait.
    guard_expired,
    out_of_order,
    /// Conditions held, or a stub was not called, only because a text was too long to be searched by a pattern.
    not_searched,
  };
  Kind kind;
  /// Complete lines; the last one has no line end.
  std::string text;
  std::vector<std::uint64_t> exchanges{};
  /// The source location of the stub or connection fault concerned; otherwise unknown.
  SourceLocation where{};
  /// The stub concerned; id 0 without one.
  StubReference stub{};
  /// Up to three stubs closest to an unmatched request, or the request closest to a stub with too few calls.
  std::vector<NearMiss> near_misses{};
};

std::string to_string(Problem::Kind kind);
std::ostream& operator<<(std::ostream& out, Problem::Kind kind);

/// A stub with expectations, as verify() found it.
struct VerifiedStub {
  StubReference stub;
  std::size_t calls = 0;
  /// The expected number of calls: 0 with never(), empty if not set.
  std::optional<Range> expected{};
  bool has_should = false;
  /// Whether it was called as often as expected, and all requests met its should() conditions.
  bool met = true;
};

namespace detail {

struct Access;
class ReportedProblems;

}  // namespace detail

/// The result of verify(), true if there are no problems. Prints itself: CHECK(gateway.verify()). Once problems have
/// been read in any way, the gateway's destructor does not report them; notes() alone does not count as reading.
class [[nodiscard]] Verification {
 public:
  // A move copies: a moved-from result without its problems would convert to true.
  Verification(const Verification& other);
  Verification& operator=(const Verification& other);
  ~Verification();

  explicit operator bool() const;
  /// The problems in the order of message().
  const std::vector<Problem>& problems() const&;
  std::vector<Problem> problems() &&;
  /// Lines about events that are no mistakes by themselves. One tells the effects of chaos. Up to ten connections with
  /// a fault have one each. So have up to ten exchanges with a scripted fault, a failure or an unusual answer (a
  /// finish_reason other than stop and tool_calls, several choices, an unusual dialect). Others name stubs that were
  /// never called or always hidden by other stubs, except the catalogue's. Exchanges that wait as scripted have one
  /// each; other exchanges under way are counted. An adapter prints each note once, at the end of a failed test.
  const std::vector<std::string>& notes() const& { return notes_; }
  std::vector<std::string> notes() &&;
  /// The stubs with expect, never or should, in the order mounted.
  const std::vector<VerifiedStub>& stubs() const& { return stubs_; }
  std::vector<VerifiedStub> stubs() &&;
  /// The number of exchanges evicted from the journal. Their problems are kept.
  std::size_t evicted() const { return evicted_; }
  /// The number of exchanges still under way.
  std::size_t open() const { return open_; }
  /// Returns the printed text: the first 20 problems and the first 20 notes.
  std::string message() const;

 private:
  friend struct detail::Access;
  /// Reading the problems adds their `identities` to `reported`. The gateway's destructor does not report those.
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

/// Prints its message, with a line end if it has several lines.
std::ostream& operator<<(std::ostream& out, const Verification& verification);

namespace detail {

Verification called_in_order(std::initializer_list<const Stub*> stubs);

}  // namespace detail

/// Verifies that each stub was called, and that all its calls came before all calls of the next:
/// `CHECK(called_in_order(login, ask, logout))`. The order is the journal's, which records a request before its answer.
template <class... Stubs>
Verification called_in_order(const Stub& first, const Stubs&... others) {
  return detail::called_in_order({&first, &others...});
}

}  // namespace mock_gateway
