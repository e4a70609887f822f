#pragma once

// For programs tested with GoogleTest: define MOCK_GATEWAY_ADAPTER_GTEST before including mock_gateway.hpp, in each
// file whose checks look at a Verification, Review or Wait. One file is enough for the reports.
//
// A gateway that is destroyed with something wrong that nobody has looked at fails the test, or the test suite, where
// the gateway was made. EXPECT_TRUE prints why a Verification, Review or Wait is false, EXPECT_EQ durations and moments
// ("20ms", "60s").
//
// MOCK_GATEWAY_ADAPTER_NO_CHRONO, if defined, leaves the printing of durations and moments to the program.

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "../core/duration.hpp"
#include "../core/printed.hpp"
#include "../core/reporter.hpp"
#include "../gateway/gateway.hpp"

namespace mock_gateway {
namespace detail {
namespace {

bool report_to_gtest(const Report& report) {
  // The set-up and tear-down of a whole suite belong to no test; GoogleTest counts what fails there for the suite.
  if (!testing::UnitTest::GetInstance()->current_test_suite()) return false;
  if (report.unwinding) {
    // GoogleTest has no message that is no failure.
    std::cout << report.where.file << ':' << report.where.line << ": Message\n" << report.text << "\n\n" << std::flush;
    return true;
  }
  try {
    ADD_FAILURE_AT(report.where.file, report.where.line) << report.text;
  } catch (...) {
    // Thrown by --gtest_throw_on_failure, or a listener, when the failure is counted; out of place in a destructor.
  }
  return true;
}

const InstalledReporter gtest_adapter([] {
  testing::UnitTest::GetInstance();  // made before the adapter, it is still there when that goes
  return &report_to_gtest;
}());

}  // namespace
}  // namespace detail
}  // namespace mock_gateway

// EXPECT_TRUE makes an AssertionResult of what it checks, and prints the message that this one carries.
namespace testing {

template <>
inline AssertionResult::AssertionResult(const mock_gateway::Verification& verification, void*)
    : AssertionResult(static_cast<bool>(verification)) {
  *this << verification;
}

template <>
inline AssertionResult::AssertionResult(const mock_gateway::Review& review, void*)
    : AssertionResult(static_cast<bool>(review)) {
  *this << review;
}

template <>
inline AssertionResult::AssertionResult(const mock_gateway::Wait& wait, void*)
    : AssertionResult(static_cast<bool>(wait)) {
  *this << wait;
}

}  // namespace testing

#ifndef MOCK_GATEWAY_ADAPTER_NO_CHRONO
// A PrintTo beside the type, which GoogleTest asks for, would have to be in namespace std.
namespace testing {
namespace internal {

template <class Rep, class Period>
class UniversalPrinter<std::chrono::duration<Rep, Period>> {
 public:
  static void Print(const std::chrono::duration<Rep, Period>& value, std::ostream* out) {
    *out << mock_gateway::detail::printed(value);
  }
};

template <class Any>
class UniversalPrinter<std::chrono::time_point<std::chrono::system_clock, Any>> {
 public:
  static void Print(const std::chrono::time_point<std::chrono::system_clock, Any>& value, std::ostream* out) {
    *out << mock_gateway::detail::printed(value);
  }
};

}  // namespace internal
}  // namespace testing
#endif
