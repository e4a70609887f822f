// The second file that includes the header. If a function lacks `inline`, linking fails.
#include "mock_gateway.hpp"

std::string second_base_url() {
  const mock_gateway::Gateway gateway;
  return gateway.base_url();
}
