#pragma once

// What only the library's own tests look into: parts that users do not see. With the assembled header compiled by
// another file they are not to be had, so that a test file which includes this is left out there.

#include "mock_gateway.hpp"

#if __has_include("core/access.hpp")  // src/ as it stands; else the header has them
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
