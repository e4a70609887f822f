// The prefix of paths; matching paths and queries; 404 and 405.

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

constexpr std::string_view root = "/control/v1";

/// Removes the next segment and its slash, and returns the segment.
std::string_view next_segment(std::string_view& path, bool& last) {
  const std::size_t end = path.find('/');
  const std::string_view segment = path.substr(0, end);
  last = end == std::string_view::npos;
  path.remove_prefix(last ? path.size() : end + 1);
  return segment;
}

/// Returns the values of the `{…}` segments, or nothing if the path does not match.
std::optional<std::vector<std::string>> match(std::string_view pattern, std::string_view path) {
  std::vector<std::string> parameters;
  for (bool pattern_ends = false, path_ends = false; !pattern_ends;) {
    const std::string_view wanted = next_segment(pattern, pattern_ends);
    const std::string_view given = next_segment(path, path_ends);
    if (pattern_ends != path_ends) return std::nullopt;
    if (wanted.empty() || wanted.front() != '{') {
      if (wanted != given) return std::nullopt;
      continue;
    }
    const std::optional<std::string> value = internal::text::percent_decode(given);
    if (!value || value->empty()) return std::nullopt;
    parameters.push_back(*value);
  }
  return parameters;
}

/// Decodes a name or value of a query, where "+" means a space.
std::optional<std::string> decoded(std::string text) {
  std::replace(text.begin(), text.end(), '+', ' ');
  return internal::text::percent_decode(text);
}

}  // namespace

const std::vector<ControlRoute>& control_routes() {
  static const std::vector<ControlRoute> routes = [] {
    std::vector<ControlRoute> all;
    for (const auto& table : {root_routes(), script_routes(), stub_routes(), failure_routes(), key_routes(),
                              clock_routes(), asked_routes(), journal_routes(), scope_routes()})
      all.insert(all.end(), table.begin(), table.end());
    // Literal paths come before paths with parameters.
    std::stable_partition(all.begin(), all.end(), [](const ControlRoute& route) {
      return std::string_view(route.path).find('{') == std::string_view::npos;
    });
    return all;
  }();
  return routes;
}

const ControlRoute& find_route(const std::string& method, const std::string& path,
                               std::vector<std::string>& parameters) {
  std::string allowed;
  std::string matched;  // the pattern
  if (std::string_view(path).substr(0, root.size()) == root) {
    const std::string_view rest = std::string_view(path).substr(root.size());
    for (const ControlRoute& route : control_routes()) {
      if (!matched.empty() && matched != route.path) continue;
      std::optional<std::vector<std::string>> values = match(route.path, rest);
      if (!values) continue;
      matched = route.path;
      if (method == route.method) {
        parameters = std::move(*values);
        return route;
      }
      if (allowed.find(route.method) == std::string::npos)
        allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
    }
  }
  const std::string shown = internal::printable(path, 200);
  if (allowed.empty())
    throw ControlError(404, "no_such_route", "there is no " + shown + "; /control/v1/openapi.json lists what there is");
  ControlError error(405, "method_not_allowed", shown + " takes " + allowed);
  error.allow = allowed;
  throw error;
}

std::map<std::string, std::string> query_of(const ControlRoute& route, const std::string& text) {
  std::map<std::string, std::string> values;
  const std::vector<std::string> known(route.query.begin(), route.query.end());
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('&', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty()) continue;
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::optional<std::string> name = decoded(part.substr(0, equals));
    const std::optional<std::string> value = decoded(part.substr(std::min(equals + 1, part.size())));
    if (!name || !value || !internal::text::is_valid_utf8(*name) || !internal::text::is_valid_utf8(*value))
      throw ControlError(400, "invalid_request",
                         "the query has a % without two hexadecimal digits after it, or is not UTF-8");
    const std::string shown = "\"" + internal::printable(*name, 60) + "\"";
    const bool is_known = std::find(known.begin(), known.end(), *name) != known.end();
    if (!is_known && *name == "scope" && route.no_scope)
      throw ControlError(400, "invalid_request", std::string("this route takes no ?scope=: ") + route.no_scope);
    if (!is_known)
      throw ControlError(400, "invalid_request",
                         "unknown parameter " + shown +
                             (known.empty() ? "; this route takes none" : internal::suggestion(*name, known)));
    if (!values.emplace(*name, *value).second)
      throw ControlError(400, "invalid_request", "the parameter " + shown + " is given twice");
  }
  return values;
}

}  // namespace endpoint
}  // namespace mock_gateway
