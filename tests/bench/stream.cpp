// Measures events per second of one unpaced stream of 10,000 tokens. With a write per event: compared with a bare
// content provider that writes the same prepared bytes event by event. By default, all due events in one write:
// compared with a write per event. Argument: pairs (31; short 3).

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/bare_server.hpp"
#include "support/client.hpp"
#include "support/run.hpp"
#include "support/statistics.hpp"

namespace {

using mock_gateway::Json;

constexpr int tokens = 10000;
constexpr std::string_view end_of_body = "\r\n0\r\n\r\n";

std::string read_stream(bench::Client& client, const std::string& request) {
  client.send(request);
  std::string stream;
  while (stream.size() < end_of_body.size() ||
         stream.compare(stream.size() - end_of_body.size(), std::string::npos, end_of_body) != 0)
    stream.append(client.receive());
  return stream.substr(stream.find("\r\n\r\n") + 4);
}

/// The data of each chunk, one event each.
std::vector<std::string> chunks(const std::string& body) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0;;) {
    std::size_t digits = 0;
    const std::size_t size = std::stoul(body.substr(at, 16), &digits, 16);
    if (size == 0) return pieces;
    pieces.push_back(body.substr(at + digits + 2, size));
    at += digits + 2 + size + 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::Run run(argc, argv);
  const long pairs = run.number(0, 31, 3);

  std::string text;
  for (int token = 0; token < tokens; ++token) text += token == 0 ? "word" : " word";
  mock_gateway::Gateway gateway;
  gateway.chat().reply(text);
  gateway.chat().when(mock_gateway::user_says("apart")).reply(mock_gateway::text(text).write_each_event());
  const auto asking = [&](const char* says) {
    const Json body{{"model", "mock-model"}, {"stream", true}, {"messages", {{{"role", "user"}, {"content", says}}}}};
    return bench::chat_request(gateway.api_key(), body.dump());
  };
  const std::string request = asking("Count.");
  const std::string apart = asking("Count apart.");

  bench::Client to_gateway(gateway.port());
  const std::string body = read_stream(to_gateway, request);
  if (read_stream(to_gateway, apart).size() != body.size()) bench::give_up("the gateway's streams differ in size");
  const std::vector<std::string> events = chunks(body);
  if (events.size() != tokens + 3) bench::give_up("the stream has " + std::to_string(events.size()) + " events");
  const bench::BareServer bare = bench::BareServer::streaming(events);
  bench::Client to_bare(bare.port());
  if (read_stream(to_bare, request) != body) bench::give_up("the streams differ");

  const auto rate = [&](bench::Client& client, const std::string& sent) {
    const double time = bench::seconds([&] {
      client.send(sent);
      client.receive_until(end_of_body);
    });
    return static_cast<double>(events.size()) / time;
  };
  const auto report = [&](const char* what, const char* other, double aim, const bench::Pairs& rates) {
    std::printf("events/s of one stream, %-15s %8.0f   %-15s %8.0f   ratio %.2f (quartiles %.2f to %.2f; %s)\n", what,
                bench::median(rates.gateway), other, bench::median(rates.bare), rates.ratio(), rates.ratio(0.25),
                rates.ratio(0.75), run.judge(std::to_string(aim).substr(0, 4), rates.ratio() >= aim).c_str());
  };
  const auto each_event = [&] { return rate(to_gateway, apart); };
  report("write per event", "bare", 0.90,
         bench::measure_pairs(pairs, each_event, [&] { return rate(to_bare, request); }));
  report("due together", "write per event", 3.00,
         bench::measure_pairs(
             pairs, [&] { return rate(to_gateway, request); }, each_event));
  return run.status();
}
