#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../core/version.hpp"

namespace mock_gateway::detail {

/// Writes one gzip member (RFC 1952) of stored blocks (RFC 1951, 3.2.4). Nothing is compressed, so each byte can be
/// decompressed on arrival.
class GzipStream {
 public:
  /// Returns the size of what append() writes for `size` bytes, without the member's header.
  static std::size_t coded_size(std::size_t size);
  /// The size of a whole member for `size` bytes that are passed to one append().
  static std::size_t member_size(std::size_t size);

  /// Begins the member unless it has begun.
  void begin(std::string& out);
  void append(std::string& out, std::string_view bytes);
  void end(std::string& out);

 private:
  bool begun_ = false;
  std::uint32_t checksum_ = 0xffffffff;
  std::uint32_t size_ = 0;  // modulo 2^32, as the format requires
};

}  // namespace mock_gateway::detail
