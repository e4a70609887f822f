#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../core/clock.hpp"
#include "../core/json.hpp"
#include "failure.hpp"
#include "plan.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {

namespace detail {

struct ScriptedToolCall {
  std::string name;
  /// JSON text.
  std::string arguments;
};

struct ScriptedChoice {
  std::optional<std::string> text;
  std::string thinking;
  std::optional<std::string> refusal;
  std::vector<ScriptedToolCall> tool_calls;
  std::string finish_reason;  // empty: what follows from the content
};

struct ReplyData {
  /// At least one, unless `failure` is set. A request's `n` beyond their number repeats them in order.
  std::vector<ScriptedChoice> choices;
  std::optional<Failure> failure;
  std::string model;  // empty: the requested one
  bool verbatim = false;
  Pace pace;
  std::vector<Fault> faults;
  std::vector<Hold> holds;
  SseDialect sse;
  Headers headers;
};

}  // namespace detail

/// What the gateway answers to one chat request, streamed or not. A value; each setter returns a changed copy.
/// A bare string means text. All strings are UTF-8, or GatewayError. Text obeys the request's `stop`, `max_tokens` and
/// `n` unless `verbatim()`.
class Reply {
 public:
  Reply(const char* text);        // NOLINT: implicit, so that reply("Hello.") reads as it should
  Reply(std::string text);        // NOLINT: likewise
  Reply(const Failure& failure);  // NOLINT: a failure is a reply
  explicit Reply(detail::ReplyData data);
  // Defined once, in the library: every test file that scripts would compile them again.
  Reply(const Reply&);
  Reply(Reply&&) noexcept;
  Reply& operator=(const Reply&);
  Reply& operator=(Reply&&) noexcept;
  ~Reply();

  /// Adds reasoning, sent as reasoning_content before the content.
  [[nodiscard]] Reply thinking(std::string text) const;
  /// Adds text; in a reply of several choices, to the last.
  [[nodiscard]] Reply text(std::string text) const;
  /// Adds a tool call; finish_reason becomes `tool_calls`. `arguments` must be a JSON object, or GatewayError; `{}`
  /// is the empty one.
  [[nodiscard]] Reply tool_call(std::string name, const Json& arguments = Json::object()) const;
  /// `stop`, `length`, `tool_calls`, `content_filter`, or whatever a test needs; for every choice so far.
  [[nodiscard]] Reply finish_reason(std::string reason) const;
  /// The `model` that the reply claims, in place of the requested one.
  [[nodiscard]] Reply model(std::string id) const;
  /// Sent as scripted, whatever the request's stop and max_tokens say.
  [[nodiscard]] Reply verbatim() const;
  /// Adds a response header; see Failure::header.
  [[nodiscard]] Reply header(std::string name, std::string value) const;

  /// Time between one token and the next. Not negative, or GatewayError.
  [[nodiscard]] Reply every(Duration gap) const;
  /// Time from the complete request to the first token. Not negative, or GatewayError.
  [[nodiscard]] Reply first_token_after(Duration delay) const;
  /// Breaks the reply; see Trigger and Effect. Throws GatewayError for what can never happen: a failure is never
  /// streamed, so it has no events, tokens or [DONE].
  [[nodiscard]] Reply fail(Trigger trigger, Effect effect) const;
  /// Holds the reply before a token or event until the gate lets it pass. A reply that is not streamed is held whole,
  /// before it leaves, if it has that token; before an event, always.
  [[nodiscard]] Reply hold(Gate gate, Place place) const;
  /// How its events are written.
  [[nodiscard]] Reply sse(SseDialect dialect) const;

  const detail::ReplyData& data() const { return data_; }

 private:
  detail::ReplyData data_;
};

Reply text(std::string text);
/// A reply that reasons first: `thinking("…").text("…")`.
Reply thinking(std::string text);
/// A reply that calls a tool, with no text. `arguments` must be a JSON object, or GatewayError.
Reply tool_call(std::string name, const Json& arguments = Json::object());
/// A refusal: `refusal` carries the text where the profile has that field, `content` elsewhere.
Reply refusal(std::string text);
/// Text that is this JSON, in compact form.
Reply json_text(const Json& value);
/// Several choices with endings of their own. Each part gives its content and finish_reason; pace, faults, holds,
/// model, verbatim and headers belong to the whole: `choices(a, b).every(20ms)`. Set on a part, GatewayError.
template <class... Replies>
Reply choices(const Reply& first, const Replies&... others);

namespace detail {

Reply join_choices(const std::vector<Reply>& replies);

}  // namespace detail

template <class... Replies>
Reply choices(const Reply& first, const Replies&... others) {
  return detail::join_choices({first, Reply(others)...});
}

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
