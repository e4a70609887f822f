#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "../core/source_location.hpp"

namespace mock_gateway {

/// What verify() reports.
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
};

std::string to_string(Problem::Kind kind);
std::ostream& operator<<(std::ostream& out, Problem::Kind kind);

namespace detail {

class ReportedProblems;

}  // namespace detail

/// The result of verify(): true when there is no problem. Prints itself: CHECK(gateway.verify()). Problems that were
/// looked at in any way are not reported by the gateway's destructor; notes() alone does not look at them.
class [[nodiscard]] Verification {
 public:
  // Defined in the .cpp: a file that copies one need not compile it.
  Verification(const Verification& other);
  Verification(Verification&& other) noexcept;
  Verification& operator=(const Verification& other);
  Verification& operator=(Verification&& other) noexcept;
  ~Verification();

  explicit operator bool() const;
  const std::vector<Problem>& problems() const&;
  std::vector<Problem> problems() &&;
  /// What is no mistake by itself, a line each: what chaos did; what happened in the first ten exchanges that a
  /// scripted fault struck or that ended with another finish_reason than stop and tool_calls; stubs that were never
  /// called or always hidden by others; how many exchanges are still under way.
  const std::vector<std::string>& notes() const& { return notes_; }
  std::vector<std::string> notes() &&;
  /// What it prints: the first 20 problems and the first 20 notes.
  std::string message() const;

  /// For the library. `identities` name the problems in `reported`.
  Verification(std::vector<Problem> problems, std::vector<std::string> notes, std::vector<std::string> identities,
               std::shared_ptr<detail::ReportedProblems> reported);

 private:
  std::vector<Problem> problems_;
  std::vector<std::string> notes_;
  std::vector<std::string> identities_;
  std::shared_ptr<detail::ReportedProblems> reported_;
};

/// Its message, with a line end behind it if it has several lines.
std::ostream& operator<<(std::ostream& out, const Verification& verification);

}  // namespace mock_gateway
