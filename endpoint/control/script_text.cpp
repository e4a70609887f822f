// Bodies that are scripts or a section of one; what is not allowed there or in a scope.

#include "script_text.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "../messages.hpp"
#include "body.hpp"
#include "core/access.hpp"
#include "document/script_sections.hpp"
#include "keys/key_store.hpp"
#include "serve/gateway_state.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// Notes what a running gateway cannot be told.
void refuse_gateway(const Json& document, detail::ScriptReader& reader) {
  if (!document.is_object() || !document.contains("gateway")) return;
  reader.note({"/gateway",
               "this says how a gateway starts, and this one runs: give it to the program with --script, or leave it "
               "out",
               true});
}

/// Puts stubs, failures and rules of chaos into a scope: its key alone has them, and names of state machines are its
/// own.
void put_into_scope(detail::ScriptPlan& plan, const Json& document, const std::string& scope,
                    detail::ScriptReader& reader) {
  const Json stubs = document.value("stubs", Json::array());
  for (std::size_t index = 0; stubs.is_array() && index < stubs.size(); ++index) {
    const Json& stub = stubs[index];
    if (stub.is_object() && stub.contains("when") && stub["when"].is_object() && stub["when"].contains("key_is"))
      reader.note({"/stubs/" + std::to_string(index) + "/when/key_is",
                   "?scope= says whose requests the stub answers; leave \"key_is\" out, or the scope", true});
  }
  for (detail::StubPlan& stub : plan.stubs) {
    stub.matchers.insert(stub.matchers.begin(), key_is(scope));
    for (auto* states : {&stub.in_states, &stub.then_states})
      for (detail::MachineState& state : *states) state.machine = scoped_name(scope, state.machine);
  }
  for (Chaos& rule : plan.chaos) rule = rule.when(key_is(scope));
  for (std::size_t index = 0; index < plan.failures.size(); ++index) {
    detail::ScriptedFailure& failure = plan.failures[index];
    if (!failure.key.empty() || failure.scope.kind() != FailureScope::Kind::all)
      reader.note({"/failures/" + std::to_string(index) + "/for",
                   "?scope= says for whom the failure is; leave \"for\" out, or the scope", true});
    failure.scope = for_key(scope);
  }
}

/// Notes keys that cannot be mounted: what else a document says must not be mounted then.
void require_no_conflict(const Control& control, const detail::ScriptPlan& plan, detail::ScriptReader& reader) {
  const std::vector<std::string> conflicts = control.state().keys->conflicts(plan.keys, control.layer.document_owner());
  for (std::size_t index = 0; index < conflicts.size(); ++index)
    if (!conflicts[index].empty()) reader.note({"/keys/" + std::to_string(index) + "/secret", conflicts[index]});
}

/// What is refused when an entry of the section is.
const char* heading_of(const std::string& section) {
  if (section == "stubs") return "a stub cannot be mounted";
  if (section == "failures") return "a failure cannot be mounted";
  if (section == "chaos") return "a rule of chaos cannot be mounted";
  if (section == "connections") return "a fault of connections cannot be mounted";
  if (section == "operations") return "an operation cannot be mounted";
  return "a script cannot be served";
}

}  // namespace

ScriptText read_script(Control& control, const std::string& body, const ScriptTextOptions& options) {
  ControlBody parsed(body, options.label);
  Json json = parsed.value();
  const bool whole = *options.section == '\0';
  if (!whole) parsed.wrap(options.section);

  const auto plan = std::make_shared<detail::ScriptPlan>();
  const auto naming = control.gates.naming();
  plan->gates = control.gates.known(options.scope);
  std::vector<ScriptProblem> problems;
  detail::ScriptReader reader(parsed.source(), problems, plan->gates);
  detail::script_documents::read_whole(reader, parsed.value(), *plan);
  // Another call may lead to a state that a stub of this one waits for.
  if (problems.empty()) detail::script_references::resolve(*plan, problems, whole);
  refuse_gateway(parsed.value(), reader);
  if (!options.scope.empty()) put_into_scope(*plan, parsed.value(), options.scope, reader);
  for (ScriptProblem& missing :
       detail::script_references::missing_keys(*plan, *control.state().keys, control.layer.document_owner()))
    problems.push_back(std::move(missing));
  require_no_conflict(control, *plan, reader);

  std::vector<ScriptProblem> errors;
  for (detail::OpenReference& open : plan->open_references) parsed.unwrap(open.place);
  for (ScriptProblem& problem : problems) {
    parsed.unwrap(problem);
    (problem.severity == Severity::error ? errors : plan->warnings).push_back(std::move(problem));
  }
  if (!errors.empty()) {
    const std::string text = detail::script_documents::text_of(errors, heading_of(options.section));
    throw ControlError(400, "invalid_script", text, std::move(errors));
  }
  if (options.mounts) control.gates.add(options.scope, plan->gates);
  ScriptText text{detail::Access::make<ScriptDocument>(std::shared_ptr<const detail::ScriptPlan>(plan)),
                  std::move(json), 0};
  if (!whole) text.entries = parsed.value()[options.section].size();
  return text;
}

}  // namespace endpoint
}  // namespace mock_gateway
