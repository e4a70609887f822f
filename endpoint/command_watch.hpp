#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace mock_gateway {
namespace endpoint {

/// A process that ends the commands of `run` or `check` when that is gone without having ended them: SIGKILL, a crash,
/// no memory. It is in a session of its own, where a signal for the group of the program does not reach it, and bears
/// another name.
///
/// It ends the commands' process groups and, where the system has /proc, every process that was started with the
/// commands' variable, that came to the program because its parents have ended, and whatever those have started. It
/// looks every 100 ms at what has come to the program. Out of reach is a process that has left the group, was started
/// without that variable, and whose parents have ended since it last looked; and, without /proc, each that has left the
/// group. Its line on stderr says what it ended, and what is out of reach there.
class CommandWatch {
 public:
  /// Starts the process. To be made before the first thread starts and before ports are opened, which it would keep
  /// open. Throws BadValue.
  /// `subcommand`: what it is said to have ended with.
  explicit CommandWatch(std::string subcommand);
  /// Ends the process, once it has ended what was not released.
  ~CommandWatch();
  CommandWatch(const CommandWatch&) = delete;
  CommandWatch& operator=(const CommandWatch&) = delete;

  /// A variable ("NAME=value") that every command gets and nothing else has, and the files that go with them. To be
  /// said before the first starts.
  void will_start(const std::string& variable, const std::vector<std::string>& files);
  void has_started(pid_t group);
  /// A command has ended, and what was to end with it. Several may be there at once.
  void has_ended(pid_t group);
  /// All have, and none follows.
  void release();
  /// The process.
  pid_t id() const { return process_; }

 private:
  void tell(const std::string& line) const;

  const std::string subcommand_;
  pid_t process_ = -1;
  int pipe_ = -1;  // closed by the system when this program is gone
};

}  // namespace endpoint
}  // namespace mock_gateway
