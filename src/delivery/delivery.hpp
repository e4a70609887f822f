#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

#include "../answer/completion.hpp"
#include "../core/clock.hpp"
#include "../model/reply.hpp"
#include "outlet.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {

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

  /// The pace counts from `start`. `events` and `tokens` count what was sent, for the record of the exchange.
  Delivery(const ReplyData& plan, Outlet& outlet, Timeline& timeline, TimePoint start, std::atomic<std::size_t>& events,
           std::atomic<std::size_t>& tokens);

  /// An answer of one piece. It leaves when the last of `token_count` tokens would have.
  Result whole(std::string_view head, std::string_view body, std::size_t token_count);
  /// An answer of events. Head and role event leave at once; each token at its time.
  Result stream(std::string_view head, CompletionEvents& source, bool chunked);

 private:
  /// Thrown and caught inside this class: a delivery can end at any step, and every step would have to say so.
  struct Ended {
    Result result;
  };

  template <class Steps>
  Result run(const Steps& steps);
  TimePoint due(std::size_t token) const;
  void send(std::string_view bytes);
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
  std::atomic<std::size_t>& events_;
  std::atomic<std::size_t>& tokens_;
};

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
