#pragma once

// Clients on parallel threads.

#include <cstddef>
#include <thread>
#include <vector>

namespace test_support {

/// Calls `run(number)` on `count` parallel threads and waits for all of them.
template <class Run>
void in_threads(std::size_t count, const Run& run) {
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < count; ++number) threads.emplace_back([&run, number] { run(number); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace test_support
