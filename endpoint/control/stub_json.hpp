#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

/// A stub as the API shows it.
Json stub_json(const Control& control, const Stub& stub);
/// A page of the stubs of a scope, or of all, in the order in which they are asked: at most `most`, after the first
/// `behind`. "total" is how many there are.
Json stubs_json(const Control& control, const std::optional<Scope>& scope, std::size_t behind, std::size_t most);
/// These stubs, in their order.
Json stubs_json(const Control& control, const std::vector<Stub>& stubs);
/// A stub that is mounted. Throws ControlError `no_such_stub`.
Stub require_stub(const Control& control, std::uint64_t id);

}  // namespace endpoint
}  // namespace mock_gateway
