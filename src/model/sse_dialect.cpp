// SSE dialects: switches, defaults (in the header), pings, refused combinations, notes of verify(). Bytes:
// `src/delivery/framing.cpp`.

#include "sse_dialect.hpp"

#include <chrono>
#include <tuple>
#include <utility>

#include "../core/error.hpp"

namespace mock_gateway {

SseDialect::SseDialect() = default;
SseDialect::SseDialect(const SseDialect&) = default;
SseDialect& SseDialect::operator=(const SseDialect&) = default;
SseDialect::~SseDialect() = default;

SseDialect SseDialect::line_end(std::string end) const {
  SseDialect copy = *this;
  copy.line_end_ = std::move(end);
  return copy;
}
SseDialect SseDialect::space_after_colon(bool space) const {
  SseDialect copy = *this;
  copy.space_after_colon_ = space;
  return copy;
}
SseDialect SseDialect::done(bool sent) const {
  SseDialect copy = *this;
  copy.done_ = sent;
  return copy;
}
SseDialect SseDialect::content_type(std::string type) const {
  SseDialect copy = *this;
  copy.content_type_ = std::move(type);
  return copy;
}
SseDialect SseDialect::byte_order_mark(bool sent) const {
  SseDialect copy = *this;
  copy.byte_order_mark_ = sent;
  return copy;
}
SseDialect SseDialect::event(std::string name) const {
  SseDialect copy = *this;
  copy.event_ = std::move(name);
  return copy;
}
SseDialect SseDialect::ids(bool sent) const {
  SseDialect copy = *this;
  copy.ids_ = sent;
  return copy;
}
SseDialect SseDialect::retry(std::optional<Duration> time) const {
  SseDialect copy = *this;
  copy.retry_ = time;
  return copy;
}
SseDialect SseDialect::multi_line_data(bool split) const {
  SseDialect copy = *this;
  copy.multi_line_data_ = split;
  return copy;
}
SseDialect SseDialect::comment(std::string text) const {
  SseDialect copy = *this;
  copy.comment_ = std::move(text);
  return copy;
}
SseDialect SseDialect::ping_every(Duration interval) const {
  SseDialect copy = *this;
  copy.ping_every_ = interval;
  return copy;
}
SseDialect SseDialect::ping(std::string lines) const {
  SseDialect copy = *this;
  copy.ping_ = std::move(lines);
  return copy;
}
SseDialect SseDialect::final_blank_line(bool sent) const {
  SseDialect copy = *this;
  copy.final_blank_line_ = sent;
  return copy;
}
SseDialect SseDialect::after_done(std::string data) const {
  SseDialect copy = *this;
  copy.after_done_ = std::move(data);
  return copy;
}
SseDialect SseDialect::open_after_done(bool open) const {
  SseDialect copy = *this;
  copy.open_after_done_ = open;
  return copy;
}
SseDialect SseDialect::gzip(bool compressed) const {
  SseDialect copy = *this;
  copy.gzip_ = compressed;
  return copy;
}

namespace detail {

void require_dialect(const SseDialect& dialect) {
  if (dialect.line_end() != "\n" && dialect.line_end() != "\r\n" && dialect.line_end() != "\r")
    throw GatewayError("a line of SSE ends in \"\\n\", \"\\r\\n\" or \"\\r\"");
  const auto require_one_line = [](const std::string& value, const char* member) {
    if (value.find_first_of("\r\n") != std::string::npos)
      throw GatewayError(std::string("SseDialect::") + member + " is one line; it must not hold CR or LF");
  };
  require_one_line(dialect.event(), "event");
  require_one_line(dialect.comment(), "comment");
  require_one_line(dialect.after_done(), "after_done");
  if (dialect.retry() &&
      (*dialect.retry() < Duration::zero() || *dialect.retry() % std::chrono::milliseconds{1} != Duration{0}))
    throw GatewayError("SseDialect::retry needs a duration that is not negative, in whole milliseconds");
  if (dialect.ping_every() != Duration::zero() && dialect.ping_every() < std::chrono::milliseconds{1})
    throw GatewayError("SseDialect::ping_every needs a millisecond at least, or 0 for no pings");
  if (dialect.ping().empty() || dialect.ping().find('\r') != std::string::npos) {
    throw GatewayError(
        "SseDialect::ping needs a line, and separates lines by \"\\n\" alone; the dialect's line_end is written for "
        "it");
  }
  if (dialect.after_done().empty()) return;
  if (!dialect.done()) throw GatewayError("SseDialect::after_done needs a [DONE] that it comes after: leave done true");
  if (!dialect.final_blank_line()) {
    throw GatewayError(
        "SseDialect::after_done is an event of its own, which needs the blank line of the one before it: leave "
        "final_blank_line true");
  }
}

std::string unusual_in(const SseDialect& dialect, bool whole) {
  std::string list;
  const auto note = [&list](bool is_so, const char* what) {
    if (is_so) list += (list.empty() ? "" : ", ") + std::string(what);
  };
  const SseDialect usual;
  note(dialect.line_end() == "\r", "lines ended with CR");
  note(dialect.line_end() == "\r\n", "lines ended with CRLF");
  note(!dialect.space_after_colon(), "no space followed the colon of a field");
  note(dialect.content_type() != usual.content_type(), "the Content-Type was another");
  note(dialect.byte_order_mark(), "a byte order mark came first");
  note(!dialect.event().empty(), "events had a name");
  note(dialect.ids(), "events had an id");
  note(dialect.retry().has_value(), "the first event had a retry field");
  note(dialect.multi_line_data(), "an event had several lines of data");
  note(!dialect.comment().empty(), "a comment came before each event");
  note(dialect.gzip(), "the stream was compressed");
  if (!whole) return list;
  note(!dialect.done(), "[DONE] was left out");
  note(!dialect.after_done().empty(), "an event followed [DONE]");
  note(!dialect.final_blank_line(), "the final blank line was left out");
  note(dialect.open_after_done(), "the stream stayed open after its end");
  return list;
}

}  // namespace detail

bool operator==(const SseDialect& left, const SseDialect& right) {
  const auto members = [](const SseDialect& dialect) {
    return std::tie(dialect.line_end_, dialect.space_after_colon_, dialect.done_, dialect.content_type_,
                    dialect.byte_order_mark_, dialect.event_, dialect.ids_, dialect.retry_, dialect.multi_line_data_,
                    dialect.comment_, dialect.ping_every_, dialect.ping_, dialect.final_blank_line_,
                    dialect.after_done_, dialect.open_after_done_, dialect.gzip_);
  };
  return members(left) == members(right);
}

}  // namespace mock_gateway
