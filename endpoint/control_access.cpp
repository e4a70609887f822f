#include "control_access.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string_view>
#include <system_error>
#include <thread>

#include "core/text.hpp"
#include "messages.hpp"
#include "serving.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

constexpr const char* token_variable = "MOCK_GATEWAY_CONTROL_TOKEN";
constexpr std::string_view base64url_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Bytes that nobody can guess.
std::string random_bytes(std::size_t count) {
  std::random_device random;
  std::string bytes;
  while (bytes.size() < count) bytes += static_cast<char>(random() & 0xffU);
  return bytes;
}

void append_hex(std::string& text, char byte) {
  const auto value = static_cast<unsigned char>(byte);
  text += detail::text::hex_digits[value >> 4U];
  text += detail::text::hex_digits[value & 15U];
}

/// No other program has the same.
std::string random_instance() {
  std::string text;
  for (const char byte : random_bytes(16)) append_hex(text, byte);
  return text;
}

/// 32 random bytes in base64url (RFC 4648, 5), without padding, behind a beginning by which whoever searches a log or a
/// repository for secrets finds it.
std::string random_token() {
  std::string text = "mgct_";
  unsigned bits = 0;
  unsigned available = 0;
  for (const char byte : random_bytes(32)) {
    bits = (bits << 8U | static_cast<unsigned char>(byte)) & 0xffffU;
    for (available += 8; available >= 6; available -= 6) text += base64url_digits[bits >> (available - 6) & 63U];
  }
  return text + base64url_digits[bits << (6 - available) & 63U];
}

/// The token as it stands in an address (RFC 3986, 2.1): a chosen one may have '%' and '&', which mean something there.
std::string percent_encoded(std::string_view token) {
  std::string text;
  for (const char byte : token) {
    if (base64url_digits.find(byte) != std::string_view::npos)
      text += byte;
    else
      append_hex(text += '%', byte);
  }
  return text;
}

/// The one that the environment chooses, else a random one. The message does not repeat what cannot be used.
std::string chosen_token() {
  const char* const chosen = std::getenv(token_variable);
  if (!chosen) return random_token();
  const std::string token = chosen;
  const bool is_visible = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (token.size() < 16 || !is_visible)
    throw BadValue(std::string(token_variable) +
                   ": a token has at least 16 characters, all of them visible ASCII; unset, one is made up");
  return token;
}

std::optional<ControlSettings> settings_from(const Flags& flags) {
  const std::string control = flags.control.value_or("off");
  if (control == "off") {
    if (flags.control_host) throw BadValue("--control-host: there is no control API without --control PORT");
    if (!flags.control_allowed_hosts.empty())
      throw BadValue("--control-allow-host: there is no control API without --control PORT");
    return std::nullopt;
  }
  ControlSettings settings;
  const auto [end, problem] = std::from_chars(control.data(), control.data() + control.size(), settings.port);
  if (problem != std::errc{} || end != control.data() + control.size() || settings.port < 0 || settings.port > 65535)
    throw BadValue("--control: not a port from 0 to 65535, and not off: " + control);
  settings.host = flags.control_host.value_or(settings.host);
  for (const std::string& name : flags.control_allowed_hosts) {
    if (name.empty() || name.find_first_of("/:@ ") != std::string::npos)
      throw BadValue("--control-allow-host: a name such as gateway.internal, without scheme and port: " + name);
  }
  settings.allowed_hosts = flags.control_allowed_hosts;
  settings.token = chosen_token();
  return settings;
}

}  // namespace

ControlAccess::ControlAccess(const Flags& flags) : settings_(settings_from(flags)), instance_(random_instance()) {
  if (!flags.info_file.empty()) info_file_.emplace("--info-file", flags.info_file);
}

void ControlAccess::begin(Serving& serving) {
  if (settings_) {
    settings_->instance = instance_;
    server_.emplace(serving, *settings_);
    serving.warn_of_network("the control API", settings_->host);
  }
  if (info_file_) info_file_->write(info(serving.gateway()) + "\n");
}

void ControlAccess::end() {
  info_file_.reset();  // first, so that nobody finds there what is gone
  server_.reset();
}

std::string ControlAccess::url() const { return server_ ? server_->url() : std::string(); }

std::string ControlAccess::console_with_token() const { return url() + "/#token=" + percent_encoded(server_->token()); }

std::string ControlAccess::info(const Gateway& gateway) const {
  const Json info{{"instance", instance_},
                  {"pid", static_cast<std::int64_t>(::getpid())},
                  {"base_url", gateway.base_url()},
                  {"api_key", gateway.api_key()},
                  {"control_url", server_ ? Json(server_->url()) : Json()},
                  {"control_token", server_ ? Json(server_->token()) : Json()},
                  {"version", MOCK_GATEWAY_VERSION}};
  return info.dump();
}

void end_with_stdin() {
  std::thread([] {
    char ignored[4096];
    for (;;) {
      const ssize_t count = ::read(STDIN_FILENO, ignored, sizeof ignored);
      if (count == 0 || (count < 0 && errno != EINTR)) break;
    }
    ::kill(::getpid(), SIGTERM);
  }).detach();  // it waits for a stdin that may stay open for longer than the program runs
}

}  // namespace endpoint
}  // namespace mock_gateway
