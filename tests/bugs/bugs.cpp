// Tests as authors of clients write them, each for a client with one bug. The program runs with the bugs (SEEDED set)
// and without them. named_test.py checks that the output of each failed test names the cause.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#define MOCK_GATEWAY_ADAPTER_DOCTEST
#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <string>

#include "client.hpp"

using namespace mock_gateway;
using namespace std::chrono_literals;
using bugs::Answer;
using bugs::Bug;
using bugs::Client;

namespace {

const std::string whole = "Zürich 21 °C, Tōkyō 9 °C.";

Reply streamed(const SseDialect& dialect) { return text(whole).sse(dialect); }

/// The checks at the end of each test.
void ask_the_gateway(const Gateway& gateway) {
  CHECK(gateway.verify());
  CHECK(gateway.review());
}

TEST_CASE("a line feed alone ends a line") {
  Gateway gateway;
  gateway.chat().reply(streamed(SseDialect().line_end("\r")));
  Client client(gateway, Bug::line_feed_alone_ends_a_line);
  CHECK(client.stream().text() == whole);
  ask_the_gateway(gateway);
}

TEST_CASE("a carriage return stays in its line") {
  Gateway gateway;
  gateway.chat().reply(streamed(SseDialect().line_end("\r\n")));
  Client client(gateway, Bug::carriage_return_stays);
  CHECK(client.stream().text() == whole);
  ask_the_gateway(gateway);
}

TEST_CASE("an event that no blank line ends is dropped") {
  Gateway gateway;
  gateway.chat().reply(streamed(SseDialect().done(false).final_blank_line(false)));
  Client client(gateway, Bug::unended_event_is_dropped);
  const Answer answer = client.stream();
  CHECK(answer.error.empty());
  CHECK(answer.finish_reason == "stop");
  ask_the_gateway(gateway);
}

TEST_CASE("an answer without [DONE] is taken for a broken one") {
  Gateway gateway;
  gateway.chat().reply(streamed(SseDialect().done(false)));
  Client client(gateway, Bug::done_is_needed);
  CHECK(client.stream().error.empty());
  ask_the_gateway(gateway);
}

TEST_CASE("a closed connection is taken for the end") {
  Gateway gateway;
  gateway.chat().reply(text(whole).fault(after_tokens(2), close_connection()));
  Client client(gateway, Bug::closed_connection_is_the_end);
  CHECK_FALSE(client.stream().error.empty());
  ask_the_gateway(gateway);
}

TEST_CASE("an answer cut short by its length is taken for a whole one") {
  Gateway gateway;
  gateway.chat().reply(text(whole).finish_reason("length"));
  Client client(gateway, Bug::length_is_whole);
  CHECK_FALSE(client.ask().error.empty());
  ask_the_gateway(gateway);
}

TEST_CASE("an error event is passed over") {
  Gateway gateway;
  gateway.chat().reply(text(whole).fault(after_tokens(2), error_event(server_error())));
  Client client(gateway, Bug::error_event_is_passed_over);
  CHECK_FALSE(client.stream().error.empty());
  ask_the_gateway(gateway);
}

TEST_CASE("each read is decoded by itself") {
  Gateway gateway;
  gateway.chat().reply(text(whole).fault(inside_character(2), stall(300ms)));
  Client client(gateway, Bug::each_read_is_decoded);
  CHECK(client.stream().text() == whole);
  ask_the_gateway(gateway);
}

TEST_CASE("parallel tool calls are joined") {
  Gateway gateway;
  gateway.chat().reply(tool_call("get_weather", {{"city", "Zürich"}}).tool_call("get_weather", {{"city", "Tōkyō"}}));
  Client client(gateway, Bug::parallel_calls_are_joined);
  CHECK(client.stream().calls.size() == 2);
  ask_the_gateway(gateway);
}

TEST_CASE("a 401 is retried") {
  Gateway gateway;
  const CreatedKey key = gateway.keys().create("billing service");
  gateway.keys().remove(key.id);
  Client client(gateway, Bug::unauthorized_is_retried);
  client.set_key(key.secret);
  CHECK_FALSE(client.ask().error.empty());
  CHECK(gateway.journal().count() == 1);
  ask_the_gateway(gateway);
}

TEST_CASE("Retry-After is ignored") {
  Gateway gateway;
  gateway.chat().reply(rate_limited(1s), whole);
  Client client(gateway, Bug::retry_after_is_ignored);
  const auto began = std::chrono::steady_clock::now();
  CHECK(client.ask().text() == whole);
  CHECK(std::chrono::steady_clock::now() - began >= 1s);
  ask_the_gateway(gateway);
}

TEST_CASE("a 500 is final") {
  Gateway gateway;
  gateway.chat().reply(whole);
  gateway.fail_next(server_error());
  Client client(gateway, Bug::server_error_is_final);
  CHECK(client.ask().text() == whole);
  ask_the_gateway(gateway);
}

TEST_CASE("a key is kept after it was changed") {
  Gateway gateway;
  gateway.chat().reply(whole);
  const CreatedKey old_key = gateway.keys().create("first key");
  const CreatedKey new_key = gateway.keys().create("second key");
  Client client(gateway, Bug::key_is_kept);
  client.set_key(old_key.secret);
  CHECK(client.ask().text() == whole);
  gateway.keys().remove(old_key.id);
  client.set_key(new_key.secret);
  CHECK(client.ask().text() == whole);
  ask_the_gateway(gateway);
}

TEST_CASE("a stream is left open") {
  Gateway gateway;
  gateway.chat().reply(streamed(SseDialect().open_after_done(true)));
  Client client(gateway, Bug::stream_is_left_open);
  CHECK(client.stream().text() == whole);
  CHECK(gateway.journal().last().wait_for_client_to_leave(5s));
  ask_the_gateway(gateway);
}

TEST_CASE("a stall is waited for") {
  Gateway gateway;
  gateway.chat().reply(text(whole).fault(after_tokens(2), stall()));
  Client client(gateway, Bug::stall_is_waited_for, 1s);
  std::future<Answer> answer = std::async(std::launch::async, [&] { return client.stream(); });
  CHECK(answer.wait_for(5s) == std::future_status::ready);
  ask_the_gateway(gateway);
  gateway.stop();
}

TEST_CASE("the first choice alone is read") {
  Gateway gateway;
  gateway.chat().reply(choices("Paris.", "Lyon."));
  Client client(gateway, Bug::first_choice_alone_is_read);
  CHECK(client.ask({{"n", 2}}).texts.size() == 2);
  ask_the_gateway(gateway);
}

TEST_CASE("the finish_reason is taken for the end, and the usage is lost") {
  Gateway gateway;
  gateway.chat().reply(whole);
  Client client(gateway, Bug::finish_reason_is_the_end);
  CHECK(client.stream({{"stream_options", {{"include_usage", true}}}}).usage.is_object());
  ask_the_gateway(gateway);
}

TEST_CASE("comments are parsed") {
  Gateway gateway;
  gateway.chat().reply(streamed(SseDialect().comment("OPENROUTER PROCESSING")));
  Client client(gateway, Bug::comments_are_parsed);
  CHECK(client.stream().error.empty());
  ask_the_gateway(gateway);
}

TEST_CASE("a kept connection is trusted") {
  Gateway gateway;
  gateway.chat().reply(whole);
  gateway.next_connection(close_when_reused());
  Client client(gateway, Bug::kept_connection_is_trusted);
  CHECK(client.ask().text() == whole);
  CHECK(client.ask().text() == whole);
  ask_the_gateway(gateway);
}

TEST_CASE("a tool's result has another id than its call") {
  Gateway gateway;
  gateway.chat().reply(tool_call("get_weather", {{"city", "Zürich"}}), whole);
  Client client(gateway, Bug::call_ids_are_made_up);
  const Answer first = client.ask();
  REQUIRE(first.calls.size() == 1);
  CHECK(client.ask({{"messages", client.after_calls(first.calls, "21 °C")}}).text() == whole);
  CHECK(gateway.journal().last().findings().empty());
  ask_the_gateway(gateway);
}

}  // namespace
