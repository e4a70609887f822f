#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "../core/duration.hpp"
#include "answer_log.hpp"

namespace mock_gateway::detail {

/// A wait that a reply's script asks for. Durations of texts are in real time.
struct ScriptedWait {
  enum class Kind { stall, half_close, open_stream, hold, pace };

  Kind kind;
  /// The position in the reply: "after token 2"; of a hold `at gate "first" before token 2`; of a pace "token 2".
  std::string place;
  /// The scripted length, if any, on the gateway's clock.
  std::optional<Duration> length = {};
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  /// Returns "stalls as scripted after token 2, for 2.0 s so far".
  std::string under_way() const;
  /// Returns `held at gate "first" before token 2 for 4.8 s`, "waiting for token 2 for 4.8 s of 30 s".
  std::string state() const;
  /// Returns `was held as scripted at gate "first" before token 2 for 10.0 s`.
  std::string past() const;
  /// Returns "stalled as scripted after token 2 for 120 s; the client was still waiting".
  std::string in_vain(Duration lasted) const;
};

/// Progress of a delivery, for the record of its exchange. Written by the connection's thread, read by any thread.
struct DeliveryProgress {
  std::atomic<std::size_t> events{0};
  std::atomic<std::size_t> tokens{0};
  /// Whether `[DONE]` was passed to the connection.
  std::atomic<bool> done{false};
  /// The real time when `[DONE]` was passed on. If the stream stays open afterwards, the time when the client's kernel
  /// acknowledged `[DONE]`, or the maximum time until then.
  std::atomic<std::chrono::steady_clock::time_point> done_at{std::chrono::steady_clock::time_point{}};
  /// The maximum lateness, in nanoseconds.
  std::atomic<Duration::rep> lateness{0};
  std::atomic<bool> first_fault{false};
  /// Whether it waits until the client reads.
  std::atomic<bool> awaits_client{false};
  /// Held while bytes are written and counted. Counts read under it include all that the client can have read.
  mutable std::mutex handover;
  /// The record of the sent answer; null if recording is off.
  std::unique_ptr<AnswerLog> log;

  /// Only the connection's thread may call this.
  void note_lateness(Duration late) {
    if (late.count() > lateness.load(std::memory_order_relaxed)) lateness = late.count();
  }
  void set_wait(std::optional<ScriptedWait> wait);
  std::optional<ScriptedWait> wait() const;
  /// Returns wait(), unless it is for the pace.
  std::optional<ScriptedWait> scripted_wait() const;
  /// Returns what the exchange waits for: the state() of its wait, or "waiting for the client to read"; empty: nothing.
  std::string pending() const;

 private:
  mutable std::mutex mutex_;
  std::optional<ScriptedWait> wait_;  // guarded by the mutex
};

}  // namespace mock_gateway::detail
