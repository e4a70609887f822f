#pragma once

// For programs tested with GoogleTest: define MOCK_GATEWAY_ADAPTER_GTEST before including mock_gateway.hpp, in each
// file whose checks look at a Verification, Review or Wait. One file is enough for the reports.
//
// A gateway that is destroyed with something wrong that nobody has looked at fails the test, or the test suite, where
// the gateway was made. EXPECT_TRUE prints why a Verification, Review or Wait is false.

#include <gtest/gtest.h>

#include <iostream>

#include "../core/reporter.hpp"
#include "../gateway/gateway.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
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
}  // namespace MOCK_GATEWAY_ABI
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
