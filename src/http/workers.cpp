// A thread pool with one thread per job; the lifetime of idle threads.

#include "workers.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace mock_gateway::detail {

Workers::~Workers() {
  shut_down(std::chrono::hours{1}, [] {});
}

bool Workers::run(std::function<void()> job) {
  Threads finished;
  bool has_thread = true;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    jobs_.push_back(std::move(job));
    if (jobs_.size() <= idle_) {
      job_or_end_.notify_one();
    } else {
      Threads started;
      try {
        const auto self = started.emplace(started.end());
        self->start([this, self] { work(self); });
        threads_.splice(threads_.end(), started);
      } catch (const std::exception&) {  // the system gives no thread or memory
        jobs_.pop_back();
        has_thread = false;
      }
    }
    finished.swap(retired_);
  }
  for (StackedThread& thread : finished) thread.join();
  return has_thread;
}

const Workers*& Workers::current() {
  thread_local const Workers* current = nullptr;
  return current;
}

void Workers::work(Threads::iterator self) {
  current() = this;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    if (jobs_.empty() && !ending_) {
      ++idle_;
      job_or_end_.wait_for(lock, std::chrono::seconds{1}, [&] { return !jobs_.empty() || ending_; });
      --idle_;
    }
    if (jobs_.empty()) break;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;  // destroys the job before the wait and without the lock
    lock.lock();
  }
  retired_.splice(retired_.end(), threads_, self);
  if (threads_.empty()) all_gone_.notify_all();
}

void Workers::retire() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  job_or_end_.notify_all();
}

void Workers::shut_down(Duration patience, const std::function<void()>& still_waiting) {
  retire();
  Threads finished;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!all_gone_.wait_for(lock, patience, [&] { return threads_.empty(); })) {
      lock.unlock();
      still_waiting();
      lock.lock();
    }
    finished.swap(retired_);
  }
  for (StackedThread& thread : finished) thread.join();
}

}  // namespace mock_gateway::detail
