// Tests the chat client with a reply that breaks at every place in every way, and with a reply in two writes, split at
// every byte. A few chosen faults are samples; these tests are exhaustive.

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat_client.hpp"
#include "mock_gateway.hpp"

using namespace mock_gateway;
using chat_client::ChatClient;
using chat_client::ClientError;
using chat_client::Settings;
using chat_client::StreamResult;

namespace {

constexpr std::string_view said = "Zürich, naïve, 東京";

/// Everything that a caller of the client sees of one stream.
struct Seen {
  std::vector<std::string> pieces;
  std::string received;
  std::string finish_reason;
  std::optional<ClientError::Kind> error;

  bool operator==(const Seen& other) const {
    return pieces == other.pieces && received == other.received && finish_reason == other.finish_reason &&
           error == other.error;
  }
};

Seen stream(ChatClient& client) {
  Seen seen;
  const StreamResult result = client.stream("go", [&seen](std::string_view text) {
    seen.pieces.emplace_back(text);
    return true;
  });
  seen.received = result.received();
  seen.finish_reason = result.finish_reason();
  seen.error = result.error();
  return seen;
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

void no_sleep(std::chrono::nanoseconds) {}

/// The protocol has no chunk numbers: a missing or repeated chunk looks like any other.
bool can_be_noticed(const Effect& effect) {
  return effect.kind() != Effect::Kind::skip_event && effect.kind() != Effect::Kind::duplicate_event;
}

/// Whether the client may send the request again: it received nothing.
bool may_be_repeated(const SweepStep& broken) {
  return broken.trigger().kind() == Trigger::Kind::before_headers && broken.effect().kind() != Effect::Kind::stall &&
         broken.effect().kind() != Effect::Kind::garbage;
}

}  // namespace

TEST_SUITE("sweep") {
  TEST_CASE("no broken stream looks whole when text was lost") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key(), no_sleep};
    const auto reply = text(std::string(said)).tool_call("lookup", {{"q", "x"}});
    Seen seen;
    const auto sweep = gateway.sweep(reply, [&] { seen = stream(client); });
    CHECK(sweep.size() > 50);
    CHECK(seen.received == said);  // the run without a fault
    for (const auto& broken : sweep) {
      CAPTURE(broken.name());
      CHECK(broken.reached());
      CHECK(joined(seen.pieces) == seen.received);
      if (can_be_noticed(broken.effect())) {
        CHECK(said.substr(0, seen.received.size()) == seen.received);
        CHECK((seen.error || (seen.received == said && seen.finish_reason == "tool_calls")));
      }
      CHECK(broken.exchanges().size() == (may_be_repeated(broken) ? 1 + Settings().max_retries : 1));
      CHECK_NOTHROW(client.ask("Still there?"));
    }
    CHECK(gateway.verify());
  }

  TEST_CASE("no broken answer looks whole when text was lost") {
    Gateway gateway;
    std::string answer;
    std::optional<ClientError::Kind> error;
    const auto ask = [&] {
      // A client for each reply: libcurl takes trailing bytes of a reply for the beginning of the next.
      ChatClient client{gateway.base_url(), gateway.api_key(), no_sleep};
      error.reset();
      try {
        answer = client.ask("go");
      } catch (const ClientError& thrown) {
        error = thrown.kind();
      }
    };
    for (const auto& broken : gateway.sweep(std::string(said), ask)) {
      CAPTURE(broken.name());
      CHECK(broken.reached());
      CHECK((error || answer == said));
      CHECK(broken.exchanges().size() == (may_be_repeated(broken) ? 1 + Settings().max_retries : 1));
    }
    const auto short_of_it = SweepOptions{}.effects({wrong_content_length(-1), wrong_content_length(-100)});
    for (const auto& broken : gateway.sweep(std::string(said), ask, short_of_it)) {
      CAPTURE(broken.name());
      CHECK(broken.reached());
      CHECK(error);
    }
  }

  TEST_CASE("a stream that breaks at any byte keeps what arrived, and nothing else") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key(), no_sleep};
    Seen seen;
    const auto options = SweepOptions{}.every_byte().effects({close_connection()});
    for (const auto& broken : gateway.sweep(
             std::string(said), [&] { seen = stream(client); }, options)) {
      CAPTURE(broken.name());
      CHECK(said.substr(0, seen.received.size()) == seen.received);
      CHECK((seen.error || (seen.received == said && seen.finish_reason == "stop")));
    }
  }

  TEST_CASE("it does not matter where a stream is split") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key(), no_sleep};
    Seen seen;
    const auto sweep = gateway.sweep(
        std::string(said), [&] { seen = stream(client); }, splits());
    CHECK(sweep.size() > 1000);
    const Seen whole = seen;  // of the run without a fault
    CHECK(whole.received == said);
    CHECK_FALSE(whole.error);
    for (const auto& split : sweep) {
      CAPTURE(split.name());
      CHECK(seen == whole);
    }
  }

  TEST_CASE("it does not matter where an answer is split") {
    Gateway gateway;
    ChatClient client{gateway.base_url(), gateway.api_key(), no_sleep};
    std::string answer;
    for (const auto& split : gateway.sweep(
             std::string(said), [&] { answer = client.ask("go"); }, splits())) {
      CAPTURE(split.name());
      CHECK(answer == said);
    }
  }
}
