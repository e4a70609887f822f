// Script files in a folder; the maximum file size; errors for invalid JSON, YAML and formats of other tools.

#include "script_sections.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "../core/json_pointer.hpp"
#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace script_files {

namespace fs = std::filesystem;

void note(std::vector<ScriptProblem>& problems, const std::string& file, const std::string& message) {
  ScriptProblem problem;
  problem.file = file;
  problem.message = message;
  problems.push_back(std::move(problem));
}

bool is_script(const fs::path& path) { return path.extension() == ".json" || path.extension() == ".jsonc"; }

std::vector<std::string> expand(const std::vector<std::string>& paths, std::vector<ScriptProblem>& problems) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (error || !fs::exists(status)) {
      note(problems, path, "no such file or folder");
      continue;
    }
    if (!fs::is_directory(status)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
      std::error_code ignored;
      if (is_script(entry->path()) && entry->is_regular_file(ignored)) found.push_back(entry->path().string());
    }
    if (error) note(problems, path, "cannot be read: " + error.message());
    if (!error && found.empty()) note(problems, path, "the folder has no .json or .jsonc file");
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

/// Returns what the path is instead of a regular file ("a pipe"); empty for a regular file.
std::string other_kind(fs::file_type type) {
  switch (type) {
    case fs::file_type::fifo: return "a pipe";
    case fs::file_type::socket: return "a socket";
    case fs::file_type::character:
    case fs::file_type::block: return "a device";
    default: return {};
  }
}

bool read(const std::string& file, std::string& text, std::vector<ScriptProblem>& problems) {
  std::error_code error;
  // Opening a pipe or reading a device may block forever.
  const std::string other = other_kind(fs::status(file, error).type());
  if (!other.empty()) {
    note(problems, file,
         "is " + other + ", not a regular file; a script is reread when it changes, so write it to a file first");
    return false;
  }
  std::ifstream stream(file, std::ios::binary);
  const auto size = fs::is_regular_file(file, error) ? fs::file_size(file, error) : 0;
  if (size > largest_file) {
    note(problems, file, "the file is larger than 64 MiB");
    return false;
  }
  if (stream) text.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  if (stream.good() || stream.eof()) return true;
  note(problems, file, "cannot be read");
  return false;
}

bool looks_like_yaml(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  return line.substr(0, 3) == "---" || line.substr(0, 2) == "- " ||
         (line.find(':') != std::string_view::npos && line.find_first_of("{[\"") == std::string_view::npos);
}

bool parse(ScriptSource& source, Json& document, std::vector<ScriptProblem>& problems, std::size_t max_values) {
  std::vector<JsonPlace> places;
  JsonReadOptions options;
  options.max_values = max_values;
  options.comments = true;
  options.places = &places;
  try {
    document = read_json(source.text, options);
  } catch (const JsonError& error) {
    ScriptProblem problem;
    problem.file = source.file;
    source.show(problem, error.offset);
    problem.message = "not JSON: " + error.reason;
    if (looks_like_yaml(source.text)) problem.message += "; script files are JSON with comments, not YAML";
    problems.push_back(std::move(problem));
    return false;
  }
  std::set<std::string> duplicates;
  for (JsonPlace& place : places) {
    if (source.places.insert_or_assign(place.pointer, place).second) continue;
    // If a key occurs twice, the values inside its two values may have equal pointers too: report only the outer key.
    bool is_inner = false;
    for (std::size_t slash = place.pointer.rfind('/'); slash != std::string::npos && slash > 0 && !is_inner;
         slash = place.pointer.rfind('/', slash - 1))
      is_inner = duplicates.count(place.pointer.substr(0, slash)) > 0;
    if (!duplicates.insert(place.pointer).second || is_inner) continue;
    if (duplicates.size() > script_reading::most_problems) continue;
    const std::string key = json_pointer::name_of(place.pointer.substr(place.pointer.rfind('/') + 1)).value_or("");
    problems.push_back(source.problem(
        Severity::error, {place.pointer, "the key \"" + text::printable(key, 60) + "\" occurs twice", true}));
  }
  return true;
}

std::string foreign_format(const Json& document) {
  const auto has = [](const Json& value, const char* key) { return value.is_object() && value.contains(key); };
  const auto first = [](const Json& value) -> const Json& {
    static const Json none;
    return value.is_array() && !value.empty() ? value.front() : none;
  };
  if (has(document, "fixtures")) {
    const Json& fixture = first(document["fixtures"]);
    if (has(fixture, "match") && has(fixture["match"], "user_message")) return "an llmposter fixture file";
    if (has(fixture, "match")) return "an aimock fixture file";
  }
  if (has(document, "mappings") || (has(document, "request") && has(document, "response"))) return "a WireMock mapping";
  if (has(first(document), "request") && has(first(document), "response")) return "a Smocker mock";
  if (has(first(document), "httpRequest") || has(document, "httpRequest")) return "a MockServer expectation";
  if (has(document, "routes") && has(document, "endpointPrefix")) return "a Mockoon environment";
  if (has(document, "data") && has(document["data"], "pairs")) return "a Hoverfly simulation";
  if (has(document, "log") && has(document["log"], "entries"))
    return "a HAR file, which `mock-gateway import` turns into a script";
  if (has(document, "openapi") || has(document, "swagger")) return "an OpenAPI document";
  if (has(document, "info") && has(document, "item")) return "a Postman collection";
  return "";
}

}  // namespace script_files
}  // namespace mock_gateway::detail
