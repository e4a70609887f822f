#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/json.hpp"
#include "../model/chat_request.hpp"
#include "../model/fault.hpp"
#include "../model/pace.hpp"
#include "../model/reply.hpp"
#include "../model/sse_dialect.hpp"
#include "catalogue.hpp"
#include "gateway.hpp"

namespace mock_gateway::detail {

struct ScenarioDescription;

/// The usual answer, which has characters of two and three bytes.
inline constexpr const char* usual_scenario_text = "Zürich 21 °C, 東京 9 °C.";

/// A scenario as it is written down. Everything is constexpr, so that a table of rows is made by the compiler and costs
/// its users no code. Both forms have the usual answer unless a row says otherwise.
struct ScenarioRow {
  constexpr ScenarioRow(const char* scenario, const char* line) : name(scenario), description(line) {}

  constexpr ScenarioRow& from(const char* references) { return reference = references, *this; }
  constexpr ScenarioRow& good(const char* line) { return good_client = line, *this; }
  constexpr ScenarioRow& only_error() { return expected = Scenario::Expected::error, *this; }
  constexpr ScenarioRow& error_too() { return expected = Scenario::Expected::answer_or_error, *this; }
  /// An error is right, and so is this finish_reason, which says by itself that something is wrong.
  constexpr ScenarioRow& tells(const char* reason) {
    return finish_reason = reason, reason_tells = true, expected = Scenario::Expected::error, *this;
  }
  constexpr ScenarioRow& says(const char* whole) { return text = whole, *this; }
  /// Text that a stream has besides, or in place of the text: what a client may show before it reports an error.
  constexpr ScenarioRow& sends(const char* all) { return sent = all, *this; }
  /// The finish_reason: of streams, and of plain answers, whose is the same unless given. Where it is not set: stop, or
  /// tool_calls where there are calls.
  constexpr ScenarioRow& finishes(const char* streamed_reason, const char* plain_reason = nullptr) {
    return finish_reason = streamed_reason, plain_finish_reason = plain_reason, *this;
  }
  /// The stream has usage; a plain answer has it always.
  constexpr ScenarioRow& streams_usage() { return has_streamed_usage = true, *this; }
  /// The text, said so often.
  constexpr ScenarioRow& times(std::size_t count) { return repeated = count, *this; }
  constexpr ScenarioRow& only_calls(std::vector<wire::ToolCall> (*calls_made)()) {
    return text = "", tool_calls = calls_made, *this;
  }
  /// These calls stand in the text, and a client may make them in its place.
  constexpr ScenarioRow& spells_calls(std::vector<wire::ToolCall> (*calls_spelled)()) {
    return spelled_calls = calls_spelled, *this;
  }
  /// A plain request gets the usual answer in good order.
  constexpr ScenarioRow& streams_only() { return needs_stream = true, *this; }
  constexpr ScenarioRow& endless() { return needs_timeout = true, *this; }
  constexpr ScenarioRow& on_second_call() { return calls = 2, *this; }
  /// What a stream request gets.
  constexpr ScenarioRow& streamed(Reply (*make)()) { return stream = make, *this; }
  /// What a plain request gets. Without it: the calls of the scenario, or the usual answer.
  constexpr ScenarioRow& unstreamed(Reply (*make)()) { return plain = make, *this; }
  /// What either gets.
  constexpr ScenarioRow& reply(Reply (*make)()) { return streamed(make).unstreamed(make); }
  /// The stream is written in a dialect changed so.
  constexpr ScenarioRow& dialect(void (*change)(SseDialect&)) { return change_dialect = change, *this; }
  /// The reply is changed so: in both forms, unless the scenario shows in streams only. The function hears which.
  constexpr ScenarioRow& changed(Reply (*change)(const Reply& reply, bool streamed)) {
    return change_reply = change, *this;
  }
  /// What the first of each two requests gets, streamed or not.
  constexpr ScenarioRow& first_reply(Reply (*make)()) { return first = make, *this; }
  /// What the first of each two stream requests gets, where it is another, and its text.
  constexpr ScenarioRow& first_streamed(Reply (*make)(), const char* its_text) {
    return first_stream = make, first_text = its_text, *this;
  }
  constexpr ScenarioRow& connection(void (*queue)(Gateway&)) { return faults = queue, *this; }

  Reply stream_reply() const;
  Reply plain_reply() const;
  ScenarioDescription described(const char* group) const;

  const char* name;
  const char* description;
  const char* reference = "";
  const char* good_client = "";
  Scenario::Expected expected = Scenario::Expected::answer;
  const char* text = usual_scenario_text;
  const char* sent = "";
  const char* finish_reason = nullptr;
  const char* plain_finish_reason = nullptr;
  bool reason_tells = false;
  bool has_streamed_usage = false;
  std::size_t repeated = 1;
  std::vector<wire::ToolCall> (*tool_calls)() = nullptr;
  std::vector<wire::ToolCall> (*spelled_calls)() = nullptr;
  bool needs_stream = false;
  bool needs_timeout = false;
  int calls = 1;
  Reply (*stream)() = nullptr;
  Reply (*plain)() = nullptr;
  void (*change_dialect)(SseDialect&) = nullptr;
  Reply (*change_reply)(const Reply& reply, bool streamed) = nullptr;
  Reply (*first)() = nullptr;
  Reply (*first_stream)() = nullptr;
  const char* first_text = "";
  void (*faults)(Gateway&) = nullptr;
};

/// All that a scenario says of itself, and what it takes to judge a client.
struct ScenarioDescription {
  std::string name = {};
  std::string group = {};
  std::string description = {};
  std::string reference = {};
  std::string good_client = {};
  Scenario::Expected expected = Scenario::Expected::answer;
  std::string text = {};
  /// Text that is sent besides, or in place of the text: what a client may show before it reports an error.
  std::string sent = {};
  std::vector<wire::ToolCall> tool_calls = {};
  /// Calls that stand in the text: a client may make them in its place.
  std::vector<wire::ToolCall> spelled_calls = {};
  std::string finish_reason = {};
  /// The finish_reason of plain answers, where it is another.
  std::optional<std::string> plain_finish_reason = {};
  /// Whether a client that hands on the finish_reason has told of the failure.
  bool reason_tells = false;
  std::optional<TokenUsage> usage = {};
  bool needs_stream = false;
  bool needs_timeout = false;
  int calls = 1;
  /// Whether the first of each two requests fails, and the text that it has before.
  bool fails_first = false;
  std::string first_text = {};
};

/// What a scenario does that a file says. Files are read in a higher layer.
class ScenarioOfFile {
 public:
  ScenarioOfFile() = default;
  ScenarioOfFile(const ScenarioOfFile&) = delete;
  ScenarioOfFile& operator=(const ScenarioOfFile&) = delete;
  virtual ~ScenarioOfFile();

  virtual Options options(Options base) const = 0;
  virtual void mount(Gateway& gateway) const = 0;
  /// Whether one of its stubs answered. Called for an exchange that some stub answered.
  virtual bool answered(const Exchange& exchange) const = 0;
};

/// What a Scenario is a handle of.
struct ScenarioData {
  ScenarioDescription said;
  /// What it does: a row of the catalogue, or a file. One of both is null.
  const ScenarioRow* row = nullptr;
  std::shared_ptr<const ScenarioOfFile> file = {};
};

using Scenarios = std::vector<std::shared_ptr<const ScenarioData>>;

/// Appends the scenarios of a group. Its rows, which must outlive them, are sorted by name.
void add_group(Scenarios& all, const char* group, const ScenarioRow* rows, std::size_t count);

// What the replies are made of, as JSON text. Members stand without the braces around them.
namespace catalogue_parts {

/// A chunk of a stream.
struct ChunkText {
  /// The members of the delta.
  std::string delta;
  /// Empty: the choice has none.
  std::string finish_reason = "null";
  /// More members of the choice, each with a comma before it; and of the chunk.
  std::string in_choice = {};
  std::string in_chunk = {};
  const char* index = "0";
  /// Unless empty: all members of the chunk after its model, in place of one choice.
  std::string members = {};
};
using ChunkTexts = std::vector<ChunkText>;

/// The one place where text of the catalogue becomes JSON.
Json parse(const std::string& text);
/// A string of JSON with this value.
std::string json_string(std::string_view value);
/// The text with another in place of the first such part, which it has.
std::string replaced(std::string text, std::string_view part, std::string_view other);

std::string json_of(const ChunkText& chunk);
/// The chunk with the role.
ChunkText opening();
/// A chunk with text.
ChunkText saying(std::string_view text);
/// The chunk that ends an answer.
ChunkText closing(std::string_view finish_reason = "stop");
/// Chunks whose members after the model are these.
ChunkText chunk_with(std::string members);
/// The usual answer's chunks: the role, four with text, the end.
ChunkTexts usual_chunks();
StreamChunk element(const ChunkText& chunk);
Reply stream_of(const ChunkTexts& chunks);
/// JSON as an event of Server-Sent Events.
std::string event_of(const std::string& json);
/// All events of the usual answer.
std::string usual_events();

/// The usage of every answer that has one.
inline constexpr const char* usage = R"("usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14})";
/// The members of a message that says this.
std::string message_saying(std::string_view text);
/// A plain completion. `finish_reason` is JSON, as are `in_choice` and `in_body`; see ChunkText.
std::string body_with(const std::string& message, const std::string& finish_reason = R"("stop")",
                      const std::string& in_choice = "", const std::string& in_body = "");
/// That of the usual answer.
std::string usual_body();

Reply usual_stream();
/// The usual answer, whose last text has the finish_reason in its chunk.
Reply stream_ending_in_text();
Reply usual_plain();

/// The page that a proxy sends when its server gives it no answer.
Failure no_answer_behind_proxy(int status, const char* what);
/// A whole response by hand, whose body ends with the connection (RFC 9112, 6.3).
Reply until_close(const std::string& content_type, const std::string& body);
/// After the first byte of the usual answer's first character of two.
Trigger in_a_character(bool streamed);

/// `get_weather({"city":"Zürich"})`, as call_1; and of Tokyo, as call_2.
wire::ToolCall weather_call();
wire::ToolCall other_weather_call();
std::vector<wire::ToolCall> one_weather_call();
std::vector<wire::ToolCall> two_weather_calls();

/// The members of a message that makes calls.
std::string calling(const std::vector<wire::ToolCall>& calls, const std::string& content = "null");
/// The head of a fragment: index, id and type.
std::string head_of(const char* index, const std::string& id);
/// The members of a fragment's function; without a name, the arguments alone.
std::string function_of(std::string_view name, std::string_view arguments);
/// A chunk with one fragment of a call: what stands before its function, with a comma behind it, and its function.
ChunkText fragment(const std::string& head, const std::string& function);
/// The chunk with the role, which says nothing.
ChunkText silent_opening();
/// A plain reply with calls.
Reply plain_calls(const std::vector<wire::ToolCall>& calls);

}  // namespace catalogue_parts

void add_chunks(Scenarios& all);
void add_tool_calls(Scenarios& all);
void add_errors(Scenarios& all);
void add_retries(Scenarios& all);
void add_framing(Scenarios& all);
void add_breaks(Scenarios& all);
void add_pace(Scenarios& all);
void add_connections(Scenarios& all);

}  // namespace mock_gateway::detail
