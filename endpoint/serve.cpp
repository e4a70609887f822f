// The gateway as a local endpoint, installed as mock-gateway: for curl, a debugger, and clients in other languages.

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <exception>
#include <functional>
#include <iostream>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"

using namespace mock_gateway;
using namespace std::chrono_literals;

namespace {

constexpr int exit_usage = 2;

/// A flag's value that cannot be used; the message says what would be.
struct BadValue : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Flags {
  std::string host = "127.0.0.1";
  int port = 8080;
  std::string port_file;
  std::vector<std::string> models;
  std::vector<std::string> keys;
  std::vector<std::string> failures;
  std::string limit;
  std::uint64_t seed = 1;
  std::string profile = "documented";
  bool strict = false;
  std::optional<std::string> acceptance;  // nothing: the profile's
  std::optional<std::string> reply;
  std::optional<std::string> scenario;
  bool list_scenarios = false;
  bool json = false;
  int first_token_ms = 0;
  int gap_ms = 0;
};

/// A message of the library, which begins with its name, without that.
std::string without_prefix(std::string message) {
  const std::string prefix = "mock_gateway: ";
  if (message.compare(0, prefix.size(), prefix) == 0) message.erase(0, prefix.size());
  return message;
}

/// All of the text as a whole number of at least 1.
std::optional<std::size_t> positive(std::string_view text) {
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

/// What stands before and after the first `mark`; nothing after when there is none.
std::pair<std::string, std::optional<std::string>> split(const std::string& text, char mark) {
  const std::size_t place = text.find(mark);
  if (place == std::string::npos) return {text, std::nullopt};
  return {text.substr(0, place), text.substr(place + 1)};
}

std::optional<Duration> duration(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = positive(text.substr(0, digits));
  const std::string_view unit = text.substr(digits);
  if (!number || *number > 1'000'000) return std::nullopt;
  const auto count = static_cast<std::int64_t>(*number);
  if (unit == "ms") return std::chrono::milliseconds(count);
  if (unit.empty() || unit == "s") return std::chrono::seconds(count);
  if (unit == "m") return std::chrono::minutes(count);
  if (unit == "h") return std::chrono::hours(count);
  return std::nullopt;
}

Failure failure_with(int status) {
  for (const Failure& known :
       {bad_request(), unauthorized(), forbidden(), not_found(), request_timeout(), conflict(), rate_limited(1s),
        server_error(), bad_gateway(), service_unavailable(), gateway_timeout(), overloaded()}) {
    if (known.status() == status) return known;
  }
  return failure(status, "forced_failure", "this failure was forced");
}

void force(Gateway& gateway, const std::string& spec) {
  const auto [status_text, times_text] = split(spec, ':');
  const auto status = positive(status_text);
  const bool always = times_text == "*";
  const auto times = times_text && !always ? positive(*times_text) : std::optional<std::size_t>(1);
  if (!status || *status < 400 || *status > 599 || !times) {
    throw BadValue("--fail: not STATUS, STATUS:TIMES or STATUS:*, with a status from 400 to 599: " + spec);
  }
  const Failure failure = failure_with(static_cast<int>(*status));
  if (always) {
    gateway.fail_always(failure);
  } else {
    gateway.fail_next(failure, *times);
  }
}

Options with_keys(Options options, const std::vector<std::string>& keys) {
  bool has_default = false;
  for (const std::string& spec : keys) {
    // A key may hold '=' itself.
    constexpr std::string_view suffix = "=disabled";
    const std::size_t rest = spec.size() - std::min(spec.size(), suffix.size());
    const bool disabled = spec.substr(rest) == suffix;
    const std::string secret = disabled ? spec.substr(0, rest) : spec;
    // The message does not repeat the value, which may be a key elsewhere.
    if (secret.empty() || secret == "sk-") throw BadValue("--key: a key is not empty, and more than sk-");
    if (!disabled && !has_default) {
      options = options.api_key(secret);
      has_default = true;
    } else {
      options = options.key("--key", KeyOptions{}.secret(secret).disabled(disabled));
    }
  }
  return options;
}

std::optional<Scenario> scenario_from(const Flags& flags) {
  if (!flags.scenario) return std::nullopt;
  try {
    return scenario(*flags.scenario);
  } catch (const GatewayError& problem) {
    throw BadValue("--scenario: " + without_prefix(problem.what()));
  }
}

/// A line for each scenario, or all that each says of itself.
void list_scenarios(bool as_json) {
  if (as_json) {
    Json all = Json::array();
    for (const Scenario& one : catalogue()) all.push_back(mock_gateway::as_json(one));
    std::cout << all.dump(2) << std::endl;
    return;
  }
  std::size_t name_width = 0;
  std::size_t group_width = 0;
  for (const Scenario& one : catalogue()) {
    name_width = std::max(name_width, one.name().size());
    group_width = std::max(group_width, one.group().size());
  }
  const auto padded = [](const std::string& text, std::size_t width) {
    return text + std::string(width - text.size() + 2, ' ');
  };
  for (const Scenario& one : catalogue()) {
    std::cout << padded(one.name(), name_width) << padded(one.group(), group_width) << one.description() << '\n';
  }
  std::cout.flush();
}

/// A line on stderr, of that moment.
void log(TimePoint moment, const std::string& text) {
  const auto since_epoch = moment.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch);
  const std::time_t time = seconds.count();
  std::tm utc{};
  gmtime_r(&time, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch - seconds);
  std::fprintf(stderr, "%s.%03dZ %s\n", stamp, static_cast<int>(milliseconds.count()), text.c_str());
}

/// What happened, for the log, and whether the scenario did. A thread of its own writes it: a stderr that nobody reads
/// would delay the next request of the connection.
class Log {
 public:
  explicit Log(std::optional<Scenario> chosen) : chosen_(std::move(chosen)), writer_([this] { write(); }) {}
  ~Log() { finish(); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// When the exchange has ended. Exchanges are masked: no key can be in the line, and no control character.
  void note(const Exchange& exchange) {
    enqueue([this, exchange] {
      ++exchanges_;
      if (chosen_ && chosen_->befell(exchange)) struck_ = true;
      log(exchange.ended().value_or(exchange.received()), exchange.summary());
    });
  }
  void note(const ConnectionHit& hit) {
    enqueue([this, hit, now = std::chrono::system_clock::now()] {
      struck_ = true;
      log(now, "connection " + std::to_string(hit.connection_id) + " struck: " + hit.fault.to_string());
    });
  }
  /// Writes what is left, and tells of a scenario that nobody met, who may believe otherwise. Nothing may be noted any
  /// more.
  void end() {
    finish();
    // A refused connection is refused by the system, and nothing here hears of it.
    if (!chosen_ || struck_ || chosen_->name() == "connection-refused") return;
    const std::size_t count = exchanges_;
    log(std::chrono::system_clock::now(),
        "scenario " + chosen_->name() + " never struck, in " + std::to_string(count) +
            (count == 1 ? " request" : " requests") +
            (chosen_->needs_stream() ? "; it shows in stream requests only" : "") +
            (chosen_->calls() > 1 ? "; it needs a connection that is used again" : ""));
  }

 private:
  using Entry = std::function<void()>;

  void enqueue(Entry entry) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      // While nobody reads stderr, a load test must not fill the memory.
      if (entries_.size() >= most_entries)
        ++lost_;
      else
        entries_.push_back(std::move(entry));
    }
    changed_.notify_one();
  }
  void write() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ended_ || !entries_.empty(); });
      if (entries_.empty()) return;
      std::deque<Entry> entries;
      entries.swap(entries_);
      const std::size_t lost = std::exchange(lost_, 0);
      lock.unlock();
      for (const Entry& entry : entries) entry();
      if (lost > 0)
        log(std::chrono::system_clock::now(), std::to_string(lost) + " lines were left out: stderr was not read");
      lock.lock();
    }
  }
  void finish() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    if (writer_.joinable()) writer_.join();
  }

  static constexpr std::size_t most_entries = 10'000;  // as many exchanges as the journal keeps

  std::optional<Scenario> chosen_;
  // The writer's, until it has finished.
  bool struck_ = false;
  std::size_t exchanges_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  std::size_t lost_ = 0;
  bool ended_ = false;
  std::thread writer_;
};

Options options_from(const Flags& flags) {
  // Nobody tests anything here. A client may be looked at in a debugger for as long as that takes.
  Options options = Options().verify_on_destruction(false).stall_guard(std::nullopt);
  options = options.host(flags.host).port(flags.port).seed(flags.seed).profile(profile_named(flags.profile));
  const std::string acceptance = flags.strict ? "strict" : flags.acceptance.value_or("");
  if (acceptance == "strict") options = options.acceptance(Acceptance::strict());
  if (acceptance == "default") options = options.acceptance(Acceptance());
  if (acceptance == "lenient") options = options.acceptance(Acceptance::lenient());
  for (const std::string& spec : flags.models) {
    const auto [id, owner] = split(spec, '=');
    if (id.empty() || owner == "") throw BadValue("--model: not ID or ID=OWNER: " + spec);
    options = owner ? options.model(id, *owner) : options.model(id);
  }
  options = with_keys(std::move(options), flags.keys);
  if (!flags.limit.empty()) {
    const auto [requests_text, window_text] = split(flags.limit, '/');
    const auto requests = positive(requests_text);
    const auto window = duration(window_text.value_or(""));
    if (!requests || !window) throw BadValue("--limit: not REQUESTS/WINDOW, such as 60/1m: " + flags.limit);
    options = options.limit(*requests, *window);
  }
  return options;
}

/// The file that tells the port, readable for its owner alone, for as long as this lives. Nothing is ever written or
/// removed through a link: what has the name and is no regular file stays, and is an error.
class PortFile {
 public:
  /// Removes the file of an earlier run, which would tell a port that nobody listens on.
  explicit PortFile(std::string path) : path_(std::move(path)) {
    if (require_regular() && ::unlink(path_.c_str()) != 0 && errno != ENOENT) fail("remove", errno);
  }
  ~PortFile() {
    struct stat own {};
    struct stat there {};
    // Another program may have put a file of its own there. The open descriptor keeps the number of ours from being
    // given to that one.
    if (file_ >= 0 && ::fstat(file_, &own) == 0 && ::lstat(path_.c_str(), &there) == 0 && own.st_dev == there.st_dev &&
        own.st_ino == there.st_ino) {
      ::unlink(path_.c_str());
    }
    if (file_ >= 0) ::close(file_);
  }
  PortFile(const PortFile&) = delete;
  PortFile& operator=(const PortFile&) = delete;

  /// By renaming a draft, so that whoever waits for the file never reads half of it.
  void write(int port) {
    std::string draft = path_ + ".XXXXXX";
    // A name that nobody can know beforehand, a file that was not there before, and mode 0600.
    const int file = ::mkostemp(draft.data(), O_CLOEXEC);
    if (file < 0) fail("write", errno);
    file_ = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
    const std::string line = std::to_string(port) + "\n";
    const ssize_t written = file_ < 0 ? -1 : ::write(file, line.data(), line.size());
    int problem = written < 0 ? errno : written == static_cast<ssize_t>(line.size()) ? 0 : ENOSPC;
    if (::close(file) != 0 && problem == 0) problem = errno;
    try {
      if (problem != 0) fail("write", problem);
      require_regular();
      if (std::rename(draft.c_str(), path_.c_str()) != 0) fail("write", errno);
    } catch (const BadValue&) {
      ::unlink(draft.c_str());
      throw;
    }
  }

 private:
  /// Whether there is a file; throws when it is no regular one.
  bool require_regular() const {
    struct stat there {};
    if (::lstat(path_.c_str(), &there) != 0) {
      if (errno != ENOENT) fail("write", errno);
      return false;
    }
    if (!S_ISREG(there.st_mode)) throw BadValue("--port-file: " + path_ + " is there and no regular file");
    return true;
  }
  [[noreturn]] void fail(const char* what, int problem) const {
    throw BadValue(std::string("--port-file: cannot ") + what + " " + path_ + ": " +
                   std::generic_category().message(problem));
  }

  std::string path_;
  int file_ = -1;
};

std::string quoted_for_shell(const std::string& text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:";
  if (text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.compare(0, 4, "127.") == 0;
}

void introduce(const Gateway& gateway, const Flags& flags) {
  const std::string url = quoted_for_shell(gateway.base_url());
  const std::string key = gateway.api_key();
  const std::string model = flags.models.empty() ? "mock-model" : split(flags.models.front(), '=').first;
  const Json body{{"model", model}, {"messages", {{{"role", "user"}, {"content", "Hello"}}}}};
  if (!is_loopback(flags.host)) {
    std::cerr << "mock-gateway: warning: listening on " << flags.host << ", reachable from the network" << std::endl;
  }
  std::cout << "base URL  " << gateway.base_url() << "\n"
            << "API key   " << key << "\n\n"
            << "export OPENAI_BASE_URL=" << url << " OPENAI_API_KEY=" << quoted_for_shell(key)
            << "\n"
            // A proxy in the environment would not reach this machine's loopback.
            << "curl --noproxy '*' " << url << "/chat/completions -H "
            << quoted_for_shell("Authorization: Bearer " + key) << " -H 'Content-Type: application/json' -d "
            << quoted_for_shell(body.dump()) << "\n\n"
            << "ready" << std::endl;
}

/// Each connection takes a descriptor, and what a shell allows is often 1024. A test's process may use select(), which
/// knows no more, so that the library leaves its limit alone; nothing here does.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Runs until SIGINT or SIGTERM, of which all threads but this one know nothing.
void serve(const Flags& flags) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // whoever read what it prints may be gone

  std::optional<PortFile> port_file;
  if (!flags.port_file.empty()) port_file.emplace(flags.port_file);
  raise_descriptor_limit();
  const std::optional<Scenario> chosen = scenario_from(flags);
  Log log(chosen);
  const Options options = options_from(flags)
                              .on_exchange([&log](const Exchange& exchange) { log.note(exchange); })
                              .on_connection_hit([&log](const ConnectionHit& hit) { log.note(hit); });
  std::optional<Gateway> running(std::in_place, chosen ? chosen->options(options) : options);
  Gateway& gateway = *running;
  for (const std::string& spec : flags.failures) force(gateway, spec);
  if (flags.reply) {
    gateway.chat().reply(text(*flags.reply)
                             .first_token_after(std::chrono::milliseconds(flags.first_token_ms))
                             .every(std::chrono::milliseconds(flags.gap_ms)));
  }
  if (chosen) chosen->mount(gateway);
  if (port_file) port_file->write(gateway.port());
  introduce(gateway, flags);

  int signal = 0;
  sigwait(&ends, &signal);
  port_file.reset();  // before the port is closed, so that nobody finds there what is gone
  running.reset();    // its last exchanges are logged
  log.end();
}

void report(std::string problem) {
  problem = without_prefix(std::move(problem));
  std::replace(problem.begin(), problem.end(), '\n', ' ');
  std::cerr << "mock-gateway: " << problem << std::endl;
}

}  // namespace

int main(int count, char** arguments) {
  Flags flags;
  CLI::App app{"A local test double of an OpenAI-compatible model gateway.", "mock-gateway"};
  app.set_version_flag("--version", std::string("mock-gateway ") + MOCK_GATEWAY_VERSION);
  const auto option = [&app](const std::string& name, auto& value, const char* type, const char* description) {
    return app.add_option(name, value, description)->type_name(type)->allow_extra_args(false);
  };
  const CLI::Range milliseconds(0, 3'600'000);
  option("--host", flags.host, "ADDRESS", "where to listen (127.0.0.1); beyond loopback the network can reach it");
  option("--port", flags.port, "PORT", "port to listen on (8080); 0 takes a free one")->check(CLI::Range(0, 65535));
  option("--port-file", flags.port_file, "FILE", "write the port to this file once ready; removed at the end");
  option("--model", flags.models, "ID[=OWNER]", "serve this model (mock-model); repeatable");
  option("--key", flags.keys, "KEY[=disabled]",
         "accept this key; repeatable. The first that is enabled is the one printed, without any the seed makes one");
  option("--fail", flags.failures, "STATUS[:TIMES]",
         "answer the next requests with a failure: 429, 429:2 for two of them, 503:* for all; repeatable");
  option("--limit", flags.limit, "REQUESTS/WINDOW", "for all keys together: 60/1m, 2/500ms, 10/60s");
  option("--seed", flags.seed, "NUMBER", "decides ids, keys and default replies (1)")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  option("--profile", flags.profile, "NAME", "whose shapes replies have, and what it takes (documented)")
      ->check(CLI::IsMember(profile_names()));
  CLI::Option* acceptance =
      option("--acceptance", flags.acceptance, "NAME",
             "what requests may hold: strict (only what the documentation lists), default (what common SDKs send) or "
             "lenient (any JSON with model and messages); unless set, what the profile's service takes")
          ->check(CLI::IsMember({"strict", "default", "lenient"}));
  app.add_flag("--strict", flags.strict, "the same as --acceptance strict")->excludes(acceptance);
  CLI::Option* reply = option("--reply", flags.reply, "TEXT", "answer every chat with this text");
  option("--first-token-ms", flags.first_token_ms, "MS", "time to the first token")->check(milliseconds)->needs(reply);
  option("--gap-ms", flags.gap_ms, "MS", "time between tokens")->check(milliseconds)->needs(reply);
  option("--scenario", flags.scenario, "NAME", "answer every chat as this scenario of the catalogue does")
      ->excludes(reply);
  CLI::Option* list = app.add_flag("--list-scenarios", flags.list_scenarios, "print the catalogue of scenarios");
  app.add_flag("--json", flags.json, "with --list-scenarios: all that is known of each, as JSON")->needs(list);
  try {
    app.parse(count, arguments);
    if (flags.list_scenarios) {
      list_scenarios(flags.json);
      return 0;
    }
    serve(flags);
    return 0;
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app.exit(problem);  // --help and --version
    report(problem.what());
  } catch (const std::exception& problem) {
    report(problem.what());
  }
  return exit_usage;
}
