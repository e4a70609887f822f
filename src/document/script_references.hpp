#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../keys/key_store.hpp"
#include "script_reader.hpp"

// Checks of references in script documents: hidden stubs, unreachable states, unknown models, keys and operations.

namespace mock_gateway::detail {

struct GatewayState;
struct ScriptPlan;

/// A name that none of the documents read together declares: only a gateway knows whether it exists.
struct OpenReference {
  ScriptReference::Kind kind;
  std::string name;
  /// The first place with the name, without a message.
  ScriptProblem place;
  std::size_t others = 0;
};

namespace script_references {

/// Checks complete documents without mistakes: warns of stubs that never answer, and keeps the names that no document
/// declares. Uses the sources of the plan's parts and then drops them. `is_all` is false for stubs mounted one by one
/// by calls: then states are only checked for misspelling.
void resolve(ScriptPlan& plan, std::vector<ScriptProblem>& problems, bool is_all = true);
std::vector<ScriptProblem> unknown_names(const ScriptPlan& plan, const GatewayState& gateway);
/// Returns errors about keys that the gateway would lack even with the document mounted as `owner`.
std::vector<ScriptProblem> missing_keys(const ScriptPlan& plan, const KeyStore& keys, std::uint64_t owner);

}  // namespace script_references
}  // namespace mock_gateway::detail
