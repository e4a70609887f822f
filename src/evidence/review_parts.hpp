// The review's functions for other files, and the functions shared by `review.cpp` and `retries.cpp`.

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

/// Throws GatewayError with the list of codes if this one is unknown.
void require_finding_code(const std::string& code);

namespace review {

/// Returns a number of `unit`s; empty if the text is not a plain decimal number.
std::optional<Duration> parse_number(std::string_view text, Duration unit);

}  // namespace review

/// Returns the headers in which the gateway accepts keys, for messages: "Authorization or api-key".
inline std::string key_headers(const ExchangeRecord& record) {
  return record.keys ? record.keys->key_headers() : "Authorization";
}

/// Records what the answer says about retries. `error_code` is empty if it is not one of the gateway's errors.
void note_answer(ExchangeRecord& record, const std::string& error_code, const wire::Headers& headers,
                 std::string_view body);
void note_body(RetryAdvice& advice, std::string_view body);

/// Waits in real time, up to `patience`, then reviews the records. Marks findings as seen in `reported` when printed.
Review make_review(const JournalState& journal, const ChaosRules& chaos, const RequestScope& scope,
                   const std::vector<std::string>& switched_off, bool in_real_time, Duration patience,
                   std::shared_ptr<ReportedProblems> reported);
/// Returns the findings about exchanges after `since` that fail no review.
std::vector<Finding> harmless_findings(const JournalState& journal, const std::vector<std::string>& switched_off,
                                       bool in_real_time, std::uint64_t since);

/// An exchange under review, with copies of the fields of its record that may change.
struct Seen {
  using RealTime = ExchangeRecord::RealTime;

  std::shared_ptr<ExchangeRecord> record;
  Outcome::Kind outcome = Outcome::Kind::pending;
  bool client_closed = false;
  std::optional<RealTime> client_left;
  std::optional<TimePoint> first_byte;
  std::optional<RealTime> answered;
  /// The lower bound of the time at which the client sent the request.
  RealTime possible{};
  RealTime over{};
  /// The number of the try, if the client numbers its tries; 0 for the first.
  std::optional<std::int64_t> number;
  /// The request's Idempotency-Key.
  std::optional<std::string> call;
  /// Whether a chaos fault broke the answer, or its Content-Length was wrong.
  bool broken = false;
  /// Whether its answer was a scripted or forced failure, or had a fault or chaos.
  bool has_fault = false;
};

/// Finds retries that are too early, useless or missing; see Review. `all` is ordered by id. Returns the number of
/// retries.
std::size_t review_retries(const std::vector<Seen>& all, bool in_real_time, std::vector<Finding>& findings);
/// Makes the journal visible to reviews of the process's other gateways while it exists. Thread-safe.
void remember_journal(const std::shared_ptr<const JournalState>& journal);
void review_redirects(const std::vector<Seen>& all, const JournalState& journal, std::vector<Finding>& findings);

}  // namespace mock_gateway::detail
