// The symbol that names a missing implementation; defined in `reporter.cpp`.

#pragma once

#include "version.hpp"

namespace mock_gateway::detail {

extern "C" {
/// If undefined, the linker prints this name, which says what to do. It comes early in mold's list, sorted by hash.
void define_MOCK_GATEWAY_IMPLEMENTATION_in_a_single_cpp_file();
}

/// The type of a parameter that is never passed: its default makes the calling file reference the implementation.
using Implementation = void (*)();

}  // namespace mock_gateway::detail
