// The time of each token, and the random values it depends on.

#include "pace_schedule.hpp"

#include <cmath>
#include <string>

#include "../core/access.hpp"

namespace mock_gateway::detail {
namespace pace_schedule {

/// A hundred years: practically forever, without overflow in a clock's deadline.
inline constexpr Duration for_ever = std::chrono::hours{24 * 36500};

Duration rounded(double nanoseconds) {
  if (nanoseconds >= static_cast<double>(for_ever.count())) return for_ever;
  return Duration{static_cast<Duration::rep>(std::llround(nanoseconds))};
}

}  // namespace pace_schedule

PaceSchedule::PaceSchedule(const Pace& pace, std::uint64_t seed, std::uint64_t occurrence)
    : paced_(true),
      first_token_(pace.first_token()),
      gap_(pace.gap()),
      rate_(pace.rate()),
      occurrence_(occurrence),
      // Separate generators, so that the gaps do not depend on the distribution of the first token.
      firsts_(fingerprint("first token", seed ^ fingerprint(std::to_string(occurrence)))),
      gaps_(fingerprint("gaps", seed ^ fingerprint(std::to_string(occurrence)))) {}

bool PaceSchedule::varies(const Pace& pace) {
  return (pace.first_token() && !Access::distribution(*pace.first_token()).fixed()) ||
         (pace.gap() && !Access::distribution(*pace.gap()).fixed()) ||
         (pace.rate() && !Access::distribution(*pace.rate()).fixed());
}

Duration PaceSchedule::next(std::uint64_t share) {
  if (!paced_) return Duration{0};
  if (drawn_ > 0) {
    since_first_ += gap(share);
  } else if (first_token_) {
    first_ = Access::distribution(*first_token_).draw(firsts_, occurrence_ - 1);
  }
  ++drawn_;
  return due();
}

Duration PaceSchedule::due() const { return pace_schedule::rounded(first_ + since_first_); }

double PaceSchedule::gap(std::uint64_t share) {
  if (gap_) return Access::distribution(*gap_).draw(gaps_, drawn_ - 1);
  if (!rate_) return 0;
  return static_cast<double>(share) / Access::distribution(*rate_).draw(gaps_, drawn_ - 1);
}

Duration PaceSchedule::last(std::size_t count) {
  if (!paced_ || foreseen_) return due();
  do {
    next(whole_token);
  } while (drawn_ < count);
  return due();
}

void PaceSchedule::foresee(EventSource& source) {
  StreamEvent event;
  while (source.next(event))
    if (event.token) next(event.share);
  foreseen_ = drawn_ > 0;  // otherwise last() returns the time of the first token
}

}  // namespace mock_gateway::detail
