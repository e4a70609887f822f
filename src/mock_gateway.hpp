#pragma once

// mock_gateway: a test double of an OpenAI-compatible model gateway, in one header.
//
// Script what the gateway says, run the client against a real socket, verify what the client did.
//
// Known limits: plain http only; listens on loopback unless told otherwise; POSIX sockets; with
// MOCK_GATEWAY_HEADER_ONLY 1 every file that includes this header compiles cpp-httplib as well, which takes seconds.

#include "gateway/catalogue.hpp"
#include "gateway/gateway.hpp"
