#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>

namespace mock_gateway {
namespace endpoint {

/// Writes to a descriptor, where each write waits for room first: a thread inside of write() could not be called back.
/// For one writer at a time; any thread may give it up.
class PatientOutput {
 public:
  /// How a write ended.
  enum class End {
    written,
    /// It was given up, and nobody reads it.
    unread,
    /// The system refuses: errno says why.
    failed,
  };

  /// As much as a pipe that has room at all takes without a wait.
  static const std::size_t one_piece;
  static constexpr std::size_t all = static_cast<std::size_t>(-1);

  /// The descriptor stays its owner's. `at_once`: the most that is given to one write().
  explicit PatientOutput(int descriptor, std::size_t at_once = one_piece)
      : descriptor_(descriptor), at_once_(at_once) {}

  /// Takes what was written off the text.
  End write(std::string_view& text);
  /// From now on nobody waits longer than a second in which nothing of it is read.
  void give_up() { given_up_ = true; }

 private:
  /// False when it was given up and nobody reads it.
  bool wait_for_room();

  const int descriptor_;
  const std::size_t at_once_;
  std::atomic<bool> given_up_{false};
  std::atomic<bool> unread_{false};  // for the second that it was given
};

}  // namespace endpoint
}  // namespace mock_gateway
