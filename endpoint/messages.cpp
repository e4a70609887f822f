#include "messages.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

std::string without_prefix(std::string message) {
  const std::string prefix = "mock_gateway: ";
  if (message.compare(0, prefix.size(), prefix) == 0) message.erase(0, prefix.size());
  return message;
}

std::string printable(const std::string& text) {
  const std::string_view view = text;
  bool disruptive = false;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const auto byte = static_cast<unsigned char>(view[i]);
    const auto next = [&](std::size_t offset) {
      return i + offset < view.size() ? static_cast<unsigned char>(view[i + offset]) : 0u;
    };
    disruptive = disruptive || byte < 0x20 || byte == 0x7f || (byte == 0xc2 && next(1) < 0xa0) ||
                 // Spaces without width, line separators, the direction of writing: U+200B to U+202E, U+2060 on.
                 (byte == 0xe2 && next(1) == 0x80 &&
                  ((next(2) >= 0x8b && next(2) <= 0x8f) || (next(2) >= 0xa8 && next(2) <= 0xae))) ||
                 (byte == 0xe2 && next(1) == 0x81 && next(2) >= 0xa0 && next(2) <= 0xaf) ||
                 (byte == 0xef && next(1) == 0xbb && next(2) == 0xbf);
  }
  const std::string quoted = Json(text).dump(-1, ' ', disruptive, Json::error_handler_t::replace);
  return disruptive ? quoted.substr(1, quoted.size() - 2) : Json::parse(quoted).get<std::string>();
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
