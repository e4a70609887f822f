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

/// Owns all processes that `check` starts, and ends them.
class Children {
 public:
  /// Create it before the first thread starts.
  Children();
  /// Ends all remaining processes.
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  const SignalsForCommand& signals() const { return signals_; }
  /// Makes all waits return early, so that every process is ended.
  void cancel() { cancelled_ = true; }
  bool is_cancelled() const { return cancelled_; }
  /// Ends orphaned descendants and returns their list: "4711 (sleep)". Returns an empty text if the system cannot list
  /// processes.
  std::string end_orphans();

 private:
  friend class Child;
  SignalsForCommand signals_;
  const std::vector<pid_t> earlier_;  // children that existed before `check` started any
  std::mutex starting_;               // so that a process does not inherit the pipes of another
  std::atomic<bool> cancelled_{false};
};

/// A process in its own process group, with pipes for stdio. Not thread-safe.
class Child {
 public:
  /// With `fed`, stdin is a pipe; otherwise it is empty. Throws BadValue if the process cannot be started.
  Child(Children& children, const std::vector<std::string>& words, const std::vector<std::string>& environment,
        bool fed);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Writes a line to stdin. Returns false if the process does not read it by the deadline.
  bool send(const std::string& line, Deadline deadline);
  /// Returns the next line of stdout without its line end, cut at 64 MiB. Returns nothing at the end of output, at the
  /// deadline, or after cancel().
  std::optional<std::string> line(Deadline deadline);
  /// Waits for the end of the process. Returns whether it ended by the deadline.
  bool wait(Deadline deadline);
  /// Closes stdin and ends the process group: SIGTERM, then SIGKILL after two seconds. Returns the other processes of
  /// the group: "4711 (sleep)".
  std::string end();

  bool has_ended() const { return status_.has_value(); }
  /// Updates the status first.
  bool has_ended_by_now();
  /// The status from waitpid; only after the process ended.
  int status() const { return status_.value_or(0); }
  /// "python exited with 3".
  std::string how_it_ended() const { return endpoint::how_it_ended(name_, status()); }
  /// Output that line() has not returned yet; the first 64 MiB.
  const std::string& output() const { return output_; }
  /// Drops earlier output, so that the tails contain only later output.
  void clear_output();
  /// The last 16 KiB of stdout and of stderr.
  std::string output_tail() const;
  std::string error_tail() const;

 private:
  /// Reads available output and updates the status. Waits up to 10 ms, but not past the deadline.
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
  std::size_t begin_ = 0;  // start of the output that line() has not returned
  std::string taken_;      // the tail of the lines that line() returned
  std::string errors_;
};

}  // namespace endpoint
}  // namespace mock_gateway
