// Public names before they are defined, since a reader meets the types in the order of their weight; the type of
// functions that make replies.

#pragma once

#include <functional>

#include "version.hpp"

namespace mock_gateway {

namespace wire {

struct Header;
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

/// Makes a reply from the request. It runs on the connection's thread, for several requests at one time on several
/// threads. What it throws becomes a 500 on the wire and a problem that verify() reports.
using ReplyFunction = std::function<Reply(const ChatRequest&)>;

}  // namespace mock_gateway
