// The one file of mock_gateway::mock_gateway that holds the implementation.
#define MOCK_GATEWAY_IMPLEMENTATION
#include "mock_gateway.hpp"
