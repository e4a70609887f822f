#pragma once

#include <string>

#include "mock_gateway.hpp"
#include "recorded_keys.hpp"

namespace importing {

using mock_gateway::Json;

/// Returns a member, or null if it is missing or `object` is not an object.
const Json& member(const Json& object, const char* name);
/// Returns a string member, or an empty text.
std::string text_of(const Json& object, const char* name);

/// Returns the `when` of a stub for chat requests with such a body.
Json conditions(const Json& body, const KeyMask& mask);

}  // namespace importing
