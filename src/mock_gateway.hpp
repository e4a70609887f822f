// mock_gateway: a test double of an OpenAI-compatible model gateway in a single header.
//
// Script the replies, run the client against a real socket, verify its requests. A complete test, also in
// examples/first_test.cpp:
//
//     #define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
//     #define MOCK_GATEWAY_ADAPTER_DOCTEST
//     #include "mock_gateway.hpp"  // and doctest
//
//     #include <httplib.h>
//
//     using namespace mock_gateway;
//     using namespace std::chrono_literals;
//
//     /// The code under test. Any client will do that takes a base address and a key.
//     static httplib::Result ask(const Gateway& gateway, const char* question) {
//       httplib::Client client(gateway.host(), gateway.port());
//       client.set_bearer_token_auth(gateway.api_key());
//       const Json request = {{"model", "mock-model"}, {"messages", {{{"role", "user"}, {"content", question}}}}};
//       return client.Post("/v1/chat/completions", request.dump(), "application/json");
//     }
//
//     TEST_CASE("the client reports what the gateway said") {
//       Gateway gateway;  // a real endpoint on 127.0.0.1 at a free port, ready now
//       gateway.chat().when(user_says("capital of France")).reply("Paris.");
//       const auto answer = ask(gateway, "What is the capital of France?");
//       REQUIRE(answer);
//       CHECK(Json::parse(answer->body)["choices"][0]["message"]["content"] == "Paris.");
//       CHECK(gateway.journal().last().chat().last_user_text() == "What is the capital of France?");
//
//       gateway.fail_next(rate_limited(2s));  // the next request gets 429 with Retry-After: 2
//       CHECK(ask(gateway, "And of Italy?")->status == 429);
//       CHECK(gateway.verify());  // everything went as scripted
//       CHECK(gateway.review());  // and the client did nothing wrong
//     }
//
// Order of the declarations: Gateway, stubs, matchers, replies and faults; journal, verify() and review(); keys,
// options and rarely used parts. Setters throw GatewayError for invalid arguments.
//
// Including this file only declares the interface. Exactly one .cpp file of the program defines
// MOCK_GATEWAY_IMPLEMENTATION before the include, and compiles the library:
//
//     #define MOCK_GATEWAY_IMPLEMENTATION
//     #include "mock_gateway.hpp"
//
// Limits: plain HTTP only; listens on loopback by default. MSVC needs /bigobj.

// All public parts, most important first. assemble.py refuses a part that is only included indirectly.
// clang-format off
#include "core/version.hpp"
#include "core/json.hpp"
#include "core/source_location.hpp"
#include "core/duration.hpp"
#include "core/shared.hpp"
#include "core/forward.hpp"
#include "core/implementation.hpp"
#include "gateway/gateway.hpp"
#include "gateway/chat_script.hpp"
#include "script/matchers.hpp"
#include "script/matcher.hpp"
#include "model/range.hpp"
#include "model/reply.hpp"
#include "model/failure.hpp"
#include "model/fault.hpp"
#include "model/hold.hpp"
#include "model/pace.hpp"
#include "model/sse_dialect.hpp"
#include "model/writes.hpp"
#include "model/http_reply.hpp"
#include "model/connection_fault.hpp"
#include "core/clock.hpp"
#include "evidence/journal.hpp"
#include "model/sent_answer.hpp"
#include "model/received_request.hpp"
#include "evidence/verification.hpp"
#include "script/near_miss.hpp"
#include "core/wait.hpp"
#include "evidence/review.hpp"
#include "model/finding.hpp"
#include "keys/keys.hpp"
#include "keys/api_key.hpp"
#include "gateway/options.hpp"
#include "model/profile.hpp"
#include "model/acceptance.hpp"
#include "request/chat_request.hpp"
#include "model/tokenizer.hpp"
#include "script/scope.hpp"
#include "script/failure_scope.hpp"
#include "model/operation.hpp"
#include "script/chaos.hpp"
#include "gateway/sweep.hpp"
#include "gateway/catalogue.hpp"
#include "gateway/mishaps.hpp"
#include "document/scenario_files.hpp"
#include "document/script_document.hpp"
#include "evidence/evidence_json.hpp"
#include "core/error.hpp"
// clang-format on

// In the assembled header each adapter has its own guard, so that it can be enabled after a first include.
#ifdef MOCK_GATEWAY_ADAPTER_CATCH2
#include "adapters/catch2.hpp"
#endif
#ifdef MOCK_GATEWAY_ADAPTER_DOCTEST
#include "adapters/doctest.hpp"
#endif
#ifdef MOCK_GATEWAY_ADAPTER_GTEST
#include "adapters/gtest.hpp"
#endif
