// Library functions for the program: formatting, names, default options, contents of loaded scripts.

#include "internal.hpp"

#include <algorithm>

#include "../core/access.hpp"
#include "../core/calendar.hpp"
#include "../core/handoff.hpp"
#include "../core/json_reader.hpp"
#include "../core/printed.hpp"
#include "../core/random.hpp"
#include "../core/text.hpp"
#include "../core/timeline.hpp"
#include "../document/script_sections.hpp"
#include "../document/script_values.hpp"
#include "../evidence/diagnosis.hpp"
#include "../evidence/gateway_problems.hpp"
#include "../gateway/catalogue_entries.hpp"
#include "../gateway/option_values.hpp"
#include "../http/workers.hpp"
#include "../keys/secrets.hpp"
#include "../model/failure_rows.hpp"
#include "../request/service_rules.hpp"
#include "../script/hiding.hpp"

namespace mock_gateway::internal {

using detail::Access;

std::string printable(std::string_view text, std::size_t max_bytes) { return detail::text::printable(text, max_bytes); }
std::string printed(Duration duration) { return detail::printed(duration); }
std::string suggestion(const std::string& given, const std::vector<std::string>& known) {
  return detail::script_reading::suggestion(given, known);
}
std::string rfc3339(TimePoint moment) { return detail::calendar::rfc3339_milliseconds(moment); }
bool looks_like_key(std::string_view text) { return detail::secrets::looks_like_key(text); }
bool is_sensitive_header(std::string_view name) { return detail::secrets::is_sensitive_header(name); }
std::string_view masked_secret() { return detail::secrets::masked_other; }

Json read_json(std::string_view text, std::size_t max_depth) {
  detail::JsonReadOptions options;
  options.max_depth = max_depth;
  options.max_values = detail::script_files::most_values;
  try {
    return detail::read_json(text, options);
  } catch (const detail::JsonError& error) {
    throw GatewayError("line " + std::to_string(error.position.line) + ", column " +
                       std::to_string(error.position.column) + ": " + error.reason);
  }
}

std::size_t largest_script() { return detail::script_files::largest_file; }
std::string foreign_format(const Json& document) { return detail::script_files::foreign_format(document); }

void hand_off_event_loop() noexcept { detail::hand_off_event_loop(); }

std::function<void()> start_thread(std::function<void()> job) {
  const auto thread = std::make_shared<detail::StackedThread>();
  thread->start(std::move(job));
  return [thread] { thread->join(); };
}

std::string message_of(const std::vector<Problem>& problems, const std::vector<std::string>& notes) {
  return detail::message_of(problems, notes);
}

std::vector<std::string> acceptance_names() { return detail::acceptance_names(); }
std::vector<std::string> enforced_names() { return detail::service_rules::services(); }

Acceptance acceptance_named(const std::string& name) {
  for (const detail::NamedAcceptance& one : detail::acceptances)
    if (name == one.name) return one.make();
  throw GatewayError("there is no acceptance \"" + name + "\"" + suggestion(name, acceptance_names()));
}

Options with_program_defaults(Options options) {
  const Options& as_set = options;
  const detail::OptionValues& set = Access::data(as_set);
  // Read the settings first: the assignments below replace `options`, which `set` refers to.
  const bool lists_models = !set.models.empty();
  const bool sets_acceptance = set.acceptance || set.profile == Profile::documented;
  const bool sets_embeddings = set.embeddings || set.profile == Profile::documented;
  if (!lists_models) options = options.any_model();
  if (!sets_acceptance) options = options.acceptance(Acceptance::openai());
  if (!sets_embeddings) options = options.embeddings();
  return options;
}

Options with_program_hooks(Options options, const std::string& secret) {
  Access::edit(options).on_exchange_never_waits = true;
  Access::edit(options).serves_health = true;
  if (!secret.empty()) Access::edit(options).secrets.push_back(secret);
  return options;
}

Failure failure_with_status(int status) { return detail::failure_with_status(status); }

Scenario make_scenario(const ScenarioText& text) {
  detail::ScenarioData data;
  data.said.name = text.name;
  data.said.group = text.group;
  data.said.description = text.description;
  data.said.reference = text.reference;
  data.said.good_client = text.good_client;
  data.said.expected = text.expected;
  data.said.text = text.text;
  data.said.needs_stream = text.needs_stream;
  data.said.calls = text.calls;
  return Access::make<Scenario>(std::make_shared<const detail::ScenarioData>(std::move(data)));
}

std::vector<std::string> script_files(const std::vector<std::string>& paths) {
  Problems ignored;  // reported when the files are read
  return detail::script_files::expand(paths, ignored);
}

void forget_sections(const LoadedScript& script, const std::vector<std::string>& sections) {
  Access::state(script)->forget(sections);
}

std::unique_lock<std::mutex> lock_gate_names(const LoadedScript& script) {
  return std::unique_lock<std::mutex>(Access::state(script)->naming);
}

Gates gates_of(const LoadedScript& script) {
  const std::lock_guard<std::mutex> lock(Access::state(script)->mutex);
  return Access::state(script)->gates;
}

void add_gates(const LoadedScript& script, const Gates& gates) {
  const std::lock_guard<std::mutex> lock(Access::state(script)->mutex);
  Access::state(script)->gates.insert(gates.begin(), gates.end());
}

std::uint64_t owner_of(const LoadedScript& script) { return Access::state(script)->owner; }

bool has_chaos(const LoadedScript& script) {
  const std::lock_guard<std::mutex> lock(Access::state(script)->mutex);
  return Access::state(script)->sections.count("/chaos") > 0;
}

std::vector<Operation> operations_of(const LoadedScript& script) {
  const std::lock_guard<std::mutex> lock(Access::state(script)->mutex);
  return Access::state(script)->operations;
}

std::optional<Duration> duration_from(const std::string& text) {
  const Json value = text;
  const detail::ScriptSource source;
  Problems problems;
  Gates gates;
  detail::ScriptReader reader(source, problems, gates);
  try {
    return detail::read_value<Duration>(reader, {value, ""});
  } catch (const detail::ScriptMistake&) {
    return std::nullopt;
  }
}

std::string name_length_error(const std::string& name) { return detail::script_values::name_length_error(name); }

std::uint64_t id_of(const Stub& stub) { return Access::state(stub)->id(); }
bool is_removed(const Stub& stub) { return Access::state(stub)->removed(); }

Json script_of(const Gateway& gateway, const Stub& stub) {
  if (!Access::state(stub)->plan().json) return Json();
  std::string json = *Access::state(stub)->plan().json;
  Inside(gateway).mask(json);
  return Json::parse(text::as_utf8(json));
}

bool is_refusal(const Exchange& exchange) { return detail::is_refusal(Access::record(exchange)); }
bool is_chat(const Exchange& exchange) { return Access::record(exchange).chat; }
std::string stub_number(const Exchange& exchange) {
  const auto& stub = Access::record(exchange).stub;
  if (!stub || !stub->plan().name.empty() || stub->to_string().find("…") == std::string::npos) return {};
  std::string conditions;
  for (const Matcher& matcher : stub->plan().matchers) conditions += detail::identity_of(matcher);
  return " #" + std::to_string(detail::fingerprint(conditions) % 1'000'000'000);
}
bool meets(const Exchange& exchange, const std::vector<Matcher>& conditions) {
  return detail::RecordedCall(Access::shared_record(exchange)).meets(conditions);
}

std::string refusal_of(const Exchange& exchange) { return Access::record(exchange).refusal; }
std::string error_code_of(const Exchange& exchange) { return Access::record(exchange).advice.code; }

std::size_t weight_of(const Exchange& exchange) {
  const detail::ExchangeRecord& record = Access::record(exchange);
  // Read the answer's weight first: weight() gains it at the exchange's end, and the difference must not underflow.
  const std::size_t answer = record.answer_weight;
  return record.weight() - answer;
}

Json events_of(const Exchange& exchange, std::size_t most) {
  Json events = Json::array();
  const detail::ExchangeRecord& record = Access::record(exchange);
  if (!record.progress.log) return events;
  for (const detail::AnswerLog::Event& event : record.progress.log->events(most)) {
    const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(event.at).count();
    events.push_back(Json{{"number", events.size() + 1},
                          {"kind", event.token ? "token" : "event"},
                          {"at_ms", static_cast<double>(microseconds) / 1000},
                          {"bytes", event.bytes}});
  }
  return events;
}

Json counts(const Gate& gate) {
  const detail::GateCounts counts = detail::counts(gate);
  return Json{{"reached", counts.reached},
              {"passed", counts.reached - counts.waiting},
              {"waiting", counts.waiting},
              {"open", counts.open}};
}

void reset(const Gate& gate) { detail::reset(gate); }

}  // namespace mock_gateway::internal
