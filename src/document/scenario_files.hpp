#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../gateway/catalogue.hpp"

namespace mock_gateway {

/// Scenarios of your own: a folder of scripts, each with a "scenario" section, which says what the script does to a
/// client and what a good client makes of it. docs/catalogue.md has an example. A value: cheap to copy.
///
///     for (const Scenario& scenario : Catalogue::read("tests/scenarios").scenarios()) {
///       Gateway gateway{scenario.options()};
///       scenario.mount(gateway);
///       CHECK(scenario.judge(run_my_client(gateway.base_url(), gateway.api_key())));
///     }
class Catalogue {
 public:
  /// Reads every `*.json` and `*.jsonc` of a folder, those in folders within included, in the order of their bytes; of
  /// a file, that file. Each is one scenario. Throws ScriptError with the problems of all of them.
  static Catalogue read(const std::string& folder);

  /// In the order of their files.
  const std::vector<Scenario>& scenarios() const& { return scenarios_; }
  std::vector<Scenario> scenarios() && { return scenarios_; }
  /// The scenario of that name. Throws GatewayError, which says what there is, when there is none.
  Scenario scenario(std::string_view name) const;

 private:
  explicit Catalogue(std::vector<Scenario> scenarios);

  std::vector<Scenario> scenarios_;
};

}  // namespace mock_gateway
