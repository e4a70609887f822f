// The flags of `check`: names, help, conflicts, and the command that repeats a call.

#include "check_flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "../control/control.hpp"
#include "../messages.hpp"
#include "cells.hpp"

namespace mock_gateway {
namespace endpoint {

const char* to_string(Form form) { return form == Form::plain ? "plain" : "streamed"; }

// Long, but only one statement per flag.
void add_check_flags(CLI::App& app, CheckFlags& flags) {
  const auto option = [&app](const std::string& name, auto& value, const char* type, const std::string& description) {
    return app.add_option(name, value, description)->type_name(type)->allow_extra_args(false);
  };
  app.add_flag("--plain", flags.plain, "only calls that are not streamed; both, unless one of the two is given");
  app.add_flag("--stream", flags.streamed, "only streamed calls");
  app.add_flag("--tools", flags.tools, "CMD can use tools: scenarios with tool calls too");
  app.add_flag(
      "--driver", flags.driver,
      "CMD starts once and takes jobs, a line of JSON each, on stdin (docs/driver-protocol.md); else it starts "
      "once per call, prints the answer, and exits with 0 unless the call failed");
  option("--outcome", flags.outcome, "FORMAT",
         "what CMD prints without --driver: text, the answer; or json, whose last line is an outcome as a driver's")
      ->check(CLI::IsMember({"text", "json"}));
  option("--group", flags.groups, "GROUP", "only scenarios of this group; repeatable");
  option("--only", flags.only, "NAME", "only this scenario; repeatable");
  option("--skip", flags.skipped, "NAME", "all but this scenario; repeatable");
  option("--catalogue", flags.catalogues, "FOLDER",
         "the scenarios that the scripts of this folder say, in place of the catalogue; repeatable");
  CLI::Option* sweep = option("--sweep", flags.sweep, "TEXT",
                              "in place of scenarios, an answer that says TEXT, broken at every place in every way; "
                              "with --driver");
  option("--splits", flags.splits, "TEXT", "the same, but written in two pieces, cut at every byte; with --driver")
      ->excludes(sweep);
  option("--at-most", flags.at_most, "N", "make N steps of a sweep at most, spread evenly")
      ->check(CLI::Range(1, 1'000'000));
  option("--seed", flags.seed, "N", "of the session of mishaps: its order, texts and times (1); with --driver")
      ->check([](const std::string& word) {
        const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
        const bool is_decimal = word == "0" || word.empty() || word.front() != '0';  // CLI11 reads 010 as octal
        return is_number && is_decimal && word.size() <= 18
                   ? std::string()
                   : "not a whole number of 18 digits at most, without zeros in front: " + word;
      });
  option("--jobs", flags.jobs, "N", "how many calls are made at once (as many as there are processors)")
      ->check(CLI::Range(1, 256));
  option("--timeout", flags.timeout, "TIME", "when a call that has not ended counts as a hang, and is ended (20s)");
  CLI::Option* baseline = option("--baseline", flags.baseline, "FILE",
                                 "what is known to be bad: it passes, and what is there and good fails as stale");
  app.add_flag("--write-baseline", flags.write_baseline, "write what is bad now to that file")->needs(baseline);
  app.add_flag("--strict", flags.strict, "what is bad once and good when it is tried again alone fails too");
  option("--report", flags.reports, "FORMAT[:FILE]",
         "text, json, json:FILE, junit:FILE, html:FILE or github (annotations); to stdout without FILE; repeatable");
  option(
      "--fail-on", flags.fail_on, "WHAT",
      "which findings of the review make a call a bad one: error (of severity error; the default), warning (warnings "
      "too); or never, with which the exit code is 0 whatever is bad")
      ->check(CLI::IsMember({"error", "warning", "never"}));
  option("--without-finding", flags.without_findings, "CODE", "leave findings of this code out; repeatable");
  option("--model", flags.models, "ID", "serve this model, and no other; repeatable (mock-model)");
  option("--acceptance", flags.acceptance, "NAME", "what requests may hold, as with serve (openai)")
      ->check(CLI::IsMember(internal::acceptance_names()));
  option("--profile", flags.profile, "NAME", "whose shapes replies have, as with serve (documented)")
      ->check(CLI::IsMember(profile_names()));
  option("--prompt", flags.prompt, "TEXT", "what the client is to ask (What is the weather?)");
}

void require_sense(const CheckFlags& flags) {
  if (flags.sweeps() && !flags.driver)
    throw BadValue("--sweep and --splits call the client many times: they need a driver (--driver)");
  if (flags.sweeps() &&
      !(flags.only.empty() && flags.skipped.empty() && flags.groups.empty() && flags.catalogues.empty()))
    throw BadValue("--sweep and --splits stand in place of scenarios: leave --only, --skip, --group, --catalogue out");
  if (flags.seed && (flags.sweeps() || !flags.catalogues.empty()))
    throw BadValue("--seed is of the mishaps, which --sweep, --splits and --catalogue leave out");
  if (flags.seed && !flags.driver)
    throw BadValue("--seed is of the mishaps, which take several calls of one client: they need a driver (--driver)");
  if (flags.at_most && !flags.sweeps()) throw BadValue("--at-most belongs to --sweep and --splits");
  if (flags.driver && flags.outcome != "text")
    throw BadValue("--outcome: a driver's answers are outcomes as they are; it belongs to a CMD without --driver");
  if (flags.tools && !flags.driver && flags.outcome != "json")
    throw BadValue("--tools: text cannot tell a tool call; add --outcome json, or --driver");
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

}  // namespace endpoint
}  // namespace mock_gateway
