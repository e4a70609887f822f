#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../keys/key_store.hpp"
#include "script_reader.hpp"

// What script documents say of things that are elsewhere: stubs that hide others, states that something must lead to,
// models, keys and operations that the gateway must have.

namespace mock_gateway::detail {

struct GatewayState;
struct ScriptPlan;

/// A name that no document of those that are read together declares: only a gateway can tell whether there is such a
/// thing.
struct OpenReference {
  ScriptReference::Kind kind;
  std::string name;
  /// The first place that names it, without a message.
  ScriptProblem place;
  /// How many others name it.
  std::size_t others = 0;
};

namespace script_references {

/// Looks at documents of which all are read and none has a mistake: warns of stubs that never answer, hidden by others
/// or in a state that nothing leads to, and keeps the names that no document declares. The sources of the plan's parts
/// must still be there; it forgets them. `is_all`: whether they are all that leads to states; what calls mount one by
/// one is not, so that it is not warned of states then, but of a state that is spelled as no script has it.
void resolve(ScriptPlan& plan, std::vector<ScriptProblem>& problems, bool is_all = true);
/// Warnings of models, keys and operations that the gateway does not have.
std::vector<ScriptProblem> unknown_names(const ScriptPlan& plan, const GatewayState& gateway);
/// Errors: keys for which a document forces failures, and which the gateway would not have with it mounted as `owner`.
std::vector<ScriptProblem> missing_keys(const ScriptPlan& plan, const KeyStore& keys, std::uint64_t owner);

}  // namespace script_references
}  // namespace mock_gateway::detail
