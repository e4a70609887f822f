#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../answer/events.hpp"
#include "../core/clock.hpp"
#include "../model/reply.hpp"
#include "outlet.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {

/// How far a delivery has come, for the record of its exchange. Written by the connection's thread, read by any.
struct DeliveryProgress {
  std::atomic<std::size_t> events{0};
  std::atomic<std::size_t> tokens{0};
  /// `[DONE]` was handed to the connection.
  std::atomic<bool> done{false};
  /// When, in real time.
  std::atomic<std::chrono::steady_clock::time_point> done_at{std::chrono::steady_clock::time_point{}};
};

/// Delivers one answer: which bytes leave when, and where it breaks. One schedule on the exchange's timeline, with
/// absolute deadlines, so that lateness never adds up.
class Delivery {
 public:
  enum class Result {
    completed,
    /// The outlet gave up: the client left or stalled, or the gateway stops.
    broken_off,
    /// A fault of the plan ended the connection.
    failed_by_script,
  };

  /// The pace counts from `start`.
  Delivery(const ReplyData& plan, Outlet& outlet, Timeline& timeline, TimePoint start, DeliveryProgress& progress);

  /// An answer of one piece. It leaves when the last of `token_count` tokens would have.
  Result whole(std::string_view head, std::string_view body, std::size_t token_count);
  /// An answer of events. Head and role event leave at once; each token at its time.
  Result stream(std::string_view head, EventSource& source, bool chunked);
  /// Called before the bytes by which a client knows that the answer is whole: it may act before the sender goes on.
  void before_last_bytes(std::function<void()> callback) { before_last_bytes_ = std::move(callback); }
  /// The faults of the plan whose trigger has not come.
  std::vector<Fault> not_reached() const;

 private:
  /// Thrown and caught inside this class: a delivery can end at any step, and every step would have to say so.
  struct Ended {
    Result result;
  };

  template <class Steps>
  Result run(const Steps& steps);
  TimePoint due(std::size_t token) const;
  void send(std::string_view bytes);
  void announce_last_bytes() const;
  void wait_until(TimePoint deadline, std::string_view purpose);
  void strike(Trigger::Kind kind, std::size_t count);
  void strike(const Effect& effect);
  void hold(Place::Kind kind, std::size_t number);
  void pass(const Gate& gate);
  void wait(Pending& pending, Outlet::OnClientClosed on_client_closed);

  const ReplyData& plan_;
  Outlet& outlet_;
  Timeline& timeline_;
  TimePoint start_;
  DeliveryProgress& progress_;
  std::vector<bool> reached_;  // of each fault of the plan
  std::function<void()> before_last_bytes_;
};

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
