#pragma once

// Goldens: the bytes of answers, whole. A golden begins on the line after its quote. `\r` at the end of a line in it
// stands for CR; each line ends in LF.

#include <string>
#include <string_view>

#include "client.hpp"
#include "mock_gateway.hpp"

namespace test_support {

/// The body of every 401 and 403 in the documented profile.
constexpr const char* unauthorized_body =
    R"({"error":{"code":"unauthorized","message":"unauthorized","type":"error"}})";

/// Bytes as goldens write them.
inline std::string golden(std::string_view bytes) {
  std::string text = "\n";
  for (const char byte : bytes) {
    if (byte == '\r')
      text += "\\r";
    else
      text += byte;
  }
  return text;
}

/// The answer to these bytes on a connection of their own.
inline std::string golden_answer_to(const mock_gateway::Gateway& gateway, std::string_view request) {
  RawConnection connection(gateway);
  connection.send(request);
  return golden(connection.receive_response().raw);
}

/// A gateway whose clock stands at 2024-01-01T00:00:00Z, and requests to it.
struct GoldenGateway {
  explicit GoldenGateway(mock_gateway::Options options = {})
      : gateway(options.clock(clock).verify_on_destruction(false)), http(gateway) {}

  std::string get(const std::string& path) const { return golden(http.get(path).raw); }
  std::string post(const std::string& body) const { return golden(http.post(chat_path, body).raw); }
  std::string chat(const mock_gateway::Json& extra = {}) const { return golden(http.chat(extra).raw); }
  std::string stream(const mock_gateway::Json& extra = {}) const { return golden(http.stream(extra).raw); }
  /// The answer to a request on which the failure is forced.
  std::string forced(const mock_gateway::Failure& failure) {
    gateway.fail_next(failure);
    return get("/v1/models");
  }

  mock_gateway::ManualClock clock;
  mock_gateway::Gateway gateway;
  Http http;
};

}  // namespace test_support
