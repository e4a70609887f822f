// How a key arrives: in headers besides Authorization, or not at all; operations that need none.

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/golden.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/verification.hpp"

namespace key_headers_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::answer_to;
using test_support::chat_body;
using test_support::codes;
using test_support::contains;
using test_support::Http;
using test_support::quiet;
using test_support::refused;
using test_support::Response;
using test_support::unauthorized_body;
using test_support::without_counts;

std::string last_refusal(const Gateway& gateway) { return gateway.journal().last().summary(); }

// --- Headers ---------------------------------------------------------------------------------------------------------

TEST_CASE("a key may arrive in each of the given headers, in any case, and still in Authorization") {
  Gateway gateway{quiet().key_header("api-key").key_header("X-Team-Token")};
  const CreatedKey other = gateway.keys().create("other", KeyOptions{}.secret("a team's secret"));
  const Http none = Http(gateway).without_key();
  for (const char* name : {"api-key", "API-Key", "X-Team-Token", "x-team-token"}) {
    CAPTURE(name);
    CHECK(none.with_header(name, gateway.api_key()).chat().status == 200);
    CHECK(gateway.journal().last().key_id() == "key_1");
    CHECK(none.with_header(name, other.secret).chat().status == 200);
    CHECK(gateway.journal().last().key_id() == other.id);
  }
  CHECK(gateway.keys().find(other.id).requests == 4);
  CHECK(Http(gateway).chat().status == 200);
  CHECK(none.with_header("x-api-key", gateway.api_key()).chat().status == 401);  // not given
  CHECK(none.chat().body == unauthorized_body);
  CHECK(contains(last_refusal(gateway), "no key was sent"));
}

TEST_CASE("a header holds the bare secret") {
  Gateway gateway{quiet().key_header("api-key")};
  const Http none = Http(gateway).without_key();
  for (const std::string& value : {"Bearer " + gateway.api_key(), gateway.api_key() + "0", std::string("sk-")}) {
    CHECK(none.with_header("api-key", value).chat().status == 401);
    CHECK(contains(last_refusal(gateway), "the gateway has no such key"));
  }
  gateway.keys().disable("key_1");
  CHECK(none.with_header("api-key", gateway.api_key()).chat().status == 403);
  gateway.keys().remove("key_1");
  CHECK(none.with_header("api-key", gateway.api_key()).chat().status == 401);
}

TEST_CASE("equal keys in several headers are accepted, different ones refused whichever is right") {
  Gateway gateway{quiet().key_header("api-key").key_header("x-api-key")};
  const std::string key = gateway.api_key();
  const Http http(gateway);
  const std::string different = "different keys were sent in several header fields";
  struct Row {
    Http client;
    int status;
    std::string refusal;
  };
  const Http none = http.without_key();
  for (const Row& row : std::vector<Row>{
           {http.with_header("api-key", key), 200, ""},
           {http.with_header("api-key", key).with_header("x-api-key", key), 200, ""},
           {none.with_header("api-key", key).with_header("API-KEY", key), 200, ""},
           {http.with_header("api-key", "sk-other"), 401, different},
           {http.with_key("sk-other").with_header("api-key", key), 401, different},
           {none.with_header("api-key", key).with_header("x-api-key", "sk-other"), 401, different},
           {none.with_header("api-key", "sk-other").with_header("api-key", key), 401, different},
           {http.with_header("api-key", key).with_header("x-api-key", "sk-other"), 401, different},
           // An empty place holds no key.
           {http.with_header("api-key", ""), 200, ""},
           {none.with_header("api-key", "").with_header("x-api-key", key), 200, ""},
           {http.with_authorization("Bearer ").with_header("api-key", key), 200, ""},
           {http.with_authorization("").with_header("api-key", key), 200, ""},
           {http.with_authorization("Bearer"), 401, "no key was sent"},
           {none.with_header("api-key", ""), 401, "no key was sent"},
           // A malformed Authorization stays an error.
           {http.with_authorization("Basic dTpw").with_header("api-key", key), 401, "not \"Bearer KEY\""},
           {http.with_authorization(key).with_header("api-key", key), 401, "not \"Bearer KEY\""},
           {http.with_header("Authorization", "Bearer").with_header("api-key", key), 401, "not \"Bearer KEY\""},
           {http.with_authorization("Bearer").with_header("Authorization", "Bearer " + key), 401, "not \"Bearer KEY\""},
       }) {
    const Response response = row.client.chat();
    CAPTURE(gateway.journal().last().raw());
    CHECK(response.status == row.status);
    if (row.status == 401) CHECK(response.body == unauthorized_body);
    CHECK(contains(last_refusal(gateway), row.refusal));
  }
}

TEST_CASE("the value of a key header is masked wherever keys are") {
  std::mutex mutex;
  std::string logged;
  Gateway gateway{quiet()
                      .key_header("X-Team-Token")
                      .api_key("EMPTY")
                      .unmatched(Unmatched::allowed)
                      .on_exchange([&](const Exchange& exchange) {
                        const std::lock_guard<std::mutex> lock(mutex);
                        logged += exchange.summary();
                      })};
  gateway.chat().when(user_says("never")).reply("x");
  const Http none = Http(gateway).without_key();
  const std::string foreign = "an unknown secret of a stranger";
  none.with_header("x-team-token", foreign).chat(Json("I am " + foreign));
  none.with_header("x-team-token", "EMPTY").chat(Json("The list is EMPTY."));
  none.with_header("x-team-token", "EMPTY").with_header("X-Team-Token", foreign).chat(Json(foreign));
  answer_to(gateway, "GET / HTTP/1.1\r\nHost: x\r\nx-team-token: " + foreign + "\r\n and " + foreign + "\r\n\r\n");
  answer_to(gateway, "GET / HTTP/1.1\r\nHost: x\r\nX-Team-Token " + foreign + "\r\n\r\n");
  REQUIRE(gateway.journal().wait_until_idle(10s));
  std::string shown = gateway.verify().message() + gateway.review().message();
  {
    const std::lock_guard<std::mutex> lock(mutex);
    shown += logged;
  }
  for (const Exchange& exchange : gateway.journal().all())
    shown += exchange.raw() + exchange.as_curl() + exchange.body() + exchange.summary() + as_json(exchange).dump();
  CHECK_FALSE(contains(shown, "stranger"));
  CHECK_FALSE(contains(shown, "oken: EMPTY"));
  const Exchange known = gateway.journal().at(2);
  CHECK(known.headers().find("X-Team-Token") == "***");
  CHECK(contains(known.raw(), "x-team-token: ***\r\n"));
  CHECK(known.chat().last_user_text() == "The list is EMPTY.");
  CHECK(contains(known.as_curl(), "-H \"x-team-token: $OPENAI_API_KEY\""));
}

TEST_CASE("a header that is not given as a key header stays readable") {
  const Gateway gateway;
  Http(gateway).with_header("X-Team-Token", "a team").get("/v1/models");
  CHECK(gateway.journal().last().headers().find("X-Team-Token") == "a team");
}

TEST_CASE("findings about keys name the given headers") {
  Gateway gateway{quiet().key_header("api-key")};
  const Http http = Http(gateway).without_key().with_header("api-key", gateway.api_key());
  http.get("/v1/models?key=" + gateway.api_key());
  http.chat(Json(gateway.api_key()));
  const Review review = gateway.review();
  REQUIRE(codes(review) == "key_in_query key_in_body");
  for (const Finding& finding : review.findings())
    CHECK(contains(finding.message, "Send the key only in the Authorization or api-key header."));
}

TEST_CASE("a key in a given header is followed across redirects") {
  Gateway gateway{quiet().key_header("api-key")};
  const std::string target = "/v1/chat/completions?moved=1";
  const Http none = Http(gateway).without_key();
  const Http http = none.with_header("api-key", gateway.api_key());
  gateway.fail_next(failure(307, "", "").body("").header("Location", target));
  CHECK(http.chat().status == 307);
  CHECK(none.post(target, chat_body()).status == 401);
  REQUIRE(codes(gateway.review()) == "key_lost_in_redirect");
  CHECK(contains(gateway.review().findings()[0].message, "Keep the Authorization or api-key header when"));

  Gateway other{quiet().key_header("api-key").seed(2)};
  gateway.fail_next(failure(307, "", "").body("").header("Location", other.root_url() + target));
  CHECK(http.chat().status == 307);
  const Http there = Http(other).without_key().with_header("api-key", gateway.api_key());
  CHECK(there.post(target, chat_body()).status == 401);
  REQUIRE(codes(other.review()) == "key_sent_to_other_origin");
  CHECK(contains(other.review().findings()[0].message, "Drop the Authorization or api-key header when"));
}

TEST_CASE("a preflight request of a browser may ask for a key header") {
  const Gateway gateway{Options{}.key_header("api-key").cors("*")};
  const Response answer = Http(gateway)
                              .without_key()
                              .with_header("Origin", "http://a.example")
                              .with_header("Access-Control-Request-Method", "POST")
                              .with_header("Access-Control-Request-Headers", "api-key,content-type")
                              .request("OPTIONS", "/v1/chat/completions");
  CHECK(answer.status == 204);
  CHECK(answer.header("Access-Control-Allow-Headers") == "api-key,content-type");
}

TEST_CASE("a header that cannot carry a key is refused") {
  for (const char* name :
       {"", "api key", "api-key:", "\xC3\xA9", "Host", "content-length", "AUTHORIZATION", "Cookie"}) {
    CAPTURE(name);
    CHECK(refused([&] { return Options{}.key_header(name); }) ==
          "key_header takes the name of a header that only carries a key, such as \"api-key\", not \"" +
              std::string(name) + "\"; Authorization: Bearer is always accepted");
  }
}

// --- No key ----------------------------------------------------------------------------------------------------------

TEST_CASE("if no key is required, a request without one counts as sent with the default key") {
  ManualClock clock;
  Gateway gateway{quiet().key_required(false).clock(clock)};
  gateway.chat().when(key_is("key_1")).reply("default");
  gateway.keys().limit_rate("key_1", 5, 1min);
  const Http http(gateway);
  for (const Http& client : {http.without_key(), http.with_authorization("Bearer"), http.with_authorization("Bearer "),
                             http.with_authorization("bearer"), http.with_authorization("")}) {
    const Response response = client.chat();
    CHECK(response.status == 200);
    CHECK(response.text() == "default");
    CHECK(gateway.journal().last().key_id() == "key_1");
  }
  CHECK(gateway.keys().find("key_1").requests == 5);
  CHECK(http.without_key().chat().status == 429);
  CHECK(gateway.journal().by_key("key_1").size() == 6);
  clock.advance(1min);
  gateway.fail_next(bad_gateway(), 1, for_key("key_1"));
  CHECK(http.without_key().chat().status == 502);
  gateway.keys().limit_operations("key_1", {list_models()});
  CHECK(http.without_key().chat().status == 403);
  CHECK(http.without_key().get("/v1/models").status == 200);
  gateway.reset();
  gateway.keys().disable("key_1");
  CHECK(http.without_key().get("/v1/models").status == 403);
  gateway.keys().remove("key_1");
  CHECK(http.without_key().get("/v1/models").status == 401);
}

TEST_CASE("if no key is required, a key that is sent is still checked") {
  Gateway gateway{quiet().key_required(false).key_header("api-key")};
  const CreatedKey team = gateway.keys().create("team");
  gateway.chat().when(key_is("team")).reply("team");
  gateway.chat().when(key_is("key_1")).reply("default");
  const Http none = Http(gateway).without_key();
  CHECK(none.chat().text() == "default");
  for (const Http& client : {none.with_key(team.secret), none.with_header("api-key", team.secret)}) {
    CHECK(client.chat().text() == "team");
    gateway.keys().disable(team.id);
    CHECK(client.chat().status == 403);
    gateway.keys().enable(team.id);
  }
  gateway.keys().remove(team.id);
  for (const Http& client :
       {none.with_key(team.secret), none.with_key("sk-unknown"), none.with_header("api-key", "sk-unknown"),
        none.with_authorization("Basic dTpw"), none.with_authorization(gateway.api_key())}) {
    CHECK(client.chat().status == 401);
    CHECK(gateway.journal().last().key_id() != "key_1");
  }
}

TEST_CASE("without a required key, a client that sends none gets no finding") {
  Gateway gateway{Options{}.key_required(false)};
  gateway.chat().reply("Hello.");
  const Http none = Http(gateway).without_key();
  gateway.fail_next(failure(307, "", "").body("").header("Location", "/v1/chat/completions?moved=1"));
  CHECK(none.chat().status == 307);
  CHECK(none.post("/v1/chat/completions?moved=1", chat_body()).status == 200);
  CHECK(codes(gateway.review()) == "");
  CHECK(gateway.verify());
}

TEST_CASE("the head of a request that waits for 100 Continue is judged by the same rules") {
  Gateway gateway{quiet().key_required(false)};
  gateway.on(
      "POST", "/open", [](const ReceivedRequest&) { return "open"; }, NeedsKey::no);
  const auto head = [](const std::string& path, const std::string& field) {
    return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + field + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n";
  };
  CHECK(answer_to(gateway, head("/v1/chat/completions", "")).status == 100);
  CHECK(answer_to(gateway, head("/v1/chat/completions", "Authorization: Bearer sk-wrong\r\n")).status == 401);
  CHECK(answer_to(gateway, head("/open", "Authorization: Bearer sk-wrong\r\n")).status == 100);
}

// --- Open operations -------------------------------------------------------------------------------------------------

TEST_CASE("an open operation refuses no request for its key, others do") {
  Gateway gateway{quiet()};
  const auto up = [](const ReceivedRequest& request) { return Json{{"key", request.key_id}}; };
  gateway.on("GET", "/health", up, NeedsKey::no);
  gateway.on("GET", "/closed", up);
  const CreatedKey limited = gateway.keys().create("limited", KeyOptions{}.operations({list_models()}));
  const CreatedKey off = gateway.keys().create("off", KeyOptions{}.disabled());
  const Http http(gateway);
  struct Row {
    Http client;
    std::string id;
  };
  for (const Row& row : std::vector<Row>{{http, "key_1"},
                                         {http.without_key(), ""},
                                         {http.with_key("sk-unknown"), ""},
                                         {http.with_authorization("Basic dTpw"), ""},
                                         {http.with_key(limited.secret), limited.id},
                                         {http.with_key(off.secret), off.id}}) {
    const Response response = row.client.get("/health");
    CHECK(response.status == 200);
    CHECK(response.json()["key"] == row.id);
    CHECK(gateway.journal().last().key_id() == row.id);
    CHECK(row.client.get("/closed").status == (row.id == "key_1" ? 200 : row.id.empty() ? 401 : 403));
    CHECK((row.client.request("POST", "/health", "").status == 405) == (row.id == "key_1" || row.id == limited.id));
  }
  CHECK(gateway.keys().find(off.id).requests == 3);
}

TEST_CASE("a key sent to an open operation counts, with its limits and failures") {
  ManualClock clock;
  Gateway gateway{quiet().clock(clock).limit(2, 1min)};
  gateway.on(
      "GET", "/health", [](const ReceivedRequest&) { return "up"; }, NeedsKey::no);
  const Http http(gateway);
  gateway.fail_next(bad_gateway(), 1, for_key("key_1"));
  CHECK(http.without_key().get("/health").status == 200);
  CHECK(http.get("/health").status == 502);
  gateway.fail_next(overloaded(), 1, operation("GET", "/health"));
  CHECK(http.without_key().get("/health").status == 529);
  for (const int status : {200, 200, 429}) CHECK(http.get("/health").status == status);
  for (int i = 0; i < 4; ++i) CHECK(http.without_key().get("/health").status == 200);  // no limit without a key
}

TEST_CASE("an open operation stays open until it is mounted again without that") {
  Gateway gateway{quiet()};
  const auto up = [](const ReceivedRequest&) { return "up"; };
  const Http none = Http(gateway).without_key();
  const auto status = [&] { return none.get("/v1/files/7").status; };
  gateway.on("GET", "/v1/files/{id}", up, NeedsKey::no);
  CHECK(status() == 200);
  gateway.reset();
  CHECK(status() == 200);
  gateway.on("GET", "/v1/files/{id}", up);
  CHECK(status() == 401);
  gateway.on("GET", "/v1/files/{id}", up, NeedsKey::no);
  CHECK(status() == 200);
  gateway.on("GET", "/v1/files/7", up);  // a path without braces comes first
  CHECK(status() == 401);
  CHECK(none.get("/v1/models").status == 401);
  gateway.on("GET", "/v1/models", up, NeedsKey::no);
  CHECK(none.get("/v1/models").body == "up");
  CHECK(none.get("/v1/models/mock-model").status == 401);
}

// --- Scripts ---------------------------------------------------------------------------------------------------------

TEST_CASE("a script says how keys arrive, and which operations are open") {
  const auto script = [](const std::string& gateway, const std::string& open) {
    return ScriptDocument::from_json(Json::parse(R"({"mock_gateway": 1, "gateway": {)" + gateway +
                                                 R"(}, "operations": [{"method": "GET", "path": "/health", )" + open +
                                                 R"("reply": {"json": {}}}]})"));
  };
  const ScriptDocument first =
      script(R"("key_headers": ["api-key", "x-api-key"], "key_required": false)", R"("open": true, )");
  Gateway gateway{first.options().verify_on_destruction(false)};
  LoadedScript loaded = first.mount(gateway);
  const Http none = Http(gateway).without_key();
  CHECK(none.chat().status == 200);
  CHECK(none.with_header("x-api-key", gateway.api_key()).chat().status == 200);
  CHECK(none.with_header("x-api-key", "sk-unknown").chat().status == 401);
  CHECK(none.with_key("sk-unknown").get("/health").status == 200);
  // A new version changes the operations at once, but not how the gateway was started.
  script(R"("key_headers": [])", R"("open": false, )").replace(gateway, loaded);
  CHECK(none.with_key("sk-unknown").get("/health").status == 401);
  CHECK(none.chat().status == 200);
  script("", R"("open": true, )").replace(gateway, loaded);
  CHECK(none.with_key("sk-unknown").get("/health").status == 200);
  gateway.reset();
  CHECK(none.with_key("sk-unknown").get("/health").status == 200);
  CHECK(none.with_header("api-key", gateway.api_key()).chat().status == 200);
}

}  // namespace key_headers_test
