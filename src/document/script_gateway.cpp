// The script keys of `gateway` and of `keys`.

#include <iterator>  // size
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../core/access.hpp"
#include "../core/text.hpp"
#include "../evidence/review_parts.hpp"
#include "../gateway/option_values.hpp"
#include "../keys/key_store.hpp"
#include "../request/service_rules.hpp"
#include "script_sections.hpp"
#include "script_values.hpp"

namespace mock_gateway::detail {
namespace script_types {

Options& options_of(void* target) { return *static_cast<Options*>(target); }

ScriptedKey& key_of(void* target) { return *static_cast<ScriptedKey*>(target); }

KeyOptions& key_options_of(void* target) { return key_of(target).options; }

inline constexpr ScriptRow model_rows[] = {
    {"id", &text, "its id", nullptr, true, R"("minLength":1)"},
    {"owner", &text, "`owned_by`; mock_gateway unless set", nullptr},
    {"context_window", &positive,
     "the most tokens of a prompt and its `max_tokens` together, beyond them 400; no limit unless set", nullptr},
};
inline constexpr ScriptTable model_table{"model", model_rows, std::size(model_rows)};

ScriptType models() {
  return {"list of ids or objects, or \"any\"",
          R"({"anyOf":[{"const":"any"},{"type":"array","items":{"anyOf":[{"type":"string","minLength":1},"$rows"]}}]})",
          &model_table};
}

/// The models of the options. They are changed in place, because the setter would copy all options for each model.
struct ModelList {
  std::vector<wire::Model>& models;
  std::set<std::string> ids;
};

wire::Model& append_model(ModelList& list, const ScriptNode& its_id) {
  const std::string& id = script_values::text_of(its_id);
  if (id.empty()) script_reading::fail(its_id, "a model's id must not be empty");
  if (!list.ids.insert(id).second)
    script_reading::fail(its_id, "the model \"" + text::printable(id, 60) + "\" occurs twice");
  wire::Model& added = list.models.emplace_back();
  added.id = id;
  return added;
}

void add_model(ScriptReader& reader, const ScriptNode& node, void* target) {
  auto& list = *static_cast<ModelList*>(target);
  if (node.value.is_string()) return static_cast<void>(append_model(list, node));
  if (!node.value.is_object())
    script_reading::fail_expected(node, "a model's id, or an object such as {\"id\": \"fast\"}");
  reader.read_strictly(node, model_table);
  wire::Model& added = append_model(list, node.at("id"));
  if (node.find("owner")) added.owner = script_values::text_of(node.at("owner"));
  if (node.find("context_window")) added.context_window = read_value<std::size_t>(reader, node.at("context_window"));
}

void set_models(ScriptReader& reader, const ScriptNode& node, void* target) {
  if (node.value == "any") {
    options_of(target) = options_of(target).any_model();
    return;
  }
  if (!node.value.is_array()) script_reading::fail_expected(node, "a list of models, or \"any\"");
  ModelList list{Access::edit(options_of(target)).models, {}};
  for (const wire::Model& model : list.models) list.ids.insert(model.id);
  reader.read_list(node, &add_model, &list);
}

/// `options_in` returns the options in a row's target: those of the gateway or of a key.
template <auto options_in>
void set_limit(ScriptReader& reader, const ScriptNode& node, void* target) {
  const RateLimit limit = read_value<RateLimit>(reader, node);
  auto& options = options_in(target);
  options = options.limit(limit.requests, limit.window);
}

template <auto options_in>
void set_limit_tokens(ScriptReader& reader, const ScriptNode& node, void* target) {
  const TokenLimit limit = read_value<TokenLimit>(reader, node);
  auto& options = options_in(target);
  options = options.limit_tokens(limit.tokens, limit.window);
}

void set_key_limit_concurrent(ScriptReader& reader, const ScriptNode& node, void* target) {
  SetBy<&KeyOptions::limit_concurrent>::apply(reader, node, &key_options_of(target));
}

void set_seed(ScriptReader& reader, const ScriptNode& node, void* target) {
  options_of(target) = options_of(target).seed(read_value<std::size_t>(reader, node));
}

ScriptType clock() { return {"\"real\", \"instant\" or \"manual\"", R"({"enum":["real","instant","manual"]})"}; }

void set_clock(ScriptReader&, const ScriptNode& node, void* target) {
  Options& options = options_of(target);
  switch (script_values::one_of(node, {"real", "instant", "manual"})) {
    case 0: options = options.clock(RealClock()); return;
    case 1: options = options.clock(InstantClock()); return;
    default: options = options.clock(ManualClock()); return;
  }
}

ScriptType profile() { return {"name of a profile", R"({"enum":"$names"})", nullptr, &profile_names}; }

void set_profile(ScriptReader&, const ScriptNode& node, void* target) {
  script_values::one_of(node, profile_names());
  options_of(target) = options_of(target).profile(profile_named(script_values::text_of(node)));
}

ScriptType enforced() {
  return {"name of a profile with rules", R"({"enum":"$names"})", nullptr, &service_rules::services};
}

void set_enforce(ScriptReader&, const ScriptNode& node, void* target) {
  script_values::one_of(node, service_rules::services());
  options_of(target) = options_of(target).enforce(profile_named(script_values::text_of(node)));
}

ScriptType unmatched() {
  return {"\"fails_verification\", \"allowed\" or \"gets_default_reply\"",
          R"({"enum":["fails_verification","allowed","gets_default_reply"]})"};
}

void set_unmatched(ScriptReader&, const ScriptNode& node, void* target) {
  constexpr Unmatched policies[] = {Unmatched::fails_verification, Unmatched::allowed, Unmatched::gets_default_reply};
  const std::size_t policy = script_values::one_of(node, {"fails_verification", "allowed", "gets_default_reply"});
  options_of(target) = options_of(target).unmatched(policies[policy]);
}

inline constexpr ScriptRow journal_rows[] = {
    {"entries", &positive, "how many exchanges it keeps; 10000 without journal_limits", nullptr, true},
    {"bytes", &positive, "how many bytes of requests it keeps; 64 MiB without journal_limits", nullptr, true},
};
inline constexpr ScriptTable journal_table{"journal_limits", journal_rows, std::size(journal_rows)};

ScriptType journal_limits() { return {"object", nullptr, &journal_table}; }

void set_journal_limits(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_strictly(node, journal_table);
  options_of(target) = options_of(target).journal_limits(read_value<std::size_t>(reader, node.at("entries")),
                                                         read_value<std::size_t>(reader, node.at("bytes")));
}

void add_without_finding(ScriptReader&, const ScriptNode& node, void* target) {
  const std::string& code = script_values::text_of(node);
  require_finding_code(code);
  Access::edit(options_of(target)).without_findings.push_back(code);  // in place, as in ModelList
}

ScriptType origins() {
  return {"list of origins",
          R"({"type":"array","items":{"type":"string","pattern":"^([*]|null|[^/?#@\\s]+://[^/?#@\\s]+)$"}})"};
}

ScriptType header_names() {
  return {"list of header names",
          R"({"type":"array","items":{"type":"string","pattern":"^[-!#$%&'*+.^_`|~0-9A-Za-z]+$"}})"};
}

ScriptType base_paths() {
  return {"list of paths", R"({"type":"array","items":{"type":"string","pattern":"^(/|(/[^/?#{}*\\s\"]+)+)$"}})"};
}

template <Options (Options::*Setter)(std::string) const>
void add_text(ScriptReader&, const ScriptNode& node, void* target) {
  options_of(target) = (options_of(target).*Setter)(script_values::text_of(node));
}

void set_api_key(ScriptReader&, const ScriptNode& node, void* target) {
  key_store::require_secret(script_values::text_of(node));
  options_of(target) = options_of(target).api_key(script_values::text_of(node));
}

template <auto Setter>
void set_timeout(ScriptReader& reader, const ScriptNode& node, void* target) {
  const auto time = read_value<std::optional<Duration>>(reader, node);
  if (time && *time <= Duration{0}) script_reading::fail(node, "expected a time longer than 0");
  SetBy<Setter>::apply(reader, node, target);
}

void set_gateway_pace(ScriptReader& reader, const ScriptNode& node, void* target) {
  const Pace pace = read_value<Pace>(reader, node);
  if (pace.chunking() && pace.chunking()->kind() == Chunking::Kind::pieces)
    script_reading::fail(node.at("chunked"), "\"pieces\" fit only one reply: set them there");
  options_of(target) = options_of(target).pace(pace);
}

ScriptType default_key();
void set_default_key(ScriptReader& reader, const ScriptNode& node, void* target);

inline constexpr ScriptRow gateway_rows[] = {
    {"host", &text, "the address or name to listen on; 127.0.0.1 unless set", &SetBy<&Options::host>::apply, false,
     R"("minLength":1)"},
    {"port", &count, "the port to listen on; 0 takes a free one", &SetBy<&Options::port>::apply, false,
     R"("maximum":65535)"},
    {"models", &models, "the models that it serves; mock-model unless set (in the program: any model)", &set_models},
    {"api_key", &text, "the secret of the default key; generated unless set", &set_api_key, false,
     R"("pattern":"^(?!sk-$)[!-~]([ -~]*[!-~])?$")"},
    {"default_key", &default_key, "the limits, rights and states of the default key", &set_default_key},
    {"key_headers", &header_names, "headers that may carry a key without `Bearer`, beside Authorization",
     &script_values::apply_each<&add_text<&Options::key_header>>},
    {"key_required", &boolean, "false: a request without a key has the default key; true unless set",
     &SetBy<&Options::key_required>::apply},
    {"base_paths", &base_paths, "the paths in place of `/v1`, such as `/api/paas/v4` or `/`; `/v1` unless set",
     &script_values::apply_each<&add_text<&Options::base_path>>},
    {"limit", &rate_limit, "a rate limit that all keys share; none unless set", &set_limit<options_of>},
    {"limit_tokens", &token_limit, "a limit of tokens that all keys share, beside `limit`; none unless set",
     &set_limit_tokens<options_of>},
    {"limit_concurrent", &positive, "how many requests of all keys it answers at a time; no limit unless set",
     &SetBy<&Options::limit_concurrent>::apply},
    {"oversized_gets_413", &boolean,
     "whether a request for more tokens than the whole limit gets 413 instead of 429; false unless set",
     &SetBy<&Options::oversized_gets_413>::apply},
    {"seed", &count, "the seed of everything that is generated; 1 unless set", &set_seed},
    {"clock", &clock, "the clock of everything that is scripted; real unless set", &set_clock},
    {"profile", &profile, "which service's shapes replies and errors have; documented unless set", &set_profile},
    {"acceptance", &acceptance, "which requests to accept; unless set, the profile decides",
     &SetBy<&Options::acceptance>::apply},
    {"enforce", &enforced, "the service whose rules get its 400; none unless set", &set_enforce},
    {"pace", &pace, "how fast it answers; without delay unless set", &set_gateway_pace},
    {"max_n", &positive, "the largest `n` accepted; 128 unless set", &SetBy<&Options::max_n>::apply},
    {"max_body", &positive, "the largest request body in bytes; 16 MiB unless set", &SetBy<&Options::max_body>::apply},
    {"max_head", &positive, "the largest request head in bytes; 64 KiB unless set", &SetBy<&Options::max_head>::apply,
     false, R"("minimum":1024)"},
    {"journal_limits", &journal_limits, "how much the journal keeps", &set_journal_limits},
    {"embeddings", &boolean,
     "whether `POST /v1/embeddings` is served; unless set, true with profile openai, and in the program unless the "
     "profile is documented",
     &SetBy<&Options::embeddings>::apply},
    {"cors", &origins, "the origins of pages that may call it from a browser, or `*`",
     &script_values::apply_each<&add_text<&Options::cors>>},
    {"keep_answers", &boolean, "whether the journal keeps what was sent; false unless set",
     &SetBy<&Options::keep_answers>::apply},
    {"read_timeout", &duration, "how long an unfinished request may pause, in real time; 30s unless set",
     &set_timeout<&Options::read_timeout>},
    {"head_timeout", &duration, "how long a request head may take, in real time; 30s unless set",
     &set_timeout<&Options::head_timeout>},
    {"body_timeout", &duration, "how long a request body may take, in real time; 60s unless set, more for a large body",
     &set_timeout<&Options::body_timeout>},
    {"write_timeout", &duration, "how long the client may take no byte, in real time; 30s unless set",
     &set_timeout<&Options::write_timeout>},
    {"idle_timeout", &duration, "how long a connection may be idle, in real time; 75s unless set",
     &set_timeout<&Options::idle_timeout>},
    {"stall_guard", &duration_or_off,
     "how long an endless stall may last, in real time; 120s unless set, \"off\" in a `serve` that does not judge",
     &set_timeout<&Options::stall_guard>},
    {"unmatched", &unmatched, "what happens to requests that no stub answers; fails_verification unless set",
     &set_unmatched},
    {"without_findings", &texts, "codes that every review leaves out",
     &script_values::apply_each<&add_without_finding>},
};
inline constexpr ScriptTable gateway_table{"gateway", gateway_rows, std::size(gateway_rows)};

ScriptType gateway() { return {"object", nullptr, &gateway_table}; }

void set_key_secret(ScriptReader&, const ScriptNode& node, void* target) {
  key_store::require_secret(script_values::text_of(node));
  key_options_of(target) = key_options_of(target).secret(script_values::text_of(node));
}

ScriptType key_state() { return {"\"enabled\" or \"disabled\"", R"({"enum":["enabled","disabled"]})"}; }

KeyState state_of(const ScriptNode& node) {
  return script_values::one_of(node, {"enabled", "disabled"}) == 0 ? KeyState::enabled : KeyState::disabled;
}

void set_key_state(ScriptReader&, const ScriptNode& node, void* target) {
  key_options_of(target) = key_options_of(target).disabled(state_of(node) == KeyState::disabled);
}

inline constexpr ScriptRow key_step_rows[] = {
    {"state", &key_state, "the state", nullptr, true},
    {"requests", &positive, "for how many of its requests", nullptr, true},
};
inline constexpr ScriptTable key_step_table{"state_for", key_step_rows, std::size(key_step_rows)};

ScriptType key_steps() { return {"list of steps", R"({"type":"array","items":"$rows"})", &key_step_table}; }

void add_key_step(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_strictly(node, key_step_table);
  key_options_of(target) = key_options_of(target).state_for(state_of(node.at("state")),
                                                            read_value<std::size_t>(reader, node.at("requests")));
}

void set_key_name(ScriptReader&, const ScriptNode& node, void* target) {
  key_of(target).name = script_values::key_name(node);
}

void set_key_models(ScriptReader& reader, const ScriptNode& node, void* target) {
  auto models = read_value<std::vector<std::string>>(reader, node);
  for (std::size_t index = 0; index < models.size(); ++index)
    reader.refer(ScriptReference::Kind::model, models[index], node.element(index).pointer);
  key_options_of(target) = key_options_of(target).models(std::move(models));
}

void set_key_operations(ScriptReader& reader, const ScriptNode& node, void* target) {
  auto operations = read_value<std::vector<Operation>>(reader, node);
  for (std::size_t index = 0; index < operations.size(); ++index)
    reader.refer(ScriptReference::Kind::operation, operations[index].to_string(), node.element(index).pointer);
  key_options_of(target) = key_options_of(target).operations(std::move(operations));
}

void set_key_limit_group(ScriptReader&, const ScriptNode& node, void* target) {
  key_options_of(target) = key_options_of(target).limit_group(script_values::key_name(node));
}

ScriptType key_end() {
  return {"number of requests, a duration, or both",
          R"({"anyOf":[{"type":"integer","minimum":1},{"$ref":"#/$defs/duration"},)"
          R"({"type":"array","prefixItems":[{"type":"integer","minimum":1},{"$ref":"#/$defs/duration"}],)"
          R"("minItems":2,"maxItems":2}]})"};
}

void set_key_end(ScriptReader& reader, const ScriptNode& node, void* target) {
  KeyOptions& key = key_options_of(target);
  if (node.value.is_number()) {
    key = key.deleted_after(read_value<std::size_t>(reader, node));
  } else if (node.value.is_string()) {
    key = key.deleted_after(read_value<Duration>(reader, node));
  } else {
    script_values::require_list(node, 2, "a number of requests, a duration such as \"30m\", or both as [5, \"30m\"]");
    key = key.deleted_after(read_value<std::size_t>(reader, node.element(0)))
              .deleted_after(read_value<Duration>(reader, node.element(1)));
  }
}

inline constexpr ScriptRow key_rows[] = {
    {"name", &name_text, "its description, by which the document refers to it", &set_key_name, true,
     R"("minLength":1)"},
    {"secret", &text, "its secret; generated unless set", &set_key_secret, false,
     R"("pattern":"^(?!sk-$)[!-~]([ -~]*[!-~])?$")"},
    {"state", &key_state, "enabled unless set", &set_key_state},
    {"state_for", &key_steps, "its earlier states, each for a number of its requests",
     &script_values::apply_each<&add_key_step>},
    {"models", &texts, "the models that it may use; unless set, all", &set_key_models},
    {"operations", &operations, "the operations that it may use; unless set, all", &set_key_operations},
    {"limit", &rate_limit, "its limit", &set_limit<key_options_of>},
    {"limit_tokens", &token_limit, "its limit of tokens", &set_limit_tokens<key_options_of>},
    {"limit_concurrent", &positive, "how many of its requests are answered at a time; unless set, any number",
     &set_key_limit_concurrent},
    {"limit_group", &name_text, "the keys of one group count together against their limits", &set_key_limit_group,
     false, R"("minLength":1)"},
    {"deleted_after", &key_end, "it is deleted after that many of its requests, or that time since the first one",
     &set_key_end},
};
inline constexpr ScriptTable key_table{"key", key_rows, std::size(key_rows)};

// Without `name` and `secret`.
inline constexpr ScriptTable default_key_table{"default_key", key_rows + 2, std::size(key_rows) - 2};

ScriptType default_key() { return {"object", nullptr, &default_key_table}; }

void set_default_key(ScriptReader& reader, const ScriptNode& node, void* target) {
  ScriptedKey key;
  reader.read_object(node, default_key_table, &key);
  options_of(target) = options_of(target).default_key(key.options);
}

ScriptType keys() { return {"list of keys", R"({"type":"array","items":"$rows"})", &key_table}; }

void add_key(ScriptReader& reader, const ScriptNode& node, void* target) {
  ScriptedKey key;
  reader.read_object(node, key_table, &key);
  auto& plan = *static_cast<ScriptPlan*>(target);
  if (!key.name.empty() && !plan.taken.insert({"name", key.name}).second)
    script_reading::fail(node, "two keys have the name \"" + text::printable(key.name, 60) + "\"");
  if (key.secret() && !plan.taken.insert({"secret", *key.secret()}).second)
    script_reading::fail(node.at("secret"), "another key has this secret");
  plan.keys.push_back(std::move(key));
}

}  // namespace script_types

void read_gateway(ScriptReader& reader, const ScriptNode& node, Options& options) {
  const std::size_t noted = reader.noted();
  reader.read_object(node, script_types::gateway_table, &options);
  if (reader.noted() == noted) require_valid(Access::data(options));
}

}  // namespace mock_gateway::detail
