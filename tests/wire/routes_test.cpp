// Routing: the operation for a method and a path, and the content types that it accepts.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/raw_requests.hpp"
#include "support/text.hpp"

namespace routes_test {

using namespace mock_gateway;
using test_support::chat_body;
using test_support::chat_path;
using test_support::contains;
using test_support::head;
using test_support::Http;
using test_support::last_answer_to;
using test_support::RawConnection;
using test_support::Response;

// --- Methods and paths -----------------------------------------------------------------------------------------------

TEST_CASE("HEAD gets a 405 with Allow and without a body, and the next request works") {
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
    CHECK(std::stoi(refused.header("Content-Length")) > 0);  // the length of the body for GET (RFC 9110, 9.3.2)
    CHECK(connection.receive_response().status == 200);
  }
  connection.send(head(gateway, "HEAD /v1/nothing HTTP/1.1") + Http(gateway).format("GET", "/v1/models"));
  CHECK(connection.receive_response(test_support::default_timeout, true).status == 404);
  CHECK(connection.receive_response().status == 200);
}

TEST_CASE("OPTIONS and every other wrong method, known or unknown, get a 405 with Allow") {
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

TEST_CASE("a path is compared as sent, so encoded or redundant parts reach no operation") {
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

TEST_CASE("an absolute target is served like its path, for any host") {
  Gateway gateway;
  const Http http(gateway);
  const Json body = chat_body("absolute");
  for (const std::string& host :
       std::vector<std::string>{gateway.root_url(), "http://api.example.com", "HTTP://a:80", "http://[::1]:8080"}) {
    CAPTURE(host);
    CHECK(http.post(host + chat_path, body).status == 200);
    CHECK(gateway.journal().last().path() == chat_path);
    CHECK(contains(gateway.journal().last().raw(), "POST " + host + chat_path + " HTTP/1.1\r\n"));
    CHECK(gateway.journal().last().chat().last_user_text() == "absolute");
    CHECK(http.get(host + "/v1/models?a=b").status == 200);
    CHECK(gateway.journal().last().path() == "/v1/models");
    CHECK(gateway.journal().last().query() == "a=b");
    CHECK(http.without_key().get(host + "/v1/models").status == 401);
    for (const std::string rest : {"", "?a=b", "/", "/v1", "//v1/models", "/v1/models/"}) {
      CAPTURE(rest);
      const Response response = http.get(host + rest);
      CHECK(response.status == 404);
      CHECK(response.error_code() == "unknown_path");
    }
    CHECK(http.get(host + "?a=b").error_message() ==
          "no operation at /; the gateway serves GET /v1/models, GET /v1/models/{id}, POST /v1/chat/completions; "
          "Gateway::on or "
          "\"operations\" of a script mount others");
    CHECK(http.get(host + chat_path).header("Allow") == "POST");
  }
}

TEST_CASE("an absolute target without a host, with an invalid host or with a user gets a 400") {
  Gateway gateway;
  for (const std::string target : {"http:///v1/models", "http://:80/v1/models", "http://user@a/v1/models",
                                   "http://a\"/v1/models", "http://a#b/v1/models", "http://"}) {
    CAPTURE(target);
    RawConnection connection(gateway);
    connection.send("GET " + target + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + gateway.api_key() +
                    "\r\n\r\n");
    const Response response = connection.receive_response();
    CHECK(response.status == 400);
    CHECK(response.error_code() == "malformed_request");
    CHECK(contains(response.error_message(), "the host of the request target is not \"host:port\""));
  }
}

TEST_CASE("the gateway is not a proxy: targets with other schemes are unknown paths") {
  Gateway gateway;
  for (const std::string target : {"https://127.0.0.1/v1/models", "ftp://a/v1/models", "http:/v1/models", "http:a"}) {
    CAPTURE(target);
    const Response response = Http(gateway).get(target);
    CHECK(response.status == 404);
    CHECK(response.error_code() == "unknown_path");
    CHECK(contains(response.error_message(), target));
  }
  CHECK(Http(gateway).request("CONNECT", "example.org:443").status == 404);
}

TEST_CASE("a path of 8,000 characters is looked up, a longer path gets a 414") {
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

TEST_CASE("the query is recorded but does not affect the choice of the operation") {
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

TEST_CASE("a model's id may be percent-encoded, and a malformed escape is an unknown id") {
  Gateway gateway{Options{}.model("team/model a").model("100%")};
  const Http http = Http(gateway).keep_alive();
  for (const std::string id : {"team%2Fmodel%20a", "team%2fmodel%20a", "%74eam%2Fmodel%20a"}) {
    CAPTURE(id);
    CHECK(http.get("/v1/models/" + id).json()["id"] == "team/model a");
  }
  CHECK(http.get("/v1/models/100%25").json()["id"] == "100%");
  CHECK(http.get("/v1/models/100%").json()["id"] == "100%");  // used literally, because it is not an escape
  CHECK(http.get("/v1/models/team/model%20a").error_code() == "unknown_path");
  for (const std::string id : {"%", "%2", "%zz", "%2Gx", "%00", "%ff", "%C3%28", "team+model", ".", ".."}) {
    CAPTURE(id);
    const Response response = http.get("/v1/models/" + id);
    CHECK(response.status == 404);
    CHECK(response.error_code() == "model_not_found");
  }
}

// --- Content types ---------------------------------------------------------------------------------------------------

TEST_CASE("a content type other than JSON gets a 415 unless it is missing or an option accepts it") {
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
  const Acceptance without_parameters = Acceptance().with(Extension::content_type_parameters, false);
  const Acceptance without_form = Acceptance().with(Extension::json_as_form, false);
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

TEST_CASE("a body with a content coding gets a 415 that names the field") {
  for (const Acceptance& acceptance : {Acceptance{}, Acceptance::lenient()}) {
    Gateway gateway{Options{}.acceptance(acceptance).embeddings(true)};
    gateway.on("POST", "/v1/files", [](const ReceivedRequest& request) { return Json(request.body); });
    const Http http(gateway);
    for (const char* path : {chat_path, "/v1/embeddings"}) {
      for (const char* coding : {"gzip", "br", "deflate, gzip"}) {
        const Response response = http.with_header("Content-Encoding", coding).post(path, "\x1f\x8b\x08");
        CHECK(response.status == 415);
        CHECK(response.error_code() == "unsupported_content_encoding");
        CHECK(response.error_message() ==
              "Content-Encoding: the gateway reads no compressed bodies, got \"" + std::string(coding) + "\"");
      }
    }
    for (const char* coding : {"", "identity", "Identity"})
      CHECK(http.with_header("Content-Encoding", coding).post(chat_path, chat_body().dump()).status == 200);
    CHECK(http.with_header("Content-Encoding", "gzip").post("/v1/files", "a").json() == "a");
  }
}

TEST_CASE("a form content type gets a 415 for a form, and a 400 for JSON that is not a chat request") {
  Gateway gateway;
  const Http http = Http(gateway).with_content_type("application/x-www-form-urlencoded");
  CHECK(http.post(chat_path, "model=mock-model&messages=Hi").status == 415);
  CHECK(http.post(chat_path, "").status == 415);
  CHECK(http.post(chat_path, "[]").status == 400);
  CHECK(Http(gateway).post(chat_path, "model=mock-model").error_code() == "invalid_json");
}

}  // namespace routes_test
