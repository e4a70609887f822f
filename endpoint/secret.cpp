// Random secrets, and comparison in constant time.

#include "secret.hpp"

#include <algorithm>
#include <random>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {

std::string random_base64url(std::size_t count) {
  std::random_device random;
  std::string bytes;
  while (bytes.size() < count) bytes += static_cast<char>(random() & 0xffU);
  std::string text = internal::text::base64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text.substr(0, text.find('='));
}

bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t index = 0; index < secret.size(); ++index) {
    const char byte = index < given.size() ? given[index] : '\0';
    difference |= static_cast<unsigned>(static_cast<unsigned char>(byte) ^ static_cast<unsigned char>(secret[index]));
  }
  return difference == 0;
}

}  // namespace endpoint
}  // namespace mock_gateway
