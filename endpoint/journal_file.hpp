#pragma once

#include <functional>
#include <string>

#include "mock_gateway.hpp"

namespace mock_gateway {
namespace endpoint {

/// A file of exchanges as JSON, one a line, in the order in which they are appended. For one thread at a time, which
/// may wait for the disk.
class JournalFile {
 public:
  /// Opens the file and keeps what is in it; makes one that its owner alone may read when there is none. Throws
  /// std::runtime_error when it cannot be written, and for what is no regular file: nothing is written through a link.
  /// `say` is given the line for stderr when an exchange cannot be written.
  JournalFile(std::string path, std::function<void(std::string)> say);
  ~JournalFile();
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  /// Writes a line for an exchange that has ended. The first time that this fails, it says so; the next exchange is
  /// tried again.
  void append(const Exchange& exchange);

 private:
  void write(const std::string& line);
  void say_once(const std::string& reason);

  std::string path_;
  std::function<void(std::string)> say_;
  int file_;
  /// The file ends within a line, which a line end must close before the next begins.
  bool within_line_ = false;
  bool said_ = false;
};

}  // namespace endpoint
}  // namespace mock_gateway
