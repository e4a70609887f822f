#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mock_gateway {
namespace endpoint {

/// Returns cryptographically secure random bytes in base64url (RFC 4648, 5), without padding.
std::string random_base64url(std::size_t count);
/// Compares in constant time, so that response times reveal nothing about a secret.
bool equal_in_constant_time(std::string_view given, std::string_view secret);

}  // namespace endpoint
}  // namespace mock_gateway
