#include "options.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {

MOCK_GATEWAY_INLINE Options::Options() = default;
MOCK_GATEWAY_INLINE Options::Options(const Options&) = default;
MOCK_GATEWAY_INLINE Options::Options(Options&&) noexcept = default;
MOCK_GATEWAY_INLINE Options& Options::operator=(const Options&) = default;
MOCK_GATEWAY_INLINE Options& Options::operator=(Options&&) noexcept = default;
MOCK_GATEWAY_INLINE Options::~Options() = default;

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
