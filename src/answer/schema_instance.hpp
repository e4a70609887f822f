#pragma once

#include "../core/json.hpp"
#include "../core/random.hpp"
#include "schema_budget.hpp"

// JSON instances for a JSON Schema (draft 2020-12; draft-7's `definitions` can be referred to as well), for structured
// outputs and tool arguments.
//
// Supported: boolean schemas; type; enum and const; properties, patternProperties, additionalProperties, propertyNames,
// required, dependentRequired, minProperties, maxProperties; items, prefixItems, contains, minItems, maxItems,
// uniqueItems; minLength, maxLength, pattern, format; minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf;
// allOf, anyOf, oneOf, not; $ref into the same document by JSON pointer, recursive or not. Annotations and unknown
// keywords constrain nothing and are ignored.
//
// Formats, which are assertions here: date-time, date, time, duration, email, hostname, ipv4, ipv6, uuid, uri.
//
// Patterns are ECMA-262 expressions over code points made of literals, '.', classes, \d \D \w \W \s \S, the escapes
// \t \n \v \f \r \0 \cX \xHH \uHHHH \u{H}, escaped punctuation, groups (also (?: ) and (?<name> )), alternation, the
// quantifiers * + ? {n} {n,} {n,m} (also lazy), and the anchors ^ and $. Lookaround, backreferences, \b, \B and \p are
// not supported.
//
// Refused, because they would constrain: if/then/else, dependentSchemas, dependencies, unevaluatedProperties,
// unevaluatedItems, minContains, maxContains, additionalItems, items as an array, $dynamicRef, $recursiveRef,
// content* keywords, references to other documents or by anchor, other formats.

namespace mock_gateway {
namespace detail {
namespace schema {

/// Checks that a schema is well-formed and made of what is supported, without looking for an instance. Only what can
/// be reached from the root is looked at. Throws Unsupported.
void check(const Json& schema);

/// Makes an instance that the schema certainly accepts, the same one for the same state of `random`. Optional
/// properties are present unless they are recursive; recursion ends as soon as the schema allows it. Bounded: 64
/// levels, 10,000 items per array, 100,000 characters per string, 10,000 subschemas, and a fixed amount of work.
/// Throws Unsupported.
Json instance(const Json& schema, Random& random);

/// Whether a value certainly satisfies the schema. False also where validators disagree: on some spellings of a
/// format, on `multipleOf` with binary fractions that divide inexactly, on numbers beyond 64 bits that lost digits when
/// they were read. Throws Unsupported as check() does, and for a value nested deeper than 200 levels.
bool accepts(const Json& schema, const Json& value);

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
