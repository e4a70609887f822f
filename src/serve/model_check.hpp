#pragma once

#include <string>

#include "../keys/api_key.hpp"
#include "judgement.hpp"

namespace mock_gateway {
namespace detail {

/// Whether a key's rights allow a model, which need not exist.
bool may_use(const ApiKey& key, const std::string& model);

/// The 404 of a model that the gateway does not serve.
Failure model_not_found(const std::string& model);

/// Refuses a request for a model: 403 when its key may not use it, else 404 when the gateway does not serve it. Returns
/// whether it has.
bool refuse_model(Judgement& judgement, const std::string& model);

}  // namespace detail
}  // namespace mock_gateway
