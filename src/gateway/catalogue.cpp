// Verdicts on a client and their texts; finding, mounting and listing scenarios; their order.

#include "catalogue.hpp"

#include <algorithm>  // equal, max, min
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/json_reader.hpp"
#include "../core/text.hpp"
#include "../evidence/record.hpp"
#include "../script/excerpts.hpp"
#include "../script/json_comparison.hpp"
#include "../script/matchers.hpp"
#include "../script/script.hpp"
#include "catalogue_entries.hpp"
#include "chat_script.hpp"

namespace mock_gateway {
namespace detail {
namespace verdicts {

bool is_left_of(std::string_view part, std::string_view whole) {
  std::size_t at = 0;
  for (const char c : whole) {
    if (at < part.size() && part[at] == c) ++at;
  }
  return at == part.size();
}

/// Whether the arguments are the same JSON. Empty text equals `{}`.
bool same_arguments(const std::string& left, const std::string& right) {
  const auto json = [](const std::string& text) { return read_json_if_valid(text.empty() ? "{}" : text); };
  if (left == right) return true;
  const Json value = json(left);
  const Json other = json(right);
  return !value.is_discarded() && !other.is_discarded() && json_comparison::same(value, other);
}

enum class Comparison { whole, less, other };

/// Returns for each position in the text the length of its common prefix with `whole`.
std::vector<std::size_t> beginnings_in(std::string_view text, std::string_view whole) {
  // The Z algorithm, which takes linear time.
  std::string joined(whole);
  joined += '\0';
  joined += text;
  std::vector<std::size_t> lengths(joined.size() + 1);
  std::size_t left = 0;
  std::size_t right = 0;
  for (std::size_t i = 1; i < joined.size(); ++i) {
    if (i < right) lengths[i] = std::min(right - i, lengths[i - left]);
    while (i + lengths[i] < joined.size() && lengths[i] < whole.size() && joined[lengths[i]] == joined[i + lengths[i]])
      ++lengths[i];
    if (i + lengths[i] > right) {
      left = i;
      right = i + lengths[i];
    }
  }
  lengths.erase(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(whole.size() + 1));
  return lengths;
}

/// Whether the text consists of prefixes of the texts sent in up to `tries` tries.
bool was_said(std::string_view text, int tries, const ScenarioDescription& scenario) {
  if (!text::is_valid_utf8(text)) return false;
  std::vector<std::size_t> usual = beginnings_in(text, scenario.text);
  const std::vector<std::size_t> sent = beginnings_in(text, scenario.sent);
  for (std::size_t i = 0; i < usual.size(); ++i) usual[i] = std::max(usual[i], sent[i]);
  if (usual[0] == text.size()) return true;
  const std::vector<std::size_t> first = beginnings_in(text, scenario.first_text);
  std::size_t reached = 0;
  for (int number = 1; number <= tries && reached < text.size(); ++number) {
    const bool fails_first = scenario.fails_first && number % 2 == 1;
    const std::vector<std::size_t>& said = fails_first ? first : usual;
    const std::size_t before = reached;
    for (std::size_t i = 0; i <= before; ++i) reached = std::max(reached, i + said[i]);
    if (reached == before && !fails_first) break;  // further tries do not help
  }
  return reached == text.size();
}

Comparison compare_text(const std::string& got, const std::string& whole) {
  if (got == whole) return Comparison::whole;
  return text::is_valid_utf8(got) && is_left_of(got, whole) ? Comparison::less : Comparison::other;
}

Comparison compare_calls(const std::vector<wire::ToolCall>& got, const std::vector<wire::ToolCall>& whole) {
  bool less = got.size() < whole.size();
  std::size_t next = 0;
  for (const wire::ToolCall& call : got) {
    const auto fits = [&](const wire::ToolCall& made) {
      return made.name == call.name &&
             (same_arguments(call.arguments, made.arguments) || is_left_of(call.arguments, made.arguments));
    };
    while (next < whole.size() && !fits(whole[next])) ++next;
    if (next == whole.size()) return Comparison::other;
    less = less || !same_arguments(call.arguments, whole[next].arguments);
    ++next;
  }
  return less ? Comparison::less : Comparison::whole;
}

/// Compares with the calls of up to `tries` tries. Only as many tries count as there are calls.
Comparison compare_calls_of(const std::vector<wire::ToolCall>& got, int tries, const ScenarioDescription& scenario) {
  std::vector<wire::ToolCall> whole = scenario.tool_calls;
  for (std::size_t i = 1; i < got.size() && static_cast<std::int64_t>(i) < tries && !scenario.tool_calls.empty(); ++i)
    whole.insert(whole.end(), scenario.tool_calls.begin(), scenario.tool_calls.end());
  return compare_calls(got, whole);
}

/// Translates a finish_reason of other servers into OpenAI's, as many clients do.
std::string_view documented_reason(std::string_view reason, bool has_calls) {
  if (has_calls && (reason == "stop" || reason == "eos")) return "tool_calls";
  if (reason == "eos") return "stop";
  if (reason == "max_tokens") return "length";
  return reason;
}

bool same_reason(std::string_view told, std::string_view sent, bool has_calls) {
  return told == sent || told == documented_reason(sent, has_calls);
}

bool lost_usage(const ClientOutcome& outcome, const ScenarioDescription& scenario) {
  return outcome.asked_for_usage && !outcome.usage && scenario.usage && scenario.needs_stream;
}

Comparison compare_rest(const ClientOutcome& outcome, const ScenarioDescription& scenario) {
  const bool has_calls = !scenario.tool_calls.empty();
  if (outcome.finish_reason && !scenario.finish_reason.empty() &&
      !same_reason(*outcome.finish_reason, scenario.finish_reason, has_calls)) {
    const bool is_streamed = scenario.needs_stream || outcome.streamed.value_or(false);
    if (is_streamed || outcome.finish_reason != scenario.plain_finish_reason)
      return outcome.finish_reason->empty() ? Comparison::less : Comparison::other;
  }
  if (lost_usage(outcome, scenario)) return Comparison::less;
  const std::optional<TokenUsage>& usage = scenario.usage;
  if (!outcome.usage || !usage) return Comparison::whole;
  const auto numbers = [](const TokenUsage& said) {
    return std::array{said.prompt_tokens(), said.completion_tokens(), said.total_tokens()};
  };
  if (numbers(*outcome.usage) == numbers(*usage)) return Comparison::whole;
  if (numbers(*outcome.usage) != numbers(TokenUsage(0, 0))) return Comparison::other;
  // Some clients write zeros for a stream without usage.
  return scenario.needs_stream || !outcome.streamed.value_or(true) ? Comparison::less : Comparison::whole;
}

bool is_told_by_reason(const ClientOutcome& outcome, const ScenarioDescription& scenario) {
  return scenario.reason_tells && outcome.finish_reason &&
         same_reason(*outcome.finish_reason, scenario.finish_reason, false);
}

bool made_spelled_calls(const ClientOutcome& outcome, const ScenarioDescription& scenario) {
  return !scenario.spelled_calls.empty() && outcome.text.empty() &&
         compare_calls(outcome.tool_calls, scenario.spelled_calls) == Comparison::whole;
}

bool left_out_a_part(const ClientOutcome& outcome, const ScenarioDescription& scenario) {
  return !scenario.left.empty() && outcome.text == scenario.left && outcome.tool_calls.empty();
}

Verdict::Kind kind_of(const ClientOutcome& outcome, const ScenarioDescription& scenario) {
  if (outcome.hung) return Verdict::Kind::hang;
  if (outcome.error || is_told_by_reason(outcome, scenario)) {
    const bool said = was_said(outcome.text, outcome.tries, scenario) &&
                      compare_calls_of(outcome.tool_calls, outcome.tries, scenario) != Comparison::other;
    return said ? Verdict::Kind::error_surfaced : Verdict::Kind::wrong_answer;
  }
  if (made_spelled_calls(outcome, scenario) || left_out_a_part(outcome, scenario)) return Verdict::Kind::handled;
  const Comparison text = compare_text(outcome.text, scenario.text);
  const Comparison calls = compare_calls(outcome.tool_calls, scenario.tool_calls);
  if (text == Comparison::other || calls == Comparison::other) return Verdict::Kind::wrong_answer;
  if (text == Comparison::less || calls == Comparison::less) return Verdict::Kind::silent_data_loss;
  const Comparison rest = compare_rest(outcome, scenario);
  if (rest == Comparison::other) return Verdict::Kind::wrong_answer;
  if (rest == Comparison::less) return Verdict::Kind::silent_data_loss;
  return scenario.expected == Scenario::Expected::error ? Verdict::Kind::silent_data_loss : Verdict::Kind::handled;
}

bool is_acceptable(Verdict::Kind kind, Scenario::Expected expected) {
  if (kind == Verdict::Kind::handled) return expected != Scenario::Expected::error;
  return kind == Verdict::Kind::error_surfaced && expected != Scenario::Expected::answer;
}

/// Returns text such as "text \"…\" and 1 tool call: f({})".
std::string said(const std::string& text, const std::vector<wire::ToolCall>& calls) {
  constexpr std::size_t most = 200;
  std::string said = "text \"" + text::printable(text, most, true) + "\"";
  if (calls.empty()) return said;
  said += " and " + text::counted(calls.size(), "tool call");
  const char* separator = ": ";
  for (const wire::ToolCall& call : calls) {
    // Quote only if necessary: JSON is full of quotes.
    const bool as_it_is = text::printable(call.arguments) == call.arguments;
    said +=
        separator + text::printable(call.name, most) + "(" +
        (as_it_is ? text::excerpt(call.arguments, most) : "\"" + text::printable(call.arguments, most, true) + "\"") +
        ")";
    separator = ", ";
  }
  return said;
}

/// Returns text such as ", finish_reason \"stop\", usage 9 + 5 = 14", without unknown parts.
std::string finish_and_usage(const std::optional<std::string>& finish_reason, const std::optional<TokenUsage>& usage) {
  std::string said;
  if (finish_reason) said += ", finish_reason \"" + text::printable(*finish_reason, 60, true) + "\"";
  if (usage)
    said += ", usage " + std::to_string(usage->prompt_tokens()) + " + " + std::to_string(usage->completion_tokens()) +
            " = " + std::to_string(usage->total_tokens());
  return said;
}

std::string story(const ClientOutcome& outcome, const ScenarioDescription& scenario) {
  const std::string got = said(outcome.text, outcome.tool_calls);
  const std::string whole = said(scenario.text, scenario.tool_calls);
  std::string told = "\n  caller got  " + got + finish_and_usage(outcome.finish_reason, outcome.usage);
  if (outcome.error) told += ", and an error";
  std::optional<std::string> reason;
  if (outcome.finish_reason && !scenario.finish_reason.empty()) reason = scenario.finish_reason;
  const bool tells_usage = outcome.usage || lost_usage(outcome, scenario);
  told += "\n  the reply   " + whole + finish_and_usage(reason, tells_usage ? scenario.usage : std::nullopt);
  if (got == whole && outcome.text != scenario.text)
    told += "\n  they differ " + excerpts::difference(scenario.text, outcome.text);
  constexpr int more = 3;
  if (outcome.error && outcome.tries == 1 && !was_said(outcome.text, 1, scenario) &&
      was_said(outcome.text, more, scenario))
    told += "\n  this is the text of several tries: if the client retried, set ClientOutcome::tries";
  return told;
}

}  // namespace verdicts

namespace catalogue_search {

/// Sets a member. An initializer list would instantiate templates of nlohmann/json for each length of a literal.
void put(Json& object, const char* name, Json value) { object[name] = std::move(value); }

/// Returns up to three similar names: first names that contain this one, then names at a small edit distance.
std::vector<std::string> nearest(std::string_view name) {
  constexpr std::size_t most = 3;
  constexpr std::size_t longest = 100;   // longer names get no suggestions
  constexpr std::size_t penalty = 1000;  // larger than any distance
  const std::string wanted = text::lower_ascii(name.substr(0, longest));
  const std::size_t farthest = std::max<std::size_t>(wanted.size() / 3, 1);
  std::multimap<std::size_t, std::string> candidates;
  for (const Scenario& scenario : catalogue()) {
    const bool has_it = !wanted.empty() && scenario.name().find(wanted) != std::string::npos;
    const std::size_t distance = text::edit_distance(wanted, scenario.name());
    if (has_it || distance <= farthest) candidates.emplace(has_it ? distance : penalty + distance, scenario.name());
  }
  std::vector<std::string> names;
  for (const auto& [distance, one] : candidates)
    if (names.size() < most) names.push_back(one);
  return names;
}

}  // namespace catalogue_search
}  // namespace detail

Verdict::Verdict(Kind kind, bool acceptable, std::string message)
    : kind_(kind), acceptable_(acceptable), message_(std::move(message)) {}

std::string to_string(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::handled: return "handled";
    case Verdict::Kind::error_surfaced: return "error surfaced";
    case Verdict::Kind::silent_data_loss: return "silent data loss";
    case Verdict::Kind::hang: return "hang";
    case Verdict::Kind::wrong_answer: return "wrong answer";
  }
  return "unknown verdict";
}

std::ostream& operator<<(std::ostream& out, Verdict::Kind kind) { return out << to_string(kind); }

std::ostream& operator<<(std::ostream& out, const Verdict& verdict) {
  return out << detail::text::ended_lines(verdict.message());
}

std::string to_string(Scenario::Expected expected) {
  switch (expected) {
    case Scenario::Expected::answer: return "answer";
    case Scenario::Expected::error: return "error";
    case Scenario::Expected::answer_or_error: return "answer or error";
  }
  return "unknown expectation";
}

std::ostream& operator<<(std::ostream& out, Scenario::Expected expected) { return out << to_string(expected); }

const std::string& Scenario::name() const { return data_->said.name; }
const std::string& Scenario::group() const { return data_->said.group; }
const std::string& Scenario::description() const { return data_->said.description; }
const std::string& Scenario::reference() const { return data_->said.reference; }
const std::string& Scenario::good_client() const { return data_->said.good_client; }
Scenario::Expected Scenario::expected() const { return data_->said.expected; }
const std::string& Scenario::text() const { return data_->said.text; }
const std::vector<wire::ToolCall>& Scenario::tool_calls() const { return data_->said.tool_calls; }
const std::string& Scenario::finish_reason() const { return data_->said.finish_reason; }
std::optional<TokenUsage> Scenario::usage() const { return data_->said.usage; }
bool Scenario::needs_stream() const { return data_->said.needs_stream; }
bool Scenario::needs_timeout() const { return data_->said.needs_timeout; }
int Scenario::calls() const { return data_->said.calls; }

Options Scenario::options(Options base) const {
  if (data_->file) base = data_->file->options(std::move(base));
  return base.verify_on_destruction(false);
}

void Scenario::mount(Gateway& gateway) const {
  if (data_->file) return data_->file->mount(gateway);
  const detail::ScenarioRow& row = *data_->row;
  const bool fails_first = row.has(detail::catalogue_parts::then_answer);
  if (row.connection) gateway.every_connection(row.connection());
  if (row.faults) row.faults(gateway);
  const auto stub = [&](const char* which, const char* next_state) {
    StubBuilder builder = gateway.chat(SourceLocation{}).named(row.name + std::string(which));
    detail::Access::plan(builder).of_catalogue = true;
    if (fails_first) return std::move(builder).then_state(row.name, next_state);
    return builder;
  };
  stub("", "started").reply(row.reply(false));
  stub(", streamed", "started").when(stream_is(true)).reply(row.reply(true));
  if (!fails_first) return;
  Reply first = row.own_reply(false);
  if (row.has(detail::catalogue_parts::redirects))
    first =
        first.header("Location", gateway.base_url().substr(gateway.root_url().size()) + "/chat/completions?moved=1");
  stub(", first", "failed once").in_state(row.name, "started").reply(first);
  if (!row.failure && !row.failure_of)
    stub(", first, streamed", "failed once")
        .in_state(row.name, "started")
        .when(stream_is(true))
        .reply(row.own_reply(true));
}

namespace detail {
namespace verdicts {

/// Whether the scenario's own reply answered, in the form in which the scenario shows. Some stub has answered.
bool answered(const ScenarioData& scenario, const Exchange& exchange) {
  if (scenario.file) return scenario.file->answered(exchange);
  const ScenarioRow& row = *scenario.row;
  const std::string& stub = exchange.decision().detail;
  const auto is = [&](const char* which) { return stub == row.name + std::string(which); };
  if (row.has(catalogue_parts::then_answer)) return is(", first") || is(", first, streamed");
  return !row.has_connection_faults() && (is(", streamed") || (!scenario.said.needs_stream && is("")));
}

}  // namespace verdicts
}  // namespace detail

bool Scenario::happened_to(const Exchange& exchange) const {
  if (exchange.decision().kind != Decision::Kind::stub) return false;
  // Whether an exchange reaches its faults is only known after its end.
  if (!detail::verdicts::answered(*data_, exchange) || exchange.outcome() == Outcome::Kind::pending) return false;
  for (const auto& fault : detail::Access::record(exchange).scripted_faults())
    if (!fault.reached) return false;
  return true;
}

Verdict Scenario::judge(const ClientOutcome& outcome) const {
  const detail::ScenarioDescription& said = data_->said;
  const Verdict::Kind kind = detail::verdicts::kind_of(outcome, said);
  const bool acceptable = detail::verdicts::is_acceptable(kind, said.expected);
  std::string message = said.name + ": " + to_string(kind);
  if (!acceptable) {
    message += ", expected " + to_string(said.expected) + detail::verdicts::story(outcome, said);
    message += "\n  the gateway " + said.description + "\n  a good client " + said.good_client;
  } else if (kind == Verdict::Kind::handled && said.text.empty() && said.tool_calls.empty()) {
    message += "; remark: the caller got an empty answer and no error";
  }
  return detail::Access::make<Verdict>(kind, acceptable, std::move(message));
}

const std::vector<Scenario>& catalogue() {
  static const std::vector<Scenario> all = [] {
    detail::Scenarios rows;
    detail::catalogue_parts::add_chunks(rows);
    detail::catalogue_parts::add_tool_calls(rows);
    detail::catalogue_parts::add_failures(rows);
    detail::catalogue_parts::add_framing(rows);
    detail::catalogue_parts::add_delivery(rows);
    std::vector<Scenario> scenarios;
    for (auto& row : rows) scenarios.push_back(detail::Access::make<Scenario>(std::move(row)));
    return scenarios;
  }();
  return all;
}

Scenario scenario(std::string_view name) {
  for (const Scenario& one : catalogue()) {
    if (one.name() == name) return one;
  }
  std::string similar;
  for (const std::string& one : detail::catalogue_search::nearest(name)) similar += (similar.empty() ? "" : ", ") + one;
  throw GatewayError("there is no scenario \"" + detail::text::excerpt(name, 100) + "\"; " +
                     (similar.empty() ? "`mock-gateway scenarios` lists all" : "did you mean " + similar + "?"));
}

Json as_json(const Scenario& scenario) {
  Json calls = Json::array();
  for (const wire::ToolCall& call : scenario.tool_calls()) {
    Json described;
    detail::catalogue_search::put(described, "name", call.name);
    detail::catalogue_search::put(described, "arguments", call.arguments);
    calls.push_back(std::move(described));
  }
  Json described;
  const auto put = [&described](const char* name, Json value) {
    detail::catalogue_search::put(described, name, std::move(value));
  };
  put("name", scenario.name());
  put("group", scenario.group());
  put("description", scenario.description());
  put("reference", scenario.reference());
  put("good_client", scenario.good_client());
  put("expected", to_string(scenario.expected()));
  put("text", scenario.text());
  put("tool_calls", std::move(calls));
  put("finish_reason", scenario.finish_reason().empty() ? Json() : Json(scenario.finish_reason()));
  Json usage;
  if (const std::optional<TokenUsage> told = scenario.usage()) {
    detail::catalogue_search::put(usage, "prompt_tokens", told->prompt_tokens());
    detail::catalogue_search::put(usage, "completion_tokens", told->completion_tokens());
    detail::catalogue_search::put(usage, "total_tokens", told->total_tokens());
  }
  put("usage", std::move(usage));
  put("needs_stream", scenario.needs_stream());
  put("needs_timeout", scenario.needs_timeout());
  put("calls", scenario.calls());
  return described;
}

}  // namespace mock_gateway
