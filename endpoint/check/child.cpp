// Starting, reading and ending the processes of `check`, and finding leftover processes.

#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "../messages.hpp"
#include "../processes.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Between SIGTERM and SIGKILL.
constexpr std::chrono::milliseconds grace = 2s;
/// How long a driver may take to end after its stdin was closed.
constexpr std::chrono::milliseconds time_to_read = 500ms;
/// The polling interval for the end of a process that keeps its pipes open.
constexpr std::chrono::milliseconds between_looks = 10ms;
constexpr std::size_t most_output = std::size_t{64} << 20;
constexpr std::size_t most_tail = std::size_t{16} << 10;

void keep_tail(std::string& text) {
  if (text.size() > 2 * most_tail) text.erase(0, text.size() - most_tail);
}

std::string tail(const std::string& text) { return text.substr(text.size() - std::min(text.size(), most_tail)); }

/// Returns a pipe whose ends are not inherited by other processes.
std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw BadValue("cannot make a pipe: " + std::generic_category().message(errno));
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  return ends;
}

void close_all(std::initializer_list<int*> descriptors) {
  for (int* const one : descriptors) {
    if (*one >= 0) ::close(*one);
    *one = -1;
  }
}

}  // namespace

Children::Children() : earlier_(children_of(::getpid())) { become_subreaper(); }

Children::~Children() {
  try {
    const std::string ended = end_orphans();
    if (!ended.empty()) complain("CMD left processes running; check ended them: " + ended);
  } catch (const std::exception&) {  // out of memory for the message
  }
}

std::string Children::end_orphans() {
  std::string ended;
  const Deadline latest = steady_clock::now() + 2 * grace;
  const Deadline patient_until = steady_clock::now() + grace;
  std::vector<pid_t> told;
  while (steady_clock::now() < latest) {
    std::vector<pid_t> left = children_of(::getpid());
    const auto is_none_of_cmd = [this](pid_t one) {
      return std::find(earlier_.begin(), earlier_.end(), one) != earlier_.end();
    };
    left.erase(std::remove_if(left.begin(), left.end(), is_none_of_cmd), left.end());
    for (const pid_t one : left) {
      // Its own children become orphans, and children of this program, when it ends.
      const std::optional<Process> known = process(one);
      if (known && std::find(told.begin(), told.end(), one) == told.end()) {
        told.push_back(one);
        ended += (ended.empty() ? "" : ", ") + listed({*known});
      }
      ::kill(one, steady_clock::now() < patient_until ? SIGTERM : SIGKILL);
      ::kill(one, SIGCONT);
      ::waitpid(one, nullptr, WNOHANG);
    }
    if (left.empty()) break;
    std::this_thread::sleep_for(between_looks);
  }
  return ended;
}

Child::Child(Children& children, const std::vector<std::string>& words, const std::vector<std::string>& environment,
             bool fed)
    : children_(children), name_(printable(words.front())) {
  const std::lock_guard<std::mutex> lock(children.starting_);
  int in = -1;
  int out = -1;
  int err = -1;
  try {
    if (fed) {
      const auto ends = make_pipe();
      in = ends[0];
      in_ = ends[1];
    } else {
      in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    const auto outputs = make_pipe();
    out_ = outputs[0];
    out = outputs[1];
    const auto errors = make_pipe();
    err_ = errors[0];
    err = errors[1];
    for (const int ours : {in_, out_, err_})
      if (ours >= 0) ::fcntl(ours, F_SETFL, O_NONBLOCK);
    group_ = start_in_group(words, environment, children.signals_, std::array<int, 3>{in, out, err});
  } catch (const BadValue&) {
    close_all({&in, &out, &err, &in_, &out_, &err_});
    throw;
  }
  close_all({&in, &out, &err});
}

Child::~Child() {
  try {
    static_cast<void>(end());
  } catch (const std::exception&) {  // out of memory for the message
    ::kill(-group_, SIGKILL);
  }
  close_all({&in_, &out_, &err_});
}

bool Child::send(const std::string& line, Deadline deadline) {
  const std::string bytes = line + "\n";
  std::size_t sent = 0;
  while (sent < bytes.size() && !has_ended() && !children_.is_cancelled() && steady_clock::now() < deadline) {
    const ssize_t count = ::write(in_, bytes.data() + sent, bytes.size() - sent);
    if (count > 0) sent += static_cast<std::size_t>(count);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (count < 0) look(deadline);
  }
  return sent == bytes.size();
}

std::optional<std::string> Child::line(Deadline deadline) {
  std::size_t looked_at = begin_;
  // Check the deadline first: a process may print endlessly.
  while (!children_.is_cancelled() && steady_clock::now() < deadline) {
    const std::size_t end = output_.find('\n', looked_at);
    if (end != std::string::npos || output_.size() >= most_output) {
      std::string found = output_.substr(begin_, end - begin_);
      begin_ = end == std::string::npos ? output_.size() : end + 1;
      if (begin_ > output_.size() / 2) {
        output_.erase(0, begin_);
        begin_ = 0;
      }
      taken_ += found + "\n";
      keep_tail(taken_);
      return found;
    }
    looked_at = output_.size();
    if (has_ended()) break;
    look(deadline);
  }
  return std::nullopt;
}

bool Child::has_ended_by_now() {
  look(steady_clock::now());
  return has_ended();
}

bool Child::wait(Deadline deadline) {
  while (!has_ended() && !children_.is_cancelled() && steady_clock::now() < deadline) look(deadline);
  return has_ended();
}

void Child::look(Deadline deadline) {
  std::array<pollfd, 2> pipes{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
  // After the pipes close, the process usually ends soon.
  const bool is_open = out_ >= 0 || err_ >= 0;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
  const auto pause = std::clamp<std::chrono::milliseconds>(left, 0ms, is_open ? between_looks : 1ms);
  ::poll(pipes.data(), pipes.size(), static_cast<int>(pause.count()));
  int status = 0;
  // Check the status before the last read, so that all output is read.
  const pid_t found = has_ended() ? 0 : ::waitpid(group_, &status, WNOHANG);
  const bool ended = found == group_ || (found < 0 && errno == ECHILD);
  take_in();
  if (ended) status_ = status;
}

void Child::take_in() {
  std::array<char, 65536> bytes{};
  constexpr int most_reads = 64;  // limit for a process that prints endlessly
  for (int* const pipe : {&out_, &err_}) {
    for (int reads = 0; *pipe >= 0 && reads < most_reads; ++reads) {
      const ssize_t count = ::read(*pipe, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) break;
      if (count <= 0) {
        close_all({pipe});
        break;
      }
      const auto size = static_cast<std::size_t>(count);
      if (pipe == &err_) {
        errors_.append(bytes.data(), size);
        keep_tail(errors_);
      } else if (output_.size() < most_output) {
        output_.append(bytes.data(), size);
      }
    }
  }
}

std::string Child::end() {
  if (std::exchange(was_ended_, true)) return {};
  const bool was_fed = in_ >= 0;
  close_all({&in_});
  // A driver ends when its stdin is closed.
  const Deadline reads_until = steady_clock::now() + time_to_read;
  while (was_fed && !has_ended() && steady_clock::now() < reads_until) look(reads_until);
  const Deadline patient_until = steady_clock::now() + grace;
  if (!has_ended()) {
    ::kill(-group_, SIGTERM);
    ::kill(-group_, SIGCONT);  // a stopped process would not handle SIGTERM
    while (!has_ended() && steady_clock::now() < patient_until) look(patient_until);
    if (!has_ended()) ::kill(-group_, SIGKILL);
    while (!has_ended()) look(steady_clock::now() + between_looks);
  }
  // The rest of the group may end by itself after the process.
  constexpr auto exit_grace = 100ms;
  const Deadline began = steady_clock::now();
  std::string left;
  while (group_has_members(group_)) {
    const auto waited = steady_clock::now() - began;
    if (waited >= exit_grace) {
      if (left.empty()) left = members_of(group_);
      ::kill(-group_, steady_clock::now() < patient_until ? SIGTERM : SIGKILL);
      ::kill(-group_, SIGCONT);
      if (waited > exit_grace + 2 * grace) break;
    }
    std::this_thread::sleep_for(between_looks);
  }
  take_in();
  return left;
}

void Child::clear_output() {
  taken_.clear();
  output_.erase(0, std::exchange(begin_, 0));
  errors_.clear();
}

std::string Child::output_tail() const { return tail(taken_ + tail(output_.substr(begin_))); }

std::string Child::error_tail() const { return tail(errors_); }

}  // namespace endpoint
}  // namespace mock_gateway
