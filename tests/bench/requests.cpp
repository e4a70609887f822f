// Measures requests per second over kept-alive connections, and allocations per request. Compares them with a bare
// cpp-httplib handler that parses the same request and dumps an equal reply. Arguments: pairs (15; short 3),
// milliseconds of each measurement (200; short 50).

#include <sys/epoll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/allocations.hpp"
#include "support/bare_server.hpp"
#include "support/client.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"

namespace {

using mock_gateway::Json;

const char* const text =
    "The weather in Paris is sunny today, with a light breeze from the west and a high of twenty-one degrees.";

std::string request_body() {
  return Json{{"model", "mock-model"},
              {"messages",
               {{{"role", "system"}, {"content", "You are a helpful assistant that answers in one sentence."}},
                {{"role", "user"}, {"content", "What is the weather like in Paris today, and should I take a coat?"}}}},
              {"temperature", 0.2},
              {"max_tokens", 256}}
      .dump();
}

/// Connections to one server. Each has one request in flight while rate() measures.
class Load {
 public:
  Load(int port, std::size_t connections, std::string request) : request_(std::move(request)) {
    events_ = ::epoll_create1(EPOLL_CLOEXEC);
    clients_.reserve(connections);
    for (std::size_t i = 0; i < connections; ++i) {
      clients_.emplace_back(port);
      epoll_event interest{};
      interest.events = EPOLLIN;
      interest.data.u64 = i;
      ::epoll_ctl(events_, EPOLL_CTL_ADD, clients_[i].socket(), &interest);
    }
  }
  ~Load() { ::close(events_); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  double rate(std::chrono::milliseconds duration) {
    std::size_t answers = 0;
    const double time = bench::seconds([&] {
      const auto deadline = std::chrono::steady_clock::now() + duration;
      if (clients_.size() == 1) {
        while (std::chrono::steady_clock::now() < deadline) {
          clients_[0].send(request_);
          clients_[0].receive_response();
          ++answers;
        }
        return;
      }
      for (bench::Client& client : clients_) client.send(request_);
      for (std::size_t under_way = clients_.size(); under_way > 0;) {
        epoll_event ready[64];
        const int count = ::epoll_wait(events_, ready, 64, 10000);
        if (count <= 0) bench::give_up("no answer for 10 s");
        const bool over = std::chrono::steady_clock::now() >= deadline;
        for (int i = 0; i < count; ++i) {
          bench::Client& client = clients_[ready[i].data.u64];
          if (client.receive_response(true) == 0) continue;
          ++answers;
          if (over)
            --under_way;
          else
            client.send(request_);
        }
      }
    });
    return static_cast<double>(answers) / time;
  }

 private:
  std::string request_;
  int events_;
  std::vector<bench::Client> clients_;
};

/// Allocations per request on the server's side; the client reuses its own memory.
double allocations_of(int port, const std::string& request) {
  constexpr std::size_t requests = 5000;
  bench::Client client(port);
  const auto ask = [&] {
    for (std::size_t i = 0; i < requests; ++i) {
      client.send(request);
      client.receive_response();
    }
  };
  ask();  // fills the journal, so that each new record replaces another
  const std::size_t before = bench::allocations();
  ask();
  return static_cast<double>(bench::allocations() - before) / static_cast<double>(requests);
}

std::string body_of(int port, const std::string& request) {
  bench::Client client(port);
  client.send(request);
  client.receive_response();
  return std::string(client.body());
}

}  // namespace

int main(int argc, char** argv) {
  bench::Run run(argc, argv);
  const long pairs = run.number(0, 15, 3);
  const std::chrono::milliseconds duration{run.number(1, 200, 50)};

  mock_gateway::Gateway gateway;
  gateway.chat().reply(text);
  const std::string request = bench::chat_request(gateway.api_key(), request_body());
  const Json model_reply = Json::parse(body_of(gateway.port(), request));

  const bench::BareServer bare = bench::BareServer::answering([&model_reply](const std::string& body) {
    const Json received = Json::parse(body);
    return Json{{"id", model_reply["id"]},
                {"object", "chat.completion"},
                {"created", model_reply["created"]},
                {"model", received["model"]},
                {"choices",
                 {{{"index", 0}, {"message", {{"role", "assistant"}, {"content", text}}}, {"finish_reason", "stop"}}}},
                {"usage",
                 {{"prompt_tokens", model_reply["usage"]["prompt_tokens"]},
                  {"completion_tokens", model_reply["usage"]["completion_tokens"]},
                  {"total_tokens", model_reply["usage"]["total_tokens"]}}}}
        .dump();
  });
  if (body_of(bare.port(), request).size() != body_of(gateway.port(), request).size())
    bench::give_up("the bodies differ in size:\n" + body_of(bare.port(), request) + "\n" +
                   body_of(gateway.port(), request));

  for (const std::size_t connections : {std::size_t{1}, std::size_t{8}, std::size_t{64}}) {
    Load to_gateway(gateway.port(), connections, request);
    Load to_bare(bare.port(), connections, request);
    to_gateway.rate(duration);  // warm-up: threads, caches, and a full journal
    to_bare.rate(duration);
    const bench::Pairs rates = bench::measure_pairs(
        pairs, [&] { return to_gateway.rate(duration); }, [&] { return to_bare.rate(duration); });
    std::printf(
        "requests/s, %2zu connections    gateway %8.0f   bare %8.0f   ratio %.2f (quartiles %.2f to %.2f; %s)\n",
        connections, bench::median(rates.gateway), bench::median(rates.bare), rates.ratio(), rates.ratio(0.25),
        rates.ratio(0.75), run.judge("0.90", rates.ratio() >= 0.90).c_str());
    std::fflush(stdout);
  }
  const double taken = allocations_of(gateway.port(), request);
  std::printf("allocations a request            gateway %8.1f   bare %8.1f   (%s)\n", taken,
              allocations_of(bare.port(), request), run.judge("65", taken <= 65).c_str());
  return run.status();
}
