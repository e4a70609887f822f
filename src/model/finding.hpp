#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "../core/version.hpp"

namespace mock_gateway {

enum class Severity {
  /// The gateway accepts it, but its documentation does not list it. A note fails neither a Review nor a test.
  note,
  /// It works here, but may fail with other services or later.
  warning,
  /// It violates the documentation or the protocol.
  error,
};

std::string to_string(Severity severity);
std::ostream& operator<<(std::ostream& out, Severity severity);

/// A mistake of a client that its author should fix.
struct Finding {
  /// `unknown_field`, `retry_after_ignored`, …; docs/verify-and-review.md lists all codes.
  std::string code;
  /// One or two sentences that name the place and the fix.
  std::string message;
  /// Fixed for each code.
  Severity severity = Severity::warning;
  /// The ids of the exchanges that prove the mistake; the exchange with the mistake is last.
  std::vector<std::uint64_t> exchanges{};
  /// Whether it makes a Review false and fails the test of a test helper. False for notes, and for warnings about what
  /// a test may intend, such as `asked_again_early` and `gave_up`.
  bool fails_review = true;
};

/// Prints "retry_after_ignored (exchange 4 after 3): retried after 0.5 s, …".
std::ostream& operator<<(std::ostream& out, const Finding& finding);

namespace detail {

std::string text_of(const Finding& finding);

}  // namespace detail

}  // namespace mock_gateway
