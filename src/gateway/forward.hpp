#pragma once

#include "../core/version.hpp"

// The public types that a function takes or gives before they are defined.

namespace mock_gateway {

class Acceptance;
class Chaos;
class Clock;
class ConnectionFault;
struct ConnectionHit;
class Exchange;
class Failure;
class FailureScope;
class HttpReply;
class Journal;
class KeyOptions;
class Keys;
class LoadedScript;
class Options;
class Pace;
struct ReceivedRequest;
class Reply;
class RequestScope;
class Review;
class StubBuilder;
class Sweep;
class SweepOptions;
class Verification;

}  // namespace mock_gateway
