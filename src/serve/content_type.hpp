#pragma once

#include "../model/acceptance.hpp"
#include "../model/received_request.hpp"

namespace mock_gateway {
namespace detail {

/// Whether a request's Content-Type allows its body to be read as JSON. One without a Content-Type does.
bool allows_json(const ReceivedRequest& request, const Acceptance& acceptance);

}  // namespace detail
}  // namespace mock_gateway
