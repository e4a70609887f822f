#pragma once

#include <string>
#include <vector>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

/// Access control of the control API. Rejects pages of another origin, DNS rebinding, and programs without the token.
class ControlGuard {
 public:
  /// `names` are allowed hosts besides loopback, with any port or none.
  ControlGuard(std::string token, std::vector<std::string> names);

  /// Sets the address and port that Host must name, once the server listens.
  void set_allowed_hosts(const std::string& host, int port);
  /// Throws 421 `wrong_host` unless Host, and the host of an absolute request target (`authority`), are addresses of
  /// this server.
  void require_host(const wire::Headers& headers, const std::string& authority) const;
  /// Throws 403 `foreign_origin` for a browser's request from another site.
  void require_origin(const wire::Headers& headers) const;
  /// Returns the bearer token of Authorization; empty for another scheme or a repeated field. Throws 401 `no_token` if
  /// the field is missing.
  static std::string credential(const wire::Headers& headers);
  /// Throws 401 `no_token` or `wrong_token`.
  void require_token(const wire::Headers& headers) const;

 private:
  void require_own(const char* where, const std::string& given) const;

  const std::string token_;
  std::vector<std::string> names_;  // lower case
  std::vector<std::string> hosts_;  // with port
};

}  // namespace endpoint
}  // namespace mock_gateway
