#include "wait.hpp"

#include <ostream>

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {

MOCK_GATEWAY_INLINE std::ostream& operator<<(std::ostream& out, const Wait& wait) {
  return out << (wait ? "" : "timed out: ") << wait.message();
}

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
