#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mock_gateway {
namespace endpoint {

/// Bytes that nobody can guess.
std::string random_bytes(std::size_t count);
/// So many of them in base64url (RFC 4648, 5), without padding.
std::string random_base64url(std::size_t count);
/// Takes the same time wherever the two differ: how long an answer took must not tell how much of a guess was right.
bool equal_in_constant_time(std::string_view given, std::string_view secret);

}  // namespace endpoint
}  // namespace mock_gateway
