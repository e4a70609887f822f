// Passes reports of destroyed gateways and notes on failed tests to the test framework. Prints positions in tests.
// Defines the symbol whose absence makes the linker report a missing implementation.

#include "reporter.hpp"

#include <algorithm>  // remove
#include <atomic>
#include <mutex>
#include <string_view>
#include <utility>

namespace mock_gateway {

std::string SourceLocation::to_string() const {
  const std::string_view path = file;
  if (path.empty()) return {};
  return std::string(path.substr(path.find_last_of("/\\") + 1)) + ":" + std::to_string(line);
}

namespace detail {

extern "C" {
void define_MOCK_GATEWAY_IMPLEMENTATION_in_a_single_cpp_file() {}
}

namespace reporters {

std::atomic<Reporter>& current() {
  static std::atomic<Reporter> reporter{nullptr};
  return reporter;
}

struct NoteList {
  std::mutex mutex;
  bool wanted = false;
  bool taken = false;  // whether an adapter's listener has already taken the running test's notes
  std::vector<TestNotes> kept;
  std::vector<NoteSource*> sources;
};

/// Returns the notes, which are never destroyed: gateways may be destroyed after static objects.
NoteList& notes() {
  static NoteList& notes = *new NoteList;
  return notes;
}

}  // namespace reporters

void set_reporter(Reporter reporter) { reporters::current() = reporter; }
Reporter reporter() { return reporters::current(); }

void NoteSource::begin_notes() {
  reporters::NoteList& book = reporters::notes();
  const std::lock_guard<std::mutex> lock(book.mutex);
  book.sources.push_back(this);
}

NoteSource::~NoteSource() = default;

void NoteSource::end_notes() {
  reporters::NoteList& book = reporters::notes();
  const std::lock_guard<std::mutex> lock(book.mutex);
  book.sources.erase(std::remove(book.sources.begin(), book.sources.end(), this), book.sources.end());
}

void keep_notes(TestNotes notes) {
  reporters::NoteList& book = reporters::notes();
  const std::lock_guard<std::mutex> lock(book.mutex);
  if (book.wanted && !notes.text.empty()) book.kept.push_back(std::move(notes));
}

void want_notes(Implementation) {
  reporters::NoteList& book = reporters::notes();
  const std::lock_guard<std::mutex> lock(book.mutex);
  book.wanted = true;
}

bool are_notes_wanted() {
  reporters::NoteList& book = reporters::notes();
  const std::lock_guard<std::mutex> lock(book.mutex);
  return book.wanted;
}

std::vector<TestNotes> take_notes() {
  reporters::NoteList& book = reporters::notes();
  const std::lock_guard<std::mutex> lock(book.mutex);
  if (std::exchange(book.taken, true)) return {};
  std::vector<TestNotes> taken = std::exchange(book.kept, {});
  for (NoteSource* const source : book.sources)
    if (TestNotes notes = source->take_notes(); !notes.text.empty()) taken.push_back(std::move(notes));
  return taken;
}

void pass_over_notes() {
  reporters::NoteList& book = reporters::notes();
  const std::lock_guard<std::mutex> lock(book.mutex);
  book.taken = false;
  book.kept.clear();
  for (NoteSource* const source : book.sources) source->pass_over_notes();
}

}  // namespace detail
}  // namespace mock_gateway
