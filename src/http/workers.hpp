#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>

#include "../core/clock.hpp"

namespace mock_gateway::detail {

/// A thread whose stack is large enough for all that a client's JSON may ask of it, whatever the system's usual size
/// is: musl gives 128 KiB, and a body may be nested 512 deep. A larger usual size stays.
class StackedThread {
 public:
  static constexpr std::size_t least_stack = std::size_t{2} << 20;

  StackedThread() = default;
  StackedThread(const StackedThread&) = delete;
  StackedThread& operator=(const StackedThread&) = delete;

  /// Throws std::system_error when the system gives no thread. join() must follow.
  void start(std::function<void()> job);
  void join();

 private:
  ::pthread_t thread_{};
};

/// A thread per job, grown on demand and retired when idle for a second: a job that waits never delays another.
class Workers {
 public:
  Workers() = default;
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// False when the system gives no thread: then the job will not run. It never waits for another to end. What the job
  /// holds is destroyed when it is done.
  bool run(std::function<void()> job);
  /// Whether the caller is one of these threads.
  bool is_current() const { return current() == this; }
  /// From now on no thread waits for another job: each ends with the one that it is at.
  void retire();
  /// Retires, and waits until every job is done and every thread is gone, calling `still_waiting` every `patience` of
  /// real time.
  void shut_down(Duration patience, const std::function<void()>& still_waiting);

 private:
  using Threads = std::list<StackedThread>;
  void work(Threads::iterator self);
  /// Whose thread this is.
  static const Workers*& current();

  std::mutex mutex_;
  std::condition_variable job_or_end_;
  std::condition_variable all_gone_;
  std::deque<std::function<void()>> jobs_;
  Threads threads_;
  Threads retired_;  // finished, to be joined by whoever comes by
  std::size_t idle_ = 0;
  bool ending_ = false;
};

}  // namespace mock_gateway::detail
