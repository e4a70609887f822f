#include "scenario.hpp"
// An adapter may be requested after a first include without it, and more than once.
#define MOCK_GATEWAY_ADAPTER_CATCH2
#include "mock_gateway.hpp"
// Including it again changes nothing.
#include "mock_gateway.hpp"

#define SUBCASE SECTION
#include "shared_cases.hpp"
