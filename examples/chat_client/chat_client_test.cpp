// The test suite of the chat client, as a user of mock_gateway would write it.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat_client.hpp"
#include "mock_gateway.hpp"

using namespace mock_gateway;
using namespace std::chrono_literals;
using chat_client::ChatClient;
using chat_client::ClientError;
using chat_client::Settings;
using chat_client::SseParser;
using chat_client::StreamResult;

namespace {

/// A sleeper that records the waits and returns at once.
struct NotedWaits {
  std::vector<Duration> waits;

  chat_client::Sleeper sleeper() {
    return [this](std::chrono::nanoseconds duration) { waits.push_back(duration); };
  }
};

std::optional<ClientError::Kind> error_of_asking(ChatClient& client) {
  try {
    client.ask("Hi");
    return std::nullopt;
  } catch (const ClientError& error) {
    return error.kind();
  }
}

}  // namespace

TEST_SUITE("asking") {
  TEST_CASE("an answer arrives without any script") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    CHECK(client.ask("Hi").size() > 0);
  }

  TEST_CASE("the scripted answer arrives, streamed or not") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    gateway.chat().when(user_says("capital of France")).reply("Paris.");
    CHECK(client.ask("capital of France?") == "Paris.");
    CHECK(client.stream("capital of France?").joined() == "Paris.");
  }

  TEST_CASE("requests carry what was asked, on one connection") {
    Gateway gateway;
    Settings settings;
    settings.temperature = 0.2;
    ChatClient client{gateway.base_url(), gateway.api_key(), chat_client::sleep_in_real_time, settings};
    client.ask("Hello");
    client.ask("Hi");

    const auto exchange = gateway.journal().last();
    const auto request = exchange.chat();
    CHECK(request.model == "mock-model");
    CHECK(request.temperature == 0.2);
    CHECK(request.messages.size() == 1);
    CHECK(request.messages.back().text() == "Hi");
    CHECK_FALSE(request.stream);
    CHECK(exchange.headers().find("Content-Type") == "application/json");
    CHECK(exchange.position() == 2);
    CHECK(exchange.findings().empty());
  }

  TEST_CASE("a long prompt is sent at once, without waiting for leave to send it") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    const std::string prompt(std::size_t{2} << 20, 'x');
    client.ask(prompt);
    CHECK(gateway.journal().last().chat().last_user_text() == prompt);
    CHECK_FALSE(gateway.journal().last().headers().has("Expect"));
  }

  TEST_CASE("key and address come from the environment") {
    Gateway gateway;
    ::setenv("OPENAI_API_KEY", gateway.api_key().c_str(), 1);
    ::setenv("OPENAI_BASE_URL", gateway.base_url().c_str(), 1);
    gateway.chat().reply("Hello.");
    CHECK(ChatClient::from_environment().ask("Hi") == "Hello.");

    ::unsetenv("OPENAI_API_KEY");
    CHECK_THROWS_WITH(ChatClient::from_environment(), "OPENAI_API_KEY is not set");
    ::unsetenv("OPENAI_BASE_URL");
  }

  TEST_CASE("a reply without text is an error, not an empty answer") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    gateway.chat().reply(tool_call("get_weather"), failure(200, "", "").body("not JSON", "text/plain"));
    CHECK(error_of_asking(client) == ClientError::invalid_response);
    CHECK(error_of_asking(client) == ClientError::invalid_response);
  }
}

TEST_SUITE("streaming") {
  TEST_CASE("text arrives piece by piece") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    gateway.chat().reply("one two three");
    std::vector<std::string> pieces;
    const auto result = client.stream("count", [&](std::string_view text) {
      pieces.emplace_back(text);
      return true;
    });
    CHECK(result.joined() == "one two three");
    CHECK(pieces.size() == 3);
    CHECK(result.finish_reason() == "stop");
    CHECK(gateway.journal().last().chat().stream);
  }

  TEST_CASE("every dialect of event streams is understood") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    for (const std::string line_end : {"\n", "\r\n", "\r"}) {
      for (const bool space : {true, false}) {
        for (const bool done : {true, false}) {
          CAPTURE(line_end);
          CAPTURE(space);
          CAPTURE(done);
          const SseDialect dialect = SseDialect().line_end(line_end).space_after_colon(space).done(done);
          gateway.chat().reply(text("Zürich, 東京").sse(dialect));
          CHECK(client.stream("go").joined() == "Zürich, 東京");
        }
      }
    }
  }

  TEST_CASE("events split anywhere are put together again") {
    const std::string stream =
        "\xEF\xBB\xBF: comment\n\ndata: Zürich\r\ndata:two\r\n\r\nid: 1\revent: x\rdata:  three\r\rdata:\n\n"
        "retry: 5\n\ndata: never ended";
    for (std::size_t split = 0; split <= stream.size(); ++split) {
      CAPTURE(split);
      std::vector<std::string> events;
      SseParser parser([&](const std::string& data) { events.push_back(data); });
      parser.feed(stream.substr(0, split));
      parser.feed(stream.substr(split));
      CHECK(events.size() == 2);
      CHECK(events.front() == "Zürich\ntwo");
      CHECK(events.back() == " three");
    }
  }

  TEST_CASE("a stream that breaks keeps what arrived and is not mistaken for a whole one") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    for (const auto& effect : {reset_connection(), close_connection()}) {
      CAPTURE(effect.to_string());
      gateway.chat().reply(text("one two three").fault(after_tokens(2), effect));
      const auto before = gateway.journal().count();
      const auto result = client.stream("count");
      CHECK(result.received() == "one two");
      CHECK(result.error() == ClientError::connection_lost);
      CHECK_THROWS_AS(result.joined(), ClientError);
      CHECK(gateway.journal().count() == before + 1);  // no retry: the user has seen half of the reply
      CHECK(gateway.journal().last().outcome() == Outcome::Kind::broken_by_fault);
    }
  }

  TEST_CASE("a stream that breaks after its last word is whole") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    gateway.chat().reply(text("one two three").fault(before_done(), close_connection()));
    CHECK(client.stream("count").joined() == "one two three");
  }

  TEST_CASE("a stream that ends in good order but without its last word is broken") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    const std::string events = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one\"}}]}\n\n";
    gateway.chat().reply(failure(200, "", "").body(events, "text/event-stream"));
    const auto result = client.stream("count");
    CHECK(result.received() == "one");
    CHECK(result.error() == ClientError::connection_lost);
  }

  TEST_CASE("an error event ends a stream with an error") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    const std::string events =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one\"}}]}\n\n"
        "data: {\"error\":{\"message\":\"overloaded\"}}\n\n";
    gateway.chat().reply(failure(200, "", "").body(events, "text/event-stream"));
    const auto result = client.stream("count");
    CHECK(result.received() == "one");
    CHECK(result.error() == ClientError::server_error);
  }

  TEST_CASE("a plain answer to a stream request is an error") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    gateway.chat().reply(failure(200, "", "").json_body({{"choices", Json::array()}}));
    CHECK(client.stream("count").error() == ClientError::invalid_response);
  }

  TEST_CASE("a user who cancels while the second token is on its way gets the first") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    Gate gate;
    auto stub = gateway.chat().reply(text("a b c d").hold(gate, before_token(2)));
    std::promise<void> first;
    auto stream = client.start_stream("go", [&](std::string_view) { return first.set_value(), true; });
    REQUIRE(gate.wait_until_reached(5s));
    REQUIRE(first.get_future().wait_for(5s) == std::future_status::ready);  // the chunk has been sent and read
    stream.cancel();
    CHECK(stub.last_call().wait_for_client_to_leave(5s));
    CHECK(stream.result().error() == ClientError::cancelled);
    CHECK(stream.result().received() == "a");
    CHECK(stub.last_call().tokens_sent() == 1);
  }

  TEST_CASE("a callback that has had enough cancels the stream") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    Gate gate;
    gateway.chat().reply(text("one two three").hold(gate, before_token(2)));
    const auto result = client.stream("count", [](std::string_view) { return false; });
    CHECK(result.received() == "one");
    CHECK(result.error() == ClientError::cancelled);
    CHECK(gateway.journal().last().wait_for_client_to_leave(5s));
  }

  TEST_CASE("what a callback throws passes through") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    CHECK_THROWS_WITH(client.stream("count", [](std::string_view) -> bool { throw std::runtime_error("disk full"); }),
                      "disk full");
    CHECK_NOTHROW(client.ask("Hi"));
  }
}

TEST_SUITE("keys") {
  TEST_CASE("a key that is disabled while the client runs is refused until it is enabled again") {
    Gateway gateway;
    auto key = gateway.keys().create("billing service");
    ChatClient client{gateway.base_url(), key.secret};
    CHECK_NOTHROW(client.ask("Hi"));
    gateway.keys().disable(key.id);
    CHECK(error_of_asking(client) == ClientError::forbidden);
    CHECK(client.stream("Hi").error() == ClientError::forbidden);
    gateway.keys().enable(key.id);
    CHECK_NOTHROW(client.ask("Hi"));
    CHECK(gateway.journal().count() == 4);  // a 403 is not retried
  }

  TEST_CASE("after a rotation no request uses the old key") {
    Gateway gateway;
    auto old_key = gateway.keys().create("billing service");
    ChatClient client{gateway.base_url(), old_key.secret};
    client.ask("Hi");

    auto new_key = gateway.keys().create("billing service, new");
    client.use_key(new_key.secret);
    gateway.keys().disable(old_key.id);
    const auto uses_before = gateway.journal().by_key(old_key.id).size();
    CHECK_NOTHROW(client.ask("Hi"));
    CHECK(client.stream("Hi").joined().size() > 0);
    CHECK(gateway.journal().by_key(old_key.id).size() == uses_before);
    CHECK(gateway.journal().by_key(new_key.id).size() == 2);
  }

  TEST_CASE("a deleted key, an unknown key and a request that is wrong are not tried twice") {
    Gateway gateway;
    auto key = gateway.keys().create();
    ChatClient client{gateway.base_url(), key.secret};
    gateway.keys().remove(key.id);
    CHECK(error_of_asking(client) == ClientError::unauthorized);
    client.use_key("sk-unknown");
    CHECK(error_of_asking(client) == ClientError::unauthorized);
    client.use_key(gateway.api_key());
    gateway.fail_next(bad_request());
    CHECK(error_of_asking(client) == ClientError::rejected);
    CHECK(gateway.journal().count() == 3);
  }
}

TEST_SUITE("retries") {
  TEST_CASE("a rate limit is waited for, on a clock that does not take the time") {
    ManualClock clock;
    Gateway gateway{Options{}.clock(clock)};
    ChatClient client{gateway.base_url(), gateway.api_key(),
                      [=](std::chrono::nanoseconds duration) mutable { clock.sleep_for(duration); }};
    gateway.chat().reply(rate_limited(60s), text("Hello"));
    auto answer = std::async(std::launch::async, [&] { return client.ask("Hi"); });
    REQUIRE(clock.wait_for_sleepers(1, 5s));
    clock.advance_to_next_event();  // whatever wait the client chose
    CHECK(answer.get() == "Hello");

    const auto exchanges = gateway.journal().all();
    REQUIRE(exchanges.size() == 2);
    CHECK(exchanges[1].received() - exchanges[0].received() >= 60s);
  }

  TEST_CASE("the limit of a key is kept by waiting for the rest of its window") {
    ManualClock clock;
    Gateway gateway{Options{}.clock(clock)};
    auto key = gateway.keys().create("trial", KeyOptions{}.limit(1, 60s));
    ChatClient client{gateway.base_url(), key.secret,
                      [=](std::chrono::nanoseconds duration) mutable { clock.sleep_for(duration); }};
    client.ask("Hi");
    clock.advance(20s);
    auto answer = std::async(std::launch::async, [&] { return client.ask("Hi"); });
    REQUIRE(clock.wait_for_sleepers(1, 5s));
    CHECK(clock.advance_to_next_event() == 40s);
    CHECK_NOTHROW(answer.get());
  }

  TEST_CASE("every form of Retry-After is honoured") {
    ManualClock clock;
    Gateway gateway{Options{}.clock(clock)};
    NotedWaits noted;
    ChatClient client{gateway.base_url(), gateway.api_key(), noted.sleeper()};
    const auto wait_after = [&](const Failure& failure) {
      gateway.fail_next(failure);
      CHECK_NOTHROW(client.ask("Hi"));
      REQUIRE(noted.waits.size() == 1);
      const Duration wait = noted.waits.front();
      noted.waits.clear();
      return wait;
    };
    CHECK(wait_after(rate_limited(2s)) == 2s);
    CHECK(wait_after(rate_limited(1500ms)) == 1500ms);
    CHECK(wait_after(rate_limited(0s)) == 0s);
    CHECK(wait_after(rate_limited(2s).retry_after_ms(250ms)) == 250ms);
    // HTTP dates are relative to the server's Date.
    CHECK(wait_after(rate_limited().retry_after_date(30s).header("Date", "Mon, 01 Jan 2024 00:00:00 GMT")) == 30s);
    // The server requests no valid wait: the client uses its own.
    for (const auto& failure : {rate_limited().without_retry_after(), rate_limited().header("Retry-After", "-5"),
                                rate_limited().retry_after("soon")}) {
      const auto wait = wait_after(failure);
      CHECK(wait >= 375ms);
      CHECK(wait <= 500ms);
    }
  }

  TEST_CASE("a wait beyond all patience is not begun") {
    Gateway gateway;
    NotedWaits noted;
    ChatClient client{gateway.base_url(), gateway.api_key(), noted.sleeper()};
    gateway.fail_next(rate_limited(1h));
    CHECK(error_of_asking(client) == ClientError::rate_limited);
    CHECK(noted.waits.empty());
    CHECK(gateway.journal().count() == 1);
  }

  TEST_CASE("a server error is retried, and given up when it stays") {
    Gateway gateway;
    NotedWaits noted;
    ChatClient client{gateway.base_url(), gateway.api_key(), noted.sleeper()};
    for (const auto& failure : {request_timeout(), conflict(), server_error(), bad_gateway(), service_unavailable(),
                                gateway_timeout(), overloaded()}) {
      CAPTURE(failure.status());
      gateway.journal().clear();
      gateway.fail_next(failure, 2);
      CHECK_NOTHROW(client.ask("Hi"));
      CHECK(gateway.journal().count() == 3);
    }
    gateway.journal().clear();
    noted.waits.clear();
    gateway.fail_always(server_error());
    CHECK(error_of_asking(client) == ClientError::server_error);
    CHECK(client.stream("Hi").error() == ClientError::server_error);
    CHECK(gateway.journal().count() == 6);  // once, and max_retries more times
    REQUIRE(noted.waits.size() == 4);
    CHECK(noted.waits[0] <= 500ms);
    CHECK(noted.waits[1] > 500ms);  // it grows
  }

  TEST_CASE("x-should-retry has the last word") {
    Gateway gateway;
    NotedWaits noted;
    ChatClient client{gateway.base_url(), gateway.api_key(), noted.sleeper()};
    gateway.fail_next(server_error().should_retry(false));
    CHECK(error_of_asking(client) == ClientError::server_error);
    gateway.fail_next(bad_request().should_retry(true));
    CHECK_NOTHROW(client.ask("Hi"));
    CHECK(gateway.journal().count() == 3);
  }

  TEST_CASE("a connection that fails before the reply is tried again, also for a stream") {
    Gateway gateway;
    NotedWaits noted;
    ChatClient client{gateway.base_url(), gateway.api_key(), noted.sleeper()};
    gateway.chat().reply(text("lost").fault(before_headers(), reset_connection()), text("Hello"));
    CHECK(client.stream("Hi").joined() == "Hello");
    gateway.chat().reply(text("lost").fault(before_headers(), close_connection()), text("Hello"));
    CHECK(client.ask("Hi") == "Hello");
  }

  TEST_CASE("a reply that breaks off after its headers is not tried again") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key()};
    gateway.chat().reply(text("lost").fault(after_headers(), reset_connection()), text("Hello"));
    CHECK(error_of_asking(client) == ClientError::connection_lost);
    CHECK(gateway.journal().count() == 1);
  }

  TEST_CASE("nobody listening is an error after the retries") {
    NotedWaits noted;
    std::string base_url;
    {
      Gateway gateway;
      base_url = gateway.base_url();
    }
    ChatClient client{base_url, "sk-any", noted.sleeper()};
    CHECK(error_of_asking(client) == ClientError::connection_lost);
    CHECK(noted.waits.size() == 2);
  }
}
