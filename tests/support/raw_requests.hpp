#pragma once

// Handwritten requests and their responses.

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "client.hpp"
#include "mock_gateway.hpp"
#include "printing.hpp"

namespace test_support {

/// Returns a head with the gateway's key, these additional lines, and the blank line.
inline std::string head(const Gateway& gateway, const std::string& request_line,
                        std::initializer_list<std::string> lines = {}) {
  std::string text = request_line + "\r\nHost: gateway\r\nAuthorization: Bearer " + gateway.api_key() + "\r\n";
  for (const std::string& line : lines) text += line + "\r\n";
  return text + "\r\n";
}

inline std::string chat_head(const Gateway& gateway, std::initializer_list<std::string> lines) {
  return head(gateway, "POST /v1/chat/completions HTTP/1.1", lines);
}

/// Sends these bytes on a new connection and returns the response.
inline Response answer_to(const Gateway& gateway, std::string_view bytes) {
  RawConnection connection(gateway);
  connection.send(bytes);
  return connection.receive_response();
}

/// Sends these bytes on a new connection and returns the response. Checks that the gateway then closes the connection
/// and still serves a new connection.
inline Response last_answer_to(const Gateway& gateway, std::string_view bytes) {
  RawConnection connection(gateway);
  connection.send(bytes);
  Response response = connection.receive_response();
  CHECK(response.complete);
  CHECK(response.header("Connection") == "close");
  const auto rest = connection.receive_all();
  CHECK(rest.end == End::fin);
  CHECK(rest.bytes.empty());
  CHECK(Http(gateway).get("/v1/models").status == 200);
  return response;
}

inline std::string as_chunk(std::string_view data, const std::string& extension = "") {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string size;
  for (std::size_t rest = data.size(); rest > 0; rest /= 16) size.insert(size.begin(), digits[rest % 16]);
  return size + extension + "\r\n" + std::string(data) + "\r\n";
}

}  // namespace test_support
