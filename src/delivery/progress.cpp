// The texts about waits: "stalls as scripted after …", "waiting for token 2 for …".

#include "progress.hpp"

#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace progress {

struct Verb {
  const char* present;
  const char* past;
  const char* client;
  const char* state;
};

Verb verb_of(ScriptedWait::Kind kind) {
  switch (kind) {
    case ScriptedWait::Kind::stall: break;
    case ScriptedWait::Kind::half_close:
      return {"stays half-closed as scripted", "stayed half-closed as scripted", "had not closed its side",
              "half-closed"};
    case ScriptedWait::Kind::open_stream:
      return {"keeps its stream open as scripted", "kept its stream open as scripted", "had not closed its side",
              "kept open"};
    case ScriptedWait::Kind::hold: return {"is held as scripted", "was held as scripted", "was still waiting", "held"};
    case ScriptedWait::Kind::pace: return {"waits for", "waited for", "was still waiting", "waiting for"};
  }
  return {"stalls as scripted", "stalled as scripted", "was still waiting", "stalled"};
}

/// Returns "4.8 s".
std::string since(std::chrono::steady_clock::time_point began) {
  const auto lasted =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began).count();
  return std::to_string(lasted / 1000) + "." + std::to_string(lasted / 100 % 10) + " s";
}

}  // namespace progress

std::string ScriptedWait::under_way() const {
  return std::string(progress::verb_of(kind).present) + " " + place + ", for " + progress::since(began) + " so far";
}

std::string ScriptedWait::state() const {
  return std::string(progress::verb_of(kind).state) + " " + place + " for " + progress::since(began) +
         (length ? " of " + text::seconds(*length) : "");
}

std::string ScriptedWait::past() const {
  return std::string(progress::verb_of(kind).past) + " " + place + " for " + progress::since(began);
}

std::string ScriptedWait::in_vain(Duration lasted) const {
  const progress::Verb verb = progress::verb_of(kind);
  return std::string(verb.past) + " " + place + " for " + text::decimal(lasted.count(), 1000000000) +
         " s; the client " + verb.client;
}

void DeliveryProgress::set_wait(std::optional<ScriptedWait> wait) {
  const std::lock_guard<std::mutex> lock(mutex_);
  wait_.swap(wait);
}

std::optional<ScriptedWait> DeliveryProgress::wait() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return wait_;
}

std::optional<ScriptedWait> DeliveryProgress::scripted_wait() const {
  std::optional<ScriptedWait> wait = this->wait();
  if (wait && wait->kind == ScriptedWait::Kind::pace) wait.reset();
  return wait;
}

std::string DeliveryProgress::pending() const {
  if (awaits_client) return "waiting for the client to read";
  const std::optional<ScriptedWait> wait = this->wait();
  return wait ? wait->state() : "";
}

}  // namespace mock_gateway::detail
