#pragma once

#include <memory>
#include <string>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

/// The text of a script that gives the answer of this exchange again: the same bytes at the same pace, and the same
/// end. It says in its first member that it holds a client's prompts and answers, and holds no secret. Throws
/// ControlError 404 `no_bundle`, which says why, for an exchange of which no script can do that.
std::string bundle_of(const Control& control, const Exchange& exchange);

}  // namespace endpoint
}  // namespace mock_gateway
