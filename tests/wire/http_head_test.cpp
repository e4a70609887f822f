// What a request's head must and may not say (RFC 9112): Host, Transfer-Encoding and Connection.

#include <doctest/doctest.h>

#include <string>

#include "mock_gateway.hpp"
#include "support/client.hpp"

namespace http_head_test {

using namespace mock_gateway;
using test_support::chat_body;
using test_support::End;
using test_support::Http;
using test_support::RawConnection;
using test_support::Response;

/// The bytes of GET /v1/models with the gateway's key and these lines, each with its line end.
std::string list_models(const Gateway& gateway, const std::string& lines, const std::string& version = "HTTP/1.1") {
  return "GET /v1/models " + version + "\r\n" + lines + "Authorization: Bearer " + gateway.api_key() + "\r\n\r\n";
}

/// The answer to these bytes, after which the gateway is to close the connection.
Response last_answer_to(const Gateway& gateway, const std::string& bytes) {
  RawConnection connection(gateway);
  connection.send(bytes);
  Response response = connection.receive_response();
  CHECK(response.header("Connection") == "close");
  const auto rest = connection.receive_all();
  CHECK(rest.end == End::fin);
  CHECK(rest.bytes.empty());
  return response;
}

void check_refused(const Response& response, const std::string& why) {
  CHECK(response.status == 400);
  CHECK(response.error_code() == "malformed_request");
  CHECK(response.error_message() == "malformed HTTP request: " + why);
}

TEST_CASE("a request of HTTP/1.1 without Host is a 400, one of HTTP/1.0 is served") {
  Gateway gateway;
  check_refused(last_answer_to(gateway, list_models(gateway, "")), "no Host field");
  CHECK(gateway.journal().last().decision() == Decision::Kind::malformed);
  CHECK(last_answer_to(gateway, list_models(gateway, "", "HTTP/1.0")).status == 200);
}

TEST_CASE("two Host fields are a 400, also when they are the same") {
  Gateway gateway;
  for (const std::string version : {"HTTP/1.1", "HTTP/1.0"}) {
    CAPTURE(version);
    check_refused(last_answer_to(gateway, list_models(gateway, "Host: a\r\nHost: b\r\n", version)), "two Host fields");
    check_refused(last_answer_to(gateway, list_models(gateway, "Host: a\r\nhost: a\r\n", version)), "two Host fields");
  }
}

TEST_CASE("a Host that is no host is a 400; a name, an address, with a port or empty is served") {
  Gateway gateway;
  for (const std::string host : {"a b", "a/b", "user@a", "http://a/", "a?", "a#b", "a\"", "caf\xc3\xa9", "a\tb"}) {
    CAPTURE(host);
    check_refused(last_answer_to(gateway, list_models(gateway, "Host: " + host + "\r\n")),
                  "the Host field is not \"host:port\"");
  }
  for (const std::string host : {"gateway", "127.0.0.1:8080", "[::1]:8080", "api.example.com", "a_b", "%7Eme", ""}) {
    CAPTURE(host);
    RawConnection connection(gateway);
    connection.send(list_models(gateway, "Host: " + host + "\r\n"));
    CHECK(connection.receive_response().status == 200);
  }
}

TEST_CASE("Transfer-Encoding in HTTP/1.0 is a 400, and what follows is not served") {
  Gateway gateway;
  const std::string body = chat_body().dump();
  for (const std::string lines : {"Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n",
                                  "Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n"}) {
    CAPTURE(lines);
    check_refused(last_answer_to(gateway, "POST /v1/chat/completions HTTP/1.0\r\nHost: gateway\r\n" + lines +
                                              "Authorization: Bearer " + gateway.api_key() + "\r\n\r\n0\r\n\r\n" +
                                              list_models(gateway, "Host: gateway\r\n")),
                  "Transfer-Encoding in HTTP/1.0");
  }
  CHECK(gateway.journal().count() == 3);
}

TEST_CASE("close counts in any Connection field, and anywhere in it") {
  Gateway gateway;
  for (const std::string lines :
       {"Connection: close\r\n", "Connection: keep-alive\r\nConnection: close\r\n",
        "Connection: x\r\nConnection: y\r\nconnection: Close\r\n", "Connection: x, close\r\n",
        "Connection: x\r\nConnection: y , CLOSE , z\r\n", "Connection:\r\nConnection: close\r\n"}) {
    CAPTURE(lines);
    const std::string request = list_models(gateway, "Host: gateway\r\n" + lines);
    CHECK(last_answer_to(gateway, request + request).status == 200);
  }
  RawConnection connection(gateway);
  const std::string kept = list_models(gateway, "Host: gateway\r\nConnection: x-close\r\nConnection: not close\r\n");
  connection.send(kept + kept);
  CHECK(connection.receive_response().status == 200);
  CHECK(connection.receive_response().status == 200);
}

TEST_CASE("keep-alive of HTTP/1.0 counts in any Connection field, unless another says close") {
  Gateway gateway;
  RawConnection connection(gateway);
  const std::string kept =
      list_models(gateway, "Host: gateway\r\nConnection: x\r\nConnection: keep-alive\r\n", "HTTP/1.0");
  connection.send(kept + kept);
  CHECK(connection.receive_response().status == 200);
  CHECK(connection.receive_response().status == 200);
  const std::string closed =
      list_models(gateway, "Host: gateway\r\nConnection: keep-alive\r\nConnection: close\r\n", "HTTP/1.0");
  CHECK(last_answer_to(gateway, closed + closed).status == 200);
}

}  // namespace http_head_test
