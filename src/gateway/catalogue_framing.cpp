// The scenarios of the group "framing".

#include <charconv>
#include <chrono>
#include <cstddef>
#include <iterator>  // size
#include <string>
#include <string_view>

#include "../delivery/gzip.hpp"
#include "catalogue_entries.hpp"

namespace mock_gateway::detail {
namespace catalogue_parts {

using namespace std::chrono_literals;

void say_before_text(Chunks& chunks, const char* bytes) {
  for (std::size_t i = 4; i > 0; --i)
    chunks.insert(chunks.begin() + static_cast<std::ptrdiff_t>(i), std::string(bytes));
}

/// Returns a complete handwritten response with these header fields, after which the connection closes.
Reply by_hand(const std::string& fields, const std::string& body) {
  return usual_reply(false).fault(before_headers(),
                                  garbage("HTTP/1.1 200 OK\r\n" + fields + "\r\nconnection: close\r\n\r\n" + body));
}

/// Returns an HTTP chunk; for empty `bytes` the last one, which ends the body.
std::string http_chunk(const std::string& bytes) {
  char size[2 * sizeof bytes.size()];
  return std::string(size, std::to_chars(size, size + sizeof size, bytes.size(), 16).ptr) + "\r\n" + bytes + "\r\n";
}

/// Returns a Brotli stream without compression (RFC 7932, section 9). Undecoded, it is neither events nor JSON.
std::string as_brotli(std::string_view bytes) {
  constexpr std::size_t longest = 16;
  // The stream begins with a bit for a window of 64 KiB. A block has one bit "not the last", two bits "16-bit length",
  // the length minus one, one bit "uncompressed", and padding to the next byte.
  unsigned shift = 4;
  std::string stream;
  for (; !bytes.empty(); shift = 3) {
    const std::string_view block = bytes.substr(0, longest);
    const std::size_t head = (block.size() - 1) << shift | std::size_t{1} << (shift + 16);
    for (unsigned byte = 0; byte < 3; ++byte) stream += static_cast<char>(head >> (8 * byte) & 0xffU);
    stream += block;
    bytes.remove_prefix(block.size());
  }
  return stream + '\3';  // the last, empty block
}

std::string gzip_member(const std::string& bytes) {
  GzipStream member;
  std::string out;
  member.begin(out);
  member.append(out, bytes);
  member.end(out);
  return out;
}

/// Returns a Zstandard frame without compression (RFC 8878, section 3.1.1): its size in 4 bytes, and one block.
std::string zstd_frame(const std::string& bytes) {
  const std::size_t block = bytes.size() << 3U | 1U;  // the last one, not compressed
  std::string frame = "\x28\xb5\x2f\xfd\xa0";
  for (unsigned byte = 0; byte < 4; ++byte) frame += static_cast<char>(bytes.size() >> (8 * byte) & 0xffU);
  for (unsigned byte = 0; byte < 3; ++byte) frame += static_cast<char>(block >> (8 * byte) & 0xffU);
  return frame + bytes;
}

/// Makes a frame of each event, also of `[DONE]`.
void compress_each(Chunks& chunks, std::string (*frame)(const std::string& bytes)) {
  for (Json& chunk : chunks) chunk = frame(event_of(chunk.dump()));
  chunks.push_back(frame(event_of("[DONE]")));
}

SseDialect without_done() { return SseDialect().done(false); }

inline constexpr const char* text_with_done = "A stream ends with\ndata: [DONE]\n\n[DONE] is no JSON.";

/// Longer than the limits of line readers.
inline constexpr std::size_t long_text = 100'000;

std::string with_spaces(std::string json) { return json.insert(1, 1'100'000, ' '); }

inline constexpr ScenarioRow framing_rows[] = {
    {"answer-as-text-plain", "sends the JSON or the stream with Content-Type text/plain", "mistral.rs#79",
     "reads the form that it requested and received, or reports the Content-Type", error_too,
     [](bool streamed) {
       const char* const type = "text/plain; charset=utf-8";
       return streamed ? usual_reply(true).sse(SseDialect().content_type(type)) : raw_reply(200, usual_body(), type);
     }},
    {"answer-in-the-other-form", "answers a stream request with JSON, and a plain request with a stream",
     "openai-node: a JSON body gives no chunks and no error",
     "follows the Content-Type, or reports it; never treats the reply as an empty answer", error_too,
     [](bool streamed) { return usual_reply(!streamed); }},
    {"blank-line-missing-between-events", "omits the blank line between two events",
     "1jehuang/jcode#609, ggml-org/llama.cpp#14268",
     "treats each data line as an event, or reports that the joined lines are not JSON", error_too | streams_only,
     Sends{"Zürich 9 °C."},
     [](Chunks& chunks) {
       chunks[2] = "data: " + chunks[2].dump() + "\n" + event_of(chunks[3].dump());
       chunks.erase(chunks.begin() + 3);
     }},
    {"blank-lines-before-reply", "sends three blank lines before the first event or the JSON", "AstrBot#403",
     "skips blank lines", whole_answer, [](Chunks& chunks) { chunks.insert(chunks.begin(), std::string("\n\n\n")); },
     [] { return "\n\n\n" + usual_body(); }},
    {"brotli-unasked", "compresses the answer with Brotli, even if Accept-Encoding does not offer it",
     "agentgateway/agentgateway#3040",
     "decompresses the answer, or reports the encoding; never shows the compressed bytes", error_too,
     [](bool streamed) {
       return raw_reply(200, as_brotli(usual_bytes(streamed)), usual_type_of(streamed))
           .header("Content-Encoding", "br");
     }},
    {"byte-order-mark", "begins the stream with a byte order mark", "WHATWG HTML 9.2.6", "ignores the mark",
     streams_only, [] { return SseDialect().byte_order_mark(true); }},
    {"character-split-across-reads", "pauses 50 ms in the middle of a character", "ollama-js#255",
     "decodes characters across reads", whole_answer, in_a_character, [] { return stall(50ms); }},
    {"chunk-framing-in-body", "sends 0 and two CRLF inside the body, as at the end of a chunked body",
     "keploy/keploy#4570", "finds the end of the body by the sizes of its chunks, or by Content-Length", whole_answer,
     [] { return SseDialect().line_end("\r\n").comment("0"); },
     [] { return replaced(usual_body(), "1767225600", "1767225600\r\n\r\n"); }},
    {"close-delimited-body", "sends neither Content-Length nor chunks: the end of the connection ends the body",
     "RFC 9112, section 6.3", "reads until the connection ends", whole_answer,
     [](bool streamed) { return until_close(streamed, usual_bytes(streamed)); }},
    {"comment-keep-alives", "sends a comment before each event", "openai-go#621, langchaingo#942",
     "ignores lines that begin with a colon", streams_only,
     [] { return SseDialect().comment("OPENROUTER PROCESSING"); }},
    {"compressed-frame-per-event", "compresses each event separately: the stream is a series of gzip members",
     "BerriAI/litellm#40028, RFC 1952, section 2.2", "decompresses every member, or reports the encoding",
     error_too | streams_only, [](Chunks& chunks) { compress_each(chunks, gzip_member); }, without_done,
     [](const Reply& reply) { return reply.header("Content-Encoding", "gzip"); }},
    {"content-encoding-claimed", "sends Content-Encoding: br with an answer that is not compressed",
     "agentgateway/agentgateway#3040", "reports the wrong or unknown encoding, or reads the bytes as they are",
     error_too, [](const Reply& reply) { return reply.header("Content-Encoding", "br"); }},
    {"content-type-missing", "streams without a Content-Type", "RFC 9110, section 8.3",
     "expects the form that it requested, or reports the missing Content-Type", error_too | streams_only,
     [] { return SseDialect().content_type(""); }},
    {"content-type-without-charset", "streams as text/event-stream, without charset", "WHATWG HTML 9.2.5: always UTF-8",
     "reads it as UTF-8", streams_only, [] { return SseDialect().content_type("text/event-stream"); }},
    {"crlf-line-ends", "ends lines with CRLF", "WHATWG HTML 9.2.6", "treats CRLF as one line end", streams_only,
     [] { return SseDialect().line_end("\r\n"); }},
    {"data-after-done", "sends another chunk with text after [DONE]", "OpenAI: [DONE] ends the stream",
     "stops at [DONE]", streams_only, Sends{"Zürich 21 °C, 東京 9 °C. And more."},
     [] { return SseDialect().after_done(saying(" And more.").dump()); }},
    {"done-inside-text", "sends a text that contains [DONE], and data: [DONE] on its own line",
     "OpenAI: [DONE] is the whole data of an event", "ends the stream only at an event whose whole data is [DONE]",
     whole_answer, Says{text_with_done},
     [] {
       return Chunks{opening(),        saying("A stream ends with\n"), saying("data: [DONE]\n\n"),
                     saying("[DONE]"), saying(" is no JSON."),         closing()};
     }},
    {"done-missing", "ends the stream without [DONE], but with a finish_reason",
     "openai-node, openai-python: they need no [DONE]", "needs only the finish_reason and the end of the body",
     streams_only, [] { return SseDialect().done(false); }},
    {"done-twice", "sends [DONE] twice", "OpenAI: [DONE] ends the stream", "stops at the first [DONE]", streams_only,
     before_done, duplicate_event},
    {"empty-data-keep-alive", "sends an event with empty data before each piece of text", "copilot-api#88",
     "ignores the event instead of parsing it as JSON", streams_only, say_before_text, "data:\n\n"},
    {"event-field", "sends an event field in each event", "WHATWG HTML 9.2.6",
     "reads the data, whatever the event's name", streams_only, [] { return SseDialect().event("completion"); }},
    {"event-longer-than-1-mib", "sends an event, or a body, of 1.1 MB: its JSON has 1,100,000 spaces",
     "WHATWG HTML 9.2.6: lines have no limit", "has no limit for a line, or a limit far beyond this", whole_answer,
     [](Chunks& chunks) { chunks[2] = event_of(with_spaces(chunks[2].dump())); },
     [] { return with_spaces(usual_body()); }},
    {"event-longer-than-64-kib", "sends 100,000 characters in one event", "openai-go#368",
     "has no line limit, or a much higher one", whole_answer, Says{"x", long_text},
     [] {
       return Chunks{opening(), saying(std::string(long_text, 'x')), closing()};
     }},
    {"event-split-across-reads", "pauses 50 ms in the middle of an event, or of the JSON", "typesense#2837",
     "joins reads before it parses them", whole_answer,
     [](bool streamed) { return streamed ? inside_event(3, 60) : after_bytes(60); }, [] { return stall(50ms); }},
    {"event-without-data", "sends an event with a name but no data before each piece of text", "WHATWG HTML 9.2.6",
     "ignores it: without data there is no event", streams_only, say_before_text, "event: ping\n\n"},
    {"events-in-one-chunk", "sends all events in one HTTP chunk",
     "RFC 9112, section 7.1: chunk boundaries have no meaning", "parses line by line, not read by read", streams_only,
     [] { return Chunks{Json(usual_events())}; }, [] { return SseDialect().done(false); }},
    {"final-blank-line-missing", "ends the stream after the line with [DONE], without a blank line",
     "WHATWG HTML 9.2.6: such an event is dropped", "has the finish_reason, and does not need [DONE]", streams_only,
     [] { return SseDialect().final_blank_line(false); }},
    {"gzip-unasked", "compresses the stream with gzip, even if Accept-Encoding does not offer it",
     "RFC 9110, section 12.5.3", "decompresses the stream as it arrives, or reports the encoding",
     error_too | streams_only, [] { return SseDialect().gzip(true); }},
    {"header-names-in-lower-case", "sends all header names in lower case",
     "RFC 9110, section 5.1: names are case-insensitive",
     "finds Content-Type, Content-Length and Transfer-Encoding in any case", whole_answer,
     [](bool streamed) {
       std::string body;
       if (!streamed) {
         body = usual_body();
         return by_hand("content-type: application/json\r\ncontent-length: " + std::to_string(body.size()), body);
       }
       for (const Json& chunk : usual_chunks()) body += http_chunk(event_of(chunk.dump()));
       return by_hand("content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked",
                      body + http_chunk("data: [DONE]\n\n") + http_chunk(""));
     }},
    {"http-chunks-cut-events", "sends the stream in HTTP chunks of 7 bytes, which end inside events and characters",
     "nginx, RFC 9112, section 7.1: chunks mean nothing", "joins the chunks before it decodes and parses", streams_only,
     [](const Reply& reply) { return reply.http_chunks_of(7); }},
    {"id-fields", "sends an id field in each event", "WHATWG HTML 9.2.6", "reads the data, and does not need the id",
     streams_only, [] { return SseDialect().ids(true); }},
    {"id-line-then-ping", "sends an id line followed by : ping before each piece of text", "llmgateway#2334",
     "ignores it: without data there is no event", streams_only, say_before_text, "id: 7\n: ping\n\n"},
    {"last-event-without-blank-line", "ends inside the event with the last text, without a blank line or [DONE]",
     "WHATWG HTML 9.2.6: such an event is dropped", "reads the event anyway, or reports the missing end",
     error_too | streams_only, end_in_text, [] { return SseDialect().done(false).final_blank_line(false); }},
    {"lone-cr-line-ends", "ends lines with a single CR", "WHATWG HTML 9.2.6", "treats CR as a line end", streams_only,
     [] { return SseDialect().line_end("\r"); }},
    {"multi-line-data", "splits the JSON of each event into three data lines", "WHATWG HTML 9.2.6",
     "joins the data lines of an event", streams_only, [] { return SseDialect().multi_line_data(true); }},
    {"no-space-after-colon", "sends data:{…} without a space", "WHATWG HTML 9.2.6", "treats the space as optional",
     streams_only, [] { return SseDialect().space_after_colon(false); }},
    {"one-write-for-all", "sends the whole reply in one write",
     "RFC 9112, section 7.1: chunk boundaries have no meaning", "parses line by line, not read by read", whole_answer,
     [](const Reply& reply) { return reply.one_write(); }},
    {"one-write-per-byte", "sends the reply byte by byte, so that each read returns one byte",
     "typesense#2837, ollama-js#255", "joins reads before it decodes and parses them", whole_answer,
     [](const Reply& reply) { return reply.slice_writes(1); }},
    {"open-after-done", "keeps the body and the connection open after [DONE]", "OpenAI: [DONE] ends the stream",
     "stops at [DONE], and closes the connection", streams_only | endless,
     [] { return SseDialect().open_after_done(true); }},
    {"retry-field", "sends a retry field in the first event", "WHATWG HTML 9.2.6",
     "reads the data, and does not reconnect", streams_only, [] { return SseDialect().retry(3s); }},
    {"unknown-sse-field", "sends an unknown SSE field in each event", "WHATWG HTML 9.2.6: such a field is ignored",
     "ignores the line", streams_only,
     [](Chunks& chunks) {
       for (Json& chunk : chunks) chunk = "trace: 7\n" + event_of(chunk.dump());
     }},
    {"zstd-frame-per-event",
     "compresses each event separately, as a Zstandard frame, even if Accept-Encoding does not offer it",
     "BerriAI/litellm#40028, RFC 8878, section 3.1", "decompresses every frame, or reports the encoding",
     error_too | streams_only, [](Chunks& chunks) { compress_each(chunks, zstd_frame); }, without_done,
     [](const Reply& reply) { return reply.header("Content-Encoding", "zstd"); }},
};

void add_framing(Scenarios& all) { add_group(all, "framing", framing_rows, std::size(framing_rows)); }

}  // namespace catalogue_parts
}  // namespace mock_gateway::detail
