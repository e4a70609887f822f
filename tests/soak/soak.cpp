// A long run that searches for growth of memory, descriptors and threads.
//
//   soak [requests] [gateways]        default: 500,000 requests over 1,000 gateways
//
// One gateway runs after the other, each for its share of the requests. Several clients send plain and streamed
// requests. Replies break by faults and chaos, clients leave early, and keys that change meanwhile refuse requests.
// Built with the address sanitizer, which searches for leaks when the program ends. Exit status: 0 no growth, 1 growth.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/random.hpp"
#include "mock_gateway.hpp"
#include "support/client.hpp"

namespace soak {

using namespace mock_gateway;
using namespace std::chrono_literals;
using detail::Random;
using test_support::Http;
using test_support::RawConnection;

constexpr std::size_t clients = 4;
// The allowed growth of memory after the first quarter of the gateways: allocators keep and split freed blocks.
constexpr double megabytes = 24;

struct Held {
  std::size_t descriptors = 0;
  std::size_t threads = 0;
  double megabytes = 0;
};

std::size_t entries(const char* folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

Held held() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  // Each count includes the descriptor that lists the folder.
  return {entries("/proc/self/fd"), entries("/proc/self/task"),
          pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1024 * 1024)};
}

std::ostream& operator<<(std::ostream& out, const Held& held) {
  return out << held.megabytes << " MiB, " << held.descriptors << " descriptors, " << held.threads << " threads";
}

void script(Gateway& gateway) {
  gateway.chat().reply("Hello there, you.");
  gateway.chat().when(user_says("tool")).reply(tool_call("find", {{"city", "Paris"}}), text("Sunny."));
  gateway.chat().when(user_says("reset")).reply(text("one two three four").fault(after_tokens(2), reset_connection()));
  gateway.chat().when(user_says("close")).reply(text("one two three four").fault(after_events(2), close_connection()));
  gateway.chat().when(user_says("paced")).reply(text("one two three four").first_token_after(200ms).every(50ms));
  gateway.chat().when(user_says("stall")).reply(text("one two three").fault(after_tokens(1), stall()));
  gateway.chat().when(user_says("fails")).reply(rate_limited(2s), server_error(), text("at last"));
  gateway.chaos(Chaos(at_any_token(4), close_connection()).probability(0.05));
  gateway.chaos(Chaos(overloaded()).probability(0.02));
}

/// Sends a client's share of the requests.
void run_client(const Gateway& gateway, const std::string& secret, std::size_t requests, Random random) {
  constexpr const char* words[] = {"hello", "tool", "reset", "close", "paced", "stall", "fails"};
  const Http http(gateway);
  std::optional<RawConnection> connection;
  for (; requests > 0; --requests) {
    const char* word = words[random.below(std::size(words))];
    Json body = test_support::chat_body(Json(word));
    if (random.below(2) == 0) body["stream"] = true;
    const Http sender = random.below(5) == 0 ? http.with_key(secret) : http;
    if (!connection) connection.emplace(gateway);
    bool lasts = connection->send(sender.format("POST", test_support::chat_path, body.dump()));
    if (std::string(word) == "stall") {
      connection->receive_until("one", 50ms);
      lasts = false;
    } else {
      try {
        const test_support::Response response = connection->receive_response();
        lasts = lasts && response.complete && test_support::detail::lower(response.header("Connection")) != "close";
      } catch (const std::runtime_error&) {
        lasts = false;
      }
    }
    if (!lasts || random.below(20) == 0) connection.reset();
  }
}

void run_gateway(std::size_t requests, Random random) {
  Gateway gateway{Options{}.seed(random.next()).clock(InstantClock{}).verify_on_destruction(false)};
  script(gateway);
  const CreatedKey key = gateway.keys().create("changes");
  std::atomic<bool> over{false};
  std::thread changer([&, own = Random(random.next())]() mutable {
    while (!over) {
      switch (own.below(6)) {
        case 0: gateway.keys().disable(key.id); break;
        case 1: gateway.keys().enable(key.id); break;
        case 2: gateway.keys().limit_rate(key.id, 5, 1s); break;
        case 3: gateway.keys().unlimit_rate(key.id); break;
        case 4: gateway.keys().remove(gateway.keys().create("for a moment").id); break;
        default: gateway.next_connection(own.below(2) == 0 ? reset_when_reused() : unsolicited_continue()); break;
      }
      std::this_thread::sleep_for(2ms);
    }
  });
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < clients; ++i) {
    const std::size_t share = requests / clients + (i < requests % clients ? 1 : 0);
    threads.emplace_back([&, share, own = Random(random.next())] { run_client(gateway, key.secret, share, own); });
  }
  for (std::thread& thread : threads) thread.join();
  over = true;
  changer.join();
  if (random.below(4) == 0) gateway.reset();
  if (random.below(2) == 0 && gateway.review() && gateway.verify()) gateway.stop();
}

int run(std::size_t requests, std::size_t gateways) {
  const auto began = std::chrono::steady_clock::now();
  const std::size_t warm = std::max<std::size_t>(1, gateways / 4);
  const std::size_t step = std::max<std::size_t>(1, gateways / 10);
  Random random(1);
  run_gateway(requests / gateways, Random(random.next()));  // allocations that happen once per process
  const Held start = held();
  std::cout << "start: " << start << std::endl;
  Held warmed = start;
  for (std::size_t i = 1; i < gateways; ++i) {
    run_gateway(requests / gateways + (i < requests % gateways + 1 ? 1 : 0), Random(random.next()));
    if (i == warm) {
      warmed = held();
      std::cout << "warm: " << warmed << std::endl;
    } else if (i % step == 0) {
      std::cout << i << " gateways: " << held() << std::endl;
    }
  }
  const Held end = held();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::cout << "end: " << end << "\nsoak: " << requests << " requests over " << gateways << " gateways in " << seconds
            << " s, memory grew by " << end.megabytes - warmed.megabytes << " MiB (at most " << megabytes << ")\n";
  const bool holds = end.descriptors == start.descriptors && end.threads == start.threads &&
                     end.megabytes - warmed.megabytes <= megabytes;
  if (!holds) std::cout << "soak: MEMORY, DESCRIPTORS OR THREADS GREW\n";
  return holds ? 0 : 1;
}

}  // namespace soak

int main(int argc, char** argv) {
  const std::size_t requests = argc > 1 ? std::stoul(argv[1]) : 500'000;
  const std::size_t gateways = argc > 2 ? std::stoul(argv[2]) : 1'000;
  if (gateways == 0 || requests < gateways) {
    std::cerr << "usage: soak [requests] [gateways]: at least one request for each gateway\n";
    return 2;
  }
  return soak::run(requests, gateways);
}
