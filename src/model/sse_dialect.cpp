#include "sse_dialect.hpp"

#include <chrono>
#include <tuple>

#include "../core/error.hpp"

namespace mock_gateway {

namespace detail {

void require_dialect(const SseDialect& dialect) {
  if (dialect.line_end != "\n" && dialect.line_end != "\r\n" && dialect.line_end != "\r")
    throw GatewayError("a line of SSE ends in \"\\n\", \"\\r\\n\" or \"\\r\"");
  const auto require_one_line = [](const std::string& value, const char* member) {
    if (value.find_first_of("\r\n") != std::string::npos)
      throw GatewayError(std::string("SseDialect::") + member + " is one line; it must not hold CR or LF");
  };
  require_one_line(dialect.event, "event");
  require_one_line(dialect.comment, "comment");
  require_one_line(dialect.after_done, "after_done");
  if (dialect.retry &&
      (*dialect.retry < Duration::zero() || *dialect.retry % std::chrono::milliseconds{1} != Duration{0}))
    throw GatewayError("SseDialect::retry needs a duration that is not negative, in whole milliseconds");
  if (dialect.ping_every != Duration::zero() && dialect.ping_every < std::chrono::milliseconds{1})
    throw GatewayError("SseDialect::ping_every needs a millisecond at least, or 0 for no pings");
  if (dialect.ping.empty() || dialect.ping.find('\r') != std::string::npos) {
    throw GatewayError(
        "SseDialect::ping needs a line, and separates lines by \"\\n\" alone; the dialect's line_end is written for "
        "it");
  }
  if (dialect.after_done.empty()) return;
  if (!dialect.done) throw GatewayError("SseDialect::after_done needs a [DONE] that it comes after: leave done true");
  if (!dialect.final_blank_line) {
    throw GatewayError(
        "SseDialect::after_done is an event of its own, which needs the blank line of the one before it: leave "
        "final_blank_line true");
  }
}

bool same_dialect(const SseDialect& left, const SseDialect& right) {
  const auto members = [](const SseDialect& dialect) {
    return std::tie(dialect.line_end, dialect.space_after_colon, dialect.done, dialect.content_type,
                    dialect.byte_order_mark, dialect.event, dialect.ids, dialect.retry, dialect.multi_line_data,
                    dialect.comment, dialect.ping_every, dialect.ping, dialect.final_blank_line, dialect.after_done,
                    dialect.open_after_done, dialect.gzip);
  };
  return members(left) == members(right);
}

}  // namespace detail

}  // namespace mock_gateway
