// The result of a wait; `clock.cpp` prints it.

#pragma once

#include <iosfwd>
#include <string>
#include <utility>

#include "version.hpp"

namespace mock_gateway {

namespace detail {

struct Access;

}  // namespace detail

/// The result of a wait with a timeout: true if the condition was met in time. Prints itself, so that a failed
/// REQUIRE(wait) shows the condition and its progress.
class [[nodiscard]] Wait {
 public:
  explicit operator bool() const { return fulfilled_; }
  /// Returns the condition, and its progress when the wait ended.
  const std::string& message() const { return message_; }

 private:
  friend struct detail::Access;
  Wait(bool fulfilled, std::string message) : fulfilled_(fulfilled), message_(std::move(message)) {}

  bool fulfilled_;
  std::string message_;
};

std::ostream& operator<<(std::ostream& out, const Wait& wait);

}  // namespace mock_gateway
