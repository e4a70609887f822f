// The Catch2 adapter: reports of gateways, and printing of values.

#pragma once

// For tests with Catch2, version 2 or 3: define MOCK_GATEWAY_ADAPTER_CATCH2 before including mock_gateway.hpp, in each
// file whose checks compare values of the gateway. For the reports, one file is enough.
//
// If a gateway is destroyed with problems that the test has not looked at, its test fails at the line that made the
// gateway. After a failed test, the notes of verify() are printed as a warning. CHECK prints optionals, durations and
// times ("20ms == 60s"; version 3 in its own format), the library's enumerations, and why a Verification, Review or
// Wait is false.
//
// In version 2 the notes need CATCH_CONFIG_EXTERNAL_INTERFACES in one of the files with the adapter. The adapter
// defines it unless catch.hpp was included before mock_gateway.hpp.
//
// Catch2's assertions only work on the thread that runs the tests, so destroy gateways there. A gateway that outlives
// the run, in a custom main, must also outlive the Catch::Session, because only its end clears the run.
//
// MOCK_GATEWAY_ADAPTER_NO_OPTIONAL disables the printing of std::optional, as do Catch2's
// CATCH_CONFIG_ENABLE_OPTIONAL_STRINGMAKER and CATCH_CONFIG_ENABLE_ALL_STRINGMAKERS. MOCK_GATEWAY_ADAPTER_NO_CHRONO
// disables that of durations and times, as does CATCH_CONFIG_ENABLE_CHRONO_STRINGMAKER.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "../core/duration.hpp"
#include "../core/printed.hpp"
#include "../core/reporter.hpp"
#include "../gateway/gateway.hpp"

// Version 2 and the amalgamated version 3 are single headers, which may be at any path.
#if !defined(TWOBLUECUBES_SINGLE_INCLUDE_CATCH_HPP_INCLUDED) && !defined(CATCH_AMALGAMATED_HPP_INCLUDED)
#if __has_include(<catch2/internal/catch_context.hpp>)
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/interfaces/catch_interfaces_capture.hpp>
#include <catch2/internal/catch_assertion_handler.hpp>
#include <catch2/internal/catch_context.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#elif __has_include(<catch_amalgamated.hpp>) && !__has_include(<catch2/catch.hpp>)
#include <catch_amalgamated.hpp>
#else
#ifndef CATCH_CONFIG_EXTERNAL_INTERFACES
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#endif
#if __has_include(<catch2/catch.hpp>)
#include <catch2/catch.hpp>
#else
#include <catch.hpp>
#endif
#endif
#endif

namespace mock_gateway::detail {
namespace {

void tell_catch2(const SourceLocation& where, const char* kind, Catch::ResultWas::OfType result,
                 const std::string& text) {
  const Catch::SourceLineInfo line(where.file, static_cast<std::size_t>(where.line));
  try {
    Catch::AssertionHandler handler(kind, line, Catch::StringRef(), Catch::ResultDisposition::ContinueOnFailure);
    handler.handleMessage(result, std::string(text));
    handler.complete();
  } catch (...) {
    // Thrown by --abort after counting the failure. A destructor must not throw; the next check ends the run.
  }
}

bool report_to_catch2(const Report& report) {
  // The name is only set while a test runs.
  Catch::IResultCapture* const run = Catch::getCurrentContext().getResultCapture();
  if (!run || run->getCurrentTestName().empty()) return false;
  if (report.unwinding)
    tell_catch2(report.where, "WARN", Catch::ResultWas::Warning, report.text);
  else
    tell_catch2(report.where, "FAIL_CHECK", Catch::ResultWas::ExplicitFailure, report.text);
  return true;
}

const InstalledReporter catch2_adapter(report_to_catch2);

#ifdef CATCH_REGISTER_LISTENER
#ifdef TWOBLUECUBES_SINGLE_INCLUDE_CATCH_HPP_INCLUDED
using Catch2Listener = Catch::TestEventListenerBase;
#else
using Catch2Listener = Catch::EventListenerBase;
#endif

/// Prints the gateways' notes after a failed test, or after each failed run of a test with sections.
class Catch2Notes : public Catch2Listener {
 public:
  using Catch2Listener::Catch2Listener;

  void sectionStarting(const Catch::SectionInfo& section) override {
    Catch2Listener::sectionStarting(section);
    // The outermost section is one run of the test.
    if (depth_++ == 0) pass_over_notes();
  }
  void sectionEnded(const Catch::SectionStats& section) override {
    Catch2Listener::sectionEnded(section);
    if (--depth_ > 0 || section.assertions.failed == 0) return;
    for (const TestNotes& notes : take_notes()) tell_catch2(notes.where, "WARN", Catch::ResultWas::Warning, notes.text);
  }

 private:
  int depth_ = 0;
};

// Each file with the adapter has a listener. The first one called after a test prints all notes.
CATCH_REGISTER_LISTENER(Catch2Notes)

const bool catch2_notes = (want_notes(), true);
#endif

}  // namespace
}  // namespace mock_gateway::detail

namespace Catch {

// Only version 2 has this include guard. Version 3 prints durations itself.
#if !defined(MOCK_GATEWAY_ADAPTER_NO_CHRONO) && !defined(CATCH_CONFIG_ENABLE_CHRONO_STRINGMAKER) && \
    defined(TWOBLUECUBES_SINGLE_INCLUDE_CATCH_HPP_INCLUDED)
template <class Rep, class Period>
struct StringMaker<std::chrono::duration<Rep, Period>> {
  static std::string convert(const std::chrono::duration<Rep, Period>& value) {
    return mock_gateway::detail::printed(value);
  }
};

template <class Any>
struct StringMaker<std::chrono::time_point<std::chrono::system_clock, Any>> {
  static std::string convert(const std::chrono::time_point<std::chrono::system_clock, Any>& value) {
    return mock_gateway::detail::printed(value);
  }
};

#endif

#if !defined(MOCK_GATEWAY_ADAPTER_NO_OPTIONAL) && !defined(CATCH_CONFIG_ENABLE_OPTIONAL_STRINGMAKER)
template <class T>
struct StringMaker<std::optional<T>> {
  static std::string convert(const std::optional<T>& value) {
    return value ? ::Catch::Detail::stringify(*value) : std::string("nothing");
  }
};

template <>
struct StringMaker<std::nullopt_t> {
  static std::string convert(const std::nullopt_t&) { return "nothing"; }
};
#endif

}  // namespace Catch
