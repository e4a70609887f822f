#pragma once

// For programs tested with doctest: define MOCK_GATEWAY_ADAPTER_DOCTEST before including mock_gateway.hpp, in each file
// whose checks compare what the gateway gives. One file is enough for the reports.
//
// A gateway that is destroyed with something wrong that nobody has looked at fails the test where the gateway was
// made. CHECK prints optionals, durations and moments ("20ms == 60s"), the library's enumerations, and why a
// Verification, Review or Wait is false.
//
// MOCK_GATEWAY_ADAPTER_NO_OPTIONAL, if defined, leaves the printing of std::optional to the program, and
// MOCK_GATEWAY_ADAPTER_NO_CHRONO that of durations and moments.

#include <chrono>
#include <optional>
#include <string>

#include "../core/duration.hpp"
#include "../core/printed.hpp"
#include "../core/reporter.hpp"
#include "../gateway/gateway.hpp"

#ifndef DOCTEST_LIBRARY_INCLUDED
#if __has_include(<doctest/doctest.h>)
#include <doctest/doctest.h>
#else
#include <doctest.h>
#endif
#endif

namespace mock_gateway {
namespace detail {
namespace {

bool report_to_doctest(const Report& report) {
#ifdef DOCTEST_CONFIG_DISABLE
  static_cast<void>(report);
  return false;
#else
  // What is reported between two tests would be counted for neither.
  const doctest::ContextOptions* const run = doctest::getContextOptions();
  if (!doctest::is_running_in_test || !run || !run->currentTest) return false;
  // The kinds of check that never throw.
  if (report.unwinding) {
    DOCTEST_ADD_MESSAGE_AT(report.where.file, report.where.line, report.text);
  } else {
    DOCTEST_ADD_FAIL_CHECK_AT(report.where.file, report.where.line, report.text);
  }
  return true;
#endif
}

const InstalledReporter doctest_adapter(report_to_doctest);

}  // namespace
}  // namespace detail

// doctest prints an enumeration as its number, whatever operator<< says; only a function of this name beside the type
// comes before that.
inline doctest::String toString(KeyState state) { return to_string(state).c_str(); }
inline doctest::String toString(Profile profile) { return to_string(profile).c_str(); }
inline doctest::String toString(Severity severity) { return to_string(severity).c_str(); }
inline doctest::String toString(Decision::Kind kind) { return to_string(kind).c_str(); }
inline doctest::String toString(Outcome::Kind kind) { return to_string(kind).c_str(); }
inline doctest::String toString(Departure::How how) { return to_string(how).c_str(); }
inline doctest::String toString(Verdict::Kind kind) { return to_string(kind).c_str(); }
inline doctest::String toString(Scenario::Expected expected) { return to_string(expected).c_str(); }
inline doctest::String toString(Problem::Kind kind) { return to_string(kind).c_str(); }

namespace wire {

inline doctest::String toString(ToolChoice::Mode mode) { return to_string(mode).c_str(); }
inline doctest::String toString(ResponseFormat::Kind kind) { return to_string(kind).c_str(); }

}  // namespace wire

}  // namespace mock_gateway

#ifndef MOCK_GATEWAY_ADAPTER_NO_CHRONO
namespace doctest {

template <class Rep, class Period>
struct StringMaker<std::chrono::duration<Rep, Period>> {
  static String convert(const std::chrono::duration<Rep, Period>& value) {
    return mock_gateway::detail::printed(value).c_str();
  }
};

template <class Any>
struct StringMaker<std::chrono::time_point<std::chrono::system_clock, Any>> {
  static String convert(const std::chrono::time_point<std::chrono::system_clock, Any>& value) {
    return mock_gateway::detail::printed(value).c_str();
  }
};

}  // namespace doctest
#endif

#ifndef MOCK_GATEWAY_ADAPTER_NO_OPTIONAL
namespace doctest {

template <class T>
struct StringMaker<std::optional<T>> {
  static String convert(const std::optional<T>& value) { return value ? toString(*value) : String("nothing"); }
};

template <>
struct StringMaker<std::nullopt_t> {
  static String convert(const std::nullopt_t&) { return "nothing"; }
};

}  // namespace doctest
#endif
