#pragma once

#include <cstddef>
#include <string>

#include "../core/json.hpp"
#include "../core/pattern.hpp"
#include "../core/random.hpp"

// Instances of a JSON Schema (draft 2020-12, and references to draft-7's `definitions`), for structured outputs and
// tool arguments. Each is generated, then validated, so that a wrong one is never sent. docs/replies-and-matchers.md
// lists the supported keywords, formats and patterns. Annotations and unknown keywords are ignored; unsupported
// constraints are refused with their position.

namespace mock_gateway::detail {
namespace schema {

// Work limits in steps, for all schemas of a request: at the start, and after progress has earned more.
inline constexpr std::size_t request_work_limit = 100000;
inline constexpr std::size_t large_work_limit = 1000000;

/// A JSON instance that certainly satisfies the schema, the same for the same state of `random`. Optional properties
/// are present unless recursive; recursion ends as early as possible. Throws Unsupported.
std::string instance_of(const Json& schema, Random& random, Budget& budget);

}  // namespace schema
}  // namespace mock_gateway::detail
