// Random replies of any kind, complete or broken, held or paced, on each clock. The transcript has the received bytes,
// the journal's record, and the writes.

#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fuzz/plan.hpp"
#include "oracle.hpp"
#include "support/client.hpp"
#include "support/text.hpp"

namespace oracle {

namespace {

using test_support::End;

/// A client's action while the gateway waits for the manual clock. There are no actions on other clocks, where the
/// progress of the reply at that moment would be random. No client closes, because the system then sends a reset at
/// a random moment.
enum class Act { reads, resets, half_closes };

enum class ClockKind { manual, instant, real };

/// A test case: a plan, its reply and hold, the clock, and the client's action.
struct Case {
  explicit Case(std::size_t number)
      : draw(detail::fingerprint("oracle/" + std::to_string(number))),
        plan(detail::fingerprint("oracle plan/" + std::to_string(number)), number % 2 == 1),
        reply(plan.reply()),
        clock(draw.one_of<ClockKind>(
            {ClockKind::manual, ClockKind::manual, ClockKind::manual, ClockKind::manual, ClockKind::instant})) {
    if (draw.once_in(100)) clock = ClockKind::real;
    // The positions of pings are random on other clocks than the manual clock. On the manual clock they are random
    // while the gateway waits at a gate, or for the client to read a slice.
    const bool pings = plan.told().contains("dialect") && plan.told()["dialect"]["pings"].get<bool>();
    is_random_on_manual_clock = pings && plan.told()["writes"].get<bool>();
    is_random = is_random_on_manual_clock || (pings && clock != ClockKind::manual);
    // In a few plans nothing opens the gate, so the gate's guard ends the hold in real time.
    opens_gate = !draw.once_in(20);
    if (!opens_gate) gate = Gate(20ms);
    // Only some completions allow a hold.
    if (plan.told()["kind"] == "completion" && draw.once_in(5) && !pings) {
      try {
        const std::size_t place = draw.from_one_to(3);
        reply = reply.hold(gate, draw.once_in(2) ? before_event(place) : before_token(place));
        is_held = true;
      } catch (const GatewayError&) {
      }
    }
    if (clock == ClockKind::manual && draw.once_in(3)) {
      act = draw.one_of<Act>({Act::resets, Act::half_closes});
      acts_at = draw.below(6);
      // No half-close during a stall: the half-close and the clock can both end the stall, in a random order.
      if (act == Act::half_closes && !plan.told()["fault"].is_null()) act = Act::reads;
      if (act == Act::half_closes) reply = reply.survives_half_close();
    }
    closes = plan.told()["close"].get<bool>();
  }

  reply_plans::Draw draw;
  reply_plans::Plan plan;
  Gate gate;
  Reply reply;
  ClockKind clock;
  bool is_held = false;
  bool is_random = false;
  bool is_random_on_manual_clock = false;
  bool opens_gate = true;
  Act act = Act::reads;
  std::size_t acts_at = 0;
  bool closes;
};

/// A client that always reads, so that the gateway never waits for it. It closes after the gateway has closed.
class Client {
 public:
  explicit Client(const Gateway& gateway) : connection_(gateway), reader_([this] { read(); }) {}
  ~Client() {
    is_over_ = true;
    reader_.join();
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool send(const std::string& bytes) { return connection_.send(bytes); }

  /// Receives available bytes.
  void look() {
    const std::lock_guard<std::mutex> lock(mutex_);
    char buffer[65536];
    while (is_open_ && end_ == End::open) {
      const ssize_t size = ::recv(connection_.descriptor(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (size > 0) received_.append(buffer, static_cast<std::size_t>(size));
      if (size == 0) end_ = End::fin;
      if (size < 0 && errno == ECONNRESET) end_ = End::reset;
      if (size < 0) break;
    }
    if (end_ == End::fin) ::shutdown(connection_.descriptor(), SHUT_RDWR);
  }
  /// Half-closes, so that the gateway closes a kept-alive connection, and receives until the end.
  void finish() {
    if (!is_open()) return;
    if (end() == End::open) ::shutdown(connection_.descriptor(), SHUT_WR);
    test_support::eventually([this] { return end() != End::open; });
  }
  void act(Act act) {
    look();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (act == Act::half_closes) {
      ::shutdown(connection_.descriptor(), SHUT_WR);
      return;
    }
    connection_.abort();
    is_open_ = false;
  }

  bool is_open() const { return locked(is_open_); }
  End end() const { return locked(end_); }
  std::string received() const { return locked(received_); }

 private:
  template <class Value>
  Value locked(const Value& value) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return value;
  }
  void read() {
    while (!is_over_) {
      look();
      test_support::detail::pause();
    }
  }

  mutable std::mutex mutex_;
  test_support::RawConnection connection_;
  std::string received_;
  End end_ = End::open;
  bool is_open_ = true;
  std::atomic<bool> is_over_{false};
  std::thread reader_;
};

/// Drives the exchange to its end: opens the gate when it is reached, and advances the clock from wait to wait.
void drive(const Case& one, Gateway& gateway, const ManualClock* manual, Client& client, Transcript& transcript) {
  std::size_t step = 0;
  bool is_open = !one.opens_gate;
  test_support::eventually([&] {
    client.look();
    const Journal journal = gateway.journal();
    if (journal.count() > 0 && is_over(journal.last())) return true;
    if (one.is_held && !is_open && one.gate.wait_until_reached(0ms)) {
      transcript << "delivered " << static_cast<bool>(one.gate.wait_until_delivered(1s)) << '\n';
      client.look();
      transcript.text("held after", std::to_string(client.received().size()));
      Gate(one.gate).open();
      is_open = true;
      return false;
    }
    if (!manual) return false;
    const std::vector<ManualClock::PendingWait> waits = manual->waits();
    if (waits.empty()) return false;
    if (step++ == one.acts_at && one.act != Act::reads && client.is_open()) {
      client.act(one.act);
      // Waits until the gateway has noticed the action, because an advance of the clock would race with that.
      test_support::eventually([&gateway] {
        const Exchange exchange = gateway.journal().last();
        return is_over(exchange) || exchange.departure();
      });
      return false;
    }
    for (const ManualClock::PendingWait& wait : waits)
      transcript << "waits for " << wait.name << " at " << wait.deadline.time_since_epoch().count() << '\n';
    try {
      ManualClock(*manual).advance_to_next_event();
    } catch (const GatewayError&) {  // the client left, which ended the wait
    }
    return false;
  });
}

/// Removes the creation times from JSON, because they differ between runs without a manual clock.
std::string without_moments(const std::string& body) {
  static const std::regex created("\"created\": ?[0-9]+");
  return std::regex_replace(body, created, "\"created\":0");
}

/// Removes the place and the time of a wait that a guard ended, because the time differs between runs.
std::string without_guards(const std::string& message) {
  static const std::regex wait("exchange 1 [^\n]*: the (gate was not opened|manual clock was not advanced) in time");
  return std::regex_replace(message, wait, "a gate was not opened, or a manual clock not advanced, in time");
}

/// Adds only those parts of a reply to the transcript that are the same at any time.
void tell_timeless(const SentAnswer& answer, Transcript& transcript) {
  transcript << "answer " << answer.status << " ended " << to_string(answer.ending) << " missing " << answer.missing
             << " streamed " << answer.is_streamed << " compressed " << answer.is_compressed << '\n';
  for (const wire::Header& field : answer.headers) transcript.text("field", field.name);
  std::string body;
  for (const SentAnswer::Part& part : answer.parts) {
    transcript << "part of " << part.bytes.size() << '\n';
    body += part.bytes;
  }
  transcript.bytes("body", without_moments(body));
  transcript.bytes("garbage", answer.garbage);
}

/// Runs a plan and returns its transcript, with the writes if `tells_writes` is true.
std::string run(Case one, std::size_t number, bool tells_writes) {
  constexpr Profile profiles[] = {Profile::documented, Profile::openai, Profile::dashscope, Profile::deepseek};
  Transcript transcript;
  const ManualClock manual;
  Options options =
      Options().seed(number).profile(profiles[number % 4]).keep_answers(true).verify_on_destruction(false);
  if (one.clock == ClockKind::manual) options = options.clock(manual);
  if (one.clock == ClockKind::instant) options = options.clock(InstantClock{});
  const bool is_manual = one.clock == ClockKind::manual;
  Gateway gateway{options};
  gateway.chat(scripted_at).reply(one.reply);
  std::optional<Outgoing> outgoing;
  if (tells_writes) outgoing.emplace(gateway, [&manual] { return manual.now().time_since_epoch(); });
  Client client(gateway);
  client.send(request_of(gateway, one.plan.told()["request"], one.closes));
  drive(one, gateway, is_manual ? &manual : nullptr, client, transcript);
  client.finish();
  const Exchange exchange = gateway.journal().last();
  if (client.is_open()) {
    transcript << "received " << client.received().size() << ' '
               << (is_manual ? detail::fingerprint(client.received()) : 0) << '\n';
    transcript.text("end", to_string(client.end()));
  }
  tell(exchange, transcript);
  is_manual ? tell(*exchange.answer(), transcript) : tell_timeless(*exchange.answer(), transcript);
  transcript.text("summary", exchange.summary());
  transcript.text("verify", without_guards(gateway.verify().message()));
  transcript.text("review", test_support::without_counts(gateway.review().message()));
  if (outgoing) tell(outgoing->writes(), transcript);
  return transcript.str();
}

}  // namespace

std::string reply(std::size_t number) {
  Case one(number);
  return one.is_random ? "left out" : run(std::move(one), number, false);
}

std::string writes(std::size_t number) {
  Case one(number);
  one.clock = ClockKind::manual;
  one.act = Act::reads;
  return one.is_random_on_manual_clock ? "left out" : run(std::move(one), number, true);
}

}  // namespace oracle
