#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "script_reader.hpp"

namespace mock_gateway::detail {
namespace script_files {

/// Expands paths to files. A folder stands for its `*.json` and `*.jsonc` files, including subfolders, sorted bytewise
/// by path. Notes paths that do not exist.
std::vector<std::string> expand(const std::vector<std::string>& paths, std::vector<ScriptProblem>& problems);
/// Reads the text of a file. Returns false, and notes the problem, if the file cannot be read.
bool read(const std::string& file, std::string& text, std::vector<ScriptProblem>& problems);
/// Parses the text of a source and records the places of its values. Notes syntax errors and duplicate keys. Returns
/// false if the text is not JSON.
bool parse(ScriptSource& source, Json& document, std::vector<ScriptProblem>& problems);
/// Guesses the format of a document without "mock_gateway": "an aimock fixture file". Returns an empty string for an
/// unknown format.
std::string foreign_format(const Json& document);

}  // namespace script_files
}  // namespace mock_gateway::detail
