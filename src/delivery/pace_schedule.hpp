#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "../answer/events.hpp"
#include "../core/clock.hpp"
#include "../core/random.hpp"
#include "../model/pace.hpp"

namespace mock_gateway::detail {

/// The times at which the tokens of an answer are sent, drawn in order.
class PaceSchedule {
 public:
  /// Sends all tokens at once.
  PaceSchedule() = default;
  /// `seed` and `occurrence` (from 1) determine the random times.
  PaceSchedule(const Pace& pace, std::uint64_t seed, std::uint64_t occurrence);

  /// Whether the times depend on the seed or the occurrence.
  static bool varies(const Pace& pace);

  /// Returns the time of the next token, counted from the request, so that lateness does not add up.
  Duration next(std::uint64_t share);
  /// Returns the time of the last of `count` tokens; with 0, of the first. Use it instead of next().
  Duration last(std::size_t count);
  /// Draws the times of the stream that is sent in one piece. Without this call, last() assumes whole tokens.
  void foresee(EventSource& source);

 private:
  Duration due() const;
  double gap(std::uint64_t share);

  bool paced_ = false;
  std::optional<Timing> first_token_;
  std::optional<Timing> gap_;
  std::optional<Rate> rate_;
  std::uint64_t occurrence_ = 1;
  Random firsts_{0};
  Random gaps_{0};
  std::uint64_t drawn_ = 0;
  // Nanoseconds. Only due() rounds, so that 30 tokens at 30 per second take one second.
  double first_ = 0;
  double since_first_ = 0;
  bool foreseen_ = false;
};

}  // namespace mock_gateway::detail
