#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../model/plan.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {

/// Turns events into the bytes of a stream: server-sent events in a dialect (WHATWG HTML, 9.2), in chunks
/// (RFC 9112, 7.1) or, for HTTP/1.0, bare.
class EventFraming {
 public:
  EventFraming(const SseDialect& dialect, bool chunked);

  /// One whole event, ready to be sent. The view is valid until the next call.
  std::string_view frame(std::string_view data);
  /// Bytes that are no event, as they are but for the chunk around them. The view is valid until the next call.
  std::string_view bare(std::string_view bytes);
  /// What terminates the body.
  std::string_view terminator() const { return chunked_ ? "0\r\n\r\n" : ""; }

 private:
  void begin_chunk(std::size_t size);

  std::string before_;  // "data: "
  std::string after_;   // the blank line
  bool chunked_;
  std::string buffer_;
};

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
