#pragma once

#include "../core/json.hpp"
#include "../model/sent_answer.hpp"
#include "journal.hpp"
#include "review.hpp"
#include "verification.hpp"

// Evidence as JSON objects: docs/verify-and-review.md lists their keys. A key is there whatever its value; null stands
// for what there is none of. Keys of the gateway are masked, and bytes that are not UTF-8 become U+FFFD, so that every
// object can be written with dump().

namespace mock_gateway {

/// The request and what became of it, as it is now: `ended` is null while the exchange is under way. What was answered
/// is not in it: Exchange::answer gives that.
Json as_json(const Exchange& exchange);
/// What was sent: status, header fields, body, and the parts of a stream with their times. Of a body beyond a mebibyte
/// the beginning, and `left_out` says how many bytes follow.
Json as_json(const SentAnswer& answer);
/// The verification with its problems, which then count as looked at.
Json as_json(const Verification& verification);
Json as_json(const Problem& problem);
Json as_json(const Review& review);
Json as_json(const Finding& finding);
/// Null for a reference to no stub, whose id is 0.
Json as_json(const StubReference& stub);
Json as_json(const NearMiss& near_miss);

}  // namespace mock_gateway
