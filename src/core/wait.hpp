#pragma once

#include <iosfwd>
#include <string>
#include <utility>

#include "version.hpp"

namespace mock_gateway {

namespace detail {

struct Access;

}  // namespace detail

/// How a bounded wait of the test ended: true when what was waited for came true in time. Prints itself, so that a
/// failed REQUIRE(wait) says what was missing.
class [[nodiscard]] Wait {
 public:
  /// Whether what was waited for came true in time.
  explicit operator bool() const { return fulfilled_; }
  /// What was waited for, and how far it had come when the wait ended.
  const std::string& message() const { return message_; }

 private:
  friend struct detail::Access;
  Wait(bool fulfilled, std::string message) : fulfilled_(fulfilled), message_(std::move(message)) {}

  bool fulfilled_;
  std::string message_;
};

std::ostream& operator<<(std::ostream& out, const Wait& wait);

}  // namespace mock_gateway
