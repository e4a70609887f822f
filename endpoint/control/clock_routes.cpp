// `/clock`, `/gates`.

#include <algorithm>
#include <chrono>
#include <mutex>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

double milliseconds(Duration duration) {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::microseconds>(duration).count()) / 1000;
}

Json waiting_json(const internal::Inside& inside) {
  const TimePoint now = inside.now();
  Json waiting = Json::array();
  for (const ManualClock::PendingWait& wait : inside.pending_waits())
    waiting.push_back(
        Json{{"what", wait.name}, {"at", as_json(wait.deadline)}, {"in_ms", milliseconds(wait.deadline - now)}});
  return waiting;
}

ControlAnswer show_clock(Control& control, const ControlRequest&) {
  const internal::Inside inside = control.inside();
  return {200, Json{{"kind", inside.clock_kind()}, {"now", as_json(inside.now())}, {"waiting", waiting_json(inside)}}};
}

/// Returns the gateway's internals. Throws ControlError `clock_is_real` unless its clock is manual.
internal::Inside with_manual_clock(const Control& control) {
  const internal::Inside inside = control.inside();
  const std::string kind = inside.clock_kind();
  if (kind == "manual") return inside;
  throw ControlError(409, "clock_is_real",
                     "the gateway's clock is " + kind + (kind == "instant" ? ", and nothing waits on it" : "") +
                         "; a script with {\"gateway\": {\"clock\": \"manual\"}} has a clock that this route can move");
}

/// Advances the clock. Stops early when the program ends, since many timers may take long.
ControlAnswer move(const Control& control, const internal::Inside& inside, Duration step) {
  const TimePoint before = inside.now();
  Json fired = Json::array();
  for (const ManualClock::PendingWait& wait : inside.advance(step, [&control] { return control.waits.is_stopped(); }))
    fired.push_back(Json{{"what", wait.name}, {"at", as_json(wait.deadline)}});
  const TimePoint now = inside.now();
  return {200, Json{{"now", as_json(now)},
                    {"moved_ms", milliseconds(now - before)},
                    {"fired", std::move(fired)},
                    {"waiting", waiting_json(inside)}}};
}

/// Serializes concurrent advances of the clock.
std::mutex& moving() {
  static std::mutex mutex;
  return mutex;
}

ControlAnswer advance(Control& control, const ControlRequest& request) {
  const internal::Inside inside = with_manual_clock(control);
  const Json body = request.object({"by"});
  if (!body.contains("by")) throw request.invalid("", R"("by" is missing: how far, such as {"by": "60s"})");
  const std::optional<Duration> step =
      body["by"].is_string() ? internal::duration_from(body["by"].get<std::string>()) : std::nullopt;
  if (!step) throw request.invalid("/by", "expected a duration with its unit, such as \"20ms\", \"1.5s\" or \"1h\"");
  const std::lock_guard<std::mutex> lock(moving());
  return move(control, inside, *step);
}

ControlAnswer next(Control& control, const ControlRequest& request) {
  const internal::Inside inside = with_manual_clock(control);
  static_cast<void>(request.object({}));
  const std::lock_guard<std::mutex> lock(moving());
  const std::vector<ManualClock::PendingWait> waits = inside.pending_waits();
  if (waits.empty())
    throw ControlError(409, "nothing_waits",
                       "nothing waits on the clock; GET /control/v1/clock lists the pending waits");
  return move(control, inside, std::max(Duration{0}, waits.front().deadline - inside.now()));
}

Json gate_json(const std::string& name, const Gate& gate) {
  Json json{{"name", name}};
  json.update(internal::counts(gate));
  return json;
}

std::map<std::string, Gate> gates_of(const Control& control, const ControlRequest& request) {
  return control.gates.all(control.scope_of(request));
}

ControlAnswer list_gates(Control& control, const ControlRequest& request) {
  Json gates = Json::array();
  for (const auto& [name, gate] : gates_of(control, request)) gates.push_back(gate_json(name, gate));
  return {200, Json{{"gates", std::move(gates)}}};
}

/// Returns the gate of the path. Throws ControlError `no_such_gate`.
Gate gate_of(const Control& control, const ControlRequest& request) {
  const std::map<std::string, Gate> gates = gates_of(control, request);
  const auto found = gates.find(request.parameters.at(0));
  if (found != gates.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, gate] : gates) known.push_back(name);
  throw no_such("gate", request.parameters.at(0), known);
}

template <void (Gate::*Call)()>
ControlAnswer work_gate(Control& control, const ControlRequest& request) {
  Gate gate = gate_of(control, request);
  static_cast<void>(request.object({}));
  (gate.*Call)();
  return {200, gate_json(request.parameters.at(0), gate)};
}

ControlAnswer wait_at_gate(Control& control, const ControlRequest& request) {
  const Gate gate = gate_of(control, request);
  const std::string what = request.value("for").value_or("reached");
  if (what != "reached" && what != "delivered")
    throw ControlError(400, "invalid_request",
                       "?for=" + internal::printable(what, 60) + ": expected reached or delivered");
  const std::size_t count = request.number("count", 1, 1'000'000).value_or(1);
  std::string message;
  const auto is_there = [&] {
    const Wait wait = what == "reached" ? gate.wait_until_reached(count, Duration::zero())
                                        : gate.wait_until_delivered(count, Duration::zero());
    message = wait.message();
    return static_cast<bool>(wait);
  };
  const Duration within = request.duration("within").value_or(std::chrono::seconds{1});
  const bool reached = control.waits.wait_for(within, request, is_there);
  return {200, Json{{"reached", reached},
                    {"message", reached ? Json() : Json("gate \"" + request.parameters.at(0) + "\": " + message)},
                    {"gate", gate_json(request.parameters.at(0), gate)}}};
}

}  // namespace

std::vector<ControlRoute> clock_routes() {
  return {
      {"GET", "/clock", {}, &show_clock, of_server},
      {"POST", "/clock/advance", {}, &advance, of_server},
      {"POST", "/clock/next", {}, &next, of_server},
      {"GET", "/gates", {"scope"}, &list_gates},
      {"POST", "/gates/{name}/release", {"scope"}, &work_gate<&Gate::release>},
      {"POST", "/gates/{name}/open", {"scope"}, &work_gate<&Gate::open>},
      {"GET", "/gates/{name}/wait", {"for", "count", "within", "scope"}, &wait_at_gate},
  };
}

}  // namespace endpoint
}  // namespace mock_gateway
