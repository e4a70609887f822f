#pragma once

#include <string>

#include "../keys/api_key.hpp"
#include "../model/acceptance.hpp"
#include "../model/failure.hpp"
#include "../model/received_request.hpp"
#include "served_request.hpp"

namespace mock_gateway::detail {

/// Whether a request's Content-Type allows its body to be read as JSON. One without a Content-Type does.
bool allows_json(const ReceivedRequest& request, const Acceptance& acceptance);
/// Whether allows_json() may become true once the body is read.
bool may_hold_json(const ReceivedRequest& request, const Acceptance& acceptance);
/// The 415 of a request whose Content-Type does not allow that.
Failure unsupported_content_type(const ReceivedRequest& request);

/// Whether a key's rights allow a model, which need not exist.
bool may_use(const ApiKey& key, const std::string& model);

/// The 404 of a model that the gateway does not serve.
Failure model_not_found(const std::string& model, const GatewayState& gateway, const ApiKey& key);

/// Refuses a request for a model: 403 when its key may not use it, else 404 when the gateway does not serve it. Returns
/// whether it has refused.
bool refuse_model(ServedRequest& served, const std::string& model);

}  // namespace mock_gateway::detail
