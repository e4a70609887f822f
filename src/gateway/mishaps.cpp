// The turns of a session of mishaps: order, replies, keys, and the time limits of calls that the caller ends.

#include "mishaps.hpp"

#include <chrono>
#include <limits>
#include <optional>
#include <string_view>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/random.hpp"
#include "../core/text.hpp"
#include "../core/timeline.hpp"
#include "../evidence/journal.hpp"
#include "../keys/keys.hpp"
#include "../script/matchers.hpp"
#include "../script/script.hpp"
#include "../serve/gateway_state.hpp"
#include "catalogue_entries.hpp"
#include "chat_script.hpp"

namespace mock_gateway {
namespace detail {
namespace mishap_turns {

using std::chrono::milliseconds;
using std::chrono::seconds;

enum class KeyChange { none, disabled, rotated };

constexpr seconds time_to_leave{1};
/// Longer than time_to_leave, shorter than clients' own timeouts: a client that gets the rest did not obey its caller.
constexpr seconds time_to_end{2};

struct Plan {
  std::string text;
  bool streamed = false;
  std::size_t tokens = 0;
  Effect wait;
};

/// The definition of a turn. Its reply is the scenario's failure, fault or finish_reason, or the result of `reply`;
/// otherwise the text. With then_answer, all requests after the first get the text.
struct Row {
  ScenarioRow scenario;
  Mishap::Call call = Mishap::Call::whole;
  KeyChange key_change = KeyChange::none;
  Reply (*reply)(const Plan& plan) = nullptr;
  /// How long after the call a retry may arrive from a client that waits before retrying.
  milliseconds time_to_ask_again{0};
};

using namespace catalogue_parts;

/// The first two and the last two turns keep their places. The second is so early that keep-alive clients have a
/// connection: some only retry on new connections. A client that keeps its old key only fails the last two turns.
constexpr std::size_t fixed_at_each_end = 2;
constexpr Row rows[] = {
    {{"first-answer", "answers", "the documentation: chat completions", "passes on the answer", whole_answer}},
    {{"closed-before-answer", "closes the connection before the first byte of the answer, then replies",
      "huggingface/huggingface_hub#4397", "retries: no part of the answer has arrived", then_answer, before_headers,
      close_connection}},
    {{"rate-limited", "answers 429 with `Retry-After: 1`, then replies", "RFC 9110, section 10.2.3",
      "waits as long as Retry-After says, and retries", then_answer, [] { return rate_limited(seconds{1}); }}},
    {{"rate-limited-until-date", "answers 429 with a date in Retry-After, then replies", "openai-node#1840",
      "waits until that date, and retries", then_answer, [] { return rate_limited().retry_after_date(seconds{1}); }}},
    {{"server-error", "answers 500, then replies", "openai-python#469", "retries", then_answer, server_error}},
    {{"bad-gateway", "answers 502 with a proxy's HTML page, then replies",
      "langwatch/langwatch#5758, iDigBio/ridigbio#21", "retries because of the status, whatever the body", then_answer,
      [] { return no_answer_behind_proxy(502, "Bad gateway"); }}},
    {{"unavailable", "answers 503 with `Retry-After: 1`, then replies", "RFC 9110, section 15.6.4",
      "waits as long as Retry-After says, and retries", then_answer,
      [] { return service_unavailable().retry_after(seconds{1}); }}},
    {{"unauthorized", "answers 401", "the documentation: errors", "reports the error, and does not retry", only_error,
      unauthorized}},
    {{"disabled-key", "answers 403 because the key is disabled during this turn", "langroid/langroid#1081",
      "reports the error, and uses the same key in its next call", only_error},
     Mishap::Call::whole,
     KeyChange::disabled},
    {{"cut-answer", "closes the connection in the middle of the answer, and answers the next request completely",
      "RFC 9112, section 8", "reports the error or retries, and drops the partial event before the next call",
      first_try, [](bool streamed) { return streamed ? inside_event(3, 20) : after_bytes(40); }, close_connection}},
    {{"length", "cuts the text at the token limit, with finish_reason length", "OpenAI: finish_reason",
      "says that the answer was cut", reason_tells, Finishes{"length"}}},
    {{"unended-last-event", "ends the stream after the last text and the finish_reason, without a blank line",
      "WHATWG HTML 9.2.6: such an event is dropped", "reads the event: its line is complete", streams_only},
     Mishap::Call::whole,
     KeyChange::none,
     [](const Plan& plan) {
       const std::size_t half = plan.text.find(' ');
       Chunks chunks = {opening(), saying(plan.text.substr(0, half)), saying(plan.text.substr(half)), closing()};
       end_in_text(chunks);
       return stream_of(chunks).sse(SseDialect().done(false).final_blank_line(false));
     }},
    {{"cancelled-stream",
      "sends a few pieces of text, and the rest two seconds later, unless the caller stops the call",
      "longy2k/obsidian-bmo-chatbot#89, cloudflare/agents-starter#115",
      "closes the connection at once, so that the gateway stops generating tokens", error_too | streams_only},
     Mishap::Call::cancelled,
     KeyChange::none,
     [](const Plan& plan) { return mock_gateway::text(plan.text).fault(after_tokens(plan.tokens + 1), plan.wait); }},
    {{"abandoned-call", "pauses for two seconds, unless the caller gives up the call first",
      "anthropics/anthropic-sdk-java#370", "closes the connection at once, and does not retry", error_too},
     Mishap::Call::abandoned,
     KeyChange::none,
     [](const Plan& plan) {
       return mock_gateway::text(plan.text).fault(plan.streamed ? after_tokens(2) : before_headers(), plan.wait);
     }},
    {{"abandoned-wait", "answers 503 with `Retry-After: 1`, then replies; the caller gives up the call during the wait",
      "openai-node#2580, google-gemini/gemini-cli#11223", "ends the call at once, and does not retry", first_try,
      [] { return service_unavailable().retry_after(seconds{1}); }},
     Mishap::Call::abandoned,
     KeyChange::none,
     nullptr,
     milliseconds{1300}},
    {{"rotated-key", "deletes the client's key, and accepts only its new key", "the documentation: keys",
      "uses the new key", whole_answer},
     Mishap::Call::whole,
     KeyChange::rotated},
    {{"last-answer", "answers", "the documentation: chat completions",
      "passes on the answer, unaffected by earlier turns", whole_answer}},
};

Reply reply_of(const Row& row, const Plan& plan) {
  if (row.reply) return row.reply(plan);
  const ScenarioRow& scenario = row.scenario;
  if (scenario.failure) return scenario.failure();
  const Reply reply = mock_gateway::text(plan.text);
  if (scenario.finish_reason.streamed) return reply.finish_reason(scenario.finish_reason.streamed);
  return scenario.effect ? scenario.broken(reply, plan.streamed) : reply;
}

struct Turn {
  const Row* row;
  Scenario scenario;  // judges a whole call
  std::size_t tokens = 0;
  Duration time{0};
};

/// Returns a unique text: "Turn 3: 東京 9 °C, Zürich 21 °C, Łódź 4 °C." Text of another turn is thus recognized.
std::string text_of(std::size_t number, Random& random) {
  constexpr std::string_view places[] = {"Zürich", "東京", "Łódź", "São Paulo", "Αθήνα", "Đà Nẵng"};
  std::string text = "Turn " + std::to_string(number);
  for (std::size_t i = 0; i < 3; ++i)
    text += (i == 0 ? ": " : ", ") + std::string(places[random.below(std::size(places))]) + " " +
            std::to_string(random.between(-9, 39)) + " °C";
  return text + ".";
}

Turn turn_of(const Row& row, std::size_t number, Random& random) {
  ScenarioData data{row.scenario.described("mishaps")};
  data.said.text = text_of(number, random);
  data.said.usage.reset();
  data.said.fails_first = false;
  Turn turn{&row, Access::make<Scenario>(share<const ScenarioData>(std::move(data)))};
  turn.tokens = static_cast<std::size_t>(random.between(2, 4));
  turn.time = milliseconds{random.between(100, 200)};
  return turn;
}

std::vector<Turn> turns_of(std::uint64_t seed) {
  Random random(fingerprint("mishaps", fingerprint(std::to_string(seed))));
  std::vector<std::size_t> order(std::size(rows));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::size_t* const shuffled = order.data() + fixed_at_each_end;
  for (std::size_t left = order.size() - 2 * fixed_at_each_end; left > 1; --left)
    std::swap(shuffled[left - 1], shuffled[static_cast<std::size_t>(random.below(left))]);
  std::vector<Turn> turns;
  for (const std::size_t number : order) turns.push_back(turn_of(rows[number], turns.size() + 1, random));
  return turns;
}

}  // namespace mishap_turns

struct MishapSession {
  MishapSession(Gateway& session_gateway, std::uint64_t session_seed)
      : gateway(session_gateway),
        keys(session_gateway.keys()),
        seed(session_seed),
        turns(mishap_turns::turns_of(session_seed)),
        key(keys.create("mishaps")) {}
  ~MishapSession() {
    end_turn();
    keys.remove(key.id);
  }
  MishapSession(const MishapSession&) = delete;
  MishapSession& operator=(const MishapSession&) = delete;

  void begin_turn(std::size_t number);
  void end_turn();
  std::vector<Exchange> exchanges() const;

  Gateway& gateway;
  const Keys keys;
  const std::uint64_t seed;
  const std::vector<mishap_turns::Turn> turns;
  CreatedKey key;
  std::optional<std::size_t> mounted;
  TimePoint mounted_at{};
  std::optional<std::size_t> before;
  std::vector<ScopedStub> stubs;
  std::uint64_t newest_before = 0;
  std::size_t count_before = 0;
};

void MishapSession::begin_turn(std::size_t number) {
  end_turn();
  const mishap_turns::Turn& turn = turns[number];
  const std::vector<Exchange> earlier = gateway.journal().all();
  count_before = gateway.journal().count();
  newest_before = earlier.empty() ? 0 : earlier.back().id();
  if (turn.row->key_change == mishap_turns::KeyChange::disabled) keys.disable(key.id);
  if (turn.row->key_change == mishap_turns::KeyChange::rotated) {
    const std::string old_key = key.id;
    key = keys.create("mishaps, rotated");
    keys.remove(old_key);
  }
  // On an instant clock, a stall with a duration would end at once.
  const bool takes_no_time = detail::is_instant(Access::serving(gateway)->clock);
  const Effect wait = takes_no_time ? stall() : stall(mishap_turns::time_to_end);
  for (const bool streamed : {false, true}) {
    StubBuilder builder = gateway.chat(SourceLocation{})
                              .named(turn.scenario.name() + (streamed ? ", streamed" : ""))
                              .priority(std::numeric_limits<int>::max());
    Access::plan(builder).of_catalogue = true;
    if (streamed) builder = std::move(builder).when(stream_is(true));
    const Reply reply = mishap_turns::reply_of(*turn.row, {turn.scenario.text(), streamed, turn.tokens, wait});
    const Stub stub = turn.row->scenario.has(catalogue_parts::then_answer)
                          ? std::move(builder).reply(reply, mock_gateway::text(turn.scenario.text()))
                          : std::move(builder).reply(reply);
    stubs.push_back(stub.scoped());
  }
  before = std::exchange(mounted, number);
  mounted_at = Access::serving(gateway)->clock.now();
}

void MishapSession::end_turn() {
  stubs.clear();
  if (mounted && turns[*mounted].row->key_change == mishap_turns::KeyChange::disabled) keys.enable(key.id);
}

std::vector<Exchange> MishapSession::exchanges() const {
  std::vector<Exchange> all;
  for (Exchange& exchange : gateway.journal().all())
    if (exchange.id() > newest_before) all.push_back(std::move(exchange));
  return all;
}

namespace mishap_turns {

struct Fault {
  Verdict::Kind kind = Verdict::Kind::handled;
  std::string what = {};
};

Fault fault_of_ended_call(const ClientOutcome& outcome, const Scenario& scenario,
                          const std::vector<Exchange>& exchanges) {
  if (outcome.hung) return {Verdict::Kind::hang, "the call did not end when its caller ended it"};
  const bool was_said =
      text::is_valid_utf8(outcome.text) && scenario.text().compare(0, outcome.text.size(), outcome.text) == 0;
  if (!was_said || !outcome.tool_calls.empty())
    return {Verdict::Kind::wrong_answer, "the caller got \"" + text::printable(outcome.text, 200, true) +
                                             "\", the reply was \"" + scenario.text() + "\""};
  if (outcome.text == scenario.text())
    return {Verdict::Kind::wrong_answer, "the caller ended the call, but got the whole answer"};
  if (exchanges.size() > 1)
    return {Verdict::Kind::wrong_answer, "the client sent " + std::to_string(exchanges.size()) + " requests"};
  // A client need not disconnect from an error answer, which is complete at once.
  for (const Exchange& exchange : exchanges)
    if (exchange.status() == 200 && !exchange.wait_for_client_to_leave(time_to_leave))
      return {Verdict::Kind::hang,
              "the client was still connected a second after its caller ended the call: " + exchange.summary()};
  return {outcome.error ? Verdict::Kind::error_surfaced : Verdict::Kind::handled};
}

/// Whether the client retried while its call ran. The call began between the turn's mounting and the first request.
bool tried_before(const std::vector<Exchange>& exchanges, TimePoint mounted, Duration abandon_after) {
  return exchanges.size() > 1 && exchanges[0].status() != 200 &&
         (exchanges[1].received() - mounted < abandon_after ||
          exchanges[1].received() - exchanges[0].received() < abandon_after / 4);
}

}  // namespace mishap_turns
}  // namespace detail

const std::string& Mishap::name() const { return session_->turns[number_].scenario.name(); }
const std::string& Mishap::description() const { return session_->turns[number_].scenario.description(); }
const std::string& Mishap::reference() const { return session_->turns[number_].scenario.reference(); }
const std::string& Mishap::good_client() const { return session_->turns[number_].scenario.good_client(); }
Scenario::Expected Mishap::expected() const { return session_->turns[number_].scenario.expected(); }
const std::string& Mishap::text() const { return session_->turns[number_].scenario.text(); }
bool Mishap::needs_stream() const { return session_->turns[number_].scenario.needs_stream(); }
Mishap::Call Mishap::call() const { return session_->turns[number_].row->call; }

std::size_t Mishap::cancel_after() const { return call() == Call::cancelled ? session_->turns[number_].tokens : 0; }

Duration Mishap::abandon_after() const {
  return call() == Call::abandoned ? session_->turns[number_].time : Duration::zero();
}

void Mishap::mount() const { session_->begin_turn(number_); }

std::string Mishap::api_key() const { return session_->key.secret; }

Verdict Mishap::judge(ClientOutcome outcome) const {
  if (session_->mounted != number_)
    throw GatewayError("cannot judge the turn " + name() +
                       ": call mount(), make the client's call, then judge its outcome");
  const Scenario& scenario = session_->turns[number_].scenario;
  // The caller may have ended the call before the gateway read its request.
  if (call() != Call::whole)
    static_cast<void>(
        session_->gateway.journal().wait_for(session_->count_before + 1, detail::mishap_turns::time_to_leave));
  // On other clocks, the test decides when the client's wait is over.
  const Clock& clock = detail::Access::serving(session_->gateway)->clock;
  const std::chrono::milliseconds time_to_ask_again = session_->turns[number_].row->time_to_ask_again;
  if (time_to_ask_again.count() > 0 && !detail::is_manual(clock) && !detail::is_instant(clock))
    static_cast<void>(session_->gateway.journal().wait_for(session_->count_before + 2, time_to_ask_again));
  const std::vector<Exchange> exchanges = session_->exchanges();
  outcome.tries = static_cast<int>(std::max<std::size_t>(exchanges.size(), 1));
  const auto verdict = [&](Verdict::Kind kind, bool acceptable, std::string message) {
    if (!acceptable) {
      message += "\n  the turn    " + std::to_string(number_ + 1) + " of " + std::to_string(session_->turns.size());
      if (session_->before) message += ", after " + session_->turns[*session_->before].scenario.name();
      message += " (seed " + std::to_string(session_->seed) + ")";
    }
    return detail::Access::make<Verdict>(kind, acceptable, std::move(message));
  };
  std::optional<detail::mishap_turns::Fault> fault;
  if (exchanges.empty()) {
    fault = {outcome.hung    ? Verdict::Kind::hang
             : outcome.error ? Verdict::Kind::error_surfaced
                             : Verdict::Kind::silent_data_loss,
             "the client sent no request in this turn"};
  } else if (call() != Call::whole &&
             !detail::mishap_turns::tried_before(exchanges, session_->mounted_at, abandon_after())) {
    fault = detail::mishap_turns::fault_of_ended_call(outcome, scenario, exchanges);
  }
  if (!fault) {
    const Verdict judged = scenario.judge(outcome);
    return verdict(judged.kind(), static_cast<bool>(judged), judged.message());
  }
  std::string message = name() + ": " + to_string(fault->kind);
  const bool acceptable = fault->what.empty();
  if (!acceptable)
    message += ", expected " + to_string(expected()) + "\n  what        " + fault->what + "\n  the gateway " +
               description() + "\n  a good client " + good_client();
  return verdict(fault->kind, acceptable, std::move(message));
}

Mishaps mishaps(Gateway& gateway, std::uint64_t seed) {
  const auto session = std::make_shared<detail::MishapSession>(gateway, seed);
  std::vector<Mishap> turns;
  for (std::size_t i = 0; i < session->turns.size(); ++i) turns.push_back(detail::Access::make<Mishap>(session, i));
  return detail::Access::make<Mishaps>(std::move(turns));
}

}  // namespace mock_gateway
