#pragma once

// Bodies of chat requests, and checks that a gateway accepts or rejects them.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "client.hpp"
#include "mock_gateway.hpp"
#include "printing.hpp"

namespace test_support {

/// Returns a request with a model, one user message and these fields, for example `"n":2`.
inline std::string with(const std::string& fields) {
  return R"({"model":"mock-model","messages":[{"role":"user","content":"Hi"}])" + (fields.empty() ? "" : "," + fields) +
         "}";
}

/// Returns a request with these messages. They are JSON, separated by commas, without the brackets of the list.
inline std::string said(const std::string& messages) {
  return R"({"model":"mock-model","messages":[)" + messages + "]}";
}

/// A gateway and a connection to it.
struct ChatWire {
  explicit ChatWire(const mock_gateway::Options& options = {}) : gateway(options), http(Http(gateway).keep_alive()) {}
  explicit ChatWire(const mock_gateway::Acceptance& acceptance)
      : ChatWire(mock_gateway::Options{}.acceptance(acceptance)) {}

  Response post(const std::string& body) const { return http.post(chat_path, body); }
  /// Sends a body that the gateway accepts, and returns the gateway's view of it.
  mock_gateway::ChatRequest understood(const std::string& body) const {
    const Response response = post(body);
    INFO(body.substr(0, 300));
    REQUIRE_MESSAGE(response.status == 200, response.body);
    return gateway.journal().last().chat();
  }
  /// Sends a body that the gateway accepts. Returns the codes of its findings, separated by spaces.
  std::string findings(const std::string& body) const {
    const Response response = post(body);
    INFO(body.substr(0, 300));
    REQUIRE_MESSAGE(response.status == 200, response.body);
    std::string codes;
    for (const mock_gateway::Finding& finding : gateway.journal().last().findings()) {
      codes += (codes.empty() ? "" : " ") + finding.code;
    }
    return codes;
  }

  mock_gateway::Gateway gateway;
  Http http;
};

inline void check_taken(const ChatWire& wire, const std::string& body) {
  const Response response = wire.post(body);
  INFO(body.substr(0, 300));
  CHECK_MESSAGE(response.status == 200, response.body);
}

/// Checks that the body gets a 400 with this code and exactly this message.
inline void check_refused(const ChatWire& wire, const std::string& body, const std::string& code,
                          const std::string& message) {
  const Response response = wire.post(body);
  INFO(body.substr(0, 300));
  CHECK(response.status == 400);
  CHECK(response.header("Content-Type").compare(0, 16, "application/json") == 0);
  CHECK(response.error_code() == code);
  CHECK(response.error_message() == message);
  CHECK(response.error_type() == "error");
}

/// Checks that the body gets a 400 with this code and a message that starts with the path and the expected value.
inline void check_refused_at(const ChatWire& wire, const std::string& body, const std::string& code,
                             const std::string& beginning) {
  const Response response = wire.post(body);
  INFO(body.substr(0, 300));
  CHECK(response.status == 400);
  CHECK(response.error_code() == code);
  CHECK(response.error_message().substr(0, beginning.size()) == beginning);
}

struct JsonValue {
  const char* type;  // the type that a field must allow to accept this value
  const char* json;
  const char* got;
};

/// Returns one value of each JSON type.
inline const std::vector<JsonValue>& json_values() {
  static const std::vector<JsonValue> all = {
      {"string", "\"hot\"", "a string (\"hot\")"},
      {"boolean", "true", "a boolean (true)"},
      {"integer", "1", "a number (1)"},
      {"fraction", "0.5", "a number (0.5)"},
      {"array", "[]", "an empty array"},
      {"object", "{}", "an object"},
      {"null", "null", "null"},
  };
  return all;
}

inline const std::string weather_tool =
    R"("tools":[{"type":"function","function":{"name":"get_weather","description":"Weather of a city",)"
    R"("parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],)"
    R"("additionalProperties":false},"strict":true}}])";
inline const std::string one_call =
    R"("tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}])";

}  // namespace test_support
