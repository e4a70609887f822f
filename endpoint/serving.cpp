// The gateway of flags and scripts; messages about scripts; resets; network warnings; descriptor limit.

#include "serving.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "messages.hpp"
#include "published_file.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

std::optional<ScriptDocument> document_from(const Flags& flags) {
  if (flags.scripts.empty()) return std::nullopt;
  return ScriptDocument::read(flags.scripts);
}

/// Returns "3 stubs: "weather", "order", …", or an empty text.
std::string listed(const std::vector<std::string>& names, const std::string& noun) {
  constexpr std::size_t most = 10;
  if (names.empty()) return {};
  std::string text = counted(names.size(), noun) + ": ";
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text + (names.size() > most ? ", …" : "");
}

/// Returns "2 failures", or an empty text.
std::string number_of(std::size_t count, const std::string& noun) { return count == 0 ? "" : counted(count, noun); }

/// Returns the exchanges that problems and findings name, oldest first, up to a limit.
Json named_exchanges(const Journal& journal, const Results& results) {
  constexpr std::size_t most = 100;
  std::set<std::uint64_t> ids;
  for (const Problem& problem : results.problems) ids.insert(problem.exchanges.begin(), problem.exchanges.end());
  for (const Finding& finding : results.findings) ids.insert(finding.exchanges.begin(), finding.exchanges.end());
  Json exchanges = Json::array();
  for (const Exchange& exchange : journal.all()) {
    if (exchanges.size() >= most) break;
    if (ids.count(exchange.id()) != 0) exchanges.push_back(as_json(exchange));
  }
  return exchanges;
}

/// Whether there is a note about unlisted models, which is last. Reports have it once per run.
bool has_unlisted(const Judged& judged) {
  return !judged.findings.empty() && judged.findings.back().code == "unlisted_model";
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.compare(0, 4, "127.") == 0;
}

}  // namespace

Serving::Serving(const Flags& flags, int default_port, bool judged, const RunIdentity& identity)
    : flags_(flags),
      is_judged_(judged),
      signature_(script_signature(flags.scripts)),
      document_(document_from(flags)),
      chosen_(scenario_from(flags)),
      log_(chosen_, flags.quiet, flags.logs_all, flags.journal, identity.instance) {
  gateway_.emplace(start_options(flags, default_port, judged, identity.token));
  if (document_) {
    for (const ScriptProblem& warning : document_->warnings(*gateway_))
      log_.say(coloured(Colour::yellow, warning.to_string()));
  }
  forced_ = forced_failures(*gateway_, flags);
  force_failures_of_flags();
  mount_stubs_of_flags();
  if (document_) script_ = document_->mount(*gateway_);
  log_contents(flags);
  notify_run();
}

void Serving::mount_stubs_of_flags() {
  if (flags_.reply) gateway_->chat(SourceLocation{}).named("--reply").reply(text(*flags_.reply));
  if (chosen_) chosen_->mount(*gateway_);
}

void Serving::force_failures_of_flags() {
  for (const ForcedFailure& forced : forced_) {
    if (forced.times)
      gateway_->fail_next(forced.failure, *forced.times, forced.scope);
    else
      gateway_->fail_always(forced.failure, forced.scope);
  }
}

Options Serving::start_options(const Flags& flags, int default_port, bool judged, const std::string& token) {
  Options options = Options().port(default_port);
  // Without a report, a client may stop in a debugger for any time.
  if (!judged) options = options.stall_guard(std::nullopt);
  if (document_) options = document_->options(options);
  options = internal::with_program_defaults(with_flags(options, flags))
                // The destructor would end the program before reports are written.
                .verify_on_destruction(false)
                .on_exchange([this, counts = !token.empty()](const Exchange& exchange) {
                  log_.note(exchange);
                  if (counts) metrics_.note(exchange);
                })
                .on_connection_hit([this, counts = !token.empty()](const ConnectionHit& hit) {
                  log_.note(hit);
                  if (counts) metrics_.note(hit);
                });
  if (chosen_) options = chosen_->options(options);
  // A client may send the token, for example in a prompt, before the first exchange is read.
  return internal::with_program_hooks(options, token);
}

void Serving::log_contents(const Flags& flags) {
  if (!document_ || flags.quiet) return;
  std::vector<std::string> files;
  for (const std::string& file : document_->files()) files.push_back(printable(file));
  std::vector<std::string> stubs;
  for (const Stub& stub : script_->stubs()) stubs.push_back(stub.title());
  std::vector<std::string> keys;
  for (const ApiKey& key : gateway_->keys().list())
    keys.push_back(printable(key.description.empty() ? key.id : key.description) +
                   (key.state == KeyState::enabled ? "" : " (" + to_string(key.state) + ")"));
  const internal::Inside inside(*gateway_);
  std::vector<std::string> operations;
  for (const Operation& one : inside.operations()) operations.push_back(printable(one.method + " " + one.path));
  std::string line;
  for (const std::string& part : {listed(files, "script"), listed(keys, "key"), listed(stubs, "stub"),
                                  listed(operations, "operation"), number_of(inside.failures().size(), "failure"),
                                  number_of(inside.chaos([](std::uint64_t) { return true; }).size(), "chaos rule"),
                                  number_of(inside.connection_faults().size(), "connection fault")})
    if (!part.empty()) line += (line.empty() ? "" : "; ") + part;
  inside.mask(line);  // a title may show a condition that holds a key
  log_.say(complaint("serves " + line));
}

void Serving::warn_of_network(const std::string& what, const std::string& host) {
  if (is_loopback(host)) return;
  log_.say(complaint("warning: " + what + (what.empty() ? "" : " is ") + "listening on " + host +
                     ", reachable from the network"));
}

void Serving::watch_scripts(const Flags& flags) {
  if (script_ && !flags.no_reload)
    watch_.emplace(*gateway_, *script_, *document_, flags.scripts, signature_,
                   [this](std::string line) { log_.say(std::move(line)); });
}

void Serving::reload_scripts() {
  if (watch_) watch_->reload();
}

ScriptState Serving::script_state() const {
  if (watch_) return watch_->state();
  return document_ ? ScriptState{document_->files(), {}, {}, document_->warnings(*gateway_)} : ScriptState();
}

void Serving::reset(const std::vector<std::string>& what) {
  const std::lock_guard<std::mutex> one_at_a_time(resetting_);
  const auto has = [&what](const char* part) { return std::find(what.begin(), what.end(), part) != what.end(); };
  internal::Inside(*gateway_).reset(what);
  if (has("journal")) {
    const std::lock_guard<std::mutex> lock(closing_);
    closed_.clear();
  }
  if (has("stubs")) mount_stubs_of_flags();
  if (has("failures")) force_failures_of_flags();
  std::vector<std::string> sections;
  for (const std::string& part : what) sections.push_back("/" + part);
  if (watch_) {
    watch_->mount_again(sections);
  } else if (script_) {
    internal::forget_sections(*script_, sections);
    document_->replace(*gateway_, *script_);
  }
  if (has("connections")) gateway_->accept_connections();  // last, since it fails if another program uses the port
}

void Serving::judge_refusals(Results& results) {
  results.allow_refused = flags_.allow_refused;
  if (!results.reached || log_.has_served()) return;
  std::map<std::string, std::size_t> errors;
  for (const Exchange& exchange : gateway_->journal().all()) {
    if (!internal::is_refusal(exchange)) return;  // still open
    ++errors[exchange.decision().detail];
  }
  results.only_refused = true;
  for (const auto& [error, count] : errors)
    results.refusals += (results.refusals.empty() ? "" : ", ") + std::to_string(count) + " with " + error;
}

void Serving::add_closed(ClosedScope scope) {
  if (!is_judged_) return;  // nothing reads it, and a long run closes many
  const std::lock_guard<std::mutex> lock(closing_);
  closed_.push_back(std::move(scope));
}

Results Serving::judge(const Flags& flags, bool evidence) {
  Results results;
  if (watch_) results.reload_errors = watch_->state().errors;
  watch_.reset();
  results.fail_on = flags.fail_on.value_or("error");
  results.left_out = flags.without_findings;
  const Verification verification = gateway_->verify();
  const Review review = gateway_->review();
  results.problems = verification.problems();
  results.notes = verification.notes();
  results.verification_text =
      results.problems.empty() ? "nothing is wrong" : internal::message_of(results.problems, {});
  std::vector<std::string> notes = results.notes;
  notes.erase(std::remove(notes.begin(), notes.end(), review.chaos()), notes.end());
  results.notes_text = internal::message_of({}, notes);
  results.findings = review.findings();
  results.review_text = review.message();
  results.judged = review.judged();
  results.scopes = closed_;  // the control API has stopped
  for (ClosedScope& scope : results.scopes) {
    results.judged += scope.judged;
    if (!has_unlisted(scope)) continue;
    if (!has_unlisted(results)) {
      results.findings.push_back(scope.findings.back());
      results.review_text += "\nnote: unlisted_model: " + scope.findings.back().message;
    }
    scope.findings.pop_back();
  }
  results.evicted = review.evicted();
  results.open = review.open();
  results.reached = review.judged() > 0 || log_.noted() > 0;
  judge_refusals(results);
  for (const VerifiedStub& verified : verification.stubs())
    results.stubs.push_back({verified.stub.title, verified.stub.where});
  if (evidence) {
    results.verification = as_json(verification);
    results.review = as_json(review);
    results.exchanges = named_exchanges(gateway_->journal(), results);
  }
  return results;
}

void Serving::stop() {
  watch_.reset();
  // Leak the journal: freeing ten thousand exchanges one by one would delay the program's end.
  static std::vector<Journal>& kept = *new std::vector<Journal>;
  kept.push_back(gateway_->journal());
  gateway_.reset();  // logs the last exchanges
  log_.end();
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace endpoint
}  // namespace mock_gateway
