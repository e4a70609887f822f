// HTTP as clients break it: what the gateway answers to requests that are too large, malformed, odd, late, or cut off,
// and that it lives on. Operations mounted by a test are here too.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

#ifdef __linux__
#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace http_tests {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::chat_path;
using test_support::ConnectionOptions;
using test_support::End;
using test_support::eventually;
using test_support::Http;
using test_support::RawConnection;
using test_support::Response;

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// A head with the gateway's key, these further lines, and the blank line.
inline std::string head(const Gateway& gateway, const std::string& request_line,
                        std::initializer_list<std::string> lines = {}) {
  std::string text = request_line + "\r\nHost: gateway\r\nAuthorization: Bearer " + gateway.api_key() + "\r\n";
  for (const std::string& line : lines) text += line + "\r\n";
  return text + "\r\n";
}

inline std::string chat_head(const Gateway& gateway, std::initializer_list<std::string> lines) {
  return head(gateway, "POST /v1/chat/completions HTTP/1.1", lines);
}

/// The answer to these bytes on a connection of their own.
inline Response answer_to(const Gateway& gateway, std::string_view bytes) {
  RawConnection connection(gateway);
  connection.send(bytes);
  return connection.receive_response();
}

/// The answer to these bytes, after which the gateway is to close and to serve others as before.
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

// --- Sizes -----------------------------------------------------------------------------------------------------------

TEST_CASE("a client that sends 20 MB reads its 413 although it is still sending") {
  Gateway gateway;
  const std::size_t size = std::size_t{20} << 20;
  RawConnection connection(gateway);
  CHECK(connection.send(chat_head(gateway, {"Content-Length: " + std::to_string(size)})));
  CHECK(connection.send(std::string(size / 2, 'x')));
  const Response response = connection.receive_response();
  CHECK(response.status == 413);
  CHECK(response.error_code() == "body_too_large");
  CHECK(contains(response.error_message(), std::to_string(std::size_t{16} << 20)));
  CHECK(response.header("Connection") == "close");
  CHECK(connection.send(std::string(size / 2, 'x')));
  CHECK(connection.receive_all().end == End::fin);
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.status() == 413);
  CHECK(exchange.body().empty());
  CHECK(Http(gateway).chat().status == 200);
}

TEST_CASE("a client that never looks before all of 20 MB is sent still finds its 413") {
  Gateway gateway;
  const std::size_t size = std::size_t{20} << 20;
  RawConnection connection(gateway);
  CHECK(connection.send(chat_head(gateway, {"Content-Length: " + std::to_string(size)}) + std::string(size, 'x')));
  const Response response = connection.receive_response();
  CHECK(response.status == 413);
  CHECK(response.complete);
  CHECK(connection.receive_all().end == End::fin);
}

TEST_CASE("a body that is announced too large is refused before it is sent: no 100 comes first") {
  Gateway gateway;
  const Response response = last_answer_to(
      gateway,
      chat_head(gateway, {"Content-Length: " + std::to_string(std::size_t{20} << 20), "Expect: 100-continue"}));
  CHECK(response.status == 413);
}

TEST_CASE("a body of exactly the size limit is accepted, one byte more is not") {
  const std::string body = chat_body().dump();
  Gateway gateway{Options{}.max_body(body.size())};
  const Http http(gateway);
  CHECK(http.post(chat_path, body).status == 200);
  CHECK(http.post(chat_path, body + " ").status == 413);
  const std::string chunked = chat_head(gateway, {"Transfer-Encoding: chunked"}) + as_chunk(body.substr(0, 20));
  CHECK(answer_to(gateway, chunked + as_chunk(body.substr(20)) + "0\r\n\r\n").status == 200);
  CHECK(last_answer_to(gateway, chunked + as_chunk(body.substr(20) + " ") + "0\r\n\r\n").status == 413);
}

TEST_CASE("a body of 16 MiB is accepted") {
  Gateway gateway;
  std::string body = chat_body().dump();
  body.resize(std::size_t{16} << 20, ' ');
  // Instrumented, and beside other work, it takes longer than anything else here.
  CHECK(Http(gateway).with_timeout(60s).post(chat_path, body).status == 200);
  CHECK(gateway.journal().last().body().size() == body.size());
}

TEST_CASE("a body too large is a 413 only where its request would have been served") {
  Gateway gateway{Options{}.max_body(10)};
  const std::string body(11, 'x');
  const Http http(gateway);
  const auto key = gateway.keys().create("lister", KeyOptions{}.operations({list_models()}));
  CHECK(http.without_key().post(chat_path, body).status == 401);
  CHECK(http.with_key(key.secret).post(chat_path, body).status == 403);
  CHECK(http.post("/v1/nothing", body).status == 404);
  CHECK(http.post("/v1/models", body).status == 405);
  CHECK(http.with_content_type("text/plain").post(chat_path, body).status == 413);
}

TEST_CASE("a header of 100 KB is a 431 that the client can read") {
  Gateway gateway;
  const Response response =
      last_answer_to(gateway, chat_head(gateway, {"x-large: " + std::string(100'000, 'x'), "Content-Length: 0"}));
  CHECK(response.status == 431);
  CHECK(response.reason == "Request Header Fields Too Large");
  CHECK(response.error_code() == "headers_too_large");
}

TEST_CASE("a thousand headers are a 431; a hundred are accepted, one more is not") {
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

TEST_CASE("a header line of 8,000 bytes is accepted, one byte more is a 431") {
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

TEST_CASE("the head's size limit can be chosen, and counts to the byte") {
  Gateway gateway{Options{}.max_head(1024)};
  const auto with_size = [&](std::size_t size) {
    const std::string empty = head(gateway, "GET /v1/models HTTP/1.1", {"x: "});
    return head(gateway, "GET /v1/models HTTP/1.1", {"x: " + std::string(size - empty.size(), 'x')});
  };
  REQUIRE(with_size(1024).size() == 1024);
  CHECK(answer_to(gateway, with_size(1024)).status == 200);
  CHECK(last_answer_to(gateway, with_size(1025)).status == 431);
}

// --- Chunked bodies --------------------------------------------------------------------------------------------------

TEST_CASE("a chunked body is taken, with extensions and trailers, and recorded both ways") {
  Gateway gateway;
  const std::string body = chat_body("in chunks").dump();
  const std::string framed = as_chunk(body.substr(0, 7), ";name=value") + as_chunk(body.substr(7, 1), " ; flag") +
                             as_chunk(body.substr(8), ";quoted=\"a b\"") +
                             "0;last\r\nx-trailer: 1\r\nx-other: 2\r\n\r\n";
  RawConnection connection(gateway);
  connection.send(chat_head(gateway, {"transfer-encoding: Chunked"}) + framed);
  CHECK(connection.receive_response().status == 200);
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.body() == body);
  CHECK(exchange.chat().last_user_text() == "in chunks");
  CHECK(contains(exchange.raw(), framed));
  // The trailer belongs to the body: the connection is in step.
  connection.send(Http(gateway).format("GET", "/v1/models"));
  CHECK(connection.receive_response().status == 200);
}

TEST_CASE("a chunked body may come in single bytes, each a chunk and each a write") {
  Gateway gateway;
  const std::string body = chat_body().dump();
  RawConnection connection(gateway);
  connection.send(chat_head(gateway, {"Transfer-Encoding: chunked"}));
  for (const char byte : body) {
    for (const char piece : as_chunk({&byte, 1})) connection.send({&piece, 1});
  }
  for (const char piece : std::string("0\r\n\r\n")) connection.send({&piece, 1});
  CHECK(connection.receive_response().status == 200);
  CHECK(gateway.journal().last().body() == body);
}

TEST_CASE("a chunk's size that is none is a 400") {
  Gateway gateway;
  for (const std::string size : {"xyz", "", " 5", "-5", "+5", "0x5", "5g", ";a=b", "1FFFFFFFFFFFFFFFF"}) {
    CAPTURE(size);
    const Response response =
        last_answer_to(gateway, chat_head(gateway, {"Transfer-Encoding: chunked"}) + size + "\r\nhello\r\n0\r\n\r\n");
    CHECK(response.status == 400);
    CHECK(response.error_code() == "malformed_request");
    CHECK(contains(response.error_message(), "chunk"));
  }
}

TEST_CASE("chunks that are too large, alone or in total, are a 413") {
  Gateway gateway{Options{}.max_body(100)};
  for (const std::string& chunks :
       {as_chunk(std::string(101, 'x')), as_chunk(std::string(60, 'x')) + as_chunk(std::string(60, 'x')),
        std::string("7fffffffffffffff\r\nx"), std::string("FFFFFFFFFFFFFFFF\r\nx")}) {
    CAPTURE(chunks);
    const Response response = last_answer_to(gateway, chat_head(gateway, {"Transfer-Encoding: chunked"}) + chunks);
    CHECK(response.status == 413);
    CHECK(response.error_code() == "body_too_large");
  }
}

TEST_CASE("a chunk without its line end, an endless size line and an endless trailer are a 400") {
  Gateway gateway;
  std::string trailer = "0\r\n";
  for (int i = 0; i < 1000; ++i) trailer += "x-" + std::to_string(i) + ": y\r\n";
  for (const std::string& chunks : {std::string("5\r\nhello0\r\n\r\n"), std::string("5\r\nhelloworld\r\n"),
                                    "5;" + std::string(5000, 'x'), trailer, "0\r\nx: " + std::string(5000, 'y')}) {
    CAPTURE(chunks.substr(0, 40));
    const Response response = last_answer_to(gateway, chat_head(gateway, {"Transfer-Encoding: chunked"}) + chunks);
    CHECK(response.status == 400);
    CHECK(response.error_code() == "malformed_request");
  }
}

TEST_CASE("a chunked body that ends too early is no exchange") {
  Gateway gateway;
  for (const std::string chunks :
       {"", "5", "5\r\nhel", "5\r\nhello", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\n", "0\r\nx-trailer: 1\r\n"}) {
    CAPTURE(chunks);
    RawConnection connection(gateway);
    connection.send(chat_head(gateway, {"Transfer-Encoding: chunked"}) + chunks);
    connection.shutdown_write();
    const auto rest = connection.receive_all();
    CHECK(rest.end == End::fin);
    CHECK(rest.bytes.empty());
  }
  CHECK(gateway.journal().wait_until_idle(5s));
  CHECK(gateway.journal().count() == 0);
  CHECK(Http(gateway).chat().status == 200);
}

// --- Lengths ---------------------------------------------------------------------------------------------------------

TEST_CASE("a body whose length is said twice, differently or not at all in numbers is a 400") {
  Gateway gateway;
  const std::vector<std::vector<std::string>> heads = {
      {"Content-Length: 5", "Transfer-Encoding: chunked"},
      {"Transfer-Encoding: chunked", "Content-Length: 5"},
      {"Content-Length: 0", "Transfer-Encoding: chunked"},
      {"Content-Length: 5", "Content-Length: 6"},
      {"Content-Length: five"},
      {"Content-Length: -5"},
      {"Content-Length: +5"},
      {"Content-Length: 0x5"},
      {"Content-Length: 5.0"},
      {"Content-Length: 5 5"},
      {"Content-Length: 5, 5"},
      {"Content-Length:"},
      {"Content-Length: 99999999999999999999999"},
  };
  for (const std::vector<std::string>& lines : heads) {
    CAPTURE(lines);
    std::string request =
        "POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer " + gateway.api_key() + "\r\n";
    for (const std::string& line : lines) request += line + "\r\n";
    const Response response = last_answer_to(gateway, request + "\r\n5\r\nhello\r\n0\r\n\r\n");
    CHECK(response.status == 400);
    CHECK(response.error_code() == "malformed_request");
  }
}

TEST_CASE("the same Content-Length twice is one") {
  Gateway gateway;
  const std::string body = chat_body().dump();
  const std::string length = "Content-Length: " + std::to_string(body.size());
  CHECK(answer_to(gateway, chat_head(gateway, {length, length}) + body).status == 200);
}

TEST_CASE("a transfer coding other than chunked is a 501") {
  Gateway gateway;
  for (const std::string coding : {"gzip", "gzip, chunked", "identity", "chunked, chunked", ""}) {
    CAPTURE(coding);
    const Response response =
        last_answer_to(gateway, chat_head(gateway, {"Transfer-Encoding: " + coding}) + "0\r\n\r\n");
    CHECK(response.status == 501);
    CHECK(response.error_code() == "unsupported_transfer_encoding");
  }
  CHECK(last_answer_to(gateway, chat_head(gateway, {"Transfer-Encoding: chunked", "Transfer-Encoding: chunked"}))
            .status == 501);
}

TEST_CASE("a POST without Content-Length has an empty body, which is no JSON") {
  Gateway gateway;
  RawConnection connection(gateway);
  for (int i = 0; i < 2; ++i) {
    connection.send(chat_head(gateway, {}));
    const Response response = connection.receive_response();
    CHECK(response.status == 400);
    CHECK(response.error_code() == "invalid_json");
    CHECK_FALSE(response.has("Connection"));  // it is good HTTP: the connection goes on
  }
}

TEST_CASE("a GET with a body is served, and the connection is in step afterwards") {
  Gateway gateway;
  RawConnection connection(gateway);
  for (int i = 0; i < 3; ++i) {
    connection.send(Http(gateway).format("GET", "/v1/models", "GET /v1/nothing HTTP/1.1\r\n\r\n"));
    CHECK(connection.receive_response().status == 200);
  }
}

// --- Expect ----------------------------------------------------------------------------------------------------------

TEST_CASE("a client that asks for it gets 100 first, then sends its body and gets its answer") {
  Gateway gateway;
  const std::string body = chat_body().dump();
  for (const std::string& framing :
       {"Content-Length: " + std::to_string(body.size()), std::string("Transfer-Encoding: chunked")}) {
    CAPTURE(framing);
    RawConnection connection(gateway);
    for (int i = 0; i < 2; ++i) {
      connection.send(chat_head(gateway, {framing, "Expect: 100-Continue"}));
      const Response interim = connection.receive_response();
      CHECK(interim.raw == "HTTP/1.1 100 Continue\r\n\r\n");
      connection.send(framing[0] == 'C' ? body : as_chunk(body) + "0\r\n\r\n");
      CHECK(connection.receive_response().status == 200);
    }
  }
}

TEST_CASE("no 100 comes when the body is there already, or none is announced, or the client speaks HTTP/1.0") {
  Gateway gateway;
  const std::string body = chat_body().dump();
  const std::string length = "Content-Length: " + std::to_string(body.size());
  CHECK(answer_to(gateway, chat_head(gateway, {length, "Expect: 100-continue"}) + body).status == 200);
  CHECK(answer_to(gateway, head(gateway, "GET /v1/models HTTP/1.1", {"Expect: 100-continue"})).status == 200);

  RawConnection old_client(gateway);
  old_client.send(head(gateway, "POST /v1/chat/completions HTTP/1.0", {length, "Expect: 100-continue"}));
  old_client.send(body);
  CHECK(old_client.receive_response().status == 200);
}

TEST_CASE("100 is never sent to a client that did not ask for it") {
  Gateway gateway;
  const std::string body = chat_body().dump();
  const std::string length = "Content-Length: " + std::to_string(body.size());
  for (const std::string line : {"x-nothing: 1", "Expect:", "Expect: 200-ok", "x-expect: 100-continue"}) {
    CAPTURE(line);
    RawConnection connection(gateway);
    connection.send(chat_head(gateway, {length, line}));
    connection.send(body);
    CHECK(connection.receive_response().status == 200);
  }
}

// --- Methods and paths -----------------------------------------------------------------------------------------------

TEST_CASE("HEAD is a 405 with Allow and without a body, and keeps the connection in step") {
  Gateway gateway;
  RawConnection connection(gateway);
  for (const auto& [path, allow] : {std::pair<std::string, std::string>{"/v1/models", "GET"},
                                    {"/v1/models/mock-model", "GET"},
                                    {chat_path, "POST"}}) {
    const auto& path_shown = path;  // a lambda in C++17 cannot name a structured binding
    CAPTURE(path_shown);
    connection.send(head(gateway, "HEAD " + path + " HTTP/1.1") + Http(gateway).format("GET", "/v1/models"));
    const Response refused = connection.receive_response(test_support::default_timeout, true);
    CHECK(refused.status == 405);
    CHECK(refused.header("Allow") == allow);
    CHECK(std::stoi(refused.header("Content-Length")) > 0);  // of the body that GET would have had (RFC 9110, 9.3.2)
    CHECK(connection.receive_response().status == 200);
  }
  connection.send(head(gateway, "HEAD /v1/nothing HTTP/1.1") + Http(gateway).format("GET", "/v1/models"));
  CHECK(connection.receive_response(test_support::default_timeout, true).status == 404);
  CHECK(connection.receive_response().status == 200);
}

TEST_CASE("OPTIONS and every other wrong method, known or not, is a 405 with Allow") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  for (const std::string method : {"OPTIONS", "GET", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PRI", "PROPFIND",
                                   "FOO", "post", "Post", "M-SEARCH", "!#$%&'*+.^_`|~0"}) {
    CAPTURE(method);
    const Response response = http.request(method, chat_path);
    CHECK(response.status == 405);
    CHECK(response.reason == "Method Not Allowed");
    CHECK(response.header("Allow") == "POST");
    CHECK(response.error_code() == "method_not_allowed");
    CHECK(contains(response.error_message(), method + " is not allowed"));
  }
  for (const std::string method : {"POST", "OPTIONS", "DELETE"}) {
    CAPTURE(method);
    for (const std::string path : {"/v1/models", "/v1/models/mock-model"}) {
      CHECK(http.request(method, path).status == 405);
      CHECK(http.request(method, path).header("Allow") == "GET");
    }
  }
  CHECK(http.without_key().request("OPTIONS", chat_path).status == 401);
}

TEST_CASE("a path is taken as it was sent: no trick leads to an operation") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  for (const std::string path : {"//v1/models",
                                 "/v1//models",
                                 "/v1/../v1/models",
                                 "/./v1/models",
                                 "/v1/%2e%2e/v1/models",
                                 "/%2e/v1/models",
                                 "/v1/%6dodels",
                                 "/%76%31/models",
                                 "/v1%2fmodels",
                                 "/v1/models/",
                                 "/v1/models//",
                                 "/v1/models/a/b",
                                 "/v1/Models",
                                 "/V1/models",
                                 "/v1/models;x=1",
                                 "/v1/models#part",
                                 "/v1/models%00",
                                 "/v1/models%20",
                                 "/v1\\models",
                                 "/",
                                 "*",
                                 "v1/models",
                                 "/v1",
                                 "/v1/",
                                 "/v1/mod\xC3\xA8les",
                                 "/v1/\xFF",
                                 "/v1/{id}",
                                 "/v1/%",
                                 "/v1/%zz"}) {
    CAPTURE(path);
    const Response response = http.get(path);
    CHECK(response.status == 404);
    CHECK(response.error_code() == "unknown_path");
    CHECK(http.without_key().get(path).status == 401);
  }
  for (const std::string path :
       {"/v1/chat/completions/", "/v1/chat//completions", "/v1/chat/%63ompletions", "/chat/completions"}) {
    CAPTURE(path);
    CHECK(http.post(path, chat_body()).status == 404);
  }
}

TEST_CASE("the gateway is no proxy: a target with a scheme and a host is an unknown path") {
  Gateway gateway;
  const std::string target = gateway.root_url() + "/v1/models";
  const Response response = Http(gateway).get(target);
  CHECK(response.status == 404);
  CHECK(response.error_code() == "unknown_path");
  CHECK(contains(response.error_message(), target));
  CHECK(Http(gateway).request("CONNECT", "example.org:443").status == 404);
}

TEST_CASE("a path of 8,000 characters is looked up, a longer one is a 414") {
  Gateway gateway;
  const Http http(gateway);
  const auto path_of = [](std::size_t size) { return "/v1/" + std::string(size - 4, 'x'); };
  const Response longest = http.get(path_of(8000));
  CHECK(longest.status == 404);
  CHECK(longest.error_code() == "unknown_path");
  for (const std::size_t size : {std::size_t{8001}, std::size_t{9000}, std::size_t{60000}}) {
    CAPTURE(size);
    const Response response = last_answer_to(gateway, http.format("GET", path_of(size)));
    CHECK(response.status == 414);
    CHECK(response.reason == "URI Too Long");
    CHECK(response.error_code() == "uri_too_long");
  }
  CHECK(last_answer_to(gateway, http.format("GET", path_of(100'000))).status == 431);
  const std::string query = "/v1/models?" + std::string(8000 - 11, 'q');
  CHECK(http.get(query).status == 200);
  CHECK(http.get(query + "q").status == 414);
}

TEST_CASE("the query does not choose the operation, and is recorded") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  for (const std::string query :
       {"limit=1", "", "a?b?c", "x=/v1/nothing", "%", "%zz=%", "a=b&a=c#d", "\xC3\xA8=\xFF"}) {
    CAPTURE(query);
    CHECK(http.get("/v1/models?" + query).status == 200);
    CHECK(gateway.journal().last().path() == "/v1/models");
    CHECK(gateway.journal().last().query() == query);
    CHECK(http.get("/v1/models/mock-model?" + query).status == 200);
    CHECK(http.post(std::string(chat_path) + "?" + query, chat_body()).status == 200);
    CHECK(http.get("/v1/nothing?" + query).status == 404);
  }
}

TEST_CASE("a model's id is found percent-encoded, and a malformed escape is only an unknown id") {
  Gateway gateway{Options{}.model("team/model a").model("100%")};
  const Http http = Http(gateway).keep_alive();
  for (const std::string id : {"team%2Fmodel%20a", "team%2fmodel%20a", "%74eam%2Fmodel%20a"}) {
    CAPTURE(id);
    CHECK(http.get("/v1/models/" + id).json()["id"] == "team/model a");
  }
  CHECK(http.get("/v1/models/100%25").json()["id"] == "100%");
  CHECK(http.get("/v1/models/100%").json()["id"] == "100%");  // no escape: taken as it is
  CHECK(http.get("/v1/models/team/model%20a").error_code() == "unknown_path");
  for (const std::string id : {"%", "%2", "%zz", "%2Gx", "%00", "%ff", "%C3%28", "team+model", ".", ".."}) {
    CAPTURE(id);
    const Response response = http.get("/v1/models/" + id);
    CHECK(response.status == 404);
    CHECK(response.error_code() == "model_not_found");
  }
}

// --- Headers ---------------------------------------------------------------------------------------------------------

TEST_CASE("two Authorization headers are a 401, even when each is valid") {
  Gateway gateway;
  const Http http(gateway);
  const std::string valid = "Bearer " + gateway.api_key();
  for (const std::string& second : {valid, std::string("Bearer sk-other"), std::string()}) {
    CHECK(http.with_header("Authorization", second).get("/v1/models").status == 401);
    CHECK(http.with_authorization(second).with_header("authorization", valid).get("/v1/models").status == 401);
  }
}

TEST_CASE("a scripted header with CR, LF or NUL is refused where it is written") {
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

TEST_CASE("headers on which servers act by themselves change nothing") {
  Gateway gateway{Options{}.clock(ManualClock{})};
  const Http http = Http(gateway).keep_alive();
  const std::string expected = http.get("/v1/models").raw;
  const auto same_with = [&](const std::string& name, const std::string& value) {
    CAPTURE(name);
    CAPTURE(value);
    CHECK(http.with_header(name, value).get("/v1/models").raw == expected);
  };
  SUBCASE("Range is no 206 and no 416") {
    for (const char* value : {"bytes=0-3", "bytes=5-1", "bytes=99999-", "lines=1-2", "nonsense", ""})
      same_with("Range", value);
  }
  SUBCASE("Accept is not looked at, however malformed") {
    for (const char* value : {"text/html", "text/event-stream", ";;;", "a/b;q=7", ",", "/", "q=", "*/*;q=nonsense"})
      same_with("Accept", value);
  }
  SUBCASE("nothing is compressed") {
    for (const char* value : {"gzip", "br", "gzip, deflate, br, zstd", "*", "identity;q=0"})
      same_with("Accept-Encoding", value);
  }
  SUBCASE("names that servers use for themselves") {
    for (const char* name : {"REMOTE_ADDR", "REMOTE_PORT", "LOCAL_ADDR", "LOCAL_PORT", "X-Forwarded-For", "Location",
                             "Content-Encoding", "If-None-Match", "Sec-WebSocket-Key"})
      same_with(name, "1");
  }
  SUBCASE("an upgrade is not taken up") {
    same_with("Upgrade", "websocket");
    same_with("Upgrade", "h2c");
    same_with("Connection", "Upgrade, HTTP2-Settings");
  }
}

TEST_CASE("a stream is not compressed, and comes event by event, whatever the client accepts") {
  Gateway gateway;
  gateway.chat().reply("one two three");
  const Response response = Http(gateway).with_header("Accept-Encoding", "gzip, br").stream();
  CHECK_FALSE(response.has("Content-Encoding"));
  CHECK(response.joined_text() == "one two three");
  CHECK(response.chunks.size() == response.events().size());
}

TEST_CASE("a Range on a chat request does not cut its answer") {
  Gateway gateway;
  gateway.chat().reply("whole");
  const Response response = Http(gateway).with_header("Range", "bytes=0-9").chat();
  CHECK(response.status == 200);
  CHECK(response.text() == "whole");
}

TEST_CASE("a header's value may be empty, and hold tabs and bytes beyond ASCII; white space around it is dropped") {
  Gateway gateway;
  const Response response = answer_to(
      gateway, head(gateway, "GET /v1/models HTTP/1.1", {"x-empty:", "x-tab: \t a\tb \t", "x-bytes: \xC3\xA8\xFF"}));
  CHECK(response.status == 200);
  const Headers headers = gateway.journal().last().headers();
  CHECK(headers.find("x-empty") == "");
  CHECK(headers.find("x-tab") == "a\tb");
  CHECK(headers.find("x-bytes") == "\xC3\xA8\xFF");
}

// --- What is no HTTP -------------------------------------------------------------------------------------------------

TEST_CASE("a malformed request line is a 400 at once") {
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

TEST_CASE("an HTTP version that the gateway does not speak is a 505 at once") {
  Gateway gateway;
  for (const std::string version : {"HTTP/0.9", "HTTP/1.2", "HTTP/2", "HTTP/2.0", "HTTP/3.0", "HTTP/1.10", "HTTP/x"}) {
    CAPTURE(version);
    const Response response = last_answer_to(gateway, head(gateway, "GET /v1/models " + version));
    CHECK(response.status == 505);
    CHECK(response.error_code() == "http_version_not_supported");
  }
}

TEST_CASE("a malformed header line is a 400 at once") {
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

TEST_CASE("lines that end in a bare LF or CR are a 400 at once, not a wait for more") {
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

TEST_CASE("NUL bytes in the target or for a request are a 400 at once") {
  Gateway gateway;
  CHECK(last_answer_to(gateway, head(gateway, std::string("GET /v1/models\0x HTTP/1.1", 25))).status == 400);
  CHECK(last_answer_to(gateway, std::string("\0", 1)).status == 400);
  CHECK(last_answer_to(gateway, std::string(5000, '\0')).status == 400);
}

TEST_CASE("HTTP/2, TLS and other protocols are told so at once") {
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

TEST_CASE("what is malformed is answered before anything else is looked at, and changes nothing") {
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
  CHECK(http.get("/v1/models").status == 503);  // still queued
  CHECK(http.get("/v1/models").status == 200);  // still allowed, once
  CHECK(http.get("/v1/models").status == 429);
}

// --- Connections -----------------------------------------------------------------------------------------------------

TEST_CASE("a hundred requests go over one connection") {
  Gateway gateway;
  gateway.chat().reply([](const ChatRequest& request) { return text("re: " + request.last_user_text()); });
  RawConnection connection(gateway);
  const Http http(gateway);
  for (int i = 1; i <= 100; ++i) {
    connection.send(http.format_chat(std::to_string(i)));
    const Response response = connection.receive_response();
    CHECK(response.text() == "re: " + std::to_string(i));
    CHECK_FALSE(response.has("Connection"));
  }
  const auto exchanges = gateway.journal().all();
  REQUIRE(exchanges.size() == 100);
  for (std::size_t i = 0; i < exchanges.size(); ++i) {
    CHECK(exchanges[i].connection_id() == exchanges[0].connection_id());
    CHECK(exchanges[i].position() == i + 1);
  }
}

TEST_CASE("requests pipelined in one write are answered in order, and each is in the journal") {
  Gateway gateway;
  gateway.chat().reply([](const ChatRequest& request) { return text("re: " + request.last_user_text()); });
  const Http http(gateway);
  RawConnection connection(gateway);
  connection.send(http.format_chat("1") + http.format_chat({{"stream", true}}) + http.format("GET", "/v1/models") +
                  http.format("GET", "/v1/nothing") + http.format_chat("5"));
  CHECK(connection.receive_response().text() == "re: 1");
  CHECK(connection.receive_response().joined_text() == "re: Hi");
  CHECK(connection.receive_response().json()["object"] == "list");
  CHECK(connection.receive_response().status == 404);
  CHECK(connection.receive_response().text() == "re: 5");
  const auto exchanges = gateway.journal().all();
  REQUIRE(exchanges.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(exchanges[i].position() == i + 1);
    CHECK(exchanges[i].connection_id() == exchanges[0].connection_id());
  }
}

TEST_CASE("Connection: close is honoured, and what follows on the connection is not served") {
  Gateway gateway;
  const Http http(gateway);
  for (const std::string value : {"close", "Close", "keep-alive, close"}) {
    CAPTURE(value);
    const Http closing = http.with_header("Connection", value);
    CHECK(last_answer_to(gateway, closing.format_chat()).status == 200);
    CHECK(last_answer_to(gateway, closing.format_chat({{"stream", true}})).done());
    CHECK(last_answer_to(gateway, closing.format("GET", "/v1/nothing")).status == 404);
  }
  gateway.reset();
  CHECK(last_answer_to(gateway, http.with_header("Connection", "close").format("GET", "/v1/models") +
                                    http.format("GET", "/v1/nothing"))
            .status == 200);
  const auto exchanges = gateway.journal().all();
  REQUIRE(exchanges.size() == 2);  // the second is the good request of last_answer_to
  CHECK(exchanges[1].connection_id() != exchanges[0].connection_id());
}

TEST_CASE("an answer that is scripted to say Connection: close is followed by the close") {
  Gateway gateway;
  gateway.chat().reply(text("bye").header("Connection", "close"));
  const Http http(gateway);
  CHECK(last_answer_to(gateway, http.format_chat()).text() == "bye");
  CHECK(last_answer_to(gateway, http.format_chat({{"stream", true}})).joined_text() == "bye");
  gateway.fail_next(service_unavailable().header("connection", "Close"));
  RawConnection connection(gateway);
  connection.send(http.format_chat());
  CHECK(connection.receive_response().status == 503);
  CHECK(connection.receive_all().end == End::fin);
}

TEST_CASE("empty lines before a request are skipped") {
  Gateway gateway;
  RawConnection connection(gateway);
  for (int i = 0; i < 3; ++i) {
    connection.send("\r\n\r\n\n" + Http(gateway).format("GET", "/v1/models") + "\r\n");
    CHECK(connection.receive_response().status == 200);
  }
  CHECK(gateway.journal().wait_until_idle(5s));
  CHECK(gateway.journal().count() == 3);
}

TEST_CASE("a request may come byte by byte") {
  Gateway gateway;
  RawConnection connection(gateway);
  for (const char byte : Http(gateway).format_chat()) connection.send({&byte, 1});
  CHECK(connection.receive_response().status == 200);
}

TEST_CASE("an HTTP/1.0 client gets its answer and the end of the connection, unless it asks to keep it") {
  Gateway gateway;
  const Response once = last_answer_to(gateway, head(gateway, "GET /v1/models HTTP/1.0"));
  CHECK(once.status == 200);
  CHECK(once.has("Content-Length"));

  RawConnection connection(gateway);
  for (int i = 0; i < 3; ++i) {
    connection.send(head(gateway, "GET /v1/models HTTP/1.0", {"Connection: Keep-Alive"}));
    const Response kept = connection.receive_response();
    CHECK(kept.status == 200);
    CHECK(kept.header("Connection") == "keep-alive");
  }
  connection.send(head(gateway, "GET /v1/models HTTP/1.0"));
  CHECK(connection.receive_response().header("Connection") == "close");
  CHECK(connection.receive_all().end == End::fin);
}

TEST_CASE("a stream to an HTTP/1.0 client is not chunked, and ends with the connection") {
  Gateway gateway;
  gateway.chat().reply("one two three");
  const std::string body = chat_body({{"stream", true}}).dump();
  const std::string length = "Content-Length: " + std::to_string(body.size());
  for (const std::string line : {"x-nothing: 1", "Connection: keep-alive"}) {
    CAPTURE(line);
    const Response response =
        answer_to(gateway, head(gateway, "POST /v1/chat/completions HTTP/1.0", {length, line}) + body);
    CHECK(response.complete);
    CHECK(response.end == End::fin);
    CHECK(response.header("Connection") == "close");
    CHECK_FALSE(response.has("Transfer-Encoding"));
    CHECK_FALSE(response.has("Content-Length"));
    CHECK(response.joined_text() == "one two three");
    CHECK(response.done());
  }
}

TEST_CASE("a client that closes in mid-request is no exchange, and nothing stays under way") {
  Gateway gateway;
  const std::string request = Http(gateway).format_chat();
  const std::size_t body = request.find("\r\n\r\n") + 4;
  for (const std::size_t size : {std::size_t{1}, std::size_t{10}, body - 1, body, body + 1, request.size() - 1}) {
    CAPTURE(size);
    RawConnection closing(gateway);
    closing.send(request.substr(0, size));
    closing.close();
    RawConnection half_closing(gateway);
    half_closing.send(request.substr(0, size));
    half_closing.shutdown_write();
    const auto rest = half_closing.receive_all();
    CHECK(rest.end == End::fin);
    CHECK(rest.bytes.empty());
    RawConnection resetting(gateway);
    resetting.send(request.substr(0, size));
    resetting.abort();
  }
  CHECK(gateway.journal().wait_until_idle(5s));
  CHECK(gateway.journal().count() == 0);
  CHECK(Http(gateway).chat().status == 200);
}

TEST_CASE("a client that closes its side after its request still gets its answer") {
  Gateway gateway;
  gateway.chat().reply(text("one two three").every(5ms));
  for (const bool stream : {false, true}) {
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", stream}}));
    connection.shutdown_write();
    const Response response = connection.receive_response();
    CHECK((stream ? response.joined_text() : response.text()) == "one two three");
    CHECK(connection.receive_all().end == End::fin);
    CHECK(gateway.journal().last().outcome() == Outcome::Kind::completed);
  }
}

TEST_CASE("a request that stalls halfway is a 408 after the read timeout, and holds nobody else up") {
  Gateway gateway{Options{}.read_timeout(200ms)};
  const Http http(gateway);
  const std::string request = http.format_chat();
  const std::string chunked = chat_head(gateway, {"Transfer-Encoding: chunked"});
  for (const std::string& part : {request.substr(0, 1), request.substr(0, 30), request.substr(0, request.size() - 1),
                                  chunked, chunked + "5", chunked + "5\r\nhel", chunked + "0\r\n"}) {
    CAPTURE(part);
    RawConnection connection(gateway);
    connection.send(part);
    CHECK(http.chat().status == 200);
    const Response response = connection.receive_response();
    CHECK(response.status == 408);
    CHECK(response.error_code() == "request_timeout");
    CHECK(response.header("Connection") == "close");
    CHECK(connection.receive_all().end == End::fin);
    CHECK(http.chat().status == 200);
  }
  CHECK(gateway.journal().wait_until_idle(5s));
}

TEST_CASE("an idle connection is closed after the idle timeout, used or not, without an answer") {
  Gateway gateway{Options{}.idle_timeout(100ms)};
  RawConnection unused(gateway);
  const auto nothing = unused.receive_all();
  CHECK(nothing.end == End::fin);
  CHECK(nothing.bytes.empty());
  RawConnection used(gateway);
  used.send(Http(gateway).format_chat());
  CHECK(used.receive_response().status == 200);
  const auto rest = used.receive_all();
  CHECK(rest.end == End::fin);
  CHECK(rest.bytes.empty());
  CHECK(gateway.journal().count() == 1);
}

TEST_CASE("a client that does not read what precedes a fault is ended after the write timeout") {
  Gateway gateway{Options{}.write_timeout(200ms)};
  // It fits the buffer for sending, so that only the wait for its acknowledgement shows that nobody reads.
  gateway.chat().reply(text(std::string(300'000, 'x')).fail(after_bytes(200'000), close_connection()));
  ConnectionOptions small;
  small.receive_buffer = 4096;
  RawConnection connection(gateway, small);
  connection.send(Http(gateway).format_chat());
  REQUIRE(gateway.journal().wait_for(1, 5s));
  CHECK(gateway.journal().last().outcome() == Outcome::Kind::client_stalled);
  CHECK(connection.receive_all().end == End::reset);
}

TEST_CASE("a client that never reads a big reply is ended after the write timeout") {
  Gateway gateway{Options{}.write_timeout(200ms)};
  gateway.chat().reply(text(std::string(std::size_t{8} << 20, 'x')));
  ConnectionOptions small;
  small.receive_buffer = 4096;
  for (const bool stream : {false, true}) {
    RawConnection connection(gateway, small);
    connection.send(Http(gateway).format_chat({{"stream", stream}}));
    REQUIRE(gateway.journal().wait_for(stream ? 2 : 1, 5s));
    const Exchange exchange = gateway.journal().last();
    CHECK(exchange.outcome() == Outcome::Kind::client_stalled);
    CHECK(exchange.bytes_sent() > 0);
    CHECK(exchange.bytes_sent() < std::size_t{8} << 20);
    CHECK(connection.receive_all().end == End::reset);
  }
}

#ifdef __linux__

/// Sends a signal that is handled, and does nothing, to every thread of the process.
class HarmlessSignal {
 public:
  HarmlessSignal() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &action, &before_);
  }
  ~HarmlessSignal() { ::sigaction(SIGUSR1, &before_, nullptr); }
  HarmlessSignal(const HarmlessSignal&) = delete;
  HarmlessSignal& operator=(const HarmlessSignal&) = delete;

  static void send_to_all_threads() {
    DIR* const folder = ::opendir("/proc/self/task");
    REQUIRE(folder != nullptr);
    while (const dirent* const entry = ::readdir(folder)) {
      if (entry->d_name[0] != '.') ::syscall(SYS_tgkill, ::getpid(), std::stoi(entry->d_name), SIGUSR1);
    }
    ::closedir(folder);
  }

 private:
  struct sigaction before_ {};
};

TEST_CASE("signals that the process handles end no transfer and no wait") {
  Gateway gateway;
  const std::string big(std::size_t{8} << 20, 'x');
  Gate gate;
  gateway.chat().reply(text(big));
  gateway.chat().when(user_says("hold")).reply(text("a b").hold(gate, before_token(2)));
  const HarmlessSignal signal;
  ConnectionOptions small;
  small.receive_buffer = 4096;
  RawConnection writing(gateway, small);
  writing.send(Http(gateway).format_chat());
  REQUIRE(gateway.journal().wait_for(1, 5s));
  REQUIRE(eventually([&] { return gateway.journal().last().bytes_sent() > 0; }));
  RawConnection holding(gateway);
  holding.send(Http(gateway).format_chat({{"stream", true}, {"messages", {{{"role", "user"}, {"content", "hold"}}}}}));
  REQUIRE(gate.wait_until_reached(5s));
  RawConnection reading(gateway);
  const std::string request = Http(gateway).format_chat("hold");
  reading.send(request.substr(0, 100));

  for (int i = 0; i < 50; ++i) {
    HarmlessSignal::send_to_all_threads();
    test_support::detail::pause();
  }
  gate.open();
  CHECK(writing.receive_response().text() == big);
  CHECK(holding.receive_response().joined_text() == "a b");
  reading.send(request.substr(100));
  CHECK(reading.receive_response().text() == "a b");
  CHECK(Http(gateway).get("/v1/models").status == 200);
}

#endif

TEST_CASE("a client that resets in mid-stream has left, and the stream ends") {
  Gateway gateway;
  Gate gate;
  gateway.chat().reply(text("a b c d").hold(gate, before_token(2)));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(5s));
  const Exchange exchange = gateway.journal().last();
  CHECK(connection.receive_until("\"content\":\"a\"").found);
  connection.abort();
  CHECK(exchange.outcome() == Outcome::Kind::client_left);
  CHECK(exchange.tokens_sent() == 1);
  CHECK(exchange.wait_for_client_to_leave(5s));
  CHECK(gateway.journal().wait_until_idle(5s));
}

TEST_CASE("a client that resets while a big reply is on its way has left") {
  Gateway gateway;
  gateway.chat().reply(text(std::string(std::size_t{8} << 20, 'x')));
  ConnectionOptions small;
  small.receive_buffer = 4096;
  RawConnection connection(gateway, small);
  connection.send(Http(gateway).format_chat());
  REQUIRE(gateway.journal().wait_for(1, 5s));
  REQUIRE(eventually([&] { return gateway.journal().last().bytes_sent() > 0; }));
  connection.abort();
  CHECK(gateway.journal().last().outcome() == Outcome::Kind::client_left);
}

// --- The tester's own functions --------------------------------------------------------------------------------------

TEST_CASE("what a tester's function throws is a 500 with nothing of it on the wire, and the connection goes on") {
  struct Row {
    const char* name;
    std::function<void(Gateway&, const std::function<void()>&)> script;
    const char* path;
  };
  const std::vector<Row> rows = {
      {"a reply function",
       [](Gateway& gateway, const std::function<void()>& code) {
         gateway.chat().reply([=](const ChatRequest&) { return code(), text("never"); });
       },
       chat_path},
      {"a matcher",
       [](Gateway& gateway, const std::function<void()>& code) {
         gateway.chat().when(matching("odd", [=](const ChatRequest&) { return code(), true; })).reply("never");
       },
       chat_path},
      {"a text matcher",
       [](Gateway& gateway, const std::function<void()>& code) {
         gateway.chat().when(user_says({"odd", [=](std::string_view) { return code(), true; }})).reply("never");
       },
       chat_path},
      {"a mounted handler",
       [](Gateway& gateway, const std::function<void()>& code) {
         gateway.on("POST", "/v1/own", [=](const ReceivedRequest&) { return code(), HttpReply(Json::object()); });
       },
       "/v1/own"},
  };
  const std::vector<std::pair<const char*, std::function<void()>>> throwers = {
      {"its own words", [] { throw std::runtime_error("its own words"); }},
      {"no std::exception", [] { throw 42; }},
      {"failure's status", [] { failure(99, "x", "x"); }},
      {"", [] { const Json never = Json::parse("{"); }},
  };
  for (const Row& row : rows) {
    for (const auto& [text, code] : throwers) {
      CAPTURE(row.name);
      const auto& text_shown = text;  // a lambda in C++17 cannot name a structured binding
      CAPTURE(text_shown);
      Gateway gateway{Options{}.verify_on_destruction(false)};
      row.script(gateway, code);
      RawConnection connection(gateway);
      connection.send(Http(gateway).format("POST", row.path, chat_body().dump()));
      const Response response = connection.receive_response();
      CHECK(response.status == 500);
      CHECK(response.error_code() == "internal_error");
      CHECK_FALSE(contains(response.body, "its own words"));
      const Exchange exchange = gateway.journal().last();
      CHECK(exchange.decision().kind == Decision::Kind::callback_failed);
      CHECK(contains(exchange.decision().detail, text));
      connection.send(Http(gateway).format("GET", "/v1/models"));
      CHECK(connection.receive_response().status == 200);
    }
  }
}

TEST_CASE("what a tokenizer throws or gets wrong is a 500 that the journal explains") {
  struct Row {
    const char* text;
    Decision::Kind kind;
    Tokenizer tokenizer;
  };
  const std::vector<Row> rows = {
      {"the function given to Options::tokenizer threw: no vocabulary", Decision::Kind::callback_failed,
       [](std::string_view) -> std::vector<std::string> { throw std::runtime_error("no vocabulary"); }},
      {"do not add up", Decision::Kind::answer_failed,
       [](std::string_view) { return std::vector<std::string>{"something else"}; }},
      {"do not add up", Decision::Kind::answer_failed, [](std::string_view) { return std::vector<std::string>{}; }},
  };
  for (const auto& [text, kind, tokenizer] : rows) {
    Gateway gateway{Options{}.tokenizer(tokenizer).verify_on_destruction(false)};
    gateway.chat().reply("\xC3\xA8");
    const Http http = Http(gateway).keep_alive();
    for (const bool stream : {false, true}) {
      CHECK(http.chat({{"stream", stream}}).status == 500);
      CHECK(gateway.journal().last().decision().kind == kind);
      CHECK(contains(gateway.journal().last().decision().detail, text));
    }
    CHECK(http.get("/v1/models").status == 200);
  }
}

TEST_CASE("what on_exchange throws changes no answer") {
  Gateway gateway{Options{}.on_exchange([](const Exchange& exchange) {
    if (exchange.id() % 2 == 0) throw 42;
    throw std::runtime_error("the log is full");
  })};
  const Http http = Http(gateway).keep_alive();
  for (int i = 0; i < 4; ++i) CHECK(http.chat().status == 200);
  CHECK(gateway.journal().wait_until_idle(5s));
}

// --- Content types ---------------------------------------------------------------------------------------------------

TEST_CASE("a request's content type is JSON, or missing, or what a switch admits; else a 415") {
  const std::string json = chat_body().dump();
  struct Row {
    const char* type;
    int normal, strict, without_parameters, without_form, lenient;
  };
  const std::vector<Row> rows = {
      {"application/json", 200, 200, 200, 200, 200},
      {"APPLICATION/Json", 200, 200, 200, 200, 200},
      {"", 200, 200, 200, 200, 200},
      {"application/json; charset=utf-8", 200, 415, 415, 200, 200},
      {"application/json;charset=UTF-8", 200, 415, 415, 200, 200},
      {"application/json ; a=b; c=\"d\"", 200, 415, 415, 200, 200},
      {"application/x-www-form-urlencoded", 200, 415, 200, 415, 200},
      {"Application/X-WWW-Form-Urlencoded; charset=utf-8", 200, 415, 200, 415, 200},
      {"text/plain", 415, 415, 415, 415, 200},
      {"text/json", 415, 415, 415, 415, 200},
      {"application/jsonl", 415, 415, 415, 415, 200},
      {"application/problem+json", 415, 415, 415, 415, 200},
      {"multipart/form-data; boundary=x", 415, 415, 415, 415, 200},
      {"nonsense", 415, 415, 415, 415, 200},
      {"text/\xC3\xA8", 415, 415, 415, 415, 200},
      {";", 415, 415, 415, 415, 200},
  };
  Acceptance without_parameters;
  without_parameters = without_parameters.content_type_parameters(false);
  Acceptance without_form;
  without_form = without_form.json_as_form(false);
  const std::vector<std::pair<Acceptance, int Row::*>> acceptances = {
      {Acceptance{}, &Row::normal},
      {Acceptance::strict(), &Row::strict},
      {without_parameters, &Row::without_parameters},
      {without_form, &Row::without_form},
      {Acceptance::lenient(), &Row::lenient},
  };
  for (std::size_t i = 0; i < acceptances.size(); ++i) {
    CAPTURE(i);
    Gateway gateway{Options{}.acceptance(acceptances[i].first)};
    const Http http(gateway);
    CHECK(http.without_content_type().post(chat_path, json).status == 200);
    for (const Row& row : rows) {
      CAPTURE(row.type);
      const Response response = http.with_content_type(row.type).post(chat_path, json);
      CHECK(response.status == row.*acceptances[i].second);
      if (response.status == 415) {
        CHECK(response.reason == "Unsupported Media Type");
        CHECK(response.error_code() == "unsupported_content_type");
        CHECK(contains(response.error_message(), row.type));
      }
    }
  }
}

TEST_CASE("a form that holds no JSON is a 415, JSON that is no chat request a 400") {
  Gateway gateway;
  const Http http = Http(gateway).with_content_type("application/x-www-form-urlencoded");
  CHECK(http.post(chat_path, "model=mock-model&messages=Hi").status == 415);
  CHECK(http.post(chat_path, "").status == 415);
  CHECK(http.post(chat_path, "[]").status == 400);
  CHECK(Http(gateway).post(chat_path, "model=mock-model").error_code() == "invalid_json");
}

// --- Mounted operations ----------------------------------------------------------------------------------------------

TEST_CASE("a mounted operation answers, and what it answered and was asked is in the journal") {
  Gateway gateway;
  gateway.on("POST", "/v1/images/generations", [](const ReceivedRequest& request) {
    return Json{{"prompt", Json::parse(request.body)["prompt"]}, {"query", request.query()}};
  });
  const Http http(gateway);
  const Response response = http.post("/v1/images/generations?size=1", Json{{"prompt", "a cat"}});
  CHECK(response.status == 200);
  CHECK(response.header("Content-Type") == "application/json");
  CHECK(response.body == R"({"prompt":"a cat","query":"size=1"})");
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.path() == "/v1/images/generations");
  CHECK(exchange.body() == R"({"prompt":"a cat"})");
  CHECK(exchange.decision().kind == Decision::Kind::handler);
  CHECK(exchange.status() == 200);
  CHECK(exchange.outcome() == Outcome::Kind::completed);
  CHECK(exchange.key_id() == gateway.keys().list().at(0).id);
  CHECK_THROWS_AS(exchange.chat(), GatewayError);
}

TEST_CASE("a mounted operation is behind the same keys, rights, limits and failures") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  int calls = 0;
  gateway.on("POST", "/v1/speech", [&](const ReceivedRequest&) { return Json{{"calls", ++calls}}; });
  const Operation speech = operation("POST", "/v1/speech");
  const Http http(gateway);
  const auto status = [&](const Http& client) { return client.post("/v1/speech", Json::object()).status; };

  CHECK(status(http.without_key()) == 401);
  CHECK(status(http.with_key("sk-unknown")) == 401);
  const auto key = gateway.keys().create("speaker", KeyOptions{}.operations({speech}));
  CHECK(status(http.with_key(key.secret)) == 200);
  CHECK(http.with_key(key.secret).chat().status == 403);
  gateway.keys().disable(key.id);
  CHECK(status(http.with_key(key.secret)) == 403);
  const auto chatter = gateway.keys().create("chatter", KeyOptions{}.operations({chat_completions()}));
  CHECK(status(http.with_key(chatter.secret)) == 403);

  const auto limited = gateway.keys().create("limited", KeyOptions{}.limit(1, 10s));
  CHECK(status(http.with_key(limited.secret)) == 200);
  const Response refused = http.with_key(limited.secret).post("/v1/speech", Json::object());
  CHECK(refused.status == 429);
  CHECK(refused.header("Retry-After") == "10");
  clock.advance(10s);
  CHECK(status(http.with_key(limited.secret)) == 200);

  gateway.fail_next(overloaded(), 1, speech);
  gateway.fail_next(bad_gateway(), 1, for_key(limited.id));
  CHECK(http.chat().status == 200);
  CHECK(status(http) == 529);
  CHECK(status(http) == 200);
  CHECK(status(http.with_key(limited.secret)) == 502);
  CHECK(calls == 4);
}

TEST_CASE("a segment in braces takes any one segment, and the handler sees the path as sent") {
  Gateway gateway;
  gateway.on("GET", "/v1/videos/{id}/frames/{number}",
             [](const ReceivedRequest& request) { return Json(request.path()); });
  const Http http = Http(gateway).keep_alive();
  for (const std::string path : {"/v1/videos/a/frames/1", "/v1/videos/%2F%20/frames/%", "/v1/videos/{id}/frames/.."}) {
    CAPTURE(path);
    CHECK(http.get(path).json() == path);
  }
  for (const std::string path : {"/v1/videos/a/frames", "/v1/videos/a/frames/", "/v1/videos//frames/1",
                                 "/v1/videos/a/b/frames/1", "/v1/videos/a/frames/1/", "/v1/videos/a/Frames/1"}) {
    CAPTURE(path);
    CHECK(http.get(path).status == 404);
  }
  const Operation frames = operation("GET", "/v1/videos/{id}/frames/{number}");
  const auto key = gateway.keys().create("frames", KeyOptions{}.operations({frames}));
  CHECK(http.with_key(key.secret).get("/v1/videos/a/frames/1").status == 200);
  CHECK(http.with_key(key.secret).get("/v1/models").status == 403);
  gateway.fail_next(overloaded(), 1, frames);
  CHECK(http.get("/v1/videos/b/frames/2").status == 529);
}

TEST_CASE("a path without braces comes before one with, in whichever order they were mounted") {
  for (const bool literal_first : {false, true}) {
    Gateway gateway;
    const auto mount = [&](const std::string& path) {
      gateway.on("GET", path, [path](const ReceivedRequest&) { return Json(path); });
    };
    mount(literal_first ? "/v1/files/latest" : "/v1/files/{id}");
    mount(literal_first ? "/v1/files/{id}" : "/v1/files/latest");
    const Http http(gateway);
    CHECK(http.get("/v1/files/latest").json() == "/v1/files/latest");
    CHECK(http.get("/v1/files/other").json() == "/v1/files/{id}");
  }
}

TEST_CASE("a wrong method at a mounted path is a 405 that allows all that are mounted there") {
  Gateway gateway;
  for (const std::string method : {"POST", "GET", "QUERY"})
    gateway.on(method, "/v1/files", [method](const ReceivedRequest&) { return Json(method); });
  gateway.on("DELETE", "/v1/{name}", [](const ReceivedRequest&) { return Json::object(); });
  const Http http = Http(gateway).keep_alive();
  for (const std::string method : {"POST", "GET", "QUERY"}) CHECK(http.request(method, "/v1/files").json() == method);
  const Response response = http.request("PUT", "/v1/files");
  CHECK(response.status == 405);
  CHECK(response.header("Allow") == "POST, GET, QUERY, DELETE");
  CHECK(http.request("PUT", "/v1/other").header("Allow") == "DELETE");
}

TEST_CASE("mounting the same method and path again replaces the handler") {
  Gateway gateway;
  gateway.on("GET", "/v1/files", [](const ReceivedRequest&) { return Json("first"); });
  gateway.on("GET", "/v1/files", [](const ReceivedRequest&) { return Json("second"); });
  CHECK(Http(gateway).get("/v1/files").json() == "second");
}

TEST_CASE("a handler may answer with any status, headers and body, or a failure") {
  Gateway gateway;
  std::unique_ptr<HttpReply> reply;
  gateway.on("POST", "/v1/speech", [&](const ReceivedRequest&) { return *reply; });
  gateway.on("HEAD", "/v1/speech", [&](const ReceivedRequest&) { return *reply; });
  RawConnection connection(gateway);
  const auto answer = [&](HttpReply value, const std::string& method = "POST") {
    reply = std::make_unique<HttpReply>(std::move(value));
    connection.send(Http(gateway).format(method, "/v1/speech", "anything"));
    return connection.receive_response(test_support::default_timeout, method == "HEAD");
  };
  const std::string bytes("\0\xFF\r\n", 4);
  const Response audio = answer(HttpReply(200, bytes, "audio/mpeg").header("x-voice", "alto"));
  CHECK(audio.body == bytes);
  CHECK(audio.header("Content-Type") == "audio/mpeg");
  CHECK(audio.header("x-voice") == "alto");
  CHECK(answer(HttpReply(201, "", "text/plain")).header("Content-Length") == "0");
  CHECK(answer(HttpReply(503, "down", "text/plain")).body == "down");
  const Response failed = answer(HttpReply(rate_limited(2s)).header("x-more", "1"));
  CHECK(failed.status == 429);
  CHECK(failed.header("Retry-After") == "2");
  CHECK(failed.header("x-more") == "1");
  CHECK(failed.error_code() == "rate_limit_exceeded");
  const Response to_head = answer(HttpReply(200, "four", "text/plain"), "HEAD");
  CHECK(to_head.header("Content-Length") == "4");
  for (const int status : {204, 304}) {
    const Response empty = answer(HttpReply(status, "ignored", "text/plain"));
    CHECK(empty.status == status);
    CHECK_FALSE(empty.has("Content-Length"));
    CHECK_FALSE(empty.has("Content-Type"));
  }
  CHECK(answer(HttpReply(Json("in step"))).json() == "in step");
  CHECK(answer(HttpReply(404, {{"a", 1}})).body == R"({"a":1})");
  CHECK(answer(HttpReply(404, {{"a", 1}})).header("Content-Type") == "application/json");
  CHECK(answer(HttpReply(422, Json("no"), "application/problem+json")).body == "\"no\"");
}

TEST_CASE("what cannot be mounted is refused where it is written") {
  Gateway gateway;
  const OperationHandler handler = [](const ReceivedRequest&) { return Json::object(); };
  for (const auto& [method, path] : std::vector<std::pair<std::string, std::string>>{{"", "/v1/x"},
                                                                                     {"post", "/v1/x"},
                                                                                     {"PO ST", "/v1/x"},
                                                                                     {"POST", ""},
                                                                                     {"POST", "v1/x"},
                                                                                     {"POST", "/v1/x?y"},
                                                                                     {"POST", "/v1/x#y"},
                                                                                     {"POST", "/v1/x y"},
                                                                                     {"POST", chat_path},
                                                                                     {"GET", "/v1/models"},
                                                                                     {"GET", "/v1/models/{id}"},
                                                                                     {"GET", "/v1/models/a"}}) {
    const auto& method_shown = method;  // a lambda in C++17 cannot name a structured binding
    CAPTURE(method_shown);
    const auto& path_shown = path;  // a lambda in C++17 cannot name a structured binding
    CAPTURE(path_shown);
    CHECK_THROWS_AS(gateway.on(method, path, handler), GatewayError);
  }
  CHECK_THROWS_AS(gateway.on("POST", "/v1/x", nullptr), GatewayError);
  CHECK(Http(gateway).get("/v1/x").status == 404);
}

TEST_CASE("a mounted operation takes any content type, and bodies up to the limit") {
  Gateway gateway{Options{}.max_body(10)};
  gateway.on("PUT", "/v1/audio", [](const ReceivedRequest& request) { return Json(request.body.size()); });
  const Http http = Http(gateway).with_content_type("audio/wav");
  CHECK(http.request("PUT", "/v1/audio", std::string(10, '\xFF')).json() == 10);
  CHECK(http.request("PUT", "/v1/audio", std::string(11, '\xFF')).status == 413);
}

// --- Anything --------------------------------------------------------------------------------------------------------

#ifdef __linux__
inline int open_descriptors() {
  DIR* const folder = ::opendir("/proc/self/fd");
  REQUIRE(folder != nullptr);
  int count = 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}
#endif

/// Bytes that are no request, or nearly one.
class Fuzz {
 public:
  Fuzz(std::uint32_t seed, std::string valid) : random_(seed), valid_(std::move(valid)) {}

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_()) % end; }
  std::string bytes() {
    switch (below(4)) {
      case 0: return noise(below(2000));
      case 1: return valid_.substr(0, below(static_cast<std::uint32_t>(valid_.size())));
      case 2: return "GET /" + noise(below(100)) + " HTTP/1.1\r\n" + noise(below(100)) + "\r\n\r\n";
      default: break;
    }
    std::string changed = valid_;
    for (std::uint32_t edits = 1 + below(8); edits > 0; --edits) {
      const std::size_t at = below(static_cast<std::uint32_t>(changed.size()));
      switch (below(3)) {
        case 0: changed[at] = static_cast<char>(below(256)); break;
        case 1: changed.erase(at, 1 + below(10)); break;
        default: changed.insert(at, noise(1 + below(10))); break;
      }
      if (changed.empty()) break;
    }
    return changed;
  }

 private:
  std::string noise(std::uint32_t size) {
    constexpr std::string_view telling = "\r\n\t :/?%;,\"{}[]\0";
    std::string result;
    for (; size > 0; --size) {
      const bool any = below(3) != 0;
      result += any ? static_cast<char>(below(256)) : telling[below(static_cast<std::uint32_t>(telling.size()))];
    }
    return result;
  }

  std::mt19937 random_;
  std::string valid_;
};

TEST_CASE("random bytes on 2,000 connections crash nothing, hang nothing and leave nothing behind") {
#ifdef __linux__
  const int descriptors = open_descriptors();
#endif
  {
    Gateway gateway;
    const Http http(gateway);
    const std::string chunked =
        chat_head(gateway, {"Transfer-Encoding: chunked"}) + as_chunk(chat_body().dump()) + "0\r\n\r\n";
    Fuzz fuzz(20240101, http.format_chat({{"stream", true}}) + chunked);
    int answers = 0;
    for (int i = 0; i < 2000; ++i) {
      CAPTURE(i);
      RawConnection connection(gateway);
      connection.send(fuzz.bytes());
      switch (fuzz.below(4)) {
        case 0: connection.abort(); break;
        case 1: connection.close(); break;
        default:
          connection.shutdown_write();
          // Whatever is answered is HTTP, and then comes the end.
          const auto received = connection.receive_all();
          CHECK(received.end != End::open);
          if (received.bytes.empty()) break;
          CHECK(contains(received.bytes.substr(0, 10), "HTTP/1.1 "));
          ++answers;
          break;
      }
    }
    CHECK(answers > 200);
    CHECK(gateway.journal().wait_until_idle(10s));
    CHECK(http.chat().status == 200);
    CHECK(http.stream().done());
  }
#ifdef __linux__
  CHECK(open_descriptors() == descriptors);
#endif
}

#ifdef __linux__
TEST_CASE("a gateway leaves no descriptor open, whatever its clients did") {
  const int descriptors = open_descriptors();
  {
    Gateway gateway{Options{}.read_timeout(200ms)};
    Gate gate;
    gateway.chat().reply(text("a b").hold(gate, before_token(2)));
    gateway.chat().when(user_says("plain")).reply("plain");
    const Http http(gateway);
    std::vector<RawConnection> connections;
    for (int i = 0; i < 20; ++i) {
      for (const std::string& bytes :
           {std::string(), http.format_chat("plain"), http.format_chat({{"stream", true}}), std::string("GET /"),
            std::string("nonsense\r\n\r\n"), chat_head(gateway, {"Content-Length: 100000000"})}) {
        connections.emplace_back(gateway);
        connections.back().send(bytes);
        if (i % 3 == 0) connections.back().abort();
        if (i % 3 == 1) connections.back().shutdown_write();
      }
    }
    REQUIRE(gate.wait_until_reached(1, 5s));
    CHECK(http.ask("plain") == "plain");
    CHECK(open_descriptors() > descriptors);
  }
  CHECK(open_descriptors() == descriptors);
}
#endif

}  // namespace http_tests
