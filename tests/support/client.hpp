#pragma once

// An HTTP client on plain sockets for tests. It exposes every byte and does nothing on its own. Every wait has a
// deadline in real time.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "net.hpp"
#include "patience.hpp"

namespace test_support {

using mock_gateway::Gateway;
using mock_gateway::Json;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds default_timeout{10000};
constexpr const char* chat_path = "/v1/chat/completions";

namespace detail {

class Deadline {
 public:
  explicit Deadline(Milliseconds timeout) : end_(std::chrono::steady_clock::now() + timeout) {}

  bool over() const { return left() == 0; }
  /// Returns the remaining milliseconds for poll(), rounded up to avoid spinning shortly before the deadline.
  int left() const {
    const auto left = end_ - std::chrono::steady_clock::now();
    return left.count() <= 0 ? 0 : static_cast<int>(std::chrono::duration_cast<Milliseconds>(left).count()) + 1;
  }

 private:
  std::chrono::steady_clock::time_point end_;
};

inline std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

inline std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

inline void pause(std::chrono::nanoseconds step = std::chrono::microseconds(200)) { std::this_thread::sleep_for(step); }

}  // namespace detail

/// Polls until `condition` holds or the timeout expires. Returns whether the condition held.
template <class Condition>
bool eventually(Condition&& condition, Milliseconds timeout = default_timeout) {
  const detail::Deadline deadline(timeout);
  while (!condition()) {
    if (deadline.over()) return static_cast<bool>(condition());
    detail::pause();
  }
  return true;
}

/// How the peer ended the connection, or `open` if it has not.
enum class End { open, fin, reset };

inline std::string to_string(End end) { return end == End::open ? "open" : end == End::fin ? "fin" : "reset"; }
inline std::ostream& operator<<(std::ostream& out, End end) { return out << to_string(end); }

/// Returns the data of each event of a stream, parsed as in WHATWG HTML, 9.2.6. Drops a last event without a blank
/// line.
inline std::vector<std::string> sse_events(std::string_view stream) {
  if (stream.substr(0, 3) == "\xEF\xBB\xBF") stream.remove_prefix(3);
  std::vector<std::string> events;
  std::optional<std::string> data;
  while (!stream.empty()) {
    const std::size_t length = stream.find_first_of("\r\n");
    if (length == std::string_view::npos) break;
    const std::string_view line = stream.substr(0, length);
    stream.remove_prefix(length + (stream.substr(length, 2) == "\r\n" ? 2 : 1));
    if (line.empty()) {
      if (data) events.push_back(std::move(*data));
      data.reset();
      continue;
    }
    const std::size_t colon = line.find(':');
    if (line.substr(0, colon) != "data") continue;
    std::string_view value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
    if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    data = data ? *data + '\n' + std::string(value) : std::string(value);
  }
  return events;
}

/// Returns an assistant message in a form that is equal for plain and streamed replies. It has `role`, `content` (null
/// becomes ""), and `reasoning_content`, `refusal` and `tool_calls` unless they are empty.
inline Json comparable_message(const Json& message) {
  const auto text = [&](const char* name) {
    return message.contains(name) && message[name].is_string() ? message[name].get<std::string>() : std::string{};
  };
  Json result{{"role", text("role")}, {"content", text("content")}};
  for (const char* name : {"reasoning_content", "refusal"}) {
    if (!text(name).empty()) result[name] = text(name);
  }
  if (message.contains("tool_calls") && !message["tool_calls"].empty()) result["tool_calls"] = message["tool_calls"];
  return result;
}

/// A received response. Functions that read the body throw if the body has another form.
struct Response {
  struct Field {
    std::string name;
    std::string value;
  };

  /// 0 if no status line arrived.
  int status = 0;
  std::string reason;
  /// For example "HTTP/1.1".
  std::string version;
  /// The header fields in the received order and spelling.
  std::vector<Field> headers;
  /// The body without the transfer coding.
  std::string body;
  bool chunked = false;
  /// The size of each complete chunk, except the last chunk of size 0.
  std::vector<std::size_t> chunks;
  /// The status line and the headers, including the blank line.
  std::string head;
  /// Every byte of the response.
  std::string raw;
  /// True if the headers and the whole body arrived, according to their framing.
  bool complete = false;
  End end = End::open;

  bool has(std::string_view name) const { return find(name).has_value(); }
  std::optional<std::string> find(std::string_view name) const {
    for (const Field& field : headers) {
      if (detail::lower(field.name) == detail::lower(name)) return field.value;
    }
    return std::nullopt;
  }
  /// Returns the value of the first header with that name, ignoring case, or "" if there is none.
  std::string header(std::string_view name) const { return find(name).value_or(""); }
  std::vector<std::string> all(std::string_view name) const {
    std::vector<std::string> values;
    for (const Field& field : headers) {
      if (detail::lower(field.name) == detail::lower(name)) values.push_back(field.value);
    }
    return values;
  }
  std::vector<std::string> header_names() const {
    std::vector<std::string> names;
    for (const Field& field : headers) names.push_back(field.name);
    return names;
  }

  Json json() const { return Json::parse(body); }
  /// Returns the code of an error body, or "" for other bodies.
  std::string error_code() const { return error_field("code"); }
  std::string error_message() const { return error_field("message"); }
  std::string error_type() const { return error_field("type"); }

  /// Returns the data of each event of a stream, including `[DONE]`.
  std::vector<std::string> events() const { return sse_events(body); }
  bool done() const {
    const auto data = events();
    return !data.empty() && data.back() == "[DONE]";
  }
  /// Returns the data of each event of a stream as JSON, without `[DONE]`.
  std::vector<Json> json_events() const {
    std::vector<Json> result;
    for (const std::string& data : events()) {
      if (data != "[DONE]") result.push_back(Json::parse(data));
    }
    return result;
  }
  /// Returns the deltas of one choice of a stream, in order.
  std::vector<Json> deltas(std::size_t choice = 0) const {
    std::vector<Json> result;
    for (const Json& part : choices_of_stream(choice)) {
      if (part.contains("delta")) result.push_back(part["delta"]);
    }
    return result;
  }
  /// Returns the content of one choice of a stream.
  std::string joined_text(std::size_t choice = 0) const { return joined_message(choice)["content"]; }
  /// Joins the deltas of one choice of a stream to a message in the form of comparable_message().
  Json joined_message(std::size_t choice = 0) const {
    Json message = Json::object();
    Json calls = Json::array();
    for (const Json& delta : deltas(choice)) {
      for (const auto& [name, value] : delta.items()) {
        if (name == "tool_calls" && value.is_array()) {
          for (const Json& call : value) join_tool_call(calls, call);
        } else if (name == "role") {
          message["role"] = value;
        } else if (value.is_string()) {
          const std::string before = message.contains(name) ? message[name].get<std::string>() : "";
          message[name] = before + value.get<std::string>();
        }
      }
    }
    if (!calls.empty()) message["tool_calls"] = std::move(calls);
    return comparable_message(message);
  }

  /// Returns the content of one choice of a plain reply; null becomes "".
  std::string text(std::size_t choice = 0) const { return message(choice)["content"]; }
  /// Returns the message of one choice of a plain reply in the form of comparable_message().
  Json message(std::size_t choice = 0) const {
    return comparable_message(json().at("choices").at(choice).at("message"));
  }

  /// Returns the finish_reason of one choice of a plain reply or a stream, or "" if there is none.
  std::string finish_reason(std::size_t choice = 0) const {
    const std::vector<Json> parts =
        is_stream() ? choices_of_stream(choice) : std::vector<Json>{json().at("choices").at(choice)};
    for (const Json& part : parts) {
      if (part.contains("finish_reason") && part["finish_reason"].is_string()) return part["finish_reason"];
    }
    return "";
  }
  /// Returns the usage of a plain reply or a stream, or null if there is none.
  Json usage() const {
    Json usage;
    for (const Json& part : is_stream() ? json_events() : std::vector<Json>{json()}) {
      if (part.contains("usage") && !part["usage"].is_null()) usage = part["usage"];
    }
    return usage;
  }
  bool is_stream() const { return header("Content-Type").compare(0, 17, "text/event-stream") == 0; }

 private:
  std::string error_field(const char* name) const {
    const Json parsed = Json::parse(body, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("error") || !parsed["error"].is_object()) return "";
    const Json& error = parsed["error"];
    return error.contains(name) && error[name].is_string() ? error[name].get<std::string>() : "";
  }
  std::vector<Json> choices_of_stream(std::size_t choice) const {
    std::vector<Json> result;
    for (const Json& event : json_events()) {
      if (!event.contains("choices") || !event["choices"].is_array()) continue;
      for (const Json& part : event["choices"]) {
        if (part.at("index") == choice) result.push_back(part);
      }
    }
    return result;
  }
  static void join_tool_call(Json& calls, const Json& delta) {
    const std::size_t index = delta.at("index").get<std::size_t>();
    while (calls.size() <= index) {
      calls.push_back({{"id", ""}, {"type", ""}, {"function", {{"name", ""}, {"arguments", ""}}}});
    }
    Json& call = calls[index];
    const auto append = [](Json& target, const Json& source, const char* name) {
      if (!source.contains(name) || !source[name].is_string()) return;
      target[name] = target[name].get<std::string>() + source[name].get<std::string>();
    };
    append(call, delta, "id");
    append(call, delta, "type");
    if (!delta.contains("function")) return;
    append(call["function"], delta["function"], "name");
    append(call["function"], delta["function"], "arguments");
  }
};

/// Returns the non-empty values of one field, by default the content, in the deltas of one choice of a stream.
inline std::vector<std::string> pieces(const Response& response, const char* field = "content",
                                       std::size_t choice = 0) {
  std::vector<std::string> result;
  for (const Json& delta : response.deltas(choice)) {
    if (delta.contains(field) && delta[field].is_string() && delta[field] != "") result.push_back(delta[field]);
  }
  return result;
}

inline std::ostream& operator<<(std::ostream& out, const Response& response) {
  return out << response.raw << (response.complete ? "" : "\n(incomplete, " + to_string(response.end) + ")");
}

namespace detail {

/// A parser of one response in a growing buffer. It scans each byte of the body only once.
class ResponseParser {
 public:
  explicit ResponseParser(bool to_head) : to_head_(to_head) {}

  /// Parses the new bytes of the buffer. Returns true once the response is complete.
  bool parse(std::string_view buffer) {
    if (response.head.empty() && !parse_head(buffer)) return false;
    switch (framing_) {
      case Framing::none: return response.complete = true;
      case Framing::length:
        position_ = std::min(buffer.size(), response.head.size() + length_);
        response.complete = position_ == response.head.size() + length_;
        return response.complete;
      case Framing::chunked: return response.complete = parse_chunks(buffer);
      case Framing::until_close: position_ = buffer.size(); return false;
    }
    return false;
  }

  /// Returns the response and removes its bytes from the buffer.
  Response finish(std::string& buffer, End end) {
    if (framing_ == Framing::until_close && end == End::fin) response.complete = true;
    response.end = end;
    // If the head is incomplete or the body truncated, all bytes belong to this response.
    const std::size_t size = response.complete ? position_ : buffer.size();
    response.raw = buffer.substr(0, size);
    buffer.erase(0, size);
    if (framing_ == Framing::length || framing_ == Framing::until_close) {
      response.body = response.raw.substr(response.head.size());
    } else if (framing_ == Framing::chunked && !response.complete) {
      append_cut_chunk();
    }
    return std::move(response);
  }

 private:
  enum class Framing { none, length, chunked, until_close };

  bool parse_head(std::string_view buffer) {
    const std::string_view start = "HTTP/";
    if (buffer.substr(0, start.size()) != start.substr(0, std::min(buffer.size(), start.size()))) {
      throw std::runtime_error("not an HTTP response: " + std::string(buffer.substr(0, 200)));
    }
    const std::size_t size = buffer.find("\r\n\r\n");
    if (size == std::string_view::npos) return false;
    response.head = std::string(buffer.substr(0, size + 4));
    position_ = response.head.size();
    std::string_view rest = std::string_view(response.head).substr(0, size + 2);
    const auto next_line = [&rest] {
      const std::string_view line = rest.substr(0, rest.find("\r\n"));
      rest.remove_prefix(line.size() + 2);
      return line;
    };
    const std::string_view status_line = next_line();
    const std::size_t space = status_line.find(' ');
    if (space == std::string_view::npos) throw std::runtime_error("no status: " + std::string(status_line));
    response.version = std::string(status_line.substr(0, space));
    response.status = std::stoi(std::string(status_line.substr(space + 1)));
    const std::size_t second = status_line.find(' ', space + 1);
    if (second != std::string_view::npos) response.reason = std::string(status_line.substr(second + 1));
    while (!rest.empty()) {
      const std::string_view line = next_line();
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) throw std::runtime_error("no header: " + std::string(line));
      response.headers.push_back({std::string(line.substr(0, colon)), std::string(trim(line.substr(colon + 1)))});
    }
    choose_framing();
    return true;
  }

  void choose_framing() {  // RFC 9112, 6.3
    response.chunked = lower(response.header("Transfer-Encoding")) == "chunked";
    if (to_head_ || response.status < 200 || response.status == 204 || response.status == 304) {
      framing_ = Framing::none;
    } else if (response.chunked) {
      framing_ = Framing::chunked;
    } else if (response.has("Content-Length")) {
      framing_ = Framing::length;
      length_ = std::stoul(response.header("Content-Length"));
    } else {
      framing_ = Framing::until_close;
    }
  }

  bool parse_chunks(std::string_view buffer) {
    for (;;) {
      const std::size_t line_end = buffer.find("\r\n", position_);
      if (line_end == std::string_view::npos) break;
      const std::string line(buffer.substr(position_, line_end - position_));
      std::size_t digits = 0;
      std::size_t size = 0;
      try {
        size = std::stoul(line, &digits, 16);
      } catch (const std::exception&) {
        throw std::runtime_error("not the size of a chunk: " + line);
      }
      const std::size_t data = line_end + 2;
      if (size == 0) {
        // Trailer fields end with a blank line, like the head.
        const std::size_t end = buffer.find("\r\n\r\n", line_end);
        if (end == std::string_view::npos) break;
        position_ = end + 4;
        return true;
      }
      if (buffer.size() < data + size + 2) break;
      if (buffer.substr(data + size, 2) != "\r\n") throw std::runtime_error("a chunk is longer than its size");
      response.body.append(buffer.substr(data, size));
      response.chunks.push_back(size);
      position_ = data + size + 2;
    }
    return false;
  }

  /// Appends the received part of an incomplete chunk.
  void append_cut_chunk() {
    const std::size_t line_end = response.raw.find("\r\n", position_);
    if (line_end == std::string::npos) return;
    const std::size_t size = std::stoul(response.raw.substr(position_), nullptr, 16);
    response.body += response.raw.substr(line_end + 2, size);
  }

  Response response;
  bool to_head_;
  Framing framing_ = Framing::none;
  std::size_t length_ = 0;
  std::size_t position_ = 0;  // start of the unparsed part of the buffer
};

}  // namespace detail

struct ConnectionOptions {
  /// The size of the kernel's receive buffer in bytes, for clients that do not read. It is set before connect(), so
  /// that the window is small from the start. 0 keeps the system's default.
  int receive_buffer = 0;
};

/// A connection with access to every byte.
class RawConnection {
 public:
  struct Received {
    std::string bytes;
    /// How the connection ended, or `open` if the timeout expired first.
    End end = End::open;
    /// Whether the condition of receive_until() was met.
    bool found = false;
  };

  RawConnection(const std::string& host, int port, ConnectionOptions options = {}) { connect(host, port, options); }
  explicit RawConnection(const Gateway& gateway, ConnectionOptions options = {})
      : RawConnection(gateway.host(), gateway.port(), options) {}
  ~RawConnection() { close(); }
  RawConnection(RawConnection&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), buffer_(std::move(other.buffer_)), end_(other.end_) {}
  RawConnection& operator=(RawConnection&& other) noexcept {
    if (this == &other) return *this;
    close();
    socket_ = std::exchange(other.socket_, -1);
    buffer_ = std::move(other.buffer_);
    end_ = other.end_;
    return *this;
  }

  /// Sends all bytes. Returns false if the peer closed the connection or did not accept them in time. Never reads.
  bool send(std::string_view bytes, Milliseconds timeout = default_timeout) {
    const detail::Deadline deadline(timeout);
    while (!bytes.empty()) {
      const long sent = net::send(socket_, bytes.data(), bytes.size());
      if (sent >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      } else if (net::last_error() == net::would_block) {
        if (!wait(POLLOUT, deadline)) return false;
      } else if (net::last_error() != net::interrupted) {
        return false;
      }
    }
    return true;
  }
  void shutdown_write() { ::shutdown(socket_, net::end_of_sending); }

  /// Returns the bytes of one read, at most `size`. It is empty if the connection or the time has ended.
  std::string receive_once(std::size_t size = 65536, Milliseconds timeout = default_timeout) const {
    std::string bytes(size, '\0');
    if (!wait(POLLIN, detail::Deadline(timeout))) return "";
    const long received = net::receive(socket_, bytes.data(), bytes.size());
    bytes.resize(received > 0 ? static_cast<std::size_t>(received) : 0);
    return bytes;
  }

  /// Receives until the delimiter arrives. Takes the bytes up to the end of the delimiter, or all bytes if it does not
  /// arrive.
  Received receive_until(std::string_view delimiter, Milliseconds timeout = default_timeout) {
    const std::string wanted(delimiter);
    const bool found = fill([&] { return buffer_.find(wanted) != std::string::npos; }, timeout);
    return take(found ? buffer_.find(wanted) + wanted.size() : buffer_.size(), found);
  }
  /// Receives until the condition holds for the buffered bytes, and takes all of them.
  Received receive_until(const std::function<bool(std::string_view)>& condition,
                         Milliseconds timeout = default_timeout) {
    const bool found = fill([&] { return condition(buffer_); }, timeout);
    return take(buffer_.size(), found);
  }
  /// Receives until the peer closes or resets the connection.
  Received receive_all(Milliseconds timeout = default_timeout) {
    fill([] { return false; }, timeout);
    return take(buffer_.size(), end_ != End::open);
  }
  /// Receives one response, which may be an interim response (100). Bytes of the next response stay in the buffer. The
  /// result is not `complete` if the timeout expired or the connection ended first. `to_head` means that the request
  /// was HEAD, so that no body follows. Throws std::runtime_error for bytes that are not an HTTP response.
  Response receive_response(Milliseconds timeout = default_timeout, bool to_head = false) {
    detail::ResponseParser parser(to_head);
    fill([&] { return parser.parse(buffer_); }, timeout);
    return parser.finish(buffer_, end_);
  }

  /// Returns the bytes that were received but not taken yet.
  const std::string& buffered() const { return buffer_; }
  /// Returns how the peer ended the connection, as far as the client has noticed.
  End end() const { return end_; }
  int descriptor() const { return socket_; }

  void close() {
    if (socket_ >= 0) net::close(std::exchange(socket_, -1));
  }
  /// Closes with RST.
  void abort() {
    const linger at_once{1, 0};
    net::set_option(socket_, SOL_SOCKET, SO_LINGER, at_once);
    close();
  }

 private:
  void connect(const std::string& host, int port, ConnectionOptions options) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
      throw std::runtime_error("no such host: " + host);
    }
    int problem = 0;
    for (const addrinfo* address = found; address && socket_ < 0; address = address->ai_next) {
      socket_ = net::open(address->ai_family, address->ai_protocol);
      if (options.receive_buffer > 0) net::set_option(socket_, SOL_SOCKET, SO_RCVBUF, options.receive_buffer);
      if (::connect(socket_, address->ai_addr, static_cast<socklen_t>(address->ai_addrlen)) != 0) {
        problem = net::last_error();
        close();
        // The peer accepted and reset the connection before connect() returned.
        if (problem == net::was_reset) {
          end_ = End::reset;
          break;
        }
      }
    }
    ::freeaddrinfo(found);
    if (socket_ < 0 && end_ != End::reset)
      throw std::runtime_error("cannot connect: " +
                               (problem == net::was_refused ? "refused" : std::system_category().message(problem)));
  }

  /// Returns the events of poll(), or 0 at the deadline.
  short wait(short events, const detail::Deadline& deadline) const {
    pollfd descriptor{};
    descriptor.fd = socket_;
    descriptor.events = events;
    for (;;) {
      const int ready = net::poll(descriptor, deadline.left());
      if (ready > 0) return descriptor.revents;
      if (ready == 0 && deadline.over()) return 0;
    }
  }

  /// Receives until the condition holds, the peer ends the connection, or the timeout expires.
  template <class Condition>
  bool fill(const Condition& condition, Milliseconds timeout) {
    const detail::Deadline deadline(timeout);
    char bytes[65536];
    for (;;) {
      if (condition()) return true;
      if (end_ != End::open || socket_ < 0) return false;
      const short events = wait(POLLIN, deadline);
      if (events == 0) return false;
      const long received = net::receive(socket_, bytes, sizeof bytes);
      if (received > 0) {
        buffer_.append(bytes, static_cast<std::size_t>(received));
      } else if (received == 0) {
        // wine's poll() takes the error of a reset, and recv() then sees a normal end.
        end_ = (events & POLLERR) != 0 ? End::reset : End::fin;
      } else if (net::last_error() != net::interrupted && net::last_error() != net::would_block) {
        end_ = End::reset;
      }
    }
  }

  Received take(std::size_t size, bool found) {
    Received result{buffer_.substr(0, size), end_, found};
    buffer_.erase(0, size);
    return result;
  }

  int socket_ = -1;
  std::string buffer_;
  End end_ = End::open;
};

/// Returns the body of a chat request with the model `mock-model` and the user message "Hi". Fields of `extra` are
/// added or replace these. If `extra` is a string, it is the text of the user message.
inline Json chat_body(const Json& extra = {}) {
  Json body{{"model", "mock-model"}, {"messages", {{{"role", "user"}, {"content", "Hi"}}}}};
  if (extra.is_string()) {
    body["messages"][0]["content"] = extra;
  } else if (!extra.is_null()) {
    for (const auto& [name, value] : extra.items()) body[name] = value;
  }
  return body;
}

/// A client that sends a request in one line of code. It is a value type: each `with…` returns a changed copy. Calls
/// throw std::runtime_error if no complete response arrives in time, unless documented otherwise. They do not throw for
/// a 4xx status.
class Http {
 public:
  explicit Http(const Gateway& gateway)
      : host_(gateway.host()), port_(gateway.port()), authorization_("Bearer " + gateway.api_key()) {}
  Http(std::string host, int port, const std::string& key)
      : host_(std::move(host)), port_(port), authorization_("Bearer " + key) {}

  Http with_key(const std::string& secret) const {
    return with([&](Http& copy) { copy.authorization_ = "Bearer " + secret; });
  }
  /// Sets the whole value of the Authorization header.
  Http with_authorization(const std::string& value) const {
    return with([&](Http& copy) { copy.authorization_ = value; });
  }
  Http without_key() const {
    return with([](Http& copy) { copy.authorization_.reset(); });
  }
  Http with_header(const std::string& name, const std::string& value) const {
    return with([&](Http& copy) { copy.headers_.push_back({name, value}); });
  }
  Http with_content_type(const std::string& value) const {
    return with([&](Http& copy) { copy.content_type_ = value; });
  }
  Http without_content_type() const {
    return with([](Http& copy) { copy.content_type_.reset(); });
  }
  Http with_timeout(Milliseconds timeout) const {
    return with([&](Http& copy) { copy.timeout_ = timeout; });
  }
  /// Sends all requests on one connection while it lasts, instead of one connection per request. The result is not
  /// thread-safe.
  Http keep_alive() const {
    return with([](Http& copy) { copy.keep_alive_ = true; });
  }
  /// Returns truncated responses instead of throwing.
  Http allow_incomplete() const {
    return with([](Http& copy) { copy.allow_incomplete_ = true; });
  }

  /// Returns the bytes of a request.
  std::string format(const std::string& method, const std::string& target,
                     const std::optional<std::string>& body = std::nullopt) const {
    std::string request = method + " " + target + " HTTP/1.1\r\nHost: " + host_ + ":" + std::to_string(port_) + "\r\n";
    if (authorization_) request += "Authorization: " + *authorization_ + "\r\n";
    for (const auto& field : headers_) request += field.name + ": " + field.value + "\r\n";
    if (body) {
      if (content_type_) request += "Content-Type: " + *content_type_ + "\r\n";
      request += "Content-Length: " + std::to_string(body->size()) + "\r\n";
    }
    return request + "\r\n" + body.value_or("");
  }
  /// Returns the bytes of a chat request with chat_body(extra).
  std::string format_chat(const Json& extra = {}) const { return format("POST", chat_path, chat_body(extra).dump()); }

  Response request(const std::string& method, const std::string& target,
                   const std::optional<std::string>& body = std::nullopt) const {
    const std::shared_ptr<RawConnection> connection = connect();
    connection->send(format(method, target, body), timeout_);
    Response response = connection->receive_response(timeout_, method == "HEAD");
    if (!response.complete && !allow_incomplete_) {
      throw std::runtime_error("no whole response to " + method + " " + target + " (" + to_string(response.end) +
                               "): " + response.raw.substr(0, 500));
    }
    const bool lasts =
        response.complete && response.end == End::open && detail::lower(response.header("Connection")) != "close";
    connection_ = keep_alive_ && lasts ? connection : nullptr;
    return response;
  }
  Response get(const std::string& target) const { return request("GET", target); }
  Response post(const std::string& target, const Json& body) const { return request("POST", target, body.dump()); }
  /// Sends the text unchanged as the body. This is a template, so that a body in braces is always JSON.
  template <class Text,
            std::enable_if_t<std::is_convertible_v<Text, std::string_view> && !std::is_same_v<std::decay_t<Text>, Json>,
                             int> = 0>
  Response post(const std::string& target, const Text& body) const {
    return request("POST", target, std::string(std::string_view(body)));
  }

  /// Sends POST /v1/chat/completions with chat_body(extra).
  Response chat(const Json& extra = {}) const { return post(chat_path, chat_body(extra)); }
  /// Sends a chat request with `stream: true`.
  Response stream(const Json& extra = {}) const {
    Json body = chat_body(extra);
    body["stream"] = true;
    return post(chat_path, body);
  }
  /// Returns the text of the reply to a user message. Throws std::runtime_error unless the status is 200.
  std::string ask(const std::string& text) const {
    const Response response = chat(Json(text));
    if (response.status != 200) throw std::runtime_error("asked, and got: " + response.raw);
    return response.text();
  }

 private:
  template <class Change>
  Http with(const Change& change) const {
    Http copy = *this;
    copy.connection_.reset();
    change(copy);
    return copy;
  }
  std::shared_ptr<RawConnection> connect() const {
    if (connection_) return std::exchange(connection_, nullptr);
    return std::make_shared<RawConnection>(host_, port_);
  }

  std::string host_;
  int port_;
  std::optional<std::string> authorization_;
  std::optional<std::string> content_type_ = "application/json";
  std::vector<Response::Field> headers_;
  Milliseconds timeout_ = default_timeout;
  bool keep_alive_ = false;
  bool allow_incomplete_ = false;
  mutable std::shared_ptr<RawConnection> connection_;
};

}  // namespace test_support
