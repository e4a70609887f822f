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
  buffer_.clear();
  if (chunked_) {
    char size[2 * sizeof(std::size_t)];
    const auto end = std::to_chars(size, size + sizeof size, before_.size() + data.size() + after_.size(), 16).ptr;
    buffer_.append(size, end).append("\r\n");
  }
  buffer_.append(before_).append(data).append(after_);
  if (chunked_) buffer_.append("\r\n");
  return buffer_;
}

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
