// 403 and 404 of a model.

#include "model_check.hpp"

#include <algorithm>

#include "../core/text.hpp"

namespace mock_gateway {
namespace detail {

bool may_use(const ApiKey& key, const std::string& model) {
  return key.models.empty() || std::find(key.models.begin(), key.models.end(), model) != key.models.end();
}

Failure model_not_found(const std::string& model) {
  return failure(404, "model_not_found", "the model \"" + text::as_utf8(model) + "\" does not exist").param("model");
}

bool refuse_model(Judgement& judgement, const std::string& model) {
  if (!may_use(judgement.presented.key, model)) return judgement.reject(forbidden());
  if (judgement.gateway.find_model(model)) return false;
  return judgement.reject(model_not_found(model));
}

}  // namespace detail
}  // namespace mock_gateway
