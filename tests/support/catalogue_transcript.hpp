#pragma once

// Transcripts of catalogue scenarios: the bytes that a client receives, in an abbreviated form.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "client.hpp"
#include "mock_gateway.hpp"
#include "printing.hpp"

namespace catalogue_transcript {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::Http;
using test_support::RawConnection;

/// Delimits notes that are inserted between the received bytes. No scenario sends this byte.
constexpr char mark = '\x1d';

/// An abbreviation for a part of a response that many scenarios send. It is written out here independently of the
/// library.
struct Shorthand {
  std::string spelled;
  std::string name;
};

inline std::string usual_chunk(const std::string& delta, const std::string& finish_reason) {
  return R"({@chunk,"choices":[{"index":0,"delta":)" + delta + R"(,"finish_reason":)" + finish_reason + "}]}";
}

inline std::string usual_call(const std::string& fields) {
  return usual_chunk(R"({"tool_calls":[{"index":0,)" + fields + "}]}", "null");
}

inline std::vector<Shorthand> shorthands() {
  const std::string made = R"(,"created":1767225600,"model":"mock-model")";
  std::vector<Shorthand> all = {
      {R"("id":"chatcmpl-catalogue","object":"chat.completion.chunk")" + made, "@chunk"},
      {R"("id":"chatcmpl-catalogue","object":"chat.completion")" + made, "@completion"},
      {R"("usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14})", "@usage"},
      {R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},)"
       R"("finish_reason":"stop"}],@usage})",
       "<answer>"},
      {usual_chunk(R"({"role":"assistant","content":""})", "null"), "<role>"},
      {usual_chunk(R"({"role":"assistant","content":null})", "null"), "<calls>"},
      {usual_chunk("{}", R"("stop")"), "<stop>"},
      {usual_chunk("{}", R"("tool_calls")"), "<called>"},
      {usual_call(R"("id":"call_1","type":"function","function":{"name":"get_weather","arguments":""})"), "<call>"},
      {usual_call(R"("function":{"arguments":"{\"city\":"})"), "<city>"},
      {usual_call(R"("function":{"arguments":"\"Zürich\"}"})"), "<Zürich>"},
      {R"("message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function",)"
       R"("function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}}]})",
       "@weather"},
      {R"({"error":{"code":"rate_limit_exceeded","message":"The rate limit is exceeded. Try again later.",)"
       R"("type":"error"}})",
       "<limited>"},
      {R"({"error":{"code":"rate_limit_exceeded",)"
       R"("message":"The rate limit is exceeded. Try again after the time in Retry-After.","type":"error"}})",
       "<limited: Retry-After>"},
      {R"({"error":{"code":"internal_error","message":"The server failed to process the request. Try again later.",)"
       R"("type":"error"}})",
       "<internal error>"},
  };
  int number = 0;
  for (const char* const piece : {"Zürich ", "21 °C, ", "東京 ", "9 °C."})
    all.push_back(
        {usual_chunk(R"({"content":")" + std::string(piece) + "\"}", "null"), "<" + std::to_string(++number) + ">"});
  for (const char* const name : {"<role>", "<1>", "<2>", "<3>", "<4>", "<stop>", "<calls>", "<call>", "<city>",
                                 "<Zürich>", "<called>", "[DONE]"})
    all.push_back({"data: " + std::string(name) + "\n\n", name});
  return all;
}

/// Returns the size in bytes of the first character of `text`, or 0 if it is incomplete or not printable.
inline std::size_t shown_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (size == 0 || text.size() < size) return 0;
  for (const std::string_view unseen : {"\uFEFF", "\u2028", "\u2029", "\u0085"})
    if (text.substr(0, size) == unseen) return 0;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; };
  return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(size), continues) ? size : 0;
}

inline std::string in_shorthand(std::string text) {
  static const std::vector<Shorthand> all = shorthands();
  for (const Shorthand& one : all) {
    for (std::size_t at = 0; (at = text.find(one.spelled, at)) != std::string::npos; at += one.name.size())
      text.replace(at, one.spelled.size(), one.name);
  }
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const std::size_t run = std::min(text.find_first_not_of(c, i), text.size()) - i;
    if (run >= 1000) {
      shown += c + std::string("*") + std::to_string(run);
      i += run - 1;
    } else if (c == mark) {
      shown += '~';
    } else if (c == '\n') {
      shown += "\\n";
    } else if (c == '\r') {
      shown += "\\r";
    } else if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 0x80) {
      const std::size_t character = shown_character(std::string_view(text).substr(i));
      if (character > 0) {
        shown += text.substr(i, character);
        i += character - 1;
        continue;
      }
      char digits[8];
      std::snprintf(digits, sizeof digits, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      shown += digits;
    } else {
      shown += c;
    }
  }
  return shown;
}

/// A reader of bytes that contain notes.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::string_view rest() const { return rest_; }
  /// Takes the notes at the current position.
  std::string notes() {
    std::string taken;
    while (!rest_.empty() && rest_[0] == mark) taken += skip(rest_.find(mark, 1) + 1);
    return taken;
  }
  /// Takes `size` bytes and the notes between them, or all remaining bytes. Returns whether there were enough bytes.
  bool take(std::size_t size, std::string& out) {
    for (;;) {
      out += notes();
      const std::size_t part = std::min({size, rest_.find(mark), rest_.size()});
      if (part == 0) return size == 0;
      out += skip(part);
      size -= part;
    }
  }
  /// Takes a line and its CRLF. Returns false and takes nothing if there is no complete line.
  bool line(std::string& out) {
    const std::size_t end = rest_.find("\r\n");
    if (end == std::string_view::npos) return false;
    out = skip(end);
    skip(2);
    return true;
  }

 private:
  std::string skip(std::size_t size) {
    std::string taken(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

/// Reads a number of `size` bytes, the least significant first.
inline std::size_t number_in(std::string_view bytes, std::size_t at, std::size_t size) {
  std::size_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number |= std::size_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return number;
}

/// Decompresses the members of gzip data that has only stored blocks.
inline std::vector<std::string> unzipped(std::string_view bytes) {
  std::vector<std::string> members;
  while (bytes.substr(0, 3) == "\x1f\x8b\x08") {
    std::string& text = members.emplace_back();
    bytes.remove_prefix(10);
    for (bool last = false; !last && bytes.size() >= 5;) {
      const std::size_t size = number_in(bytes, 1, 2);
      last = bytes[0] == 1;
      text += bytes.substr(5, size);
      bytes.remove_prefix(std::min(5 + size, bytes.size()));
    }
    bytes.remove_prefix(std::min<std::size_t>(8, bytes.size()));  // checksum and size
  }
  return members;
}

/// Decompresses Zstandard frames of one block that is not compressed and a size in 4 bytes (RFC 8878, 3.1.1).
inline std::vector<std::string> unzstd(std::string_view bytes) {
  std::vector<std::string> frames;
  while (bytes.size() > 12 && bytes.substr(0, 5) == "\x28\xb5\x2f\xfd\xa0") {
    const std::size_t size = number_in(bytes, 5, 4);
    if (number_in(bytes, 9, 3) != (size << 3U | 1U)) break;
    frames.emplace_back(bytes.substr(12, size));
    bytes.remove_prefix(std::min(12 + size, bytes.size()));
  }
  if (!bytes.empty()) frames.push_back("(not Zstandard) " + std::string(bytes));
  return frames;
}

/// Decompresses Brotli data that has only uncompressed blocks (RFC 7932, section 9.2). Appends any bytes after these
/// blocks unchanged.
inline std::string unbrotlied(std::string_view bytes) {
  std::string text;
  for (unsigned shift = 4; bytes.size() > 3 && bytes[0] != 3; shift = 3) {
    std::size_t head = 0;
    for (unsigned i = 0; i < 3; ++i) head |= std::size_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    // Stops unless the block is uncompressed, not the last, and has a 16-bit length.
    if ((head & ((1U << shift) - 1)) != 0 || head >> (shift + 16) != 1) break;
    const std::size_t size = ((head >> shift) & 0xffffU) + 1;
    text += bytes.substr(3, size);
    bytes.remove_prefix(std::min(3 + size, bytes.size()));
  }
  return bytes == "\3" ? text : text + "(not Brotli) " + std::string(bytes);
}

struct Transcript {
  std::string text;
  /// True if a complete response arrived.
  bool complete = false;
  /// True if the response announces that the connection closes after it.
  bool closes = false;
};

/// Abbreviates a response to the unusual parts of its head and the body without chunk framing.
inline Transcript transcript(std::string_view bytes, bool streamed) {
  Transcript seen;
  Reader reader(bytes);
  const auto rest_as_it_is = [&] {
    seen.text += in_shorthand(std::string(reader.rest()));
    return seen;
  };
  for (;;) {
    seen.text += in_shorthand(reader.notes());
    if (reader.rest().empty()) seen.text += "(nothing)";
    if (reader.rest().substr(0, 5) != "HTTP/") return rest_as_it_is();
    std::string status;
    std::map<std::string, std::string> headers;
    if (!reader.line(status)) return rest_as_it_is();
    for (std::string line; reader.line(line) && !line.empty();)
      headers[test_support::detail::lower(line.substr(0, line.find(':')))] = line.substr(line.find(':') + 2);
    if (status.substr(9, 1) == "1") {
      seen.text += "(" + status.substr(9);
      for (const auto& [name, value] : headers) seen.text += ", " + name + ": " + value;
      seen.text += ") ";
      continue;
    }
    if (status != "HTTP/1.1 200 OK") seen.text += "(" + status.substr(9) + ") ";
    if (headers["content-type"] !=
        (streamed && status == "HTTP/1.1 200 OK" ? "text/event-stream; charset=utf-8" : "application/json"))
      seen.text += "(content-type: " + headers["content-type"] + ") ";
    for (const char* const name :
         {"retry-after", "retry-after-ms", "x-should-retry", "content-encoding", "cf-ray", "location",
          "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests",
          "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"}) {
      if (headers.count(name) != 0) seen.text += "(" + std::string(name) + ": " + headers[name] + ") ";
    }
    seen.closes = headers["connection"] == "close";
    std::string body;
    int chunks = 0;
    if (headers["transfer-encoding"] == "chunked") {
      for (;;) {
        body += reader.notes();
        const Reader before = reader;
        std::string size;
        if (!reader.line(size)) break;
        if (size.find_first_not_of("0123456789abcdef") != std::string::npos) {
          reader = before;
          break;
        }
        if (size == "0") {
          seen.complete = reader.line(size);
          break;
        }
        ++chunks;
        if (!reader.take(std::stoul(size, nullptr, 16), body)) {
          body += "{cut}";
          break;
        }
        if (!reader.line(size)) break;
      }
    } else if (headers.count("content-length") != 0) {
      seen.complete = reader.take(std::stoul(headers["content-length"]), body);
    } else {
      seen.text += "(until close) ";
    }
    std::vector<std::string> frames;
    if (headers["content-encoding"] == "gzip") frames = unzipped(body);
    if (headers["content-encoding"] == "zstd") frames = unzstd(body);
    if (!frames.empty()) body.clear();
    for (const std::string& frame : frames) body += frame;
    if (headers["content-encoding"] == "br") body = unbrotlied(body);
    seen.text += body.empty() ? "(no body)" : in_shorthand(body);
    if (chunks == 1 && body.find("data: ") != body.rfind("data: ")) seen.text += " (in one chunk)";
    if (chunks > 100) seen.text += " (in " + std::to_string(chunks) + " chunks)";
    if (frames.size() > 1) seen.text += " (" + std::to_string(frames.size()) + " frames)";
    if (seen.complete && !reader.rest().empty()) seen.text += " (then) ";
    return rest_as_it_is();
  }
}

/// Receives the bytes that the gateway sent before a wait but the client has not received yet.
inline std::string sent_before_wait(const Gateway& gateway, RawConnection& connection, const std::string& notes) {
  if (gateway.journal().count() == 0) return "";
  std::size_t received = 0;
  bool noted = false;
  for (const char c : notes) {
    if (c == mark) noted = !noted;
    received += c != mark && !noted;
  }
  const Exchange exchange = gateway.journal().last();
  return connection
      .receive_until([&](std::string_view more) { return received + more.size() >= exchange.bytes_sent(); })
      .bytes;
}

/// Sends a chat request. Returns the received bytes, the gateway's waits between them, and how the connection ends:
/// "open" (the next request gets a response), "fin", "reset", "refused" or "stalled". An endless reply counts as
/// stalled when its text equals `expected`, or else after some real time.
inline std::string observe_request(Gateway& gateway, ManualClock& clock, const Scenario& scenario, bool streamed,
                                   const std::string& expected) {
  const bool on_accept = scenario.name().find("accept") != std::string::npos;
  const Http http(gateway);
  std::unique_ptr<RawConnection> connection;
  try {
    connection = std::make_unique<RawConnection>(gateway);
  } catch (const std::runtime_error& error) {
    // The peer may reset an accepted connection before connect() returns.
    return std::string(error.what()).find("refused") != std::string::npos ? "refused" : "(nothing) reset";
  }
  if (!on_accept) connection->send(http.format_chat(streamed ? Json{{"stream", true}} : Json{}));
  std::string bytes;
  int advances = 0;
  test_support::detail::Deadline patience(5s);
  while (!patience.over()) {
    const auto waits = clock.waits();
    const std::string received = connection->receive_all(waits.empty() ? 1ms : 0ms).bytes;
    bytes += received;
    const Transcript seen = transcript(bytes, streamed);
    if (connection->end() != End::open) return seen.text + " " + to_string(connection->end());
    if (seen.complete && (seen.closes || scenario.name() == "closed-while-idle")) {
      connection->receive_all();
      return seen.text + " " + to_string(connection->end());
    }
    if (seen.complete) break;
    if (scenario.needs_timeout() && seen.text + " stalled" == expected) {
      CHECK(connection->receive_all(5ms).bytes == "");
      CHECK(connection->end() == End::open);
      return expected;
    }
    if (!waits.empty() && !(scenario.needs_timeout() && advances >= 3)) {
      bytes += sent_before_wait(gateway, *connection, bytes);
      const auto step = std::chrono::duration_cast<std::chrono::milliseconds>(clock.advance_to_next_event());
      bytes += mark + std::to_string(step.count()) + "ms" + mark;
      ++advances;
    }
    if (!received.empty() || !waits.empty()) patience = test_support::detail::Deadline(5s);
  }
  if (!transcript(bytes, streamed).complete) return transcript(bytes, streamed).text + " stalled";
  connection->send(http.format("GET", "/v1/models"));
  const auto next = connection->receive_until("HTTP/1.1 ");
  const std::string left = next.found ? next.bytes.substr(0, next.bytes.size() - 9) : next.bytes;
  bytes += left;
  const std::string end = next.found ? "open" : to_string(connection->end()) + " when reused";
  return transcript(bytes, streamed).text + " " + end;
}

inline std::string observe(const Scenario& scenario, bool streamed, const std::string& expected) {
  ManualClock clock;
  Gateway gateway{scenario.options(Options{}.clock(clock))};
  scenario.mount(gateway);
  std::string all = observe_request(gateway, clock, scenario, streamed, expected);
  if (scenario.group() == "retries" || scenario.name() == "reset-on-first-accept") {
    const bool accept = scenario.group() != "retries";
    all += " / " + (accept ? std::to_string(Http(gateway).chat().status)
                           : observe_request(gateway, clock, scenario, streamed, expected));
  }
  return all;
}

}  // namespace catalogue_transcript
