// The second file that includes the header: a function that is not inline where it should be fails to link.
#include "mock_gateway.hpp"

std::string second_base_url() {
  const mock_gateway::Gateway gateway;
  return gateway.base_url();
}
