#pragma once

// Support for tests of connection faults: the bytes and the end that a client sees, and the parts of a request.

#include <stdexcept>
#include <string>

#include "client.hpp"

namespace test_support {

/// Connects, sends the request unless it is empty, and receives until the connection ends.
inline RawConnection::Received seen(const Gateway& gateway, const std::string& request = {}) {
  try {
    RawConnection connection(gateway);
    // Linux reports a reset only once. If send() has reported it, the next read sees a normal end.
    if (!request.empty() && !connection.send(request) && net::last_error() == net::was_reset)
      return {"", End::reset, true};
    return connection.receive_all();
  } catch (const std::runtime_error& error) {
    // The peer may reset the connection before connect() returns.
    if (std::string(error.what()).find("reset") == std::string::npos) throw;
    return {"", End::reset, true};
  }
}

inline std::string with_expect(const std::string& request) {
  return std::string(request).insert(request.find("Content-Length"), "Expect: 100-continue\r\n");
}

inline std::string head_of(const std::string& request) { return request.substr(0, request.find("\r\n\r\n") + 4); }
inline std::string body_of(const std::string& request) { return request.substr(request.find("\r\n\r\n") + 4); }

}  // namespace test_support
