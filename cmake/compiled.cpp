// The one source file of mock_gateway::mock_gateway; contains the implementation.
#define MOCK_GATEWAY_IMPLEMENTATION
#include "mock_gateway.hpp"
