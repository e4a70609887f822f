#include "reporter.hpp"

#include <atomic>

namespace mock_gateway {
namespace detail {
namespace reporters {

std::atomic<Reporter>& current() {
  static std::atomic<Reporter> reporter{nullptr};
  return reporter;
}

}  // namespace reporters

void set_reporter(Reporter reporter) { reporters::current() = reporter; }
Reporter reporter() { return reporters::current(); }

}  // namespace detail
}  // namespace mock_gateway
