#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "../core/json.hpp"
#include "../core/random.hpp"
#include "schema_pattern.hpp"

// Instances of a JSON Schema (draft 2020-12; draft-7's `definitions` can be referred to as well), for structured
// outputs and tool arguments: each is proposed, then checked, so that a wrong one is never sent.
// docs/replies-and-matchers.md lists the keywords, formats and patterns that are understood; annotations and unknown
// keywords constrain nothing. What would constrain and is not understood is refused, with its place.

namespace mock_gateway {
namespace detail {
namespace schema {

inline constexpr std::size_t request_work_limit = 100000;  ///< Steps for all schemas of a request together.

class Maker;

/// Makes instances of one schema. The budget must outlive it.
class Instances {
 public:
  /// Checks all subschemas that can be reached from the root. Throws Unsupported.
  Instances(Json schema, Budget& budget);

  /// An instance that the schema certainly accepts, as JSON; the same one for the same state of `random` and the same
  /// calls before. Where the budget might not last for a further one, one that was made before. Optional properties
  /// are present unless they are recursive; recursion ends as soon as the schema allows it. Throws Unsupported.
  std::string text(Random& random);

  /// Whether a value certainly satisfies the schema. False also where validators disagree: on some spellings of a
  /// format, on `multipleOf` with binary fractions that divide inexactly, on integers beyond 64 bits. Throws
  /// Unsupported when that takes too much work.
  bool accepts(const Json& value);

 private:
  Budget& budget_;
  std::shared_ptr<Maker> maker_;
  std::vector<std::string> made_;
  std::size_t dearest_ = 0;  // steps of an instance
};

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
