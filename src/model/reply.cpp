// The scripted reply: setters, holds, `text()`, `tool_call()`, `chunks()`, `raw_reply()`, and the limits of their
// arguments.

#include "reply.hpp"

#include <limits>
#include <string_view>
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "checks.hpp"
#include "connection_fault.hpp"
#include "reply_checks.hpp"
#include "reply_data.hpp"

namespace mock_gateway {
namespace detail {

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
    throw GatewayError("raw_reply: status " + std::to_string(status) +
                       " is not a final status; give one from 200 to 599");
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
  return detail::with(*this, &TokenUsage::total_, detail::reply_check::checked_count(tokens, "total_tokens"));
}

TokenUsage TokenUsage::reasoning(std::int64_t tokens) const {
  return detail::with(*this, &TokenUsage::reasoning_, detail::reply_check::checked_count(tokens, "reasoning_tokens"));
}

TokenUsage TokenUsage::cached(std::int64_t tokens) const {
  return detail::with(*this, &TokenUsage::cached_, detail::reply_check::checked_count(tokens, "cached_tokens"));
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
                       ": a pair of braces is missing, or json_chunk(json) is meant");
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
  if (bytes.empty()) throw GatewayError("raw_bytes needs at least one byte: an empty HTTP chunk would end the body");
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
          "event needs at least one line, no empty line, and only \"\\n\" between lines: event(\"id: 7\"); the gateway "
          "adds the dialect's line_end and the blank line");
    }
    if (line.substr(0, line.find(':')) == "data")
      throw GatewayError(
          "event is for an event without data; use json_chunk(json) for one with data, or raw_bytes(…) for any bytes");
    start += line.size() + 1;
  }
  return chunk;
}

StreamChunk StreamChunk::at(Duration time) const {
  static_cast<void>(detail::pace_nanoseconds(time, "the time of a chunk"));
  return detail::with(*this, &StreamChunk::time_, time);
}

Reply::Reply(detail::ReplyData data) : data_(std::move(data)) {}

detail::ReplyData& Reply::edit() { return data_.own(); }

Reply::Reply(const char* text) : data_(detail::ReplyData{}) {
  if (text == nullptr) throw GatewayError("a reply's text is a null pointer");
  edit().choices.emplace_back().text = detail::require_utf8(text, "text of a reply");
}

Reply::Reply(std::string text) : data_(detail::ReplyData{}) {
  edit().choices.emplace_back().text = detail::require_utf8(std::move(text), "text of a reply");
}

Reply::Reply(const Failure& failure) : data_(detail::ReplyData{}) { edit().failure = failure; }

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
  if (!choice.text) {
    choice.text = std::move(addition);
  } else {
    *choice.text += addition;
  }
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
  return detail::with(detail::reply_check::completion(*this, "interleaved tool calls"), &detail::ReplyData::interleaved,
                      true);
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
  return detail::with(detail::reply_check::completion(*this, "finish_reason in its last chunk"),
                      &detail::ReplyData::finish_in_last_chunk, true);
}

Reply Reply::usage(std::int64_t prompt_tokens, std::int64_t completion_tokens) const {
  return usage(TokenUsage(prompt_tokens, completion_tokens));
}

Reply Reply::usage(TokenUsage usage) const {
  Reply changed = detail::reply_check::completion(*this, "usage");
  changed.edit().usage = usage;
  changed.edit().usage_json.reset();
  return changed;
}

Reply Reply::with_usage_json(const Json& json) const {
  Reply changed = detail::reply_check::completion(*this, "usage");
  changed.edit().usage.reset();
  changed.edit().usage_json = detail::reply_check::json_text_of(json, "the usage of a reply");
  return changed;
}

Reply Reply::extra(const Json& patch) const {
  Reply changed = detail::reply_check::completion(*this, "extra fields");
  changed.edit().extra.push_back(detail::reply_check::checked_patch(patch, "extra"));
  return changed;
}

Reply Reply::extra_message(const Json& patch) const {
  Reply changed = detail::reply_check::completion(*this, "extra fields");
  changed.edit().extra_message.push_back(detail::reply_check::checked_patch(patch, "extra_message"));
  return changed;
}

Reply Reply::extra_chunk(std::size_t number, const Json& patch) const {
  Reply changed = detail::reply_check::completion(*this, "extra fields");
  if (number == 0) throw GatewayError("extra_chunk counts from 1: the first chunk is the one with the role");
  changed.edit().extra_chunks.push_back({number, detail::reply_check::checked_patch(patch, "extra_chunk")});
  return changed;
}

Reply Reply::chunk(StreamChunk chunk) const {
  Reply changed = *this;
  if (!data_->chunks)
    throw GatewayError("a chunk can only be added to chunks({…}); this reply is made of something else");
  changed.edit().chunks->push_back(std::move(chunk));
  return changed;
}

Reply Reply::model(std::string id) const {
  return detail::with(detail::reply_check::completion(*this, "model"), &detail::ReplyData::model,
                      detail::require_utf8(std::move(id), "model of a reply"));
}

Reply Reply::templated() const {
  if (!data_->raw) detail::reply_check::completion(*this, "template");
  detail::require_template(*data_);
  return detail::with(*this, &detail::ReplyData::templated, true);
}

Reply Reply::verbatim() const {
  return detail::with(detail::reply_check::completion(*this, "verbatim text"), &detail::ReplyData::verbatim, true);
}

Reply Reply::header(std::string name, std::string value) const {
  Reply changed = *this;
  detail::require_header_field(name, value);
  if (changed.edit().failure) {
    changed.edit().failure = changed.edit().failure->header(std::move(name), std::move(value));
  } else {
    changed.edit().headers.set(std::move(name), std::move(value));
  }
  return changed;
}

Reply Reply::add_header(std::string name, std::string value) const {
  Reply changed = *this;
  detail::require_header_field(name, value);
  if (changed.edit().failure) {
    changed.edit().failure = changed.edit().failure->add_header(std::move(name), std::move(value));
  } else {
    changed.edit().headers.add(std::move(name), std::move(value));
  }
  return changed;
}

Reply Reply::early_hints(const wire::Headers& fields) const {
  return detail::with(*this, &detail::ReplyData::early_hints, mock_gateway::early_hints(fields).bytes());
}

Reply Reply::every(Timing gap) const { return pace(Pace().every(std::move(gap))); }

Reply Reply::first_token_after(Timing delay) const { return pace(Pace().first_token_after(std::move(delay))); }

Reply Reply::tokens_per_second(Rate rate) const { return pace(Pace().tokens_per_second(std::move(rate))); }

Reply Reply::chunked(Chunking chunking) const { return pace(Pace().chunked(std::move(chunking))); }

Reply Reply::pace(const Pace& pace) const {
  detail::reply_check::require_paceable(*data_, pace);
  return detail::with(*this, &detail::ReplyData::pace, pace.or_else(data_->pace));
}

Reply Reply::fault(Trigger trigger, Effect effect) const {
  Reply changed = *this;
  detail::reply_check::require_possible(*data_, trigger, effect);
  changed.edit().faults.push_back(Fault{std::move(trigger), std::move(effect)});
  return changed;
}

Reply Reply::hold(Gate gate, HoldPoint place) const {
  Reply changed = *this;
  if (data_->failure) throw GatewayError("a failure has no events or tokens, so it cannot be held");
  if (data_->raw && place.kind() == HoldPoint::Kind::token)
    throw GatewayError("a raw reply has no tokens; before_event(1) holds all of it");
  changed.edit().holds.push_back(Hold{std::move(gate), place});
  return changed;
}

Reply Reply::sse(SseDialect dialect) const {
  if (data_->failure) throw GatewayError("a failure has no events to write in a dialect; it is always JSON");
  if (data_->raw) throw GatewayError("a raw reply has no events to write in a dialect; its body is sent unchanged");
  detail::require_dialect(dialect);
  detail::require_header_field("Content-Type", dialect.content_type());
  return detail::with(*this, &detail::ReplyData::sse, std::move(dialect));
}

Reply Reply::survives_half_close() const { return detail::with(*this, &detail::ReplyData::survives_half_close, true); }

Reply Reply::write_each_event() const {
  return detail::with(*this, &detail::ReplyData::writes, Writes{Writes::Kind::each_event, 0});
}

Reply Reply::slice_writes(std::size_t bytes) const {
  if (bytes == 0) throw GatewayError("slice_writes needs at least 1 byte per write");
  return detail::with(*this, &detail::ReplyData::writes, Writes{Writes::Kind::sliced, bytes});
}

Reply Reply::one_write() const {
  return detail::with(*this, &detail::ReplyData::writes, Writes{Writes::Kind::together, 0});
}

Reply Reply::split_write(std::size_t byte) const {
  if (byte == 0) throw GatewayError("split_write counts from 1: its first write has at least one byte");
  return detail::with(*this, &detail::ReplyData::writes, Writes{Writes::Kind::split, byte});
}

Reply Reply::http_chunks_of(std::size_t bytes) const {
  if (bytes == 0) throw GatewayError("http_chunks_of needs at least 1 byte per chunk; an empty chunk ends the body");
  if (data_->failure || data_->raw)
    throw GatewayError(std::string(data_->failure ? "a failure" : "a raw reply") +
                       " is never streamed, so it has no HTTP chunks; chunks(…) is a stream");
  return detail::with(*this, &detail::ReplyData::http_chunk, bytes);
}

std::string HoldPoint::to_string() const {
  return (kind_ == Kind::event ? "before event " : "before token ") + std::to_string(number_);
}

HoldPoint before_event(std::size_t number) {
  return detail::Access::make<HoldPoint>(HoldPoint::Kind::event,
                                         detail::counted_from_one(number, "before_event", "events"));
}

HoldPoint before_token(std::size_t number) {
  return detail::Access::make<HoldPoint>(HoldPoint::Kind::token,
                                         detail::counted_from_one(number, "before_token", "tokens"));
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

StreamChunk json_chunk(const Json& json) { return StreamChunk::of_json(json); }

StreamChunk raw_bytes(std::string bytes) { return StreamChunk::of_bytes(std::move(bytes)); }

StreamChunk event(std::string lines) { return StreamChunk::of_fields(std::move(lines)); }

Reply raw_reply(int status, const Json& body, std::string content_type) {
  return detail::make_raw_reply(status, detail::reply_check::json_text_of(body, "the body of a raw reply"),
                                std::move(content_type));
}

}  // namespace mock_gateway
