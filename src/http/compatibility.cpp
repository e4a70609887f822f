// The oldest supported cpp-httplib; detects one that was compiled with OpenSSL.

#include <httplib.h>

#include <cstdint>
#include <string_view>

#include "../core/error.hpp"
#include "server.hpp"

#ifndef CPPHTTPLIB_VERSION
#error "mock_gateway needs cpp-httplib 0.11.4 or newer: this httplib.h does not tell its version"
#endif

namespace mock_gateway::detail {
namespace compatibility {

/// Returns 11004 for "0.11.4". Stops at a suffix such as "-dev".
constexpr std::uint64_t version_number(std::string_view version) {
  std::uint64_t number = 0;
  std::uint64_t part = 0;
  int parts = 0;
  for (const char character : version) {
    if (character >= '0' && character <= '9') {
      part = part * 10 + static_cast<std::uint64_t>(character - '0');
    } else if (character == '.') {
      number = number * 1000 + part;
      part = 0;
      ++parts;
    } else {
      break;
    }
  }
  for (number = number * 1000 + part; parts < 2; ++parts) number *= 1000;
  return number;
}

static_assert(version_number(CPPHTTPLIB_VERSION) >= 11004,
              "mock_gateway needs cpp-httplib 0.11.4 or newer; install one, or let CMake fetch it");

#if defined(__ELF__) && !defined(CPPHTTPLIB_OPENSSL_SUPPORT)
// Not null if this program is linked with a cpp-httplib library built with OpenSSL, such as Debian's.
extern const char openssl_library __asm__("_ZTVN7httplib9SSLServerE") __attribute__((weak));
#endif

}  // namespace compatibility

void require_matching_httplib() {
#if defined(__ELF__) && !defined(CPPHTTPLIB_OPENSSL_SUPPORT)
  if (&compatibility::openssl_library)
    throw GatewayError(
        "this program is linked with a cpp-httplib built with OpenSSL, but compiled without "
        "CPPHTTPLIB_OPENSSL_SUPPORT, so that their classes have different layouts; compile with the flags of "
        "`pkg-config --cflags cpp-httplib`, or with a plain httplib.h and without the compiled library");
#endif
}

}  // namespace mock_gateway::detail
