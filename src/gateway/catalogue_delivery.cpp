// Scenarios of framing, breaks, pace and connections.

#include <charconv>
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

/// The usual chunks with these bytes before each of them that has text.
Reply stream_with(const char* bytes) {
  const ChunkTexts usual = usual_chunks();
  std::vector<StreamChunk> elements;
  for (std::size_t i = 0; i < usual.size(); ++i) {
    if (i > 0 && i + 1 < usual.size()) elements.push_back(raw_bytes(bytes));
    elements.push_back(element(usual[i]));
  }
  return chunks(std::move(elements));
}

/// The middle of the text: of a stream after two pieces, of a plain body after 150 bytes.
Trigger in_the_middle(bool streamed) { return streamed ? after_tokens(2) : after_bytes(150); }

/// The usual answer with a Content-Length, streamed or not.
Reply usual_events_with_length() { return raw_reply(200, usual_events(), "text/event-stream; charset=utf-8"); }

/// A whole response by hand, whose body ends with the connection (RFC 9112, 6.3).
Reply until_close(const std::string& content_type, const std::string& body) {
  return usual_plain().fault(before_headers(), garbage("HTTP/1.1 200 OK\r\nContent-Type: " + content_type +
                                                       "\r\nConnection: close\r\n\r\n" + body));
}

/// A whole response by hand with these header fields, after which the connection closes.
Reply by_hand(const std::string& fields, const std::string& body) {
  return usual_plain().fault(before_headers(),
                             garbage("HTTP/1.1 200 OK\r\n" + fields + "\r\nconnection: close\r\n\r\n" + body));
}

/// HTTP's chunk around these bytes; around none, the end of the body.
std::string http_chunk(const std::string& bytes) {
  char size[2 * sizeof bytes.size()];
  return std::string(size, std::to_chars(size, size + sizeof size, bytes.size(), 16).ptr) + "\r\n" + bytes + "\r\n";
}

/// Where the "ü" of the usual plain body has its second byte.
std::size_t inside_first_character() { return usual_body().find("ü") + 1; }

/// After the first byte of a character.
Trigger in_a_character(bool streamed) { return streamed ? inside_character(2) : after_bytes(inside_first_character()); }

/// In which the end of a stream is spoken of.
inline constexpr const char* text_with_done = "A stream ends with\ndata: [DONE]\n\n[DONE] is no JSON.";

/// How often "live-stream" says the usual answer.
inline constexpr std::size_t live_answers = 10;

/// More than readers by line have for one.
inline constexpr std::size_t long_text = 100'000;

inline constexpr ScenarioRow framing_rows[] = {
    ScenarioRow("answer-as-text-plain", "sends JSON, or the stream, as text/plain")
        .from("mistral.rs#79")
        .good("goes by what it asked for and what came, or reports the type")
        .error_too()
        .dialect([](SseDialect& dialect) { dialect = dialect.content_type("text/plain; charset=utf-8"); })
        .unstreamed([] { return raw_reply(200, usual_body(), "text/plain; charset=utf-8"); }),
    ScenarioRow("answer-in-the-other-form", "answers a stream request with JSON, and a plain one with a stream")
        .from("openai-node: a JSON body gives no chunks and no error")
        .good("goes by the Content-Type, or reports it; never takes it for an empty answer")
        .error_too()
        .streamed(usual_plain)
        .unstreamed(usual_stream),
    ScenarioRow("blank-lines-before-reply", "sends three blank lines before the first event, or before the JSON")
        .from("AstrBot#403")
        .good("passes over them")
        .streamed([] {
          std::vector<StreamChunk> elements = {raw_bytes("\n\n\n")};
          for (const ChunkText& chunk : usual_chunks()) elements.push_back(element(chunk));
          return chunks(std::move(elements));
        })
        .unstreamed([] { return raw_reply(200, "\n\n\n" + usual_body()); }),
    ScenarioRow("byte-order-mark", "begins the stream with a byte order mark")
        .from("WHATWG HTML 9.2.6")
        .good("passes over it")
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.byte_order_mark(true); }),
    ScenarioRow("character-split-across-reads", "waits 50 ms in the middle of a character")
        .from("ollama-js#255")
        .good("decodes bytes across reads")
        .changed([](const Reply& reply, bool streamed) { return reply.fault(in_a_character(streamed), stall(50ms)); }),
    ScenarioRow("close-delimited-body", "sends neither Content-Length nor chunks: the body ends with the connection")
        .from("RFC 9112, section 6.3")
        .good("reads to the end of the connection")
        .streamed([] { return until_close("text/event-stream; charset=utf-8", usual_events()); })
        .unstreamed([] { return until_close("application/json", usual_body()); }),
    ScenarioRow("comment-keep-alives", "sends a comment before each event")
        .from("openai-go#621, langchaingo#942")
        .good("passes over lines that begin with a colon")
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.comment("OPENROUTER PROCESSING"); }),
    ScenarioRow("content-type-missing", "streams without a Content-Type")
        .from("RFC 9110, section 8.3")
        .good("goes by what it asked for, or reports it")
        .error_too()
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.content_type(""); }),
    ScenarioRow("content-type-without-charset", "streams as text/event-stream, without charset")
        .from("WHATWG HTML 9.2.5: always UTF-8")
        .good("reads it as UTF-8")
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.content_type("text/event-stream"); }),
    ScenarioRow("crlf-line-ends", "ends lines with CRLF")
        .from("WHATWG HTML 9.2.6")
        .good("takes CRLF for one line end")
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.line_end("\r\n"); }),
    ScenarioRow("data-after-done", "sends one more chunk with text after [DONE]")
        .from("OpenAI: [DONE] ends the stream")
        .good("stops at [DONE]")
        .streams_only()
        .sends("Zürich 21 °C, 東京 9 °C. And more.")
        .dialect([](SseDialect& dialect) { dialect = dialect.after_done(json_of(saying(" And more."))); }),
    ScenarioRow("done-inside-text", "has [DONE], and data: [DONE] on a line of its own, in the text of the answer")
        .from("OpenAI: [DONE] is the whole data of an event")
        .good("takes an event for the end when all of its data is [DONE], and no other")
        .says(text_with_done)
        .streamed([] {
          return stream_of({opening(), saying("A stream ends with\n"), saying("data: [DONE]\n\n"), saying("[DONE]"),
                            saying(" is no JSON."), closing()});
        })
        .unstreamed([] { return raw_reply(200, body_with(message_saying(text_with_done))); }),
    ScenarioRow("done-missing", "ends the stream without [DONE], after a finish_reason")
        .from("openai-node, openai-python: they need no [DONE]")
        .good("takes the finish_reason and the end of the body for the end")
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.done(false); }),
    ScenarioRow("done-twice", "sends [DONE] twice")
        .from("OpenAI: [DONE] ends the stream")
        .good("stops at the first")
        .streams_only()
        .changed([](const Reply& reply, bool) { return reply.fault(before_done(), duplicate_event()); }),
    ScenarioRow("empty-data-keep-alive", "sends an event with empty data before each piece of text")
        .from("copilot-api#88")
        .good("passes over it: it is no JSON")
        .streams_only()
        .streamed([] { return stream_with("data:\n\n"); }),
    ScenarioRow("event-field", "has an event field in each event")
        .from("WHATWG HTML 9.2.6")
        .good("reads the data, whatever the event's name")
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.event("completion"); }),
    ScenarioRow("event-longer-than-64-kib", "sends 100,000 characters in one event")
        .from("openai-go#368")
        .good("has no limit for a line, or one far beyond this")
        .says("x")
        .times(long_text)
        .streamed([] {
          return stream_of({opening(), saying(std::string(long_text, 'x')), closing()});
        })
        .unstreamed([] { return raw_reply(200, body_with(message_saying(std::string(long_text, 'x')))); }),
    ScenarioRow("event-split-across-reads", "waits 50 ms in the middle of an event, or of the JSON")
        .from("typesense#2837")
        .good("joins reads before it parses")
        .changed([](const Reply& reply, bool streamed) {
          return reply.fault(streamed ? inside_event(3, 60) : after_bytes(60), stall(50ms));
        }),
    ScenarioRow("event-without-data", "sends an event that has a name and no data before each piece of text")
        .from("WHATWG HTML 9.2.6")
        .good("passes over it: without data there is no event")
        .streams_only()
        .streamed([] { return stream_with("event: ping\n\n"); }),
    ScenarioRow("events-in-one-chunk", "sends all events in one HTTP chunk")
        .from("RFC 9112, section 7.1: chunks mean nothing")
        .good("parses by lines, not by reads")
        .streams_only()
        .streamed([] { return chunks({raw_bytes(usual_events())}); })
        .dialect([](SseDialect& dialect) { dialect = dialect.done(false); }),
    ScenarioRow("final-blank-line-missing", "ends after the line with [DONE], without a blank line")
        .from("WHATWG HTML 9.2.6: such an event is dropped")
        .good("has had the finish_reason, and needs no [DONE]")
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.final_blank_line(false); }),
    ScenarioRow("gzip-unasked", "compresses the stream, whatever Accept-Encoding says")
        .from("RFC 9110, section 12.5.3")
        .good("decompresses it as it comes, or reports the encoding")
        .error_too()
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.gzip(true); }),
    ScenarioRow("header-names-in-lower-case", "writes the names of all header fields in lower case")
        .from("RFC 9110, section 5.1: names are case-insensitive")
        .good("finds Content-Type, Content-Length and Transfer-Encoding in any case")
        .streamed([] {
          std::string chunks;
          for (const ChunkText& chunk : usual_chunks()) chunks += http_chunk(event_of(json_of(chunk)));
          return by_hand("content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked",
                         chunks + http_chunk("data: [DONE]\n\n") + http_chunk(""));
        })
        .unstreamed([] {
          return by_hand("content-type: application/json\r\ncontent-length: " + std::to_string(usual_body().size()),
                         usual_body());
        }),
    ScenarioRow("id-fields", "has an id field in each event")
        .from("WHATWG HTML 9.2.6")
        .good("reads the data, and needs no id")
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.ids(true); }),
    ScenarioRow("id-line-then-ping", "sends an id line followed by : ping before each piece of text")
        .from("llmgateway#2334")
        .good("passes over it: without data there is no event")
        .streams_only()
        .streamed([] { return stream_with("id: 7\n: ping\n\n"); }),
    ScenarioRow("last-event-without-blank-line", "ends inside the event with the last text: no blank line, no [DONE]")
        .from("WHATWG HTML 9.2.6: such an event is dropped")
        .good("reads it all the same, or reports that the end is missing")
        .error_too()
        .streams_only()
        .streamed(stream_ending_in_text)
        .dialect([](SseDialect& dialect) { dialect = dialect.done(false).final_blank_line(false); }),
    ScenarioRow("lone-cr-line-ends", "ends lines with CR alone")
        .from("WHATWG HTML 9.2.6")
        .good("takes CR for a line end")
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.line_end("\r"); }),
    ScenarioRow("multi-line-data", "writes the JSON of each event on three data lines")
        .from("WHATWG HTML 9.2.6")
        .good("joins the data lines of an event")
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.multi_line_data(true); }),
    ScenarioRow("no-space-after-colon", "writes data:{…} without a space")
        .from("WHATWG HTML 9.2.6")
        .good("takes the space for optional")
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.space_after_colon(false); }),
    ScenarioRow("one-write-for-all", "hands the whole reply to the kernel in one write")
        .from("RFC 9112, section 7.1: chunks mean nothing")
        .good("parses by lines, not by reads")
        .changed([](const Reply& reply, bool) { return reply.one_write(); }),
    ScenarioRow("one-write-per-byte", "sends the reply byte by byte, each in a read of its own")
        .from("typesense#2837, ollama-js#255")
        .good("joins reads before it decodes and parses")
        .changed([](const Reply& reply, bool) { return reply.slice_writes(1); }),
    ScenarioRow("open-after-done", "keeps the body and the connection open after [DONE]")
        .from("OpenAI: [DONE] ends the stream")
        .good("stops at [DONE], and closes the connection")
        .streams_only()
        .endless()
        .dialect([](SseDialect& dialect) { dialect = dialect.open_after_done(true); }),
    ScenarioRow("retry-field", "has a retry field in the first event")
        .from("WHATWG HTML 9.2.6")
        .good("reads the data, and connects no second time")
        .streams_only()
        .dialect([](SseDialect& dialect) { dialect = dialect.retry(3s); }),
    ScenarioRow("unknown-sse-field", "has a field in each event that no standard knows")
        .from("WHATWG HTML 9.2.6: such a field is ignored")
        .good("passes over the line")
        .streams_only()
        .streamed([] {
          std::vector<StreamChunk> elements;
          for (const ChunkText& chunk : usual_chunks())
            elements.push_back(raw_bytes("trace: 7\n" + event_of(json_of(chunk))));
          return chunks(std::move(elements));
        }),
};

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

void add_framing(Scenarios& all) {
  add_group(all, "framing", catalogue_parts::framing_rows, std::size(catalogue_parts::framing_rows));
}

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
