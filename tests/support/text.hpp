#pragma once

// Helpers for strings and exceptions.

#include <chrono>
#include <cstddef>
#include <ctime>
#include <iomanip>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "mock_gateway.hpp"

namespace test_support {

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Does the same as contains(), for files in which that name is a matcher.
inline bool has_part(std::string_view text, std::string_view part) { return contains(text, part); }

/// Reads a date of an HTTP header as a client on this machine would. It is empty for other texts.
inline std::optional<std::chrono::system_clock::time_point> http_date(const std::string& text) {
  std::tm date{};
  std::istringstream in(text);
  in >> std::get_time(&date, "%a, %d %b %Y %H:%M:%S GMT");
  if (!in) return std::nullopt;
#ifdef _WIN32
  return std::chrono::system_clock::from_time_t(::_mkgmtime(&date));
#else
  return std::chrono::system_clock::from_time_t(::timegm(&date));
#endif
}

/// Returns the text that a value writes to a stream.
template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

/// Returns the message of a review without the numbers of calls, tries and injected faults.
inline std::string without_counts(std::string message) {
  const std::size_t line_end = message.find('\n');
  const std::size_t counts = message.find(" (");
  if (message.find("clean: ") != 0) {
    const bool has_head = message.find(" in ") < line_end && message.find(" injected fault") < line_end;
    return has_head ? message.substr(line_end + 1) : message;
  }
  const std::size_t end = message.find(')');
  return counts < line_end ? message.erase(counts, end + 1 - counts) : message;
}

inline std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

/// Returns the text of the GatewayError that a call throws, or "" if it does not throw.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const mock_gateway::GatewayError& error) {
    return error.what();
  }
  return "";
}

/// Returns the text of the GatewayError that this code throws, without the library's name in front.
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
