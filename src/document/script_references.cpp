// Warnings about hidden stubs, unreachable states, failures as data, and unknown models, keys and operations.

#include "script_sections.hpp"

#include <algorithm>  // none_of, upper_bound
#include <iterator>   // next, prev
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "../core/json_pointer.hpp"
#include "../core/text.hpp"
#include "../model/profile_traits.hpp"
#include "../script/hiding.hpp"
#include "../serve/gateway_state.hpp"
#include "../serve/operations.hpp"

namespace mock_gateway::detail {
namespace script_references {

using State = std::pair<std::string, std::string>;  // a state machine and its state

State state_of(const MachineState& one) { return {one.machine, one.state}; }

std::string others_too(std::size_t others) {
  if (others == 0) return {};
  return "; " + text::counted(others, "other place") + (others == 1 ? " names it too" : " name it too");
}

std::string in_quotes(const std::string& name) { return "\"" + text::printable(name, 60) + "\""; }

std::pair<const ScriptPart*, std::string> place_of(const ScriptPlan& plan, std::size_t stub) {
  const auto begins_behind = [](std::size_t wanted, const ScriptPart& part) { return wanted < part.first_stub; };
  const ScriptPart& its =
      *std::prev(std::upper_bound(std::next(plan.parts.begin()), plan.parts.end(), stub, begins_behind));
  return {&its, "/stubs/" + std::to_string(stub - its.first_stub)};
}

struct KnownNames {
  std::vector<std::string> all = {};
  std::set<std::string_view> set = {};  // filled by the first has(), when `all` is complete

  bool has(const std::string& name) {
    if (set.empty()) set.insert(all.begin(), all.end());
    return set.count(name) > 0;
  }
};

/// Returns a suggestion for the problem with this index. Empty for problems beyond those shown, because it takes long.
std::string suggestion(std::size_t problem, const std::string& name, const std::vector<std::string>& known) {
  return problem < script_reading::most_problems ? script_reading::suggestion(name, known) : "";
}

// Hidden stubs.

void warn_of_hidden(const ScriptPlan& plan, std::vector<ScriptProblem>& problems) {
  HidingStubs stubs;
  auto part = plan.parts.begin();
  for (std::size_t index = 0; index < plan.stubs.size(); ++index) {
    while (std::next(part) != plan.parts.end() && std::next(part)->first_stub <= index) ++part;
    const std::optional<std::size_t> hiding = stubs.add(plan.stubs[index]);
    if (!hiding) continue;
    problems.push_back(part->source->problem(
        Severity::warning, {"/stubs/" + std::to_string(index - part->first_stub),
                            "this stub never answers: the stub at " + plan.stubs[*hiding].where.to_string() +
                                " matches every request that this one matches"}));
  }
}

/// The reachable states: the initial states of state machines, and those set by stubs that can answer.
class ReachableStates {
 public:
  explicit ReachableStates(const ScriptPlan& plan) : unmet_(plan.stubs.size()) {
    for (std::size_t stub = 0; stub < plan.stubs.size(); ++stub) {
      for (const MachineState& one : plan.stubs[stub].in_states) waiting_[state_of(one)].push_back(stub);
      unmet_[stub] = plan.stubs[stub].in_states.size();
    }
    std::set<std::string> set;
    for (const MachineState& one : plan.states) {
      set.insert(one.machine);
      found_.push_back(state_of(one));
    }
    for (const auto& [state, stubs] : waiting_)
      if (state.second == "started" && set.count(state.first) == 0) found_.push_back(state);
    for (std::size_t stub = 0; stub < plan.stubs.size(); ++stub)
      if (unmet_[stub] == 0) answers(plan, stub);
    while (!found_.empty()) {
      const State state = std::move(found_.back());
      found_.pop_back();
      if (!reached_.insert(state).second) continue;
      const auto stubs = waiting_.find(state);
      if (stubs == waiting_.end()) continue;
      for (const std::size_t stub : stubs->second)
        if (--unmet_[stub] == 0) answers(plan, stub);
    }
  }

  bool has(const State& state) const { return reached_.count(state) > 0; }
  std::vector<std::string> of(const std::string& machine) const {
    std::vector<std::string> states;
    for (auto state = reached_.lower_bound({machine, ""}); state != reached_.end() && state->first == machine; ++state)
      states.push_back(state->second);
    return states;
  }

 private:
  void answers(const ScriptPlan& plan, std::size_t stub) {
    for (const MachineState& one : plan.stubs[stub].then_states) found_.push_back(state_of(one));
  }

  std::vector<std::size_t> unmet_;  // for each stub, the number of its states not reached yet
  std::map<State, std::vector<std::size_t>> waiting_;
  std::vector<State> found_;
  std::set<State> reached_;
};

/// Whether the states are `{"machine": …, "state": …}`, the form in other tools for a single state machine.
bool is_spelled_out(const std::vector<MachineState>& states) {
  return states.size() == 2 && states[0].machine == "machine" && states[1].machine == "state";
}

std::string as_object(const std::string& key, const std::string& value) {
  return "{" + in_quotes(key) + ": " + in_quotes(value) + "}";
}

std::string misspelling(const std::vector<MachineState>& states) {
  const std::string machine = states[0].state;
  const std::string state = states[1].state;
  return "{\"machine\": " + in_quotes(machine) + ", \"state\": " + in_quotes(state) +
         "} names two state machines, \"machine\" and \"state\"; the state machine " + in_quotes(machine) +
         " in the state " + in_quotes(state) + " is " + as_object(machine, state);
}

std::string unreached(const MachineState& wanted, const ReachableStates& reachable, std::size_t problem) {
  std::string message = "nothing moves the state machine " + in_quotes(wanted.machine) + " to " +
                        in_quotes(wanted.state) +
                        ": no \"then_state\" of a stub that can answer and no \"states\" has " +
                        as_object(wanted.machine, wanted.state) + ", so only a direct call can";
  if (problem >= script_reading::most_problems) return message;
  return message + script_reading::suggestion(wanted.state, reachable.of(wanted.machine));
}

/// Warns of unreachable states. `is_all` tells whether to include states that only a call can set.
void warn_of_states(const ScriptPlan& plan, bool is_all, std::vector<ScriptProblem>& problems) {
  const ReachableStates reachable(plan);
  struct Dead {
    std::size_t stub;
    MachineState wanted;
    std::size_t others;
  };
  std::vector<Dead> dead;
  std::map<State, std::size_t> told;
  std::set<std::string> asked;  // state machines in in_state of a stub
  for (std::size_t stub = 0; stub < plan.stubs.size(); ++stub) {
    const std::vector<MachineState>& states = plan.stubs[stub].in_states;
    bool is_told = false;
    for (const MachineState& wanted : states) {
      asked.insert(wanted.machine);
      if (reachable.has(state_of(wanted)) || (!is_all && !is_spelled_out(states))) continue;
      if (is_spelled_out(states) && std::exchange(is_told, true)) continue;
      const auto [known, is_new] = told.try_emplace(state_of(wanted), dead.size());
      if (is_new)
        dead.push_back({stub, wanted, 0});
      else
        ++dead[known->second].others;
    }
  }
  for (std::size_t index = 0; index < dead.size(); ++index) {
    const Dead& one = dead[index];
    const std::vector<MachineState>& states = plan.stubs[one.stub].in_states;
    const auto [part, pointer] = place_of(plan, one.stub);
    const std::string message = is_spelled_out(states) ? misspelling(states) : unreached(one.wanted, reachable, index);
    const std::string of_machine = is_spelled_out(states) ? "" : json_pointer::token(one.wanted.machine);
    problems.push_back(part->source->problem(Severity::warning,
                                             {pointer + "/in_state" + of_machine, message + others_too(one.others)}));
  }
  // Without a stub that waits for a machine named "machine" or "state", these are keys of another tool's format.
  if (asked.count("machine") + asked.count("state") > 0) return;
  for (std::size_t stub = 0; stub < plan.stubs.size(); ++stub) {
    const std::vector<MachineState>& states = plan.stubs[stub].then_states;
    if (!is_spelled_out(states)) continue;
    const auto [part, pointer] = place_of(plan, stub);
    problems.push_back(part->source->problem(Severity::warning, {pointer + "/then_state", misspelling(states)}));
  }
  for (const ScriptPart& part : plan.parts)
    if (is_spelled_out(part.states))
      problems.push_back(part.source->problem(Severity::warning, {"/states", misspelling(part.states)}));
}

void warn_of_failures_as_data(const ScriptPlan& plan, std::vector<ScriptProblem>& problems) {
  for (const ScriptPart& part : plan.parts)
    for (const ScriptReference& reference : part.references)
      if (reference.kind == ScriptReference::Kind::failure_as_data)
        problems.push_back(part.source->problem(
            Severity::warning,
            {reference.pointer,
             "this sends exactly this JSON; did you mean {\"error_event_failure\": " + reference.name + "}?"}));
}

// Models, keys and operations.

std::set<std::string> declared_models(const ScriptPlan& plan) {
  std::set<std::string> names;
  for (const Json& gateway : plan.gateways) {
    const Json* const models = json_pointer::child(gateway, "models");
    for (std::size_t index = 0; models && models->is_array() && index < models->size(); ++index) {
      const Json& model = (*models)[index];
      const Json* const id = model.is_string() ? &model : json_pointer::child(model, "id");
      if (id && id->is_string()) names.insert(id->get<std::string>());
    }
  }
  return names;
}

std::set<std::string> declared_keys(const ScriptPlan& plan) {
  std::set<std::string> names;
  for (const ScriptedKey& key : plan.keys) names.insert(key.name);
  return names;
}

bool is_of_operation(ScriptReference::Kind kind) {
  return kind == ScriptReference::Kind::operation || kind == ScriptReference::Kind::operation_of_failure;
}

void keep_open_references(ScriptPlan& plan) {
  const std::set<std::string> models = declared_models(plan);
  const std::set<std::string> keys = declared_keys(plan);
  std::map<std::pair<ScriptReference::Kind, std::string>, std::size_t> known;
  std::set<std::string> operations;
  for (const ScriptedOperation& one : plan.operations) operations.insert(operation(one.method, one.path).to_string());
  const auto declared_for = [&](ScriptReference::Kind kind) -> const std::set<std::string>& {
    if (kind == ScriptReference::Kind::model) return models;
    return is_of_operation(kind) ? operations : keys;
  };
  for (const ScriptPart& part : plan.parts) {
    for (const ScriptReference& reference : part.references) {
      if (reference.kind == ScriptReference::Kind::failure_as_data) continue;
      if (declared_for(reference.kind).count(reference.name) > 0) continue;
      const auto [open, is_new] = known.try_emplace({reference.kind, reference.name}, plan.open_references.size());
      if (is_new)
        plan.open_references.push_back(
            {reference.kind, reference.name, part.source->problem(Severity::warning, {reference.pointer, ""})});
      else
        ++plan.open_references[open->second].others;
    }
  }
}

ScriptProblem problem_of(const OpenReference& open, Severity severity, const std::string& message) {
  ScriptProblem problem = open.place;
  problem.severity = severity;
  problem.message = script_reading::bounded(message + others_too(open.others));
  script_reading::hide_keys(problem.message);
  return problem;
}

void resolve(ScriptPlan& plan, std::vector<ScriptProblem>& problems, bool is_all) {
  warn_of_hidden(plan, problems);
  warn_of_states(plan, is_all, problems);
  warn_of_failures_as_data(plan, problems);
  keep_open_references(plan);
  plan.parts.clear();
  plan.taken.clear();
}

std::string unknown_operation(const OpenReference& open, const ScriptPlan& plan, const Operations& operations) {
  const std::size_t space = open.name.find(' ');
  const Operation named = operation(open.name.substr(0, space), open.name.substr(space + 1));
  const Route route = operations.find(named);
  if (route.operation != named)
    return in_quotes(open.name) + " has no effect: it is part of the operation " +
           in_quotes(route.operation.to_string());
  if (route.kind != Route::Kind::unknown && route.kind != Route::Kind::wrong_method) return {};
  std::vector<std::string> known = {chat_completions().to_string(), list_models().to_string()};
  for (const Operation& one : operations.mounted()) known.push_back(one.to_string());
  for (const ScriptedOperation& one : plan.operations) known.push_back(operation(one.method, one.path).to_string());
  const std::string others = script_reading::suggestion(open.name, known);
  const bool is_of_failure = open.kind == ScriptReference::Kind::operation_of_failure;
  // A failure for an unknown operation is answered, so it is a mistake only if it looks like a known one.
  const bool is_slip = route.kind == Route::Kind::unknown && others.find("; did you mean ") == 0;
  if (is_of_failure && (plan.has_bundle || !is_slip)) return {};
  return "the gateway has no operation " + in_quotes(open.name) + ", so " +
         (is_of_failure ? "only this failure answers there" : "this allows nothing until that operation exists") +
         others;
}

std::vector<ScriptProblem> unknown_names(const ScriptPlan& plan, const GatewayState& gateway) {
  if (plan.open_references.empty()) return {};
  KnownNames models;
  for (const wire::Model& model : gateway.settings.models) models.all.push_back(model.id);
  KnownNames keys;
  for (const ApiKey& key : gateway.keys->list()) {
    keys.all.push_back(key.id);
    if (!key.description.empty()) keys.all.push_back(key.description);
  }
  for (const ScriptedKey& key : plan.keys) keys.all.push_back(key.name);
  std::vector<ScriptProblem> problems;
  for (const OpenReference& open : plan.open_references) {
    if (open.kind == ScriptReference::Kind::key_of_failure) continue;
    if (open.kind == ScriptReference::Kind::refusal) {
      if (!traits_of(gateway.settings.profile).refusal_key)
        problems.push_back(problem_of(open, Severity::warning,
                                      "the profile " + in_quotes(to_string(gateway.settings.profile)) +
                                          " has no field for a refusal, so it is sent as content; the profile "
                                          "\"openai\" has one"));
      continue;
    }
    if (is_of_operation(open.kind)) {
      const std::string message = unknown_operation(open, plan, gateway.operations);
      if (!message.empty()) problems.push_back(problem_of(open, Severity::warning, message));
      continue;
    }
    const bool is_model = open.kind == ScriptReference::Kind::model;
    if (is_model && gateway.models.any()) continue;
    KnownNames& known = is_model ? models : keys;
    if (known.has(open.name)) continue;
    const std::string message =
        is_model ? "the gateway serves no model " + in_quotes(open.name) + ", and refuses requests for it"
                 : "the gateway has no key " + in_quotes(open.name) + ", so this matches nothing until that key exists";
    problems.push_back(
        problem_of(open, Severity::warning, message + suggestion(problems.size(), open.name, known.all)));
  }
  return problems;
}

std::vector<ScriptProblem> missing_keys(const ScriptPlan& plan, const KeyStore& keys, std::uint64_t owner) {
  const auto is_of_failure = [](const OpenReference& open) {
    return open.kind == ScriptReference::Kind::key_of_failure;
  };
  if (std::none_of(plan.open_references.begin(), plan.open_references.end(), is_of_failure)) return {};
  KnownNames known;
  for (const ApiKey& key : keys.kept(plan.keys, owner)) {
    known.all.push_back(key.id);
    if (!key.description.empty()) known.all.push_back(key.description);
  }
  for (const ScriptedKey& key : plan.keys) known.all.push_back(key.name);
  std::vector<ScriptProblem> problems;
  for (const OpenReference& open : plan.open_references) {
    if (!is_of_failure(open) || known.has(open.name)) continue;
    problems.push_back(problem_of(
        open, Severity::error,
        "the gateway has no key " + in_quotes(open.name) + suggestion(problems.size(), open.name, known.all)));
  }
  return problems;
}

}  // namespace script_references
}  // namespace mock_gateway::detail
