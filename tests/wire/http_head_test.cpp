// The head of a request (RFC 9112): valid and invalid fields, the maximum size, and bytes that are not HTTP.

#include <chrono>
#include <cstddef>
#include <string>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/raw_requests.hpp"
#include "support/text.hpp"

namespace http_head_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::answer_to;
using test_support::chat_body;
using test_support::chat_head;
using test_support::contains;
using test_support::End;
using test_support::head;
using test_support::Http;
using test_support::last_answer_to;
using test_support::RawConnection;
using test_support::Response;

/// Returns the bytes of GET /v1/models with the gateway's key and additional lines, which include their line ends.
inline std::string list_models(const Gateway& gateway, const std::string& lines,
                               const std::string& version = "HTTP/1.1") {
  return "GET /v1/models " + version + "\r\n" + lines + "Authorization: Bearer " + gateway.api_key() + "\r\n\r\n";
}

/// Sends these bytes on a new connection and returns the response. Checks that the gateway then closes the connection.
/// Sends nothing else, so this exchange is the last in the journal.
inline Response closing_answer_to(const Gateway& gateway, const std::string& bytes) {
  RawConnection connection(gateway);
  connection.send(bytes);
  Response response = connection.receive_response();
  CHECK(response.header("Connection") == "close");
  const auto rest = connection.receive_all();
  CHECK(rest.end == End::fin);
  CHECK(rest.bytes.empty());
  return response;
}

inline void check_refused(const Response& response, const std::string& why) {
  CHECK(response.status == 400);
  CHECK(response.error_code() == "malformed_request");
  CHECK(response.error_message() == "malformed HTTP request: " + why);
}

// --- Host, Transfer-Encoding, Connection -----------------------------------------------------------------------------

TEST_CASE("HTTP/1.1 without Host gets a 400, HTTP/1.0 without Host is served") {
  Gateway gateway;
  check_refused(closing_answer_to(gateway, list_models(gateway, "")), "no Host field");
  CHECK(gateway.journal().last().decision() == Decision::Kind::malformed);
  CHECK(closing_answer_to(gateway, list_models(gateway, "", "HTTP/1.0")).status == 200);
}

TEST_CASE("two Host fields get a 400, even if they are equal") {
  Gateway gateway;
  for (const std::string version : {"HTTP/1.1", "HTTP/1.0"}) {
    CAPTURE(version);
    check_refused(closing_answer_to(gateway, list_models(gateway, "Host: a\r\nHost: b\r\n", version)),
                  "two Host fields");
    check_refused(closing_answer_to(gateway, list_models(gateway, "Host: a\r\nhost: a\r\n", version)),
                  "two Host fields");
  }
}

TEST_CASE("an invalid Host gets a 400; a name or an address, with or without a port, and an empty Host are served") {
  Gateway gateway;
  for (const std::string host : {"a b", "a/b", "user@a", "http://a/", "a?", "a#b", "a\"", "caf\xc3\xa9", "a\tb"}) {
    CAPTURE(host);
    check_refused(closing_answer_to(gateway, list_models(gateway, "Host: " + host + "\r\n")),
                  "the Host field is not \"host:port\"");
  }
  for (const std::string host : {"gateway", "127.0.0.1:8080", "[::1]:8080", "api.example.com", "a_b", "%7Eme", ""}) {
    CAPTURE(host);
    RawConnection connection(gateway);
    connection.send(list_models(gateway, "Host: " + host + "\r\n"));
    CHECK(connection.receive_response().status == 200);
  }
}

TEST_CASE("Transfer-Encoding in HTTP/1.0 gets a 400, and later bytes on the connection are ignored") {
  Gateway gateway;
  const std::string body = chat_body().dump();
  for (const std::string lines : {"Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n",
                                  "Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n"}) {
    CAPTURE(lines);
    check_refused(closing_answer_to(gateway, "POST /v1/chat/completions HTTP/1.0\r\nHost: gateway\r\n" + lines +
                                                 "Authorization: Bearer " + gateway.api_key() + "\r\n\r\n0\r\n\r\n" +
                                                 list_models(gateway, "Host: gateway\r\n")),
                  "Transfer-Encoding in HTTP/1.0");
  }
  CHECK(gateway.journal().count() == 3);
}

TEST_CASE("any transfer coding except a single chunked gets a 501, and later bytes on the connection are ignored") {
  Gateway gateway;
  const std::vector<std::string> refused = {"Transfer-Encoding: gzip\r\n", "Transfer-Encoding: gzip, chunked\r\n",
                                            "Transfer-Encoding:\r\n",
                                            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                                            "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n"};
  for (const std::string& lines : refused) {
    CAPTURE(lines);
    const Response response =
        closing_answer_to(gateway, head(gateway, "GET /v1/models HTTP/1.1\r\n" + lines.substr(0, lines.size() - 2)) +
                                       "0\r\n\r\n" + list_models(gateway, "Host: gateway\r\n"));
    CHECK(response.status == 501);
    CHECK(response.error_code() == "unsupported_transfer_encoding");
    CHECK(response.error_message() == "the only transfer coding accepted is chunked");
  }
  CHECK(gateway.journal().count() == refused.size());
  CHECK(
      answer_to(gateway, head(gateway, "GET /v1/models HTTP/1.1\r\nTRANSFER-encoding: Chunked") + "0\r\n\r\n").status ==
      200);
}

TEST_CASE("a Connection field with close counts, among several fields and at any position") {
  Gateway gateway;
  for (const std::string lines :
       {"Connection: close\r\n", "Connection: keep-alive\r\nConnection: close\r\n",
        "Connection: x\r\nConnection: y\r\nconnection: Close\r\n", "Connection: x, close\r\n",
        "Connection: x\r\nConnection: y , CLOSE , z\r\n", "Connection:\r\nConnection: close\r\n"}) {
    CAPTURE(lines);
    const std::string request = list_models(gateway, "Host: gateway\r\n" + lines);
    CHECK(closing_answer_to(gateway, request + request).status == 200);
  }
  RawConnection connection(gateway);
  const std::string kept = list_models(gateway, "Host: gateway\r\nConnection: x-close\r\nConnection: not close\r\n");
  connection.send(kept + kept);
  CHECK(connection.receive_response().status == 200);
  CHECK(connection.receive_response().status == 200);
}

TEST_CASE("a Connection field with keep-alive counts in HTTP/1.0, unless another field has close") {
  Gateway gateway;
  RawConnection connection(gateway);
  const std::string kept =
      list_models(gateway, "Host: gateway\r\nConnection: x\r\nConnection: keep-alive\r\n", "HTTP/1.0");
  connection.send(kept + kept);
  CHECK(connection.receive_response().status == 200);
  CHECK(connection.receive_response().status == 200);
  const std::string closed =
      list_models(gateway, "Host: gateway\r\nConnection: keep-alive\r\nConnection: close\r\n", "HTTP/1.0");
  CHECK(closing_answer_to(gateway, closed + closed).status == 200);
}

// --- Sizes -----------------------------------------------------------------------------------------------------------

TEST_CASE("a header of 100 KB gets a 431 that the client can read") {
  Gateway gateway;
  const Response response =
      last_answer_to(gateway, chat_head(gateway, {"x-large: " + std::string(100'000, 'x'), "Content-Length: 0"}));
  CHECK(response.status == 431);
  CHECK(response.reason == "Request Header Fields Too Large");
  CHECK(response.error_code() == "headers_too_large");
}

TEST_CASE("a hundred headers are accepted; 101 and a thousand headers get a 431") {
  Gateway gateway;
  const auto with_headers = [&](int count) {
    std::string text =
        "GET /v1/models HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer " + gateway.api_key() + "\r\n";
    for (int i = 2; i < count; ++i) text += "x-" + std::to_string(i) + ": y\r\n";
    return text + "\r\n";
  };
  CHECK(answer_to(gateway, with_headers(100)).status == 200);
  CHECK(gateway.journal().last().headers().size() == 100);
  CHECK(last_answer_to(gateway, with_headers(101)).status == 431);
  CHECK(last_answer_to(gateway, with_headers(1000)).status == 431);
}

TEST_CASE("a header line of 8,000 bytes is accepted; one byte more gets a 431") {
  Gateway gateway;
  const std::string name = "x-long: ";
  const auto with_line_of = [&](std::size_t size) {
    return head(gateway, "GET /v1/models HTTP/1.1", {name + std::string(size - name.size(), 'x')});
  };
  CHECK(answer_to(gateway, with_line_of(8000)).status == 200);
  const Response refused = last_answer_to(gateway, with_line_of(8001));
  CHECK(refused.status == 431);
  CHECK(contains(refused.error_message(), "8001"));
}

TEST_CASE("the head's size limit can be changed and is exact to the byte") {
  Gateway gateway{Options{}.max_head(1024)};
  const auto with_size = [&](std::size_t size) {
    const std::string empty = head(gateway, "GET /v1/models HTTP/1.1", {"x: "});
    return head(gateway, "GET /v1/models HTTP/1.1", {"x: " + std::string(size - empty.size(), 'x')});
  };
  REQUIRE(with_size(1024).size() == 1024);
  CHECK(answer_to(gateway, with_size(1024)).status == 200);
  CHECK(last_answer_to(gateway, with_size(1025)).status == 431);
  // The journal shows the part of the head that was read.
  const std::string read = gateway.journal().last().raw();
  CHECK(contains(read, "GET /v1/models HTTP/1.1\r\n"));
  CHECK_FALSE(contains(read, gateway.api_key()));
}

// --- Headers ---------------------------------------------------------------------------------------------------------

TEST_CASE("two Authorization headers get a 401, even if each is valid") {
  Gateway gateway;
  const Http http(gateway);
  const std::string valid = "Bearer " + gateway.api_key();
  for (const std::string& second : {valid, std::string("Bearer sk-other"), std::string()}) {
    CHECK(http.with_header("Authorization", second).get("/v1/models").status == 401);
    CHECK(http.with_authorization(second).with_header("authorization", valid).get("/v1/models").status == 401);
  }
}

TEST_CASE("setting a reply's header with CR, LF or NUL throws") {
  Gateway gateway;
  for (const std::string& value :
       {std::string("a\r\nSet-Cookie: b"), std::string("a\nb"), std::string("a\rb"), std::string("a\0b", 3)}) {
    CHECK_THROWS_AS(static_cast<void>(text("Hi").header("x-name", value)), GatewayError);
    CHECK_THROWS_AS(static_cast<void>(server_error().header("x-name", value)), GatewayError);
    CHECK_THROWS_AS(static_cast<void>(rate_limited().retry_after(value)), GatewayError);
    CHECK_THROWS_AS(static_cast<void>(server_error().body("b", value)), GatewayError);
    CHECK_THROWS_AS(HttpReply(200, "b", value), GatewayError);
    CHECK_THROWS_AS(static_cast<void>(HttpReply(Json::object()).header("x-name", value)), GatewayError);
    CHECK_THROWS_AS(static_cast<void>(text("Hi").header("x-" + value, "a")), GatewayError);
  }
}

TEST_CASE("headers that other servers obey do not change the response") {
  Gateway gateway{Options{}.clock(ManualClock{})};
  const Http http = Http(gateway).keep_alive();
  const std::string expected = http.get("/v1/models").raw;
  const auto same_with = [&](const std::string& name, const std::string& value) {
    CAPTURE(name);
    CAPTURE(value);
    CHECK(http.with_header(name, value).get("/v1/models").raw == expected);
  };
  SUBCASE("Range causes no 206 and no 416") {
    for (const char* value : {"bytes=0-3", "bytes=5-1", "bytes=99999-", "lines=1-2", "nonsense", ""})
      same_with("Range", value);
  }
  SUBCASE("Accept is ignored, even if malformed") {
    for (const char* value : {"text/html", "text/event-stream", ";;;", "a/b;q=7", ",", "/", "q=", "*/*;q=nonsense"})
      same_with("Accept", value);
  }
  SUBCASE("Accept-Encoding causes no compression") {
    for (const char* value : {"gzip", "br", "gzip, deflate, br, zstd", "*", "identity;q=0"})
      same_with("Accept-Encoding", value);
  }
  SUBCASE("headers that servers use internally") {
    for (const char* name : {"REMOTE_ADDR", "REMOTE_PORT", "LOCAL_ADDR", "LOCAL_PORT", "X-Forwarded-For", "Location",
                             "Content-Encoding", "If-None-Match", "Sec-WebSocket-Key"})
      same_with(name, "1");
  }
  SUBCASE("Upgrade is ignored") {
    same_with("Upgrade", "websocket");
    same_with("Upgrade", "h2c");
    same_with("Connection", "Upgrade, HTTP2-Settings");
  }
}

TEST_CASE("Accept-Encoding neither compresses a stream nor joins its events") {
  Gateway gateway;
  gateway.chat().reply("one two three");
  const Response response = Http(gateway).with_header("Accept-Encoding", "gzip, br").stream();
  CHECK_FALSE(response.has("Content-Encoding"));
  CHECK(response.joined_text() == "one two three");
  CHECK(response.chunks.size() == response.events().size());
}

TEST_CASE("a Range on a chat request does not truncate its response") {
  Gateway gateway;
  gateway.chat().reply("whole");
  const Response response = Http(gateway).with_header("Range", "bytes=0-9").chat();
  CHECK(response.status == 200);
  CHECK(response.text() == "whole");
}

TEST_CASE("a header value may be empty or contain tabs and non-ASCII bytes; surrounding white space is removed") {
  Gateway gateway;
  const Response response = answer_to(
      gateway, head(gateway, "GET /v1/models HTTP/1.1", {"x-empty:", "x-tab: \t a\tb \t", "x-bytes: \xC3\xA8\xFF"}));
  CHECK(response.status == 200);
  const wire::Headers headers = gateway.journal().last().headers();
  CHECK(headers.find("x-empty") == "");
  CHECK(headers.find("x-tab") == "a\tb");
  CHECK(headers.find("x-bytes") == "\xC3\xA8\xFF");
}

TEST_CASE("equal heads get equal statuses, no matter which requests came before") {
  const auto heads = [](const Gateway& gateway) {
    std::vector<std::string> all;
    for (const std::string target : {"/v1/models", "/v1/models?a=%zz", "/%", "/%00", "/a%20b", "/v1//models", "/a?b#c",
                                     "*", "/v1/models/..", "//v1/models", "/\xC3\xA8", "/v1/models?a=b&a=c;d"})
      all.push_back(head(gateway, "GET " + target + " HTTP/1.1", {}));
    for (const std::string field :
         {"x: ", "x: a\tb", "x: \xFF", "Content-Type: multipart/form-data", "Cookie: a", "Connection: Upgrade",
          "Range: bytes=9-1", "Range: x", "Accept: ;;q=9", "Host2: ::", "Trailer: x", "TE: trailers", "Expect: x"})
      all.push_back(head(gateway, "GET /v1/models HTTP/1.1", {field}));
    for (const std::string method : {"GET", "PATCH", "BREW", "OPTIONS", "TRACE"})
      all.push_back(head(gateway, method + " /v1/models HTTP/1.1", {}));
    return all;
  };
  std::vector<int> first;
  {
    Gateway gateway;
    for (const std::string& bytes : heads(gateway)) first.push_back(answer_to(gateway, bytes).status);
  }
  Gateway gateway;
  const std::vector<std::string> again = heads(gateway);
  for (std::size_t round = 0; round < 3; ++round)
    for (std::size_t i = 0; i < again.size(); ++i) {
      const std::size_t index = round == 1 ? again.size() - 1 - i : i;
      CAPTURE(again[index]);
      CHECK(answer_to(gateway, again[index]).status == first[index]);
      // These different heads are more than the gateway keeps verdicts for.
      const std::string id = "x-request-id: " + std::to_string(round * 1000 + i);
      CHECK(answer_to(gateway, head(gateway, "GET /v1/models HTTP/1.1", {id})).status == 200);
    }
}

// --- Not HTTP --------------------------------------------------------------------------------------------------------

TEST_CASE("a malformed request line gets a 400 at once") {
  Gateway gateway;
  for (const std::string line :
       {"GET", "GET /v1/models", "GET  /v1/models HTTP/1.1", "GET /v1/models  HTTP/1.1", "GET /v1/models HTTP/1.1 ",
        " GET /v1/models HTTP/1.1", "GET /v1/mo dels HTTP/1.1", "GET /v1/mo\tdels HTTP/1.1", "GET /v1/models http/1.1",
        "GET /v1/models FTP/1.1", "GET /v1/models 1.1", "G(T /v1/models HTTP/1.1", "G\xC3\xA8T /v1/models HTTP/1.1",
        "/v1/models HTTP/1.1", "GET ?limit=1 HTTP/1.1", ": : :", "hello"}) {
    CAPTURE(line);
    const Response response = last_answer_to(gateway, head(gateway, line));
    CHECK(response.status == 400);
    CHECK(response.error_code() == "malformed_request");
  }
}

TEST_CASE("an unsupported HTTP version gets a 505 at once") {
  Gateway gateway;
  for (const std::string version : {"HTTP/0.9", "HTTP/1.2", "HTTP/2", "HTTP/2.0", "HTTP/3.0", "HTTP/1.10", "HTTP/x"}) {
    CAPTURE(version);
    const Response response = last_answer_to(gateway, head(gateway, "GET /v1/models " + version));
    CHECK(response.status == 505);
    CHECK(response.error_code() == "http_version_not_supported");
  }
}

TEST_CASE("a malformed header line gets a 400 at once") {
  Gateway gateway;
  for (const std::string& line :
       {std::string("x-folded: one\r\n two"), std::string("x-folded: one\r\n\ttwo"), std::string(" x-first: 1"),
        std::string("x-space : 1"), std::string("x-tab\t: 1"), std::string("x space: 1"), std::string("no colon"),
        std::string(": no name"), std::string("x(bad): 1"), std::string("x-\xC3\xA8: 1"),
        std::string("x-nul: a\0b", 10), std::string("x-\0nul: ab", 10), std::string("x-control: a\x01"),
        std::string("x-delete: \x7F"), std::string("x-lf: a\nb"), std::string("x-cr: a\rb")}) {
    CAPTURE(line);
    const Response response = last_answer_to(gateway, head(gateway, "GET /v1/models HTTP/1.1", {line}));
    CHECK(response.status == 400);
    CHECK(response.error_code() == "malformed_request");
  }
}

TEST_CASE("the recorded part of a malformed head ends with the offending byte") {
  Gateway gateway;
  const std::string line = "GET /v1/models HTTP/1.1\r\n";
  for (const std::string& broken :
       {line + "x-control: a\x01", line + "x-lf: a\n", line + "x-cr: a\rb", std::string("GET /v1/models HTTP/1.1\n")}) {
    CAPTURE(broken);
    CHECK(answer_to(gateway, broken + "and more\r\n\r\n").status == 400);
    CHECK(gateway.journal().last().raw() == broken);
  }
}

TEST_CASE("lines that end in a bare LF or CR get a 400 at once") {
  Gateway gateway;
  const std::string key = "Authorization: Bearer " + gateway.api_key();
  for (const std::string& bytes :
       {"GET /v1/models HTTP/1.1\n" + key + "\n\n", "GET /v1/models HTTP/1.1\r" + key + "\r\r",
        "GET /v1/models HTTP/1.1\r\n" + key + "\n\r\n", "GET /v1/models HTTP/1.1\r\n" + key + "\r\n\n",
        "GET /v1/models HTTP/1.1\r\n" + key + "\r\r\n\r\n", std::string("GET /\n")}) {
    CAPTURE(bytes);
    const Response response = last_answer_to(gateway, bytes);
    CHECK(response.status == 400);
    CHECK(contains(response.error_message(), "CR LF"));
  }
}

TEST_CASE("NUL bytes in the target or as a request get a 400 at once") {
  Gateway gateway;
  CHECK(last_answer_to(gateway, head(gateway, std::string("GET /v1/models\0x HTTP/1.1", 25))).status == 400);
  CHECK(last_answer_to(gateway, std::string("\0", 1)).status == 400);
  CHECK(last_answer_to(gateway, std::string(5000, '\0')).status == 400);
}

TEST_CASE("HTTP/2, TLS and other protocols get an error at once") {
  Gateway gateway;
  const std::string http2 = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string("\0\0\0\4\0\0\0\0\0", 9);
  CHECK(last_answer_to(gateway, http2).status == 505);
  const std::string client_hello =
      std::string("\x16\x03\x01\x00\xC8\x01\x00\x00\xC4\x03\x03", 11) + std::string(194, 'r');
  CHECK(last_answer_to(gateway, client_hello).status == 400);
  CHECK(last_answer_to(gateway, std::string("\x05\x01\x00", 3)).status == 400);  // SOCKS
  CHECK(last_answer_to(gateway, std::string("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n\r\n")).status == 400);
  CHECK(last_answer_to(gateway, std::string("EHLO client.example\r\n\r\n")).status == 400);
}

TEST_CASE("malformed requests are refused before any other check and use up no limit and no forced failure") {
  Gateway gateway{Options{}.limit(1, 1h).max_body(10)};
  gateway.fail_next(service_unavailable());
  const Http http(gateway);
  CHECK(answer_to(gateway, "GET /v1/models\r\n\r\n").status == 400);
  CHECK(answer_to(gateway, "GET /v1/models HTTP/3.0\r\n\r\n").status == 505);
  CHECK(http.without_key().get("/v1/" + std::string(9000, 'x')).status == 414);
  CHECK(answer_to(gateway, chat_head(gateway, {"x: " + std::string(9000, 'x')})).status == 431);
  CHECK(answer_to(gateway, chat_head(gateway, {"Content-Length: x"})).status == 400);
  CHECK(answer_to(gateway, chat_head(gateway, {"Transfer-Encoding: chunked"}) + "x\r\n").status == 400);
  for (const Exchange& exchange : gateway.journal().all()) CHECK(exchange.decision().kind == Decision::Kind::malformed);
  CHECK(gateway.journal().count() == 6);
  CHECK(http.get("/v1/models").status == 503);  // the forced failure is still queued
  CHECK(http.get("/v1/models").status == 200);  // the limit still allows one request
  CHECK(http.get("/v1/models").status == 429);
}

}  // namespace http_head_test
