#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "../model/received_request.hpp"

namespace mock_gateway::detail {

/// Returns the reason phrase of a status (RFC 9110, 15; 529 as gateways use it); "Unknown" for unregistered ones.
std::string_view reason_phrase(int status);

/// How a body is delimited (RFC 9112, 6.3). `none`: the status allows no body and no Content-Length.
enum class BodyFraming { content_length, chunked, until_close, none };

std::string response_head(int status, std::string_view content_type, BodyFraming framing, std::size_t content_length,
                          const wire::Headers& headers);

}  // namespace mock_gateway::detail
