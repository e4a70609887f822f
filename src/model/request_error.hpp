#pragma once

#include <string>
#include <string_view>

#include "failure.hpp"

namespace mock_gateway {
namespace detail {

/// What a request did wrong, as the wire says it. Thrown by parsing and answering, caught by the routes.
struct RequestError {
  Failure failure;
};

/// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7).
std::string http_date(TimePoint time);
/// Throws GatewayError for what RFC 9110, 5.5 forbids in a header field.
void require_header_field(const std::string& name, const std::string& value);
/// The value itself. Throws GatewayError when it is not UTF-8, because no JSON could carry it; `what` names it.
std::string require_utf8(std::string value, std::string_view what);

}  // namespace detail

}  // namespace mock_gateway
