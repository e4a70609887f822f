// The same for GoogleTest.

#pragma once

// For programs tested with GoogleTest: define MOCK_GATEWAY_ADAPTER_GTEST before including mock_gateway.hpp, in each
// file whose checks look at a Verification, Review or Wait. One file is enough for the reports.
//
// A gateway that is destroyed with something wrong that nobody has looked at fails the test, or the test suite, where
// the gateway was made. At the end of a test that has failed, what verify() notes is printed. EXPECT_TRUE prints why a
// Verification, Review or Wait is false, and EXPECT_EQ prints durations and moments ("20ms", "60s").
//
// MOCK_GATEWAY_ADAPTER_NO_CHRONO, if defined, leaves the printing of durations and moments to the program.

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <string>

#include "../core/duration.hpp"
#include "../core/printed.hpp"
#include "../core/reporter.hpp"
#include "../gateway/gateway.hpp"

namespace mock_gateway::detail {
namespace {

/// GoogleTest has no message that is no failure.
void print_message(const SourceLocation& where, const std::string& text) {
  std::cout << where.file << ':' << where.line << ": Message\n" << text << "\n\n" << std::flush;
}

bool report_to_gtest(const Report& report) {
  // The set-up and tear-down of a whole suite belong to no test; GoogleTest counts what fails there for the suite.
  if (!testing::UnitTest::GetInstance()->current_test_suite()) return false;
  if (report.unwinding) {
    print_message(report.where, report.text);
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

/// Prints at the end of a failed test what its gateways noted.
class GtestNotes : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { pass_over_notes(); }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (test.result()->Failed()) {
      for (const TestNotes& notes : take_notes()) print_message(notes.where, notes.text);
    }
  }
};

const bool gtest_notes = [] {
  want_notes();
  // Each file with the adapter has a listener. The first that hears of the end of a test prints all notes.
  testing::UnitTest::GetInstance()->listeners().Append(new GtestNotes);
  return true;
}();

}  // namespace
}  // namespace mock_gateway::detail

// EXPECT_TRUE makes an AssertionResult of what it checks, and prints the message that this one carries: none when it is
// true, since notes that were in a message count as printed.
namespace testing {

template <>
inline AssertionResult::AssertionResult(const mock_gateway::Verification& verification, void*)
    : AssertionResult(static_cast<bool>(verification)) {
  if (!*this) *this << verification;
}

template <>
inline AssertionResult::AssertionResult(const mock_gateway::Review& review, void*)
    : AssertionResult(static_cast<bool>(review)) {
  if (!*this) *this << review;
}

template <>
inline AssertionResult::AssertionResult(const mock_gateway::Wait& wait, void*)
    : AssertionResult(static_cast<bool>(wait)) {
  if (!*this) *this << wait;
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
