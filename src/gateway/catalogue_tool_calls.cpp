// Scenarios of tool calls.

#include <iterator>  // size
#include <string>
#include <vector>

#include "catalogue_entries.hpp"

namespace mock_gateway::detail {
namespace catalogue_parts {

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
ChunkText whole_call(const wire::ToolCall& call, const char* index = "0") {
  return fragment(head_of(index, call.id), function_of(call.name, call.arguments));
}

std::vector<wire::ToolCall> broken_weather_call() { return {{"call_1", "get_weather", R"({"city":"Zü)"}}; }

std::vector<wire::ToolCall> call_with_two_objects() {
  return {{"call_1", "get_weather", R"({"city":"Zürich"}{"city":"東京"})"}};
}

std::vector<wire::ToolCall> call_after_empty_object() { return {{"call_1", "get_weather", R"({}{"city":"Zürich"})"}}; }

/// The arguments of `weather_call`, as JSON in a string of JSON.
std::string encoded_arguments() { return json_string(weather_call().arguments); }

/// Two calls that cannot be told apart by their ids.
std::vector<wire::ToolCall> calls_with_one_id() {
  std::vector<wire::ToolCall> calls = two_weather_calls();
  calls[1].id = calls[0].id;
  return calls;
}

/// A call as models without a parser for tools write it.
inline constexpr const char* spelled_call =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Zürich\"}}\n</tool_call>";

inline constexpr const char* usual_type = R"("type":"function",)";

/// The usual call, streamed and not, with these members in place of its type.
Reply stream_with_type(const char* type) {
  WeatherFragments call;
  call.heads[0] = replaced(call.heads[0], usual_type, type);
  return call.reply();
}
Reply plain_with_type(const char* type) {
  return raw_reply(200, body_with(replaced(calling(one_weather_call()), usual_type, type), R"("tool_calls")"));
}

/// The usual answer with these members in each delta that has text, or in its message.
Reply stream_with_members(const char* members) {
  ChunkTexts chunks = usual_chunks();
  for (std::size_t i = 1; i + 1 < chunks.size(); ++i) chunks[i].delta += members;
  return stream_of(chunks);
}
Reply plain_with_members(const char* members) {
  return raw_reply(200, body_with(message_saying(usual_scenario_text) + members));
}

std::vector<wire::ToolCall> call_without_arguments() { return {{"call_1", "get_time", ""}}; }

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
    ScenarioRow("tool-call-arguments-after-empty", "sends {} before the arguments, in the same string")
        .from("BerriAI/litellm#20543")
        .good("hands the arguments on as they are, or reports them; never calls the tool with {}")
        .error_too()
        .only_calls(call_after_empty_object)
        .streamed([] {
          WeatherFragments call;
          call.functions[1] = function_of("", "{}");
          call.functions[2] = function_of("", R"({"city":"Zürich"})");
          return call.reply();
        })
        .unstreamed([] { return plain_calls(call_after_empty_object()); }),
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
    ScenarioRow("tool-call-arguments-concatenated",
                "sends the arguments of two calls in one string, one after the other")
        .from("BerriAI/litellm#40582, google/adk-python#1038")
        .good("hands the arguments on as they are, or reports them; never calls the tool with one of the two")
        .error_too()
        .only_calls(call_with_two_objects)
        .streamed([] {
          WeatherFragments call;
          call.functions[1] = function_of("", R"({"city":"Zürich"})");
          call.functions[2] = function_of("", R"({"city":"東京"})");
          return call.reply();
        })
        .unstreamed([] { return plain_calls(call_with_two_objects()); }),
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
    ScenarioRow("tool-call-arguments-encoded-twice", "sends the arguments as JSON in a string of JSON")
        .from("vllm-project/vllm#54964")
        .good("parses once more what is a string, or reports it; never calls the tool with a string")
        .error_too()
        .only_calls(one_weather_call)
        .streamed([] {
          return stream_of({silent_opening(),
                            fragment(head_of("0", "call_1"), function_of("get_weather", encoded_arguments())),
                            closing("tool_calls")});
        })
        .unstreamed([] {
          return plain_calls({{"call_1", "get_weather", encoded_arguments()}});
        }),
    ScenarioRow("tool-call-as-text", "writes a tool call into the text, in <tool_call>, with finish_reason stop")
        .from("jundot/omlx#2565, lmstudio-ai/lmstudio-bug-tracker#2115")
        .good("hands the text on, or makes the call; never leaves it out")
        .says(spelled_call)
        .spells_calls(one_weather_call)
        .streamed([] {
          return stream_of({opening(), saying("<tool_call>\n"),
                            saying(R"({"name": "get_weather", "arguments": {"city": "Zürich"}})"),
                            saying("\n</tool_call>"), closing()});
        })
        .unstreamed([] { return raw_reply(200, body_with(message_saying(spelled_call))); }),
    ScenarioRow("tool-call-finish-chunk-twice", "sends the chunk with the finish_reason of a tool call twice")
        .from("skye-harris/hass_local_openai_llm#92")
        .good("makes the call once")
        .streams_only()
        .only_calls(one_weather_call)
        .streamed([] {
          const WeatherFragments call;
          return stream_of({silent_opening(), fragment(call.heads[0], call.functions[0]),
                            fragment(call.heads[1], call.functions[1]), fragment(call.heads[2], call.functions[2]),
                            closing("tool_calls"), closing("tool_calls")});
        }),
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
    ScenarioRow("tool-call-type-empty", "sends \"\" for the type of a call")
        .from("vercel/ai#12939")
        .good("takes the call for one of a function, the only type that it asked for")
        .only_calls(one_weather_call)
        .streamed([] { return stream_with_type(R"("type":"",)"); })
        .unstreamed([] { return plain_with_type(R"("type":"",)"); }),
    ScenarioRow("tool-call-type-missing", "sends a call that has no type")
        .from("vercel/ai#12901")
        .good("takes the call for one of a function, the only type that it asked for")
        .only_calls(one_weather_call)
        .streamed([] { return stream_with_type(""); })
        .unstreamed([] { return plain_with_type(""); }),
    ScenarioRow("tool-call-type-null", "sends null for the type of a call")
        .from("vllm-project/vllm#38609")
        .good("takes the call for one of a function, the only type that it asked for")
        .only_calls(one_weather_call)
        .streamed([] { return stream_with_type(R"("type":null,)"); })
        .unstreamed([] { return plain_with_type(R"("type":null,)"); }),
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
    ScenarioRow("tool-calls-empty-list", "has tool_calls [] beside each piece of text")
        .from("vercel/ai#20203")
        .good("takes [] for no calls, and reads the text")
        .streamed([] { return stream_with_members(R"(,"tool_calls":[])"); })
        .unstreamed([] { return plain_with_members(R"(,"tool_calls":[])"); }),
    ScenarioRow("tool-calls-equal-ids", "makes two parallel calls that have one id")
        .from("HKUDS/nanobot#3943")
        .good("keeps both, and gives them ids of its own, or reports them")
        .error_too()
        .only_calls(calls_with_one_id)
        .streamed([] {
          const std::vector<wire::ToolCall> calls = calls_with_one_id();
          return stream_of({silent_opening(), whole_call(calls[0]), whole_call(calls[1], "1"), closing("tool_calls")});
        })
        .unstreamed([] { return plain_calls(calls_with_one_id()); }),
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
    ScenarioRow("tool-calls-null", "has tool_calls null beside each piece of text")
        .from("vllm-project/guidellm#752")
        .good("takes null for no calls, and reads the text")
        .streamed([] { return stream_with_members(R"(,"tool_calls":null)"); })
        .unstreamed([] { return plain_with_members(R"(,"tool_calls":null)"); }),
    ScenarioRow("tool-finish-without-calls",
                "says that it will look, and ends with finish_reason tool_calls and no call")
        .from("vllm-project/vllm#53255")
        .good("reports that the calls are missing, or hands the finish_reason on")
        .tells("tool_calls")
        .says("Let me look.")
        .streamed([] {
          return stream_of({silent_opening(), saying("Let me look."), closing("tool_calls")});
        })
        .unstreamed([] { return raw_reply(200, body_with(message_saying("Let me look."), R"("tool_calls")")); }),
};

}  // namespace catalogue_parts

void add_tool_calls(Scenarios& all) {
  add_group(all, "tool calls", catalogue_parts::tool_calls_rows, std::size(catalogue_parts::tool_calls_rows));
}

}  // namespace mock_gateway::detail
