#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../answer/bodies.hpp"
#include "../answer/occurrences.hpp"
#include "../answer/tokens.hpp"
#include "../evidence/gateway_problems.hpp"
#include "../model/acceptance.hpp"
#include "../model/profile.hpp"
#include "../request/chat_parser.hpp"
#include "../script/forced_failures.hpp"
#include "asked_requests.hpp"
#include "operations.hpp"
#include "served_models.hpp"

namespace mock_gateway::detail {

/// Settings that do not change while a gateway runs.
struct ServeSettings {
  std::vector<wire::Model> models;
  bool any_model = false;  // whether other models are served too
  bool embeddings = false;
  bool oversized_gets_413 = false;
  std::vector<std::string> cors;                  // allowed origins of pages
  std::vector<std::string> base_paths = {"/v1"};  // never empty; "" stands for "/"
  std::uint64_t seed = 1;
  Profile profile = Profile::documented;
  Acceptance acceptance;
  ChatLimits chat_limits;
  Tokenizer tokenizer;
  Pace pace;
  /// Set once the gateway listens, before its first connection.
  std::string root_url;
  bool unmatched_get_default_reply = false;
  bool unmatched_are_allowed = false;
  std::optional<Duration> stall_guard;
  std::function<void(const Exchange&)> on_exchange;
  std::function<void(const ConnectionHit&)> on_connection_hit;
  bool on_exchange_never_waits = false;
  bool serves_health = false;
};

/// The parts that a reset clears; all by default.
struct ResetParts {
  bool stubs = true;
  bool states = true;  // the states of state machines
  bool failures = true;
  bool chaos = true;
  bool connections = true;  // the pending faults for connections
  bool journal = true;      // also the problems and the counts of requests
};

/// The state of one gateway: everything that exchanges are judged by and recorded in. Each part is thread-safe.
struct GatewayState : GatewayParts {
  GatewayState(GatewayParts its_parts, ServeSettings its_settings);

  void reset(const ResetParts& parts = ResetParts());
  /// Returns the number of changes by the test that affect requests of this key; see ExchangeRecord::changes.
  std::uint64_t changes(const ReceivedRequest& request) const;

  ServeSettings settings;
  ServedModels models;
  AskedRequests asked;
  ForcedFailures failures;
  Operations operations;
  Occurrences occurrences;
  Tokens tokens;
  std::atomic<bool> keeps_answers{false};
  std::int64_t started;  // Unix seconds: the creation time of the listed models
};

}  // namespace mock_gateway::detail
