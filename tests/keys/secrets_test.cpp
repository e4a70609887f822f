// Masking of keys in everything that a gateway records, prints and sends: its own keys and keys of other accounts, in
// any encoding and place. Words that only resemble a key stay.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/timing.hpp"

namespace secrets_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_path;
using test_support::contains;
using test_support::Http;
using test_support::RawConnection;
using test_support::without_counts;

const char* const foreign = "sk-proj-Zq81xV_7d2-Lm0Tr55WbK9cY3nEa";

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Sends a body and returns it as recorded in the journal.
inline std::string recorded(const Gateway& gateway, const Http& http, const std::string& body) {
  http.post("/v1/nothing", std::string_view(body));
  return gateway.journal().last().body();
}

/// Returns everything that the gateway shows of its exchanges and its findings.
inline std::string all_shown(Gateway& gateway) {
  std::ostringstream shown;
  for (const Exchange& exchange : gateway.journal().all()) {
    shown << exchange << exchange.summary() << exchange.as_curl() << exchange.raw() << exchange.body()
          << exchange.method() << exchange.path() << exchange.query() << exchange.decision()
          << exchange.decision().detail << exchange.request().target;
    for (const wire::Header& header : exchange.headers()) shown << header.name << ": " << header.value << '\n';
  }
  shown << gateway.verify().message() << without_counts(gateway.review().message());
  return shown.str();
}

/// Encodes bytes in base64 (RFC 4648, section 4, or section 5 for URLs).
inline std::string base64(const std::string& bytes, bool for_urls, bool padded) {
  std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  digits += for_urls ? "-_" : "+/";
  std::string result;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::size_t group = 0;
    for (std::size_t byte = at; byte < at + 3; ++byte) {
      group = group * 256 + (byte < bytes.size() ? static_cast<unsigned char>(bytes[byte]) : 0U);
    }
    const std::size_t length = std::min<std::size_t>(bytes.size() - at, 3) + 1;
    for (std::size_t digit = 0; digit < 4; ++digit) {
      if (digit < length) result += digits[group >> (18 - 6 * digit) & 63U];
      if (digit >= length && padded) result += '=';
    }
  }
  return result;
}

TEST_CASE("a key of another account is masked in every place") {
  std::mutex mutex;
  std::string shown;
  Gateway gateway{Options{}.unmatched(Unmatched::allowed).on_exchange([&](const Exchange& exchange) {
    const std::lock_guard<std::mutex> lock(mutex);
    shown += exchange.summary() + "\n";
  })};
  gateway.on("POST", "/v1/echo",
             [](const ReceivedRequest& request) { return HttpReply(200, request.body, "text/plain"); });
  gateway.chat().when(user_says("never")).reply("x");
  const std::string key = foreign;
  const Http http(gateway);
  std::vector<std::string> answers;
  for (const std::string& target : {"/v1/" + key, "/v1/models/" + key, "/v1/models?a=1&key=" + key + "&b=" + key}) {
    answers.push_back(http.get(target).raw);
  }
  answers.push_back(http.chat(Json("my key is " + key)).raw);
  answers.push_back(http.chat({{"model", key}}).raw);
  answers.push_back(http.chat({{"temperature", key}}).raw);
  answers.push_back(http.post(chat_path, std::string_view("{\"model\": " + key)).raw);
  answers.push_back(http.post("/v1/echo", Json{{"keys", {key, key}}}).raw);
  for (const char* name : {"X-Amz-Security-Token", "X-Debug", "Cookie", "User-Agent", "Origin"}) {
    answers.push_back(http.with_header(name, key).chat().raw);
  }
  answers.push_back(http.with_header(key, "name").chat().raw);
  const std::string begin = "POST " + std::string(chat_path) + " HTTP/1.1\r\nHost: x\r\n";
  for (const std::string& request :
       {begin + "X-Key " + key + "\r\n\r\n", begin + "X-Key: " + key + "\nX-Other: 1\r\n\r\n", key + "\r\n\r\n",
        "GET /v1/" + key + "\r\n\r\n", key + " /v1/models HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /v1/models HTTP/1.1\r\n " + key + "\r\n\r\n", "GET /v1/models " + key + "\r\n\r\n"}) {
    RawConnection connection(gateway);
    connection.send(request);
    answers.push_back(connection.receive_response().raw);
    CHECK(answers.back().substr(0, 10) == "HTTP/1.1 4");
  }
  REQUIRE(gateway.journal().wait_until_idle(10s));
  CHECK(gateway.journal().count() == answers.size());
  shown += all_shown(gateway);
  for (const std::string& answer : answers) shown += answer;
  CHECK(contains(shown, "sk-***"));
  CHECK_FALSE(contains(shown, key));
  CHECK_FALSE(contains(shown, "Zq81"));
  CHECK_FALSE(contains(shown, "3nEa"));
}

TEST_CASE("a session token in its header is masked in any form") {
  const Gateway gateway;
  Http(gateway).with_header("x-amz-security-token", "IQoJ short").get("/v1/models");
  CHECK(gateway.journal().last().headers().find("X-Amz-Security-Token") == "***");
  CHECK_FALSE(contains(gateway.journal().last().raw(), "IQoJ"));
}

TEST_CASE("words that begin like a key but are shorter or different stay unchanged") {
  Gateway gateway;
  const std::string text =
      "desk-bound sk-learn sk-SK sk-folding-cube sk-123456789012345 task-force-of-the-united-nations "
      "risk-assessment-2024-and-later sk-... (sk-) sk- Bearer sk-*** 20sk-12345678901234567890";
  CHECK(recorded(gateway, Http(gateway), text) == text);
  Http(gateway).chat(Json(text));
  CHECK(gateway.journal().last().chat().last_user_text() == text);
  CHECK(without_counts(gateway.review().without("request_refused").without("retried_final_error").message())
            .substr(0, 5) == "clean");
}

TEST_CASE("a key of another account begins where a word begins and has at least 20 characters") {
  const Gateway gateway;
  const Http http(gateway);
  CHECK(recorded(gateway, http, "sk-1234567890123456 sk-12345678901234567") == "sk-1234567890123456 sk-***");
  CHECK(recorded(gateway, http, "(sk-12345678901234567)x-sk-12345678901234567,") == "(sk-***)x-sk-***,");
  CHECK(recorded(gateway, http, "\\nsk-12345678901234567\\n%0Ask-12345678901234567%20\\u000ask-12345678901234567") ==
        "\\nsk-***\\n%0Ask-***%20\\u000ask-***");
  CHECK(recorded(gateway, http, "\xC3\xA9sk-12345678901234567\xC3\xA9") == "\xC3\xA9sk-***\xC3\xA9");
  // At the very beginning of a body, a key after a complete escape is masked, but not after an incomplete escape.
  for (const std::string escape : {"%0A", "\\n", "\\u000a"}) {
    const std::string key = "sk-12345678901234567";
    CHECK(recorded(gateway, http, escape + key) == escape + "sk-***");
    CHECK(recorded(gateway, http, escape.substr(1) + key) == escape.substr(1) + key);
    CHECK(recorded(gateway, http, " " + escape.substr(1) + key) == " " + escape.substr(1) + key);
  }
}

TEST_CASE("a key of another account in the body is a finding") {
  Gateway gateway;
  Http(gateway).chat(Json("use\n" + std::string(foreign)));
  CHECK(without_counts(gateway.review().message()) ==
        "key_in_body (exchange 1): the body contains a key. Send the key only in the Authorization header.");
}

TEST_CASE("base64 of a key is masked, in the standard or the URL alphabet, padded or not, at any alignment") {
  Gateway gateway;
  const CreatedKey deleted = gateway.keys().create("deleted");
  gateway.keys().remove(deleted.id);
  // The base64 of these keys contains "+" and "/".
  const CreatedKey odd = gateway.keys().create("odd", KeyOptions{}.secret("sk-~~~~?~~~~?>>>?~?~"));
  const CreatedKey other = gateway.keys().create("other", KeyOptions{}.secret("hf_0123456789??~~>>"));
  const std::string presented = "pk-presented-by-a-stranger";
  for (const std::string& key : {gateway.api_key(), deleted.secret, odd.secret, other.secret, presented}) {
    const Http http = Http(gateway).with_key(key);
    for (const std::string before : {"", "a", "ab", "user:", "\xff\xfe"}) {
      for (const std::string after : {"", "z", "zy"}) {
        for (const bool for_urls : {false, true}) {
          for (const bool padded : {false, true}) {
            const std::string encoded = base64(before + key + after, for_urls, padded);
            // The base64 digits that contain only bits of the key.
            const std::size_t begin = (8 * before.size() + 5) / 6;
            const std::string inner = encoded.substr(begin, 8 * (before.size() + key.size()) / 6 - begin);
            const std::string json = Json{{"x", encoded}}.dump();
            CAPTURE(encoded);
            for (const std::string& body :
                 {encoded, json, replaced(json, "/", "\\/"), "x=" + replaced(encoded, "+", "%2B")}) {
              const std::string kept = recorded(gateway, http, body);
              CHECK(contains(kept, "***"));
              for (std::size_t at = 0; at + 6 <= inner.size(); ++at) CHECK_FALSE(contains(kept, inner.substr(at, 6)));
            }
            CHECK_FALSE(contains(gateway.journal().last().raw(), inner));
          }
        }
      }
    }
  }
  Http(gateway).with_key(gateway.api_key()).get("/v1/models?t=" + base64("u:" + gateway.api_key(), true, false));
  CHECK(contains(gateway.journal().last().request().target, "***"));
  gateway.journal().clear();
  Http(gateway).chat(Json(base64("user:" + gateway.api_key(), false, true)));
  REQUIRE(gateway.review().findings().size() == 1);
  CHECK(gateway.review().findings()[0].code == "key_in_body");
}

TEST_CASE("an image in base64 stays unchanged, even if there are short keys") {
  Gateway gateway;
  for (const char* secret : {"sk-1", "sk-ab", "sk-abc"}) gateway.keys().create("short", KeyOptions{}.secret(secret));
  // The text contains the base64 of "sk-1" at all three alignments. It is so short that it may occur by chance.
  CHECK(recorded(gateway, Http(gateway), "iVBORw0Kc2stMQNrLTEzay0x") == "iVBORw0Kc2stMQNrLTEzay0x");
  std::string bytes;
  std::uint32_t state = 1;
  for (int i = 0; i < 200'000; ++i) bytes += static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
  const std::string picture = base64(bytes, false, true);
  CHECK(recorded(gateway, Http(gateway), picture) == picture);
}

TEST_CASE("8 base64 digits of a key are masked; 7 may occur by chance") {
  Gateway gateway;
  gateway.keys().create("six bytes", KeyOptions{}.secret("sk-abc"));
  const Http http(gateway);
  CHECK(base64("sk-abc", true, false) == "c2stYWJj");
  CHECK(recorded(gateway, http, "x c2stYWJj x") == "x *** x");
  // After one or two other bytes, only 7 base64 digits contain only bits of the key.
  for (const std::string before : {"a", "ab"}) {
    const std::string encoded = base64(before + "sk-abc", true, false);
    CAPTURE(encoded);
    CHECK(recorded(gateway, http, "x " + encoded + " x") == "x " + encoded + " x");
  }
}

TEST_CASE("a short key without sk- is masked only in credential fields") {
  const Gateway gateway{Options{}.api_key("EMPTY")};
  Http(gateway).with_header("x-api-key", "EMPTY").with_header("X-State", "EMPTY").chat(Json("The list is EMPTY."));
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.status() == 200);
  CHECK(exchange.chat().last_user_text() == "The list is EMPTY.");
  CHECK(exchange.headers().find("Authorization") == "Bearer ***");
  CHECK(exchange.headers().find("x-api-key") == "***");
  CHECK(exchange.headers().find("X-State") == "EMPTY");
  const std::string head = exchange.raw().substr(0, exchange.raw().find("\r\n\r\n"));
  CHECK(contains(head, "Authorization: Bearer ***\r\n"));
  CHECK(contains(head, "x-api-key: ***\r\n"));
  CHECK_FALSE(contains(head, "Bearer EMPTY"));
  CHECK(contains(exchange.as_curl(), "Authorization: Bearer $OPENAI_API_KEY"));

  Http(gateway).with_key("NOTHING").get("/v1/NOTHING");
  CHECK(gateway.journal().last().status() == 401);
  CHECK(gateway.journal().last().headers().find("Authorization") == "Bearer ***");
  CHECK(gateway.journal().last().path() == "/v1/NOTHING");
}

TEST_CASE("a key of 16 characters is masked everywhere, in any form and for every gateway") {
  Gateway gateway{Options{}.api_key("0123456789abcdef")};
  const Http http(gateway);
  CHECK(recorded(gateway, http, "x0123456789abcdefx, 0123456789abcde") == "x***x, 0123456789abcde");
  CHECK(recorded(gateway, http.with_key("fedcba9876543210"), "fedcba9876543210 0123456789abcdef") == "*** ***");
  CHECK(recorded(gateway, http.with_key("fedcba987654321"), "fedcba987654321") == "fedcba987654321");
  gateway.keys().create("quoted", KeyOptions{}.secret("\"0123456789\\/abc\""));
  CHECK(recorded(gateway, http, Json("\"0123456789\\/abc\"").dump()) == "\"***\"");
  CHECK(recorded(gateway, http, "k=%220123456789%5C%2Fabc%22&") == "k=***&");
  CHECK(recorded(gateway, http, R"(\"0123456789\\\/abc\")") == "***");
}

TEST_CASE("an exception does not repeat a key that was given instead of an id") {
  Gateway gateway{Options{}.api_key("EMPTY")};
  gateway.keys().create("long", KeyOptions{}.secret("0123456789abcdef"));
  for (const std::string id : {"EMPTY", "0123456789abcdef", "id of 0123456789abcdef"}) {
    std::string error;
    try {
      gateway.keys().find(id);
    } catch (const GatewayError& problem) {
      error = problem.what();
    }
    CHECK(error != "");
    CHECK_FALSE(contains(error, "EMPTY"));
    CHECK_FALSE(contains(error, "0123"));
  }
}

// --- Several fields, keys or escapes ---------------------------------------------------------------------------------

TEST_CASE("every continuation line of a field that holds a credential is masked in raw()") {
  const Gateway gateway;
  RawConnection connection(gateway);
  connection.send(
      "GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer first\r\n second\r\n\tthird\r\nX-Shown: a\r\n b\r\n"
      "Cookie: c=fourth\r\n fifth\r\n sixth\r\n\r\n");
  CHECK(connection.receive_response().status == 400);
  CHECK(gateway.journal().last().raw() ==
        "GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ***\r\n ***\r\n ***\r\nX-Shown: a\r\n b\r\n"
        "Cookie: ***\r\n ***\r\n ***\r\n\r\n");
}

TEST_CASE("a credential in a line that is not a field is masked in raw()") {
  const Gateway gateway;
  for (const std::string broken : {"Authorization Bearer hidden", "Authorization : Bearer hidden",
                                   "authorization\tBearer hidden", "Proxy-Authorization=Basic hidden"}) {
    RawConnection connection(gateway);
    connection.send("GET /v1/models HTTP/1.1\r\nHost: x\r\n" + broken + "\r\n\r\n");
    CHECK(connection.receive_response().status == 400);
    CAPTURE(broken);
    CHECK_FALSE(contains(gateway.journal().last().raw(), "hidden"));
    CHECK(contains(gateway.journal().last().raw(), "***\r\n\r\n"));
  }
}

TEST_CASE("a second Authorization field is masked like the first, and so is its credential elsewhere") {
  const Gateway gateway;
  const std::string first = "sk-first";
  const std::string second = "sk-second";
  CHECK(recorded(gateway, Http(gateway).with_key(first).with_header("Authorization", "Bearer " + second),
                 first + " " + second) == "sk-*** sk-***");
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.status() == 401);
  CHECK(exchange.headers().all("Authorization") == std::vector<std::string>{"Bearer sk-***", "Bearer sk-***"});
  CHECK_FALSE(contains(exchange.raw(), "first"));
  CHECK_FALSE(contains(exchange.raw(), "second"));
  Http(gateway).with_header("Authorization", "Basic hidden").with_header("X-Api-Key", "hidden").get("/v1/models");
  CHECK_FALSE(contains(gateway.journal().last().raw(), "hidden"));
}

TEST_CASE("two unknown credentials are distinguished, although neither is kept") {
  const auto retried = [](const std::string& first, const std::string& second) {
    const ManualClock clock;
    const Gateway gateway{Options{}.clock(clock).verify_on_destruction(false)};
    for (const std::string& credential : {first, second}) {
      const Http http = Http(gateway).without_key();
      const int status = credential.empty() ? http.chat().status : http.with_key(credential).chat().status;
      CHECK(status == 401);
    }
    return contains(without_counts(gateway.review().message()), "retried_final_error");
  };
  CHECK(retried("sk-first", "sk-first"));
  CHECK(retried("", ""));
  CHECK_FALSE(retried("sk-first", "sk-second"));
  CHECK_FALSE(retried("sk-first", ""));
}

TEST_CASE("two keys in one text are both masked: apart, adjacent, and overlapping") {
  Gateway gateway{Options{}.api_key("sk-one")};
  for (const char* secret : {"sk-two", "sk-xsk", "sk-yyy", "sk-one-and-more", "0123456789sk-yyy"}) {
    gateway.keys().create("", KeyOptions{}.secret(secret));
  }
  const Http http(gateway);
  CHECK(recorded(gateway, http, "sk-one, sk-one and sk-two") == "sk-***, sk-*** and sk-***");
  CHECK(recorded(gateway, http, "sk-onesk-twosk-one") == "sk-***sk-***sk-***");
  CHECK(recorded(gateway, http, "<sk-xsk-yyy>") == "<sk-***>");
  CHECK(recorded(gateway, http, "<0123456789sk-yyy>") == "<***>");
  CHECK(recorded(gateway, http, "sk-one-and sk-one-and-more.") == "sk-***-and sk-***.");
  CHECK(recorded(gateway, http.with_key("sk-one.of.others"), "sk-one.of.others sk-one.of") == "sk-*** sk-***.of");
  http.get("/v1/models?a=sk-one&b=sk-two&sk-one=c");
  CHECK(gateway.journal().last().request().target == "/v1/models?a=sk-***&b=sk-***&sk-***=c");
  const std::string two = std::string(foreign) + "," + foreign;
  http.get("/v1/models?a=" + two + "&b=" + foreign);
  CHECK(gateway.journal().last().request().target == "/v1/models?a=sk-***,sk-***&b=sk-***");
}

TEST_CASE("a key split by escapes is masked, even by nested escapes") {
  const Gateway gateway{Options{}.api_key("sk-own-key")};
  const Http http(gateway);
  for (const char* body : {R"("\u0073k-own-key")", R"("s\u006b-own-key")", R"("sk\u002Down\u002dkey")",
                           "\"%73k-own-key\"", "\"sk%2Down%2dkey\"", "\"sk%252Down-key\"", R"("sk%5Cu002down-key")",
                           R"("s\u006B%2Down-key")", R"("sk\u00252Down-key")"}) {
    CAPTURE(body);
    CHECK(recorded(gateway, http, body) == "\"sk-***\"");
  }
  CHECK(recorded(gateway, http, R"(\u002fsk-12345678\u003901234567 %2Fsk%2D1234567%38901234567%)") ==
        R"(\u002fsk-*** %2Fsk-***%)");
  gateway.keys().create("", KeyOptions{}.secret("!~sixteen-of-them"));
  CHECK(recorded(gateway, http, "%21%7Esixteen-of-them \\u0021\\u007esixteen-of-them") == "*** ***");
  CHECK(recorded(gateway, http, "a%zz\\u00zz\\u0 %5 sk-own-key%2") == "a%zz\\u00zz\\u0 %5 sk-***%2");
}

TEST_CASE("a key of another account that two chunks split is not kept, for any length of its first part") {
  const Gateway gateway;
  const std::string key = foreign;
  std::ostringstream request;
  request << "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " << gateway.api_key()
          << "\r\nTransfer-Encoding: chunked\r\n\r\n"
          << std::hex << 25 << "\r\n"
          << key.substr(0, 25) << "\r\n"
          << key.size() - 25 << "\r\n"
          << key.substr(25) << "\r\n0\r\n\r\n";
  RawConnection connection(gateway);
  connection.send(request.str());
  CHECK(connection.receive_response().status == 400);
  CHECK(gateway.journal().last().body() == "sk-***");
  CHECK_FALSE(contains(gateway.journal().last().raw(), key.substr(25)));
}

TEST_CASE("masking a body full of beginnings of keys takes time proportional to its length") {
  const Gateway gateway;
  std::string body = "x";
  const std::size_t size = std::size_t{1} << (test_support::sanitized ? 15 : 19);  // sanitizers check every comparison
  while (body.size() < size) body += "-sk";
  const std::string credential = body.substr(2, 6000) + "?";
  CHECK(Http(gateway).with_key(credential).post("/v1/nothing", std::string_view(body)).status == 401);
  CHECK(gateway.journal().last().body() == "x-sk-***");
}

}  // namespace secrets_test
