#pragma once

#include "../core/json.hpp"
#include "../model/sent_answer.hpp"
#include "journal.hpp"
#include "review.hpp"
#include "verification.hpp"

// Evidence as JSON objects; docs/verify-and-review.md lists their keys. Every key is always present; null means absent.
// The gateway's keys are masked and invalid UTF-8 becomes U+FFFD, so that dump() can write every object.

namespace mock_gateway {

/// Returns the request and its outcome so far; `ended` is null while the exchange is under way. Does not contain the
/// answer: see Exchange::answer.
Json as_json(const Exchange& exchange);
/// Returns the sent answer: status, header fields, body, and the parts of a stream with their times. Bodies are limited
/// to 1 MiB; `left_out` counts the bytes that follow.
Json as_json(const SentAnswer& answer);
/// Returns the verification with its problems, which then count as seen.
Json as_json(const Verification& verification);
Json as_json(const Problem& problem);
Json as_json(const Review& review);
Json as_json(const Finding& finding);
/// Returns null for a reference without a stub (id 0).
Json as_json(const StubReference& stub);
Json as_json(const NearMiss& miss);

}  // namespace mock_gateway
