#pragma once

#include "../model/acceptance.hpp"
#include "../model/failure.hpp"
#include "../model/received_request.hpp"

namespace mock_gateway {
namespace detail {

/// Whether a request's Content-Type allows its body to be read as JSON. One without a Content-Type does.
bool allows_json(const ReceivedRequest& request, const Acceptance& acceptance);
/// The same before the body was read: false when no body can make it true.
bool may_hold_json(const ReceivedRequest& request, const Acceptance& acceptance);
/// The 415 of one that does not.
Failure unsupported_content_type(const ReceivedRequest& request);

}  // namespace detail
}  // namespace mock_gateway
