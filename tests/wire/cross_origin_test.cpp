// CORS: the preflight requests of browsers, and the CORS headers in responses to allowed origins.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace cross_origin_test {

using namespace mock_gateway;
using test_support::contains;
using test_support::Http;
using test_support::refused;
using test_support::Response;

const char* const page = "http://localhost:5173";

Http from(const Gateway& gateway, const std::string& origin) { return Http(gateway).with_header("Origin", origin); }

Response preflight(const Gateway& gateway, const std::string& origin, const std::string& path) {
  return from(gateway, origin)
      .without_key()
      .with_header("Access-Control-Request-Method", "POST")
      .with_header("Access-Control-Request-Headers", "authorization,content-type,x-stainless-os")
      .request("OPTIONS", path);
}

TEST_CASE("the preflight of an allowed origin needs no key and gets no forced failure") {
  Gateway gateway{Options{}.cors(page).limit(1, std::chrono::hours(1))};
  gateway.fail_always(overloaded());
  for (int i = 0; i < 2; ++i) {
    const Response answer = preflight(gateway, page, "/v1/chat/completions");
    CHECK(answer.status == 204);
    CHECK(answer.body.empty());
    CHECK(answer.header("Access-Control-Allow-Origin") == page);
    CHECK(answer.header("Access-Control-Allow-Methods") == "POST");
    CHECK(answer.header("Access-Control-Allow-Headers") == "authorization,content-type,x-stainless-os");
    CHECK(answer.header("Access-Control-Max-Age") == "600");
    CHECK(answer.header("Vary") == "Origin");
    CHECK(!answer.has("Access-Control-Allow-Private-Network"));
    CHECK(!answer.has("Content-Type"));
  }
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.decision().kind == Decision::Kind::preflight);
  CHECK(exchange.decision().detail == "POST");
  const Response near = from(gateway, page)
                            .with_header("Access-Control-Request-Method", "GET")
                            .with_header("Access-Control-Request-Private-Network", "true")
                            .request("OPTIONS", "/v1/nowhere");
  CHECK(near.status == 204);
  CHECK(near.header("Access-Control-Allow-Private-Network") == "true");
  CHECK(!near.has("Access-Control-Allow-Headers"));
  CHECK(gateway.verify());
  CHECK(gateway.review());
}

TEST_CASE("a page of an allowed origin can read every response and gets no finding") {
  Gateway gateway{Options{}.cors("https://app.example").cors(page)};
  gateway.chat().reply("Hello.", rate_limited());
  const Http http = from(gateway, page);
  for (const Response& answer : {http.chat(), http.stream(), http.get("/v1/models"), http.get("/nowhere"),
                                 http.without_key().get("/v1/models")}) {
    CAPTURE(answer.status);
    CHECK(answer.header("Access-Control-Allow-Origin") == page);
    CHECK(answer.header("Access-Control-Expose-Headers") == "*");
    CHECK(answer.header("Vary") == "Origin");
  }
  CHECK(!Http(gateway).get("/v1/models").has("Access-Control-Allow-Origin"));
  CHECK(!contains(gateway.review().message(), "browser_request"));
}

TEST_CASE("a page of another origin is served without CORS headers and reported") {
  for (const Options& options : {Options{}, Options{}.cors(page)}) {
    Gateway gateway{options.verify_on_destruction(false)};
    CHECK(preflight(gateway, "http://evil.example", "/v1/chat/completions").status == 401);
    for (const char* origin : {"http://localhost:5174", "http://localhost:5173.evil.example", "null"}) {
      const Response answer = from(gateway, origin).get("/v1/models");
      CHECK(answer.status == 200);
      CHECK(!answer.has("Access-Control-Allow-Origin"));
    }
    CHECK(contains(gateway.review().message(), "browser_request"));
  }
}

TEST_CASE("OPTIONS without Access-Control-Request-Method is no preflight") {
  Gateway gateway{Options{}.cors(page).verify_on_destruction(false)};
  CHECK(from(gateway, page).request("OPTIONS", "/v1/models").status == 405);
  CHECK(Http(gateway).with_header("Access-Control-Request-Method", "GET").request("OPTIONS", "/v1/models").status ==
        405);
}

TEST_CASE("if all origins are allowed, the response names the origin of the request") {
  Gateway gateway{Options{}.cors("*")};
  for (const char* origin : {"http://a.example", "null"})
    CHECK(preflight(gateway, origin, "/v1/models").header("Access-Control-Allow-Origin") == origin);
}

TEST_CASE("an invalid origin in the options throws") {
  for (const char* text : {"", "localhost:5173", "http://", "://a", "http://a/", "http://a/b", "http://a?b",
                           "http://u@a", "http://a b", "a b://c", "a/b://c"}) {
    CAPTURE(text);
    CHECK(refused([&] { return Options{}.cors(text); }) ==
          "cors takes an origin such as \"http://localhost:5173\", or \"*\", not \"" + std::string(text) + "\"");
  }
}

}  // namespace cross_origin_test
