#pragma once

#include <stdexcept>
#include <string>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

/// The exit code if verify() or review() found something that --fail-on counts.
inline constexpr int exit_found = 1;
/// The exit code for usage errors: an invalid flag, a used port, an invalid script.
inline constexpr int exit_unusable = 2;

/// An invalid value of a flag. The message describes valid values.
struct BadValue : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Removes the library's name from the start of its message.
std::string without_prefix(std::string message);

using internal::printable;

std::string quoted_for_shell(const std::string& word);

/// Returns the line "mock-gateway: …" without a line end. Line ends in the text become spaces.
std::string complaint(std::string text);
/// Prints the complaint on stderr.
void complain(std::string text);

/// Replaces the buffer of std::cerr, so that the end of the program does not wait for an unread pipe. Call it before
/// the first thread starts.
void take_over_stderr();
/// Makes later writes to stderr give up after one second without progress.
void limit_stderr_writes();

enum class Colour { none, red, green, yellow };

/// Colours the text if stderr is a terminal and NO_COLOR is unset or empty (no-color.org).
std::string coloured(Colour colour, const std::string& text);

}  // namespace endpoint
}  // namespace mock_gateway
