// Sweeps, in which a reply breaks at every place in every way, or is split into two writes at every byte.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/whole_reply.hpp"

namespace sweep_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::Http;
using test_support::http_chunk;
using test_support::patience;
using test_support::RawConnection;
using test_support::Response;
using test_support::terminator;

/// A client that receives until the end of a complete reply or of the connection.
class Client {
 public:
  explicit Client(const Gateway& gateway) : gateway_(gateway) {}

  void ask(bool streamed) {
    RawConnection connection(gateway_);
    connection.send(Http(gateway_).format_chat(streamed ? Json{{"stream", true}} : Json{}));
    received = connection.receive_until([](std::string_view bytes) {
      if (const std::size_t found = bytes.find("Content-Length: "); found != std::string_view::npos) {
        const std::size_t head = bytes.find("\r\n\r\n");
        const std::size_t length = std::stoul(std::string(bytes.substr(found + 16)));
        return head != std::string_view::npos && bytes.size() == head + 4 + length;
      }
      const std::string_view end = "\r\n0\r\n\r\n";
      return bytes.size() > end.size() && bytes.substr(bytes.size() - end.size()) == end;
    });
    ++asked;
  }

  RawConnection::Received received;
  int asked = 0;

 private:
  const Gateway& gateway_;
};

inline std::vector<std::string> names(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const SweepStep& step : sweep) names.push_back(step.name());
  return names;
}

inline std::string plain_reply_of(const Gateway& gateway) { return Http(gateway).ask("Hi"); }

// --- The steps of a sweep --------------------------------------------------------------------------------------------

TEST_CASE("a streamed reply breaks at every boundary in every possible way") {
  Gateway gateway;
  Client client(gateway);
  // The events of the reply are the role, two tokens, the finish and [DONE].
  const auto sweep = gateway.sweep(text("one Zürich"), [&] { client.ask(true); });
  const std::size_t before_head = 5;     // close, reset, half-close, garbage, stall
  const std::size_t between_events = 8;  // also an error event, a skipped event and a duplicated event
  const std::size_t inside = 6;          // the effects before the head, and truncate
  const std::size_t at_end = 5;
  // The places between events are after the head and after four events. The places inside are in the middle of five
  // events and in the "ü".
  CHECK(sweep.size() == before_head + 5 * between_events + 6 * inside + at_end);
  CHECK(client.asked == 1);
  std::size_t steps = 0;
  for (const auto& broken : sweep) {
    CAPTURE(broken.name());
    CHECK(broken.reached());
    CHECK(broken.exchanges().size() == 1);
    CHECK(broken.exchanges().front().outcome(0ms) != Outcome::Kind::pending);
    CHECK(broken.exchanges().front().decision().detail == broken.name());
    ++steps;
  }
  CHECK(steps == sweep.size());
  CHECK(static_cast<std::size_t>(client.asked) == 1 + steps);
  CHECK(gateway.verify());
}

TEST_CASE("a plain reply breaks around and inside its head and body") {
  Gateway gateway;
  Client client(gateway);
  const auto sweep = gateway.sweep(text("Zürich"), [&] { client.ask(false); });
  // The reply breaks before and after the head, in the middle and in the "ü": close, reset, half-close, garbage, stall.
  // There is no half-close at the end, where it would wait for a client that already has the whole reply.
  CHECK(sweep.size() == 4 * 5 + 4);
  for (const auto& broken : sweep) {
    CAPTURE(broken.name());
    CHECK(broken.reached());
  }
  CHECK(gateway.verify());
}

TEST_CASE("a failure and a raw reply are swept like a generated plain reply") {
  Gateway gateway;
  Client client(gateway);
  CHECK(gateway.sweep(server_error(), [&] { client.ask(true); }).size() == 3 * 5 + 4);
  CHECK(gateway.sweep(raw_reply(200, "é"), [&] { client.ask(true); }).size() == 3 * 5 + 4);
  CHECK(gateway.sweep(raw_reply(200, ""), [&] { client.ask(true); }).size() == 2 * 5);
}

TEST_CASE("every byte of a body can be a boundary") {
  Gateway gateway;
  Client client(gateway);
  const auto reply = chunks({{{"a", 1}}, {{"é", 2}}});
  const std::size_t body = std::string("data: {\"a\":1}\n\ndata: {\"é\":2}\n\ndata: [DONE]\n\n").size();
  const auto sweep = gateway.sweep(
      reply, [&] { client.ask(true); }, SweepOptions{}.every_byte().effects({reset_connection()}));
  REQUIRE(sweep.size() == 1 + body + 1);  // before the head, before each byte, and at the end
  std::set<std::string> received;
  for (const auto& broken : sweep) {
    CAPTURE(broken.name());
    CHECK(broken.reached());
    received.insert(client.received.bytes);
  }
  CHECK(received.size() == sweep.size());
}

TEST_CASE("effects that the test chooses replace the default effects, and are used only where possible") {
  Gateway gateway;
  Client client(gateway);
  const auto stream = [&] { client.ask(true); };
  const auto plain = [&] { client.ask(false); };
  const Reply reply = chunks({{{"a", 1}}});  // the stream has this event and [DONE]
  const auto only = [](Effect effect) { return SweepOptions{}.effects({std::move(effect)}); };
  CHECK(gateway.sweep(reply, stream, only(close_connection())).size() == 6);
  CHECK(gateway.sweep(reply, stream, only(truncate())).size() == 5);  // not before the head
  CHECK(gateway.sweep(reply, stream, only(error_event(server_error()))).size() == 2);
  CHECK(gateway.sweep(reply, stream, only(skip_event())).size() == 2);  // after the head, before [DONE]
  CHECK(gateway.sweep(text("a"), plain, only(skip_event())).size() == 0);
  CHECK(gateway.sweep(text("a"), plain, only(truncate())).size() == 2);  // after the head, in the middle
  CHECK(gateway.sweep(text("a"), plain, only(wrong_content_length(-1))).size() == 1);
  CHECK(gateway.sweep(text("a"), stream, only(wrong_content_length(-1))).size() == 0);
  CHECK(gateway.sweep(text("a"), plain, SweepOptions{}.effects({close_connection(), truncate()})).size() == 4);
}

TEST_CASE("the places around [DONE] do not change if the dialect sends another [DONE]") {
  Gateway gateway;
  Client client(gateway);
  const auto places = [&](const std::string& after_done) {
    const Reply reply = chunks({{{"a", 1}}}).sse(SseDialect().after_done(after_done));
    return names(gateway.sweep(
        reply, [&] { client.ask(true); }, SweepOptions{}.effects({close_connection()})));
  };
  CHECK(places("[DONE]") == places("[STOP]"));
}

TEST_CASE("a half-close at the end of a plain reply is tried only if the test asks for that effect") {
  Gateway gateway;
  Client client(gateway);
  const auto ends = [&](bool streamed, const SweepOptions& options) {
    std::vector<std::string> all;
    for (const std::string& name : names(gateway.sweep(
             text("a"), [&] { client.ask(streamed); }, options)))
      if (name.find("half-close") != std::string::npos && name.find("at the end") != std::string::npos)
        all.push_back(name);
    return all;
  };
  const SweepOptions own = SweepOptions{}.effects({half_close()});
  CHECK(ends(false, {}).empty());
  CHECK(ends(false, own).size() == 1);
  CHECK(ends(true, {}).size() == 1);
  CHECK(ends(true, own).size() == 1);
}

TEST_CASE("a sweep also reaches the end of a plain reply whose connection closes anyway") {
  Gateway gateway;
  const auto run = [&] {
    RawConnection connection(gateway);
    connection.send(Http(gateway).with_header("Connection", "close").format_chat());
    connection.receive_all();
  };
  for (const auto& broken : gateway.sweep(text("one"), run)) {
    CAPTURE(broken.name());
    CHECK(broken.reached());
  }
}

TEST_CASE("a sweep breaks inside and after comments and a byte order mark, also without [DONE]") {
  Gateway gateway;
  Client client(gateway);
  const SseDialect dialect = SseDialect().byte_order_mark(true).comment("c").done(false);
  const auto reply = chunks({{{"a", 1}}}).sse(dialect);
  CHECK(names(gateway.sweep(
            reply, [&] { client.ask(true); }, SweepOptions{}.effects({close_connection()}))) ==
        std::vector<std::string>{
            "close the connection before headers",
            "close the connection after headers",
            "close the connection after 1 of 23 bytes of the body",  // inside the byte order mark
            "close the connection after 3 of 23 bytes of the body",  // after the byte order mark
            "close the connection after 5 of 23 bytes of the body",  // inside the comment
            "close the connection after 8 of 23 bytes of the body",  // after the comment
            "close the connection inside event 1, after 7 bytes (15 of 23 bytes of the body)",
            "close the connection at the end (23 of 23 bytes of the body)",
        });
  // An error event can come after the last event unless the stream announced its end.
  CHECK(names(gateway.sweep(
            reply, [&] { client.ask(true); }, SweepOptions{}.effects({error_event(server_error())}))) ==
        std::vector<std::string>{
            "send an error event after headers",
            "send an error event before [DONE] (23 of 23 bytes of the body)",
        });
}

// --- What the client receives ----------------------------------------------------------------------------------------

TEST_CASE("the client gets exactly the bytes before the boundary, then the effect") {
  ManualClock clock;  // every reply has the same Date
  Gateway gateway{Options{}.clock(clock)};
  Client client(gateway);
  const auto reply = chunks({{{"text", "Zürich"}}, {{"n", 1}}});
  const std::vector<std::string> events{"data: {\"text\":\"Zürich\"}\n\n", "data: {\"n\":1}\n\n", "data: [DONE]\n\n"};
  client.ask(true);
  std::optional<std::string> head;
  const auto sweep = gateway.sweep(reply, [&] {
    client.ask(true);
    if (!head) head = client.received.bytes.substr(0, client.received.bytes.find("\r\n\r\n") + 4);
  });
  const auto up_to = [&](std::size_t count) {
    std::string bytes = *head;
    for (std::size_t i = 0; i < count; ++i) bytes += http_chunk(events[i]);
    return bytes;
  };
  std::size_t steps = 0;
  for (const auto& broken : sweep) {
    CAPTURE(broken.name());
    ++steps;
    const Trigger& trigger = broken.trigger();
    std::string before;
    std::size_t whole = 0;  // the number of events before the boundary
    switch (trigger.kind()) {
      case Trigger::Kind::before_headers: break;
      case Trigger::Kind::after_headers: before = up_to(0); break;
      case Trigger::Kind::after_events: before = up_to(whole = trigger.count()); break;
      case Trigger::Kind::before_done: before = up_to(whole = 2); break;
      case Trigger::Kind::at_end: before = up_to(whole = 3); break;
      case Trigger::Kind::inside_event: {
        const std::string& event = events[whole = trigger.count() - 1];
        const bool truncates = broken.effect().kind() == Effect::Kind::truncate;
        before =
            up_to(whole) + http_chunk(event.substr(0, trigger.byte()), truncates ? event.size() - trigger.byte() : 0);
        break;
      }
      case Trigger::Kind::after_tokens:
      case Trigger::Kind::after_bytes:
      case Trigger::Kind::inside_character: FAIL("no such boundary here");
    }
    std::string expected = before;
    End end = End::fin;
    switch (broken.effect().kind()) {
      case Effect::Kind::close_connection:
      case Effect::Kind::half_close:
      case Effect::Kind::truncate: break;
      case Effect::Kind::reset_connection: end = End::reset; break;
      case Effect::Kind::garbage: expected += broken.effect().bytes(); break;
      case Effect::Kind::error_event:
        expected += http_chunk(
            "data: {\"error\":{\"code\":\"internal_error\",\"message\":\"The server failed to process the request. "
            "Try again later.\",\"type\":\"error\"}}\n\n");
        expected += http_chunk(events[2]) + terminator;
        end = End::open;
        break;
      case Effect::Kind::skip_event:
      case Effect::Kind::duplicate_event:
        if (broken.effect().kind() == Effect::Kind::duplicate_event)
          expected += http_chunk(events[whole]) + http_chunk(events[whole]);
        for (std::size_t i = whole + 1; i < events.size(); ++i) expected += http_chunk(events[i]);
        expected += terminator;
        end = End::open;
        break;
      case Effect::Kind::stall:  // not used, because a stall on the manual clock would never end
      case Effect::Kind::wrong_content_length: FAIL("no such effect here");
    }
    CHECK(client.received.bytes == expected);
    CHECK(client.received.end == end);
  }
  // There are 4 effects before the head and 4 at the end. There are 7 at each of 3 places between events, and 5 at each
  // of 4 places inside events: in three events and in the "ü".
  CHECK(steps == 4 + 3 * 7 + 4 * 5 + 4);
  CHECK(gateway.verify());
}

TEST_CASE("a timed stall delays the reply but takes no time on the instant clock") {
  Gateway gateway{Options{}.clock(InstantClock())};
  Client client(gateway);
  const auto began = std::chrono::steady_clock::now();
  for (const auto& broken : gateway.sweep(
           text("one Zürich"), [&] { client.ask(true); }, SweepOptions{}.effects({stall(1h)}))) {
    CAPTURE(broken.name());
    CHECK(broken.reached());
    CHECK(broken.exchanges().front().outcome() == Outcome::Kind::completed);
    const Exchange& exchange = broken.exchanges().front();
    CHECK(exchange.ended().value() - exchange.received() >= 1h);
  }
  CHECK(std::chrono::steady_clock::now() - began < 60s);
}

TEST_CASE("a sweep may use an unlimited stall if the client has its own timeout") {
  Gateway gateway;
  bool patient = true;  // true in the run without a fault, where the reply ends
  const auto impatient = [&] {
    RawConnection connection(gateway);
    const std::size_t before = gateway.journal().count();
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    // Otherwise the client could leave before the gateway has read the request.
    REQUIRE(gateway.journal().wait_for(before + 1, 10s));
    connection.receive_until("data: [DONE]", std::exchange(patient, false) ? 10s : 20ms);
  };
  std::size_t left = 0;
  for (const auto& broken : gateway.sweep(chunks({{{"a", 1}}}), impatient, SweepOptions{}.effects({stall()}))) {
    CAPTURE(broken.name());
    if (broken.trigger().kind() == Trigger::Kind::at_end) continue;
    REQUIRE(broken.exchanges().size() == 1);
    CHECK(broken.exchanges().front().outcome() == Outcome::Kind::client_left);
    ++left;
  }
  CHECK(left == 5);
}

// --- How it runs -----------------------------------------------------------------------------------------------------

TEST_CASE("a sweep runs nothing before its loop starts, and leaves no stub if the loop ends early") {
  Gateway gateway;
  gateway.chat().reply("ordinary");
  Client client(gateway);
  {
    const auto sweep = gateway.sweep("swept", [&] { client.ask(true); });
    CHECK(client.asked == 0);
    CHECK(sweep.size() > 0);
    CHECK(sweep.size() > 0);
    CHECK(client.asked == 1);
    for (const auto& broken : sweep) {
      CHECK(broken.name() == "close the connection before headers");
      CHECK(plain_reply_of(gateway) == "ordinary");  // the ordinary stub also answers between the steps
      break;
    }
    CHECK(client.asked == 2);
    CHECK(plain_reply_of(gateway) == "ordinary");
    for (const auto& broken : sweep) {  // the second loop does not repeat the run without a fault
      CHECK(broken.name() == "close the connection before headers");
      break;
    }
    CHECK(client.asked == 3);
  }
  CHECK(plain_reply_of(gateway) == "ordinary");
  CHECK(gateway.verify());
}

TEST_CASE("an exception of the callable propagates, and the sweep removes its reply") {
  Gateway gateway;
  gateway.chat().reply("ordinary");
  Client client(gateway);
  const auto sweep = gateway.sweep("swept", [&] {
    client.ask(true);
    if (client.asked == 3) throw std::runtime_error("disk full");
  });
  std::size_t steps = 0;
  CHECK_THROWS_WITH_AS(
      [&] {
        for (const auto& broken : sweep) {
          CHECK(broken.reached());
          ++steps;
        }
      }(),
      "disk full", std::runtime_error);
  CHECK(steps == 1);
  CHECK(plain_reply_of(gateway) == "ordinary");
}

TEST_CASE("a limited sweep runs an even and repeatable selection of the steps") {
  Gateway gateway;
  Client client(gateway);
  const auto run = [&] { client.ask(true); };
  const auto all = names(gateway.sweep("one two three", run));
  const auto some = names(gateway.sweep("one two three", run, SweepOptions{}.limit(10)));
  CHECK(names(gateway.sweep("one two three", run, SweepOptions{}.limit(10))) == some);
  REQUIRE(some.size() == 10);
  for (std::size_t i = 0; i < some.size(); ++i) {
    const auto position = std::find(all.begin(), all.end(), some[i]) - all.begin();
    CHECK(static_cast<std::size_t>(position) >= i * all.size() / 10);
    CHECK(static_cast<std::size_t>(position) < (i + 1) * all.size() / 10);
  }
  CHECK(gateway.sweep("one two three", run, SweepOptions{}.limit(100000)).size() == all.size());
}

TEST_CASE("a client that retries gets the same broken reply, and the step lists all of its exchanges") {
  Gateway gateway;
  Client client(gateway);
  const auto sweep = gateway.sweep(
      "a",
      [&] {
        client.ask(true);
        if (client.received.end == End::reset) client.ask(true);
      },
      SweepOptions{}.effects({reset_connection(), skip_event()}));
  for (const auto& broken : sweep) {
    CAPTURE(broken.name());
    CHECK(broken.exchanges().size() == (broken.effect().kind() == Effect::Kind::reset_connection ? 2 : 1));
  }
}

TEST_CASE("the first request in the run without a fault determines the boundaries") {
  Gateway gateway;
  Client client(gateway);
  const auto sweep = gateway.sweep(
      "a",
      [&] {
        client.ask(false);
        client.ask(true);
      },
      SweepOptions{}.effects({close_connection()}));
  CHECK(sweep.size() == 4);  // the boundaries are those of the plain reply
  for (const auto& broken : sweep) CHECK(broken.exchanges().size() == 2);
}

TEST_CASE("a sweep can be limited to some requests; other requests get their ordinary replies") {
  Gateway gateway;
  gateway.chat().priority(1000).reply("ordinary");
  Client client(gateway);
  const auto sweep = gateway.sweep(
      "swept",
      [&] {
        CHECK(plain_reply_of(gateway) == "ordinary");
        client.ask(true);
      },
      SweepOptions{}.when(stream_is(true)).limit(5));
  for (const auto& broken : sweep) CHECK(broken.exchanges().size() == 1);
}

TEST_CASE("a request of a sweep must match all matchers, in every way to set them") {
  Gateway gateway;
  gateway.chat().priority(1000).reply("ordinary");
  Client client(gateway);
  const auto swept_is_the_third = [&](const SweepOptions& options) {
    const auto sweep = gateway.sweep(
        "swept",
        [&] {
          CHECK(plain_reply_of(gateway) == "ordinary");
          CHECK(Http(gateway).stream("Bye").joined_text() == "ordinary");
          client.ask(true);
        },
        options.limit(3));
    std::size_t steps = 0;
    for (const auto& broken : sweep) {
      CHECK(broken.exchanges().size() == 1);
      ++steps;
    }
    CHECK(steps == 3);
  };
  swept_is_the_third(SweepOptions{}.when(stream_is(true), user_says("Hi")));
  swept_is_the_third(SweepOptions{}.when(stream_is(true)).when(user_says("Hi")));
  swept_is_the_third(SweepOptions{}.when(user_says("Hi")).when(stream_is(true)));
}

TEST_CASE("a place that a step does not reach is reported by the step, not by verify()") {
  Gateway gateway;
  Client client(gateway);
  const auto sweep = gateway.sweep(
      "a", [&] { client.ask(client.asked == 0); }, SweepOptions{}.effects({skip_event()}));
  for (const auto& broken : sweep) {
    CAPTURE(broken.name());
    CHECK_FALSE(broken.reached());
  }
  CHECK(gateway.verify());
  gateway.chat().reply(text("a").fault(after_events(9), close_connection()));
  client.ask(true);
  CHECK(gateway.verify().problems().size() == 1);
}

TEST_CASE("a callable that sends no request gets an error") {
  Gateway gateway;
  CHECK_THROWS_WITH_AS(
      gateway.sweep("a", [] {}).begin(),
      "mock_gateway: the unbroken run of a sweep made no chat request that its reply answered, or the journal "
      "holds it no more: the callable must ask this gateway, and return when it has its answer",
      GatewayError);
  const auto key_is_gone = gateway.sweep("a", [&] { Http(gateway).with_key("sk-none").chat(); });
  try {
    static_cast<void>(key_is_gone.size());
    FAIL("it made no request that was answered");
  } catch (const GatewayError& error) {
    CHECK(std::string(error.what()).find("; the last that came: #1 POST /v1/chat/completions 401") !=
          std::string::npos);
  }
}

TEST_CASE("the run without a fault may end after its callable") {
  Gateway gateway;
  std::vector<RawConnection> open;
  const auto hurried = [&] {
    open.emplace_back(gateway);
    open.back().send(Http(gateway).format_chat());
    REQUIRE(gateway.journal().wait_for(open.size(), 10s));
  };
  const Reply slow = raw_reply(200, "{}").first_token_after(1200ms);
  std::size_t steps = 0;
  for (const auto& broken : gateway.sweep(slow, hurried, SweepOptions{}.effects({close_connection()}).limit(1))) {
    CHECK(broken.reached());
    ++steps;
  }
  CHECK(steps == 1);
}

TEST_CASE("a callable that sends only one request gets an error") {
  Gateway gateway;
  Client client(gateway);
  bool first = true;
  const auto sweep = gateway.sweep("a", [&] {
    if (std::exchange(first, false)) client.ask(true);
  });
  std::size_t steps = 0;
  std::string told;
  try {
    for (const auto& broken : sweep) {
      CHECK(broken.exchanges().empty());
      ++steps;
    }
  } catch (const GatewayError& error) {
    told = error.what();
  }
  CHECK(steps == 1);
  CHECK(told.find("the callable must ask each time it is called") != std::string::npos);
}

TEST_CASE("a sweep affected by chaos is refused") {
  Gateway gateway;
  Client client(gateway);
  gateway.chaos(Chaos(after_tokens(1), close_connection()));
  const auto sweep = gateway.sweep("a", [&] { client.ask(true); });
  CHECK_THROWS_AS(sweep.size(), GatewayError);
  gateway.clear_chaos();
  CHECK(sweep.size() > 10);
}

TEST_CASE("an impossible sweep throws") {
  Gateway gateway;
  const auto run = [] {};
  CHECK_THROWS_AS(gateway.sweep(text("a").hold(Gate(), before_token(1)), run), GatewayError);
  Gateway still(Options{}.clock(ManualClock()));
  CHECK_THROWS_AS(still.sweep(text("a").every(1s), run), GatewayError);
  CHECK_THROWS_AS(gateway.sweep(text("a").fault(at_end(), close_connection()), run), GatewayError);
  CHECK_THROWS_AS(gateway.sweep("a", nullptr), GatewayError);
  CHECK_THROWS_AS(SweepOptions{}.limit(0), GatewayError);
  CHECK_THROWS_AS(SweepOptions{}.effects({}), GatewayError);
  CHECK_THROWS_AS(SweepOptions{}.body_only(), GatewayError);
  CHECK_THROWS_AS(splits().every_byte(), GatewayError);
  CHECK_THROWS_AS(splits().effects({truncate()}), GatewayError);
  CHECK_THROWS_AS(text("a").split_write(0), GatewayError);
}

TEST_CASE("a sweep is an input range, and outlives its arguments") {
  static_assert(std::is_same_v<std::iterator_traits<Sweep::Iterator>::iterator_category, std::input_iterator_tag>);
  auto gateway = std::make_unique<Gateway>();
  Client client(*gateway);
  std::optional<Sweep> sweep;
  {
    const Reply reply = text("a");
    sweep = gateway->sweep(
        reply, [&] { client.ask(true); }, SweepOptions{}.effects({close_connection()}));
  }
  const Sweep copy = *sweep;
  auto step = copy.begin();
  const auto first = step++;
  CHECK(first->name() == "close the connection before headers");
  CHECK((*step).name() == "close the connection after headers");
  CHECK(step != copy.end());
  CHECK(Sweep::Iterator() == copy.end());
  CHECK(first->exchanges().size() == 1);
  CHECK_THROWS_AS(first->split(), GatewayError);
  const std::size_t size = sweep->size();
  gateway.reset();
  CHECK(copy.size() == size);
  CHECK(first->exchanges().front().method() == "POST");
}

// --- Splits ----------------------------------------------------------------------------------------------------------

/// Requests a reply and returns the bytes of each read.
inline std::vector<std::string> reads(const Gateway& gateway) {
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  std::vector<std::string> pieces;
  std::string all;
  const std::string end = "\r\n0\r\n\r\n";
  while (all.size() < end.size() || all.compare(all.size() - end.size(), end.size(), end) != 0) {
    pieces.push_back(connection.receive_once(4096));
    if (pieces.back().empty()) break;
    all += pieces.back();
  }
  return pieces;
}

TEST_CASE("every split of a reply in two is one step, and all bytes arrive each time") {
  ManualClock clock;  // every reply has the same Date
  Gateway gateway{Options{}.clock(clock)};
  const auto reply = chunks({{{"text", "Zürich"}}});
  std::vector<std::string> pieces;
  const auto run = [&] { pieces = reads(gateway); };
  const auto joined = [&] {
    std::string all;
    for (const std::string& piece : pieces) all += piece;
    return all;
  };
  const auto sweep = gateway.sweep(reply, run, splits());
  CHECK(sweep.size() > 0);
  const std::string whole = joined();
  const std::size_t head = whole.find("\r\n\r\n") + 4;
  CHECK(sweep.size() == whole.size() - 1);
  CHECK(gateway.sweep(reply, run, splits().body_only()).size() == whole.size() - head - 1);
  CHECK(gateway.sweep(reply, run, splits().limit(3)).size() == 3);
  std::size_t expected = 0;
  std::size_t apart = 0;
  for (const auto& split : sweep) {
    CAPTURE(split.name());
    CHECK(split.split() == ++expected);
    CHECK(split.reached());
    CHECK(joined() == whole);
    if (pieces.size() == 2 && pieces.front().size() == split.split()) ++apart;
  }
  CHECK(expected == whole.size() - 1);
  // A client that the system pauses for a millisecond reads both pieces at once.
  CHECK(apart > expected / 10);
  CHECK(gateway.verify());
}

TEST_CASE("a stream's body is divided into two HTTP chunks at every byte, also after compression") {
  ManualClock clock;  // every reply has the same Date
  Gateway gateway{Options{}.clock(clock)};
  const auto plain = chunks({{{"text", "Zürich"}}, {{"b", 2}}});
  for (const Reply& reply : {plain, plain.sse(SseDialect().gzip(true))}) {
    Response seen;
    const auto run = [&] { seen = Http(gateway).stream(); };
    const auto sweep = gateway.sweep(reply, run, splits().http_chunks());
    CHECK(sweep.size() > 0);
    const Response usual = seen;
    std::size_t expected = 0;
    for (const auto& split : sweep) {
      CAPTURE(split.name());
      CHECK(split.split() == ++expected);
      CHECK(split.reached());
      CHECK(seen.chunks == std::vector<std::size_t>{expected, sweep.size() + 1 - expected});
      CHECK(split.exchanges().front().outcome() == Outcome::Kind::completed);
      CHECK(split.exchanges().front().events_sent() == 3);
      if (!seen.has("Content-Encoding")) CHECK(seen.body == usual.body);
    }
    CHECK(expected == sweep.size());
    CHECK(gateway.sweep(reply, run, splits().http_chunks().limit(3)).size() == 3);
  }
  const auto sweep = gateway.sweep(
      plain, [&] { Http(gateway).stream(); }, splits().http_chunks());
  CHECK((*sweep.begin()).name() == "split after byte 1 of 55 of the body, into two HTTP chunks");
  CHECK(gateway.verify());
}

TEST_CASE("an answer without HTTP chunks cannot be divided into them") {
  Gateway gateway;
  const auto refused = [&](const Reply& reply, bool streamed) -> std::string {
    const auto run = [&] { Http(gateway).chat(streamed ? Json{{"stream", true}} : Json{}); };
    try {
      static_cast<void>(gateway.sweep(reply, run, splits().http_chunks()).size());
      return "";
    } catch (const GatewayError& error) {
      return error.what();
    }
  };
  const std::string said =
      "mock_gateway: the answer has no HTTP chunks to divide: it must be a stream that ends, over "
      "HTTP/1.1";
  CHECK(refused("a", false) == said);
  CHECK(refused(server_error(), true) == said);
  CHECK(refused("a", true) == "");
  CHECK_THROWS_AS(SweepOptions{}.http_chunks(), GatewayError);
}

TEST_CASE("the second write is sent after a pause, so that a waiting client reads the first alone") {
  Gateway gateway;
  for (const std::size_t byte : {std::size_t{1}, std::size_t{9}, std::size_t{300}}) {
    CAPTURE(byte);
    gateway.chat().reply(text("Zürich 東京").split_write(byte));
    // Repeats the read, because the system may pause the client for a millisecond.
    CHECK(test_support::eventually([&] {
      const auto pieces = reads(gateway);
      return pieces.size() == 2 && pieces.front().size() == byte;
    }));
  }
  gateway.chat().reply(text("Zürich 東京").split_write(1'000'000));
  CHECK(test_support::eventually([&] { return reads(gateway).size() == 1; }));
  const std::vector<Problem> issues = gateway.verify().problems();
  CHECK_FALSE(issues.empty());  // one for each attempt
  for (const Problem& issue : issues) CHECK(issue.kind == Problem::Kind::place_not_reached);
}

TEST_CASE("a leaving client and a stopping gateway end the pause between two writes") {
  const Reply reply = raw_reply(200, std::string(std::size_t{20} << 20, 'x')).split_write(50000);
  for (const bool stops : {false, true}) {
    CAPTURE(stops);
    Gateway gateway;
    gateway.chat().reply(reply);
    test_support::ConnectionOptions small;
    small.receive_buffer = 4096;
    RawConnection connection(gateway, small);  // it reads nothing, so the first write cannot complete
    connection.send(Http(gateway).format_chat());
    REQUIRE(gateway.journal().wait_for(1, patience));
    const Exchange exchange = gateway.journal().last();
    REQUIRE(test_support::eventually([&] { return exchange.bytes_sent() >= 50000; }));
    CHECK(exchange.outcome(0ms) == Outcome::Kind::pending);
    if (stops) {
      gateway.stop();
    } else {
      connection.close();
    }
    CHECK(exchange.outcome() == (stops ? Outcome::Kind::stopped : Outcome::Kind::client_left));
  }
}

TEST_CASE("a split can be combined with a fault before or after it") {
  Gateway gateway;
  for (const std::size_t byte : {std::size_t{5}, std::size_t{250}}) {
    gateway.chat().reply(chunks({{{"a", 1}}}).split_write(byte).fault(after_events(1), reset_connection()));
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    const auto received = connection.receive_all();
    CHECK(received.end == End::reset);
    CHECK(received.bytes.substr(received.bytes.find("\r\n\r\n") + 4) == http_chunk("data: {\"a\":1}\n\n"));
  }
  CHECK(gateway.verify());
}

}  // namespace sweep_test
