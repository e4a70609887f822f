// Pace, distributions, chunking: settings and limits. `src/delivery/pace_schedule.cpp` computes the time of each token.

#include "pace.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/random.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"

namespace mock_gateway {
namespace detail {
namespace pace_check {

using Kind = Distribution::Kind;

/// The longest time, 30 days in nanoseconds. A double still represents every nanosecond up to it.
inline constexpr double longest = 30.0 * 24 * 3600 * 1e9;
inline constexpr double slowest = 1e9 / longest;  // in tokens per second
inline constexpr double fastest = 1e9;

double positive(double nanoseconds, const char* what) {
  if (nanoseconds <= 0) throw GatewayError(std::string(what) + " must be longer than 0");
  return nanoseconds;
}

double checked_sigma(double sigma) {
  if (!(sigma >= 0 && sigma <= 5)) {
    throw GatewayError("the sigma of log_normal is the deviation of the natural logarithm, from 0 to 5, not " +
                       text::number(sigma) + "; 0.5 is common");
  }
  return sigma;
}

double checked_rate(double rate, const char* what) {
  if (!(rate >= slowest && rate <= fastest)) {
    throw GatewayError(std::string(what) + " is in tokens per second, at least one in 30 days and at most 1e9, not " +
                       text::number(rate) + "; for a reply without pace leave it out");
  }
  return rate;
}

Distribution recorded_list(std::vector<double> list) {
  if (list.empty()) throw GatewayError("recorded needs at least one element");
  Distribution distribution{Kind::recorded};
  distribution.list = share<const std::vector<double>>(std::move(list));
  return distribution;
}

}  // namespace pace_check

double pace_nanoseconds(Duration time, const char* what) {
  const auto nanoseconds = static_cast<double>(time.count());
  if (nanoseconds < 0) throw GatewayError(std::string(what) + " of a pace must not be negative");
  if (nanoseconds > pace_check::longest) {
    throw GatewayError(std::string(what) + " of a pace is at most 30 days; to wait forever, use fault(…, stall())");
  }
  return nanoseconds;
}

double Distribution::draw(Random& random, std::uint64_t index) const {
  double value = first;
  switch (kind) {
    case Kind::fixed: return value;
    case Kind::recorded: return (*list)[static_cast<std::size_t>(index % list->size())];
    case Kind::uniform: value += (second - first) * random.unit(); break;
    case Kind::normal: value += second * random.normal(); break;
    case Kind::log_normal: value *= std::exp(second * random.normal()); break;
  }
  return std::min(std::max(value, least), most);
}

}  // namespace detail

Timing::Timing(detail::Distribution nanoseconds) : distribution_(std::move(nanoseconds)) {}

Rate::Rate(double tokens_per_second)
    : Rate(detail::Distribution{detail::pace_check::Kind::fixed,
                                detail::pace_check::checked_rate(tokens_per_second, "a rate")}) {}

Rate::Rate(detail::Distribution tokens_per_second) : distribution_(std::move(tokens_per_second)) {}

Timing uniform(Duration least, Duration most) {
  const double from = detail::pace_nanoseconds(least, "the least time");
  const double to = detail::pace_nanoseconds(most, "the greatest time");
  if (from > to)
    throw GatewayError(
        "uniform takes the shortest time, then the longest: the first must not be longer than the second");
  return detail::Access::make<Timing>(detail::Distribution{detail::pace_check::Kind::uniform, from, to, from, to});
}

Rate uniform(double least, double most) {
  const double from = detail::pace_check::checked_rate(least, "the least rate");
  const double to = detail::pace_check::checked_rate(most, "the greatest rate");
  if (from > to)
    throw GatewayError(
        "uniform takes the lowest rate, then the highest: the first must not be greater than the second");
  return detail::Access::make<Rate>(detail::Distribution{detail::pace_check::Kind::uniform, from, to, from, to});
}

Timing normal(Duration mean, Duration deviation) {
  const double middle = detail::pace_check::positive(detail::pace_nanoseconds(mean, "the mean"), "the mean of normal");
  const double spread = detail::pace_nanoseconds(deviation, "the deviation");
  return detail::Access::make<Timing>(
      detail::Distribution{detail::pace_check::Kind::normal, middle, spread, 0, 2 * middle});
}

Rate normal(double mean, double deviation) {
  const double middle = detail::pace_check::checked_rate(mean, "the mean rate");
  if (!(deviation >= 0 && deviation <= detail::pace_check::fastest)) {
    throw GatewayError("the deviation of a rate is in tokens per second, from 0 to 1e9, not " +
                       detail::text::number(deviation));
  }
  return detail::Access::make<Rate>(
      detail::Distribution{detail::pace_check::Kind::normal, middle, deviation, 0.1 * middle, 1.9 * middle});
}

Timing log_normal(Duration median, double sigma) {
  const double middle =
      detail::pace_check::positive(detail::pace_nanoseconds(median, "the median"), "the median of log_normal");
  return detail::Access::make<Timing>(detail::Distribution{detail::pace_check::Kind::log_normal, middle,
                                                           detail::pace_check::checked_sigma(sigma), 0,
                                                           detail::pace_check::longest});
}

Rate log_normal(double median, double sigma) {
  return detail::Access::make<Rate>(detail::Distribution{
      detail::pace_check::Kind::log_normal, detail::pace_check::checked_rate(median, "the median rate"),
      detail::pace_check::checked_sigma(sigma), detail::pace_check::slowest, detail::pace_check::fastest});
}

Timing recorded(std::vector<Duration> times) {
  std::vector<double> list;
  list.reserve(times.size());
  for (const Duration time : times) list.push_back(detail::pace_nanoseconds(time, "a recorded time"));
  return detail::Access::make<Timing>(detail::pace_check::recorded_list(std::move(list)));
}

Rate recorded(std::vector<double> rates) {
  for (const double rate : rates) detail::pace_check::checked_rate(rate, "a recorded rate");
  return detail::Access::make<Rate>(detail::pace_check::recorded_list(std::move(rates)));
}

Chunking::Chunking(Kind kind, std::size_t count) : kind_(kind), count_(count) {
  if (kind == Kind::pieces) throw GatewayError("give pieces with by_pieces({…})");
  if (count == 0) throw GatewayError("a delta needs at least one unit; give a count of at least 1");
}

Chunking::Chunking(std::vector<std::string> pieces) : kind_(Kind::pieces), count_(1) {
  if (pieces.empty()) throw GatewayError("by_pieces needs at least one piece");
  for (const std::string& piece : pieces) {
    if (piece.empty()) throw GatewayError("by_pieces: a piece is empty; to send empty deltas, use chunks({…})");
    if (!detail::text::is_valid_utf8(piece))
      throw GatewayError("by_pieces: a piece ends inside a character, or is not UTF-8; JSON cannot carry that");
  }
  pieces_ = detail::share<const std::vector<std::string>>(std::move(pieces));
}

const std::vector<std::string>& Chunking::pieces() const {
  static const std::vector<std::string> none;
  return pieces_ ? *pieces_ : none;
}

Chunking by_tokens(std::size_t count) { return Chunking(Chunking::Kind::tokens, count); }

Chunking by_words(std::size_t count) { return Chunking(Chunking::Kind::words, count); }

Chunking by_characters(std::size_t count) { return Chunking(Chunking::Kind::characters, count); }

Chunking by_bytes(std::size_t count) { return Chunking(Chunking::Kind::bytes, count); }

Chunking by_pieces(std::vector<std::string> pieces) { return Chunking(std::move(pieces)); }

Pace Pace::first_token_after(Timing delay) const { return detail::with(*this, &Pace::first_token_, std::move(delay)); }

Pace Pace::every(Timing gap) const {
  Pace changed = *this;
  changed.gap_ = std::move(gap);
  changed.rate_.reset();
  return changed;
}

Pace Pace::tokens_per_second(Rate rate) const {
  Pace changed = *this;
  changed.rate_ = std::move(rate);
  changed.gap_.reset();
  return changed;
}

Pace Pace::chunked(Chunking chunking) const { return detail::with(*this, &Pace::chunking_, std::move(chunking)); }

Pace Pace::or_else(const Pace& others) const {
  Pace both = *this;
  if (!both.first_token_) both.first_token_ = others.first_token_;
  if (!both.gap_ && !both.rate_) {
    both.gap_ = others.gap_;
    both.rate_ = others.rate_;
  }
  if (!both.chunking_) both.chunking_ = others.chunking_;
  return both;
}

}  // namespace mock_gateway
