// SSE dialects: switches, defaults (in the header), pings, invalid combinations, notes of verify(). Bytes:
// `src/delivery/framing.cpp`.

#include "sse_dialect.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>  // size
#include <utility>

#include "../core/error.hpp"
#include "checks.hpp"
#include "dialect_rows.hpp"

namespace mock_gateway {

SseDialect::SseDialect() = default;
SseDialect::SseDialect(const SseDialect&) = default;
SseDialect& SseDialect::operator=(const SseDialect&) = default;
SseDialect::~SseDialect() = default;

template <class T>
SseDialect SseDialect::with(T SseDialect::*member, T value) const {
  SseDialect copy = *this;
  copy.*member = std::move(value);
  return copy;
}

SseDialect SseDialect::line_end(std::string end) const { return with(&SseDialect::line_end_, std::move(end)); }
SseDialect SseDialect::space_after_colon(bool space) const { return with(&SseDialect::space_after_colon_, space); }
SseDialect SseDialect::done(bool sent) const { return with(&SseDialect::done_, sent); }
SseDialect SseDialect::content_type(std::string type) const {
  return with(&SseDialect::content_type_, std::move(type));
}
SseDialect SseDialect::byte_order_mark(bool sent) const { return with(&SseDialect::byte_order_mark_, sent); }
SseDialect SseDialect::event(std::string name) const { return with(&SseDialect::event_, std::move(name)); }
SseDialect SseDialect::ids(bool sent) const { return with(&SseDialect::ids_, sent); }
SseDialect SseDialect::retry(std::optional<Duration> time) const { return with(&SseDialect::retry_, time); }
SseDialect SseDialect::multi_line_data(bool split) const { return with(&SseDialect::multi_line_data_, split); }
SseDialect SseDialect::comment(std::string text) const { return with(&SseDialect::comment_, std::move(text)); }
SseDialect SseDialect::ping_every(Duration interval) const { return with(&SseDialect::ping_every_, interval); }
SseDialect SseDialect::ping(std::string lines) const { return with(&SseDialect::ping_, std::move(lines)); }
SseDialect SseDialect::final_blank_line(bool sent) const { return with(&SseDialect::final_blank_line_, sent); }
SseDialect SseDialect::after_done(std::string data) const { return with(&SseDialect::after_done_, std::move(data)); }
SseDialect SseDialect::open_after_done(bool open) const { return with(&SseDialect::open_after_done_, open); }
SseDialect SseDialect::trailer(std::string fields) const { return with(&SseDialect::trailer_, std::move(fields)); }
SseDialect SseDialect::gzip(bool compressed) const { return with(&SseDialect::gzip_, compressed); }

namespace detail {

inline constexpr DialectRow DialectRow::rows[] = {
    {"line_end", &SseDialect::line_end_, R"(the end of a line; "\n" unless set)", "", false, true},
    {"space_after_colon", &SseDialect::space_after_colon_,
     "whether a space follows the colon of a field; true unless set", "no space followed the colon of a field"},
    {"done", &SseDialect::done_, "whether `data: [DONE]` ends the stream; true unless set", "[DONE] was left out",
     true},
    {"content_type", &SseDialect::content_type_, "the Content-Type of the reply; empty: no such header",
     "the Content-Type was different"},
    {"byte_order_mark", &SseDialect::byte_order_mark_,
     "whether the stream begins with a byte order mark; false unless set", "a byte order mark came first"},
    {"event", &SseDialect::event_, "the `event:` field of each event; empty: none", "events had a name"},
    {"ids", &SseDialect::ids_, "whether each event has an `id:` field, its number; false unless set",
     "events had an id"},
    {"retry", &SseDialect::retry_, "the `retry:` field of the first event, in whole milliseconds",
     "the first event had a retry field"},
    {"multi_line_data", &SseDialect::multi_line_data_,
     "whether JSON objects are written as three lines of data; false unless set", "an event had several lines of data"},
    {"comment", &SseDialect::comment_, "a comment before each event; empty: none", "a comment came before each event"},
    {"ping_every", &SseDialect::ping_every_, "the time between pings while the reply waits"},
    {"ping", &SseDialect::ping_, "the lines of a ping; `: ping` unless set"},
    {"final_blank_line", &SseDialect::final_blank_line_, "whether a blank line follows the last event; true unless set",
     "the final blank line was left out", true},
    {"after_done", &SseDialect::after_done_, "the data of one more event, after [DONE]; empty: none",
     "an event followed [DONE]", true},
    {"open_after_done", &SseDialect::open_after_done_,
     "whether the body stays open after the last event; false unless set", "the stream stayed open after its end",
     true},
    {"trailer", &SseDialect::trailer_, "the trailer fields after the last chunk, one per line; empty: none",
     "trailer fields followed the last chunk", true},
    {"gzip", &SseDialect::gzip_, "whether the body is compressed; false unless set", "the stream was compressed"},
};

Rows<DialectRow> DialectRow::all() { return {rows, std::size(rows)}; }

bool is_same(const SseDialect& left, const SseDialect& right, const DialectMember& member) {
  if (member.flag) return left.*member.flag == right.*member.flag;
  if (member.text) return left.*member.text == right.*member.text;
  if (member.duration) return left.*member.duration == right.*member.duration;
  return left.*member.optional_duration == right.*member.optional_duration;
}

void require_dialect(const SseDialect& dialect) {
  if (dialect.line_end() != "\n" && dialect.line_end() != "\r\n" && dialect.line_end() != "\r")
    throw GatewayError("a line of SSE ends in \"\\n\", \"\\r\\n\" or \"\\r\"");
  const auto require_one_line = [](const std::string& value, const char* member) {
    if (value.find_first_of("\r\n") != std::string::npos)
      throw GatewayError(std::string("SseDialect::") + member + " must be one line, without CR or LF");
  };
  require_one_line(dialect.event(), "event");
  require_one_line(dialect.comment(), "comment");
  require_one_line(dialect.after_done(), "after_done");
  if (dialect.retry() &&
      (*dialect.retry() < Duration::zero() || *dialect.retry() % std::chrono::milliseconds{1} != Duration{0}))
    throw GatewayError("SseDialect::retry needs a duration that is not negative, in whole milliseconds");
  if (dialect.ping_every() != Duration::zero() && dialect.ping_every() < std::chrono::milliseconds{1})
    throw GatewayError("SseDialect::ping_every needs at least 1 ms, or 0 for no pings");
  if (dialect.ping().empty() || dialect.ping().find('\r') != std::string::npos) {
    throw GatewayError(
        "SseDialect::ping needs at least one line, and only \"\\n\" between lines; the gateway writes the dialect's "
        "line_end instead");
  }
  for (std::size_t begin = 0; begin < dialect.trailer().size();) {
    const std::size_t end = std::min(dialect.trailer().find('\n', begin), dialect.trailer().size());
    const std::string line = dialect.trailer().substr(begin, end - begin);
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos)
      throw GatewayError("SseDialect::trailer needs lines such as \"x-checksum: 7f\", separated by \"\\n\"");
    require_header_field(line.substr(0, colon), line.substr(colon + 1));
    begin = end + 1;
  }
  if (dialect.after_done().empty()) return;
  if (!dialect.done()) throw GatewayError("SseDialect::after_done needs a [DONE] before it: leave done true");
  if (!dialect.final_blank_line()) {
    throw GatewayError(
        "SseDialect::after_done is a separate event, which needs a blank line before it: leave final_blank_line true");
  }
}

std::string unusual_in(const SseDialect& dialect, bool whole) {
  std::string list;
  const auto note = [&list](bool is_so, const char* what) {
    if (is_so) list += (list.empty() ? "" : ", ") + std::string(what);
  };
  note(dialect.line_end() == "\r", "lines ended with CR");
  note(dialect.line_end() == "\r\n", "lines ended with CRLF");
  const SseDialect usual;
  for (const bool at_end : {false, true}) {
    if (at_end && !whole) break;
    for (const DialectRow& row : DialectRow::all())
      if (row.at_end == at_end) note(*row.unusual && !is_same(dialect, usual, row.member), row.unusual);
  }
  return list;
}

}  // namespace detail

bool operator==(const SseDialect& left, const SseDialect& right) {
  for (const detail::DialectRow& row : detail::DialectRow::all())
    if (!detail::is_same(left, right, row.member)) return false;
  return true;
}

}  // namespace mock_gateway
