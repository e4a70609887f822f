#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

/// Returns this process's environment plus what a client needs to find the gateway: OPENAI_BASE_URL, OPENAI_API_BASE,
/// OPENAI_API_KEY, the gateway's host in NO_PROXY and no_proxy, and `more` ("NAME=value").
std::vector<std::string> client_environment(const Gateway& gateway, const std::vector<std::string>& more);

/// Routes SIGINT, SIGTERM, SIGHUP and SIGCHLD to wait(), and blocks them in threads started later. The main thread
/// creates the only instance before it starts other threads.
class SignalsForCommand {
 public:
  SignalsForCommand();
  SignalsForCommand(const SignalsForCommand&) = delete;
  SignalsForCommand& operator=(const SignalsForCommand&) = delete;

  /// The original signal mask, for commands.
  const sigset_t& mask_before() const { return before_; }
  /// Signals to reset to their default action in commands.
  const sigset_t& changed() const { return changed_; }
  /// Waits for a signal, at most this long. Without a timeout, waits until a signal arrives.
  void wait(std::optional<std::chrono::milliseconds> at_most) const;
  /// Restores the original signal actions.
  void give_back() const;
  /// Returns a SIGINT, SIGTERM or SIGHUP that next() has not returned yet.
  std::optional<int> next() const;

 private:
  sigset_t before_;
  sigset_t changed_;
  sigset_t while_waiting_;
};

/// Starts a program in its own process group, and returns the group's ID. `streams` become its stdio, if given. On
/// Linux, the program is killed when the calling thread ends. Throws BadValue: "cannot start pytest: No such file or
/// directory".
pid_t start_in_group(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                     const SignalsForCommand& signals, const std::optional<std::array<int, 3>>& streams = std::nullopt);
/// Makes this program the subreaper of its descendants, on Linux. Otherwise ended orphans could stay zombies that seem
/// alive.
void become_subreaper();
/// Whether a process of the group is alive. Reaps ended ones that are children of this program.
bool group_has_members(pid_t group);
/// Describes a status from waitpid: "pytest exited with 3", "pytest was ended by signal 11 (Segmentation fault)".
std::string how_it_ended(const std::string& name, int status);

/// A command that runs beside the gateway, in its own process group. It gets the terminal if this program had it.
class Command {
 public:
  /// Throws BadValue: "cannot start pytest: No such file or directory".
  Command(const std::vector<std::string>& words, const std::vector<std::string>& environment,
          const SignalsForCommand& signals);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Waits until the command ends. Forwards SIGINT, SIGTERM and SIGHUP to its group; SIGKILL follows five seconds after
  /// the second signal, or at the third. Then ends the rest of the group, with a message. Returns the exit status, or
  /// 128 plus the signal that ended the command.
  int wait();
  std::string how_it_ended() const { return endpoint::how_it_ended(name_, status_); }

 private:
  void forward_signals();
  /// Stops and resumes this program together with a command that was stopped on its terminal, like a shell's job.
  void suspend_with_command();
  void terminate_leftovers();
  bool is_gone_within(std::chrono::milliseconds time) const;

  const SignalsForCommand& signals_;
  const std::string name_;
  pid_t group_ = 0;
  bool has_terminal_ = false;
  int passed_on_ = 0;
  std::optional<std::chrono::steady_clock::time_point> deadline_;  // SIGKILL follows then
  int status_ = 0;                                                 // from waitpid
};

}  // namespace endpoint
}  // namespace mock_gateway
