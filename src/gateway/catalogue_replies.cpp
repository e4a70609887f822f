// What is odd in the chunks themselves and in the tool calls that they carry.

#include <string>
#include <vector>

#include "catalogue_entries.hpp"

namespace mock_gateway {
namespace detail {
namespace catalogue_parts {

/// The usual chunks, changed.
template <class Change>
std::vector<Json> changed_chunks(const Change& change) {
  std::vector<Json> chunks = usual_chunks();
  change(chunks);
  return chunks;
}

/// Those of `get_weather`: the role, its head, two fragments of its arguments, the end.
std::vector<Json> usual_calling_chunks() {
  return {delta_chunk({{"role", "assistant"}, {"content", nullptr}}),
          calling_chunk(fragment({{"index", 0}, {"id", "call_1"}, {"type", "function"}},
                                 {{"name", "get_weather"}, {"arguments", ""}})),
          calling_chunk(fragment({{"index", 0}}, {{"arguments", R"({"city":)"}})),
          calling_chunk(fragment({{"index", 0}}, {{"arguments", R"("Zürich"})"}})), closing("tool_calls")};
}

/// The same, with its elements changed: each fragment in turn, and its number from 0.
template <class Change>
Reply calling_stream(const Change& change) {
  std::vector<Json> chunks = usual_calling_chunks();
  for (int i = 0; i < 3; ++i)
    change(chunks[static_cast<std::size_t>(i) + 1]["choices"][0]["delta"]["tool_calls"][0], i);
  return stream_of(chunks);
}

Reply plain_weather() { return plain_calls({weather_call()}); }

}  // namespace catalogue_parts

std::vector<std::shared_ptr<ScenarioData>> catalogue_of_chunks() {
  using namespace catalogue_parts;
  ScenarioGroup group("chunks");
  group.add("content-null-in-deltas", "sends content null in the first and the last delta")
      .from("DashScope, DeepSeek")
      .good("takes null for nothing said")
      .streams_only()
      .reply([]() -> ScenarioReplies {
        return {
            stream_of(changed_chunks([](std::vector<Json>& chunks) {
              chunks.front() = delta_chunk({{"role", "assistant"}, {"content", nullptr}, {"reasoning_content", ""}});
              chunks.back() = delta_chunk({{"content", nullptr}, {"reasoning_content", nullptr}}, "stop");
            })),
            usual_plain()};
      });
  group.add("escaped-characters", "writes every character beyond ASCII as \\u escapes, an emoji as a surrogate pair")
      .from("RFC 8259, section 7")
      .good("decodes the escapes, two of them to one character")
      .says("Zürich 21 °C, 東京 9 °C. 🌦")
      .reply([]() -> ScenarioReplies {
        std::vector<StreamChunk> chunks;
        for (const Json& json :
             changed_chunks([](std::vector<Json>& all) { all.insert(all.end() - 1, saying(" 🌦")); }))
          chunks.push_back(raw_bytes("data: " + json.dump(-1, ' ', true) + "\n\n"));
        const Json body = body_with({{"role", "assistant"}, {"content", std::string(usual_text) + " 🌦"}});
        return {mock_gateway::chunks(chunks), raw_reply(200, body.dump(-1, ' ', true))};
      });
  group.add("finish-chunk-twice", "sends the chunk with the finish_reason twice")
      .from("openrag#462")
      .good("takes the second for nothing new")
      .streams_only()
      .reply([]() -> ScenarioReplies {
        return {usual_stream().fail(after_tokens(4), duplicate_event()), usual_plain()};
      });
  group.add("finish-reason-empty", "sends finish_reason \"\" in place of null until the last chunk")
      .from("ollama#4357")
      .good("goes on reading: \"\" is no reason to finish")
      .reply([]() -> ScenarioReplies {
        return {stream_of(changed_chunks([](std::vector<Json>& chunks) {
                  for (std::size_t i = 0; i + 1 < chunks.size(); ++i) chunks[i]["choices"][0]["finish_reason"] = "";
                })),
                raw_reply(200, body_with({{"role", "assistant"}, {"content", usual_text}}, ""))};
      });
  group.add("finish-reason-missing", "never sends a finish_reason, then [DONE]")
      .from("openai-node#1292")
      .good("takes [DONE] for the end, or reports that the reason is missing")
      .error_too()
      .reply([]() -> ScenarioReplies {
        Json body = usual_body();
        body["choices"][0].erase("finish_reason");
        return {stream_of(changed_chunks([](std::vector<Json>& chunks) {
                  chunks.pop_back();
                  for (Json& chunk : chunks) chunk["choices"][0].erase("finish_reason");
                })),
                raw_reply(200, body)};
      });
  group.add("first-chunk-is-choice-1", "sends two choices, and of the second one first")
      .from("openai-python#3709")
      .good("tells choices apart by their index, not by when they came")
      .streams_only()
      .reply([]() -> ScenarioReplies {
        return {stream_of(changed_chunks([](std::vector<Json>& chunks) {
                  const auto other = [](Json delta, Json finish) {
                    return chunk_with(Json::array({choice_of(std::move(delta), std::move(finish), 1)}));
                  };
                  chunks.insert(chunks.begin(), other({{"role", "assistant"}, {"content", ""}}, nullptr));
                  chunks.insert(chunks.begin() + 3, other({{"content", "Paris 17 °C."}}, nullptr));
                  chunks.push_back(other(Json::object(), "stop"));
                })),
                usual_plain()};
      });
  group.add("first-chunk-with-empty-choices", "begins with a chunk whose choices are []")
      .from("pydantic-ai#164")
      .good("passes over a chunk without choices")
      .streams_only()
      .reply([]() -> ScenarioReplies {
        return {stream_of(changed_chunks([](std::vector<Json>& chunks) {
                  Json first = chunk_with(Json::array());
                  first["prompt_filter_results"] = Json::array();
                  chunks.insert(chunks.begin(), std::move(first));
                })),
                usual_plain()};
      });
  group.add("reasoning-before-content", "sends reasoning_content before the content")
      .from("DeepSeek, DashScope")
      .good("keeps the reasoning out of the answer")
      .reply([]() -> ScenarioReplies {
        return {
            stream_of(changed_chunks([](std::vector<Json>& chunks) {
              for (const char* const thought : {"North or ", "south?"}) {
                chunks.insert(chunks.end() - 5, delta_chunk({{"content", nullptr}, {"reasoning_content", thought}}));
              }
            })),
            raw_reply(
                200,
                body_with({{"role", "assistant"}, {"content", usual_text}, {"reasoning_content", "North or south?"}}))};
      });
  group.add("role-chunk-missing", "begins with text, without a chunk that has the role")
      .from("OpenAI: role is optional in a delta")
      .good("takes the assistant for the speaker")
      .streams_only()
      .reply([]() -> ScenarioReplies {
        return {usual_stream().fail(after_headers(), skip_event()), usual_plain()};
      });
  group.add("role-in-every-delta", "repeats the role in every delta")
      .from("litellm#9986")
      .good("keeps one message, and one role")
      .streams_only()
      .reply([]() -> ScenarioReplies {
        return {stream_of(changed_chunks([](std::vector<Json>& chunks) {
                  for (Json& chunk : chunks) chunk["choices"][0]["delta"]["role"] = "assistant";
                })),
                usual_plain()};
      });
  group.add("text-in-finish-chunk", "sends the last text in the chunk that has the finish_reason")
      .from("rust-genai#164, vllm#35705")
      .good("reads the delta of the last chunk too")
      .streams_only()
      .reply([]() -> ScenarioReplies {
        return {stream_of(changed_chunks([](std::vector<Json>& chunks) {
                  chunks.pop_back();
                  chunks.back()["choices"][0]["finish_reason"] = "stop";
                })),
                usual_plain()};
      });
  group.add("text-in-role-chunk", "sends the first text in the chunk that has the role")
      .from("ollama#4357")
      .good("reads the content of the first delta too")
      .streams_only()
      .reply([]() -> ScenarioReplies {
        return {stream_of(changed_chunks([](std::vector<Json>& chunks) {
                  chunks[1]["choices"][0]["delta"]["role"] = "assistant";
                  chunks.erase(chunks.begin());
                })),
                usual_plain()};
      });
  group.add("unknown-fields", "has fields that no documentation knows, at every level")
      .from("OpenAI: changes that keep compatibility")
      .good("passes over them")
      .reply([]() -> ScenarioReplies {
        const auto add = [](Json& whole, const char* part) {
          whole["service_tier"] = "flex";
          whole["x_groq"] = {{"id", "req_1"}};
          whole["choices"][0]["stop_reason"] = nullptr;
          whole["choices"][0][part]["annotations"] = Json::array();
        };
        Json body = usual_body();
        add(body, "message");
        return {stream_of(changed_chunks([&add](std::vector<Json>& chunks) {
                  for (Json& chunk : chunks) add(chunk, "delta");
                })),
                raw_reply(200, body)};
      });
  group.add("usage-chunk-without-choices", "ends with a chunk that has usage and no choices at all")
      .from("xiaozhi-esp32-server#734")
      .good("takes missing choices for none")
      .streams_only()
      .reply([]() -> ScenarioReplies {
        return {stream_of(changed_chunks([](std::vector<Json>& chunks) {
                  Json last = chunk_with(nullptr);
                  last.erase("choices");
                  last["usage"] = usage();
                  chunks.push_back(std::move(last));
                })),
                usual_plain()};
      });
  group.add("usage-null-in-every-chunk", "has usage null in every chunk, then a chunk with choices [] and the usage")
      .from("OpenAI: stream_options.include_usage")
      .good("takes null for no usage yet")
      .streams_only()
      .reply([]() -> ScenarioReplies {
        return {stream_of(changed_chunks([](std::vector<Json>& chunks) {
                  for (Json& chunk : chunks) chunk["usage"] = nullptr;
                  Json last = chunk_with(Json::array());
                  last["usage"] = usage();
                  chunks.push_back(std::move(last));
                })),
                usual_plain()};
      });
  group.add("usage-on-finish-chunk", "sends the usage in the chunk with the finish_reason, and no other")
      .from("DeepSeek")
      .good("reads usage from whichever chunk has it")
      .streams_only()
      .reply([]() -> ScenarioReplies {
        return {stream_of(changed_chunks([](std::vector<Json>& chunks) { chunks.back()["usage"] = usage(); })),
                usual_plain()};
      });
  return group.take();
}

std::vector<std::shared_ptr<ScenarioData>> catalogue_of_tool_calls() {
  using namespace catalogue_parts;
  ScenarioGroup group("tool calls");
  group.add("stop-after-tool-call", "ends a tool call with finish_reason stop")
      .from("litellm#35663")
      .good("goes by the calls that came, not by the reason")
      .only_calls({weather_call()})
      .reply([]() -> ScenarioReplies {
        std::vector<Json> chunks = usual_calling_chunks();
        chunks.back() = closing();
        return {stream_of(chunks), raw_reply(200, body_with(calling({weather_call()}), "stop"))};
      });
  group.add("text-before-tool-call", "says something before it calls a tool")
      .from("OpenAI: content beside tool_calls")
      .good("keeps both")
      .only_calls({weather_call()})
      .says("Let me look.")
      .reply([]() -> ScenarioReplies {
        std::vector<Json> chunks = usual_calling_chunks();
        chunks.insert(chunks.begin() + 1, saying("Let me look."));
        Json message = calling({weather_call()});
        message["content"] = "Let me look.";
        return {stream_of(chunks), raw_reply(200, body_with(message, "tool_calls"))};
      });
  group.add("tool-call-arguments-as-object", "sends the arguments as a JSON object in place of a string")
      .from("llama.cpp#20198")
      .good("takes the object for the arguments, or reports it; never calls the tool without them")
      .error_too()
      .only_calls({weather_call()})
      .reply([]() -> ScenarioReplies {
        const Json arguments = {{"city", "Zürich"}};
        Json message = calling({weather_call()});
        message["tool_calls"][0]["function"]["arguments"] = arguments;
        return {stream_of({delta_chunk({{"role", "assistant"}, {"content", nullptr}}),
                           calling_chunk(fragment({{"index", 0}, {"id", "call_1"}, {"type", "function"}},
                                                  {{"name", "get_weather"}, {"arguments", arguments}})),
                           closing("tool_calls")}),
                raw_reply(200, body_with(message, "tool_calls"))};
      });
  group.add("tool-call-arguments-broken", "breaks off inside the arguments, with finish_reason length")
      .from("OpenAI: the model does not always generate valid JSON")
      .good("hands the arguments on as they are, or reports them; never calls the tool with a guess")
      .error_too()
      .only_calls({{"call_1", "get_weather", R"({"city":"Zü)"}})
      .reply([]() -> ScenarioReplies {
        std::vector<Json> chunks = usual_calling_chunks();
        chunks[3] = calling_chunk(fragment({{"index", 0}}, {{"arguments", "\"Zü"}}));
        chunks.back() = closing("length");
        return {stream_of(chunks),
                raw_reply(200, body_with(calling({{"call_1", "get_weather", R"({"city":"Zü)"}}), "length"))};
      });
  group.add("tool-call-arguments-cut-in-escape", "cuts the arguments in the middle of a \\u escape")
      .from("RFC 8259, section 7")
      .good("joins the fragments before it parses them")
      .streams_only()
      .only_calls({weather_call()})
      .reply([]() -> ScenarioReplies {
        return {calling_stream([](Json& element, int number) {
                  if (number == 1) element["function"]["arguments"] = R"({"city":"Z\u00)";
                  if (number == 2) element["function"]["arguments"] = R"(fcrich"})";
                }),
                plain_weather()};
      });
  group.add("tool-call-arguments-empty", "calls a tool with \"\" for arguments")
      .from("vercel/ai#6687")
      .good("takes \"\" for no arguments, {}")
      .only_calls({{"call_1", "get_time", ""}})
      .reply([]() -> ScenarioReplies {
        return {stream_of({delta_chunk({{"role", "assistant"}, {"content", nullptr}}),
                           calling_chunk(fragment({{"index", 0}, {"id", "call_1"}, {"type", "function"}},
                                                  {{"name", "get_time"}, {"arguments", ""}})),
                           closing("tool_calls")}),
                plain_calls({{"call_1", "get_time", ""}})};
      });
  group.add("tool-call-id-and-name-repeated", "repeats id, type and name in each fragment of a call")
      .from("hermes-agent#11984")
      .good("sets them once, and joins only the arguments")
      .streams_only()
      .only_calls({weather_call()})
      .reply([]() -> ScenarioReplies {
        return {calling_stream([](Json& element, int) {
                  const Json arguments = element["function"]["arguments"];
                  element = fragment({{"index", 0}, {"id", "call_1"}, {"type", "function"}},
                                     {{"name", "get_weather"}, {"arguments", arguments}});
                }),
                plain_weather()};
      });
  group.add("tool-call-id-empty-in-fragments", "sends id \"\" in every fragment but the first")
      .from("opencode#37841")
      .good("keeps the id that it has, and begins no new call")
      .streams_only()
      .only_calls({weather_call()})
      .reply([]() -> ScenarioReplies {
        return {calling_stream([](Json& element, int number) {
                  if (number > 0)
                    element = fragment({{"index", 0}, {"id", ""}, {"type", "function"}}, element["function"]);
                }),
                plain_weather()};
      });
  group.add("tool-call-in-one-chunk", "sends a whole call in one chunk")
      .from("Ollama, Gemini")
      .good("reads the arguments of the first fragment too")
      .streams_only()
      .only_calls({weather_call()})
      .reply([]() -> ScenarioReplies {
        std::vector<Json> chunks = usual_calling_chunks();
        chunks[1]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] = weather_call().arguments;
        chunks.erase(chunks.begin() + 2, chunks.begin() + 4);
        return {stream_of(chunks), plain_weather()};
      });
  group.add("tool-call-without-id", "streams a call that has no id")
      .from("vllm#18412")
      .good("makes up an id for the call, or reports that it is missing")
      .error_too()
      .streams_only()
      .only_calls({weather_call()})
      .reply([]() -> ScenarioReplies {
        return {calling_stream([](Json& element, int) { element.erase("id"); }), plain_weather()};
      });
  group.add("tool-call-without-index", "streams a call whose fragments have no index")
      .from("openai-python#2806, AstrBot#6661")
      .good("takes them for the call that has begun, or reports them")
      .error_too()
      .streams_only()
      .only_calls({weather_call()})
      .reply([]() -> ScenarioReplies {
        return {calling_stream([](Json& element, int) { element.erase("index"); }), plain_weather()};
      });
  group.add("tool-calls-all-index-0", "streams two parallel calls that both have index 0")
      .from("vercel/ai#14277, dynamo#4723")
      .good("tells them apart by their ids, or reports them; never makes one of two")
      .error_too()
      .streams_only()
      .only_calls({weather_call(), {"call_2", "get_weather", R"({"city":"東京"})"}})
      .reply([]() -> ScenarioReplies {
        const ToolCall other{"call_2", "get_weather", R"({"city":"東京"})"};
        const auto whole = [](const ToolCall& call) {
          return calling_chunk(fragment({{"index", 0}, {"id", call.id}, {"type", "function"}},
                                        {{"name", call.name}, {"arguments", call.arguments}}));
        };
        return {stream_of({delta_chunk({{"role", "assistant"}, {"content", nullptr}}), whole(weather_call()),
                           whole(other), closing("tool_calls")}),
                plain_calls({weather_call(), other})};
      });
  group.add("tool-calls-interleaved", "streams two parallel calls whose fragments alternate")
      .from("continue#13223, Qwen-Agent#943")
      .good("adds each fragment to the call that has its index")
      .streams_only()
      .only_calls({weather_call(), {"call_2", "get_weather", R"({"city":"東京"})"}})
      .reply([]() -> ScenarioReplies {
        const ToolCall other{"call_2", "get_weather", R"({"city":"東京"})"};
        const auto head = [](int index, const ToolCall& call) {
          return calling_chunk(fragment({{"index", index}, {"id", call.id}, {"type", "function"}},
                                        {{"name", call.name}, {"arguments", ""}}));
        };
        const auto part = [](int index, const char* arguments) {
          return calling_chunk(fragment({{"index", index}}, {{"arguments", arguments}}));
        };
        return {stream_of({delta_chunk({{"role", "assistant"}, {"content", nullptr}}), head(0, weather_call()),
                           head(1, other), part(0, R"({"city":)"), part(1, R"({"city":)"), part(0, R"("Zürich"})"),
                           part(1, R"("東京"})"), closing("tool_calls")}),
                plain_calls({weather_call(), other})};
      });
  return group.take();
}

}  // namespace detail
}  // namespace mock_gateway
