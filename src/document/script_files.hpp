#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "script_reader.hpp"

namespace mock_gateway::detail {
namespace script_files {

/// Returns the files of the paths: for a folder, its `*.json` and `*.jsonc` files and those of its subfolders, in byte
/// order. Notes paths that do not exist.
std::vector<std::string> expand(const std::vector<std::string>& paths, std::vector<ScriptProblem>& problems);
/// Returns false and notes the problem if the file cannot be read.
bool read(const std::string& file, std::string& text, std::vector<ScriptProblem>& problems);
/// Finds the positions of values too. Notes invalid JSON and duplicate keys. Returns false if there is no value.
bool parse(ScriptSource& source, Json& document, std::vector<ScriptProblem>& problems);
/// Returns the probable format of a document without "mock_gateway": "an aimock fixture file"; empty if it is unknown.
std::string foreign_format(const Json& document);

}  // namespace script_files
}  // namespace mock_gateway::detail
