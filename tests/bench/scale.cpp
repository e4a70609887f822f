// Measures many paced streams at once: their cost, and how late their events are. The client is a separate process with
// one thread, on the same machine. It opens 2,500 streams per second. Each stream sends a token per second, starting a
// second after its request. Lateness is measured from sending the request to receiving the event, so it includes the
// client's own lateness. A control run comes first in the client's process: one thread that only
// waits for the same moments. It shows how late the machine itself is. Arguments: streams (10000; short 200), seconds
// per stream (10; short 2).

#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../support/processor_time.hpp"
#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"

namespace {

using namespace mock_gateway;
using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

/// The interval between the starts of two streams.
constexpr SteadyClock::duration step = 400us;

/// In ms.
struct Lateness {
  double median = 0;
  double p99 = 0;
  double maximum = 0;

  static Lateness of(const std::vector<double>& all) {
    if (all.empty()) return {};
    return {bench::median(all), bench::quantile(all, 0.99), bench::quantile(all, 1)};
  }
};

/// The client's report about a run.
struct Report {
  long tokens = 0;
  long whole_streams = 0;
  double opened_in = 0;  // seconds
  Lateness lateness;
};

struct Order {
  int port = 0;
  long streams = 0;
  long tokens = 0;
  char key[128] = {};
};

/// Raises this process's limit of descriptors to its maximum.
long raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<long>(std::min<rlim_t>(limit.rlim_cur, 1'000'000));
}

template <class Value>
void write_value(int pipe, const Value& value) {
  if (::write(pipe, &value, sizeof value) != static_cast<ssize_t>(sizeof value)) bench::give_up("a pipe is broken");
}

template <class Value>
Value read_value(int pipe) {
  Value value{};
  if (::read(pipe, &value, sizeof value) != static_cast<ssize_t>(sizeof value)) bench::give_up("a pipe is broken");
  return value;
}

/// Reads one number of /proc/self/status.
double of_this_process(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.compare(0, name.size() + 1, name + ":") == 0) return std::atof(line.c_str() + name.size() + 1);
  return 0;
}

double milliseconds(SteadyClock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

/// The lateness of a thread that only waits for the moments at which tokens of all streams are due.
Lateness control(const Order& order) {
  std::vector<SteadyClock::duration> moments;
  for (long stream = 0; stream < order.streams; ++stream)
    for (long token = 1; token <= order.tokens; ++token) moments.push_back(step * stream + std::chrono::seconds{token});
  std::sort(moments.begin(), moments.end());
  std::vector<double> lateness;
  const auto began = SteadyClock::now();
  for (const SteadyClock::duration moment : moments) {
    for (;;) {
      const auto left = began + moment - SteadyClock::now();
      if (left <= left.zero()) break;
      const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
      const timespec timeout{static_cast<time_t>(whole.count()), static_cast<long>((left - whole).count())};
      ::ppoll(nullptr, 0, &timeout, nullptr);
    }
    lateness.push_back(milliseconds(SteadyClock::now() - began - moment));
  }
  return Lateness::of(lateness);
}

struct Stream {
  std::optional<bench::Client> client;
  SteadyClock::time_point sent;
  long events = 0;
  std::string tail;  // the last received bytes
};

/// The client: one thread that polls all streams.
class Streams {
 public:
  explicit Streams(const Order& order) : order_(order), streams_(static_cast<std::size_t>(order.streams)) {
    const Json body{
        {"model", "mock-model"}, {"stream", true}, {"messages", {{{"role", "user"}, {"content", "Count."}}}}};
    request_ = bench::chat_request(order.key, body.dump());
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  }

  Report run() {
    Report report;
    const auto began = SteadyClock::now();
    const auto end = began + step * order_.streams + std::chrono::seconds{order_.tokens} + 10s;
    std::size_t opened = 0;
    long ended = 0;
    std::vector<epoll_event> ready(1024);
    while (ended < order_.streams && SteadyClock::now() < end) {
      // Opens one stream at a time and receives events of the others in between, even if this makes it late.
      if (opened < streams_.size() && SteadyClock::now() >= began + step * static_cast<long>(opened)) {
        open(streams_[opened], opened);
        if (++opened == streams_.size())
          report.opened_in = std::chrono::duration<double>(SteadyClock::now() - began).count();
      }
      const bool is_late = opened < streams_.size() && SteadyClock::now() >= began + step * static_cast<long>(opened);
      const int count = ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()),
                                     is_late                    ? 0
                                     : opened < streams_.size() ? 1
                                                                : 100);
      for (int i = 0; i < count; ++i)
        if (!receive(streams_[ready[static_cast<std::size_t>(i)].data.u64])) ++ended;
    }
    report.tokens = static_cast<long>(lateness_.size());
    report.whole_streams = whole_;
    report.lateness = Lateness::of(lateness_);
    return report;
  }

 private:
  void open(Stream& stream, std::size_t index) {
    stream.client.emplace(order_.port);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = index;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, stream.client->socket(), &event);
    stream.sent = SteadyClock::now();
    stream.client->send(request_);
  }

  /// Receives available bytes. Returns false at the end of the stream.
  bool receive(Stream& stream) {
    const std::string_view bytes = stream.client->receive();
    const auto now = SteadyClock::now();
    constexpr std::string_view event_end = "\n\n";
    constexpr std::string_view body_end = "\r\n0\r\n\r\n";
    const std::size_t seen = stream.tail.size();
    stream.tail.append(bytes);
    for (std::size_t at = seen == 0 ? 0 : seen - 1; (at = stream.tail.find(event_end, at)) != std::string::npos;
         at += event_end.size()) {
      // The first event is the role's; the tokens follow.
      if (const long token = stream.events++; token >= 1 && token <= order_.tokens)
        lateness_.push_back(milliseconds(now - stream.sent - std::chrono::seconds{token}));
    }
    const bool ended = stream.tail.size() >= body_end.size() &&
                       stream.tail.compare(stream.tail.size() - body_end.size(), std::string::npos, body_end) == 0;
    // The tail is shorter than any event, so no event end is counted twice.
    stream.tail.erase(0, stream.tail.size() - std::min(stream.tail.size(), body_end.size()));
    if (!ended) return true;
    if (stream.events == order_.tokens + 3) ++whole_;
    stream.client.reset();
    return false;
  }

  Order order_;
  std::vector<Stream> streams_;
  std::string request_;
  int epoll_ = -1;
  std::vector<double> lateness_;
  long whole_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  bench::Run run(argc, argv);
  Order order;
  order.streams = run.number(0, 10'000, 200);
  order.tokens = run.number(1, 10, 2);
  const long most = raise_descriptor_limit() - 64;
  if (most < order.streams) {
    std::printf("only %ld streams: the limit of descriptors (ulimit -Hn) allows no more\n", most);
    order.streams = most;
  }

  // Forks before the gateway has threads.
  int orders[2];
  int reports[2];
  if (::pipe(orders) != 0 || ::pipe(reports) != 0) bench::give_up("no pipe");
  const pid_t client = ::fork();
  if (client == 0) {
    ::close(orders[1]);
    write_value(reports[1], control(order));
    write_value(reports[1], Streams(read_value<Order>(orders[0])).run());
    std::_Exit(0);
  }
  ::close(orders[0]);
  ::close(reports[1]);

  const Lateness bare = read_value<Lateness>(reports[0]);
  const double before = of_this_process("VmRSS") / 1024;
  const auto began = SteadyClock::now();
  const test_support::ProcessorTime at_start = test_support::ProcessorTime::now();
  Gateway gateway;
  std::string text;
  for (long token = 0; token < order.tokens; ++token) text += token == 0 ? "word" : " word";
  gateway.chat().reply(mock_gateway::text(text).first_token_after(1s).every(1s));
  order.port = gateway.port();
  gateway.api_key().copy(order.key, sizeof order.key - 1);
  write_value(orders[1], order);

  // The moment when all streams are open and none has ended.
  const bool all_came = bool(gateway.journal().wait_for(static_cast<std::size_t>(order.streams), 60s));
  const double threads = of_this_process("Threads");
  const Report report = read_value<Report>(reports[0]);
  ::waitpid(client, nullptr, 0);
  const test_support::ProcessorTime after = test_support::ProcessorTime::now();
  const std::chrono::duration<double> elapsed = SteadyClock::now() - began;
  const double peak = of_this_process("VmHWM") / 1024;

  std::printf("%ld streams at once, %s, a token a second for %ld s: %ld tokens of %ld, %ld streams whole\n",
              order.streams, all_came ? "all accepted" : "not all accepted", order.tokens, report.tokens,
              order.streams * order.tokens, report.whole_streams);
  const auto print = [](const char* whose, const Lateness& lateness) {
    std::printf("lateness in ms, %-12s median %.2f, 99th percentile %.2f, maximum %.2f\n", whose, lateness.median,
                lateness.p99, lateness.maximum);
  };
  print("bare timers:", bare);
  print("streams:", report.lateness);
  const double more = report.lateness.p99 - bare.p99;
  std::printf("the 99th percentile is %.2f more than that of bare timers (%s); opened in %.1f s\n", more,
              run.judge("below 5", more < 5).c_str(), report.opened_in);
  std::printf(
      "tokens and streams: %s\n",
      run.judge("all", report.tokens == order.streams * order.tokens && report.whole_streams == order.streams).c_str());
  const double each = (peak - before) * 1024 / static_cast<double>(order.streams);
  std::printf("the gateway: %.0f MB resident at most, %.1f KB a stream (%s), %.0f threads, %.1f s of CPU\n", peak, each,
              run.judge("below 10", each < 10).c_str(), threads, after.own - at_start.own);
  std::printf("others took %.2f processors meanwhile\n",
              (after.machine - at_start.machine - after.own + at_start.own - after.children) / elapsed.count());
  return run.status();
}
