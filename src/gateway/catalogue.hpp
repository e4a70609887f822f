#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/json.hpp"
#include "../core/shared.hpp"
#include "../model/reply.hpp"
#include "../request/chat_request.hpp"
#include "gateway.hpp"
#include "options.hpp"

namespace mock_gateway {

/// What became of a client's call, as its caller saw it.
struct ClientOutcome {
  /// The answer's text, all that was given to the caller; of a call that failed in mid-stream, what came before. After
  /// a retry, what stands where the caller shows it: the last try's text alone, or that of all tries.
  std::string text;
  /// The answer's tool calls; their ids are not compared. A client without tools leaves out the scenarios that have
  /// tool_calls().
  std::vector<wire::ToolCall> tool_calls = {};
  /// Whether the caller was told that the call failed: an exception, an error value, an error event.
  bool error = false;
  /// Whether the call had to be cut off from outside, because it did not end by itself.
  bool hung = false;
  /// How many requests the call took: more than 1 where the client tried again. Then an error may follow what several
  /// tries said, one after the other.
  int tries = 1;
  /// The finish_reason that the caller was told, as the wire has it ("tool_calls"), or in OpenAI's word for the same:
  /// "stop" for "eos", "length" for "max_tokens", "tool_calls" for the "stop" of an answer with calls; "" for none.
  /// Judged where the scenario has one; not set: not looked at. Where it tells of the failure by itself
  /// ("content_filter"), a caller that was told it has been told as well as by an error.
  std::optional<std::string> finish_reason = {};
  /// The usage that the caller was told: prompt, completion and total. Judged where the scenario has a whole answer
  /// with one; not set: not looked at.
  std::optional<TokenUsage> usage = {};
  /// Whether the client asked for a stream: finish_reason and usage may be others there than in a plain answer. Not
  /// set: what fits either form is right, so that zeros pass for the usage of a stream, which has none.
  std::optional<bool> streamed = {};
  /// Whether the call asked for the usage of a stream (`stream_options.include_usage`) to hand it on. What has one and
  /// hands none on has lost it.
  bool asked_for_usage = false;
};

namespace detail {

struct Access;
struct ScenarioData;

}  // namespace detail

/// What Scenario::judge says. True when that is what a good client may do in the scenario. Prints itself:
/// `CHECK(scenario.judge(outcome))`.
class [[nodiscard]] Verdict {
 public:
  enum class Kind {
    /// The whole answer was given to the caller, and no error.
    handled,
    /// The caller was told of an error, or of a finish_reason that says as much, and was shown nothing before it that
    /// nobody said.
    error_surfaced,
    /// The caller was told of no error, and what it got lacks something, or an error was taken for an answer.
    silent_data_loss,
    /// The call did not end by itself.
    hang,
    /// What the caller got, with an error or without, holds what nobody said: text twice, half a character, two tool
    /// calls in one, another finish_reason or usage.
    wrong_answer,
  };

  Kind kind() const { return kind_; }
  /// Whether a good client may have that outcome.
  explicit operator bool() const { return acceptable_; }
  /// The verdict, and where it is not acceptable what came, what should have come, and what a good client does.
  const std::string& message() const { return message_; }

 private:
  friend struct detail::Access;
  Verdict(Kind kind, bool acceptable, std::string message);

  Kind kind_;
  bool acceptable_;
  std::string message_;
};

/// "handled", "error surfaced", "silent data loss", "hang", "wrong answer".
std::string to_string(Verdict::Kind kind);
std::ostream& operator<<(std::ostream& out, Verdict::Kind kind);
/// Its message, with a line end behind it if it has several lines.
std::ostream& operator<<(std::ostream& out, const Verdict& verdict);

/// A way for a gateway to behave that clients have met, ready to be mounted. A handle: cheap to copy.
///
///     for (const Scenario& scenario : catalogue()) {
///       CAPTURE(scenario.name());
///       Gateway gateway{scenario.options()};
///       scenario.mount(gateway);
///       for (int call = 1; call < scenario.calls(); ++call) run_my_client(gateway.base_url(), gateway.api_key());
///       CHECK(scenario.judge(run_my_client(gateway.base_url(), gateway.api_key())));
///       CHECK(gateway.review());  // it retried as told, closed its streams, …
///     }
class Scenario {
 public:
  /// What a good client may do.
  enum class Expected {
    /// It gives the whole answer; there is no reason for an error.
    answer,
    /// It tells its caller of an error: there is no whole answer. Where the scenario has a finish_reason all the same,
    /// that one tells of it too.
    error,
    /// Either: a client that is lenient, or tries again, gets the answer.
    answer_or_error,
  };

  /// In lower case with hyphens: "usage-chunk-without-choices". It stays from release to release.
  const std::string& name() const;
  /// "chunks", "tool calls", "errors", "retries", "framing", "breaks", "pace", "connection".
  const std::string& group() const;
  /// What the gateway does, in a line.
  const std::string& description() const;
  /// Where it comes from: reports to a client's project ("openai-node#1292", several with commas between them), else a
  /// standard, a provider's way, or the gateway's own documentation.
  const std::string& reference() const;
  /// What a good client does, in a line.
  const std::string& good_client() const;
  /// What a good client may do.
  Expected expected() const;
  /// All text of the reply: what the caller gets when nothing is lost. Empty when the reply has none.
  const std::string& text() const;
  /// All tool calls of the reply.
  const std::vector<wire::ToolCall>& tool_calls() const;
  /// The finish_reason of the answer, as it is streamed. Empty when there is none, or no whole answer, unless the
  /// reason is what says that it is not whole: "content_filter".
  const std::string& finish_reason() const;
  /// The usage of the answer: that of plain answers, and of streams where the scenario is about usage in streams, since
  /// no other stream has one. Nothing when there is no whole answer.
  std::optional<TokenUsage> usage() const;
  /// Whether it shows in stream requests only. Plain ones then get the same answer in good order.
  bool needs_stream() const;
  /// Whether a client without a timeout of its own may wait for an hour or without end. The test then needs one too.
  bool needs_timeout() const;
  /// How many calls the scenario needs, one after another by the same client, so that connections are kept. The last
  /// one is judged.
  int calls() const;

  /// How the gateway must start: `base`, with what the scenario needs. Options::verify_on_destruction is off, since
  /// judge() says what was wrong.
  Options options(Options base = {}) const;
  /// Makes the gateway behave so to every chat request of any client with a valid key, again and again; where only a
  /// first try fails, to every other one. Stubs that were mounted before stay behind those of the scenario.
  void mount(Gateway& gateway) const;

  /// Whether the scenario happened to this exchange: its own reply answered, in the form in which it shows, and came to
  /// each of its faults. Waits for the exchange to end, as Exchange::outcome() does: false when it is still under way
  /// then. False for scenarios of connections, which strike without an exchange: Journal::connection_hits has them.
  bool happened_to(const Exchange& exchange) const;

  /// Whether that outcome of one call, the last of calls(), is one that a good client may have.
  Verdict judge(const ClientOutcome& outcome) const;

 private:
  friend struct detail::Access;
  explicit Scenario(std::shared_ptr<const detail::ScenarioData> data) : data_(std::move(data)) {}

  detail::Lasting<const detail::ScenarioData> data_;
};

/// "answer", "error", "answer or error".
std::string to_string(Scenario::Expected expected);
std::ostream& operator<<(std::ostream& out, Scenario::Expected expected);

/// All scenarios, group by group, sorted by name within each.
const std::vector<Scenario>& catalogue();
/// The scenario of that name. Throws GatewayError, which lists the nearest names, when there is none.
Scenario scenario(std::string_view name);
/// All that a scenario says of itself, for programs that are not written in C++: name, group, description, reference,
/// good_client, expected, text, tool_calls, finish_reason, usage (null where there is none), needs_stream,
/// needs_timeout, calls.
Json as_json(const Scenario& scenario);

}  // namespace mock_gateway
