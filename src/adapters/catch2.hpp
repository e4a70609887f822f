#pragma once

// For programs tested with Catch2, version 2 or 3: define MOCK_GATEWAY_ADAPTER_CATCH2 before including
// mock_gateway.hpp, in each file whose checks compare what the gateway gives. One file is enough for the reports.
//
// A gateway that is destroyed with something wrong that nobody has looked at fails the test where the gateway was
// made. CHECK prints optionals, durations and moments ("20ms == 60s"; version 3 prints them its own way), the library's
// enumerations, and why a Verification, Review or Wait is false.
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
#elif __has_include(<catch2/catch.hpp>)
#include <catch2/catch.hpp>
#elif __has_include(<catch_amalgamated.hpp>)
#include <catch_amalgamated.hpp>
#else
#include <catch.hpp>
#endif
#endif

namespace mock_gateway {
namespace detail {
namespace {

bool report_to_catch2(const Report& report) {
  // A name is there while a test runs.
  Catch::IResultCapture* const run = Catch::getCurrentContext().getResultCapture();
  if (!run || run->getCurrentTestName().empty()) return false;
  const Catch::SourceLineInfo where(report.where.file, static_cast<std::size_t>(report.where.line));
  try {
    Catch::AssertionHandler handler(report.unwinding ? "WARN" : "FAIL_CHECK", where, Catch::StringRef(),
                                    Catch::ResultDisposition::ContinueOnFailure);
    handler.handleMessage(report.unwinding ? Catch::ResultWas::Warning : Catch::ResultWas::ExplicitFailure,
                          std::string(report.text));
    handler.complete();
  } catch (...) {
    // Thrown by --abort when it has counted the failure, and out of place in a destructor: the next check ends the run.
  }
  return true;
}

const InstalledReporter catch2_adapter(report_to_catch2);

}  // namespace
}  // namespace detail
}  // namespace mock_gateway

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
