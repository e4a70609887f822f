#pragma once

#include "../core/json.hpp"
#include "journal.hpp"
#include "review.hpp"
#include "verification.hpp"

// Evidence as JSON objects: docs/verify-and-review.md lists their keys. A key is there whatever its value; null stands
// for what there is none of. Keys of the gateway are masked, and bytes that are not UTF-8 become U+FFFD, so that every
// object can be written with dump().

namespace mock_gateway {

/// The request and what became of it, as it is now: `ended` is null while the exchange is under way. The bytes of the
/// answer are not recorded, and not in it.
Json as_json(const Exchange& exchange);
/// The verification with its problems, which then count as looked at.
Json as_json(const Verification& verification);
Json as_json(const Problem& problem);
Json as_json(const Review& review);
Json as_json(const Finding& finding);
/// Null for a reference to no stub, whose id is 0.
Json as_json(const StubReference& stub);
Json as_json(const NearMiss& near_miss);

}  // namespace mock_gateway
