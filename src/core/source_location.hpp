// A position in a test; `reporter.cpp` prints it.

#pragma once

#include <string>

#include "version.hpp"

namespace mock_gateway {

/// A position in the test's source. Not std::source_location, which needs C++20.
struct SourceLocation {
  const char* file = "";
  int line = 0;

  static constexpr SourceLocation current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return SourceLocation{file, line};
  }
  /// Returns "agent_test.cpp:41", without the folder, or empty if unknown.
  std::string to_string() const;
};

}  // namespace mock_gateway
