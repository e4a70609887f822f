#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../keys/key_store.hpp"
#include "script_reader.hpp"

// Checks of references in script documents: stubs hidden by others, states that must be reachable, models, keys and
// operations that the gateway must have.

namespace mock_gateway::detail {

struct GatewayState;
struct ScriptPlan;

/// A name that none of the documents read together declares: only a gateway knows whether it exists.
struct OpenReference {
  ScriptReference::Kind kind;
  std::string name;
  /// The first place with the name, without a message.
  ScriptProblem place;
  /// The number of other places with it.
  std::size_t others = 0;
};

namespace script_references {

/// Checks complete documents without mistakes. Warns of stubs that never answer, because others hide them or their
/// state is never reached, and keeps the names that no document declares. Uses the sources of the plan's parts and then
/// drops them. `is_all` tells whether these are all sources of states. For stubs mounted one by one by calls it is
/// false: then there are no warnings about states, except for misspelled ones.
void resolve(ScriptPlan& plan, std::vector<ScriptProblem>& problems, bool is_all = true);
/// Returns warnings about models, keys and operations that the gateway does not have.
std::vector<ScriptProblem> unknown_names(const ScriptPlan& plan, const GatewayState& gateway);
/// Returns errors about forced failures for keys that the gateway would not have with the document mounted as `owner`.
std::vector<ScriptProblem> missing_keys(const ScriptPlan& plan, const KeyStore& keys, std::uint64_t owner);

}  // namespace script_references
}  // namespace mock_gateway::detail
