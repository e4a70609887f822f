#pragma once

#include "version.hpp"

namespace mock_gateway::detail {

extern "C" {
/// Defined in the implementation. If it is missing, the linker prints this name, which says what to do. mold sorts
/// missing names by hash; this one is among the first.
void define_MOCK_GATEWAY_IMPLEMENTATION_in_a_single_cpp_file();
}

/// The type of a parameter that is never passed: its default makes the calling file reference the implementation.
using Implementation = void (*)();

}  // namespace mock_gateway::detail
