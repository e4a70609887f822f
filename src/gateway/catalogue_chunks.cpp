// The scenarios of the group "chunks".

#include <cstddef>
#include <iterator>  // size
#include <string>
#include <string_view>

#include "catalogue_entries.hpp"

namespace mock_gateway::detail {
namespace catalogue_parts {

/// The unknown members in every chunk, and in the plain body, of the scenario "unknown-fields".
inline constexpr const char* unknown_in_choice = R"("stop_reason":null)";
inline constexpr const char* unknown_at_top = R"("service_tier":"flex","x_groq":{"id":"req_1"})";

inline constexpr const char* cut_text = "Zürich 21 °C, 東京 9";

inline constexpr const char* half_text = "Zürich 21 °C, ";

void end_at_half(Chunks& chunks, const char* finish_reason) {
  while (chunks.size() > 3) chunks.pop_back();
  chunks.push_back(closing(finish_reason));
}

void end_at_limit(Chunks& chunks, const char* finish_reason) {
  chunks[4] = saying("9");
  chunks[5] = closing(finish_reason);
}

void created(Chunks& chunks, const char* value) {
  for (Json& chunk : chunks) add_to(chunk, R"("created":)" + std::string(value));
}
std::string body_created(const char* value) { return replaced(usual_body(), "1767225600", value); }

/// Replaces the role in the first chunk by these members; each ends with a comma.
void have_role(Chunks& chunks, const char* members) {
  chunks.front() = chunk_of(members + std::string(R"("content":"")"));
}
std::string body_with_role(const char* members) {
  return body_with(members + (R"("content":)" + json_string(usual_scenario_text)));
}

std::string thought(const char* member, std::string_view text) { return replaced(member, R"("")", json_string(text)); }
/// Adds the model's thoughts before the answer: two chunks with this member in their deltas.
void think_first(Chunks& chunks, const char* member) {
  chunks.insert(chunks.begin() + 1, chunk_of(R"("content":null,)" + thought(member, "North or ")));
  chunks.insert(chunks.begin() + 2, chunk_of(R"("content":null,)" + thought(member, "south?")));
}
std::string body_with_thought(const char* member) {
  return body_with(message_saying(usual_scenario_text) + "," + thought(member, "North or south?"));
}

std::string part_with(std::string_view text) { return R"({"type":"text","text":)" + json_string(text) + "}"; }
Json chunk_of_part(const std::string& part) { return chunk_of(R"("content":[)" + part + "]"); }
inline constexpr const char* thought_part =
    R"({"type":"thinking","thinking":[{"type":"text","text":"North or south?"}]})";
inline constexpr const char* unknown_part = R"({"type":"reference","reference_ids":[1]})";
std::string body_of_parts(const std::string& parts) {
  return body_with(R"("role":"assistant","content":[)" + parts + "]");
}

std::string escaped(const std::string& json) { return parse(json).dump(-1, ' ', true); }

std::string as_written(const char* text) { return event_of(replaced(saying("").dump(), R"("")", text)); }

inline constexpr ScenarioRow chunks_rows[] = {
    {"choice-index-grows", "numbers the chunks of its only choice in choices[0].index: 0, 1, 2, …",
     "huggingface/text-generation-inference#1648", "joins the chunks anyway, or reports that the choice has no end",
     error_too | streams_only,
     [](Chunks& chunks) {
       for (std::size_t i = 0; i < chunks.size(); ++i) add_to(choice_of(chunks[i]), R"("index":)" + std::to_string(i));
     }},
    {"content-as-parts", "sends content as a list of parts; the first part is the model's reasoning",
     "vercel/ai#17782, symfony/ai#2422, meilisearch/meilisearch#6327",
     "joins the text parts, or reports an error; never shows \"[object Object]\"", error_too,
     [] {
       return Chunks{opening(),
                     chunk_of_part(thought_part),
                     chunk_of_part(part_with("Zürich ")),
                     chunk_of_part(part_with("21 °C, ")),
                     chunk_of_part(part_with("東京 ")),
                     chunk_of_part(part_with("9 °C.")),
                     closing()};
     },
     [] { return body_of_parts(thought_part + ("," + part_with(usual_scenario_text))); }},
    {"content-null-in-deltas", "sends content: null in the first and the last delta", "DashScope, DeepSeek",
     "treats null as empty text", streams_only,
     [](Chunks& chunks) {
       chunks.front() = chunk_of(R"("role":"assistant","content":null,"reasoning_content":"")");
       chunks.back() = chunk_of(R"("content":null,"reasoning_content":null)", R"("stop")");
     }},
    {"content-part-of-unknown-kind", "sends content as a list of parts; one part is a reference without text",
     "vercel/ai#17782, symfony/ai#2422, meilisearch/meilisearch#6327",
     "joins the text parts, or reports the unknown part", error_too,
     [] {
       return Chunks{opening(), chunk_of_part(part_with("Zürich 21 °C, ")), chunk_of_part(unknown_part),
                     chunk_of_part(part_with("東京 9 °C.")), closing()};
     },
     [] { return body_of_parts(part_with("Zürich 21 °C, ") + "," + unknown_part + "," + part_with("東京 9 °C.")); }},
    {"created-as-text", "sends created as text, an ISO 8601 date", "BerriAI/litellm#11971",
     "accepts any value of created", whole_answer, created, body_created, R"("2026-01-01T00:00:00Z")"},
    {"created-float", "sends created as a number with a fraction", "BerriAI/litellm#11971, sashabaranov/go-openai#1003",
     "accepts any value of created", whole_answer, created, body_created, "1767225600.123"},
    {"created-in-milliseconds", "sends created in milliseconds", "BerriAI/litellm#11971",
     "accepts any value of created", whole_answer, created, body_created, "1767225600123"},
    {"created-null", "sends created: null", "pydantic/pydantic-ai#1877", "accepts any value of created", whole_answer,
     created, body_created, "null"},
    {"delta-null", "sends delta: null in the chunk that ends the answer, and in an earlier chunk",
     "microsoft/agent-framework#5734, DataDog/dd-trace-py#14046, traceloop/openllmetry#853",
     "treats null as empty text", streams_only,
     [](Chunks& chunks) {
       chunks.back() = chunk_with(R"("choices":[{"index":0,"delta":null,"finish_reason":"stop"}])");
       chunks.insert(chunks.begin() + 3, chunk_with(R"("choices":[{"index":0,"delta":null,"finish_reason":null}])"));
     }},
    {"empty-turn", "sends neither text nor a tool call, with finish_reason stop",
     "BerriAI/litellm#24442, livekit/agents#4066, google/adk-js#344",
     "reports that the answer is empty, or passes on the empty text", error_too, Says{""},
     [] {
       return Chunks{opening(), closing()};
     }},
    {"equal-deltas", "sends the text 666666 as the deltas 6, 66, 66, 6", "Quorinex/Kiro-Go#138",
     "appends each delta, even if it repeats or continues an earlier one", streams_only, Says{"666666"},
     [] { return Chunks{opening(), saying("6"), saying("66"), saying("66"), saying("6"), closing()}; }},
    {"escaped-characters", "writes every non-ASCII character as \\u escapes, an emoji as a surrogate pair",
     "RFC 8259, section 7", "decodes the escapes, and a surrogate pair to one character", whole_answer,
     Says{"Zürich 21 °C, 東京 9 °C. 🌦"},
     [](Chunks& chunks) {
       chunks.insert(chunks.end() - 1, saying(" 🌦"));
       for (Json& chunk : chunks) chunk = event_of(escaped(chunk.dump()));
     },
     [] { return escaped(body_with(message_saying(std::string(usual_scenario_text) + " 🌦"))); }},
    {"finish-chunk-twice", "sends the chunk with the finish_reason twice", "openrag#462", "ignores the second chunk",
     streams_only, [] { return after_tokens(4); }, duplicate_event},
    {"finish-reason-content-filter", "stops after half of the text with finish_reason content_filter, without [DONE]",
     "experientiallabs/experiential#962, vercel/ai#4220",
     "reports that the answer was cut, or passes on the finish_reason", reason_tells, Finishes{"content_filter"},
     Says{half_text},
     [](bool streamed) {
       if (!streamed) return raw_reply(200, body_with(message_saying(half_text), R"("content_filter")"));
       Chunks chunks = usual_chunks();
       end_at_half(chunks, "content_filter");
       return stream_of(chunks).header("Connection", "close").sse(SseDialect().done(false));
     }},
    {"finish-reason-empty", "sends finish_reason \"\" instead of null until the last chunk", "ollama#4357",
     "keeps reading: \"\" does not end the answer", whole_answer, Finishes{"stop", ""},
     [](Chunks& chunks) {
       for (std::size_t i = 0; i + 1 < chunks.size(); ++i) add_to(choice_of(chunks[i]), R"("finish_reason":"")");
     }},
    {"finish-reason-eos", "ends the complete text with the undocumented finish_reason eos", "pydantic/pydantic-ai#2844",
     "passes on text and finish_reason, or reports the unknown reason", error_too, Finishes{"eos"}, end_with, "eos"},
    {"finish-reason-error", "stops after half of the text with finish_reason error", "pydantic/pydantic-ai#2844",
     "reports that the answer failed, or passes on the finish_reason", reason_tells, Finishes{"error"}, Says{half_text},
     end_at_half, "error"},
    {"finish-reason-length", "cuts the text at the token limit, with finish_reason length", "OpenAI: finish_reason",
     "passes on the text and says that it was cut, or reports an error", error_too, Says{cut_text}, Finishes{"length"},
     end_at_limit, "length"},
    {"finish-reason-max-tokens", "cuts the text at the token limit, with finish_reason max_tokens",
     "pydantic/pydantic-ai#2844", "reports that the text was cut, or passes on the finish_reason", reason_tells,
     Finishes{"max_tokens"}, Says{cut_text}, end_at_limit, "max_tokens"},
    {"finish-reason-missing", "never sends a finish_reason, but ends the stream with [DONE]", "openai-node#1292",
     "treats [DONE] as the end, or reports the missing finish_reason", error_too, Finishes{""},
     [](Chunks& chunks) {
       chunks.pop_back();
       for (Json& chunk : chunks) replace_in(chunk, R"(,"finish_reason":null)", "");
     },
     [] { return body_with(message_saying(usual_scenario_text), ""); }},
    {"first-chunk-is-choice-1", "streams two choices, and starts with a chunk of the second one", "openai-python#3709",
     "tells choices apart by their index, not by their order", streams_only,
     [](Chunks& chunks) {
       Chunks other = {opening(), saying("Paris 17 °C."), closing()};
       for (Json& chunk : other) add_to(choice_of(chunk), R"("index":1)");
       chunks.insert(chunks.begin(), other[0]);
       chunks.insert(chunks.begin() + 3, other[1]);
       chunks.push_back(other[2]);
     }},
    {"first-chunk-placeholder",
     "begins with a chunk without choices, with \"\" for id, object and model, and created 0",
     "Azure OpenAI: prompt_filter_results", "skips it, and reads the chunks with other ids", streams_only,
     [](Chunks& chunks) {
       chunks.insert(chunks.begin(), parse(R"({"id":"","object":"","created":0,"model":"","choices":[],)"
                                           R"("prompt_filter_results":[]})"));
     }},
    {"first-chunk-with-empty-choices", "begins with a chunk whose choices are []", "pydantic-ai#164",
     "ignores a chunk without choices", streams_only,
     [](Chunks& chunks) { chunks.insert(chunks.begin(), chunk_with(R"("choices":[],"prompt_filter_results":[])")); }},
    {"full-message-at-end", "repeats the complete message in the chunk with the finish_reason",
     "abundantbeing/hermes-browser-extension#11", "uses the deltas, and shows the text once", streams_only,
     [](Chunks& chunks) {
       add_to(choice_of(chunks.back()), R"("message":{)" + message_saying(usual_scenario_text) + "}");
     }},
    {"line-separators-in-text", "sends U+2028, U+2029 and U+0085 in the text, without escaping them",
     "langgenius/dify#39008, Soju06/codex-lb#1010, WHATWG HTML 9.2.6", "ends lines only at CR and LF", whole_answer,
     Says{"Zürich\u202821 °C,\u2029東京\u00859 °C."},
     [] {
       return Chunks{opening(), saying("Zürich\u2028"), saying("21 °C,\u2029"), saying("東京\u0085"), saying("9 °C."),
                     closing()};
     }},
    {"reasoning-before-content", "sends reasoning_content before the content", "DeepSeek, DashScope",
     "keeps the reasoning out of the answer", whole_answer, think_first, body_with_thought,
     R"("reasoning_content":"")"},
    {"reasoning-details", "sends the model's reasoning as a list, reasoning_details", "QwenLM/Qwen-Agent#894",
     "keeps the reasoning out of the answer", whole_answer, think_first, body_with_thought,
     R"("reasoning_details":[{"type":"reasoning.text","index":0,"text":""}])"},
    {"reasoning-field", "sends reasoning in the field reasoning", "vllm-project/vllm#27755, vllm-project/vllm#50624",
     "keeps the reasoning out of the answer", whole_answer, think_first, body_with_thought, R"("reasoning":"")"},
    {"reasoning-only-turn", "sends only reasoning and no answer, with finish_reason stop",
     "livekit/agents#4066, google/adk-js#344",
     "reports that there is no answer, or passes on the empty text; does not show reasoning as an answer", error_too,
     Says{""},
     [](Chunks& chunks, const char* member) {
       chunks = {opening(), closing()};
       think_first(chunks, member);
       chunks[0] = silent_opening();
     },
     [](const char* member) {
       return body_with(R"("role":"assistant","content":null,)" + thought(member, "North or south?"));
     },
     R"("reasoning_content":"")"},
    {"refusal", "sends a refusal instead of content, with finish_reason stop", "OpenAI: refusals",
     "shows the refusal or reports it; never reads it as an empty answer", error_too, Says{"I cannot help with that."},
     [] {
       return Chunks{chunk_of(R"("role":"assistant","content":null,"refusal":"")"),
                     chunk_of(R"("refusal":"I cannot ")"), chunk_of(R"("refusal":"help with that.")"), closing()};
     },
     [] { return body_with(R"("role":"assistant","content":null,"refusal":"I cannot help with that.")"); }},
    {"role-chunk-missing", "begins with text, without a first chunk that has the role",
     "OpenAI: role is optional in a delta", "assumes the role assistant", streams_only, after_headers, skip_event},
    {"role-empty", "sends role \"\"", "langchain-ai/langchain#27398", "assumes the role assistant", whole_answer,
     have_role, body_with_role, R"("role":"",)"},
    {"role-in-every-delta", "repeats the role in every delta", "litellm#9986", "keeps one message and one role",
     streams_only,
     [](Chunks& chunks) {
       for (Json& chunk : chunks) add_to(delta_of(chunk), R"("role":"assistant")");
     }},
    {"role-missing", "sends no role in deltas or in the message", "langchain-ai/langchain#27398, stanfordnlp/dspy#1824",
     "assumes the role assistant", whole_answer, have_role, body_with_role},
    {"role-model", "sends role model instead of assistant", "langchain-ai/langchain#27398",
     "assumes the role assistant", whole_answer, have_role, body_with_role, R"("role":"model",)"},
    {"surrogate-alone", "ends the text with the \\u escape of half a surrogate pair",
     "Kohaku-Lab/KohakuTerrarium#48, elizaOS/eliza#30904", "replaces it with U+FFFD, or reports an error", error_too,
     Says{"Zürich 21 °C, 東京 9 °C. \uFFFD"},
     [](Chunks& chunks) { chunks.insert(chunks.end() - 1, as_written(R"(" \ud83d")")); },
     [] { return replaced(usual_body(), "9 °C.", R"(9 °C. \ud83d)"); }},
    {"surrogate-pair-split", "splits the \\u escapes of a surrogate pair between two deltas",
     "Kohaku-Lab/KohakuTerrarium#48, elizaOS/eliza#30904", "joins the halves into one character, or reports an error",
     error_too | streams_only, Says{"Zürich 21 °C, 東京 9 °C. 😀"},
     [](Chunks& chunks) {
       chunks.insert(chunks.end() - 1, as_written(R"(" \ud83d")"));
       chunks.insert(chunks.end() - 1, as_written(R"("\ude00")"));
     }},
    {"text-cumulative", "repeats all text so far in each delta", "QwenLM/qwen-code#3896",
     "shows each word once, or reports the malformed deltas", error_too | streams_only,
     [] {
       return Chunks{opening(),
                     saying("Zürich "),
                     saying("Zürich 21 °C, "),
                     saying("Zürich 21 °C, 東京 "),
                     saying(usual_scenario_text),
                     closing()};
     }},
    {"text-in-finish-chunk", "sends the last text in the chunk with the finish_reason", "rust-genai#164, vllm#35705",
     "also reads the delta of the last chunk", streams_only, end_in_text},
    {"text-in-role-chunk", "sends the first text in the chunk with the role", "ollama#4357",
     "also reads the content of the first delta", streams_only,
     [](Chunks& chunks) {
       add_to(delta_of(chunks[1]), R"("role":"assistant")");
       chunks.erase(chunks.begin());
     }},
    {"think-tags-cut-between-deltas",
     "sends <think> and the model's thoughts as text, and cuts </think> between two deltas",
     "pydantic/pydantic-ai#3007", "joins the deltas before it looks for the tags, or keeps thoughts and tags",
     streams_only, Says{"<think>North or south?</think>Zürich 21 °C."}, Leaves{"Zürich 21 °C."},
     [] {
       return Chunks{opening(),      saying("<think>"),     saying("North or south?"),
                     saying("</th"), saying("ink>Zürich "), saying("21 °C."),
                     closing()};
     }},
    {"unknown-fields", "adds undocumented fields at every level", "OpenAI: changes that keep compatibility",
     "ignores unknown fields", whole_answer,
     [](Chunks& chunks) {
       for (Json& chunk : chunks) {
         add_to(delta_of(chunk), R"("annotations":[])");
         add_to(choice_of(chunk), unknown_in_choice);
         add_to(chunk, unknown_at_top);
       }
     },
     [] {
       return body_with(message_saying(usual_scenario_text) + R"(,"annotations":[])", R"("stop")",
                        std::string(",") + unknown_in_choice, std::string(",") + unknown_at_top);
     }},
    {"usage-chunk-without-choices", "ends with a chunk that has usage but no choices field", "xiaozhi-esp32-server#734",
     "treats missing choices as an empty list", streams_usage,
     [](Chunks& chunks) { chunks.push_back(chunk_with(usage)); }},
    {"usage-cumulative", "sends the usage so far in every chunk", "open-webui/open-webui#29064, ogx-ai/ogx#5122",
     "uses the last value, and adds nothing up", streams_usage,
     [](Chunks& chunks) {
       for (std::size_t i = 0; i < chunks.size(); ++i)
         add_to(chunks[i], R"("usage":{"prompt_tokens":9,"completion_tokens":)" + std::to_string(i) +
                               R"(,"total_tokens":)" + std::to_string(9 + i) + "}");
     }},
    {"usage-null-in-every-chunk", "sends usage: null in every chunk, then a chunk with choices [] and the usage",
     "OpenAI: stream_options.include_usage", "treats null as usage that is not known yet", streams_usage,
     [](Chunks& chunks) {
       for (Json& chunk : chunks) add_to(chunk, R"("usage":null)");
       chunks.push_back(chunk_with(std::string(R"("choices":[],)") + usage));
     }},
    {"usage-on-finish-chunk", "sends the usage only in the chunk with the finish_reason", "DeepSeek",
     "reads usage from any chunk", streams_usage, [](Chunks& chunks) { add_to(chunks.back(), usage); }},
};

void add_chunks(Scenarios& all) { add_group(all, "chunks", chunks_rows, std::size(chunks_rows)); }

}  // namespace catalogue_parts
}  // namespace mock_gateway::detail
