#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

Json stub_json(const Control& control, const Stub& stub);
/// Returns a page of stubs in the order of evaluation: at most `most`, after skipping `behind`. "total" is the number
/// of all stubs. With a scope, only its stubs.
Json stubs_json(const Control& control, const std::optional<Scope>& scope, std::size_t behind, std::size_t most);
Json stubs_json(const Control& control, const std::vector<Stub>& stubs);
/// Returns a mounted stub. Throws ControlError `no_such_stub`.
Stub require_stub(const Control& control, std::uint64_t id);

}  // namespace endpoint
}  // namespace mock_gateway
