#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>

#include "../core/clock.hpp"

namespace mock_gateway::detail {

/// A thread with at least 2 MiB of stack, enough for a client's JSON nested 512 deep. Some systems default to less
/// (musl: 128 KiB); a larger default stays.
class StackedThread {
 public:
  static constexpr std::size_t least_stack = std::size_t{2} << 20;

  StackedThread() = default;
  StackedThread(const StackedThread&) = delete;
  StackedThread& operator=(const StackedThread&) = delete;

  /// Throws std::system_error if the system gives no thread. join() must follow.
  void start(std::function<void()> job);
  void join();

 private:
  std::uintptr_t thread_ = 0;  // a pthread_t or a HANDLE
};

/// A pool that never queues a job behind another: it grows on demand, and threads idle for 1 s end.
class Workers {
 public:
  Workers() = default;
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Runs the job on its own thread; never waits for another job. Returns false if the system gives no thread. The job
  /// is destroyed when it is done.
  bool run(std::function<void()> job);
  bool is_current() const { return current() == this; }
  /// Ends each thread after its current job.
  void retire();
  /// Calls retire() and waits for all jobs and threads, calling `still_waiting` every `patience` of real time.
  void shut_down(Duration patience, const std::function<void()>& still_waiting);

 private:
  using Threads = std::list<StackedThread>;
  void work(Threads::iterator self);
  static const Workers*& current();

  std::mutex mutex_;
  std::condition_variable job_or_end_;
  std::condition_variable all_gone_;
  std::deque<std::function<void()>> jobs_;
  Threads threads_;
  Threads retired_;  // finished threads, joined by the next caller
  std::size_t idle_ = 0;
  bool ending_ = false;
};

}  // namespace mock_gateway::detail
