// Writes a gateway's settings as the key `gateway` of a script that repeats one exchange.

#include "../answer/bodies.hpp"
#include "../core/access.hpp"
#include "../core/json_reader.hpp"
#include "../model/acceptance.hpp"
#include "../model/profile_traits.hpp"
#include "../model/request_error.hpp"
#include "../request/chat_parser.hpp"
#include "../serve/served_request.hpp"
#include "internal.hpp"

namespace mock_gateway::internal {
namespace {

using detail::StrictAcceptance;

Json differences(const Acceptance& acceptance, const Acceptance& base) {
  Json object = Json::object();
  for (const detail::ExtensionRow& row : detail::extensions)
    if (acceptance.has(row.extension) != base.has(row.extension)) object[row.name] = acceptance.has(row.extension);
  // "off" and "off except for documented fields" are different settings.
  if (!acceptance.has(Extension::unknown_fields) &&
      StrictAcceptance::takes_documented_fields(acceptance) != StrictAcceptance::takes_documented_fields(base))
    object["unknown_fields"] = false;
  if (!acceptance.has(Extension::null_as_absent) &&
      StrictAcceptance::takes_documented_nulls(acceptance) != StrictAcceptance::takes_documented_nulls(base))
    object["null_as_absent"] = false;
  return object;
}

/// Returns the acceptance as in a script; null if it equals the profile's default.
Json acceptance_of(const Acceptance& acceptance, Profile profile) {
  const detail::ProfileTraits& traits = detail::traits_of(profile);
  if (differences(acceptance, traits.acceptance()).empty()) return {};
  for (const detail::NamedAcceptance& one : detail::acceptances)
    if (differences(acceptance, StrictAcceptance::under(one.make(), traits.documented())).empty()) return one.name;
  const Acceptance strict = StrictAcceptance::under(Acceptance::strict(), traits.documented());
  const bool is_partly_strict =
      StrictAcceptance::takes_documented_fields(acceptance) || StrictAcceptance::takes_documented_nulls(acceptance);
  Json object{{"base", is_partly_strict ? "strict" : "default"}};
  object.update(differences(acceptance, is_partly_strict ? strict : Acceptance()));
  return object;
}

bool is_taken_by_default(const ReceivedRequest& request, const detail::ServeSettings& settings) {
  const Acceptance standard = detail::traits_of(settings.profile).acceptance();
  try {
    detail::parse_chat_request(request.body, standard, settings.chat_limits);
  } catch (const detail::RequestError&) {
    return false;
  }
  return detail::allows_json(request, standard);
}

bool asks_for_model(const ReceivedRequest& request, const Json& id) {
  const Json body = detail::read_json_if_valid(request.body);
  return body.is_object() && body.contains("model") && body["model"] == id;
}

/// Returns the model as in a script: its id, or an object.
Json entry_of(const wire::Model& model) {
  Json entry{{"id", model.id}};
  if (model.owner != wire::Model().owner) entry["owner"] = model.owner;
  if (model.context_window) entry["context_window"] = *model.context_window;
  return entry.size() == 1 ? Json(model.id) : entry;
}

}  // namespace

/// Omits the program's own defaults (any model, OpenAI's fields) unless the request needs them. Without settings in it,
/// a running gateway can load the script.
Json Inside::settings_for(const Exchange& exchange) const {
  constexpr std::size_t largest_body = std::size_t{16} << 20;
  const detail::ServeSettings& settings = state_.settings;
  const ReceivedRequest& request = exchange.request();
  const bool is_chat_request = is_chat(exchange);
  const Json standard = "mock-model";
  Json gateway = Json::object();
  const std::vector<wire::Model>& models = settings.models;
  if (settings.any_model) {
    if (is_chat_request && !asks_for_model(request, standard)) gateway["models"] = "any";
  } else if (models.size() != 1 || entry_of(models[0]) != standard) {
    Json list = Json::array();
    for (const wire::Model& model : models) list.push_back(entry_of(model));
    gateway["models"] = std::move(list);
  }
  const detail::KeyRules& keys = state_.keys->rules();
  if (!keys.headers.empty()) gateway["key_headers"] = keys.headers;
  if (!keys.required) gateway["key_required"] = false;
  if (settings.base_paths != detail::ServeSettings().base_paths) {
    for (const std::string& path : settings.base_paths) gateway["base_paths"].push_back(path.empty() ? "/" : path);
  }
  if (settings.profile != Profile::documented) gateway["profile"] = to_string(settings.profile);
  if (settings.chat_limits.enforced != Profile::documented)
    gateway["enforce"] = to_string(settings.chat_limits.enforced);
  const bool is_openai = differences(settings.acceptance, Acceptance::openai()).empty();
  if (!is_openai || (is_chat_request && !is_taken_by_default(request, settings))) {
    if (Json acceptance = acceptance_of(settings.acceptance, settings.profile); !acceptance.is_null())
      gateway["acceptance"] = std::move(acceptance);
  }
  if (settings.chat_limits.max_n != detail::ChatLimits().max_n) gateway["max_n"] = settings.chat_limits.max_n;
  if (request.body.size() > largest_body) gateway["max_body"] = request.body.size();
  return gateway;
}

}  // namespace mock_gateway::internal
