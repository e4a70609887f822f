// The output of `scenarios`.

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <iostream>

#include "commands.hpp"
#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

int list_scenarios(bool as_json) {
  if (as_json) {
    Json all = Json::array();
    for (const Scenario& one : catalogue()) all.push_back(mock_gateway::as_json(one));
    std::cout << all.dump(2) << std::endl;
    return 0;
  }
  std::size_t name_width = 0;
  std::size_t group_width = 0;
  for (const Scenario& one : catalogue()) {
    name_width = std::max(name_width, one.name().size());
    group_width = std::max(group_width, one.group().size());
  }
  for (const Scenario& one : catalogue())
    std::cout << std::left << std::setw(static_cast<int>(name_width + 2)) << one.name()
              << std::setw(static_cast<int>(group_width + 2)) << one.group() << one.description() << '\n';
  std::cout.flush();
  return 0;
}

}  // namespace endpoint
}  // namespace mock_gateway
