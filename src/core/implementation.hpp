#pragma once

#include "version.hpp"

namespace mock_gateway::detail {

extern "C" {
/// The implementation defines this. A linker that misses it prints the name, which says what to do. mold prints missing
/// names in the order of a hash, which puts this one among the first.
void define_MOCK_GATEWAY_IMPLEMENTATION_in_a_single_cpp_file();
}

/// The type of a parameter that is never passed: its default makes the calling file refer to the implementation.
using Implementation = void (*)();

}  // namespace mock_gateway::detail
