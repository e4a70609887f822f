#pragma once

#include <optional>
#include <string>
#include <utility>

#include "../model/received_request.hpp"

namespace mock_gateway {

namespace detail {

struct Access;

}  // namespace detail

/// The requests of one of several tests that share a gateway: those with its key, or those with its header. A request
/// without either belongs to no test: only the scope of every request covers it.
class RequestScope {
 public:
  /// Every request.
  RequestScope() = default;
  // A move copies too, so that nothing is emptied.
  RequestScope(const RequestScope&) = default;
  RequestScope& operator=(const RequestScope&) = default;
  /// Those with this key, by its id or its description: `review(mine.id)`. Throws GatewayError for a secret.
  RequestScope(std::string key);  // NOLINT: implicit, so that review(mine.id) reads as it should
  RequestScope(const char* key);  // NOLINT: implicit as above

  /// Whether the request is one of them.
  bool covers(const ReceivedRequest& request) const;
  /// Whether it is every request.
  bool whole() const { return kind_ == Kind::all; }
  /// The key's id or description; empty when it is not the scope of a key.
  std::string key() const { return kind_ == Kind::key ? name_ : std::string(); }
  /// The header; empty when it is not the scope of one.
  std::optional<wire::Header> header() const;
  /// `key "billing service"`, `header x-test: 7`; empty for every request.
  std::string to_string() const;

  friend bool operator==(const RequestScope& a, const RequestScope& b);
  friend bool operator!=(const RequestScope& a, const RequestScope& b) { return !(a == b); }

 private:
  friend struct detail::Access;
  enum class Kind { all, key, header };
  /// The scope of a header.
  RequestScope(std::string name, std::string value)
      : kind_(Kind::header), name_(std::move(name)), value_(std::move(value)) {}

  Kind kind_ = Kind::all;
  std::string name_;
  std::string value_;
};

/// Those with this header, its name in any case, its value exactly. Throws GatewayError for what is no header, and for
/// one that carries a credential: its value is masked before anything is compared.
RequestScope with_header(std::string name, std::string value);

}  // namespace mock_gateway
