#pragma once

#include <sys/types.h>

#include <string>

namespace mock_gateway {
namespace endpoint {

/// A process that ends the command of `run` when `run` is gone without having ended it: SIGKILL, a crash, no memory. It
/// is in a session of its own, where a signal for the group of `run` does not reach it, and bears another name.
///
/// It ends the command's process group and, where the system has /proc, every process that was started with the
/// command's MOCK_GATEWAY_INFO, that came to `run` because its parents have ended, and whatever those have started. It
/// looks every 100 ms at what has come to `run`. Out of reach is a process that has left the group, was started without
/// that variable, and whose parents have ended since it last looked; and, without /proc, each that has left the group.
/// Its line on stderr says what it ended, and what is out of reach there.
class CommandWatch {
 public:
  /// Starts the process. To be made before the first thread starts and before ports are opened, which it would keep
  /// open. Throws BadValue.
  CommandWatch();
  /// Ends the process, once it has ended what was not released.
  ~CommandWatch();
  CommandWatch(const CommandWatch&) = delete;
  CommandWatch& operator=(const CommandWatch&) = delete;

  /// The file that the command's MOCK_GATEWAY_INFO names, and another, which go with the command. To be said before it
  /// starts.
  void will_start(const std::string& info_file, const std::string& other_file);
  void has_started(pid_t group);
  /// The command has ended, and what was to end with it.
  void release();

 private:
  void tell(const std::string& line) const;

  pid_t process_ = -1;
  int pipe_ = -1;  // closed by the system when this program is gone
};

}  // namespace endpoint
}  // namespace mock_gateway
