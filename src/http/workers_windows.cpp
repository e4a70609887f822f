// Threads of Windows with a minimal stack size.

#include "workers.hpp"

#ifdef _WIN32
#include <windows.h>

#include <process.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

namespace mock_gateway::detail {
namespace workers {

unsigned __stdcall run_job(void* job) {
  const std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(job));
  (*owned)();
  return 0;
}

}  // namespace workers

void StackedThread::start(std::function<void()> job) {
  auto owned = std::make_unique<std::function<void()>>(std::move(job));
  thread_ = ::_beginthreadex(nullptr, static_cast<unsigned>(least_stack), &workers::run_job, owned.get(),
                             STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr);
  if (thread_ == 0) throw std::system_error(errno, std::generic_category(), "a thread of the gateway");
  static_cast<void>(owned.release());  // owned by the thread
}

void StackedThread::join() {
  const auto thread = reinterpret_cast<HANDLE>(thread_);
  ::WaitForSingleObject(thread, INFINITE);
  ::CloseHandle(thread);
}

}  // namespace mock_gateway::detail
#endif
