#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "../core/source_location.hpp"

namespace mock_gateway {

/// What verify() found wrong.
struct Problem {
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

std::string to_string(Problem::Kind kind);
std::ostream& operator<<(std::ostream& out, Problem::Kind kind);

namespace detail {

class ReportedProblems;

}  // namespace detail

/// The result of verify(): true when nothing is wrong. Prints itself: CHECK(gateway.verify()). Looking at it in
/// any way but notes() counts as having been told.
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
  /// What is no mistake by itself: what chaos did; of the first ten exchanges that a scripted fault broke, or that
  /// ended with another finish_reason than stop and tool_calls, what happened; stubs that were never called, or always
  /// hidden by others. A line each.
  const std::vector<std::string>& notes() const& { return notes_; }
  std::vector<std::string> notes() &&;
  /// As it prints itself: the first 20 problems and the first 20 notes.
  std::string message() const;

  /// For the library. `identities` name the problems in `told`.
  Verification(std::vector<Problem> problems, std::vector<std::string> notes, std::vector<std::string> identities,
               std::shared_ptr<detail::ReportedProblems> told);

 private:
  std::vector<Problem> problems_;
  std::vector<std::string> notes_;
  std::vector<std::string> identities_;
  std::shared_ptr<detail::ReportedProblems> reported_;
};

/// Its message, with a line end behind it if it has several lines.
std::ostream& operator<<(std::ostream& out, const Verification& verification);

}  // namespace mock_gateway
