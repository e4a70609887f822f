// Every scenario of the catalogue as a client sees it, byte by byte to its end, and what is said of clients.

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace catalogue_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::Http;
using test_support::RawConnection;
using test_support::Response;
using Kind = Verdict::Kind;

// --- What a client sees, in shorthand
// ----------------------------------------------------------------------------------

/// Stands around what was noted between bytes; it is none of them.
constexpr char mark = '\x1e';

/// The usual chunks and body, as they are spelled here and nowhere in the library.
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

/// The bytes of the character at the front, if it is whole and can be seen; else 0.
inline std::size_t shown_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (size == 0 || text.size() < size || text.substr(0, 3) == "\xEF\xBB\xBF") return 0;
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

/// Reads bytes among which notes stand.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::string_view rest() const { return rest_; }
  /// The notes that stand here.
  std::string notes() {
    std::string taken;
    while (!rest_.empty() && rest_[0] == mark) taken += skip(rest_.find(mark, 1) + 1);
    return taken;
  }
  /// So many bytes, or what there is, with the notes among them; says whether there were as many.
  bool take(std::size_t size, std::string& out) {
    for (; !rest_.empty(); --size) {
      out += notes();
      if (size == 0 || rest_.empty()) break;
      out += skip(1);
    }
    return size == 0;
  }
  /// A line up to CRLF, which is taken too; nothing is taken when there is none.
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

/// What stored blocks of gzip hold.
inline std::string unzipped(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 10; at + 5 <= bytes.size();) {
    const std::size_t size =
        static_cast<unsigned char>(bytes[at + 1]) + 256U * static_cast<unsigned char>(bytes[at + 2]);
    const bool last = bytes[at] == 1;
    text += bytes.substr(at + 5, size);
    at += 5 + size;
    if (last) break;
  }
  return text;
}

struct Transcript {
  std::string text;
  /// A whole response has come.
  bool complete = false;
  /// The response says that the connection ends with it.
  bool closes = false;
};

/// A response in shorthand: what its head has that is not usual, then the body, HTTP's chunks taken off.
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
    for (const char* const name : {"retry-after", "retry-after-ms", "x-should-retry", "content-encoding"}) {
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
    if (headers["content-encoding"] == "gzip") body = unzipped(body);
    seen.text += body.empty() ? "(no body)" : in_shorthand(body);
    if (chunks == 1 && body.find("data: ") != body.rfind("data: ")) seen.text += " (in one chunk)";
    if (seen.complete && !reader.rest().empty()) seen.text += " (then) ";
    return rest_as_it_is();
  }
}

/// What was sent before a wait and is still on its way.
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

/// Asks for a chat and notes what comes, how long the gateway's clock lets it wait in between, and how it ends: open
/// (the next request is answered), fin, reset, refused, or stalled. An endless reply is taken for stalled when it is
/// as expected so far, and in its absence after a while of real time.
inline std::string observe_request(Gateway& gateway, ManualClock& clock, const Scenario& scenario, bool streamed,
                                   const std::string& expected) {
  const bool on_accept = scenario.name().find("accept") != std::string::npos;
  const Http http(gateway);
  std::unique_ptr<RawConnection> connection;
  try {
    connection = std::make_unique<RawConnection>(gateway);
  } catch (const std::runtime_error& error) {
    return std::string(error.what()).find("refused") != std::string::npos ? "refused" : "reset";
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
    if (seen.complete && seen.closes) {
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

// --- The scenarios
// -----------------------------------------------------------------------------------------------------

struct Golden {
  const char* name;
  /// What stream requests get.
  const char* streamed;
  /// What plain ones get; where nothing is said, and the scenario needs a stream, the usual answer.
  const char* plain = nullptr;
};

constexpr const char* same = "as streamed";
constexpr const char* usual_streamed = "<role><1><2><3><4><stop>[DONE] open";
constexpr const char* usual_plain = "<answer> open";

// Each is written out: the usual parts by name, ~20ms~ where the gateway's clock let it wait, line ends as \n and \r.
// clang-format off
inline const std::vector<Golden>& goldens() {
  static const std::vector<Golden> all = {
    // chunks
    {"content-null-in-deltas",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"finish_reason":null}]}\n\n<1><2><3><4>data: {@chunk,"choices":[{"index":0,"delta":{"content":null,"reasoning_content":null},"finish_reason":"stop"}]}\n\n[DONE] open)"},
    {"escaped-characters",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Z\u00fcrich "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 \u00b0C, "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"\u6771\u4eac "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 \u00b0C."},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":" \ud83c\udf26"},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Z\u00fcrich 21 \u00b0C, \u6771\u4eac 9 \u00b0C. \ud83c\udf26"},"finish_reason":"stop"}],@usage} open)"},
    {"finish-chunk-twice",
     "<role><1><2><3><4><stop><stop>[DONE] open"},
    {"finish-reason-empty",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":""}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich "},"finish_reason":""}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":""}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 "},"finish_reason":""}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":""}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":""}],@usage} open)"},
    {"finish-reason-missing",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich "}}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, "}}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 "}}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C."}}]}\n\n[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."}}],@usage} open)"},
    {"first-chunk-is-choice-1",
     R"(data: {@chunk,"choices":[{"index":1,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n<role><1>data: {@chunk,"choices":[{"index":1,"delta":{"content":"Paris 17 °C."},"finish_reason":null}]}\n\n<2><3><4><stop>data: {@chunk,"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}\n\n[DONE] open)"},
    {"first-chunk-with-empty-choices",
     R"(data: {@chunk,"choices":[],"prompt_filter_results":[]}\n\n<role><1><2><3><4><stop>[DONE] open)"},
    {"reasoning-before-content",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"North or "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"south?"},"finish_reason":null}]}\n\n<1><2><3><4><stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C.","reasoning_content":"North or south?"},"finish_reason":"stop"}],@usage} open)"},
    {"role-chunk-missing",
     "<1><2><3><4><stop>[DONE] open"},
    {"role-in-every-delta",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich ","role":"assistant"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, ","role":"assistant"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 ","role":"assistant"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C.","role":"assistant"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":"stop"}]}\n\n[DONE] open)"},
    {"text-in-finish-chunk",
     R"(<role><1><2><3>data: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":"stop"}]}\n\n[DONE] open)"},
    {"text-in-role-chunk",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich ","role":"assistant"},"finish_reason":null}]}\n\n<2><3><4><stop>[DONE] open)"},
    {"unknown-fields",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":"","annotations":[]},"finish_reason":null,"stop_reason":null}],"service_tier":"flex","x_groq":{"id":"req_1"}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich ","annotations":[]},"finish_reason":null,"stop_reason":null}],"service_tier":"flex","x_groq":{"id":"req_1"}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, ","annotations":[]},"finish_reason":null,"stop_reason":null}],"service_tier":"flex","x_groq":{"id":"req_1"}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 ","annotations":[]},"finish_reason":null,"stop_reason":null}],"service_tier":"flex","x_groq":{"id":"req_1"}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C.","annotations":[]},"finish_reason":null,"stop_reason":null}],"service_tier":"flex","x_groq":{"id":"req_1"}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"annotations":[]},"finish_reason":"stop","stop_reason":null}],"service_tier":"flex","x_groq":{"id":"req_1"}}\n\n[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C.","annotations":[]},"finish_reason":"stop","stop_reason":null}],@usage,"service_tier":"flex","x_groq":{"id":"req_1"}} open)"},
    {"usage-chunk-without-choices",
     R"(<role><1><2><3><4><stop>data: {@chunk,@usage}\n\n[DONE] open)"},
    {"usage-null-in-every-chunk",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich "},"finish_reason":null}],"usage":null}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":null}],"usage":null}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 "},"finish_reason":null}],"usage":null}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":null}],"usage":null}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\n\ndata: {@chunk,"choices":[],@usage}\n\n[DONE] open)"},
    {"usage-on-finish-chunk",
     R"(<role><1><2><3><4>data: {@chunk,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],@usage}\n\n[DONE] open)"},
    // tool calls
    {"stop-after-tool-call",
     "<calls><call><city><Zürich><stop>[DONE] open",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"stop"}],@usage} open)"},
    {"text-before-tool-call",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Let me look."},"finish_reason":null}]}\n\n<call><city><Zürich><called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-arguments-as-object",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":{"city":"Zürich"}}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":{"city":"Zürich"}}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-arguments-broken",
     R"(<calls><call><city>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"Zü"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zü"}}]},"finish_reason":"length"}],@usage} open)"},
    {"tool-call-arguments-cut-in-escape",
     R"(<calls><call>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":\"Z\\u00"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"fcrich\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-arguments-empty",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_time","arguments":""}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_time","arguments":""}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-id-and-name-repeated",
     R"(<calls><call>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"\"Zürich\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-id-empty-in-fragments",
     R"(<calls><call>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"","type":"function","function":{"arguments":"{\"city\":"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"","type":"function","function":{"arguments":"\"Zürich\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-in-one-chunk",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-without-id",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}\n\n<city><Zürich><called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-without-index",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":"{\"city\":"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":"\"Zürich\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-calls-all-index-0",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"東京\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}},{"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"東京\"}"}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-calls-interleaved",
     R"(<calls><call>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}\n\n<city>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\"city\":"}}]},"finish_reason":null}]}\n\n<Zürich>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\"東京\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}},{"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"東京\"}"}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    // errors
    {"bad-request",
     R"((400 Bad Request) {"error":{"code":"bad_request","message":"max_tokens is too large","type":"error"}} open)",
     same},
    {"choices-null",
     R"(data: {@chunk,"choices":null}\n\n[DONE] open)",
     R"({@completion,"choices":null,@usage} open)"},
    {"empty-200",
     "(no body) open",
     same},
    {"error-as-html",
     "(400 Bad Request) (content-type: text/html) <!DOCTYPE html><html><head><title>400 Bad Request</title></head><body>nginx</body></html> open",
     same},
    {"error-body-cut-short",
     R"((400 Bad Request) {"error":{"code":"ba fin)",
     same},
    {"error-code-numeric",
     R"((400 Bad Request) {"error":{"message":"context length exceeded","type":"server_error","param":null,"code":400}} open)",
     same},
    {"error-event-first",
     R"(data: {"error":{"message":"the model is overloaded","type":"server_error","param":null,"code":"overloaded"}}\n\n[DONE] open)"},
    {"error-event-in-stream",
     R"(<role><1><2>data: {"error":{"message":"the model is overloaded","type":"server_error","param":null,"code":"overloaded"}}\n\n[DONE] open)"},
    {"error-event-named",
     R"(<role><1><2>event: error\ndata: {"error":{"message":"the model is overloaded","type":"server_error","param":null,"code":"overloaded"}}\n\n[DONE] open)"},
    {"error-is-a-string",
     R"((400 Bad Request) {"error":"the model is still loading"} open)",
     same},
    {"error-with-200",
     R"((content-type: application/json) {"error":{"message":"no provider is available","type":"server_error","param":null,"code":502}} open)",
     R"({"error":{"message":"no provider is available","type":"server_error","param":null,"code":502}} open)"},
    {"error-without-body",
     "(400 Bad Request) (no body) open",
     same},
    {"html-with-200",
     "(content-type: text/html) <!DOCTYPE html><html><body>Sign in to the network</body></html> open",
     same},
    {"invalid-json",
     R"(<role><1><2>data: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 "},"fi\n\n<4><stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."}, open)"},
    {"key-disabled",
     R"((403 Forbidden) {"error":{"code":"unauthorized","message":"unauthorized","type":"error"}} open)",
     same},
    {"key-invalid",
     R"((401 Unauthorized) {"error":{"code":"unauthorized","message":"unauthorized","type":"error"}} open)",
     same},
    {"model-not-found",
     R"((404 Not Found) {"error":{"code":"model_not_found","message":"the model does not exist","type":"error"}} open)",
     same},
    // retries
    {"insufficient-quota",
     R"((429 Too Many Requests) {"error":{"code":"insufficient_quota","message":"you exceeded your current quota","type":"insufficient_quota"}} open / (429 Too Many Requests) {"error":{"code":"insufficient_quota","message":"you exceeded your current quota","type":"insufficient_quota"}} open)",
     same},
    {"overloaded-then-answer",
     R"((529 Site is overloaded) {"error":{"code":"overloaded","message":"The service is overloaded. Try again later.","type":"error"}} open / <role><1><2><3><4><stop>[DONE] open)",
     R"((529 Site is overloaded) {"error":{"code":"overloaded","message":"The service is overloaded. Try again later.","type":"error"}} open / <answer> open)"},
    {"rate-limited-then-answer",
     "(429 Too Many Requests) (retry-after: 1) <limited: Retry-After> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: 1) <limited: Retry-After> open / <answer> open"},
    {"retry-after-date",
     "(429 Too Many Requests) (retry-after: Mon, 01 Jan 2024 00:00:01 GMT) <limited> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: Mon, 01 Jan 2024 00:00:01 GMT) <limited> open / <answer> open"},
    {"retry-after-fraction",
     "(429 Too Many Requests) (retry-after: 0.05) <limited> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: 0.05) <limited> open / <answer> open"},
    {"retry-after-garbage",
     "(429 Too Many Requests) (retry-after: soon) <limited> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: soon) <limited> open / <answer> open"},
    {"retry-after-in-the-past",
     "(429 Too Many Requests) (retry-after: Sun, 06 Nov 1994 08:49:37 GMT) <limited> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: Sun, 06 Nov 1994 08:49:37 GMT) <limited> open / <answer> open"},
    {"retry-after-missing",
     "(429 Too Many Requests) <limited> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) <limited> open / <answer> open"},
    {"retry-after-ms",
     "(429 Too Many Requests) (retry-after-ms: 50) <limited> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after-ms: 50) <limited> open / <answer> open"},
    {"retry-after-negative",
     "(429 Too Many Requests) (retry-after: -1) <limited> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: -1) <limited> open / <answer> open"},
    {"retry-after-very-large",
     "(429 Too Many Requests) (retry-after: 3600) <limited: Retry-After> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: 3600) <limited: Retry-After> open / <answer> open"},
    {"retry-after-zero",
     "(429 Too Many Requests) (retry-after: 0) <limited: Retry-After> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: 0) <limited: Retry-After> open / <answer> open"},
    {"server-error-always",
     "(500 Internal Server Error) <internal error> open / (500 Internal Server Error) <internal error> open",
     same},
    {"server-error-then-answer",
     "(500 Internal Server Error) <internal error> open / <role><1><2><3><4><stop>[DONE] open",
     "(500 Internal Server Error) <internal error> open / <answer> open"},
    {"should-retry-false",
     "(500 Internal Server Error) (x-should-retry: false) <internal error> open / <role><1><2><3><4><stop>[DONE] open",
     "(500 Internal Server Error) (x-should-retry: false) <internal error> open / <answer> open"},
    {"should-retry-true",
     R"((400 Bad Request) (x-should-retry: true) {"error":{"code":"bad_request","message":"bad request","type":"error"}} open / <role><1><2><3><4><stop>[DONE] open)",
     R"((400 Bad Request) (x-should-retry: true) {"error":{"code":"bad_request","message":"bad request","type":"error"}} open / <answer> open)"},
    {"unavailable-then-answer",
     R"((503 Service Unavailable) (retry-after: 0) {"error":{"code":"service_unavailable","message":"The service is unavailable. Try again later.","type":"error"}} open / <role><1><2><3><4><stop>[DONE] open)",
     R"((503 Service Unavailable) (retry-after: 0) {"error":{"code":"service_unavailable","message":"The service is unavailable. Try again later.","type":"error"}} open / <answer> open)"},
    // framing
    {"answer-as-text-plain",
     "(content-type: text/plain; charset=utf-8) <role><1><2><3><4><stop>[DONE] open",
     "(content-type: text/plain; charset=utf-8) <answer> open"},
    {"answer-in-the-other-form",
     "(content-type: application/json) <answer> open",
     "(content-type: text/event-stream; charset=utf-8) <role><1><2><3><4><stop>[DONE] open"},
    {"blank-lines-before-reply",
     R"(\n\n\n<role><1><2><3><4><stop>[DONE] open)",
     R"(\n\n\n<answer> open)"},
    {"byte-order-mark",
     R"(\xef\xbb\xbf<role><1><2><3><4><stop>[DONE] open)"},
    {"character-split-across-reads",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Z\xc3~50ms~\xbcrich "},"finish_reason":null}]}\n\n<2><3><4><stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Z\xc3~50ms~\xbcrich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"close-delimited-body",
     "(until close) (no body)<role><1><2><3><4><stop>[DONE] fin",
     "(until close) (no body)<answer> fin"},
    {"comment-keep-alives",
     R"(: OPENROUTER PROCESSING\n\n<role>: OPENROUTER PROCESSING\n\n<1>: OPENROUTER PROCESSING\n\n<2>: OPENROUTER PROCESSING\n\n<3>: OPENROUTER PROCESSING\n\n<4>: OPENROUTER PROCESSING\n\n<stop>: OPENROUTER PROCESSING\n\n[DONE] open)"},
    {"content-type-missing",
     "(content-type: ) <role><1><2><3><4><stop>[DONE] open"},
    {"content-type-without-charset",
     "(content-type: text/event-stream) <role><1><2><3><4><stop>[DONE] open"},
    {"crlf-line-ends",
     R"(data: <role>\r\n\r\ndata: <1>\r\n\r\ndata: <2>\r\n\r\ndata: <3>\r\n\r\ndata: <4>\r\n\r\ndata: <stop>\r\n\r\ndata: [DONE]\r\n\r\n open)"},
    {"data-after-done",
     R"(<role><1><2><3><4><stop>[DONE]data: {@chunk,"choices":[{"index":0,"delta":{"content":" And more."},"finish_reason":null}]}\n\n open)"},
    {"done-missing",
     "<role><1><2><3><4><stop> open"},
    {"done-twice",
     "<role><1><2><3><4><stop>[DONE][DONE] open"},
    {"empty-data-keep-alive",
     R"(<role>data:\n\n<1>data:\n\n<2>data:\n\n<3>data:\n\n<4><stop>[DONE] open)"},
    {"event-field",
     R"(event: completion\n<role>event: completion\n<1>event: completion\n<2>event: completion\n<3>event: completion\n<4>event: completion\n<stop>event: completion\n[DONE] open)"},
    {"event-longer-than-64-kib",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"x*100000"},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"x*100000"},"finish_reason":"stop"}],@usage} open)"},
    {"event-split-across-reads",
     R"(<role><1>data: {"id":"chatcmpl-catalogue","object":"chat.completion.c~50ms~hunk","created":1767225600,"model":"mock-model","choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":null}]}\n\n<3><4><stop>[DONE] open)",
     R"({"id":"chatcmpl-catalogue","object":"chat.completion","creat~50ms~ed":1767225600,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"event-without-data",
     R"(<role>event: ping\n\n<1>event: ping\n\n<2>event: ping\n\n<3>event: ping\n\n<4><stop>[DONE] open)"},
    {"events-in-one-chunk",
     "<role><1><2><3><4><stop>[DONE] (in one chunk) open"},
    {"final-blank-line-missing",
     R"(<role><1><2><3><4><stop>data: [DONE]\n open)"},
    {"gzip-unasked",
     "(content-encoding: gzip) <role><1><2><3><4><stop>[DONE] open"},
    {"id-fields",
     R"(id: 1\n<role>id: 2\n<1>id: 3\n<2>id: 4\n<3>id: 5\n<4>id: 6\n<stop>id: 7\n[DONE] open)"},
    {"id-line-then-ping",
     R"(<role>id: 7\n: ping\n\n<1>id: 7\n: ping\n\n<2>id: 7\n: ping\n\n<3>id: 7\n: ping\n\n<4><stop>[DONE] open)"},
    {"last-event-without-blank-line",
     R"(<role><1><2><3>data: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":"stop"}]}\n open)"},
    {"lone-cr-line-ends",
     R"(data: <role>\r\rdata: <1>\r\rdata: <2>\r\rdata: <3>\r\rdata: <4>\r\rdata: <stop>\r\rdata: [DONE]\r\r open)"},
    {"multi-line-data",
     R"(data: {\ndata: @chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]\ndata: }\n\ndata: {\ndata: @chunk,"choices":[{"index":0,"delta":{"content":"Zürich "},"finish_reason":null}]\ndata: }\n\ndata: {\ndata: @chunk,"choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":null}]\ndata: }\n\ndata: {\ndata: @chunk,"choices":[{"index":0,"delta":{"content":"東京 "},"finish_reason":null}]\ndata: }\n\ndata: {\ndata: @chunk,"choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":null}]\ndata: }\n\ndata: {\ndata: @chunk,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]\ndata: }\n\n[DONE] open)"},
    {"no-space-after-colon",
     R"(data:<role>\n\ndata:<1>\n\ndata:<2>\n\ndata:<3>\n\ndata:<4>\n\ndata:<stop>\n\ndata:[DONE]\n\n open)"},
    {"one-write-for-all",
     usual_streamed,
     usual_plain},
    {"one-write-per-byte",
     usual_streamed,
     usual_plain},
    {"open-after-done",
     "<role><1><2><3><4><stop>[DONE] stalled"},
    {"retry-field",
     R"(retry: 3000\n<role><1><2><3><4><stop>[DONE] open)"},
    {"unknown-sse-field",
     R"(trace: 7\n<role>trace: 7\n<1>trace: 7\n<2>trace: 7\n<3>trace: 7\n<4>trace: 7\n<stop>[DONE] open)"},
    // breaks
    {"close-delimited-body-cut-short",
     "(until close) (no body)<role><1><2> fin",
     R"((until close) (no body){@completion,"choices":[{"index":0,"message":{"role":"assistant","c fin)"},
    {"closed-after-done",
     "<role><1><2><3><4><stop>[DONE] fin"},
    {"closed-after-finish",
     "<role><1><2><3><4><stop> fin"},
    {"closed-after-headers",
     "(no body) fin",
     same},
    {"closed-before-headers",
     "(nothing) fin",
     same},
    {"closed-in-stream",
     "<role><1><2> fin",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c fin)"},
    {"closed-inside-character",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Z\xc3 fin)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Z\xc3 fin)"},
    {"closed-inside-event",
     R"(<role><1><2>data: {"id":"chatcmpl-catalogue","object":"chat.completion.c fin)"},
    {"content-length-too-large",
     "<role><1><2><3><4><stop>[DONE] fin",
     "<answer> fin"},
    {"content-length-too-small",
     R"(<role><1><2><3>data: {@chunk,"choices":[{"index":0,"delta":{"content":"9 ° (then) C."},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion (then) _tokens":5,"total_tokens":14}} open)"},
    {"garbage-in-place-of-headers",
     R"(\x15\x03\x01\x00\x02\x02P fin)",
     same},
    {"garbage-in-stream",
     "<role><1><2><html>504 Gateway Time-out</html> fin",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c<html>504 Gateway Time-out</html> fin)"},
    {"half-closed-in-stream",
     "<role><1><2> fin",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c fin)"},
    {"reset-after-done",
     "<role><1><2><3><4><stop>[DONE] reset"},
    {"reset-after-finish",
     "<role><1><2><3><4><stop> reset"},
    {"reset-after-headers",
     "(no body) reset",
     same},
    {"reset-before-headers",
     "(nothing) reset",
     same},
    {"reset-in-stream",
     "<role><1><2> reset",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c reset)"},
    {"reset-inside-character",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Z\xc3 reset)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Z\xc3 reset)"},
    {"truncated-chunked-body",
     R"(<role><1><2>data: {"id":"chatcmpl-catalogue","object":"chat.completion.c{cut} fin)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c fin)"},
    // pace
    {"pause-in-stream",
     "<role><1><2>~200ms~<3><4><stop>[DONE] open",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c~200ms~ontent":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"pings-before-first-token",
     R"(<role>~20ms~: ping\n\n~20ms~: ping\n\n~20ms~: ping\n\n~20ms~: ping\n\n~20ms~: ping\n\n~10ms~<1><2><3><4><stop>[DONE] open)"},
    {"pings-defeat-idle-timeout",
     R"(<role><1><2>~20ms~: ping\n\n~20ms~: ping\n\n~20ms~: ping\n\n stalled)"},
    {"slow-first-token",
     "<role>~300ms~<1><2><3><4><stop>[DONE] open",
     "~300ms~<answer> open"},
    {"slow-tokens",
     "<role><1>~50ms~<2>~50ms~<3>~50ms~<4><stop>[DONE] open"},
    {"stalled-after-finish",
     "<role><1><2><3><4><stop> stalled"},
    {"stalled-after-headers",
     "(no body) stalled",
     same},
    {"stalled-before-headers",
     "(nothing) stalled",
     same},
    {"stalled-body",
     "<role><1><2> stalled",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c stalled)"},
    // connection
    {"closed-on-accept",
     "(nothing) fin",
     same},
    {"closed-when-reused",
     "<role><1><2><3><4><stop>[DONE] fin when reused",
     "<answer> fin when reused"},
    {"connection-refused",
     "refused",
     same},
    {"early-hints",
     "(103 Early Hints, link: </style.css>; rel=preload; as=style) <role><1><2><3><4><stop>[DONE] open",
     "(103 Early Hints, link: </style.css>; rel=preload; as=style) <answer> open"},
    {"early-status-under-expect",
     R"((413 Content Too Large) {"error":{"code":"body_too_large","message":"the body is too large","type":"error"}} fin)",
     same},
    {"garbage-on-accept",
     R"(SSH-2.0-OpenSSH_9.2p1\r\n fin)",
     same},
    {"reset-on-accept",
     "(nothing) reset",
     same},
    {"reset-on-first-accept",
     "(nothing) reset / 200",
     same},
    {"reset-when-reused",
     "<role><1><2><3><4><stop>[DONE] reset when reused",
     "<answer> reset when reused"},
    {"slow-request-reading",
     "~5ms~~5ms~<role><1><2><3><4><stop>[DONE] open",
     "~5ms~~5ms~<answer> open"},
    {"unsolicited-continue",
     "(100 Continue) <role><1><2><3><4><stop>[DONE] open",
     "(100 Continue) <answer> open"},
  };
  return all;
}
// clang-format on

TEST_CASE("each scenario is what it says, byte by byte to the end of the connection") {
  REQUIRE(goldens().size() == catalogue().size());
  for (std::size_t i = 0; i < goldens().size(); ++i) {
    const Golden& golden = goldens()[i];
    const Scenario& scenario = catalogue()[i];
    REQUIRE(scenario.name() == golden.name);
    CAPTURE(scenario.name());
    REQUIRE((scenario.needs_stream() || golden.plain != nullptr));
    CHECK(observe(scenario, true, golden.streamed) == golden.streamed);
    const char* const plain = !golden.plain ? usual_plain : golden.plain == same ? golden.streamed : golden.plain;
    CHECK(observe(scenario, false, plain) == plain);
    // How bytes are divided into writes is all that is not seen here.
    if (scenario.name().compare(0, 9, "one-write") == 0) {
      CHECK(golden.streamed == std::string(usual_streamed));
    } else {
      CHECK(golden.streamed != std::string(usual_streamed));
    }
  }
}

TEST_CASE("a scenario goes on as it began, for every request and every client") {
  for (const char* const name : {"server-error-then-answer", "closed-before-headers", "reset-on-accept", "early-hints",
                                 "usage-chunk-without-choices"}) {
    const Scenario one = scenario(name);
    CAPTURE(one.name());
    ManualClock clock;
    Gateway gateway{one.options(Options{}.clock(clock))};
    one.mount(gateway);
    const auto both = [&] {
      return observe_request(gateway, clock, one, true, "") + " / " + observe_request(gateway, clock, one, true, "");
    };
    const std::string first = both();
    for (int again = 0; again < 5; ++again) CHECK(both() == first);
  }
}

TEST_CASE("a half-closed connection still waits for its client, a closed one does not") {
  for (const char* const name : {"half-closed-in-stream", "closed-in-stream"}) {
    const Scenario one = scenario(name);
    CAPTURE(one.name());
    Gateway gateway{one.options()};
    one.mount(gateway);
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    CHECK(connection.receive_all().end == End::fin);
    const Exchange exchange = gateway.journal().last();
    if (one.name() == "half-closed-in-stream") CHECK(exchange.outcome(0ms) == Outcome::Kind::pending);
    connection.shutdown_write();
    CHECK(exchange.outcome() == Outcome::Kind::failed_by_script);
    CHECK(exchange.client_closed_its_side() == (one.name() == "half-closed-in-stream"));
  }
}

/// How many reads it takes to get a reply that arrives while it is read.
inline int reads_of(const Scenario& scenario) {
  Gateway gateway{scenario.options()};
  scenario.mount(gateway);
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  std::string all;
  int reads = 0;
  while (all.find("\r\n0\r\n\r\n") == std::string::npos) {
    char bytes[65536];
    const ssize_t size = ::recv(connection.descriptor(), bytes, sizeof bytes, 0);
    REQUIRE(size > 0);
    all.append(bytes, static_cast<std::size_t>(size));
    ++reads;
  }
  CHECK(transcript(all, true).text + " open" == usual_streamed);
  return reads;
}

TEST_CASE("one write is one read, and a write per byte is many") {
  CHECK(reads_of(scenario("one-write-for-all")) == 1);
  // Where the reader is kept from its processor, bytes join; not every time.
  CHECK(test_support::eventually([] { return reads_of(scenario("one-write-per-byte")) > 20; }));
}

TEST_CASE("early status under Expect: the answer comes before the body, and no 100 Continue") {
  const Scenario one = scenario("early-status-under-expect");
  Gateway gateway{one.options()};
  one.mount(gateway);
  std::string request = Http(gateway).format_chat();
  request.insert(request.find("Content-Length"), "Expect: 100-continue\r\n");
  RawConnection connection(gateway);
  connection.send(request.substr(0, request.find("\r\n\r\n") + 4));
  const Response response = connection.receive_response();
  CHECK(response.status == 413);
  CHECK(response.error_code() == "body_too_large");
  CHECK(connection.receive_all().end == End::fin);
}

// --- The catalogue as a whole
// ------------------------------------------------------------------------------------------

TEST_CASE("every scenario that was seen in the field is in the catalogue, found by where it bit") {
  // Each with every reference that it has.
  const std::vector<std::vector<std::string>> rows = {
      {"pydantic-ai#164"},
      {"xiaozhi-esp32-server#734"},
      {"langchain#32252"},
      {"llmgateway#2334"},
      {"openai-go#621", "langchaingo#942"},
      {"copilot-api#88"},
      {"litellm#40578", "openai-python#2943"},
      {"openai-node#1292"},
      {"ollama#4357"},
      {"litellm#35663"},
      {"litellm#9986"},
      {"openai-python#3709"},
      {"vllm#18412"},
      {"opencode#37841"},
      {"vercel/ai#14277"},
      {"vercel/ai#6687"},
      {"hermes-agent#11984"},  // id and name repeated on each fragment
      {"DeepSeek"},            // usage on the finish chunk
      {"go-openai#244"},
      {"fantasy#365"},
      {"langchainjs#1929"},
      {"openai-node#1840", "openai-python#3555"},
      {"openai-node#1825"},
      {"pi#5558"},
      {"openai-python#2065"},
      {"typesense#2837"},
      {"ollama-js#255"},
      {"AstrBot#403"},
      {"mistral.rs#79"},
      {"cpp-httplib#1808"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.front());
    const bool found = std::any_of(catalogue().begin(), catalogue().end(), [&](const Scenario& one) {
      return std::all_of(row.begin(), row.end(), [&](const std::string& reference) {
        return (", " + one.reference() + ", ").find(", " + reference + ", ") != std::string::npos;
      });
    });
    CHECK(found);
  }
  const std::vector<std::pair<std::string, std::vector<std::string>>> several = {
      {"openai-node#1840", {"retry-after-date", "retry-after-missing", "retry-after-very-large"}},
      {"AstrBot#403", {"empty-200", "blank-lines-before-reply"}},
      {"DeepSeek", {"usage-on-finish-chunk"}},
  };
  for (const auto& [reference, names] : several) {
    for (const std::string& name : names) {
      const Scenario one = scenario(name);
      CHECK((", " + one.reference() + ", ").find(", " + reference + ", ") != std::string::npos);
    }
  }
}

TEST_CASE("the catalogue is in order: names once, in kebab case, sorted in groups that hang together") {
  std::set<std::string> names;
  std::vector<std::string> groups;
  std::string previous;
  for (const Scenario& one : catalogue()) {
    CAPTURE(one.name());
    CHECK(names.insert(one.name()).second);
    CHECK(one.name().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
    CHECK(one.name().size() <= 40);
    if (groups.empty() || groups.back() != one.group()) {
      groups.push_back(one.group());
      previous.clear();
    }
    CHECK(previous < one.name());
    previous = one.name();
    for (const std::string& line : {one.description(), one.reference(), one.good_client()}) {
      CHECK(line.size() > 3);
      CHECK(line.size() <= 110);
      CHECK(line.find('\n') == std::string::npos);
      CHECK(line.back() != '.');
    }
    CHECK((one.calls() == 1 || one.calls() == 2));
  }
  CHECK(groups == std::vector<std::string>{"chunks", "tool calls", "errors", "retries", "framing", "breaks", "pace",
                                           "connection"});
}

TEST_CASE("a scenario is found by its name, and a wrong name leads to the nearest ones") {
  CHECK(scenario("usage-chunk-without-choices").name() == "usage-chunk-without-choices");
  const auto message = [](std::string_view name) -> std::string {
    try {
      return scenario(name).name();
    } catch (const GatewayError& error) {
      return error.what();
    }
  };
  CHECK(message("usage-chunk-whitout-choices") ==
        "mock_gateway: there is no scenario \"usage-chunk-whitout-choices\"; the nearest are "
        "usage-chunk-without-choices, first-chunk-with-empty-choices, first-chunk-is-choice-1");
  CHECK(message("retry-after") ==
        "mock_gateway: there is no scenario \"retry-after\"; the nearest are retry-after-ms, retry-after-date, "
        "retry-after-zero");
  CHECK(message("").find("the nearest are ") != std::string::npos);
  CHECK(message(std::string(1'000'000, 'x')).size() < 400);
}

TEST_CASE("a scenario describes itself in JSON") {
  CHECK(describe(scenario("tool-call-arguments-empty")) ==
        Json({{"name", "tool-call-arguments-empty"},
              {"group", "tool calls"},
              {"description", "calls a tool with \"\" for arguments"},
              {"reference", "vercel/ai#6687"},
              {"good_client", "takes \"\" for no arguments, {}"},
              {"expected", "answer"},
              {"text", ""},
              {"tool_calls", {{{"name", "get_time"}, {"arguments", ""}}}},
              {"needs_stream", false},
              {"needs_timeout", false},
              {"calls", 1}}));
  const Json stalled = describe(scenario("pings-defeat-idle-timeout"));
  CHECK(stalled["expected"] == "error");
  CHECK(stalled["text"] == "Zürich 21 °C, 東京 9 °C.");
  CHECK(stalled["tool_calls"] == Json::array());
  CHECK(stalled["needs_stream"] == true);
  CHECK(stalled["needs_timeout"] == true);
  CHECK(describe(scenario("closed-when-reused"))["calls"] == 2);
  for (const Scenario& one : catalogue()) CHECK_NOTHROW(describe(one).dump());
}

TEST_CASE("a scenario keeps the options that it is given, and judges in place of verify") {
  const Options options = scenario("early-hints").options(Options{}.model("mine").seed(7));
  Gateway gateway(options);
  CHECK(Http(gateway).get("/v1/models").body.find("\"id\":\"mine\"") != std::string::npos);
  CHECK(gateway.api_key() == Gateway(Options{}.seed(7)).api_key());
  gateway.chat().expect(1).reply("never asked, which verify() would report");
}

TEST_CASE("a scenario goes before the stubs that were there, and behind those that come") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().reply("before");
  scenario("usage-on-finish-chunk").mount(gateway);
  CHECK(Http(gateway).ask("Hi") == scenario("usage-on-finish-chunk").text());
  gateway.chat().reply("after");
  CHECK(Http(gateway).ask("Hi") == "after");
}

// --- The verdict
// -------------------------------------------------------------------------------------------------------

inline ClientOutcome got(std::string text, bool error = false) {
  ClientOutcome outcome;
  outcome.text = std::move(text);
  outcome.error = error;
  return outcome;
}

inline std::string judged(const char* name, const ClientOutcome& outcome) {
  const Verdict verdict = scenario(name).judge(outcome);
  return to_string(verdict.kind()) + (verdict ? "" : " (no)");
}

TEST_CASE("the verdict tells an answer, an error, a loss, a hang and what nobody said apart") {
  const std::string whole = "Zürich 21 °C, 東京 9 °C.";
  ClientOutcome hung = got("Zürich ", true);
  hung.hung = true;
  struct Row {
    const char* name;
    ClientOutcome outcome;
    const char* verdict;
  };
  const std::vector<Row> rows = {
      // Nothing is wrong with the answer.
      {"early-hints", got(whole), "handled"},
      {"early-hints", got("", true), "error surfaced (no)"},
      {"early-hints", got(""), "silent data loss (no)"},
      {"early-hints", got("Zürich "), "silent data loss (no)"},
      {"early-hints", got("Zürich 東京 9 °C."), "silent data loss (no)"},
      {"early-hints", got(whole + whole), "wrong answer (no)"},
      {"early-hints", got(whole.substr(0, 2)), "wrong answer (no)"},  // half a character
      {"early-hints", got("Z\xEF\xBF\xBDrich"), "wrong answer (no)"},
      {"early-hints", hung, "hang (no)"},
      // There is no whole answer.
      {"closed-in-stream", got("Zürich 21 °C, ", true), "error surfaced"},
      {"closed-in-stream", got("Zürich 21 °C, "), "silent data loss (no)"},
      {"closed-in-stream", got(whole), "silent data loss (no)"},  // it cannot know
      {"key-invalid", got("", true), "error surfaced"},
      {"key-invalid", got(""), "silent data loss (no)"},
      {"html-with-200", got("<!DOCTYPE html>"), "wrong answer (no)"},
      {"stalled-body", got("Zürich 21 °C, ", true), "error surfaced"},
      {"stalled-body", hung, "hang (no)"},
      // Either.
      {"finish-reason-missing", got(whole), "handled"},
      {"finish-reason-missing", got(whole, true), "error surfaced"},
      {"finish-reason-missing", got("Zürich "), "silent data loss (no)"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CAPTURE(row.outcome.text);
    CHECK(judged(row.name, row.outcome) == row.verdict);
  }
}

TEST_CASE("tool calls are judged by names and by what their arguments mean") {
  const auto called = [](std::vector<ToolCall> calls, std::string text = "") {
    ClientOutcome outcome;
    outcome.text = std::move(text);
    outcome.tool_calls = std::move(calls);
    return outcome;
  };
  const ToolCall zurich{"", "get_weather", R"({ "city": "Z\u00fcrich" })"};
  const ToolCall tokyo{"", "get_weather", R"({"city":"東京"})"};
  const ToolCall time{"", "get_time", "{}"};
  const ToolCall joined{"", "get_weather", R"({"city":"Zürich"}{"city":"東京"})"};
  CHECK(judged("tool-calls-all-index-0", called({zurich, tokyo})) == "handled");
  CHECK(judged("tool-calls-all-index-0", called({zurich})) == "silent data loss (no)");
  CHECK(judged("tool-calls-all-index-0", called({tokyo})) == "silent data loss (no)");
  CHECK(judged("tool-calls-all-index-0", called({})) == "silent data loss (no)");
  CHECK(judged("tool-calls-all-index-0", called({joined})) == "wrong answer (no)");
  CHECK(judged("tool-calls-all-index-0", called({tokyo, zurich})) == "wrong answer (no)");
  CHECK(judged("tool-calls-all-index-0", called({zurich, tokyo, time})) == "wrong answer (no)");
  // A client that adds each fragment to the call that began last.
  CHECK(judged("tool-calls-interleaved", called({{"call_1", "get_weather", ""},
                                                 {"call_2", "get_weather", R"({"city":{"city":"Zürich"}"東京"})"}})) ==
        "wrong answer (no)");
  CHECK(judged("tool-call-arguments-empty", called({time})) == "handled");
  CHECK(judged("tool-call-arguments-empty", called({{"", "get_time", ""}})) == "handled");
  CHECK(judged("tool-call-arguments-as-object", called({{"", "get_weather", "{}"}})) == "silent data loss (no)");
  CHECK(judged("tool-call-arguments-broken", called({{"", "get_weather", R"({"city":"Zü)"}})) == "handled");
  CHECK(judged("tool-call-arguments-broken", called({{"", "get_weather", R"({"city":"Zürich"})"}})) ==
        "wrong answer (no)");
  CHECK(judged("tool-call-id-and-name-repeated", called({{"", "get_weatherget_weather", zurich.arguments}})) ==
        "wrong answer (no)");
  CHECK(judged("text-before-tool-call", called({zurich}, "Let me look.")) == "handled");
  CHECK(judged("text-before-tool-call", called({zurich})) == "silent data loss (no)");
  CHECK(judged("early-hints", called({time}, "Zürich 21 °C, 東京 9 °C.")) == "wrong answer (no)");
}

TEST_CASE("a verdict prints itself: one line where it is right, and the whole story where it is not") {
  std::ostringstream out;
  out << scenario("early-hints").judge(got("Zürich 21 °C, 東京 9 °C.")) << '\n'
      << scenario("closed-in-stream").judge(got("Zürich "))  // of several lines, the last of which ends
      << Kind::hang << '\n'
      << scenario("early-hints").expected();
  CHECK(out.str() ==
        "early-hints: handled\n"
        "closed-in-stream: silent data loss, expected error\n"
        "  it said     text \"Zürich \"\n"
        "  the reply   text \"Zürich 21 °C, 東京 9 °C.\"\n"
        "  the gateway closes the connection in the middle of the text, between two events\n"
        "  a good client reports that the answer is incomplete\n"
        "hang\n"
        "answer");
}

// --- A client that runs through all of them
// ----------------------------------------------------------------------------

/// An honest client: it reports what it does not understand, and tries again once.
class HonestClient {
 public:
  HonestClient(const Gateway& gateway, bool streamed, std::chrono::milliseconds timeout)
      : gateway_(gateway), http_(gateway), streamed_(streamed), timeout_(timeout) {}

  ClientOutcome ask() {
    ClientOutcome outcome;
    for (int attempt = 0; attempt < 2; ++attempt) {
      outcome = {};
      try {
        Response response = receive();
        if (response.status >= 429 && std::atof(response.header("Retry-After").c_str()) < 60) continue;
        read(response, outcome);
        return outcome;
      } catch (const std::exception&) {
        outcome.error = true;
      }
      if (!outcome.text.empty() || timed_out_) return outcome;
    }
    outcome.error = true;
    return outcome;
  }

 private:
  Response receive() {
    if (!connection_) connection_ = std::make_unique<RawConnection>(gateway_);
    connection_->send(http_.format_chat(streamed_ ? Json{{"stream", true}} : Json{}));
    Response response;
    try {
      do response = connection_->receive_response(timeout_);
      while (response.status >= 100 && response.status < 200);
    } catch (const std::exception&) {
      connection_.reset();
      throw;
    }
    timed_out_ = !response.complete && response.end == End::open;
    if (!response.complete || response.end != End::open) connection_.reset();
    if (response.status == 0) throw std::runtime_error("no answer");
    return response;
  }

  void read(const Response& response, ClientOutcome& outcome) const {
    if (response.status != 200 || response.has("Content-Encoding")) throw std::runtime_error("not an answer");
    const std::string type = response.header("Content-Type");
    if (type.compare(0, 16, "application/json") == 0 || !streamed_) return read_plain(response, outcome);
    read_stream(response, outcome);
  }

  static void read_plain(const Response& response, ClientOutcome& outcome) {
    const Json message = Json::parse(response.body).at("choices").at(0).at("message");
    if (message["content"].is_string()) outcome.text = message["content"];
    if (!message.contains("tool_calls")) return;
    for (const Json& call : message["tool_calls"]) add(call, outcome.tool_calls, {});
  }

  /// By index, or where there is none with the call before; another id than that call's begins a new one.
  static void add(const Json& fragment, std::vector<ToolCall>& calls, const Json& index) {
    const Json function = fragment.value("function", Json::object());
    const std::string id = fragment.value("id", "");
    std::size_t at = index.is_number() ? index.get<std::size_t>() : calls.empty() ? 0 : calls.size() - 1;
    if (at >= calls.size() || (!id.empty() && id != calls[at].id)) {
      at = calls.size();
      calls.push_back({id, function.value("name", ""), ""});
    }
    const Json arguments = function.value("arguments", Json(""));
    calls[at].arguments += arguments.is_string() ? arguments.get<std::string>() : arguments.dump();
  }

  static void read_stream(const Response& response, ClientOutcome& outcome) {
    bool done = false;
    bool finished = false;
    for (const std::string& data : response.events()) {
      if (data.empty()) continue;
      done = data == "[DONE]";
      if (done) break;
      const Json chunk = Json::parse(data);
      if (chunk.contains("error")) throw std::runtime_error(data);
      for (const Json& choice : chunk.value("choices", Json::array())) {
        if (choice["index"] != 0) continue;
        const Json& delta = choice["delta"];
        if (delta.contains("content") && delta["content"].is_string())
          outcome.text += delta["content"].get<std::string>();
        for (const Json& call : delta.value("tool_calls", Json::array()))
          add(call, outcome.tool_calls, call.value("index", Json()));
        finished = finished || (choice.contains("finish_reason") && choice["finish_reason"].is_string() &&
                                choice["finish_reason"] != "");
      }
    }
    if (!finished && !(done && !outcome.text.empty())) throw std::runtime_error("no end");
  }

  const Gateway& gateway_;
  Http http_;
  bool streamed_;
  std::chrono::milliseconds timeout_;
  bool timed_out_ = false;
  std::unique_ptr<RawConnection> connection_;
};

TEST_CASE("an honest client gets through the whole catalogue, streaming or not") {
  std::map<Kind, int> counts;
  for (const bool streamed : {true, false}) {
    for (const Scenario& one : catalogue()) {
      if (!streamed && one.needs_stream()) continue;
      CAPTURE(one.name());
      CAPTURE(streamed);
      Gateway gateway{one.options(Options{}.clock(InstantClock{}))};
      one.mount(gateway);
      // Of an endless reply a client may miss the end, but not the answer.
      const bool endless = one.needs_timeout() && one.expected() != Scenario::Expected::answer;
      HonestClient client(gateway, streamed, endless ? 100ms : one.needs_timeout() ? 2s : 10s);
      for (int call = 1; call < one.calls(); ++call) client.ask();
      const Verdict verdict = one.judge(client.ask());
      CHECK(verdict);
      ++counts[verdict.kind()];
    }
  }
  CHECK(counts[Kind::handled] > 70);
  CHECK(counts[Kind::error_surfaced] > 70);
  CHECK(counts.size() == 2);
}

TEST_CASE("a client that takes what it got for the answer is caught in every break") {
  for (const Scenario& one : catalogue()) {
    if (one.group() != "breaks" || one.expected() != Scenario::Expected::error) continue;
    CAPTURE(one.name());
    Gateway gateway{one.options()};
    one.mount(gateway);
    ClientOutcome outcome;
    try {
      RawConnection connection(gateway);
      connection.send(Http(gateway).format_chat({{"stream", true}}));
      outcome.text = connection.receive_response().joined_text();
    } catch (const std::exception&) {
      // Nor does it tell anybody of this.
    }
    const Verdict verdict = one.judge(outcome);
    CHECK(verdict.kind() == Kind::silent_data_loss);
    CHECK_FALSE(verdict);
  }
}

}  // namespace catalogue_test
