#pragma once

#include <string>

#include "version.hpp"

namespace mock_gateway {

/// Where in the test something was scripted. A type of its own, because std::source_location exists only from
/// C++20 on, and files of both standards may share one program.
struct SourceLocation {
  const char* file = "";
  int line = 0;

  static constexpr SourceLocation current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return SourceLocation{file, line};
  }
  /// "agent_test.cpp:41", the folder left out; empty when unknown.
  std::string to_string() const;
};

}  // namespace mock_gateway
