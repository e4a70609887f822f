#pragma once

#include <csignal>

#include "version.hpp"

namespace mock_gateway::detail {
namespace process {

/// An id that differs between a process and its forked children.
long id();

/// Preserves SIGPIPE handling during a call that changes it, such as cpp-httplib's server. Locks: one at a time.
class KeptSigpipe {
 public:
  KeptSigpipe();
  ~KeptSigpipe();
  KeptSigpipe(const KeptSigpipe&) = delete;
  KeptSigpipe& operator=(const KeptSigpipe&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace process
}  // namespace mock_gateway::detail
