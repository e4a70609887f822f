// The exception that refuses a request.

#pragma once

#include "failure.hpp"

namespace mock_gateway::detail {

/// What a request did wrong, as the wire says it. Thrown by parsing and answering, caught by the routes.
struct RequestError {
  Failure failure;
};

}  // namespace mock_gateway::detail
