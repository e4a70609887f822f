// Base paths: which paths are served, under which names; suggestions for unknown paths.

#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/verification.hpp"

namespace base_paths_test {

using namespace mock_gateway;
using test_support::chat_body;
using test_support::codes;
using test_support::contains;
using test_support::Http;
using test_support::quiet;
using test_support::refused;
using test_support::Response;

/// Returns the statuses of the list of models, of a model and of a chat below a base path.
std::vector<int> statuses(const Http& http, const std::string& base) {
  return {http.get(base + "/models").status, http.get(base + "/models/mock-model?a=1").status,
          http.post(base + "/chat/completions", chat_body()).status};
}

const std::vector<int> served{200, 200, 200};
const std::vector<int> unknown{404, 404, 404};

TEST_CASE("the documented operations are served below each base path, and no longer below /v1") {
  Gateway gateway{quiet().base_path("/api/paas/v4").base_path("/openai/v1").embeddings()};
  const Http http(gateway);
  CHECK(gateway.base_url() == gateway.root_url() + "/api/paas/v4");
  for (const char* base : {"/api/paas/v4", "/openai/v1"}) {
    CHECK(statuses(http, base) == served);
    CHECK(http.post(std::string(base) + "/embeddings", {{"model", "mock-model"}, {"input", "x"}}).status == 200);
    CHECK(http.request("DELETE", std::string(base) + "/models").header("Allow") == "GET");
  }
  for (const char* base :
       {"", "/v1", "/api/paas", "/api/paas/v4/v1", "/openai", "/API/paas/v4", "/api/paas/v40", "/api/paas/v4/"})
    CHECK(statuses(http, base) == unknown);
  CHECK(http.get("/api/paas/v4").status == 404);
}

TEST_CASE("/v1 can be one of several base paths, and / stands for none") {
  Gateway both{quiet().base_path("/v1").base_path("/")};
  CHECK(both.base_url() == both.root_url() + "/v1");
  CHECK(statuses(Http(both), "/v1") == served);
  CHECK(statuses(Http(both), "") == served);
  Gateway none{quiet().base_path("/")};
  CHECK(none.base_url() == none.root_url());
  CHECK(statuses(Http(none), "") == served);
  CHECK(statuses(Http(none), "/v1") == unknown);
  Gateway nested{quiet().base_path("/").base_path("/models")};  // the longest base path decides
  CHECK(statuses(Http(nested), "/models") == served);
  Gateway usual{quiet().base_path("/v1")};
  CHECK(usual.base_url() == usual.root_url() + "/v1");
  CHECK(statuses(Http(usual), "/v1") == served);
}

TEST_CASE("mounted operations below /v1 move with the base path, others stay") {
  Gateway gateway{quiet().base_path("/api/v4").base_path("/")};
  const auto path = [](const ReceivedRequest& request) { return request.path(); };
  gateway.on("GET", "/v1/files/{id}", path);
  gateway.on("GET", "/v1/models", path);
  gateway.on("GET", "/status", path);
  gateway.on("GET", "/{any}/version", path);
  const Http http(gateway);
  for (const char* target : {"/api/v4/files/7", "/files/7", "/api/v4/models", "/models", "/status", "/v1/version"})
    CHECK(http.get(target).body == target);
  for (const char* target : {"/v1/files/7", "/v1/models", "/api/v4/status"}) CHECK(http.get(target).status == 404);
}

TEST_CASE("an operation can be mounted at its address, unless the gateway itself serves that") {
  Gateway gateway{quiet().base_path("/api/v4").base_path("/")};
  const auto mount = [&](const char* method, const char* path) {
    gateway.on(method, path, [](const ReceivedRequest& request) { return request.path(); });
  };
  mount("GET", "/api/v4/files");
  CHECK(Http(gateway).get("/api/v4/files").body == "/api/v4/files");
  CHECK(Http(gateway).get("/files").status == 404);
  mount("GET", "/models");
  CHECK(Http(gateway).get("/models").body == "/models");  // replaces the list of models there
  CHECK(Http(gateway).get("/api/v4/models").json()["object"] == "list");
  for (const char* path : {"/v1/chat/completions", "/api/v4/chat/completions", "/chat/completions"})
    CHECK(contains(refused([&] {
                     mount("POST", path);
                     return 0;
                   }),
                   "the gateway serves this itself"));
  CHECK(contains(refused([&] {
                   mount("GET", "/api/v4/models/{id}");
                   return 0;
                 }),
                 "the gateway serves this itself"));
}

TEST_CASE("rights, forced failures, stubs and the journal's chats are the same as below /v1") {
  Gateway gateway{quiet().base_path("/api/paas/v4").base_path("/")};
  gateway.chat().when(user_says("Hi")).reply("Hello.");
  const CreatedKey key = gateway.keys().create("lists", KeyOptions{}.operations({list_models()}));
  const Http http(gateway);
  for (const std::string base : {"/api/paas/v4", ""}) {
    CHECK(statuses(http.with_key(key.secret), base) == std::vector<int>{200, 200, 403});
    gateway.fail_next(overloaded(), 1, chat_completions());
    gateway.fail_next(bad_gateway(), 1, operation("POST", "/v1/responses"));
    CHECK(http.post(base + "/responses", Json::object()).status == 502);
    CHECK(http.post(base + "/chat/completions", chat_body()).status == 529);
    const Response response = http.post(base + "/chat/completions?a=1", chat_body());
    CHECK(response.text() == "Hello.");
    const Exchange exchange = gateway.journal().last();
    CHECK(exchange.path() == base + "/chat/completions");
    CHECK(exchange.chat().last_user_text() == "Hi");
    CHECK(contains(exchange.as_curl(), "'" + gateway.root_url() + base + "/chat/completions?a=1'"));
  }
  gateway.fail_next(bad_gateway(), 1, operation("GET", "/status"));
  CHECK(http.get("/status").status == 502);
  CHECK(gateway.journal().find(user_says("Hi")).size() > 2);
  CHECK(gateway.verify());
}

TEST_CASE("verify compares requests below a base path with the stubs, even refused ones") {
  Gateway gateway{quiet().base_path("/api/paas/v4")};
  const Stub stub = gateway.chat().when(user_says("weather")).expect(at_least(1)).reply("Sunny.");
  Http(gateway).without_key().post("/api/paas/v4/chat/completions", chat_body("the weather"));
  Http(gateway).post("/api/paas/v4/chat/completions", chat_body("the time"));
  Http(gateway).post("/api/paas/v4/chat/completions", {{"model", "mock-model"}});
  const std::string message = gateway.verify().message();
  CAPTURE(message);
  CHECK(contains(message, "POST /api/paas/v4/chat/completions"));
  CHECK(contains(message, "exchange 1 matches this stub, but the answer was rejected, 401 unauthorized"));
  CHECK(contains(message, "exchange 3 was refused before any stub was tried: 400 "));
}

TEST_CASE("an unknown path gets the right one as a suggestion") {
  struct Row {
    std::vector<std::string> bases;
    std::string path;
    std::string advice;
  };
  const std::string paas = "/api/paas/v4";
  for (const Row& row : std::vector<Row>{
           {{paas},
            "/v1/chat/completions",
            "/api/paas/v4/chat/completions is near: the base address must end with /api/paas/v4, not with /v1"},
           {{paas}, "/models", "/api/paas/v4/models is near: the base address must end with /api/paas/v4"},
           {{paas},
            "/api/paas/v4/api/paas/v4/models",
            "/api/paas/v4/models is near: the base address ends with /api/paas/v4 already"},
           {{paas},
            "/api/paas/v4/v1/models",
            "/api/paas/v4/models is near: the base address must end with /api/paas/v4, not with /api/paas/v4/v1"},
           {{paas}, "/x/api/paas/v4/models", "/api/paas/v4/models is near: remove /x in front of it"},
           {{paas}, "/api/paas/v4/models/", "/api/paas/v4/models is near: remove the / at the end of the path"},
           {{paas}, "/api/paas/v4/chat/completion", "/api/paas/v4/chat/completions is near"},
           {{paas}, "/api/paas/v4/images/edit", "/api/paas/v4/images/edits is near"},
           {{paas},
            "/nothing/at/all",
            "the gateway serves GET /api/paas/v4/models, GET /api/paas/v4/models/{id}, POST "
            "/api/paas/v4/chat/completions, POST /api/paas/v4/images/edits, GET /status; Gateway::on or"},
           {{"/"}, "/v1/chat/completions", "/chat/completions is near: remove /v1 in front of it"},
           {{"/"}, "/chat/completion", "/chat/completions is near"},
           {{"/"}, "/nothing/at/all", "the gateway serves GET /models, GET /models/{id}, POST /chat/completions"},
           {{paas, "/openai/v1"},
            "/openai/models",
            "/api/paas/v4/models is near: the base address must end with /api/paas/v4, not with /openai"},
           {{paas, "/openai/v1"}, "/openai/v1/model", "/openai/v1/models is near"},
           {{"/v1", paas}, "/models", "/v1/models is near: the base address must end with /v1"},
       }) {
    Options options = quiet();
    for (const std::string& base : row.bases) options = options.base_path(base);
    Gateway gateway{options};
    gateway.on("POST", "/v1/images/edits", [](const ReceivedRequest&) { return Json(); });
    gateway.on("GET", "/status", [](const ReceivedRequest&) { return Json(); });
    const Response response = Http(gateway).get(row.path);
    CAPTURE(row.path);
    CHECK(response.status == 404);
    const std::string message = response.error_message();
    CHECK(message.substr(0, 18 + row.path.size() + row.advice.size()) ==
          "no operation at " + row.path + "; " + row.advice);
  }
}

TEST_CASE("base paths stay after a reset") {
  Gateway gateway{quiet().base_path("/api/paas/v4")};
  gateway.reset();
  CHECK(statuses(Http(gateway), "/api/paas/v4") == served);
  CHECK(codes(gateway.review()) == "");
}

TEST_CASE("an invalid base path is refused") {
  for (const char* path :
       {"", "api", "//", "/api/", "/a//b", "/a?b", "/a#b", "/a b", "/{id}", "/*", "/a\"", "/\xC3\xA9"}) {
    CAPTURE(path);
    CHECK(refused([&] { return Options{}.base_path(path); }) ==
          "base_path takes a path without a query or a \"/\" at its end, such as \"/api/paas/v4\", or \"/\", not \"" +
              std::string(path) + "\"");
  }
}

TEST_CASE("a script sets base paths, and names operations as below /v1") {
  const ScriptDocument script = ScriptDocument::from_json(Json::parse(R"({
    "mock_gateway": 1,
    "gateway": {"base_paths": ["/api/paas/v4", "/"]},
    "keys": [{"name": "ops", "secret": "sk-ops", "operations": ["list_models", "GET /v1/files"]}],
    "operations": [{"method": "GET", "path": "/v1/files", "reply": {"body": "files"}}],
    "failures": [{"failure": 503, "for": {"operation": "GET /v1/file"}}]})"));
  Gateway gateway{script.options(quiet().embeddings())};
  LoadedScript loaded = script.mount(gateway);
  CHECK(gateway.base_url() == gateway.root_url() + "/api/paas/v4");
  const Http http = Http(gateway).with_key("sk-ops");
  CHECK(statuses(http, "/api/paas/v4") == std::vector<int>{200, 200, 403});
  CHECK(http.get("/files").body == "files");
  const std::vector<ScriptProblem> warnings = script.warnings(gateway);
  REQUIRE(warnings.size() == 1);
  CHECK(contains(warnings[0].message, "has no operation \"GET /v1/file\""));
  // A new version of the script changes the operations, but not how the gateway was started.
  ScriptDocument::from_json(Json::parse(R"({"mock_gateway": 1, "gateway": {"base_paths": ["/v2"]}, "operations": [
    {"method": "GET", "path": "/v1/files", "reply": {"body": "more files"}}]})"))
      .replace(gateway, loaded);
  CHECK(Http(gateway).get("/api/paas/v4/files").body == "more files");
  CHECK(statuses(Http(gateway), "/v2") == unknown);
}

}  // namespace base_paths_test
