#pragma once

#include <cstddef>

namespace bench {

/// How many times this program has called `operator new`. allocations.cpp counts the calls; the program must link it.
std::size_t allocations();

}  // namespace bench
