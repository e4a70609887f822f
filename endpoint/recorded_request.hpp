#pragma once

#include <string>

#include "mock_gateway.hpp"
#include "recorded_keys.hpp"

namespace importing {

using mock_gateway::Json;

/// The member of that name; null where there is none, and for what is no object.
const Json& member(const Json& object, const char* name);
/// The text of a member; empty for what is no text.
std::string text_of(const Json& object, const char* name);

/// The value of `when` of a stub that answers a chat request with such a body.
Json conditions(const Json& body, const KeyMask& mask);

}  // namespace importing
