// Measures the choice of a stub among 1,000 for a request that only the last tried stub matches. Requests alternate
// between a gateway with one stub and a gateway with 1,000, so that the CPU caches have lost the 1,000 stubs each time.
// Arguments: rounds (2000; short 100), stubs (1000).

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"

namespace {

using namespace mock_gateway;

/// The matchers of the i-th stub; none for the first, which matches everything.
std::vector<Matcher> matchers(long i) {
  const std::string number = std::to_string(i);
  if (i == 0) return {};
  switch (i % 4) {
    case 0: return {user_says("question " + number + "?")};
    case 1: return {has_tool("tool " + number), user_says("Hi")};
    case 2: return {stream_is(false), user_says(equals("question " + number))};
    default: return {temperature_is(static_cast<double>(i)) || json_at("/metadata/case", i)};
  }
}

void mount(Gateway& gateway, long stubs) {
  for (long i = 0; i < stubs; ++i) {
    StubBuilder builder = gateway.chat();
    for (const Matcher& matcher : matchers(i)) builder = std::move(builder).when(matcher);
    std::move(builder).reply("Hello.");
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::Run run(argc, argv);
  const long rounds = run.number(0, 2000, 100);
  const long stubs = run.number(1, 1000, 1000);

  const Json body{{"model", "mock-model"},
                  {"messages",
                   {{{"role", "system"}, {"content", "You are helpful."}},
                    {{"role", "user"}, {"content", "What is the capital of France, and what of Italy?"}}}}};
  Gateway one;
  Gateway many;
  mount(one, 1);
  mount(many, stubs);
  bench::Client one_client(one.port());
  bench::Client many_client(many.port());
  const std::string to_one = bench::chat_request(one.api_key(), body.dump());
  const std::string to_many = bench::chat_request(many.api_key(), body.dump());
  const auto ask = [](bench::Client& client, const std::string& request) {
    return 1e6 * bench::seconds([&] {
             client.send(request);
             client.receive_response();
           });
  };
  std::vector<double> with_one;
  std::vector<double> more;
  for (long round = -100; round < rounds; ++round) {
    const double first = ask(one_client, to_one);
    const double second = ask(many_client, to_many);
    if (round < 0) continue;  // warm-up
    with_one.push_back(first);
    more.push_back(second - first);
  }
  std::printf(
      "choosing among %ld stubs        median %.1f us more than the %.1f of a request with one (95%% below %.1f; %s)\n",
      stubs, bench::median(more), bench::median(with_one), bench::quantile(more, 0.95),
      run.judge("50", bench::median(more) <= 50).c_str());
  return run.status();
}
