#include "catalogue_entries.hpp"

#include <algorithm>  // sort
#include <utility>

namespace mock_gateway {
namespace detail {

ScenarioData& ScenarioGroup::add(std::string name, std::string description) {
  auto entry = std::make_shared<ScenarioData>();
  entry->name = std::move(name);
  entry->group = name_;
  entry->description = std::move(description);
  entry->text = catalogue_parts::usual_text;
  entries_.push_back(std::move(entry));
  return *entries_.back();
}

std::vector<std::shared_ptr<ScenarioData>> ScenarioGroup::take() {
  std::sort(entries_.begin(), entries_.end(),
            [](const auto& left, const auto& right) { return left->name < right->name; });
  return std::move(entries_);
}

namespace catalogue_parts {

std::vector<std::string> usual_pieces() { return {"Zürich ", "21 °C, ", "東京 ", "9 °C."}; }

Json chunk_with(Json choices) {
  Json chunk = {{"id", "chatcmpl-catalogue"},
                {"object", "chat.completion.chunk"},
                {"created", 1'767'225'600},
                {"model", "mock-model"}};
  chunk["choices"] = std::move(choices);
  return chunk;
}

Json choice_of(Json delta, Json finish_reason, int index) {
  Json choice = {{"index", index}};
  choice["delta"] = std::move(delta);
  choice["finish_reason"] = std::move(finish_reason);
  return choice;
}

Json delta_chunk(Json delta, Json finish_reason) {
  return chunk_with(Json::array({choice_of(std::move(delta), std::move(finish_reason))}));
}

Json opening() { return delta_chunk({{"role", "assistant"}, {"content", ""}}); }

Json saying(const std::string& text) { return delta_chunk({{"content", text}}); }

Json closing(const std::string& finish_reason) { return delta_chunk(Json::object(), finish_reason); }

std::vector<Json> usual_chunks() {
  std::vector<Json> chunks = {opening()};
  for (const std::string& piece : usual_pieces()) chunks.push_back(saying(piece));
  chunks.push_back(closing());
  return chunks;
}

Reply stream_of(const std::vector<Json>& chunks) {
  std::vector<StreamChunk> elements;
  for (const Json& json : chunks) elements.push_back(chunk(json));
  return mock_gateway::chunks(std::move(elements));
}

std::string event_of(const Json& chunk) { return "data: " + chunk.dump() + "\n\n"; }

std::string usual_events() {
  std::string events;
  for (const Json& chunk : usual_chunks()) events += event_of(chunk);
  return events + "data: [DONE]\n\n";
}

Json usage() { return {{"prompt_tokens", 9}, {"completion_tokens", 5}, {"total_tokens", 14}}; }

Json body_with(Json message, Json finish_reason) {
  Json choice = {{"index", 0}};
  choice["message"] = std::move(message);
  choice["finish_reason"] = std::move(finish_reason);
  Json body = {
      {"id", "chatcmpl-catalogue"}, {"object", "chat.completion"}, {"created", 1'767'225'600}, {"model", "mock-model"}};
  body["choices"] = Json::array({std::move(choice)});
  body["usage"] = usage();
  return body;
}

Json usual_body() { return body_with({{"role", "assistant"}, {"content", usual_text}}); }

Reply usual_stream() { return stream_of(usual_chunks()); }

Reply usual_plain() { return raw_reply(200, usual_body()); }

ToolCall weather_call() { return {"call_1", "get_weather", R"({"city":"Zürich"})"}; }

Json calling(const std::vector<ToolCall>& calls) {
  Json list = Json::array();
  for (const ToolCall& call : calls) {
    list.push_back(
        {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  return {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", std::move(list)}};
}

Json fragment(const Json& fields, const Json& function) {
  Json element = fields;
  element["function"] = function;
  return element;
}

Json calling_chunk(const Json& fragment) {
  Json delta = Json::object();
  delta["tool_calls"] = Json::array({fragment});
  return delta_chunk(std::move(delta));
}

Reply plain_calls(const std::vector<ToolCall>& calls) {
  return raw_reply(200, body_with(calling(calls), "tool_calls"));
}

}  // namespace catalogue_parts
}  // namespace detail
}  // namespace mock_gateway
