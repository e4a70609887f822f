#include "reply.hpp"

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/text.hpp"
#include "checks.hpp"
#include "connection_fault.hpp"
#include "reply_data.hpp"

namespace mock_gateway {
namespace detail {
namespace reply_check {

/// Throws GatewayError for a reply that is no completion; `what` is what it cannot carry.
void require_completion(const ReplyData& data, const char* what);
/// The choice that a setter adds to: the last. Throws GatewayError for a reply that has none.
ScriptedChoice& last_choice(ReplyData& data, const char* setter);
/// Compact JSON, or GatewayError; `what` names it.
std::string json_text_of(const Json& value, const std::string& what);
/// The arguments of a scripted call as JSON text, or GatewayError.
std::string arguments_text(const std::string& name, const Json& arguments);
/// A merge patch, or GatewayError.
const Json& checked_patch(const Json& patch, const char* setter);
double checked_logprob(double logprob);
std::int64_t checked_count(std::int64_t tokens, const char* what);
/// Throws GatewayError for a fault that can never happen.
void require_possible(const ReplyData& data, const Trigger& trigger, const Effect& effect);
void require_countable(const Trigger& trigger);
/// Empty when the trigger, or the effect at such a trigger, may come.
std::string why_trigger_never_comes(const ReplyData& data, Trigger::Kind kind, std::size_t count);
std::string why_effect_never_comes(const ReplyData& data, Trigger::Kind kind, const Effect& effect);
/// Throws GatewayError when the reply has nothing that comes at this pace.
void require_paceable(const ReplyData& data, const Pace& pace);
/// Throws GatewayError for what cannot be one of several choices.
void require_part(const ReplyData& part);
/// Whether the data of an event would reach a client's user.
bool says_something(const Json& event);

void require_completion(const ReplyData& data, const char* what) {
  if (data.failure) {
    throw GatewayError(std::string("a failure carries no ") + what + "; its body is set with Failure::body");
  }
  if (data.raw) {
    throw GatewayError(std::string("a raw reply carries no ") + what + "; its body is sent as it is: write it there");
  }
  if (data.chunks) {
    throw GatewayError(std::string("chunks carry no ") + what + "; they are sent as they are: write it into them");
  }
}

ScriptedChoice& last_choice(ReplyData& data, const char* setter) {
  require_completion(data, setter);
  if (data.choices.empty()) data.choices.emplace_back();
  return data.choices.back();
}

std::string json_text_of(const Json& value, const std::string& what) {
  try {
    return value.dump();
  } catch (const Json::exception& error) {
    throw GatewayError(what + " cannot be written as JSON: " + error.what());
  }
}

std::string arguments_text(const std::string& name, const Json& arguments) {
  if (arguments.is_null()) return "{}";  // what `{}` converts to
  if (!arguments.is_object()) {
    throw GatewayError("the arguments of tool call \"" + name +
                       "\" must be a JSON object such as {{\"city\", \"Paris\"}}," + " not " + arguments.type_name());
  }
  return json_text_of(arguments, "the arguments of tool call \"" + name + "\"");
}

const Json& checked_patch(const Json& patch, const char* setter) {
  if (!patch.is_object()) {
    throw GatewayError(std::string(setter) +
                       " merges the fields of a JSON object such as {{\"service_tier\", \"flex\"}}," + " not " +
                       patch.type_name());
  }
  json_text_of(patch, std::string("what ") + setter + " merges");
  return patch;
}

double checked_logprob(double logprob) {
  if (!std::isfinite(logprob) || logprob > 0) {
    throw GatewayError(
        "a logprob is the natural logarithm of a probability, finite and at most 0: 90 % is -0.105, not " +
        std::to_string(logprob));
  }
  return logprob;
}

std::int64_t checked_count(std::int64_t tokens, const char* what) {
  if (tokens < 0) {
    throw GatewayError(std::string(what) + " of a usage must not be negative, but is " + std::to_string(tokens) +
                       "; extra({{\"usage\", …}}) sends whatever it holds");
  }
  return tokens;
}

void require_countable(const Trigger& trigger) {
  switch (trigger.kind()) {
    case Trigger::Kind::before_headers:
    case Trigger::Kind::after_headers:
    case Trigger::Kind::before_done:
    case Trigger::Kind::at_end: return;
    case Trigger::Kind::inside_event:
      if (trigger.byte() == 0) throw GatewayError("bytes of a trigger count from 1");
      break;
    case Trigger::Kind::after_events:
    case Trigger::Kind::after_tokens:
    case Trigger::Kind::after_bytes:
    case Trigger::Kind::inside_character: break;
  }
  if (trigger.count() == 0) throw GatewayError("events, tokens and bytes of a trigger count from 1");
}

std::string why_trigger_never_comes(const ReplyData& data, Trigger::Kind kind, std::size_t count) {
  if (!data.failure && !data.raw) return "";
  const std::string reply = data.failure ? "a failure" : "a raw reply";
  switch (kind) {
    case Trigger::Kind::before_headers:
    case Trigger::Kind::after_headers:
    case Trigger::Kind::at_end: return "";
    case Trigger::Kind::after_bytes: {
      const int status = data.failure ? data.failure->status() : data.raw->status;
      if (status == 204 || status == 304) return reply + " of status " + std::to_string(status) + " has no body";
      const std::string* const body = data.raw                   ? &data.raw->body
                                      : data.failure->raw_body() ? &*data.failure->raw_body()
                                                                 : nullptr;
      if (!body || count <= body->size()) return "";
      return "the body has " + text::counted(body->size(), "byte");
    }
    // Neither is ever streamed, not even to a request that asked for a stream.
    case Trigger::Kind::after_events:
    case Trigger::Kind::after_tokens:
    case Trigger::Kind::inside_event:
    case Trigger::Kind::inside_character:
    case Trigger::Kind::before_done: return reply + " has no events";
  }
  return "";
}

std::string why_effect_never_comes(const ReplyData& data, Trigger::Kind kind, const Effect& effect) {
  const bool never_streamed = data.failure || data.raw;
  switch (effect.kind()) {
    case Effect::Kind::close_connection:
    case Effect::Kind::reset_connection:
    case Effect::Kind::half_close:
    case Effect::Kind::stall:
    case Effect::Kind::garbage: return "";
    case Effect::Kind::truncate:
      if (kind == Trigger::Kind::before_headers) return "no body has begun; use close_connection()";
      if (data.raw && data.raw->body.empty()) return "the raw reply has no body; use close_connection()";
      if (never_streamed && kind == Trigger::Kind::at_end)
        return "nothing of the body is left then; use after_bytes or after_headers";
      return "";
    case Effect::Kind::wrong_content_length: {
      if (kind != Trigger::Kind::before_headers) return "the Content-Length stands in the head; use before_headers()";
      if (data.chunks) return "chunks are always streamed, without a Content-Length";
      if (data.headers.has("Content-Length"))
        return "the reply has a Content-Length of its own, which is sent as it is";
      const int status = data.failure ? data.failure->status() : data.raw ? data.raw->status : 200;
      if (status == 204 || status == 304) return "status " + std::to_string(status) + " has no Content-Length here";
      return "";
    }
    case Effect::Kind::error_event:
    case Effect::Kind::skip_event:
    case Effect::Kind::duplicate_event: break;
  }
  if (never_streamed) return std::string(data.failure ? "a failure" : "a raw reply") + " has no events";
  switch (kind) {
    case Trigger::Kind::before_headers: return "no stream has begun; use after_headers()";
    case Trigger::Kind::after_bytes:
    case Trigger::Kind::inside_event:
    case Trigger::Kind::inside_character:
      return "an event does not stand inside another; use after_events or after_tokens";
    case Trigger::Kind::at_end: return "no event comes then; use before_done()";
    case Trigger::Kind::after_headers:
    case Trigger::Kind::after_events:
    case Trigger::Kind::after_tokens:
    case Trigger::Kind::before_done: break;
  }
  return "";
}

void require_possible(const ReplyData& data, const Trigger& trigger, const Effect& effect) {
  require_countable(trigger);
  if (effect.duration() && *effect.duration() <= Duration::zero()) {
    throw GatewayError("stall needs a positive duration; without one it lasts until the client leaves");
  }
  if (const std::string why = why_trigger_never_comes(data, trigger.kind(), trigger.count()); !why.empty()) {
    throw GatewayError(why + ", so \"" + trigger.to_string() +
                       "\" never comes; use before_headers, after_headers, after_bytes or at_end");
  }
  if (const std::string why = why_effect_never_comes(data, trigger.kind(), effect); !why.empty())
    throw GatewayError("\"" + effect.to_string() + " " + trigger.to_string() + "\" can never happen: " + why);
}

void require_paceable(const ReplyData& data, const Pace& pace) {
  if ((data.raw || data.failure) && (pace.gap() || pace.rate()))
    throw GatewayError(std::string(data.failure ? "a failure" : "a raw reply") +
                       " leaves in one piece; first_token_after delays it");
  if (!pace.chunking()) return;
  if (data.failure || data.raw)
    throw GatewayError(std::string(data.failure ? "a failure" : "a raw reply") + " leaves in one piece");
  if (data.chunks) throw GatewayError("chunks are cut already: each element is one event");
}

void require_part(const ReplyData& part) {
  if (part.failure || part.raw || part.chunks) {
    const char* const kind = part.failure ? "a failure" : part.raw ? "a raw reply" : "a list of chunks";
    throw GatewayError(std::string(kind) + " cannot be one of several choices; it is a reply of its own");
  }
  const bool written_otherwise =
      !same_dialect(part.sse, SseDialect()) || part.writes.kind != Writes::Kind::due_together;
  if (part.pace.sets_anything() || !part.faults.empty() || !part.holds.empty() || !part.model.empty() ||
      part.verbatim || part.usage || part.usage_json || !part.extra.empty() || !part.extra_message.empty() ||
      !part.extra_chunks.empty() || part.interleaved || part.finish_in_last_chunk || !part.headers.empty() ||
      !part.early_hints.empty() || written_otherwise) {
    throw GatewayError(
        "a choice carries content, logprobs and finish_reason only; set pace, faults, holds, model, usage, extra "
        "fields, verbatim, headers, early hints, dialect, writes and the order of deltas on the whole: "
        "choices(…).every(…)");
  }
}

bool says_something(const Json& event) {
  const auto member = [](const Json& object, const char* name) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    return found == object.end() ? Json() : *found;
  };
  const auto is_text = [](const Json& value) {
    return value.is_string() && !value.get_ref<const std::string&>().empty();
  };
  for (const Json& choice : member(event, "choices")) {
    const Json delta = member(choice, "delta");
    for (const char* const name : {"content", "reasoning_content", "refusal"})
      if (is_text(member(delta, name))) return true;
    for (const Json& call : member(delta, "tool_calls")) {
      if (is_text(member(member(call, "function"), "arguments"))) return true;
      if (is_text(member(member(call, "custom"), "input"))) return true;
    }
  }
  return false;
}

}  // namespace reply_check

std::string why_never(const ReplyData& data, const Trigger& trigger, const Effect& effect) {
  const std::string why = reply_check::why_trigger_never_comes(data, trigger.kind(), trigger.count());
  return why.empty() ? reply_check::why_effect_never_comes(data, trigger.kind(), effect) : why;
}

Reply join_choices(const std::vector<Reply>& replies) {
  ReplyData joined;
  for (const Reply& reply : replies) {
    const ReplyData& part = Access::data(reply);
    reply_check::require_part(part);
    joined.choices.insert(joined.choices.end(), part.choices.begin(), part.choices.end());
  }
  return Reply(std::move(joined));
}

Reply make_raw_reply(int status, std::string body, std::string content_type) {
  if (status < 200 || status > 599) {
    throw GatewayError("raw_reply: status " + std::to_string(status) + " is no final status; give one from 200 to 599");
  }
  if ((status == 204 || status == 304) && !body.empty()) {
    throw GatewayError("raw_reply: a reply of status " + std::to_string(status) +
                       " has no body (RFC 9110, 6.4.1); leave it empty or give another status");
  }
  require_header_field("Content-Type", content_type);
  ReplyData data;
  data.raw = RawReply{status, std::move(body), std::move(content_type)};
  return Reply(std::move(data));
}

}  // namespace detail

TokenLogprob::TokenLogprob(double logprob) : logprob_(detail::reply_check::checked_logprob(logprob)) {}

TokenLogprob::TokenLogprob(double logprob, std::vector<TopLogprob> top)
    : logprob_(detail::reply_check::checked_logprob(logprob)), top_(std::move(top)) {
  for (TopLogprob& alternative : *top_) {
    alternative.token = detail::require_utf8(std::move(alternative.token), "token of a logprob");
    detail::reply_check::checked_logprob(alternative.logprob);
  }
}

TokenUsage::TokenUsage(std::int64_t prompt_tokens, std::int64_t completion_tokens)
    : prompt_(detail::reply_check::checked_count(prompt_tokens, "prompt_tokens")),
      completion_(detail::reply_check::checked_count(completion_tokens, "completion_tokens")) {}

TokenUsage TokenUsage::total(std::int64_t tokens) const {
  TokenUsage changed = *this;
  changed.total_ = detail::reply_check::checked_count(tokens, "total_tokens");
  return changed;
}

TokenUsage TokenUsage::reasoning(std::int64_t tokens) const {
  TokenUsage changed = *this;
  changed.reasoning_ = detail::reply_check::checked_count(tokens, "reasoning_tokens");
  return changed;
}

TokenUsage TokenUsage::cached(std::int64_t tokens) const {
  TokenUsage changed = *this;
  changed.cached_ = detail::reply_check::checked_count(tokens, "cached_tokens");
  return changed;
}

std::int64_t TokenUsage::total_tokens() const {
  if (total_) return *total_;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return prompt_ > most - completion_ ? most : prompt_ + completion_;
}

StreamChunk::StreamChunk(Json::initializer_list_t fields) {
  const Json json(fields);
  if (!json.is_object()) {
    throw GatewayError("a chunk in braces is an object, {{\"choices\", Json::array()}}, but this is " + json.dump() +
                       ": a pair of braces is missing, or chunk(json) is meant");
  }
  *this = of_json(json);
}

StreamChunk StreamChunk::of_json(const Json& json) {
  StreamChunk chunk;
  chunk.bytes_ = detail::reply_check::json_text_of(json, "a chunk");
  chunk.token_ = detail::reply_check::says_something(json);
  return chunk;
}

StreamChunk StreamChunk::of_bytes(std::string bytes) {
  if (bytes.empty()) throw GatewayError("raw_bytes needs at least one byte: an HTTP chunk of none would end the body");
  StreamChunk chunk;
  chunk.bytes_ = std::move(bytes);
  chunk.raw_ = true;
  return chunk;
}

StreamChunk StreamChunk::of_fields(std::string lines) {
  StreamChunk chunk;
  chunk.meta_ = true;
  chunk.bytes_ = detail::require_utf8(std::move(lines), "text of an event without data");
  const std::string rest = chunk.bytes_ + '\n';
  for (std::size_t start = 0; start < rest.size();) {
    const std::string line = rest.substr(start, rest.find('\n', start) - start);
    if (line.empty() || line.find('\r') != std::string::npos) {
      throw GatewayError(
          "event needs a line, none that is empty, and separates them by \"\\n\" alone: event(\"id: 7\"); the "
          "dialect's line_end and the blank line are written for it");
    }
    if (line.substr(0, line.find(':')) == "data")
      throw GatewayError("event is one without data; chunk(json) writes one with data, and raw_bytes(…) any bytes");
    start += line.size() + 1;
  }
  return chunk;
}

Reply::Reply(detail::ReplyData data) : data_(std::make_shared<detail::ReplyData>(std::move(data))) {}

detail::ReplyData& Reply::edit() { return detail::own(data_); }

Reply::Reply(const char* text) {
  if (text == nullptr) throw GatewayError("a reply's text is a null pointer");
  edit().choices.emplace_back().text = detail::require_utf8(text, "text of a reply");
}

Reply::Reply(std::string text) {
  edit().choices.emplace_back().text = detail::require_utf8(std::move(text), "text of a reply");
}

Reply::Reply(const Failure& failure) { edit().failure = failure; }

Reply Reply::thinking(std::string text) const {
  Reply changed = *this;
  detail::reply_check::last_choice(changed.edit(), "thinking").thinking +=
      detail::require_utf8(std::move(text), "thinking of a reply");
  return changed;
}

Reply Reply::text(std::string text) const {
  Reply changed = *this;
  detail::ScriptedChoice& choice = detail::reply_check::last_choice(changed.edit(), "text");
  std::string addition = detail::require_utf8(std::move(text), "text of a reply");
  choice.text = choice.text ? *choice.text + addition : std::move(addition);
  return changed;
}

Reply Reply::tool_call(std::string name, const Json& arguments, std::string id) const {
  std::string json = detail::reply_check::arguments_text(name, arguments);
  return malformed_tool_call(std::move(name), std::move(json), std::move(id));
}

Reply Reply::malformed_tool_call(std::string name, std::string arguments, std::string id) const {
  Reply changed = *this;
  detail::ScriptedChoice& choice = detail::reply_check::last_choice(changed.edit(), "tool call");
  choice.tool_calls.push_back({detail::require_utf8(std::move(name), "name of a tool call"),
                               detail::require_utf8(std::move(arguments), "text of a tool call's arguments"),
                               detail::require_utf8(std::move(id), "id of a tool call")});
  return changed;
}

Reply Reply::custom_tool_call(std::string name, std::string input, std::string id) const {
  Reply changed = malformed_tool_call(std::move(name), std::move(input), std::move(id));
  changed.edit().choices.back().tool_calls.back().custom = true;
  return changed;
}

Reply Reply::interleaved() const {
  detail::reply_check::require_completion(*data_, "interleaved tool calls");
  Reply changed = *this;
  changed.edit().interleaved = true;
  return changed;
}

Reply Reply::logprobs(std::vector<TokenLogprob> tokens) const {
  Reply changed = *this;
  detail::reply_check::last_choice(changed.edit(), "logprobs").logprobs = std::move(tokens);
  return changed;
}

Reply Reply::finish_reason(std::string reason) const {
  Reply changed = *this;
  detail::reply_check::last_choice(changed.edit(), "finish_reason");
  const std::string checked = detail::require_utf8(std::move(reason), "finish_reason of a reply");
  for (detail::ScriptedChoice& choice : changed.edit().choices) choice.finish_reason = checked;
  return changed;
}

Reply Reply::finish_in_last_chunk() const {
  detail::reply_check::require_completion(*data_, "finish_reason in its last chunk");
  Reply changed = *this;
  changed.edit().finish_in_last_chunk = true;
  return changed;
}

Reply Reply::usage(std::int64_t prompt_tokens, std::int64_t completion_tokens) const {
  return usage(TokenUsage(prompt_tokens, completion_tokens));
}

Reply Reply::usage(TokenUsage usage) const {
  detail::reply_check::require_completion(*data_, "usage");
  Reply changed = *this;
  changed.edit().usage = usage;
  changed.edit().usage_json.reset();
  return changed;
}

Reply Reply::with_usage_json(const Json& json) const {
  detail::reply_check::require_completion(*data_, "usage");
  Reply changed = *this;
  changed.edit().usage.reset();
  changed.edit().usage_json = detail::reply_check::json_text_of(json, "the usage of a reply");
  return changed;
}

Reply Reply::extra(const Json& patch) const {
  detail::reply_check::require_completion(*data_, "extra fields");
  Reply changed = *this;
  changed.edit().extra.push_back(detail::reply_check::checked_patch(patch, "extra"));
  return changed;
}

Reply Reply::extra_message(const Json& patch) const {
  detail::reply_check::require_completion(*data_, "extra fields");
  Reply changed = *this;
  changed.edit().extra_message.push_back(detail::reply_check::checked_patch(patch, "extra_message"));
  return changed;
}

Reply Reply::extra_chunk(std::size_t number, const Json& patch) const {
  detail::reply_check::require_completion(*data_, "extra fields");
  if (number == 0) throw GatewayError("extra_chunk counts from 1: the first chunk is the one with the role");
  Reply changed = *this;
  changed.edit().extra_chunks.push_back({number, detail::reply_check::checked_patch(patch, "extra_chunk")});
  return changed;
}

Reply Reply::chunk(StreamChunk chunk) const {
  if (!data_->chunks)
    throw GatewayError("a chunk can only be added to chunks({…}); this reply is made of something else");
  Reply changed = *this;
  changed.edit().chunks->push_back(std::move(chunk));
  return changed;
}

Reply Reply::model(std::string id) const {
  detail::reply_check::require_completion(*data_, "model");
  Reply changed = *this;
  changed.edit().model = detail::require_utf8(std::move(id), "model of a reply");
  return changed;
}

Reply Reply::verbatim() const {
  detail::reply_check::require_completion(*data_, "verbatim text");
  Reply changed = *this;
  changed.edit().verbatim = true;
  return changed;
}

Reply Reply::header(std::string name, std::string value) const {
  detail::require_header_field(name, value);
  Reply changed = *this;
  if (changed.edit().failure) {
    changed.edit().failure = changed.edit().failure->header(std::move(name), std::move(value));
  } else {
    changed.edit().headers.set(std::move(name), std::move(value));
  }
  return changed;
}

Reply Reply::add_header(std::string name, std::string value) const {
  detail::require_header_field(name, value);
  Reply changed = *this;
  if (changed.edit().failure) {
    changed.edit().failure = changed.edit().failure->add_header(std::move(name), std::move(value));
  } else {
    changed.edit().headers.add(std::move(name), std::move(value));
  }
  return changed;
}

Reply Reply::early_hints(const Headers& fields) const {
  Reply changed = *this;
  changed.edit().early_hints = mock_gateway::early_hints(fields).bytes();
  return changed;
}

Reply Reply::every(Timing gap) const { return pace(Pace().every(std::move(gap))); }

Reply Reply::first_token_after(Timing delay) const { return pace(Pace().first_token_after(std::move(delay))); }

Reply Reply::tokens_per_second(Rate rate) const { return pace(Pace().tokens_per_second(std::move(rate))); }

Reply Reply::chunked(Chunking chunking) const { return pace(Pace().chunked(std::move(chunking))); }

Reply Reply::pace(const Pace& pace) const {
  detail::reply_check::require_paceable(*data_, pace);
  Reply changed = *this;
  changed.edit().pace = pace.or_else(data_->pace);
  return changed;
}

Reply Reply::fail(Trigger trigger, Effect effect) const {
  detail::reply_check::require_possible(*data_, trigger, effect);
  Reply changed = *this;
  changed.edit().faults.push_back(Fault{std::move(trigger), std::move(effect)});
  return changed;
}

Reply Reply::hold(Gate gate, Place place) const {
  if (place.number() == 0) throw GatewayError("events and tokens of a place count from 1");
  if (data_->failure) throw GatewayError("a failure has no events or tokens, so nothing of it can be held");
  if (data_->raw && place.kind() == Place::Kind::token)
    throw GatewayError("a raw reply has no tokens; before_event(1) holds it whole");
  Reply changed = *this;
  changed.edit().holds.push_back(Hold{std::move(gate), place});
  return changed;
}

Reply Reply::sse(SseDialect dialect) const {
  if (data_->failure) throw GatewayError("a failure has no events to write in a dialect; it is always JSON");
  if (data_->raw) throw GatewayError("a raw reply has no events to write in a dialect; its body is sent as it is");
  detail::require_dialect(dialect);
  detail::require_header_field("Content-Type", dialect.content_type);
  Reply changed = *this;
  changed.edit().sse = std::move(dialect);
  return changed;
}

Reply Reply::write_each_event() const {
  Reply changed = *this;
  changed.edit().writes = {Writes::Kind::each_event, 0};
  return changed;
}

Reply Reply::slice_writes(std::size_t bytes) const {
  if (bytes == 0) throw GatewayError("slice_writes needs at least 1 byte per write");
  Reply changed = *this;
  changed.edit().writes = {Writes::Kind::sliced, bytes};
  return changed;
}

Reply Reply::one_write() const {
  Reply changed = *this;
  changed.edit().writes = {Writes::Kind::together, 0};
  return changed;
}

Reply Reply::split_write(std::size_t byte) const {
  if (byte == 0) throw GatewayError("split_write counts from 1: its first write has at least one byte");
  Reply changed = *this;
  changed.edit().writes = {Writes::Kind::split, byte};
  return changed;
}

Reply text(std::string text) { return Reply(std::move(text)); }

Reply thinking(std::string text) {
  detail::ReplyData data;
  data.choices.emplace_back().thinking = detail::require_utf8(std::move(text), "thinking of a reply");
  return Reply(std::move(data));
}

Reply tool_call(std::string name, const Json& arguments, std::string id) {
  return Reply(detail::ReplyData{}).tool_call(std::move(name), arguments, std::move(id));
}

Reply malformed_tool_call(std::string name, std::string arguments, std::string id) {
  return Reply(detail::ReplyData{}).malformed_tool_call(std::move(name), std::move(arguments), std::move(id));
}

Reply custom_tool_call(std::string name, std::string input, std::string id) {
  return Reply(detail::ReplyData{}).custom_tool_call(std::move(name), std::move(input), std::move(id));
}

Reply refusal(std::string text) {
  detail::ReplyData data;
  data.choices.emplace_back().refusal = detail::require_utf8(std::move(text), "refusal of a reply");
  return Reply(std::move(data));
}

Reply json_text(const Json& value) { return Reply(detail::reply_check::json_text_of(value, "the value of json_text")); }

Reply chunks(std::vector<StreamChunk> elements) {
  detail::ReplyData data;
  data.chunks = std::move(elements);
  return Reply(std::move(data));
}

StreamChunk chunk(const Json& json) { return StreamChunk::of_json(json); }

StreamChunk raw_bytes(std::string bytes) { return StreamChunk::of_bytes(std::move(bytes)); }

StreamChunk event(std::string lines) { return StreamChunk::of_fields(std::move(lines)); }

Reply raw_reply(int status, const Json& body, std::string content_type) {
  return detail::make_raw_reply(status, detail::reply_check::json_text_of(body, "the body of a raw reply"),
                                std::move(content_type));
}

}  // namespace mock_gateway
