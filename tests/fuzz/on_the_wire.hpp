#pragma once

// Support for the harnesses that attack a server through its sockets.

#include <chrono>
#include <string>
#include <string_view>

#include "finding.hpp"

namespace fuzz {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::RawConnection;
using test_support::Response;

/// The API key or token of the attacked server.
inline constexpr std::string_view secret = "sk-fuzz-0123456789";
/// The timeout for a response. It is long, because sanitizers and busy machines are slow.
inline constexpr auto patience = 20000ms;

inline void require_no_secret(const std::string& text, const std::string& what) {
  require(text.find(secret) == std::string::npos, what + " holds the secret: " + text);
}

}  // namespace fuzz
