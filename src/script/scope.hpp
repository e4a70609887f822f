#pragma once

#include <optional>
#include <string>
#include <utility>

#include "../model/received_request.hpp"

namespace mock_gateway {

namespace detail {

struct Access;

}  // namespace detail

/// The requests of one of several tests that share a gateway: those with its key or its header. A request with neither
/// belongs to no test: only the scope of all requests covers it.
class RequestScope {
 public:
  /// All requests.
  RequestScope() = default;
  // A move copies, so that the moved-from value stays valid.
  RequestScope(const RequestScope&) = default;
  RequestScope& operator=(const RequestScope&) = default;
  /// The requests with this key, by id or description: `review(mine.id)`. Throws GatewayError for a secret.
  RequestScope(std::string key);  // NOLINT: implicit, so that review(mine.id) reads as it should
  RequestScope(const char* key);  // NOLINT: implicit as above

  /// Whether the scope includes the request.
  bool covers(const ReceivedRequest& request) const;
  /// Whether the scope includes all requests.
  bool whole() const { return kind_ == Kind::all; }
  /// The key's id or description; empty for other scopes.
  std::string key() const { return kind_ == Kind::key ? name_ : std::string(); }
  /// The header; empty for other scopes.
  std::optional<wire::Header> header() const;
  /// Returns `key "billing service"` or `header x-test: 7`; empty for all requests.
  std::string to_string() const;

  friend bool operator==(const RequestScope& a, const RequestScope& b);
  friend bool operator!=(const RequestScope& a, const RequestScope& b) { return !(a == b); }

 private:
  friend struct detail::Access;
  enum class Kind { all, key, header };
  RequestScope(std::string name, std::string value)
      : kind_(Kind::header), name_(std::move(name)), value_(std::move(value)) {}

  Kind kind_ = Kind::all;
  std::string name_;
  std::string value_;
};

/// The requests with this header: the name in any case, the value exactly. Throws GatewayError for an invalid header,
/// and for one that carries a credential, because its value is masked before the comparison.
RequestScope with_header(std::string name, std::string value);

}  // namespace mock_gateway
