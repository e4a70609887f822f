// Operations of a test's own beside those of the gateway: which method and path may be mounted, and what a handler may
// answer with.

#include <memory>
#include <string>
#include <string_view>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace mounting_test {

using namespace mock_gateway;
using test_support::chat_path;
using test_support::Http;
using test_support::Response;

TEST_CASE("text of a handler is sent as it stands, with a status or without") {
  Gateway gateway;
  std::unique_ptr<HttpReply> reply;
  gateway.on("GET", "/v1/text", [&](const ReceivedRequest&) { return *reply; });
  const std::string string = "no such file";
  const std::string_view view = string;
  for (const HttpReply& value : {HttpReply(404, "no such file"), HttpReply(404, string), HttpReply(404, view)}) {
    reply = std::make_unique<HttpReply>(value);
    const Response response = Http(gateway).get("/v1/text");
    CHECK(response.status == 404);
    CHECK(response.body == "no such file");
    CHECK(response.header("Content-Type") == "text/plain; charset=utf-8");
  }
  gateway.on("GET", "/v1/ping", [](const ReceivedRequest&) { return "pong"; });
  const Response pong = Http(gateway).get("/v1/ping");
  CHECK(pong.status == 200);
  CHECK(pong.body == "pong");
  CHECK(pong.header("Content-Type") == "text/plain; charset=utf-8");
  CHECK_THROWS_AS(HttpReply(99, "text"), GatewayError);
  CHECK_THROWS_AS(HttpReply(600, Json::object()), GatewayError);
}

TEST_CASE("another method may be mounted at a path that the gateway serves, which goes on serving its own") {
  Gateway gateway;
  gateway.on("DELETE", "/v1/models/{id}", [](const ReceivedRequest& request) {
    return Json{{"gone", request.path()}};
  });
  gateway.on("PATCH", chat_path, [](const ReceivedRequest&) { return "patched"; });
  gateway.on("POST", "/v1/models", [](const ReceivedRequest&) { return "posted"; });
  const Http http(gateway);
  CHECK(http.request("DELETE", "/v1/models/mock-model").json()["gone"] == "/v1/models/mock-model");
  CHECK(http.get("/v1/models/mock-model").json()["id"] == "mock-model");
  CHECK(http.get("/v1/models/unknown").status == 404);
  CHECK(http.request("PATCH", chat_path).body == "patched");
  CHECK(http.chat().status == 200);
  CHECK(http.request("POST", "/v1/models").body == "posted");
  CHECK(http.get("/v1/models").json()["object"] == "list");
  const Response model = http.request("PUT", "/v1/models/mock-model");
  CHECK(model.status == 405);
  CHECK(model.header("Allow") == "GET, DELETE");
  CHECK(http.request("PUT", chat_path).header("Allow") == "POST, PATCH");
  CHECK(http.request("PUT", "/v1/models").header("Allow") == "GET, POST");
  CHECK(http.without_key().request("DELETE", "/v1/models/mock-model").status == 401);
}

TEST_CASE("a path that is not served by default may be mounted where a switch turns it off") {
  Acceptance acceptance;
  acceptance = acceptance.model_by_id(false);
  Gateway gateway{Options{}.acceptance(acceptance)};
  gateway.on("GET", "/v1/models/{id}", [](const ReceivedRequest&) { return "mine"; });
  CHECK(Http(gateway).get("/v1/models/mock-model").body == "mine");
}

}  // namespace mounting_test
