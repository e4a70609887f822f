// Scenarios of chunks.

#include <cstddef>
#include <iterator>  // size
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalogue_entries.hpp"

namespace mock_gateway::detail {
namespace catalogue_parts {

/// What every chunk of "unknown-fields" has besides, and its body.
inline constexpr const char* unknown_in_choice = R"(,"stop_reason":null)";
inline constexpr const char* unknown_at_top = R"(,"service_tier":"flex","x_groq":{"id":"req_1"})";

/// What is left of the usual text at its limit.
inline constexpr const char* cut_text = "Zürich 21 °C, 東京 9";

/// Half of the usual text.
inline constexpr const char* half_text = "Zürich 21 °C, ";

/// Pieces that are equal, and beginnings of each other, as the text has it.
inline constexpr const char* equal_pieces[] = {"6", "66", "66", "6"};

/// The characters beyond ASCII that some take for line ends (Unicode, section 5.8).
inline constexpr const char* separated_pieces[] = {"Zürich\u2028", "21 °C,\u2029", "東京\u0085", "9 °C."};

template <std::size_t count>
Reply stream_of_pieces(const char* const (&pieces)[count]) {
  ChunkTexts chunks = {opening()};
  for (const char* const piece : pieces) chunks.push_back(saying(piece));
  chunks.push_back(closing());
  return stream_of(chunks);
}

/// A plain answer that ends so.
Reply plain_ending(const char* text, const char* finish_reason) {
  return raw_reply(200, body_with(message_saying(text), json_string(finish_reason)));
}

/// A stream that ends so after half of the text.
Reply stream_of_half(const char* finish_reason) {
  const ChunkTexts usual = usual_chunks();
  return stream_of({usual[0], usual[1], usual[2], closing(finish_reason)});
}

/// A stream that ends so at the limit of its text.
Reply stream_of_cut_text(const char* finish_reason) {
  ChunkTexts chunks = usual_chunks();
  chunks[4] = saying("9");
  chunks[5] = closing(finish_reason);
  return stream_of(chunks);
}

inline constexpr const char* usual_created = R"("created":1767225600)";

/// The usual answer with this member in place of `created`.
Reply stream_with_created(const char* member) {
  std::vector<StreamChunk> elements;
  for (const ChunkText& chunk : usual_chunks())
    elements.push_back(mock_gateway::json_chunk(parse(replaced(json_of(chunk), usual_created, member))));
  return mock_gateway::chunks(std::move(elements));
}
Reply plain_with_created(const char* member) { return raw_reply(200, replaced(usual_body(), usual_created, member)); }

/// The usual answer with these members, a comma behind each, in place of its role.
Reply stream_with_role(const std::string& members) {
  ChunkTexts chunks = usual_chunks();
  chunks.front().delta = members + R"("content":"")";
  return stream_of(chunks);
}
Reply plain_with_role(const std::string& members) {
  return raw_reply(200, body_with(members + R"("content":)" + json_string(usual_scenario_text)));
}

/// The usual answer with what the model thought: a member of each of two deltas before it, or one of the message.
Reply stream_after_thoughts(const char* first, const char* second) {
  ChunkTexts chunks = usual_chunks();
  chunks.insert(chunks.begin() + 1,
                {{R"("content":null,)" + std::string(first)}, {R"("content":null,)" + std::string(second)}});
  return stream_of(chunks);
}
Reply plain_with_thoughts(const char* member) {
  return raw_reply(200, body_with(message_saying(usual_scenario_text) + "," + member));
}

/// A part of content that has text, as JSON.
std::string part_with(std::string_view text) { return R"({"type":"text","text":)" + json_string(text) + "}"; }
/// A chunk whose content is this part.
ChunkText chunk_of_part(const std::string& part) { return {R"("content":[)" + part + "]"}; }
/// A part of content that is no part of the answer.
inline constexpr const char* thought_part =
    R"({"type":"thinking","thinking":[{"type":"text","text":"North or south?"}]})";
inline constexpr const char* unknown_part = R"({"type":"reference","reference_ids":[1]})";
/// A plain answer of these parts.
Reply plain_of_parts(const std::string& parts) {
  return raw_reply(200, body_with(R"("role":"assistant","content":[)" + parts + "]"));
}

inline constexpr ScenarioRow chunks_rows[] = {
    ScenarioRow("choice-index-grows", "counts the chunks of its only choice in their index: 0, 1, 2, …")
        .from("huggingface/text-generation-inference#1648")
        .good("joins the chunks all the same, or reports that the choice does not end")
        .error_too()
        .streams_only()
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          const char* const indices[] = {"0", "1", "2", "3", "4", "5"};
          for (std::size_t i = 0; i < chunks.size(); ++i) chunks[i].index = indices[i];
          return stream_of(chunks);
        }),
    ScenarioRow("content-as-parts", "sends content as a list of parts, the first of which is what the model thought")
        .from("vercel/ai#17782, symfony/ai#2422, meilisearch/meilisearch#6327")
        .good("joins the parts that have text, or reports them; never writes \"[object Object]\"")
        .error_too()
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          chunks.insert(chunks.begin() + 1, chunk_of_part(thought_part));
          const char* const pieces[] = {"Zürich ", "21 °C, ", "東京 ", "9 °C."};
          for (std::size_t i = 0; i < std::size(pieces); ++i) chunks[i + 2] = chunk_of_part(part_with(pieces[i]));
          return stream_of(chunks);
        })
        .unstreamed([] { return plain_of_parts(thought_part + ("," + part_with(usual_scenario_text))); }),
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
    ScenarioRow("content-part-of-unknown-kind", "sends content as parts, one of which is a reference and has no text")
        .from("vercel/ai#17782, symfony/ai#2422, meilisearch/meilisearch#6327")
        .good("joins the parts that have text, or reports the one that it does not know")
        .error_too()
        .streamed([] {
          return stream_of({opening(), chunk_of_part(part_with("Zürich 21 °C, ")), chunk_of_part(unknown_part),
                            chunk_of_part(part_with("東京 9 °C.")), closing()});
        })
        .unstreamed([] {
          return plain_of_parts(part_with("Zürich 21 °C, ") + "," + unknown_part + "," + part_with("東京 9 °C."));
        }),
    ScenarioRow("created-as-text", "has text for created, a date of ISO 8601")
        .from("BerriAI/litellm#11971")
        .good("reads the answer, whatever created is")
        .streamed([] { return stream_with_created(R"("created":"2026-01-01T00:00:00Z")"); })
        .unstreamed([] { return plain_with_created(R"("created":"2026-01-01T00:00:00Z")"); }),
    ScenarioRow("created-float", "has a number with a fraction for created")
        .from("BerriAI/litellm#11971, sashabaranov/go-openai#1003")
        .good("reads the answer, whatever created is")
        .streamed([] { return stream_with_created(R"("created":1767225600.123)"); })
        .unstreamed([] { return plain_with_created(R"("created":1767225600.123)"); }),
    ScenarioRow("created-in-milliseconds", "has milliseconds for created")
        .from("BerriAI/litellm#11971")
        .good("reads the answer, whatever created is")
        .streamed([] { return stream_with_created(R"("created":1767225600123)"); })
        .unstreamed([] { return plain_with_created(R"("created":1767225600123)"); }),
    ScenarioRow("created-null", "has null for created")
        .from("pydantic/pydantic-ai#1877")
        .good("reads the answer, whatever created is")
        .streamed([] { return stream_with_created(R"("created":null)"); })
        .unstreamed([] { return plain_with_created(R"("created":null)"); }),
    ScenarioRow("delta-null", "sends delta null in the chunk that ends the answer, and in one before")
        .from("microsoft/agent-framework#5734, DataDog/dd-trace-py#14046, traceloop/openllmetry#853")
        .good("takes null for nothing said")
        .streams_only()
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          chunks.back() = chunk_with(R"("choices":[{"index":0,"delta":null,"finish_reason":"stop"}])");
          chunks.insert(chunks.begin() + 3, chunk_with(R"("choices":[{"index":0,"delta":null,"finish_reason":null}])"));
          return stream_of(chunks);
        }),
    ScenarioRow("empty-turn", "answers with neither text nor call, and finish_reason stop")
        .from("BerriAI/litellm#24442, livekit/agents#4066, google/adk-js#344")
        .good("reports that there is no answer")
        .only_error()
        .says("")
        .streamed([] {
          return stream_of({opening(), closing()});
        })
        .unstreamed([] { return plain_ending("", "stop"); }),
    ScenarioRow("equal-deltas", "says 666666 as 6, 66, 66, 6: deltas are equal, and begin as those before")
        .from("Quorinex/Kiro-Go#138")
        .good("joins them as they come, and takes none for the text so far")
        .streams_only()
        .says("666666")
        .streamed([] { return stream_of_pieces(equal_pieces); })
        .unstreamed([] { return plain_ending("666666", "stop"); }),
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
    ScenarioRow("finish-reason-content-filter",
                "stops after half of the text with finish_reason content_filter, without [DONE]")
        .from("experientiallabs/experiential#962, vercel/ai#4220")
        .good("reports that the answer was cut, or hands the finish_reason on")
        .tells("content_filter")
        .says(half_text)
        .streamed([] { return stream_of_half("content_filter").header("Connection", "close"); })
        .dialect([](SseDialect& dialect) { dialect = dialect.done(false); })
        .unstreamed([] { return plain_ending(half_text, "content_filter"); }),
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
    ScenarioRow("finish-reason-eos", "ends the whole text with finish_reason eos, which no documentation knows")
        .from("pydantic/pydantic-ai#2844")
        .good("hands text and reason on, or reports that it does not know the reason")
        .error_too()
        .finishes("eos")
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          chunks.back() = closing("eos");
          return stream_of(chunks);
        })
        .unstreamed([] { return plain_ending(usual_scenario_text, "eos"); }),
    ScenarioRow("finish-reason-error", "stops after half of the text, with finish_reason error")
        .from("pydantic/pydantic-ai#2844")
        .good("reports that the answer failed, or hands the finish_reason on")
        .tells("error")
        .says(half_text)
        .streamed([] { return stream_of_half("error"); })
        .unstreamed([] { return plain_ending(half_text, "error"); }),
    ScenarioRow("finish-reason-length", "ends the text at its limit, with finish_reason length")
        .from("OpenAI: finish_reason")
        .good("hands the text on and tells that it was cut, or reports it")
        .error_too()
        .says(cut_text)
        .finishes("length")
        .streamed([] { return stream_of_cut_text("length"); })
        .unstreamed([] { return plain_ending(cut_text, "length"); }),
    ScenarioRow("finish-reason-max-tokens", "ends the text at its limit, with finish_reason max_tokens")
        .from("pydantic/pydantic-ai#2844")
        .good("reports that the text was cut, or hands the finish_reason on")
        .tells("max_tokens")
        .says(cut_text)
        .streamed([] { return stream_of_cut_text("max_tokens"); })
        .unstreamed([] { return plain_ending(cut_text, "max_tokens"); }),
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
    ScenarioRow("full-message-at-end", "sends the whole message once more, in the chunk with the finish_reason")
        .from("abundantbeing/hermes-browser-extension#11")
        .good("has the text from the deltas, and says it once")
        .streams_only()
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          chunks.back().in_choice = R"(,"message":{)" + message_saying(usual_scenario_text) + "}";
          return stream_of(chunks);
        }),
    ScenarioRow("line-separators-in-text", "has U+2028, U+2029 and U+0085 in the text, as they are and not escaped")
        .from("langgenius/dify#39008, Soju06/codex-lb#1010, WHATWG HTML 9.2.6")
        .good("ends lines at CR and LF, and at nothing else")
        .says("Zürich\u202821 °C,\u2029東京\u00859 °C.")
        .streamed([] { return stream_of_pieces(separated_pieces); })
        .unstreamed([] { return plain_ending("Zürich\u202821 °C,\u2029東京\u00859 °C.", "stop"); }),
    ScenarioRow("reasoning-before-content", "sends reasoning_content before the content")
        .from("DeepSeek, DashScope")
        .good("keeps the reasoning out of the answer")
        .streamed([] {
          return stream_after_thoughts(R"("reasoning_content":"North or ")", R"("reasoning_content":"south?")");
        })
        .unstreamed([] { return plain_with_thoughts(R"("reasoning_content":"North or south?")"); }),
    ScenarioRow("reasoning-details", "sends what the model thought as a list, reasoning_details")
        .from("QwenLM/Qwen-Agent#894")
        .good("keeps the reasoning out of the answer")
        .streamed([] {
          return stream_after_thoughts(
              R"("reasoning_details":[{"type":"reasoning.text","index":0,"text":"North or "}])",
              R"("reasoning_details":[{"type":"reasoning.text","index":0,"text":"south?"}])");
        })
        .unstreamed([] {
          return plain_with_thoughts(
              R"("reasoning_details":[{"type":"reasoning.text","index":0,"text":"North or south?"}])");
        }),
    ScenarioRow("reasoning-field", "sends what the model thought as reasoning")
        .from("vllm-project/vllm#27755, vllm-project/vllm#50624")
        .good("keeps the reasoning out of the answer")
        .streamed([] { return stream_after_thoughts(R"("reasoning":"North or ")", R"("reasoning":"south?")"); })
        .unstreamed([] { return plain_with_thoughts(R"("reasoning":"North or south?")"); }),
    ScenarioRow("reasoning-only-turn", "sends what the model thought and no answer, with finish_reason stop")
        .from("livekit/agents#4066, google/adk-js#344")
        .good("reports that there is no answer; what was thought is none")
        .only_error()
        .says("")
        .streamed([] {
          return stream_of({silent_opening(),
                            {R"("content":null,"reasoning_content":"North or ")"},
                            {R"("content":null,"reasoning_content":"south?")"},
                            closing()});
        })
        .unstreamed([] {
          return raw_reply(200,
                           body_with(R"("role":"assistant","content":null,"reasoning_content":"North or south?")"));
        }),
    ScenarioRow("role-chunk-missing", "begins with text, without a chunk that has the role")
        .from("OpenAI: role is optional in a delta")
        .good("takes the assistant for the speaker")
        .streams_only()
        .changed([](const Reply& reply, bool) { return reply.fault(after_headers(), skip_event()); }),
    ScenarioRow("role-empty", "sends \"\" for the role")
        .from("langchain-ai/langchain#27398")
        .good("takes the assistant for the speaker")
        .streamed([] { return stream_with_role(R"("role":"",)"); })
        .unstreamed([] { return plain_with_role(R"("role":"",)"); }),
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
    ScenarioRow("role-missing", "has no role, in deltas or in the message")
        .from("langchain-ai/langchain#27398, stanfordnlp/dspy#1824")
        .good("takes the assistant for the speaker")
        .streamed([] { return stream_with_role(""); })
        .unstreamed([] { return plain_with_role(""); }),
    ScenarioRow("role-model", "sends model for the role")
        .from("langchain-ai/langchain#27398")
        .good("takes the assistant for the speaker")
        .streamed([] { return stream_with_role(R"("role":"model",)"); })
        .unstreamed([] { return plain_with_role(R"("role":"model",)"); }),
    ScenarioRow("surrogate-alone", "ends the text with the escape of half a surrogate pair")
        .from("Kohaku-Lab/KohakuTerrarium#48, elizaOS/eliza#30904")
        .good("puts U+FFFD in its place, or reports it")
        .error_too()
        .says("Zürich 21 °C, 東京 9 °C. \uFFFD")
        .streamed([] {
          const ChunkTexts usual = usual_chunks();
          std::vector<StreamChunk> elements;
          for (std::size_t i = 0; i + 1 < usual.size(); ++i) elements.push_back(element(usual[i]));
          elements.push_back(raw_bytes(event_of(json_of({R"("content":" \ud83d")"}))));
          elements.push_back(element(usual.back()));
          return mock_gateway::chunks(std::move(elements));
        })
        .unstreamed([] { return raw_reply(200, replaced(usual_body(), "9 °C.", R"(9 °C. \ud83d)")); }),
    ScenarioRow("surrogate-pair-split", "sends the escapes of a surrogate pair in two deltas")
        .from("Kohaku-Lab/KohakuTerrarium#48, elizaOS/eliza#30904")
        .good("makes one character of the two halves, or reports them")
        .error_too()
        .streams_only()
        .says("Zürich 21 °C, 東京 9 °C. 😀")
        .streamed([] {
          const ChunkTexts usual = usual_chunks();
          std::vector<StreamChunk> elements;
          for (std::size_t i = 0; i + 1 < usual.size(); ++i) elements.push_back(element(usual[i]));
          for (const char* const half : {R"("content":" \ud83d")", R"("content":"\ude00")"})
            elements.push_back(raw_bytes(event_of(json_of({half}))));
          elements.push_back(element(usual.back()));
          return mock_gateway::chunks(std::move(elements));
        })
        .unstreamed([] { return plain_ending("Zürich 21 °C, 東京 9 °C. 😀", "stop"); }),
    ScenarioRow("text-cumulative", "has all of the text so far in each delta")
        .from("QwenLM/qwen-code#3896")
        .good("says each word once, or reports the deltas")
        .error_too()
        .streams_only()
        .streamed([] {
          return stream_of({opening(), saying("Zürich "), saying("Zürich 21 °C, "), saying("Zürich 21 °C, 東京 "),
                            saying(usual_scenario_text), closing()});
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
    ScenarioRow("usage-cumulative", "has the usage so far in every chunk")
        .from("open-webui/open-webui#29064, ogx-ai/ogx#5122")
        .good("takes the last for the usage, and adds nothing up")
        .streams_only()
        .streams_usage()
        .streamed([] {
          ChunkTexts chunks = usual_chunks();
          for (std::size_t i = 0; i < chunks.size(); ++i)
            chunks[i].in_chunk = R"(,"usage":{"prompt_tokens":9,"completion_tokens":)" + std::to_string(i) +
                                 R"(,"total_tokens":)" + std::to_string(9 + i) + "}";
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

}  // namespace catalogue_parts

void add_chunks(Scenarios& all) {
  add_group(all, "chunks", catalogue_parts::chunks_rows, std::size(catalogue_parts::chunks_rows));
}

}  // namespace mock_gateway::detail
