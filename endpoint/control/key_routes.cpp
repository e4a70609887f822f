// `/keys`, `/limit`.

#include <algorithm>
#include <utility>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

Json limit_json(std::size_t most, Duration window) {
  return std::to_string(most) + "/" + internal::text::scripted(window);
}

/// Adds the limits of a key, or of all keys together.
void add_limits(Json& json, const ApiKey& key) {
  json["limit"] = key.limit ? limit_json(key.limit->requests, key.limit->window) : Json();
  json["limit_tokens"] = key.limit_tokens ? limit_json(key.limit_tokens->tokens, key.limit_tokens->window) : Json();
  json["limit_concurrent"] = key.limit_concurrent ? Json(*key.limit_concurrent) : Json();
  json["concurrent"] = key.concurrent;
}

constexpr char of_all_keys[] =
    "all keys share it; PATCH /keys/{id} with {\"limit\": …} or {\"limit_tokens\": …} limits the key of a scope";

bool is_default(const ApiKey& key) { return key.id == default_key_id; }

Json key_json(const Control& control, const ApiKey& key) {
  Json operations = Json::array();
  for (const Operation& one : key.operations)
    operations.push_back(
        Json{{"method", internal::text::as_utf8(one.method)}, {"path", internal::text::as_utf8(one.path)}});
  Json json;
  json["id"] = key.id;
  json["name"] = internal::text::as_utf8(key.description);
  json["hint"] = key.hint;
  json["is_default"] = is_default(key);
  json["state"] = to_string(key.state);
  json["ended"] = key.ended.empty() ? Json() : Json(key.ended);
  json["created"] = as_json(key.created);
  json["last_used"] = key.last_used ? as_json(*key.last_used) : Json();
  json["requests"] = key.requests;
  json["models"] = key.models;
  json["operations"] = std::move(operations);
  add_limits(json, key);
  json["limit_group"] = key.limit_group.empty() ? Json() : Json(internal::text::as_utf8(key.limit_group));
  json["scope"] = control.scopes.has(key.id);
  return json;
}

/// Returns the key of the path, by id or name. Throws ControlError `no_such_key`, and GatewayError for a name of
/// several.
ApiKey key_of(const Control& control, const ControlRequest& request) {
  const std::string& name = request.parameters.at(0);
  const std::string scope = control.scope_of(request);
  const Keys keys = control.gateway().keys();
  if (!scope.empty() && name != scope && keys.find(scope).description != name)
    throw not_of("key", "no_such_key", name, scope);
  std::vector<std::string> known;
  for (const ApiKey& key : keys.list())
    for (const std::string& one : {key.id, key.description})
      if (!one.empty()) known.push_back(one);
  try {
    return keys.find(scope.empty() ? name : scope);
  } catch (const GatewayError& error) {
    if (std::count(known.begin(), known.end(), name) > 1) throw;
    // The error message must not repeat a secret.
    if (name.find("sk-") != std::string::npos) throw ControlError(404, "no_such_key", error.what());
    throw no_such("key", name, known);
  }
}

/// Like key_of(), but also throws for a deleted key.
ApiKey living_key(const Control& control, const ControlRequest& request) {
  ApiKey key = key_of(control, request);
  if (key.state == KeyState::deleted)
    throw ControlError(404, "no_such_key", "the key \"" + key.id + "\" is deleted and cannot be restored");
  return key;
}

ControlAnswer list_keys(Control& control, const ControlRequest& request) {
  const std::string scope = control.scope_of(request);
  const internal::Inside inside = control.inside();
  Json keys = Json::array();
  for (const ApiKey& key : inside.keys())
    if (scope.empty() || key.id == scope) keys.push_back(key_json(control, key));
  return {200, Json{{"keys", std::move(keys)}, {"headers", inside.key_headers()}, {"required", inside.requires_key()}}};
}

/// Returns the secret of the default key, which the program printed anyway.
ControlAnswer show_secret(Control& control, const ControlRequest& request) {
  if (!is_default(living_key(control, request)))
    throw ControlError(
        403, "secret_not_shown",
        "only the secret of the default key is shown; the secret of another key was in the answer that created it");
  return {200, Json{{"secret", control.gateway().api_key()}}};
}

ControlAnswer show_key(Control& control, const ControlRequest& request) {
  return {200, key_json(control, key_of(control, request))};
}

ControlAnswer create_key(Control& control, const ControlRequest& request) {
  const ControlBody body(request.body.empty() ? "{}" : request.body);
  const bool is_list = body.has("keys");
  if (is_list) body.require_keys({"keys"});
  internal::Problems problems;
  const std::vector<CreatedKey> keys = body.json().create_keys(control.gateway(), problems);
  if (!problems.empty()) throw error_of("invalid_request", std::move(problems));
  Json created = Json::array();
  for (const CreatedKey& key : keys) {
    Json json = key_json(control, control.gateway().keys().find(key.id));
    json["secret"] = key.secret;
    created.push_back(std::move(json));
  }
  if (is_list) return {201, Json{{"keys", std::move(created)}}};
  return {201, std::move(created.front())};
}

/// Applies the body to a key, or with an empty ID to the shared limits.
void change(const Control& control, const std::string& id, const ControlBody& body) {
  internal::Problems problems;
  body.json().change_key(control.gateway(), id, problems);
  if (!problems.empty()) throw error_of("invalid_request", std::move(problems));
}

ControlAnswer change_key(Control& control, const ControlRequest& request) {
  const std::string id = living_key(control, request).id;
  const ControlBody body(request.body);
  body.require_keys({"name", "models", "operations", "limit", "limit_tokens", "limit_concurrent"});
  change(control, id, body);
  return {200, key_json(control, control.gateway().keys().find(id))};
}

ControlAnswer disable(Control& control, const ControlRequest& request) {
  const std::string id = living_key(control, request).id;
  const Json body = request.object({"requests"});
  const Keys keys = control.gateway().keys();
  if (!body.contains("requests")) {
    keys.disable(id);
  } else {
    const Json& requests = body["requests"];
    if (!requests.is_number_unsigned() || requests == 0)
      throw request.invalid("/requests", "expected the number of its requests, at least 1");
    keys.disable_for(id, requests.get<std::size_t>());
  }
  return {200, key_json(control, keys.find(id))};
}

ControlAnswer show_limit(Control& control, const ControlRequest&) {
  Json limits = Json::object();
  add_limits(limits, control.inside().limits());
  return {200, std::move(limits)};
}

ControlAnswer put_limit(Control& control, const ControlRequest& request) {
  const ControlBody body(request.body);
  body.require_keys({"limit", "limit_tokens", "limit_concurrent"});
  if (!body.has("limit") && !body.has("limit_tokens") && !body.has("limit_concurrent"))
    throw body.error("", R"("limit", "limit_tokens" or "limit_concurrent" is missing, such as {"limit": "60/1m"}, )"
                         R"({"limit_tokens": "6000/1m"} or {"limit_concurrent": 4}, or null for none)");
  change(control, {}, body);
  return show_limit(control, request);
}

template <void (Keys::*Call)(const std::string&) const>
ControlAnswer turn(Control& control, const ControlRequest& request) {
  const std::string id = living_key(control, request).id;
  const Keys keys = control.gateway().keys();
  static_cast<void>(request.object({}));
  (keys.*Call)(id);
  return {200, key_json(control, keys.find(id))};
}

}  // namespace

std::vector<ControlRoute> key_routes() {
  return {
      {"GET", "/keys", {"scope"}, &list_keys},
      {"POST", "/keys", {}, &create_key, "a scope has exactly one key; omit the scope to create other keys"},
      {"GET", "/keys/{id}", {"scope"}, &show_key},
      {"GET", "/keys/{id}/secret", {}, &show_secret, "only the secret of the default key is shown"},
      {"PATCH", "/keys/{id}", {"scope"}, &change_key},
      {"DELETE", "/keys/{id}", {"scope"}, &turn<&Keys::remove>},
      {"POST", "/keys/{id}/disable", {"scope"}, &disable},
      {"POST", "/keys/{id}/enable", {"scope"}, &turn<&Keys::enable>},
      {"GET", "/limit", {}, &show_limit, of_all_keys},
      {"PUT", "/limit", {}, &put_limit, of_all_keys},
  };
}

}  // namespace endpoint
}  // namespace mock_gateway
