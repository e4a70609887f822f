#pragma once

#include <cstddef>
#include <string>

namespace mock_gateway {
namespace endpoint {

/// Throws BadValue, starting with `flag`, if the path cannot be written: its folder is missing or read-only, or it is
/// not a regular file.
void require_publishable(const std::string& flag, const std::string& path);

/// Writes the file atomically by renaming a draft. Does not follow symbolic links. The umask decides the mode. Throws
/// BadValue, starting with `flag`, on failure.
void publish(const std::string& flag, const std::string& path, const std::string& text);

/// A file about a running program, with mode 0600, which is removed with this object. Never follows a symbolic link. An
/// existing path that is not a regular file is an error and is kept.
class PublishedFile {
 public:
  /// Removes the file of an earlier run. Messages use `flag`.
  PublishedFile(std::string flag, std::string path);
  ~PublishedFile();
  PublishedFile(const PublishedFile&) = delete;
  PublishedFile& operator=(const PublishedFile&) = delete;

  /// Writes atomically by renaming a draft.
  void write(const std::string& text);

 private:
  std::string flag_;
  std::string path_;
  int file_ = -1;
};

/// A temporary file with a unique name and mode 0600, which is removed with this object.
class TemporaryFile {
 public:
  /// Throws BadValue if it cannot be written.
  explicit TemporaryFile(const std::string& text);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  /// The size in bytes; 0 if the file was removed.
  std::size_t size() const;

 private:
  std::string path_;
};

/// Appends a byte to the file in the variable MOCK_GATEWAY_RUN, which tells `run` that its command started another
/// mock-gateway. Does nothing without the variable or the file.
void notify_run();

}  // namespace endpoint
}  // namespace mock_gateway
