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

/// A worker thread with a job queue. Under load it processes jobs in batches, so that producers need not wake it.
class Worker {
 public:
  using Job = std::function<void()>;

  /// `after_some` is called after each batch.
  explicit Worker(Job after_some = [] {});
  ~Worker() { finish(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Enqueues a job. Returns false if the queue is full.
  bool offer(Job job);
  /// Enqueues a job. Waits while the queue is full.
  void add(Job job);
  /// Processes the remaining jobs and ends the thread. Do not add jobs afterwards.
  void finish();

 private:
  static constexpr std::size_t most_jobs = 10'000;  // the journal's limit of exchanges

  void work();
  /// Requires the mutex to be locked.
  void take(Job job);

  const Job after_some_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable has_room_;
  std::deque<Job> jobs_;
  bool naps_ = false;  // sleeping for a few milliseconds, no notification needed
  bool ended_ = false;
  std::function<void()> join_;  // empty after finish()
};

/// Logs to stderr and to the file of --journal, and tracks whether the chosen scenario took effect. Worker threads
/// write, so that an unread stderr delays neither requests nor the journal.
class Log {
 public:
  /// `quiet`: no line per request or connection. `logs_all`: not only for requests that the gateway could not serve.
  /// `journal`: the file for exchanges as JSON lines, JournalFile::stdout_path, or empty. `run` identifies this run in
  /// the file. Throws std::runtime_error if the file cannot be opened.
  Log(std::optional<Scenario> chosen, bool quiet, bool logs_all, const std::string& journal, const std::string& run);
  /// Writes the remaining lines. Does not wait for an unread stdout or stderr.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Logs a completed exchange. Exchanges are masked: lines contain neither keys nor control characters.
  void note(const Exchange& exchange);
  void note(const ConnectionHit& hit);
  void say(std::string line);
  /// Writes the remaining lines, and reports a scenario that never took effect. Do not log afterwards.
  void end();
  /// The number of logged exchanges and connection faults; 0 if no client came.
  std::size_t noted() const { return noted_; }
  /// Whether anything was logged besides requests that the gateway refused because of what the client sent.
  bool has_served() const { return served_; }

 private:
  void append(const Exchange& exchange);
  void enqueue_line(Worker::Job line);
  /// Writes the lines of a batch at once, so that they do not mix with those of other threads.
  void write_out();

  const std::optional<Scenario> chosen_;
  const bool quiet_;
  const bool logs_all_;
  std::atomic<std::size_t> noted_{0};
  std::atomic<std::size_t> exchanges_{0};
  std::atomic<bool> struck_{false};
  std::atomic<bool> served_{false};
  std::mutex losing_;
  std::size_t lost_ = 0;  // lines
  std::string written_;   // pending text of the thread of lines_
  Worker lines_{[this] { write_out(); }};
  std::optional<JournalFile> journal_;
  std::optional<Worker> appending_;  // last, so that it ends before the members it uses
};

}  // namespace endpoint
}  // namespace mock_gateway
