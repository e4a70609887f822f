// Waits for other things than a clock or a gate, such as the pause between two split writes.

#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "../core/timeline.hpp"
#include "outlet.hpp"
#include "progress.hpp"

namespace mock_gateway::detail {
namespace delivery {

class EitherOf final : public Pending {
 public:
  EitherOf(Pending& one, Pending& other) : one_(one), other_(other) {}

  bool is_over() override { return one_.is_over() || other_.is_over(); }
  std::optional<Duration> recheck_in() override {
    const std::optional<Duration> one = one_.recheck_in();
    const std::optional<Duration> other = other_.recheck_in();
    return one && other ? std::min(*one, *other) : one ? one : other;
  }
  bool needs_wake() const override { return one_.needs_wake() || other_.needs_wake(); }

 private:
  Pending& one_;
  Pending& other_;
};

/// A limit in real time; an empty one never ends.
class RealTimeLimit final : public Pending {
 public:
  explicit RealTimeLimit(std::optional<Duration> limit) : limit_(limit) {}

  bool is_over() override { return limit_ && left() <= Duration{0}; }
  std::optional<Duration> recheck_in() override {
    return limit_ ? std::optional<Duration>(std::max(Duration{0}, left())) : std::nullopt;
  }
  bool needs_wake() const override { return false; }

 private:
  Duration left() const { return *limit_ - (std::chrono::steady_clock::now() - began_); }

  std::optional<Duration> limit_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// The real-time pause between two writes that the client should read separately. It lasts until the client has read
/// the first, or, if the system cannot tell, a moment. Acknowledgements do not help: kernels delay them.
class BetweenWrites final : public Pending {
 public:
  /// The limit for all pauses of a reply. Otherwise a reply sent byte by byte to a busy client would take minutes.
  static constexpr Duration max_total = std::chrono::seconds{2};

  explicit BetweenWrites(const Outlet& outlet) : outlet_(outlet) {}

  bool is_over() override {
    if (has_timed_out()) return true;
    const std::optional<bool> read = outlet_.was_read();
    return read ? *read : passed() >= moment_ && outlet_.has_left();
  }
  std::optional<Duration> recheck_in() override {
    // Polls, because no event reports that a client reads. Most clients read at once.
    constexpr Duration shortest = std::chrono::microseconds{20};
    return std::clamp<Duration>(passed() / 4, shortest, moment_);
  }
  bool needs_wake() const override { return false; }
  /// Whether the client does not read, so that it will read both writes together.
  bool has_timed_out() const { return passed() >= std::chrono::seconds{1}; }
  Duration passed() const { return std::chrono::steady_clock::now() - began_; }

 private:
  static constexpr Duration moment_ = std::chrono::milliseconds{1};

  const Outlet& outlet_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace delivery
}  // namespace mock_gateway::detail
