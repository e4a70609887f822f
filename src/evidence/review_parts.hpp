// What others call of the review, and what `review.cpp` and `retries.cpp` share.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../model/finding.hpp"
#include "record.hpp"
#include "review.hpp"

namespace mock_gateway::detail {

class ChaosRules;
class ReportedProblems;

/// Throws GatewayError, which lists the codes, when there is no such code.
void require_finding_code(const std::string& code);

namespace review {

/// A number of `unit`s; nothing when it is no plain decimal number.
std::optional<Duration> parse_number(std::string_view text, Duration unit);

}  // namespace review

/// Keeps in the record what the answer lets its client do next. `error_code` is empty when it was none of the gateway's
/// errors.
void note_answer(ExchangeRecord& record, const std::string& error_code, const wire::Headers& headers,
                 std::string_view body);
/// Keeps what the body of a 429 without a time in its headers says.
void note_body(RetryAdvice& advice, std::string_view body);

/// Waits, in real time, at most `patience`, until no exchange of the scope is under way; then reviews what is recorded.
/// `reported` hears what the review prints.
Review make_review(const JournalState& journal, const ChaosRules& chaos, const RequestScope& scope,
                   const std::vector<std::string>& switched_off, Duration patience,
                   std::shared_ptr<ReportedProblems> reported);
/// The findings about exchanges after `since` that fail no review.
std::vector<Finding> harmless_findings(const JournalState& journal, const std::vector<std::string>& switched_off,
                                       std::uint64_t since);

/// An exchange under review, with a copy of what may still change in its record.
struct Seen {
  using RealTime = ExchangeRecord::RealTime;

  std::shared_ptr<ExchangeRecord> record;
  Outcome::Kind outcome = Outcome::Kind::pending;
  bool client_closed = false;
  std::optional<RealTime> client_left;
  std::optional<TimePoint> first_byte;
  std::optional<RealTime> answered;
  /// The client could send the request from this moment on.
  RealTime possible{};
  RealTime over{};
  /// The number of the try, from a client that numbers its tries; 0 for the first.
  std::optional<std::int64_t> number;
  /// The request's Idempotency-Key.
  std::optional<std::string> call;
  /// A fault of chaos struck the answer, or its Content-Length was wrong.
  bool broken = false;
};

/// Finds requests that come back too early, or should not come back. What is a retry: see Review. `all` is in the order
/// of ids.
void review_retries(const std::vector<Seen>& all, std::vector<Finding>& findings);
/// Shows the journal to the reviews of the other gateways of this process, as long as it lives. For any thread.
void remember_journal(const std::shared_ptr<const JournalState>& journal);
/// Finds keys that a client took to another gateway of this process, or brought from there, behind a redirect.
void review_redirects(const std::vector<Seen>& all, const JournalState& journal, std::vector<Finding>& findings);

}  // namespace mock_gateway::detail
