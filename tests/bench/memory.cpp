// Checks that memory stays bounded: compares memory after a tenth of the requests and after all of them. Each request
// is different; a ninth each is unmatched, is refused, and has a finding. Optionally, every Nth request mounts and
// removes its own stub. Only memory that the program holds is judged. Resident memory also grows by free memory that
// glibc's malloc keeps in its arenas, one per thread: the thread that evicts a record frees memory of another thread's
// arena. With MALLOC_ARENA_MAX=1 in the environment the two stay together. Arguments: requests (1000000; short 20000),
// connections (8), stubs every (0: none).

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>
#include <unistd.h>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/run.hpp"

namespace {

using namespace mock_gateway;

/// In MB.
struct Memory {
  double resident;
  double in_use;     // heap memory
  double kept_free;  // free, but kept by malloc

  static Memory now() {
    long pages = 0;
    long ignored = 0;
    std::ifstream("/proc/self/statm") >> ignored >> pages;
    const struct mallinfo2 heap = ::mallinfo2();
    const auto megabytes = [](std::size_t bytes) { return static_cast<double>(bytes) / 1e6; };
    return {megabytes(static_cast<std::size_t>(pages) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
            megabytes(heap.uordblks + heap.hblkhd), megabytes(heap.fordblks)};
  }
  void print(long requests) const {
    std::printf("after %7ld requests: %.1f MB in use, %.1f MB kept free by malloc, %.1f MB resident\n", requests,
                in_use, kept_free, resident);
  }
};

std::string request(const Gateway& gateway, long number) {
  const std::string text = (number % 9 == 0 ? "unknown " : "question ") + std::to_string(number);
  Json body{{"model", number % 9 == 3 ? "no such model" : "mock-model"},
            {"messages", {{{"role", "user"}, {"content", text}}}}};
  if (number % 9 == 6) body["unknown"] = number;
  return bench::chat_request(gateway.api_key(), body.dump());
}

}  // namespace

int main(int argc, char** argv) {
  bench::Run run(argc, argv);
  const long requests = run.number(0, 1'000'000, 20'000);
  const long connections = run.number(1, 8, 8);
  const long stubs_every = run.number(2, 0, 0);
  Gateway gateway{Options{}.unmatched(Unmatched::allowed)};
  const Stub stub = gateway.chat().when(user_says("question")).reply("Hello.");

  std::vector<bench::Client> open;
  for (long client = 0; client < connections; ++client) {
    open.emplace_back(gateway.port());
  }
  for (bench::Client& client : open) client.allow_any_status();
  long sent = 0;
  const auto run_to = [&](long end) {
    std::vector<std::thread> clients;
    const long each = (end - sent) / connections;
    for (long client = 0; client < connections; ++client) {
      clients.emplace_back([&gateway, stubs_every, &connection = open[static_cast<std::size_t>(client)],
                            first = sent + client * each, each] {
        for (long number = first; number < first + each; ++number) {
          std::optional<ScopedStub> own;
          if (stubs_every > 0 && number % stubs_every == 0) {
            own.emplace(gateway.chat()
                            .when(user_says(equals("question " + std::to_string(number))))
                            .expect(at_most(1))
                            .reply("Mine.")
                            .scoped());
          }
          connection.send(request(gateway, number));
          connection.receive_response();
        }
      });
    }
    for (std::thread& client : clients) client.join();
    sent += each * connections;
  };
  run_to(requests / 10);
  const Memory early = Memory::now();
  early.print(sent);
  run_to(requests);
  const Memory late = Memory::now();
  late.print(sent);
  const Journal journal = gateway.journal();
  std::printf("%zu requests, %zu of them answered by the stub; journal: %zu kept, %zu evicted\n", journal.count(),
              stub.calls(), journal.all().size(), journal.evicted());
  const double more = late.in_use - early.in_use;
  const bool is_bounded = journal.all().size() == 10'000 && journal.count() == journal.evicted() + journal.all().size();
  std::printf("memory in use through the rest of them: %.1f MB more (%s)\n", more,
              run.judge("at most 5, with 10,000 kept", more <= 5 && is_bounded).c_str());
  return run.status();
}
