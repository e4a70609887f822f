#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "script_reader.hpp"

namespace mock_gateway::detail {
namespace script_files {

/// The files that paths stand for: of a folder, its `*.json` and `*.jsonc` and those of the folders in it, in the order
/// of their bytes. Notes paths that lead nowhere.
std::vector<std::string> expand(const std::vector<std::string>& paths, std::vector<ScriptProblem>& problems);
/// The text of a file. Notes one that cannot be read; false then.
bool read(const std::string& file, std::string& text, std::vector<ScriptProblem>& problems);
/// Parses the text of a source and finds its places. Notes what is no JSON, and keys that an object has twice; false
/// when there is no value.
bool parse(ScriptSource& source, Json& document, std::vector<ScriptProblem>& problems);
/// Whose format a document without "mock_gateway" seems to have: "an aimock fixture file"; empty when it is none known.
std::string foreign_format(const Json& document);

}  // namespace script_files
}  // namespace mock_gateway::detail
