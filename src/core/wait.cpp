// What a wait of a test gives back, and "timed out: ".

#include "wait.hpp"

#include <ostream>

namespace mock_gateway {

std::ostream& operator<<(std::ostream& out, const Wait& wait) {
  return out << (wait ? "" : "timed out: ") << wait.message();
}

}  // namespace mock_gateway
