// Reads bodies that are scripts or sections: their errors, and shared gates.

#include "script_text.hpp"

#include <utility>

#include "body.hpp"

namespace mock_gateway {
namespace endpoint {

ScriptText read_script(Control& control, const std::string& body, const ScriptTextOptions& options) {
  const ControlBody parsed(body, options.label);
  const bool is_whole = *options.section == '\0';
  if (!is_whole && parsed.has(options.section)) parsed.require_keys({"mock_gateway", options.section});
  const auto naming = control.gates.naming();
  internal::Gates gates = control.gates.known(options.scope);
  const internal::ScriptTextOptions reading{options.section, options.scope, scoped_name(options.scope, ""),
                                            control.layer.document_owner()};
  internal::ScriptText script = parsed.json().script(control.gateway(), reading, gates);
  if (!script.document) throw ControlError(400, "invalid_script", std::move(script.message), std::move(script.errors));
  if (options.mounts) control.gates.add(options.scope, gates);
  return {std::move(*script.document), parsed.value(), script.entries};
}

}  // namespace endpoint
}  // namespace mock_gateway
