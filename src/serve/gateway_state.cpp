// All that a gateway answers from; what `reset()` forgets; what counts as a change by the test; when models were
// created.

#include "gateway_state.hpp"

#include <utility>

#include "../core/calendar.hpp"
#include "tester_code.hpp"

namespace mock_gateway::detail {

GatewayState::GatewayState(GatewayParts its_parts, ServeSettings its_settings)
    : GatewayParts(std::move(its_parts)),
      settings(std::move(its_settings)),
      operations(settings.acceptance.model_by_id()),
      tokens(guarded_tokenizer(settings.tokenizer)),
      started(calendar::unix_seconds(clock.now())) {}

void GatewayState::reset(const ResetParts& parts) {
  if (parts.stubs || parts.states) script->reset(parts.stubs, parts.states);
  if (parts.failures) failures.clear();
  if (parts.connections) connection_faults->clear();
  if (parts.chaos) chaos->reset();
  if (!parts.journal) return;
  journal->clear();
  journal->forget_problems();
  occurrences.reset();
}

std::uint64_t GatewayState::changes() const {
  return keys->changes() + script->changes() + failures.changes() + connection_faults->changes() + chaos->changes() +
         operations.changes();
}

const wire::Model* GatewayState::find_model(const std::string& id) const {
  for (const wire::Model& model : settings.models)
    if (model.id == id) return &model;
  return nullptr;
}

}  // namespace mock_gateway::detail
