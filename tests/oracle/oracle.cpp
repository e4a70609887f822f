// What the gateway sends, byte by byte and moment by moment, for 20,000 random replies; kept as a hash of each, so that
// a change of the engine shows in which plan it changes anything that a client or a test can see.
//
//   oracle HASHES [--plans N] [--jobs N]   compares the first N plans, all unless given; exit code 1 where one differs
//   oracle HASHES --record                 writes the hashes anew
//   oracle --show NUMBER                   prints what is hashed of one plan

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <mutex>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fuzz/plan.hpp"
#include "support/client.hpp"

namespace oracle {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;

constexpr std::size_t all_plans = 20'000;

/// What a client does while the manual clock stands at one of its waits. On a clock that moves by itself it would be
/// chance how far the reply has come by then; so it would for one that closes, since a system answers with a reset only
/// what comes after that.
enum class Act { reads, resets, half_closes };

enum class ClockKind { manual, instant, real };

/// One plan: a reply, how it is held, the clock, and what its client does.
struct Case {
  explicit Case(std::size_t number)
      : draw(detail::fingerprint("oracle/" + std::to_string(number))),
        plan(detail::fingerprint("oracle plan/" + std::to_string(number)), number % 2 == 1),
        reply(plan.reply()),
        clock(draw.one_of<ClockKind>(
            {ClockKind::manual, ClockKind::manual, ClockKind::manual, ClockKind::manual, ClockKind::instant})) {
    if (draw.once_in(100)) clock = ClockKind::real;
    // While the gateway waits for its client to read a slice, or at a gate, it is chance whether a ping comes first;
    // and so it is on a clock that goes by itself.
    const bool pings = plan.told().contains("dialect") && plan.told()["dialect"]["pings"].get<bool>();
    is_chance = pings && (plan.told()["writes"].get<bool>() || clock != ClockKind::manual);
    // The guard is in real time: it ends a hold that nobody opens, once in a while.
    opens = !draw.once_in(20);
    if (!opens) gate = Gate(20ms);
    // A hold fits a completion only, and not each of them.
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
      // A stall ends when its client closes its side, or when the clock moves on: it would be chance which comes first.
      if (act == Act::half_closes && !plan.told()["fault"].is_null()) act = Act::reads;
    }
    request = plan.told()["request"].dump();
    closes = plan.told()["close"].get<bool>();
  }

  reply_plans::Draw draw;
  reply_plans::Plan plan;
  Gate gate;
  Reply reply;
  ClockKind clock;
  bool is_held = false;
  bool is_chance = false;
  bool opens = true;
  Act act = Act::reads;
  std::size_t acts_at = 0;
  std::string request;
  bool closes;
};

/// A connection that is read all the time, so that the gateway never waits for its client. It closes when the gateway
/// has closed.
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

  /// Takes what has come.
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
  /// Takes all that comes until the end, which a gateway that keeps the connection makes when its client has closed its
  /// side.
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

/// What is hashed.
class Transcript {
 public:
  template <class Value>
  Transcript& operator<<(const Value& value) {
    text_ << value;
    return *this;
  }
  void bytes(const char* name, std::string_view bytes) {
    text_ << name << ' ' << bytes.size() << ' ' << detail::fingerprint(bytes) << '\n';
  }
  void text(const char* name, std::string_view text) { text_ << name << ' ' << text << '\n'; }
  std::string str() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

std::string request_of(const Case& one, const Gateway& gateway) {
  return "POST /v1/chat/completions HTTP/1.1\r\nHost: oracle\r\nAuthorization: Bearer " + gateway.api_key() +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(one.request.size()) + "\r\n" +
         (one.closes ? "Connection: close\r\n" : "") + "\r\n" + one.request;
}

/// Whether it has ended, without waiting for that.
bool is_over(const Exchange& exchange) { return exchange.outcome(0ms).kind != Outcome::Kind::pending; }

/// Lets the exchange go on until it is over: opens the gate when it is reached, moves the clock from wait to wait.
void drive(const Case& one, Gateway& gateway, const ManualClock* manual, Client& client, Transcript& told) {
  std::size_t step = 0;
  bool is_open = !one.opens;
  test_support::eventually([&] {
    client.look();
    const Journal journal = gateway.journal();
    if (journal.count() > 0 && is_over(journal.last())) return true;
    if (one.is_held && !is_open && one.gate.wait_until_reached(0ms)) {
      told << "delivered " << static_cast<bool>(one.gate.wait_until_delivered(1s)) << '\n';
      client.look();
      told.text("held after", std::to_string(client.received().size()));
      Gate(one.gate).open();
      is_open = true;
      return false;
    }
    if (!manual) return false;
    const std::vector<ManualClock::PendingWait> waits = manual->waits();
    if (waits.empty()) return false;
    if (step++ == one.acts_at && one.act != Act::reads && client.is_open()) {
      client.act(one.act);
      // The gateway hears of a reset by itself: who moved the clock meanwhile would race with it.
      if (!client.is_open()) test_support::eventually([&gateway] { return is_over(gateway.journal().last()); });
      return false;
    }
    for (const ManualClock::PendingWait& wait : waits)
      told << "waits for " << wait.name << " at " << wait.deadline.time_since_epoch().count() << '\n';
    try {
      ManualClock(*manual).advance_to_next_event();
    } catch (const GatewayError&) {  // the client's leaving has ended the wait
    }
    return false;
  });
}

/// JSON whose moment of creation is left out, which is that of the run where no test moves the clock.
std::string without_moments(const std::string& body) {
  static const std::regex created("\"created\": ?[0-9]+");
  return std::regex_replace(body, created, "\"created\":0");
}

/// What does not depend on when it was sent.
void tell_timeless(const SentAnswer& answer, Transcript& told) {
  told << "answer " << answer.status << " ended " << to_string(answer.ending) << " missing " << answer.missing
       << " streamed " << answer.is_streamed << " compressed " << answer.is_compressed << '\n';
  for (const wire::Header& field : answer.headers) told.text("field", field.name);
  std::string body;
  for (const SentAnswer::Part& part : answer.parts) {
    told << "part of " << part.bytes.size() << '\n';
    body += part.bytes;
  }
  told.bytes("body", without_moments(body));
  told.bytes("garbage", answer.garbage);
}

void tell(const SentAnswer& answer, Transcript& told) {
  told << "answer " << answer.status << " head at " << answer.head_at.count() << " ended " << to_string(answer.ending)
       << " at " << answer.ended_at.count() << " missing " << answer.missing << " streamed " << answer.is_streamed
       << " compressed " << answer.is_compressed << '\n';
  for (const wire::Header& field : answer.headers) told.text("field", field.name + ": " + field.value);
  for (const SentAnswer::Part& part : answer.parts) {
    told << "part at " << part.at.count() << " until " << part.until.count() << ' ';
    told.bytes("of", part.bytes);
  }
  told.bytes("garbage", answer.garbage);
}

std::string transcript(std::size_t number) {
  constexpr Profile profiles[] = {Profile::documented, Profile::openai, Profile::dashscope, Profile::deepseek};
  Case one(number);
  if (one.is_chance) return "left out";
  Transcript told;
  const ManualClock manual;
  Options options =
      Options().seed(number).profile(profiles[number % 4]).keep_answers(true).verify_on_destruction(false);
  if (one.clock == ClockKind::manual) options = options.clock(manual);
  if (one.clock == ClockKind::instant) options = options.clock(InstantClock{});
  const bool is_manual = one.clock == ClockKind::manual;
  Gateway gateway{options};
  gateway.chat().reply(one.reply);
  Client client(gateway);
  client.send(request_of(one, gateway));
  drive(one, gateway, is_manual ? &manual : nullptr, client, told);
  client.finish();
  const Exchange exchange = gateway.journal().last();
  if (client.is_open()) {
    told << "received " << client.received().size() << ' ' << (is_manual ? detail::fingerprint(client.received()) : 0)
         << '\n';
    told.text("end", to_string(client.end()));
  }
  told << "outcome " << exchange.outcome() << " status " << exchange.status() << " events " << exchange.events_sent()
       << " tokens " << exchange.tokens_sent() << " bytes " << exchange.bytes_sent() << " guard "
       << exchange.guard_expired() << '\n';
  for (const std::string& fault : exchange.faults()) told.text("fault", fault);
  if (const auto departure = exchange.departure())
    told << "departure " << departure->events << ' ' << departure->tokens << ' ' << departure->bytes << '\n';
  is_manual ? tell(*exchange.answer(), told) : tell_timeless(*exchange.answer(), told);
  told.text("summary", exchange.summary());
  told.text("verify", gateway.verify().message());
  told.text("review", gateway.review().message());
  return told.str();
}

std::string hash_of(std::size_t number) {
  char text[9];
  const std::uint64_t hash = detail::fingerprint(transcript(number));
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(hash ^ (hash >> 32)));
  return text;
}

/// The hash that a plan has twice, however busy the machine is.
std::string certain_hash_of(std::size_t number) {
  std::string last = hash_of(number);
  for (;;) {
    std::string again = hash_of(number);
    if (again == last) return again;
    last = std::move(again);
  }
}

std::vector<std::string> hashes(std::size_t count, std::size_t jobs, std::string (*hash)(std::size_t)) {
  std::vector<std::string> all(count);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (std::size_t job = 0; job < jobs; ++job)
    threads.emplace_back([&] {
      for (std::size_t number = next++; number < count; number = next++) all[number] = hash(number);
    });
  for (std::thread& thread : threads) thread.join();
  return all;
}

int compare(const std::string& file, std::size_t count, std::size_t jobs) {
  std::ifstream kept(file);
  const std::vector<std::string> found = hashes(count, jobs, &hash_of);
  std::size_t compared = 0;
  std::size_t differing = 0;
  for (std::string line; compared < count && std::getline(kept, line); ++compared) {
    // A machine that does other things may have stopped a thread at a bad moment: a plan that differs differs each
    // time.
    bool is_same = line == found[compared];
    for (int again = 0; again < 5 && !is_same; ++again) is_same = line == hash_of(compared);
    if (is_same) continue;
    if (++differing <= 20) std::cerr << "plan " << compared << " differs: oracle --show " << compared << '\n';
  }
  if (compared < count) std::cerr << file << " has " << compared << " hashes, " << count << " were wanted\n";
  std::cout << compared << " plans, " << differing << " differ\n";
  return compared == count && differing == 0 ? 0 : 1;
}

int run(const std::vector<std::string>& arguments) {
  std::string file;
  std::size_t count = all_plans;
  std::size_t jobs = std::max(2u, std::thread::hardware_concurrency());
  bool records = false;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const std::string& word = arguments[index];
    const bool has_number = word == "--plans" || word == "--jobs" || word == "--show";
    if (has_number && index + 1 == arguments.size()) throw std::invalid_argument(word + " wants a number");
    const std::size_t value = has_number ? std::stoul(arguments[++index]) : 0;
    if (word == "--show") return std::cout << transcript(value), 0;
    if (word == "--plans") count = std::min(value, all_plans);
    if (word == "--jobs") jobs = std::max<std::size_t>(value, 1);
    if (word == "--record") records = true;
    if (word.substr(0, 2) != "--") file = word;
  }
  if (file.empty()) throw std::invalid_argument("which file has the hashes?");
  if (!records) return compare(file, count, jobs);
  std::ofstream out(file);
  for (const std::string& hash : hashes(count, jobs, &certain_hash_of)) out << hash << '\n';
  return 0;
}

}  // namespace oracle

int main(int argc, char** argv) {
  try {
    return oracle::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "oracle: " << error.what() << '\n';
    return 2;
  }
}
