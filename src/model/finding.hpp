#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "../core/version.hpp"

namespace mock_gateway {

/// How much a finding weighs.
enum class Severity {
  /// The gateway serves it, and its documentation does not have it. It makes no Review false and fails no test.
  note,
  /// It works here, but may not elsewhere, or not for long.
  warning,
  /// It breaks what the documentation or the protocol asks of a client.
  error,
};

std::string to_string(Severity severity);
std::ostream& operator<<(std::ostream& out, Severity severity);

/// Something that a client did and that its author had better change.
struct Finding {
  /// `unknown_field`, `retry_after_ignored`, …: docs/verify-and-review.md lists them all.
  std::string code;
  /// One or two sentences that name the place and say what to change.
  std::string message;
  /// Each code has its own.
  Severity severity = Severity::warning;
  /// The ids of the exchanges that prove it, the one that it is about last.
  std::vector<std::uint64_t> exchanges{};
  /// Whether it makes a Review false, and fails the test of a helper for tests. It does not where the client is wrong
  /// only if the test did not mean it: `asked_again_early`.
  bool fails_review = true;
};

/// "retry_after_ignored (exchange 4 after 3): retried after 0.5 s, …".
std::ostream& operator<<(std::ostream& out, const Finding& finding);

namespace detail {

/// What a finding prints.
std::string text_of(const Finding& finding);

}  // namespace detail

}  // namespace mock_gateway
