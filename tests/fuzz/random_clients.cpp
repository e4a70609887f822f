// Random operations on a gateway while random clients use it, for runs with the thread sanitizer.
//
//   random_clients [--seconds N] [--operations N] [--seed N]
//
// One thread scripts replies, changes keys, calls verify() and review(), refuses connections, moves the clock and stops
// the gateway. Other threads send valid, broken, incomplete and pipelined requests, and leave at any time. New gateways
// follow until the time or the operations are used up. The gateway must not crash, race, or take long to stop. The same
// seed repeats the actions of each thread, but not how the threads interleave.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/random.hpp"
#include "finding.hpp"

namespace random_clients {

using namespace mock_gateway;
using namespace std::chrono_literals;
using detail::Random;
using fuzz::found;
using fuzz::require;
using test_support::RawConnection;

constexpr int clients = 6;
constexpr auto time_to_stop = 10s;  // far more than the usual 50 ms, for sanitizers and busy machines
constexpr auto time_of_a_step = 60s;

/// A watchdog that ends the program if nothing happens for too long. Otherwise a hang would look like a long run.
class Watchdog {
 public:
  Watchdog() : thread_([this] { watch(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void note_step() { ++steps_; }

 private:
  void watch() {
    std::unique_lock<std::mutex> lock(mutex_);
    std::size_t seen = steps_;
    while (!changed_.wait_for(lock, time_of_a_step, [&] { return over_; })) {
      if (steps_ == seen) found("no client made progress for a minute");
      seen = steps_;
    }
  }

  std::atomic<std::size_t> steps_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

std::string word(Random& random) {
  constexpr const char* words[] = {"weather", "count", "hello", "漢字 🙂", "\\\"quoted\\\"", "go"};
  return words[random.below(std::size(words))];
}

/// Returns the bytes of a random request, which is sometimes cut, damaged or doubled.
std::string request(const test_support::Http& http, const std::string& secret, Random& random) {
  const test_support::Http sender = random.below(6) == 0 ? http.with_key(secret) : http;
  const std::string target = random.below(20) == 0 ? "/v1/nothing" : test_support::chat_path;
  std::string body = R"({"model":"mock-model","messages":[{"role":"user","content":")" + word(random) + "\"}]";
  if (random.below(2) == 0) body += R"(,"stream":true)";
  if (random.below(8) == 0) body += R"(,"n":3)";
  if (random.below(8) == 0) body += R"(,"temperature":"hot")";
  body += "}";
  std::string bytes = random.below(12) == 0 ? sender.format("GET", "/v1/models") : sender.format("POST", target, body);
  switch (random.below(12)) {
    case 0: bytes.resize(random.below(bytes.size() + 1)); break;
    case 1: bytes[random.below(bytes.size())] = static_cast<char>(random.below(256)); break;
    case 2: bytes.insert(random.below(bytes.size()), 1, static_cast<char>(random.below(256))); break;
    case 3: bytes += bytes; break;
    default: break;
  }
  return bytes;
}

/// Runs a client that repeatedly connects, sends, sometimes reads, and leaves.
void misbehave(const Gateway& gateway, const std::string& secret, Random random, const std::atomic<bool>& over,
               std::atomic<std::size_t>& requests) {
  const test_support::Http http(gateway);
  std::optional<RawConnection> connection;
  while (!over) {
    if (!connection) {
      try {
        connection.emplace(gateway, test_support::ConnectionOptions{random.below(8) == 0 ? 2048 : 0});
      } catch (const std::runtime_error&) {
        std::this_thread::yield();  // the connection was refused, or the gateway is stopped
        continue;
      }
    }
    bool lasts = connection->send(request(http, secret, random), 2000ms);
    ++requests;
    switch (random.below(8)) {
      case 0: lasts = false; break;
      case 1:
        connection->abort();
        lasts = false;
        break;
      case 2:
        connection->shutdown_write();
        connection->receive_all(100ms);
        lasts = false;
        break;
      case 3:
        connection->receive_until("data:", 20ms);
        lasts = random.below(2) == 0;
        break;
      default: try { lasts = connection->receive_response(100ms).complete && lasts;
        } catch (const std::runtime_error&) {
          lasts = false;  // a fault has sent bytes that are not HTTP
        }
    }
    if (!lasts) connection.reset();
  }
}

/// The actions of the thread that operates one gateway.
class Tester {
 public:
  Tester(Gateway& gateway, std::optional<ManualClock> clock, std::string key_id, Random& random)
      : gateway_(gateway), clock_(std::move(clock)), key_id_(std::move(key_id)), random_(random) {}
  ~Tester() {
    for (const Gate& gate : gates_) Gate(gate).open();
  }

  void act() {
    switch (random_.below(22)) {
      case 0:
      case 1:
      case 2: gateway_.chat().when(user_says(prompt_part())).reply(reply(), reply()); break;
      case 3: stubs_.push_back(gateway_.chat().times(1 + random_.below(5)).named("limited").reply(reply())); break;
      case 4:
        if (!stubs_.empty()) stubs_[random_.below(stubs_.size())].remove();
        break;
      case 5: {
        const ScopedStub scoped = gateway_.chat().priority(2).reply(reply()).scoped();
        print(scoped.wait_for_calls(1, 5ms));
        break;
      }
      case 6: gateway_.reset(); break;
      case 7: gateway_.fail_next(rate_limited(1s), 1 + random_.below(3)); break;
      case 8: gateway_.clear_failures(); break;
      case 9: gateway_.chaos(Chaos(at_any_event(6), reset_connection()).probability(0.2)); break;
      case 10: gateway_.clear_chaos(); break;
      case 11: gateway_.next_connection(connection_fault()); break;
      case 12: change_keys(); break;
      case 13: gateway_.refuse_connections(); break;
      case 14: gateway_.accept_connections(); break;
      case 15:
      case 16: review_or_verify(); break;
      case 17: read_journal(); break;
      case 18: gateway_.set_state("scenario", prompt_part()); break;
      case 19: release(); break;
      case 20: print(gateway_.journal().wait_until_idle(5ms)); break;
      default: move_clock(); break;
    }
    if (clock_) move_clock();
  }

 private:
  std::string prompt_part() { return random_.below(2) == 0 ? "weather" : "o"; }

  Reply reply() {
    Reply reply =
        random_.below(4) == 0 ? tool_call("find", {{"city", "Paris"}}) : text("one two three, 漢字 four five");
    switch (random_.below(12)) {
      case 0: return rate_limited(1s);
      case 1: return raw_reply(200, "{}");
      case 2: return reply.every(5ms);
      case 3: return reply.first_token_after(10ms).tokens_per_second(200);
      case 4: return reply.fault(after_tokens(2), reset_connection());
      case 5: return reply.fault(after_events(1), close_connection());
      case 6: return reply.fault(after_tokens(1), stall(20ms));
      case 7: return reply.slice_writes(7);
      case 8: gates_.emplace_back(200ms); return reply.hold(gates_.back(), before_token(1));
      case 9: return reply.fault(at_end(), half_close());
      default: return reply;
    }
  }

  ConnectionFault connection_fault() {
    switch (random_.below(10)) {
      case 0: return reset_on_accept();
      case 1: return close_on_accept();
      case 2: return garbage_on_accept();
      case 3: return close_when_reused();
      case 4: return reset_when_reused();
      case 5: return unsolicited_continue();
      case 6: return early_hints();
      case 7: return slow_body(64, 1ms);
      case 8: return reply_then_read_body(bad_request());
      default: return reply_before_body(bad_request());
    }
  }

  void change_keys() {
    const Keys keys = gateway_.keys();
    switch (random_.below(7)) {
      case 0: keys.disable(key_id_); break;
      case 1: keys.enable(key_id_); break;
      case 2: keys.limit_rate(key_id_, 3, 50ms); break;
      case 3: keys.unlimit_rate(key_id_); break;
      case 4: keys.limit_models(key_id_, {"another"}); break;
      case 5: keys.limit_models(key_id_, {}); break;
      default: keys.remove(keys.create("for a moment").id); break;
    }
  }

  template <class Result>
  void print(const Result& result) {
    std::ostringstream out;
    out << result;
    printed_bytes_ += out.str().size();
  }

  /// Rarely calls review() or verify(), because they wait for a second while clients keep the gateway busy.
  void review_or_verify() {
    switch (random_.below(16)) {
      case 0: print(gateway_.review()); break;
      case 1: print(gateway_.verify()); break;
      default: break;
    }
  }

  void read_journal() {
    std::vector<Exchange> exchanges = gateway_.journal().all();
    if (exchanges.size() > 8) exchanges.erase(exchanges.begin(), exchanges.end() - 8);
    for (const Exchange& exchange : exchanges) {
      printed_bytes_ += exchange.summary().size() + exchange.as_curl().size() + exchange.raw().size() +
                        as_json(exchange).dump().size();
      printed_bytes_ += exchange.outcome(0ms).events + exchange.events_sent();
    }
  }

  void release() {
    if (gates_.empty()) return;
    Gate& gate = gates_[random_.below(gates_.size())];
    if (random_.below(2) == 0) print(gate.wait_until_reached(2ms));
    gate.release();
  }

  void move_clock() {
    if (!clock_) return;
    if (random_.below(2) == 0) {
      clock_->advance(std::chrono::milliseconds(random_.below(100)));
    } else if (!clock_->waits().empty()) {
      try {
        clock_->advance_to_next_event();
      } catch (const GatewayError&) {
        // The client that waited has left meanwhile.
      }
    }
  }

  Gateway& gateway_;
  std::optional<ManualClock> clock_;
  std::string key_id_;
  Random& random_;
  std::vector<Stub> stubs_;
  std::vector<Gate> gates_;
  std::size_t printed_bytes_ = 0;
};

/// Runs one gateway with its clients, from start to stop. Returns the number of requests.
std::size_t run_gateway(Random& random, const std::function<bool()>& enough, Watchdog& watchdog,
                        std::size_t& operations) {
  std::optional<ManualClock> manual;
  Options options =
      Options().verify_on_destruction(false).max_body(4096).max_head(4096).journal_limits(200, std::size_t{1} << 20);
  options = options.seed(random.next()).read_timeout(200ms).idle_timeout(500ms);
  switch (random.below(3)) {
    case 0: options = options.clock(InstantClock{}); break;
    case 1: manual.emplace(ManualClock::default_start, 200ms), options = options.clock(*manual); break;
    default: break;
  }
  std::atomic<std::size_t> ended{0};
  options = options.on_exchange([&](const Exchange& exchange) { ended += exchange.status() > 0 ? 1 : 0; });
  Gateway gateway(options);
  const CreatedKey key = gateway.keys().create("changed at random");
  std::atomic<bool> over{false};
  std::atomic<std::size_t> requests{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&, own = Random(random.next())] { misbehave(gateway, key.secret, own, over, requests); });
  }
  {
    Tester tester(gateway, manual, key.id, random);
    for (std::size_t left = 50 + random.below(400); left > 0 && !enough(); --left) {
      tester.act();
      ++operations;
      watchdog.note_step();
      if (random.below(4) == 0) std::this_thread::sleep_for(1ms);
    }
    if (random.below(2) == 0) over = true;
    const auto began = std::chrono::steady_clock::now();
    gateway.stop();
    require(std::chrono::steady_clock::now() - began < time_to_stop, "stopping takes too long");
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  return requests;
}

}  // namespace random_clients

int main(int argc, char** argv) {
  double seconds = 20;
  std::size_t most = static_cast<std::size_t>(-1);
  std::uint64_t seed = std::random_device{}();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--seconds") seconds = std::stod(argv[i + 1]);
    if (name == "--operations") most = std::stoull(argv[i + 1]);
    if (name == "--seed") seed = std::stoull(argv[i + 1]);
  }
  std::cout << "seed " << seed << std::endl;  // flushed at once, in case of a crash
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  mock_gateway::detail::Random random(seed);
  random_clients::Watchdog watchdog;
  std::size_t gateways = 0;
  std::size_t operations = 0;
  std::size_t requests = 0;
  const auto enough = [&] { return operations >= most || std::chrono::steady_clock::now() >= end; };
  for (; !enough(); ++gateways) requests += random_clients::run_gateway(random, enough, watchdog, operations);
  std::cout << "seed " << seed << ": " << gateways << " gateways, " << operations << " operations, " << requests
            << " requests, nothing found" << std::endl;
  return 0;
}
