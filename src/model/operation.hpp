// Names of operations for the rights of keys and for failures. Served paths: `src/serve/operations.cpp`.

#pragma once

#include <string>
#include <utility>

#include "../core/error.hpp"

namespace mock_gateway {

namespace detail {

inline constexpr const char* no_wildcard = "\"*\" is no wildcard; a segment in braces, such as {id}, matches any";

}  // namespace detail

/// An operation of the gateway. Keys may be limited to operations, and failures may be forced for one.
struct Operation {
  /// The method in upper case: "POST".
  std::string method;
  /// The path without the query. `/v1/models` covers both the list and each model by id.
  std::string path;

  /// Returns text such as "POST /v1/chat/completions".
  std::string to_string() const { return method + " " + path; }

  friend bool operator==(const Operation& a, const Operation& b) { return a.method == b.method && a.path == b.path; }
  friend bool operator!=(const Operation& a, const Operation& b) { return !(a == b); }
};

/// POST /v1/chat/completions.
inline Operation chat_completions() { return {"POST", "/v1/chat/completions"}; }
/// GET /v1/models and GET /v1/models/{id}.
inline Operation list_models() { return {"GET", "/v1/models"}; }
/// POST /v1/embeddings, served if Options::embeddings allows it.
inline Operation embeddings() { return {"POST", "/v1/embeddings"}; }
/// Any other operation, with the method and path passed to Gateway::on. Throws GatewayError for a path with "*".
inline Operation operation(std::string method, std::string path) {
  if (path.find('*') != std::string::npos) throw GatewayError(method + " " + path + ": " + detail::no_wildcard);
  return {std::move(method), std::move(path)};
}

/// Whether requests for an operation of Gateway::on need a key.
enum class NeedsKey { yes, no };

}  // namespace mock_gateway
