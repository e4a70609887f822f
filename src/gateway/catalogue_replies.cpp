// Scenarios of chunks and tool calls.

#include <iterator>  // size
#include <string>
#include <utility>

#include "catalogue_entries.hpp"

namespace mock_gateway::detail {
namespace catalogue_parts {

/// What every chunk of "unknown-fields" has besides, and its body.
inline constexpr const char* unknown_in_choice = R"(,"stop_reason":null)";
inline constexpr const char* unknown_at_top = R"(,"service_tier":"flex","x_groq":{"id":"req_1"})";

/// What is left of the usual text at the limit of "finish-reason-length".
inline constexpr const char* cut_text = "Zürich 21 °C, 東京 9";

/// The stream of a call of `get_weather`: its head, two fragments of its arguments.
struct WeatherFragments {
  std::string heads[3] = {R"("index":0,"id":"call_1","type":"function",)", R"("index":0,)", R"("index":0,)"};
  std::string functions[3] = {function_of("get_weather", ""), function_of("", R"({"city":)"),
                              function_of("", R"("Zürich"})")};
  std::string finish_reason = "tool_calls";

  Reply reply() const {
    return stream_of({silent_opening(), fragment(heads[0], functions[0]), fragment(heads[1], functions[1]),
                      fragment(heads[2], functions[2]), closing(finish_reason)});
  }
};

/// The fragment that has all of a call.
ChunkText whole_call(const wire::ToolCall& call) {
  return fragment(head_of("0", call.id), function_of(call.name, call.arguments));
}

std::vector<wire::ToolCall> broken_weather_call() { return {{"call_1", "get_weather", R"({"city":"Zü)"}}; }

std::vector<wire::ToolCall> call_without_arguments() { return {{"call_1", "get_time", ""}}; }

inline constexpr ScenarioRow chunks_rows[] = {
    ScenarioRow("content-null-in-deltas", "sends content null in the first and the last delta")
        .from("DashScope, DeepSeek")
        .good("takes null for nothing said")
        .streams_only()
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          chunks.front().delta = R"("role":"assistant","content":null,"reasoning_content":"")";
          chunks.back().delta = R"("content":null,"reasoning_content":null)";
          return stream_of(chunks);
        }),
    ScenarioRow("escaped-characters",
                "writes every character beyond ASCII as \\u escapes, an emoji as a surrogate pair")
        .from("RFC 8259, section 7")
        .good("decodes the escapes, two of them to one character")
        .says("Zürich 21 °C, 東京 9 °C. 🌦")
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          chunks.insert(chunks.end() - 1, saying(" 🌦"));
          std::vector<StreamChunk> elements;
          for (const ChunkText& chunk : chunks)
            elements.push_back(raw_bytes(event_of(parse(json_of(chunk)).dump(-1, ' ', true))));
          return mock_gateway::chunks(std::move(elements));
        })
        .unstreamed([] {
          const std::string message = message_saying(std::string(usual_scenario_text) + " 🌦");
          return raw_reply(200, parse(body_with(message)).dump(-1, ' ', true));
        }),
    ScenarioRow("finish-chunk-twice", "sends the chunk with the finish_reason twice")
        .from("openrag#462")
        .good("takes the second for nothing new")
        .streams_only()
        .changed([](const Reply& reply, bool) { return reply.fault(after_tokens(4), duplicate_event()); }),
    ScenarioRow("finish-reason-empty", "sends finish_reason \"\" in place of null until the last chunk")
        .from("ollama#4357")
        .good("goes on reading: \"\" is no reason to finish")
        .finishes("stop", "")
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          for (std::size_t i = 0; i + 1 < chunks.size(); ++i) chunks[i].finish_reason = R"("")";
          return stream_of(chunks);
        })
        .unstreamed([] { return raw_reply(200, body_with(message_saying(usual_scenario_text), R"("")")); }),
    ScenarioRow("finish-reason-length", "ends the text at its limit, with finish_reason length")
        .from("OpenAI: finish_reason")
        .good("hands the text on and tells that it was cut, or reports it")
        .error_too()
        .says(cut_text)
        .finishes("length")
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          chunks[4] = saying("9");
          chunks[5] = closing("length");
          return stream_of(chunks);
        })
        .unstreamed([] { return raw_reply(200, body_with(message_saying(cut_text), R"("length")")); }),
    ScenarioRow("finish-reason-missing", "never sends a finish_reason, then [DONE]")
        .from("openai-node#1292")
        .good("takes [DONE] for the end, or reports that the reason is missing")
        .finishes("")
        .error_too()
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          chunks.pop_back();
          for (ChunkText& chunk : chunks) chunk.finish_reason.clear();
          return stream_of(chunks);
        })
        .unstreamed([] { return raw_reply(200, body_with(message_saying(usual_scenario_text), "")); }),
    ScenarioRow("first-chunk-is-choice-1", "sends two choices, and of the second one first")
        .from("openai-python#3709")
        .good("tells choices apart by their index, not by when they came")
        .streams_only()
        .streamed([] {
          ChunkTexts other = {opening(), saying("Paris 17 °C."), closing()};
          for (ChunkText& chunk : other) chunk.index = "1";
          ChunkTexts chunks = usual_chunks();
          chunks.insert(chunks.begin(), other[0]);
          chunks.insert(chunks.begin() + 3, other[1]);
          chunks.push_back(other[2]);
          return stream_of(chunks);
        }),
    ScenarioRow("first-chunk-with-empty-choices", "begins with a chunk whose choices are []")
        .from("pydantic-ai#164")
        .good("passes over a chunk without choices")
        .streams_only()
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          chunks.insert(chunks.begin(), chunk_with(R"("choices":[],"prompt_filter_results":[])"));
          return stream_of(chunks);
        }),
    ScenarioRow("reasoning-before-content", "sends reasoning_content before the content")
        .from("DeepSeek, DashScope")
        .good("keeps the reasoning out of the answer")
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          chunks.insert(chunks.begin() + 1, {{R"("content":null,"reasoning_content":"North or ")"},
                                             {R"("content":null,"reasoning_content":"south?")"}});
          return stream_of(chunks);
        })
        .unstreamed([] {
          return raw_reply(
              200, body_with(message_saying(usual_scenario_text) + R"(,"reasoning_content":"North or south?")"));
        }),
    ScenarioRow("role-chunk-missing", "begins with text, without a chunk that has the role")
        .from("OpenAI: role is optional in a delta")
        .good("takes the assistant for the speaker")
        .streams_only()
        .changed([](const Reply& reply, bool) { return reply.fault(after_headers(), skip_event()); }),
    ScenarioRow("role-in-every-delta", "repeats the role in every delta")
        .from("litellm#9986")
        .good("keeps one message, and one role")
        .streams_only()
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          for (std::size_t i = 1; i + 1 < chunks.size(); ++i) chunks[i].delta += R"(,"role":"assistant")";
          chunks.back().delta = R"("role":"assistant")";
          return stream_of(chunks);
        }),
    ScenarioRow("text-in-finish-chunk", "sends the last text in the chunk that has the finish_reason")
        .from("rust-genai#164, vllm#35705")
        .good("reads the delta of the last chunk too")
        .streams_only()
        .streamed(stream_ending_in_text),
    ScenarioRow("text-in-role-chunk", "sends the first text in the chunk that has the role")
        .from("ollama#4357")
        .good("reads the content of the first delta too")
        .streams_only()
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          chunks[1].delta += R"(,"role":"assistant")";
          chunks.erase(chunks.begin());
          return stream_of(chunks);
        }),
    ScenarioRow("unknown-fields", "has fields that no documentation knows, at every level")
        .from("OpenAI: changes that keep compatibility")
        .good("passes over them")
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          for (ChunkText& chunk : chunks) {
            chunk.delta += (chunk.delta.empty() ? "" : ",") + std::string(R"("annotations":[])");
            chunk.in_choice = unknown_in_choice;
            chunk.in_chunk = unknown_at_top;
          }
          return stream_of(chunks);
        })
        .unstreamed([] {
          return raw_reply(200, body_with(message_saying(usual_scenario_text) + R"(,"annotations":[])", R"("stop")",
                                          unknown_in_choice, unknown_at_top));
        }),
    ScenarioRow("usage-chunk-without-choices", "ends with a chunk that has usage and no choices at all")
        .from("xiaozhi-esp32-server#734")
        .good("takes missing choices for none")
        .streams_only()
        .streams_usage()
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          chunks.push_back(chunk_with(usage));
          return stream_of(chunks);
        }),
    ScenarioRow("usage-null-in-every-chunk",
                "has usage null in every chunk, then a chunk with choices [] and the usage")
        .from("OpenAI: stream_options.include_usage")
        .good("takes null for no usage yet")
        .streams_only()
        .streams_usage()
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          for (ChunkText& chunk : chunks) chunk.in_chunk = R"(,"usage":null)";
          chunks.push_back(chunk_with(std::string(R"("choices":[],)") + usage));
          return stream_of(chunks);
        }),
    ScenarioRow("usage-on-finish-chunk", "sends the usage in the chunk with the finish_reason, and no other")
        .from("DeepSeek")
        .good("reads usage from whichever chunk has it")
        .streams_only()
        .streams_usage()
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          chunks.back().in_chunk = std::string(",") + usage;
          return stream_of(chunks);
        }),
};

inline constexpr ScenarioRow tool_calls_rows[] = {
    ScenarioRow("stop-after-tool-call", "ends a tool call with finish_reason stop")
        .from("litellm#35663")
        .good("goes by the calls that came, not by the reason")
        .only_calls(one_weather_call)
        .finishes("stop")
        .streamed([] {
          WeatherFragments call;
          call.finish_reason = "stop";
          return call.reply();
        })
        .unstreamed([] { return raw_reply(200, body_with(calling(one_weather_call()))); }),
    ScenarioRow("text-before-tool-call", "says something before it calls a tool")
        .from("OpenAI: content beside tool_calls")
        .good("keeps both")
        .only_calls(one_weather_call)
        .says("Let me look.")
        .streamed([] {
          const WeatherFragments call;
          return stream_of({silent_opening(), saying("Let me look."), fragment(call.heads[0], call.functions[0]),
                            fragment(call.heads[1], call.functions[1]), fragment(call.heads[2], call.functions[2]),
                            closing("tool_calls")});
        })
        .unstreamed([] {
          return raw_reply(200, body_with(calling(one_weather_call(), R"("Let me look.")"), R"("tool_calls")"));
        }),
    ScenarioRow("tool-call-arguments-as-object", "sends the arguments as a JSON object in place of a string")
        .from("llama.cpp#20198")
        .good("takes the object for the arguments, or reports it; never calls the tool without them")
        .error_too()
        .only_calls(one_weather_call)
        .streamed([] {
          return stream_of({silent_opening(),
                            fragment(head_of("0", "call_1"), R"("name":"get_weather","arguments":{"city":"Zürich"})"),
                            closing("tool_calls")});
        })
        .unstreamed([] {
          return raw_reply(200, body_with(R"("role":"assistant","content":null,"tool_calls":[{"id":"call_1",)"
                                          R"("type":"function","function":{"name":"get_weather",)"
                                          R"("arguments":{"city":"Zürich"}}}])",
                                          R"("tool_calls")"));
        }),
    ScenarioRow("tool-call-arguments-broken", "breaks off inside the arguments, with finish_reason length")
        .from("OpenAI: the model does not always generate valid JSON")
        .good("hands the arguments on as they are, or reports them; never calls the tool with a guess")
        .error_too()
        .only_calls(broken_weather_call)
        .finishes("length")
        .streamed([] {
          WeatherFragments call;
          call.functions[2] = function_of("", "\"Zü");
          call.finish_reason = "length";
          return call.reply();
        })
        .unstreamed([] { return raw_reply(200, body_with(calling(broken_weather_call()), R"("length")")); }),
    ScenarioRow("tool-call-arguments-cut-in-escape", "cuts the arguments in the middle of a \\u escape")
        .from("RFC 8259, section 7")
        .good("joins the fragments before it parses them")
        .streams_only()
        .only_calls(one_weather_call)
        .streamed([] {
          WeatherFragments call;
          call.functions[1] = function_of("", R"({"city":"Z\u00)");
          call.functions[2] = function_of("", R"(fcrich"})");
          return call.reply();
        }),
    ScenarioRow("tool-call-arguments-empty", "calls a tool with \"\" for arguments")
        .from("vercel/ai#6687")
        .good("takes \"\" for no arguments, {}")
        .only_calls(call_without_arguments)
        .streamed([] {
          return stream_of({silent_opening(), whole_call(call_without_arguments().front()), closing("tool_calls")});
        })
        .unstreamed([] { return plain_calls(call_without_arguments()); }),
    ScenarioRow("tool-call-id-and-name-repeated", "repeats id, type and name in each fragment of a call")
        .from("hermes-agent#11984")
        .good("sets them once, and joins only the arguments")
        .streams_only()
        .only_calls(one_weather_call)
        .streamed([] {
          WeatherFragments call;
          call.heads[1] = call.heads[2] = call.heads[0];
          call.functions[1] = function_of("get_weather", R"({"city":)");
          call.functions[2] = function_of("get_weather", R"("Zürich"})");
          return call.reply();
        }),
    ScenarioRow("tool-call-id-empty-in-fragments", "sends id \"\" in every fragment but the first")
        .from("opencode#37841")
        .good("keeps the id that it has, and begins no new call")
        .streams_only()
        .only_calls(one_weather_call)
        .streamed([] {
          WeatherFragments call;
          call.heads[1] = call.heads[2] = head_of("0", "");
          return call.reply();
        }),
    ScenarioRow("tool-call-in-one-chunk", "sends a whole call in one chunk")
        .from("Ollama, Gemini")
        .good("reads the arguments of the first fragment too")
        .streams_only()
        .only_calls(one_weather_call)
        .streamed([] {
          return stream_of({silent_opening(), whole_call(weather_call()), closing("tool_calls")});
        }),
    ScenarioRow("tool-call-name-after-arguments", "streams a call whose name comes after its arguments")
        .from("OpenAI: the order of a delta's fields is not promised")
        .good("waits for the end of the call before it looks for the name, or reports that it is missing")
        .error_too()
        .streams_only()
        .only_calls(one_weather_call)
        .streamed([] {
          const WeatherFragments call;
          return stream_of({silent_opening(), fragment(call.heads[0], call.functions[1]),
                            fragment(call.heads[1], call.functions[2]),
                            fragment(call.heads[2], R"("name":"get_weather")"), closing("tool_calls")});
        }),
    ScenarioRow("tool-call-without-id", "streams a call that has no id")
        .from("vllm#18412")
        .good("makes up an id for the call, or reports that it is missing")
        .error_too()
        .streams_only()
        .only_calls(one_weather_call)
        .streamed([] {
          WeatherFragments call;
          call.heads[0] = R"("index":0,"type":"function",)";
          return call.reply();
        }),
    ScenarioRow("tool-call-without-index", "streams a call whose fragments have no index")
        .from("openai-python#2806, AstrBot#6661")
        .good("takes them for the call that has begun, or reports them")
        .error_too()
        .streams_only()
        .only_calls(one_weather_call)
        .streamed([] {
          WeatherFragments call;
          call.heads[0] = R"("id":"call_1","type":"function",)";
          call.heads[1] = call.heads[2] = "";
          return call.reply();
        }),
    ScenarioRow("tool-calls-all-index-0", "streams two parallel calls that both have index 0")
        .from("vercel/ai#14277, dynamo#4723")
        .good("tells them apart by their ids, or reports them; never makes one of two")
        .error_too()
        .streams_only()
        .only_calls(two_weather_calls)
        .streamed([] {
          return stream_of(
              {silent_opening(), whole_call(weather_call()), whole_call(other_weather_call()), closing("tool_calls")});
        }),
    ScenarioRow("tool-calls-interleaved", "streams two parallel calls whose fragments alternate")
        .from("continue#13223, Qwen-Agent#943")
        .good("adds each fragment to the call that has its index")
        .streams_only()
        .only_calls(two_weather_calls)
        .streamed([] {
          const WeatherFragments call;
          const std::string second = R"("index":1,)";
          return stream_of({silent_opening(), fragment(call.heads[0], call.functions[0]),
                            fragment(head_of("1", "call_2"), call.functions[0]),
                            fragment(call.heads[1], call.functions[1]), fragment(second, call.functions[1]),
                            fragment(call.heads[2], call.functions[2]), fragment(second, function_of("", R"("東京"})")),
                            closing("tool_calls")});
        }),
};

}  // namespace catalogue_parts

void add_chunks(Scenarios& all) {
  add_group(all, "chunks", catalogue_parts::chunks_rows, std::size(catalogue_parts::chunks_rows));
}

void add_tool_calls(Scenarios& all) {
  add_group(all, "tool calls", catalogue_parts::tool_calls_rows, std::size(catalogue_parts::tool_calls_rows));
}

}  // namespace mock_gateway::detail
