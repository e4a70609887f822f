// A counting `operator new`. In a separate file, so that no compiler sees that the matching `delete` is free().

#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> taken{0};
}

std::size_t bench::allocations() { return taken.load(std::memory_order_relaxed); }

void* operator new(std::size_t size) {
  taken.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
