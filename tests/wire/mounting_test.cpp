// Operations that a test mounts: allowed methods and paths, the checks before a handler, and a handler's responses.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace mounting_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_path;
using test_support::Http;
using test_support::RawConnection;
using test_support::refused;
using test_support::Response;

TEST_CASE("a mounted operation answers, and the journal has its request and response") {
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

TEST_CASE("a test's own list of models replaces the gateway's") {
  Gateway gateway;
  const Http http(gateway);
  gateway.on("GET", "/{any}/models", [](const ReceivedRequest&) { return "any"; });
  CHECK(http.get("/v1/models").json()["object"] == "list");  // the mounted path with a placeholder does not replace it
  gateway.on("GET", "/v1/models", [](const ReceivedRequest&) { return Json{{"data", Json::array()}}; });
  CHECK(http.get("/v1/models").body == R"({"data":[]})");
  CHECK(gateway.journal().last().decision().kind == Decision::Kind::handler);
  CHECK(http.without_key().get("/v1/models").status == 401);
  const auto key = gateway.keys().create("no list", KeyOptions{}.operations({chat_completions()}));
  CHECK(http.with_key(key.secret).get("/v1/models").status == 403);
  gateway.fail_next(server_error(), 1, list_models());
  CHECK(http.get("/v1/models").status == 500);
  CHECK(http.request("DELETE", "/v1/models").header("Allow") == "GET");
  CHECK(http.get("/nowhere").status == 404);
  const std::string unknown = gateway.journal().last().summary();
  CHECK(unknown.find("GET /v1/models, ") != std::string::npos);
  CHECK(unknown.find("GET /v1/models,") == unknown.rfind("GET /v1/models,"));  // listed once
  CHECK(http.chat().status == 200);                                            // other operations are unchanged
}

TEST_CASE("a mounted operation has the same keys, permissions, limits and failures") {
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

TEST_CASE("a segment in braces matches any single segment, and the handler gets the path as sent") {
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

TEST_CASE("a path with an asterisk is refused, since it would match only itself") {
  Gateway gateway;
  const std::string why = "\"*\" is no wildcard; a segment in braces, such as {id}, matches any";
  for (const std::string path : {"/v1/*", "/*", "/v1/files*/a"}) {
    CHECK(refused([&] { gateway.on("GET", path, [](const ReceivedRequest&) { return Json(); }); }) ==
          "Gateway::on(\"GET\", \"" + path + "\", …): " + why);
    const Json entry{{"method", "GET"}, {"path", path}, {"reply", Json::object()}};
    const auto mounted = [&] {
      const Json script{{"mock_gateway", 1}, {"operations", Json::array({entry})}};
      static_cast<void>(ScriptDocument::from_json(script).mount(gateway));
    };
    CHECK(test_support::contains(refused(mounted), why));
    const std::string name = "GET " + path;
    CHECK(refused([&] { static_cast<void>(operation("GET", path)); }) == name + ": " + why);
    for (const Json& script : {Json{{"failures", {{{"failure", 503}, {"for", {{"operation", name}}}}}}},
                               Json{{"keys", {{{"name", "a"}, {"operations", {name}}}}}}}) {
      Json whole = script;
      whole["mock_gateway"] = 1;
      const std::string said = refused([&] { static_cast<void>(ScriptDocument::from_json(whole)); });
      CHECK(test_support::contains(said, name + ": " + why));
    }
  }
}

TEST_CASE("a path without braces has priority over a path with braces, in any order of mounting") {
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

TEST_CASE("a wrong method at a mounted path gets a 405 that lists the mounted methods") {
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

TEST_CASE("a handler may return any status, headers and body, or a failure") {
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

TEST_CASE("mounting an invalid operation throws") {
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

TEST_CASE("a mounted operation accepts any content type, and bodies up to the limit") {
  Gateway gateway{Options{}.max_body(10)};
  gateway.on("PUT", "/v1/audio", [](const ReceivedRequest& request) { return Json(request.body.size()); });
  const Http http = Http(gateway).with_content_type("audio/wav");
  CHECK(http.request("PUT", "/v1/audio", std::string(10, '\xFF')).json() == 10);
  CHECK(http.request("PUT", "/v1/audio", std::string(11, '\xFF')).status == 413);
}

TEST_CASE("a handler's text is sent unchanged, with or without a status") {
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

TEST_CASE("mounting another method at a path of the gateway keeps the gateway's own methods") {
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

TEST_CASE("a path of a disabled default operation may be mounted") {
  const Acceptance acceptance = Acceptance().with(Extension::model_by_id, false);
  Gateway gateway{Options{}.acceptance(acceptance)};
  gateway.on("GET", "/v1/models/{id}", [](const ReceivedRequest&) { return "mine"; });
  CHECK(Http(gateway).get("/v1/models/mock-model").body == "mine");
}

TEST_CASE("a mounted operation's response can have the faults and waits of a raw reply") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  const std::string text = "0123456789";
  gateway.on("GET", "/cut", [&](const ReceivedRequest&) {
    return HttpReply(text).header("x-a", "b").fault(after_bytes(4), close_connection());
  });
  gateway.on("GET", "/late", [&](const ReceivedRequest&) { return HttpReply(text).first_token_after(5s); });
  gateway.on("GET", "/refused", [&](const ReceivedRequest&) {
    return HttpReply(overloaded()).fault(before_headers(), reset_connection());
  });
  const Http http = Http(gateway).allow_incomplete();
  const Response cut = http.get("/cut");
  CHECK(cut.status == 200);
  CHECK(cut.header("x-a") == "b");
  CHECK(cut.header("Content-Length") == "10");
  CHECK(cut.body == "0123");
  CHECK(gateway.journal().last().outcome() == Outcome::Kind::broken_by_fault);
  CHECK(gateway.verify().notes() ==
        std::vector<std::string>{"exchange 1 broke off after byte 4 of the body as scripted"});
  CHECK(http.get("/refused").status == 0);
  CHECK(gateway.journal().last().outcome() == Outcome::Kind::broken_by_fault);

  std::thread client([&] { CHECK(http.get("/late").body == text); });
  REQUIRE(clock.wait_for_waits(1, 10s));
  CHECK(gateway.journal().last().status() == 200);
  clock.advance(5s);
  client.join();
  CHECK_THROWS_WITH_AS(static_cast<void>(HttpReply(text).fault(after_tokens(1), stall())),
                       doctest::Contains("\"after 1 token\" never happens"), GatewayError);
}

}  // namespace mounting_test
