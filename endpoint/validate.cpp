// `validate` and its output.

#include <iostream>

#include "commands.hpp"
#include "control/control.hpp"
#include "flags.hpp"
#include "library.hpp"
#include "messages.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// Returns all problems of the scripts, warnings last.
std::vector<ScriptProblem> problems_of(const std::vector<std::string>& paths) {
  try {
    const ScriptDocument document = ScriptDocument::read(paths);
    // Some errors, such as two keys with the same secret, show only when a gateway uses the scripts.
    Gateway gateway(
        internal::with_program_defaults(document.options()).host("127.0.0.1").port(0).verify_on_destruction(false));
    document.mount(gateway);
    return document.warnings(gateway);
  } catch (const ScriptError& error) {
    return error.problems();
  } catch (const GatewayError& error) {
    ScriptProblem problem;
    problem.severity = Severity::error;
    problem.message = without_prefix(error.what());
    return {problem};
  }
}

}  // namespace

int validate(const std::vector<std::string>& paths, const std::string& format) {
  const std::vector<ScriptProblem> problems = problems_of(paths);
  bool valid = true;
  for (const ScriptProblem& problem : problems) valid = valid && problem.severity != Severity::error;
  if (format == "json") {
    Json list = Json::array();
    for (const ScriptProblem& problem : problems) list.push_back(as_json(problem));
    const Json answer{{"valid", valid}, {"problems", list}};
    std::cout << answer.dump(2) << std::endl;
  } else {
    for (const ScriptProblem& problem : problems) {
      std::cerr << problem.to_string() << std::endl;
    }
    if (valid)
      for (const std::string& path : paths) std::cout << path << ": valid" << std::endl;
  }
  return valid ? 0 : exit_unusable;
}

}  // namespace endpoint
}  // namespace mock_gateway
