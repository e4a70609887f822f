// The contents of a scenario's row; the usual answer, chunks and calls for scenarios.

#include "catalogue_entries.hpp"

#include "../core/json_reader.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"

namespace mock_gateway::detail {

Reply ScenarioRow::own_reply(bool streamed) const {
  if (make) return make(streamed);
  if (failure) return failure();
  if (failure_of) return failure_of(given);
  const Reply reply = streamed ? stream_reply() : raw_reply(200, plain_body());
  if (adapt) return adapt(reply);
  return effect ? broken(reply, streamed) : reply;
}

Reply ScenarioRow::broken(const Reply& reply, bool streamed) const {
  return reply.fault(place ? place() : place_in(streamed), effect());
}

Reply ScenarioRow::stream_reply() const {
  catalogue_parts::Chunks all = chunks       ? chunks()
                                : tool_calls ? catalogue_parts::usual_call_chunks()
                                             : catalogue_parts::usual_chunks();
  if (change) change(all);
  if (change_by) change_by(all, given);
  const Reply reply = catalogue_parts::stream_of(all);
  return dialect ? reply.sse(dialect()) : reply;
}

std::string ScenarioRow::plain_body() const {
  using namespace catalogue_parts;
  if (body) return body();
  if (body_of) return body_of(given);
  const std::string said = whole_text();
  const std::string reason_in_json = json_string(finish_reason.plain ? finish_reason.plain : reason());
  if (!tool_calls) return body_with(message_saying(said), reason_in_json);
  return body_with(calling(tool_calls(), said.empty() ? "null" : json_string(said)), reason_in_json);
}

std::string ScenarioRow::whole_text() const {
  std::string whole;
  for (std::size_t i = 0; i < text.times; ++i) whole += text.text;
  return whole;
}

const char* ScenarioRow::reason() const {
  return finish_reason.streamed ? finish_reason.streamed : tool_calls ? "tool_calls" : "stop";
}

Reply ScenarioRow::reply(bool streamed) const {
  if (has(catalogue_parts::then_answer)) return catalogue_parts::usual_reply(streamed);
  return has(catalogue_parts::streams_only) && !streamed ? raw_reply(200, plain_body()) : own_reply(streamed);
}

ScenarioDescription ScenarioRow::described(const char* group) const {
  using namespace catalogue_parts;
  ScenarioDescription said;
  said.name = name;
  said.group = group;
  said.description = description;
  said.reference = reference;
  said.good_client = good_client;
  said.expected = has(only_error)  ? Scenario::Expected::error
                  : has(error_too) ? Scenario::Expected::answer_or_error
                                   : Scenario::Expected::answer;
  if (!has(no_answer)) said.text = whole_text();
  said.fails_first = has(then_answer);
  (said.fails_first ? said.first_text : said.sent) = sent;
  said.left = left;
  if (tool_calls) said.tool_calls = tool_calls();
  if (spelled_calls) said.spelled_calls = spelled_calls();
  said.needs_stream = has(streams_only);
  said.needs_timeout = has(endless);
  said.calls = has(second_call) ? 2 : 1;
  said.reason_tells = has(reason_tells);
  if (!has(only_error) || said.reason_tells) said.finish_reason = reason();
  if (has(only_error)) return said;
  if (finish_reason.plain) said.plain_finish_reason = finish_reason.plain;
  if (!said.needs_stream || has(streams_usage)) said.usage = TokenUsage(9, 5);
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

Json chunk_with(const std::string& members) {
  return parse(
      R"({"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600,"model":"mock-model",)" +
      members + "}");
}

Json chunk_of(const std::string& delta, const std::string& finish_reason) {
  return chunk_with(R"("choices":[{"index":0,"delta":{)" + delta + R"(},"finish_reason":)" + finish_reason + "}]");
}

Json& choice_of(Json& chunk) { return chunk["choices"][0]; }

Json& delta_of(Json& chunk) { return choice_of(chunk)["delta"]; }

void add_to(Json& object, const std::string& members) { object.update(parse("{" + members + "}")); }

void replace_in(Json& json, std::string_view part, std::string_view other) {
  json = parse(replaced(json.dump(), part, other));
}

Json opening() { return chunk_of(R"("role":"assistant","content":"")"); }

Json silent_opening() { return chunk_of(R"("role":"assistant","content":null)"); }

Json saying(std::string_view text) { return chunk_of(R"("content":)" + json_string(text)); }

Json closing(std::string_view finish_reason) { return chunk_of("", json_string(finish_reason)); }

Chunks usual_chunks() {
  return {opening(), saying("Zürich "), saying("21 °C, "), saying("東京 "), saying("9 °C."), closing()};
}

Reply stream_of(const Chunks& chunks) {
  std::vector<StreamChunk> elements;
  for (const Json& chunk : chunks)
    elements.push_back(chunk.is_string() ? raw_bytes(chunk.get_ref<const std::string&>())
                                         : mock_gateway::json_chunk(chunk));
  return mock_gateway::chunks(std::move(elements));
}

std::string event_of(const std::string& json) { return "data: " + json + "\n\n"; }

std::string usual_events() {
  std::string events;
  for (const Json& chunk : usual_chunks()) events += event_of(chunk.dump());
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

Reply usual_reply(bool streamed) { return streamed ? stream_of(usual_chunks()) : raw_reply(200, usual_body()); }

std::string usual_bytes(bool streamed) { return streamed ? usual_events() : usual_body(); }

const char* usual_type_of(bool streamed) { return streamed ? "text/event-stream; charset=utf-8" : "application/json"; }

void end_with(Chunks& chunks, const char* finish_reason) { chunks.back() = closing(finish_reason); }

void end_in_text(Chunks& chunks) {
  chunks.pop_back();
  add_to(choice_of(chunks.back()), R"("finish_reason":"stop")");
}

Reply until_close(bool streamed, const std::string& body) {
  return usual_reply(false).fault(before_headers(),
                                  garbage(std::string("HTTP/1.1 200 OK\r\nContent-Type: ") + usual_type_of(streamed) +
                                          "\r\nConnection: close\r\n\r\n" + body));
}

Trigger in_the_middle(bool streamed) { return streamed ? after_tokens(2) : after_bytes(150); }

Trigger in_a_character(bool streamed) {
  return streamed ? inside_character(2) : after_bytes(usual_body().find("ü") + 1);
}

std::vector<wire::ToolCall> one_weather_call() { return {{"call_1", "get_weather", R"({"city":"Zürich"})"}}; }

std::vector<wire::ToolCall> two_weather_calls() {
  return {one_weather_call().front(), {"call_2", "get_weather", R"({"city":"東京"})"}};
}

std::string calling(const std::vector<wire::ToolCall>& calls, const std::string& content) {
  std::string list;
  for (const wire::ToolCall& call : calls) {
    list += (list.empty() ? "" : ",") + (R"({"id":)" + json_string(call.id)) + R"(,"type":"function","function":{)" +
            function_of(call.name, call.arguments) + "}}";
  }
  return R"("role":"assistant","content":)" + content + R"(,"tool_calls":[)" + list + "]";
}

std::string head_of(const std::string& index, const std::string& id) {
  return R"("index":)" + index + R"(,"id":)" + json_string(id) + R"(,"type":"function",)";
}

std::string function_of(std::string_view name, std::string_view arguments) {
  const std::string members = R"("arguments":)" + json_string(arguments);
  return name.empty() ? members : R"("name":)" + json_string(name) + "," + members;
}

Json fragment(const std::string& head, const std::string& function) {
  return chunk_of(R"("tool_calls":[{)" + head + R"("function":{)" + function + "}}]");
}

Json more(std::string_view arguments) { return fragment(R"("index":0,)", function_of("", arguments)); }

Chunks usual_call_chunks() {
  return {silent_opening(), fragment(head_of("0", "call_1"), function_of("get_weather", "")), more(R"({"city":)"),
          more(R"("Zürich"})"), closing("tool_calls")};
}

std::string body_calling(const std::vector<wire::ToolCall>& calls) {
  return body_with(calling(calls), R"("tool_calls")");
}

}  // namespace catalogue_parts
}  // namespace mock_gateway::detail
