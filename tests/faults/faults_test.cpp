// Every trigger with every effect: the exact bytes and end that a client sees, pairs that throw, and the reports of
// verify() about unreached faults.
//
// The expected bytes are built from a reply to the same request without faults, which is identical in every gateway.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/whole_reply.hpp"

namespace faults_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::eventually;
using test_support::Http;
using test_support::http_chunk;
using test_support::OneExchange;
using test_support::patience;
using test_support::RawConnection;
using test_support::Response;
using test_support::terminator;
using test_support::unbroken;
using test_support::Whole;

constexpr const char* noise = "\x15\x03\x01\r\nnoise";

/// A trigger, and the part of the reply that arrives before it.
struct Point {
  Trigger trigger;
  bool head;
  std::size_t whole;  // number of complete pieces
  std::size_t part;   // number of bytes of the next piece
};

inline std::string before(const Whole& whole, const Point& point, bool announces_all = false) {
  return point.head ? whole.up_to(point.whole, point.part, announces_all) : "";
}

inline std::string after(const Whole& whole, const Point& point) {
  return (point.head ? "" : whole.head) + whole.from(point.whole, point.part);
}

/// Checks the effects that are possible at every point: those that end the connection or delay the reply.
inline void check_everywhere(const Reply& reply, bool streamed, const std::vector<Point>& points) {
  const Whole whole = unbroken(reply, streamed);
  for (const Point& point : points) {
    CAPTURE(point.trigger.to_string());
    const std::string expected = before(whole, point);
    const std::string rest = after(whole, point);
    for (const Effect& effect : {close_connection(), reset_connection(), garbage(noise)}) {
      CAPTURE(effect.to_string());
      OneExchange on(reply.fault(point.trigger, effect), streamed);
      const auto received = on.connection.receive_all();
      CHECK(received.bytes == expected + effect.bytes());
      CHECK(received.end == (effect.kind() == Effect::Kind::reset_connection ? End::reset : End::fin));
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::broken_by_fault);
      CHECK(on.gateway.verify());
    }
    {
      OneExchange on(reply.fault(point.trigger, half_close()), streamed);
      const auto received = on.connection.receive_all();
      CHECK(received.bytes == expected);
      CHECK(received.end == End::fin);
      const Exchange exchange = on.stub.last_call();
      CHECK(exchange.outcome(0ms) == Outcome::Kind::pending);
      on.connection.shutdown_write();
      CHECK(exchange.outcome() == Outcome::Kind::broken_by_fault);
      CHECK(exchange.client_closed_its_side());
    }
    {
      OneExchange on(reply.fault(point.trigger, stall()), streamed);
      CHECK(on.receive(expected.size()) == expected);
      on.clock.advance(24h);
      CHECK(on.connection.end() == End::open);
      const Exchange exchange = on.stub.last_call();
      CHECK(exchange.outcome(0ms) == Outcome::Kind::pending);
      on.connection.close();
      const bool was_done = expected.find("data: [DONE]\n\n") != std::string::npos;
      CHECK(exchange.outcome() == (was_done ? Outcome::Kind::completed : Outcome::Kind::client_left));
      CHECK(exchange.bytes_sent() == expected.size());
    }
    {
      OneExchange on(reply.fault(point.trigger, stall(1min)), streamed);
      CHECK(on.receive(expected.size()) == expected);
      REQUIRE(on.clock.wait_for_waits(1, patience));
      on.clock.advance(59s);
      CHECK(on.stub.last_call().bytes_sent() == expected.size());
      on.clock.advance(1s);
      CHECK(on.receive(rest.size()) == rest);
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
    }
    {
      Gate gate;
      OneExchange on(reply.fault(point.trigger, stall(gate)), streamed);
      CHECK(on.receive(expected.size()) == expected);
      REQUIRE(gate.wait_until_reached(patience));
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
    OneExchange on(reply.fault(point.trigger, truncate()), streamed);
    const auto received = on.connection.receive_all();
    CHECK(received.bytes == before(whole, point, true));
    CHECK(received.end == End::fin);
    CHECK(on.stub.last_call().outcome() == Outcome::Kind::broken_by_fault);
  }
}

// --- Streams ---------------------------------------------------------------------------------------------------------

inline Reply streamed_reply() { return text("one Zürich"); }  // events: role, two tokens, finish, [DONE]

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

TEST_CASE("a stall at the place of a truncation changes no byte") {
  const Reply reply = text("Z\u00fcrich two three");
  Gate open_gate;
  open_gate.open();
  const auto bytes_of = [](const Reply& broken) { return OneExchange(broken, true).connection.receive_all().bytes; };
  for (const Trigger& trigger : {inside_event(2, 9), inside_character(2), after_bytes(40)}) {
    CAPTURE(trigger.to_string());
    const std::string truncated = bytes_of(reply.fault(trigger, truncate()));
    CHECK(bytes_of(reply.fault(trigger, stall(open_gate)).fault(trigger, truncate())) == truncated);
    // If an earlier effect ends the reply instead, the chunk before it is complete.
    const std::string ended = bytes_of(reply.fault(trigger, garbage(noise)));
    CHECK(ended != truncated + noise);
    CHECK(bytes_of(reply.fault(trigger, garbage(noise)).fault(trigger, truncate())) == ended);
  }
}

TEST_CASE("a stream ends or waits exactly at the scripted place, after everything before it") {
  check_everywhere(streamed_reply(), true, points_of_a_stream());
}

TEST_CASE("a truncated stream ends in the middle of an HTTP chunk") {
  check_truncation(streamed_reply(), true, points_of_a_stream());
}

TEST_CASE("a handwritten stream breaks like a generated stream") {
  const Reply reply = chunks({{{"a", 1}}, {{"b", "é"}}, raw_bytes(": ping\n\n")});
  const Whole whole = unbroken(reply, true);
  REQUIRE(whole.pieces ==
          std::vector<std::string>{"data: {\"a\":1}\n\n", "data: {\"b\":\"é\"}\n\n", ": ping\n\n", "data: [DONE]\n\n"});
  const std::vector<Point> points = {
      {after_events(3), true, 3, 0}, {inside_event(3, 2), true, 2, 2}, {inside_character(2), true, 1, 13}};
  check_everywhere(reply, false, points);
  check_truncation(reply, false, points);
}

TEST_CASE("an error event replaces the rest of the stream except [DONE] and the terminating chunk") {
  const Whole whole = unbroken(streamed_reply(), true);
  const std::string done = http_chunk("data: [DONE]\n\n");
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
      OneExchange on(streamed_reply().fault(point.trigger, error_event({{"error", {{"message", "é"}}}})), true);
      const std::string expected = before(whole, point) + http_chunk("data: {\"error\":{\"message\":\"é\"}}\n\n") + end;
      CHECK(on.receive(expected.size()) == expected);
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::broken_by_fault);
      CHECK(on.connection.end() == End::open);
      on.connection.send(Http(on.gateway).format("GET", "/v1/models"));
      CHECK(on.connection.receive_response().status == 200);
    }
    {
      OneExchange on(streamed_reply().fault(point.trigger, error_event(server_error())), true);
      CHECK(on.connection.receive_response().raw ==
            before(whole, point) + http_chunk("data: " + failed + "\n\n") + end);
    }
  }
}

TEST_CASE("the next event is skipped or duplicated") {
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
      OneExchange on(streamed_reply().fault(next.trigger, skip_event()), true);
      const Response response = on.connection.receive_response();
      CHECK(response.raw == whole.up_to(next.piece, 0) + rest);
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
      CHECK(on.stub.last_call().events_sent() == 4);
    }
    {
      OneExchange on(streamed_reply().fault(next.trigger, duplicate_event()), true);
      CHECK(on.connection.receive_response().raw ==
            whole.up_to(next.piece + 1, 0) + http_chunk(whole.pieces[next.piece]) + rest);
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
      CHECK(on.stub.last_call().events_sent() == 6);
    }
  }
}

TEST_CASE("faults of one reply happen in order, and count the reply's events, even skipped ones") {
  const Whole whole = unbroken(streamed_reply(), true);
  OneExchange on(streamed_reply()
                     .fault(after_events(1), skip_event())
                     .fault(after_events(3), stall(1s))
                     .fault(after_events(3), reset_connection()),
                 true);
  const std::string expected = whole.up_to(1, 0) + http_chunk(whole.pieces[2]);
  CHECK(on.receive(expected.size()) == expected);
  REQUIRE(on.clock.wait_for_waits(1, patience));
  on.clock.advance(1s);
  CHECK(on.connection.receive_all().end == End::reset);
  CHECK(on.gateway.verify());
}

inline std::string in_http_1_0(std::string request) { return request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0"); }

TEST_CASE("for an HTTP/1.0 client the body simply ends at the cut") {
  const Whole whole = unbroken(streamed_reply(), true);
  for (const Effect& effect : {close_connection(), truncate()}) {
    OneExchange on(streamed_reply().fault(inside_character(3), effect), true, in_http_1_0);
    const auto received = on.connection.receive_all();
    CHECK(received.end == End::fin);
    const std::string body = received.bytes.substr(received.bytes.find("\r\n\r\n") + 4);
    const std::size_t size = whole.pieces[0].size() + whole.pieces[1].size() + whole.pieces[2].find("ü") + 1;
    CHECK(body.size() == size);
  }
}

TEST_CASE("each effect works on a stream to an HTTP/1.0 client, without HTTP chunks") {
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
      {close_connection(), "", End::fin, Outcome::Kind::broken_by_fault},
      {reset_connection(), "", End::reset, Outcome::Kind::broken_by_fault},
      {garbage(noise), noise, End::fin, Outcome::Kind::broken_by_fault},
      {truncate(), "", End::fin, Outcome::Kind::broken_by_fault},
      {error_event({{"error", 1}}), error, End::fin, Outcome::Kind::broken_by_fault},
      {stall(open_gate), after_it, End::fin, Outcome::Kind::completed},
      {skip_event(), whole.pieces[3] + whole.pieces[4], End::fin, Outcome::Kind::completed},
      {duplicate_event(), whole.pieces[2] + after_it, End::fin, Outcome::Kind::completed},
  };
  for (const Row& row : rows) {
    CAPTURE(row.effect.to_string());
    OneExchange on(streamed_reply().fault(after_tokens(1), row.effect), true, in_http_1_0);
    const auto received = on.connection.receive_all();
    CHECK(received.end == row.end);
    CHECK(received.bytes.substr(received.bytes.find("\r\n\r\n") + 4) == before_it + row.follows);
    CHECK(on.stub.last_call().outcome() == row.outcome);
  }
}

TEST_CASE("a request pipelined after a broken reply is answered only if the connection stays open") {
  const Whole whole = unbroken(streamed_reply(), true);
  const std::string expected = whole.up_to(2, 0);
  for (const Effect& effect : {close_connection(), reset_connection(), truncate(), garbage(noise), half_close()}) {
    CAPTURE(effect.to_string());
    OneExchange on(streamed_reply().fault(after_tokens(1), effect), true, [](const std::string& request) {
      std::string many;
      for (int i = 0; i < 200; ++i) many += request;  // exceeds what one read of the socket returns
      return many;
    });
    const auto received = on.connection.receive_all();
    CHECK(received.bytes == expected + effect.bytes());
    CHECK(received.end == (effect.kind() == Effect::Kind::reset_connection ? End::reset : End::fin));
    if (effect.kind() == Effect::Kind::half_close) on.connection.shutdown_write();
    CHECK(on.gateway.journal().wait_until_idle(patience));
    CHECK(on.gateway.journal().count() == 1);
  }
  for (const Effect& effect : {error_event({{"error", 1}}), skip_event(), duplicate_event()}) {
    CAPTURE(effect.to_string());
    OneExchange on(streamed_reply().fault(after_tokens(1), effect), true);
    on.connection.send(Http(on.gateway).format("GET", "/v1/models"));
    CHECK(on.connection.receive_response().complete);
    CHECK(on.connection.receive_response().header("Content-Type") == "application/json");
  }
}

TEST_CASE("a client that reads late after sending more gets its complete reply, although the connection closes" *
          doctest::skip(!test_support::tells_delivery)) {
  const std::string body(1u << 20, 'x');
  for (int run = 0; run < 20; ++run) {
    Gateway gateway;
    Stub stub = gateway.chat().reply(raw_reply(200, body));
    const std::string request = Http(gateway).with_header("Connection", "close").format_chat();
    RawConnection connection(gateway, {4096});
    connection.send(request);
    REQUIRE(stub.wait_for_calls(1, patience));
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

TEST_CASE("the stub is free again when a client's connection has ended") {
  for (const Effect& effect : {close_connection(), reset_connection(), garbage(noise), truncate()}) {
    CAPTURE(effect.to_string());
    std::promise<void> tried_again;
    const std::shared_future<void> wait = tried_again.get_future().share();
    Gateway gateway{Options{}.on_exchange([wait](const Exchange&) { wait.wait_for(5s); })};
    Stub stub = gateway.chat().reply(streamed_reply().fault(after_tokens(1), effect));
    for (int attempt = 0; attempt < 2; ++attempt) {
      RawConnection connection(gateway);
      connection.send(Http(gateway).format_chat({{"stream", true}}));
      CHECK(connection.receive_all().end == (effect.kind() == Effect::Kind::reset_connection ? End::reset : End::fin));
    }
    tried_again.set_value();
    CHECK(stub.peak_concurrency() == 1);
  }
}

TEST_CASE("bytes before a close or reset reach a client that reads late" *
          doctest::skip(!test_support::tells_delivery)) {
  const std::string body(std::size_t{1} << 20, 'x');
  const std::pair<Effect, End> ends[] = {{close_connection(), End::fin}, {reset_connection(), End::reset}};
  for (const auto& end : ends) {
    CAPTURE(end.first.to_string());
    Gateway gateway(Options{}.verify_on_destruction(false));
    const Stub stub = gateway.chat().reply(raw_reply(200, body).fault(at_end(), end.first));
    test_support::ConnectionOptions small;
    small.receive_buffer = 4096;
    RawConnection connection(gateway, small);
    connection.send(Http(gateway).format_chat());
    REQUIRE(stub.wait_for_calls(1, patience));
    const Exchange exchange = stub.last_call();
    // Waits until the system has accepted all bytes. The client has read none of them.
    REQUIRE(eventually([&] { return exchange.bytes_sent() > body.size(); }));
    CHECK(exchange.outcome(20ms) == Outcome::Kind::pending);
    const auto received = connection.receive_all();
    CHECK(received.bytes.size() == exchange.bytes_sent());
    CHECK(received.end == end.second);
    CHECK(exchange.outcome() == Outcome::Kind::broken_by_fault);
  }
}

TEST_CASE("an error event replaces the next event, even if another fault skips or duplicates that event") {
  for (const Effect& effect : {skip_event(), duplicate_event()}) {
    OneExchange on(text("a b").fault(after_tokens(1), effect).fault(after_tokens(1), error_event(server_error())),
                   true);
    const auto response = on.connection.receive_response();
    CHECK(response.joined_text() == "a");
    const std::string& raw = response.raw;
    const std::size_t first = raw.find("data: {\"error\":");
    CHECK(first != std::string::npos);
    CHECK(raw.find("data: {\"error\":", first + 1) == std::string::npos);
  }
}

// --- Plain replies ---------------------------------------------------------------------------------------------------

inline std::vector<Point> points_of_a_body(const Reply& reply) {
  const std::size_t size = unbroken(reply, false).pieces[0].size();
  REQUIRE(size > 2);
  return {
      {before_headers(), false, 0, 0}, {after_headers(), true, 0, 0},
      {after_bytes(1), true, 0, 1},    {after_bytes(size - 1), true, 0, size - 1},
      {after_bytes(size), true, 1, 0}, {at_end(), true, 1, 0},
  };
}

TEST_CASE("a plain reply, a failure and a raw reply end or wait exactly at the scripted place") {
  const std::vector<Reply> replies = {text("one Zürich"), Reply(rate_limited(2s)), raw_reply(502, "<h1>Bad</h1>")};
  for (const Reply& reply : replies) {
    std::vector<Point> points = points_of_a_body(reply);
    check_everywhere(reply, false, points);
    points.erase(points.end() - 2, points.end());  // nothing is left to truncate at the end
    check_truncation(reply, false, points);
  }
}

TEST_CASE("a Content-Length is wrong by the requested amount, for any status") {
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
      OneExchange on(reply.fault(before_headers(), wrong_content_length(difference)), false);
      const std::string expected = head + whole.pieces[0];
      CHECK(on.receive(expected.size()) == expected);
      CHECK(on.connection.end() == End::open);
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
      CHECK(on.gateway.verify());
    }
  }
}

TEST_CASE("several errors of a Content-Length add up, but never make it negative") {
  const auto announced = [](std::int64_t first, std::int64_t second) {
    OneExchange on(raw_reply(200, "abc")
                       .fault(before_headers(), wrong_content_length(first))
                       .fault(before_headers(), wrong_content_length(second)),
                   false);
    const std::string head = on.connection.receive_until("\r\n\r\n").bytes;
    CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
    CHECK(on.gateway.verify());
    const std::size_t start = head.find("Content-Length: ") + 16;
    return head.substr(start, head.find("\r\n", start) - start);
  };
  CHECK(announced(5, -2) == "6");
  CHECK(announced(-2, 5) == "6");
  CHECK(announced(-100, 5) == "5");
  CHECK(announced(5, -100) == "0");
}

TEST_CASE("a Content-Length with an error stays within the range of lengths") {
  const auto announced = [](std::int64_t difference) {
    OneExchange on(raw_reply(200, "abc").fault(before_headers(), wrong_content_length(difference)), false);
    return on.connection.receive_until("\r\n\r\n").bytes;
  };
  CHECK(announced(INT64_MAX).find("Content-Length: 9223372036854775807\r\n") != std::string::npos);
  CHECK(announced(INT64_MIN).find("Content-Length: 0\r\n") != std::string::npos);
}

TEST_CASE("a reply without a body breaks before and after its head") {
  for (const int status : {204, 304}) {
    const Reply reply = raw_reply(status, "");
    OneExchange unbroken_one(reply, false);
    const std::string head = unbroken_one.connection.receive_response().raw;
    for (const Trigger& trigger : {before_headers(), after_headers(), at_end()}) {
      for (const Effect& effect : {close_connection(), reset_connection(), garbage(noise)}) {
        CAPTURE(status);
        CAPTURE(trigger.to_string());
        CAPTURE(effect.to_string());
        OneExchange on(reply.fault(trigger, effect), false);
        const auto received = on.connection.receive_all();
        CHECK(received.bytes == (trigger.kind() == Trigger::Kind::before_headers ? "" : head) + effect.bytes());
        CHECK(received.end == (effect.kind() == Effect::Kind::reset_connection ? End::reset : End::fin));
      }
    }
  }
}

TEST_CASE("a fault that comes when the answer is complete is a problem, and nothing records that it happened") {
  const std::size_t size = unbroken(text("one two"), false).pieces[0].size();
  const std::string met = "every byte had been sent, and Content-Length was met; place it before the last byte";
  const std::string closes =
      "every byte had been sent, and the connection closes anyway; place it before the last byte";
  struct Row {
    Reply reply;
    Trigger trigger;
    Effect effect;
    bool keep_alive;
    std::string why;  // empty: it happens
  };
  const std::vector<Row> rows = {
      {text("one two"), at_end(), truncate(), true, met},
      {text("one two"), at_end(), truncate(), false, met},
      {text("one two"), after_bytes(size), truncate(), true, met},
      {raw_reply(200, "abc"), after_bytes(3), truncate(), true, met},
      {raw_reply(200, "abc"), at_end(), close_connection(), false, closes},
      {text("one two"), after_bytes(size), half_close(), false, closes},
      {raw_reply(204, ""), after_headers(), close_connection(), false, closes},
      // Without the fault, the connection would stay open.
      {text("one two"), at_end(), close_connection(), true, ""},
      // Without the fault, the client would wait for more bytes.
      {raw_reply(200, "abc").fault(before_headers(), wrong_content_length(2)), after_bytes(3), truncate(), true, ""},
      {raw_reply(200, "abc").header("Content-Length", "5"), after_bytes(3), truncate(), true, ""},
      {raw_reply(200, "3\r\nabc\r\n").header("Transfer-Encoding", "chunked"), after_bytes(8), truncate(), true, ""},
      {text("one two"), before_headers(), close_connection(), false, ""},
      {text("one two"), after_bytes(size - 1), truncate(), false, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.trigger.to_string());
    CAPTURE(row.effect.to_string());
    CAPTURE(row.keep_alive);
    Gateway gateway(Options{}.verify_on_destruction(false));
    const Stub stub = gateway.chat().reply(row.reply.fault(row.trigger, row.effect));
    const Http http(gateway);
    RawConnection connection(gateway);
    connection.send((row.keep_alive ? http : http.with_header("Connection", "close")).format_chat());
    if (row.why.empty()) {
      connection.receive_all();
      CHECK(stub.last_call().outcome() == Outcome::Kind::broken_by_fault);
      CHECK(gateway.verify());
      continue;
    }
    CHECK(connection.receive_response().status < 300);
    REQUIRE(stub.wait_for_calls(1, patience));
    CHECK(stub.last_call().outcome() == Outcome::Kind::completed);
    const Verification verification = gateway.verify();
    REQUIRE(verification.problems().size() == 1);
    CHECK(verification.problems()[0].kind == Problem::Kind::fault_not_reached);
    CHECK(verification.problems()[0].text.find("  " + row.effect.to_string() + " " + row.trigger.to_string() +
                                               ": the fault could not happen: " + row.why) != std::string::npos);
    CHECK(verification.notes().empty());
    CHECK(stub.last_call().faults().back().find(": not reached") != std::string::npos);
    if (row.keep_alive) {
      connection.send(http.format("GET", "/v1/models"));
      CHECK(connection.receive_response().status == 200);
    }
  }
}

TEST_CASE("the same fault happens in a stream, because its last HTTP chunk is missing") {
  for (const Effect& effect : {truncate(), close_connection(), half_close()}) {
    OneExchange on(text("one two").fault(at_end(), effect), true);
    CHECK(on.connection.receive_all().end == End::fin);
    on.connection.close();
    CHECK(on.stub.last_call().outcome() == Outcome::Kind::broken_by_fault);
    CHECK(on.gateway.verify());
  }
}

TEST_CASE("the same fault cannot happen in a stream over HTTP/1.0, which ends with its connection") {
  const auto in_1_0 = [](std::string request) { return request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0"); };
  const Reply reply = text("one two");
  for (const Effect& effect : {truncate(), close_connection(), half_close()}) {
    CAPTURE(effect.to_string());
    OneExchange on(reply.fault(at_end(), effect), true, in_1_0);
    CHECK(on.connection.receive_all().bytes == OneExchange(reply, true, in_1_0).connection.receive_all().bytes);
    CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
    const Verification verification = on.gateway.verify();
    REQUIRE(verification.problems().size() == 1);
    CHECK(verification.problems()[0].text.find(
              effect.to_string() +
              " at the end: the fault could not happen: every byte had been sent, and the connection closes anyway; "
              "place it before the last byte") != std::string::npos);
    for (const Reply& cut : {reply.fault(before_done(), effect), reply.fault(after_events(2), effect),
                             reply.sse(SseDialect{}.gzip(true)).fault(at_end(), effect),
                             reply.sse(SseDialect{}.open_after_done(true)).fault(at_end(), effect)}) {
      OneExchange shorter(cut, true, in_1_0);
      CHECK(shorter.connection.receive_all().end == End::fin);
      shorter.connection.close();
      CHECK(shorter.stub.last_call().outcome() == Outcome::Kind::broken_by_fault);
      CHECK(shorter.gateway.verify());
    }
  }
}

// --- Impossible faults and unreached faults --------------------------------------------------------------------------

inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const GatewayError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("setting an impossible pair of trigger and effect throws with advice") {
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
      {raw, after_bytes(4), half_close(), "the body has 3 bytes, so \"after 4 bytes of the body\" never happens"},
      {raw_reply(204, ""), after_bytes(1), stall(), "of status 204 has no body"},
      {raw, after_headers(), error_event({{"error", 1}}), "a raw reply has no events"},
      {failure, after_headers(), skip_event(), "a failure has no events"},
      {failure, at_end(), truncate(), "nothing of the body is left"},
      {raw_reply(200, ""), after_headers(), truncate(), "has no body"},
      {text("a"), before_headers(), truncate(), "the body has not begun; use close_connection()"},
      {text("a"), before_headers(), error_event(server_error()), "no stream has begun"},
      {text("a"), before_headers(), skip_event(), "no stream has begun"},
      {text("a"), at_end(), duplicate_event(), "no event follows; use before_done()"},
      {text("a"), at_end(), error_event({{"error", 1}}), "no event follows"},
      {text("a"), after_bytes(3), skip_event(), "cannot be sent inside another"},
      {text("a"), inside_event(1, 3), error_event({{"error", 1}}), "cannot be sent inside another"},
      {text("a"), inside_character(1), duplicate_event(), "cannot be sent inside another"},
      {text("a"), after_headers(), wrong_content_length(1), "is in the head; use before_headers()"},
      {chunks({}), before_headers(), wrong_content_length(1), "chunks are always streamed"},
      {raw_reply(204, ""), before_headers(), wrong_content_length(1), "status 204 has no Content-Length"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.trigger.to_string());
    CAPTURE(row.effect.to_string());
    CAPTURE(row.message);
    const std::string message = refusal([&] { static_cast<void>(row.reply.fault(row.trigger, row.effect)); });
    CAPTURE(message);
    CHECK(message.find(row.message) != std::string::npos);
  }
}

TEST_CASE("impossible values of faults and dialects throw") {
  CHECK(refusal([] { static_cast<void>(after_bytes(0)); }) ==
        "mock_gateway: after_bytes: bytes of the body count from 1, but 0 was given");
  CHECK(refusal([] { static_cast<void>(inside_event(0, 1)); }) ==
        "mock_gateway: inside_event: events count from 1, but 0 was given");
  CHECK(refusal([] { static_cast<void>(inside_event(1, 0)); }) ==
        "mock_gateway: inside_event: bytes of an event count from 1, but 0 was given");
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
  CHECK(refused([](SseDialect& d) { d = d.line_end("\n\n"); }).find("ends in") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d = d.event("a\nb"); }).find("event must be one line") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d = d.comment("a\rb"); }).find("comment must be one line") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d = d.after_done("a\n"); }).find("after_done must be one line") !=
        std::string::npos);
  CHECK(refused([](SseDialect& d) { d = d.retry(-1s); }).find("not negative") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d = d.retry(1500us); }).find("whole milliseconds") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d = d.ping_every(-1s); }).find("at least 1 ms") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d = d.ping_every(999us); }).find("at least 1 ms") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d = d.trailer("a: b\nc"); }).find("lines such as") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d = d.trailer("a b: c"); }) != "");
  CHECK(refused([](SseDialect& d) { d = d.trailer("a: b\r"); }) != "");
  CHECK(refused([](SseDialect& d) { d = d.ping(""); }).find("ping needs at least one line") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d = d.after_done("x").done(false); }).find("[DONE]") != std::string::npos);
  CHECK(refused([](SseDialect& d) { d = d.after_done("x").final_blank_line(false); }).find("blank line") !=
        std::string::npos);
  CHECK_THROWS_AS(choices(text("a").one_write(), text("b")), GatewayError);
}

TEST_CASE("a pace between tokens or a dialect throws for a reply in one piece") {
  CHECK_THROWS_AS(static_cast<void>(Reply(server_error()).every(1s)), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(Reply(server_error()).sse(SseDialect())), GatewayError);
  CHECK_NOTHROW(static_cast<void>(Reply(server_error()).first_token_after(1s)));
  const Reply measured = text("a").header("Content-Length", "3");
  CHECK_THROWS_AS(static_cast<void>(measured.fault(before_headers(), wrong_content_length(5))), GatewayError);
}

TEST_CASE("a fault that the reply does not reach is a problem in verify(), streamed and plain") {
  struct Row {
    Reply reply;
    bool streamed;
    const char* finding;
  };
  const SseDialect without_done = SseDialect().done(false);
  const std::vector<Row> rows = {
      {text("abc").fault(inside_character(2), stall()), true, "stall inside a character of event 2"},
      {text("abc").fault(inside_event(2, 5000), stall()), true, "stall inside event 2, after 5000 bytes"},
      {text("abc").fault(inside_event(9, 1), stall()), true, "stall inside event 9, after 1 byte"},
      {text("abc").fault(after_bytes(100000), half_close()), true, "half-close the connection after 100000 bytes"},
      {text("abc").fault(after_events(4), skip_event()), true, "skip an event after 4 events"},
      {text("abc").sse(without_done).fault(before_done(), duplicate_event()), true, "duplicate an event before [DONE]"},
      {text("abc").fault(before_headers(), wrong_content_length(-2)), true,
       "Content-Length wrong by -2 before headers"},
      {text("abc").fault(after_events(1), stall()), false, "stall after 1 event"},
      {text("abc").fault(after_tokens(1), stall()), false, "stall after 1 token"},
      {text("abc").fault(before_done(), stall()), false, "stall before [DONE]"},
      {text("abc").fault(after_bytes(100000), garbage("x")), false, "send 1 byte of garbage after 100000 bytes"},
      {text("abc").fault(after_headers(), error_event(server_error())), false, "send an error event after headers"},
      {text("abc").fault(after_headers(), skip_event()), false, "skip an event after headers"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.finding);
    OneExchange on(row.reply, row.streamed);
    REQUIRE(on.stub.wait_for_calls(1, patience));
    REQUIRE(on.stub.last_call().outcome() == Outcome::Kind::completed);
    const Verification verification = on.gateway.verify();
    CHECK_FALSE(verification);
    const std::string findings = verification.message();
    CAPTURE(findings);
    CHECK(findings.find(row.finding) != std::string::npos);
  }
}

}  // namespace faults_test
