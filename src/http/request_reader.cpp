// Reads requests: limits of lines, fields and chunks; targets, Host, Expect, lengths, keep-alive; 400, 408, 413, 414,
// 431, 501, 505.

#include "request_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <vector>

#include "../core/access.hpp"
#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace request_reader {

// These limits give 414 and 431. cpp-httplib answers longer lines, and in later versions more fields, with 400.
inline constexpr std::size_t max_target = 8000;
inline constexpr std::size_t max_header_line = 8000;
inline constexpr std::size_t max_header_fields = 100;
inline constexpr std::size_t max_chunk_line = 4096;
// The number of bytes by which a chunked body with its framing may exceed max_body.
inline constexpr std::size_t max_framing = 32768;

Failure malformed(const std::string& what) {
  return failure(400, "malformed_request", "malformed HTTP request: " + what);
}

/// Returns the error for a client that closed or reset the connection before its request was complete. A right client
/// does so when its user cancels the call, but not after complete JSON.
Failure broken_off(const std::string& body, Connection::Arrival arrival, const std::string& came) {
  const bool is_whole = text::trim(body).substr(0, 1) == "{" && Json::accept(body);
  return failure(400, is_whole ? "malformed_request" : "incomplete_request",
                 std::string("the client ") + (arrival == Connection::Arrival::peer_closed ? "closed" : "reset") +
                     " the connection after " + came + (is_whole ? ", which is complete JSON" : ""));
}

Failure body_too_large(std::size_t max_body) {
  return failure(413, "body_too_large", "the body has more than " + std::to_string(max_body) + " bytes");
}

Failure framing_too_large(std::size_t max_raw) {
  return failure(413, "body_too_large",
                 "the chunked body has more than " + std::to_string(max_raw) +
                     " bytes with its chunks' sizes and extensions and its trailer");
}

/// Whether a value is valid in Host: a host and perhaps a port (RFC 9110, 7.2), or empty.
bool is_host(std::string_view value) {
  constexpr std::string_view characters =
      "!$%&'()*+,-.:;=[]_~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return value.find_first_not_of(characters) == std::string_view::npos;
}

/// Whether to hide a field from cpp-httplib, whose versions handle it differently. The gateway handles it.
bool is_hidden_from_httplib(std::string_view name) {
  constexpr std::array<std::string_view, 10> names = {"Accept",     "Accept-Encoding",  "Content-Length", "Expect",
                                                      "Range",      "REMOTE_ADDR",      "REMOTE_PORT",    "LOCAL_ADDR",
                                                      "LOCAL_PORT", "Transfer-Encoding"};
  for (const std::string_view kept : names)
    if (text::equals_ignoring_case(kept, name)) return true;
  return false;
}

bool is_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && text::is_token(line.substr(0, colon)) &&
         std::all_of(line.begin() + static_cast<std::ptrdiff_t>(colon), line.end(), [](char byte) {
           const auto code = static_cast<unsigned char>(byte);
           return byte == '\t' || (code >= 0x20 && code != 0x7f);
         });
}

/// Splits an absolute-form target (RFC 9112, 3.2.2): "http://host/path" becomes "/path".
std::optional<Failure> split_absolute_form(IncomingRequest& incoming) {
  constexpr std::string_view scheme = "http://";
  std::string& target = incoming.request.target;
  if (!text::equals_ignoring_case(std::string_view(target).substr(0, scheme.size()), scheme)) return std::nullopt;
  const std::size_t end = std::min(target.find_first_of("/?", scheme.size()), target.size());
  incoming.authority = target.substr(scheme.size(), end - scheme.size());
  if (incoming.authority.empty() || incoming.authority.front() == ':' || !is_host(incoming.authority))
    return malformed("the host of the request target is not \"host:port\"");
  target.erase(0, end);
  if (target.empty() || target.front() == '?') target.insert(0, "/");
  return std::nullopt;
}

/// Splits a head into the request's parts. Sets `checked` to the head that cpp-httplib is to check.
std::optional<Failure> split_head(IncomingRequest& incoming, std::string& checked) {
  const std::string_view head = incoming.raw_head;
  std::size_t line_end = head.find("\r\n");
  const std::string_view request_line = head.substr(0, line_end);
  const std::size_t method_end = request_line.find(' ');
  const std::size_t target_end = request_line.rfind(' ');
  if (method_end == std::string_view::npos || target_end <= method_end + 1 ||
      !text::is_token(request_line.substr(0, method_end)))
    return malformed("the request line is not \"METHOD target HTTP/1.1\"");
  const std::string_view version = request_line.substr(target_end + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    if (version.substr(0, 5) == "HTTP/")
      return failure(505, "http_version_not_supported", "only HTTP/1.1 and HTTP/1.0 are spoken here");
    return malformed("the request line does not end in an HTTP version");
  }
  incoming.http_1_1 = version == "HTTP/1.1";
  incoming.request.method = request_line.substr(0, method_end);
  incoming.request.target = request_line.substr(method_end + 1, target_end - method_end - 1);
  if (incoming.request.target.find_first_of(" \t") != std::string::npos)
    return malformed("the request target contains white space");
  if (incoming.request.target.size() > max_target)
    return failure(414, "uri_too_long",
                   "the request target has " + std::to_string(incoming.request.target.size()) + " bytes; at most " +
                       std::to_string(max_target) + " are accepted");
  if (const auto broken = split_absolute_form(incoming)) return broken;
  // Passes GET and the path without a query, because some versions of cpp-httplib reject some methods or queries.
  checked.reserve(head.size() + 8);
  checked.append("GET ").append(path_of(incoming.request)).append(" ").append(version).append("\r\n");
  const auto lines = static_cast<std::size_t>(std::count(head.begin(), head.end(), '\n'));
  Access::fields(incoming.request.headers).reserve(std::min(lines - 2, max_header_fields));

  for (std::size_t begin = line_end + 2; begin + 2 < head.size(); begin = line_end + 2) {
    line_end = head.find("\r\n", begin);
    const std::string_view line = head.substr(begin, line_end - begin);
    if (line.size() > max_header_line)
      return failure(431, "headers_too_large",
                     "a header line has " + std::to_string(line.size()) + " bytes; at most " +
                         std::to_string(max_header_line) + " are accepted");
    if (incoming.request.headers.size() == max_header_fields)
      return failure(431, "headers_too_large", "more than " + std::to_string(max_header_fields) + " header fields");
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    if (colon == std::string_view::npos || !text::is_token(name))
      return malformed("header line " + std::to_string(incoming.request.headers.size() + 1) +
                       " is not \"Name: value\"");
    incoming.request.headers.add(std::string(name), std::string(text::trim(line.substr(colon + 1))));
    if (!is_hidden_from_httplib(name)) checked.append(line).append("\r\n");
  }
  checked.append("\r\n");
  // RFC 9112, 3.2: exactly one Host field, for HTTP/1.0 at most one.
  const wire::Header* host = nullptr;
  for (const wire::Header& field : incoming.request.headers) {
    if (!text::equals_ignoring_case(field.name, "Host")) continue;
    if (host) return malformed("two Host fields");
    host = &field;
  }
  if (!host && incoming.http_1_1) return malformed("no Host field");
  if (host && !is_host(host->value)) return malformed("the Host field is not \"host:port\"");
  return std::nullopt;
}

struct Framing {
  bool chunked = false;
  std::size_t length = 0;
};

std::optional<Failure> framing_of(const IncomingRequest& incoming, Framing& framing) {
  const wire::Headers& headers = incoming.request.headers;
  if (headers.has("Transfer-Encoding")) {
    // A proxy may have misread where such a body ends (RFC 9112, 6.1).
    if (!incoming.http_1_1) return malformed("Transfer-Encoding in HTTP/1.0");
    if (headers.has("Content-Length")) return malformed("both Content-Length and Transfer-Encoding");
    if (!text::equals_ignoring_case(*value_of(headers, "Transfer-Encoding"), "chunked") ||
        headers.all("Transfer-Encoding").size() > 1)
      return failure(501, "unsupported_transfer_encoding", "the only transfer coding accepted is chunked");
    framing.chunked = true;
    return std::nullopt;
  }
  bool has_length = false;
  for (const auto& [name, length] : headers) {
    if (!text::equals_ignoring_case(name, "Content-Length")) continue;
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), value);
    if (error != std::errc{} || end != length.data() + length.size())
      return malformed("Content-Length is no number of bytes");
    if (has_length && value != framing.length) return malformed("two different Content-Length fields");
    has_length = true;
    framing.length = value;
  }
  return std::nullopt;
}

/// Whether a line ends in CR LF and has no other CR. Lax parsing here allows request smuggling.
bool ends_in_crlf(const std::string& raw, std::size_t line_begin) {
  return raw.size() - line_begin >= 2 && raw.find('\r', line_begin) == raw.size() - 2;
}

/// Reserves room for `more` bytes in `text`, whose size never exceeds `most`: doubles the capacity, up to `most`.
void make_room(std::size_t more, std::size_t most, std::string& text) {
  if (text.capacity() - text.size() >= std::min(more, most - text.size())) return;
  // A new string, because reserve() may double the capacity of an existing one.
  std::string larger;
  larger.reserve(std::min(most, std::max(2 * text.size(), text.size() + more)));
  text.swap(larger.append(text));
}

/// Whether an unread body can be drained after an early response; not with Expect (RFC 9110, 10.1.1).
bool can_be_skipped(const Connection& connection, const IncomingRequest& incoming) {
  Framing framing;
  return !framing_of(incoming, framing) && framing.length <= connection.limits().max_body &&
         !incoming.request.headers.has("Expect");
}

std::string spent(const ConnectionLimits& limits) {
  const std::size_t bytes = limits.untrusted ? limits.untrusted->bytes : 0;
  return "a connection may send " + std::to_string(bytes) + " bytes before it has shown who it is";
}

}  // namespace request_reader

std::optional<Connection::Arrival> BodyReader::go_on(const RefuseHead& refuse_head) {
  if (next_ == Next::framing) {
    const std::optional<Arrival> arrival = begin(refuse_head);
    if (arrival) return arrival;
  }
  if (next_ == Next::body) return read_left(incoming_.request.body.size() + left_, incoming_.request.body);
  const std::optional<Arrival> arrival = read_chunks();
  if (!arrival) return std::nullopt;
  // The journal keeps these strings, so it would keep their spare capacity too.
  incoming_.raw_body.shrink_to_fit();
  incoming_.request.body.shrink_to_fit();
  incoming_.is_body_unread = bool(incoming_.body_too_large);
  return arrival;
}

std::optional<Connection::Arrival> BodyReader::begin(const RefuseHead& refuse_head) {
  const std::size_t max_body = connection_.limits().max_body;
  request_reader::Framing framing;
  incoming_.malformed = request_reader::framing_of(incoming_, framing);
  if (incoming_.malformed) return Arrival::arrived;
  const bool has_body = framing.chunked || framing.length > 0;
  // Sends 100 only if the client asked for it and the body has not begun: an unsolicited 100 breaks clients.
  incoming_.awaits_continue = has_body && incoming_.http_1_1 &&
                              incoming_.request.headers.lists("Expect", "100-continue") && !connection_.has_unread();
  if (refuse_head) incoming_.refused = refuse_head(incoming_);
  if (!incoming_.refused && framing.length > max_body)
    incoming_.body_too_large = request_reader::body_too_large(max_body);
  incoming_.is_body_unread = has_body && (incoming_.refused || incoming_.body_too_large);
  if (!has_body || incoming_.is_body_unread) return Arrival::arrived;
  next_ = framing.chunked ? Next::chunk_size : Next::body;
  left_ = framing.length;
  if (incoming_.awaits_continue && !connection_.write("HTTP/1.1 100 Continue\r\n\r\n")) return Arrival::broken;
  connection_.begin_body();
  max_framed_body_ =
      max_body + std::min(request_reader::max_framing, std::numeric_limits<std::size_t>::max() - max_body);
  return std::nullopt;
}

std::string BodyReader::arrived() const {
  const std::string& body = incoming_.request.body;
  if (next_ != Next::body)
    return text::counted(incoming_.raw_body.size(), "byte") + " of the chunked body, before its last chunk";
  return std::to_string(body.size()) + " of " + text::counted(body.size() + left_, "byte") + " of the body";
}

std::optional<Connection::Arrival> BodyReader::read_left(std::size_t most, std::string& out) {
  // Allocates as bytes arrive, not when the client announces them.
  constexpr std::size_t step = std::size_t{64} << 10;
  while (left_ > 0) {
    if (piece_ == 0) {
      piece_ = std::min(left_, step);
      request_reader::make_room(piece_, most, out);
    }
    const std::size_t before = piece_;
    const std::optional<Arrival> arrival = connection_.read_exactly(piece_, out);
    left_ -= before - piece_;
    if (arrival != Arrival::arrived) return arrival;
  }
  return Arrival::arrived;
}

std::optional<Connection::Arrival> BodyReader::read_chunks() {
  std::string& raw = incoming_.raw_body;
  std::string& body = incoming_.request.body;
  for (;;) {
    if (next_ == Next::trailer) return read_trailer();
    if (next_ == Next::chunk_size) {
      if (const std::optional<Arrival> arrival = begin_chunk(); arrival || next_ == Next::chunk_size) return arrival;
      continue;
    }
    const std::optional<Arrival> arrival = read_left(max_framed_body_, raw);
    if (arrival != Arrival::arrived) return arrival;
    if (raw.compare(chunk_begin_ + chunk_size_, 2, "\r\n") != 0) {
      incoming_.malformed = request_reader::malformed("a chunk is longer than its size says");
      return Arrival::arrived;
    }
    request_reader::make_room(chunk_size_, connection_.limits().max_body, body);
    body.append(raw, chunk_begin_, chunk_size_);
    next_ = Next::chunk_size;
  }
}

std::optional<Connection::Arrival> BodyReader::begin_chunk() {
  std::string& raw = incoming_.raw_body;
  const std::size_t line_begin = raw.size();
  const std::optional<Arrival> arrival = read_chunk_line("a chunk's size line is too long");
  if (arrival == Arrival::too_large) return Arrival::arrived;
  if (arrival != Arrival::arrived) return arrival;
  std::size_t size = 0;
  const char* const digits = raw.data() + line_begin;
  const auto [end, error] = std::from_chars(digits, raw.data() + raw.size(), size, 16);
  if (error != std::errc{} || (*end != '\r' && *end != ';' && *end != ' ' && *end != '\t') ||
      !request_reader::ends_in_crlf(raw, line_begin)) {
    incoming_.malformed = request_reader::malformed("a chunk's size is no hexadecimal number");
    return Arrival::arrived;
  }
  if (size == 0) {
    next_ = Next::trailer;
    return std::nullopt;
  }
  const std::size_t max_body = connection_.limits().max_body;
  const std::size_t body_room = max_body - incoming_.request.body.size();
  const std::size_t room = max_framed_body_ - raw.size();
  if (size > body_room || room < 2 || size > room - 2) {
    incoming_.body_too_large = size > body_room ? request_reader::body_too_large(max_body)
                                                : request_reader::framing_too_large(max_framed_body_);
    return Arrival::arrived;
  }
  chunk_begin_ = raw.size();
  chunk_size_ = size;
  left_ = size + 2;
  next_ = Next::chunk;
  return std::nullopt;
}

std::optional<Connection::Arrival> BodyReader::read_chunk_line(const char* too_long) {
  std::string& raw = incoming_.raw_body;
  request_reader::make_room(request_reader::max_chunk_line, max_framed_body_, raw);
  const std::size_t room = max_framed_body_ - raw.size();
  const std::optional<Arrival> arrival = connection_.read_line(std::min(room, request_reader::max_chunk_line), raw);
  if (arrival && arrival != Arrival::arrived && arrival != Arrival::too_large) raw.append(connection_.unread());
  if (arrival != Arrival::too_large) return arrival;
  if (room < request_reader::max_chunk_line)
    incoming_.body_too_large = request_reader::framing_too_large(max_framed_body_);
  else
    incoming_.malformed = request_reader::malformed(too_long);
  return arrival;
}

std::optional<Connection::Arrival> BodyReader::read_trailer() {
  const auto malformed = [this](const char* what) {
    incoming_.malformed = request_reader::malformed(what);
    return Arrival::arrived;
  };
  std::string& raw = incoming_.raw_body;
  for (;; ++fields_) {
    const std::size_t line_begin = raw.size();
    constexpr const char* too_large = "the chunked body's trailer is too large";
    const std::optional<Arrival> arrival = read_chunk_line(too_large);
    if (arrival == Arrival::too_large) return Arrival::arrived;
    if (fields_ > request_reader::max_header_fields) return malformed(too_large);
    if (arrival != Arrival::arrived) return arrival;
    if (!request_reader::ends_in_crlf(raw, line_begin))
      return malformed("a line of the chunked body's trailer does not end in CR LF");
    if (raw.size() - line_begin == 2) return Arrival::arrived;
    if (!request_reader::is_field(std::string_view(raw).substr(line_begin, raw.size() - 2 - line_begin)))
      return malformed("a line of the chunked body's trailer is not \"Name: value\"");
  }
}

RequestReader::RequestReader(Connection& connection, const HeadCheck& check_head,
                             const std::optional<ConnectionFault>& fault, const Clock& clock, RefuseHead refuse_head)
    : connection_(connection), check_head_(check_head), clock_(clock), refuse_head_(std::move(refuse_head)) {
  incoming_.emplace();
  incoming_->fault = fault;
}

bool RequestReader::advance() {
  if (!body_) {
    const std::optional<Arrival> head = connection_.read_head(incoming_->raw_head);
    if (!head) return false;
    if (!take_head(*head)) return true;
    body_.emplace(connection_, *incoming_);
  }
  const std::optional<Arrival> body = body_->go_on(refuse_head_);
  if (!body) return false;
  take_body(*body);
  return true;
}

bool RequestReader::take_head(Arrival arrival) {
  IncomingRequest& incoming = *incoming_;
  if (arrival == Arrival::too_large) {
    incoming.malformed =
        failure(431, "headers_too_large",
                "request line and headers have more than " + std::to_string(connection_.limits().max_head) + " bytes");
  } else if (arrival == Arrival::malformed) {
    incoming.malformed = request_reader::malformed(
        "request line or headers contain a control character, or a line that does not end in CR LF");
  } else if (arrival == Arrival::spent) {
    incoming.malformed = failure(431, "headers_too_large", request_reader::spent(connection_.limits()));
  } else if (!has_arrived(arrival)) {
    incoming_.reset();
    return false;
  }
  if (!incoming.malformed) {
    std::string checked;
    incoming.malformed = request_reader::split_head(incoming, checked);
    if (!incoming.malformed && check_head_(checked) != 0)
      incoming.malformed = request_reader::malformed("request line or headers break the grammar");
  }
  if (incoming.malformed || incoming.is_answered_before_body()) {
    complete();
    return false;
  }
  if (incoming.fault && incoming.fault->kind() == ConnectionFault::Kind::slow_body) {
    incoming.timeline = std::make_unique<Timeline>(Access::state(clock_), connection_.waker());
    connection_.read_slowly(incoming.fault->step(), incoming.fault->gap(), *incoming.timeline);
  }
  return true;
}

void RequestReader::take_body(Arrival arrival) {
  connection_.read_at_once();
  if (arrival == Arrival::spent) {
    incoming_->body_too_large = failure(413, "body_too_large", request_reader::spent(connection_.limits()));
    incoming_->is_body_unread = true;
  } else if (!has_arrived(arrival)) {
    incoming_.reset();
    return;
  }
  complete();
}

bool RequestReader::has_arrived(Arrival arrival) {
  if (arrival == Arrival::arrived) return true;
  timed_out_ = arrival == Arrival::timed_out;
  if (timed_out_)
    incoming_->malformed = failure(
        408, "request_timeout", std::string("the request's ") + (body_ ? "body" : "head") + " did not arrive in time");
  else if (!connection_.stop_line()->is_stopped())
    incoming_->malformed = request_reader::broken_off(
        incoming_->request.body, arrival,
        body_ ? body_->arrived() : text::counted(incoming_->raw_head.size(), "byte") + " of the head");
  return bool(incoming_->malformed);
}

void RequestReader::complete() {
  IncomingRequest& incoming = *incoming_;
  const HeapOptional<ConnectionFault>& fault = incoming.fault;
  const bool read_slowly = fault && fault->kind() == ConnectionFault::Kind::slow_body;
  incoming.is_body_read_later = !incoming.malformed && fault &&
                                fault->kind() == ConnectionFault::Kind::reply_then_read_body &&
                                request_reader::can_be_skipped(connection_, incoming);
  incoming.arrived = timed_out_ || read_slowly ? std::chrono::steady_clock::now() : connection_.arrival();
  const wire::Headers& headers = incoming.request.headers;
  incoming.keep_alive = !incoming.malformed && !incoming.is_body_unread &&
                        (!incoming.is_answered_before_body() || incoming.is_body_read_later) &&
                        !headers.lists("Connection", "close") &&
                        (incoming.http_1_1 || headers.lists("Connection", "keep-alive"));
}

std::optional<IncomingRequest> read_request(Connection& connection, const HeadCheck& check_head, const Clock& clock,
                                            RefuseHead refuse_head) {
  RequestReader reader(connection, check_head, std::nullopt, clock, std::move(refuse_head));
  while (!reader.advance()) connection.wait_for_event();
  return reader.take();
}

std::optional<bool> SkippedBody::advance() {
  const std::optional<Connection::Arrival> arrival = body_.go_on(nullptr);
  if (!arrival) return std::nullopt;
  return arrival == Connection::Arrival::arrived && !head_.malformed && !head_.is_body_unread;
}

bool is_whole(std::string_view received, const ConnectionLimits& limits) {
  constexpr std::string_view head_end = "\r\n\r\n";
  const std::size_t end = received.find(head_end);
  if (end == std::string_view::npos) return received.size() > limits.max_head;
  IncomingRequest incoming;
  std::string checked;
  request_reader::Framing framing;
  incoming.raw_head = received.substr(0, end + head_end.size());
  if (request_reader::split_head(incoming, checked) || request_reader::framing_of(incoming, framing)) return true;
  const std::string_view body = received.substr(end + head_end.size());
  if (incoming.request.headers.has("Expect") || body.size() > limits.max_body) return true;
  if (!framing.chunked) return framing.length > limits.max_body || body.size() >= framing.length;
  constexpr std::string_view body_end = "0\r\n\r\n";
  return body.size() >= body_end.size() && body.substr(body.size() - body_end.size()) == body_end;
}

}  // namespace mock_gateway::detail
