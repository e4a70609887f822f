// The printed result of a test's wait, and "timed out: ".

#include "wait.hpp"

#include <ostream>

namespace mock_gateway {

std::ostream& operator<<(std::ostream& out, const Wait& wait) {
  return out << (wait ? "" : "timed out: ") << wait.message();
}

}  // namespace mock_gateway
