#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../gateway/catalogue.hpp"

namespace mock_gateway {

/// Your own scenarios: a folder of scripts, each with a "scenario" section. The section says what the script does to a
/// client and how a good client reacts. docs/catalogue.md has an example. A value type, cheap to copy.
///
///     for (const Scenario& scenario : Catalogue::read("tests/scenarios").scenarios()) {
///       Gateway gateway{scenario.options()};
///       scenario.mount(gateway);
///       CHECK(scenario.judge(run_my_client(gateway.base_url(), gateway.api_key())));
///     }
class Catalogue {
 public:
  /// Reads every `*.json` and `*.jsonc` of a folder and its subfolders, sorted bytewise by path, or a single file. Each
  /// file is one scenario. Throws ScriptError with the problems of all files.
  static Catalogue read(const std::string& folder);

  /// The scenarios in the order of their files.
  const std::vector<Scenario>& scenarios() const& { return scenarios_; }
  std::vector<Scenario> scenarios() && { return scenarios_; }
  /// Returns the scenario of that name. Throws GatewayError, which lists the known names, if there is none.
  Scenario scenario(std::string_view name) const;

 private:
  explicit Catalogue(std::vector<Scenario> scenarios);

  std::vector<Scenario> scenarios_;
};

}  // namespace mock_gateway
