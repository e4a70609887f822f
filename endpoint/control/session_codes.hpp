#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mock_gateway {
namespace endpoint {

/// The single-use codes of console addresses. A client exchanges a code for the token within 60 s of real time. A code
/// in the history of a browser is used up and opens nothing. Thread-safe.
class SessionCodes {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Verdict {
    /// The code was valid; it is now used.
    good,
    used,
    late,
    /// Not a code of this run, or too old to be remembered.
    unknown,
  };

  static constexpr std::chrono::seconds lifetime{60};
  /// The minimum time between new codes, which limits output on the terminal.
  static constexpr std::chrono::seconds pause{5};

  /// Tests pass another clock.
  explicit SessionCodes(std::function<Clock::time_point()> now = &Clock::now) : now_(std::move(now)) {}

  /// Returns a new code in base64url.
  std::string make();
  /// Checks a code, and marks a valid one as used.
  Verdict take(std::string_view code);
  /// Passes a new code to `show`, at most once in 5 s. If `show` returns false, the code is invalid, and the next call
  /// may show one immediately.
  void renew(const std::function<bool(const std::string& code)>& show);

 private:
  struct Issued {
    std::string code;
    Clock::time_point made;
    bool used = false;
  };
  /// The number of remembered codes, to tell used codes from unknown ones.
  static constexpr std::size_t most_remembered = 100;

  std::string add(Clock::time_point made);

  const std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  std::mutex renewing_;  // held while a new code is shown
  std::deque<Issued> issued_;
  std::optional<Clock::time_point> renewed_;
};

}  // namespace endpoint
}  // namespace mock_gateway
