// The script keys of pace, `sse`, usage, logprobs, acceptance.

#include <iterator>  // size

#include "../model/dialect_rows.hpp"
#include "script_values.hpp"

namespace mock_gateway::detail {
namespace script_types {

inline constexpr ScriptRow pace_rows[] = {
    {"first_token_after", &timing, "time from the complete request to the first token",
     &SetBy<&Pace::first_token_after>::apply},
    {"every", &timing, "time between one token and the next", &SetBy<&Pace::every>::apply},
    {"tokens_per_second", &rate, "the speed, starting at the first token", &SetBy<&Pace::tokens_per_second>::apply},
    {"chunked", &chunking, "how a stream is cut into deltas", &SetBy<&Pace::chunked>::apply},
};
inline constexpr ScriptTable pace_table{"pace", pace_rows, std::size(pace_rows),
                                        R"("not":{"required":["every","tokens_per_second"]})"};

ScriptType pace() { return {"pace", nullptr, &pace_table}; }

void set_dialect(ScriptReader& reader, const ScriptNode& node, void* target) {
  SseDialect& dialect = *static_cast<SseDialect*>(target);
  for (const DialectRow& row : DialectRow::all()) {
    if (node.key() != row.name) continue;
    if (row.member.flag) dialect.*row.member.flag = read_value<bool>(reader, node);
    if (row.member.text) dialect.*row.member.text = read_value<std::string>(reader, node);
    if (row.member.duration) dialect.*row.member.duration = read_value<Duration>(reader, node);
    if (row.member.optional_duration) dialect.*row.member.optional_duration = read_value<Duration>(reader, node);
  }
}

ScriptType dialect() {
  static const std::vector<ScriptRow> rows = [] {
    std::vector<ScriptRow> made;
    for (const DialectRow& row : DialectRow::all()) {
      const auto type = row.member.flag ? &boolean : row.member.text ? &text : &duration;
      const char* const limits = row.is_line_end ? R"("enum":["\n","\r\n","\r"])" : "";
      made.push_back({row.name, type, row.help, &set_dialect, false, limits});
    }
    return made;
  }();
  static const ScriptTable table{"sse", rows.data(), rows.size()};
  return {"dialect", nullptr, &table};
}

inline constexpr ScriptRow usage_rows[] = {
    {"prompt_tokens", &count, "`prompt_tokens`", nullptr, true},
    {"completion_tokens", &count, "`completion_tokens`", nullptr, true},
    {"total", &count, "`total_tokens`; the sum of both unless set", &SetBy<&TokenUsage::total>::apply},
    {"reasoning", &count, "`completion_tokens_details.reasoning_tokens`", &SetBy<&TokenUsage::reasoning>::apply},
    {"cached", &count, "`prompt_tokens_details.cached_tokens`", &SetBy<&TokenUsage::cached>::apply},
};
inline constexpr ScriptTable usage_table{"usage", usage_rows, std::size(usage_rows)};

ScriptType token_usage() { return {"usage", nullptr, &usage_table}; }

void set_extension(ScriptReader& reader, const ScriptNode& node, void* target) {
  const bool accepted = read_value<bool>(reader, node);
  Acceptance& acceptance = *static_cast<Acceptance*>(target);
  for (const ExtensionRow& row : extensions)
    if (node.key() == row.name) acceptance = acceptance.with(row.extension, accepted);
}

const ScriptTable& acceptance_table() {
  static const std::vector<ScriptRow> rows = [] {
    std::vector<ScriptRow> made{{"base", &text,
                                 "the acceptance that the switches change: strict, default, lenient or openai", nullptr,
                                 false, script_reading::lasting("\"enum\":" + Json(acceptance_names()).dump())}};
    for (const ExtensionRow& row : extensions) made.push_back({row.name, &boolean, row.text, &set_extension});
    return made;
  }();
  static const ScriptTable table{"acceptance", rows.data(), rows.size()};
  return table;
}

ScriptType acceptance() {
  return {R"("strict", "default", "lenient", "openai", or an object of switches)",
          R"({"anyOf":[{"enum":"$names"},"$rows"]})", &acceptance_table(), &acceptance_names};
}

Acceptance acceptance_named(const ScriptNode& node) {
  return acceptances[script_values::one_of(node, acceptance_names())].make();
}

inline constexpr const char* log_probability = R"("maximum":0)";
inline constexpr ScriptRow top_logprob_rows[] = {
    {"token", &text, "the token", nullptr, true},
    {"logprob", &number, "the logarithm of its probability", nullptr, true, log_probability},
};
inline constexpr ScriptTable top_logprob_table{"top_logprob", top_logprob_rows, std::size(top_logprob_rows)};
ScriptType top_logprobs() { return {"list of objects", R"({"type":"array","items":"$rows"})", &top_logprob_table}; }

inline constexpr ScriptRow token_logprob_rows[] = {
    {"logprob", &number, "the logarithm of the token's probability", nullptr, true, log_probability},
    {"top", &top_logprobs, "the alternatives to the token; generated unless set", nullptr},
};
inline constexpr ScriptTable token_logprob_table{"logprob", token_logprob_rows, std::size(token_logprob_rows)};

ScriptType logprobs() {
  return {"list of numbers, or of objects",
          R"({"type":"array","items":{"anyOf":[{"type":"number","maximum":0},"$rows"]}})", &token_logprob_table};
}

void add_top_logprob(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_strictly(node, top_logprob_table);
  static_cast<std::vector<TopLogprob>*>(target)->push_back(
      {read_value<std::string>(reader, node.at("token")), read_value<double>(reader, node.at("logprob"))});
}

void add_token_logprob(ScriptReader& reader, const ScriptNode& node, void* target) {
  auto& tokens = *static_cast<std::vector<TokenLogprob>*>(target);
  if (node.value.is_number()) return tokens.push_back(node.value.get<double>());
  if (!node.value.is_object()) script_reading::fail_expected(node, "a number, or an object with \"logprob\"");
  reader.read_strictly(node, token_logprob_table);
  const double logprob = read_value<double>(reader, node.at("logprob"));
  if (!node.find("top")) return tokens.push_back(logprob);
  std::vector<TopLogprob> top;
  reader.read_list(node.at("top"), &add_top_logprob, &top);
  tokens.emplace_back(logprob, std::move(top));
}

}  // namespace script_types

std::vector<TokenLogprob> read_as(As<std::vector<TokenLogprob>>, ScriptReader& reader, const ScriptNode& node) {
  std::vector<TokenLogprob> tokens;
  reader.read_list(node, &script_types::add_token_logprob, &tokens);
  return tokens;
}

Pace read_as(As<Pace>, ScriptReader& reader, const ScriptNode& node) {
  Pace pace;
  reader.read_object(node, script_types::pace_table, &pace);
  script_reading::require_not_both(node, "every", "tokens_per_second");
  return pace;
}

SseDialect read_as(As<SseDialect>, ScriptReader& reader, const ScriptNode& node) {
  SseDialect dialect;
  reader.read_object(node, *script_types::dialect().table, &dialect);
  return dialect;
}

TokenUsage read_as(As<TokenUsage>, ScriptReader& reader, const ScriptNode& node) {
  reader.read_strictly(node, script_types::usage_table, nullptr, false);
  TokenUsage usage(read_value<std::int64_t>(reader, node.at("prompt_tokens")),
                   read_value<std::int64_t>(reader, node.at("completion_tokens")));
  reader.read_object(node, script_types::usage_table, &usage);
  return usage;
}

Acceptance read_as(As<Acceptance>, ScriptReader& reader, const ScriptNode& node) {
  if (node.value.is_string()) return script_types::acceptance_named(node);
  if (!node.value.is_object()) script_reading::fail_expected(node, script_types::acceptance().name);
  Acceptance acceptance;
  if (node.find("base")) acceptance = script_types::acceptance_named(node.at("base"));
  reader.read_object(node, script_types::acceptance_table(), &acceptance);
  return acceptance;
}

}  // namespace mock_gateway::detail
