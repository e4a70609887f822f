// Every trigger with every effect, and every dialect: the exact bytes that a client sees, and the exact end.
//
// What is expected is put together from an unbroken reply to the same request, which repeats from gateway to gateway.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/printing.hpp"

namespace faults_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::eventually;
using test_support::Http;
using test_support::RawConnection;
using test_support::Response;

constexpr const char* noise = "\x15\x03\x01\r\nnoise";
constexpr const char* terminator = "0\r\n\r\n";

inline std::string chunk(std::string_view bytes, std::size_t missing = 0) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size() + missing);
  return size + std::string(bytes) + (missing == 0 ? "\r\n" : "");
}

/// A gateway whose clock stands, and one connection to it.
struct Fixture {
  using Change = std::function<std::string(std::string request)>;

  explicit Fixture(
      const Reply& reply, bool streamed, const Change& change = [](std::string request) { return request; })
      : gateway(Options{}.clock(clock).verify_on_destruction(false)),
        stub(gateway.chat().reply(reply)),
        connection(gateway) {
    connection.send(change(Http(gateway).format_chat(streamed ? Json{{"stream", true}} : Json{})));
  }

  /// Receives as many bytes as are expected, and makes sure that no more have been sent.
  std::string receive(std::size_t size) {
    const auto received = connection.receive_until([&](std::string_view bytes) { return bytes.size() >= size; });
    REQUIRE(gateway.journal().wait_for(1, 5s));
    all += received.bytes;
    const std::size_t expected = all.size();
    CHECK(eventually([&] { return gateway.journal().last().bytes_sent() == expected; }));
    return received.bytes;
  }

  ManualClock clock;
  Gateway gateway;
  Stub stub;
  RawConnection connection;
  std::string all;
};

/// An unbroken reply, in the pieces that are written: the head, then events or the body.
struct Whole {
  std::string head;
  std::vector<std::string> pieces;
  bool chunked;

  /// Everything up to byte `part` of piece `whole` (from 0).
  std::string up_to(std::size_t whole, std::size_t part, bool announces_all = false) const {
    std::string bytes = head;
    for (std::size_t i = 0; i < whole; ++i) bytes += framed(pieces[i]);
    if (part > 0) bytes += framed(pieces[whole].substr(0, part), announces_all ? pieces[whole].size() - part : 0);
    return bytes;
  }
  std::string from(std::size_t whole, std::size_t part) const {
    std::string bytes;
    for (std::size_t i = whole; i < pieces.size(); ++i)
      bytes += framed(i == whole ? pieces[i].substr(part) : pieces[i]);
    return bytes + (chunked ? terminator : "");
  }
  std::string framed(std::string_view bytes, std::size_t missing = 0) const {
    return chunked ? chunk(bytes, missing) : std::string(bytes);
  }
};

inline Whole unbroken(const Reply& reply, bool streamed) {
  Fixture on(reply, streamed);
  const Response response = on.connection.receive_response();
  REQUIRE(response.complete);
  Whole whole{response.head, {}, response.chunked};
  std::size_t at = 0;
  for (const std::size_t size : response.chunks) {
    whole.pieces.push_back(response.body.substr(at, size));
    at += size;
  }
  if (!response.chunked) whole.pieces.push_back(response.body);
  REQUIRE(whole.up_to(0, 0) + whole.from(0, 0) == response.raw);
  return whole;
}

/// A trigger, and what has arrived by then.
struct Point {
  Trigger trigger;
  bool head;
  std::size_t whole;  // pieces
  std::size_t part;   // bytes of the next one
};

inline std::string before(const Whole& whole, const Point& point, bool announces_all = false) {
  return point.head ? whole.up_to(point.whole, point.part, announces_all) : "";
}

inline std::string after(const Whole& whole, const Point& point) {
  return (point.head ? "" : whole.head) + whole.from(point.whole, point.part);
}

/// Effects that end the connection or delay the reply: they can happen anywhere.
inline void check_everywhere(const Reply& reply, bool streamed, const std::vector<Point>& points) {
  const Whole whole = unbroken(reply, streamed);
  for (const Point& point : points) {
    CAPTURE(point.trigger.to_string());
    const std::string expected = before(whole, point);
    const std::string rest = after(whole, point);
    for (const Effect& effect : {close_connection(), reset_connection(), garbage(noise)}) {
      CAPTURE(effect.to_string());
      Fixture on(reply.fail(point.trigger, effect), streamed);
      const auto received = on.connection.receive_all();
      CHECK(received.bytes == expected + effect.bytes());
      CHECK(received.end == (effect.kind() == Effect::Kind::reset_connection ? End::reset : End::fin));
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::failed_by_script);
      CHECK(on.gateway.verify());
    }
    {
      Fixture on(reply.fail(point.trigger, half_close()), streamed);
      const auto received = on.connection.receive_all();
      CHECK(received.bytes == expected);
      CHECK(received.end == End::fin);
      const Exchange exchange = on.stub.last_call();
      CHECK(exchange.outcome(0ms) == Outcome::Kind::pending);
      on.connection.shutdown_write();
      CHECK(exchange.outcome() == Outcome::Kind::failed_by_script);
      CHECK(exchange.client_closed_its_side());
    }
    {
      Fixture on(reply.fail(point.trigger, stall()), streamed);
      CHECK(on.receive(expected.size()) == expected);
      on.clock.advance(24h);
      CHECK(on.connection.end() == End::open);
      const Exchange exchange = on.stub.last_call();
      CHECK(exchange.outcome(0ms) == Outcome::Kind::pending);
      on.connection.close();
      CHECK(exchange.outcome() == Outcome::Kind::client_left);
      CHECK(exchange.bytes_sent() == expected.size());
    }
    {
      Fixture on(reply.fail(point.trigger, stall(1min)), streamed);
      CHECK(on.receive(expected.size()) == expected);
      REQUIRE(on.clock.wait_for_waits(1, 5s));
      on.clock.advance(59s);
      CHECK(on.stub.last_call().bytes_sent() == expected.size());
      on.clock.advance(1s);
      CHECK(on.receive(rest.size()) == rest);
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
    }
    {
      Gate gate;
      Fixture on(reply.fail(point.trigger, stall(gate)), streamed);
      CHECK(on.receive(expected.size()) == expected);
      REQUIRE(gate.wait_until_reached(5s));
      gate.open();
      CHECK(on.receive(rest.size()) == rest);
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
      CHECK_FALSE(on.stub.last_call().guard_expired());
    }
  }
}

inline void check_truncation(const Reply& reply, bool streamed, const std::vector<Point>& points) {
  const Whole whole = unbroken(reply, streamed);
  for (const Point& point : points) {
    if (!point.head) continue;
    CAPTURE(point.trigger.to_string());
    Fixture on(reply.fail(point.trigger, truncate()), streamed);
    const auto received = on.connection.receive_all();
    CHECK(received.bytes == before(whole, point, true));
    CHECK(received.end == End::fin);
    CHECK(on.stub.last_call().outcome() == Outcome::Kind::failed_by_script);
  }
}

// --- Streams
// ----------------------------------------------------------------------------------------------------------

inline Reply streamed_reply() { return text("one Zürich"); }  // role, two tokens, finish, [DONE]

inline std::vector<Point> points_of_a_stream() {
  const Whole whole = unbroken(streamed_reply(), true);
  REQUIRE(whole.pieces.size() == 5);
  const std::vector<std::string>& events = whole.pieces;
  const std::size_t first = events[0].size();
  const std::size_t inside = events[2].find("ü") + 1;
  return {
      {before_headers(), false, 0, 0},  {after_headers(), true, 0, 0},
      {after_events(1), true, 1, 0},    {after_events(5), true, 5, 0},
      {after_tokens(2), true, 3, 0},    {after_bytes(1), true, 0, 1},
      {after_bytes(first), true, 1, 0}, {after_bytes(first + 7), true, 1, 7},
      {inside_event(1, 3), true, 0, 3}, {inside_event(2, events[1].size() - 1), true, 1, events[1].size() - 1},
      {inside_event(5, 8), true, 4, 8}, {inside_character(3), true, 2, inside},
      {before_done(), true, 4, 0},      {at_end(), true, 5, 0},
  };
}

TEST_CASE("a stream ends or waits exactly where it was told to, and everything before arrives") {
  check_everywhere(streamed_reply(), true, points_of_a_stream());
}

TEST_CASE("a truncated stream ends in the middle of an HTTP chunk") {
  check_truncation(streamed_reply(), true, points_of_a_stream());
}

TEST_CASE("a stream written by hand breaks like any other") {
  const Reply reply = chunks({{{"a", 1}}, {{"b", "é"}}, raw_bytes(": ping\n\n")});
  const Whole whole = unbroken(reply, true);
  REQUIRE(whole.pieces ==
          std::vector<std::string>{"data: {\"a\":1}\n\n", "data: {\"b\":\"é\"}\n\n", ": ping\n\n", "data: [DONE]\n\n"});
  const std::vector<Point> points = {
      {after_events(3), true, 3, 0}, {inside_event(3, 2), true, 2, 2}, {inside_character(2), true, 1, 13}};
  check_everywhere(reply, false, points);
  check_truncation(reply, false, points);
}

TEST_CASE("an error event takes the place of what would follow; [DONE] and the terminating chunk come after it") {
  const Whole whole = unbroken(streamed_reply(), true);
  const std::string done = chunk("data: [DONE]\n\n");
  const std::string failed = unbroken(server_error(), false).pieces[0];
  for (const Point& point : points_of_a_stream()) {
    const Trigger::Kind kind = point.trigger.kind();
    if (kind != Trigger::Kind::after_headers && kind != Trigger::Kind::after_events &&
        kind != Trigger::Kind::after_tokens && kind != Trigger::Kind::before_done)
      continue;
    CAPTURE(point.trigger.to_string());
    const bool is_done = point.whole == 5;
    const std::string end = (is_done ? "" : done) + terminator;
    {
      Fixture on(streamed_reply().fail(point.trigger, error_event({{"error", {{"message", "é"}}}})), true);
      const std::string expected = before(whole, point) + chunk("data: {\"error\":{\"message\":\"é\"}}\n\n") + end;
      CHECK(on.receive(expected.size()) == expected);
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::failed_by_script);
      CHECK(on.connection.end() == End::open);
      on.connection.send(Http(on.gateway).format("GET", "/v1/models"));
      CHECK(on.connection.receive_response().status == 200);
    }
    {
      Fixture on(streamed_reply().fail(point.trigger, error_event(server_error())), true);
      CHECK(on.connection.receive_response().raw == before(whole, point) + chunk("data: " + failed + "\n\n") + end);
    }
  }
}

TEST_CASE("the event that would come next is left out, or comes twice") {
  const Whole whole = unbroken(streamed_reply(), true);
  struct Next {
    Trigger trigger;
    std::size_t piece;
  };
  for (const Next& next : {Next{after_headers(), 0}, Next{after_events(1), 1}, Next{after_tokens(1), 2},
                           Next{after_tokens(2), 3}, Next{before_done(), 4}}) {
    CAPTURE(next.trigger.to_string());
    const std::string rest = next.piece == 4 ? terminator : whole.from(next.piece + 1, 0);
    {
      Fixture on(streamed_reply().fail(next.trigger, skip_event()), true);
      const Response response = on.connection.receive_response();
      CHECK(response.raw == whole.up_to(next.piece, 0) + rest);
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
      CHECK(on.stub.last_call().events_sent() == 4);
    }
    {
      Fixture on(streamed_reply().fail(next.trigger, duplicate_event()), true);
      CHECK(on.connection.receive_response().raw ==
            whole.up_to(next.piece + 1, 0) + chunk(whole.pieces[next.piece]) + rest);
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
      CHECK(on.stub.last_call().events_sent() == 6);
    }
  }
}

TEST_CASE("faults of one reply happen in turn, and count what the reply has, not what was sent") {
  const Whole whole = unbroken(streamed_reply(), true);
  Fixture on(streamed_reply()
                 .fail(after_events(1), skip_event())
                 .fail(after_events(3), stall(1s))
                 .fail(after_events(3), reset_connection()),
             true);
  const std::string expected = whole.up_to(1, 0) + chunk(whole.pieces[2]);
  CHECK(on.receive(expected.size()) == expected);
  REQUIRE(on.clock.wait_for_waits(1, 5s));
  on.clock.advance(1s);
  CHECK(on.connection.receive_all().end == End::reset);
  CHECK(on.gateway.verify());
}

inline std::string in_http_1_0(std::string request) { return request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0"); }

TEST_CASE("to a client of HTTP/1.0 the body just ends, wherever it was cut") {
  const Whole whole = unbroken(streamed_reply(), true);
  for (const Effect& effect : {close_connection(), truncate()}) {
    Fixture on(streamed_reply().fail(inside_character(3), effect), true, in_http_1_0);
    const auto received = on.connection.receive_all();
    CHECK(received.end == End::fin);
    const std::string body = received.bytes.substr(received.bytes.find("\r\n\r\n") + 4);
    const std::size_t size = whole.pieces[0].size() + whole.pieces[1].size() + whole.pieces[2].find("ü") + 1;
    CHECK(body.size() == size);
  }
}

TEST_CASE("each effect on a stream to a client of HTTP/1.0, whose body has no HTTP chunks") {
  const Whole whole = unbroken(streamed_reply(), true);
  const std::string before_it = whole.pieces[0] + whole.pieces[1];
  const std::string after_it = whole.pieces[2] + whole.pieces[3] + whole.pieces[4];
  const std::string error = "data: {\"error\":1}\n\ndata: [DONE]\n\n";
  struct Row {
    Effect effect;
    std::string follows;
    End end;
    Outcome::Kind outcome;
  };
  Gate open_gate;
  open_gate.open();
  const std::vector<Row> rows = {
      {close_connection(), "", End::fin, Outcome::Kind::failed_by_script},
      {reset_connection(), "", End::reset, Outcome::Kind::failed_by_script},
      {garbage(noise), noise, End::fin, Outcome::Kind::failed_by_script},
      {truncate(), "", End::fin, Outcome::Kind::failed_by_script},
      {error_event({{"error", 1}}), error, End::fin, Outcome::Kind::failed_by_script},
      {stall(open_gate), after_it, End::fin, Outcome::Kind::completed},
      {skip_event(), whole.pieces[3] + whole.pieces[4], End::fin, Outcome::Kind::completed},
      {duplicate_event(), whole.pieces[2] + after_it, End::fin, Outcome::Kind::completed},
  };
  for (const Row& row : rows) {
    CAPTURE(row.effect.to_string());
    Fixture on(streamed_reply().fail(after_tokens(1), row.effect), true, in_http_1_0);
    const auto received = on.connection.receive_all();
    CHECK(received.end == row.end);
    CHECK(received.bytes.substr(received.bytes.find("\r\n\r\n") + 4) == before_it + row.follows);
    CHECK(on.stub.last_call().outcome() == row.outcome);
  }
}

TEST_CASE("a request that came with a broken one is not answered where the connection ends, and is where it stays") {
  const Whole whole = unbroken(streamed_reply(), true);
  const std::string expected = whole.up_to(2, 0);
  for (const Effect& effect : {close_connection(), reset_connection(), truncate(), garbage(noise), half_close()}) {
    CAPTURE(effect.to_string());
    Fixture on(streamed_reply().fail(after_tokens(1), effect), true, [](const std::string& request) {
      std::string many;
      for (int i = 0; i < 200; ++i) many += request;  // more than is read from the socket at once
      return many;
    });
    const auto received = on.connection.receive_all();
    CHECK(received.bytes == expected + effect.bytes());
    CHECK(received.end == (effect.kind() == Effect::Kind::reset_connection ? End::reset : End::fin));
    if (effect.kind() == Effect::Kind::half_close) on.connection.shutdown_write();
    CHECK(on.gateway.journal().wait_until_idle(5s));
    CHECK(on.gateway.journal().count() == 1);
  }
  for (const Effect& effect : {error_event({{"error", 1}}), skip_event(), duplicate_event()}) {
    CAPTURE(effect.to_string());
    Fixture on(streamed_reply().fail(after_tokens(1), effect), true);
    on.connection.send(Http(on.gateway).format("GET", "/v1/models"));
    CHECK(on.connection.receive_response().complete);
    CHECK(on.connection.receive_response().header("Content-Type") == "application/json");
  }
}

TEST_CASE("a reply is whole for a client that reads late and has sent more before, though the connection closes") {
  const std::string body(1u << 20, 'x');
  for (int run = 0; run < 20; ++run) {
    Gateway gateway;
    Stub stub = gateway.chat().reply(raw_reply(200, body));
    const std::string request = Http(gateway).with_header("Connection", "close").format_chat();
    RawConnection connection(gateway, {4096});
    connection.send(request);
    REQUIRE(stub.wait_for_calls(1, 5s));
    CHECK(stub.last_call().outcome() == Outcome::Kind::completed);
    connection.send(request);
    connection.send(request);
    const Response response = connection.receive_response();
    CHECK(response.complete);
    CHECK(response.body.size() == body.size());
    CHECK(connection.receive_all().end == End::fin);
    CHECK(gateway.journal().count() == 1);
  }
}

TEST_CASE("a client that tries again when its connection has ended finds the stub free") {
  for (const Effect& effect : {close_connection(), reset_connection(), garbage(noise), truncate()}) {
    CAPTURE(effect.to_string());
    std::promise<void> tried_again;
    const std::shared_future<void> wait = tried_again.get_future().share();
    Gateway gateway{Options{}.on_exchange([wait](const Exchange&) { wait.wait_for(5s); })};
    Stub stub = gateway.chat().reply(streamed_reply().fail(after_tokens(1), effect));
    for (int attempt = 0; attempt < 2; ++attempt) {
      RawConnection connection(gateway);
      connection.send(Http(gateway).format_chat({{"stream", true}}));
      CHECK(connection.receive_all().end == (effect.kind() == Effect::Kind::reset_connection ? End::reset : End::fin));
    }
    tried_again.set_value();
    CHECK(stub.peak_concurrency() == 1);
  }
}

// --- Replies of one piece
// -----------------------------------------------------------------------------------------------

inline std::vector<Point> points_of_a_body(const Reply& reply) {
  const std::size_t size = unbroken(reply, false).pieces[0].size();
  REQUIRE(size > 2);
  return {
      {before_headers(), false, 0, 0}, {after_headers(), true, 0, 0},
      {after_bytes(1), true, 0, 1},    {after_bytes(size - 1), true, 0, size - 1},
      {after_bytes(size), true, 1, 0}, {at_end(), true, 1, 0},
  };
}

TEST_CASE("a plain reply, a failure and a raw reply end or wait exactly where they were told to") {
  const std::vector<Reply> replies = {text("one Zürich"), Reply(rate_limited(2s)), raw_reply(502, "<h1>Bad</h1>")};
  for (const Reply& reply : replies) {
    std::vector<Point> points = points_of_a_body(reply);
    check_everywhere(reply, false, points);
    points.pop_back();  // nothing is left to truncate at the end
    check_truncation(reply, false, points);
  }
}

TEST_CASE("a Content-Length is wrong by what the test says, on replies of any status") {
  for (const Reply& reply : {text("one"), Reply(server_error()), raw_reply(200, "abc")}) {
    const Whole whole = unbroken(reply, false);
    const std::size_t size = whole.pieces[0].size();
    for (const std::int64_t difference : {std::int64_t{-1}, std::int64_t{5}, std::int64_t{-100000}}) {
      CAPTURE(difference);
      const std::size_t wrong =
          difference == -100000 ? 0 : static_cast<std::size_t>(static_cast<std::int64_t>(size) + difference);
      std::string head = whole.head;
      const std::string field = "Content-Length: " + std::to_string(size);
      head.replace(head.find(field), field.size(), "Content-Length: " + std::to_string(wrong));
      Fixture on(reply.fail(before_headers(), wrong_content_length(difference)), false);
      const std::string expected = head + whole.pieces[0];
      CHECK(on.receive(expected.size()) == expected);
      CHECK(on.connection.end() == End::open);
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
      CHECK(on.gateway.verify());
    }
  }
}

TEST_CASE("a Content-Length is never wrong by more than it can say") {
  const auto announced = [](std::int64_t difference) {
    Fixture on(raw_reply(200, "abc").fail(before_headers(), wrong_content_length(difference)), false);
    return on.connection.receive_until("\r\n\r\n").bytes;
  };
  CHECK(announced(INT64_MAX).find("Content-Length: 9223372036854775807\r\n") != std::string::npos);
  CHECK(announced(INT64_MIN).find("Content-Length: 0\r\n") != std::string::npos);
}

TEST_CASE("a reply without a body breaks before and after its head") {
  for (const int status : {204, 304}) {
    const Reply reply = raw_reply(status, "");
    Fixture unbroken_one(reply, false);
    const std::string head = unbroken_one.connection.receive_response().raw;
    for (const Trigger& trigger : {before_headers(), after_headers(), at_end()}) {
      for (const Effect& effect : {close_connection(), reset_connection(), garbage(noise)}) {
        CAPTURE(status);
        CAPTURE(trigger.to_string());
        CAPTURE(effect.to_string());
        Fixture on(reply.fail(trigger, effect), false);
        const auto received = on.connection.receive_all();
        CHECK(received.bytes == (trigger.kind() == Trigger::Kind::before_headers ? "" : head) + effect.bytes());
        CHECK(received.end == (effect.kind() == Effect::Kind::reset_connection ? End::reset : End::fin));
      }
    }
  }
}

// --- What is refused, and what is not reached
// ---------------------------------------------------------------------------

inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const GatewayError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("a pair that can never happen is refused where it is written, with what to do instead") {
  struct Row {
    Reply reply;
    Trigger trigger;
    Effect effect;
    const char* message;
  };
  const Reply failure = server_error();
  const Reply raw = raw_reply(200, "abc");
  const char* const no_events = "has no events, so";
  const std::vector<Row> rows = {
      {failure, after_events(1), reset_connection(), no_events},
      {failure, after_tokens(1), stall(), no_events},
      {failure, inside_event(1, 1), garbage("x"), no_events},
      {raw, inside_character(1), close_connection(), no_events},
      {raw, before_done(), half_close(), no_events},
      {raw, after_bytes(4), half_close(), "the body has 3 bytes, so \"after 4 bytes of the body\" never comes"},
      {raw_reply(204, ""), after_bytes(1), stall(), "of status 204 has no body"},
      {raw, after_headers(), error_event({{"error", 1}}), "a raw reply has no events"},
      {failure, after_headers(), skip_event(), "a failure has no events"},
      {failure, at_end(), truncate(), "nothing of the body is left"},
      {raw_reply(200, ""), after_headers(), truncate(), "has no body"},
      {text("a"), before_headers(), truncate(), "no body has begun; use close_connection()"},
      {text("a"), before_headers(), error_event(server_error()), "no stream has begun"},
      {text("a"), before_headers(), skip_event(), "no stream has begun"},
      {text("a"), at_end(), duplicate_event(), "no event comes then; use before_done()"},
      {text("a"), at_end(), error_event({{"error", 1}}), "no event comes then"},
      {text("a"), after_bytes(3), skip_event(), "does not stand inside another"},
      {text("a"), inside_event(1, 3), error_event({{"error", 1}}), "does not stand inside another"},
      {text("a"), inside_character(1), duplicate_event(), "does not stand inside another"},
      {text("a"), after_headers(), wrong_content_length(1), "stands in the head; use before_headers()"},
      {chunks({}), before_headers(), wrong_content_length(1), "chunks are always streamed"},
      {raw_reply(204, ""), before_headers(), wrong_content_length(1), "status 204 has no Content-Length"},
      {text("a"), Trigger(Trigger::Kind::after_bytes, 0), stall(), "count from 1"},
      {text("a"), Trigger(Trigger::Kind::inside_event, 1, 0), stall(), "count from 1"},
      {text("a"), after_headers(), Effect(Effect::Kind::stall, Duration{0}), "positive duration"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.trigger.to_string());
    CAPTURE(row.effect.to_string());
    CAPTURE(row.message);
    const std::string message = refusal([&] { static_cast<void>(row.reply.fail(row.trigger, row.effect)); });
    CAPTURE(message);
    CHECK(message.find(row.message) != std::string::npos);
  }
}

TEST_CASE("values that no fault or dialect can have are refused") {
  CHECK(refusal([] { static_cast<void>(after_bytes(0)); }) ==
        "mock_gateway: after_bytes: bytes of the body count from 1, and 0 was given");
  CHECK(refusal([] { static_cast<void>(inside_event(0, 1)); }) ==
        "mock_gateway: inside_event: events count from 1, and 0 was given");
  CHECK(refusal([] { static_cast<void>(inside_event(1, 0)); }) ==
        "mock_gateway: inside_event: bytes of an event count from 1, and 0 was given");
  CHECK_THROWS_AS(inside_character(0), GatewayError);
  CHECK_THROWS_AS(garbage(""), GatewayError);
  CHECK_THROWS_AS(wrong_content_length(0), GatewayError);
  CHECK_THROWS_AS(error_event(Json("\xff")), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(text("a").slice_writes(0)), GatewayError);
  const auto refused = [](const std::function<void(SseDialect&)>& change) {
    SseDialect dialect;
    change(dialect);
    return refusal([&] { static_cast<void>(text("a").sse(dialect)); });
  };
  CHECK(refused([](SseDialect& d) { d.line_end = "\n\n"; }).find("ends in") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d.event = "a\nb"; }).find("event is one line") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d.comment = "a\rb"; }).find("comment is one line") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d.after_done = "a\n"; }).find("after_done is one line") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d.retry = -1s; }).find("not negative") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d.retry = 1500us; }).find("whole milliseconds") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d.ping_every = -1s; }).find("a millisecond at least") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d.ping_every = 999us; }).find("a millisecond at least") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d.ping = ""; }).find("ping needs a line") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d.after_done = "x", d.done = false; }).find("[DONE]") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d.after_done = "x", d.final_blank_line = false; }).find("blank line") !=
        std::string::npos);
  CHECK_THROWS_AS(choices(text("a").one_write(), text("b")), GatewayError);
}

TEST_CASE("a fault that the reply never comes to is a finding of verify(), streamed and plain") {
  struct Row {
    Reply reply;
    bool streamed;
    const char* finding;
  };
  SseDialect without_done;
  without_done.done = false;
  const std::vector<Row> rows = {
      {text("abc").fail(inside_character(2), stall()), true, "stall inside a character of event 2"},
      {text("abc").fail(inside_event(2, 5000), stall()), true, "stall inside event 2, after 5000 bytes"},
      {text("abc").fail(inside_event(9, 1), stall()), true, "stall inside event 9, after 1 byte"},
      {text("abc").fail(after_bytes(100000), half_close()), true, "half-close the connection after 100000 bytes"},
      {text("abc").fail(after_events(4), skip_event()), true, "skip an event after 4 events"},
      {text("abc").sse(without_done).fail(before_done(), duplicate_event()), true, "duplicate an event before [DONE]"},
      {text("abc").fail(before_headers(), wrong_content_length(-2)), true, "Content-Length wrong by -2 before headers"},
      {text("abc").fail(after_events(1), stall()), false, "stall after 1 event"},
      {text("abc").fail(after_tokens(1), stall()), false, "stall after 1 token"},
      {text("abc").fail(before_done(), stall()), false, "stall before [DONE]"},
      {text("abc").fail(after_bytes(100000), garbage("x")), false, "send 1 byte of garbage after 100000 bytes"},
      {text("abc").fail(after_headers(), error_event(server_error())), false, "send an error event after headers"},
      {text("abc").fail(after_headers(), skip_event()), false, "skip an event after headers"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.finding);
    Fixture on(row.reply, row.streamed);
    REQUIRE(on.stub.wait_for_calls(1, 5s));
    REQUIRE(on.stub.last_call().outcome() == Outcome::Kind::completed);
    const Verification verification = on.gateway.verify();
    CHECK_FALSE(verification);
    const std::string findings = verification.message();
    CAPTURE(findings);
    CHECK(findings.find(row.finding) != std::string::npos);
  }
}

// --- Dialects
// -----------------------------------------------------------------------------------------------------------

inline Reply two_events() { return chunks({{{"a", 1}}, {{"b", 2}, {"c", 3}}}); }

/// The chunks of a stream in a dialect, and its end.
inline std::vector<std::string> chunks_of(const Reply& reply) { return unbroken(reply, true).pieces; }

TEST_CASE("each dialect, to the byte") {
  using Lines = std::vector<std::string>;
  struct Row {
    const char* name;
    std::function<void(SseDialect&)> change;
    Lines expected;
  };
  const std::string a = R"({"a":1})";
  const std::string b = R"({"b":2,"c":3})";
  const std::vector<Row> rows = {
      {"the default", [](SseDialect&) {}, {"data: " + a + "\n\n", "data: " + b + "\n\n", "data: [DONE]\n\n"}},
      {"CRLF",
       [](SseDialect& d) { d.line_end = "\r\n"; },
       {"data: " + a + "\r\n\r\n", "data: " + b + "\r\n\r\n", "data: [DONE]\r\n\r\n"}},
      {"lone CR",
       [](SseDialect& d) { d.line_end = "\r"; },
       {"data: " + a + "\r\r", "data: " + b + "\r\r", "data: [DONE]\r\r"}},
      {"no space after the colon",
       [](SseDialect& d) { d.space_after_colon = false, d.event = "message", d.comment = "c"; },
       {":c\n\n", "event:message\ndata:" + a + "\n\n", ":c\n\n", "event:message\ndata:" + b + "\n\n", ":c\n\n",
        "event:message\ndata:[DONE]\n\n"}},
      {"without [DONE]", [](SseDialect& d) { d.done = false; }, {"data: " + a + "\n\n", "data: " + b + "\n\n"}},
      {"a byte order mark",
       [](SseDialect& d) { d.byte_order_mark = true; },
       {"\xEF\xBB\xBF", "data: " + a + "\n\n", "data: " + b + "\n\n", "data: [DONE]\n\n"}},
      {"event, id and retry",
       [](SseDialect& d) { d.event = "chunk", d.ids = true, d.retry = 1500ms; },
       {"event: chunk\nid: 1\nretry: 1500\ndata: " + a + "\n\n", "event: chunk\nid: 2\ndata: " + b + "\n\n",
        "event: chunk\nid: 3\ndata: [DONE]\n\n"}},
      {"data on several lines",
       [](SseDialect& d) { d.multi_line_data = true; },
       {"data: {\ndata: \"a\":1\ndata: }\n\n", "data: {\ndata: \"b\":2,\"c\":3\ndata: }\n\n", "data: [DONE]\n\n"}},
      {"comments",
       [](SseDialect& d) { d.comment = "PROCESSING"; },
       {": PROCESSING\n\n", "data: " + a + "\n\n", ": PROCESSING\n\n", "data: " + b + "\n\n", ": PROCESSING\n\n",
        "data: [DONE]\n\n"}},
      {"no final blank line",
       [](SseDialect& d) { d.final_blank_line = false; },
       {"data: " + a + "\n\n", "data: " + b + "\n\n", "data: [DONE]\n"}},
      {"neither [DONE] nor the final blank line",
       [](SseDialect& d) { d.final_blank_line = false, d.done = false; },
       {"data: " + a + "\n\n", "data: " + b + "\n"}},
      {"data after [DONE]",
       [](SseDialect& d) { d.after_done = "{\"late\":true}"; },
       {"data: " + a + "\n\n", "data: " + b + "\n\n", "data: [DONE]\n\n", "data: {\"late\":true}\n\n"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    SseDialect dialect;
    row.change(dialect);
    CHECK(chunks_of(two_events().sse(dialect)) == row.expected);
  }
}

TEST_CASE("data on several lines is the same JSON to a parser") {
  SseDialect dialect;
  dialect.multi_line_data = true;
  Fixture on(text("one two").sse(dialect), true);
  CHECK(on.connection.receive_response().joined_text() == "one two");
}

TEST_CASE("the content type is what the dialect says, or missing") {
  for (const char* const type : {"text/event-stream", "text/plain", ""}) {
    CAPTURE(type);
    SseDialect dialect;
    dialect.content_type = type;
    Fixture on(two_events().sse(dialect), true);
    const Response response = on.connection.receive_response();
    CHECK(response.header("Content-Type") == type);
    CHECK(response.has("Content-Type") == (*type != '\0'));
  }
}

TEST_CASE("after [DONE] the socket stays open, the body unterminated, until the client leaves") {
  SseDialect dialect;
  dialect.open_after_done = true;
  const Whole whole = unbroken(two_events(), true);
  Fixture on(two_events().sse(dialect), true);
  const std::string expected = whole.up_to(3, 0);
  CHECK(on.receive(expected.size()) == expected);
  on.clock.advance(24h);
  CHECK(on.connection.end() == End::open);
  const Exchange exchange = on.stub.last_call();
  CHECK(exchange.outcome(0ms) == Outcome::Kind::pending);
  on.connection.close();
  CHECK(exchange.outcome() == Outcome::Kind::completed);
  CHECK(exchange.bytes_sent() == expected.size());
}

TEST_CASE("bytes are counted and events cut as the dialect writes them") {
  SseDialect dialect;
  dialect.byte_order_mark = true;
  dialect.comment = "c";
  dialect.ids = true;
  const std::string start = chunk("\xEF\xBB\xBF");
  const std::string comment = chunk(": c\n\n");
  const auto body = [&](const Trigger& trigger) {
    Fixture on(two_events().sse(dialect).fail(trigger, close_connection()), true);
    const std::string bytes = on.connection.receive_all().bytes;
    return bytes.substr(bytes.find("\r\n\r\n") + 4);
  };
  CHECK(body(after_bytes(2)) == chunk("\xEF\xBB"));
  CHECK(body(after_bytes(3)) == start);
  CHECK(body(after_bytes(8)) == start + comment);
  CHECK(body(after_bytes(10)) == start + comment + chunk("id"));
  CHECK(body(inside_event(1, 7)) == start + comment + chunk("id: 1\nd"));
}

// --- Pings
// ---------------------------------------------------------------------------------------------------------------

inline SseDialect pinging(Duration interval, std::string ping = ": ping") {
  SseDialect dialect;
  dialect.ping_every = interval;
  dialect.ping = std::move(ping);
  return dialect;
}

TEST_CASE("pings come at their moments while the reply waits for its next token") {
  const Whole whole = unbroken(text("a b"), true);
  const Reply reply = text("a b").first_token_after(1s).every(1s).sse(pinging(400ms));
  const std::string ping = chunk(": ping\n\n");
  const std::vector<std::string> steps = {ping, ping, chunk(whole.pieces[1]), ping, ping, ping + whole.from(2, 0)};
  Fixture on(reply, true);
  const std::string start = whole.up_to(1, 0);
  CHECK(on.receive(start.size()) == start);
  REQUIRE(on.clock.wait_for_waits(1, 5s));
  const std::vector<Duration> gaps = {400ms, 400ms, 200ms, 200ms, 400ms, 400ms};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CAPTURE(i);
    CHECK(on.clock.advance_to_next_event() == gaps[i]);
    CHECK(on.receive(steps[i].size()) == steps[i]);
  }
  CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
  CHECK(on.stub.last_call().events_sent() == 5);  // pings are none
}

TEST_CASE("on the instant clock the same pings come at once") {
  Gateway gateway{Options{}.clock(InstantClock{})};
  gateway.chat().reply(text("a b").first_token_after(1s).every(1s).sse(pinging(400ms, "data:")));
  const Response response = Http(gateway).stream();
  const auto events = response.events();
  std::size_t empty = 0;
  for (const std::string& data : events) empty += data.empty();
  CHECK(empty == 5);
  CHECK(events.size() == 10);
  CHECK(events[1].empty());
  CHECK(events[2].empty());
  CHECK_FALSE(events[3].empty());
}

TEST_CASE("a stalled stream pings on, and a ping may have several lines") {
  const Whole whole = unbroken(text("a"), true);
  Fixture on(text("a").fail(after_tokens(1), stall()).sse(pinging(15s, "id: 7\n: ping")), true);
  const std::string start = whole.up_to(2, 0);
  CHECK(on.receive(start.size()) == start);
  const std::string ping = chunk("id: 7\n: ping\n\n");
  for (int i = 0; i < 3; ++i) {
    REQUIRE(on.clock.wait_for_waits(1, 5s));
    CHECK(on.clock.waits()[0].name == "a ping");
    CHECK(on.clock.advance_to_next_event() == 15s);
    CHECK(on.receive(ping.size()) == ping);
  }
  on.connection.close();
  CHECK(on.stub.last_call().outcome() == Outcome::Kind::client_left);
}

TEST_CASE("a stream held at a gate pings until the gate opens") {
  const Whole whole = unbroken(text("a"), true);
  Gate gate;
  Fixture on(text("a").hold(gate, before_token(1)).sse(pinging(1s)), true);
  const std::string start = whole.up_to(1, 0);
  CHECK(on.receive(start.size()) == start);
  REQUIRE(gate.wait_until_reached(5s));
  REQUIRE(on.clock.wait_for_waits(1, 5s));
  on.clock.advance(1s);
  const std::string ping = chunk(": ping\n\n");
  CHECK(on.receive(ping.size()) == ping);
  gate.open();
  const std::string rest = whole.from(1, 0);
  CHECK(on.receive(rest.size()) == rest);
  CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
  CHECK_FALSE(on.stub.last_call().guard_expired());
}

TEST_CASE("no ping comes inside an event, and none in a plain reply") {
  const Whole whole = unbroken(text("a"), true);
  {
    Fixture on(text("a").fail(inside_event(2, 9), stall(1min)).sse(pinging(40s)), true);
    const std::string start = whole.up_to(1, 9);
    CHECK(on.receive(start.size()) == start);
    REQUIRE(on.clock.wait_for_waits(1, 5s));
    CHECK(on.clock.advance_to_next_event() == 1min);
    const std::string rest = whole.from(1, 9);
    CHECK(on.receive(rest.size()) == rest);
  }
  {
    Fixture on(text("a").first_token_after(1min).sse(pinging(40s)), false);
    REQUIRE(on.clock.wait_for_waits(1, 5s));
    CHECK(on.clock.advance_to_next_event() == 1min);
    CHECK(on.connection.receive_response().text() == "a");
  }
}

TEST_CASE("of the pings that a stall inside an event kept back, only the last comes") {
  const Whole whole = unbroken(text("a b"), true);
  Fixture on(text("a b").every(1h).fail(inside_event(2, 9), stall(605s)).sse(pinging(15s)), true);
  const std::string start = whole.up_to(1, 9);
  CHECK(on.receive(start.size()) == start);
  REQUIRE(on.clock.wait_for_waits(1, 5s));
  CHECK(on.clock.advance_to_next_event() == 605s);
  const std::string ping = chunk(": ping\n\n");
  const std::string next = chunk(whole.pieces[1].substr(9)) + ping;
  CHECK(on.receive(next.size()) == next);
  REQUIRE(on.clock.wait_for_waits(1, 5s));
  CHECK(on.clock.advance_to_next_event() == 10s);  // at 615 s again
  CHECK(on.receive(ping.size()) == ping);
  on.connection.abort();
  CHECK(on.stub.last_call().outcome() == Outcome::Kind::client_left);
}

TEST_CASE("pings on a clock that nobody moves are no finding") {
  ManualClock clock{ManualClock::default_start, 50ms};
  Gateway gateway{Options{}.clock(clock)};
  Gate gate;
  Stub stub = gateway.chat().reply(text("a").hold(gate, before_token(1)).sse(pinging(1s)));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(5s));
  CHECK(eventually([&] { return clock.waits().empty(); }));  // the guard has ended the wait for the ping
  gate.open();
  CHECK(connection.receive_response().joined_text() == "a");
  CHECK_FALSE(stub.last_call().guard_expired());
}

// --- gzip
// ------------------------------------------------------------------------------------------------------------------

/// What a gzip member of stored blocks holds, as far as it has come; `whole` when its end and checksum did.
struct Unzipped {
  std::string text;
  bool whole = false;
};

inline Unzipped unzip(std::string_view bytes) {
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint32_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
    return value;
  };
  Unzipped result;
  REQUIRE(bytes.substr(0, 4) == std::string_view("\x1f\x8b\x08\0", 4));
  std::size_t at = 10;
  for (bool last = false; !last;) {
    if (at + 5 > bytes.size()) return result;
    last = number(at, 1) == 1;
    const std::size_t size = number(at + 1, 2);
    REQUIRE((size ^ number(at + 3, 2)) == 0xffff);
    if (at + 5 + size > bytes.size()) return result;
    result.text += bytes.substr(at + 5, size);
    at += 5 + size;
  }
  std::uint32_t checksum = 0xffffffff;  // CRC-32, bit by bit
  for (const char byte : result.text) {
    checksum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) checksum = (checksum >> 1) ^ (checksum & 1 ? 0xedb88320 : 0);
  }
  CHECK(number(at, 4) == ~checksum);
  CHECK(number(at + 4, 4) == result.text.size());
  result.whole = at + 8 == bytes.size();
  return result;
}

TEST_CASE("a stream in gzip is the same text, and each event can be read when it arrives") {
  SseDialect dialect;
  dialect.gzip = true;
  const std::string long_text(200000, 'x');
  const Reply reply = chunks({{{"a", 1}}, {{"long", long_text}}});
  Fixture on(reply.sse(dialect), true);
  const Response response = on.connection.receive_response();
  CHECK(response.header("Content-Encoding") == "gzip");
  std::string plain;
  for (const std::string& event : chunks_of(reply)) plain += event;
  const Unzipped unzipped = unzip(response.body);
  CHECK(unzipped.whole);
  CHECK((unzipped.text == plain));  // not printed: it is long
  CHECK(unzip(response.body.substr(0, response.chunks[0])).text == chunks_of(reply)[0]);
}

TEST_CASE("a stream in gzip is cut where its text is") {
  SseDialect dialect;
  dialect.gzip = true;
  const std::string first = chunks_of(two_events())[0];
  for (const Effect& effect : {close_connection(), reset_connection(), truncate()}) {
    CAPTURE(effect.to_string());
    Fixture on(two_events().sse(dialect).fail(inside_event(2, 9), effect), true);
    const auto received = on.connection.receive_all();
    CHECK(received.end == (effect.kind() == Effect::Kind::reset_connection ? End::reset : End::fin));
    std::string_view body = received.bytes;
    body.remove_prefix(body.find("\r\n\r\n") + 4);
    std::string bytes;
    while (!body.empty()) {
      const std::size_t line = body.find("\r\n");
      const std::size_t size = std::stoul(std::string(body.substr(0, line)), nullptr, 16);
      body.remove_prefix(line + 2);
      bytes += body.substr(0, size);
      if (effect.kind() == Effect::Kind::truncate && body.size() < size) {
        CHECK(body.size() == 5 + 9);  // of a chunk that says more
        break;
      }
      body.remove_prefix(size + 2);
    }
    const Unzipped unzipped = unzip(bytes);
    CHECK_FALSE(unzipped.whole);
    CHECK(unzipped.text == first + "data: {\"b");
  }
}

// --- Writes
// ----------------------------------------------------------------------------------------------------------------

/// Where a delivery goes when only its writes matter.
class Writing final : public detail::Outlet {
 public:
  std::optional<std::size_t> write_some(std::string_view bytes) override {
    writes.emplace_back(bytes);
    return bytes.size();
  }
  bool wait_until_writable() override { return false; }
  bool drain() override { return true; }
  bool wait(detail::Pending&, OnClientClosed) override { return true; }
  void end(Ending) override {}
  void end_sending() override {}
  std::shared_ptr<detail::Wake> waker() override { return nullptr; }
  void guard_expired() override {}

  std::vector<std::string> writes;
};

inline std::vector<std::string> writes_of(const Reply& reply, bool streamed) {
  Writing outlet;
  detail::Timeline timeline(detail::Access::state(InstantClock{}), nullptr);
  detail::DeliveryProgress progress;
  detail::Delivery delivery(mock_gateway::detail::Access::data(reply), {}, outlet, timeline, timeline.now(), progress);
  if (streamed) {
    detail::ChunkEvents events(*mock_gateway::detail::Access::data(reply).chunks);
    delivery.stream("HEAD", events, true);
  } else {
    delivery.whole("HEAD", "BODY", 0);
  }
  return outlet.writes;
}

inline std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

TEST_CASE("a reply leaves in writes of a size, or in one, and its bytes stay the same") {
  const std::vector<std::string> usual = writes_of(two_events().write_each_event(), true);
  REQUIRE(usual.size() == 5);  // head, three events, terminating chunk
  CHECK(writes_of(two_events(), true) == std::vector<std::string>{joined(usual)});
  for (const std::size_t size : {1U, 3U, 1000U}) {
    const std::vector<std::string> sliced = writes_of(two_events().slice_writes(size), true);
    CHECK(joined(sliced) == joined(usual));
    for (const std::string& write : sliced) CHECK(write.size() <= size);
  }
  CHECK(writes_of(two_events().slice_writes(1000), true) == usual);
  CHECK(writes_of(two_events().slice_writes(1), true).size() == joined(usual).size());
  CHECK(writes_of(two_events().one_write(), true) == std::vector<std::string>{joined(usual)});
  CHECK(writes_of(raw_reply(200, "BODY").write_each_event(), false) == std::vector<std::string>{"HEADBODY"});
  CHECK(writes_of(raw_reply(200, "BODY").slice_writes(3), false) == std::vector<std::string>{"HEA", "DBO", "DY"});
  CHECK(writes_of(raw_reply(200, "BODY").fail(after_bytes(1), stall(1s)).one_write(), false) ==
        std::vector<std::string>{"HEADB", "ODY"});
  const Reply stalled = two_events().fail(after_events(1), stall(1s)).one_write();
  CHECK(writes_of(stalled, true) == std::vector<std::string>{usual[0] + usual[1], usual[2] + usual[3] + usual[4]});
}

TEST_CASE("a client sees the same reply, one write per byte or one for all") {
  for (const bool streamed : {true, false}) {
    const Reply reply = text("one Zürich");
    const Whole whole = unbroken(reply, streamed);
    const std::string expected = whole.up_to(0, 0) + whole.from(0, 0);
    for (const Reply& written : {reply.slice_writes(1), reply.write_each_event(), reply.one_write()}) {
      Fixture on(written, streamed);
      CHECK(on.connection.receive_response().raw == expected);
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
    }
  }
}

TEST_CASE("one write waits for the last token, and records nothing as sent before it") {
  Fixture on(text("a b").every(1s).one_write(), true);
  REQUIRE(on.clock.wait_for_waits(1, 5s));
  CHECK(on.stub.last_call().bytes_sent() == 0);
  CHECK(on.stub.last_call().events_sent() == 0);
  on.clock.advance(1s);
  CHECK(on.connection.receive_response().joined_text() == "a b");
  CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
  CHECK(on.stub.last_call().events_sent() == 5);
}

TEST_CASE("what precedes a close or a reset reaches a client that reads it late") {
  const std::string body(std::size_t{1} << 20, 'x');
  const std::pair<Effect, End> ends[] = {{close_connection(), End::fin}, {reset_connection(), End::reset}};
  for (const auto& end : ends) {
    CAPTURE(end.first.to_string());
    Gateway gateway(Options{}.verify_on_destruction(false));
    const Stub stub = gateway.chat().reply(raw_reply(200, body).fail(at_end(), end.first));
    test_support::ConnectionOptions small;
    small.receive_buffer = 4096;
    RawConnection connection(gateway, small);
    connection.send(Http(gateway).format_chat());
    REQUIRE(stub.wait_for_calls(1, 5s));
    const Exchange exchange = stub.last_call();
    // The system has taken it all, and the client nothing.
    REQUIRE(eventually([&] { return exchange.bytes_sent() > body.size(); }));
    CHECK(exchange.outcome(20ms) == Outcome::Kind::pending);
    const auto received = connection.receive_all();
    CHECK(received.bytes.size() == exchange.bytes_sent());
    CHECK(received.end == end.second);
    CHECK(exchange.outcome() == Outcome::Kind::failed_by_script);
  }
}

TEST_CASE("an error event stands in place of the next event, also of one that was to be left out or sent twice") {
  for (const Effect& effect : {skip_event(), duplicate_event()}) {
    Fixture on(text("a b").fail(after_tokens(1), effect).fail(after_tokens(1), error_event(server_error())), true);
    const auto response = on.connection.receive_response();
    CHECK(response.joined_text() == "a");
    const std::string& raw = response.raw;
    const std::size_t first = raw.find("data: {\"error\":");
    CHECK(first != std::string::npos);
    CHECK(raw.find("data: {\"error\":", first + 1) == std::string::npos);
  }
}

TEST_CASE("a reply that is always one piece takes no pace between tokens and no dialect") {
  CHECK_THROWS_AS(static_cast<void>(Reply(server_error()).every(1s)), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(Reply(server_error()).sse(SseDialect())), GatewayError);
  CHECK_NOTHROW(static_cast<void>(Reply(server_error()).first_token_after(1s)));
  const Reply measured = text("a").header("Content-Length", "3");
  CHECK_THROWS_AS(static_cast<void>(measured.fail(before_headers(), wrong_content_length(5))), GatewayError);
}

}  // namespace faults_test
