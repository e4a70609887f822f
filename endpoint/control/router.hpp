#pragma once

#include <map>
#include <string>
#include <vector>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

/// Finds the route of a request. Paths are compared whole and as they were sent: nothing is decoded or made shorter
/// before that.
class ControlRouter {
 public:
  ControlRouter();

  /// `path` is without the query. Fills `parameters`. Throws ControlError `no_such_route` and `method_not_allowed`.
  const ControlRoute& find(const std::string& method, const std::string& path,
                           std::vector<std::string>& parameters) const;
  /// The query's names and values. Throws ControlError `invalid_request` for a name that the route does not know, and
  /// for one that is there twice.
  static std::map<std::string, std::string> query(const ControlRoute& route, const std::string& text);
  const std::vector<ControlRoute>& routes() const { return routes_; }

 private:
  std::vector<ControlRoute> routes_;
};

}  // namespace endpoint
}  // namespace mock_gateway
