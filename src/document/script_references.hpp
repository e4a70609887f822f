#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../keys/key_store.hpp"
#include "script_reader.hpp"

// Checks of references in script documents: hidden stubs, unreachable states, and models, keys and operations that the
// gateway must have.

namespace mock_gateway::detail {

struct GatewayState;
struct ScriptPlan;

/// A name that none of the documents declares. Only the gateway can tell whether it exists.
struct OpenReference {
  ScriptReference::Kind kind;
  std::string name;
  /// The first place with the name, without a message.
  ScriptProblem place;
  /// The number of other places with the name.
  std::size_t others = 0;
};

namespace script_references {

/// Checks documents that were read without mistakes. Warns of stubs that never answer because an earlier stub hides
/// them or their state is unreachable, and collects names that no document declares. The sources of the plan's parts
/// must still exist; the function drops the parts. Set `is_all` to false if more stubs may be mounted by other calls:
/// then it warns only of states with a wrong syntax.
void resolve(ScriptPlan& plan, std::vector<ScriptProblem>& problems, bool is_all = true);
/// Returns warnings for models, keys and operations that the gateway does not have.
std::vector<ScriptProblem> unknown_names(const ScriptPlan& plan, const GatewayState& gateway);
/// Returns errors for failures whose key the gateway would not have after mounting the document as `owner`.
std::vector<ScriptProblem> missing_keys(const ScriptPlan& plan, const KeyStore& keys, std::uint64_t owner);

}  // namespace script_references
}  // namespace mock_gateway::detail
