// Messages "mock-gateway: …"; colours; the buffer of std::cerr. Exit codes are in the header.

#include "messages.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <streambuf>
#include <string_view>

#include "library.hpp"
#include "patient_output.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// A stderr buffer that can give up on a slow reader.
class WaitingErrors final : public std::streambuf {
 public:
  void give_up() { output_.give_up(); }

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
  /// Ignores errors, which cannot be reported.
  void write(std::string_view text) { static_cast<void>(output_.write(text)); }

  PatientOutput output_{STDERR_FILENO};
};

WaitingErrors& errors() {
  static WaitingErrors& errors = *new WaitingErrors;  // never destroyed: std::cerr is used until exit
  return errors;
}

}  // namespace

std::string without_prefix(std::string message) {
  const std::string prefix = "mock_gateway: ";
  if (message.compare(0, prefix.size(), prefix) == 0) message.erase(0, prefix.size());
  return message;
}

std::string quoted_for_shell(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string complaint(std::string text) {
  text = without_prefix(std::move(text));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return "mock-gateway: " + text;
}

void complain(std::string text) { std::cerr << complaint(std::move(text)) + "\n" << std::flush; }

void take_over_stderr() { std::cerr.rdbuf(&errors()); }

void limit_stderr_writes() { errors().give_up(); }

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
