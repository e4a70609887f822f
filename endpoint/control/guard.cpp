// Access checks: host (421), origin (403), token (401).

#include "guard.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "../secret.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

std::string quoted_header(const std::string& text) { return "\"" + internal::printable(text, 100) + "\""; }

}  // namespace

ControlGuard::ControlGuard(std::string token, std::vector<std::string> names) : token_(std::move(token)) {
  for (const std::string& name : names) names_.push_back(internal::text::lower_ascii(name));
}

void ControlGuard::set_allowed_hosts(const std::string& host, int port) {
  hosts_.clear();
  const std::string bound = host.find(':') == std::string::npos ? host : "[" + host + "]";
  for (const std::string& name : {std::string("127.0.0.1"), std::string("localhost"), std::string("[::1]"), bound}) {
    if (name == "0.0.0.0" || name == "[::]") continue;  // a wildcard address does not name a host
    hosts_.push_back(internal::text::lower_ascii(name) + ":" + std::to_string(port));
    if (port == 80) hosts_.push_back(internal::text::lower_ascii(name));
  }
}

void ControlGuard::require_host(const wire::Headers& headers, const std::string& authority) const {
  require_own("Host", headers.find("Host").value_or(""));
  if (!authority.empty()) require_own("the target's host", authority);
}

void ControlGuard::require_own(const char* where, const std::string& given) const {
  const std::string host = internal::text::lower_ascii(given);
  if (std::find(hosts_.begin(), hosts_.end(), host) != hosts_.end()) return;
  const std::size_t port = host.find_last_of(':');
  const bool has_port = port != std::string::npos && host.find(']', port) == std::string::npos;
  if (std::find(names_.begin(), names_.end(), host.substr(0, has_port ? port : host.size())) != names_.end()) return;
  throw ControlError(421, "wrong_host",
                     std::string(where) + " is " + quoted_header(host) + ", but this server is " + hosts_.front() +
                         ": use that address, or start the program with --control-allow-host NAME");
}

void ControlGuard::require_origin(const wire::Headers& headers) const {
  const std::string own = "http://" + internal::text::lower_ascii(headers.find("Host").value_or(""));
  for (const std::string& origin : headers.all("Origin")) {
    if (internal::text::lower_ascii(origin) != own)
      throw ControlError(403, "foreign_origin",
                         "Origin is " + quoted_header(origin) + ": pages of other origins may not use the control API");
  }
  for (const std::string& site : headers.all("Sec-Fetch-Site")) {
    if (site != "same-origin" && site != "none")
      throw ControlError(
          403, "foreign_origin",
          "Sec-Fetch-Site is " + quoted_header(site) + ": pages of other sites may not use the control API");
  }
}

std::string ControlGuard::credential(const wire::Headers& headers) {
  const std::vector<std::string> fields = headers.all("Authorization");
  if (fields.empty())
    throw ControlError(401, "no_token",
                       "this needs Authorization: Bearer TOKEN, with the control_token of --info-file or --print json");
  constexpr std::string_view scheme = "bearer ";
  const std::string_view given = fields.front();
  if (fields.size() > 1 || internal::text::lower_ascii(given.substr(0, scheme.size())) != scheme) return {};
  return std::string(internal::text::trim(given.substr(scheme.size())));
}

void ControlGuard::require_token(const wire::Headers& headers) const {
  if (!equal_in_constant_time(credential(headers), token_))
    throw ControlError(401, "wrong_token", "wrong token: another program may have used this port before");
}

}  // namespace endpoint
}  // namespace mock_gateway
