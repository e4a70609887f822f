// Forward declarations of public types, because the header orders them by importance; the type of reply functions.

#pragma once

#include <functional>

#include "version.hpp"

namespace mock_gateway {

namespace wire {

class Headers;

}  // namespace wire

class Acceptance;
class Chaos;
struct ChatRequest;
class Chunking;
class Clock;
class ConnectionFault;
struct ConnectionHit;
class Effect;
class Exchange;
class Failure;
class FailureScope;
struct Finding;
class Gate;
class HoldPoint;
class HttpReply;
class Journal;
class KeyOptions;
class Keys;
class LoadedScript;
class Matcher;
struct NearMiss;
struct NothingMore;
class Options;
class Pace;
class Range;
class Rate;
struct ReceivedRequest;
class Reply;
class RequestScope;
class Review;
class ScopedStub;
struct SentAnswer;
class SseDialect;
class StreamChunk;
class Stub;
class StubBuilder;
class Sweep;
class SweepOptions;
class TextMatcher;
class Timing;
class TokenLogprob;
class TokenUsage;
class Trigger;
class Verification;
class Wait;

/// Makes a reply for a request. Runs on connections' threads, for several requests concurrently. An exception becomes a
/// 500 reply and a problem that verify() reports.
using ReplyFunction = std::function<Reply(const ChatRequest&)>;

}  // namespace mock_gateway
