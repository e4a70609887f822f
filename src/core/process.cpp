// The process id; preserves SIGPIPE handling.

#include "process.hpp"

#include <unistd.h>

#include <mutex>

namespace mock_gateway::detail {
namespace process {

inline std::mutex sigpipe_mutex;

long id() { return ::getpid(); }

KeptSigpipe::KeptSigpipe() {
  sigpipe_mutex.lock();
  ::sigaction(SIGPIPE, nullptr, &before_);
}

KeptSigpipe::~KeptSigpipe() {
  ::sigaction(SIGPIPE, &before_, nullptr);
  sigpipe_mutex.unlock();
}

}  // namespace process
}  // namespace mock_gateway::detail
