// What ends with `run` and `check` when they are killed: how the commands' processes are found, and what stderr says
// then.

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

/// What the watching process knows of the program and its commands.
struct Watched {
  const pid_t program = ::getppid();
  std::string subcommand;
  std::vector<pid_t> earlier;  // children of the program that were there before its commands
  std::string variable;
  std::vector<std::string> files;
  std::set<pid_t> groups;
  bool released = false;
  std::map<pid_t, unsigned long long> children;  // of the program, and when each was started

  bool is_to_be_watched() const { return lists_processes && !variable.empty() && !released; }

  /// Sees which processes have come to the program from parents that have ended. Once it is gone, nothing tells.
  void look() {
    std::map<pid_t, unsigned long long> now;
    for (const pid_t id : children_of(program)) {
      if (id == ::getpid() || std::find(earlier.begin(), earlier.end(), id) != earlier.end()) continue;
      const auto known = children.find(id);
      if (known != children.end()) {
        now.insert(*known);
      } else if (const std::optional<Process> one = process(id)) {
        now.emplace(id, one->started);
      }
    }
    if (::getppid() != program) now.insert(children.begin(), children.end());  // it is gone, and they are another's
    children = std::move(now);
  }

  bool has_seen(const Process& one) const {
    const auto known = children.find(one.id);
    return known != children.end() && known->second == one.started;
  }

  void hear(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string what = line.substr(0, space);
    const auto group = [&] { return static_cast<pid_t>(std::strtol(line.c_str() + space, nullptr, 10)); };
    if (what == "variable") variable = line.substr(space + 1);
    if (what == "file") files.push_back(line.substr(space + 1));
    if (what == "group") groups.insert(group());
    if (what == "ended") groups.erase(group());
    if (what == "released") released = true;
  }
};

/// What belongs to the commands: their groups, what was started with their variable, what has come to the program, and
/// what any of them has started.
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
  take([&](const Process& one) {
    return watched.groups.count(one.group) > 0 || watched.has_seen(one) || was_started_with(one.id, watched.variable);
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
    bool has_group = false;
    for (const pid_t group : watched.groups)
      if (::kill(-group, SIGKILL) == 0) has_group = true;
    // A process that has ended is of its group until its parent asks.
    if (!lists_processes) is_left = has_group;
    if (is_left) std::this_thread::sleep_for(10ms);  // a process may have started another meanwhile
  }
  for (const std::string& file : watched.files) ::unlink(file.c_str());
  if (!ended.empty()) say(watched.subcommand + " was ended before its command; with it ended " + listed(ended));
  if (!lists_processes && !watched.groups.empty())
    say(watched.subcommand +
        " was ended before its command, whose process group ended with it; a process that has left the group is out of "
        "reach on this system");
}

[[noreturn]] void watch(int pipe, const std::string& subcommand, std::vector<pid_t> earlier) {
  ::setsid();
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
#ifdef __linux__
  ::prctl(PR_SET_NAME, "mgw-watch", 0, 0, 0);
#endif
  Watched watched;
  watched.subcommand = subcommand;
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
  if (watched.released || watched.variable.empty()) ::_exit(0);
  try {
    end_all(watched);
  } catch (const std::exception&) {  // no memory, which may be what ended the program
    for (const pid_t group : watched.groups) ::kill(-group, SIGKILL);
  }
  ::_exit(0);
}

}  // namespace

CommandWatch::CommandWatch(std::string subcommand) : subcommand_(std::move(subcommand)) {
  int ends[2];
  if (::pipe(ends) != 0) throw BadValue("cannot make a pipe: " + std::generic_category().message(errno));
  std::vector<pid_t> earlier = children_of(::getpid());
  process_ = ::fork();
  if (process_ == 0) {
    ::close(ends[1]);
    watch(ends[0], subcommand_, std::move(earlier));
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

void CommandWatch::will_start(const std::string& variable, const std::vector<std::string>& files) {
  tell("variable " + variable + "\n");
  for (const std::string& file : files) tell("file " + file + "\n");
}

void CommandWatch::has_started(pid_t group) { tell("group " + std::to_string(group) + "\n"); }

void CommandWatch::has_ended(pid_t group) { tell("ended " + std::to_string(group) + "\n"); }

void CommandWatch::release() { tell("released\n"); }

void CommandWatch::tell(const std::string& line) const {
  // In one piece: a line is shorter than a pipe's room. Should the process be gone, the program goes on without it.
  if (::write(pipe_, line.data(), line.size()) < 0) return;
}

}  // namespace endpoint
}  // namespace mock_gateway
