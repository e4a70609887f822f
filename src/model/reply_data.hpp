// The fields of a reply and their defaults.

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
  /// JSON text, unless deliberately malformed.
  std::string arguments;
  std::string id = {};  // empty: generated
  bool custom = false;  // call of a custom tool: the arguments are its input, which is any text
};

struct ExtraChunk {
  std::size_t number;  // counted from 1
  Json patch;
};

struct ScriptedChoice {
  std::optional<std::string> text;
  std::string thinking;
  std::optional<std::string> refusal;
  std::vector<ScriptedToolCall> tool_calls;
  std::vector<TokenLogprob> logprobs;        // for the first tokens of text and refusal
  std::optional<std::string> finish_reason;  // empty: derived from the content
};

struct RawReply {
  int status = 200;
  std::string body;
  std::string content_type;
};

/// A completion, unless one of `failure`, `raw` and `chunks` is set.
struct ReplyData {
  /// At least one in a completion. If the request's `n` is larger, the choices repeat in order.
  std::vector<ScriptedChoice> choices;
  std::optional<Failure> failure;
  std::optional<RawReply> raw;
  std::optional<std::vector<StreamChunk>> chunks;
  std::string model;  // empty: the requested one
  bool verbatim = false;
  std::optional<TokenUsage> usage;
  std::optional<std::string> usage_json;  // replaces `usage`; sent unchanged
  std::vector<Json> extra;                // merge patches for the body or each chunk, in order
  std::vector<Json> extra_message;        // merge patches for each choice's message, in order
  std::vector<ExtraChunk> extra_chunks;   // in order, applied after `extra`
  bool interleaved = false;
  bool finish_in_last_chunk = false;
  std::string early_hints;  // a whole interim response; empty: none
  Pace pace;
  std::vector<Fault> faults;
  std::vector<Hold> holds;
  SseDialect sse;
  Writes writes;
  std::size_t http_chunk = 0;        // the maximum size of HTTP chunks of a stream; 0: one per event
  std::size_t first_http_chunk = 0;  // the first of two chunks, both sent at the end; set by sweeps
  wire::Headers headers;
  bool survives_half_close = false;
  bool templated = false;  // its texts have placeholders
  bool traced = false;     // all sent bytes are kept
  bool swept = false;      // belongs to a sweep, which itself reports faults not reached

  static const ReplyData& moved_from() { refuse_moved_from("Reply"); }
};

}  // namespace mock_gateway::detail
