// Starting the command of `run` and the clients of `check`: environment, signals, time limits, leftover processes.

#include "command.hpp"

#include <fcntl.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "messages.hpp"
#include "processes.hpp"

extern char** environ;

namespace mock_gateway {
namespace endpoint {
namespace {

using namespace std::chrono_literals;

/// The delay of SIGKILL after the second signal, and after SIGTERM to leftover processes.
constexpr std::chrono::milliseconds grace = 5s;
/// How long leftover processes may take to end by themselves, before SIGTERM.
constexpr std::chrono::milliseconds exit_grace = 200ms;

constexpr std::array passed_signals = {SIGINT, SIGTERM, SIGHUP};
std::array<volatile std::sig_atomic_t, passed_signals.size()> arrived{};

extern "C" void note_signal(int signal) {
  for (std::size_t i = 0; i < passed_signals.size(); ++i)
    if (passed_signals[i] == signal) arrived[i] = arrived[i] + 1;
}

bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value ? value : "";
}

/// Adds hosts to a NO_PROXY list.
std::string with_hosts(const std::string& list, const std::vector<std::string>& hosts) {
  if (list == "*") return list;  // already matches every host
  std::string longer = list;
  for (const std::string& host : hosts) {
    if (("," + longer + ",").find("," + host + ",") == std::string::npos) longer += (longer.empty() ? "" : ",") + host;
  }
  return longer;
}

/// Makes the system kill the calling process when its parent ends (Linux only).
void end_with_parent(pid_t parent) {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
#endif
  if (::getppid() != parent) ::_exit(127);  // the parent has ended already
}

/// Returns a null-terminated array that points into `strings`.
std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> all;
  for (std::string& string : strings) all.push_back(string.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

std::vector<std::string> client_environment(const Gateway& gateway, const std::vector<std::string>& more) {
  std::vector<std::string> hosts{"127.0.0.1", "localhost"};
  // base_url() has another address for 0.0.0.0.
  if (gateway.host() != "0.0.0.0") hosts.push_back(gateway.host());
  // Clients differ in which name they read. If only one is set, use its value for both.
  const std::string upper = value_of("NO_PROXY");
  const std::string lower = value_of("no_proxy");
  std::vector<std::string> ours{"OPENAI_BASE_URL=" + gateway.base_url(), "OPENAI_API_BASE=" + gateway.base_url(),
                                "OPENAI_API_KEY=" + gateway.api_key(),
                                "NO_PROXY=" + with_hosts(upper.empty() ? lower : upper, hosts),
                                "no_proxy=" + with_hosts(lower.empty() ? upper : lower, hosts)};
  ours.insert(ours.end(), more.begin(), more.end());
  std::vector<std::string> all;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view theirs = *variable;
    const bool replaced = std::any_of(ours.begin(), ours.end(), [theirs](const std::string& own) {
      const std::size_t name = own.find('=') + 1;
      return theirs.substr(0, name) == std::string_view(own).substr(0, name);
    });
    if (!replaced) all.emplace_back(theirs);
  }
  all.insert(all.end(), ours.begin(), ours.end());
  return all;
}

SignalsForCommand::SignalsForCommand() {
  sigset_t kept;
  sigemptyset(&kept);
  sigemptyset(&changed_);
  for (const int signal : passed_signals) sigaddset(&kept, signal);
  sigaddset(&kept, SIGCHLD);
  // While the command has the terminal, SIGTTOU would stop this program when it writes or takes the terminal back.
  sigaddset(&kept, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &kept, &before_);
  while_waiting_ = before_;
  sigdelset(&while_waiting_, SIGCHLD);
  sigaddset(&while_waiting_, SIGTTOU);
  for (const int signal : passed_signals) sigdelset(&while_waiting_, signal);

  struct sigaction action {};
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : passed_signals)
    if (!is_ignored(signal)) ::sigaction(signal, &action, nullptr);  // ignored if started by nohup
  ::sigaction(SIGCHLD, &action, nullptr);
  if (!is_ignored(SIGPIPE)) {
    std::signal(SIGPIPE, SIG_IGN);  // the reader of the output may be gone
    sigaddset(&changed_, SIGPIPE);
  }
}

void SignalsForCommand::wait(std::optional<std::chrono::milliseconds> at_most) const {
  timespec time{};
  if (at_most) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*at_most);
    time.tv_sec = static_cast<time_t>(seconds.count());
    time.tv_nsec = static_cast<long>(std::chrono::nanoseconds(*at_most - seconds).count());
  }
  ::pselect(0, nullptr, nullptr, nullptr, at_most ? &time : nullptr, &while_waiting_);
}

void SignalsForCommand::give_back() const {
  for (const int signal : passed_signals)
    if (!is_ignored(signal)) std::signal(signal, SIG_DFL);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> SignalsForCommand::next() const {
  // Other threads block these signals, and this thread handles them only in wait().
  for (std::size_t i = 0; i < passed_signals.size(); ++i) {
    if (arrived[i] == 0) continue;
    const std::sig_atomic_t more = arrived[i] - 1;
    arrived[i] = more;
    return passed_signals[i];
  }
  return std::nullopt;
}

pid_t start_in_group(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                     const SignalsForCommand& signals, const std::optional<std::array<int, 3>>& streams) {
  std::vector<std::string> own_words = words;
  std::vector<std::string> own_environment = environment;
  const std::vector<char*> arguments = pointers(own_words);
  const std::vector<char*> variables = pointers(own_environment);
  const auto failed_with = [&words](int problem) {
    return BadValue("cannot start " + printable(words.front()) + ": " + std::generic_category().message(problem));
  };
  int told[2];  // a pipe: receives the error of exec, or is closed by a successful exec
  if (::pipe(told) != 0) throw failed_with(errno);
  for (const int end : told) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  const pid_t parent = ::getpid();
  const pid_t group = ::fork();
  if (group == 0) {
    // After fork() in a program with threads, only async-signal-safe calls are allowed.
    ::setpgid(0, 0);
    end_with_parent(parent);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE})
      if (sigismember(&signals.changed(), signal) == 1 || !is_ignored(signal)) ::signal(signal, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &signals.mask_before(), nullptr);
    for (int stream = 0; streams && stream < 3; ++stream) {
      ::dup2((*streams)[static_cast<std::size_t>(stream)], stream);
      ::fcntl(stream, F_SETFD, 0);  // dup2 of a descriptor onto itself keeps FD_CLOEXEC
    }
    environ = const_cast<char**>(variables.data());
    ::execvp(arguments.front(), arguments.data());
    const int problem = errno;
    ::_exit(::write(told[1], &problem, sizeof problem) == sizeof problem ? 127 : 126);
  }
  int problem = group < 0 ? errno : 0;
  ::close(told[1]);
  while (group > 0 && ::read(told[0], &problem, sizeof problem) < 0 && errno == EINTR) {
  }
  ::close(told[0]);
  if (problem == 0) return group;
  if (group > 0) ::waitpid(group, nullptr, 0);
  throw failed_with(problem);
}

bool group_has_members(pid_t group) {
  while (::waitpid(-group, nullptr, WNOHANG) > 0) {
  }
  return ::kill(-group, 0) == 0 || errno == EPERM;
}

std::string how_it_ended(const std::string& name, int status) {
  if (!WIFSIGNALED(status)) return name + " exited with " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return name + " was ended by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

void become_subreaper() {
#ifdef __linux__
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
}

Command::Command(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                 const SignalsForCommand& signals)
    : signals_(signals), name_(printable(words.front())) {
  become_subreaper();
  group_ = start_in_group(words, environment, signals);
  // A command in a background group would be stopped when it reads the terminal.
  has_terminal_ = ::isatty(STDIN_FILENO) != 0 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
  if (has_terminal_) {
    ::tcsetpgrp(STDIN_FILENO, group_);
    ::kill(-group_, SIGCONT);  // it may have been stopped for reading the terminal earlier
  }
}

int Command::wait() {
  for (;;) {
    forward_signals();
    int status = 0;
    const pid_t ended = ::waitpid(group_, &status, WNOHANG | WUNTRACED);
    if (ended == group_ && WIFSTOPPED(status)) {
      if (has_terminal_) suspend_with_command();
      continue;
    }
    if (ended == group_ || (ended < 0 && errno != EINTR)) {
      status_ = status;
      break;
    }
    std::optional<std::chrono::milliseconds> at_most;
    if (deadline_) {
      const auto left = *deadline_ - std::chrono::steady_clock::now();
      at_most = std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(0));
    }
    signals_.wait(at_most);
  }
  if (has_terminal_) ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
  terminate_leftovers();
  return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

void Command::forward_signals() {
  while (const std::optional<int> signal = signals_.next()) {
    ::kill(-group_, *signal);
    ::kill(-group_, SIGCONT);  // a stopped process would not handle the signal
    ++passed_on_;
    if (passed_on_ == 2) deadline_ = std::chrono::steady_clock::now() + grace;
    if (passed_on_ == 3) deadline_ = std::chrono::steady_clock::now();
  }
  if (!deadline_ || std::chrono::steady_clock::now() < *deadline_) return;
  complain(name_ + " did not end; sending SIGKILL");
  ::kill(-group_, SIGKILL);
  deadline_.reset();
}

void Command::suspend_with_command() {
  ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
  ::raise(SIGSTOP);
  // After SIGCONT. In the foreground this program has the terminal, and hands it on.
  if (::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) ::tcsetpgrp(STDIN_FILENO, group_);
  ::kill(-group_, SIGCONT);
}

void Command::terminate_leftovers() {
  if (is_gone_within(exit_grace)) return;
  complain(name_ + " left processes behind; sending SIGTERM: " + members_of(group_));
  ::kill(-group_, SIGTERM);
  ::kill(-group_, SIGCONT);
  if (is_gone_within(grace)) return;
  complain("processes that " + name_ + " left behind did not end; sending SIGKILL: " + members_of(group_));
  ::kill(-group_, SIGKILL);
  is_gone_within(grace);
}

bool Command::is_gone_within(std::chrono::milliseconds time) const {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (group_has_members(group_)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    signals_.wait(10ms);
  }
  return true;
}

}  // namespace endpoint
}  // namespace mock_gateway
