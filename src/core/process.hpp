#pragma once

#include <csignal>

#include "version.hpp"

namespace mock_gateway::detail {
namespace process {

/// An id that differs between a process and its forked children.
long id();

/// Preserves the process's SIGPIPE handling during a call that changes it, such as cpp-httplib's server. Locks, because
/// two concurrent ones would save each other's change.
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
