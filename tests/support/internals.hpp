#pragma once

// Includes internal parts of the library that users do not see. If another file compiles the assembled header, these
// parts are not available; CMake then skips test files that include this one.

#include "mock_gateway.hpp"

#if __has_include("core/access.hpp")  // src/ file by file; otherwise the header contains them
#include "core/access.hpp"
#include "core/calendar.hpp"
#include "core/json_pointer.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "core/timeline.hpp"
#include "delivery/delivery.hpp"
#include "evidence/record.hpp"
#include "gateway/option_values.hpp"
#include "http/response.hpp"
#include "model/reply_data.hpp"
#include "request/chat_parser.hpp"
#include "script/field_matchers.hpp"
#include "script/script.hpp"
#include "serve/gateway_state.hpp"
#endif
