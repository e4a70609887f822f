#pragma once

#include <stdexcept>
#include <string>

namespace mock_gateway {
namespace endpoint {

/// The exit code when verify() or review() found something that --fail-on counts.
inline constexpr int exit_found = 1;
/// The exit code when the program could not do what it was asked: a bad flag, a taken port, a bad script.
inline constexpr int exit_unusable = 2;

/// A flag's value that cannot be used. The message says what would be.
struct BadValue : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A message of the library, which begins with its name, without that.
std::string without_prefix(std::string message);

/// The text as UTF-8. Where it holds a character that steers a terminal or turns the line around, it is escaped as JSON
/// in ASCII.
std::string printable(const std::string& text);

/// A word of a command for a POSIX shell.
std::string quoted_for_shell(const std::string& word);

/// A line "mock-gateway: …", without its end. Line ends inside the text become spaces.
std::string complaint(std::string text);
/// The same on stderr.
void complain(std::string text);

/// Takes over what std::cerr writes, so that the end of the program need not wait for a pipe that nobody reads. To be
/// called before the first thread starts.
void take_over_stderr();
/// From now on nobody waits longer for stderr than a second in which nothing of it is read; the rest is left out.
void give_stderr_up();

enum class Colour { none, red, green, yellow };

/// The text in that colour when stderr is a terminal and NO_COLOR is unset or empty (no-color.org); else as it is.
std::string coloured(Colour colour, const std::string& text);

}  // namespace endpoint
}  // namespace mock_gateway
