// Escaping of text from clients, which could otherwise control a terminal or imitate parts of a report.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/shell.hpp"
#include "support/text.hpp"

namespace printable_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::chat_path;
using test_support::eventually;
using test_support::has_part;
using test_support::Http;
using test_support::printed;
using test_support::RawConnection;

/// Texts that would disrupt a printed line. A failed check shows the name of the text.
inline const std::vector<std::pair<std::string, std::string>>& disruptive() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"ESC", "\x1b[2J"},
      {"DEL", "\x7f"},
      {"CSI of Latin-1",
       "\xc2\x9b"
       "31m"},
      {"a raw byte 0x9b",
       "\x9b"
       "31m"},
      {"another byte that is no UTF-8", "\xff"},
      {"half a character", "\xe2\x80"},
      {"NEL", "\xc2\x85"},
      {"left-to-right mark", "\xe2\x80\x8e"},
      {"right-to-left override", "\xe2\x80\xae"},
      {"right-to-left isolate", "\xe2\x81\xa7"},
      {"Arabic letter mark", "\xd8\x9c"},
      {"line separator", "\xe2\x80\xa8"},
      {"paragraph separator", "\xe2\x80\xa9"},
      {"byte order mark", "\xef\xbb\xbf"},
      {"space without width", "\xe2\x80\x8b"},
  };
  return all;
}

/// Returns the names of the disruptive texts that occur unescaped in `text`. Line ends are allowed.
inline std::string raw_in(const std::string& text) {
  std::string names;
  for (const auto& [name, bytes] : disruptive()) {
    // These bytes are invalid UTF-8 on their own, but may be part of a valid character.
    const bool alone = bytes[0] != '\x9b' && bytes[0] != '\xff' && bytes != "\xe2\x80";
    if (alone && has_part(text, bytes)) names += name + "; ";
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7f) names += "control " + std::to_string(byte) + "; ";
    if (byte < 0x80) continue;
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0;
    bool whole = length > 0 && i + length <= text.size();
    for (std::size_t k = 1; whole && k < length; ++k)
      whole = (static_cast<unsigned char>(text[i + k]) & 0xc0u) == 0x80u;
    if (!whole) return names + "byte " + std::to_string(byte) + " that is no UTF-8";
    i += length - 1;
  }
  return names;
}

inline std::string everything() {
  std::string all;
  for (const auto& part : disruptive()) all += part.second + "x";
  return all;
}

TEST_CASE("a log line escapes control characters in a request's target") {
  const Gateway gateway;
  for (const auto& [name, bytes] : disruptive()) {
    const std::string& shown = name;  // a structured binding cannot be captured
    CAPTURE(shown);
    RawConnection connection(gateway);
    const std::size_t before = gateway.journal().count();
    connection.send(Http(gateway).format("GET", "/v1/a" + bytes + "b"));
    REQUIRE(gateway.journal().wait_for(before + 1, 10s));
    const Exchange exchange = gateway.journal().last();
    exchange.outcome();
    CHECK(raw_in(exchange.summary()) == "");
    CHECK(raw_in(printed(exchange)) == "");
    CHECK(raw_in(printed(exchange.decision())) == "");
  }
}

TEST_CASE("a log line shows unprintable characters as escapes") {
  const Gateway gateway;
  Http(gateway).get("/v1/a\xc2\x9bz\x9by\xe2\x80\xaex");
  const Exchange exchange = gateway.journal().last();
  exchange.outcome();
  CHECK(has_part(exchange.summary(), " /v1/a\\u009bz\xef\xbf\xbdy\\u202ex 404 "));
}

TEST_CASE("a log line contains the reason of a refusal but not the key") {
  const Gateway gateway;
  const auto refused = [&](const Json& fields) {
    Http(gateway).chat(fields);
    const Exchange exchange = gateway.journal().last();
    exchange.outcome();
    return exchange.summary();
  };
  CHECK(refused({{"temperature", "hot"}}) ==
        "#1 POST /v1/chat/completions 400 rejected (400 invalid_type: temperature: expected a number, got a string "
        "(\"hot\")) completed");
  const std::string with_key = refused({{"temperature", gateway.api_key()}});
  CHECK(has_part(with_key, "invalid_type: temperature: expected a number"));
  CHECK_FALSE(has_part(with_key, gateway.api_key()));
  const std::string steering = refused({{"temperature",
                                         "\xc2\x9b"
                                         "31m\xe2\x80\xae"}});
  CHECK(raw_in(steering) == "");
  CHECK(has_part(steering, "\\u009b31m"));
  CHECK(has_part(refused({{"model", "fast"}}), "model_not_found: the model \"fast\" does not exist"));
}

TEST_CASE("reports escape control characters in prompts, names and exceptions") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  // JSON contains only valid UTF-8.
  std::string text;
  for (const auto& [name, bytes] : disruptive())
    if (name.find("byte") == std::string::npos && name.find("half") == std::string::npos) text += bytes + "x";
  gateway.chat().when(user_says("weather" + everything())).named("na" + everything()).reply("Sunny.");
  gateway.chat().when(matching("con" + everything(), [](const ChatRequest&) { return false; })).reply("Never.");
  Http(gateway).chat(text);
  CHECK(raw_in(gateway.verify().message()) == "");
  CHECK(raw_in(gateway.journal().last().decision().detail) == "");
  gateway.reset();
  gateway.chat().when(user_says("boom")).reply([&](const ChatRequest&) -> Reply {
    throw std::runtime_error("thrown " + everything());
  });
  Http(gateway).chat("boom");
  const Exchange failed = gateway.journal().last();
  failed.outcome();
  CHECK(raw_in(gateway.verify().message()) == "");
  CHECK(has_part(gateway.verify().message(), "thrown \\u001b[2J"));
  CHECK(raw_in(printed(failed.decision())) == "");
  CHECK(raw_in(failed.summary()) == "");
  CHECK(raw_in(printed(Finding{"unknown_field", "the field " + everything()})) == "");
  Http(gateway).with_header("Origin", "http://" + text).chat({{"field" + text, 1}});
  CHECK(raw_in(printed(gateway.review())) == "");
}

#ifndef _WIN32  // The command is for a POSIX shell.
TEST_CASE("a curl command escapes control characters, and sends every byte") {
  if (test_support::run_curl("curl --version", "").status != 0) {
    MESSAGE("curl is not installed: left out");
    return;
  }
  Gateway gateway;
  gateway.on("POST", "/v1/echo",
             [](const ReceivedRequest& request) { return HttpReply(200, request.body, "application/octet-stream"); });
  const Http http(gateway);
  const std::string quoting = "it's \"quoted\" $HOME `id` \\n \\\\ \\033 %s %41 !x ";
  for (const auto& [name, bytes] : disruptive()) {
    const std::string& shown = name;  // a structured binding cannot be captured
    CAPTURE(shown);
    const bool in_header = bytes[0] != '\x1b' && bytes[0] != '\x7f';
    for (const auto& [header, target, body] :
         std::vector<std::array<std::string, 3>>{{in_header ? quoting + bytes + "e" : "plain", "/v1/echo", "plain"},
                                                 {"plain", "/v1/a" + bytes + "%s\\033'z", ""},
                                                 {"plain", "/v1/echo", quoting + bytes + "e\n\t" + bytes}}) {
      http.with_header("X-Odd", header)
          .request(body.empty() ? "GET" : "POST", target,
                   body.empty() ? std::nullopt : std::optional<std::string>(body));
      const Exchange first = gateway.journal().last();
      CAPTURE(first.id());
      const std::string command = first.as_curl();
      // Line ends and tabs of a body stay readable.
      std::string without_tabs = command;
      for (char& byte : without_tabs) byte = byte == '\t' ? ' ' : byte;
      CHECK(raw_in(without_tabs) == "");
      const test_support::Shell shell = test_support::run_curl(command, gateway.api_key());
      CHECK(shell.output == "");
      REQUIRE(shell.status == 0);
      const Exchange again = gateway.journal().last();
      REQUIRE(again.id() == first.id() + 1);
      CHECK((again.request().target == first.request().target));
      // A target with ESC is invalid HTTP; the gateway then reads no header fields.
      CHECK((again.headers().find("X-Odd") == first.headers().find("X-Odd")));
      CHECK((first.decision() == Decision::Kind::malformed || first.headers().find("X-Odd") == header));
      CHECK((again.body() == body));
    }
  }
}
#endif

TEST_CASE("a log function is called for connections with a fault") {
  std::mutex mutex;
  std::vector<std::string> log;
  const auto lines = [&] {
    const std::lock_guard<std::mutex> lock(mutex);
    return log;
  };
  Gateway gateway{Options{}.on_connection_hit([&](const ConnectionHit& hit) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      log.push_back(std::to_string(hit.connection_id) + " " + hit.fault.to_string());
    }
    throw std::runtime_error("what a log throws stops nothing");
  })};
  gateway.next_connection(close_on_accept());
  gateway.next_connection(early_hints());
  CHECK(RawConnection(gateway).receive_all().bytes == "");
  CHECK(lines() == std::vector<std::string>{"1 close on accept"});
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat());
  REQUIRE(gateway.journal().wait_for(1, 10s));
  CHECK(lines() == std::vector<std::string>{"1 close on accept", "2 103 Early Hints"});
  const Exchange exchange = gateway.journal().last();
  exchange.outcome();
  CHECK(exchange.summary() ==
        "#1 POST /v1/chat/completions 200 default reply completed; connection fault 103 Early Hints");
}

}  // namespace printable_test
