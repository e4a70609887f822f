// Reading, mounting and replacing scripts; what a replacement keeps; how a problem prints.

#include "script_document.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "../core/access.hpp"
#include "../core/json_pointer.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"
#include "../evidence/record.hpp"
#include "../gateway/gateway.hpp"
#include "../gateway/option_values.hpp"
#include "../keys/keys.hpp"
#include "../serve/gateway_state.hpp"
#include "script_sections.hpp"
#include "script_values.hpp"

namespace mock_gateway {
namespace detail {

namespace script_documents {

[[noreturn]] void fail_without(const std::string& what, const std::string& name,
                               const std::vector<std::string>& known) {
  throw GatewayError("the script has no " + what + " \"" + text::printable(name, 60) + "\"" +
                     script_reading::suggestion(name, known));
}

std::string text_of(std::vector<ScriptProblem>& problems, const std::string& heading) {
  constexpr std::size_t most = script_reading::most_problems;
  std::string text = heading;
  if (problems.size() > most)
    text += "; the first " + text::counted(most, "problem") + " of more";
  else if (problems.size() > 1)
    text += "; " + text::counted(problems.size(), "problem");
  if (problems.size() > most) problems.erase(problems.begin() + most, problems.end());
  for (const ScriptProblem& problem : problems) text += "\n" + problem.to_string();
  return text;
}

/// Returns a part that JSON text cannot represent, such as invalid UTF-8. Its message is empty if there is none.
ScriptProblem unreadable_part(const Json& value, const std::string& pointer) {
  ScriptProblem problem;
  problem.pointer = pointer;
  if (value.is_binary() || value.is_discarded()) problem.message = "this is not JSON";
  if (value.is_number_float() && !std::isfinite(value.get<double>())) problem.message = "JSON has no such number";
  if (value.is_string() && !text::is_valid_utf8(value.get_ref<const std::string&>()))
    problem.message = "the string is not UTF-8";
  if (value.is_array()) {
    for (std::size_t index = 0; index < value.size() && problem.message.empty(); ++index)
      problem = unreadable_part(value[index], pointer + "/" + std::to_string(index));
  }
  if (value.is_object()) {
    for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
      if (!text::is_valid_utf8(key)) problem.message = "a key is not UTF-8";
      if (problem.message.empty()) problem = unreadable_part(member, pointer + json_pointer::token(key));
      if (!problem.message.empty()) break;
    }
  }
  return problem;
}

void read_whole(ScriptReader& reader, const Json& document, ScriptPlan& plan) {
  const ScriptNode root{document, ""};
  if (!document.is_object() || !document.contains("mock_gateway")) {
    const std::string foreign = script_files::foreign_format(document);
    if (!foreign.empty())
      return reader.note({"", "this looks like " + foreign + "; it is not a script of mock_gateway"});
    if (document.is_object())
      return reader.note({"", "not a script of mock_gateway: a script begins with {\"mock_gateway\": 1, …}"});
  }
  reader.guarded(root, &read_document, &plan);
}

void add(const ScriptSource& source, const Json& document, ScriptPlan& plan, std::vector<ScriptProblem>& problems) {
  ScriptReader reader(source, problems, plan.gates);
  read_whole(reader, document, plan);
}

std::shared_ptr<const ScriptPlan> finish(std::shared_ptr<ScriptPlan> plan, std::vector<ScriptProblem> problems) {
  if (problems.empty()) script_references::resolve(*plan, problems);
  std::vector<ScriptProblem> errors;
  for (ScriptProblem& problem : problems)
    (problem.severity == Severity::error ? errors : plan->warnings).push_back(std::move(problem));
  if (!errors.empty()) throw ScriptError(std::move(errors));
  return plan;
}

void mount_operations(const ScriptPlan& plan, Operations& operations, LoadedDocument& loaded) {
  std::vector<Operations::Handled> all;
  for (const ScriptedOperation& one : plan.operations)
    all.push_back({{one.method, one.path},
                   [replies = one.replies, asked = std::make_shared<std::atomic<std::size_t>>(0)](
                       const ReceivedRequest&) { return replies[std::min(asked->fetch_add(1), replies.size() - 1)]; },
                   one.needs_key});
  operations.replace(std::move(all), loaded.owner);
  loaded.operations.clear();
  for (const ScriptedOperation& one : plan.operations) loaded.operations.push_back(operation(one.method, one.path));
}

void mount_failures(const ScriptPlan& plan, GatewayState& state, std::uint64_t owner) {
  std::map<std::string, std::string> ids;  // key ids by description; of equal descriptions, the first key counts
  for (const ApiKey& key : state.keys->list()) ids.try_emplace(key.description, key.id);
  state.failures.clear_of(owner);
  for (const ScriptedFailure& forced : plan.failures) {
    FailureScope scope = forced.scope;
    if (!forced.key.empty()) {
      const auto named = ids.find(forced.key);
      scope = for_key(named == ids.end() ? forced.key : named->second);
    }
    state.failures.add(forced.failure, forced.times, scope, owner);
  }
}

void mount_connection_faults(const ScriptPlan& plan, ConnectionFaults& faults, LoadedDocument& loaded) {
  faults.clear_of(loaded.owner);
  loaded.connection_faults.clear();
  for (const ScriptedConnectionFault& one : plan.connections) {
    loaded.connection_faults.push_back(one.times ? faults.add(one.fault, *one.times, one.where, loaded.owner) : 0);
    if (!one.times) faults.add_to_every(one.fault, loaded.owner);
  }
}

void place_connection_faults(const ScriptPlan& plan, ConnectionFaults& faults, const LoadedDocument& loaded) {
  std::map<std::uint64_t, SourceLocation> places;
  for (std::size_t index = 0; index < plan.connections.size(); ++index)
    places.emplace(loaded.connection_faults[index], plan.connections[index].where);
  faults.set_places(places);
}

/// Returns the stubs to mount. A stub with the same JSON as a mounted one keeps the mounted one.
std::vector<Script::BlockStub> block_of(const ScriptPlan& plan, const LoadedDocument& loaded) {
  std::map<std::string_view, Script::Stubs> earlier;  // mounted stubs by JSON; equal ones in reverse order
  for (std::size_t index = loaded.stubs.size(); index-- > 0;)
    if (!loaded.stubs[index]->removed()) earlier[*loaded.stubs[index]->plan().json].push_back(loaded.stubs[index]);
  const std::uint64_t newest_exchange = loaded.journal->newest_id();
  std::vector<Script::BlockStub> block;
  for (const StubPlan& stub : plan.stubs) {
    Script::BlockStub& one = block.emplace_back();
    const auto same = earlier.find(*stub.json);
    if (same != earlier.end() && !same->second.empty()) {
      one.kept = std::move(same->second.back());
      same->second.pop_back();
    }
    one.plan = stub;
    one.plan.newest_exchange = newest_exchange;
  }
  return block;
}

void mount(const std::shared_ptr<const ScriptPlan>& its_plan, GatewayState& state, LoadedDocument& loaded) {
  const ScriptPlan& plan = *its_plan;
  const std::lock_guard<std::mutex> lock(loaded.mutex);
  // If this document is mounted already, it stays valid even if one of its keys has been deleted since.
  if (loaded.plan.lock() != its_plan) {
    std::vector<ScriptProblem> missing = script_references::missing_keys(plan, *state.keys, loaded.owner);
    if (!missing.empty()) throw ScriptError(std::move(missing));
  }
  const auto changed = [&](const char* section) {
    const auto now = plan.sections.find(section);
    const auto before = loaded.sections.find(section);
    const std::string none;
    return (now == plan.sections.end() ? none : now->second) !=
           (before == loaded.sections.end() ? none : before->second);
  };
  // Keys come first: if they conflict, nothing else has been changed.
  if (changed("/keys")) state.keys->replace(plan.keys, loaded.owner);
  if (changed("/operations")) mount_operations(plan, state.operations, loaded);
  if (changed("/failures")) mount_failures(plan, state, loaded.owner);
  if (changed("/chaos")) {
    state.chaos->clear_of(loaded.owner);
    state.chaos->add(plan.chaos, loaded.owner);
  }
  if (changed("/connections"))
    mount_connection_faults(plan, *state.connection_faults, loaded);
  else
    place_connection_faults(plan, *state.connection_faults, loaded);
  if (changed("/states")) {
    for (const MachineState& one : plan.states) state.script->set_state(one.machine, one.state);
  }
  loaded.stubs = state.script->mount_block(block_of(plan, loaded), loaded.stubs, loaded.place);
  loaded.gates.insert(plan.gates.begin(), plan.gates.end());
  loaded.sections = plan.sections;
  loaded.plan = its_plan;
}

GatewayState& require_serving(const Gateway& gateway) {
  if (GatewayState* const state = Access::serving(gateway)) return *state;
  throw GatewayError("only the process that made a gateway can load a script into it");
}

}  // namespace script_documents

void LoadedDocument::forget(const std::vector<std::string>& cleared) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (const std::string& section : cleared) {
    sections.erase(section);
    if (section == "/stubs") place = 0;
  }
}

}  // namespace detail

std::string ScriptProblem::to_string() const {
  std::string text = file;
  if (line > 0) text += (text.empty() ? "" : ":") + std::to_string(line) + ":" + std::to_string(column);
  if (!text.empty()) text += ": ";
  if (severity == Severity::warning) text += "warning: ";
  if (!pointer.empty()) text += detail::text::printable(pointer, 200) + ": ";
  text += message;
  if (source.empty()) return text;
  // Of long lines, prints only the part around the position.
  constexpr std::size_t width = 120;
  std::size_t offset = 0;
  for (std::size_t at = source_column; at < column && offset < source.size(); ++at)
    offset += std::max<std::size_t>(detail::text::next_code_point(source, offset), 1);
  std::size_t begin = offset > width / 2 ? offset - width / 2 : 0;
  while (begin < offset && (static_cast<unsigned char>(source[begin]) & 0xc0U) == 0x80U) ++begin;
  const std::string before = detail::text::printable(std::string_view(source).substr(begin, offset - begin));
  const std::string shown =
      before + detail::text::printable(std::string_view(source).substr(offset), width - (offset - begin));
  const std::string mark = begin > 0 ? "… " : "";
  return text + "\n  " + mark + shown + "\n  " +
         std::string((begin > 0 ? 2 : 0) + detail::text::code_points(before), ' ') + "^";
}

ScriptError::ScriptError(std::vector<ScriptProblem> problems)
    : GatewayError(detail::script_documents::text_of(problems, "a script cannot be served")),
      problems_(detail::share<const std::vector<ScriptProblem>>(std::move(problems))) {}
ScriptError::ScriptError(const ScriptError&) = default;
ScriptError& ScriptError::operator=(const ScriptError&) = default;
ScriptError::~ScriptError() = default;

std::vector<Stub> LoadedScript::stubs() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  std::vector<Stub> stubs;
  for (const auto& stub : state_->stubs) stubs.emplace_back(stub, state_->script, state_->journal);
  return stubs;
}

Stub LoadedScript::stub(const std::string& name) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  std::vector<std::string> names;
  for (const auto& stub : state_->stubs) {
    if (stub->plan().name.empty()) continue;
    if (stub->plan().name == name) return Stub(stub, state_->script, state_->journal);
    names.push_back(stub->plan().name);
  }
  detail::script_documents::fail_without("stub", name, names);
}

Gate LoadedScript::gate(const std::string& name) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  std::vector<std::string> names;
  for (const auto& [known, gate] : state_->gates) {
    if (known == name) return gate;
    names.push_back(known);
  }
  detail::script_documents::fail_without("gate", name, names);
}

ScriptDocument ScriptDocument::read(const std::vector<std::string>& paths) { return read_again(paths, nullptr); }

ScriptDocument ScriptDocument::read(const std::vector<std::string>& paths, const LoadedScript& loaded) {
  return read_again(paths, loaded.state_.get());
}

ScriptDocument ScriptDocument::read_again(const std::vector<std::string>& paths, detail::LoadedDocument* loaded) {
  auto plan = detail::share<detail::ScriptPlan>();
  if (loaded) {
    const std::lock_guard<std::mutex> lock(loaded->mutex);
    plan->gates = loaded->gates;
  }
  std::vector<ScriptProblem> problems;
  plan->files = detail::script_files::expand(paths, problems);
  std::deque<detail::ScriptSource> sources;
  for (const std::string& file : plan->files) {
    detail::ScriptSource& source = sources.emplace_back();
    source.file = file;
    Json document;
    if (detail::script_files::read(file, source.text, problems) &&
        detail::script_files::parse(source, document, problems))
      detail::script_documents::add(source, document, *plan, problems);
  }
  return ScriptDocument(detail::script_documents::finish(std::move(plan), std::move(problems)));
}

ScriptDocument ScriptDocument::from_json(const Json& document) {
  auto plan = detail::share<detail::ScriptPlan>();
  std::vector<ScriptProblem> problems;
  const detail::ScriptSource source;
  ScriptProblem unreadable = detail::script_documents::unreadable_part(document, "");
  if (unreadable.message.empty()) {
    detail::script_documents::add(source, document, *plan, problems);
  } else {
    detail::script_reading::hide_keys(unreadable.pointer);
    problems.push_back(std::move(unreadable));
  }
  return ScriptDocument(detail::script_documents::finish(std::move(plan), std::move(problems)));
}

namespace detail {
namespace script_documents {

std::set<std::string> owned_models(const ScriptPlan& plan) {
  std::set<std::string> owned;
  for (const Json& gateway : plan.gateways) {
    const Json* const models = json_pointer::child(gateway, "models");
    for (std::size_t index = 0; models && models->is_array() && index < models->size(); ++index)
      if (const Json& entry = (*models)[index]; entry.is_object() && entry.contains("owner"))
        owned.insert(entry.value("id", ""));
  }
  return owned;
}

/// Joins the lists. A model in both lists gets the owner and context window that the document sets.
std::vector<wire::Model> joined_models(std::vector<wire::Model> models, const std::vector<wire::Model>& scripted,
                                       const ScriptPlan& plan) {
  const std::set<std::string> owned = owned_models(plan);
  std::map<std::string, std::size_t> places;
  for (std::size_t place = 0; place < models.size(); ++place) places.emplace(models[place].id, place);
  for (const wire::Model& model : scripted) {
    const auto [known, is_new] = places.try_emplace(model.id, models.size());
    if (is_new) {
      models.push_back(model);
      continue;
    }
    wire::Model& joined = models[known->second];
    if (owned.count(model.id) > 0) joined.owner = model.owner;
    if (model.context_window) joined.context_window = model.context_window;
  }
  return models;
}

}  // namespace script_documents
}  // namespace detail

Options ScriptDocument::options(Options base) const {
  std::vector<wire::Model> models;
  detail::Access::edit(base).models.swap(models);
  std::vector<ScriptProblem> problems;
  std::map<std::string, Gate> gates;
  const detail::ScriptSource source;
  detail::ScriptReader reader(source, problems, gates);
  for (const Json& gateway : plan_->gateways) detail::read_gateway(reader, {gateway, "/gateway"}, base);
  if (!problems.empty()) throw ScriptError(std::move(problems));
  auto& all = detail::Access::edit(base).models;
  all = detail::script_documents::joined_models(std::move(models), all, *plan_);
  for (const detail::ScriptedKey& key : plan_->keys) detail::Access::edit(base).keys.push_back({key.name, key.options});
  return base;
}

LoadedScript ScriptDocument::mount(Gateway& gateway) const {
  static std::atomic<std::uint64_t> owners{0};
  detail::GatewayState& state = detail::script_documents::require_serving(gateway);
  const auto loaded = detail::share<detail::LoadedDocument>();
  loaded->owner = ++owners;
  loaded->script = state.script;
  loaded->journal = state.journal;
  detail::script_documents::mount(plan_, state, *loaded);
  return LoadedScript(loaded);
}

void ScriptDocument::replace(Gateway& gateway, LoadedScript& loaded) const {
  detail::script_documents::mount(plan_, detail::script_documents::require_serving(gateway), *loaded.state_);
}

bool ScriptDocument::has_options() const { return !plan_->gateways.empty(); }
bool ScriptDocument::starts_like(const ScriptDocument& other) const { return plan_->gateways == other.plan_->gateways; }
const std::vector<ScriptProblem>& ScriptDocument::warnings() const& { return plan_->warnings; }
std::vector<ScriptProblem> ScriptDocument::warnings() && { return plan_->warnings; }
std::vector<ScriptProblem> ScriptDocument::warnings(const Gateway& gateway) const {
  std::vector<ScriptProblem> all = plan_->warnings;
  for (ScriptProblem& unknown :
       detail::script_references::unknown_names(*plan_, detail::script_documents::require_serving(gateway)))
    all.push_back(std::move(unknown));
  return all;
}

const std::vector<std::string>& ScriptDocument::files() const& { return plan_->files; }
std::vector<std::string> ScriptDocument::files() && { return plan_->files; }

namespace detail {
namespace script_documents {

LoadedScript load(const ScriptDocument& document, Gateway& gateway) {
  if (document.has_options())
    throw GatewayError(
        "\"gateway\" in a script says how a gateway starts, but this gateway is already running: construct it with "
        "Gateway(ScriptDocument::read({path}).options()), then mount the document");
  return document.mount(gateway);
}

}  // namespace script_documents
}  // namespace detail

LoadedScript Gateway::load(const std::string& path) {
  return detail::script_documents::load(ScriptDocument::read({path}), *this);
}

LoadedScript Gateway::load_json(const Json& document) {
  return detail::script_documents::load(ScriptDocument::from_json(document), *this);
}

}  // namespace mock_gateway
