#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../core/json.hpp"
#include "schema_budget.hpp"
#include "schema_program.hpp"
#include "schema_value.hpp"

// Values checked against a schema.

namespace mock_gateway {
namespace detail {
namespace schema {

/// Says whether values satisfy subschemas. The program and the budget must outlive it.
class Checker {
 public:
  Checker(const Program& program, Budget& budget) : program_(program), budget_(budget) {}

  /// Whether a value satisfies a subschema, given by its number in the program.
  Verdict verdict(std::size_t index, const Json& value);
  /// Whether a number satisfies the keywords about numbers.
  Verdict number_verdict(const Node& node, const Json& value);
  /// Whether a string satisfies the keywords about strings.
  Verdict string_verdict(const Node& node, const std::string& value);

  /// Whether a pattern, given by its number in the program, occurs in a text.
  bool matches(std::size_t pattern, std::string_view value) {
    return PatternRun(program_.pattern(pattern), budget_).search(value);
  }

 private:
  static unsigned type_of(const Json& value);
  Verdict value_verdict(const Node& node, const Json& value);
  Verdict any_verdict(const Node& node, const Json& value);
  Verdict one_verdict(const Node& node, const Json& value);
  Verdict array_verdict(const Node& node, const Json& value);
  Verdict object_verdict(const Node& node, const Json& value);

  const Program& program_;
  Budget& budget_;
};

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
