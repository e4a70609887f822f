// What it costs to choose a stub: among 1,000, for a request that only the last one asked matches. Measured by itself,
// and for a client: pairs of requests to a gateway with one stub and to one with 1,000, in turn, where the stubs have
// to come back into the caches each time. Arguments: rounds (2000), stubs (1000).

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/statistics.hpp"

namespace {

using namespace mock_gateway;

std::string number(int i) { return std::to_string(i); }

/// Of the i-th stub; none for the first, which matches everything.
std::vector<Matcher> matchers(int i) {
  if (i == 0) return {};
  switch (i % 4) {
    case 0: return {user_says("question " + number(i) + "?")};
    case 1: return {has_tool("tool " + number(i)), user_says("Hi")};
    case 2: return {stream_is(false), user_says(equals("question " + number(i)))};
    default: return {temperature_is(i) || json_at("/metadata/case", i)};
  }
}

void mount(Gateway& gateway, int stubs) {
  for (int i = 0; i < stubs; ++i) {
    StubBuilder builder = gateway.chat();
    for (const Matcher& matcher : matchers(i)) builder = std::move(builder).when(matcher);
    std::move(builder).reply("Hello.");
  }
}

/// In microseconds, each of the rounds.
std::vector<double> choose(const Json& body, int stubs, int rounds) {
  detail::Script script;
  for (int i = 0; i < stubs; ++i) {
    detail::StubPlan plan;
    plan.matchers = matchers(i);
    plan.replies = {std::make_shared<const Reply>("Hello.")};
    script.mount(std::move(plan));
  }
  const ChatRequest chat = detail::parse_chat_request(body.dump(), {}, {});
  const ReceivedRequest http;
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    times.push_back(1e6 * bench::seconds([&] {
                      detail::Script::Asking asking;
                      const ChatCall call(chat, http);
                      if (!script.choose(call, asking)->reply) bench::give_up("no stub was chosen");
                    }));
  }
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  const int stubs = argc > 2 ? std::atoi(argv[2]) : 1000;

  const Json body{{"model", "mock-model"},
                  {"messages",
                   {{{"role", "system"}, {"content", "You are helpful."}},
                    {{"role", "user"}, {"content", "What is the capital of France, and what of Italy?"}}}}};
  const std::vector<double> alone = choose(body, stubs, rounds);
  std::printf("choosing among %d   median %6.1f us, 95%% below %.1f (aim 50)\n", stubs, bench::median(alone),
              bench::quantile(alone, 0.95));

  Gateway one;
  Gateway many;
  mount(one, 1);
  mount(many, stubs);
  std::vector<double> with_one;
  std::vector<double> with_many;
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
  for (int round = -100; round < rounds; ++round) {
    const double first = ask(one_client, to_one);
    const double second = ask(many_client, to_many);
    if (round < 0) continue;  // warming up
    with_one.push_back(first);
    with_many.push_back(second);
  }
  std::vector<double> more;
  for (std::size_t i = 0; i < with_one.size(); ++i) more.push_back(with_many[i] - with_one[i]);
  std::printf("request, 1 stub    median %6.1f us\n", bench::median(with_one));
  std::printf("request, %d stubs median %6.1f us: %.1f more, 95%% of the pairs below %.1f\n", stubs,
              bench::median(with_many), bench::median(more), bench::quantile(more, 0.95));
}
