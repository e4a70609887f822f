#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "../answer/events.hpp"
#include "../core/clock.hpp"
#include "../core/random.hpp"
#include "../model/pace.hpp"

namespace mock_gateway::detail {

/// When the tokens of one answer leave, drawn in their order.
class PaceSchedule {
 public:
  /// All at once.
  PaceSchedule() = default;
  /// `seed` and `occurrence` (from 1) decide what is drawn.
  PaceSchedule(const Pace& pace, std::uint64_t seed, std::uint64_t occurrence);

  /// Whether anything of it is drawn or told by the occurrence.
  static bool varies(const Pace& pace);

  /// When the next token leaves, counted from the request. Each sum begins there, so that no lateness enters it.
  Duration next(std::uint64_t share);
  /// When the last of `count` tokens leaves, which is the first where there is none. In place of next().
  Duration last(std::size_t count);
  /// Takes the tokens of a stream that is not sent, in place of the whole ones that last() counts.
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
  // Nanoseconds; the parts of one are rounded off in due() alone, so that 30 tokens a second take a second.
  double first_ = 0;
  double since_first_ = 0;
  bool foreseen_ = false;
};

}  // namespace mock_gateway::detail
