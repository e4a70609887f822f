#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../command.hpp"

namespace mock_gateway {
namespace endpoint {

using Deadline = std::chrono::steady_clock::time_point;

/// All processes that `check` starts: what they have in common, and that none of them is left.
class Children {
 public:
  /// To be made before the first thread starts.
  Children();
  /// Ends what is left.
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  const SignalsForCommand& signals() const { return signals_; }
  /// From now on nobody waits for a process: each is ended.
  void cancel() { cancelled_ = true; }
  bool is_cancelled() const { return cancelled_; }
  /// Ends what has come to this program because its parents have ended, and says what that was: "4711 (sleep)". Where
  /// the system does not list its processes, nothing.
  std::string end_orphans();

 private:
  friend class Child;
  SignalsForCommand signals_;
  const std::vector<pid_t> earlier_;  // children of this program that it has not started
  std::mutex starting_;               // a pipe of one would else be inherited by another that starts beside it
  std::atomic<bool> cancelled_{false};
};

/// A process with pipes at its standard streams, in a process group of its own. One thread uses it.
class Child {
 public:
  /// `fed`: its stdin is a pipe, else empty. Throws BadValue when it cannot be started.
  Child(Children& children, const std::vector<std::string>& words, const std::vector<std::string>& environment,
        bool fed);
  /// Ends it.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Writes a line to its stdin. False when it does not read.
  bool send(const std::string& line, Deadline deadline);
  /// The next line of its stdout, without its end; the first 64 MiB of a longer one. Nothing when it has ended, the
  /// deadline has passed, or all is cancelled.
  std::optional<std::string> line(Deadline deadline);
  /// Whether it has ended by the deadline.
  bool wait(Deadline deadline);
  /// Closes its stdin, and ends its group: SIGTERM, after two seconds SIGKILL. Returns what was in the group besides
  /// the process itself: "4711 (sleep)".
  std::string end();

  bool has_ended() const { return status_.has_value(); }
  /// The same, and looks.
  bool has_ended_by_now();
  /// As waitpid gives it, once it has ended.
  int status() const { return status_.value_or(0); }
  /// "python exited with 3".
  std::string how_it_ended() const { return endpoint::how_it_ended(name_, status()); }
  /// What it has printed and line() did not take; of more than 64 MiB the first.
  const std::string& output() const { return output_; }
  /// From now on the ends of what it prints are those of what comes now.
  void forget_what_it_printed();
  /// The last 16 KiB of its stdout, and of its stderr.
  std::string output_tail() const;
  std::string error_tail() const;

 private:
  /// Reads what is there. Waits for it, or for its end, a while at most, and never beyond the deadline.
  void look(Deadline deadline);
  void take_in();

  Children& children_;
  const std::string name_;
  pid_t group_ = 0;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::optional<int> status_;
  bool was_ended_ = false;
  std::string output_;
  std::size_t begin_ = 0;  // of what line() did not take, in output_
  std::string taken_;      // the end of what line() took
  std::string errors_;
};

}  // namespace endpoint
}  // namespace mock_gateway
