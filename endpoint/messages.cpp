#include "messages.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

std::string without_prefix(std::string message) {
  const std::string prefix = "mock_gateway: ";
  if (message.compare(0, prefix.size(), prefix) == 0) message.erase(0, prefix.size());
  return message;
}

std::string printable(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (plain) return text;
  const std::string quoted = Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

void complain(std::string text) {
  text = without_prefix(std::move(text));
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::cerr << "mock-gateway: " << text << std::endl;
}

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
