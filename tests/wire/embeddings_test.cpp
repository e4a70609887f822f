// Embeddings: valid requests, the vectors, the order of checks, and gateways that do not serve embeddings.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace embeddings_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::contains;
using test_support::Http;
using test_support::Response;
using test_support::without_counts;
using Vector = std::vector<double>;

inline constexpr const char* path = "/v1/embeddings";

Json asking(const Json& input, const Json& more = Json::object()) {
  Json body = {{"model", "mock-model"}, {"input", input}};
  body.update(more);
  return body;
}

/// A gateway that serves embeddings, and a connection to it.
struct Wire {
  explicit Wire(const Options& options = Options().embeddings()) : gateway(options), http(Http(gateway).keep_alive()) {}

  Response ask(const Json& body) const { return http.post(path, body); }
  std::vector<Vector> vectors(const Json& body) const {
    const Json answer = ask(body).json();
    std::vector<Vector> all;
    for (const Json& one : answer.at("data")) all.push_back(one.at("embedding").get<Vector>());
    return all;
  }
  Vector vector(const Json& input, const Json& more = Json::object()) const {
    return vectors(asking(input, more)).at(0);
  }
  /// Sends a request and returns the error as "STATUS CODE: MESSAGE".
  std::string refused(const Json& body) const {
    const Response response = ask(body);
    return std::to_string(response.status) + " " + response.error_code() + ": " + response.error_message();
  }

  Gateway gateway;
  Http http;
};

double product(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b.at(i);
  return sum;
}

TEST_CASE("embeddings are a list of unit vectors with usage, in the order of the inputs") {
  const Wire wire;
  const Response answer = wire.ask(asking({"the cat sat", "on a mat"}));
  CHECK(answer.status == 200);
  CHECK(answer.header("Content-Type") == "application/json");
  const Json body = answer.json();
  CHECK(body["object"] == "list");
  CHECK(body["model"] == "mock-model");
  CHECK(body["usage"] == Json{{"prompt_tokens", 6}, {"total_tokens", 6}});
  REQUIRE(body["data"].size() == 2);
  for (std::size_t index = 0; index < 2; ++index) {
    const Json& one = body["data"][index];
    CHECK(one["object"] == "embedding");
    CHECK(one["index"] == index);
    const Vector vector = one["embedding"].get<Vector>();
    CHECK(vector.size() == 1536);
    CHECK(std::abs(product(vector, vector) - 1) < 1e-5);
  }
  const Exchange exchange = wire.gateway.journal().last();
  CHECK(exchange.decision().kind == Decision::Kind::embeddings);
  CHECK(exchange.decision().detail == "mock-model");
}

TEST_CASE("equal texts have equal vectors of the requested size, in every gateway") {
  const Wire wire;
  const Wire other{Options().embeddings().seed(7)};
  const Vector first = wire.vector("Where is my order?");
  CHECK(wire.vector("Where is my order?") == first);
  CHECK(other.vector("Where is my order?") == first);
  CHECK(wire.vectors(asking({"a", "Where is my order?"})).at(1) == first);
  CHECK(wire.vector("Where is my parcel?") != first);
  for (const int size : {1, 2, 256, 1537, 8192}) {
    const Vector vector = wire.vector("Where is my order?", {{"dimensions", size}});
    CHECK(vector.size() == static_cast<std::size_t>(size));
    CHECK(std::abs(product(vector, vector) - 1) < 1e-5);
  }
  for (const char* const text : {"!", "  ", "?!", "日本"}) CHECK(wire.vector(text).size() == 1536);
}

TEST_CASE("texts that share four of five words have near vectors, texts that share no words do not") {
  const Wire wire;
  // Each text has five different words. The second text of a pair shares four words with the first.
  std::vector<std::vector<std::string>> lists;
  Json inputs = Json::array();
  const auto word = [](int number) { return "word" + std::to_string(number * 7919 % 100003); };
  for (int text = 0; text < 300; ++text) {
    std::string words;
    for (int at = 0; at < 5; ++at) words += (at == 0 ? "" : " ") + word(text * 6 + at);
    std::string near = word(text * 6 + 5);
    for (int at = 4; at > 0; --at) near += ", " + word(text * 6 + at);
    inputs.push_back(words);
    inputs.push_back(near);
  }
  for (const int size : {256, 1536}) {
    const std::vector<Vector> all = wire.vectors(asking(inputs, {{"dimensions", size}}));
    int too_near = 0;
    for (std::size_t i = 0; i < all.size(); i += 2) {
      CHECK(product(all[i], all[i + 1]) > 0.8 - 1e-6);
      if (product(all[i], all[(i + 2) % all.size()]) > 0.3) ++too_near;
    }
    // With only 256 directions, about five of 1,000 pairs share two directions by chance.
    CHECK(too_near <= (size == 256 ? 5 : 0));
  }
  CHECK(product(wire.vector("Berlin is the capital"), wire.vector("the CAPITAL is Berlin!")) > 0.999999);
  CHECK(product(wire.vector("How do I reset my password"), wire.vector("how do I change my password?")) > 0.8);
  CHECK(product(wire.vector("How do I reset my password"), wire.vector("opening hours on sundays")) < 0.3);
}

TEST_CASE("base64 embeddings contain the same numbers in single precision, little-endian") {
  const Wire wire;
  const Vector numbers = wire.vector("a b c", {{"dimensions", 300}, {"encoding_format", "float"}});
  const Json answer = wire.ask(asking("a b c", {{"dimensions", 300}, {"encoding_format", "base64"}})).json();
  const std::string text = answer["data"][0]["embedding"];
  CHECK(text.size() == 1600);
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bits = bits << 6 | static_cast<std::uint32_t>(alphabet.find(text[i]));
    if (i % 4 == 3)
      for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift & 0xff);
  }
  REQUIRE(bytes.size() == 1200);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::uint32_t pattern = 0;
    for (std::size_t byte = 0; byte < 4; ++byte)
      pattern |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i * 4 + byte])) << (8 * byte);
    float number = 0;
    std::memcpy(&number, &pattern, sizeof number);
    CHECK(number == static_cast<float>(numbers[i]));
  }
}

TEST_CASE("an input may be a list of tokens, or a list of such lists") {
  const Wire wire;
  const Vector one = wire.vector({11, 12, 13});
  CHECK(wire.vectors(asking(Json::array({{11, 12, 13}, {14}}))).at(0) == one);
  CHECK(wire.ask(asking(Json::array({{11, 12, 13}, {14}}))).json()["usage"]["prompt_tokens"] == 4);
  CHECK(product(one, wire.vector({13, 12, 11})) > 0.999999);
  CHECK(product(one, wire.vector({21, 22, 23})) < 0.3);
}

TEST_CASE("the error for an invalid request names the invalid field") {
  const Wire wire;
  CHECK(wire.refused({{"model", "mock-model"}}) ==
        "400 missing_required_parameter: input: expected a string, an array of strings, or tokens, got nothing");
  CHECK(wire.refused({{"input", "a"}}) == "400 missing_required_parameter: model: expected a string, got nothing");
  CHECK(wire.refused(asking("")) == "400 invalid_value: input: expected a string that is not empty, got \"\"");
  CHECK(wire.refused(asking(Json::array())) == "400 invalid_value: input: expected 1 to 2048 inputs, got 0");
  CHECK(wire.refused(asking(Json(std::vector<std::string>(2049, "a")))) ==
        "400 invalid_value: input: expected 1 to 2048 inputs, got 2049");
  CHECK(wire.ask(asking(Json(std::vector<std::string>(2048, "a")), {{"dimensions", 1}})).status == 200);
  CHECK(contains(wire.refused(asking({"a", ""})), "400 invalid_value: input[1]: expected a string that is not empty"));
  CHECK(contains(wire.refused(asking({"a", 1})), "400 invalid_type: input[1]: expected a string"));
  CHECK(contains(wire.refused(asking({1, "a"})), "400 invalid_type: input[1]: expected an integer"));
  CHECK(contains(wire.refused(asking(7)), "400 invalid_type: input: expected a string"));
  CHECK(contains(wire.refused(asking("a", {{"dimensions", 0}})), "dimensions: "));
  CHECK(contains(wire.refused(asking("a", {{"dimensions", 8193}})), "400 value_above_maximum: dimensions: "));
  CHECK(contains(wire.refused(asking("a", {{"encoding_format", "int8"}})),
                 R"(400 invalid_value: encoding_format: expected "float" or "base64", got "int8")"));
  CHECK(contains(wire.refused(asking("a", {{"user", 1}})), "400 invalid_type: user: expected a string"));
  CHECK(wire.http.post(path, "{").error_code() == "invalid_json");
  CHECK(wire.http.post(path, "").error_code() == "invalid_json");
  CHECK(contains(wire.refused(asking("a", {{"model", "gpt-4o"}})), "404 model_not_found: "));
  CHECK(wire.ask(asking("a", {{"user", "u"}, {"dimensions", nullptr}})).status == 200);
}

TEST_CASE("embeddings have the same keys, permissions, limits, failures and content types as chats") {
  Wire wire;
  const auto status = [](const Http& http) { return http.post(path, asking("a")).status; };
  CHECK(status(wire.http.without_key()) == 401);
  const CreatedKey chats = wire.gateway.keys().create("chats", KeyOptions().operations({chat_completions()}));
  const CreatedKey embeds = wire.gateway.keys().create("embeds", KeyOptions().operations({embeddings()}).limit(2, 1h));
  const CreatedKey other = wire.gateway.keys().create("other", KeyOptions().models({"other"}));
  CHECK(status(wire.http.with_key(chats.secret)) == 403);
  CHECK(status(wire.http.with_key(other.secret)) == 403);
  CHECK(status(wire.http.with_key(embeds.secret)) == 200);
  CHECK(status(wire.http.with_key(embeds.secret)) == 200);
  CHECK(status(wire.http.with_key(embeds.secret)) == 429);
  wire.gateway.fail_next(overloaded(), 1, embeddings());
  wire.gateway.fail_next(server_error(), 1, for_model("mock-model"));
  CHECK(status(wire.http) == 529);
  CHECK(status(wire.http) == 500);
  CHECK(status(wire.http) == 200);
  CHECK(wire.http.get(path).status == 405);
  CHECK(wire.http.get(path).header("Allow") == "POST");
  CHECK(wire.http.with_header("Content-Type", "text/plain").post(path, "a").status == 415);
}

TEST_CASE("an operation mounted at the path of embeddings replaces them") {
  Wire wire;
  wire.gateway.on("POST", path, [](const ReceivedRequest&) { return Json{{"mine", true}}; });
  CHECK(wire.ask(asking("a")).json() == Json{{"mine", true}});
  CHECK(wire.gateway.journal().last().decision().kind == Decision::Kind::handler);
}

TEST_CASE("embeddings need the option or the openai profile; otherwise a 404 says so") {
  Gateway documented;
  const Response refused = Http(documented).post(path, asking("a"));
  CHECK(refused.status == 404);
  CHECK(refused.error_message() ==
        "no operation at /v1/embeddings; the gateway serves GET /v1/models, GET /v1/models/{id}, POST "
        "/v1/chat/completions; Gateway::on or "
        "\"operations\" of a script mount others");
  CHECK(Wire(Options().profile(Profile::openai)).ask(asking("a")).status == 200);
  CHECK(Wire(Options().profile(Profile::openai).embeddings(false)).ask(asking("a")).status == 404);
  Wire wire;
  for (int number = 0; number < 7; ++number)
    wire.gateway.on("GET", "/v1/p" + std::to_string(number), [](const ReceivedRequest&) { return Json(1); });
  CHECK(contains(wire.http.post("/v1/responses", "{}").error_message(),
                 "no operation at /v1/responses; the gateway serves GET /v1/models, GET /v1/models/{id}, POST "
                 "/v1/chat/completions, POST "
                 "/v1/embeddings, GET /v1/p"));
  CHECK(contains(wire.http.post("/v1/responses", "{}").error_message(), " and 2 more; Gateway::on or "));
  CHECK(contains(wire.http.post("/embeddings", "{}").error_message(),
                 "/v1/embeddings is near: the base address must end with /v1"));
}

TEST_CASE("the review reports undocumented embeddings and fields that OpenAI does not know") {
  const Wire wire;
  CHECK(wire.ask(asking("a")).status == 200);
  const Review review = wire.gateway.review();
  CHECK(review);
  CHECK(contains(
      without_counts(review.message()),
      "note: beyond_documentation (exchange 1): POST /v1/embeddings: documented by OpenAI but not by the gateway."));
  CHECK(wire.ask(asking("a", {{"mood", 1}})).status == 200);
  CHECK(contains(without_counts(wire.gateway.review().message()),
                 "unknown_field (exchange 2): mood: OpenAI documents no such field"));
  const Wire openai{Options().profile(Profile::openai)};
  CHECK(openai.ask(asking("a")).status == 200);
  CHECK(openai.gateway.review().findings().empty());
  const Wire strict{Options().embeddings().acceptance(Acceptance::strict())};
  CHECK(strict.refused(asking("a", {{"mood", 1}})) ==
        "400 unknown_parameter: mood: OpenAI documents no such field of embeddings; leave it out");
  const Wire any{Options().embeddings().any_model()};
  CHECK(any.ask(asking("a", {{"model", "text-embedding-3-small"}})).json()["model"] == "text-embedding-3-small");
  CHECK(contains(without_counts(any.gateway.review().message()),
                 "unlisted_model (exchange 1): model \"text-embedding-3-small\": "));
}

}  // namespace embeddings_test
