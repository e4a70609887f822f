// The order of calls, threads, skipped cells, whether a scenario took effect, and retries.

#include "check_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "../messages.hpp"
#include "../results.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// The key of the second gateway, which a session calls before its last turn.
constexpr const char* key_elsewhere = "sk-of-another-address";
constexpr const char* unbroken_text = "It is 21 degrees.";
/// A scenario of 429 with Retry-After: 1, and those of a 429 whose Retry-After names no time to wait.
constexpr const char* named_retry = "rate-limited-then-answer";
constexpr const char* nameless_retries[] = {"retry-after-zero", "retry-after-negative", "retry-after-in-the-past",
                                            "retry-after-garbage", "retry-after-missing"};
/// The limit of concurrent calls that are expected to hang. They use a thread, but hardly any CPU.
constexpr std::size_t most_waiting = 8;

Mark mark_of(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::handled: return Mark::ok;
    case Verdict::Kind::error_surfaced: return Mark::error;
    case Verdict::Kind::silent_data_loss: return Mark::loss;
    case Verdict::Kind::wrong_answer: return Mark::wrong;
    case Verdict::Kind::hang: return Mark::hang;
  }
  return Mark::skipped;
}

/// Returns a scenario that judges a step of a sweep.
Scenario step_as_scenario(const std::string& name, const std::string& group, const std::string& text, bool breaks) {
  internal::ScenarioText step;
  step.name = group + ": " + name;
  step.group = group;
  step.description = breaks ? "sends the answer with this fault: " + name : "sends the answer, " + name;
  step.good_client = breaks ? "gives the whole answer, or reports an error" : "gives the whole answer";
  step.expected = breaks ? Scenario::Expected::answer_or_error : Scenario::Expected::answer;
  step.text = text;
  return internal::make_scenario(step);
}

/// Returns the effects of a sweep that a client can detect. It cannot detect a missing or a repeated event.
std::vector<Effect> effects_to_notice() {
  std::vector<Effect> effects = sweep_effects();
  const auto is_hidden = [](const Effect& effect) {
    return effect.kind() == Effect::Kind::skip_event || effect.kind() == Effect::Kind::duplicate_event;
  };
  effects.erase(std::remove_if(effects.begin(), effects.end(), is_hidden), effects.end());
  return effects;
}

/// Counts the requests of this form. A request without a readable body has neither form.
std::size_t asked_in(const std::vector<Exchange>& exchanges, Form form) {
  return static_cast<std::size_t>(std::count_if(exchanges.begin(), exchanges.end(), [form](const Exchange& exchange) {
    const Json body = Json::parse(exchange.body(), nullptr, false);
    return body.is_object() && (body.value("stream", Json()) == Json(true)) == (form == Form::streamed);
  }));
}

/// Whether the scenario is about the usage of a stream, which clients must request.
bool asks_for_usage(const Cell& cell) {
  return cell.form == Form::streamed && cell.scenario->needs_stream() && cell.scenario->usage().has_value();
}

bool asked_for_usage_in(const std::vector<Exchange>& exchanges) {
  return std::any_of(exchanges.begin(), exchanges.end(), [](const Exchange& exchange) {
    const Json body = Json::parse(exchange.body(), nullptr, false);
    const Json options = body.is_object() ? body.value("stream_options", Json()) : Json();
    return options.is_object() && options.value("include_usage", Json()) == Json(true);
  });
}

/// Whether the scenario affected a connection or answered a request.
bool happened(const Scenario& scenario, const Journal& journal, const std::vector<Exchange>& exchanges) {
  return !journal.connection_hits().empty() ||
         std::any_of(exchanges.begin(), exchanges.end(),
                     [&scenario](const Exchange& exchange) { return scenario.happened_to(exchange); });
}

/// Whether the call lasted far longer than its caller's timeout, for example because the client waited for Retry-After.
bool ended_late(const Mishap& turn, const CallResult& result) {
  return turn.call() == Mishap::Call::abandoned &&
         std::chrono::duration<double>(result.seconds) > turn.abandon_after() + 800ms;
}

/// Whether the client calls a gateway at another address before this turn.
bool is_after_another_address(const Mishap& turn) { return turn.name() == "last-answer"; }

Form other_than(Form form) { return form == Form::plain ? Form::streamed : Form::plain; }

/// Returns an error message about a call that did not return the unbroken answer.
std::string what_came(const CallResult& result, const std::vector<Exchange>& exchanges, Form form, bool tools) {
  std::string text = "CMD did not return the test answer, ";
  text += tools ? "a call of get_weather" : "\"" + std::string(unbroken_text) + "\"";
  text += std::string(", in a ") + to_string(form) + " call: ";
  if (!result.crash.empty())
    text += result.crash;
  else if (!result.problem.empty())
    text += result.problem;
  else if (result.outcome.hung)
    text += "it timed out";
  else
    text += "it returned \"" + printable(result.outcome.text.substr(0, 200)) + "\"";
  if (!result.ended.empty())
    text += ", and " + result.ended;
  else if (result.outcome.error)
    text += ", and an error" + (result.told.empty() ? "" : ": " + printable(result.told));
  if (exchanges.empty())
    text +=
        "\nCMD sent no request: the gateway's address is in OPENAI_BASE_URL, {base_url}, or a job's base_url; a CMD "
        "that reads jobs from its stdin needs --driver";
  for (const Exchange& exchange : exchanges) text += "\nrequest " + exchange.summary();
  return text + printed_by(result.output, result.errors);
}

}  // namespace

CheckRun::CheckRun(Children& children, const CheckFlags& flags, const std::vector<std::string>& command)
    : children_(children),
      flags_(flags),
      command_(command),
      options_(options_from(flags)),
      scenarios_(chosen_scenarios(flags)) {
  if (flags.plain || !flags.streamed) forms_.push_back(Form::plain);
  if (flags.streamed || !flags.plain) forms_.push_back(Form::streamed);
}

std::vector<const Cell*> CheckRun::all_cells() const {
  std::vector<const Cell*> all;
  for (const Cell& cell : cells_) all.push_back(&cell);
  return all;
}

void CheckRun::accept(const Baseline* baseline) {
  for (Cell& cell : cells_)
    cell.accepted = !faults_of(cell, flags_).empty() && (!baseline || baseline->unlisted(cell, flags_).empty());
}

void CheckRun::try_unbroken() {
  Queue queue;
  Queue none;
  queue.threads = 1;  // the main thread handles signals
  queue.tasks.push_back([this](ClientUnderTest& client) {
    for (const Form form : std::vector<Form>(forms_)) {
      try_unbroken(client, form, false);
      const bool is_judged = std::find(forms_.begin(), forms_.end(), form) != forms_.end();
      if (flags_.tools && is_judged) try_unbroken(client, form, true);
    }
    client_name_ = client.name();
    client_version_ = client.version();
  });
  run_queues(queue, none);
}

void CheckRun::try_unbroken(ClientUnderTest& client, Form form, bool tools) {
  Gateway gateway{options_.verify_on_destruction(false)};
  gateway.chat().reply(unbroken_text);
  if (tools) gateway.chat().when(has_tool("get_weather")).reply(tool_call("get_weather", {{"city", "Paris"}}));
  CallResult result = client.call({gateway, form, "", tools});
  if (children_.is_cancelled()) return;
  const std::vector<Exchange> exchanges = gateway.journal().all();
  if (!result.skipped.empty()) {
    forms_.erase(std::remove(forms_.begin(), forms_.end(), form), forms_.end());
    remark(result.skipped + ": no " + to_string(form) + " calls are judged");
    if (forms_.empty()) throw BadValue("the driver knows neither the job ask nor the job stream");
    return;
  }
  const ClientOutcome& outcome = result.outcome;
  bool is_whole = !outcome.hung && !outcome.error && result.crash.empty() && result.problem.empty();
  if (tools) {
    is_whole = is_whole && outcome.tool_calls.size() == 1 && outcome.tool_calls.front().name == "get_weather" &&
               outcome.tool_calls.front().json() == Json{{"city", "Paris"}};
  } else {
    is_whole = is_whole && outcome.text == unbroken_text && outcome.tool_calls.empty();
  }
  mask(result, gateway.api_key());
  if (!is_whole || exchanges.empty()) throw UnusableClient(what_came(result, exchanges, form, tools));
  if (asked_in(exchanges, form) > 0) return;
  const Form other = other_than(form);
  const std::string always = std::string("CMD ") + (form == Form::plain ? "always" : "never") + " requests a stream" +
                             (flags_.driver ? ", whatever the job" : ", whatever MOCK_GATEWAY_STREAM or {stream} says");
  if (forms_.size() == 1 || flags_.plain || flags_.streamed)
    throw BadValue(always + "; judge only its " + to_string(other) + " calls with " +
                   (other == Form::plain ? "--plain" : "--stream"));
  forms_ = {other};
  remark(always + ": only " + to_string(other) + " calls are judged");
}

void CheckRun::add_cells() {
  for (const Scenario& one : scenarios_.chosen) {
    for (const Form form : forms_) {
      if (one.needs_stream() && form == Form::plain) continue;
      Cell cell;
      cell.name = one.name();
      cell.group = one.group();
      cell.form = form;
      cell.scenario = one;
      cell.is_turn = flags_.catalogues.empty() && one.group() == "mishaps";
      if (!one.tool_calls().empty() && !flags_.tools) cell.why = "the scenario needs tool calls (--tools)";
      if (one.calls() > 1 && !flags_.driver) cell.why = "the scenario needs several calls of one client (--driver)";
      cells_.push_back(std::move(cell));
    }
  }
}

void CheckRun::call_all(const Baseline& baseline) {
  if (signal_) return;
  const std::size_t threads = flags_.jobs.value_or(std::max(2U, std::thread::hardware_concurrency()));
  if (flags_.sweeps()) {
    Queue sweeps;
    Queue none;
    sweeps.threads = threads;
    for (const Form form : forms_)
      sweeps.tasks.push_back([this, form](ClientUnderTest& client) {
        sweep(form, client, false);
        if (flags_.splits && form == Form::streamed) sweep(form, client, true);
      });
    run_queues(sweeps, none);
    cells_.sort([](const Cell& left, const Cell& right) { return left.form < right.form; });
    return;
  }
  add_cells();
  std::vector<Cell*> asked;
  for (Cell& cell : cells_)
    if (cell.why.empty()) asked.push_back(&cell);
  call(asked, threads);
  for (Cell& cell : cells_)
    if (cell.why.empty()) cell.why = "the call was not made";
  if (!signal_) call_again(baseline);
  compare_retries();
}

void CheckRun::call(const std::vector<Cell*>& cells, std::size_t threads) {
  Queue ordinary;
  Queue waiting;
  ordinary.threads = threads;
  // --jobs limits all calls, including hanging ones.
  waiting.threads = flags_.jobs ? 0 : most_waiting;
  planned_ = cells.size();
  made_ = 0;
  bad_ = 0;
  // Start the sessions first: they take longest.
  for (const Form form : forms_) {
    std::vector<Cell*> turns;
    std::copy_if(cells.begin(), cells.end(), std::back_inserter(turns),
                 [form](const Cell* cell) { return cell->is_turn && cell->form == form; });
    if (!turns.empty())
      ordinary.tasks.push_back([this, turns, form](ClientUnderTest& client) { run_session(turns, form, client); });
  }
  for (Cell* const cell : cells) {
    if (cell->is_turn) continue;
    Queue& queue = cell->scenario->needs_timeout() && waiting.threads > 0 ? waiting : ordinary;
    queue.tasks.push_back([this, cell](ClientUnderTest& client) { run_cell(*cell, client); });
  }
  run_queues(ordinary, waiting);
}

void CheckRun::call_again(const Baseline& baseline) {
  const auto is_as_expected = [this, &baseline](const Cell& one) {
    return baseline.unlisted(one, flags_).empty() && baseline.stale({&one}, flags_, nullptr).empty();
  };
  std::vector<Cell*> firsts;
  std::list<Cell> seconds;
  std::vector<Cell*> asked;
  for (Cell& cell : cells_) {
    if (is_as_expected(cell)) continue;
    firsts.push_back(&cell);
    asked.push_back(&seconds.emplace_back(cell));
  }
  phase_ = "bad calls again: ";
  call(asked, 1);  // one at a time, except calls that hang
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    Cell& first = *firsts[i];
    Cell& second = *asked[i];
    if (second.mark == Mark::skipped) continue;
    second.flaky = is_as_expected(second);
    second.first = shown(first) + ": " + first.why.substr(0, first.why.find('\n'));
    for (const Finding& finding : first.findings) second.first += ", finding " + finding.code + ": " + finding.message;
    first = std::move(second);
  }
}

void CheckRun::compare_retries() {
  for (const Form form : forms_) {
    const auto made = [this, form](const std::string& scenario, bool retry) {
      return std::any_of(cells_.begin(), cells_.end(), [&](const Cell& cell) {
        return cell.name == scenario && cell.form == form && cell.mark != Mark::skipped && (cell.requests > 1) == retry;
      });
    };
    std::string others;
    for (const char* const scenario : nameless_retries)
      if (made(scenario, false)) others += (others.empty() ? "" : ", ") + std::string(scenario);
    if (!made(named_retry, true) || others.empty()) continue;
    remark(
        std::string("inconsistent retries, ") + to_string(form) + ": CMD tries again after Retry-After: 1 (" +
        named_retry + "), but not in " + others +
        ". A Retry-After that names no time to wait does not mean never: wait for a time of your own, such as 0.5 s");
  }
}

void CheckRun::run_queues(Queue& ordinary, Queue& waiting) {
  std::vector<std::thread> threads;
  std::vector<Queue*> queues;  // one for each thread
  for (Queue* const queue : {&ordinary, &waiting})
    queues.insert(queues.end(), std::min(queue->threads, queue->tasks.size()), queue);
  running_ = queues.size();
  try {
    for (Queue* const queue : queues) threads.emplace_back([this, queue] { work(*queue); });
  } catch (const std::system_error&) {  // thread limit reached
    const std::lock_guard<std::mutex> lock(mutex_);
    running_ -= queues.size() - threads.size();
    if (threads.empty()) problem_ = std::current_exception();
  }
  const auto is_over = [this] {
    const std::lock_guard<std::mutex> lock(mutex_);
    return running_ == 0;
  };
  while (!is_over()) {
    children_.signals().wait(20ms);
    heed_signals();
    show_progress(false);
  }
  for (std::thread& thread : threads) thread.join();
  show_progress(true);
  if (problem_ && !signal_) std::rethrow_exception(problem_);
}

void CheckRun::heed_signals() {
  while (const std::optional<int> signal = children_.signals().next()) {
    signal_ = *signal;
    children_.cancel();
  }
}

void CheckRun::work(Queue& queue) {
  try {
    const std::unique_ptr<ClientUnderTest> client = make_client(children_, flags_, command_);
    for (;;) {
      Task task;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (queue.tasks.empty() || children_.is_cancelled()) break;
        task = std::move(queue.tasks.front());
        queue.tasks.pop_front();
      }
      task(*client);
    }
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!problem_) problem_ = std::current_exception();
    children_.cancel();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  --running_;
}

void CheckRun::run_cell(Cell& cell, ClientUnderTest& client) {
  Gateway gateway{cell.scenario->options(options_)};
  cell.scenario->mount(gateway);
  CallResult result;
  std::size_t before = 0;
  for (int call = 0; call < cell.scenario->calls(); ++call) {
    before = gateway.journal().count();
    result = client.call({gateway, cell.form, cell.name, !cell.scenario->tool_calls().empty(), asks_for_usage(cell)});
    if (!result.has_answer()) break;
  }
  if (children_.is_cancelled()) return;
  judge(cell, gateway, result, gateway.journal().count() - before);
}

void CheckRun::run_session(const std::vector<Cell*>& cells, Form form, ClientUnderTest& client) {
  Gateway gateway{options_.verify_on_destruction(false)};
  std::set<std::string> keys;  // all keys the client was given, including deleted ones
  for (const Mishap& turn : mishaps(gateway, flags_.seed.value_or(1))) {
    if (children_.is_cancelled()) return;
    if (turn.needs_stream() && form == Form::plain) continue;
    const auto asked =
        std::find_if(cells.begin(), cells.end(), [&turn](const Cell* cell) { return cell->name == turn.name(); });
    keys.insert(turn.api_key());
    // Play all turns, even if not chosen: later turns depend on earlier ones.
    const CallResult result = play(turn, gateway, form, client);
    if (asked == cells.end() || children_.is_cancelled()) continue;
    keys.insert(turn.api_key());
    judge(**asked, gateway, result, gateway.journal().count(), &turn, keys);
    if (is_after_another_address(turn) && !(*asked)->good)
      (*asked)->why += "\n  before it   a call to another address, with another key";
  }
}

CallResult CheckRun::play(const Mishap& turn, Gateway& gateway, Form form, ClientUnderTest& client) {
  gateway.journal().clear();  // judge each turn separately
  CallResult result;
  if (turn.name() == "rotated-key") {
    // A client without this job keeps the old key; the turn is skipped.
    result = client.use_key(gateway, turn.api_key());
    if (!result.skipped.empty()) return result;
    turn.mount();
    if (result.has_answer()) result = client.use_key(gateway, turn.api_key());
  } else {
    if (is_after_another_address(turn)) result = call_elsewhere(form, client);
    turn.mount();
  }
  if (!result.has_answer()) return result;
  result = client.call({gateway, form, turn.name(), false, false, &turn});
  // A client may abandon a call before the gateway has read the request.
  if (turn.call() != Mishap::Call::whole && result.has_answer()) static_cast<void>(gateway.journal().wait_for(1, 1s));
  return result;
}

CallResult CheckRun::call_elsewhere(Form form, ClientUnderTest& client) {
  Gateway elsewhere{options_.api_key(key_elsewhere).verify_on_destruction(false)};
  elsewhere.chat().reply(unbroken_text);
  return client.call({elsewhere, form, "", false});
}

void CheckRun::judge(Cell& cell, Gateway& gateway, const CallResult& result, std::size_t requests, const Mishap* turn,
                     std::set<std::string> keys) {
  // The gateway needs half a second after the end of a stream to see that the client left it open.
  static_cast<void>(gateway.journal().wait_until_idle(700ms));
  const std::vector<Exchange> exchanges = gateway.journal().all();
  const Scenario& scenario = *cell.scenario;
  cell.result = result;
  cell.requests = requests;
  cell.findings.clear();
  cell.beyond.clear();
  cell.result.outcome.tries = static_cast<int>(std::max<std::size_t>(requests, 1));
  cell.result.outcome.streamed = cell.form == Form::streamed;
  // Judge lost usage only for clients that report usage.
  cell.result.outcome.asked_for_usage =
      flags_.driver && result.tells_usage && asks_for_usage(cell) && asked_for_usage_in(exchanges);
  for (const Finding& finding : gateway.review().findings())
    (finding.severity == Severity::note ? cell.beyond : cell.findings).push_back(finding);
  const auto skip = [&cell](std::string why) {
    cell.mark = Mark::skipped;
    cell.why = std::move(why);
  };
  if (!result.skipped.empty()) {
    skip(result.skipped);
  } else if (!result.crash.empty() || !result.problem.empty()) {
    cell.mark = Mark::crash;
    cell.good = false;
    cell.why = cell.name + ": " + (result.crash.empty() ? "its answer is " + result.problem : result.crash);
  } else if (!result.outcome.hung && exchanges.empty() && gateway.journal().connection_hits().empty() &&
             cell.name != "connection-refused") {  // the gateway cannot see these
    skip("the client sent no request");
  } else if (asked_in(exchanges, cell.form) == 0 && asked_in(exchanges, other_than(cell.form)) > 0) {
    skip(std::string("the client sent no ") + to_string(cell.form) + " request");
  } else if (!turn && scenario.calls() > 1 && !happened(scenario, gateway.journal(), exchanges)) {
    skip("each call used a new connection, so none was reused");
  } else {
    Verdict verdict = turn ? turn->judge(cell.result.outcome) : scenario.judge(cell.result.outcome);
    if (turn && verdict && ended_late(*turn, result)) {
      ClientOutcome late = cell.result.outcome;
      late.hung = true;
      verdict = turn->judge(late);
    }
    cell.mark = mark_of(verdict.kind());
    cell.good = static_cast<bool>(verdict);
    cell.why = result.outcome.hung ? "the call did not end within " + flags_.timeout : verdict.message();
  }
  keys.insert({gateway.api_key(), key_elsewhere});
  for (const std::string& key : keys) {
    mask(cell.result, key);
    static_cast<void>(mask(cell.why, key));
  }
  if (cell.result.told_the_key &&
      std::count(flags_.without_findings.begin(), flags_.without_findings.end(), key_told) == 0)
    cell.findings.push_back({key_told,
                             "the error shown to the user contains the key, and errors are often logged",
                             Severity::error,
                             {},
                             true});
  const std::lock_guard<std::mutex> lock(mutex_);
  ++made_;
  if (!faults_of(cell, flags_).empty()) ++bad_;
  if (!result.left_behind.empty())
    remark("CMD left processes running after " + cell.id() + "; check ended them: " + result.left_behind);
}

void CheckRun::sweep(Form form, ClientUnderTest& client, bool of_http_chunks) {
  const std::string text = flags_.sweep.value_or(flags_.splits.value_or(""));
  const std::string group = flags_.sweep ? "sweep" : "splits";
  Gateway gateway{options_.verify_on_destruction(false)};
  SweepOptions options = flags_.sweep ? SweepOptions{}.effects(effects_to_notice()) : splits();
  if (of_http_chunks) options = options.http_chunks();
  if (flags_.at_most) options = options.limit(*flags_.at_most);
  CallResult result;
  std::size_t requests = 0;
  bool is_flaky = false;
  const auto ask = [&] {
    // The step is known only after the call. Its expectation is the same for all steps.
    const Scenario judge = step_as_scenario("", group, text, flags_.sweep.has_value());
    is_flaky = false;
    for (int time = 0; time < 2; ++time) {
      gateway.journal().clear();  // judge each step separately
      result = client.call({gateway, form, group, false});
      requests = gateway.journal().count();
      result.outcome.tries = static_cast<int>(std::max<std::size_t>(requests, 1));
      result.outcome.streamed = form == Form::streamed;
      const bool is_good =
          result.crash.empty() && result.problem.empty() && static_cast<bool>(judge.judge(result.outcome));
      is_flaky = is_good && time > 0;
      if (is_good || children_.is_cancelled()) return;
    }
  };
  bool is_counted = false;
  const Sweep steps = gateway.sweep(Reply(text), ask, options);
  try {
    for (const SweepStep& step : steps) {
      if (children_.is_cancelled()) return;
      Cell cell;
      cell.scenario = step_as_scenario(step.name(), group, text, flags_.sweep.has_value());
      cell.name = cell.scenario->name();
      cell.group = group;
      cell.form = form;
      judge(cell, gateway, result, requests);
      if (cell.mark != Mark::skipped && !step.reached()) {
        cell.mark = Mark::skipped;
        cell.why = "the reply did not reach this place";
      }
      cell.flaky = is_flaky && cell.mark != Mark::skipped && cell.good;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!std::exchange(is_counted, true)) planned_ += steps.size();
      cells_.push_back(std::move(cell));
    }
  } catch (const GatewayError&) {
    if (children_.is_cancelled() || (of_http_chunks && !is_counted)) return;  // over HTTP/1.0 there are no HTTP chunks
    if (!is_counted) throw;                                                   // thrown by the unbroken call
    const std::lock_guard<std::mutex> lock(mutex_);
    is_incomplete_ = true;
    remark(group + " " + to_string(form) +
           ": the client made no request in two consecutive steps; the rest was skipped");
  }
}

void CheckRun::show_progress(bool last) {
  const std::lock_guard<std::mutex> lock(mutex_);
  static const bool is_terminal = ::isatty(STDERR_FILENO) != 0;
  const auto now = steady_clock::now();
  if (told_ == steady_clock::time_point{}) told_ = now;
  if (planned_ == 0) return;
  if (is_terminal) {
    if (last) {
      std::cerr << "\r\x1b[K" << std::flush;
      return;
    }
    if (now - told_ < 100ms) return;
    constexpr std::size_t width = 30;
    const std::size_t filled = std::min(width, width * made_ / planned_);
    std::cerr << "\r" << phase_ << "[" << std::string(filled, '#') << std::string(width - filled, ' ') << "] " << made_
              << " of " << planned_ << " calls, " << bad_ << " bad\x1b[K" << std::flush;
    told_ = now;
  } else if (!last && now - told_ >= 10s) {
    complain(phase_ + std::to_string(made_) + " of " + counted(planned_, "call") + " made, " + std::to_string(bad_) +
             " bad");
    told_ = now;
  }
}

}  // namespace endpoint
}  // namespace mock_gateway
