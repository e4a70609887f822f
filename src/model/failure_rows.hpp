// The ready-made failures: their names, statuses, codes and messages.

#pragma once

#include <string>

#include "failure.hpp"

namespace mock_gateway::detail {

struct FailureRow {
  const char* name;
  int status;
  const char* code;
  const char* message;

  Failure make() const { return Failure(status, code, message); }
};

inline constexpr FailureRow failure_rows[] = {
    {"bad_request", 400, "bad_request", "bad request"},
    {"unauthorized", 401, "unauthorized", "unauthorized"},
    {"forbidden", 403, "unauthorized", "unauthorized"},
    {"not_found", 404, "not_found", "The requested resource does not exist."},
    {"request_timeout", 408, "request_timeout", "The request took too long to arrive. Try again."},
    {"conflict", 409, "conflict", "The request conflicts with another one. Try again."},
    {"rate_limited", 429, "rate_limit_exceeded",
     "The rate limit is exceeded. Try again after the time in Retry-After."},
    {"server_error", 500, "internal_error", "The server failed to process the request. Try again later."},
    {"bad_gateway", 502, "bad_gateway", "The server got no valid answer from upstream. Try again later."},
    {"service_unavailable", 503, "service_unavailable", "The service is unavailable. Try again later."},
    {"gateway_timeout", 504, "gateway_timeout", "The server got no answer from upstream in time. Try again later."},
    {"overloaded", 529, "overloaded", "The service is overloaded. Try again later."},
};

/// Returns the ready-made failure of a status; for another status, one with the code `forced_failure`.
inline Failure failure_with_status(int status) {
  for (const FailureRow& row : failure_rows)
    if (row.status == status) return row.make();
  return Failure(status, "forced_failure", "this failure was forced");
}

}  // namespace mock_gateway::detail
