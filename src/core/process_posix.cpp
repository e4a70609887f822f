// The process id; preserves SIGPIPE handling.

#include "process.hpp"

#ifndef _WIN32
#include <unistd.h>

#include <csignal>
#include <mutex>

namespace mock_gateway::detail {
namespace process {

/// Restores the handler of SIGPIPE. Holds a lock.
class KeptSigpipe {
 public:
  KeptSigpipe() { ::sigaction(SIGPIPE, nullptr, &before_); }
  ~KeptSigpipe() { ::sigaction(SIGPIPE, &before_, nullptr); }
  KeptSigpipe(const KeptSigpipe&) = delete;
  KeptSigpipe& operator=(const KeptSigpipe&) = delete;

 private:
  inline static std::mutex mutex_;
  const std::lock_guard<std::mutex> lock_{mutex_};
  struct sigaction before_ {};
};

long id() { return ::getpid(); }

void keep_sigpipe(const std::function<void()>& changing) {
  const KeptSigpipe kept;
  changing();
}

}  // namespace process
}  // namespace mock_gateway::detail
#endif
