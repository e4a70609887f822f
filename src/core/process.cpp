#include "process.hpp"

#include <unistd.h>

#include <mutex>

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {
namespace process {

inline std::mutex sigpipe_mutex;

MOCK_GATEWAY_INLINE long id() { return ::getpid(); }

MOCK_GATEWAY_INLINE KeptSigpipe::KeptSigpipe() {
  sigpipe_mutex.lock();
  ::sigaction(SIGPIPE, nullptr, &before_);
}

MOCK_GATEWAY_INLINE KeptSigpipe::~KeptSigpipe() {
  ::sigaction(SIGPIPE, &before_, nullptr);
  sigpipe_mutex.unlock();
}

}  // namespace process
}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
