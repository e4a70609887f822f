#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>

namespace mock_gateway {
namespace endpoint {

/// Writes to a descriptor, and waits for space before each write, since a blocking write() could not be cancelled. One
/// writer at a time; give_up() is thread-safe.
class PatientOutput {
 public:
  /// How a write ended.
  enum class End {
    written,
    /// Writing was given up, because the reader is too slow.
    unread,
    /// A system error; see errno.
    failed,
  };

  /// PIPE_BUF: a pipe with any free space accepts this much without blocking.
  static const std::size_t one_piece;
  static constexpr std::size_t all = static_cast<std::size_t>(-1);

  /// Does not own the descriptor. `at_once` is the maximum size of one write().
  explicit PatientOutput(int descriptor, std::size_t at_once = one_piece)
      : descriptor_(descriptor), at_once_(at_once) {}

  /// Removes the written bytes from `text`.
  End write(std::string_view& text);
  /// From now on, waits at most one second for space.
  void give_up() { given_up_ = true; }

 private:
  /// Returns false if writing was given up and the descriptor has no space.
  bool wait_for_room();

  const int descriptor_;
  const std::size_t at_once_;
  std::atomic<bool> given_up_{false};
  std::atomic<bool> unread_{false};  // no space for the whole last second
};

}  // namespace endpoint
}  // namespace mock_gateway
