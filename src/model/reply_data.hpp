// The fields of a reply, and what they are when nothing is set.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "checks.hpp"
#include "failure.hpp"
#include "fault.hpp"
#include "hold.hpp"
#include "pace.hpp"
#include "received_request.hpp"
#include "reply.hpp"
#include "sse_dialect.hpp"
#include "writes.hpp"

namespace mock_gateway::detail {

struct ScriptedToolCall {
  std::string name;
  /// JSON text, unless it is malformed on purpose.
  std::string arguments;
  std::string id = {};  // empty: made up
  bool custom = false;  // of a custom tool: the arguments are its input, which is any text
};

/// Fields that are merged into one chunk of a stream.
struct ExtraChunk {
  std::size_t number;  // counted from 1
  Json patch;
};

struct ScriptedChoice {
  std::optional<std::string> text;
  std::string thinking;
  std::optional<std::string> refusal;
  std::vector<ScriptedToolCall> tool_calls;
  std::vector<TokenLogprob> logprobs;        // of the first tokens of text and refusal
  std::optional<std::string> finish_reason;  // nothing: what follows from the content
};

/// What is sent in place of a completion.
struct RawReply {
  int status = 200;
  std::string body;
  std::string content_type;
};

/// A completion, unless `failure`, `raw` or `chunks` is set; at most one of them is.
struct ReplyData {
  /// At least one of a completion. A request's `n` beyond their number repeats them in order.
  std::vector<ScriptedChoice> choices;
  std::optional<Failure> failure;
  std::optional<RawReply> raw;
  std::optional<std::vector<StreamChunk>> chunks;
  std::string model;  // empty: the requested one
  bool verbatim = false;
  std::optional<TokenUsage> usage;
  std::optional<std::string> usage_json;  // in place of usage, as it is sent
  std::vector<Json> extra;                // merge patches of the body or each chunk, in order
  std::vector<Json> extra_message;        // merge patches of each choice's message, in order
  std::vector<ExtraChunk> extra_chunks;   // in order, after those
  bool interleaved = false;
  bool finish_in_last_chunk = false;
  std::string early_hints;  // a whole interim response; empty: none
  Pace pace;
  std::vector<Fault> faults;
  std::vector<Hold> holds;
  SseDialect sse;
  Writes writes;
  wire::Headers headers;
  bool templated = false;  // its texts have places that the request fills
  bool traced = false;     // all that leaves is kept
  bool swept = false;      // it belongs to a sweep, which itself tells of a fault that was not reached

  static const ReplyData& moved_from() { refuse_moved_from("Reply"); }
};

}  // namespace mock_gateway::detail
