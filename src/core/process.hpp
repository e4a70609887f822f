#pragma once

#include <csignal>

#include "version.hpp"

namespace mock_gateway::detail {
/// What concerns the whole process.
namespace process {

/// Tells a process from its parent and its children.
long id();

/// Keeps what the process does on SIGPIPE, over a call that changes it: cpp-httplib's server ignores the signal for the
/// whole process. One at a time: of two at once, one would take the other's change for what the process wants.
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
