// The fields of a chaos rule.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "../model/checks.hpp"
#include "chaos.hpp"

namespace mock_gateway::detail {

/// One of `failure`, `pace`, `interim` and `effect` is set; with `effect`, one of `trigger` and `drawn`.
struct ChaosPlan {
  std::optional<Trigger> trigger;
  std::optional<DrawnTrigger> drawn;
  std::optional<Effect> effect;
  std::optional<Failure> failure;
  std::optional<Pace> pace;
  std::optional<ConnectionFault> interim;

  std::optional<double> probability;
  std::optional<std::size_t> nth;
  std::optional<std::size_t> first;
  bool by_request = false;
  std::vector<Matcher> matchers;  // all must match

  static const ChaosPlan& moved_from() { refuse_moved_from("Chaos"); }
};

struct DrawnTriggerRow {
  Trigger::Kind kind;
  const char* name;
  const char* help;
};
inline constexpr DrawnTriggerRow drawn_triggers[] = {
    {Trigger::Kind::after_events, "at_any_event", "trigger, drawn from the first so many events"},
    {Trigger::Kind::after_tokens, "at_any_token", "trigger, drawn from the first so many tokens"},
    {Trigger::Kind::after_bytes, "at_any_byte", "trigger, drawn from the first so many bytes"},
};

/// Returns text such as "reset the connection after 2 tokens".
std::string chaos_effect(const ChaosPlan& plan);
/// Returns text such as "probability 0.1, nth 3", or "every time".
std::string chaos_frequency(const ChaosPlan& plan);

}  // namespace mock_gateway::detail
