// Port, info, report and temporary files: names, writing, removal; how `run` learns of gateways that CMD starts.

#include "published_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "messages.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

[[noreturn]] void fail_to(const char* what, const std::string& flag, const std::string& path, int problem) {
  throw BadValue(flag + ": cannot " + what + " " + path + ": " + std::generic_category().message(problem));
}

/// Returns whether the file exists. Throws if it is not a regular file.
bool require_regular(const std::string& flag, const std::string& path) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0) {
    if (errno != ENOENT) fail_to("write", flag, path, errno);
    return false;
  }
  if (!S_ISREG(there.st_mode)) throw BadValue(flag + ": " + path + " exists and is not a regular file");
  return true;
}

/// Returns 0 or errno.
int write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    done += static_cast<std::size_t>(written);
  }
  return 0;
}

/// Writes a draft and renames it to the path; removes the draft on errors. `mode` is the mode of the file. Returns a
/// descriptor of the file.
int write_and_rename(const std::string& flag, const std::string& path, const std::string& text, mode_t mode) {
  std::string draft = path + ".XXXXXX";
  // mkostemp: an unpredictable name, a new file, mode 0600.
  const int file = ::mkostemp(draft.data(), O_CLOEXEC);
  if (file < 0) fail_to("write", flag, path, errno);
  const int kept = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
  int problem = kept < 0 ? errno : write_all(file, text);
  if (mode != 0600 && ::fchmod(file, mode) != 0 && problem == 0) problem = errno;
  if (::close(file) != 0 && problem == 0) problem = errno;
  try {
    if (problem != 0) fail_to("write", flag, path, problem);
    require_regular(flag, path);
    if (std::rename(draft.c_str(), path.c_str()) != 0) fail_to("write", flag, path, errno);
  } catch (const BadValue&) {
    ::unlink(draft.c_str());
    if (kept >= 0) ::close(kept);
    throw;
  }
  return kept;
}

}  // namespace

void require_publishable(const std::string& flag, const std::string& path) {
  require_regular(flag, path);
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail_to("write", flag, path, errno);
}

void publish(const std::string& flag, const std::string& path, const std::string& text) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::close(write_and_rename(flag, path, text, 0666 & ~mask));
}

PublishedFile::PublishedFile(std::string flag, std::string path) : flag_(std::move(flag)), path_(std::move(path)) {
  if (require_regular(flag_, path_) && ::unlink(path_.c_str()) != 0 && errno != ENOENT)
    fail_to("remove", flag_, path_, errno);
}

PublishedFile::~PublishedFile() {
  struct stat own {};
  struct stat there {};
  // Remove only our own file: another program may have replaced it. The open descriptor keeps our inode number from
  // being reused.
  if (file_ >= 0 && ::fstat(file_, &own) == 0 && ::lstat(path_.c_str(), &there) == 0 && own.st_dev == there.st_dev &&
      own.st_ino == there.st_ino) {
    ::unlink(path_.c_str());
  }
  if (file_ >= 0) ::close(file_);
}

void PublishedFile::write(const std::string& text) {
  const int file = write_and_rename(flag_, path_, text, 0600);
  if (file_ >= 0) ::close(file_);
  file_ = file;
}

TemporaryFile::TemporaryFile(const std::string& text) {
  const char* const folder = std::getenv("TMPDIR");
  path_ = std::string(folder && *folder ? folder : "/tmp") + "/mock-gateway-XXXXXX";
  const int file = ::mkostemp(path_.data(), O_CLOEXEC);
  if (file < 0) fail_to("write", "a temporary file", path_, errno);
  int problem = write_all(file, text);
  if (::close(file) != 0 && problem == 0) problem = errno;
  if (problem == 0) return;
  ::unlink(path_.c_str());
  fail_to("write", "a temporary file", path_, problem);
}

TemporaryFile::~TemporaryFile() { ::unlink(path_.c_str()); }

std::size_t TemporaryFile::size() const {
  struct stat there {};
  return ::lstat(path_.c_str(), &there) == 0 ? static_cast<std::size_t>(there.st_size) : 0;
}

void notify_run() {
  const char* const path = std::getenv("MOCK_GATEWAY_RUN");
  if (!path || !*path) return;
  const int file = ::open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  struct stat there {};
  // Write only to a regular file of this user, because `run` creates such a file.
  if (::fstat(file, &there) == 0 && S_ISREG(there.st_mode) && there.st_uid == ::geteuid()) write_all(file, ".");
  ::close(file);
}

}  // namespace endpoint
}  // namespace mock_gateway
