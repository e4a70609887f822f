// The state that a gateway's answers depend on: what `reset()` clears, which changes by the test end a series of
// retries, and when models were created.

#include "gateway_state.hpp"

#include <utility>

#include "../core/calendar.hpp"
#include "tester_code.hpp"

namespace mock_gateway::detail {

GatewayState::GatewayState(GatewayParts its_parts, ServeSettings its_settings)
    : GatewayParts(std::move(its_parts)),
      settings(std::move(its_settings)),
      models(settings.models, settings.any_model, *script),
      operations(settings.acceptance.has(Extension::model_by_id), settings.embeddings, settings.base_paths),
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
  models.forget_asked();
}

std::uint64_t GatewayState::changes(const ReceivedRequest& request) const {
  std::uint64_t sum = connection_faults->changes() + operations.changes();
  for (const ChangeCount* part : {&keys->changes(), &script->changes(), &failures.changes(), &chaos->changes()})
    sum += part->of(request.key_id, request.key_description);
  return sum;
}

}  // namespace mock_gateway::detail
