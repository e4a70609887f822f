#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

/// Options for reading a request body as a script.
struct ScriptTextOptions {
  /// Shown in reports in place of a file: "POST stubs". It has no slash, since a file name would start there.
  std::string label;
  /// The section that the body holds an entry or entries of, such as "stubs". Empty: a whole document.
  const char* section = "";
  /// The scope of its stubs and failures; empty: none.
  std::string scope = {};
  /// Whether the body will be mounted. If so, new gates are kept.
  bool mounts = true;
};

/// A script from a request body.
struct ScriptText {
  ScriptDocument document;
  /// The body as sent.
  Json json;
  /// The number of entries in its section.
  std::size_t entries;
};

/// Reads a body as a script. Throws ControlError `invalid_json` and `invalid_script` with positions in the body.
ScriptText read_script(Control& control, const std::string& body, const ScriptTextOptions& options);

}  // namespace endpoint
}  // namespace mock_gateway
