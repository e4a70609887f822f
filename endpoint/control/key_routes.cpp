// `/keys`.

#include <chrono>
#include <utility>

#include "body.hpp"
#include "core/access.hpp"
#include "core/error.hpp"
#include "core/printed.hpp"
#include "core/text.hpp"
#include "document/script_sections.hpp"
#include "document/script_values.hpp"
#include "evidence_routes.hpp"
#include "serve/gateway_state.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// "1m", "90s": as scripts write it.
std::string window_text(Duration window) {
  if (window % std::chrono::hours{1} == Duration{0}) return std::to_string(window / std::chrono::hours{1}) + "h";
  if (window % std::chrono::minutes{1} == Duration{0}) return std::to_string(window / std::chrono::minutes{1}) + "m";
  return detail::printed(window);
}

Json limit_json(const std::optional<RateLimit>& limit) {
  return limit ? Json(std::to_string(limit->requests) + "/" + window_text(limit->window)) : Json();
}

Json limit_json(const std::optional<TokenLimit>& limit) {
  return limit ? Json(std::to_string(limit->tokens) + "/" + window_text(limit->window)) : Json();
}

constexpr char of_all_keys[] =
    "all keys share it; PATCH /keys/{id} with {\"limit\": …} or {\"limit_tokens\": …} limits the key of a scope";

/// The id of the key that the gateway was started with.
std::string default_id(const Control& control) {
  const wire::Headers headers{{"Authorization", "Bearer " + control.gateway().api_key()}};
  return control.state().keys->look_at(headers, false).key.id;
}

Json key_json(const Control& control, const ApiKey& key) {
  Json models = Json::array();
  for (const std::string& model : key.models) models.push_back(model);
  Json operations = Json::array();
  for (const Operation& one : key.operations)
    operations.push_back(
        Json{{"method", detail::text::as_utf8(one.method)}, {"path", detail::text::as_utf8(one.path)}});
  Json json;
  json["id"] = key.id;
  json["name"] = detail::text::as_utf8(key.description);
  json["hint"] = key.hint;
  json["is_default"] = key.id == default_id(control);
  json["state"] = to_string(key.state);
  json["created"] = as_json(key.created);
  json["last_used"] = key.last_used ? as_json(*key.last_used) : Json();
  json["requests"] = key.requests;
  json["models"] = std::move(models);
  json["operations"] = std::move(operations);
  json["limit"] = limit_json(key.limit);
  json["limit_tokens"] = limit_json(key.limit_tokens);
  json["limit_group"] = key.limit_group.empty() ? Json() : Json(detail::text::as_utf8(key.limit_group));
  json["scope"] = control.scopes.find(key.id).has_value();
  return json;
}

/// The key that the path names. Throws ControlError `no_such_key`.
ApiKey key_of(const Control& control, const ControlRequest& request) {
  const std::string& id = request.parameters.at(0);
  const std::optional<Scope> scope = control.scope_of(request);
  if (scope && id != scope->id) throw not_of("key", "no_such_key", id, *scope);
  std::vector<std::string> known;
  for (const ApiKey& key : control.gateway().keys().list()) {
    if (key.id == id) return key;
    known.push_back(key.id);
  }
  try {
    return control.gateway().keys().find(id);
  } catch (const GatewayError& error) {
    // The message never repeats a secret.
    if (id.find("sk-") != std::string::npos) throw ControlError(404, "no_such_key", error.what());
    throw no_such("key", id, known);
  }
}

/// The same for a change.
ApiKey living_key(const Control& control, const ControlRequest& request) {
  ApiKey key = key_of(control, request);
  if (key.state == KeyState::deleted)
    throw ControlError(404, "no_such_key", "the key \"" + key.id + "\" is deleted, and cannot come back");
  return key;
}

ControlAnswer list_keys(Control& control, const ControlRequest& request) {
  const std::optional<Scope> scope = control.scope_of(request);
  Json keys = Json::array();
  for (const ApiKey& key : control.gateway().keys().list())
    if (!scope || key.id == scope->id) keys.push_back(key_json(control, key));
  return {200, Json{{"keys", std::move(keys)}}};
}

/// That of the default key, which the program has printed: it is no secret to whoever has the token.
ControlAnswer show_secret(Control& control, const ControlRequest& request) {
  if (living_key(control, request).id != default_id(control))
    throw ControlError(
        403, "secret_not_shown",
        "only the secret of the default key is shown; that of another was in the answer that created it");
  return {200, Json{{"secret", control.gateway().api_key()}}};
}

ControlAnswer show_key(Control& control, const ControlRequest& request) {
  return {200, key_json(control, key_of(control, request))};
}

/// What a body is read with: its mistakes are told together.
class Reading {
 public:
  explicit Reading(const ControlBody& body) : body_(body), reader_(body.source(), problems_, gates_) {}

  detail::ScriptReader& reader() { return reader_; }
  /// Throws ControlError `invalid_request` when a mistake was noted.
  void require_no_problem() {
    if (problems_.empty()) return;
    for (ScriptProblem& problem : problems_) body_.unwrap(problem);
    throw error_of("invalid_request", std::move(problems_));
  }

 private:
  const ControlBody& body_;
  std::vector<ScriptProblem> problems_;
  std::map<std::string, Gate> gates_;
  detail::ScriptReader reader_;
};

/// The keys that a body asks for, and what the gateway has.
struct Wanted {
  std::vector<detail::ScriptedKey> keys;
  const detail::KeyStore& store;
};

void read_key(detail::ScriptReader& reader, const detail::ScriptNode& node, void* target) {
  Wanted& wanted = *static_cast<Wanted*>(target);
  const std::size_t noted = reader.noted();
  detail::ScriptedKey key;
  // In a script a key needs a name, by which the script refers to it.
  const bool has_name = !node.value.is_object() || node.find("name");
  Json with_name = node.value;
  if (!has_name) with_name["name"] = "unnamed";
  reader.read_object({with_name, node.pointer}, *detail::script_types::keys().table, &key);
  if (reader.noted() > noted) return;
  if (!has_name) key.name.clear();
  if (key.secret()) {
    bool is_taken = wanted.store.knows(*key.secret());
    for (const detail::ScriptedKey& other : wanted.keys) is_taken = is_taken || other.secret() == key.secret();
    if (is_taken)
      detail::script_reading::fail(node.at("secret"),
                                   "another key has this secret, or had it; choose another, or leave it out to have "
                                   "one made up");
  }
  wanted.keys.push_back(std::move(key));
}

ControlAnswer create_key(Control& control, const ControlRequest& request) {
  const ControlBody body(request.body.empty() ? "{}" : request.body);
  Reading reading(body);
  Wanted wanted{{}, *control.state().keys};
  const detail::ScriptNode root{body.value(), ""};
  const bool is_list = body.value().is_object() && root.find("keys");
  if (is_list) {
    body.require_keys({"keys"});
    reading.reader().guarded(
        root.at("keys"),
        [](detail::ScriptReader& reader, const detail::ScriptNode& node, void* target) {
          reader.read_list(node, &read_key, target);
        },
        &wanted);
  } else {
    reading.reader().guarded(root, &read_key, &wanted);
  }
  reading.require_no_problem();
  const Keys keys = control.gateway().keys();
  Json created = Json::array();
  for (const detail::ScriptedKey& one : wanted.keys) {
    const CreatedKey made = keys.create(one.name, one.options);
    Json json = key_json(control, keys.find(made.id));
    json["secret"] = made.secret;
    created.push_back(std::move(json));
  }
  if (is_list) return {201, Json{{"keys", std::move(created)}}};
  return {201, std::move(created.front())};
}

/// A change of a key; nothing stays as it is.
struct Change {
  std::optional<std::string> name;
  std::optional<std::vector<std::string>> models;
  std::optional<std::vector<Operation>> operations;
  std::optional<std::optional<RateLimit>> limit;
  std::optional<std::optional<TokenLimit>> limit_tokens;
};

void read_name(detail::ScriptReader&, const detail::ScriptNode& node, void* target) {
  static_cast<Change*>(target)->name = node.value.is_null() ? std::string() : detail::script_values::key_name(node);
}

void read_models(detail::ScriptReader& reader, const detail::ScriptNode& node, void* target) {
  auto& models = static_cast<Change*>(target)->models.emplace();
  if (!node.value.is_null()) models = detail::read_value<std::vector<std::string>>(reader, node);
}

void read_operations(detail::ScriptReader& reader, const detail::ScriptNode& node, void* target) {
  auto& operations = static_cast<Change*>(target)->operations.emplace();
  if (!node.value.is_null()) operations = detail::read_value<std::vector<Operation>>(reader, node);
}

void read_limit(detail::ScriptReader& reader, const detail::ScriptNode& node, void* target) {
  auto& limit = static_cast<Change*>(target)->limit.emplace();
  if (!node.value.is_null()) limit = detail::script_values::require_limit(reader, node);
}

void read_limit_tokens(detail::ScriptReader& reader, const detail::ScriptNode& node, void* target) {
  auto& limit = static_cast<Change*>(target)->limit_tokens.emplace();
  if (!node.value.is_null()) limit = detail::script_values::require_token_limit(reader, node);
}

ControlAnswer change(Control& control, const ControlRequest& request) {
  const std::string id = living_key(control, request).id;
  const ControlBody body(request.body);
  body.require_keys({"name", "models", "operations", "limit", "limit_tokens"});
  Reading reading(body);
  Change changed;
  const detail::ScriptNode root{body.value(), ""};
  using ReadMember = void (*)(detail::ScriptReader&, const detail::ScriptNode&, void*);
  const std::pair<const char*, ReadMember> members[] = {{"name", &read_name},
                                                        {"models", &read_models},
                                                        {"operations", &read_operations},
                                                        {"limit", &read_limit},
                                                        {"limit_tokens", &read_limit_tokens}};
  for (const auto& [key, read] : members)
    if (root.find(key)) reading.reader().guarded(root.at(key), read, &changed);
  reading.require_no_problem();
  const Keys keys = control.gateway().keys();
  if (changed.name) keys.set_description(id, *changed.name);
  if (changed.models) keys.limit_models(id, *changed.models);
  if (changed.operations) keys.limit_operations(id, *changed.operations);
  if (changed.limit && *changed.limit) keys.limit_rate(id, (*changed.limit)->requests, (*changed.limit)->window);
  if (changed.limit && !*changed.limit) keys.unlimit_rate(id);
  if (const auto& limit = changed.limit_tokens; limit && *limit)
    keys.limit_tokens(id, (*limit)->tokens, (*limit)->window);
  if (changed.limit_tokens && !*changed.limit_tokens) keys.unlimit_tokens(id);
  return {200, key_json(control, keys.find(id))};
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
      throw request.invalid("/requests", "expected for how many of its requests, at least 1");
    keys.disable_for(id, requests.get<std::size_t>());
  }
  return {200, key_json(control, keys.find(id))};
}

ControlAnswer show_limit(Control& control, const ControlRequest&) {
  const detail::KeyStore& keys = *control.state().keys;
  return {200,
          Json{{"limit", limit_json(keys.limit_for_all())}, {"limit_tokens", limit_json(keys.limit_tokens_for_all())}}};
}

ControlAnswer put_limit(Control& control, const ControlRequest& request) {
  const ControlBody body(request.body);
  body.require_keys({"limit", "limit_tokens"});
  Reading reading(body);
  Change changed;
  const detail::ScriptNode root{body.value(), ""};
  if (!root.find("limit") && !root.find("limit_tokens"))
    throw body.error({"", R"("limit" or "limit_tokens" is missing, such as {"limit": "60/1m"} or )"
                          R"({"limit_tokens": "6000/1m"}, or null for none)"});
  if (root.find("limit")) reading.reader().guarded(root.at("limit"), &read_limit, &changed);
  if (root.find("limit_tokens")) reading.reader().guarded(root.at("limit_tokens"), &read_limit_tokens, &changed);
  reading.require_no_problem();
  const Keys keys = control.gateway().keys();
  if (const auto& limit = changed.limit; limit && *limit) keys.limit_rate_for_all((*limit)->requests, (*limit)->window);
  if (changed.limit && !*changed.limit) keys.unlimit_rate_for_all();
  if (const auto& limit = changed.limit_tokens; limit && *limit)
    keys.limit_tokens_for_all((*limit)->tokens, (*limit)->window);
  if (changed.limit_tokens && !*changed.limit_tokens) keys.unlimit_tokens_for_all();
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
      {"POST", "/keys", {}, &create_key, "a scope has one key, its own; leave it out, and others are made"},
      {"GET", "/keys/{id}", {"scope"}, &show_key},
      {"GET", "/keys/{id}/secret", {}, &show_secret, "only the secret of the default key is shown"},
      {"PATCH", "/keys/{id}", {"scope"}, &change},
      {"DELETE", "/keys/{id}", {"scope"}, &turn<&Keys::remove>},
      {"POST", "/keys/{id}/disable", {"scope"}, &disable},
      {"POST", "/keys/{id}/enable", {"scope"}, &turn<&Keys::enable>},
      {"GET", "/limit", {}, &show_limit, of_all_keys},
      {"PUT", "/limit", {}, &put_limit, of_all_keys},
  };
}

}  // namespace endpoint
}  // namespace mock_gateway
