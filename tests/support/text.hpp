#pragma once

// Small helpers on texts and on what is thrown.

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>

#include "mock_gateway.hpp"

namespace test_support {

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// As contains(), for files in which that name is a matcher.
inline bool has_part(std::string_view text, std::string_view part) { return contains(text, part); }

/// What a value writes to a stream.
template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

inline std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

/// What a call throws as GatewayError; "" when it throws nothing.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const mock_gateway::GatewayError& error) {
    return error.what();
  }
  return "";
}

/// What GatewayError says of what this code makes, without the library's name before it.
template <class Code>
std::string refused(const Code& code) {
  try {
    (void)code();
    return "not refused";
  } catch (const mock_gateway::GatewayError& error) {
    const std::string prefix = "mock_gateway: ";
    const std::string message = error.what();
    return message.substr(0, prefix.size()) == prefix ? message.substr(prefix.size()) : "without prefix: " + message;
  }
}

}  // namespace test_support
