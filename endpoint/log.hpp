#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "journal_file.hpp"
#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

/// Does jobs in their order, on a thread of its own. Under load it does many at a time, and nobody who gives it one
/// has to wake it.
class Worker {
 public:
  using Job = std::function<void()>;

  /// `after_some` is called after each time that it has done all jobs there were.
  explicit Worker(Job after_some = [] {});
  ~Worker() { finish(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Takes the job, unless too many wait already: false.
  bool offer(Job job);
  /// Takes the job, once not too many wait.
  void add(Job job);
  /// Does what is left. No job may come afterwards.
  void finish();

 private:
  static constexpr std::size_t most_jobs = 10'000;  // as many as the journal keeps exchanges

  void work();
  /// Expects the mutex to be held.
  void take(Job job);

  const Job after_some_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable has_room_;
  std::deque<Job> jobs_;
  bool naps_ = false;  // it looks for jobs by itself in a moment
  bool ended_ = false;
  bool joined_ = false;
  internal::Thread thread_;  // the exchanges that it writes may be nested deep
};

/// Writes what happened to stderr and to the file of --journal, and knows whether the scenario did. Threads of their
/// own write: a stderr that nobody reads would delay the next request of the connection, and what comes to the file.
class Log {
 public:
  /// `quiet`: no line per request or connection. `journal`: a file that each exchange is appended to as JSON, or
  /// JournalFile::stdout_path; empty: none. `run` names this run of the program there. Throws std::runtime_error when
  /// the file cannot be opened.
  Log(std::optional<Scenario> chosen, bool quiet, const std::string& journal, const std::string& run);
  /// Writes what is left, but waits no longer for a stdout or stderr that nobody reads.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Notes an exchange that has ended. Exchanges are masked: no key can be in the line, and no control character.
  void note(const Exchange& exchange);
  void note(const ConnectionHit& hit);
  /// Writes a line in its turn.
  void say(std::string line);
  /// Writes what is left, and says when the scenario never struck. Nothing may be noted afterwards.
  void end();
  /// How many exchanges and struck connections were noted: 0 when no client came.
  std::size_t noted() const { return noted_; }
  /// Whether one of them was no request that the gateway refused for what its client sent.
  bool has_served() const { return served_; }

 private:
  /// Gives the journal's thread an exchange.
  void append(const Exchange& exchange);
  void enqueue_line(Worker::Job line);
  /// Writes lines in one piece, as those of other threads are.
  void write_out();

  const std::optional<Scenario> chosen_;
  const bool quiet_;
  std::atomic<std::size_t> noted_{0};
  std::atomic<std::size_t> exchanges_{0};
  std::atomic<bool> struck_{false};
  std::atomic<bool> served_{false};
  std::mutex losing_;
  std::size_t lost_ = 0;  // lines
  std::string written_;   // to be, by the thread of lines_
  Worker lines_{[this] { write_out(); }};
  std::optional<JournalFile> journal_;
  std::optional<Worker> appending_;  // last: it ends before what it uses
};

}  // namespace endpoint
}  // namespace mock_gateway
