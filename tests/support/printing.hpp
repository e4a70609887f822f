#pragma once

// Printing of compared values by doctest. Tests include this file instead of doctest's header if they compare these
// types. The library's adapter prints the library's own types.

#define MOCK_GATEWAY_ADAPTER_DOCTEST
#include "mock_gateway.hpp"

#include <chrono>
#include <vector>

#include "client.hpp"

namespace doctest {

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

template <class Clock, class Duration>
struct StringMaker<std::chrono::time_point<Clock, Duration>> {
  static String convert(const std::chrono::time_point<Clock, Duration>& value) {
    return toString(value.time_since_epoch());
  }
};

}  // namespace doctest

namespace mock_gateway {

inline doctest::String toString(const Operation& operation) { return operation.to_string().c_str(); }

}  // namespace mock_gateway

namespace test_support {

inline doctest::String toString(End end) { return doctest::String(to_string(end).c_str()); }

}  // namespace test_support
