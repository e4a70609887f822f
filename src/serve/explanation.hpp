#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../evidence/journal.hpp"
#include "../keys/api_key.hpp"
#include "../model/received_request.hpp"
#include "../script/near_miss.hpp"
#include "../script/script.hpp"
#include "gateway_state.hpp"

namespace mock_gateway::detail {

/// What would become of a chat request.
struct Explanation {
  /// `stub`, `default_reply`, `unmatched` or `rejected`.
  Decision::Kind decision = Decision::Kind::unmatched;
  /// The stub that would answer, or would refuse because it must never be asked; null when there is none.
  std::shared_ptr<StubState> stub;
  /// The stubs that come closest, when none answers; three at most.
  std::vector<NearMiss> near_misses;
  /// The diagnosis, or what an error would say. Keys are masked.
  std::string message;
};

/// What the gateway would do with a chat request of that key as it is now. Takes no call and runs no function of the
/// tester's: a condition that only such a function decides does not hold here. Forced failures, chaos, rate limits and
/// the key's state are left out.
Explanation explain(const GatewayState& gateway, const ReceivedRequest& request, const ApiKey& key);

}  // namespace mock_gateway::detail
