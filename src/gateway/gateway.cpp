// The functions of `Gateway`; default model and key; addresses; the report on destruction; how long `verify()` waits.

#include "gateway.hpp"

#include <algorithm>  // replace
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/process.hpp"
#include "../core/random.hpp"
#include "../core/reporter.hpp"
#include "../core/shared.hpp"
#include "../core/timeline.hpp"
#include "../core/warning.hpp"
#include "../evidence/gateway_problems.hpp"
#include "../evidence/record.hpp"
#include "../evidence/review_parts.hpp"
#include "../http/server.hpp"
#include "../keys/key_store.hpp"
#include "../keys/keys.hpp"
#include "../model/checks.hpp"
#include "../model/profile_traits.hpp"
#include "../script/chaos_rules.hpp"
#include "../script/forced_failures.hpp"
#include "../serve/connection_loop.hpp"
#include "../serve/gateway_state.hpp"
#include "chat_script.hpp"
#include "option_values.hpp"
#include "sweep_run.hpp"

namespace mock_gateway {
namespace detail {
namespace facade {

ServeSettings settings(const OptionValues& options) {
  ServeSettings settings;
  settings.profile = options.profile.value_or(options.enforce.value_or(Profile::documented));
  settings.models = options.models.empty() ? std::vector<wire::Model>{wire::Model{"mock-model"}} : options.models;
  settings.any_model = options.any_model;
  settings.embeddings = options.embeddings.value_or(traits_of(settings.profile).documents_embeddings);
  settings.oversized_gets_413 = options.oversized_gets_413;
  settings.cors = options.cors;
  if (!options.base_paths.empty()) settings.base_paths = options.base_paths;
  std::replace(settings.base_paths.begin(), settings.base_paths.end(), std::string("/"), std::string());
  settings.seed = options.seed;
  const ProfileTraits& profile = traits_of(settings.profile);
  settings.acceptance =
      options.acceptance ? StrictAcceptance::under(*options.acceptance, profile.documented()) : profile.acceptance();
  settings.chat_limits.max_n = options.max_n;
  settings.chat_limits.profile = settings.profile;
  settings.chat_limits.enforced = options.enforce.value_or(Profile::documented);
  settings.tokenizer = options.tokenizer;
  settings.pace = options.pace;
  if (options.stall_guard) settings.stall_guard = bounded(*options.stall_guard);
  settings.on_exchange = options.on_exchange;
  settings.on_connection_hit = options.on_connection_hit;
  settings.on_exchange_never_waits = options.on_exchange_never_waits;
  settings.serves_health = options.serves_health;
  settings.unmatched_are_allowed = options.unmatched == Unmatched::allowed;
  settings.unmatched_get_default_reply = options.unmatched == Unmatched::gets_default_reply;
  return settings;
}

std::string reachable(const std::string& host) {
  if (host == "0.0.0.0") return "127.0.0.1";
  if (host == "::") return "[::1]";
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

GatewayParts parts(const OptionValues& options) {
  const Clock clock(options.clock ? *options.clock : RealClock{});
  return {clock,
          share<KeyStore>(options.seed, clock, KeyRules{options.key_headers, options.key_required}),
          share<Script>(),
          share<JournalState>(options.journal_entries, options.journal_bytes),
          share<ConnectionFaults>(),
          share<ChaosRules>(options.seed)};
}

}  // namespace facade
}  // namespace detail

class Gateway::Impl : public detail::NoteSource {
 public:
  Impl(const detail::OptionValues& options, SourceLocation made)
      : where(made),
        host(options.host),
        state{detail::facade::parts(options), (detail::require_valid(options), detail::facade::settings(options))},
        problems(state, options.without_findings),
        verify_on_destruction(options.verify_on_destruction) {
    state.keeps_answers = options.keep_answers;
    const Keys console(state.keys);
    default_secret = console.create("default key", options.default_key).secret;
    for (const detail::InitialKey& key : options.keys)
      state.keys->offer(console.create(key.description, key.options).id);
    for (const std::string& secret : options.secrets) state.keys->hide(secret);
    if (options.limit) console.limit_rate_for_all(options.limit->requests, options.limit->window);
    if (const auto& limit = options.limit_tokens) console.limit_tokens_for_all(limit->tokens, limit->window);
    if (options.limit_concurrent) console.limit_concurrent_for_all(*options.limit_concurrent);
    const detail::ConnectionLimits limits{options.read_timeout, options.write_timeout, options.idle_timeout,
                                          options.head_timeout, options.body_timeout,  options.max_head,
                                          options.max_body};
    server.emplace(connections, host, options.port, limits, [this](int port) {
      root_url = "http://" + detail::facade::reachable(host) + ":" + std::to_string(port);
      state.settings.root_url = root_url;
    });
    detail::remember_journal(state.journal);
    begin_notes();
  }

  ~Impl() override {
    end_notes();
    if (server && server->is_own_thread()) {
      detail::warn({"the gateway made at ", where.to_string(),
                    " is destroyed by a function that it called itself; its destructor would wait for that function "
                    "forever. Destroy it on a thread of the test"});
      std::abort();
    }
    server.reset();  // from here on, no request arrives
    report();
    // Breaks cycles: functions of the test may hold handles to the script that holds them.
    detail::Script::Stubs answered;
    for (const auto& record : state.journal->snapshot())
      if (record->stub) answered.push_back(record->stub);
    state.script->retire(answered);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Returns false in a forked process.
  bool is_here() const { return process == detail::process::id(); }

  detail::TestNotes take_notes() override {
    if (!is_here()) return {};
    state.journal->wait_until_idle({}, patience);
    return {problems.new_notes(noted), where};
  }

  void pass_over_notes() override {
    if (!is_here()) return;
    noted = state.journal->newest_id();
    problems.pass_over_notes();
  }

  void report() const {
    if (!verify_on_destruction && !detail::are_notes_wanted()) return;
    detail::GatewayProblems::Unreported found = problems.unreported(verify_on_destruction, noted);
    if (found.problems.empty()) return detail::keep_notes({std::move(found.notes), where});
    const detail::Report report{std::move(found.problems), where, std::uncaught_exceptions() > exceptions};
    const detail::Reporter reporter = detail::reporter();
    if (reporter && reporter(report)) return;
    detail::warn(
        {"the gateway made at ", where.to_string(), " is destroyed, and the test has not checked these problems:\n\n",
         report.text,
         "\n\nCheck them with CHECK(gateway.verify()), or ignore them with Options::verify_on_destruction(false)."});
    if (!report.unwinding) std::abort();
  }

  /// Returns the maximum wait for open exchanges: zero in a function that the gateway calls.
  Duration patience_here() const { return server->is_own_thread() ? Duration::zero() : patience; }

  /// Returns the scope with the id of its key. Keys that do not exist yet stay as they are named.
  FailureScope with_id(const FailureScope& scope) const {
    if (scope.kind() != FailureScope::Kind::key || state.keys->named(scope.name()).empty()) return scope;
    return for_key(state.keys->find(scope.name()).id);
  }

  static constexpr Duration patience = std::chrono::seconds{1};
  SourceLocation where;
  long process = detail::process::id();
  int exceptions = std::uncaught_exceptions();
  std::string host;
  std::string root_url;
  std::string default_secret;
  detail::GatewayState state;
  detail::GatewayProblems problems;
  bool verify_on_destruction;
  std::uint64_t noted = 0;  // the last exchange of earlier tests, whose notes are already handled
  detail::ConnectionLoop connections{state};
  std::optional<detail::Server> server;  // last, so that it stops before the objects its connections use are destroyed
};

Gateway::Gateway(SourceLocation where, detail::Implementation) : Gateway(Options(), where) {}
Gateway::Gateway(const Options& options, SourceLocation where, detail::Implementation)
    : impl_(new Impl(detail::Access::data(options), where)) {}
Gateway::~Gateway() = default;
Gateway::Gateway(Gateway&&) noexcept = default;
Gateway& Gateway::operator=(Gateway&&) noexcept = default;

void Gateway::End::operator()(Impl* impl) const noexcept {
  // A forked process has none of the threads to join, and inherited locks may never be released.
  if (impl->is_here()) delete impl;
}

Gateway::Impl& Gateway::any() const {
  if (impl_) return *impl_;
  throw GatewayError("this Gateway was moved from: use the one that it was moved to, or assign another to it");
}

Gateway::Impl* Gateway::here() const {
  Impl& impl = any();
  return impl.is_here() ? &impl : nullptr;
}

Gateway::Impl& Gateway::asked() const {
  if (Impl* const impl = here()) return *impl;
  throw GatewayError("the gateway at " + impl_->root_url + " was made by another process, " +
                     std::to_string(impl_->process) +
                     ", and only that process can script and inspect it; its addresses are available here too");
}

detail::GatewayState* Gateway::serving() const {
  Impl* const impl = here();
  return impl ? &impl->state : nullptr;
}

std::string Gateway::base_url() const { return any().root_url + any().state.settings.base_paths.front(); }
std::string Gateway::root_url() const { return any().root_url; }
std::string Gateway::host() const { return any().host; }
int Gateway::port() const { return any().server->port(); }
std::string Gateway::api_key() const { return any().default_secret; }
Keys Gateway::keys() const { return Keys(asked().state.keys); }
Journal Gateway::journal() const { return Journal(asked().state.journal); }

StubBuilder Gateway::chat(SourceLocation where) {
  const Impl& impl = asked();
  return StubBuilder(impl.state.script, impl.state.journal, where);
}

Sweep Gateway::sweep(const Reply& reply, std::function<void()> callable, SourceLocation where) {
  return sweep(reply, std::move(callable), SweepOptions(), where);
}

Sweep Gateway::sweep(const Reply& reply, std::function<void()> callable, const SweepOptions& options,
                     SourceLocation where) {
  const Impl& impl = asked();
  return detail::make_sweep(impl.state.script, impl.state.journal, impl.state.clock, reply, std::move(callable),
                            options, where);
}

void Gateway::fail_next(const Failure& failure, std::size_t times) { fail_next(failure, times, FailureScope()); }

void Gateway::fail_next(const Failure& failure, std::size_t times, const FailureScope& scope) {
  if (Impl* const impl = here()) impl->state.failures.add(failure, times, impl->with_id(scope));
}

void Gateway::fail_always(const Failure& failure) { fail_always(failure, FailureScope()); }

void Gateway::fail_always(const Failure& failure, const FailureScope& scope) {
  if (Impl* const impl = here()) impl->state.failures.add(failure, std::nullopt, impl->with_id(scope));
}

void Gateway::clear_failures() {
  if (Impl* const impl = here()) impl->state.failures.clear();
}

void Gateway::clear_failures(const FailureScope& scope) {
  if (Impl* const impl = here()) impl->state.failures.clear(impl->with_id(scope));
}

void Gateway::chaos(const Chaos& rule) {
  if (Impl* const impl = here()) impl->state.chaos->add(rule);
}
void Gateway::clear_chaos() {
  if (Impl* const impl = here()) impl->state.chaos->clear();
}

void Gateway::next_connection(const ConnectionFault& fault, std::size_t times, SourceLocation where) {
  if (Impl* const impl = here()) impl->state.connection_faults->add(fault, times, where);
}

void Gateway::every_connection(const ConnectionFault& fault) {
  if (Impl* const impl = here()) impl->state.connection_faults->add_to_every(fault);
}

void Gateway::clear_connection_faults() {
  if (Impl* const impl = here()) impl->state.connection_faults->clear();
}

void Gateway::refuse_connections() {
  if (Impl* const impl = here()) impl->server->refuse();
}
void Gateway::accept_connections() {
  if (Impl* const impl = here()) impl->server->accept_again();
}

void Gateway::on(const std::string& method, const std::string& path, OperationHandler handler, NeedsKey needs_key) {
  if (Impl* const impl = here()) impl->state.operations.mount({{method, path}, std::move(handler), needs_key});
}

Verification Gateway::verify() const { return verify(RequestScope()); }

Verification Gateway::verify(const RequestScope& scope) const {
  const Impl& impl = asked();
  impl.server->catch_up(impl.patience_here());
  return impl.problems.verify(scope, impl.patience_here());
}

Review Gateway::review() const { return review(RequestScope()); }

Review Gateway::review(const RequestScope& scope) const {
  const Impl& impl = asked();
  return impl.problems.review(scope, impl.patience_here());
}

std::string Gateway::state(const std::string& machine) const { return asked().state.script->state(machine); }

void Gateway::set_state(const std::string& machine, std::string state) {
  if (Impl* const impl = here()) impl->state.script->set_state(machine, std::move(state));
}

void Gateway::reset() {
  Impl* const impl = here();
  if (!impl) return;
  impl->state.reset();
  impl->problems.reset();
  impl->server->accept_again();
}

void Gateway::stop() {
  if (Impl* const impl = here()) impl->server->stop();
}

}  // namespace mock_gateway
