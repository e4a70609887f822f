// Subcommands with their own flags; `--version`; the order of flags.

// The program mock-gateway: the gateway as a local server for curl, debuggers, and clients in any language.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "commands.hpp"
#include "control/control.hpp"
#include "flags.hpp"
#include "library.hpp"
#include "messages.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// The parsed command line.
class CommandLine {
 public:
  CommandLine();

  /// Runs the subcommand. Returns the program's exit code.
  int execute(std::vector<std::string> words);

 private:
  void parse(std::vector<std::string> words);
  /// Describes the first unexpected word, and suggests a flag or a subcommand.
  std::string unexpected() const;
  int chosen();

  Flags flags_;
  CheckFlags check_flags_;
  std::vector<std::string> command_;  // after "--"
  bool has_command_ = false;
  bool json_ = false;
  std::vector<std::string> scripts_;
  std::string format_ = "text";
  std::string recording_;
  bool skip_missing_bodies_ = false;

  CLI::App app_{"A local test double of an OpenAI-compatible model gateway.", "mock-gateway"};
  CLI::App* run_;
  CLI::App* check_;
  CLI::App* validate_;
  CLI::App* schema_;
  CLI::App* openapi_;
  CLI::App* import_;
  CLI::App* scenarios_;
};

CommandLine::CommandLine() {
  app_.set_version_flag("--version", std::string("mock-gateway ") + MOCK_GATEWAY_VERSION);
  add_flags(app_, flags_, "8080");
  app_.require_subcommand(0, 1);

  CLI::App* serve = app_.add_subcommand("serve", "serve until Ctrl-C or SIGTERM; the default subcommand");
  add_flags(*serve, flags_, "8080");
  run_ = app_.add_subcommand(
      "run", "run [flags] -- CMD…: run CMD with the gateway's address in OPENAI_BASE_URL, and judge its requests");
  add_flags(*run_, flags_, "a free one");
  check_ = app_.add_subcommand(
      "check", "check [flags] -- CMD…: run a client through every scenario of the catalogue, and report how it did");
  add_check_flags(*check_, check_flags_);
  validate_ = app_.add_subcommand("validate", "check whether scripts can be served");
  validate_->add_option("FILE", scripts_, "scripts, and folders of them")->required();
  validate_->add_option("--format", format_, "text (problems on stderr) or json (on stdout)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
  schema_ = app_.add_subcommand("schema", "print the JSON Schema of scripts");
  openapi_ = app_.add_subcommand("openapi", "print the OpenAPI document of the control API");
  import_ =
      app_.add_subcommand("import", "print the script that repeats a recording: the output of curl -i, a HAR file");
  import_->add_option("FILE", recording_, "the recording")->required();
  import_->add_flag("--skip-missing-bodies", skip_missing_bodies_, "leave out entries of a HAR file without a body");
  scenarios_ = app_.add_subcommand("scenarios", "print the catalogue of scenarios");
  scenarios_->add_flag("--json", json_, "every detail of each, as JSON");
}

int CommandLine::execute(std::vector<std::string> words) {
  try {
    parse(std::move(words));
    return chosen();
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app_.exit(problem);  // --help and --version
    const bool is_unexpected = dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr;
    std::string text = is_unexpected ? unexpected() : problem.what();
    if (run_->parsed() && !has_command_) text += "; put CMD after --, as in mock-gateway run -- pytest";
    if (check_->parsed() && !has_command_) text += "; put CMD after --, as in mock-gateway check -- ./client {prompt}";
    complain(text);
  } catch (const ScriptError& error) {
    for (const ScriptProblem& problem : error.problems()) std::cerr << problem.to_string() << std::endl;
  } catch (const std::exception& problem) {
    complain(problem.what());
  }
  return exit_unusable;
}

void CommandLine::parse(std::vector<std::string> words) {
  // Split off the command first, so that CLI11 does not parse its flags or its "--".
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (mark != words.end()) {
    has_command_ = true;
    command_.assign(mark + 1, words.end());
    words.erase(mark, words.end());
  }
  std::reverse(words.begin(), words.end());  // CLI11 expects reverse order
  app_.parse(std::move(words));
  for (const CLI::App* subcommand : app_.get_subcommands()) {
    for (const CLI::Option* option : app_.get_options())
      if (option->count() > 0)
        throw BadValue(option->get_name() + " is before " + subcommand->get_name() +
                       ": put flags after the subcommand");
  }
  if (has_command_ && !run_->parsed() && !check_->parsed()) throw BadValue("only run and check take -- and a command");
  if (run_->parsed() && command_.empty()) throw BadValue("run: say what to run, as in mock-gateway run -- pytest");
  if (check_->parsed() && command_.empty())
    throw BadValue("check: say which client, as in mock-gateway check -- ./client {prompt}");
}

std::string CommandLine::unexpected() const {
  const std::string word = app_.remaining(true).front();
  const std::vector<CLI::App*> subcommands = app_.get_subcommands();
  std::vector<std::string> known;
  if (word[0] != '-') {
    if (!subcommands.empty()) return "unexpected argument " + printable(word);
    for (const CLI::App* one : app_.get_subcommands({})) known.push_back(one->get_name());
    return "there is no subcommand " + printable(word) + internal::suggestion(word, known);
  }
  const CLI::App& used = subcommands.empty() ? app_ : *subcommands.front();
  for (const CLI::Option* option : used.get_options()) known.push_back(option->get_name());
  const std::string flag = word.substr(0, word.find('='));
  return "there is no flag " + printable(flag) + internal::suggestion(flag, known);
}

int CommandLine::chosen() {
  if (run_->parsed()) return run(flags_, command_);
  if (check_->parsed()) return check(check_flags_, command_);
  if (validate_->parsed()) return validate(scripts_, format_);
  if (import_->parsed()) return import_recording(recording_, skip_missing_bodies_);
  if (scenarios_->parsed()) return list_scenarios(json_);
  if (schema_->parsed()) {
    std::cout << script_schema().dump(2) << std::endl;
    return 0;
  }
  if (openapi_->parsed()) {
    std::cout << openapi_document().dump(2) << std::endl;
    return 0;
  }
  return serve(flags_);
}

}  // namespace
}  // namespace endpoint
}  // namespace mock_gateway

int main(int count, char** arguments) {
#ifdef __GLIBC__
  // Keep freed memory for the journal, which allocates and frees a few kilobytes per request.
  ::mallopt(M_TOP_PAD, 1 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 24);
#endif
  const std::vector<std::string> words(arguments + 1, arguments + count);
  return mock_gateway::endpoint::CommandLine().execute(words);
}
