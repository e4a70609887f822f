#pragma once

#include <map>
#include <string>
#include <vector>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

/// Matches requests to routes. Compares raw paths, without decoding or normalizing them first.
class ControlRouter {
 public:
  ControlRouter();

  /// `path` excludes the query. Sets `parameters`. Throws ControlError `no_such_route` or `method_not_allowed`.
  const ControlRoute& find(const std::string& method, const std::string& path,
                           std::vector<std::string>& parameters) const;
  /// Parses the query. Throws ControlError `invalid_request` for an unknown or repeated name.
  static std::map<std::string, std::string> query(const ControlRoute& route, const std::string& text);
  const std::vector<ControlRoute>& routes() const { return routes_; }

 private:
  std::vector<ControlRoute> routes_;
};

}  // namespace endpoint
}  // namespace mock_gateway
