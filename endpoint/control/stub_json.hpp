#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control.hpp"
#include "script/script.hpp"

namespace mock_gateway {
namespace endpoint {

/// A stub as the API shows it.
Json stub_json(const Control& control, const std::shared_ptr<detail::StubState>& stub);
/// Those of a scope, or all; in the order in which they are asked.
Json stubs_json(const Control& control, const std::optional<Scope>& scope);
/// The same of these, in their order.
Json stubs_json(const Control& control, const std::vector<Stub>& stubs);
/// A stub that is mounted. Throws ControlError `no_such_stub`.
std::shared_ptr<detail::StubState> require_stub(const Control& control, std::uint64_t id);

}  // namespace endpoint
}  // namespace mock_gateway
