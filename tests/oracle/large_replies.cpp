// Replies that exceed the buffers of their sockets: the bytes for a client that reads at once or slowly or has
// half-closed, and the record of a client that leaves.

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/plan.hpp"
#include "oracle.hpp"
#include "support/client.hpp"

namespace oracle {
namespace {

using test_support::End;

/// How a client reads a reply. Only an `at_once` client reads before the gateway's socket is full.
enum class Reads { at_once, slowly, after_half_closing, a_little_before_resetting, not_at_all };

/// The size of each side's buffer for a client that reads slowly, in bytes. Linux doubles it.
constexpr int small_buffer = 16384;
/// The size of a reply that exceeds both buffers several times, so the gateway cannot send its end before the client
/// reads.
constexpr std::size_t much = 150'000;

/// A plan: a large reply, and its client's behaviour.
struct Load {
  explicit Load(std::size_t number) : draw(detail::fingerprint("oracle load/" + std::to_string(number))) {
    switch (draw.below(4)) {
      case 0: make_words(true); break;
      case 1: make_words(false); break;
      case 2: make_raw_reply(); break;
      default: make_chunks(); break;
    }
    reads = draw.one_of<Reads>({Reads::at_once, Reads::slowly, Reads::slowly, Reads::slowly, Reads::after_half_closing,
                                Reads::a_little_before_resetting, Reads::not_at_all});
    // Whether a client leaves before the end of a smaller reply would depend on the system's buffers.
    if (size < much && reads != Reads::at_once) reads = Reads::slowly;
    // Other clients get replies without waits, slices and faults. How much is sent before the client acts depends on
    // the buffers, so a fault could come before or after the action. A gateway that waits between slices would not fill
    // the buffers.
    if (reads != Reads::at_once && reads != Reads::slowly) return;
    add_waits();
    if (draw.once_in(2)) add_writes();
    if (draw.once_in(2)) add_fault();
  }

  /// Random words that gzip hardly compresses.
  std::string words(std::size_t count) {
    std::string text;
    for (; count > 0; --count) {
      for (std::size_t letters = draw.from_one_to(9); letters > 0; --letters)
        text += static_cast<char>('a' + draw.below(26));
      text += draw.once_in(20) ? "é " : " ";
    }
    return text;
  }
  void make_words(bool is_streamed) {
    streamed = is_streamed;
    const std::size_t count = streamed ? 200 + draw.below(800) : 10'000 + draw.below(40'000);
    reply = text(words(count));
    size = count * (streamed ? 200 : 6);
    if (streamed) add_dialect();
  }
  void make_raw_reply() {
    const std::string body = words(10'000 + draw.below(50'000));
    size = body.size();
    reply = raw_reply(200, body, "text/plain; charset=utf-8");
  }
  void make_chunks() {
    streamed = true;
    std::vector<StreamChunk> elements;
    for (events = draw.from_one_to(8); elements.size() < events;) {
      const std::string content = words(draw.once_in(3) ? 20'000 : 500 + draw.below(5'000));
      size += content.size();
      elements.push_back(json_chunk({{"choices", {{{"index", 0}, {"delta", {{"content", content}}}}}}}));
    }
    reply = chunks(elements);
    add_dialect();
  }
  void add_dialect() {
    SseDialect dialect;
    if (draw.once_in(3)) dialect = dialect.line_end("\r\n").multi_line_data(true);
    if (draw.once_in(3)) dialect = dialect.comment("OPENROUTER PROCESSING").byte_order_mark(true);
    if (draw.once_in(4)) dialect = dialect.done(false).final_blank_line(false);
    if (draw.once_in(4)) {
      dialect = dialect.gzip(true);
      size /= 4;
    }
    reply = reply.sse(dialect);
  }
  void add_waits() {
    if (streamed && draw.once_in(3)) {
      try {
        reply = reply.hold(gate, before_event(draw.from_one_to(4)));
        is_held = true;
      } catch (const GatewayError&) {  // the reply has fewer events
      }
    }
    if (draw.once_in(3)) {
      try {
        reply = reply.first_token_after(20ms);
      } catch (const GatewayError&) {  // the reply has no pace
      }
    }
  }
  void add_writes() {
    switch (draw.below(4)) {
      case 0: reply = reply.slice_writes(8'000 + draw.below(60'000)); break;
      case 1: reply = reply.one_write(); break;
      case 2: reply = reply.split_write(draw.from_one_to(size)); break;
      default: reply = reply.write_each_event(); break;
    }
  }
  void add_fault() {
    for (int attempt = 0; attempt < 10; ++attempt) {
      const std::size_t byte = draw.from_one_to(size);
      const std::size_t event = draw.from_one_to(std::max<std::size_t>(events, 100));
      const Trigger trigger =
          draw.one_of<Trigger>({after_headers(), after_bytes(byte), after_bytes(byte), after_events(event),
                                inside_event(event, byte), before_done(), at_end()});
      const Effect effect = draw.one_of<Effect>(
          {close_connection(), reset_connection(), half_close(), truncate(), garbage(words(5'000)), stall(1s),
           error_event(Json{{"error", {{"message", words(5'000)}}}}), skip_event(), duplicate_event()});
      try {
        reply = reply.fault(trigger, effect);
        return;
      } catch (const GatewayError&) {  // impossible in this reply
      }
    }
  }

  reply_plans::Draw draw;
  Gate gate;
  bool is_held = false;
  Reply reply{""};
  bool streamed = false;
  std::size_t events = 0;
  /// The estimated size of the body in bytes.
  std::size_t size = 0;
  Reads reads = Reads::slowly;
};

/// A client that reads on request.
class Client {
 public:
  Client(const Gateway& gateway, int receive_buffer) : connection_(gateway, {receive_buffer}) {}

  bool send(const std::string& bytes) { return connection_.send(bytes); }
  /// Receives available bytes, at most `most`.
  void read(std::size_t most) {
    char buffer[16384];
    while (most > 0 && end_ == End::open) {
      const ssize_t size = ::recv(connection_.descriptor(), buffer, std::min(most, sizeof buffer), MSG_DONTWAIT);
      if (size < 0 && errno == ECONNRESET) end_ = End::reset;
      if (size == 0) end_ = End::fin;
      if (size <= 0) break;
      received_.append(buffer, static_cast<std::size_t>(size));
      most -= static_cast<std::size_t>(size);
    }
    // A gateway that has half-closed may wait for the client to close too.
    if (end_ == End::fin) connection_.shutdown_write();
  }
  void half_close() { connection_.shutdown_write(); }
  void reset() {
    connection_.abort();
    is_open_ = false;
  }

  /// Returns whether nothing more can arrive.
  bool is_done() const { return !is_open_ || end_ != End::open; }
  End end() const { return end_; }
  const std::string& received() const { return received_; }

 private:
  test_support::RawConnection connection_;
  std::string received_;
  End end_ = End::open;
  bool is_open_ = true;
};

/// Reads the reply as the plan says and opens the gate. Advances the clock from wait to wait until the exchange and the
/// client have ended. Returns false on a timeout.
bool drive(Load& load, const Gateway& gateway, ManualClock manual, const Outgoing& outgoing, Client& client,
           Transcript& transcript) {
  const std::size_t step = load.reads == Reads::at_once ? std::size_t{1} << 20 : 500 + load.draw.below(12'000);
  const std::size_t little = load.draw.below(20'000);
  const auto began = std::chrono::steady_clock::now();
  bool may_read = load.reads == Reads::at_once;
  const auto go_on = [&] {
    const Journal journal = gateway.journal();
    const bool has_ended = journal.count() > 0 && is_over(journal.last());
    if (has_ended && (client.is_done() || load.reads == Reads::not_at_all)) return true;
    if (!may_read) {
      may_read = load.reads != Reads::not_at_all && (has_ended || outgoing.was_full());
      // Reads after a while, because the gateway also waits for its client between slices and before a fault.
      if (load.reads == Reads::slowly && std::chrono::steady_clock::now() - began > 20ms) may_read = true;
      if (may_read && load.reads == Reads::after_half_closing) client.half_close();
    }
    if (may_read && !client.is_done()) {
      client.read(step);
      if (load.reads == Reads::a_little_before_resetting && client.received().size() >= little) client.reset();
    }
    if (load.is_held && load.gate.wait_until_reached(0ms)) load.gate.open();
    const std::vector<ManualClock::PendingWait> waits = manual.waits();
    if (waits.empty()) return false;
    for (const ManualClock::PendingWait& wait : waits)
      transcript << "waits for " << wait.name << " at " << wait.deadline.time_since_epoch().count() << '\n';
    try {
      manual.advance_to_next_event();
    } catch (const GatewayError&) {  // the client left, which ended the wait
    }
    return false;
  };
  return test_support::eventually(go_on, 60s);
}

}  // namespace

std::string large_reply(std::size_t number) {
  Load load(number);
  const bool is_slow = load.reads != Reads::at_once;
  const ManualClock manual;
  // The real-time limit of the exchange, which clients that read do not reach.
  const Duration patience = load.reads == Reads::not_at_all ? Duration(200ms) : Duration(60s);
  Gateway gateway{
      Options().seed(number).clock(manual).keep_answers(true).verify_on_destruction(false).write_timeout(patience)};
  gateway.chat(scripted_at).reply(load.reply);
  const Outgoing outgoing(
      gateway, [&manual] { return manual.now().time_since_epoch(); }, is_slow ? small_buffer : 0);
  Client client(gateway, is_slow ? small_buffer : 0);
  Json request{{"model", "mock-model"}, {"messages", {{{"role", "user"}, {"content", "Tell me more."}}}}};
  if (load.streamed) request["stream"] = true;
  client.send(request_of(gateway, request, true));
  Transcript transcript;
  if (!drive(load, gateway, manual, outgoing, client, transcript)) return "took too long";
  const Exchange exchange = gateway.journal().last();
  if (load.reads == Reads::a_little_before_resetting || load.reads == Reads::not_at_all) {
    // How many bytes the system has accepted before the client leaves is random, so they are not hashed.
    transcript << "outcome " << exchange.outcome().kind << " status " << exchange.status() << " answer "
               << to_string(exchange.answer()->ending) << " head at " << exchange.answer()->head_at.count();
    if (const auto departure = exchange.departure()) transcript << " departure " << departure->how;
    return transcript.str();
  }
  transcript.bytes("received", client.received());
  transcript.text("end", to_string(client.end()));
  tell(exchange, transcript);
  tell(*exchange.answer(), transcript);
  transcript.text("summary", exchange.summary());
  transcript.text("verify", gateway.verify().message());
  // The writes to a socket that accepts little at a time depend on the system, so they are not hashed.
  if (!is_slow) tell(outgoing.writes(), transcript);
  return transcript.str();
}

}  // namespace oracle
