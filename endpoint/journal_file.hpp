#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "mock_gateway.hpp"
#include "patient_output.hpp"

namespace mock_gateway {
namespace endpoint {

/// The journal as JSON lines in a file, in order of append(). A line without an exchange starts each run and identifies
/// it; each exchange names its run, so that programs can share the file. The file may be stdout, for log collectors.
/// One thread at a time may append, and may block on the disk. leave_out() and give_up() are thread-safe.
class JournalFile {
 public:
  static constexpr const char* stdout_path = "-";

  /// Opens the file for appending and writes the run's first line. Creates the file with mode 0600 if it does not
  /// exist. `run` is the run's ID, like `instance` of the info file. Throws std::runtime_error if the file cannot be
  /// opened or is not a regular file; it does not follow symbolic links. `say` receives an error message for stderr
  /// when writing fails.
  JournalFile(std::string path, std::string run, std::function<void(std::string)> say);
  ~JournalFile();
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  /// Appends a completed exchange. Reports only the first failure; later exchanges are tried again.
  void append(const Exchange& exchange);
  /// Counts an exchange as missing, because the reader of stdout is too slow.
  void leave_out();
  /// From now on, stops writing to stdout after one second without progress.
  void give_up() { output_.give_up(); }
  bool is_stdout() const { return path_ == stdout_path; }
  /// The number of exchanges that were not written.
  std::size_t missing() const { return missing_; }

 private:
  /// Returns false if the line was not written completely.
  bool write(const std::string& line);
  void say_once(const std::string& reason);

  std::string path_;
  std::string run_;
  std::function<void(std::string)> say_;
  int file_;
  /// Whether the file ends with an incomplete line, which needs a line end first.
  bool within_line_ = false;
  std::atomic<bool> said_{false};
  std::atomic<std::size_t> missing_{0};
  PatientOutput output_;
};

}  // namespace endpoint
}  // namespace mock_gateway
