#pragma once

#include <string>

#include "mock_gateway.hpp"

/// Formats a script for people: indented, one element of `chunks` per line, terminal control characters escaped. Has no
/// line end at the end.
std::string laid_out(const mock_gateway::Json& script);
