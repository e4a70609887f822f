// Scenarios of breaks, pace and connections.

#include <chrono>
#include <cstdint>
#include <iterator>  // size
#include <string>
#include <utility>

#include "../model/connection_fault.hpp"
#include "catalogue_entries.hpp"

namespace mock_gateway::detail {
namespace catalogue_parts {

using namespace std::chrono_literals;

/// The middle of the text: of a stream after two pieces, of a plain body after 150 bytes.
Trigger in_the_middle(bool streamed) { return streamed ? after_tokens(2) : after_bytes(150); }

/// The usual answer with a Content-Length, streamed or not.
Reply usual_events_with_length() { return raw_reply(200, usual_events(), "text/event-stream; charset=utf-8"); }

/// How often "live-stream" says the usual answer.
inline constexpr std::size_t live_answers = 10;

inline constexpr ScenarioRow breaks_rows[] = {
    ScenarioRow("close-delimited-body-cut-short",
                "cuts off a body that ends with the connection, in the middle of its text")
        .from("RFC 9112, section 8")
        .good("misses the finish_reason, or the end of the JSON, and reports it")
        .only_error()
        .streamed([] {
          std::string events;
          const ChunkTexts usual = usual_chunks();
          for (std::size_t i = 0; i < 3; ++i) events += event_of(json_of(usual[i]));
          return until_close("text/event-stream; charset=utf-8", events);
        })
        .unstreamed([] { return until_close("application/json", usual_body().substr(0, 150)); }),
    ScenarioRow("closed-after-done", "closes the connection after [DONE], without the terminating HTTP chunk")
        .from("RFC 9112, section 8")
        .good("has the whole answer, and may report the missing end")
        .error_too()
        .streams_only()
        .changed([](const Reply& reply, bool) { return reply.fault(at_end(), close_connection()); }),
    ScenarioRow("closed-after-finish", "closes the connection after the finish_reason, before [DONE]")
        .from("RFC 9112, section 8")
        .good("has the whole answer, and may report the missing end")
        .error_too()
        .streams_only()
        .changed([](const Reply& reply, bool) { return reply.fault(before_done(), close_connection()); }),
    ScenarioRow("closed-after-headers", "closes the connection after the headers")
        .from("RFC 9112, section 8")
        .good("reports it, or tries again")
        .only_error()
        .changed([](const Reply& reply, bool) { return reply.fault(after_headers(), close_connection()); }),
    ScenarioRow("closed-before-headers", "closes the connection in place of an answer")
        .from("RFC 9112, section 9.5")
        .good("reports it, after a few tries at most")
        .only_error()
        .changed([](const Reply& reply, bool) { return reply.fault(before_headers(), close_connection()); }),
    ScenarioRow("closed-in-stream", "closes the connection in the middle of the text, between two events")
        .from("RFC 9112, section 8")
        .good("reports that the answer is incomplete")
        .only_error()
        .changed(
            [](const Reply& reply, bool streamed) { return reply.fault(in_the_middle(streamed), close_connection()); }),
    ScenarioRow("closed-inside-character", "closes the connection after the first byte of a character")
        .from("RFC 9112, section 8")
        .good("reports that the answer is incomplete, and shows no half character")
        .only_error()
        .changed([](const Reply& reply, bool streamed) {
          return reply.fault(in_a_character(streamed), close_connection());
        }),
    ScenarioRow("closed-inside-event", "closes the connection in the middle of an event, between two HTTP chunks")
        .from("RFC 9112, section 8, WHATWG HTML 9.2.6")
        .good("reports that the answer is incomplete")
        .only_error()
        .streams_only()
        .changed([](const Reply& reply, bool) { return reply.fault(inside_event(4, 60), close_connection()); }),
    ScenarioRow("content-length-too-large", "announces 50 bytes more than come, then closes the connection")
        .from("RFC 9112, section 8")
        .good("has the whole answer, and may report the missing bytes")
        .error_too()
        .streamed(usual_events_with_length)
        .changed([](const Reply& reply, bool) {
          return reply.fault(before_headers(), wrong_content_length(50)).fault(at_end(), close_connection());
        }),
    ScenarioRow("content-length-too-small",
                "announces less than comes: the end of the answer is left in the connection")
        .from("RFC 9112, section 6.3")
        .good("reports that the answer is incomplete, and uses the connection no more")
        .only_error()
        .streamed(usual_events_with_length)
        .changed([](const Reply& reply, bool streamed) {
          const std::size_t end = streamed ? (event_of(json_of(closing())) + "data: [DONE]\n\n").size() : 0;
          return reply.fault(before_headers(), wrong_content_length(-static_cast<std::int64_t>(end) - 30));
        }),
    ScenarioRow("garbage-in-place-of-headers", "answers with bytes that are no HTTP: an alert of TLS")
        .from("RFC 9112, section 2.2")
        .good("reports it")
        .only_error()
        .changed([](const Reply& reply, bool) {
          return reply.fault(before_headers(), garbage(std::string("\x15\x03\x01\x00\x02\x02\x50", 7)));
        }),
    ScenarioRow("garbage-in-stream", "writes a proxy's page into the connection where an HTTP chunk should begin")
        .from("RFC 9112, section 7.1")
        .good("reports that the answer is broken")
        .only_error()
        .changed([](const Reply& reply, bool streamed) {
          return reply.fault(in_the_middle(streamed), garbage("<html>504 Gateway Time-out</html>"));
        }),
    ScenarioRow("half-closed-in-stream", "ends its side in the middle of the text, and goes on listening")
        .from("RFC 9293, section 3.6")
        .good("reports that the answer is incomplete, and closes the connection")
        .only_error()
        .changed([](const Reply& reply, bool streamed) { return reply.fault(in_the_middle(streamed), half_close()); }),
    ScenarioRow("reset-after-done", "resets the connection after [DONE], before the terminating HTTP chunk")
        .from("RFC 9293, section 3.5.3")
        .good("has the whole answer, and may report the reset")
        .error_too()
        .streams_only()
        .changed([](const Reply& reply, bool) { return reply.fault(at_end(), reset_connection()); }),
    ScenarioRow("reset-after-finish", "resets the connection after the finish_reason, before [DONE]")
        .from("RFC 9293, section 3.5.3")
        .good("has the whole answer, and may report the reset")
        .error_too()
        .streams_only()
        .changed([](const Reply& reply, bool) { return reply.fault(before_done(), reset_connection()); }),
    ScenarioRow("reset-after-headers", "resets the connection after the headers")
        .from("RFC 9293, section 3.5.3")
        .good("reports it, or tries again")
        .only_error()
        .changed([](const Reply& reply, bool) { return reply.fault(after_headers(), reset_connection()); }),
    ScenarioRow("reset-before-headers", "resets the connection in place of an answer")
        .from("RFC 9293, section 3.5.3")
        .good("reports it, after a few tries at most")
        .only_error()
        .changed([](const Reply& reply, bool) { return reply.fault(before_headers(), reset_connection()); }),
    ScenarioRow("reset-in-stream", "resets the connection in the middle of the text, between two events")
        .from("RFC 9293, section 3.5.3")
        .good("reports that the answer is incomplete")
        .only_error()
        .changed(
            [](const Reply& reply, bool streamed) { return reply.fault(in_the_middle(streamed), reset_connection()); }),
    ScenarioRow("reset-inside-character", "resets the connection after the first byte of a character")
        .from("RFC 9293, section 3.5.3")
        .good("reports that the answer is incomplete, and shows no half character")
        .only_error()
        .changed([](const Reply& reply, bool streamed) {
          return reply.fault(in_a_character(streamed), reset_connection());
        }),
    ScenarioRow("truncated-chunked-body", "closes the connection inside an HTTP chunk, or short of the Content-Length")
        .from("openai-python#2065, RFC 9112, section 8")
        .good("reports that the answer is incomplete")
        .only_error()
        .changed([](const Reply& reply, bool streamed) {
          return reply.fault(streamed ? inside_event(4, 60) : after_bytes(150), truncate());
        }),
};

inline constexpr ScenarioRow pace_rows[] = {
    ScenarioRow("live-stream", "streams for 2 s: a piece of text every 50 ms")
        .from("OpenAI: no pace is promised")
        .good("shows each piece when it comes, and waits for the end as long as pieces come")
        .streams_only()
        .times(live_answers)
        .streamed([] {
          const ChunkTexts usual = usual_chunks();
          ChunkTexts chunks = {opening()};
          for (std::size_t i = 0; i < live_answers; ++i)
            chunks.insert(chunks.end(), usual.begin() + 1, usual.end() - 1);
          chunks.push_back(closing());
          return stream_of(chunks).first_token_after(50ms);
        })
        .unstreamed([] {
          std::string text;
          for (std::size_t i = 0; i < live_answers; ++i) text += usual_scenario_text;
          return raw_reply(200, body_with(message_saying(text)));
        })
        .changed([](const Reply& reply, bool) { return reply.every(50ms); }),
    ScenarioRow("pause-in-stream", "says nothing for 200 ms in the middle of the answer")
        .from("OpenAI: no pace is promised")
        .good("waits")
        .changed([](const Reply& reply, bool streamed) { return reply.fault(in_the_middle(streamed), stall(200ms)); }),
    ScenarioRow("pings-before-first-token", "sends a ping every 20 ms until the first token, after 110 ms")
        .from("openai-go#621, langchaingo#942")
        .good("passes over comments, and waits")
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.ping_every(20ms); })
        .changed([](const Reply& reply, bool) { return reply.first_token_after(110ms); }),
    ScenarioRow("pings-defeat-idle-timeout", "falls silent after some text, but for a ping every 20 ms")
        .from("pi#5558")
        .good("reports it after a time without content, pings or not")
        .only_error()
        .streams_only()
        .endless()
        .dialect([](SseDialect& dialect) { dialect = dialect.ping_every(20ms); })
        .changed([](const Reply& reply, bool) { return reply.fault(after_tokens(2), stall()); }),
    ScenarioRow("slow-first-token", "says nothing for 300 ms, then answers")
        .from("OpenAI: no pace is promised")
        .good("waits")
        .changed([](const Reply& reply, bool) { return reply.first_token_after(300ms); }),
    ScenarioRow("slow-tokens", "takes 50 ms from one piece of text to the next")
        .from("OpenAI: no pace is promised")
        .good("shows each piece when it comes")
        .streams_only()
        .changed([](const Reply& reply, bool) { return reply.every(50ms); }),
    ScenarioRow("stalled-after-finish", "falls silent after the finish_reason, before [DONE]")
        .from("openai-node#1825")
        .good("has the whole answer, and waits for [DONE] only so long")
        .error_too()
        .streams_only()
        .endless()
        .changed([](const Reply& reply, bool) { return reply.fault(before_done(), stall()); }),
    ScenarioRow("stalled-after-headers", "falls silent after the headers")
        .from("openai-node#1825")
        .good("reports it after its timeout")
        .only_error()
        .endless()
        .changed([](const Reply& reply, bool) { return reply.fault(after_headers(), stall()); }),
    ScenarioRow("stalled-before-headers", "takes the request and never answers")
        .from("openai-node#1825")
        .good("reports it after its timeout")
        .only_error()
        .endless()
        .changed([](const Reply& reply, bool) { return reply.fault(before_headers(), stall()); }),
    ScenarioRow("stalled-body", "falls silent in the middle of the answer, the connection open")
        .from("openai-node#1825")
        .good("reports it after its timeout")
        .only_error()
        .endless()
        .changed([](const Reply& reply, bool streamed) { return reply.fault(in_the_middle(streamed), stall()); }),
};

inline constexpr ScenarioRow connections_rows[] = {
    ScenarioRow("closed-on-accept", "closes every connection as soon as it is accepted")
        .from("RFC 9112, section 9.5")
        .good("reports it, after a few tries at most")
        .only_error()
        .says("")
        .connection([](Gateway& gateway) { gateway.every_connection(close_on_accept()); }),
    ScenarioRow("closed-when-reused", "closes a kept connection just as its next request arrives")
        .from("RFC 9112, section 9.3.1")
        .good("tries again on a new connection, or reports it")
        .error_too()
        .on_second_call()
        .connection([](Gateway& gateway) { gateway.every_connection(close_when_reused()); }),
    ScenarioRow("connection-close", "answers with Connection: close, and closes the connection")
        .from("RFC 9112, section 9.6")
        .good("opens a new connection for its next call")
        .on_second_call()
        .changed([](const Reply& reply, bool) { return reply.header("Connection", "close"); }),
    ScenarioRow("connection-refused", "has its port closed")
        .from("RFC 9293, section 3.5.2")
        .good("reports it, after a few tries at most")
        .only_error()
        .says("")
        .connection([](Gateway& gateway) { gateway.refuse_connections(); }),
    ScenarioRow("early-hints", "sends 103 Early Hints before the answer")
        .from("RFC 8297")
        .good("passes over interim responses")
        .connection([](Gateway& gateway) { gateway.every_connection(early_hints()); }),
    ScenarioRow("early-status-under-expect", "answers 413 before the body, in place of 100 Continue, and closes")
        .from("cpp-httplib#1808, RFC 9110, section 10.1.1")
        .good("reads the answer, sends no body any more, and reports the status")
        .only_error()
        .says("")
        .connection([](Gateway& gateway) {
          gateway.every_connection(reply_before_body(failure(413, "body_too_large", "the body is too large")));
        }),
    ScenarioRow("garbage-on-accept", "greets every connection as an SSH server does, and closes it")
        .from("RFC 9112, section 2.2")
        .good("reports that this is no HTTP")
        .only_error()
        .says("")
        .connection([](Gateway& gateway) { gateway.every_connection(garbage_on_accept()); }),
    ScenarioRow("reset-on-accept", "resets every connection as soon as it is accepted")
        .from("RFC 9293, section 3.5.3")
        .good("reports it, after a few tries at most")
        .only_error()
        .says("")
        .connection([](Gateway& gateway) { gateway.every_connection(reset_on_accept()); }),
    ScenarioRow("reset-on-first-accept", "resets the first connection as soon as it is accepted, and no other")
        .from("RFC 9293, section 3.5.3")
        .good("tries again, or reports it")
        .error_too()
        .connection([](Gateway& gateway) { gateway.next_connection(reset_on_accept()); }),
    ScenarioRow("reset-when-reused", "resets a kept connection just as its next request arrives")
        .from("RFC 9112, section 9.3.1")
        .good("tries again on a new connection, or reports it")
        .error_too()
        .on_second_call()
        .connection([](Gateway& gateway) { gateway.every_connection(reset_when_reused()); }),
    ScenarioRow("slow-request-reading", "reads the request's body 64 bytes at a time, every 5 ms")
        .from("RFC 9293, section 3.8.6: flow control")
        .good("goes on writing, and waits")
        .connection([](Gateway& gateway) { gateway.every_connection(slow_body(64, 5ms)); }),
    ScenarioRow("unsolicited-continue", "sends 100 Continue, which nobody asked for, before the answer")
        .from("RFC 9110, section 15.2")
        .good("passes over interim responses")
        .connection([](Gateway& gateway) { gateway.every_connection(unsolicited_continue()); }),
};

}  // namespace catalogue_parts

void add_breaks(Scenarios& all) {
  add_group(all, "breaks", catalogue_parts::breaks_rows, std::size(catalogue_parts::breaks_rows));
}

void add_pace(Scenarios& all) {
  add_group(all, "pace", catalogue_parts::pace_rows, std::size(catalogue_parts::pace_rows));
}

void add_connections(Scenarios& all) {
  add_group(all, "connection", catalogue_parts::connections_rows, std::size(catalogue_parts::connections_rows));
}

}  // namespace mock_gateway::detail
