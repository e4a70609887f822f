// Many clients in parallel while the test mounts and removes stubs.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace concurrency_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;
using test_support::RawConnection;
using test_support::Response;

TEST_CASE("100 stubs answer 64 clients exactly, while other stubs are mounted and removed") {
  constexpr int clients = 64;
  constexpr int rounds = 25;
  constexpr int stubs = 100;
  Gateway gateway{Options{}.journal_limits(clients * rounds, std::size_t{64} << 20)};
  std::vector<Stub> mounted;
  for (int i = 0; i < stubs; ++i) {
    const std::string question = "question " + std::to_string(i) + ".";
    mounted.push_back(gateway.chat()
                          .when(user_says(question), matching("is one", [](const ChatRequest&) { return true; }))
                          .should(stream_is(false))
                          .reply(question));
  }
  std::atomic<bool> finished{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  // These stubs never answer: one matches no request, the other matches all but has a lower priority.
  for (int changer = 0; changer < 2; ++changer) {
    threads.emplace_back([&] {
      while (!finished) {
        const ScopedStub nobody = gateway.chat().when(user_says("nobody asks this")).expect(0).reply("wrong").scoped();
        const Stub last = gateway.chat().priority(-1).reply("wrong");
        gateway.set_state("unrelated", "moved");
        last.remove();
        if (nobody.calls() + last.calls() != 0) ++wrong;
      }
    });
  }
  std::atomic<int> next{0};
  for (int client = 0; client < clients; ++client) {
    threads.emplace_back([&] {
      const Http http = Http(gateway).keep_alive();
      for (int round = 0; round < rounds; ++round) {
        const std::string question = "question " + std::to_string(next++ % stubs) + ".";
        if (http.ask(question) != question) ++wrong;
      }
    });
  }
  for (int client = 0; client < clients; ++client) threads[static_cast<std::size_t>(client) + 2].join();
  finished = true;
  threads[0].join();
  threads[1].join();
  CHECK(wrong == 0);
  for (const Stub& stub : mounted) CHECK(stub.calls() == clients * rounds / stubs);
  CHECK(gateway.journal().count() == clients * rounds);
  CHECK(gateway.verify());
}

TEST_CASE("a sequence gives each reply exactly once, even if requests arrive while stubs are mounted") {
  constexpr int clients = 16;
  for (int repetition = 0; repetition < 5; ++repetition) {
    Gateway gateway{Options{}.unmatched(Unmatched::allowed)};
    std::atomic<bool> finished{false};
    std::mutex mutex;
    std::map<std::string, int> answers;
    std::vector<std::thread> threads;
    for (int client = 0; client < clients; ++client) {
      threads.emplace_back([&] {
        const Http http = Http(gateway).keep_alive();
        while (!finished) {
          const Response response = http.chat("go");
          const std::lock_guard<std::mutex> lock(mutex);
          ++answers[response.status == 200 ? response.text() : response.error_code()];
        }
      });
    }
    REQUIRE(gateway.journal().wait_for(clients, 10s));
    gateway.chat().when(user_says("something else")).reply("wrong");
    const Stub sequence = gateway.chat().when(user_says("go")).reply("1", "2", "3", "4", "5", then_nothing_more());
    for (int i = 0; i < 50; ++i) gateway.chat().when(user_says("something else")).reply("wrong");
    CHECK(sequence.wait_for_calls(5, 10s));
    finished = true;
    for (std::thread& thread : threads) thread.join();
    for (const char* reply : {"1", "2", "3", "4", "5"}) CHECK(answers[reply] == 1);
    CHECK(answers["wrong"] == 0);
    CHECK(sequence.calls() == 5);
    CHECK(sequence.exchanges().size() == 5);
  }
}

TEST_CASE("each client of a burst is served while the others stay connected, also in later, larger bursts") {
  Gateway gateway;
  gateway.chat().reply("Hello");
  const std::string request = Http(gateway).format_chat();
  for (const std::size_t clients : {std::size_t{1}, std::size_t{4}, std::size_t{16}, std::size_t{48}}) {
    CAPTURE(clients);
    std::vector<RawConnection> connections;
    for (std::size_t i = 0; i < clients; ++i) connections.emplace_back(gateway);
    for (RawConnection& connection : connections) connection.send(request);
    for (auto connection = connections.rbegin(); connection != connections.rend(); ++connection)
      REQUIRE(connection->receive_response().status == 200);
  }
}

}  // namespace concurrency_test
