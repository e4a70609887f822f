// The flags of `check`: names, help, conflicts; the scenarios that they choose; the command that repeats a call.

#include "check_flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "../control/control.hpp"
#include "../messages.hpp"
#include "cells.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

/// Returns a scenario that represents a turn of mishaps in reports.
Scenario turn_as_scenario(const Mishap& turn) {
  internal::ScenarioText shown;
  shown.name = turn.name();
  shown.group = "mishaps";
  shown.description = turn.description();
  shown.reference = turn.reference();
  shown.good_client = turn.good_client();
  shown.expected = turn.expected();
  shown.text = turn.text();
  shown.needs_stream = turn.needs_stream();
  shown.calls = 2;  // needs one client for all turns
  return internal::make_scenario(shown);
}

std::vector<Scenario> all_scenarios(const CheckFlags& flags) {
  std::vector<Scenario> all;
  if (flags.catalogues.empty()) {
    all = catalogue();
    Gateway gateway{options_from(flags).verify_on_destruction(false)};
    for (const Mishap& turn : mishaps(gateway, flags.seed.value_or(1))) all.push_back(turn_as_scenario(turn));
  }
  for (const std::string& folder : flags.catalogues) {
    const std::vector<Scenario> more = Catalogue::read(folder).scenarios();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

/// Throws BadValue for an unknown name.
void require_known(const std::string& what, const std::vector<std::string>& names,
                   const std::vector<std::string>& known) {
  constexpr std::size_t longest = 500;
  for (const std::string& name : names) {
    if (contains(known, name)) continue;
    const std::string hint = internal::suggestion(name, known);
    throw BadValue(what + " " + internal::printable(name, 100) +
                   (hint.size() > longest ? "; `mock-gateway scenarios` prints the catalogue" : hint));
  }
}

}  // namespace

const char* to_string(Form form) { return form == Form::plain ? "plain" : "streamed"; }

// Long, but only one statement per flag.
void add_check_flags(CLI::App& app, CheckFlags& flags) {
  const auto option = [&app](const std::string& name, auto& value, const char* type, const std::string& description) {
    return app.add_option(name, value, description)->type_name(type)->allow_extra_args(false);
  };
  app.add_flag("--plain", flags.plain, "make only calls that are not streamed; default: both kinds");
  app.add_flag("--stream", flags.streamed, "make only streamed calls");
  app.add_flag("--tools", flags.tools, "CMD can use tools: include scenarios with tool calls");
  app.add_flag("--driver", flags.driver,
               "start CMD once and send it jobs on stdin, a line of JSON each (docs/driver-protocol.md); without "
               "--driver, CMD starts once per call, prints the answer, and exits with 0 unless the call failed");
  option(
      "--outcome", flags.outcome, "FORMAT",
      "what CMD prints without --driver: text (the answer), or json (the last line is an outcome as a driver sends it)")
      ->check(CLI::IsMember({"text", "json"}));
  option("--group", flags.groups, "GROUP", "only scenarios of this group; repeatable");
  option("--only", flags.only, "NAME", "only this scenario; repeatable");
  option("--skip", flags.skipped, "NAME", "leave this scenario out; repeatable");
  option("--catalogue", flags.catalogues, "FOLDER",
         "use the scenarios in the scripts of this folder instead of the catalogue; repeatable");
  CLI::Option* sweep =
      option("--sweep", flags.sweep, "TEXT",
             "instead of scenarios, send the answer TEXT, broken at every place in every way; needs --driver");
  option("--splits", flags.splits, "TEXT",
         "instead of scenarios, send the answer TEXT in two writes, cut at every byte; needs --driver")
      ->excludes(sweep);
  option("--at-most", flags.at_most, "N", "make at most N steps of a sweep, spread evenly")
      ->check(CLI::Range(1, 1'000'000));
  option("--seed", flags.seed, "N", "seed of the session of mishaps: its order, texts and times (1); needs --driver")
      ->check([](const std::string& word) {
        const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
        const bool is_decimal = word == "0" || word.empty() || word.front() != '0';  // CLI11 reads 010 as octal
        return is_number && is_decimal && word.size() <= 18
                   ? std::string()
                   : "not a whole number of 18 digits at most, without leading zeros: " + word;
      });
  option("--jobs", flags.jobs, "N", "how many calls to make at once (the number of processors)")
      ->check(CLI::Range(1, 256));
  option("--timeout", flags.timeout, "TIME", "how long a call may take before it counts as a hang and is ended (20s)");
  CLI::Option* baseline =
      option("--baseline", flags.baseline, "FILE",
             "file of known bad results: they pass; a listed result that is now good fails as stale");
  app.add_flag("--write-baseline", flags.write_baseline, "write the current bad results to that file")->needs(baseline);
  app.add_flag("--strict", flags.strict, "also fail on results that are bad at first but good when tried again alone");
  option("--report", flags.reports, "FORMAT[:FILE]",
         "text, json, json:FILE, junit:FILE, html:FILE or github (annotations); to stdout without FILE; repeatable");
  option("--fail-on", flags.fail_on, "WHAT",
         "which findings of the review make a call bad: error (severity error; the default), warning (warnings too) or "
         "never; with never, the exit code is 0 even when calls are bad")
      ->check(CLI::IsMember({"error", "warning", "never"}));
  option("--without-finding", flags.without_findings, "CODE", "leave findings of this code out; repeatable");
  option("--model", flags.models, "ID", "serve only this model; repeatable (mock-model)");
  option("--acceptance", flags.acceptance, "NAME", "which requests to accept, as with serve (openai)")
      ->check(CLI::IsMember(internal::acceptance_names()));
  option("--profile", flags.profile, "NAME", "which service's reply shapes to use, as with serve (documented)")
      ->check(CLI::IsMember(profile_names()));
  option("--enforce", flags.enforce, "NAME", "refuse what this service refuses, as with serve")
      ->check(CLI::IsMember(internal::enforced_names()));
  option("--key-header", flags.key_headers, "NAME", "a header that may carry the key, as with serve; repeatable");
  app.add_flag("--no-key-required", flags.no_key_required, "also take requests without a key, as with serve");
  option("--base-path", flags.base_paths, "PATH", "serve below this path, as with serve; repeatable");
  option("--prompt", flags.prompt, "TEXT", "what the client asks (What is the weather in Zürich?)");
}

void require_consistent_flags(const CheckFlags& flags) {
  if (flags.sweeps() && !flags.driver)
    throw BadValue("--sweep and --splits call the client many times: they need a driver (--driver)");
  if (flags.sweeps() &&
      !(flags.only.empty() && flags.skipped.empty() && flags.groups.empty() && flags.catalogues.empty()))
    throw BadValue("--sweep and --splits replace the scenarios: remove --only, --skip, --group, --catalogue");
  if (flags.seed && (flags.sweeps() || !flags.catalogues.empty()))
    throw BadValue("--seed is for the mishaps, which --sweep, --splits and --catalogue leave out");
  if (flags.seed && !flags.driver)
    throw BadValue("--seed is for the mishaps, which need several calls of one client: add a driver (--driver)");
  if (flags.at_most && !flags.sweeps()) throw BadValue("--at-most needs --sweep or --splits");
  if (flags.driver && flags.outcome != "text")
    throw BadValue("--outcome: a driver always answers with outcomes; use it only without --driver");
  if (flags.tools && !flags.driver && flags.outcome != "json")
    throw BadValue("--tools: text cannot show a tool call; add --outcome json, or --driver");
}

std::chrono::milliseconds timeout_from(const CheckFlags& flags) {
  const std::optional<Duration> time = internal::duration_from(flags.timeout);
  if (!time || *time < std::chrono::milliseconds(1) || *time > std::chrono::hours(1))
    throw BadValue("--timeout: not a time up to 1h with its unit, such as 20s or 500ms: " + flags.timeout);
  return std::chrono::duration_cast<std::chrono::milliseconds>(*time);
}

Options options_from(const CheckFlags& flags) {
  Options options = Options{}.profile(profile_named(flags.profile));
  for (const std::string& model : flags.models) options = options.model(model);
  if (!flags.acceptance.empty()) options = options.acceptance(internal::acceptance_named(flags.acceptance));
  if (!flags.enforce.empty()) options = options.enforce(profile_named(flags.enforce));
  for (const std::string& name : flags.key_headers) options = options.key_header(name);
  if (flags.no_key_required) options = options.key_required(false);
  for (const std::string& path : flags.base_paths) options = options.base_path(path);
  for (const std::string& code : flags.without_findings)
    if (code != key_told) options = options.without_finding(code);
  return options;
}

std::string command_to_repeat(const CheckFlags& flags, const std::vector<std::string>& command, const std::string& name,
                              Form form) {
  const CheckFlags usual;
  std::vector<std::string> words{"mock-gateway", "check"};
  const auto say = [&words](const char* flag, const std::string& value) {
    if (value.empty() || value.front() == '-')
      words.push_back(std::string(flag) + "=" + value);
    else
      words.insert(words.end(), {flag, value});
  };
  const auto add = [&say](const char* flag, const std::string& value, const std::string& as_usual) {
    if (value != as_usual) say(flag, value);
  };
  if (flags.driver) words.push_back("--driver");
  add("--outcome", flags.outcome, usual.outcome);
  if (flags.tools) words.push_back("--tools");
  for (const std::string& folder : flags.catalogues) say("--catalogue", folder);
  for (const std::string& model : flags.models) say("--model", model);
  for (const std::string& code : flags.without_findings) say("--without-finding", code);
  add("--acceptance", flags.acceptance, usual.acceptance);
  add("--profile", flags.profile, usual.profile);
  add("--enforce", flags.enforce, usual.enforce);
  for (const std::string& header : flags.key_headers) say("--key-header", header);
  if (flags.no_key_required) words.push_back("--no-key-required");
  for (const std::string& path : flags.base_paths) say("--base-path", path);
  add("--prompt", flags.prompt, usual.prompt);
  add("--timeout", flags.timeout, usual.timeout);
  add("--fail-on", flags.fail_on, usual.fail_on);
  if (flags.seed) say("--seed", std::to_string(*flags.seed));
  if (flags.sweep) say("--sweep", *flags.sweep);
  if (flags.splits) say("--splits", *flags.splits);
  if (flags.at_most) words.insert(words.end(), {"--at-most", std::to_string(*flags.at_most)});
  if (!flags.sweeps()) say("--only", name);
  words.push_back(form == Form::plain ? "--plain" : "--stream");
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted_for_shell(word);
  return text;
}

ChosenScenarios chosen_scenarios(const CheckFlags& flags) {
  ChosenScenarios scenarios;
  if (flags.sweeps()) return scenarios;
  const std::vector<Scenario> all = all_scenarios(flags);
  std::vector<std::string> groups;
  for (const Scenario& one : all) {
    if (!scenarios.names.insert(one.name()).second)
      throw BadValue("--catalogue: two files have a scenario " + one.name());
    if (!contains(groups, one.group())) groups.push_back(one.group());
  }
  const std::vector<std::string> names(scenarios.names.begin(), scenarios.names.end());
  require_known("--only: there is no scenario", flags.only, names);
  require_known("--skip: there is no scenario", flags.skipped, names);
  require_known("--group: there is no group", flags.groups, groups);
  for (const Scenario& one : all) {
    if (!flags.only.empty() && !contains(flags.only, one.name())) continue;
    if (!flags.groups.empty() && !contains(flags.groups, one.group())) continue;
    if (!contains(flags.skipped, one.name())) scenarios.chosen.push_back(one);
  }
  if (scenarios.chosen.empty()) throw BadValue("--only, --group and --skip leave no scenario");
  return scenarios;
}

}  // namespace endpoint
}  // namespace mock_gateway
