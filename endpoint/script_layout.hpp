#pragma once

#include <string>

#include "mock_gateway.hpp"

/// A script as people read and change it: indented, and each element of `chunks` on a line. Characters that could steer
/// a terminal are escapes in it. It ends without a line end.
std::string laid_out(const mock_gateway::Json& script);
