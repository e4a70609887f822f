// What a reply pays for the faults, holds and dialects that it does not have: events per second of a delivery to a
// loopback connection, against a loop that frames the same events and writes them, and could do nothing else.
// Argument: pairs (201).

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/statistics.hpp"

namespace {

using namespace mock_gateway;

constexpr int tokens = 2000;
constexpr std::string_view head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A connection whose other end is read by a thread, which forgets what it reads.
class Sink final : public detail::Outlet {
 public:
  Sink() {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener, generic, size) != 0 || ::listen(listener, 1) != 0 ||
        ::getsockname(listener, generic, &size) != 0)
      bench::give_up("no loopback connection");
    writing_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(writing_, generic, size) != 0) bench::give_up("no loopback connection");
    const int on = 1;
    ::setsockopt(writing_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    reading_ = ::accept(listener, nullptr, nullptr);
    ::close(listener);
    reader_ = std::thread([this] {
      char bytes[65536];
      while (::recv(reading_, bytes, sizeof bytes, 0) > 0) {
      }
    });
  }
  ~Sink() override {
    ::close(writing_);
    reader_.join();
    ::close(reading_);
  }

  bool write(std::string_view bytes) override {
    written_ += bytes.size();
    while (!bytes.empty()) {
      const ssize_t sent = ::send(writing_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) bench::give_up("a write failed");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  bool drain() override { bench::give_up("nothing is to be drained"); }
  bool wait(detail::Pending&, OnClientClosed) override { bench::give_up("nothing is to be waited for"); }
  void end(Ending) override {}
  void end_sending() override {}
  std::shared_ptr<detail::Wake> waker() override { return nullptr; }
  void guard_expired() override {}

  std::size_t written() const { return written_; }

 private:
  int writing_ = -1;
  int reading_ = -1;
  std::size_t written_ = 0;
  std::thread reader_;
};

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 201;

  std::vector<StreamChunk> elements;
  for (int token = 0; token < tokens; ++token) {
    elements.push_back(
        chunk({{"id", "chatcmpl-0"},
               {"object", "chat.completion.chunk"},
               {"created", 1704067200},
               {"model", "mock-model"},
               {"choices", {{{"index", 0}, {"delta", {{"content", "word "}}}, {"finish_reason", nullptr}}}}}));
  }
  const Reply reply = chunks(elements);
  const Clock clock = RealClock();

  const auto with_plan = [&](Sink& sink) {
    detail::Timeline timeline(clock.state(), nullptr);
    detail::DeliveryProgress progress;
    detail::Delivery delivery(reply.data(), {}, sink, timeline, timeline.now(), progress);
    detail::ChunkEvents events(*reply.data().chunks);
    if (delivery.stream(head, events, true) != detail::Delivery::Result::completed) bench::give_up("a delivery failed");
  };
  const auto without_plan = [&](Sink& sink) {
    detail::ChunkEvents events(*reply.data().chunks);
    detail::EventFraming framing(reply.data().sse, true);
    sink.write(head);
    for (detail::StreamEvent event; events.next(event);) sink.write(framing.frame(event.data));
    sink.write(framing.frame("[DONE]"));
    sink.write(framing.terminator());
  };

  Sink sink;  // the same for both: where its reader runs matters more than what is measured
  with_plan(sink);
  const std::size_t bytes = sink.written();
  without_plan(sink);
  if (sink.written() != 2 * bytes) bench::give_up("the two write different bytes");
  const auto rate = [&](const auto& deliver) { return (tokens + 1) / bench::seconds([&] { deliver(sink); }); };
  const bench::Pairs rates = bench::measure_pairs(
      pairs, [&] { return rate(with_plan); }, [&] { return rate(without_plan); });
  std::printf(
      "events/s, no fault in the plan  with %9.0f   without %8.0f   ratio %.3f (quartiles %.3f to %.3f; aim 0.98)\n",
      bench::median(rates.gateway), bench::median(rates.bare), rates.ratio(), rates.ratio(0.25), rates.ratio(0.75));
}
