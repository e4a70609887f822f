#pragma once

#include <string>
#include <vector>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

/// Decides who may use the control API. A page of another origin, a name that was rebound to this machine, and a
/// program without the token get nothing.
class ControlGuard {
 public:
  /// `names` are hosts beside those of loopback, with any port or none.
  ControlGuard(std::string token, std::vector<std::string> names);

  /// The port that Host must name; known once it listens. `host` is the address that was listened on.
  void listens_on(const std::string& host, int port);
  /// 421 `wrong_host`, unless Host is an address of ours, and so is the host of the request's target, where it has one
  /// (`authority`, else empty).
  void require_host(const wire::Headers& headers, const std::string& authority) const;
  /// 403 `foreign_origin` for what a browser says to be another site's.
  void require_origin(const wire::Headers& headers) const;
  /// What stands behind "Bearer " in Authorization; empty for another scheme and for two fields. Throws 401 `no_token`
  /// without the field.
  static std::string credential(const wire::Headers& headers);
  /// 401 `no_token` and `wrong_token`.
  void require_token(const wire::Headers& headers) const;

 private:
  void require_own(const char* where, const std::string& given) const;

  const std::string token_;
  std::vector<std::string> names_;  // in lower case
  std::vector<std::string> hosts_;  // with the port
};

}  // namespace endpoint
}  // namespace mock_gateway
