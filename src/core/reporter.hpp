#pragma once

#include <string>

#include "source_location.hpp"

namespace mock_gateway {
namespace detail {

/// What a gateway found wrong when it was destroyed, and nobody had asked it before.
struct Report {
  /// Whole lines.
  std::string text;
  /// Where the gateway was made.
  SourceLocation where;
  /// An exception is on its way: the test has failed already.
  bool unwinding = false;
};

/// How a test framework hears of it; whether it took the report. Called on the thread that destroys the gateway.
using Reporter = bool (*)(const Report& report);

/// For the adapters. One for the whole program; the last one set counts, so that each file may set the same.
void set_reporter(Reporter reporter);
/// Null unless one was set.
Reporter reporter();

/// A reporter that is set until the program ends, or the shared object that the adapter is part of is unloaded.
class InstalledReporter {
 public:
  explicit InstalledReporter(Reporter installed) : installed_(installed) { set_reporter(installed); }
  ~InstalledReporter() {
    if (reporter() == installed_) set_reporter(nullptr);
  }
  InstalledReporter(const InstalledReporter&) = delete;
  InstalledReporter& operator=(const InstalledReporter&) = delete;

 private:
  Reporter installed_;
};

}  // namespace detail
}  // namespace mock_gateway
