// A thread pool with one thread per job; the lifetime of idle threads. The minimal stack size is in the header.

#include "workers.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <system_error>
#include <utility>

namespace mock_gateway::detail {
namespace workers {

void* run_job(void* job) noexcept {
  const std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(job));
  (*owned)();
  return nullptr;
}

}  // namespace workers

void StackedThread::start(std::function<void()> job) {
  const auto require = [](int error) {
    if (error != 0) throw std::system_error(error, std::generic_category(), "a thread of the gateway");
  };
  auto owned = std::make_unique<std::function<void()>>(std::move(job));
  ::pthread_attr_t attributes;
  require(::pthread_attr_init(&attributes));
  std::size_t usual = 0;
  ::pthread_attr_getstacksize(&attributes, &usual);
  if (usual < least_stack) ::pthread_attr_setstacksize(&attributes, least_stack);
  const int error = ::pthread_create(&thread_, &attributes, &workers::run_job, owned.get());
  ::pthread_attr_destroy(&attributes);
  require(error);
  static_cast<void>(owned.release());  // owned by the thread
}

void StackedThread::join() { ::pthread_join(thread_, nullptr); }

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
