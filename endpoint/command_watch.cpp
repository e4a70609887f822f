// What ends with `run` when it is killed: how the command's processes are found, and what stderr says then.

#include "command_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "messages.hpp"
#include "processes.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

using namespace std::chrono_literals;

/// What the watching process knows of the command.
struct Watched {
  const pid_t run = ::getppid();
  std::vector<pid_t> earlier;  // children of `run` that were there before its command
  std::string info_file;
  std::string other_file;
  pid_t group = 0;
  bool released = false;
  std::map<pid_t, unsigned long long> children;  // of `run`, and when each was started

  bool is_to_be_watched() const { return lists_processes && group > 0 && !released; }

  /// Sees which processes have come to `run` from parents that have ended. Once `run` is gone, nothing tells.
  void look() {
    std::map<pid_t, unsigned long long> now;
    for (const pid_t id : children_of(run)) {
      if (id == ::getpid() || std::find(earlier.begin(), earlier.end(), id) != earlier.end()) continue;
      const auto known = children.find(id);
      if (known != children.end()) {
        now.insert(*known);
      } else if (const std::optional<Process> one = process(id)) {
        now.emplace(id, one->started);
      }
    }
    if (::getppid() != run) now.insert(children.begin(), children.end());  // it is gone, and they are another's
    children = std::move(now);
  }

  bool has_seen(const Process& one) const {
    const auto known = children.find(one.id);
    return known != children.end() && known->second == one.started;
  }

  void hear(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string what = line.substr(0, space);
    if (what == "info") info_file = line.substr(space + 1);
    if (what == "file") other_file = line.substr(space + 1);
    if (what == "group") group = static_cast<pid_t>(std::strtol(line.c_str() + space, nullptr, 10));
    if (what == "released") released = true;
  }
};

/// What belongs to the command: its group, what was started with its variable, what has come to `run`, and what any of
/// them has started.
std::vector<Process> processes_of(const Watched& watched) {
  std::vector<Process> theirs;
  std::vector<Process> others = processes();
  others.erase(std::remove_if(others.begin(), others.end(), [](const Process& one) { return one.id == ::getpid(); }),
               others.end());
  std::set<pid_t> ids;
  const auto take = [&](const auto& is_theirs) {
    const auto first = std::stable_partition(others.begin(), others.end(),
                                             [&is_theirs](const Process& one) { return !is_theirs(one); });
    const bool any = first != others.end();
    for (auto one = first; one != others.end(); ++one) ids.insert(one->id);
    theirs.insert(theirs.end(), first, others.end());
    others.erase(first, others.end());
    return any;
  };
  const std::string variable = "MOCK_GATEWAY_INFO=" + watched.info_file;
  take([&](const Process& one) {
    return (watched.group > 0 && one.group == watched.group) || watched.has_seen(one) ||
           was_started_with(one.id, variable);
  });
  while (take([&ids](const Process& one) { return ids.count(one.parent) > 0; })) {
  }
  return theirs;
}

void say(const std::string& text) {
  const std::string line = complaint(text) + "\n";
  pollfd errors{STDERR_FILENO, POLLOUT, 0};
  // Nobody may be reading it any more.
  if (::poll(&errors, 1, 1000) == 1 && ::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

void end_all(const Watched& watched) {
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  std::vector<Process> ended;
  bool is_left = true;
  while (is_left && std::chrono::steady_clock::now() < deadline) {
    is_left = false;
    // Those that it lists are looked up before the first of them ends: its children would be another's then.
    for (const Process& one : processes_of(watched)) {
      if (::kill(one.id, SIGKILL) != 0) continue;  // ended meanwhile, or another user's
      is_left = true;
      const auto has_its_id = [&one](const Process& other) { return other.id == one.id; };
      if (std::none_of(ended.begin(), ended.end(), has_its_id)) ended.push_back(one);
    }
    const bool has_group = watched.group > 0 && ::kill(-watched.group, SIGKILL) == 0;
    // A process that has ended is of its group until its parent asks.
    if (!lists_processes) is_left = has_group;
    if (is_left) std::this_thread::sleep_for(10ms);  // a process may have started another meanwhile
  }
  for (const std::string& file : {watched.info_file, watched.other_file})
    if (!file.empty()) ::unlink(file.c_str());
  if (!ended.empty()) say("run was ended before its command; with it ended " + listed(ended));
  if (!lists_processes && watched.group > 0)
    say("run was ended before its command, whose process group ended with it; a process that has left the group is out "
        "of reach on this system");
}

[[noreturn]] void watch(int pipe, std::vector<pid_t> earlier) {
  ::setsid();
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
#ifdef __linux__
  ::prctl(PR_SET_NAME, "mgw-watch", 0, 0, 0);
#endif
  Watched watched;
  watched.earlier = std::move(earlier);
  std::string text;
  std::array<char, 4096> bytes{};
  for (;;) {
    constexpr int between_looks = 100;  // ms
    pollfd told{pipe, POLLIN, 0};
    if (::poll(&told, 1, watched.is_to_be_watched() ? between_looks : -1) == 0) {
      try {
        watched.look();
      } catch (const std::exception&) {  // no memory: what it has seen before stays
      }
      continue;
    }
    const ssize_t count = ::read(pipe, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(bytes.data(), static_cast<std::size_t>(count));
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      watched.hear(text.substr(0, end));
      text.erase(0, end + 1);
    }
  }
  if (watched.released || watched.info_file.empty()) ::_exit(0);
  try {
    end_all(watched);
  } catch (const std::exception&) {  // no memory, which may be what ended run
    if (watched.group > 0) ::kill(-watched.group, SIGKILL);
  }
  ::_exit(0);
}

}  // namespace

CommandWatch::CommandWatch() {
  int ends[2];
  if (::pipe(ends) != 0) throw BadValue("cannot make a pipe: " + std::generic_category().message(errno));
  std::vector<pid_t> earlier = children_of(::getpid());
  process_ = ::fork();
  if (process_ == 0) {
    ::close(ends[1]);
    watch(ends[0], std::move(earlier));
  }
  const int problem = errno;
  ::close(ends[0]);
  pipe_ = ends[1];
  ::fcntl(pipe_, F_SETFD, FD_CLOEXEC);  // no thread is there yet that could start a process
  if (process_ > 0) return;
  ::close(pipe_);
  throw BadValue("cannot start a process: " + std::generic_category().message(problem));
}

CommandWatch::~CommandWatch() {
  ::close(pipe_);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void CommandWatch::will_start(const std::string& info_file, const std::string& other_file) {
  tell("info " + info_file + "\n");
  tell("file " + other_file + "\n");
}

void CommandWatch::has_started(pid_t group) { tell("group " + std::to_string(group) + "\n"); }

void CommandWatch::release() { tell("released\n"); }

void CommandWatch::tell(const std::string& line) const {
  // In one piece: a line is shorter than a pipe's room. Should the process be gone, run goes on without it.
  if (::write(pipe_, line.data(), line.size()) < 0) return;
}

}  // namespace endpoint
}  // namespace mock_gateway
