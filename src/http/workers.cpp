#include "workers.hpp"

#include <chrono>
#include <system_error>

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {

MOCK_GATEWAY_INLINE Workers::~Workers() {
  shut_down(std::chrono::hours{1}, [] {});
}

MOCK_GATEWAY_INLINE bool Workers::run(std::function<void()> job) {
  Threads finished;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    finished.swap(retired_);
    jobs_.push_back(std::move(job));
    if (jobs_.size() <= idle_) {
      job_or_end_.notify_one();
    } else {
      const auto self = threads_.emplace(threads_.end());
      try {
        *self = std::thread([this, self] { work(self); });
      } catch (const std::system_error&) {
        threads_.erase(self);
        if (threads_.empty()) {
          jobs_.pop_back();
          return false;
        }
      }
    }
  }
  for (std::thread& thread : finished) thread.join();
  return true;
}

MOCK_GATEWAY_INLINE const Workers*& Workers::current() {
  thread_local const Workers* current = nullptr;
  return current;
}

MOCK_GATEWAY_INLINE void Workers::work(Threads::iterator self) {
  current() = this;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    if (jobs_.empty() && !ending_) {
      ++idle_;
      job_or_end_.wait_for(lock, std::chrono::seconds{1}, [&] { return !jobs_.empty() || ending_; });
      --idle_;
    }
    if (jobs_.empty()) break;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
  retired_.splice(retired_.end(), threads_, self);
  if (threads_.empty()) all_gone_.notify_all();
}

MOCK_GATEWAY_INLINE void Workers::retire() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  job_or_end_.notify_all();
}

MOCK_GATEWAY_INLINE void Workers::shut_down(Duration patience, const std::function<void()>& still_waiting) {
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
  for (std::thread& thread : finished) thread.join();
}

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
