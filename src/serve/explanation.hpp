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

/// The expected result of a chat request.
struct Explanation {
  /// `stub`, `default_reply`, `unmatched` or `rejected`.
  Decision::Kind decision = Decision::Kind::unmatched;
  /// The stub that would answer, or refuse because of never(), or null.
  std::shared_ptr<StubState> stub;
  /// Up to three closest stubs, if none answers.
  std::vector<NearMiss> near_misses;
  /// The diagnosis or the error message. Keys are masked.
  std::string message;
};

/// Returns how the gateway would answer a chat request with this key now. Counts no call and runs no function of the
/// test: a condition that depends on one does not hold. Ignores forced failures, chaos, rate limits and the key's
/// state.
Explanation explain(const GatewayState& gateway, const ReceivedRequest& request, const ApiKey& key);

}  // namespace mock_gateway::detail
