// Measures a gateway for one test: construction, first request, destruction; and how long stop() takes with open
// connections. Arguments: lives (500; short 20), stops (50; short 2).

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"

namespace {

using namespace mock_gateway;

std::string request_of(const Gateway& gateway, const char* says, bool stream = false) {
  return bench::chat_request(
      gateway.api_key(),
      Json{{"model", "mock-model"}, {"stream", stream}, {"messages", {{{"role", "user"}, {"content", says}}}}}.dump());
}

/// In milliseconds.
struct Stop {
  double real;
  double user;
  double system;
};

double milliseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
}

Stop stop_with(int idle, int stalled, int half_sent, int not_reading) {
  Gateway gateway;
  gateway.chat().reply("Hello.");
  gateway.chat().when(user_says("stall")).reply(mock_gateway::text("one two").fault(after_events(1), stall()));
  gateway.chat().when(user_says("flood")).reply(mock_gateway::text(std::string(8u << 20, 'x')).verbatim());
  const std::string chat = request_of(gateway, "Hi.");
  std::vector<bench::Client> clients;
  clients.reserve(static_cast<std::size_t>(idle + stalled + half_sent + not_reading));
  for (int i = 0; i < idle; ++i) clients.emplace_back(gateway.port()).send(chat);
  for (bench::Client& client : clients) client.receive_response();
  for (int i = 0; i < stalled; ++i) {
    clients.emplace_back(gateway.port()).send(request_of(gateway, "stall", true));
    clients.back().receive_until("\n\n\r\n");
  }
  for (int i = 0; i < half_sent; ++i) clients.emplace_back(gateway.port()).send(chat.substr(0, chat.size() - 5));
  for (int i = 0; i < not_reading; ++i) clients.emplace_back(gateway.port(), 4096).send(request_of(gateway, "flood"));
  const auto all = static_cast<std::size_t>(idle + stalled + not_reading);
  if (!gateway.journal().wait_for(all, std::chrono::seconds{10})) bench::give_up("requests are missing");

  rusage before{};
  rusage after{};
  ::getrusage(RUSAGE_SELF, &before);
  const double real = bench::seconds([&] { gateway.stop(); });
  ::getrusage(RUSAGE_SELF, &after);
  return {1e3 * real, milliseconds(after.ru_utime) - milliseconds(before.ru_utime),
          milliseconds(after.ru_stime) - milliseconds(before.ru_stime)};
}

}  // namespace

int main(int argc, char** argv) {
  bench::Run run(argc, argv);
  const long lives = run.number(0, 500, 20);
  const long stops = run.number(1, 50, 2);

  std::vector<double> whole;
  std::vector<double> construct;
  std::vector<double> exchange;
  std::vector<double> destroy;
  for (long life = 0; life < lives; ++life) {
    std::optional<Gateway> gateway;
    construct.push_back(1e3 * bench::seconds([&] { gateway.emplace(); }));
    exchange.push_back(1e3 * bench::seconds([&] {
                         bench::Client client(gateway->port());
                         client.send(request_of(*gateway, "Hi."));
                         client.receive_response();
                       }));
    destroy.push_back(1e3 * bench::seconds([&] { gateway.reset(); }));
    whole.push_back(construct.back() + exchange.back() + destroy.back());
  }
  if (lives > 0)
    std::printf(
        "construct + request + destroy  median %.2f ms (construct %.2f, first request %.2f, destroy %.2f; 95%% below "
        "%.2f; %s)\n",
        bench::median(whole), bench::median(construct), bench::median(exchange), bench::median(destroy),
        bench::quantile(whole, 0.95), run.judge("2", bench::median(whole) <= 2).c_str());

  const auto report = [&](const char* what, int idle, int stalled, int half_sent, int not_reading) {
    std::vector<double> real;
    std::vector<double> user;
    std::vector<double> system;
    for (long i = 0; i < stops; ++i) {
      const Stop stop = stop_with(idle, stalled, half_sent, not_reading);
      real.push_back(stop.real);
      user.push_back(stop.user);
      system.push_back(stop.system);
    }
    if (stops > 0)
      std::printf("stop, %-27s median %5.2f ms, maximum %5.2f of %ld (user %.2f, system %.2f; %s)\n", what,
                  bench::median(real), bench::quantile(real, 1), stops, bench::median(user), bench::median(system),
                  run.judge("50", bench::median(real) <= 50).c_str());
    std::fflush(stdout);
  };
  report("nothing open", 0, 0, 0, 0);
  report("100 idle", 100, 0, 0, 0);
  report("100 stalled streams", 0, 100, 0, 0);
  report("100 half-sent requests", 0, 0, 100, 0);
  report("all of these, 5 not reading", 100, 100, 100, 5);
  return run.status();
}
