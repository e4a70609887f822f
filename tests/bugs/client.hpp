#pragma once

// A chat client with an optional bug. Without a bug it is correct: it parses streams as WHATWG HTML, 9.2.6 says,
// detects truncated replies, obeys Retry-After, and closes connections that it no longer reads.

#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/client.hpp"

namespace bugs {

using mock_gateway::Json;

/// The possible bugs of a client.
enum class Bug {
  line_feed_alone_ends_a_line,
  carriage_return_stays,
  unended_event_is_dropped,
  done_is_needed,
  closed_connection_is_the_end,
  length_is_whole,
  error_event_is_passed_over,
  each_read_is_decoded,
  parallel_calls_are_joined,
  unauthorized_is_retried,
  retry_after_is_ignored,
  server_error_is_final,
  key_is_kept,
  stream_is_left_open,
  stall_is_waited_for,
  first_choice_alone_is_read,
  finish_reason_is_the_end,
  comments_are_parsed,
  kept_connection_is_trusted,
  call_ids_are_made_up,
};

/// Whether this run of the program has the bugs.
inline bool seeded() { return std::getenv("SEEDED") != nullptr; }

/// The result for the caller of a client.
struct Answer {
  /// The text of each choice.
  std::vector<std::string> texts;
  std::vector<mock_gateway::wire::ToolCall> calls;
  std::string finish_reason;
  Json usage;
  /// Empty if the reply is complete.
  std::string error;

  std::string text() const { return texts.empty() ? "" : texts.front(); }
};

/// A parser of the data of a stream's events.
class EventParser {
 public:
  EventParser(std::optional<Bug> bug, std::function<void(const std::string&)> on_data)
      : bug_(bug), on_data_(std::move(on_data)) {}

  void feed(std::string_view bytes) {
    for (const char c : bytes) {
      const bool ends_carriage_return = std::exchange(after_carriage_return_, false);
      if (c == '\n') {
        if (!ends_carriage_return) end_line();
      } else if (c == '\r' && bug_ != Bug::carriage_return_stays && bug_ != Bug::line_feed_alone_ends_a_line) {
        after_carriage_return_ = true;
        end_line();
      } else {
        line_ += c;
      }
    }
  }

  /// Ends the body.
  void end() {
    if (bug_ == Bug::unended_event_is_dropped) return;
    if (!line_.empty()) end_line();
    end_line();
  }

 private:
  void end_line() {
    std::string line = std::exchange(line_, {});
    if (bug_ == Bug::line_feed_alone_ends_a_line && !line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) {
      if (data_) on_data_(*std::exchange(data_, std::nullopt));
    } else if (line.compare(0, 5, "data:") == 0 || (bug_ == Bug::comments_are_parsed && line.front() == ':')) {
      const std::size_t colon = line.find(':');
      std::string value = line.substr(colon + 1);
      if (!value.empty() && value.front() == ' ') value.erase(0, 1);
      data_ = data_ ? *data_ + '\n' + value : value;
    }
  }

  std::optional<Bug> bug_;
  std::function<void(const std::string&)> on_data_;
  std::string line_;
  std::optional<std::string> data_;
  bool after_carriage_return_ = false;
};

class Client {
 public:
  /// Has this bug if the program runs with bugs. Gives up if nothing arrives for `patience`.
  Client(const mock_gateway::Gateway& gateway, Bug bug, std::chrono::milliseconds patience = test_support::patience)
      : gateway_(&gateway),
        bug_(seeded() ? std::optional<Bug>(bug) : std::nullopt),
        patience_(patience),
        key_(gateway.api_key()) {}

  void set_key(const std::string& key) {
    if (!has(Bug::key_is_kept) || !asked_) key_ = key;
  }

  Answer stream(Json body = Json::object()) {
    body["stream"] = true;
    return ask(std::move(body));
  }

  /// Sends the request, and retries it where that can help.
  Answer ask(const Json& body = Json::object()) {
    asked_ = true;
    constexpr int most = 3;
    for (int attempt = 1;; ++attempt) {
      Attempt made = once(body);
      const bool reached = made.status != 0;
      const bool may_be_retried =
          reached ? is_retried(made.status) : made.reused && !has(Bug::kept_connection_is_trusted);
      if (made.answer.error.empty() || !may_be_retried || attempt == most) return made.answer;
      if (!has(Bug::retry_after_is_ignored)) std::this_thread::sleep_for(made.retry_after);
    }
  }

  /// The messages of the next turn: these calls, each with this result.
  Json after_calls(const std::vector<mock_gateway::wire::ToolCall>& calls, const std::string& result) const {
    Json made = Json::array();
    Json results = Json::array();
    for (const auto& call : calls) {
      made.push_back(
          {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
      results.push_back({{"role", "tool"},
                         {"tool_call_id", has(Bug::call_ids_are_made_up) ? "call_" + call.name : call.id},
                         {"content", result}});
    }
    Json messages = {{{"role", "user"}, {"content", "Hi"}}};
    messages.push_back({{"role", "assistant"}, {"content", nullptr}, {"tool_calls", made}});
    for (Json& one : results) messages.push_back(std::move(one));
    return messages;
  }

 private:
  struct Attempt {
    Answer answer;
    int status = 0;
    /// The request used a connection that had served another.
    bool reused = false;
    std::chrono::milliseconds retry_after{0};
  };

  bool has(Bug bug) const { return bug_ == bug; }

  bool is_retried(int status) const {
    if (status == 401) return has(Bug::unauthorized_is_retried);
    return status == 429 || (status >= 500 && !has(Bug::server_error_is_final));
  }

  Attempt once(const Json& body) {
    Attempt made;
    made.reused = connection_ != nullptr;
    if (!connection_) connection_ = std::make_shared<test_support::RawConnection>(*gateway_);
    const auto connection = connection_;
    const bool streamed = body.value("stream", false);
    const test_support::Http http(gateway_->host(), gateway_->port(), key_);
    connection->send(http.format_chat(body));
    const auto patience = has(Bug::stall_is_waited_for) ? std::chrono::minutes{1} : patience_;

    const auto head = connection->receive_until("\r\n\r\n", patience);
    if (!head.found) {
      connection_.reset();
      made.answer.error = "no answer came";
      return made;
    }
    made.status = std::stoi(head.bytes.substr(9, 3));
    made.retry_after = std::chrono::milliseconds{static_cast<long>(1000 * number_in(head.bytes, "retry-after"))};
    if (streamed && made.status == 200) {
      made.answer = read_stream(*connection, patience);
      // More of the stream may follow, which this client does not read.
      if (!has(Bug::stream_is_left_open)) connection_.reset();
    } else {
      const auto length = static_cast<std::size_t>(number_in(head.bytes, "content-length"));
      const auto rest =
          connection->receive_until([length](std::string_view bytes) { return bytes.size() >= length; }, patience);
      made.answer = rest.found ? read_plain(made.status, rest.bytes) : Answer{{}, {}, {}, {}, "the answer broke off"};
      if (test_support::detail::lower(head.bytes).find("connection: close") != std::string::npos) connection_.reset();
    }
    return made;
  }

  /// The number in a header field; 0 if absent.
  static double number_in(const std::string& head, const std::string& name) {
    const std::string fields = test_support::detail::lower(head);
    const std::size_t at = fields.find("\r\n" + name + ":");
    return at == std::string::npos ? 0 : std::strtod(fields.c_str() + at + name.size() + 3, nullptr);
  }

  Answer read_plain(int status, const std::string& body) const {
    const Json json = Json::parse(body, nullptr, false);
    Answer answer;
    if (status != 200) {
      answer.error = std::to_string(status) + " " + body;
      return answer;
    }
    for (const Json& choice : json.at("choices")) {
      const Json& message = choice.at("message");
      answer.texts.push_back(message.at("content").is_string() ? message["content"].get<std::string>() : "");
      if (message.contains("tool_calls")) {
        for (const Json& call : message["tool_calls"])
          answer.calls.push_back({call.at("id"), call.at("function").at("name"), call["function"].at("arguments")});
      }
      answer.finish_reason = choice.at("finish_reason");
      if (has(Bug::first_choice_alone_is_read)) break;
    }
    answer.usage = json.value("usage", Json());
    judge(answer);
    return answer;
  }

  /// Reads until the body ends, `[DONE]` arrives, or the timeout expires.
  Answer read_stream(test_support::RawConnection& connection, std::chrono::milliseconds patience) const {
    Answer answer;
    bool done = false;
    bool is_finished = false;
    EventParser parser(bug_, [&](const std::string& data) {
      if (done) return;
      if (data == "[DONE]") {
        done = true;
      } else if (const Json json = Json::parse(data, nullptr, false); json.is_discarded()) {
        answer.error = "no JSON: " + data;
      } else if (json.contains("error")) {
        if (!has(Bug::error_event_is_passed_over)) answer.error = json["error"].dump();
      } else if (!(is_finished && has(Bug::finish_reason_is_the_end))) {
        add(answer, json);
        is_finished = !answer.finish_reason.empty();
      }
    });
    std::string raw;
    std::string body;
    bool whole = false;
    bool gone_on = true;
    while (!whole && gone_on && !done && answer.error.empty() && !(is_finished && has(Bug::finish_reason_is_the_end))) {
      const auto read = connection.receive_until([](std::string_view bytes) { return !bytes.empty(); }, patience);
      gone_on = !read.bytes.empty();
      if (!gone_on && read.end == test_support::End::open) answer.error = "nothing came for too long";
      raw += read.bytes;
      whole = take_chunks(raw, body);
      parser.feed(has(Bug::each_read_is_decoded) ? decoded(body) : body);
      body.clear();
    }
    if (!whole && !done && answer.error.empty() && !has(Bug::closed_connection_is_the_end) &&
        !has(Bug::finish_reason_is_the_end))
      answer.error = "the stream broke off";
    if (answer.error.empty()) parser.end();
    if (answer.error.empty() && has(Bug::done_is_needed) && !done) answer.error = "the stream has no end";
    if (answer.error.empty() && !done && !is_finished && !has(Bug::closed_connection_is_the_end))
      answer.error = "the stream has no end";
    judge(answer);
    return answer;
  }

  /// Turns a truncated reply into an error.
  void judge(Answer& answer) const {
    if (answer.error.empty() && answer.finish_reason == "length" && !has(Bug::length_is_whole))
      answer.error = "the answer was cut short";
  }

  /// Moves complete chunks (RFC 9112, 7.1) from `raw` to `body`. Returns true after the last one.
  static bool take_chunks(std::string& raw, std::string& body) {
    for (;;) {
      const std::size_t line = raw.find("\r\n");
      if (line == std::string::npos) return false;
      const std::size_t size = std::stoul(raw, nullptr, 16);
      if (raw.size() < line + 2 + size + 2) return false;
      body += raw.substr(line + 2, size);
      raw.erase(0, line + 2 + size + 2);
      if (size == 0) return true;
    }
  }

  /// Replaces invalid UTF-8 by U+FFFD.
  static std::string decoded(const std::string& bytes) {
    return Json::parse(Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  }

  void add(Answer& answer, const Json& chunk) const {
    if (chunk.contains("usage") && chunk["usage"].is_object()) answer.usage = chunk["usage"];
    for (const Json& choice : chunk.value("choices", Json::array())) {
      const std::size_t index = choice.value("index", std::size_t{0});
      if (index > 0 && has(Bug::first_choice_alone_is_read)) continue;
      if (answer.texts.size() <= index) answer.texts.resize(index + 1);
      const Json delta = choice.value("delta", Json::object());
      if (delta.contains("content") && delta["content"].is_string())
        answer.texts[index] += delta["content"].get<std::string>();
      for (const Json& call : delta.value("tool_calls", Json::array())) add_call(answer, call);
      if (choice.contains("finish_reason") && choice["finish_reason"].is_string())
        answer.finish_reason = choice["finish_reason"];
    }
  }

  void add_call(Answer& answer, const Json& part) const {
    const std::size_t index = has(Bug::parallel_calls_are_joined) ? 0 : part.value("index", std::size_t{0});
    if (answer.calls.size() <= index) answer.calls.resize(index + 1);
    auto& call = answer.calls[index];
    const Json function = part.value("function", Json::object());
    if (part.contains("id")) call.id = part["id"];
    if (function.contains("name")) call.name = function["name"];
    call.arguments += function.value("arguments", std::string());
  }

  const mock_gateway::Gateway* gateway_;
  std::optional<Bug> bug_;
  std::chrono::milliseconds patience_;
  std::string key_;
  bool asked_ = false;
  std::shared_ptr<test_support::RawConnection> connection_;
};

}  // namespace bugs
