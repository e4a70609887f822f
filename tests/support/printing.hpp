#pragma once

// How doctest prints the values that the tests compare. To be included by every file that compares them, instead of
// doctest's own header.

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "client.hpp"

namespace doctest {

template <class T>
struct StringMaker<std::optional<T>> {
  static String convert(const std::optional<T>& value) { return value ? toString(*value) : String("nothing"); }
};

template <>
struct StringMaker<std::nullopt_t> {
  static String convert(const std::nullopt_t&) { return "nothing"; }
};

template <class T>
struct StringMaker<std::vector<T>> {
  static String convert(const std::vector<T>& values) {
    String text = "[";
    const char* separator = "";
    for (const T& value : values) {
      text += separator + toString(value);
      separator = ", ";
    }
    return text + "]";
  }
};

template <class Representation, class Period>
struct StringMaker<std::chrono::duration<Representation, Period>> {
  static String convert(const std::chrono::duration<Representation, Period>& value) {
    return toString(std::chrono::duration<double>(value).count()) + " s";
  }
};

template <class Clock, class Duration>
struct StringMaker<std::chrono::time_point<Clock, Duration>> {
  static String convert(const std::chrono::time_point<Clock, Duration>& value) {
    return toString(value.time_since_epoch());
  }
};

}  // namespace doctest

// doctest prints an enumerator as its number, whatever operator<< says; only a function of this name, found beside the
// type, comes before that.
namespace mock_gateway {

namespace printing {

inline doctest::String printed(const std::string& text) { return doctest::String(text.c_str()); }

}  // namespace printing

inline doctest::String toString(Outcome::Kind kind) { return printing::printed(to_string(kind)); }
inline doctest::String toString(const Operation& operation) { return printing::printed(operation.to_string()); }
inline doctest::String toString(ToolChoice::Mode mode) {
  switch (mode) {
    case ToolChoice::Mode::none: return "none";
    case ToolChoice::Mode::automatic: return "automatic";
    case ToolChoice::Mode::required: return "required";
    case ToolChoice::Mode::named: return "named";
  }
  return "?";
}
inline doctest::String toString(ResponseFormat::Kind kind) {
  switch (kind) {
    case ResponseFormat::Kind::text: return "text";
    case ResponseFormat::Kind::json_object: return "json_object";
    case ResponseFormat::Kind::json_schema: return "json_schema";
  }
  return "?";
}

}  // namespace mock_gateway

namespace test_support {

inline doctest::String toString(End end) { return doctest::String(to_string(end).c_str()); }

}  // namespace test_support
