// Chains of a reply's setters. Each setter returns a changed copy.

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"

namespace reply_chains_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;

/// Returns the plain and the streamed response that a client receives.
std::string answered(const Reply& reply) {
  Gateway gateway(Options().clock(ManualClock()).verify_on_destruction(false));
  gateway.chat().reply(reply);
  const Http http(gateway);
  const Json wish = {{"logprobs", true}, {"stream_options", {{"include_usage", true}}}};
  return http.chat({{"logprobs", true}}).raw + http.stream(wish).raw;
}

struct Row {
  const char* name;
  Reply made;
  std::function<Reply(const Reply&)> change;
};

#define SETTER(name, first, call)                              \
  Row {                                                        \
    name, first, [](const Reply& reply) { return reply.call; } \
  }

TEST_CASE("a setter of a reply changes a copy and leaves the original unchanged") {
  const Gate open;
  Gate(open).open();
  const Reply hello = text("Hello.");
  const Reply calls = tool_call("f").tool_call("g");
  const Row rows[] = {
      SETTER("thinking", hello, thinking("Well,")),
      SETTER("text", hello, text(" More.")),
      SETTER("text after thinking", thinking("Well,"), text("Hello.")),
      SETTER("tool_call", hello, tool_call("f", {{"a", 1}}, "call_1")),
      SETTER("malformed_tool_call", hello, malformed_tool_call("f", "{", "call_1")),
      SETTER("custom_tool_call", hello, custom_tool_call("f", "input", "call_1")),
      SETTER("interleaved", calls, interleaved()),
      SETTER("logprobs", hello, logprobs({-0.5})),
      SETTER("finish_reason", hello, finish_reason("length")),
      SETTER("finish_in_last_chunk", hello, finish_in_last_chunk()),
      SETTER("model", hello, model("other")),
      SETTER("usage", hello, usage(3, 4)),
      SETTER("usage of a TokenUsage", hello, usage(TokenUsage(3, 4).cached(1))),
      SETTER("usage of JSON", hello, usage(Json::object())),
      SETTER("extra", hello, extra({{"a", 1}})),
      SETTER("extra_message", hello, extra_message({{"a", 1}})),
      SETTER("extra_chunk", hello, extra_chunk(1, {{"a", 1}})),
      SETTER("chunk", chunks({{{"choices", Json::array()}}}), chunk(raw_bytes("data: 1\n\n"))),
      SETTER("verbatim", hello, verbatim()),
      SETTER("templated", text("call {{count}}"), templated()),
      SETTER("header", hello, header("X-One", "1")),
      SETTER("header of a failure", rate_limited(), header("X-One", "1")),
      SETTER("add_header", hello.header("X-One", "1"), add_header("X-One", "2")),
      SETTER("add_header of a failure", rate_limited(), add_header("X-One", "1")),
      SETTER("early_hints", hello, early_hints({{"Link", "</style.css>"}})),
      SETTER("every", hello, every(0s)),
      SETTER("first_token_after", hello, first_token_after(0s)),
      SETTER("tokens_per_second", hello, tokens_per_second(1e9)),
      SETTER("chunked", hello, chunked(by_characters())),
      SETTER("pace", hello, pace(Pace().chunked(by_characters(2)))),
      SETTER("fault", hello, fault(after_tokens(1), skip_event())),
      SETTER("sse", hello, sse(SseDialect().line_end("\r\n"))),
      SETTER("write_each_event", hello, write_each_event()),
      SETTER("slice_writes", hello, slice_writes(10)),
      SETTER("one_write", hello, one_write()),
      SETTER("split_write", hello, split_write(10)),
      SETTER("http_chunks_of", hello, http_chunks_of(10)),
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const std::string before = answered(row.made);
    const Reply changed = row.change(row.made);
    CHECK(answered(row.made) == before);
    CHECK(answered(row.change(Reply(row.made))) == answered(changed));
  }
  CHECK(answered(hello.hold(open, before_token(1))) == answered(hello));
}

}  // namespace reply_chains_test
