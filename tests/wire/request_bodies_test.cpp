// The body of a request: the maximum size, Content-Length, chunks, and 100 Continue.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/raw_requests.hpp"
#include "support/text.hpp"

namespace request_bodies_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::answer_to;
using test_support::as_chunk;
using test_support::chat_body;
using test_support::chat_head;
using test_support::chat_path;
using test_support::contains;
using test_support::End;
using test_support::head;
using test_support::Http;
using test_support::last_answer_to;
using test_support::patience;
using test_support::RawConnection;
using test_support::Response;

// --- Sizes -----------------------------------------------------------------------------------------------------------

TEST_CASE("a client that sends 20 MB reads its 413 while it is still sending") {
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

TEST_CASE("a client that reads only after it has sent 20 MB gets its 413") {
  Gateway gateway;
  const std::size_t size = std::size_t{20} << 20;
  RawConnection connection(gateway);
  CHECK(connection.send(chat_head(gateway, {"Content-Length: " + std::to_string(size)}) + std::string(size, 'x')));
  const Response response = connection.receive_response();
  CHECK(response.status == 413);
  CHECK(response.complete);
  CHECK(connection.receive_all().end == End::fin);
}

TEST_CASE("a body whose announced length is too large gets a 413 instead of 100") {
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
  // This request may take long with sanitizers and other load.
  CHECK(Http(gateway).with_timeout(60s).post(chat_path, body).status == 200);
  CHECK(gateway.journal().last().body().size() == body.size());
}

TEST_CASE("a too large body gets a 413 only if the request's key, path and method are valid") {
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

// --- Chunked bodies --------------------------------------------------------------------------------------------------

TEST_CASE("a chunked body is accepted with extensions and trailers, and recorded raw and decoded") {
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
  // The trailer belongs to the body, so the next request is read correctly.
  connection.send(Http(gateway).format("GET", "/v1/models"));
  CHECK(connection.receive_response().status == 200);
}

TEST_CASE("a chunked body may have chunks of one byte and arrive byte by byte") {
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

TEST_CASE("an invalid chunk size gets a 400") {
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

TEST_CASE("chunks that are too large, alone or in total, get a 413 about the size") {
  Gateway gateway{Options{}.max_body(100)};
  const std::string full = as_chunk(std::string(100, 'x'));
  for (const std::string& chunks :
       {as_chunk(std::string(101, 'x')), as_chunk(std::string(60, 'x')) + as_chunk(std::string(60, 'x')),
        as_chunk(std::string(60, 'x')) + as_chunk(std::string(41, 'x')), full + as_chunk("x"),
        full + as_chunk(std::string(100, 'x')), as_chunk("x") + "7fffffffffffffff\r\nx",
        std::string("7fffffffffffffff\r\nx"), std::string("FFFFFFFFFFFFFFFF\r\nx")}) {
    CAPTURE(chunks);
    const Response response = last_answer_to(gateway, chat_head(gateway, {"Transfer-Encoding: chunked"}) + chunks);
    CHECK(response.status == 413);
    CHECK(response.error_code() == "body_too_large");
    CHECK(response.error_message() == "the body has more than 100 bytes");
  }
  // These bodies have the maximum size. They are read completely and refused as invalid JSON.
  for (const std::string& chunks : {full, as_chunk(std::string(60, 'x')) + as_chunk(std::string(40, 'x'))})
    CHECK(answer_to(gateway, chat_head(gateway, {"Transfer-Encoding: chunked"}) + chunks + "0\r\n\r\n").status == 400);
}

TEST_CASE("a chunk without its line end, an endless size line and an endless trailer get a 400") {
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

TEST_CASE("an invalid trailer line gets a 400, and later bytes on the connection are ignored") {
  Gateway gateway;
  const std::string models = Http(gateway).format("GET", "/v1/models");
  const std::string chunk = as_chunk(chat_body().dump());
  for (const std::string line : {"nonsense", ": y", "x : y", " x: y", "x y: z", "x: a\x01z", "x: a\x7f", "\tfolded",
                                 "x(y): z", "GET /v1/models HTTP/1.1"}) {
    for (const std::string before : {"", "x-first: 1\r\n"}) {
      CAPTURE(line);
      const Response response = last_answer_to(gateway, chat_head(gateway, {"Transfer-Encoding: chunked"}) + chunk +
                                                            "0\r\n" + before + line + "\r\n\r\n" + models);
      CHECK(response.status == 400);
      CHECK(response.error_code() == "malformed_request");
      CHECK(contains(response.error_message(), "a line of the chunked body's trailer is not \"Name: value\""));
    }
  }
  for (const std::string line : {"x:", "x:y", "x: a\tb", "X-Caf\xe9: y", "x: caf\xc3\xa9"}) {
    CAPTURE(line);
    const bool is_field = line[0] == 'x';
    CHECK(answer_to(gateway, chat_head(gateway, {"Transfer-Encoding: chunked"}) + chunk + "0\r\n" + line + "\r\n\r\n")
              .status == (is_field ? 200 : 400));
  }
}

TEST_CASE("a chunked body that ends too early is recorded as malformed") {
  Gateway gateway;
  for (const std::string chunks :
       {"", "5", "5\r\nhel", "5\r\nhello", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\n", "0\r\nx-trailer: 1\r\n"}) {
    CAPTURE(chunks);
    RawConnection connection(gateway);
    connection.send(chat_head(gateway, {"Transfer-Encoding: chunked"}) + chunks);
    connection.shutdown_write();
    const Response response = connection.receive_response();
    CHECK(response.error_code() == "incomplete_request");
    CHECK(response.error_message() == "the client closed the connection after " + std::to_string(chunks.size()) +
                                          (chunks.size() == 1 ? " byte" : " bytes") +
                                          " of the chunked body, before its last chunk");
    CHECK(connection.receive_all().end == End::fin);
    CHECK(gateway.journal().last().decision() == Decision::Kind::malformed);
    CHECK(gateway.journal().last().raw().size() >= chunks.size());
  }
  CHECK(gateway.review());
  CHECK(Http(gateway).chat().status == 200);
}

// --- Lengths ---------------------------------------------------------------------------------------------------------

TEST_CASE("contradicting, repeated and non-numeric lengths of a body get a 400") {
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

TEST_CASE("two equal Content-Length fields count as one") {
  Gateway gateway;
  const std::string body = chat_body().dump();
  const std::string length = "Content-Length: " + std::to_string(body.size());
  CHECK(answer_to(gateway, chat_head(gateway, {length, length}) + body).status == 200);
}

TEST_CASE("a transfer coding other than chunked gets a 501") {
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

TEST_CASE("a POST without Content-Length counts as an empty body and gets a 400") {
  Gateway gateway;
  RawConnection connection(gateway);
  for (int i = 0; i < 2; ++i) {
    connection.send(chat_head(gateway, {}));
    const Response response = connection.receive_response();
    CHECK(response.status == 400);
    CHECK(response.error_code() == "invalid_json");
    CHECK_FALSE(response.has("Connection"));  // the request was valid HTTP, so the connection stays open
  }
}

TEST_CASE("a GET with a body is served, and so is the next request") {
  Gateway gateway;
  RawConnection connection(gateway);
  for (int i = 0; i < 3; ++i) {
    connection.send(Http(gateway).format("GET", "/v1/models", "GET /v1/nothing HTTP/1.1\r\n\r\n"));
    CHECK(connection.receive_response().status == 200);
  }
}

// --- Expect ----------------------------------------------------------------------------------------------------------

TEST_CASE("a client that waits for 100 gets the 100, sends its body and gets its response") {
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

TEST_CASE("no 100 is sent if the body has already arrived or is not announced, or to an HTTP/1.0 client") {
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

TEST_CASE("no 100 is sent unless the client asks for it") {
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

/// Sends a head with Expect: 100-continue, and checks that the final response comes instead of 100.
Response check_refused_at_its_head(Gateway& gateway, const std::string& sent) {
  RawConnection connection(gateway);
  connection.send(sent);
  const Response response = connection.receive_response();
  CHECK(response.status >= 400);
  CHECK(response.header("Connection") == "close");
  connection.send("{}");  // a client may send its body anyway (RFC 9110, 10.1.1)
  CHECK(connection.receive_all().bytes.empty());
  REQUIRE(gateway.journal().wait_until_idle(patience));
  CHECK(gateway.journal().last().status() == response.status);
  CHECK(gateway.journal().last().body().empty());
  return response;
}

TEST_CASE("a request refused by its head gets its response instead of 100") {
  Gateway gateway;
  const CreatedKey disabled = gateway.keys().create("disabled");
  const CreatedKey deleted = gateway.keys().create("deleted");
  gateway.keys().disable(disabled.id);
  gateway.keys().remove(deleted.id);
  const CreatedKey reader = gateway.keys().create("reader", KeyOptions{}.operations({list_models()}));
  const auto asked = [&](const std::string& line, const std::string& authorization,
                         const std::string& type = "application/json",
                         const std::string& framing = "Content-Length: 2") {
    std::string text = line + " HTTP/1.1\r\nHost: gateway\r\nExpect: 100-continue\r\n" + framing + "\r\n";
    if (!authorization.empty()) text += "Authorization: " + authorization + "\r\n";
    return check_refused_at_its_head(gateway, text + "Content-Type: " + type + "\r\n\r\n");
  };
  const std::string valid = "Bearer " + gateway.api_key();
  const std::string chat = std::string("POST ") + chat_path;
  for (const std::string& wrong : {std::string(), std::string("Bearer sk-nobody"), "Basic " + gateway.api_key(),
                                   "Bearer " + deleted.secret, std::string("Bearer")})
    for (const std::string framing : {"Content-Length: 2", "Content-Length: 99999999", "Transfer-Encoding: chunked"}) {
      CAPTURE(wrong);
      CHECK(asked(chat, wrong, "application/json", framing).error_code() == "unauthorized");
    }
  CHECK(asked(chat, "Bearer " + disabled.secret).status == 403);
  CHECK(asked(chat, "Bearer " + reader.secret).status == 403);
  CHECK(asked("POST /v1/nothing", valid).error_code() == "unknown_path");
  CHECK(asked("POST /v1/nothing", "").status == 401);  // tests the order of the checks
  CHECK(asked("PUT /v1/chat/completions", valid).status == 405);
  CHECK(asked(chat, valid, "text/plain").error_code() == "unsupported_content_type");
  CHECK(asked(chat, valid, "application/json", "Content-Length: 99999999").status == 413);
  // A request that was refused by its head counts as one request of its key.
  CHECK(gateway.keys().find(reader.id).requests == 1);
}

TEST_CASE("failures that need a valid key or the body come after 100") {
  Gateway gateway;
  const auto answer = [&](const std::string& type, const std::string& body) {
    RawConnection connection(gateway);
    connection.send(chat_head(
        gateway, {"Content-Type: " + type, "Content-Length: " + std::to_string(body.size()), "Expect: 100-continue"}));
    CHECK(connection.receive_response().status == 100);
    connection.send(body);
    return connection.receive_response();
  };
  const std::string body = chat_body().dump();
  gateway.fail_next(server_error());
  CHECK(answer("application/json", body).status == 500);
  CHECK(gateway.journal().last().body() == body);  // recorded, so that a retry can be recognized
  CHECK(answer("application/json", "{}").status == 400);
  CHECK(answer("application/x-www-form-urlencoded", body).status == 200);
  CHECK(answer("application/x-www-form-urlencoded", "a=b").status == 415);
  gateway.keys().limit_rate_for_all(1, 1h);
  CHECK(answer("application/json", body).status == 200);
  CHECK(answer("application/json", body).status == 429);
}

TEST_CASE("a failure forced on an operation comes before the key check, even without 100") {
  Gateway gateway;
  const std::string head = "POST " + std::string(chat_path) +
                           " HTTP/1.1\r\nHost: gateway\r\nExpect: 100-continue\r\nContent-Length: 2\r\n"
                           "Authorization: Bearer sk-nobody\r\n\r\n";
  gateway.fail_next(overloaded(), 1, chat_completions());
  CHECK(check_refused_at_its_head(gateway, head).status == 529);
  CHECK(gateway.journal().last().decision() == Decision::Kind::forced_failure);
  CHECK(check_refused_at_its_head(gateway, head).status == 401);
  CHECK(gateway.journal().last().decision() == Decision::Kind::rejected);
}

TEST_CASE("the finding for a request refused by its head names a similar path") {
  Gateway gateway;
  check_refused_at_its_head(gateway,
                            "POST /v1/v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nExpect: 100-continue\r\n"
                            "Content-Length: 2\r\nAuthorization: Bearer " +
                                gateway.api_key() + "\r\n\r\n");
  CHECK(contains(gateway.review().message(), "/v1/chat/completions is near: the base address ends with /v1 already"));
}

TEST_CASE("a mounted operation accepts bodies of any type after 100") {
  Gateway gateway;
  gateway.on("POST", "/v1/audio", [](const ReceivedRequest& request) { return Json(request.body.size()); });
  for (const std::string type : {"audio/wav", "text/plain", "application/x-www-form-urlencoded"}) {
    CAPTURE(type);
    RawConnection connection(gateway);
    connection.send(
        "POST /v1/audio HTTP/1.1\r\nHost: gateway\r\nExpect: 100-continue\r\nContent-Length: 3\r\n"
        "Content-Type: " +
        type + "\r\nAuthorization: Bearer " + gateway.api_key() + "\r\n\r\n");
    CHECK(connection.receive_response().status == 100);
    connection.send("abc");
    const Response response = connection.receive_response();
    CHECK(response.status == 200);
    CHECK(response.body == "3");
  }
}

TEST_CASE("a request without a valid key is read completely if it does not wait for 100") {
  Gateway gateway;
  const std::string body = chat_body().dump();
  const std::string head = "POST " + std::string(chat_path) +
                           " HTTP/1.1\r\nHost: gateway\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  RawConnection connection(gateway);
  for (const std::string line : {"", "Expect: 100-continue\r\n"}) {
    connection.send(head + line + "\r\n" + body);
    const Response response = connection.receive_response();
    CHECK(response.status == 401);
    CHECK(gateway.journal().last().body() == body);
    CHECK(response.header("Connection").empty());  // the connection stays open for the next request
  }
}

}  // namespace request_bodies_test
