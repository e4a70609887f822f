// Request bodies of the control API as JSON and as scripts: how they are read, and what a scope disallows.

#include <algorithm>

#include "../core/access.hpp"
#include "../document/script_sections.hpp"
#include "../document/script_values.hpp"
#include "../keys/key_store.hpp"
#include "../serve/gateway_state.hpp"
#include "internal.hpp"

namespace mock_gateway::internal {
namespace {

using detail::Access;
using detail::ScriptNode;
using detail::ScriptReader;

using Read = void (*)(ScriptReader& reader, const ScriptNode& node, void* target);

void take_label_off(Problems& problems, const std::string& label) {
  for (ScriptProblem& problem : problems)
    if (problem.file == label) problem.file.clear();
}

struct WantedKeys {
  std::vector<detail::ScriptedKey> keys;
  const detail::KeyStore& store;
};

void read_key(ScriptReader& reader, const ScriptNode& node, void* target) {
  WantedKeys& wanted = *static_cast<WantedKeys*>(target);
  const std::size_t noted = reader.noted();
  detail::ScriptedKey key;
  // The reader requires a name, because scripts refer to keys by name. The control API does not.
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
      detail::script_reading::fail(
          node.at("secret"),
          "another key has or had this secret; choose another, or leave it out to have one generated");
  }
  wanted.keys.push_back(std::move(key));
}

void read_keys(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_list(node, &read_key, target);
}

/// The settings of a key to change. Empty members leave a setting unchanged.
struct KeyChange {
  std::optional<std::string> name;
  std::optional<std::vector<std::string>> models;
  std::optional<std::vector<Operation>> operations;
  std::optional<std::optional<RateLimit>> limit;
  std::optional<std::optional<TokenLimit>> limit_tokens;
  std::optional<std::optional<std::size_t>> limit_concurrent;
};

std::string name_of_key(ScriptReader&, const ScriptNode& node) { return detail::script_values::key_name(node); }

std::size_t concurrent_requests(ScriptReader& reader, const ScriptNode& node) {
  const auto requests = detail::read_value<std::size_t>(reader, node);
  if (requests == 0) detail::script_reading::fail_expected(node, "a whole number of at least 1");
  return requests;
}

/// Reads a value into an optional of `Value`. JSON null becomes a default `Value`.
template <class Value, auto Read>
void read_unless_null(ScriptReader& reader, const ScriptNode& node, void* target) {
  Value& value = static_cast<std::optional<Value>*>(target)->emplace();
  if (!node.value.is_null()) value = Read(reader, node);
}

void read_when(ScriptReader& reader, const ScriptNode& node, void* target) {
  *static_cast<std::vector<Matcher>*>(target) = detail::read_matchers(reader, node);
}

void read_step(ScriptReader& reader, const ScriptNode& node, void* target) {
  detail::ReplyStep& step = *static_cast<detail::ReplyStep*>(target);
  step = detail::read_reply(reader, node);
  if (step.asks) detail::script_reading::fail(node, "this answers an \"ask\": give the reply itself");
}

/// A body as the only entry of a section of a script document, or as the whole section.
class Wrapped {
 public:
  Wrapped(detail::ScriptSource& source, Json value, const std::string& section) : value_(std::move(value)) {
    if (value_.is_object() && value_.contains(section)) {
      if (!value_.contains("mock_gateway")) value_["mock_gateway"] = 1;
      return;
    }
    prefix_ = "/" + section + "/0";
    std::map<std::string, detail::JsonPlace> places;
    for (auto& [pointer, place] : source.places) {
      place.pointer = prefix_ + pointer;
      places.emplace(place.pointer, place);
    }
    source.places = std::move(places);
    Json entries = Json::array();
    entries.push_back(std::move(value_));
    value_ = Json{{"mock_gateway", 1}};
    value_[section] = std::move(entries);
  }

  const Json& value() const { return value_; }
  void unwrap(ScriptProblem& problem) const {
    if (problem.pointer.compare(0, prefix_.size(), prefix_) == 0) problem.pointer.erase(0, prefix_.size());
  }

 private:
  Json value_;
  std::string prefix_;
};

void refuse_gateway(const Json& document, ScriptReader& reader) {
  if (!document.is_object() || !document.contains("gateway")) return;
  reader.note({"/gateway",
               "this says how a gateway starts, but this gateway is already running: give it to the program with "
               "--script, or leave it "
               "out",
               true});
}

/// Restricts stubs, failures and chaos rules to a scope: they only affect requests with the scope's key. The scope has
/// its own state machines.
void put_into_scope(detail::ScriptPlan& plan, const Json& document, const ScriptTextOptions& options,
                    ScriptReader& reader) {
  const Json stubs = document.value("stubs", Json::array());
  for (std::size_t index = 0; stubs.is_array() && index < stubs.size(); ++index) {
    const Json& stub = stubs[index];
    if (stub.is_object() && stub.contains("when") && stub["when"].is_object() && stub["when"].contains("key_is"))
      reader.note({"/stubs/" + std::to_string(index) + "/when/key_is",
                   "?scope= says whose requests the stub answers; leave \"key_is\" out, or the scope", true});
  }
  for (detail::StubPlan& stub : plan.stubs) {
    stub.matchers.insert(stub.matchers.begin(), key_is(options.scope));
    for (auto* states : {&stub.in_states, &stub.then_states})
      for (detail::MachineState& state : *states) state.machine = options.machine_prefix + state.machine;
  }
  for (Chaos& rule : plan.chaos) rule = rule.when(key_is(options.scope));
  for (std::size_t index = 0; index < plan.failures.size(); ++index) {
    detail::ScriptedFailure& failure = plan.failures[index];
    if (!failure.key.empty() || failure.scope.kind() != FailureScope::Kind::all)
      reader.note({"/failures/" + std::to_string(index) + "/for",
                   "?scope= says which key gets the failure; leave \"for\" out, or the scope", true});
    failure.scope = for_key(options.scope);
  }
}

/// Notes keys of the document that conflict with keys of the gateway. After a conflict, nothing is mounted.
void require_no_conflict(const detail::KeyStore& store, const detail::ScriptPlan& plan, std::uint64_t replaces,
                         ScriptReader& reader) {
  const std::vector<std::string> conflicts = store.conflicts(plan.keys, replaces);
  for (std::size_t index = 0; index < conflicts.size(); ++index)
    if (!conflicts[index].empty()) reader.note({"/keys/" + std::to_string(index) + "/secret", conflicts[index]});
}

const char* heading_of(const std::string& section) {
  if (section == "stubs") return "a stub cannot be mounted";
  if (section == "failures") return "a failure cannot be mounted";
  if (section == "chaos") return "a rule of chaos cannot be mounted";
  if (section == "connections") return "a fault of connections cannot be mounted";
  if (section == "operations") return "an operation cannot be mounted";
  return "a script cannot be served";
}

}  // namespace

JsonText::JsonText(const std::string& text, const std::string& label, Problems& problems)
    : source_(std::make_shared<detail::ScriptSource>(detail::ScriptSource{label, text, {}})) {
  detail::script_files::parse(*source_, value_, problems, detail::JsonReadOptions().max_values);
  take_label_off(problems, label);
}

ScriptProblem JsonText::problem(const std::string& pointer, const std::string& message, bool of_key) const {
  Problems problems{source_->problem(Severity::error, {pointer, message, of_key})};
  take_label_off(problems, source_->file);
  return problems.front();
}

std::optional<ScriptProblem> JsonText::unknown_key(const std::vector<std::string>& keys) const {
  if (!value_.is_object()) return problem("", "expected an object, got " + detail::script_reading::kind_of(value_));
  for (const auto& [key, member] : value_.get_ref<const Json::object_t&>()) {
    if (detail::script_reading::is_remark(key) || std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    return problem(ScriptNode{value_, ""}.member(key, member).pointer,
                   "unknown key \"" + printable(key, 60) + "\"" +
                       (keys.empty() ? "; this route takes none" : suggestion(key, keys)),
                   true);
  }
  return std::nullopt;
}

std::vector<Matcher> JsonText::matchers(Problems& problems) const {
  std::vector<Matcher> matchers;
  Gates gates;
  ScriptReader reader(*source_, problems, gates);
  reader.guarded(ScriptNode{value_, ""}.at("when"), &read_when, &matchers);
  take_label_off(problems, source_->file);
  return matchers;
}

std::vector<CreatedKey> JsonText::create_keys(const Gateway& gateway, Problems& problems) const {
  Gates gates;
  ScriptReader reader(*source_, problems, gates);
  const ScriptNode root{value_, ""};
  WantedKeys wanted{{}, *Access::serving(gateway)->keys};
  if (value_.is_object() && root.find("keys"))
    reader.guarded(root.at("keys"), &read_keys, &wanted);
  else
    reader.guarded(root, &read_key, &wanted);
  take_label_off(problems, source_->file);
  std::vector<CreatedKey> created;
  if (!problems.empty()) return created;
  for (const detail::ScriptedKey& one : wanted.keys) created.push_back(gateway.keys().create(one.name, one.options));
  return created;
}

void JsonText::change_key(const Gateway& gateway, const std::string& id, Problems& problems) const {
  Gates gates;
  ScriptReader reader(*source_, problems, gates);
  const ScriptNode root{value_, ""};
  KeyChange change;
  using Models = std::vector<std::string>;
  using Operations = std::vector<Operation>;
  const auto read = [&](const char* name, Read its_read, void* target) {
    if (root.find(name)) reader.guarded(root.at(name), its_read, target);
  };
  read("name", &read_unless_null<std::string, &name_of_key>, &change.name);
  read("models", &read_unless_null<Models, &detail::read_value<Models>>, &change.models);
  read("operations", &read_unless_null<Operations, &detail::read_value<Operations>>, &change.operations);
  read("limit", &read_unless_null<std::optional<RateLimit>, &detail::read_value<RateLimit>>, &change.limit);
  read("limit_tokens", &read_unless_null<std::optional<TokenLimit>, &detail::read_value<TokenLimit>>,
       &change.limit_tokens);
  read("limit_concurrent", &read_unless_null<std::optional<std::size_t>, &concurrent_requests>,
       &change.limit_concurrent);
  take_label_off(problems, source_->file);
  if (!problems.empty()) return;
  const Keys keys = gateway.keys();
  if (change.name) keys.set_description(id, *change.name);
  if (change.models) keys.limit_models(id, *change.models);
  if (change.operations) keys.limit_operations(id, *change.operations);
  detail::KeyStore& store = *Access::serving(gateway)->keys;
  const std::string* const limited = id.empty() ? nullptr : &id;
  if (change.limit) store.set_limit(limited, *change.limit);
  if (change.limit_tokens) store.set_limit(limited, *change.limit_tokens);
  if (change.limit_concurrent) store.set_limit(limited, *change.limit_concurrent);
}

std::shared_ptr<const detail::ReplyStep> JsonText::reply(Gates& gates, Problems& problems) const {
  const auto step = std::make_shared<detail::ReplyStep>();
  ScriptReader reader(*source_, problems, gates);
  reader.guarded(ScriptNode{value_, ""}.at("reply"), &read_step, step.get());
  take_label_off(problems, source_->file);
  return step;
}

ScriptText JsonText::script(const Gateway& gateway, const ScriptTextOptions& options, Gates& gates) const {
  detail::ScriptSource source = *source_;
  const bool is_whole = *options.section == '\0';
  std::optional<Wrapped> wrapped;
  if (!is_whole) wrapped.emplace(source, value_, options.section);
  const Json& document = wrapped ? wrapped->value() : value_;

  const detail::GatewayState& state = *Access::serving(gateway);
  const auto plan = std::make_shared<detail::ScriptPlan>();
  plan->gates = gates;
  Problems problems;
  ScriptReader reader(source, problems, plan->gates);
  detail::script_documents::read_whole(reader, document, *plan);
  // A later call may mount a stub that sets a state, so a single stub with an unknown state is no mistake.
  if (problems.empty()) detail::script_references::resolve(*plan, problems, is_whole);
  refuse_gateway(document, reader);
  if (!options.scope.empty()) put_into_scope(*plan, document, options, reader);
  for (ScriptProblem& missing : detail::script_references::missing_keys(*plan, *state.keys, options.replaces))
    problems.push_back(std::move(missing));
  require_no_conflict(*state.keys, *plan, options.replaces, reader);

  ScriptText text;
  if (wrapped) {
    for (ScriptProblem& problem : problems) wrapped->unwrap(problem);
    for (detail::OpenReference& open : plan->open_references) wrapped->unwrap(open.place);
  }
  take_label_off(problems, source.file);
  for (detail::OpenReference& open : plan->open_references)
    if (open.place.file == source.file) open.place.file.clear();
  for (ScriptProblem& problem : problems)
    (problem.severity == Severity::error ? text.errors : plan->warnings).push_back(std::move(problem));
  if (!text.errors.empty()) {
    text.message = detail::script_documents::text_of(text.errors, heading_of(options.section));
    return text;
  }
  gates.insert(plan->gates.begin(), plan->gates.end());
  if (!is_whole) text.entries = document[options.section].size();
  text.document.emplace(Access::make<ScriptDocument>(std::shared_ptr<const detail::ScriptPlan>(plan)));
  return text;
}

}  // namespace mock_gateway::internal
