// The fields of a rule of chaos.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "../model/checks.hpp"
#include "chaos.hpp"

namespace mock_gateway {
namespace detail {

/// What a rule of chaos says. One of `failure`, `pace`, `interim` and `effect` is set; with the last, one of `trigger`
/// and `drawn`.
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
  std::vector<Matcher> matchers;  // all must match

  static const ChaosPlan& moved_from() { refuse_moved_from("Chaos"); }
};

/// What a rule does: "reset the connection after 2 tokens".
std::string chaos_effect(const ChaosPlan& plan);
/// How often: "probability 0.1, nth 3"; "every time".
std::string chaos_frequency(const ChaosPlan& plan);

}  // namespace detail

}  // namespace mock_gateway
