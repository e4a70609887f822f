#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "mock_gateway.hpp"
#include "patient_output.hpp"

namespace mock_gateway {
namespace endpoint {

/// A file of exchanges as JSON, one a line, in the order in which they are appended. Runs of the program follow each
/// other in it: each begins with a line that has no exchange and says which run it is, and the lines of its exchanges
/// name it, so that two programs may share the file. It may be stdout, for who collects what replicas print. For one
/// thread at a time, which may wait for the disk; any thread may leave an exchange out, or give the file up.
class JournalFile {
 public:
  /// The path of stdout.
  static constexpr const char* stdout_path = "-";

  /// Opens the file, keeps what is in it, and writes the line that a run begins with; makes a file that its owner alone
  /// may read when there is none. `run` names the run, as `instance` of the info file. Throws std::runtime_error when
  /// the file cannot be opened, and for what is no regular file: nothing is written through a link. `say` is given the
  /// line for stderr when a line cannot be written.
  JournalFile(std::string path, std::string run, std::function<void(std::string)> say);
  ~JournalFile();
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  /// Writes a line for an exchange that has ended. The first time that this fails, it says so; the next exchange is
  /// tried again.
  void append(const Exchange& exchange);
  /// Writes no line for an exchange, since who reads stdout is too slow.
  void leave_out();
  /// From now on nobody waits longer for who reads stdout than a second in which nothing of it is read.
  void give_up() { output_.give_up(); }
  bool is_stdout() const { return path_ == stdout_path; }
  /// How many exchanges have no line.
  std::size_t missing() const { return missing_; }

 private:
  /// Returns false when not all of it was written.
  bool write(const std::string& line);
  void say_once(const std::string& reason);

  std::string path_;
  std::string run_;
  std::function<void(std::string)> say_;
  int file_;
  /// The file ends within a line, which a line end must close before the next begins.
  bool within_line_ = false;
  std::atomic<bool> said_{false};
  std::atomic<std::size_t> missing_{0};
  PatientOutput output_;
};

}  // namespace endpoint
}  // namespace mock_gateway
