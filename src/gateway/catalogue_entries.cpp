// What a scenario's row can say; the usual answer, chunks and calls that scenarios are made of.

#include "catalogue_entries.hpp"

#include "../core/json_reader.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"

namespace mock_gateway::detail {

Reply ScenarioRow::stream_reply() const {
  Reply reply = stream ? stream() : catalogue_parts::usual_stream();
  if (change_dialect) {
    SseDialect dialect;
    change_dialect(dialect);
    reply = reply.sse(std::move(dialect));
  }
  return change_reply ? change_reply(reply, true) : reply;
}

Reply ScenarioRow::plain_reply() const {
  const Reply reply = plain        ? plain()
                      : tool_calls ? catalogue_parts::plain_calls(tool_calls())
                                   : catalogue_parts::usual_plain();
  return change_reply && !needs_stream ? change_reply(reply, false) : reply;
}

ScenarioDescription ScenarioRow::described(const char* group) const {
  ScenarioDescription said;
  said.name = name;
  said.group = group;
  said.description = description;
  said.reference = reference;
  said.good_client = good_client;
  said.expected = expected;
  for (std::size_t i = 0; i < repeated; ++i) said.text += text;
  said.sent = sent;
  if (tool_calls) said.tool_calls = tool_calls();
  if (spelled_calls) said.spelled_calls = spelled_calls();
  said.needs_stream = needs_stream;
  said.needs_timeout = needs_timeout;
  said.calls = calls;
  said.fails_first = first != nullptr;
  said.first_text = first_text;
  said.reason_tells = reason_tells;
  if (reason_tells) said.finish_reason = finish_reason;
  if (expected == Scenario::Expected::error) return said;
  said.finish_reason = finish_reason ? finish_reason : tool_calls ? "tool_calls" : "stop";
  if (plain_finish_reason) said.plain_finish_reason = plain_finish_reason;
  if (!needs_stream || has_streamed_usage) said.usage = TokenUsage(9, 5);
  return said;
}

ScenarioOfFile::~ScenarioOfFile() = default;

void add_group(Scenarios& all, const char* group, const ScenarioRow* rows, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(share<const ScenarioData>(ScenarioData{rows[i].described(group), &rows[i]}));
}

namespace catalogue_parts {

Json parse(const std::string& text) { return read_json(text); }

std::string json_string(std::string_view value) {
  std::string text;
  text::append_json_string(text, value);
  return text;
}

std::string replaced(std::string text, std::string_view part, std::string_view other) {
  return text.replace(text.find(part), part.size(), other);
}

std::string json_of(const ChunkText& chunk) {
  const std::string start =
      R"({"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600,"model":"mock-model")";
  if (!chunk.members.empty()) return start + "," + chunk.members + "}";
  const std::string finish = chunk.finish_reason.empty() ? "" : R"(,"finish_reason":)" + chunk.finish_reason;
  return start + R"(,"choices":[{"index":)" + chunk.index + R"(,"delta":{)" + chunk.delta + "}" + finish +
         chunk.in_choice + "}]" + chunk.in_chunk + "}";
}

ChunkText opening() { return {R"("role":"assistant","content":"")"}; }

ChunkText silent_opening() { return {R"("role":"assistant","content":null)"}; }

ChunkText saying(std::string_view text) { return {R"("content":)" + json_string(text)}; }

ChunkText closing(std::string_view finish_reason) { return {"", json_string(finish_reason)}; }

ChunkText chunk_with(std::string members) {
  ChunkText chunk;
  chunk.members = std::move(members);
  return chunk;
}

ChunkTexts usual_chunks() {
  return {opening(), saying("Zürich "), saying("21 °C, "), saying("東京 "), saying("9 °C."), closing()};
}

StreamChunk element(const ChunkText& chunk) { return mock_gateway::json_chunk(parse(json_of(chunk))); }

Reply stream_of(const ChunkTexts& chunks) {
  std::vector<StreamChunk> elements;
  for (const ChunkText& chunk : chunks) elements.push_back(element(chunk));
  return mock_gateway::chunks(std::move(elements));
}

std::string event_of(const std::string& json) { return "data: " + json + "\n\n"; }

std::string usual_events() {
  std::string events;
  for (const ChunkText& chunk : usual_chunks()) events += event_of(json_of(chunk));
  return events + "data: [DONE]\n\n";
}

std::string message_saying(std::string_view text) { return R"("role":"assistant","content":)" + json_string(text); }

std::string body_with(const std::string& message, const std::string& finish_reason, const std::string& in_choice,
                      const std::string& in_body) {
  const std::string finish = finish_reason.empty() ? "" : R"(,"finish_reason":)" + finish_reason;
  return R"({"id":"chatcmpl-catalogue","object":"chat.completion","created":1767225600,"model":"mock-model",)"
         R"("choices":[{"index":0,"message":{)" +
         message + "}" + finish + in_choice + "}]," + usage + in_body + "}";
}

std::string usual_body() { return body_with(message_saying(usual_scenario_text)); }

Reply usual_stream() { return stream_of(usual_chunks()); }

Reply stream_ending_in_text() {
  ChunkTexts chunks = usual_chunks();
  chunks.pop_back();
  chunks.back().finish_reason = R"("stop")";
  return stream_of(chunks);
}

Reply usual_plain() { return raw_reply(200, usual_body()); }

Reply until_close(const std::string& content_type, const std::string& body) {
  return usual_plain().fault(before_headers(), garbage("HTTP/1.1 200 OK\r\nContent-Type: " + content_type +
                                                       "\r\nConnection: close\r\n\r\n" + body));
}

Trigger in_a_character(bool streamed) {
  return streamed ? inside_character(2) : after_bytes(usual_body().find("ü") + 1);
}

wire::ToolCall weather_call() { return {"call_1", "get_weather", R"({"city":"Zürich"})"}; }

wire::ToolCall other_weather_call() { return {"call_2", "get_weather", R"({"city":"東京"})"}; }

std::vector<wire::ToolCall> one_weather_call() { return {weather_call()}; }

std::vector<wire::ToolCall> two_weather_calls() { return {weather_call(), other_weather_call()}; }

std::string calling(const std::vector<wire::ToolCall>& calls, const std::string& content) {
  std::string list;
  for (const wire::ToolCall& call : calls) {
    list += (list.empty() ? "" : ",") + (R"({"id":)" + json_string(call.id)) + R"(,"type":"function","function":{)" +
            function_of(call.name, call.arguments) + "}}";
  }
  return R"("role":"assistant","content":)" + content + R"(,"tool_calls":[)" + list + "]";
}

std::string head_of(const char* index, const std::string& id) {
  return std::string(R"("index":)") + index + R"(,"id":)" + json_string(id) + R"(,"type":"function",)";
}

std::string function_of(std::string_view name, std::string_view arguments) {
  const std::string members = R"("arguments":)" + json_string(arguments);
  return name.empty() ? members : R"("name":)" + json_string(name) + "," + members;
}

ChunkText fragment(const std::string& head, const std::string& function) {
  return {R"("tool_calls":[{)" + head + R"("function":{)" + function + "}}]"};
}

Reply plain_calls(const std::vector<wire::ToolCall>& calls) {
  return raw_reply(200, body_with(calling(calls), R"("tool_calls")"));
}

}  // namespace catalogue_parts
}  // namespace mock_gateway::detail
