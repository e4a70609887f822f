#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../gateway/catalogue.hpp"

namespace mock_gateway {

/// Custom scenarios: a folder of scripts. The "scenario" section of each script describes what it does to a client and
/// what a good client does. docs/catalogue.md has an example. A value: cheap to copy.
///
///     for (const Scenario& scenario : Catalogue::read("tests/scenarios").scenarios()) {
///       Gateway gateway{scenario.options()};
///       scenario.mount(gateway);
///       CHECK(scenario.judge(run_my_client(gateway.base_url(), gateway.api_key())));
///     }
class Catalogue {
 public:
  /// Reads every `*.json` and `*.jsonc` file in a folder and its subfolders, in byte order, or a single file: one
  /// scenario each. Throws ScriptError with the problems of all files.
  static Catalogue read(const std::string& folder);

  /// Returns the scenarios in the order of their files.
  const std::vector<Scenario>& scenarios() const& { return scenarios_; }
  std::vector<Scenario> scenarios() && { return scenarios_; }
  /// Returns the scenario with this name. Throws GatewayError with the known names if the name is unknown.
  Scenario scenario(std::string_view name) const;

 private:
  explicit Catalogue(std::vector<Scenario> scenarios);

  std::vector<Scenario> scenarios_;
};

}  // namespace mock_gateway
