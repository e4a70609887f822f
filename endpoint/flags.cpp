// The flags of `serve` and `run`: names, help, value formats, effect on options.

#include "flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

#include "control/control.hpp"
#include "messages.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// Parses an integer of at least 1.
std::optional<std::size_t> positive(std::string_view text) {
  const auto number = internal::text::whole_number(text);
  if (!number || *number == 0) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

/// Parses "/v1/models" or "POST /v1/images/generations".
Operation operation_from(const std::string& spec, const std::string& text) {
  const auto [method, path] = split(text, ' ');
  if (path) return operation(method, *path);
  for (const Operation& known : {chat_completions(), list_models()})
    if (known.path == text) return known;
  throw BadValue("--fail: say with which method, such as '503@POST " + text + "': " + spec);
}

FailureScope key_scope(const Gateway& gateway, const std::string& spec, const std::string& name) {
  std::string known;
  std::string found;
  for (const ApiKey& key : gateway.keys().list()) {
    if (key.description != name && key.id != name) {
      known += (known.empty() ? "" : ", ") + (key.description.empty() ? key.id : key.description);
      continue;
    }
    if (!found.empty())
      throw BadValue("--fail: several keys have this name, " + found + " and " + key.id + ": " + spec);
    found = key.id;
  }
  if (found.empty()) throw BadValue("--fail: no key has this name (others are " + known + "): " + spec);
  return for_key(found);
}

FailureScope failure_scope(const Gateway& gateway, const std::string& spec, const std::string& text) {
  const auto [what, name] = split(text, '=');
  if (what == "key" && name && !name->empty()) return key_scope(gateway, spec, *name);
  if (what == "model" && name && !name->empty()) return for_model(*name);
  if (text.find('/') != std::string::npos) return operation_from(spec, text);
  throw BadValue("--fail: after @ goes a path, key=NAME or model=ID: " + spec);
}

ForcedFailure forced_failure(const Gateway& gateway, const std::string& spec) {
  const auto [what, where] = split(spec, '@');
  const auto [status_text, times_text] = split(what, ':');
  const auto status = positive(status_text);
  const bool always = times_text == "*";
  const auto times = times_text && !always ? positive(*times_text) : std::optional<std::size_t>(1);
  if (!status || *status < 400 || *status > 599 || !times) {
    throw BadValue("--fail: not STATUS, STATUS:TIMES or STATUS:*, with a status from 400 to 599: " + spec);
  }
  return {internal::failure_with_status(static_cast<int>(*status)), always ? std::nullopt : times,
          where ? failure_scope(gateway, spec, *where) : FailureScope()};
}

/// Reads the suffix of a key into its options. Returns the key without it. A key may contain '='.
std::string key_from(const std::string& spec, KeyOptions& options) {
  const std::size_t mark = std::min(spec.rfind('='), spec.size());
  const std::string suffix = spec.substr(mark);
  const auto [name, end] = split(suffix, ':');
  if (suffix == "=disabled") {
    options = options.disabled();
  } else if (name == "=deleted_after" && end) {
    const auto requests = positive(*end);
    const auto time = internal::duration_from(*end);
    if (!requests && (!time || *time <= Duration{0}))
      throw BadValue("--key: not KEY=deleted_after:REQUESTS or KEY=deleted_after:TIME, such as deleted_after:30m");
    options = requests ? options.deleted_after(*requests) : options.deleted_after(*time);
  } else {
    return spec;
  }
  return spec.substr(0, mark);
}

Options with_keys(Options options, const std::vector<std::string>& keys) {
  bool has_default = false;
  for (const std::string& spec : keys) {
    KeyOptions key;
    const std::string secret = key_from(spec, key);
    // The error message must not repeat the value, which may be a real key.
    if (secret.empty() || secret == "sk-") throw BadValue("--key: a key must not be empty or just sk-");
    if (secret == spec && !has_default) {
      options = options.api_key(secret);
      has_default = true;
    } else {
      options = options.key("--key", key.secret(secret));
    }
  }
  return options;
}

using Limit = Options (Options::*)(std::size_t, Duration) const;

/// `form` is the format for messages: "REQUESTS/WINDOW, such as 60/1m".
Options with_limit(const Options& options, Limit limit, const std::string& flag, const std::string& form,
                   const std::string& spec) {
  const auto [number_text, window_text] = split(spec, '/');
  const auto number = positive(number_text);
  const auto window = internal::duration_from(window_text.value_or(""));
  if (!number || !window || *window <= Duration{0}) throw BadValue(flag + ": not " + form + ": " + spec);
  return (options.*limit)(*number, *window);
}

}  // namespace

std::pair<std::string, std::optional<std::string>> split(const std::string& text, char mark) {
  const std::size_t place = text.find(mark);
  if (place == std::string::npos) return {text, std::nullopt};
  return {text.substr(0, place), text.substr(place + 1)};
}

// Long, but only one statement per flag.
void add_flags(CLI::App& app, Flags& flags, const std::string& default_port) {
  const auto option = [&app](const std::string& name, auto& value, const char* type, const std::string& description) {
    return app.add_option(name, value, description)->type_name(type)->allow_extra_args(false);
  };
  const CLI::Range milliseconds(0, 3'600'000);
  option("--script", flags.scripts, "FILE",
         "serve this script, or all *.json and *.jsonc files of a folder; repeatable. Flags override its settings");
  app.add_flag("--no-reload", flags.no_reload, "serve: ignore changes to the scripts after the start");
  option("--journal", flags.journal, "FILE",
         "append each finished exchange to this file as a line of JSON; with serve, - is stdout, which then gets "
         "nothing else");
  option("--host", flags.host, "ADDRESS",
         "address to listen on (127.0.0.1); the network can reach any address but loopback");
  option("--port", flags.port, "PORT", "port to listen on (" + default_port + "); 0 takes a free one")
      ->check(CLI::Range(0, 65535));
  option("--port-file", flags.port_file, "FILE", "write the port to this file once ready; removed at the end");
  option("--control", flags.control, "PORT",
         "serve the control API and the console page on this port; 0 takes a free one, off is the default");
  option("--control-host", flags.control_host, "ADDRESS",
         "address of the control API (127.0.0.1); the network can reach any address but loopback");
  option("--control-allow-host", flags.control_allowed_hosts, "NAME",
         "accept this host name for the control API, besides 127.0.0.1, localhost and [::1]; repeatable");
  option("--info-file", flags.info_file, "FILE",
         "once ready, write addresses, key and token to this file as JSON, readable only by its owner; removed at the "
         "end");
  option("--print", flags.print, "FORMAT", "format of stdout: text, or json (only the line of --info-file)")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_flag("--until-eof", flags.until_eof, "serve: end when stdin is closed, as with SIGTERM");
  option("--model", flags.models, "ID[=OWNER]", "serve only this model; default: any model; repeatable");
  option("--context-window", flags.context_windows, "ID=TOKENS",
         "serve this model, and answer 400 to chats whose prompt and max_tokens exceed its context window; repeatable");
  option("--cors", flags.cors, "ORIGIN",
         "let pages of this origin call the gateway from a browser: http://localhost:5173, or * for all; repeatable");
  option("--base-path", flags.base_paths, "PATH",
         "serve below this path instead of /v1: /api/paas/v4, or / for none; repeatable");
  option("--key", flags.keys, "KEY[=disabled]",
         "accept this key; repeatable. KEY=deleted_after:5 gets 401 after 5 requests, KEY=deleted_after:30m 30 minutes "
         "after the first. The first key without such an addition is printed. Default: a key derived from --seed");
  option("--key-header", flags.key_headers, "NAME",
         "a header that may carry a key without Bearer, such as api-key, beside Authorization; repeatable");
  app.add_flag("--no-key-required", flags.no_key_required, "a request without a key counts as sent with the first one");
  option("--fail", flags.failures, "STATUS[:TIMES][@SCOPE]",
         "answer the next request with a failure: 429, 429:2 for the next two, 503:* for all; for one path, key or "
         "model: 503@/v1/models, '503@POST /v1/embeddings', 403@key=NAME, 503@model=ID; repeatable");
  option("--limit", flags.limit, "REQUESTS/WINDOW", "rate limit for all keys together: 60/1m, 2/500ms, 10/60s");
  option("--limit-tokens", flags.limit_tokens, "TOKENS/WINDOW",
         "token limit for all keys together: 6000/1m, 200000/24h");
  option("--limit-concurrent", flags.limit_concurrent, "REQUESTS", "limit of requests at a time for all keys together")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  option("--seed", flags.seed, "NUMBER", "seed of ids, keys and default replies (1)")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  option("--profile", flags.profile, "NAME", "which service's reply shapes to use, and what to accept (documented)")
      ->check(CLI::IsMember(profile_names()));
  CLI::Option* acceptance = option("--acceptance", flags.acceptance, "NAME",
                                   "which requests to accept: openai (what OpenAI documents; a note marks what the "
                                   "gateway's documentation lacks), default (what common SDKs send), strict (only what "
                                   "the documentation lists; with --profile openai, OpenAI's) or lenient (any JSON "
                                   "with model and messages). Default: openai, or default with --profile documented")
                                ->check(CLI::IsMember(internal::acceptance_names()));
  app.add_flag("--strict", flags.strict, "the same as --acceptance strict")->excludes(acceptance);
  option("--enforce", flags.enforce, "NAME", "refuse what this service refuses, with its 400; also sets --profile")
      ->check(CLI::IsMember(internal::enforced_names()));
  CLI::Option* reply = option("--reply", flags.reply, "TEXT", "answer every chat with this text");
  option("--first-token-ms", flags.first_token_ms, "MS", "time to the first token of every reply")->check(milliseconds);
  option("--gap-ms", flags.gap_ms, "MS", "time between the tokens of every reply")->check(milliseconds);
  option("--scenario", flags.scenario, "NAME", "answer every chat as this scenario of the catalogue does")
      ->excludes(reply);
  app.add_flag("--quiet", flags.quiet, "do not print a line on stderr for each request");
  option("--report", flags.reports, "FORMAT[:FILE]",
         "report problems at the end: text, json, json:FILE, junit:FILE or github (annotations); without FILE to "
         "stderr, with - as FILE to stdout; repeatable");
  option("--fail-on", flags.fail_on, "WHAT",
         "what makes the exit code 1: error (problems, and findings of severity error; the default), warning "
         "(warnings too; notes never), unmatched (only requests that no stub answered) or never. All but never also "
         "fail when no request came, or every request was refused")
      ->check(CLI::IsMember({"error", "warning", "unmatched", "never"}));
  app.add_flag("--allow-refused", flags.allow_refused,
               "--fail-on ignores requests that were refused as wrong (400, 401, 404, 405, 413, 415)");
  option("--without-finding", flags.without_findings, "CODE", "leave findings of this code out; repeatable");
}

Options with_flags(Options options, const Flags& flags) {
  if (flags.host) options = options.host(*flags.host);
  if (flags.port) options = options.port(*flags.port);
  if (flags.seed) options = options.seed(*flags.seed);
  if (flags.profile) options = options.profile(profile_named(*flags.profile));
  const std::string acceptance = flags.strict ? "strict" : flags.acceptance.value_or("");
  if (!acceptance.empty()) options = options.acceptance(internal::acceptance_named(acceptance));
  if (flags.enforce) options = options.enforce(profile_named(*flags.enforce));
  for (const std::string& spec : flags.models) {
    const auto [id, owner] = split(spec, '=');
    if (id.empty() || owner == "") throw BadValue("--model: not ID or ID=OWNER: " + spec);
    options = owner ? options.model(id, *owner) : options.model(id);
  }
  for (const std::string& spec : flags.context_windows) {
    const auto [id, number] = split(spec, '=');
    const auto tokens = positive(number.value_or(""));
    if (id.empty() || !tokens) throw BadValue("--context-window: not ID=TOKENS, such as fast=8192: " + spec);
    options = options.context_window(id, *tokens);
  }
  for (const std::string& origin : flags.cors) options = options.cors(origin);
  for (const std::string& path : flags.base_paths) options = options.base_path(path);
  for (const std::string& name : flags.key_headers) options = options.key_header(name);
  if (flags.no_key_required) options = options.key_required(false);
  options = with_keys(std::move(options), flags.keys);
  if (flags.limit)
    options = with_limit(options, &Options::limit, "--limit", "REQUESTS/WINDOW, such as 60/1m", *flags.limit);
  if (flags.limit_tokens)
    options = with_limit(options, &Options::limit_tokens, "--limit-tokens", "TOKENS/WINDOW, such as 6000/1m",
                         *flags.limit_tokens);
  if (flags.limit_concurrent) options = options.limit_concurrent(*flags.limit_concurrent);
  if (flags.first_token_ms || flags.gap_ms) {
    Pace pace;
    if (flags.first_token_ms) pace = pace.first_token_after(std::chrono::milliseconds(*flags.first_token_ms));
    if (flags.gap_ms) pace = pace.every(std::chrono::milliseconds(*flags.gap_ms));
    options = options.pace(pace);
  }
  for (const std::string& code : flags.without_findings) options = options.without_finding(code);
  return options;
}

std::optional<Scenario> scenario_from(const Flags& flags) {
  if (!flags.scenario) return std::nullopt;
  try {
    return scenario(*flags.scenario);
  } catch (const GatewayError& problem) {
    throw BadValue("--scenario: " + without_prefix(problem.what()));
  }
}

std::vector<ForcedFailure> forced_failures(const Gateway& gateway, const Flags& flags) {
  std::vector<ForcedFailure> failures;
  for (const std::string& spec : flags.failures) failures.push_back(forced_failure(gateway, spec));
  return failures;
}

std::vector<ReportTarget> report_targets(const std::vector<std::string>& specs, bool has_html) {
  std::vector<ReportTarget> targets;
  for (const std::string& spec : specs) {
    const auto [format, file] = split(spec, ':');
    const bool takes_file = format == "json" || format == "junit" || (has_html && format == "html");
    const bool needs_none = format == "json" || format == "text" || format == "github";
    if (file ? !takes_file || file->empty() : !needs_none)
      throw BadValue(std::string("--report: not text, json, json:FILE, junit:FILE") + (has_html ? ", html:FILE" : "") +
                     " or github: " + spec);
    targets.push_back({format, file.value_or("")});
  }
  return targets;
}

std::vector<ReportTarget> report_targets(const Flags& flags) {
  std::vector<ReportTarget> targets = report_targets(flags.reports, false);
  if (targets.empty()) targets.push_back({"text", {}});
  return targets;
}

}  // namespace endpoint
}  // namespace mock_gateway
