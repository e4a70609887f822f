// Scenarios of framing.

#include <charconv>
#include <chrono>
#include <cstddef>
#include <iterator>  // size
#include <string>
#include <string_view>
#include <utility>

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

/// These bytes as a stream of Brotli that compresses nothing (RFC 7932, section 9). Its blocks are so short that
/// whoever reads the stream as it is finds no event and no JSON in it.
std::string as_brotli(std::string_view bytes) {
  constexpr std::size_t longest = 16;
  // Before the first block stands a bit for a window of 64 KiB. Of each block: that it is not the last one, two bits
  // for a length of 16 bits, the length less one, that it is not compressed, and nothing up to the next byte.
  unsigned shift = 4;
  std::string stream;
  for (; !bytes.empty(); shift = 3) {
    const std::string_view block = bytes.substr(0, longest);
    const std::size_t head = (block.size() - 1) << shift | std::size_t{1} << (shift + 16);
    for (unsigned byte = 0; byte < 3; ++byte) stream += static_cast<char>(head >> (8 * byte) & 0xffU);
    stream += block;
    bytes.remove_prefix(block.size());
  }
  return stream + '\3';  // the last one, which is empty
}

/// In which the end of a stream is spoken of.
inline constexpr const char* text_with_done = "A stream ends with\ndata: [DONE]\n\n[DONE] is no JSON.";

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
    ScenarioRow("blank-line-missing-between-events", "sends two events without the blank line between them")
        .from("1jehuang/jcode#609, ggml-org/llama.cpp#14268")
        .good("takes each data line for an event, or reports that their lines together are no JSON")
        .error_too()
        .streams_only()
        .sends("Zürich 9 °C.")
        .streamed([] {
          const ChunkTexts usual = usual_chunks();
          const std::string second = "data: " + json_of(usual[2]) + "\n";
          return chunks({element(usual[0]), element(usual[1]), raw_bytes(second + event_of(json_of(usual[3]))),
                         element(usual[4]), element(usual[5])});
        }),
    ScenarioRow("blank-lines-before-reply", "sends three blank lines before the first event, or before the JSON")
        .from("AstrBot#403")
        .good("passes over them")
        .streamed([] {
          std::vector<StreamChunk> elements = {raw_bytes("\n\n\n")};
          for (const ChunkText& chunk : usual_chunks()) elements.push_back(element(chunk));
          return chunks(std::move(elements));
        })
        .unstreamed([] { return raw_reply(200, "\n\n\n" + usual_body()); }),
    ScenarioRow("brotli-unasked", "compresses the answer with Brotli, whatever Accept-Encoding says")
        .from("agentgateway/agentgateway#3040")
        .good("decompresses it, or reports the encoding; never takes the bytes for the answer")
        .error_too()
        .streamed([] {
          return raw_reply(200, as_brotli(usual_events()), "text/event-stream; charset=utf-8")
              .header("Content-Encoding", "br");
        })
        .unstreamed([] { return raw_reply(200, as_brotli(usual_body())).header("Content-Encoding", "br"); }),
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
    ScenarioRow("content-encoding-claimed", "says Content-Encoding: br of an answer that is not compressed")
        .from("agentgateway/agentgateway#3040")
        .good("reports that the encoding is wrong or unknown, or takes the bytes as they are")
        .error_too()
        .changed([](const Reply& reply, bool) { return reply.header("Content-Encoding", "br"); }),
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

}  // namespace catalogue_parts

void add_framing(Scenarios& all) {
  add_group(all, "framing", catalogue_parts::framing_rows, std::size(catalogue_parts::framing_rows));
}

}  // namespace mock_gateway::detail
