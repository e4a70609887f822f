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

/// An alternative to a token, as listed in `top_logprobs`.
struct TopLogprob {
  /// UTF-8, including a leading space if there is one.
  std::string token;
  /// The natural logarithm of its probability, finite and at most 0.
  double logprob = 0;
};

/// The log probability of one token. A bare number converts to it: `logprobs({-0.1, -2.5})`.
class TokenLogprob {
 public:
  /// `logprob` is the natural logarithm of the token's probability, finite and at most 0. The gateway generates the
  /// number of alternatives that the request's `top_logprobs` asks for.
  TokenLogprob(double logprob);  // NOLINT: implicit, so that a list of numbers is a list of tokens
  /// The same with these alternatives, in this order. The gateway sends the first ones, up to the request's
  /// `top_logprobs`, and adds none. The token itself is an alternative only if listed here, as in real replies.
  TokenLogprob(double logprob, std::vector<TopLogprob> top);
  // A move copies, so that the moved-from value stays valid.
  TokenLogprob(const TokenLogprob&) = default;
  TokenLogprob& operator=(const TokenLogprob&) = default;

  double logprob() const { return logprob_; }
  /// Returns the alternatives, or nothing if generated.
  const std::optional<std::vector<TopLogprob>>& top() const { return top_; }

 private:
  double logprob_;
  std::optional<std::vector<TopLogprob>> top_;
};

/// A custom `usage` of a reply. A value; each setter returns a changed copy. Numbers are not negative and need not be
/// consistent. `Reply::extra` writes any other `usage`.
class TokenUsage {
 public:
  TokenUsage(std::int64_t prompt_tokens, std::int64_t completion_tokens);

  /// Sets `total_tokens`. Default: the sum of prompt and completion.
  [[nodiscard]] TokenUsage total(std::int64_t tokens) const;
  /// Sets `completion_tokens_details.reasoning_tokens`. Default: the number counted in the reply, at most
  /// completion_tokens; the key is omitted if that is 0.
  [[nodiscard]] TokenUsage reasoning(std::int64_t tokens) const;
  /// Sets `prompt_tokens_details.cached_tokens`, and prompt_cache_hit_tokens in the deepseek profile. Default: 0 if the
  /// profile has the key.
  [[nodiscard]] TokenUsage cached(std::int64_t tokens) const;

  std::int64_t prompt_tokens() const { return prompt_; }
  std::int64_t completion_tokens() const { return completion_; }
  /// Returns the number set, else the sum of prompt and completion.
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

/// One element of a custom stream; see chunks(). Each is one event.
class StreamChunk {
 public:
  // A move copies, so that the moved-from value stays valid.
  StreamChunk(const StreamChunk&) = default;
  StreamChunk& operator=(const StreamChunk&) = default;

  /// An event with this JSON object as its data: `{{"choices", Json::array()}}`. json_chunk() accepts any JSON.
  StreamChunk(Json::initializer_list_t fields);  // NOLINT: implicit, so that a list holds JSON in braces
  /// An event with this JSON as its data; see json_chunk().
  template <class T, std::enable_if_t<std::is_same_v<T, Json>, int> = 0>
  StreamChunk(const T& json) : StreamChunk(of_json(json)) {}  // NOLINT: implicit as above

  /// See json_chunk(), raw_bytes() and event().
  static StreamChunk of_json(const Json& json);
  static StreamChunk of_bytes(std::string bytes);
  static StreamChunk of_fields(std::string lines);

  /// Sets the time from the complete request to this element, on the gateway's clock, instead of the pace. Earlier
  /// elements are sent before it, later ones no earlier. From 0 to 30 days.
  [[nodiscard]] StreamChunk at(Duration time) const;

  /// Returns the data of an event, the lines of an event without data, or all bytes of a raw element.
  const std::string& bytes() const { return bytes_; }
  /// Whether it comes from raw_bytes().
  bool is_raw() const { return raw_; }
  /// Whether it is an event without data.
  bool is_meta() const { return meta_; }
  /// Whether it counts as a token: JSON with a delta whose content, reasoning_content, refusal, tool arguments or
  /// custom tool input is not empty.
  bool is_token() const { return token_; }
  /// Returns the time set by at(); empty unless set.
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

/// The answer to one chat request, streamed or not. A value; each setter returns a changed copy. A bare string is a
/// text reply. All strings are UTF-8. Text obeys the request's `stop`, `max_tokens` and `n` unless `verbatim()`.
///
/// A reply is a completion, which the gateway writes in its profile's shape, or it is a failure, raw_reply() or
/// chunks(), which the test writes. On these three, setters that only apply to completions throw GatewayError.
class Reply {
 public:
  Reply(const char* text);        // NOLINT: implicit, so that reply("Hello.") compiles
  Reply(std::string text);        // NOLINT: implicit as above
  Reply(const Failure& failure);  // NOLINT: a failure is a reply
  explicit Reply(detail::ReplyData data);

  /// Adds reasoning, which is sent as reasoning_content before the content.
  [[nodiscard]] Reply thinking(std::string text) const;
  /// Adds text; in a reply with several choices, to the last one.
  [[nodiscard]] Reply text(std::string text) const;
  /// Adds a tool call; finish_reason becomes `tool_calls`. `arguments` is a JSON object; `{}` is the empty one. If `id`
  /// is empty, the gateway generates one (`call_…`).
  [[nodiscard]] Reply tool_call(std::string name, const Json& arguments = Json::object(), std::string id = "") const;
  /// Adds a tool call with this text as arguments, unchanged, to imitate a model that sends invalid JSON or nothing.
  [[nodiscard]] Reply malformed_tool_call(std::string name, std::string arguments, std::string id = "") const;
  /// Adds a call of a custom tool, whose input is any text. Works like tool_call() in all other respects.
  [[nodiscard]] Reply custom_tool_call(std::string name, std::string input, std::string id = "") const;
  /// Streams the tool calls of each choice in parallel: the id and name of each, then one fragment of each call's
  /// arguments in turn. Default: one call after the other.
  [[nodiscard]] Reply interleaved() const;
  /// Sets the log probabilities of the tokens of text and refusal, from the first token on. With several choices, sets
  /// those of the last choice. Used if the request asks for logprobs. Replaces an earlier list. Further tokens get
  /// generated numbers; surplus elements are ignored.
  [[nodiscard]] Reply logprobs(std::vector<TokenLogprob> tokens) const;
  /// Sets the finish_reason of every choice so far, to any string: `stop`, `length`, `tool_calls`, `content_filter`.
  [[nodiscard]] Reply finish_reason(std::string reason) const;
  /// Streams the finish_reason of each choice in its last chunk with content, as some servers do, instead of a separate
  /// chunk. Without content, that is the chunk with the role. No effect on a plain reply.
  [[nodiscard]] Reply finish_in_last_chunk() const;
  /// Sets the `model` of the reply. Default: the requested one.
  [[nodiscard]] Reply model(std::string id) const;
  /// Sets the reply's `usage`. Default: the counted tokens. A stream has it only if requested and the profile sends it.
  [[nodiscard]] Reply usage(std::int64_t prompt_tokens, std::int64_t completion_tokens) const;
  /// Sets the reply's `usage` with all fields of a TokenUsage.
  [[nodiscard]] Reply usage(TokenUsage usage) const;
  /// Sets the whole `usage` to any JSON: `usage(Json::object())` sends `"usage":{}`. Strings are UTF-8.
  // A template, so that usage({12, 5}) means a TokenUsage.
  template <class T, std::enable_if_t<std::is_same_v<T, Json>, int> = 0>
  [[nodiscard]] Reply usage(const T& json) const {
    return with_usage_json(json);
  }
  /// Merges fields into the body or into every chunk of a stream (RFC 7396: null removes a field, objects are merged,
  /// other values are replaced). Keys keep their order; new keys follow. Several patches apply in turn, after those of
  /// extra_message. `patch` is a JSON object.
  [[nodiscard]] Reply extra(const Json& patch) const;
  /// Merges fields into the message of each choice, by the rules of extra(). In a stream: into its delta with the role.
  [[nodiscard]] Reply extra_message(const Json& patch) const;
  /// Merges fields only into chunk `number` of a stream, from 1 (the chunk with the role), without `[DONE]`. Applied
  /// after extra(), with the same rules. verify() reports a chunk that the reply did not reach.
  [[nodiscard]] Reply extra_chunk(std::size_t number, const Json& patch) const;
  /// Adds an element to chunks(). Throws GatewayError for other replies.
  [[nodiscard]] Reply chunk(StreamChunk chunk) const;
  /// Sends the reply as scripted, ignoring the request's stop and max_tokens.
  [[nodiscard]] Reply verbatim() const;
  /// Replaces placeholders in text, refusal, thinking, arguments of tool calls, the body of a raw reply, and the
  /// strings of extra() and extra_message():
  ///
  /// | placeholder                  | value                                                                     |
  /// |------------------------------|---------------------------------------------------------------------------|
  /// | {{request.last_user_text}}   | the text of the last message of role user                                 |
  /// | {{request.body./a/0}}        | the value at a JSON pointer: a string unquoted, other values as JSON      |
  /// | {{request.header.x-id}}      | the first field of that name; keys are masked                             |
  /// | {{count}}                    | the number of the stub's call, from 1                                     |
  /// | {{now}}                      | the time on the gateway's clock, RFC 3339                                 |
  /// | {{uuid}}                     | a UUID that depends on the seed, the request and the count                |
  ///
  /// A value missing from the request is empty. In arguments, and in text that is a JSON object or list, values are
  /// escaped. Outside of quotation marks they are JSON, and a missing value is `null`. Placeholders inside values are
  /// not replaced. Throws GatewayError for an unknown placeholder, for a failure and for chunks. Text set afterwards is
  /// checked when the reply is sent; an unknown placeholder then gives a 500.
  [[nodiscard]] Reply templated() const;
  /// Sets a response header and replaces all headers of that name; see Failure::header.
  [[nodiscard]] Reply header(std::string name, std::string value) const;
  /// Adds a response header and keeps those of the same name; see Failure::add_header.
  [[nodiscard]] Reply add_header(std::string name, std::string value) const;
  /// Sends an interim response 103 with these fields (RFC 8297) as soon as the request is answered, before pace, faults
  /// and holds: `early_hints({{"Link", "</style.css>; rel=preload"}})`. Replaces earlier hints.
  [[nodiscard]] Reply early_hints(const wire::Headers& fields) const;

  /// Sets the time between tokens: `every(20ms)`, `every(log_normal(20ms, 0.5))`; see Timing. Tokens are content
  /// deltas, as in Trigger. Replaces tokens_per_second. A reply's own pace overrides Options::pace. Throws GatewayError
  /// for a failure and a raw reply, which are sent in one piece.
  [[nodiscard]] Reply every(Timing gap) const;
  /// Sets the time from the complete request to the first token, or to a whole failure or raw reply:
  /// `first_token_after(uniform(10ms, 50ms))`. Default: Options::pace for completions and chunks, else none.
  [[nodiscard]] Reply first_token_after(Timing delay) const;
  /// Sets the speed after the first token: `tokens_per_second(50)`; see Pace. Replaces every(), with the same errors.
  [[nodiscard]] Reply tokens_per_second(Rate rate) const;
  /// Sets how a stream is cut into deltas: `chunked(by_characters())`. Default: Options::pace, else by one token.
  [[nodiscard]] Reply chunked(Chunking chunking) const;
  /// Replaces the parts that `pace` sets and keeps the others.
  [[nodiscard]] Reply pace(const Pace& pace) const;
  /// Breaks the reply: `fault(after_tokens(2), reset_connection())`; see Trigger and Effect. Several faults happen at
  /// their triggers, those with the same trigger in the order set, until one ends the reply. If none ended it, verify()
  /// reports the faults not reached. Throws GatewayError for impossible faults: failures and raw replies are never
  /// streamed, so they have no events, tokens or [DONE].
  [[nodiscard]] Reply fault(Trigger trigger, Effect effect) const;
  /// Holds the reply before a token or event until the gate opens. A reply that is not streamed is held as a whole
  /// before it is sent. A hold before a token only applies if the reply has it. verify() reports a hold that the reply
  /// did not reach. Throws GatewayError for a failure, and for a token of a raw reply.
  [[nodiscard]] Reply hold(Gate gate, HoldPoint place) const;
  /// Keeps timed waits and holds when the client closes its side (FIN), for a client that half-closes and still reads.
  /// By default such a client has left, as for real servers.
  [[nodiscard]] Reply survives_half_close() const;
  /// Sets the SSE dialect of the events. Throws GatewayError for a failure and a raw reply, which have no events.
  [[nodiscard]] Reply sse(SseDialect dialect) const;
  /// Sends the head and each event in separate writes. By default, events due at the same moment share writes of up to
  /// 64 KiB; see Writes.
  [[nodiscard]] Reply write_each_event() const;
  /// Sends all bytes, including the head, in writes of at most `bytes`; 1 gives one write per byte. A write never spans
  /// two events. Each write waits until the client has read the previous one, so that each is a separate read. Only
  /// Linux can tell, for a client on the same machine. Otherwise the write waits until the previous one has been sent
  /// and 1 ms of real time has passed. The wait ends after 1 s per write and 2 s per reply. `bytes` is at least 1.
  [[nodiscard]] Reply slice_writes(std::size_t bytes) const;
  /// Sends all bytes in one write when the last byte is due. Bytes before a fault are sent before it.
  [[nodiscard]] Reply one_write() const;
  /// Sends the reply in two writes when the last byte is due. The first has `byte` bytes, including the head. The rest
  /// waits until the client has read these, as in slice_writes. A reply with no more than `byte` bytes is sent in one
  /// write, which verify() reports. `byte` is at least 1.
  [[nodiscard]] Reply split_write(std::size_t byte) const;
  /// Sends a stream in HTTP chunks of at most `bytes`, as nginx and CDNs do: chunks end inside events and characters.
  /// Each event begins a new chunk, so that it is sent when it is due. A gzip stream is cut after compression. No
  /// effect over HTTP/1.0, which has no chunks, and on a plain reply, which has a Content-Length. `bytes` is at least
  /// 1. Throws GatewayError for a failure and a raw reply, which are never streamed.
  [[nodiscard]] Reply http_chunks_of(std::size_t bytes) const;

 private:
  friend struct detail::Access;
  Reply with_usage_json(const Json& json) const;
  detail::ReplyData& edit();

  detail::Shared<detail::ReplyData> data_;  // copies share it until one of them is changed
};

/// The end of a sequence of replies: `reply("a", "b", then_nothing_more())`. Further requests that the stub matches are
/// refused like unmatched ones; older stubs are not consulted. Without it, the last reply repeats.
struct NothingMore {};
inline NothingMore then_nothing_more() { return {}; }

Reply text(std::string text);
/// Returns a reply that starts with reasoning: `thinking("…").text("…")`.
Reply thinking(std::string text);
/// Returns a reply with a tool call and no text; see Reply::tool_call.
Reply tool_call(std::string name, const Json& arguments = Json::object(), std::string id = "");
/// Returns a reply with an invalid tool call: `malformed_tool_call("get_weather", "{\"city\": ")`.
Reply malformed_tool_call(std::string name, std::string arguments, std::string id = "");
/// Returns a reply with a call of a custom tool and no text; see Reply::custom_tool_call.
Reply custom_tool_call(std::string name, std::string input, std::string id = "");
/// Returns a refusal: sent in `refusal` if the profile has that field, otherwise in `content`.
Reply refusal(std::string text);
/// Returns a reply whose text is this JSON in compact form.
Reply json_text(const Json& value);
/// A stream with exactly these events, then `[DONE]` unless the dialect omits it. Sent with status 200 whether or not
/// the request asks for a stream. The request does not change it and the gateway adds nothing, so the test writes ids,
/// usage and endings. JSON is written in the dialect of sse(); see also event() and raw_bytes().
Reply chunks(std::vector<StreamChunk> elements);
/// Returns an element of chunks(): an event with this JSON as its data, in compact form. Strings are UTF-8.
StreamChunk json_chunk(const Json& json);
/// An element of chunks(): these bytes without `data:` around them, in one HTTP chunk and one write. They may be
/// comments, pings, half an event or half a character. Not empty: an HTTP chunk of no bytes would end the body.
StreamChunk raw_bytes(std::string bytes);

/// An element of chunks(): an event without data. `lines` are its lines, separated by "\n", without the blank line at
/// the end: `event("id: 7")`, `event("event: ping\nretry: 10")`. Lines end as in the dialect, which adds no fields
/// here. A client stores the id and the retry and dispatches no event (WHATWG HTML, 9.2.6). Throws GatewayError for no
/// lines, an empty line, CR, a `data` field and invalid UTF-8.
StreamChunk event(std::string lines);

namespace detail {

Reply make_raw_reply(int status, std::string body, std::string content_type);

}  // namespace detail

/// A complete answer to plain and stream requests, with this status (200 to 599) and only the headers that every answer
/// has. It is sent after first_token_after(). The body is any bytes; for statuses 204 and 304 it is empty.
template <class Text, std::enable_if_t<std::is_convertible_v<const Text&, std::string_view> &&
                                           !nlohmann::detail::is_basic_json<Text>::value,
                                       int> = 0>
Reply raw_reply(int status, const Text& body, std::string content_type = "application/json");
// Text is a template so that a braced body is always JSON.
/// Makes a raw reply with JSON in compact form. Its strings are UTF-8.
Reply raw_reply(int status, const Json& body, std::string content_type = "application/json");
/// A reply with several choices: `choices(a, b).every(20ms)`. Each part gives its content, logprobs and finish_reason.
/// Everything else belongs to the whole reply: pace, faults, holds, model, usage, extra fields, verbatim, headers,
/// early hints, dialect, interleaved and finish_in_last_chunk. Throws GatewayError for a part that sets one of these or
/// is a failure, a raw reply or chunks.
template <class... Replies>
Reply choices(const Reply& first, const Replies&... others);

namespace detail {

Reply join_choices(const std::vector<Reply>& replies);

}  // namespace detail

template <class Text, std::enable_if_t<std::is_convertible_v<const Text&, std::string_view> &&
                                           !nlohmann::detail::is_basic_json<Text>::value,
                                       int>>
Reply raw_reply(int status, const Text& body, std::string content_type) {
  return detail::make_raw_reply(status, std::string(std::string_view(body)), std::move(content_type));
}

template <class... Replies>
Reply choices(const Reply& first, const Replies&... others) {
  return detail::join_choices({first, Reply(others)...});
}

}  // namespace mock_gateway
