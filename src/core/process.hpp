// The process id; preserves SIGPIPE handling.

#pragma once

#include <unistd.h>

#include <csignal>
#include <mutex>

#include "version.hpp"

namespace mock_gateway::detail {
namespace process {

/// Returns an id that differs between a process and its forked children.
inline long id() { return ::getpid(); }

/// Preserves SIGPIPE handling during a call that changes it, such as cpp-httplib's server. Holds a lock.
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

}  // namespace process
}  // namespace mock_gateway::detail
