#pragma once

#include <string>
#include <vector>

#include "implementation.hpp"
#include "source_location.hpp"

namespace mock_gateway::detail {

/// The problems of a gateway that was destroyed before anyone asked for them.
struct Report {
  /// Complete lines.
  std::string text;
  /// Where the gateway was made.
  SourceLocation where;
  /// An exception is propagating, so the test has failed already.
  bool unwinding = false;
};

/// Passes a report to the test framework. Returns whether it took it. Called on the thread that destroys the gateway.
using Reporter = bool (*)(const Report& report);

/// Sets the program's reporter; for adapters. The last call wins, so that every file may set the same one.
void set_reporter(Reporter reporter);
/// Returns the reporter, or null if none was set.
Reporter reporter();

/// A reporter that is set until the program ends, or the adapter's shared object is unloaded.
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

struct TestNotes {
  std::string text;
  SourceLocation where;
};

/// A gateway as a source of notes. It may outlive tests. The thread that runs the tests calls its functions.
class NoteSource {
 public:
  NoteSource() = default;
  virtual ~NoteSource();
  NoteSource(const NoteSource&) = delete;
  NoteSource& operator=(const NoteSource&) = delete;

  /// Returns the notes on the failed test; the text is empty without notes.
  virtual TestNotes take_notes() = 0;
  /// Discards the notes so far, because no test failed.
  virtual void pass_over_notes() = 0;

 protected:
  /// Allows calls from now on. Must be called when the source is fully constructed.
  void begin_notes();
  /// Prevents calls after it returns. Must be called before any part of the source is destroyed.
  void end_notes();
};

bool are_notes_wanted();
/// Keeps the notes of a destroyed gateway until the running test ends. Does nothing without an adapter.
void keep_notes(TestNotes notes);

// For adapters. One adapter that knows when tests end is enough.

void want_notes(Implementation = define_MOCK_GATEWAY_IMPLEMENTATION_in_a_single_cpp_file);
/// Called after a failed test: returns its gateways' notes that were not yet printed.
std::vector<TestNotes> take_notes();
/// Called at the start of a test, and after a passed one.
void pass_over_notes();

}  // namespace mock_gateway::detail
