#pragma once

// Goldens: the bytes of complete responses. The text of a golden begins on the line after its quote. `\r` at the end of
// a line stands for CR; each line ends in LF. golden_reply(), golden_error() and golden_stream() write the parts that
// most responses share. Some goldens are written out completely and thus check these functions.

#include <string>
#include <string_view>
#include <vector>

#include "client.hpp"
#include "mock_gateway.hpp"
#include "raw_requests.hpp"

namespace test_support {

/// Converts bytes to the notation of goldens.
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

/// The header fields before and after Date, each as "Name: value".
struct GoldenFields {
  std::vector<std::string> before_date;
  std::vector<std::string> after_date{};
};

/// The fields that the openai profile adds to each response.
inline GoldenFields openai_fields(const std::string& request_id) {
  return {{"x-request-id: " + request_id, "openai-processing-ms: 1", "openai-version: 2020-10-01"}};
}

/// Returns the head of a response at 2024-01-01T00:00:00Z. `status` has the form "200 OK".
inline std::string golden_head(const std::string& status, const std::vector<std::string>& content,
                               const GoldenFields& fields) {
  std::string head = "HTTP/1.1 " + status + "\r\n";
  for (const std::string& field : content) head += field + "\r\n";
  for (const std::string& field : fields.before_date) head += field + "\r\n";
  head += "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n";
  for (const std::string& field : fields.after_date) head += field + "\r\n";
  return head + "\r\n";
}

/// Returns the golden of a response with a JSON body.
inline std::string golden_reply(const std::string& status, const std::string& body, const GoldenFields& fields = {}) {
  return golden(golden_head(status,
                            {"Content-Type: application/json", "Content-Length: " + std::to_string(body.size())},
                            fields) +
                body);
}

/// Returns the golden of an error in the documented profile.
inline std::string golden_error(const std::string& status, const std::string& code, const std::string& message,
                                const GoldenFields& fields = {}) {
  return golden_reply(
      status,
      R"({"error":{"code":")" + code + R"(","message":)" + mock_gateway::Json(message).dump() + R"(,"type":"error"}})",
      fields);
}

/// Returns the golden of an invalid request's error in the openai profile. `param` may be null.
inline std::string golden_openai_error(const std::string& status, const std::string& code, const std::string& message,
                                       const mock_gateway::Json& param, const std::string& request_id) {
  return golden_reply(status,
                      R"({"error":{"message":)" + mock_gateway::Json(message).dump() +
                          R"(,"type":"invalid_request_error","param":)" + param.dump() + R"(,"code":")" + code +
                          R"("}})",
                      openai_fields(request_id));
}

/// Returns the golden of a stream that sends each event in its own chunk, and [DONE] last.
inline std::string golden_stream(std::vector<std::string> events, const GoldenFields& fields = {}) {
  std::string text =
      golden_head("200 OK", {"Content-Type: text/event-stream; charset=utf-8", "Transfer-Encoding: chunked"}, fields);
  events.push_back("[DONE]");
  for (const std::string& event : events) text += as_chunk("data: " + event + "\n\n");
  return golden(text + "0\r\n\r\n");
}

/// The body of every 401 and 403 in the documented profile.
constexpr const char* unauthorized_body =
    R"({"error":{"code":"unauthorized","message":"unauthorized","type":"error"}})";

/// Sends these bytes on a new connection and returns the response as a golden.
inline std::string golden_answer_to(const mock_gateway::Gateway& gateway, std::string_view request) {
  RawConnection connection(gateway);
  connection.send(request);
  return golden(connection.receive_response().raw);
}

/// A gateway whose clock is stopped at 2024-01-01T00:00:00Z, and functions that return its responses as goldens.
struct GoldenGateway {
  explicit GoldenGateway(mock_gateway::Options options = {})
      : gateway(options.clock(clock).verify_on_destruction(false)), http(gateway) {}

  std::string get(const std::string& path) const { return golden(http.get(path).raw); }
  std::string post(const std::string& body) const { return golden(http.post(chat_path, body).raw); }
  std::string chat(const mock_gateway::Json& extra = {}) const { return golden(http.chat(extra).raw); }
  std::string stream(const mock_gateway::Json& extra = {}) const { return golden(http.stream(extra).raw); }
  /// Forces this failure on a request and returns the response.
  std::string forced(const mock_gateway::Failure& failure) {
    gateway.fail_next(failure);
    return get("/v1/models");
  }

  mock_gateway::ManualClock clock;
  mock_gateway::Gateway gateway;
  Http http;
};

}  // namespace test_support
