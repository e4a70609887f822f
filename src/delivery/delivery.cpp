#include "delivery.hpp"

#include "framing.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {

MOCK_GATEWAY_INLINE Delivery::Delivery(const ReplyData& plan, Outlet& outlet, Timeline& timeline, TimePoint start,
                                       DeliveryProgress& progress)
    : plan_(plan),
      outlet_(outlet),
      timeline_(timeline),
      start_(start),
      progress_(progress),
      reached_(plan.faults.size()) {}

template <class Steps>
Delivery::Result Delivery::run(const Steps& steps) {
  try {
    steps();
    return Result::completed;
  } catch (const Ended& ended) {
    return ended.result;
  }
}

MOCK_GATEWAY_INLINE Delivery::Result Delivery::whole(std::string_view head, std::string_view body,
                                                     std::size_t token_count) {
  return run([&] {
    strike(Trigger::Kind::before_headers, 0);
    for (const Hold& hold : plan_.holds)
      if (hold.place.kind() == Place::Kind::event || hold.place.number() <= token_count) pass(hold.gate);
    wait_until(due(token_count == 0 ? 1 : token_count), "the whole reply");
    // A small answer leaves in one write; a large body is not worth a copy.
    constexpr std::size_t small = 65536;
    if (plan_.faults.empty() && body.size() <= small) {
      announce_last_bytes();
      send(std::string(head).append(body));
    } else {
      send(head);
      strike(Trigger::Kind::after_headers, 0);
      announce_last_bytes();
      send(body);
    }
    progress_.tokens = token_count;
    strike(Trigger::Kind::at_end, 0);
  });
}

MOCK_GATEWAY_INLINE Delivery::Result Delivery::stream(std::string_view head, EventSource& source, bool chunked) {
  return run([&] {
    strike(Trigger::Kind::before_headers, 0);
    send(head);
    strike(Trigger::Kind::after_headers, 0);
    EventFraming framing(plan_.sse, chunked);
    StreamEvent event;
    std::size_t events = 0;
    std::size_t tokens = 0;
    while (source.next(event)) {
      ++events;
      hold(Place::Kind::event, events);
      if (event.token) {
        ++tokens;
        hold(Place::Kind::token, tokens);
        wait_until(due(tokens), "a token");
      }
      send(event.raw ? framing.bare(event.data) : framing.frame(event.data));
      progress_.events.store(events, std::memory_order_relaxed);
      if (event.token) progress_.tokens.store(tokens, std::memory_order_relaxed);
      strike(Trigger::Kind::after_events, events);
      if (event.token) strike(Trigger::Kind::after_tokens, tokens);
    }
    strike(Trigger::Kind::before_done, 0);
    if (plan_.sse.done) {
      hold(Place::Kind::event, ++events);
      announce_last_bytes();
      send(framing.frame("[DONE]"));
      progress_.events = events;
      progress_.done_at = std::chrono::steady_clock::now();
      progress_.done = true;
      strike(Trigger::Kind::after_events, events);
    }
    strike(Trigger::Kind::at_end, 0);
    if (!plan_.sse.done) announce_last_bytes();
    send(framing.terminator());
  });
}

MOCK_GATEWAY_INLINE TimePoint Delivery::due(std::size_t token) const {
  const Pace& pace = plan_.pace;
  const auto gaps = static_cast<Duration::rep>(token - 1);
  if (pace.gap > Duration{0} && gaps > Duration::max() / pace.gap) return TimePoint::max();
  return later(later(start_, pace.first_token), pace.gap * gaps);
}

MOCK_GATEWAY_INLINE void Delivery::send(std::string_view bytes) {
  if (!bytes.empty() && !outlet_.write(bytes)) throw Ended{Result::broken_off};
}

MOCK_GATEWAY_INLINE void Delivery::announce_last_bytes() const {
  if (before_last_bytes_) before_last_bytes_();
}

MOCK_GATEWAY_INLINE void Delivery::wait_until(TimePoint deadline, std::string_view purpose) {
  if (deadline == start_) return;  // no pace
  ClockWait pending(timeline_, deadline, std::string(purpose));
  wait(pending, Outlet::OnClientClosed::go_on);
}

MOCK_GATEWAY_INLINE void Delivery::strike(Trigger::Kind kind, std::size_t count) {
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const Fault& fault = plan_.faults[i];
    if (fault.trigger.kind() != kind || fault.trigger.count() != count) continue;
    reached_[i] = true;
    strike(fault.effect);
  }
}

MOCK_GATEWAY_INLINE std::vector<Fault> Delivery::not_reached() const {
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < reached_.size(); ++i)
    if (!reached_[i]) faults.push_back(plan_.faults[i]);
  return faults;
}

MOCK_GATEWAY_INLINE void Delivery::strike(const Effect& effect) {
  if (effect.kind() == Effect::Kind::stall) {
    const bool endless = !effect.duration();
    ClockWait pending(timeline_, endless ? TimePoint::max() : later(timeline_.now(), *effect.duration()), "a stall");
    wait(pending, endless ? Outlet::OnClientClosed::give_up : Outlet::OnClientClosed::go_on);
    return;
  }
  if (!outlet_.drain()) throw Ended{Result::broken_off};
  outlet_.end(effect.kind() == Effect::Kind::reset_connection ? Outlet::Ending::reset : Outlet::Ending::close);
  throw Ended{Result::failed_by_script};
}

MOCK_GATEWAY_INLINE void Delivery::hold(Place::Kind kind, std::size_t number) {
  for (const Hold& hold : plan_.holds)
    if (hold.place.kind() == kind && hold.place.number() == number) pass(hold.gate);
}

MOCK_GATEWAY_INLINE void Delivery::pass(const Gate& gate) {
  GateWait pending(gate.state(), outlet_.waker());
  if (!pending.over()) timeline_.settle();
  wait(pending, Outlet::OnClientClosed::go_on);
}

MOCK_GATEWAY_INLINE void Delivery::wait(Pending& pending, Outlet::OnClientClosed on_client_closed) {
  if (!outlet_.wait(pending, on_client_closed)) throw Ended{Result::broken_off};
  if (pending.guard_expired()) outlet_.guard_expired();
}

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
