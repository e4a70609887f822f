// What a reply cannot carry, which faults can never happen in it, and the error texts about both.

#include "reply_checks.hpp"

#include <cmath>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/text.hpp"
#include "fault_rows.hpp"

namespace mock_gateway::detail {
namespace reply_check {

void require_completion(const ReplyData& data, const char* what) {
  if (data.failure) {
    throw GatewayError(std::string("a failure has no ") + what + "; set its body with Failure::body");
  }
  if (data.raw) {
    throw GatewayError(std::string("a raw reply has no ") + what + "; its body is sent unchanged: write it there");
  }
  if (data.chunks) {
    throw GatewayError(std::string("chunks have no ") + what + "; they are sent unchanged: write it into them");
  }
}

const Reply& completion(const Reply& reply, const char* what) {
  require_completion(Access::data(reply), what);
  return reply;
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
  if (arguments.is_null()) return "{}";  // Json converts `{}` to null
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
        text::number(logprob));
  }
  return logprob;
}

std::int64_t checked_count(std::int64_t tokens, const char* what) {
  if (tokens < 0) {
    throw GatewayError(std::string(what) + " of a usage must not be negative, but is " + std::to_string(tokens) +
                       "; extra({{\"usage\", …}}) sends any usage");
  }
  return tokens;
}

/// Returns why the trigger is never reached; empty if it may be.
std::string why_trigger_never_comes(const ReplyData& data, const Trigger& trigger) {
  if (!data.failure && !data.raw) return "";
  const std::string reply = data.failure ? "a failure" : "a raw reply";
  // Neither is ever streamed, even if the request asks for a stream.
  if (faults::row_of(trigger).reach == TriggerReach::streams) return reply + " has no events";
  if (trigger.kind() != Trigger::Kind::after_bytes) return "";
  const int status = data.failure ? data.failure->status() : data.raw->status;
  if (status == 204 || status == 304) return reply + " of status " + std::to_string(status) + " has no body";
  const std::string* const body = data.raw                   ? &data.raw->body
                                  : data.failure->raw_body() ? &*data.failure->raw_body()
                                                             : nullptr;
  if (!body || trigger.count() <= body->size()) return "";
  return "the body has " + text::counted(body->size(), "byte");
}

std::string why_never_truncated(const ReplyData& data, Trigger::Kind kind) {
  if (kind == Trigger::Kind::before_headers) return "the body has not begun; use close_connection()";
  if (data.raw && data.raw->body.empty()) return "the raw reply has no body; use close_connection()";
  if ((data.failure || data.raw) && kind == Trigger::Kind::at_end)
    return "nothing of the body is left at that place; use after_bytes or after_headers";
  return "";
}

std::string why_never_in_head(const ReplyData& data, Trigger::Kind kind) {
  if (kind != Trigger::Kind::before_headers) return "the Content-Length is in the head; use before_headers()";
  if (data.chunks) return "chunks are always streamed, without a Content-Length";
  if (data.headers.has("Content-Length")) return "the reply sets its own Content-Length, which is sent unchanged";
  const int status = data.failure ? data.failure->status() : data.raw ? data.raw->status : 200;
  if (status == 204 || status == 304) return "status " + std::to_string(status) + " has no Content-Length here";
  return "";
}

std::string why_effect_never_comes(const ReplyData& data, const Trigger& trigger, const Effect& effect) {
  if (effect.kind() == Effect::Kind::truncate) return why_never_truncated(data, trigger.kind());
  switch (faults::row_of(effect).place) {
    case EffectPlace::anywhere: return "";
    case EffectPlace::head: return why_never_in_head(data, trigger.kind());
    case EffectPlace::between_events:
    case EffectPlace::next_event: break;
  }
  if (data.failure || data.raw) return std::string(data.failure ? "a failure" : "a raw reply") + " has no events";
  return faults::row_of(trigger).no_event;
}

std::string triggers_of_any_reply() {
  std::string names;
  const char* last = nullptr;
  for (const TriggerRow& row : faults::trigger_rows()) {
    if (row.reach != TriggerReach::any_reply) continue;
    if (last) names += (names.empty() ? "" : ", ") + std::string(last);
    last = row.name;
  }
  return names + " or " + last;
}

void require_possible(const ReplyData& data, const Trigger& trigger, const Effect& effect) {
  if (const std::string why = why_trigger_never_comes(data, trigger); !why.empty())
    throw GatewayError(why + ", so \"" + trigger.to_string() + "\" never happens; use " + triggers_of_any_reply());
  if (const std::string why = why_effect_never_comes(data, trigger, effect); !why.empty())
    throw GatewayError("\"" + effect.to_string() + " " + trigger.to_string() + "\" can never happen: " + why);
}

void require_paceable(const ReplyData& data, const Pace& pace) {
  if ((data.raw || data.failure) && (pace.gap() || pace.rate()))
    throw GatewayError(std::string(data.failure ? "a failure" : "a raw reply") +
                       " is sent in one piece; first_token_after delays it");
  if (!pace.chunking()) return;
  if (data.failure || data.raw)
    throw GatewayError(std::string(data.failure ? "a failure" : "a raw reply") + " is sent in one piece");
  if (data.chunks) throw GatewayError("chunks are cut already: each element is one event");
}

void require_part(const ReplyData& part) {
  if (part.failure || part.raw || part.chunks) {
    const char* const kind = part.failure ? "a failure" : part.raw ? "a raw reply" : "a list of chunks";
    throw GatewayError(std::string(kind) + " cannot be one of several choices; it must be the whole reply");
  }
  const bool written_otherwise =
      part.sse != SseDialect() || part.writes.kind != Writes::Kind::due_together || part.http_chunk > 0;
  if (part.pace.sets_anything() || !part.faults.empty() || !part.holds.empty() || !part.model.empty() ||
      part.verbatim || part.usage || part.usage_json || !part.extra.empty() || !part.extra_message.empty() ||
      !part.extra_chunks.empty() || part.interleaved || part.finish_in_last_chunk || !part.headers.empty() ||
      !part.early_hints.empty() || part.templated || written_otherwise) {
    throw GatewayError(
        "a choice has only content, logprobs and finish_reason; set pace, faults, holds, model, usage, extra "
        "fields, verbatim, templated, headers, early hints, dialect, writes, HTTP chunks and the order of deltas on "
        "the whole: choices(…).every(…)");
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
  const std::string why = reply_check::why_trigger_never_comes(data, trigger);
  return why.empty() ? reply_check::why_effect_never_comes(data, trigger, effect) : why;
}

}  // namespace mock_gateway::detail
