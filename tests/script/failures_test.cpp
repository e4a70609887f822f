// Forced failures: for a number of requests or until cleared, for all requests, an operation, a key or a model. Also
// tests the contents of a failure.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/threads.hpp"

namespace failures_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_path;
using test_support::has_part;
using test_support::Http;
using test_support::in_threads;
using test_support::Response;

TEST_CASE("each named failure has its status, its reason phrase and its code") {
  struct Row {
    Failure failure;
    int status;
    const char* reason;
    const char* code;
  };
  const std::vector<Row> rows = {
      {bad_request(), 400, "Bad Request", "bad_request"},
      {unauthorized(), 401, "Unauthorized", "unauthorized"},
      {forbidden(), 403, "Forbidden", "unauthorized"},
      {not_found(), 404, "Not Found", "not_found"},
      {request_timeout(), 408, "Request Timeout", "request_timeout"},
      {conflict(), 409, "Conflict", "conflict"},
      {rate_limited(), 429, "Too Many Requests", "rate_limit_exceeded"},
      {server_error(), 500, "Internal Server Error", "internal_error"},
      {bad_gateway(), 502, "Bad Gateway", "bad_gateway"},
      {service_unavailable(), 503, "Service Unavailable", "service_unavailable"},
      {gateway_timeout(), 504, "Gateway Timeout", "gateway_timeout"},
      {overloaded(), 529, "Site is overloaded", "overloaded"},
      {failure(402, "insufficient_quota", "no credit"), 402, "Payment Required", "insufficient_quota"},
      {failure(418, "teapot", "short and stout"), 418, "I'm a Teapot", "teapot"},
      {failure(451, "banned", "not here"), 451, "Unavailable For Legal Reasons", "banned"},
      {failure(599, "odd", "odd"), 599, "Unknown", "odd"},
  };
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  for (const Row& row : rows) {
    CAPTURE(row.status);
    gateway.fail_next(row.failure);
    gateway.chat().times(1).reply(row.failure);
    const Response forced = http.chat();
    const Response scripted = http.chat();
    for (const Response& response : {forced, scripted}) {
      CHECK(response.status == row.status);
      CHECK(response.reason == row.reason);
      CHECK(response.header("Content-Type") == "application/json");
      const Json error = {{"code", row.code}, {"message", row.failure.message()}, {"type", "error"}};
      CHECK(response.body == Json{{"error", error}}.dump());
      CHECK(response.has("Retry-After") == (row.status == 429));
    }
  }
  gateway.reset();
  CHECK(http.chat().status == 200);
}

TEST_CASE("a failure can have any status from 200 to 599, and no other") {
  Gateway gateway;
  const Http http(gateway);
  gateway.fail_next(failure(200, "not_really", "an error body with status 200"));
  const Response fine = http.chat();
  CHECK(fine.status == 200);
  CHECK(fine.error_code() == "not_really");
  for (const int status : {-1, 0, 100, 199, 600}) {
    CAPTURE(status);
    CHECK_THROWS_AS(failure(status, "x", "x"), GatewayError);
  }
}

TEST_CASE("exactly the given number of requests fail") {
  Gateway gateway;
  const Http http(gateway);
  gateway.fail_next(server_error());
  CHECK(http.chat().status == 500);
  CHECK(http.chat().status == 200);
  gateway.fail_next(bad_gateway(), 3);
  for (int i = 0; i < 3; ++i) CHECK(http.get("/v1/models").status == 502);
  CHECK(http.get("/v1/models").status == 200);
}

TEST_CASE("a permanent failure lasts until it is cleared") {
  Gateway gateway;
  const Http http(gateway);
  gateway.fail_always(service_unavailable());
  for (int i = 0; i < 5; ++i) CHECK(http.chat().status == 503);
  CHECK(http.get("/v1/nothing").status == 503);
  gateway.clear_failures();
  CHECK(http.chat().status == 200);
}

TEST_CASE("queued failures are used in order") {
  Gateway gateway;
  const Http http(gateway);
  gateway.fail_next(server_error(), 2);
  gateway.fail_next(bad_gateway(), 1, chat_completions());
  gateway.fail_next(gateway_timeout());
  gateway.fail_always(overloaded(), chat_completions());
  CHECK(http.chat().status == 500);
  CHECK(http.get("/v1/models").status == 500);
  CHECK(http.get("/v1/models").status == 504);  // a failure queued for chat does not apply, and stays queued
  CHECK(http.chat().status == 502);
  CHECK(http.get("/v1/models").status == 200);
  CHECK(http.chat().status == 529);
  gateway.fail_next(conflict());
  CHECK(http.chat().status == 529);  // the permanent failure comes first, because it was forced first
  CHECK(http.get("/v1/models").status == 409);
}

TEST_CASE("a failure can be forced for one operation") {
  Gateway gateway;
  gateway.on("POST", "/v1/images/generations", [](const ReceivedRequest&) { return Json{{"made", true}}; });
  const Http http(gateway);
  const auto image = [&] { return http.post("/v1/images/generations", Json{}).status; };

  gateway.fail_always(bad_gateway(), chat_completions());
  CHECK(http.chat().status == 502);
  CHECK(http.get("/v1/models").status == 200);
  CHECK(image() == 200);
  gateway.clear_failures();

  gateway.fail_always(overloaded(), list_models());
  CHECK(http.get("/v1/models").status == 529);
  CHECK(http.get("/v1/models/mock-model").status == 529);
  CHECK(http.chat().status == 200);
  gateway.clear_failures();

  gateway.fail_next(server_error(), 1, operation("POST", "/v1/images/generations"));
  CHECK(http.chat().status == 200);
  CHECK(image() == 500);
  CHECK(image() == 200);
}

TEST_CASE("a failure can be forced for one key, by its id") {
  Gateway gateway;
  const CreatedKey key = gateway.keys().create("unlucky");
  const Http http(gateway);
  const Http unlucky = http.with_key(key.secret);
  gateway.fail_next(bad_gateway(), 2, for_key(key.id));
  CHECK(http.chat().status == 200);
  CHECK(unlucky.chat().status == 502);
  CHECK(http.chat().status == 200);
  CHECK(unlucky.get("/v1/models").status == 502);
  CHECK(unlucky.chat().status == 200);
}

TEST_CASE("a failure can be forced for one model, and affects only valid requests") {
  Gateway gateway{Options{}.model("good").model("bad")};
  const Http http(gateway);
  gateway.fail_next(overloaded(), 1, for_model("bad"));
  CHECK(http.chat({{"model", "good"}}).status == 200);
  CHECK(http.chat({{"model", "bad"}, {"n", 0}}).status == 400);
  CHECK(http.get("/v1/models/bad").status == 200);
  CHECK(http.chat({{"model", "bad"}}).status == 529);
  CHECK(http.chat({{"model", "bad"}}).status == 200);
}

TEST_CASE("clearing the failures of one scope keeps those of other scopes") {
  Gateway gateway;
  const Http http(gateway);
  const std::string id = gateway.keys().list().front().id;
  gateway.fail_always(server_error(), chat_completions());
  gateway.fail_always(bad_gateway(), for_key(id));
  gateway.fail_always(overloaded(), for_model("mock-model"));
  gateway.clear_failures({});
  CHECK(http.chat().status == 500);
  gateway.clear_failures(chat_completions());
  CHECK(http.chat().status == 502);
  gateway.clear_failures(for_key("another"));
  CHECK(http.chat().status == 502);
  gateway.clear_failures(for_key(id));
  CHECK(http.chat().status == 529);
  gateway.clear_failures(for_model("mock-model"));
  CHECK(http.chat().status == 200);
}

TEST_CASE("a key, a model and an operation with the same name are cleared separately") {
  const std::string key = Gateway().keys().list().front().id;
  const std::string operation_name = chat_completions().to_string();
  Gateway gateway{Options{}.model(key).model(operation_name)};
  REQUIRE(gateway.keys().list().front().id == key);
  const Http http(gateway);
  const auto status = [&](const std::string& model) { return http.chat({{"model", model}}).status; };

  gateway.fail_always(server_error(), for_key(key));
  gateway.fail_always(overloaded(), for_model(key));
  gateway.clear_failures(for_model(key));
  CHECK(status(key) == 500);
  gateway.fail_always(overloaded(), for_model(key));
  gateway.clear_failures(for_key(key));
  CHECK(status(key) == 529);
  CHECK(status(operation_name) == 200);
  gateway.clear_failures();

  gateway.fail_always(server_error(), chat_completions());
  gateway.fail_always(overloaded(), for_model(operation_name));
  gateway.clear_failures(for_model(operation_name));
  CHECK(status(key) == 500);
  gateway.fail_always(overloaded(), for_model(operation_name));
  gateway.clear_failures(chat_completions());
  CHECK(status(operation_name) == 529);
  CHECK(status(key) == 200);
}

TEST_CASE("a forced failure answers a stream request with JSON, and the journal records that it was forced") {
  Gateway gateway;
  const Http http(gateway);
  gateway.fail_next(rate_limited(3s));
  const Response response = http.stream();
  CHECK(response.status == 429);
  CHECK(response.header("Content-Type") == "application/json");
  CHECK(response.error_code() == "rate_limit_exceeded");
  CHECK(response.header("Retry-After") == "3");
  CHECK(gateway.journal().last().decision().kind == Decision::Kind::forced_failure);
  CHECK(gateway.journal().last().status() == 429);
}

TEST_CASE("every 429 has Retry-After: 1 unless the test sets another value") {
  using Apply = void (*)(Gateway&, const Failure&);
  const std::pair<const char*, Apply> ways[] = {
      {"fail_next", [](Gateway& gateway, const Failure& failure) { gateway.fail_next(failure); }},
      {"fail_always", [](Gateway& gateway, const Failure& failure) { gateway.fail_always(failure); }},
      {"reply", [](Gateway& gateway, const Failure& failure) { gateway.chat().reply(failure); }},
      {"reply function",
       [](Gateway& gateway, const Failure& failure) {
         gateway.chat().reply([failure](const ChatRequest&) -> Reply { return failure; });
       }},
      {"chaos", [](Gateway& gateway, const Failure& failure) { gateway.chaos(Chaos(failure)); }},
      {"connection",
       [](Gateway& gateway, const Failure& failure) { gateway.next_connection(reply_before_body(failure)); }},
      {"operation",
       [](Gateway& gateway, const Failure& failure) {
         gateway.on("GET", "/v1/files", [failure](const ReceivedRequest&) { return HttpReply(failure); });
       }},
  };
  const Failure own = failure(429, "slow_down", "Slow down.");
  const std::pair<Failure, std::vector<std::string>> failures[] = {
      {rate_limited(), {"1"}},
      {own, {"1"}},
      {own.type("requests").json_body({{"detail", "later"}}), {"1"}},
      {own.retry_after(3s), {"3"}},
      {own.retry_after("soon"), {"soon"}},
      {own.header("retry-after", "0"), {"0"}},
      {own.without_retry_after(), {}},
      {own.without_retry_after().retry_after(2s), {"2"}},
  };
  for (const auto& [name, apply] : ways) {
    for (const auto& [failure, expected] : failures) {
      const std::string sent = std::string(name) + ", " + failure.code();
      CAPTURE(sent);
      Gateway gateway(Options{}.verify_on_destruction(false));
      apply(gateway, failure);
      const Response response =
          std::string(name) == "operation" ? Http(gateway).get("/v1/files") : Http(gateway).chat();
      CHECK(response.status == 429);
      CHECK(response.all("Retry-After") == expected);
    }
  }
}

TEST_CASE("Retry-After can have every form that servers send") {
  const ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  const Http http(gateway);
  const std::vector<std::pair<Failure, std::optional<std::string>>> forms = {
      {rate_limited(), "1"},
      {rate_limited(2s), "2"},
      {rate_limited(1500ms), "1.5"},
      {rate_limited(1ms), "0.001"},
      {rate_limited(1h), "3600"},
      {rate_limited(0s), "0"},
      {rate_limited().header("Retry-After", "-1"), "-1"},
      {rate_limited(2s).without_retry_after(), std::nullopt},
      {rate_limited().retry_after("soon"), "soon"},
      {rate_limited().retry_after_date(90s), "Mon, 01 Jan 2024 00:01:30 GMT"},
      {rate_limited().retry_after_date(0s), "Mon, 01 Jan 2024 00:00:00 GMT"},
      {rate_limited().retry_after_date(1ms), "Mon, 01 Jan 2024 00:00:01 GMT"},
      {rate_limited(2s).retry_after_date(1h), "Mon, 01 Jan 2024 01:00:00 GMT"},
      {service_unavailable().retry_after(5s), "5"},
      {service_unavailable().retry_after_date(5s).retry_after(7s), "7"},
      {rate_limited().retry_after_date(5s).retry_after("soon"), "soon"},
      {rate_limited().retry_after("soon").retry_after_date(90s), "Mon, 01 Jan 2024 00:01:30 GMT"},
      {rate_limited().retry_after_date(5s).without_retry_after(), std::nullopt},
      {rate_limited().retry_after("soon").without_retry_after(), std::nullopt},
      {rate_limited(2s).header("Retry-After", "-1").without_retry_after(), std::nullopt},
  };
  for (std::size_t i = 0; i < forms.size(); ++i) {
    CAPTURE(i);
    gateway.fail_next(forms[i].first);
    const Response response = http.chat();
    CHECK(response.find("Retry-After") == forms[i].second);
    CHECK(response.all("Retry-After").size() == (forms[i].second ? 1 : 0));
  }
}

TEST_CASE("a Retry-After date is computed when the failure is sent") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.fail_always(rate_limited().retry_after_date(60s));
  clock.advance(24h);
  CHECK(Http(gateway).chat().header("Retry-After") == "Tue, 02 Jan 2024 00:01:00 GMT");
}

TEST_CASE("retry-after-ms and x-should-retry can be sent, with and without Retry-After") {
  Gateway gateway;
  const Http http(gateway);
  gateway.fail_next(rate_limited().retry_after_ms(250ms));
  const Response both = http.chat();
  CHECK(both.header("retry-after-ms") == "250");
  CHECK(both.header("Retry-After") == "1");

  gateway.fail_next(rate_limited().without_retry_after().retry_after_ms(250ms));
  const Response milliseconds = http.chat();
  CHECK(milliseconds.header("retry-after-ms") == "250");
  CHECK_FALSE(milliseconds.has("Retry-After"));
  CHECK_FALSE(milliseconds.has("x-should-retry"));

  gateway.fail_next(bad_request().retry_after(2s).retry_after_ms(1500us).should_retry(true));
  const Response all = http.chat();
  CHECK(all.status == 400);
  CHECK(all.header("Retry-After") == "2");
  CHECK(all.header("retry-after-ms") == "1.5");
  CHECK(all.header("x-should-retry") == "true");

  gateway.fail_next(server_error().should_retry(false));
  CHECK(http.chat().header("x-should-retry") == "false");
}

TEST_CASE("a failure can have its own type, headers and body") {
  Gateway gateway;
  const Http http(gateway);
  gateway.fail_next(failure(429, "insufficient_quota", "no credit").type("insufficient_quota").header("X-Quota", "0"));
  const Response typed = http.chat();
  CHECK(typed.error_type() == "insufficient_quota");
  CHECK(typed.header("X-Quota") == "0");

  gateway.fail_next(bad_gateway().body("<html>Bad Gateway</html>", "text/html"));
  const Response page = http.chat();
  CHECK(page.status == 502);
  CHECK(page.header("Content-Type") == "text/html");
  CHECK(page.body == "<html>Bad Gateway</html>");

  gateway.fail_next(bad_request().json_body({{"error", "only a string"}}));
  CHECK(http.chat().body == R"({"error":"only a string"})");

  gateway.fail_next(server_error().body("", "text/plain"));
  const Response empty = http.chat();
  CHECK(empty.status == 500);
  CHECK(empty.body == "");
  CHECK(empty.header("Content-Length") == "0");
}

TEST_CASE("a derived failure leaves the original unchanged") {
  const Failure plain = rate_limited(2s);
  const Failure changed = plain.retry_after(9s).header("X", "1").type("other").body("text", "text/plain");
  CHECK(plain.headers(ManualClock::default_start).find("Retry-After") == "2");
  CHECK_FALSE(plain.headers(ManualClock::default_start).has("X"));
  CHECK(plain.type() == "error");
  CHECK_FALSE(plain.raw_body().has_value());
  CHECK(changed.headers(ManualClock::default_start).find("Retry-After") == "9");
}

TEST_CASE("setting a header that would split the response throws") {
  for (const std::string& value :
       {std::string("a\r\nSet-Cookie: b"), std::string("a\nb"), std::string("a\rb"), std::string("a\0b", 3)}) {
    CHECK_THROWS_AS(static_cast<void>(server_error().header("X-A", value)), GatewayError);
    CHECK_THROWS_AS(static_cast<void>(server_error().retry_after(value)), GatewayError);
    CHECK_THROWS_AS(static_cast<void>(server_error().body("x", value)), GatewayError);
    CHECK_THROWS_AS(static_cast<void>(text("x").header("X-A", value)), GatewayError);
    CHECK_THROWS_AS(static_cast<void>(HttpReply(Json{}).header("X-A", value)), GatewayError);
  }
  for (const char* name : {"", "X A", "X:", "X\r\nY", "\xc3\xa9"}) {
    CHECK_THROWS_AS(static_cast<void>(server_error().header(name, "a")), GatewayError);
  }
}

TEST_CASE("forcing a failure zero times throws") {
  Gateway gateway;
  std::string message;
  try {
    gateway.fail_next(server_error(), 0);
  } catch (const GatewayError& error) {
    message = error.what();
  }
  CHECK(has_part(message, "fail_always"));
  CHECK(Http(gateway).chat().status == 200);
  CHECK_THROWS_AS(for_key(""), GatewayError);
  CHECK_THROWS_AS(for_model(""), GatewayError);
}

TEST_CASE("many threads together get exactly the forced number of failures") {
  Gateway gateway;
  gateway.fail_next(overloaded(), 15);
  std::atomic<int> failed{0};
  std::atomic<int> served{0};
  in_threads(4, [&](std::size_t) {
    const Http http = Http(gateway).keep_alive();
    for (int request = 0; request < 10; ++request) {
      const int status = http.get("/v1/models").status;
      if (status == 529) ++failed;
      if (status == 200) ++served;
    }
  });
  CHECK(failed == 15);
  CHECK(served == 25);
}

TEST_CASE("a failure for all requests is forced on invalid keys too, and reset() removes it") {
  Gateway gateway;
  gateway.fail_always(gateway_timeout());
  CHECK(Http(gateway).without_key().get("/nowhere").status == 504);
  gateway.reset();
  CHECK(Http(gateway).without_key().get("/nowhere").status == 401);
  CHECK(Http(gateway).chat().status == 200);
}

TEST_CASE("a connection stays open after a failure") {
  Gateway gateway;
  gateway.fail_next(server_error());
  const Http http = Http(gateway).keep_alive();
  CHECK(http.chat().status == 500);
  CHECK(http.chat().status == 200);
  const std::vector<Exchange> exchanges = gateway.journal().all();
  REQUIRE(exchanges.size() == 2);
  CHECK(exchanges[0].connection_id() == exchanges[1].connection_id());
}

}  // namespace failures_test
