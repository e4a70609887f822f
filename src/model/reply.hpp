#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/duration.hpp"
#include "../core/forward.hpp"
#include "../core/json.hpp"
#include "../core/shared.hpp"

namespace mock_gateway {

/// What might have stood in a token's place, as `top_logprobs` lists it.
struct TopLogprob {
  /// UTF-8, with the space before it if it has one.
  std::string token;
  /// The natural logarithm of its probability: finite and at most 0, as in TokenLogprob.
  double logprob = 0;
};

/// What `logprobs` says of one token. A bare number is one: `logprobs({-0.1, -2.5})`.
class TokenLogprob {
 public:
  /// The natural logarithm of the token's probability: finite and at most 0, or GatewayError. The alternatives are
  /// made up, as many as the request's `top_logprobs` asks for.
  TokenLogprob(double logprob);  // NOLINT: implicit, so that a list of numbers is a list of tokens
  /// The same with these alternatives, in this order. Of them are sent as many as the request's `top_logprobs` asks
  /// for, from the first on, and none is added. As on the wire, the token itself is among them only when it is written
  /// there.
  TokenLogprob(double logprob, std::vector<TopLogprob> top);
  // A move copies too, so that nothing is emptied.
  TokenLogprob(const TokenLogprob&) = default;
  TokenLogprob& operator=(const TokenLogprob&) = default;

  double logprob() const { return logprob_; }
  /// The alternatives; empty when they are made up.
  const std::optional<std::vector<TopLogprob>>& top() const { return top_; }

 private:
  double logprob_;
  std::optional<std::vector<TopLogprob>> top_;
};

/// The `usage` of a reply, written by hand. A value; each setter returns a changed copy. No number is negative, or
/// GatewayError; whether they agree with each other is the test's business. `Reply::extra` writes odder ones.
class TokenUsage {
 public:
  TokenUsage(std::int64_t prompt_tokens, std::int64_t completion_tokens);

  /// `total_tokens`; unless set, prompt and completion added up.
  [[nodiscard]] TokenUsage total(std::int64_t tokens) const;
  /// `completion_tokens_details.reasoning_tokens`; unless set, those counted in the reply, at most completion_tokens,
  /// and the key is left out when there are none.
  [[nodiscard]] TokenUsage reasoning(std::int64_t tokens) const;
  /// `prompt_tokens_details.cached_tokens`; in the deepseek profile prompt_cache_hit_tokens too. Unless set, 0 where
  /// the profile has the key.
  [[nodiscard]] TokenUsage cached(std::int64_t tokens) const;

  std::int64_t prompt_tokens() const { return prompt_; }
  std::int64_t completion_tokens() const { return completion_; }
  /// What is set, else prompt and completion added up.
  std::int64_t total_tokens() const;
  const std::optional<std::int64_t>& reasoning_tokens() const { return reasoning_; }
  const std::optional<std::int64_t>& cached_tokens() const { return cached_; }

 private:
  std::int64_t prompt_;
  std::int64_t completion_;
  std::optional<std::int64_t> total_;
  std::optional<std::int64_t> reasoning_;
  std::optional<std::int64_t> cached_;
};

/// One element of a stream written by hand; see chunks(). It is one event, whatever it holds.
class StreamChunk {
 public:
  // A move copies too, so that nothing is emptied.
  StreamChunk(const StreamChunk&) = default;
  StreamChunk& operator=(const StreamChunk&) = default;

  /// An event whose data is this JSON, in compact form: `{{"choices", Json::array()}}`. In braces it is an object, or
  /// GatewayError; json_chunk() takes any JSON. Its strings are UTF-8, or GatewayError.
  StreamChunk(Json::initializer_list_t fields);  // NOLINT: implicit, so that a list holds JSON in braces
  /// An event whose data is this JSON; see json_chunk().
  template <class T, std::enable_if_t<std::is_same_v<T, Json>, int> = 0>
  StreamChunk(const T& json) : StreamChunk(of_json(json)) {}  // NOLINT: implicit as above

  /// See json_chunk().
  static StreamChunk of_json(const Json& json);
  /// See raw_bytes().
  static StreamChunk of_bytes(std::string bytes);
  /// See event().
  static StreamChunk of_fields(std::string lines);

  /// Sends it so long after the request was complete, on the gateway's clock, whatever the pace says of a token. What
  /// comes before it leaves before it, and what comes after it leaves no earlier. At most 30 days and not negative, or
  /// GatewayError.
  [[nodiscard]] StreamChunk at(Duration time) const;

  /// The data of an event, the lines of one without data, or all bytes of a raw one.
  const std::string& bytes() const { return bytes_; }
  /// Whether raw_bytes() made it.
  bool is_raw() const { return raw_; }
  /// Whether it is an event without data.
  bool is_meta() const { return meta_; }
  /// Whether it counts as a token: JSON with a delta whose content, reasoning_content, refusal or tool arguments say
  /// something, or the input of a custom tool does.
  bool is_token() const { return token_; }
  /// What at() set; empty unless set.
  const std::optional<Duration>& time() const { return time_; }

 private:
  StreamChunk() = default;

  std::string bytes_;
  bool raw_ = false;
  bool meta_ = false;
  bool token_ = false;
  std::optional<Duration> time_;
};

namespace detail {

struct Access;
struct ReplyData;

}  // namespace detail

/// What the gateway answers to one chat request, streamed or not. A value; each setter returns a changed copy, of a
/// temporary without copying what it holds, so that a chain of setters makes the reply once.
/// A bare string means text. All strings are UTF-8, or GatewayError. Text obeys the request's `stop`, `max_tokens` and
/// `n` unless `verbatim()`.
///
/// It is a completion, which the gateway writes down as its profile does, or it is written down by the test: a failure,
/// raw_reply() or chunks(). Setters of what only a completion has throw GatewayError on these three.
class Reply {
 public:
  Reply(const char* text);        // NOLINT: implicit, so that reply("Hello.") reads as it should
  Reply(std::string text);        // NOLINT: implicit as above
  Reply(const Failure& failure);  // NOLINT: a failure is a reply
  explicit Reply(detail::ReplyData data);

  /// Adds reasoning, sent as reasoning_content before the content.
  [[nodiscard]] Reply thinking(std::string text) const;
  /// Adds text; in a reply of several choices, to the last.
  [[nodiscard]] Reply text(std::string text) const;
  /// Adds a tool call; finish_reason becomes `tool_calls`. `arguments` must be a JSON object, or GatewayError; `{}`
  /// is the empty one. `id` is the call's; when it is empty, the gateway makes one up (`call_…`).
  [[nodiscard]] Reply tool_call(std::string name, const Json& arguments = Json::object(), std::string id = "") const;
  /// Adds a tool call with this text for arguments, as it is: models break off inside JSON, or send none at all.
  [[nodiscard]] Reply malformed_tool_call(std::string name, std::string arguments, std::string id = "") const;
  /// Adds the call of a custom tool, whose input is any text: `{"type":"custom","custom":{"name","input"}}`. Otherwise
  /// as tool_call().
  [[nodiscard]] Reply custom_tool_call(std::string name, std::string input, std::string id = "") const;
  /// Streams the calls of each choice in turn, as a model does that writes them in parallel: first the id and name of
  /// each, then a fragment of each one's arguments, until none has any left. Unless set, one call after the other. A
  /// plain reply, or one with a single call, is the same with it.
  [[nodiscard]] Reply interleaved() const;
  /// What `logprobs` says of the tokens of text and refusal, from the first on; in a reply of several choices, of the
  /// last. Used when the request asks for logprobs, and replaces what was set before. Tokens beyond the list get
  /// numbers made up as without it; elements beyond the last token sent are not used.
  [[nodiscard]] Reply logprobs(std::vector<TokenLogprob> tokens) const;
  /// The finish_reason of every choice so far: `stop`, `length`, `tool_calls`, `content_filter`, or whatever a test
  /// needs, the empty string included.
  [[nodiscard]] Reply finish_reason(std::string reason) const;
  /// Streams the finish_reason of each choice in its last chunk with content, as some servers do, in place of a chunk
  /// of its own. For a choice without content that is the chunk with the role. A plain reply is the same with it.
  [[nodiscard]] Reply finish_in_last_chunk() const;
  /// The `model` that the reply claims, in place of the requested one.
  [[nodiscard]] Reply model(std::string id) const;
  /// The `usage` that the reply claims, in place of what was counted: in a plain reply, and streamed where the profile
  /// sends it when the request asks for it. What is sent, and its pace, stay.
  [[nodiscard]] Reply usage(std::int64_t prompt_tokens, std::int64_t completion_tokens) const;
  /// The same with all that a TokenUsage says.
  [[nodiscard]] Reply usage(TokenUsage usage) const;
  /// Any JSON as the whole `usage`: `usage(Json::object())` sends `"usage":{}`. Strings are UTF-8, or GatewayError.
  // A template, so that usage({12, 5}) is a TokenUsage.
  template <class T, std::enable_if_t<std::is_same_v<T, Json>, int> = 0>
  [[nodiscard]] Reply usage(const T& json) const {
    return with_usage_json(json);
  }
  /// Merges fields into the body, or into every chunk of a stream alike (RFC 7396: null removes a field, objects are
  /// merged, anything else is replaced). Keys keep their order, new ones follow. Several are merged in turn, after
  /// those of extra_message. `patch` must be a JSON object, or GatewayError.
  [[nodiscard]] Reply extra(const Json& patch) const;
  /// Merges fields into the message of each choice; in a stream, into the first delta of each, the one with the role.
  /// Otherwise it does what extra() does.
  [[nodiscard]] Reply extra_message(const Json& patch) const;
  /// Merges fields into chunk `number` of a stream alone, counted from 1, the one with the role, `[DONE]` not included.
  /// It is merged after those of extra(), and as they are. `number` is at least 1, or GatewayError. verify() reports a
  /// chunk that the reply did not come to; a plain reply has none.
  [[nodiscard]] Reply extra_chunk(std::size_t number, const Json& patch) const;
  /// Adds an element to chunks(); GatewayError for any other reply.
  [[nodiscard]] Reply chunk(StreamChunk chunk) const;
  /// Sends the reply as scripted, whatever the request's stop and max_tokens say.
  [[nodiscard]] Reply verbatim() const;
  /// Puts what the request says into the places of text, refusal, thinking, arguments of tool calls, the body of a raw
  /// reply, and the strings of extra() and extra_message():
  ///
  /// | place                        | what stands there                                                         |
  /// |------------------------------|---------------------------------------------------------------------------|
  /// | {{request.last_user_text}}   | the text of the last message of role user                                 |
  /// | {{request.body./a/0}}        | what the JSON pointer leads to: a string as it is, all else as JSON       |
  /// | {{request.header.x-id}}      | the first field of that name; keys are masked                             |
  /// | {{count}}                    | which call of its stub it is, from 1                                      |
  /// | {{now}}                      | the time by the gateway's clock, RFC 3339                                 |
  /// | {{uuid}}                     | a UUID, the same for the same seed, request and count                     |
  ///
  /// What the request does not have leaves its place empty. In arguments, and in a text that is a JSON object or list,
  /// values are escaped; outside of quotation marks they are JSON, there `null` where nothing is. A value is put in
  /// once: places in it stay as they are. Throws GatewayError for a `{{` that begins no place, and for a failure and
  /// chunks; what is set afterwards is looked at when the reply is given, which is then a 500.
  [[nodiscard]] Reply templated() const;
  /// Sets a response header in place of every one of that name; see Failure::header.
  [[nodiscard]] Reply header(std::string name, std::string value) const;
  /// Adds a response header beside those of the same name; see Failure::add_header.
  [[nodiscard]] Reply add_header(std::string name, std::string value) const;
  /// Sends an interim response 103 with these fields before the reply (RFC 8297), as soon as the request is answered:
  /// `early_hints({{"Link", "</style.css>; rel=preload"}})`. It is no part of the reply, whose pace, faults and holds
  /// come after it. Replaces what was set before. GatewayError for fields that no head can hold, as in header().
  [[nodiscard]] Reply early_hints(const wire::Headers& fields) const;

  /// The time between one token and the next: `every(20ms)`, `every(log_normal(20ms, 0.5))`; see Timing. Tokens are
  /// content deltas, as for a Trigger. Replaces tokens_per_second. What a reply sets of its pace goes before what
  /// Options::pace says. GatewayError for a failure and a raw reply, which leave in one piece.
  [[nodiscard]] Reply every(Timing gap) const;
  /// The time from the complete request to the first token, or to a failure or a raw reply as a whole:
  /// `first_token_after(uniform(10ms, 50ms))`. Unless set, as Options::pace says for completions and chunks, else none.
  [[nodiscard]] Reply first_token_after(Timing delay) const;
  /// The speed from the first token on: `tokens_per_second(50)`; see Pace. Replaces every(). GatewayError for a failure
  /// and a raw reply.
  [[nodiscard]] Reply tokens_per_second(Rate rate) const;
  /// Cuts its stream into deltas: `chunked(by_characters())`; see Chunking. Unless set, as Options::pace says, else a
  /// token at a time. GatewayError for a reply that is no completion.
  [[nodiscard]] Reply chunked(Chunking chunking) const;
  /// Sets all that `pace` sets, and leaves what it does not set as it is.
  [[nodiscard]] Reply pace(const Pace& pace) const;
  /// Breaks the reply: `fault(after_tokens(2), reset_connection())`; see Trigger and Effect. Several faults happen each
  /// at its place, those of one place in the order written, until one ends the reply. When none ended it, verify()
  /// reports the faults to whose places it did not come. Throws GatewayError for what can never happen: failures and
  /// raw replies are never streamed, so they have no events, tokens or [DONE].
  [[nodiscard]] Reply fault(Trigger trigger, Effect effect) const;
  /// Holds the reply before a token or event until the gate lets it pass. A reply that is not streamed is held whole,
  /// before it leaves: at a token if it has that token, at an event always. verify() reports a hold to which the reply
  /// did not come. GatewayError for a failure, and for a token of a raw reply.
  [[nodiscard]] Reply hold(Gate gate, HoldPoint place) const;
  /// Writes its events as this dialect says. GatewayError for a dialect that cannot be written, and for a failure and a
  /// raw reply, which have no events.
  [[nodiscard]] Reply sse(SseDialect dialect) const;
  /// Hands its head and each of its events to the kernel in a write of its own. Without this, events that are due at
  /// the same moment, as all of a reply without a pace are, leave in one write of 64 KiB at most; see Writes. The bytes
  /// are the same, and each event is an HTTP chunk either way.
  [[nodiscard]] Reply write_each_event() const;
  /// Hands its bytes, the head's included, to the kernel at most `bytes` at a time, each in a write of its own: 1 for
  /// one write per byte. No write has bytes of two events. Each waits until the client has read the one before, so that
  /// it is a read of its own; where the system cannot tell, as it can on Linux of a client on the same machine, until
  /// that has left and a millisecond of real time has passed. A client that does not read for a second, or
  /// that takes five for a reply, is waited for no more. `bytes` is at least 1, or GatewayError.
  [[nodiscard]] Reply slice_writes(std::size_t bytes) const;
  /// Hands all its bytes to the kernel in one write, when the last one is due. What precedes a fault leaves before it.
  [[nodiscard]] Reply one_write() const;
  /// Hands its bytes to the kernel in two writes when the last one is due: the first `byte` of them, the head's
  /// included, and the rest once the client has read these; it waits as slice_writes does. A reply of no more than
  /// `byte` bytes leaves in one write, which verify() reports. `byte` is at least 1, or GatewayError.
  [[nodiscard]] Reply split_write(std::size_t byte) const;

 private:
  friend struct detail::Access;
  Reply with_usage_json(const Json& json) const;
  detail::ReplyData& edit();

  detail::Shared<detail::ReplyData> data_;  // copies share it until one of them is changed
};

/// The last element of a sequence of replies: `reply("a", "b", then_nothing_more())`. A further request that the stub
/// matches is refused like an unmatched one, whatever older stubs would say. Without it the last reply stays.
struct NothingMore {};
/// Ends a sequence of replies; see NothingMore.
inline NothingMore then_nothing_more() { return {}; }

/// A reply that is this text.
Reply text(std::string text);
/// A reply that reasons first: `thinking("…").text("…")`.
Reply thinking(std::string text);
/// A reply that calls a tool, with no text; see Reply::tool_call.
Reply tool_call(std::string name, const Json& arguments = Json::object(), std::string id = "");
/// A reply that calls a tool wrongly: `malformed_tool_call("get_weather", "{\"city\": ")`; see
/// Reply::malformed_tool_call.
Reply malformed_tool_call(std::string name, std::string arguments, std::string id = "");
/// A reply that calls a custom tool, with no text; see Reply::custom_tool_call.
Reply custom_tool_call(std::string name, std::string input, std::string id = "");
/// A refusal: `refusal` carries the text where the profile has that field, `content` elsewhere.
Reply refusal(std::string text);
/// A reply whose text is this JSON, in compact form.
Reply json_text(const Json& value);
/// A stream exactly as it stands here, each element one event, then `[DONE]` unless the dialect says otherwise; sent
/// whether or not the request asked for a stream, with status 200. Nothing of the request applies to it, and nothing is
/// added: ids, usage and endings are the test's. JSON is written in the dialect of sse(); see also event() and
/// raw_bytes().
Reply chunks(std::vector<StreamChunk> elements);
/// An element of chunks(): an event with this JSON as its data, in compact form. Strings are UTF-8, or GatewayError.
StreamChunk json_chunk(const Json& json);
/// An element of chunks(): these bytes as they are, without `data:` around them, in one HTTP chunk and one write.
/// They may be comments, pings, half an event or half a character. Not empty, or GatewayError: an HTTP chunk of no
/// bytes would end the body.
StreamChunk raw_bytes(std::string bytes);

/// An element of chunks(): an event without data. `lines` are its lines, separated by "\n", without the blank line
/// after them: `event("id: 7")`, `event("event: ping\nretry: 10")`. They end as the lines of the dialect do, and the
/// dialect adds no field to them. A client keeps the id and the retry, and dispatches no event (WHATWG HTML, 9.2.6).
/// GatewayError for no line, an empty line, CR, a `data` field, and what is not UTF-8.
StreamChunk event(std::string lines);

namespace detail {

Reply make_raw_reply(int status, std::string body, std::string content_type);

}  // namespace detail

/// A whole answer as it stands here, to plain and stream requests alike, with its status (200 to 599, or GatewayError)
/// and no more headers than any answer has. It leaves after first_token_after(). The body is any bytes; statuses 204
/// and 304 have none, or GatewayError.
template <class Text, std::enable_if_t<
                          std::is_convertible_v<const Text&, std::string_view> && !std::is_same_v<Text, Json>, int> = 0>
Reply raw_reply(int status, const Text& body, std::string content_type = "application/json");
// Text is a template so that a braced body is always JSON.
/// The same with JSON, in compact form. Its strings are UTF-8, or GatewayError.
Reply raw_reply(int status, const Json& body, std::string content_type = "application/json");
/// Several choices with endings of their own. Each part gives its content, logprobs and finish_reason; pace, faults,
/// holds, model, usage, extra fields, verbatim, headers, early hints, dialect and the order and ends of deltas belong
/// to the whole: `choices(a, b).every(20ms)`. GatewayError for a part that sets one of these, and for a part that is a
/// failure, a raw reply or chunks.
template <class... Replies>
Reply choices(const Reply& first, const Replies&... others);

namespace detail {

Reply join_choices(const std::vector<Reply>& replies);

}  // namespace detail

template <class Text,
          std::enable_if_t<std::is_convertible_v<const Text&, std::string_view> && !std::is_same_v<Text, Json>, int>>
Reply raw_reply(int status, const Text& body, std::string content_type) {
  return detail::make_raw_reply(status, std::string(std::string_view(body)), std::move(content_type));
}

template <class... Replies>
Reply choices(const Reply& first, const Replies&... others) {
  return detail::join_choices({first, Reply(others)...});
}

}  // namespace mock_gateway
