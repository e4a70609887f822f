#pragma once

// Internal parts of the library that users do not see. They are not available in builds whose library is the assembled
// header compiled in another file. CMake then skips the tests that include this file.

#include "mock_gateway.hpp"

#if __has_include("core/access.hpp")  // true if src/ is compiled file by file; else the header contains these files
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
#include "model/finding_kinds.hpp"
#include "model/reply_data.hpp"
#include "request/chat_parser.hpp"
#include "request/service_rules.hpp"
#include "script/field_matchers.hpp"
#include "script/script.hpp"
#include "serve/gateway_state.hpp"
#endif
