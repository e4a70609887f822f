// Events per second of one unpaced stream of 10,000 tokens, against a bare content provider that writes the same
// bytes, made beforehand, event by event. Argument: pairs (31).

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/bare_server.hpp"
#include "support/client.hpp"
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

/// The data of each chunk: one event.
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
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 31;

  std::string text;
  for (int token = 0; token < tokens; ++token) text += token == 0 ? "word" : " word";
  mock_gateway::Gateway gateway;
  gateway.chat().reply(text);
  const std::string request = bench::chat_request(
      gateway.api_key(),
      Json{{"model", "mock-model"}, {"stream", true}, {"messages", {{{"role", "user"}, {"content", "Count."}}}}}
          .dump());

  bench::Client to_gateway(gateway.port());
  const std::string body = read_stream(to_gateway, request);
  const std::vector<std::string> events = chunks(body);
  if (events.size() != tokens + 3) bench::give_up("the stream has " + std::to_string(events.size()) + " events");
  const bench::BareServer bare = bench::BareServer::streaming(events);
  bench::Client to_bare(bare.port());
  if (read_stream(to_bare, request) != body) bench::give_up("the streams differ");

  const auto rate = [&](bench::Client& client) {
    const double time = bench::seconds([&] {
      client.send(request);
      client.receive_until(end_of_body);
    });
    return static_cast<double>(events.size()) / time;
  };
  const bench::Pairs rates = bench::measure_pairs(
      pairs, [&] { return rate(to_gateway); }, [&] { return rate(to_bare); });
  std::printf(
      "events/s of one stream         gateway %8.0f   bare %8.0f   ratio %.2f (quartiles %.2f to %.2f; aim 0.90)\n",
      bench::median(rates.gateway), bench::median(rates.bare), rates.ratio(), rates.ratio(0.25), rates.ratio(0.75));
}
