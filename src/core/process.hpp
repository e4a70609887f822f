// Whether a process was forked; SIGPIPE.

#pragma once

#include <functional>

namespace mock_gateway::detail {
namespace process {

/// Returns an id that differs between a process and its forked children.
long id();
/// Preserves SIGPIPE handling during a call that changes it, such as of cpp-httplib's server.
void keep_sigpipe(const std::function<void()>& changing);

}  // namespace process
}  // namespace mock_gateway::detail
