// Whether memory stays bounded: resident memory after a tenth of the requests and after all of them, each request
// different, a ninth each unmatched, refused, and with a finding; and, if asked for, every so many that mount and
// remove a stub of their own. Arguments: requests (1000000), connections (8), stubs every (0: none).

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "mock_gateway.hpp"
#include "support/client.hpp"

namespace {

using namespace mock_gateway;

/// In MB.
double resident() {
  long pages = 0;
  long ignored = 0;
  std::ifstream("/proc/self/statm") >> ignored >> pages;
  return static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

std::string request(const Gateway& gateway, long number) {
  const std::string text = (number % 9 == 0 ? "unknown " : "question ") + std::to_string(number);
  Json body{{"model", number % 9 == 3 ? "no such model" : "mock-model"},
            {"messages", {{{"role", "user"}, {"content", text}}}}};
  if (number % 9 == 6) body["unknown"] = number;
  return bench::chat_request(gateway.api_key(), body.dump());
}

}  // namespace

int main(int argc, char** argv) {
  const long requests = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  const long connections = argc > 2 ? std::atol(argv[2]) : 8;
  const long stubs_every = argc > 3 ? std::atol(argv[3]) : 0;
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
  const double early = resident();
  run_to(requests);
  const double late = resident();
  const Journal journal = gateway.journal();
  std::printf("%zu requests, %zu of them answered by the stub; journal: %zu kept, %zu evicted\n", journal.count(),
              stub.calls(), journal.all().size(), journal.evicted());
  std::printf("resident after %ld %.1f MB, after %ld %.1f MB: %.1f more (aim 5)\n", requests / 10, early, sent, late,
              late - early);
  const bool bounded = late - early <= 5 && journal.all().size() == 10'000 &&
                       journal.count() == journal.evicted() + journal.all().size();
  return bounded ? 0 : 1;
}
