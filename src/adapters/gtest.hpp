// The GoogleTest adapter: reports of gateways, and printing of values.

#pragma once

// For tests with GoogleTest: define MOCK_GATEWAY_ADAPTER_GTEST before including mock_gateway.hpp, in each file whose
// checks use a Verification, Review or Wait. For the reports, one file is enough.
//
// If a gateway is destroyed with problems that the test has not looked at, the test or test suite fails at the line
// that made the gateway. After a failed test, the notes of verify() are printed. EXPECT_TRUE prints why a
// Verification, Review or Wait is false, and EXPECT_EQ prints durations and times ("20ms", "60s").
//
// MOCK_GATEWAY_ADAPTER_NO_CHRONO disables the printing of durations and times.

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

/// Prints to stdout, because GoogleTest has no messages without a failure.
void print_message(const SourceLocation& where, const std::string& text) {
  std::cout << where.file << ':' << where.line << ": Message\n" << text << "\n\n" << std::flush;
}

bool report_to_gtest(const Report& report) {
  // Set-up and tear-down of a suite belong to no test; GoogleTest counts their failures for the suite.
  if (!testing::UnitTest::GetInstance()->current_test_suite()) return false;
  if (report.unwinding) {
    print_message(report.where, report.text);
    return true;
  }
  try {
    ADD_FAILURE_AT(report.where.file, report.where.line) << report.text;
  } catch (...) {
    // Thrown by --gtest_throw_on_failure or a listener after counting the failure. A destructor must not throw.
  }
  return true;
}

const InstalledReporter gtest_adapter([] {
  testing::UnitTest::GetInstance();  // constructed before the adapter, so destroyed after it
  return &report_to_gtest;
}());

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
  // Each file with the adapter has a listener. The first one called after a test prints all notes.
  testing::UnitTest::GetInstance()->listeners().Append(new GtestNotes);
  return true;
}();

}  // namespace
}  // namespace mock_gateway::detail

// EXPECT_TRUE prints an AssertionResult's message. True values have none: notes in a message count as printed.
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
// A specialization, because a PrintTo next to the type would have to be in namespace std.
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
