// What all systems share of sockets; why a port is unavailable (`explain`).

#include "sockets.hpp"

namespace mock_gateway::detail {
namespace sockets {

void discard_received(Socket socket) {
  char bytes[4096];
  std::size_t count = 0;
  std::optional<Duration> age;
  while (receive(socket, bytes, sizeof bytes, count, age) == Transfer::done && count > 0) {
  }
}

std::string explain(const Binding& failed, const std::string& host, int port) {
  switch (failed.problem) {
    case Problem::unresolved_host: return "the host \"" + host + "\" cannot be resolved (" + failed.text + ")";
    case Problem::taken_port: return "port " + std::to_string(port) + " is taken";
    case Problem::foreign_host: return "the host \"" + host + "\" is not an address of this machine";
    case Problem::no_privileges: return "port " + std::to_string(port) + " needs privileges";
    case Problem::other: break;
  }
  return failed.text.empty() ? "no address of \"" + host + "\" can be used" : failed.text;
}

void close_wake(const WakePair& wake) {
  if (wake.reading != Socket::none) close(wake.reading);
  if (wake.writing != Socket::none && wake.writing != wake.reading) close(wake.writing);
}

}  // namespace sockets
}  // namespace mock_gateway::detail
