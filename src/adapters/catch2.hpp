// How Catch2 gets reports and prints values.

#pragma once

// For programs tested with Catch2, version 2 or 3: define MOCK_GATEWAY_ADAPTER_CATCH2 before including
// mock_gateway.hpp, in each file whose checks compare what the gateway gives. One file is enough for the reports.
//
// A gateway that is destroyed with something wrong that nobody has looked at fails the test where the gateway was
// made. At the end of a test that has failed, what verify() notes is a warning. CHECK prints optionals, durations and
// moments ("20ms == 60s"; version 3 prints them its own way), the library's enumerations, and why a Verification,
// Review or Wait is false.
//
// In version 2 the notes need CATCH_CONFIG_EXTERNAL_INTERFACES in one of the files that have the adapter, which defines
// it where catch.hpp was not included before mock_gateway.hpp.
//
// Catch2's own assertions belong to the thread that runs the tests, and so does the end of a gateway. One that outlives
// the run, in a main of the program's own, must outlive the Catch::Session as well, which forgets the run only then.
//
// MOCK_GATEWAY_ADAPTER_NO_OPTIONAL, if defined, leaves the printing of std::optional to the program, as do Catch2's
// CATCH_CONFIG_ENABLE_OPTIONAL_STRINGMAKER and CATCH_CONFIG_ENABLE_ALL_STRINGMAKERS. MOCK_GATEWAY_ADAPTER_NO_CHRONO
// leaves that of durations and moments, as does CATCH_CONFIG_ENABLE_CHRONO_STRINGMAKER.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "../core/duration.hpp"
#include "../core/printed.hpp"
#include "../core/reporter.hpp"
#include "../gateway/gateway.hpp"

// Version 2 and the amalgamated version 3 are one header each, which the program may have under any path.
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

/// `kind` is WARN or FAIL_CHECK.
void tell_catch2(const SourceLocation& where, const char* kind, Catch::ResultWas::OfType result,
                 const std::string& text) {
  const Catch::SourceLineInfo line(where.file, static_cast<std::size_t>(where.line));
  try {
    Catch::AssertionHandler handler(kind, line, Catch::StringRef(), Catch::ResultDisposition::ContinueOnFailure);
    handler.handleMessage(result, std::string(text));
    handler.complete();
  } catch (...) {
    // Thrown by --abort when it has counted the failure, and out of place in a destructor: the next check ends the run.
  }
}

bool report_to_catch2(const Report& report) {
  // A name is there while a test runs.
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

/// Prints at the end of a failed test, or of a failed run of one that sections repeat, what its gateways noted.
class Catch2Notes : public Catch2Listener {
 public:
  using Catch2Listener::Catch2Listener;

  void sectionStarting(const Catch::SectionInfo& section) override {
    Catch2Listener::sectionStarting(section);
    // A run of a test is the outermost section.
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

// Each file with the adapter has a listener. The first that hears of the end of a test prints all notes.
CATCH_REGISTER_LISTENER(Catch2Notes)

const bool catch2_notes = (want_notes(), true);
#endif

}  // namespace
}  // namespace mock_gateway::detail

// Version 2 alone is a header with that guard. Version 3 has printers of its own.
#if !defined(MOCK_GATEWAY_ADAPTER_NO_CHRONO) && !defined(CATCH_CONFIG_ENABLE_CHRONO_STRINGMAKER) && \
    defined(TWOBLUECUBES_SINGLE_INCLUDE_CATCH_HPP_INCLUDED)
namespace Catch {

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

}  // namespace Catch
#endif

#if !defined(MOCK_GATEWAY_ADAPTER_NO_OPTIONAL) && !defined(CATCH_CONFIG_ENABLE_OPTIONAL_STRINGMAKER)
namespace Catch {

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

}  // namespace Catch
#endif
