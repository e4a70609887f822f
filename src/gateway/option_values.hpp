// The defaults of the options: host, limits, timeouts, journal.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../answer/bodies.hpp"
#include "../core/clock.hpp"
#include "../evidence/journal.hpp"
#include "../keys/api_key.hpp"
#include "../model/acceptance.hpp"
#include "../model/pace.hpp"
#include "options.hpp"

namespace mock_gateway::detail {

struct InitialKey {
  std::string description;
  KeyOptions options;
};

struct OptionValues {
  std::string host = "127.0.0.1";
  int port = 0;
  std::vector<wire::Model> models;
  bool any_model = false;
  std::optional<bool> embeddings;  // default: decided by the profile
  std::vector<std::string> cors;
  KeyOptions default_key;
  std::vector<std::string> key_headers;
  bool key_required = true;
  std::vector<std::string> base_paths;  // empty: "/v1"
  std::vector<InitialKey> keys;
  /// Texts that are masked like keys everywhere, but are not accepted as keys.
  std::vector<std::string> secrets;
  std::optional<RateLimit> limit;
  std::optional<TokenLimit> limit_tokens;
  std::optional<std::size_t> limit_concurrent;
  bool oversized_gets_413 = false;
  std::uint64_t seed = 1;
  std::optional<Clock> clock;
  std::optional<Profile> profile;  // default: that of enforce, or documented
  std::optional<Acceptance> acceptance;
  std::optional<Profile> enforce;
  Tokenizer tokenizer;
  Pace pace;
  std::int64_t max_n = 128;
  std::size_t max_body = std::size_t{16} << 20;
  std::size_t max_head = std::size_t{64} << 10;
  std::size_t journal_entries = 10'000;
  std::size_t journal_bytes = std::size_t{64} << 20;
  bool keep_answers = false;
  Duration read_timeout = std::chrono::seconds{30};
  Duration write_timeout = std::chrono::seconds{30};
  Duration idle_timeout = std::chrono::seconds{75};
  std::optional<Duration> stall_guard = std::chrono::seconds{120};
  Duration head_timeout = std::chrono::seconds{30};
  Duration body_timeout = std::chrono::seconds{60};
  Unmatched unmatched = Unmatched::fails_verification;
  bool verify_on_destruction = true;
  std::vector<std::string> without_findings;
  std::function<void(const Exchange&)> on_exchange;
  std::function<void(const ConnectionHit&)> on_connection_hit;
  /// on_exchange is the program's own and never blocks.
  bool on_exchange_never_waits = false;
  /// GET /health is answered without a key and without a record, as in the program.
  bool serves_health = false;

  static const OptionValues& moved_from();
};

void require_valid(const OptionValues& options);

}  // namespace mock_gateway::detail
