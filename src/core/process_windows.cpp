// Windows has neither fork() nor signals of sockets.

#include "process.hpp"

#ifdef _WIN32
namespace mock_gateway::detail {
namespace process {

long id() { return 0; }

void keep_sigpipe(const std::function<void()>& changing) { changing(); }

}  // namespace process
}  // namespace mock_gateway::detail
#endif
