#include "framing.hpp"

#include <charconv>

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {

MOCK_GATEWAY_INLINE EventFraming::EventFraming(const SseDialect& dialect, bool chunked)
    : before_(dialect.space_after_colon ? "data: " : "data:"),
      after_(dialect.line_end + dialect.line_end),
      chunked_(chunked) {}

MOCK_GATEWAY_INLINE std::string_view EventFraming::frame(std::string_view data) {
  begin_chunk(before_.size() + data.size() + after_.size());
  buffer_.append(before_).append(data).append(after_);
  if (chunked_) buffer_.append("\r\n");
  return buffer_;
}

MOCK_GATEWAY_INLINE std::string_view EventFraming::bare(std::string_view bytes) {
  begin_chunk(bytes.size());
  buffer_.append(bytes);
  if (chunked_) buffer_.append("\r\n");
  return buffer_;
}

MOCK_GATEWAY_INLINE void EventFraming::begin_chunk(std::size_t size) {
  buffer_.clear();
  if (!chunked_) return;
  char digits[2 * sizeof size];
  buffer_.append(digits, std::to_chars(digits, digits + sizeof digits, size, 16).ptr).append("\r\n");
}

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
