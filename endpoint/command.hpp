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

/// The variables of this process, with what a client under test needs to find the gateway: OPENAI_BASE_URL,
/// OPENAI_API_BASE, OPENAI_API_KEY, NO_PROXY and no_proxy with the gateway's host added, and these ("NAME=value").
std::vector<std::string> client_environment(const Gateway& gateway, const std::vector<std::string>& more);

/// Keeps SIGINT, SIGTERM, SIGHUP and SIGCHLD for wait(), from all threads that are started later. One per
/// program, made by the main thread before it starts any.
class SignalsForCommand {
 public:
  SignalsForCommand();
  SignalsForCommand(const SignalsForCommand&) = delete;
  SignalsForCommand& operator=(const SignalsForCommand&) = delete;

  /// What a command gets: as it was before.
  const sigset_t& mask_before() const { return before_; }
  /// The signals whose default action a command gets back.
  const sigset_t& changed() const { return changed_; }
  /// Waits for one of them, at most so long; without a number, until one comes.
  void wait(std::optional<std::chrono::milliseconds> at_most) const;
  /// From now on signals do what they did before.
  void give_back() const;
  /// A SIGINT, SIGTERM or SIGHUP that has come and was not asked for before.
  std::optional<int> next() const;

 private:
  sigset_t before_;
  sigset_t changed_;
  sigset_t while_waiting_;
};

/// Starts a program in a process group of its own, whose number is returned, with these files at its standard streams
/// where they are given. On Linux it ends when the calling thread of this program has ended. Throws BadValue: "cannot
/// start pytest: No such file or directory".
pid_t start_in_group(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                     const SignalsForCommand& signals, const std::optional<std::array<int, 3>>& streams = std::nullopt);
/// Lets processes whose parents have ended come to this program, where the system can: nobody else would take them in,
/// and ended ones would seem to live.
void take_in_orphans();
/// Whether a process of the group is there. Takes in those that have ended and came to this program.
bool is_anyone_in(pid_t group);
/// "pytest exited with 3", "pytest was ended by signal 11 (Segmentation fault)". The status is waitpid's.
std::string how_it_ended(const std::string& name, int status);

/// A command that runs beside the gateway, in a process group of its own, with the terminal if this program had it.
class Command {
 public:
  /// Throws BadValue: "cannot start pytest: No such file or directory".
  Command(const std::vector<std::string>& words, const std::vector<std::string>& environment,
          const SignalsForCommand& signals);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Waits until it has ended. SIGINT, SIGTERM and SIGHUP go on to its group; the second of them gives it five seconds
  /// before SIGKILL, the third none. Then ends what it left behind in its group, and says so. Returns its exit status,
  /// or 128 and the signal that ended it.
  int wait();
  /// Says how the command ended: "pytest exited with 3", "pytest was ended by signal 11 (Segmentation fault)".
  std::string how_it_ended() const { return endpoint::how_it_ended(name_, status_); }

 private:
  void pass_signals_on();
  /// Stops with a command that was stopped on its terminal, as a shell's job does, and goes on with it.
  void stop_with_it();
  void end_those_left_behind();
  bool is_gone_within(std::chrono::milliseconds time) const;

  const SignalsForCommand& signals_;
  const std::string name_;
  pid_t group_ = 0;
  bool has_terminal_ = false;
  int passed_on_ = 0;
  std::optional<std::chrono::steady_clock::time_point> deadline_;  // of SIGKILL
  int status_ = 0;                                                 // as waitpid gives it
};

}  // namespace endpoint
}  // namespace mock_gateway
