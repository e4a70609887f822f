// The scenarios of the group "tool calls".

#include <cstddef>
#include <iterator>  // size
#include <string>
#include <vector>

#include "catalogue_entries.hpp"

namespace mock_gateway::detail {
namespace catalogue_parts {

Chunks chunks_calling(const std::vector<wire::ToolCall>& calls) {
  Chunks chunks = {silent_opening()};
  for (std::size_t i = 0; i < calls.size(); ++i)
    chunks.push_back(fragment(head_of(std::to_string(i), calls[i].id), function_of(calls[i].name, calls[i].arguments)));
  chunks.push_back(closing("tool_calls"));
  return chunks;
}

std::vector<wire::ToolCall> broken_weather_call() { return {{"call_1", "get_weather", R"({"city":"Zü)"}}; }

std::vector<wire::ToolCall> call_with_two_objects() {
  return {{"call_1", "get_weather", R"({"city":"Zürich"}{"city":"東京"})"}};
}

std::vector<wire::ToolCall> call_after_empty_object() { return {{"call_1", "get_weather", R"({}{"city":"Zürich"})"}}; }

std::vector<wire::ToolCall> call_without_arguments() { return {{"call_1", "get_time", ""}}; }

/// Returns the usual call with its arguments encoded twice, as a JSON string.
std::vector<wire::ToolCall> encoded_call() {
  return {{"call_1", "get_weather", json_string(one_weather_call().front().arguments)}};
}

std::vector<wire::ToolCall> calls_with_one_id() {
  std::vector<wire::ToolCall> calls = two_weather_calls();
  calls[1].id = calls[0].id;
  return calls;
}

std::string with_object(const std::string& json) {
  const std::string arguments = one_weather_call().front().arguments;
  return replaced(json, json_string(arguments), arguments);
}

/// A call as models without a tool parser write it.
inline constexpr const char* spelled_call =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Zürich\"}}\n</tool_call>";

inline constexpr const char* usual_type = R"("type":"function",)";

void have_type(Chunks& chunks, const char* type) { replace_in(delta_of(chunks[1]), usual_type, type); }
std::string body_with_type(const char* type) { return replaced(body_calling(one_weather_call()), usual_type, type); }

void add_members(Chunks& chunks, const char* members) {
  for (std::size_t i = 1; i + 1 < chunks.size(); ++i) add_to(delta_of(chunks[i]), members);
}
std::string body_with_members(const char* members) {
  return body_with(message_saying(usual_scenario_text) + "," + members);
}

inline constexpr ScenarioRow tool_calls_rows[] = {
    {"stop-after-tool-call", "ends a tool call with finish_reason stop", "litellm#35663",
     "trusts the received calls, not the finish_reason", whole_answer, one_weather_call, Finishes{"stop"}, end_with,
     "stop"},
    {"text-and-tool-call-in-one-delta", "sends text and a whole tool call in one delta",
     "OpenAI: content beside tool_calls", "keeps both", streams_only, one_weather_call, Says{"Let me look."},
     [] {
       Chunks chunks = chunks_calling(one_weather_call());
       add_to(delta_of(chunks[1]), R"("content":"Let me look.")");
       return chunks;
     }},
    {"text-before-tool-call", "sends text before a tool call", "OpenAI: content beside tool_calls",
     "keeps text and call", whole_answer, one_weather_call, Says{"Let me look."},
     [](Chunks& chunks) { chunks.insert(chunks.begin() + 1, saying("Let me look.")); }},
    {"tool-call-arguments-after-empty", "sends {} before the arguments, in the same string", "BerriAI/litellm#20543",
     "passes on the arguments unchanged, or reports them; never calls the tool with {}", error_too,
     call_after_empty_object,
     [](Chunks& chunks) {
       chunks[2] = more("{}");
       chunks[3] = more(R"({"city":"Zürich"})");
     }},
    {"tool-call-arguments-as-object", "sends the arguments as a JSON object instead of a string", "llama.cpp#20198",
     "uses the object as arguments, or reports it; never calls the tool without arguments", error_too, one_weather_call,
     [] {
       Chunks chunks = chunks_calling(one_weather_call());
       chunks[1] = parse(with_object(chunks[1].dump()));
       return chunks;
     },
     [] { return with_object(body_calling(one_weather_call())); }},
    {"tool-call-arguments-broken", "cuts the arguments off, with finish_reason length",
     "OpenAI: the model does not always generate valid JSON",
     "passes on the arguments unchanged, or reports them; never guesses the missing part", error_too,
     broken_weather_call, Finishes{"length"},
     [](Chunks& chunks) {
       chunks[3] = more("\"Zü");
       chunks[4] = closing("length");
     }},
    {"tool-call-arguments-concatenated", "sends the arguments of two calls in one string, one after the other",
     "BerriAI/litellm#40582, google/adk-python#1038",
     "passes on the arguments unchanged, or reports them; never calls the tool with one of the two", error_too,
     call_with_two_objects,
     [](Chunks& chunks) {
       chunks[2] = more(R"({"city":"Zürich"})");
       chunks[3] = more(R"({"city":"東京"})");
     }},
    {"tool-call-arguments-cut-in-escape", "splits the arguments in the middle of a \\u escape", "RFC 8259, section 7",
     "joins the fragments before it parses them", streams_only, one_weather_call,
     [](Chunks& chunks) {
       chunks[2] = more(R"({"city":"Z\u00)");
       chunks[3] = more(R"(fcrich"})");
     }},
    {"tool-call-arguments-empty", "sends a tool call with arguments \"\"", "vercel/ai#6687",
     "treats \"\" as no arguments, {}", whole_answer, call_without_arguments,
     [] { return chunks_calling(call_without_arguments()); }},
    {"tool-call-arguments-encoded-twice", "JSON-encodes the arguments twice", "vllm-project/vllm#54964",
     "parses the inner string too, or reports it; never calls the tool with a string", error_too, one_weather_call,
     [] { return chunks_calling(encoded_call()); }, [] { return body_calling(encoded_call()); }},
    {"tool-call-as-text", "writes a tool call into the text, in <tool_call>, with finish_reason stop",
     "jundot/omlx#2565, lmstudio-ai/lmstudio-bug-tracker#2115", "passes on the text, or makes the call; never drops it",
     whole_answer, Says{spelled_call}, Spells{one_weather_call},
     [] {
       return Chunks{opening(), saying("<tool_call>\n"),
                     saying(R"({"name": "get_weather", "arguments": {"city": "Zürich"}})"), saying("\n</tool_call>"),
                     closing()};
     }},
    {"tool-call-finish-chunk-twice", "sends the chunk with a tool call's finish_reason twice",
     "skye-harris/hass_local_openai_llm#92", "makes the call once", streams_only, one_weather_call,
     [](Chunks& chunks) { chunks.push_back(closing("tool_calls")); }},
    {"tool-call-id-and-name-repeated", "repeats id, type and name in each fragment of a call", "hermes-agent#11984",
     "sets id, type and name once, and appends only the arguments", streams_only, one_weather_call,
     [](Chunks& chunks) {
       for (std::size_t i = 2; i < 4; ++i) {
         replace_in(delta_of(chunks[i]), R"("index":0,)", head_of("0", "call_1"));
         replace_in(delta_of(chunks[i]), R"("arguments")", R"("name":"get_weather","arguments")");
       }
     }},
    {"tool-call-id-empty-in-fragments", "sends id \"\" in every fragment after the first", "opencode#37841",
     "keeps the first id, and starts no new call", streams_only, one_weather_call,
     [](Chunks& chunks) {
       for (std::size_t i = 2; i < 4; ++i) replace_in(delta_of(chunks[i]), R"("index":0,)", head_of("0", ""));
     }},
    {"tool-call-in-one-chunk", "sends a complete call in one chunk", "Ollama, Gemini",
     "also reads the arguments of the first fragment", streams_only, one_weather_call,
     [] { return chunks_calling(one_weather_call()); }},
    {"tool-call-index-from-1", "streams one call, with index 1", "vercel/ai#18333",
     "joins the fragments by index, and needs no call with index 0", streams_only, one_weather_call,
     [](Chunks& chunks) {
       for (std::size_t i = 1; i < 4; ++i) replace_in(delta_of(chunks[i]), R"("index":0,)", R"("index":1,)");
     }},
    {"tool-call-name-after-arguments", "streams a call's name after its arguments",
     "OpenAI: the fields of a delta have no guaranteed order",
     "reads the name at the end of the call, or reports that it is missing", error_too | streams_only, one_weather_call,
     [](Chunks& chunks) {
       chunks[1] = fragment(head_of("0", "call_1"), function_of("", R"({"city":)"));
       chunks[2] = more(R"("Zürich"})");
       chunks[3] = fragment(R"("index":0,)", R"("name":"get_weather")");
     }},
    {"tool-call-type-empty", "sends a tool call with type \"\"", "vercel/ai#12939",
     "treats it as a function call, the only type that it requested", whole_answer, one_weather_call, have_type,
     body_with_type, R"("type":"",)"},
    {"tool-call-type-missing", "sends a tool call without a type", "vercel/ai#12901",
     "treats it as a function call, the only type that it requested", whole_answer, one_weather_call, have_type,
     body_with_type},
    {"tool-call-type-null", "sends a tool call with type: null", "vllm-project/vllm#38609",
     "treats it as a function call, the only type that it requested", whole_answer, one_weather_call, have_type,
     body_with_type, R"("type":null,)"},
    {"tool-call-without-id", "streams a call without an id", "vllm#18412",
     "generates an id for the call, or reports that it is missing", error_too | streams_only, one_weather_call,
     [](Chunks& chunks) { replace_in(delta_of(chunks[1]), R"("id":"call_1",)", ""); }},
    {"tool-call-without-index", "streams a call whose fragments have no index", "openai-python#2806, AstrBot#6661",
     "appends them to the current call, or reports an error", error_too | streams_only, one_weather_call,
     [](Chunks& chunks) {
       for (std::size_t i = 1; i < 4; ++i) replace_in(delta_of(chunks[i]), R"("index":0,)", "");
     }},
    {"tool-calls-all-index-0", "streams two parallel calls, both with index 0", "vercel/ai#14277, dynamo#4723",
     "tells the calls apart by id, or reports an error; never merges them", error_too | streams_only, two_weather_calls,
     [] {
       Chunks chunks = chunks_calling(two_weather_calls());
       replace_in(delta_of(chunks[2]), R"("index":1,)", R"("index":0,)");
       return chunks;
     }},
    {"tool-calls-empty-list", "sends tool_calls: [] next to each piece of text", "vercel/ai#20203",
     "treats [] as no calls, and reads the text", whole_answer, add_members, body_with_members, R"("tool_calls":[])"},
    {"tool-calls-equal-ids", "sends two parallel calls with the same id", "HKUDS/nanobot#3943",
     "keeps both under ids of its own, or reports an error", error_too, calls_with_one_id,
     [] { return chunks_calling(calls_with_one_id()); }},
    {"tool-calls-interleaved", "streams two parallel calls in alternating fragments", "continue#13223, Qwen-Agent#943",
     "appends each fragment to the call with its index", streams_only, two_weather_calls,
     [](Chunks& chunks) {
       const char* const second = R"("index":1,)";
       chunks.insert(chunks.begin() + 4, fragment(second, function_of("", R"("東京"})")));
       chunks.insert(chunks.begin() + 3, fragment(second, function_of("", R"({"city":)")));
       chunks.insert(chunks.begin() + 2, fragment(head_of("1", "call_2"), function_of("get_weather", "")));
     }},
    {"tool-calls-null", "sends tool_calls: null next to each piece of text", "vllm-project/guidellm#752",
     "treats null as no calls, and reads the text", whole_answer, add_members, body_with_members,
     R"("tool_calls":null)"},
    {"tool-finish-without-calls", "sends text and finish_reason tool_calls, but no call", "vllm-project/vllm#53255",
     "reports the missing calls, or passes on the finish_reason", reason_tells, Finishes{"tool_calls"},
     Says{"Let me look."},
     [] {
       return Chunks{silent_opening(), saying("Let me look."), closing("tool_calls")};
     }},
};

void add_tool_calls(Scenarios& all) { add_group(all, "tool calls", tool_calls_rows, std::size(tool_calls_rows)); }

}  // namespace catalogue_parts
}  // namespace mock_gateway::detail
