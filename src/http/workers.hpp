#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include "../core/clock.hpp"

namespace mock_gateway {
namespace detail {

/// A thread per job, grown on demand and retired when idle for a second: a job that waits never delays another.
class Workers {
 public:
  Workers() = default;
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// False when the system gives no thread: then the job will not run. It never waits for another to end.
  bool run(std::function<void()> job);
  /// Whether the caller is one of these threads.
  bool is_current() const { return current() == this; }
  /// From now on no thread waits for another job: each ends with the one that it is at.
  void retire();
  /// Retires, and waits until every job is done and every thread is gone, calling `still_waiting` every `patience` of
  /// real time.
  void shut_down(Duration patience, const std::function<void()>& still_waiting);

 private:
  using Threads = std::list<std::thread>;
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

/// Returns to the system the memory of the calling thread's stack that is not in use now: to read and judge a request
/// takes more than to wait does, and thousands wait. Does nothing where the system has no way.
void release_unused_stack();

}  // namespace detail
}  // namespace mock_gateway
