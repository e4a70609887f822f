// The scope of one of several tests on a gateway: requests by key or header.

#include "scope.hpp"

#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/text.hpp"
#include "../keys/secrets.hpp"
#include "../model/checks.hpp"
#include "../model/failure.hpp"

namespace mock_gateway {

RequestScope::RequestScope(std::string key) : kind_(Kind::key), name_(std::move(key)) {
  if (detail::secrets::looks_like_key(name_)) {
    throw GatewayError("name a key by its id (CreatedKey::id) or description, not by its secret");
  }
  if (name_.empty()) throw GatewayError("name a key by its id or description; this name is empty");
}

RequestScope::RequestScope(const char* key) : RequestScope(std::string(key)) {}

bool RequestScope::covers(const ReceivedRequest& request) const {
  switch (kind_) {
    case Kind::all: return true;
    case Kind::key: return request.key_id == name_ || request.key_description == name_;
    case Kind::header: break;
  }
  for (const wire::Header& header : request.headers) {
    if (detail::text::equals_ignoring_case(header.name, name_) && header.value == value_) return true;
  }
  return false;
}

std::optional<wire::Header> RequestScope::header() const {
  if (kind_ != Kind::header) return std::nullopt;
  return wire::Header{name_, value_};
}

std::string RequestScope::to_string() const {
  switch (kind_) {
    case Kind::all: return {};
    case Kind::key: return "key \"" + name_ + "\"";
    case Kind::header: break;
  }
  return "header " + name_ + ": " + value_;
}

bool operator==(const RequestScope& a, const RequestScope& b) {
  if (a.kind_ != b.kind_) return false;
  if (a.kind_ != RequestScope::Kind::header) return a.name_ == b.name_;
  return detail::text::equals_ignoring_case(a.name_, b.name_) && a.value_ == b.value_;
}

RequestScope with_header(std::string name, std::string value) {
  detail::require_header_field(name, value);
  if (detail::secrets::is_sensitive_header(name)) {
    throw GatewayError("the header " + name +
                       " is masked, so it cannot identify a test; give each test its own key, or another " + "header");
  }
  return detail::Access::make<RequestScope>(std::move(name), std::move(value));
}

}  // namespace mock_gateway
