#pragma once

#include <string>

#include "../keys/api_key.hpp"
#include "../model/acceptance.hpp"
#include "../model/failure.hpp"
#include "../model/received_request.hpp"
#include "served_request.hpp"

namespace mock_gateway::detail {

/// Whether the Content-Type allows reading the body as JSON. A missing one does.
bool allows_json(const ReceivedRequest& request, const Acceptance& acceptance);
/// Whether allows_json() may become true after the body is read.
bool may_hold_json(const ReceivedRequest& request, const Acceptance& acceptance);
Failure unsupported_content_type(const ReceivedRequest& request);

/// Whether a key may use a model, which need not exist.
bool may_use(const ApiKey& key, const std::string& model);

Failure model_not_found(const std::string& model, const GatewayState& gateway, const ApiKey& key);

/// Refuses a model: 403 if the key may not use it, otherwise 404 if it is not served. Returns whether it refused.
bool refuse_model(ServedRequest& served, const std::string& model);

}  // namespace mock_gateway::detail
