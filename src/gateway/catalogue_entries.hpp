#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../core/json.hpp"
#include "../model/chat_request.hpp"
#include "../model/reply.hpp"
#include "catalogue.hpp"
#include "gateway.hpp"

namespace mock_gateway {
namespace detail {

/// What a stream request gets, and what a plain one.
struct ScenarioReplies {
  Reply streamed;
  Reply plain;
};

/// A scenario as it is written down; setters return it, so that it is written in one expression.
struct ScenarioData {
  ScenarioData& from(std::string references) { return reference = std::move(references), *this; }
  ScenarioData& good(std::string line) { return good_client = std::move(line), *this; }
  ScenarioData& only_error() { return expected = Scenario::Expected::error, *this; }
  ScenarioData& error_too() { return expected = Scenario::Expected::answer_or_error, *this; }
  ScenarioData& says(std::string whole) { return text = std::move(whole), *this; }
  ScenarioData& only_calls(std::vector<ToolCall> calls_made) {
    return text.clear(), tool_calls = std::move(calls_made), *this;
  }
  ScenarioData& streams_only() { return needs_stream = true, *this; }
  ScenarioData& endless() { return needs_timeout = true, *this; }
  ScenarioData& on_second_call() { return calls = 2, *this; }
  ScenarioData& reply(ScenarioReplies (*make)()) { return replies = make, *this; }
  /// What the first of each two requests gets, streamed or not.
  ScenarioData& first_reply(Reply (*make)()) { return first = make, *this; }
  ScenarioData& connection(void (*queue)(Gateway&)) { return faults = queue, *this; }

  std::string name;
  std::string group;
  std::string description;
  std::string reference = {};
  std::string good_client = {};
  Scenario::Expected expected = Scenario::Expected::answer;
  std::string text = {};
  std::vector<ToolCall> tool_calls = {};
  bool needs_stream = false;
  bool needs_timeout = false;
  int calls = 1;
  ScenarioReplies (*replies)() = nullptr;  // null: the usual answer
  Reply (*first)() = nullptr;
  void (*faults)(Gateway&) = nullptr;
};

/// The scenarios of one group.
class ScenarioGroup {
 public:
  explicit ScenarioGroup(std::string name) : name_(std::move(name)) {}

  /// Begins one; its text is the usual answer's.
  ScenarioData& add(std::string name, std::string description);
  /// Sorted by name.
  std::vector<std::shared_ptr<ScenarioData>> take();

 private:
  std::string name_;
  std::vector<std::shared_ptr<ScenarioData>> entries_;
};

namespace catalogue_parts {

/// The usual answer, which has characters of two and three bytes.
inline constexpr const char* usual_text = "Zürich 21 °C, 東京 9 °C.";
/// Its deltas.
std::vector<std::string> usual_pieces();

/// A streamed chunk with these choices.
Json chunk_with(Json choices);
/// A choice of a chunk.
Json choice_of(Json delta, Json finish_reason = nullptr, int index = 0);
/// A chunk with one choice.
Json delta_chunk(Json delta, Json finish_reason = nullptr);
/// The chunk with the role.
Json opening();
/// A chunk with text.
Json saying(const std::string& text);
/// The chunk that ends an answer.
Json closing(const std::string& finish_reason = "stop");
/// The usual answer's chunks: the role, four with text, the end.
std::vector<Json> usual_chunks();
Reply stream_of(const std::vector<Json>& chunks);
/// A chunk, as an event of Server-Sent Events.
std::string event_of(const Json& chunk);
/// All events of the usual answer.
std::string usual_events();

/// A plain completion.
Json body_with(Json message, Json finish_reason = "stop");
/// That of the usual answer.
Json usual_body();
Json usage();

Reply usual_stream();
Reply usual_plain();

/// `get_weather({"city":"Zürich"})`.
ToolCall weather_call();
/// A message that makes calls.
Json calling(const std::vector<ToolCall>& calls);
/// An element of a chunk's tool_calls.
Json fragment(const Json& fields, const Json& function);
/// A chunk with one such element.
Json calling_chunk(const Json& fragment);
/// A plain reply with calls.
Reply plain_calls(const std::vector<ToolCall>& calls);

}  // namespace catalogue_parts

std::vector<std::shared_ptr<ScenarioData>> catalogue_of_chunks();
std::vector<std::shared_ptr<ScenarioData>> catalogue_of_tool_calls();
std::vector<std::shared_ptr<ScenarioData>> catalogue_of_errors();
std::vector<std::shared_ptr<ScenarioData>> catalogue_of_retries();
std::vector<std::shared_ptr<ScenarioData>> catalogue_of_framing();
std::vector<std::shared_ptr<ScenarioData>> catalogue_of_breaks();
std::vector<std::shared_ptr<ScenarioData>> catalogue_of_pace();
std::vector<std::shared_ptr<ScenarioData>> catalogue_of_connections();

}  // namespace detail
}  // namespace mock_gateway
