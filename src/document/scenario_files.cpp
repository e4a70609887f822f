// The script keys of `scenario`; errors in a folder of scenarios; whether a file's scenario affected an exchange.

#include "scenario_files.hpp"

#include <algorithm>  // any_of
#include <iterator>   // size
#include <memory>
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"
#include "../evidence/journal.hpp"
#include "../gateway/catalogue_entries.hpp"
#include "script_document.hpp"
#include "script_sections.hpp"
#include "script_values.hpp"

namespace mock_gateway {
namespace detail {
namespace script_types {

ScriptType expected_outcome() {
  return {"\"answer\", \"error\" or \"answer or error\"",
          R"({"type":"string","enum":["answer","error","answer or error"]})"};
}

inline constexpr ScriptRow scenario_rows[] = {
    {"name", &name_text, "its name; no other file has the same one", nullptr, true, R"("minLength":1)"},
    {"group", &text, "the group that it belongs to", &SetMember<&ScenarioDescription::group>::apply},
    {"description", &text, "what the gateway does, in a line: \"sends …\"",
     &SetMember<&ScenarioDescription::description>::apply, true},
    {"reference", &text, "where it comes from: a report, a standard",
     &SetMember<&ScenarioDescription::reference>::apply},
    {"good_client", &text, "what a good client does, in a line: \"reports …\"",
     &SetMember<&ScenarioDescription::good_client>::apply, true},
    {"expected", &expected_outcome, "what a good client may do", nullptr, true},
    {"text", &text, "all text of the answer; empty unless set", &SetMember<&ScenarioDescription::text>::apply},
    {"sent", &text, "other text that is sent, and that a client may show before it reports an error",
     &SetMember<&ScenarioDescription::sent>::apply},
    {"tool_calls", &tool_calls_type, "all tool calls of the answer", nullptr},
    {"finish_reason", &text,
     "the finish_reason of the answer; ignored unless set. If an error is expected and the reason is not `stop`, a "
     "client that passes the reason on has reported the error",
     &SetMember<&ScenarioDescription::finish_reason>::apply},
    {"usage", &token_usage, "the usage of the answer; ignored unless set", nullptr},
    {"needs_stream", &boolean, "whether it appears in stream requests only; false unless set",
     &SetMember<&ScenarioDescription::needs_stream>::apply},
    {"needs_timeout", &boolean, "whether a client without a timeout may wait forever; false unless set",
     &SetMember<&ScenarioDescription::needs_timeout>::apply},
    {"calls", &positive, "how many calls it takes; the last one is judged; 1 unless set",
     &SetMember<&ScenarioDescription::calls>::apply, false, R"("maximum":1000)"},
};
inline constexpr ScriptTable scenario_table{"scenario", scenario_rows, std::size(scenario_rows)};

ScriptType scenario_section() { return {"object", nullptr, &scenario_table}; }

void read_scenario_section(ScriptReader& reader, const ScriptNode& node, void* target) {
  ScenarioDescription said;
  reader.read_strictly(node, scenario_table, &said);
  said.name = script_values::name_of(node.at("name"));
  const std::string& expected = script_values::text_of(node.at("expected"));
  for (const auto one : {Scenario::Expected::error, Scenario::Expected::answer_or_error})
    if (expected == to_string(one)) said.expected = one;
  if (node.find("tool_calls")) said.tool_calls = read_tool_calls(reader, node.at("tool_calls"));
  const bool has_reason = !said.finish_reason.empty() && said.finish_reason != "stop";
  said.reason_tells = said.expected == Scenario::Expected::error && has_reason;
  if (node.find("usage")) said.usage = read_value<TokenUsage>(reader, node.at("usage"));
  static_cast<ScriptPlan*>(target)->scenario = std::move(said);
}

}  // namespace script_types

namespace scenario_files {

class ScriptedScenario final : public ScenarioOfFile {
 public:
  explicit ScriptedScenario(std::shared_ptr<const ScriptPlan> plan)
      : plan_(std::move(plan)), document_(Access::make<ScriptDocument>(plan_)) {}

  Options options(Options base) const override { return document_.options(std::move(base)); }
  void mount(Gateway& gateway) const override { document_.mount(gateway); }
  bool answered(const Exchange& exchange) const override {
    if (!plan_->connections.empty() || (plan_->scenario.needs_stream && !exchange.chat().stream)) return false;
    return std::any_of(plan_->stubs.begin(), plan_->stubs.end(),
                       [&exchange](const StubPlan& stub) { return stub.name == exchange.decision().detail; });
  }

 private:
  std::shared_ptr<const ScriptPlan> plan_;
  ScriptDocument document_;
};

void add(const std::string& file, std::vector<Scenario>& all, std::vector<ScriptProblem>& problems) {
  ScriptSource source;
  source.file = file;
  Json document;
  if (!script_files::read(file, source.text, problems) || !script_files::parse(source, document, problems)) return;
  const auto plan = share<ScriptPlan>();
  plan->files.push_back(file);
  std::vector<ScriptProblem> found;
  ScriptReader reader(source, found, plan->gates);
  script_documents::read_whole(reader, document, *plan);
  const std::string& name = plan->scenario.name;
  if (found.empty() && name.empty())
    reader.note({"",
                 "no scenario: \"scenario\" is missing; it says what this script does to a client, and what a good "
                 "client does"});
  for (const Scenario& earlier : all)
    if (!name.empty() && earlier.name() == name)
      reader.note({"/scenario/name", "an earlier file has a scenario with this name"});
  for (StubPlan& stub : plan->stubs) {
    stub.of_catalogue = true;
    if (stub.name.empty()) stub.name = name;
  }
  try {
    script_documents::finish(plan, std::move(found));
  } catch (const ScriptError& error) {
    problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    return;
  }
  all.push_back(Access::make<Scenario>(
      share<const ScenarioData>(ScenarioData{plan->scenario, nullptr, share<const ScriptedScenario>(plan)})));
}

}  // namespace scenario_files
}  // namespace detail

Catalogue::Catalogue(std::vector<Scenario> scenarios) : scenarios_(std::move(scenarios)) {}

Catalogue Catalogue::read(const std::string& folder) {
  std::vector<ScriptProblem> problems;
  std::vector<Scenario> all;
  for (const std::string& file : detail::script_files::expand({folder}, problems))
    detail::scenario_files::add(file, all, problems);
  if (!problems.empty()) throw ScriptError(std::move(problems));
  return Catalogue(std::move(all));
}

Scenario Catalogue::scenario(std::string_view name) const {
  std::vector<std::string> names;
  for (const Scenario& one : scenarios_) {
    if (one.name() == name) return one;
    names.push_back(one.name());
  }
  const std::string wanted = detail::text::printable(name, 100);
  throw GatewayError("the catalogue has no scenario \"" + wanted + "\"" +
                     detail::script_reading::suggestion(wanted, names));
}

}  // namespace mock_gateway
