#pragma once

// Stands in for the parts of the library that this program is written against and that are not there yet: script
// documents, evidence as Json, and the import of recordings. To be deleted, with its include in library.hpp.

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "mock_gateway.hpp"

namespace mock_gateway {

struct ScriptProblem {
  Severity severity = Severity::error;
  std::string file;
  std::size_t line = 0;
  std::size_t column = 0;
  std::string pointer;
  std::string message;
  std::string source;
  std::string to_string() const { return (file.empty() ? "" : file + ": ") + message; }
};

class ScriptError : public GatewayError {
 public:
  explicit ScriptError(std::vector<ScriptProblem> problems)
      : GatewayError("a script is wrong"), problems_(std::move(problems)) {}
  const std::vector<ScriptProblem>& problems() const { return problems_; }

 private:
  std::vector<ScriptProblem> problems_;
};

class LoadedScript {
 public:
  std::vector<Stub> stubs() const { return {}; }
};

class ScriptDocument {
 public:
  static ScriptDocument read(const std::vector<std::string>& paths) {
    ScriptProblem problem;
    problem.file = paths.empty() ? "" : paths.front();
    problem.message = "scripts cannot be read yet";
    throw ScriptError({problem});
  }
  Options options(Options base = Options()) const { return base; }
  LoadedScript mount(Gateway&) const { return {}; }
  const std::vector<ScriptProblem>& warnings() const { return warnings_; }
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::vector<std::string> files_;
  std::vector<ScriptProblem> warnings_;
};

inline Json script_schema() { return Json::object(); }

inline Json as_json(const Problem& problem) { return {{"kind", to_string(problem.kind)}, {"text", problem.text}}; }
inline Json as_json(const Finding& finding) {
  return {{"code", finding.code}, {"severity", to_string(finding.severity)}, {"message", finding.message}};
}
inline Json as_json(const Verification& verification) {
  Json problems = Json::array();
  for (const Problem& problem : verification.problems()) problems.push_back(as_json(problem));
  return {{"problems", problems}, {"notes", verification.notes()}};
}
inline Json as_json(const Review& review) {
  Json findings = Json::array();
  for (const Finding& finding : review.findings()) findings.push_back(as_json(finding));
  return {{"findings", findings}, {"judged", review.judged()}, {"evicted", review.evicted()}, {"open", review.open()}};
}
inline Json as_json(const Exchange& exchange) { return {{"id", exchange.id()}, {"summary", exchange.summary()}}; }

}  // namespace mock_gateway

inline int import_file(const std::string& path, std::ostream&) {
  throw mock_gateway::GatewayError(path + " cannot be imported yet");
}
