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

/// The codes of console addresses: each is exchanged for the token once, within 60 s of real time, at the program that
/// made it. A browser's history keeps addresses, and finds there a code that opens nothing any more. For any thread.
class SessionCodes {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Verdict {
    /// It opens the console now, and never again.
    good,
    used,
    late,
    /// No code of this program, or one of long ago.
    unknown,
  };

  static constexpr std::chrono::seconds lifetime{60};
  /// Between two fresh codes, so that nobody fills a terminal with them.
  static constexpr std::chrono::seconds pause{5};

  /// `now` is another clock for tests.
  explicit SessionCodes(std::function<Clock::time_point()> now = &Clock::now) : now_(std::move(now)) {}

  /// A new code, in base64url.
  std::string make();
  /// Judges a code. A good one is used from now on.
  Verdict take(std::string_view code);
  /// Gives `show` a fresh code, unless it was given one less than 5 s ago. Where `show` returns false, nobody has seen
  /// the code: it opens nothing, and the next call may show one at once.
  void renew(const std::function<bool(const std::string& code)>& show);

 private:
  struct Issued {
    std::string code;
    Clock::time_point made;
    bool used = false;
  };
  /// Codes are made when a person needs one: so many are remembered, to tell a used one from a foreign one.
  static constexpr std::size_t most_remembered = 100;

  std::string add(Clock::time_point made);

  const std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  std::mutex renewing_;  // held while a fresh code is shown
  std::deque<Issued> issued_;
  std::optional<Clock::time_point> renewed_;
};

}  // namespace endpoint
}  // namespace mock_gateway
