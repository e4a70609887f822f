// The doctest adapter: reports of gateways, and printing of values.

#pragma once

// For tests with doctest: define MOCK_GATEWAY_ADAPTER_DOCTEST before including mock_gateway.hpp, in each file whose
// checks compare values of the gateway. For the reports, one file is enough.
//
// If a gateway is destroyed with problems that the test has not looked at, its test fails at the line that made the
// gateway. After a failed test, the notes of verify() are printed as a message. CHECK prints optionals, durations and
// times ("20ms == 60s"), the library's enumerations, and why a Verification, Review or Wait is false.
//
// MOCK_GATEWAY_ADAPTER_NO_OPTIONAL disables printing std::optional, MOCK_GATEWAY_ADAPTER_NO_CHRONO durations and times.

#include <atomic>
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
  // Between two tests, doctest would count a failure for no test.
  const doctest::ContextOptions* const run = doctest::getContextOptions();
  if (!doctest::is_running_in_test || !run || !run->currentTest) return false;
  // These macros never throw.
  if (report.unwinding) {
    DOCTEST_ADD_MESSAGE_AT(report.where.file, report.where.line, report.text);
  } else {
    DOCTEST_ADD_FAIL_CHECK_AT(report.where.file, report.where.line, report.text);
  }
  return true;
#endif
}

const InstalledReporter doctest_adapter(report_to_doctest);

#ifndef DOCTEST_CONFIG_DISABLE
/// Prints the gateways' notes after a failed test, or after each failed run of a test with subcases.
class DoctestNotes : public doctest::IReporter {
 public:
  explicit DoctestNotes(const doctest::ContextOptions&) {}

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override { want_notes(); }
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override {
    begin();
    a_run_failed_ = false;
  }
  void test_case_reenter(const doctest::TestCaseData&) override {
    if (failed_) print();
    begin();
  }
  void test_case_end(const doctest::CurrentTestCaseStats& test) override {
    // A test may fail without a failed check, for example by a timeout.
    if (!test.testCaseSuccess && (failed_ || !a_run_failed_)) print();
    begin();
  }
  void test_case_exception(const doctest::TestCaseException&) override { failed_ = true; }
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& assertion) override { note(assertion.m_failed, assertion.m_at); }
  void log_message(const doctest::MessageData& message) override { note(true, message.m_severity); }
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  void begin() {
    pass_over_notes();
    failed_ = false;
  }
  void note(bool failed, doctest::assertType::Enum kind) {
    if (failed && !(kind & doctest::assertType::is_warn)) failed_ = true;
  }
  void print() {
    a_run_failed_ = true;
    for (const TestNotes& notes : take_notes()) DOCTEST_ADD_MESSAGE_AT(notes.where.file, notes.where.line, notes.text);
  }

  std::atomic<bool> failed_{false};
  bool a_run_failed_ = false;
};

// doctest keeps one listener per name: that of the first file with the adapter.
const int doctest_notes = doctest::registerReporter<DoctestNotes>("mock_gateway", 0, false);
#endif

}  // namespace
}  // namespace detail

// doctest prints enumerations as numbers and ignores operator<<. Only a toString() next to the type has precedence.
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

namespace doctest {

#ifndef MOCK_GATEWAY_ADAPTER_NO_CHRONO
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

#endif

#ifndef MOCK_GATEWAY_ADAPTER_NO_OPTIONAL
template <class T>
struct StringMaker<std::optional<T>> {
  static String convert(const std::optional<T>& value) { return value ? toString(*value) : String("nothing"); }
};

template <>
struct StringMaker<std::nullopt_t> {
  static String convert(const std::nullopt_t&) { return "nothing"; }
};
#endif

}  // namespace doctest
