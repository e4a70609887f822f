// Authorization: invalid keys, a key's permissions for models and operations, and the order of the checks of a request.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/golden.hpp"
#include "support/printing.hpp"

namespace authorization_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_path;
using test_support::Http;
using test_support::Response;
using test_support::unauthorized_body;

inline std::vector<std::string> listed_models(const Http& http) {
  std::vector<std::string> result;
  const Json list = http.get("/v1/models").json();
  for (const Json& model : list.at("data")) result.push_back(model.at("id"));
  return result;
}

TEST_CASE("without a valid key every request gets 401 with the documented body") {
  Gateway gateway;
  gateway.on("POST", "/v1/images/generations", [](const ReceivedRequest&) { return Json{{"made", true}}; });
  const Http http(gateway);
  const std::string key = gateway.api_key();
  const std::vector<Http> invalid = {
      http.without_key(),
      http.with_authorization(""),
      http.with_authorization("Bearer"),
      http.with_authorization("Bearer "),
      http.with_authorization("Bearer sk-"),
      http.with_authorization("Bearer pk-0123456789"),
      http.with_authorization("Bearer " + key + "0"),
      http.with_authorization("Bearer " + key.substr(0, key.size() - 1)),
      http.with_authorization("Bearer sk-unknown"),
      http.with_authorization("Bearer\t" + key),
      http.with_authorization("Bearer" + key),
      http.with_authorization("Bearer \"" + key + "\""),
      http.with_authorization("Basic " + key),
      http.with_authorization("Basic dXNlcjpwYXNzd29yZA=="),
      http.with_authorization(key),
      http.with_header("Authorization", "Bearer " + key),  // a second Authorization field
      http.without_key().with_header("x-api-key", key),
  };
  for (std::size_t i = 0; i < invalid.size(); ++i) {
    CAPTURE(i);
    for (const Response& response :
         {invalid[i].chat(), invalid[i].stream(), invalid[i].get("/v1/models"), invalid[i].get("/v1/nothing"),
          invalid[i].request("DELETE", chat_path), invalid[i].post("/v1/images/generations", Json{}),
          invalid[i].post(chat_path, "not JSON")}) {
      CHECK(response.status == 401);
      CHECK(response.reason == "Unauthorized");
      CHECK(response.header("Content-Type") == "application/json");
      CHECK(response.body == unauthorized_body);
    }
  }
}

TEST_CASE("the scheme ignores case and allows any number of spaces; strict accepts only the exact word Bearer") {
  const Gateway lax;
  for (const char* scheme : {"Bearer ", "bearer ", "BEARER ", "Bearer   "}) {
    CAPTURE(scheme);
    CHECK(Http(lax).with_authorization(scheme + lax.api_key()).get("/v1/models").status == 200);
  }
  const Gateway strict{Options{}.acceptance(Acceptance::strict())};
  CHECK(Http(strict).with_authorization("Bearer " + strict.api_key()).get("/v1/models").status == 200);
  CHECK(Http(strict).with_authorization("bearer " + strict.api_key()).get("/v1/models").status == 401);
  CHECK(Http(strict).with_authorization("BEARER " + strict.api_key()).get("/v1/models").status == 401);
}

TEST_CASE("a key limited to models gets 403 for others, and the models list shows only its own") {
  const Gateway gateway{Options{}.model("small").model("large").model("org/huge")};
  const CreatedKey key = gateway.keys().create("", KeyOptions{}.models({"large", "org/huge"}));
  const Http http = Http(gateway).with_key(key.secret);
  CHECK(http.chat({{"model", "large"}}).status == 200);
  const Response refused = http.chat({{"model", "small"}});
  CHECK(refused.status == 403);
  CHECK(refused.body == unauthorized_body);
  CHECK(listed_models(http) == std::vector<std::string>{"large", "org/huge"});
  CHECK(http.get("/v1/models/large").status == 200);
  CHECK(http.get("/v1/models/org%2Fhuge").status == 200);
  CHECK(http.get("/v1/models/small").status == 403);
  CHECK(listed_models(Http(gateway)) == std::vector<std::string>{"small", "large", "org/huge"});

  gateway.keys().limit_models(key.id, {"small"});
  CHECK(gateway.keys().find(key.id).models == std::vector<std::string>{"small"});
  CHECK(http.chat({{"model", "large"}}).status == 403);
  CHECK(http.chat({{"model", "small"}}).status == 200);
  gateway.keys().limit_models(key.id, {});
  CHECK(http.chat({{"model", "large"}}).status == 200);
  CHECK(listed_models(http).size() == 3);
}

TEST_CASE("a key limited to operations gets 403 for others") {
  Gateway gateway;
  gateway.on("POST", "/v1/images/generations", [](const ReceivedRequest&) { return Json{{"made", true}}; });
  const CreatedKey key = gateway.keys().create("", KeyOptions{}.operations({list_models()}));
  const Http http = Http(gateway).with_key(key.secret);
  CHECK(http.get("/v1/models").status == 200);
  CHECK(http.get("/v1/models/mock-model").status == 200);
  for (const Response& refused : {http.chat(), http.post("/v1/images/generations", Json{})}) {
    CHECK(refused.status == 403);
    CHECK(refused.body == unauthorized_body);
  }
  gateway.keys().limit_operations(key.id, {chat_completions(), operation("POST", "/v1/images/generations")});
  CHECK(http.chat().status == 200);
  CHECK(http.post("/v1/images/generations", Json{}).status == 200);
  CHECK(http.get("/v1/models").status == 403);
  CHECK(http.get("/v1/models/mock-model").status == 403);
  gateway.keys().limit_operations(key.id, {});
  CHECK(http.get("/v1/models").status == 200);
}

TEST_CASE("the checks of a request run in the documented order, and the first failure is the response") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock).model("open").model("closed")};
  const auto key_with = [&](const KeyOptions& options) { return gateway.keys().create("", options); };
  const Http http(gateway);

  SUBCASE("1 before 2: a failure forced for all or for the operation, before the key") {
    gateway.fail_next(bad_gateway());
    gateway.fail_next(overloaded(), 1, chat_completions());
    CHECK(http.without_key().chat().status == 502);
    CHECK(http.without_key().chat().status == 529);
    CHECK(http.without_key().chat().status == 401);
  }
  SUBCASE("2 before 3: an invalid key, before the state and the permissions of a key") {
    const CreatedKey key = key_with(KeyOptions{}.disabled().operations({list_models()}));
    CHECK(Http(gateway).with_key(key.secret).with_header("Authorization", "Bearer " + key.secret).chat().status == 401);
    gateway.keys().remove(key.id);
    CHECK(Http(gateway).with_key(key.secret).chat().status == 401);
  }
  SUBCASE("3 before 4: a disabled key or a key without permission, before a failure forced for the key") {
    const CreatedKey key = key_with(KeyOptions{}.disabled().operations({list_models()}));
    const Http limited = http.with_key(key.secret);
    gateway.fail_next(bad_gateway(), 1, for_key(key.id));
    CHECK(limited.get("/v1/models").status == 403);
    gateway.keys().enable(key.id);
    CHECK(limited.chat().status == 403);
    CHECK(limited.get("/v1/models").status == 502);
    CHECK(limited.get("/v1/models").status == 200);
  }
  SUBCASE("4 before 5: a failure forced for the key, before the rate limit, which does not count the request") {
    const CreatedKey key = key_with(KeyOptions{}.limit(1, 10s));
    const Http limited = http.with_key(key.secret);
    gateway.fail_next(bad_gateway(), 1, for_key(key.id));
    CHECK(limited.get("/v1/models").status == 502);
    CHECK(limited.get("/v1/models").status == 200);
    gateway.fail_next(bad_gateway(), 1, for_key(key.id));
    CHECK(limited.get("/v1/models").status == 502);
    CHECK(limited.get("/v1/models").status == 429);
  }
  SUBCASE("5 before 6: the rate limit, before path and method") {
    const Http limited = http.with_key(key_with(KeyOptions{}.limit(1, 10s)).secret);
    CHECK(limited.get("/v1/nothing").status == 404);
    CHECK(limited.get("/v1/nothing").status == 429);
    CHECK(limited.get(chat_path).status == 429);
  }
  SUBCASE("6 before 7: path and method, before the body") {
    CHECK(http.post("/v1/nothing", "{").status == 404);
    const Response wrong_method = http.request("PUT", chat_path, "{");
    CHECK(wrong_method.status == 405);
    CHECK(wrong_method.header("Allow") == "POST");
  }
  SUBCASE("7 before 8: the body, before the permission for the model") {
    const Http limited = http.with_key(key_with(KeyOptions{}.models({"open"})).secret);
    CHECK(limited.post(chat_path, {{"model", "closed"}}).status == 400);
    CHECK(limited.with_content_type("text/plain").chat({{"model", "closed"}}).status == 415);
  }
  SUBCASE("8 before 9: the permission for a model, before the existence of the model") {
    const Http limited = http.with_key(key_with(KeyOptions{}.models({"open"})).secret);
    CHECK(limited.chat({{"model", "unknown"}}).status == 403);
    const Http entitled = http.with_key(key_with(KeyOptions{}.models({"unknown"})).secret);
    CHECK(entitled.chat({{"model", "unknown"}}).status == 404);
  }
  SUBCASE("9 before 10: an unknown model, before a failure forced for the model") {
    gateway.fail_next(bad_gateway(), 1, for_model("unknown"));
    CHECK(http.chat({{"model", "unknown"}}).status == 404);
  }
  SUBCASE("10 before 11: a failure forced for the model, before the script") {
    const Stub stub = gateway.chat().reply("scripted");
    gateway.fail_next(bad_gateway(), 1, for_model("open"));
    CHECK(http.chat({{"model", "open"}}).status == 502);
    CHECK(stub.calls() == 0);
    CHECK(http.chat({{"model", "open"}}).text() == "scripted");
    CHECK(stub.calls() == 1);
  }
}

}  // namespace authorization_test
