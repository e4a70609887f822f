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

/// The outcome of a client's call as its caller saw it.
struct ClientOutcome {
  /// The text passed to the caller; if the call failed during a stream, the text before the failure. After a retry,
  /// what the caller shows: the text of the last try, or of all tries.
  std::string text;
  /// The tool calls of the answer, compared without ids. A client without tools skips scenarios with tool_calls().
  std::vector<wire::ToolCall> tool_calls = {};
  /// Whether the caller was informed of a failure: an exception, an error value, an error event.
  bool error = false;
  /// Whether the test had to abort the call because it did not end.
  bool hung = false;
  /// The number of requests of the call. After retries, an error may follow the concatenated texts of several tries.
  int tries = 1;
  /// The finish_reason passed to the caller, as on the wire ("tool_calls") or as OpenAI's equivalent: "stop" for "eos",
  /// "length" for "max_tokens", "tool_calls" for the "stop" of an answer with calls; "" for none. Only judged if the
  /// scenario has one and this is set. A reason that means failure ("content_filter") counts as an error.
  std::optional<std::string> finish_reason = {};
  /// Prompt, completion and total. Only judged if the scenario's whole answer has usage and this is set.
  std::optional<TokenUsage> usage = {};
  /// Whether the client asked for a stream, where finish_reason and usage may differ from a plain answer. If unset,
  /// values for either form pass, including zeros for the usage of a stream without usage.
  std::optional<bool> streamed = {};
  /// Whether the call asked for usage (`stream_options.include_usage`). The client must then not lose it.
  bool asked_for_usage = false;
};

namespace detail {

struct Access;
struct ScenarioData;

}  // namespace detail

/// The result of Scenario::judge. True if a good client may have this outcome. `CHECK(scenario.judge(outcome))`.
class [[nodiscard]] Verdict {
 public:
  enum class Kind {
    /// The caller got the whole answer and no error.
    handled,
    /// The caller was informed of an error, possibly by a finish_reason, and before it only saw text really sent.
    error_surfaced,
    /// The caller got an incomplete answer without an error, or an error as an answer.
    silent_data_loss,
    /// The call did not end by itself.
    hang,
    /// The caller got something that was not sent: duplicate text, half a character, two tool calls merged, a different
    /// finish_reason or usage.
    wrong_answer,
  };

  Kind kind() const { return kind_; }
  explicit operator bool() const { return acceptable_; }
  /// Returns the verdict. If unacceptable, also the actual outcome, the expected one, and what a good client does. If
  /// acceptable, possibly a remark, such as on an empty answer that the client passed on.
  const std::string& message() const { return message_; }

 private:
  friend struct detail::Access;
  Verdict(Kind kind, bool acceptable, std::string message);

  Kind kind_;
  bool acceptable_;
  std::string message_;
};

/// Returns "handled", "error surfaced", "silent data loss", "hang", "wrong answer".
std::string to_string(Verdict::Kind kind);
std::ostream& operator<<(std::ostream& out, Verdict::Kind kind);
std::ostream& operator<<(std::ostream& out, const Verdict& verdict);

/// A gateway behavior that has caused problems for real clients, ready to mount. A handle: cheap to copy.
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
    /// Returning the whole answer without an error.
    answer,
    /// Reporting an error, because there is no whole answer. If the scenario has a finish_reason, that reports it too.
    error,
    /// Either of these. A client that is lenient or retries gets the answer.
    answer_or_error,
  };

  /// Returns the name, in lower case with hyphens: "usage-chunk-without-choices". Names are stable across releases.
  const std::string& name() const;
  /// Returns "chunks", "tool calls", "errors", "retries", "framing", "breaks", "pace" or "connection".
  const std::string& group() const;
  /// Returns what the gateway does, in one line.
  const std::string& description() const;
  /// Returns the source: issues of a client's project ("openai-node#1292", several separated by commas), a standard, a
  /// provider's behavior or the gateway's own documentation.
  const std::string& reference() const;
  /// Returns what a good client does, in one line.
  const std::string& good_client() const;
  Expected expected() const;
  /// Returns the complete text of the reply. Empty if the reply has none.
  const std::string& text() const;
  const std::vector<wire::ToolCall>& tool_calls() const;
  /// Returns the finish_reason of the streamed answer. Empty if the answer has no reason, or is incomplete and the
  /// reason does not say so, as "content_filter" does.
  const std::string& finish_reason() const;
  /// Returns the usage of plain answers, and of streams if the scenario is about usage in streams; other streams have
  /// none. Empty for an incomplete answer.
  std::optional<TokenUsage> usage() const;
  /// Whether it only affects stream requests. Plain requests then get the same answer without the problem.
  bool needs_stream() const;
  /// Whether a client without a timeout may wait for an hour or forever. Then the test needs a timeout too.
  bool needs_timeout() const;
  /// Returns how many consecutive calls by one client the scenario needs, so that connections are reused. Judge the
  /// last.
  int calls() const;

  /// Returns `base` with the settings that the scenario needs. Options::verify_on_destruction is off, because judge()
  /// reports mistakes.
  Options options(Options base = {}) const;
  /// Applies the scenario to every chat request with a valid key; if only a first try fails, to every second one. Takes
  /// priority over stubs mounted earlier.
  void mount(Gateway& gateway) const;

  /// Whether the scenario affected this exchange: its own reply answered, in the form in which it shows, and reached
  /// all its faults. Waits for the exchange to end, as Exchange::outcome() does; false if it does not. False for
  /// scenarios of connections, which need no exchange: see Journal::connection_hits.
  bool happened_to(const Exchange& exchange) const;

  /// Judges the outcome of one call, the last of calls().
  Verdict judge(const ClientOutcome& outcome) const;

 private:
  friend struct detail::Access;
  explicit Scenario(std::shared_ptr<const detail::ScenarioData> data) : data_(std::move(data)) {}

  detail::HandlePointer<const detail::ScenarioData> data_;
};

/// Returns "answer", "error", "answer or error".
std::string to_string(Scenario::Expected expected);
std::ostream& operator<<(std::ostream& out, Scenario::Expected expected);

/// Returns all scenarios by group, and by name within a group.
const std::vector<Scenario>& catalogue();
/// Returns the scenario with this name. Throws GatewayError with the nearest names if the name is unknown.
Scenario scenario(std::string_view name);
/// Returns the description of a scenario for programs in other languages: name, group, description, reference,
/// good_client, expected, text, tool_calls, finish_reason, usage (null if absent), needs_stream, needs_timeout, calls.
Json as_json(const Scenario& scenario);

}  // namespace mock_gateway
