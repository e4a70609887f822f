// `GatewayError`, and the prefix of its messages.

#pragma once

#include <stdexcept>
#include <string>

#include "version.hpp"

namespace mock_gateway {

/// Thrown if a test misuses the gateway, or a gateway cannot start. The message says what to do. Errors of clients are
/// never thrown; they get HTTP error replies.
class GatewayError : public std::runtime_error {
 public:
  explicit GatewayError(const std::string& message) : std::runtime_error("mock_gateway: " + message) {}
};

}  // namespace mock_gateway
