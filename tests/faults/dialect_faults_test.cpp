// Faults in SSE dialects. The bytes of a fault come after the byte order mark. Two events are separated by a blank
// line, even if the dialect omits the last blank line of a stream.

#include <chrono>
#include <string>
#include <utility>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace dialect_faults_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;

/// Returns the body of a stream with the events {"a":1} and {"b":2} and this fault.
std::string body_of(const SseDialect& dialect, const Trigger& trigger, const Effect& effect) {
  Gateway gateway{Options{}.clock(InstantClock{})};
  gateway.chat().reply(chunks({{{"a", 1}}, {{"b", 2}}}).sse(dialect).fault(trigger, effect));
  return Http(gateway).stream().body;
}

const Json broke{{"error", "it broke"}};

TEST_CASE("an error event that replaces the first event comes after the byte order mark") {
  SseDialect dialect = SseDialect().byte_order_mark(true);
  CHECK(body_of(dialect, after_headers(), error_event(broke)) ==
        "\xEF\xBB\xBF"
        "data: {\"error\":\"it broke\"}\n\ndata: [DONE]\n\n");
  CHECK(body_of(dialect, after_events(1), error_event(broke)) ==
        "\xEF\xBB\xBF"
        "data: {\"a\":1}\n\ndata: {\"error\":\"it broke\"}\n\ndata: [DONE]\n\n");
}

TEST_CASE("pings before the first event come after the byte order mark") {
  SseDialect dialect = SseDialect().byte_order_mark(true).ping_every(1s);
  CHECK(body_of(dialect, after_headers(), stall(1500ms)) ==
        "\xEF\xBB\xBF"
        ": ping\n\ndata: {\"a\":1}\n\ndata: {\"b\":2}\n\ndata: [DONE]\n\n");
}

TEST_CASE("duplicating the last event gives two events, the second without a blank line") {
  SseDialect dialect = SseDialect().final_blank_line(false);
  CHECK(body_of(dialect, before_done(), duplicate_event()) ==
        "data: {\"a\":1}\n\ndata: {\"b\":2}\n\ndata: [DONE]\n\ndata: [DONE]\n");
  dialect = dialect.done(false);
  CHECK(body_of(dialect, after_events(1), duplicate_event()) ==
        "data: {\"a\":1}\n\ndata: {\"b\":2}\n\ndata: {\"b\":2}\n");
}

TEST_CASE("an error event after the last event is a separate event") {
  SseDialect dialect = SseDialect().final_blank_line(false);
  CHECK(body_of(dialect, after_events(3), error_event(broke)) ==
        "data: {\"a\":1}\n\ndata: {\"b\":2}\n\ndata: [DONE]\n\ndata: {\"error\":\"it broke\"}\n");
  dialect = dialect.done(false);
  CHECK(body_of(dialect, before_done(), error_event(broke)) ==
        "data: {\"a\":1}\n\ndata: {\"b\":2}\n\ndata: {\"error\":\"it broke\"}\n");
}

TEST_CASE("an error event follows the last scripted chunk directly, even an unfinished one") {
  const std::pair<StreamChunk, std::string> rows[] = {{raw_bytes("data: mine\n\n"), "data: mine\n\n"},
                                                      {raw_bytes("data: mi"), "data: mi"},
                                                      {event("id: 7"), "id: 7\n\n"},
                                                      {json_chunk(Json{{"b", 2}}), "data: {\"b\":2}\n\n"}};
  const SseDialect dialect = SseDialect().final_blank_line(false).done(false);
  for (const auto& [last, bytes] : rows) {
    Gateway gateway{Options{}.clock(InstantClock{})};
    gateway.chat().reply(chunks({{{"a", 1}}, last}).sse(dialect).fault(before_done(), error_event(broke)));
    CHECK(Http(gateway).stream().body == "data: {\"a\":1}\n\n" + bytes + "data: {\"error\":\"it broke\"}\n");
  }
}

}  // namespace dialect_faults_test
