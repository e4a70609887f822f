// Exit codes (in the header); lines "mock-gateway: …"; colours; how long the end waits for whoever reads stderr.

#include "messages.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <streambuf>
#include <string_view>

#include "core/text.hpp"
#include "library.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// Stderr, where each write waits for room first: a thread inside of write() could not be called back.
class WaitingErrors final : public std::streambuf {
 public:
  void give_up() { given_up_ = true; }

 protected:
  int_type overflow(int_type character) override {
    const char one = traits_type::to_char_type(character);
    if (!traits_type::eq_int_type(character, traits_type::eof())) write({&one, 1});
    return traits_type::not_eof(character);
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    write({text, static_cast<std::size_t>(size)});
    return size;
  }

 private:
  /// A pipe that has room at all takes as much as this without a wait.
  static constexpr std::size_t most_at_once = PIPE_BUF;

  void write(std::string_view text) {
    while (!text.empty() && wait_for_room()) {
      const ssize_t written = ::write(STDERR_FILENO, text.data(), std::min(text.size(), most_at_once));
      if (written < 0 && errno != EINTR && errno != EAGAIN) return;
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  /// False when it was given up and nobody reads it.
  bool wait_for_room() {
    using Clock = std::chrono::steady_clock;
    constexpr int look_again_ms = 50;  // at whether it was given up meanwhile
    std::optional<Clock::time_point> latest;
    for (;;) {
      if (given_up_ && !latest) latest = Clock::now() + std::chrono::seconds(1);
      const bool waits = !unread_ && (!latest || Clock::now() < *latest);
      pollfd errors{STDERR_FILENO, POLLOUT, 0};
      const int ready = ::poll(&errors, 1, waits ? look_again_ms : 0);
      if (ready > 0 || (ready < 0 && errno != EINTR)) return true;  // write() tells what is wrong
      if (waits) continue;
      unread_ = true;
      return false;
    }
  }

  std::atomic<bool> given_up_{false};
  std::atomic<bool> unread_{false};  // for the second that it was given
};

WaitingErrors& errors() {
  static WaitingErrors& errors = *new WaitingErrors;  // never destroyed: std::cerr is used until the very end
  return errors;
}

}  // namespace

std::string without_prefix(std::string message) {
  const std::string prefix = "mock_gateway: ";
  if (message.compare(0, prefix.size(), prefix) == 0) message.erase(0, prefix.size());
  return message;
}

std::string printable(const std::string& text) { return detail::text::printable(text); }

std::string complaint(std::string text) {
  text = without_prefix(std::move(text));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return "mock-gateway: " + text;
}

void complain(std::string text) { std::cerr << complaint(std::move(text)) + "\n" << std::flush; }

void take_over_stderr() { std::cerr.rdbuf(&errors()); }

void give_stderr_up() { errors().give_up(); }

std::string coloured(Colour colour, const std::string& text) {
  static const bool has_colours = [] {
    const char* const forbidden = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) != 0 && (!forbidden || *forbidden == '\0') &&
           !(terminal && std::string(terminal) == "dumb");
  }();
  if (!has_colours || colour == Colour::none) return text;
  const char* const code = colour == Colour::red ? "31" : colour == Colour::green ? "32" : "33";
  return std::string("\x1b[") + code + "m" + text + "\x1b[0m";
}

}  // namespace endpoint
}  // namespace mock_gateway
