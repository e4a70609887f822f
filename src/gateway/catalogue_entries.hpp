#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/json.hpp"
#include "../model/connection_fault.hpp"
#include "../model/fault.hpp"
#include "../model/pace.hpp"
#include "../model/reply.hpp"
#include "../model/sse_dialect.hpp"
#include "../request/chat_request.hpp"
#include "catalogue.hpp"
#include "gateway.hpp"

namespace mock_gateway::detail {

struct ScenarioDescription;

/// The usual answer, with characters of two and three bytes.
inline constexpr const char* usual_scenario_text = "Zürich 21 °C, 東京 9 °C.";

// Building blocks of scenarios. In text that becomes JSON, members have no braces around them.
namespace catalogue_parts {

/// The chunks of a stream. A string among them is sent as raw bytes.
using Chunks = std::vector<Json>;

/// The properties of a scenario's row, combined with |.
enum Trait : unsigned {
  whole_answer = 0,
  /// A good client may report an error.
  error_too = 1,
  only_error = 2,
  /// A good client reports an error and shows no text.
  no_answer = only_error | 4,
  /// A good client reports an error, or passes on the finish_reason that reveals the problem.
  reason_tells = only_error | 8,
  /// A plain request gets a correct usual answer.
  streams_only = 16,
  /// The stream has usage; a plain answer always has it.
  streams_usage = streams_only | 32,
  endless = 64,
  /// The problem occurs in the second call on a reused connection.
  second_call = 128,
  /// The row's reply answers the first of every two requests, the usual answer the second.
  then_answer = 256,
  first_try = error_too | then_answer,
  /// The row's reply has a Location on the gateway.
  redirects = 512,
};

struct Says {
  const char* text;
  std::size_t times = 1;
};

/// Additional or alternative text that a client may show before it reports an error; of the first try with then_answer.
struct Sends {
  const char* text;
};

/// The finish_reason of streams, and of plain answers if different. Default: tool_calls with calls, otherwise stop.
struct Finishes {
  const char* streamed;
  const char* plain = nullptr;
};

/// The text spells these calls, and a client may make them instead.
struct Spells {
  std::vector<wire::ToolCall> (*calls)();
};

/// The text has a part that a client may leave out. This is the rest.
struct Leaves {
  const char* text;
};

}  // namespace catalogue_parts

/// A scenario: its differences from the usual answer, in any order. constexpr, so that a table of rows needs no code.
struct ScenarioRow {
  template <class... Parts>
  constexpr ScenarioRow(const char* scenario, const char* line, const char* references, const char* client,
                        unsigned all_traits, Parts... parts)
      : name(scenario), description(line), reference(references), good_client(client), traits(all_traits) {
    (set(parts), ...);
  }

  bool has(catalogue_parts::Trait trait) const { return (traits & trait) == trait; }
  /// Returns the reply to a stream or plain request; with then_answer, to the second request.
  Reply reply(bool streamed) const;
  bool has_connection_faults() const { return connection || faults; }
  Reply broken(const Reply& reply, bool streamed) const;
  /// With then_answer, the reply to the first of every two requests.
  Reply own_reply(bool streamed) const;
  ScenarioDescription described(const char* group) const;

  const char* name;
  const char* description;
  const char* reference;
  const char* good_client;
  unsigned traits;
  catalogue_parts::Says text{usual_scenario_text};
  const char* sent = "";
  const char* left = "";
  catalogue_parts::Finishes finish_reason{nullptr};
  std::vector<wire::ToolCall> (*tool_calls)() = nullptr;
  std::vector<wire::ToolCall> (*spelled_calls)() = nullptr;
  const char* given = "";
  Reply (*make)(bool streamed) = nullptr;
  Failure (*failure)() = nullptr;
  Failure (*failure_of)(const char* given) = nullptr;
  catalogue_parts::Chunks (*chunks)() = nullptr;
  void (*change)(catalogue_parts::Chunks&) = nullptr;
  void (*change_by)(catalogue_parts::Chunks&, const char* given) = nullptr;
  std::string (*body)() = nullptr;
  std::string (*body_of)(const char* given) = nullptr;
  SseDialect (*dialect)() = nullptr;
  Reply (*adapt)(const Reply&) = nullptr;
  Trigger (*place)() = nullptr;
  Trigger (*place_in)(bool streamed) = nullptr;
  Effect (*effect)() = nullptr;
  ConnectionFault (*connection)() = nullptr;
  void (*faults)(Gateway&) = nullptr;

 private:
  Reply stream_reply() const;
  std::string plain_body() const;
  std::string whole_text() const;
  const char* reason() const;

  constexpr void set(catalogue_parts::Says whole) { text = whole; }
  constexpr void set(catalogue_parts::Sends all) { sent = all.text; }
  constexpr void set(catalogue_parts::Leaves rest) { left = rest.text; }
  constexpr void set(catalogue_parts::Finishes reasons) { finish_reason = reasons; }
  constexpr void set(catalogue_parts::Spells spelled) { spelled_calls = spelled.calls; }
  /// The answer's tool calls, which replace its text. For an answer with both, put Says after the calls in the row.
  constexpr void set(std::vector<wire::ToolCall> (*calls)()) {
    text = {""};
    tool_calls = calls;
  }
  /// The argument for row functions that take a `const char*`.
  constexpr void set(const char* value) { given = value; }
  constexpr void set(Reply (*function)(bool)) { make = function; }
  constexpr void set(Failure (*function)()) { failure = function; }
  constexpr void set(Failure (*function)(const char*)) { failure_of = function; }
  /// The stream's chunks, or a function that changes the usual chunks.
  constexpr void set(catalogue_parts::Chunks (*function)()) { chunks = function; }
  constexpr void set(void (*function)(catalogue_parts::Chunks&)) { change = function; }
  constexpr void set(void (*function)(catalogue_parts::Chunks&, const char*)) { change_by = function; }
  /// The body of plain answers. Default: a body with the row's text, calls and finish_reason.
  constexpr void set(std::string (*function)()) { body = function; }
  constexpr void set(std::string (*function)(const char*)) { body_of = function; }
  constexpr void set(SseDialect (*function)()) { dialect = function; }
  constexpr void set(Reply (*function)(const Reply&)) { adapt = function; }
  constexpr void set(Trigger (*function)()) { place = function; }
  constexpr void set(Trigger (*function)(bool)) { place_in = function; }
  constexpr void set(Effect (*function)()) { effect = function; }
  constexpr void set(ConnectionFault (*function)()) { connection = function; }
  constexpr void set(void (*function)(Gateway&)) { faults = function; }
};

struct ScenarioDescription {
  std::string name = {};
  std::string group = {};
  std::string description = {};
  std::string reference = {};
  std::string good_client = {};
  Scenario::Expected expected = Scenario::Expected::answer;
  std::string text = {};
  std::string sent = {};
  std::string left = {};
  std::vector<wire::ToolCall> tool_calls = {};
  std::vector<wire::ToolCall> spelled_calls = {};
  std::string finish_reason = {};
  std::optional<std::string> plain_finish_reason = {};
  bool reason_tells = false;
  std::optional<TokenUsage> usage = {};
  bool needs_stream = false;
  bool needs_timeout = false;
  int calls = 1;
  /// Whether the first of every two requests fails, and the text before the failure.
  bool fails_first = false;
  std::string first_text = {};
};

/// A scenario from a file. A higher layer reads files.
class ScenarioOfFile {
 public:
  ScenarioOfFile() = default;
  ScenarioOfFile(const ScenarioOfFile&) = delete;
  ScenarioOfFile& operator=(const ScenarioOfFile&) = delete;
  virtual ~ScenarioOfFile();

  virtual Options options(Options base) const = 0;
  virtual void mount(Gateway& gateway) const = 0;
  /// Only called for exchanges that a stub answered.
  virtual bool answered(const Exchange& exchange) const = 0;
};

struct ScenarioData {
  ScenarioDescription said;
  /// A row of the catalogue or a scenario from a file; the unused pointer is null.
  const ScenarioRow* row = nullptr;
  std::shared_ptr<const ScenarioOfFile> file = {};
};

using Scenarios = std::vector<std::shared_ptr<const ScenarioData>>;

/// Adds the scenarios of a group, sorted by name. The rows must outlive them.
void add_group(Scenarios& all, const char* group, const ScenarioRow* rows, std::size_t count);

namespace catalogue_parts {

/// Parses JSON text of the catalogue.
Json parse(const std::string& text);
std::string json_string(std::string_view value);
/// Replaces `part`, which must occur in the text.
std::string replaced(std::string text, std::string_view part, std::string_view other);

std::string event_of(const std::string& json);
/// Returns a chunk. `finish_reason` is JSON text.
Json chunk_of(const std::string& delta, const std::string& finish_reason = "null");
Json& choice_of(Json& chunk);
Json& delta_of(Json& chunk);
/// Adds or replaces members. Json::operator[] would compile many templates for each length of a literal.
void add_to(Json& object, const std::string& members);
void replace_in(Json& json, std::string_view part, std::string_view other);
Json opening();
Json saying(std::string_view text);
Json closing(std::string_view finish_reason = "stop");
/// Returns a chunk with these members after the model.
Json chunk_with(const std::string& members);
/// Returns the chunks of the usual answer: the role, four with text, the end.
Chunks usual_chunks();
Reply stream_of(const Chunks& chunks);
std::string usual_events();

inline constexpr const char* usage = R"("usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14})";
std::string message_saying(std::string_view text);
/// `finish_reason` is JSON text. `in_choice` and `in_body` are JSON members; each begins with a comma.
std::string body_with(const std::string& message, const std::string& finish_reason = R"("stop")",
                      const std::string& in_choice = "", const std::string& in_body = "");
std::string usual_body();

Reply usual_reply(bool streamed);
std::string usual_bytes(bool streamed);
const char* usual_type_of(bool streamed);
void end_with(Chunks& chunks, const char* finish_reason);
void end_in_text(Chunks& chunks);

/// Returns the page that a proxy sends if its server does not answer.
Failure no_answer_behind_proxy(int status, const char* what);
/// Returns a complete handwritten response without a length: its body ends when the connection closes (RFC 9112, 6.3).
Reply until_close(bool streamed, const std::string& body);
/// Returns a trigger in the middle of the text: in a stream after two pieces, in a plain body after 150 bytes.
Trigger in_the_middle(bool streamed);
/// Returns a trigger after the first byte of the usual answer's first two-byte character.
Trigger in_a_character(bool streamed);

/// Returns `get_weather({"city":"Zürich"})` as call_1; the second function adds one for Tokyo as call_2.
std::vector<wire::ToolCall> one_weather_call();
std::vector<wire::ToolCall> two_weather_calls();

std::string calling(const std::vector<wire::ToolCall>& calls, const std::string& content = "null");
std::string head_of(const std::string& index, const std::string& id);
/// Returns the members of a call's `function`. An empty name is omitted.
std::string function_of(std::string_view name, std::string_view arguments);
/// Returns a chunk with a part of a tool call. `head`: its members before `function`, each followed by a comma.
Json fragment(const std::string& head, const std::string& function);
Json more(std::string_view arguments);
/// Returns the chunks of `one_weather_call`: the role, its head, two fragments of its arguments, the end.
Chunks usual_call_chunks();
Json silent_opening();
std::string body_calling(const std::vector<wire::ToolCall>& calls);

void add_chunks(Scenarios& all);
void add_tool_calls(Scenarios& all);
void add_failures(Scenarios& all);
void add_framing(Scenarios& all);
void add_delivery(Scenarios& all);

}  // namespace catalogue_parts
}  // namespace mock_gateway::detail
