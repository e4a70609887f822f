// The symbol whose absence makes the linker report a missing implementation.

#include "implementation.hpp"

namespace mock_gateway::detail {

extern "C" {
void define_MOCK_GATEWAY_IMPLEMENTATION_in_a_single_cpp_file() {}
}

}  // namespace mock_gateway::detail
