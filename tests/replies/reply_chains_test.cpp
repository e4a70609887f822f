// Setters of a reply, one after the other: of a named reply each makes a changed copy, of a temporary none is made.

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"

namespace reply_chains_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;

const void* place_of(const Reply& reply) { return &detail::Access::data(reply); }

/// What a client gets, plain and streamed. A reply that breaks is told by its first bytes.
std::string answered(const Reply& reply) {
  Gateway gateway(Options().clock(ManualClock()).verify_on_destruction(false));
  gateway.chat().reply(reply);
  const Http http(gateway);
  const Json wish = {{"logprobs", true}, {"stream_options", {{"include_usage", true}}}};
  return http.chat({{"logprobs", true}}).raw + http.stream(wish).raw;
}

/// A setter, of a named reply and of a temporary.
struct Row {
  template <class Setter>
  Row(const char* row_name, Reply first, Setter setter)
      : name(row_name),
        made(std::move(first)),
        of_named([setter](const Reply& reply) { return setter(reply); }),
        of_temporary([setter](Reply&& reply) { return setter(std::move(reply)); }) {}

  const char* name;
  Reply made;
  std::function<Reply(const Reply&)> of_named;
  std::function<Reply(Reply&&)> of_temporary;
};

#define SETTER(name, first, call)                                                                \
  Row {                                                                                          \
    name, first, [](auto&& reply) -> Reply { return std::forward<decltype(reply)>(reply).call; } \
  }

TEST_CASE("each setter changes a temporary in place, and a copy of a named reply") {
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
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const std::string before = answered(row.made);
    const Reply changed = row.of_named(row.made);
    CHECK(place_of(changed) != place_of(row.made));
    CHECK(answered(row.made) == before);

    Reply temporary = row.made.header("X-Own", "1");
    const void* const place = place_of(temporary);
    const Reply same = row.of_temporary(std::move(temporary));
    CHECK(place_of(same) == place);
    CHECK(answered(same) == answered(row.of_named(row.made.header("X-Own", "1"))));

    // A copy of what is given away does not see the change.
    Reply given = row.made.header("X-Own", "1");
    const Reply kept = given;
    const std::string kept_before = answered(kept);
    CHECK(place_of(row.of_temporary(std::move(given))) != place_of(kept));
    CHECK(answered(kept) == kept_before);
  }
  Reply held = hello.model("own");
  const void* const place = place_of(held);
  CHECK(place_of(std::move(held).hold(open, before_token(1))) == place);
  CHECK(answered(hello.hold(open, before_token(1))) == answered(hello));
}

TEST_CASE("a chain of setters keeps a long text where it is") {
  const std::string long_text(100000, 'x');
  Reply reply = text(long_text);
  const char* const bytes = detail::Access::data(reply).choices.front().text->data();
  const Reply chained = std::move(reply)
                            .thinking("Well,")
                            .tool_call("f")
                            .custom_tool_call("g", "input")
                            .finish_reason("stop")
                            .usage(1, 2)
                            .extra({{"a", 1}})
                            .header("A", "b")
                            .every(1ms)
                            .first_token_after(1ms)
                            .fault(after_tokens(3), stall(1ms))
                            .sse(SseDialect())
                            .one_write();
  CHECK(detail::Access::data(chained).choices.front().text->data() == bytes);
}

TEST_CASE("a chain of setters keeps the long body of an operation's answer where it is") {
  HttpReply reply(201, std::string(100000, 'x'));
  const char* const bytes = reply.body().data();
  const HttpReply named = reply.header("X-One", "1");
  CHECK(named.body().data() == bytes);
  CHECK(reply.headers().empty());
  const HttpReply chained = std::move(reply).header("X-One", "1").add_header("X-One", "2").header("X-Two", "3");
  CHECK(chained.body().data() == bytes);
  CHECK(chained.headers().size() == 3);
  CHECK(chained.headers().find("X-One") == "1");
}

TEST_CASE("a setter that refuses its argument leaves a reply that is given away as it was") {
  Reply reply = text("Hello.").header("A", "b");
  const std::string before = answered(reply);
  CHECK_THROWS_AS(static_cast<void>(std::move(reply).text("\xff")), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(std::move(reply).extra(Json(1))), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(std::move(reply).fault(after_headers(), wrong_content_length(1))), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(std::move(reply).usage(-1, 1)), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(std::move(reply).chunk(raw_bytes("x"))), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(std::move(reply).header("A", "\n")), GatewayError);
  CHECK(answered(reply) == before);  // NOLINT: nothing was taken from it
}

}  // namespace reply_chains_test
