// Bodies of requests: texts about their JSON and keys.

#include "body.hpp"

#include <algorithm>
#include <utility>

#include "core/text.hpp"
#include "document/script_files.hpp"

namespace mock_gateway {
namespace endpoint {

ControlBody::ControlBody(const std::string& text, std::string label) : source_{std::move(label), text, {}} {
  std::vector<ScriptProblem> problems;
  if (text.empty()) throw ControlError(400, "invalid_json", "the request has no body, and this route needs one: JSON");
  const bool parsed = detail::script_files::parse(source_, value_, problems);
  for (ScriptProblem& problem : problems) unwrap(problem);
  if (!parsed || !problems.empty()) throw error_of("invalid_json", std::move(problems));
}

void ControlBody::require_keys(const std::vector<std::string>& keys) const {
  if (!value_.is_object()) throw error({"", "expected an object, got " + detail::script_reading::kind_of(value_)});
  for (const auto& [key, member] : value_.get_ref<const Json::object_t&>()) {
    if (detail::script_reading::is_remark(key) || std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    throw error({detail::ScriptNode{value_, ""}.member(key, member).pointer,
                 "unknown key \"" + detail::text::printable(key, 60) + "\"" +
                     (keys.empty() ? "; this route takes none" : suggestion(key, keys)),
                 true});
  }
}

ControlError ControlBody::error(const detail::ScriptMistake& mistake) const {
  ScriptProblem problem = source_.problem(Severity::error, mistake);
  unwrap(problem);
  return error_of("invalid_request", {std::move(problem)});
}

void ControlBody::wrap(const std::string& section) {
  if (value_.is_object() && value_.contains(section)) {
    require_keys({"mock_gateway", section});
    if (!value_.contains("mock_gateway")) value_["mock_gateway"] = 1;
    return;
  }
  prefix_ = "/" + section + "/0";
  std::map<std::string, detail::JsonPlace> places;
  for (auto& [pointer, place] : source_.places) {
    place.pointer = prefix_ + pointer;
    places.emplace(place.pointer, place);
  }
  source_.places = std::move(places);
  Json entries = Json::array();
  entries.push_back(std::move(value_));
  value_ = Json{{"mock_gateway", 1}};
  value_[section] = std::move(entries);
}

void ControlBody::unwrap(ScriptProblem& problem) const {
  if (problem.file == source_.file) problem.file.clear();
  if (problem.pointer.compare(0, prefix_.size(), prefix_) == 0) problem.pointer.erase(0, prefix_.size());
}

}  // namespace endpoint
}  // namespace mock_gateway
