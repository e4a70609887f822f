#pragma once

#include <cstddef>

namespace bench {

/// How often this program has taken memory by `new` so far. A program that links allocations.cpp counts it.
std::size_t allocations();

}  // namespace bench
