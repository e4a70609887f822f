// Replies that cannot be made, because a function of the test throws or the script does not fit the request. The tests
// check the client's response, whom the journal and verify() blame, and the effect on chaos.

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/verification.hpp"

namespace answer_failures_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::chat_path;
using test_support::contains;
using test_support::End;
using test_support::Http;
using test_support::patience;
using test_support::quiet;
using test_support::RawConnection;
using test_support::Response;

inline Reply out_of_ideas(const ChatRequest&) { throw std::runtime_error("out of ideas"); }

TEST_CASE("a reply that cannot be made is reported even if nothing threw") {
  Gateway gateway{quiet()};
  const Http http{gateway};
  const Stub stub = gateway.chat().named("counting").reply(text("one two").chunked(by_pieces({"one"})));
  const Response response = http.chat();
  CHECK(response.status == 500);
  CHECK(response.error_code() == "internal_error");
  CHECK(response.error_message() == "the gateway could not generate an answer; the journal has the reason");
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.decision() == Decision::Kind::answer_failed);
  CHECK(to_string(exchange.decision().kind) == "answer failed");
  const Verification verification = gateway.verify();
  REQUIRE(verification.problems().size() == 1);
  CHECK(verification.problems()[0].kind == Problem::Kind::answer_failed);
  CHECK(to_string(verification.problems()[0].kind) == "answer failed");
  CHECK(verification.problems()[0].text ==
        "an answer could not be generated  POST /v1/chat/completions  key \"default key\"  exchange 1\n"
        "  user: \"Hi\"\n"
        "  mock_gateway: by_pieces: nothing is left for \" two\"; add the missing pieces\n"
        "  reply of " +
            stub.title());
}

TEST_CASE("verify() reports a tokenizer that throws as a function of the test, but not a tokenizer that loses text") {
  for (const bool throws : {true, false}) {
    CAPTURE(throws);
    Gateway gateway{quiet().tokenizer([throws](std::string_view) -> std::vector<std::string> {
      if (throws) throw std::runtime_error("no vocabulary");
      return {};
    })};
    gateway.chat().reply("Hello.");
    CHECK(Http{gateway}.chat().status == 500);
    const std::string message = gateway.verify().message();
    CAPTURE(message);
    CHECK((message.find("a function of the test threw") == 0) == throws);
    CHECK((message.find("the function given to Options::tokenizer threw: no vocabulary") != std::string::npos) ==
          throws);
    CHECK((message.find("an answer could not be generated") == 0) == !throws);
  }
}

TEST_CASE("chaos takes effect and is recorded, even if the reply cannot be made") {
  struct Row {
    const char* name;
    Options options;
    void (*script)(Gateway&);
    Decision::Kind decision;
  };
  const std::vector<Row> rows = {
      {"the reply's function throws", quiet(), [](Gateway& gateway) { gateway.chat().reply(out_of_ideas); },
       Decision::Kind::callback_failed},
      {"a matcher throws", quiet(),
       [](Gateway& gateway) {
         gateway.chat()
             .when(matching("odd", [](const ChatRequest&) -> bool { throw std::runtime_error("no"); }))
             .reply("Hello.");
       },
       Decision::Kind::callback_failed},
      {"what a stub asks for throws", quiet(),
       [](Gateway& gateway) {
         gateway.chat()
             .should(matching("strict", [](const ChatRequest&) -> bool { throw std::runtime_error("no"); }))
             .reply("Hello.");
       },
       Decision::Kind::callback_failed},
      {"the pieces do not fit", quiet(),
       [](Gateway& gateway) { gateway.chat().reply(text("one two").chunked(by_pieces({"one"}))); },
       Decision::Kind::answer_failed},
      {"the tokenizer throws",
       quiet().tokenizer([](std::string_view) -> std::vector<std::string> { throw std::runtime_error("no"); }),
       [](Gateway& gateway) { gateway.chat().reply("Hello."); }, Decision::Kind::callback_failed},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Gateway gateway{row.options};
    row.script(gateway);
    gateway.chaos(Chaos(early_hints()).first(1));
    gateway.chaos(Chaos(after_bytes(10), close_connection()).first(1));
    gateway.chaos(Chaos(after_tokens(1), close_connection()).first(1));  // not reached: an error body has no tokens

    RawConnection connection{gateway};
    connection.send(Http{gateway}.format_chat());
    CHECK(connection.receive_response().status == 103);
    const Response struck = connection.receive_response();
    CHECK(struck.status == 500);
    CHECK(struck.body.size() == 10);
    CHECK(struck.end == End::fin);
    const Exchange exchange = gateway.journal().last();
    CHECK(exchange.outcome() == Outcome::Kind::broken_by_fault);
    CHECK(exchange.decision() == row.decision);
    REQUIRE(exchange.chaos().size() == 2);
    CHECK(exchange.chaos()[0].find("rule 1: ") == 0);
    CHECK(exchange.chaos()[1].find("rule 2: ") == 0);
    CHECK(gateway.verify().problems().size() == 1);
    CHECK(gateway.review().message().find("1 of 1 request struck") != std::string::npos);

    const Response whole = Http{gateway}.chat();
    CHECK(whole.status == 500);
    CHECK(whole.complete);
  }
}

TEST_CASE("an exception in a function of the test causes a 500 without its text, and the connection stays open") {
  struct Row {
    const char* name;
    std::function<void(Gateway&, const std::function<void()>&)> script;
    const char* path;
  };
  const std::vector<Row> rows = {
      {"a reply function",
       [](Gateway& gateway, const std::function<void()>& code) {
         gateway.chat().reply([=](const ChatRequest&) { return code(), text("never"); });
       },
       chat_path},
      {"a matcher",
       [](Gateway& gateway, const std::function<void()>& code) {
         gateway.chat().when(matching("odd", [=](const ChatRequest&) { return code(), true; })).reply("never");
       },
       chat_path},
      {"a text matcher",
       [](Gateway& gateway, const std::function<void()>& code) {
         gateway.chat().when(user_says({"odd", [=](std::string_view) { return code(), true; }})).reply("never");
       },
       chat_path},
      {"a mounted handler",
       [](Gateway& gateway, const std::function<void()>& code) {
         gateway.on("POST", "/v1/own", [=](const ReceivedRequest&) { return code(), HttpReply(Json::object()); });
       },
       "/v1/own"},
  };
  const std::vector<std::pair<const char*, std::function<void()>>> throwers = {
      {"its own words", [] { throw std::runtime_error("its own words"); }},
      {"no std::exception", [] { throw 42; }},
      {"failure's status", [] { failure(99, "x", "x"); }},
      {"", [] { const Json never = Json::parse("{"); }},
  };
  for (const Row& row : rows) {
    for (const auto& [text, code] : throwers) {
      CAPTURE(row.name);
      const auto& text_shown = text;  // a lambda in C++17 cannot name a structured binding
      CAPTURE(text_shown);
      Gateway gateway{Options{}.verify_on_destruction(false)};
      row.script(gateway, code);
      RawConnection connection(gateway);
      connection.send(Http(gateway).format("POST", row.path, chat_body().dump()));
      const Response response = connection.receive_response();
      CHECK(response.status == 500);
      CHECK(response.error_code() == "internal_error");
      CHECK_FALSE(contains(response.body, "its own words"));
      const Exchange exchange = gateway.journal().last();
      CHECK(exchange.decision().kind == Decision::Kind::callback_failed);
      CHECK(contains(exchange.decision().detail, text));
      connection.send(Http(gateway).format("GET", "/v1/models"));
      CHECK(connection.receive_response().status == 200);
    }
  }
}

TEST_CASE("an exception or error of a tokenizer causes a 500 that the journal explains") {
  struct Row {
    const char* text;
    Decision::Kind kind;
    Tokenizer tokenizer;
  };
  const std::vector<Row> rows = {
      {"the function given to Options::tokenizer threw: no vocabulary", Decision::Kind::callback_failed,
       [](std::string_view) -> std::vector<std::string> { throw std::runtime_error("no vocabulary"); }},
      {"do not add up", Decision::Kind::answer_failed,
       [](std::string_view) { return std::vector<std::string>{"something else"}; }},
      {"do not add up", Decision::Kind::answer_failed, [](std::string_view) { return std::vector<std::string>{}; }},
  };
  for (const auto& [text, kind, tokenizer] : rows) {
    Gateway gateway{Options{}.tokenizer(tokenizer).verify_on_destruction(false)};
    gateway.chat().reply("\xC3\xA8");
    const Http http = Http(gateway).keep_alive();
    for (const bool stream : {false, true}) {
      CHECK(http.chat({{"stream", stream}}).status == 500);
      CHECK(gateway.journal().last().decision().kind == kind);
      CHECK(contains(gateway.journal().last().decision().detail, text));
    }
    CHECK(http.get("/v1/models").status == 200);
  }
}

TEST_CASE("an exception in on_exchange changes no response") {
  Gateway gateway{Options{}.on_exchange([](const Exchange& exchange) {
    if (exchange.id() % 2 == 0) throw 42;
    throw std::runtime_error("the log is full");
  })};
  const Http http = Http(gateway).keep_alive();
  for (int i = 0; i < 4; ++i) CHECK(http.chat().status == 200);
  CHECK(gateway.journal().wait_until_idle(patience));
}

}  // namespace answer_failures_test
