// Applies `--catalogue`, `--only`, `--group` and `--skip`.

#include "chosen_scenarios.hpp"

#include <algorithm>
#include <utility>

#include "../control/control.hpp"
#include "../messages.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

/// Returns a scenario that represents a turn of mishaps in reports.
Scenario turn_as_scenario(const Mishap& turn) {
  internal::ScenarioText shown;
  shown.name = turn.name();
  shown.group = "mishaps";
  shown.description = turn.description();
  shown.reference = turn.reference();
  shown.good_client = turn.good_client();
  shown.expected = turn.expected();
  shown.text = turn.text();
  shown.needs_stream = turn.needs_stream();
  shown.calls = 2;  // needs one client for all turns
  return internal::make_scenario(shown);
}

std::vector<Scenario> all_scenarios(const CheckFlags& flags) {
  std::vector<Scenario> all;
  if (flags.catalogues.empty()) {
    all = catalogue();
    Gateway gateway{options_from(flags).verify_on_destruction(false)};
    for (const Mishap& turn : mishaps(gateway, flags.seed.value_or(1))) all.push_back(turn_as_scenario(turn));
  }
  for (const std::string& folder : flags.catalogues) {
    const std::vector<Scenario> more = Catalogue::read(folder).scenarios();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

/// Throws BadValue for an unknown name.
void require_known(const std::string& what, const std::vector<std::string>& names,
                   const std::vector<std::string>& known) {
  constexpr std::size_t longest = 500;
  for (const std::string& name : names) {
    if (contains(known, name)) continue;
    const std::string near = internal::suggestion(name, known);
    throw BadValue(what + " " + internal::printable(name, 100) +
                   (near.size() > longest ? "; `mock-gateway scenarios` prints the catalogue" : near));
  }
}

}  // namespace

ChosenScenarios chosen_scenarios(const CheckFlags& flags) {
  ChosenScenarios scenarios;
  if (flags.sweeps()) return scenarios;
  const std::vector<Scenario> all = all_scenarios(flags);
  std::vector<std::string> groups;
  for (const Scenario& one : all) {
    if (!scenarios.names.insert(one.name()).second)
      throw BadValue("--catalogue: two files have a scenario " + one.name());
    if (!contains(groups, one.group())) groups.push_back(one.group());
  }
  const std::vector<std::string> names(scenarios.names.begin(), scenarios.names.end());
  require_known("--only: there is no scenario", flags.only, names);
  require_known("--skip: there is no scenario", flags.skipped, names);
  require_known("--group: there is no group", flags.groups, groups);
  for (const Scenario& one : all) {
    if (!flags.only.empty() && !contains(flags.only, one.name())) continue;
    if (!flags.groups.empty() && !contains(flags.groups, one.group())) continue;
    if (!contains(flags.skipped, one.name())) scenarios.chosen.push_back(one);
  }
  if (scenarios.chosen.empty()) throw BadValue("--only, --group and --skip leave no scenario");
  return scenarios;
}

}  // namespace endpoint
}  // namespace mock_gateway
