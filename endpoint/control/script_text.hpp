#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "control.hpp"

namespace mock_gateway {
namespace endpoint {

/// How a request's body is read as a script.
struct ScriptTextOptions {
  /// What reports show in place of a file: "POST stubs". Without a slash, behind which a file's name would begin.
  std::string label;
  /// The section whose entry, or list of entries, the body is: "stubs". Empty: a whole document.
  const char* section = "";
  /// The id of the scope that stubs and failures are for; empty: for none.
  std::string scope = {};
  /// Whether it is to be mounted: gates that it names first are kept.
  bool mounts = true;
};

/// A body that was read as a script.
struct ScriptText {
  ScriptDocument document;
  /// What the client sent.
  Json json;
  /// How many entries its section has.
  std::size_t entries;
};

/// Reads a body. Throws ControlError `invalid_json` and `invalid_script`, whose places are those of the body.
ScriptText read_script(Control& control, const std::string& body, const ScriptTextOptions& options);

}  // namespace endpoint
}  // namespace mock_gateway
