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
/// So many of those of a scope, or of all, in the order in which they are asked, behind so many; and how many there are
/// in all, as "total".
Json stubs_json(const Control& control, const std::optional<Scope>& scope, std::size_t behind, std::size_t most);
/// What its script says of a stub, keys masked; null for one that is of no script.
Json script_of(const Control& control, const detail::StubState& stub);
/// The same of these, in their order.
Json stubs_json(const Control& control, const std::vector<Stub>& stubs);
/// A stub that is mounted. Throws ControlError `no_such_stub`.
std::shared_ptr<detail::StubState> require_stub(const Control& control, std::uint64_t id);

}  // namespace endpoint
}  // namespace mock_gateway
