#pragma once

// Declarations for the snippets of README.md and docs/, which use these names without declaring them.

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../support/client.hpp"
#include "../support/printing.hpp"
#include "mock_gateway.hpp"

using namespace mock_gateway;
using namespace std::chrono_literals;

/// The client's exception for an error status.
struct ClientError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The received part of a streamed reply.
struct Streamed {
  std::string text;
  /// Whether `[DONE]` arrived.
  bool complete = false;
};

/// The code under test in the snippets: constructed from a base address and a key, like SDKs.
class Client {
 public:
  using Sleeper = std::function<void(Duration)>;

  /// With a `sleep`, a 429 with Retry-After is retried once after that time.
  Client(const std::string& base_url, const std::string& key, Sleeper sleep = {})
      : http_(host(base_url), port(base_url), key), sleep_(std::move(sleep)) {}

  std::string ask(const std::string& text) const {
    test_support::Response response = chat(Json(text));
    if (response.status == 429 && response.has("Retry-After") && sleep_) {
      sleep_(std::chrono::seconds{std::stoi(response.header("Retry-After"))});
      response = chat(Json(text));
    }
    if (response.status != 200 || response.text().empty() || !is_whole(response)) throw ClientError(response.raw);
    return response.text();
  }
  Streamed stream(const std::string& text) const {
    const test_support::Response response = http_.allow_incomplete().stream(Json(text));
    if (response.status != 200) throw ClientError(response.raw);
    return {response.joined_text(), response.done() && response.complete};
  }
  /// Sends a chat request with these fields in addition to model and messages.
  test_support::Response chat(const Json& fields = {}) const { return http_.chat(fields); }
  test_support::Response get(const std::string& path) const { return http_.get(path); }
  test_support::Response post(const std::string& path, const Json& body) const { return http_.post(path, body); }

 private:
  /// Whether the finish_reason, if there is one, means a complete text.
  static bool is_whole(const test_support::Response& response) {
    const std::string reason = response.json().at("choices").at(0).value("finish_reason", "");
    return reason.empty() || reason == "stop" || reason == "length";
  }
  // "http://HOST:PORT/v1"
  static std::string host(const std::string& base_url) { return base_url.substr(7, base_url.rfind(':') - 7); }
  static int port(const std::string& base_url) { return std::stoi(base_url.substr(base_url.rfind(':') + 1)); }

  test_support::Http http_;
  Sleeper sleep_;
};

inline std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

inline Json some_exchange() {
  const Gateway gateway;
  static_cast<void>(Client(gateway.base_url(), gateway.api_key()).ask("Hi"));
  return as_json(gateway.journal().last());
}

/// Sorts names, so that two lists can be compared.
inline std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}
