// The texts about scripted waits: "stalls as scripted after …".

#include "progress.hpp"

#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace progress {

struct Verb {
  const char* present;
  const char* past;
  const char* client;
};

Verb verb_of(ScriptedWait::Kind kind) {
  switch (kind) {
    case ScriptedWait::Kind::stall: break;
    case ScriptedWait::Kind::half_close: return {"stays half-closed", "stayed half-closed", "had not closed its side"};
    case ScriptedWait::Kind::open_stream:
      return {"keeps its stream open", "kept its stream open", "had not closed its side"};
    case ScriptedWait::Kind::hold: return {"is held", "was held", "was still waiting"};
  }
  return {"stalls", "stalled", "was still waiting"};
}

}  // namespace progress

std::string ScriptedWait::under_way() const {
  const auto lasted =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began).count();
  return std::string(progress::verb_of(kind).present) + " as scripted " + place + ", for " +
         std::to_string(lasted / 1000) + "." + std::to_string(lasted / 100 % 10) + " s so far";
}

std::string ScriptedWait::in_vain(Duration lasted) const {
  const progress::Verb verb = progress::verb_of(kind);
  return std::string(verb.past) + " as scripted " + place + " for " + text::decimal(lasted.count(), 1000000000) +
         " s; the client " + verb.client;
}

void DeliveryProgress::set_scripted_wait(std::optional<ScriptedWait> wait) {
  const std::lock_guard<std::mutex> lock(mutex_);
  wait_.swap(wait);
}

std::optional<ScriptedWait> DeliveryProgress::scripted_wait() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return wait_;
}

}  // namespace mock_gateway::detail
