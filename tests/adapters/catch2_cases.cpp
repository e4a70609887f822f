#include "scenario.hpp"
// The adapter may be asked for after a first include without it, and more than once.
#define MOCK_GATEWAY_ADAPTER_CATCH2
#include "mock_gateway.hpp"
// The second time changes nothing.
#include "mock_gateway.hpp"

#define SUBCASE SECTION
#include "shared_cases.hpp"
