// Checks that bytes are sent on time on the real clock: never early, and at most 5 ms late. The expected times are
// those of the same plan on a manual clock.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "fuzz/plan.hpp"
#include "oracle.hpp"
#include "support/client.hpp"
#include "support/processor_time.hpp"

namespace oracle {
namespace {

constexpr std::chrono::nanoseconds most_late = 5ms;
/// The maximum number of runs. A busy machine may delay a write, but hardly the same write in all these runs.
constexpr int most_runs = 30;

/// A plan: a paced reply. It has no pings, because a stream skips pings if the machine pauses.
struct Timed {
  explicit Timed(std::size_t number) : draw(detail::fingerprint("oracle moments/" + std::to_string(number))) {
    std::string said;
    for (std::size_t words = 4 + draw.below(10); words > 0; --words)
      said += draw.one_of<const char*>({"one ", "東京 "});
    Pace pace = Pace().first_token_after(draw.once_in(2) ? Timing(uniform(1ms, 50ms)) : Timing(20ms));
    switch (draw.below(3)) {
      case 0: pace = pace.every(7ms); break;
      case 1: pace = pace.every(uniform(0ms, 40ms)); break;
      default: pace = pace.tokens_per_second(log_normal(60, 0.5)); break;
    }
    if (draw.once_in(4)) pace = pace.chunked(by_characters(2));
    reply = text(said).pace(pace);
    streamed = !draw.once_in(5);
    if (draw.once_in(3)) reply = reply.fault(after_headers(), stall(33ms));
    if (draw.once_in(4)) reply = reply.write_each_event();
  }

  reply_plans::Draw draw;
  Reply reply{""};
  bool streamed = true;
};

/// Runs a plan and returns its writes, with times relative to the request.
std::vector<Outgoing::Write> run(std::size_t number, bool is_manual) {
  const Timed timed(number);
  const ManualClock manual;
  const Options options = Options().seed(number).verify_on_destruction(false);
  Gateway gateway{is_manual ? options.clock(manual) : options};
  gateway.chat(scripted_at).reply(timed.reply);
  test_support::RawConnection connection(gateway);
  Json body{{"model", "mock-model"}, {"messages", {{{"role", "user"}, {"content", "When?"}}}}};
  if (timed.streamed) body["stream"] = true;
  const std::string request = request_of(gateway, body, true);
  const auto now = [is_manual, &manual]() -> std::chrono::nanoseconds {
    if (is_manual) return manual.now().time_since_epoch();
    return std::chrono::steady_clock::now().time_since_epoch();
  };
  const std::chrono::nanoseconds began = now();
  const Outgoing outgoing(gateway, [&now, began] { return now() - began; });
  connection.send(request);
  if (is_manual) {
    test_support::eventually([&] {
      const Journal journal = gateway.journal();
      if (journal.count() > 0 && is_over(journal.last())) return true;
      if (!manual.waits().empty()) ManualClock(manual).advance_to_next_event();
      return false;
    });
  }
  connection.receive_all(60s);
  return outgoing.writes();
}

std::size_t bytes_of(const std::vector<Outgoing::Write>& writes) {
  std::size_t bytes = 0;
  for (const Outgoing::Write& write : writes) bytes += write.size;
  return bytes;
}

/// How late the first and the last byte of a planned write were sent.
struct Delay {
  std::chrono::nanoseconds first;
  std::chrono::nanoseconds last;
};

/// Returns the delay of each planned write. Events that are due together may have been sent in several writes.
std::vector<Delay> delays(const std::vector<Outgoing::Write>& planned, const std::vector<Outgoing::Write>& made) {
  std::vector<Delay> all;
  std::size_t begin = 0;
  const auto left_at = [&made](std::size_t byte) {
    std::size_t end = 0;
    for (const Outgoing::Write& write : made)
      if ((end += write.size) > byte) return write.at;
    return made.back().at;
  };
  for (const Outgoing::Write& write : planned) {
    all.push_back({left_at(begin) - write.at, left_at(begin + write.size - 1) - write.at});
    begin += write.size;
  }
  return all;
}

std::string in_milliseconds(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration<double, std::milli>(time).count()) + " ms";
}

/// A measurement of the number of cores that other processes use.
class Others {
 public:
  double taken() const {
    const test_support::ProcessorTime now = test_support::ProcessorTime::now();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began_;
    return ((now.machine - before_.machine) - (now.own - before_.own)) / elapsed.count();
  }

 private:
  test_support::ProcessorTime before_ = test_support::ProcessorTime::now();
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// Returns the allowed lateness if other processes use this many cores. It grows with their share, and is unlimited if
/// they use almost the whole machine.
std::chrono::nanoseconds most_late_beside(double others) {
  const double processors = std::max(1u, std::thread::hardware_concurrency());
  if (others < 0.2) return most_late;
  if (processors - others < 0.25) return std::chrono::nanoseconds::max();
  return std::chrono::nanoseconds(
      std::llround(static_cast<double>(most_late.count()) * processors / (processors - others)));
}

/// The result of a plan.
struct Found {
  /// An error that a busy machine does not explain, or "" if there is none.
  std::string problem;
  /// The minimum lateness of each write over all runs.
  std::vector<std::chrono::nanoseconds> late;

  std::size_t latest() const {
    return static_cast<std::size_t>(std::max_element(late.begin(), late.end()) - late.begin());
  }
};

Found find(std::size_t number) {
  const std::vector<Outgoing::Write> planned = run(number, true);
  if (planned.empty()) return {"no write was seen", {}};
  Found found{"", std::vector<std::chrono::nanoseconds>(planned.size(), std::chrono::nanoseconds::max())};
  for (int again = 0; again < most_runs && found.late[found.latest()] > most_late; ++again) {
    const std::vector<Outgoing::Write> made = run(number, false);
    if (bytes_of(made) != bytes_of(planned))
      return {"it sent " + std::to_string(bytes_of(made)) + " bytes, on a manual clock " +
                  std::to_string(bytes_of(planned)),
              {}};
    const std::vector<Delay> all = delays(planned, made);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].first < 0ns)
        return {"write " + std::to_string(i + 1) + " left " + in_milliseconds(-all[i].first) + " before its moment",
                {}};
      found.late[i] = std::min(found.late[i], all[i].last);
    }
  }
  return found;
}

}  // namespace

bool leaves_in_time(std::size_t plans, std::size_t jobs) {
  const Others others;
  std::vector<Found> found(plans);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (std::size_t job = 0; job < jobs; ++job)
    threads.emplace_back([&] {
      for (std::size_t number = next++; number < plans; number = next++) found[number] = find(number);
    });
  for (std::thread& thread : threads) thread.join();
  const double taken = others.taken();
  std::vector<std::chrono::nanoseconds> all;
  for (const Found& each : found) all.insert(all.end(), each.late.begin(), each.late.end());
  std::sort(all.begin(), all.end());
  // A busy machine may delay single writes in all runs. If most writes are late, the gateway is the cause.
  const bool are_most_late = !all.empty() && all[all.size() / 2] > most_late;
  const std::chrono::nanoseconds limit = are_most_late ? most_late : most_late_beside(taken);
  std::size_t failed = 0;
  for (std::size_t number = 0; number < plans; ++number) {
    const Found& each = found[number];
    std::string problem = each.problem;
    if (problem.empty() && each.late[each.latest()] > limit)
      problem = "write " + std::to_string(each.latest() + 1) + " left " + in_milliseconds(each.late[each.latest()]) +
                " after its moment, and later in all other runs; others took " + std::to_string(taken) + " processors";
    if (problem.empty()) continue;
    ++failed;
    std::cerr << "plan " << number << ": " << problem << '\n';
  }
  std::cout << plans << " plans on the real clock, " << failed << " not in time\n";
  return failed == 0;
}

}  // namespace oracle
