// Threads of POSIX systems with a minimal stack size.

#include "workers.hpp"

#ifndef _WIN32
#include <pthread.h>

#include <cstring>
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
  ::pthread_t thread{};
  const int error = ::pthread_create(&thread, &attributes, &workers::run_job, owned.get());
  ::pthread_attr_destroy(&attributes);
  require(error);
  static_cast<void>(owned.release());  // owned by the thread
  static_assert(sizeof thread <= sizeof thread_);
  std::memcpy(&thread_, &thread, sizeof thread);
}

void StackedThread::join() {
  ::pthread_t thread{};
  std::memcpy(&thread, &thread_, sizeof thread);
  ::pthread_join(thread, nullptr);
}

}  // namespace mock_gateway::detail
#endif
