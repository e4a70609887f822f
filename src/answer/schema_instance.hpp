#pragma once

#include <cstddef>
#include <string>

#include "../core/json.hpp"
#include "../core/pattern.hpp"
#include "../core/random.hpp"

// Instances of a JSON Schema (draft 2020-12; draft-7's `definitions` can be referred to as well), for structured
// outputs and tool arguments: each is proposed, then checked, so that a wrong one is never sent.
// docs/replies-and-matchers.md lists the keywords, formats and patterns that are understood; annotations and unknown
// keywords constrain nothing. What would constrain and is not understood is refused, with its place.

namespace mock_gateway::detail {
namespace schema {

// Steps of work for all schemas of a request together. What makes no value and reads no subschema has the first number;
// a large schema earns more as it is read and its values are found, up to the second.
inline constexpr std::size_t request_work_limit = 100000;
inline constexpr std::size_t large_work_limit = 1000000;

/// An instance that the schema certainly accepts, as JSON; the same one for the same state of `random`. Optional
/// properties are present unless they are recursive; recursion ends as soon as it may. Throws Unsupported.
std::string instance_of(const Json& schema, Random& random, Budget& budget);

}  // namespace schema
}  // namespace mock_gateway::detail
