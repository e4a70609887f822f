// The file of `--journal`: the first line of a run; stdout as the file.

#include "journal_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "messages.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

std::string reason(int problem) { return std::generic_category().message(problem); }

std::runtime_error unusable(const std::string& path, const std::string& why) {
  return std::runtime_error("--journal: cannot write " + path + ": " + why);
}

/// Returns the host name of this machine or container.
std::string host() {
  char name[256] = "";
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

int open_stdout() {
  const int file = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  if (file < 0) throw unusable(JournalFile::stdout_path, reason(errno));
  return file;
}

int open_file(const std::string& path) {
  // O_RDWR, to read the last byte. O_NONBLOCK, so that a pipe without a reader is an error and does not block.
  const int file = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file < 0)
    throw unusable(
        path, errno == ELOOP ? "it is a symbolic link, and the program does not write through links" : reason(errno));
  struct stat there {};
  const bool known = ::fstat(file, &there) == 0;
  if (known && S_ISREG(there.st_mode)) return file;
  const std::string why = known ? "it exists and is not a regular file" : reason(errno);
  ::close(file);
  throw unusable(path, why);
}

/// An earlier program may have ended in the middle of a line.
bool ends_within_line(int file) {
  char last = '\n';
  struct stat there {};
  return ::fstat(file, &there) == 0 && there.st_size > 0 && ::pread(file, &last, 1, there.st_size - 1) == 1 &&
         last != '\n';
}

/// Removes the bytes of an incomplete line from the end of a file, unless another program has written since.
bool cut_back(int file, std::size_t bytes) {
  struct stat there {};
  const ::off_t end = ::lseek(file, 0, SEEK_CUR);  // after the last write
  return ::fstat(file, &there) == 0 && S_ISREG(there.st_mode) && there.st_size == end &&
         ::ftruncate(file, end - static_cast<::off_t>(bytes)) == 0;
}

}  // namespace

JournalFile::JournalFile(std::string path, std::string run, std::function<void(std::string)> say)
    : path_(std::move(path)),
      run_(std::move(run)),
      say_(std::move(say)),
      file_(path_ == stdout_path ? open_stdout() : open_file(path_)),
      within_line_(path_ != stdout_path && ends_within_line(file_)),
      // Write a line to a file in one call, so that lines of programs that share it do not mix.
      output_(file_, path_ == stdout_path ? PatientOutput::one_piece : PatientOutput::all) {
  std::signal(SIGXFSZ, SIG_IGN);  // otherwise the file size limit ends the program
  const auto now = std::chrono::time_point_cast<TimePoint::duration>(std::chrono::system_clock::now());
  const Json begin{{"run", run_},
                   {"began", internal::rfc3339(now)},
                   {"version", MOCK_GATEWAY_VERSION},
                   {"host", host()},
                   {"pid", static_cast<std::int64_t>(::getpid())}};
  write(begin.dump() + "\n");
}

JournalFile::~JournalFile() { ::close(file_); }

void JournalFile::append(const Exchange& exchange) {
  try {
    Json line = as_json(exchange);
    if (const std::optional<SentAnswer> answer = exchange.answer()) line["answer"] = as_json(*answer);
    line["run"] = run_;
    if (!write(line.dump() + "\n")) ++missing_;
  } catch (const std::exception& problem) {
    ++missing_;
    say_once(problem.what());
  }
}

void JournalFile::leave_out() {
  ++missing_;
  say_once("it has no reader");
}

bool JournalFile::write(const std::string& line) {
  const std::string bytes = within_line_ ? "\n" + line : line;
  std::string_view rest = bytes;
  const PatientOutput::End end = output_.write(rest);
  const int problem = errno;
  const std::size_t written = bytes.size() - rest.size();
  const bool is_partial = written > 0 && !rest.empty();
  if (written > 0 && !(is_partial && cut_back(file_, written))) within_line_ = bytes[written - 1] != '\n';
  if (end == PatientOutput::End::failed) say_once(reason(problem));
  if (end == PatientOutput::End::unread) say_once("it has no reader");
  return end == PatientOutput::End::written;
}

void JournalFile::say_once(const std::string& reason) {
  if (said_.exchange(true)) return;
  say_(complaint("--journal: cannot write " + (is_stdout() ? "to stdout" : path_) + ": " + reason +
                 "; exchanges are missing there"));
}

}  // namespace endpoint
}  // namespace mock_gateway
