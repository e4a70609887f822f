// The gzip encoding of a stream.

#include "gzip.hpp"

#include <algorithm>
#include <array>

namespace mock_gateway::detail {
namespace gzip {

inline constexpr std::size_t largest_block = 65535;
inline constexpr std::size_t block_head = 5;

/// The CRC-32 table of RFC 1952, section 8.
constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t c = n;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xedb88320 ^ (c >> 1) : c >> 1;
    table[n] = c;
  }
  return table;
}

inline constexpr std::array<std::uint32_t, 256> table = make_table();

void append_number(std::string& out, std::uint32_t number, int bytes) {
  for (; bytes > 0; --bytes, number >>= 8) out += static_cast<char>(number & 0xff);
}

void append_block(std::string& out, std::string_view bytes, bool last) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  out += last ? '\1' : '\0';
  append_number(out, size, 2);
  append_number(out, ~size, 2);
  out.append(bytes);
}

}  // namespace gzip

std::size_t GzipStream::coded_size(std::size_t size) {
  return size + (size + gzip::largest_block - 1) / gzip::largest_block * gzip::block_head;
}

std::size_t GzipStream::member_size(std::size_t size) {
  constexpr std::size_t header_and_end = 23;
  return coded_size(size) + header_and_end;
}

void GzipStream::begin(std::string& out) {
  if (begun_) return;
  begun_ = true;
  // The header: method deflate, no flags, no time, unknown system.
  out.append("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
}

void GzipStream::append(std::string& out, std::string_view bytes) {
  for (const char byte : bytes)
    checksum_ = gzip::table[(checksum_ ^ static_cast<unsigned char>(byte)) & 0xff] ^ (checksum_ >> 8);
  size_ += static_cast<std::uint32_t>(bytes.size());
  while (!bytes.empty()) {
    const std::string_view block = bytes.substr(0, gzip::largest_block);
    gzip::append_block(out, block, false);
    bytes.remove_prefix(block.size());
  }
}

void GzipStream::end(std::string& out) {
  gzip::append_block(out, {}, true);
  gzip::append_number(out, ~checksum_, 4);
  gzip::append_number(out, size_, 4);
}

}  // namespace mock_gateway::detail
