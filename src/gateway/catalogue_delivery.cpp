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
    {"close-delimited-body-cut-short", "closes the connection in the middle of a body without a length",
     "RFC 9112, section 8", "reports the missing finish_reason or the incomplete JSON", only_error,
     [](bool streamed) {
       const std::string bytes = usual_bytes(streamed);
       return until_close(streamed, bytes.substr(0, streamed ? bytes.find(event_of(usual_chunks()[3].dump())) : 150));
     }},
    {"closed-after-done", "closes the connection after [DONE], without the terminating HTTP chunk",
     "RFC 9112, section 8", "returns the whole answer, or reports the missing end", error_too | streams_only, at_end,
     close_connection},
    {"closed-after-finish", "closes the connection after the finish_reason, before [DONE]", "RFC 9112, section 8",
     "returns the whole answer, or reports the missing end", error_too | streams_only, before_done, close_connection},
    {"closed-after-headers", "closes the connection after the headers", "RFC 9112, section 8",
     "reports the error, possibly after a retry", only_error, after_headers, close_connection},
    {"closed-before-headers", "closes the connection instead of answering", "RFC 9112, section 9.5",
     "reports the error, after a few attempts at most", only_error, before_headers, close_connection},
    {"closed-in-stream", "closes the connection in the middle of the text, between two events", "RFC 9112, section 8",
     "reports that the answer is incomplete", only_error, in_the_middle, close_connection},
    {"closed-inside-character", "closes the connection after the first byte of a character", "RFC 9112, section 8",
     "reports that the answer is incomplete, and shows no partial character", only_error, in_a_character,
     close_connection},
    {"closed-inside-event", "closes the connection in the middle of an event, between two HTTP chunks",
     "RFC 9112, section 8, WHATWG HTML 9.2.6", "reports that the answer is incomplete", only_error | streams_only,
     [] { return inside_event(4, 60); }, close_connection},
    {"content-length-too-large", "announces 50 bytes more than it sends, then closes the connection",
     "RFC 9112, section 8", "returns the whole answer, or reports the missing bytes", error_too,
     [](bool streamed) {
       return usual_with_length(streamed)
           .fault(before_headers(), wrong_content_length(50))
           .fault(at_end(), close_connection());
     }},
    {"content-length-too-small", "announces fewer bytes than it sends; the rest stays in the connection",
     "RFC 9112, section 6.3", "reports that the answer is incomplete, and does not reuse the connection", only_error,
     [](bool streamed) {
       const std::size_t end = streamed ? (event_of(closing().dump()) + "data: [DONE]\n\n").size() : 0;
       return usual_with_length(streamed).fault(before_headers(),
                                                wrong_content_length(-static_cast<std::int64_t>(end) - 30));
     }},
    {"garbage-in-place-of-headers", "answers with a TLS alert instead of HTTP", "RFC 9112, section 2.2",
     "reports the error", only_error, before_headers,
     [] { return garbage(std::string("\x15\x03\x01\x00\x02\x02\x50", 7)); }},
    {"garbage-in-stream", "sends a proxy's HTML page where an HTTP chunk should begin", "RFC 9112, section 7.1",
     "reports that the answer is malformed", only_error, in_the_middle,
     [] { return garbage("<html>504 Gateway Time-out</html>"); }},
    {"half-closed-in-stream", "half-closes the connection in mid-text, and keeps reading", "RFC 9293, section 3.6",
     "reports that the answer is incomplete, and closes the connection", only_error, in_the_middle, half_close},
    {"reset-after-done", "resets the connection after [DONE], before the terminating HTTP chunk",
     "RFC 9293, section 3.5.3", "returns the whole answer, or reports the reset", error_too | streams_only, at_end,
     reset_connection},
    {"reset-after-finish", "resets the connection after the finish_reason, before [DONE]", "RFC 9293, section 3.5.3",
     "returns the whole answer, or reports the reset", error_too | streams_only, before_done, reset_connection},
    {"reset-after-headers", "resets the connection after the headers", "RFC 9293, section 3.5.3",
     "reports the error, possibly after a retry", only_error, after_headers, reset_connection},
    {"reset-before-headers", "resets the connection instead of answering", "RFC 9293, section 3.5.3",
     "reports the error, after a few attempts at most", only_error, before_headers, reset_connection},
    {"reset-in-stream", "resets the connection in the middle of the text, between two events",
     "RFC 9293, section 3.5.3", "reports that the answer is incomplete", only_error, in_the_middle, reset_connection},
    {"reset-inside-character", "resets the connection after the first byte of a character", "RFC 9293, section 3.5.3",
     "reports that the answer is incomplete, and shows no partial character", only_error, in_a_character,
     reset_connection},
    {"truncated-chunked-body", "closes the connection inside an HTTP chunk, or before it has sent Content-Length bytes",
     "openai-python#2065, RFC 9112, section 8", "reports that the answer is incomplete", only_error,
     [](bool streamed) { return streamed ? inside_event(4, 60) : after_bytes(150); }, truncate},
};

inline constexpr ScenarioRow pace_rows[] = {
    {"live-stream", "streams for 2 s, a piece of text every 50 ms", "OpenAI: streams have no guaranteed pace",
     "shows each piece as it arrives, and waits for the end while pieces arrive", streams_only,
     Says{usual_scenario_text, live_answers},
     [](Chunks& chunks) {
       const Chunks usual = chunks;
       for (std::size_t i = 1; i < live_answers; ++i)
         for (std::size_t piece = 1; piece < 5; ++piece) chunks.insert(chunks.end() - 1, usual[piece]);
     },
     [](const Reply& reply) { return reply.first_token_after(50ms).every(50ms); }},
    {"pause-in-stream", "pauses 200 ms in the middle of the answer", "OpenAI: streams have no guaranteed pace", "waits",
     whole_answer, in_the_middle, [] { return stall(200ms); }},
    {"pings-before-first-token", "sends a ping every 20 ms, and the first token after 110 ms",
     "openai-go#621, langchaingo#942", "ignores comments, and waits", streams_only,
     [] { return SseDialect().ping_every(20ms); }, [](const Reply& reply) { return reply.first_token_after(110ms); }},
    {"pings-defeat-idle-timeout", "sends some text, then only a ping every 20 ms", "pi#5558",
     "reports a timeout without new content, despite the pings", only_error | streams_only | endless,
     [] { return SseDialect().ping_every(20ms); }, in_the_middle, silence},
    {"slow-first-token", "waits 300 ms, then answers", "OpenAI: streams have no guaranteed pace", "waits", whole_answer,
     [](const Reply& reply) { return reply.first_token_after(300ms); }},
    {"slow-tokens", "waits 50 ms between pieces of text", "OpenAI: streams have no guaranteed pace",
     "shows each piece as it arrives", streams_only, [](const Reply& reply) { return reply.every(50ms); }},
    {"stalled-after-finish", "stops sending after the finish_reason, before [DONE]", "openai-node#1825",
     "returns the whole answer, and limits its wait for [DONE]", error_too | streams_only | endless, before_done,
     silence},
    {"stalled-after-headers", "stops sending after the headers", "openai-node#1825",
     "reports an error after its timeout", only_error | endless, after_headers, silence},
    {"stalled-before-headers", "accepts the request and never answers", "openai-node#1825",
     "reports an error after its timeout", only_error | endless, before_headers, silence},
    {"stalled-body", "stops sending in the middle of the answer, and keeps the connection open", "openai-node#1825",
     "reports an error after its timeout", only_error | endless, in_the_middle, silence},
};

inline constexpr ScenarioRow connections_rows[] = {
    {"closed-on-accept", "accepts every connection and closes it at once", "RFC 9112, section 9.5",
     "reports the error, after a few attempts at most", no_answer, close_on_accept},
    {"closed-when-reused", "closes a keep-alive connection just as the next request arrives", "RFC 9112, section 9.3.1",
     "retries on a new connection, or reports the error", error_too | second_call, close_when_reused},
    {"closed-while-idle", "closes a kept connection after each answer without announcing it", "halogen#25",
     "opens a new connection for its next call, or reports it", error_too | second_call, then_closed},
    {"connection-close", "answers with Connection: close, and closes the connection", "RFC 9112, section 9.6",
     "opens a new connection for its next call", second_call,
     [](const Reply& reply) { return reply.header("Connection", "close"); }},
    {"connection-refused", "closes its port, so that connections are refused", "RFC 9293, section 3.5.2",
     "reports the error, after a few attempts at most", no_answer,
     [](Gateway& gateway) { gateway.refuse_connections(); }},
    {"early-hints", "sends 103 Early Hints before the answer", "RFC 8297", "ignores interim responses", whole_answer,
     [] { return early_hints(); }},
    {"early-status-under-expect", "answers 413 instead of 100 Continue, before the body, and closes the connection",
     "cpp-httplib#1808, RFC 9110, section 10.1.1", "reads the answer, stops sending the body, and reports the status",
     no_answer, [] { return reply_before_body(failure(413, "body_too_large", "the body is too large")); }},
    {"garbage-on-accept", "sends an SSH server's greeting on every connection, and closes it", "RFC 9112, section 2.2",
     "reports that the reply is not HTTP", no_answer, [] { return garbage_on_accept(); }},
    {"reset-on-accept", "accepts every connection and resets it at once", "RFC 9293, section 3.5.3",
     "reports the error, after a few attempts at most", no_answer, reset_on_accept},
    {"reset-on-first-accept", "accepts the first connection and resets it at once; later connections work",
     "RFC 9293, section 3.5.3", "retries, or reports the error", error_too,
     [](Gateway& gateway) { gateway.next_connection(reset_on_accept()); }},
    {"reset-when-reused", "resets a keep-alive connection just as the next request arrives", "RFC 9112, section 9.3.1",
     "retries on a new connection, or reports the error", error_too | second_call, reset_when_reused},
    {"slow-request-reading", "reads the request body slowly, 64 bytes every 5 ms",
     "RFC 9293, section 3.8.6: flow control", "keeps writing until the request is sent", whole_answer,
     [] { return slow_body(64, 5ms); }},
    {"unsolicited-continue", "sends an unsolicited 100 Continue before the answer", "RFC 9110, section 15.2",
     "ignores interim responses", whole_answer, unsolicited_continue},
};

void add_delivery(Scenarios& all) {
  add_group(all, "breaks", breaks_rows, std::size(breaks_rows));
  add_group(all, "pace", pace_rows, std::size(pace_rows));
  add_group(all, "connection", connections_rows, std::size(connections_rows));
}

}  // namespace catalogue_parts
}  // namespace mock_gateway::detail
