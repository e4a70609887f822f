// The exact bytes of replies: each SSE dialect, pings, gzip, and the number of writes.
//
// The expected bytes are built from a reply to the same request without faults, which is identical in every gateway.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/outlet.hpp"
#include "support/printing.hpp"
#include "support/whole_reply.hpp"

namespace sse_dialects_test {

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
using test_support::unbroken;
using test_support::Whole;

// --- Dialects --------------------------------------------------------------------------------------------------------

inline Reply two_events() { return chunks({{{"a", 1}}, {{"b", 2}, {"c", 3}}}); }

/// Returns the chunks of a stream.
inline std::vector<std::string> chunks_of(const Reply& reply) { return unbroken(reply, true).pieces; }

TEST_CASE("each dialect has its exact bytes") {
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
       [](SseDialect& d) { d = d.line_end("\r\n"); },
       {"data: " + a + "\r\n\r\n", "data: " + b + "\r\n\r\n", "data: [DONE]\r\n\r\n"}},
      {"lone CR",
       [](SseDialect& d) { d = d.line_end("\r"); },
       {"data: " + a + "\r\r", "data: " + b + "\r\r", "data: [DONE]\r\r"}},
      {"no space after the colon",
       [](SseDialect& d) { d = d.space_after_colon(false).event("message").comment("c"); },
       {":c\n\n", "event:message\ndata:" + a + "\n\n", ":c\n\n", "event:message\ndata:" + b + "\n\n", ":c\n\n",
        "event:message\ndata:[DONE]\n\n"}},
      {"without [DONE]", [](SseDialect& d) { d = d.done(false); }, {"data: " + a + "\n\n", "data: " + b + "\n\n"}},
      {"a byte order mark",
       [](SseDialect& d) { d = d.byte_order_mark(true); },
       {"\xEF\xBB\xBF", "data: " + a + "\n\n", "data: " + b + "\n\n", "data: [DONE]\n\n"}},
      {"event, id and retry",
       [](SseDialect& d) { d = d.event("chunk").ids(true).retry(1500ms); },
       {"event: chunk\nid: 1\nretry: 1500\ndata: " + a + "\n\n", "event: chunk\nid: 2\ndata: " + b + "\n\n",
        "event: chunk\nid: 3\ndata: [DONE]\n\n"}},
      {"data on several lines",
       [](SseDialect& d) { d = d.multi_line_data(true); },
       {"data: {\ndata: \"a\":1\ndata: }\n\n", "data: {\ndata: \"b\":2,\"c\":3\ndata: }\n\n", "data: [DONE]\n\n"}},
      {"comments",
       [](SseDialect& d) { d = d.comment("PROCESSING"); },
       {": PROCESSING\n\n", "data: " + a + "\n\n", ": PROCESSING\n\n", "data: " + b + "\n\n", ": PROCESSING\n\n",
        "data: [DONE]\n\n"}},
      {"no final blank line",
       [](SseDialect& d) { d = d.final_blank_line(false); },
       {"data: " + a + "\n\n", "data: " + b + "\n\n", "data: [DONE]\n"}},
      {"neither [DONE] nor the final blank line",
       [](SseDialect& d) { d = d.final_blank_line(false).done(false); },
       {"data: " + a + "\n\n", "data: " + b + "\n"}},
      {"data after [DONE]",
       [](SseDialect& d) { d = d.after_done("{\"late\":true}"); },
       {"data: " + a + "\n\n", "data: " + b + "\n\n", "data: [DONE]\n\n", "data: {\"late\":true}\n\n"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    SseDialect dialect;
    row.change(dialect);
    CHECK(chunks_of(two_events().sse(dialect)) == row.expected);
  }
}

TEST_CASE("trailer fields follow the last chunk, and the connection is kept") {
  for (const bool compressed : {false, true}) {
    Gateway gateway;
    gateway.chat().reply(two_events().sse(SseDialect().gzip(compressed).trailer("x-checksum: 7f\nx-took:12\n")));
    const Http http{gateway};
    RawConnection connection{gateway};
    for (int i = 0; i < 2; ++i) {
      connection.send(http.format_chat());
      const Response response = connection.receive_response();
      CHECK(response.complete);
      const std::string end = "\r\n0\r\nx-checksum: 7f\r\nx-took:12\r\n\r\n";
      REQUIRE(response.raw.size() > end.size());
      CHECK(response.raw.substr(response.raw.size() - end.size()) == end);
    }
    CHECK(gateway.journal().last().reused_connection());
  }
}

TEST_CASE("an SSE parser reads data split over several lines as the same JSON") {
  SseDialect dialect = SseDialect().multi_line_data(true);
  OneExchange on(text("one two").sse(dialect), true);
  CHECK(on.connection.receive_response().joined_text() == "one two");
  // Only objects that are not empty are split into lines.
  CHECK(chunks_of(chunks({json_chunk(Json::object()), json_chunk(Json::array({1}))}).sse(dialect)) ==
        std::vector<std::string>{"data: {\ndata: }\n\n", "data: [1]\n\n", "data: [DONE]\n\n"});
}

TEST_CASE("a dialect sets or omits the content type") {
  for (const char* const type : {"text/event-stream", "text/plain", ""}) {
    CAPTURE(type);
    SseDialect dialect = SseDialect().content_type(type);
    OneExchange on(two_events().sse(dialect), true);
    const Response response = on.connection.receive_response();
    CHECK(response.header("Content-Type") == type);
    CHECK(response.has("Content-Type") == (*type != '\0'));
  }
}

TEST_CASE("a dialect can keep the body and the connection open after [DONE] until the client leaves") {
  SseDialect dialect = SseDialect().open_after_done(true);
  const Whole whole = unbroken(two_events(), true);
  OneExchange on(two_events().sse(dialect), true);
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

TEST_CASE("the journal counts bytes and events as the dialect writes them") {
  SseDialect dialect = SseDialect().byte_order_mark(true).comment("c").ids(true);
  const std::string start = http_chunk("\xEF\xBB\xBF");
  const std::string comment = http_chunk(": c\n\n");
  const auto body = [&](const Trigger& trigger) {
    OneExchange on(two_events().sse(dialect).fault(trigger, close_connection()), true);
    const std::string bytes = on.connection.receive_all().bytes;
    return bytes.substr(bytes.find("\r\n\r\n") + 4);
  };
  CHECK(body(after_bytes(2)) == http_chunk("\xEF\xBB"));
  CHECK(body(after_bytes(3)) == start);
  CHECK(body(after_bytes(8)) == start + comment);
  CHECK(body(after_bytes(10)) == start + comment + http_chunk("id"));
  CHECK(body(inside_event(1, 7)) == start + comment + http_chunk("id: 1\nd"));
}

// --- Pings -----------------------------------------------------------------------------------------------------------

inline SseDialect pinging(Duration interval, std::string ping = ": ping") {
  const SseDialect dialect = SseDialect().ping_every(interval).ping(std::move(ping));
  return dialect;
}

TEST_CASE("pings come at their times while the reply waits for its next token") {
  const Whole whole = unbroken(text("a b"), true);
  const Reply reply = text("a b").first_token_after(1s).every(1s).sse(pinging(400ms));
  const std::string ping = http_chunk(": ping\n\n");
  const std::vector<std::string> steps = {ping, ping, http_chunk(whole.pieces[1]), ping, ping, ping + whole.from(2, 0)};
  OneExchange on(reply, true);
  const std::string start = whole.up_to(1, 0);
  CHECK(on.receive(start.size()) == start);
  REQUIRE(on.clock.wait_for_waits(1, patience));
  const std::vector<Duration> gaps = {400ms, 400ms, 200ms, 200ms, 400ms, 400ms};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CAPTURE(i);
    CHECK(on.clock.advance_to_next_event() == gaps[i]);
    CHECK(on.receive(steps[i].size()) == steps[i]);
  }
  CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
  CHECK(on.stub.last_call().events_sent() == 5);  // pings do not count
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

TEST_CASE("pings continue during a stall, even pings with several lines") {
  const Whole whole = unbroken(text("a"), true);
  OneExchange on(text("a").fault(after_tokens(1), stall()).sse(pinging(15s, "id: 7\n: ping")), true);
  const std::string start = whole.up_to(2, 0);
  CHECK(on.receive(start.size()) == start);
  const std::string ping = http_chunk("id: 7\n: ping\n\n");
  for (int i = 0; i < 3; ++i) {
    REQUIRE(on.clock.wait_for_waits(1, patience));
    CHECK(on.clock.waits()[0].name == "a ping");
    CHECK(on.clock.advance_to_next_event() == 15s);
    CHECK(on.receive(ping.size()) == ping);
  }
  on.connection.close();
  CHECK(on.stub.last_call().outcome() == Outcome::Kind::client_left);
}

TEST_CASE("pings continue while a stream is held at a gate") {
  const Whole whole = unbroken(text("a"), true);
  Gate gate;
  OneExchange on(text("a").hold(gate, before_token(1)).sse(pinging(1s)), true);
  const std::string start = whole.up_to(1, 0);
  CHECK(on.receive(start.size()) == start);
  REQUIRE(gate.wait_until_reached(patience));
  REQUIRE(on.clock.wait_for_waits(1, patience));
  on.clock.advance(1s);
  const std::string ping = http_chunk(": ping\n\n");
  CHECK(on.receive(ping.size()) == ping);
  gate.open();
  const std::string rest = whole.from(1, 0);
  CHECK(on.receive(rest.size()) == rest);
  CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
  CHECK_FALSE(on.stub.last_call().guard_expired());
}

TEST_CASE("no ping is sent inside an event or in a plain reply") {
  const Whole whole = unbroken(text("a"), true);
  {
    OneExchange on(text("a").fault(inside_event(2, 9), stall(1min)).sse(pinging(40s)), true);
    const std::string start = whole.up_to(1, 9);
    CHECK(on.receive(start.size()) == start);
    REQUIRE(on.clock.wait_for_waits(1, patience));
    CHECK(on.clock.advance_to_next_event() == 1min);
    const std::string rest = whole.from(1, 9);
    CHECK(on.receive(rest.size()) == rest);
  }
  {
    OneExchange on(text("a").first_token_after(1min).sse(pinging(40s)), false);
    REQUIRE(on.clock.wait_for_waits(1, patience));
    CHECK(on.clock.advance_to_next_event() == 1min);
    CHECK(on.connection.receive_response().text() == "a");
  }
}

TEST_CASE("only the last of several pings that a stall inside an event delays is sent") {
  const Whole whole = unbroken(text("a b"), true);
  OneExchange on(text("a b").every(1h).fault(inside_event(2, 9), stall(605s)).sse(pinging(15s)), true);
  const std::string start = whole.up_to(1, 9);
  CHECK(on.receive(start.size()) == start);
  REQUIRE(on.clock.wait_for_waits(1, patience));
  CHECK(on.clock.advance_to_next_event() == 605s);
  const std::string ping = http_chunk(": ping\n\n");
  const std::string next = http_chunk(whole.pieces[1].substr(9)) + ping;
  CHECK(on.receive(next.size()) == next);
  REQUIRE(on.clock.wait_for_waits(1, patience));
  CHECK(on.clock.advance_to_next_event() == 10s);  // the next ping is due at 615 s
  CHECK(on.receive(ping.size()) == ping);
  on.connection.abort();
  CHECK(on.stub.last_call().outcome() == Outcome::Kind::client_left);
}

TEST_CASE("a ping due before the stream began is dropped") {
  const Whole whole = unbroken(text("a"), true);
  const Reply reply = text("a").fault(before_headers(), stall(1s)).first_token_after(1500ms).sse(pinging(400ms));
  OneExchange on(reply, true);
  REQUIRE(on.clock.wait_for_waits(1, patience));
  CHECK(on.clock.advance_to_next_event() == 1s);
  const std::string start = whole.up_to(1, 0);
  CHECK(on.receive(start.size()) == start);
  REQUIRE(on.clock.wait_for_waits(1, patience));
  CHECK(on.clock.advance_to_next_event() == 200ms);
  const std::string ping = http_chunk(": ping\n\n");
  CHECK(on.receive(ping.size()) == ping);
  REQUIRE(on.clock.wait_for_waits(1, patience));
  CHECK(on.clock.advance_to_next_event() == 300ms);
  CHECK(on.receive(whole.from(1, 0).size()) == whole.from(1, 0));
}

TEST_CASE("no ping is sent after the gateway half-closes, and the exchange lasts until its client closes") {
  const Whole whole = unbroken(text("a"), true);
  OneExchange on(text("a").fault(after_tokens(1), half_close()).sse(pinging(15s)), true);
  const auto received = on.connection.receive_all();
  CHECK(received.bytes == whole.up_to(2, 0));
  CHECK(received.end == End::fin);
  const auto half_closed = [&] {
    return on.stub.wait_for_calls(2, 0ms).message().find("stays half-closed as scripted") != std::string::npos;
  };
  REQUIRE(eventually(half_closed));
  for (int i = 0; i < 3; ++i) on.clock.advance(15s);
  CHECK(on.clock.waits().empty());
  CHECK(on.stub.last_call().outcome(0ms) == Outcome::Kind::pending);
  on.connection.close();
  CHECK(on.stub.last_call().outcome() == Outcome::Kind::broken_by_fault);
}

TEST_CASE("pings that are not due because the clock is stopped are no problem") {
  ManualClock clock{ManualClock::default_start, 50ms};
  Gateway gateway{Options{}.clock(clock)};
  Gate gate;
  Stub stub = gateway.chat().reply(text("a").hold(gate, before_token(1)).sse(pinging(1s)));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(patience));
  CHECK(eventually([&] { return clock.waits().empty(); }));  // the guard has ended the wait for the ping
  gate.open();
  CHECK(connection.receive_response().joined_text() == "a");
  CHECK_FALSE(stub.last_call().guard_expired());
}

// --- gzip ------------------------------------------------------------------------------------------------------------

/// The received content of a gzip member with stored blocks. `whole` is true if its end and its checksum have arrived.
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
  std::uint32_t checksum = 0xffffffff;  // CRC-32, computed bit by bit
  for (const char byte : result.text) {
    checksum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) checksum = (checksum >> 1) ^ (checksum & 1 ? 0xedb88320 : 0);
  }
  CHECK(number(at, 4) == ~checksum);
  CHECK(number(at + 4, 4) == result.text.size());
  result.whole = at + 8 == bytes.size();
  return result;
}

TEST_CASE("a gzip stream has the same text, and each event is readable on arrival") {
  SseDialect dialect = SseDialect().gzip(true);
  const std::string long_text(200000, 'x');
  const Reply reply = chunks({{{"a", 1}}, {{"long", long_text}}});
  OneExchange on(reply.sse(dialect), true);
  const Response response = on.connection.receive_response();
  CHECK(response.header("Content-Encoding") == "gzip");
  std::string plain;
  for (const std::string& event : chunks_of(reply)) plain += event;
  const Unzipped unzipped = unzip(response.body);
  CHECK(unzipped.whole);
  CHECK((unzipped.text == plain));  // in parentheses, because the texts are too long to print
  CHECK(unzip(response.body.substr(0, response.chunks[0])).text == chunks_of(reply)[0]);
}

TEST_CASE("the place of a fault in a gzip stream counts in the uncompressed text") {
  const SseDialect dialect = SseDialect().gzip(true);
  const std::string first = chunks_of(two_events())[0];
  for (const Effect& effect : {close_connection(), reset_connection(), truncate()}) {
    CAPTURE(effect.to_string());
    OneExchange on(two_events().sse(dialect).fault(inside_event(2, 9), effect), true);
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
        CHECK(body.size() == 5 + 9);  // the received part of a chunk that announced more
        break;
      }
      body.remove_prefix(size + 2);
    }
    const Unzipped unzipped = unzip(bytes);
    CHECK_FALSE(unzipped.whole);
    CHECK(unzipped.text == first + "data: {\"b");
  }
}

// --- Writes ----------------------------------------------------------------------------------------------------------

/// An outlet that records the writes of a delivery.
class Writing final : public test_support::WritesOnly {
 public:
  std::optional<std::size_t> write_some(std::string_view bytes) override {
    writes.emplace_back(bytes);
    return bytes.size();
  }

  std::vector<std::string> writes;
};

inline std::vector<std::string> writes_of(const Reply& reply, bool streamed) {
  Writing outlet;
  detail::Timeline timeline(detail::Access::state(InstantClock{}), nullptr);
  detail::DeliveryProgress progress;
  detail::PaceSchedule pace;
  detail::Delivery delivery(mock_gateway::detail::Access::data(reply), pace, outlet, timeline, timeline.now(),
                            progress);
  if (streamed) {
    detail::ChunkEvents events(*mock_gateway::detail::Access::data(reply).chunks);
    delivery.stream("HEAD", events, true);
    delivery.advance();
  } else {
    delivery.whole("HEAD", "BODY", 0);
    delivery.advance();
  }
  return outlet.writes;
}

inline std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

TEST_CASE("a reply can be sent in writes of a given size or in one write, with the same bytes") {
  const std::vector<std::string> usual = writes_of(two_events().write_each_event(), true);
  REQUIRE(usual.size() == 5);  // the head, three events and the terminating chunk
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
  CHECK(writes_of(raw_reply(200, "BODY").fault(after_bytes(1), stall(1s)).one_write(), false) ==
        std::vector<std::string>{"HEADB", "ODY"});
  const Reply stalled = two_events().fault(after_events(1), stall(1s)).one_write();
  CHECK(writes_of(stalled, true) == std::vector<std::string>{usual[0] + usual[1], usual[2] + usual[3] + usual[4]});
}

TEST_CASE("a client sees the same reply in single-byte writes and in one write") {
  for (const bool streamed : {true, false}) {
    const Reply reply = text("one Zürich");
    const Whole whole = unbroken(reply, streamed);
    const std::string expected = whole.up_to(0, 0) + whole.from(0, 0);
    for (const Reply& written : {reply.slice_writes(1), reply.write_each_event(), reply.one_write()}) {
      OneExchange on(written, streamed);
      CHECK(on.connection.receive_response().raw == expected);
      CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
    }
  }
}

TEST_CASE("a single write waits for the last token, and nothing is recorded as sent before it") {
  OneExchange on(text("a b").every(1s).one_write(), true);
  REQUIRE(on.clock.wait_for_waits(1, patience));
  CHECK(on.stub.last_call().bytes_sent() == 0);
  CHECK(on.stub.last_call().events_sent() == 0);
  on.clock.advance(1s);
  CHECK(on.connection.receive_response().joined_text() == "a b");
  CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
  CHECK(on.stub.last_call().events_sent() == 5);
}

// --- HTTP chunks -----------------------------------------------------------------------------------------------------

/// Returns the bytes in HTTP chunks of at most `most` bytes. If `missing` is not 0, the last chunk is cut short, and
/// announces those bytes too, up to its limit.
inline std::string cut(std::string_view bytes, std::size_t most, std::size_t missing = 0) {
  std::string all;
  for (; bytes.size() >= most; bytes.remove_prefix(most)) all += http_chunk(bytes.substr(0, most));
  if (bytes.empty() && missing == 0) return all;
  return all + http_chunk(bytes, std::min(missing, most - bytes.size()));
}

TEST_CASE("a stream can be sent in small HTTP chunks that end inside events and characters") {
  const std::string events[] = {"data: {\"a\":\"Zürich\"}\n\n", "data: {\"b\":2}\n\n", "data: [DONE]\n\n"};
  const Reply reply = chunks({{{"a", "Zürich"}}, {{"b", 2}}});
  for (const std::size_t size : {1U, 3U, 14U, 16U, 1000U}) {
    CAPTURE(size);
    std::string expected;
    for (const std::string& event : events) expected += cut(event, size);
    const std::vector<std::string> usual = writes_of(reply.http_chunks_of(size), true);
    CHECK(usual == std::vector<std::string>{"HEAD" + expected + "0\r\n\r\n"});
    // Each event has its own chunks, so an event that is due is sent whole.
    OneExchange on(reply.http_chunks_of(size).fault(after_events(1), stall(1s)), true);
    const std::string head = unbroken(reply, true).head;
    CHECK(on.receive((head + cut(events[0], size)).size()) == head + cut(events[0], size));
    on.clock.advance(1s);
    const std::string rest = cut(events[1], size) + cut(events[2], size) + "0\r\n\r\n";
    CHECK(on.receive(rest.size()) == rest);
    CHECK(on.stub.last_call().outcome() == Outcome::Kind::completed);
  }
  CHECK_THROWS_AS(text("a").http_chunks_of(0), GatewayError);
  CHECK_THROWS_AS(raw_reply(200, "a").http_chunks_of(1), GatewayError);
  CHECK_THROWS_AS(Reply(server_error()).http_chunks_of(1), GatewayError);
  CHECK_THROWS_AS(choices(text("a").http_chunks_of(1), text("b")), GatewayError);
}

TEST_CASE("comments, pings and raw bytes are cut too, and a plain or HTTP/1.0 reply is not") {
  const SseDialect dialect = SseDialect().byte_order_mark(true).comment("PROCESSING");
  const SseDialect with_trailer = dialect.trailer("X-A: 1");
  const Reply reply = chunks({raw_bytes(": raw\n\n"), {{"a", 1}}}).sse(dialect);
  std::string expected;
  for (const std::string& piece : chunks_of(reply)) expected += cut(piece, 4);
  CHECK(writes_of(reply.sse(with_trailer).http_chunks_of(4).one_write(), true) ==
        std::vector<std::string>{"HEAD" + expected + "0\r\nX-A: 1\r\n\r\n"});
  CHECK(writes_of(reply.http_chunks_of(4).slice_writes(1), true).size() == ("HEAD" + expected + "0\r\n\r\n").size());

  const Whole plain = unbroken(text("one two"), false);
  CHECK(OneExchange(text("one two").http_chunks_of(1), false).connection.receive_response().raw ==
        plain.head + plain.pieces.front());
  const auto in_1_0 = [](std::string request) { return request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0"); };
  CHECK(OneExchange(reply.http_chunks_of(1), true, in_1_0).connection.receive_all().bytes ==
        OneExchange(reply, true, in_1_0).connection.receive_all().bytes);
}

TEST_CASE("a gzip stream is cut after compression") {
  const Reply reply = chunks({{{"a", "Zürich"}}, {{"b", 2}}}).sse(SseDialect().gzip(true));
  const Response whole = OneExchange(reply, true).connection.receive_response();
  for (const std::size_t size : {1U, 7U, 11U}) {
    const Response divided = OneExchange(reply.http_chunks_of(size), true).connection.receive_response();
    CHECK(divided.body == whole.body);
    CHECK(divided.chunks.size() >= whole.body.size() / size);
    CHECK(*std::max_element(divided.chunks.begin(), divided.chunks.end()) == size);
  }
}

TEST_CASE("a fault inside an event cuts small HTTP chunks where it cuts the event") {
  const std::string event = "data: {\"a\":\"Zürich\"}\n\n";
  const Reply reply = chunks({{{"a", "Zürich"}}}).http_chunks_of(8);
  const std::string head = unbroken(reply, true).head;
  const auto bytes_until = [&](std::size_t byte, const Effect& effect) {
    OneExchange on(reply.fault(inside_event(1, byte), effect), true);
    const std::string bytes = on.connection.receive_all().bytes;
    CHECK(on.stub.last_call().outcome() == Outcome::Kind::broken_by_fault);
    return bytes;
  };
  for (std::size_t byte = 1; byte < event.size(); ++byte) {
    CAPTURE(byte);
    CHECK(bytes_until(byte, truncate()) == head + cut(event.substr(0, byte), 8, event.size() - byte));
    CHECK(bytes_until(byte, close_connection()) == head + cut(event.substr(0, byte), 8));
  }
  CHECK(bytes_until(3, garbage("!")) == head + cut("dat", 8) + "!");
}

TEST_CASE("the answer in the journal has no HTTP chunk framing, whatever the size of the chunks") {
  for (const std::size_t size : {1U, 5U, 1000U}) {
    CAPTURE(size);
    Gateway gateway{Options{}.clock(InstantClock{}).keep_answers(true)};
    gateway.chat().reply(
        chunks({{{"a", "Zürich"}}, {{"b", 2}}}).http_chunks_of(size).fault(inside_event(2, 7), truncate()));
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    connection.receive_all();
    REQUIRE(gateway.journal().last().outcome() == Outcome::Kind::broken_by_fault);
    const SentAnswer answer = *gateway.journal().last().answer();
    CHECK(answer.body() == "data: {\"a\":\"Zürich\"}\n\ndata: {");
    CHECK(answer.parts.size() == 2);
    CHECK(answer.missing == std::min<std::size_t>(8, size - 7 % size));
  }
}

}  // namespace sse_dialects_test
