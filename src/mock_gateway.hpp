// mock_gateway: a test double of an OpenAI-compatible model gateway, in one header.
//
// Script what the gateway says, run the client against a real socket, verify what the client did.
//
// Known limits: plain http only; listens on loopback unless told otherwise; POSIX sockets; with
// MOCK_GATEWAY_HEADER_ONLY 1 every file that includes this header compiles all of it, which takes seconds.

// Every public part, in the order in which a reader wants them.
// assemble.py refuses a part that is reached from here and not named here.
// clang-format off
#include "core/version.hpp"
#include "core/json.hpp"
#include "core/source_location.hpp"
#include "gateway/forward.hpp"
#include "gateway/gateway.hpp"
#include "gateway/options.hpp"
#include "gateway/chat_script.hpp"
#include "model/reply.hpp"
#include "model/fault.hpp"
#include "model/hold.hpp"
#include "model/sse_dialect.hpp"
#include "model/writes.hpp"
#include "model/pace.hpp"
#include "model/failure.hpp"
#include "model/http_reply.hpp"
#include "model/connection_fault.hpp"
#include "model/chat_request.hpp"
#include "model/received_request.hpp"
#include "model/range.hpp"
#include "model/operation.hpp"
#include "model/profile.hpp"
#include "model/acceptance.hpp"
#include "model/finding.hpp"
#include "model/tokenizer.hpp"
#include "script/matchers.hpp"
#include "script/matcher.hpp"
#include "script/scope.hpp"
#include "script/failure_scope.hpp"
#include "script/chaos.hpp"
#include "evidence/journal.hpp"
#include "evidence/near_miss.hpp"
#include "evidence/sent_answer.hpp"
#include "evidence/verification.hpp"
#include "evidence/review.hpp"
#include "evidence/evidence_json.hpp"
#include "keys/keys.hpp"
#include "keys/api_key.hpp"
#include "core/clock.hpp"
#include "core/duration.hpp"
#include "core/wait.hpp"
#include "core/error.hpp"
#include "core/shared.hpp"
#include "gateway/sweep.hpp"
#include "gateway/catalogue.hpp"
#include "document/script_document.hpp"
// clang-format on

// The assembled header has these behind guards of their own, so that they may be asked for after a first include.
#ifdef MOCK_GATEWAY_ADAPTER_CATCH2
#include "adapters/catch2.hpp"
#endif
#ifdef MOCK_GATEWAY_ADAPTER_DOCTEST
#include "adapters/doctest.hpp"
#endif
#ifdef MOCK_GATEWAY_ADAPTER_GTEST
#include "adapters/gtest.hpp"
#endif
