// The settings of a sweep and the function that makes it; see `sweep.cpp`.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "../core/clock.hpp"
#include "../evidence/record.hpp"
#include "../script/script.hpp"
#include "sweep.hpp"

namespace mock_gateway::detail {

struct SweepPlan {
  bool splits = false;
  std::optional<std::vector<Effect>> effects;
  bool every_byte = false;
  bool body_only = false;
  bool http_chunks = false;
  std::optional<std::size_t> at_most;
  std::vector<Matcher> matchers;

  static const SweepPlan& moved_from();
};

/// Throws GatewayError for replies that cannot be swept.
Sweep make_sweep(std::shared_ptr<Script> script, std::shared_ptr<JournalState> journal, const Clock& clock,
                 const Reply& reply, std::function<void()> run, const SweepOptions& options, SourceLocation where);

}  // namespace mock_gateway::detail
