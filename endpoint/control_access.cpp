// Flags of the control API; token and its variable; console address on the terminal; info file; `--until-eof`.

#include "control_access.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include "journal_file.hpp"
#include "messages.hpp"
#include "secret.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

constexpr const char* token_variable = "MOCK_GATEWAY_CONTROL_TOKEN";

/// Returns 32 random bytes in base64url, with a prefix that secret scanners can search for.
std::string random_token() { return "mgct_" + random_base64url(32); }

/// Returns the token of the environment variable, or a random one. Error messages do not repeat an invalid token.
std::string chosen_token() {
  const char* const chosen = std::getenv(token_variable);
  if (!chosen) return random_token();
  const std::string token = chosen;
  const bool is_visible = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (token.size() < 16 || !is_visible)
    throw BadValue(std::string(token_variable) +
                   ": a token needs at least 16 characters, all visible ASCII; without it, the program generates one");
  return token;
}

/// Prints a console address on the terminal. Returns false if stdout is not a terminal or would block.
bool show_on_terminal(const std::string& address) {
  if (::isatty(STDOUT_FILENO) == 0) return false;
  pollfd terminal{STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&terminal, 1, 0) != 1 || (terminal.revents & POLLOUT) == 0) return false;
  const std::string line = "console   " + address + "\n";
  return ::write(STDOUT_FILENO, line.data(), line.size()) == static_cast<ssize_t>(line.size());
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
  const auto port = internal::text::whole_number(control);
  if (!port || *port > 65535) throw BadValue("--control: not a port from 0 to 65535, and not off: " + control);
  settings.port = static_cast<int>(*port);
  settings.host = flags.control_host.value_or(settings.host);
  for (const std::string& name : flags.control_allowed_hosts) {
    if (name.empty() || name.find_first_of("/:@ ") != std::string::npos)
      throw BadValue("--control-allow-host: a name such as gateway.internal, without scheme and port: " + name);
  }
  settings.allowed_hosts = flags.control_allowed_hosts;
  settings.token = chosen_token();
  if (flags.journal != JournalFile::stdout_path) settings.show_address = &show_on_terminal;
  return settings;
}

}  // namespace

ControlAccess::ControlAccess(const Flags& flags) : settings_(settings_from(flags)), instance_(random_base64url(16)) {
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
  info_file_.reset();  // first, so that no reader finds an API that has stopped
  server_.reset();
}

std::string ControlAccess::url() const { return server_ ? server_->url() : std::string(); }

RunIdentity ControlAccess::identity() const { return {instance_, settings_ ? settings_->token : std::string()}; }

std::string ControlAccess::console_with_code() { return server_->console_address(); }

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
  }).detach();  // detached: reading stdin may outlast the program
}

}  // namespace endpoint
}  // namespace mock_gateway
