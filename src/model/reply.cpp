#include "reply.hpp"

#include <string_view>
#include <utility>

#include "../core/error.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {
namespace reply_check {

/// The choice that a setter adds to: the last. Throws GatewayError for a failure, which has none.
ScriptedChoice& last_choice(ReplyData& data, const char* setter);
/// The arguments of a scripted call as JSON text, or GatewayError.
std::string arguments_text(const std::string& name, const Json& arguments);
/// Throws GatewayError for a fault that can never happen.
void require_possible(const ReplyData& data, const Trigger& trigger, const Effect& effect);
void require_not_negative(Duration duration, const char* setter);

MOCK_GATEWAY_INLINE ScriptedChoice& last_choice(ReplyData& data, const char* setter) {
  if (data.failure) {
    throw GatewayError(std::string("a failure carries no ") + setter + "; its body is set with Failure::body");
  }
  if (data.choices.empty()) data.choices.emplace_back();
  return data.choices.back();
}

MOCK_GATEWAY_INLINE std::string arguments_text(const std::string& name, const Json& arguments) {
  if (arguments.is_null()) return "{}";  // what `{}` converts to
  if (!arguments.is_object()) {
    throw GatewayError("the arguments of tool call \"" + name +
                       "\" must be a JSON object such as {{\"city\", \"Paris\"}}," + " not " + arguments.type_name());
  }
  try {
    return arguments.dump();
  } catch (const Json::exception& error) {
    throw GatewayError("the arguments of tool call \"" + name + "\" cannot be written as JSON: " + error.what());
  }
}

MOCK_GATEWAY_INLINE void require_possible(const ReplyData& data, const Trigger& trigger, const Effect& effect) {
  const bool counted = trigger.kind() == Trigger::Kind::after_events || trigger.kind() == Trigger::Kind::after_tokens;
  if (counted && trigger.count() == 0) throw GatewayError("events and tokens of a trigger count from 1");
  if (effect.duration() && *effect.duration() <= Duration::zero()) {
    throw GatewayError("stall needs a positive duration; without one it lasts until the client leaves");
  }
  // A failure is never streamed, not even to a request that asked for a stream.
  if (data.failure && (counted || trigger.kind() == Trigger::Kind::before_done)) {
    throw GatewayError("a failure has no events, so \"" + trigger.to_string() +
                       "\" never comes; use before_headers, after_headers or at_end");
  }
}

MOCK_GATEWAY_INLINE void require_not_negative(Duration duration, const char* setter) {
  if (duration < Duration::zero()) throw GatewayError(std::string(setter) + " needs a duration that is not negative");
}

}  // namespace reply_check

MOCK_GATEWAY_INLINE Reply join_choices(const std::vector<Reply>& replies) {
  ReplyData joined;
  for (const Reply& reply : replies) {
    const ReplyData& part = reply.data();
    if (part.failure) throw GatewayError("a failure cannot be one of several choices; it is a reply of its own");
    if (!part.faults.empty() || !part.holds.empty() || part.pace.gap != Duration::zero() ||
        part.pace.first_token != Duration::zero() || !part.model.empty() || part.verbatim || !part.headers.empty()) {
      throw GatewayError(
          "a choice carries content and finish_reason only; set pace, faults, holds, model, verbatim and headers on "
          "the whole: choices(…).every(…)");
    }
    joined.choices.insert(joined.choices.end(), part.choices.begin(), part.choices.end());
  }
  return Reply(std::move(joined));
}

}  // namespace detail

MOCK_GATEWAY_INLINE Reply::Reply(detail::ReplyData data) : data_(std::move(data)) {}
MOCK_GATEWAY_INLINE Reply::Reply(const Reply&) = default;
MOCK_GATEWAY_INLINE Reply::Reply(Reply&&) noexcept = default;
MOCK_GATEWAY_INLINE Reply& Reply::operator=(const Reply&) = default;
MOCK_GATEWAY_INLINE Reply& Reply::operator=(Reply&&) noexcept = default;
MOCK_GATEWAY_INLINE Reply::~Reply() = default;

MOCK_GATEWAY_INLINE Reply::Reply(const char* text) {
  if (text == nullptr) throw GatewayError("a reply's text is a null pointer");
  data_.choices.emplace_back().text = detail::require_utf8(text, "text of a reply");
}

MOCK_GATEWAY_INLINE Reply::Reply(std::string text) {
  data_.choices.emplace_back().text = detail::require_utf8(std::move(text), "text of a reply");
}

MOCK_GATEWAY_INLINE Reply::Reply(const Failure& failure) { data_.failure = failure; }

MOCK_GATEWAY_INLINE Reply Reply::thinking(std::string text) const {
  Reply changed = *this;
  detail::reply_check::last_choice(changed.data_, "thinking").thinking +=
      detail::require_utf8(std::move(text), "thinking of a reply");
  return changed;
}

MOCK_GATEWAY_INLINE Reply Reply::text(std::string text) const {
  Reply changed = *this;
  detail::ScriptedChoice& choice = detail::reply_check::last_choice(changed.data_, "text");
  std::string addition = detail::require_utf8(std::move(text), "text of a reply");
  choice.text = choice.text ? *choice.text + addition : std::move(addition);
  return changed;
}

MOCK_GATEWAY_INLINE Reply Reply::tool_call(std::string name, const Json& arguments) const {
  Reply changed = *this;
  std::string checked = detail::require_utf8(std::move(name), "name of a tool call");
  std::string json = detail::reply_check::arguments_text(checked, arguments);
  detail::reply_check::last_choice(changed.data_, "tool call")
      .tool_calls.push_back(detail::ScriptedToolCall{std::move(checked), std::move(json)});
  return changed;
}

MOCK_GATEWAY_INLINE Reply Reply::finish_reason(std::string reason) const {
  Reply changed = *this;
  detail::reply_check::last_choice(changed.data_, "finish_reason");
  const std::string checked = detail::require_utf8(std::move(reason), "finish_reason of a reply");
  for (detail::ScriptedChoice& choice : changed.data_.choices) choice.finish_reason = checked;
  return changed;
}

MOCK_GATEWAY_INLINE Reply Reply::model(std::string id) const {
  Reply changed = *this;
  changed.data_.model = detail::require_utf8(std::move(id), "model of a reply");
  return changed;
}

MOCK_GATEWAY_INLINE Reply Reply::verbatim() const {
  Reply changed = *this;
  changed.data_.verbatim = true;
  return changed;
}

MOCK_GATEWAY_INLINE Reply Reply::header(std::string name, std::string value) const {
  detail::require_header_field(name, value);
  Reply changed = *this;
  if (changed.data_.failure) {
    changed.data_.failure = changed.data_.failure->header(std::move(name), std::move(value));
  } else {
    changed.data_.headers.add(std::move(name), std::move(value));
  }
  return changed;
}

MOCK_GATEWAY_INLINE Reply Reply::every(Duration gap) const {
  detail::reply_check::require_not_negative(gap, "every");
  Reply changed = *this;
  changed.data_.pace.gap = gap;
  return changed;
}

MOCK_GATEWAY_INLINE Reply Reply::first_token_after(Duration delay) const {
  detail::reply_check::require_not_negative(delay, "first_token_after");
  Reply changed = *this;
  changed.data_.pace.first_token = delay;
  return changed;
}

MOCK_GATEWAY_INLINE Reply Reply::fail(Trigger trigger, Effect effect) const {
  detail::reply_check::require_possible(data_, trigger, effect);
  Reply changed = *this;
  changed.data_.faults.push_back(Fault{std::move(trigger), std::move(effect)});
  return changed;
}

MOCK_GATEWAY_INLINE Reply Reply::hold(Gate gate, Place place) const {
  if (place.number() == 0) throw GatewayError("events and tokens of a place count from 1");
  if (data_.failure) throw GatewayError("a failure has no events or tokens, so nothing of it can be held");
  Reply changed = *this;
  changed.data_.holds.push_back(Hold{std::move(gate), place});
  return changed;
}

MOCK_GATEWAY_INLINE Reply Reply::sse(SseDialect dialect) const {
  if (dialect.line_end != "\n" && dialect.line_end != "\r\n" && dialect.line_end != "\r") {
    throw GatewayError("a line of SSE ends in \"\\n\", \"\\r\\n\" or \"\\r\"");
  }
  detail::require_header_field("Content-Type", dialect.content_type);
  Reply changed = *this;
  changed.data_.sse = std::move(dialect);
  return changed;
}

MOCK_GATEWAY_INLINE Reply text(std::string text) { return Reply(std::move(text)); }

MOCK_GATEWAY_INLINE Reply thinking(std::string text) {
  detail::ReplyData data;
  data.choices.emplace_back().thinking = detail::require_utf8(std::move(text), "thinking of a reply");
  return Reply(std::move(data));
}

MOCK_GATEWAY_INLINE Reply tool_call(std::string name, const Json& arguments) {
  return Reply(detail::ReplyData{}).tool_call(std::move(name), arguments);
}

MOCK_GATEWAY_INLINE Reply refusal(std::string text) {
  detail::ReplyData data;
  data.choices.emplace_back().refusal = detail::require_utf8(std::move(text), "refusal of a reply");
  return Reply(std::move(data));
}

MOCK_GATEWAY_INLINE Reply json_text(const Json& value) {
  try {
    return Reply(value.dump());
  } catch (const Json::exception& error) {
    throw GatewayError(std::string("json_text cannot write this value: ") + error.what());
  }
}

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
