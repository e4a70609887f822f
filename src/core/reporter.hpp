#pragma once

#include <string>
#include <vector>

#include "implementation.hpp"
#include "source_location.hpp"

namespace mock_gateway::detail {

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

/// What a gateway notes beside a test that failed.
struct TestNotes {
  /// Whole lines.
  std::string text;
  /// Where the gateway was made.
  SourceLocation where;
};

/// A gateway that may live on when a test ends. Its functions are called on the thread that runs the tests.
class NoteSource {
 public:
  NoteSource() = default;
  virtual ~NoteSource();
  NoteSource(const NoteSource&) = delete;
  NoteSource& operator=(const NoteSource&) = delete;

  /// Gives what there is to note of the test that has failed; empty text: nothing.
  virtual TestNotes take_notes() = 0;
  /// What there is to note until now belongs to no test that has failed.
  virtual void pass_over_notes() = 0;

 protected:
  /// From now on its functions may be called. To be called when the source is whole.
  void begin_notes();
  /// No function is called any more when this returns. To be called before anything of the source goes.
  void end_notes();
};

/// Whether an adapter prints notes.
bool are_notes_wanted();
/// Keeps what a gateway noted until its end, for the end of the running test. Nothing is kept without an adapter.
void keep_notes(TestNotes notes);

// For the adapters, of which one that knows the end of a test is enough.

/// From now on notes are kept.
void want_notes(Implementation = define_MOCK_GATEWAY_IMPLEMENTATION_in_a_single_cpp_file);
/// At the end of a test that has failed: what the gateways of this test noted, and nobody has printed.
std::vector<TestNotes> take_notes();
/// At the beginning of a test, and at the end of one that has passed.
void pass_over_notes();

}  // namespace mock_gateway::detail
