// Names of operations for rights and failures. Which paths are served: `src/serve/operations.cpp`.

#pragma once

#include <string>

#include "../core/version.hpp"

namespace mock_gateway {

/// An operation of the gateway: what a key may be limited to and what a failure may be forced for.
struct Operation {
  /// The method in capitals: "POST".
  std::string method;
  /// The path without the query; `/v1/models` stands for the list and for each model by its id.
  std::string path;

  /// "POST /v1/chat/completions".
  std::string to_string() const { return method + " " + path; }

  friend bool operator==(const Operation& a, const Operation& b) { return a.method == b.method && a.path == b.path; }
  friend bool operator!=(const Operation& a, const Operation& b) { return !(a == b); }
};

/// POST /v1/chat/completions.
inline Operation chat_completions() { return {"POST", "/v1/chat/completions"}; }
/// GET /v1/models and GET /v1/models/{id}.
inline Operation list_models() { return {"GET", "/v1/models"}; }
/// POST /v1/embeddings, which the gateway serves where Options::embeddings says so.
inline Operation embeddings() { return {"POST", "/v1/embeddings"}; }
/// Any other operation, by the method and path with which Gateway::on mounts it.
inline Operation operation(std::string method, std::string path) { return {std::move(method), std::move(path)}; }

}  // namespace mock_gateway
