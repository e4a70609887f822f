// `GatewayError`, and what its messages begin with.

#pragma once

#include <stdexcept>
#include <string>

#include "version.hpp"

namespace mock_gateway {

/// Misuse of the gateway by the author of a test, or a gateway that cannot start. The message says what to do.
/// What a client does wrong on the wire is never thrown: it gets an HTTP error reply.
class GatewayError : public std::runtime_error {
 public:
  explicit GatewayError(const std::string& message) : std::runtime_error("mock_gateway: " + message) {}
};

}  // namespace mock_gateway
