// The file of `--journal`: the line that a run begins with.

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
#include <system_error>
#include <utility>

#include "core/calendar.hpp"
#include "messages.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

std::string reason(int problem) { return std::generic_category().message(problem); }

std::runtime_error unusable(const std::string& path, const std::string& why) {
  return std::runtime_error("--journal: cannot write " + path + ": " + why);
}

}  // namespace

JournalFile::JournalFile(std::string path, std::string run, std::function<void(std::string)> say)
    : path_(std::move(path)),
      run_(std::move(run)),
      say_(std::move(say)),
      // To read, for the last byte. Not blocking: a pipe without a reader is refused, and not waited for.
      file_(::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)) {
  if (file_ < 0)
    throw unusable(path_, errno == ELOOP ? "it is a link, and nothing is written through one" : reason(errno));
  struct stat there {};
  const bool known = ::fstat(file_, &there) == 0;
  if (!known || !S_ISREG(there.st_mode)) {
    const std::string why = known ? "it is there and no regular file" : reason(errno);
    ::close(file_);
    throw unusable(path_, why);
  }
  std::signal(SIGXFSZ, SIG_IGN);  // else the first byte beyond a limit of files would end the program
  // Another program may have ended in the middle of a line.
  char last = '\n';
  if (there.st_size > 0 && ::pread(file_, &last, 1, there.st_size - 1) == 1) within_line_ = last != '\n';
  const auto now = std::chrono::time_point_cast<TimePoint::duration>(std::chrono::system_clock::now());
  const Json begin{{"run", run_},
                   {"began", detail::calendar::rfc3339_milliseconds(now)},
                   {"version", MOCK_GATEWAY_VERSION},
                   {"pid", static_cast<std::int64_t>(::getpid())}};
  write(begin.dump() + "\n");
}

JournalFile::~JournalFile() { ::close(file_); }

void JournalFile::append(const Exchange& exchange) {
  try {
    Json line = as_json(exchange);
    if (const std::optional<SentAnswer> answer = exchange.answer()) line["answer"] = as_json(*answer);
    line["run"] = run_;
    write(line.dump() + "\n");
  } catch (const std::exception& problem) {
    say_once(problem.what());
  }
}

void JournalFile::write(const std::string& line) {
  // In one call where the system takes it, so that programs that share the file do not tear each other's lines.
  const std::string bytes = within_line_ ? "\n" + line : line;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const ssize_t written = ::write(file_, bytes.data() + begin, bytes.size() - begin);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return say_once(reason(errno));
    begin += static_cast<std::size_t>(written);
    within_line_ = bytes[begin - 1] != '\n';
  }
}

void JournalFile::say_once(const std::string& reason) {
  if (std::exchange(said_, true)) return;
  say_(complaint("--journal: cannot write " + path_ + ": " + reason + "; exchanges are missing there"));
}

}  // namespace endpoint
}  // namespace mock_gateway
