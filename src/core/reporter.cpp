#include "reporter.hpp"

#include <atomic>

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {
namespace reporters {

MOCK_GATEWAY_INLINE std::atomic<Reporter>& current() {
  static std::atomic<Reporter> reporter{nullptr};
  return reporter;
}

}  // namespace reporters

MOCK_GATEWAY_INLINE void set_reporter(Reporter reporter) { reporters::current() = reporter; }
MOCK_GATEWAY_INLINE Reporter reporter() { return reporters::current(); }

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
