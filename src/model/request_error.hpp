// The exception that refuses a request.

#pragma once

#include "failure.hpp"

namespace mock_gateway::detail {

/// The error reply to a bad request. Thrown by parsing and answering, caught in `src/serve/judge.cpp`.
struct RequestError {
  Failure failure;
};

}  // namespace mock_gateway::detail
