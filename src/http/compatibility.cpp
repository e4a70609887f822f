// Supports the oldest cpp-httplib, and detects incompatible configurations.

#include <httplib.h>

#include <atomic>
#include <cstdint>
#include <string>
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

inline constexpr std::uint64_t openssl = 1;
inline constexpr std::uint64_t zlib = 2;
inline constexpr std::uint64_t brotli = 4;
inline constexpr std::uint64_t zstd = 8;

/// The configurations this program's files were compiled with: the first, and one that differs from it.
struct Seen {
  std::atomic<std::uint64_t> first{0};
  std::atomic<std::uint64_t> other{0};
};
inline Seen seen;

bool note(std::uint64_t configuration) {
  std::uint64_t first = 0;
  if (!seen.first.compare_exchange_strong(first, configuration) && first != configuration) seen.other = configuration;
  return true;
}

/// One instantiation per configuration, initialized before main. Files with the same configuration share it.
template <std::uint64_t Configuration>
struct Noted {
  inline static const bool done = note(Configuration);
};

// Not inline, so each file has its own copy, which instantiates Noted for its configuration.
[[maybe_unused]] constexpr const bool* noted = &Noted<version_number(CPPHTTPLIB_VERSION) * 16
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
                                                      + openssl
#endif
#ifdef CPPHTTPLIB_ZLIB_SUPPORT
                                                      + zlib
#endif
#ifdef CPPHTTPLIB_BROTLI_SUPPORT
                                                      + brotli
#endif
#ifdef CPPHTTPLIB_ZSTD_SUPPORT
                                                      + zstd
#endif
                                                      >::done;

std::string configuration_text(std::uint64_t configuration) {
  const std::uint64_t version = configuration / 16;
  std::string text = std::to_string(version / 1'000'000) + "." + std::to_string(version / 1000 % 1000) + "." +
                     std::to_string(version % 1000);
  text += (configuration & openssl) != 0 ? " with OpenSSL" : " without OpenSSL";
  if ((configuration & zlib) != 0) text += ", zlib";
  if ((configuration & brotli) != 0) text += ", brotli";
  if ((configuration & zstd) != 0) text += ", zstd";
  return text;
}

#if defined(__ELF__) && !defined(CPPHTTPLIB_OPENSSL_SUPPORT)
// Not null if this program is linked with a cpp-httplib library built with OpenSSL, such as Debian's.
extern const char openssl_library __asm__("_ZTVN7httplib9SSLServerE") __attribute__((weak));
#endif

}  // namespace compatibility

void require_one_httplib() {
  using namespace compatibility;
  if (const std::uint64_t other = seen.other; other != 0)
    throw GatewayError("files of this program were compiled with different configurations of cpp-httplib: " +
                       configuration_text(seen.first) + ", and " + configuration_text(other) +
                       "; give every file the same include path and the same CPPHTTPLIB_ macros");
#if defined(__ELF__) && !defined(CPPHTTPLIB_OPENSSL_SUPPORT)
  if (&openssl_library)
    throw GatewayError(
        "this program is linked with a cpp-httplib built with OpenSSL, but compiled without "
        "CPPHTTPLIB_OPENSSL_SUPPORT, so that their classes have different layouts; compile with the flags of "
        "`pkg-config --cflags cpp-httplib`, or with a plain httplib.h and without the compiled library");
#endif
}

}  // namespace mock_gateway::detail
