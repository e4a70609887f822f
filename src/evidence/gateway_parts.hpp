// The parts of a gateway that handles keep alive after it.

#pragma once

#include <memory>

#include "../core/clock.hpp"
#include "../keys/key_store.hpp"
#include "../script/chaos_rules.hpp"
#include "../script/connection_faults.hpp"
#include "../script/script.hpp"
#include "record.hpp"

namespace mock_gateway::detail {

/// The parts shared by connections, verify() and handles such as Keys, Stub and Journal. Each is thread-safe.
struct GatewayParts {
  Clock clock;
  std::shared_ptr<KeyStore> keys;
  std::shared_ptr<Script> script;
  std::shared_ptr<JournalState> journal;
  std::shared_ptr<ConnectionFaults> connection_faults;
  std::shared_ptr<ChaosRules> chaos;
};

}  // namespace mock_gateway::detail
