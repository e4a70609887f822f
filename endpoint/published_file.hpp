#pragma once

#include <cstddef>
#include <string>

namespace mock_gateway {
namespace endpoint {

/// Throws BadValue, which begins with `flag`, when a file of that path could not be written: its folder does not exist
/// or cannot be written to, or what has the name is no regular file.
void require_publishable(const std::string& flag, const std::string& path);

/// Writes the file by renaming a draft, so that nobody ever reads half of it. Nothing is written through a link. Its
/// mode is what the umask leaves. Throws BadValue, which begins with `flag`, when it cannot be written.
void publish(const std::string& flag, const std::string& path, const std::string& text);

/// A file that tells something of a running program, readable for its owner alone, for as long as this lives. Nothing
/// is ever written or removed through a link: what has the name and is no regular file stays, and is an error.
class PublishedFile {
 public:
  /// Removes the file of an earlier run, which would tell of a program that has ended. `flag` names it in messages.
  PublishedFile(std::string flag, std::string path);
  ~PublishedFile();
  PublishedFile(const PublishedFile&) = delete;
  PublishedFile& operator=(const PublishedFile&) = delete;

  /// Writes by renaming a draft, so that whoever waits for the file never reads half of it.
  void write(const std::string& text);

 private:
  std::string flag_;
  std::string path_;
  int file_ = -1;
};

/// A file of a name of its own in the folder for temporary files, readable for its owner alone, for as long as this
/// lives.
class TemporaryFile {
 public:
  /// Throws BadValue when it cannot be written.
  explicit TemporaryFile(const std::string& text);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  /// How many bytes it has; 0 when it is gone.
  std::size_t size() const;

 private:
  std::string path_;
};

/// Adds a byte to the file that the variable MOCK_GATEWAY_RUN names: so `run` learns that what it runs has started a
/// program of its own. Nothing happens without the variable, or when there is no such file.
void tell_run();

}  // namespace endpoint
}  // namespace mock_gateway
