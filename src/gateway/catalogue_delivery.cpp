// The scenarios of the groups "breaks", "pace" and "connection".

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>  // size
#include <string>

#include "catalogue_entries.hpp"

namespace mock_gateway::detail {
namespace catalogue_parts {

using namespace std::chrono_literals;

Reply usual_with_length(bool streamed) { return raw_reply(200, usual_bytes(streamed), usual_type_of(streamed)); }

/// A handwritten response with a length, after which the connection closes without `Connection: close`.
Reply then_closed(bool streamed) {
  const std::string body = usual_bytes(streamed);
  return usual_reply(false).fault(before_headers(),
                                  garbage(std::string("HTTP/1.1 200 OK\r\nContent-Type: ") + usual_type_of(streamed) +
                                          "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body));
}

Effect silence() { return stall(); }

inline constexpr std::size_t live_answers = 10;

inline constexpr ScenarioRow breaks_rows[] = {
    {"close-delimited-body-cut-short", "cuts off a body that ends with the connection, in the middle of its text",
     "RFC 9112, section 8", "misses the finish_reason, or the end of the JSON, and reports it", only_error,
     [](bool streamed) {
       const std::string bytes = usual_bytes(streamed);
       return until_close(streamed, bytes.substr(0, streamed ? bytes.find(event_of(usual_chunks()[3].dump())) : 150));
     }},
    {"closed-after-done", "closes the connection after [DONE], without the terminating HTTP chunk",
     "RFC 9112, section 8", "has the whole answer, and may report the missing end", error_too | streams_only, at_end,
     close_connection},
    {"closed-after-finish", "closes the connection after the finish_reason, before [DONE]", "RFC 9112, section 8",
     "has the whole answer, and may report the missing end", error_too | streams_only, before_done, close_connection},
    {"closed-after-headers", "closes the connection after the headers", "RFC 9112, section 8",
     "reports it, or tries again", only_error, after_headers, close_connection},
    {"closed-before-headers", "closes the connection in place of an answer", "RFC 9112, section 9.5",
     "reports it, after a few tries at most", only_error, before_headers, close_connection},
    {"closed-in-stream", "closes the connection in the middle of the text, between two events", "RFC 9112, section 8",
     "reports that the answer is incomplete", only_error, in_the_middle, close_connection},
    {"closed-inside-character", "closes the connection after the first byte of a character", "RFC 9112, section 8",
     "reports that the answer is incomplete, and shows no half character", only_error, in_a_character,
     close_connection},
    {"closed-inside-event", "closes the connection in the middle of an event, between two HTTP chunks",
     "RFC 9112, section 8, WHATWG HTML 9.2.6", "reports that the answer is incomplete", only_error | streams_only,
     [] { return inside_event(4, 60); }, close_connection},
    {"content-length-too-large", "announces 50 bytes more than come, then closes the connection", "RFC 9112, section 8",
     "has the whole answer, and may report the missing bytes", error_too,
     [](bool streamed) {
       return usual_with_length(streamed)
           .fault(before_headers(), wrong_content_length(50))
           .fault(at_end(), close_connection());
     }},
    {"content-length-too-small", "announces less than comes: the end of the answer is left in the connection",
     "RFC 9112, section 6.3", "reports that the answer is incomplete, and uses the connection no more", only_error,
     [](bool streamed) {
       const std::size_t end = streamed ? (event_of(closing().dump()) + "data: [DONE]\n\n").size() : 0;
       return usual_with_length(streamed).fault(before_headers(),
                                                wrong_content_length(-static_cast<std::int64_t>(end) - 30));
     }},
    {"garbage-in-place-of-headers", "answers with bytes that are no HTTP: an alert of TLS", "RFC 9112, section 2.2",
     "reports it", only_error, before_headers, [] { return garbage(std::string("\x15\x03\x01\x00\x02\x02\x50", 7)); }},
    {"garbage-in-stream", "writes a proxy's page into the connection where an HTTP chunk should begin",
     "RFC 9112, section 7.1", "reports that the answer is broken", only_error, in_the_middle,
     [] { return garbage("<html>504 Gateway Time-out</html>"); }},
    {"half-closed-in-stream", "ends its side in the middle of the text, and goes on listening", "RFC 9293, section 3.6",
     "reports that the answer is incomplete, and closes the connection", only_error, in_the_middle, half_close},
    {"reset-after-done", "resets the connection after [DONE], before the terminating HTTP chunk",
     "RFC 9293, section 3.5.3", "has the whole answer, and may report the reset", error_too | streams_only, at_end,
     reset_connection},
    {"reset-after-finish", "resets the connection after the finish_reason, before [DONE]", "RFC 9293, section 3.5.3",
     "has the whole answer, and may report the reset", error_too | streams_only, before_done, reset_connection},
    {"reset-after-headers", "resets the connection after the headers", "RFC 9293, section 3.5.3",
     "reports it, or tries again", only_error, after_headers, reset_connection},
    {"reset-before-headers", "resets the connection in place of an answer", "RFC 9293, section 3.5.3",
     "reports it, after a few tries at most", only_error, before_headers, reset_connection},
    {"reset-in-stream", "resets the connection in the middle of the text, between two events",
     "RFC 9293, section 3.5.3", "reports that the answer is incomplete", only_error, in_the_middle, reset_connection},
    {"reset-inside-character", "resets the connection after the first byte of a character", "RFC 9293, section 3.5.3",
     "reports that the answer is incomplete, and shows no half character", only_error, in_a_character,
     reset_connection},
    {"truncated-chunked-body", "closes the connection inside an HTTP chunk, or short of the Content-Length",
     "openai-python#2065, RFC 9112, section 8", "reports that the answer is incomplete", only_error,
     [](bool streamed) { return streamed ? inside_event(4, 60) : after_bytes(150); }, truncate},
};

inline constexpr ScenarioRow pace_rows[] = {
    {"live-stream", "streams for 2 s: a piece of text every 50 ms", "OpenAI: no pace is promised",
     "shows each piece when it comes, and waits for the end as long as pieces come", streams_only,
     Says{usual_scenario_text, live_answers},
     [](Chunks& chunks) {
       const Chunks usual = chunks;
       for (std::size_t i = 1; i < live_answers; ++i)
         for (std::size_t piece = 1; piece < 5; ++piece) chunks.insert(chunks.end() - 1, usual[piece]);
     },
     [](const Reply& reply) { return reply.first_token_after(50ms).every(50ms); }},
    {"pause-in-stream", "says nothing for 200 ms in the middle of the answer", "OpenAI: no pace is promised", "waits",
     whole_answer, in_the_middle, [] { return stall(200ms); }},
    {"pings-before-first-token", "sends a ping every 20 ms until the first token, after 110 ms",
     "openai-go#621, langchaingo#942", "passes over comments, and waits", streams_only,
     [] { return SseDialect().ping_every(20ms); }, [](const Reply& reply) { return reply.first_token_after(110ms); }},
    {"pings-defeat-idle-timeout", "falls silent after some text, but for a ping every 20 ms", "pi#5558",
     "reports it after a time without content, pings or not", only_error | streams_only | endless,
     [] { return SseDialect().ping_every(20ms); }, in_the_middle, silence},
    {"slow-first-token", "says nothing for 300 ms, then answers", "OpenAI: no pace is promised", "waits", whole_answer,
     [](const Reply& reply) { return reply.first_token_after(300ms); }},
    {"slow-tokens", "takes 50 ms from one piece of text to the next", "OpenAI: no pace is promised",
     "shows each piece when it comes", streams_only, [](const Reply& reply) { return reply.every(50ms); }},
    {"stalled-after-finish", "falls silent after the finish_reason, before [DONE]", "openai-node#1825",
     "has the whole answer, and waits for [DONE] only so long", error_too | streams_only | endless, before_done,
     silence},
    {"stalled-after-headers", "falls silent after the headers", "openai-node#1825", "reports it after its timeout",
     only_error | endless, after_headers, silence},
    {"stalled-before-headers", "takes the request and never answers", "openai-node#1825",
     "reports it after its timeout", only_error | endless, before_headers, silence},
    {"stalled-body", "falls silent in the middle of the answer, the connection open", "openai-node#1825",
     "reports it after its timeout", only_error | endless, in_the_middle, silence},
};

inline constexpr ScenarioRow connections_rows[] = {
    {"closed-on-accept", "closes every connection as soon as it is accepted", "RFC 9112, section 9.5",
     "reports it, after a few tries at most", no_answer, close_on_accept},
    {"closed-when-reused", "closes a kept connection just as its next request arrives", "RFC 9112, section 9.3.1",
     "tries again on a new connection, or reports it", error_too | second_call, close_when_reused},
    {"closed-while-idle", "closes a kept connection after each answer, and does not announce it", "halogen#25",
     "opens a new connection for its next call, or reports it", error_too | second_call, then_closed},
    {"connection-close", "answers with Connection: close, and closes the connection", "RFC 9112, section 9.6",
     "opens a new connection for its next call", second_call,
     [](const Reply& reply) { return reply.header("Connection", "close"); }},
    {"connection-refused", "has its port closed", "RFC 9293, section 3.5.2", "reports it, after a few tries at most",
     no_answer, [](Gateway& gateway) { gateway.refuse_connections(); }},
    {"early-hints", "sends 103 Early Hints before the answer", "RFC 8297", "passes over interim responses",
     whole_answer, [] { return early_hints(); }},
    {"early-status-under-expect", "answers 413 before the body, in place of 100 Continue, and closes",
     "cpp-httplib#1808, RFC 9110, section 10.1.1", "reads the answer, sends no body any more, and reports the status",
     no_answer, [] { return reply_before_body(failure(413, "body_too_large", "the body is too large")); }},
    {"garbage-on-accept", "greets every connection as an SSH server does, and closes it", "RFC 9112, section 2.2",
     "reports that this is no HTTP", no_answer, [] { return garbage_on_accept(); }},
    {"reset-on-accept", "resets every connection as soon as it is accepted", "RFC 9293, section 3.5.3",
     "reports it, after a few tries at most", no_answer, reset_on_accept},
    {"reset-on-first-accept", "resets the first connection as soon as it is accepted, and no other",
     "RFC 9293, section 3.5.3", "tries again, or reports it", error_too,
     [](Gateway& gateway) { gateway.next_connection(reset_on_accept()); }},
    {"reset-when-reused", "resets a kept connection just as its next request arrives", "RFC 9112, section 9.3.1",
     "tries again on a new connection, or reports it", error_too | second_call, reset_when_reused},
    {"slow-request-reading", "reads the request's body 64 bytes at a time, every 5 ms",
     "RFC 9293, section 3.8.6: flow control", "goes on writing, and waits", whole_answer,
     [] { return slow_body(64, 5ms); }},
    {"unsolicited-continue", "sends 100 Continue, which nobody asked for, before the answer", "RFC 9110, section 15.2",
     "passes over interim responses", whole_answer, unsolicited_continue},
};

void add_delivery(Scenarios& all) {
  add_group(all, "breaks", breaks_rows, std::size(breaks_rows));
  add_group(all, "pace", pace_rows, std::size(pace_rows));
  add_group(all, "connection", connections_rows, std::size(connections_rows));
}

}  // namespace catalogue_parts
}  // namespace mock_gateway::detail
