// Gateways that serve any model: the list of models, findings and resets. Also the 404 of gateways that do not.

#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace any_model_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::contains;
using test_support::Http;
using test_support::Response;
using Ids = std::vector<std::string>;

Response ask_for(const Http& http, const std::string& model) {
  return http.post("/v1/chat/completions",
                   Json{{"model", model}, {"messages", {{{"role", "user"}, {"content", "Hi"}}}}}.dump());
}

Ids listed(const Http& http) {
  Ids ids;
  const Json list = http.get("/v1/models").json();
  for (const Json& model : list["data"]) ids.push_back(model["id"]);
  return ids;
}

/// Returns the code and severity of each finding.
std::vector<std::string> found(const Gateway& gateway) {
  std::vector<std::string> codes;
  for (const Finding& finding : gateway.review().findings())
    codes.push_back(to_string(finding.severity) + " " + finding.code);
  return codes;
}

TEST_CASE("a gateway that serves any model answers for each model and lists the requested models") {
  Gateway gateway(Options().any_model());
  const Http http(gateway);
  CHECK(listed(http) == Ids{"mock-model"});
  const Response answer = ask_for(http, "gpt-4o-mini");
  CHECK(answer.status == 200);
  CHECK(answer.json()["model"] == "gpt-4o-mini");
  CHECK(ask_for(http, "gpt-4o-mini").status == 200);
  CHECK(ask_for(http, "meta/llama-3").status == 200);
  CHECK(listed(http) == Ids{"mock-model", "gpt-4o-mini", "meta/llama-3"});
  CHECK(http.get("/v1/models/meta%2Fllama-3").json()["id"] == "meta/llama-3");
  CHECK(http.get("/v1/models/o9").json()["owned_by"] == "mock_gateway");
  CHECK(listed(http).back() == "o9");
  CHECK(ask_for(http, "").status == 400);
}

TEST_CASE("a model that a stub names is listed while the stub is mounted, but not if the stub excludes it") {
  Gateway gateway(Options().model("fast", "acme").any_model());
  const Http http(gateway);
  gateway.chat().when(model_is("deep") && user_says("Hi")).reply("deep");
  gateway.chat().when(model_is("fast") || model_is("wide"), !model_is("never")).reply("wide");
  {
    const ScopedStub brief = gateway.chat().when(model_is("brief")).reply("brief").scoped();
    CHECK(listed(http) == Ids{"fast", "deep", "wide", "brief"});
  }
  CHECK(listed(http) == Ids{"fast", "deep", "wide"});
  CHECK(http.get("/v1/models").json()["data"][0]["owned_by"] == "acme");
  CHECK(ask_for(http, "deep").text() == "deep");
  CHECK(listed(http) == Ids{"fast", "deep", "wide"});
  gateway.reset();
  CHECK(listed(http) == Ids{"fast"});
}

TEST_CASE("an unlisted model is a finding that fails no review") {
  Gateway gateway(Options().any_model());
  const Http http(gateway);
  gateway.chat().reply("any");
  gateway.chat().when(model_is("deep")).reply("deep");
  ask_for(http, "mock-model");
  ask_for(http, "deep");
  CHECK(found(gateway).empty());
  CHECK(gateway.review().message() == "clean: 2 exchanges judged");
  ask_for(http, "gpt-4o-mini");
  ask_for(http, "gpt-4o-mini");
  CHECK(found(gateway) == Ids{"note unlisted_model"});
  const Review review = gateway.review();
  CHECK(review);
  CHECK(contains(review.message(),
                 "clean: 4 exchanges judged\nnote: unlisted_model (exchange 3): model \"gpt-4o-mini\": "));
  CHECK(contains(review.message(), " 1 more request asked for an unlisted model, the last in exchange 4."));
  gateway.chat().when(model_is("gpt-4o-mini")).reply("mini");
  ask_for(http, "gpt-4o-mini");
  CHECK(found(gateway).size() == 1);
  CHECK(gateway.review().without("unlisted_model").findings().empty());
}

TEST_CASE("a key's model permissions apply in a gateway that serves any model") {
  Gateway gateway(Options().any_model());
  const CreatedKey key = gateway.keys().create("limited", KeyOptions().models({"deep", "mock-model"}));
  const Http http = Http(gateway).with_key(key.secret);
  CHECK(ask_for(http, "wide").status == 403);
  CHECK(ask_for(http, "deep").status == 200);
  CHECK(listed(http) == Ids{"mock-model", "deep"});
  ask_for(Http(gateway), "wide");
  CHECK(listed(http) == Ids{"mock-model", "deep"});
  CHECK(listed(Http(gateway)) == Ids{"mock-model", "deep", "wide"});
  CHECK(http.get("/v1/models/wide").status == 403);
}

TEST_CASE("the list of requested models is limited, contains no key, and is cleared only by a reset") {
  Gateway gateway(Options().any_model());
  const Http http(gateway);
  CHECK(ask_for(http, std::string(256, 'x')).status == 200);
  CHECK(ask_for(http, std::string(257, 'y')).status == 200);
  CHECK(ask_for(http, gateway.api_key()).status == 200);
  CHECK(listed(http) == Ids{"mock-model", std::string(256, 'x')});
  CHECK_FALSE(contains(gateway.review().message(), gateway.api_key()));
  gateway.journal().clear();
  CHECK(listed(http).size() == 2);
  gateway.reset();
  CHECK(listed(http) == Ids{"mock-model"});

  const Http kept = http.keep_alive();
  for (int number = 0; number < 1005; ++number) kept.get("/v1/models/m" + std::to_string(number));
  const Ids ids = listed(http);
  CHECK(ids.size() == 1001);
  CHECK(ids.back() == "m999");
}

TEST_CASE("an unknown model gets a 404 that lists the known models") {
  const auto refusal = [](const Options& options) {
    Gateway gateway(options);
    const Response response = ask_for(Http(gateway), "gpt-4o");
    CHECK(response.status == 404);
    CHECK(response.error_code() == "model_not_found");
    return response.error_message();
  };
  const std::string add = "; --model, Options::model or \"models\" of a script add one";
  CHECK(refusal(Options()) == "the model \"gpt-4o\" does not exist; the gateway serves mock-model" + add);
  Options many;
  for (const char* id : {"a", "b", "c", "d", "e", "f", "g"}) many = many.model(id);
  CHECK(refusal(many) == "the model \"gpt-4o\" does not exist; the gateway serves a, b, c, d, e and 2 more" + add);
  CHECK(refusal(Options().any_model().any_model(false)).find("the model") == 0);
}

TEST_CASE("a script can make a gateway serve any model") {
  const auto script = ScriptDocument::from_json(Json{{"mock_gateway", 1},
                                                     {"gateway", {{"models", "any"}}},
                                                     {"stubs", {{{"when", {{"model_is", "deep"}}}, {"reply", "x"}}}}});
  Gateway gateway(script.options());
  CHECK(script.warnings(gateway).empty());
  CHECK(ask_for(Http(gateway), "other").status == 200);
  CHECK_THROWS_AS(ScriptDocument::from_json(Json{{"mock_gateway", 1}, {"gateway", {{"models", "all"}}}}), ScriptError);
}

}  // namespace any_model_test
