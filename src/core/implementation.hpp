// The symbol whose name tells the user how to add a missing implementation. `reporter.cpp` defines it.

#pragma once

#include "version.hpp"

namespace mock_gateway::detail {

extern "C" {
/// If undefined, the linker prints this name, which says what to do. The name's hash puts it early in mold's list.
void define_MOCK_GATEWAY_IMPLEMENTATION_in_a_single_cpp_file();
}

/// The type of a parameter that is never passed: its default makes the calling file reference the implementation.
using Implementation = void (*)();

}  // namespace mock_gateway::detail
