// Careless clients: each has the mistake that one scenario is meant to catch. The verdict on the client must fail for
// that scenario and pass for a correct reply.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/catalogue_transcript.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace careless_clients_test {

using namespace mock_gateway;
using test_support::Http;
using test_support::RawConnection;
using test_support::Response;

using Kind = Verdict::Kind;

// --- Building blocks of careless clients -----------------------------------------------------------------------------

/// Returns a member, or null if it is absent.
inline Json member(const Json& json, const char* name) {
  return json.is_object() && json.contains(name) ? json[name] : Json();
}

/// Returns the data of each event of a stream, or the body of a plain reply.
inline std::vector<std::string> texts(const Response& response) {
  return response.is_stream() ? response.events() : std::vector<std::string>{response.body};
}

/// Parses the texts and returns those that are valid JSON.
inline std::vector<Json> jsons(const std::vector<std::string>& texts) {
  std::vector<Json> all;
  for (const std::string& text : texts) {
    Json json = Json::parse(text, nullptr, false);
    if (!json.is_discarded()) all.push_back(std::move(json));
  }
  return all;
}

/// Returns the first choice of each chunk or body that has a choice.
inline std::vector<Json> choices(const std::vector<Json>& jsons) {
  std::vector<Json> all;
  for (const Json& json : jsons) {
    const Json choices = member(json, "choices");
    if (choices.is_array() && !choices.empty()) all.push_back(choices[0]);
  }
  return all;
}
inline std::vector<Json> choices(const Response& response) { return choices(jsons(texts(response))); }

/// Returns the delta of a chunk's choice, or the message of a plain reply's choice.
inline Json said_in(const Json& choice) { return member(choice, choice.contains("delta") ? "delta" : "message"); }

inline std::string string_in(const Json& json, const char* name) {
  const Json value = member(json, name);
  return value.is_string() ? value.get<std::string>() : "";
}

inline std::string content_in(const Json& choice) { return string_in(said_in(choice), "content"); }

inline ClientOutcome got(std::string text) {
  ClientOutcome outcome;
  outcome.text = std::move(text);
  return outcome;
}

inline ClientOutcome text_of(const std::vector<Json>& choices) {
  ClientOutcome outcome;
  for (const Json& choice : choices) outcome.text += content_in(choice);
  return outcome;
}

/// Returns the joined text of the choices that the client accepts.
template <class Takes>
ClientOutcome text_where(const Response& response, const Takes& takes) {
  ClientOutcome outcome;
  for (const Json& choice : choices(response))
    if (takes(choice)) outcome.text += content_in(choice);
  return outcome;
}

/// Returns the tool calls. Fragments with the same `key` belong to one call.
template <class Key>
ClientOutcome calls_by(const Response& response, const Key& key) {
  ClientOutcome outcome;
  std::vector<std::string> keys;
  for (const Json& choice : choices(response)) {
    std::size_t position = 0;
    for (const Json& call : member(said_in(choice), "tool_calls")) {
      const std::string its_key = key(call, position++);
      const auto at = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), its_key) - keys.begin());
      const Json function = member(call, "function");
      if (at == keys.size()) {
        keys.push_back(its_key);
        outcome.tool_calls.push_back({"", string_in(function, "name"), ""});
      }
      outcome.tool_calls[at].arguments += string_in(function, "arguments");
    }
  }
  return outcome;
}

inline std::string index_of(const Json& call, std::size_t position) {
  const Json index = member(call, "index");
  return index.is_null() ? std::to_string(position) : index.dump();
}

/// Returns the text and the tool calls, and ignores everything else.
inline ClientOutcome takes_what_there_is(const Response& response) {
  ClientOutcome outcome = calls_by(response, index_of);
  outcome.text = text_of(choices(response)).text;
  return outcome;
}

// --- The mistakes ----------------------------------------------------------------------------------------------------

inline ClientOutcome wants_a_small_number_for_created(const Response& response) {
  std::vector<Json> taken;
  for (const Json& json : jsons(texts(response))) {
    const Json created = member(json, "created");
    if (created.is_number_integer() && created.get<std::int64_t>() <= std::numeric_limits<std::int32_t>::max())
      taken.push_back(json);
  }
  return text_of(choices(taken));
}

inline ClientOutcome wants_the_role_assistant(const Response& response) {
  std::string role;
  return text_where(response, [&](const Json& choice) {
    const Json said = member(said_in(choice), "role");
    if (said.is_string()) role = said.get<std::string>();
    return role == "assistant";
  });
}

inline ClientOutcome shows_the_reasoning(const Response& response) {
  ClientOutcome outcome;
  for (const Json& choice : choices(response)) {
    const Json said = said_in(choice);
    outcome.text += string_in(said, "reasoning") + string_in(said, "reasoning_content");
    for (const Json& detail : member(said, "reasoning_details")) outcome.text += string_in(detail, "text");
    outcome.text += content_in(choice);
  }
  return outcome;
}

inline ClientOutcome wants_the_type_function(const Response& response) {
  std::set<std::string> functions;
  ClientOutcome outcome;
  for (const Json& choice : choices(response))
    for (const Json& call : member(said_in(choice), "tool_calls")) {
      if (string_in(call, "type") == "function") functions.insert(index_of(call, 0));
    }
  return functions.empty() ? outcome : calls_by(response, index_of);
}

inline ClientOutcome ignores_text_with_tool_calls(const Response& response) {
  ClientOutcome outcome = calls_by(response, index_of);
  outcome.text = text_where(response, [](const Json& choice) { return !said_in(choice).contains("tool_calls"); }).text;
  return outcome;
}

inline ClientOutcome runs_the_first_object(const Response& response) {
  ClientOutcome outcome = calls_by(response, index_of);
  for (wire::ToolCall& call : outcome.tool_calls) {
    std::istringstream arguments(call.arguments);
    Json first;
    arguments >> first;
    call.arguments = first.dump();
  }
  return outcome;
}

inline ClientOutcome shows_the_error_as_the_answer(const Response& response) {
  for (const Json& json : jsons(texts(response)))
    if (json.contains("error")) return got(string_in(json["error"], "message"));
  return text_of(choices(response));
}

inline ClientOutcome shows_the_page(const Response& response) {
  return response.status == 200 ? text_of(choices(response)) : got(response.body);
}

/// Returns the data lines of a stream, or only the last data line of each event.
inline std::vector<std::string> data_lines(const std::string& body, bool last_of_event) {
  std::vector<std::string> data;
  bool begun = false;
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) begun = false;
    if (line.compare(0, 6, "data: ") != 0) continue;
    if (begun && last_of_event) data.pop_back();
    data.push_back(line.substr(6));
    begun = true;
  }
  return data;
}

inline std::string replace_each(std::string text, const std::string& part, const std::string& other) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += other.size())
    text.replace(at, part.size(), other);
  return text;
}

inline ClientOutcome splits_lines_at_separators(const Response& response) {
  std::string body = response.body;
  for (const char* const separator : {"\u2028", "\u2029", "\u0085"}) body = replace_each(body, separator, "\n");
  return text_of(choices(jsons(response.is_stream() ? data_lines(body, false) : std::vector<std::string>{body})));
}

inline ClientOutcome reads_one_frame(const Response& response) {
  const std::string encoding = response.header("Content-Encoding");
  if (encoding.empty()) return takes_what_there_is(response);
  const auto frames =
      encoding == "gzip" ? catalogue_transcript::unzipped(response.body) : catalogue_transcript::unzstd(response.body);
  return text_of(choices(jsons(test_support::sse_events(frames.front()))));
}

/// Waits for the times in the x-ratelimit-reset fields before it retries. A wait of more than a minute is a hang.
inline ClientOutcome waits_for_each_reset(const Response& response) {
  ClientOutcome outcome = takes_what_there_is(response);
  for (const char* const name : {"x-ratelimit-reset", "x-ratelimit-reset-requests", "x-ratelimit-reset-tokens"}) {
    const std::string reset = response.header(name);
    std::size_t read = 0;
    const double number = reset.empty() ? 0 : std::stod(reset, &read);
    outcome.hung = outcome.hung || number * (reset.substr(read, 1) == "m" ? 60 : 1) > 60;
  }
  return outcome;
}

struct Row {
  const char* scenario;
  const char* mistake;
  ClientOutcome (*client)(const Response&);
  Kind verdict;
};

constexpr const char* silent = "returns what it has, and reports no error";

inline const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      // chunks
      {"choice-index-grows", "reads only choice 0",
       [](const Response& response) {
         return text_where(response, [](const Json& choice) { return choice["index"] == 0; });
       },
       Kind::silent_data_loss},
      {"content-as-parts", "converts any content to a string",
       [](const Response& response) {
         ClientOutcome outcome;
         for (const Json& choice : choices(response)) {
           const Json content = member(said_in(choice), "content");
           outcome.text += content.is_array() ? "[object Object]" : content_in(choice);
         }
         return outcome;
       },
       Kind::wrong_answer},
      {"content-as-parts", "reads only string content", takes_what_there_is, Kind::silent_data_loss},
      {"content-part-of-unknown-kind", "stops at the first part without text",
       [](const Response& response) {
         ClientOutcome outcome;
         for (const Json& choice : choices(response)) {
           outcome.text += content_in(choice);
           const Json content = member(said_in(choice), "content");
           if (!content.is_array()) continue;
           for (const Json& part : content) {
             if (part["type"] != "text") return outcome;
             outcome.text += string_in(part, "text");
           }
         }
         return outcome;
       },
       Kind::silent_data_loss},
      {"created-as-text", "drops chunks unless `created` is a 32-bit integer", wants_a_small_number_for_created,
       Kind::silent_data_loss},
      {"created-float", "drops chunks unless `created` is a 32-bit integer", wants_a_small_number_for_created,
       Kind::silent_data_loss},
      {"created-in-milliseconds", "drops chunks unless `created` is a 32-bit integer", wants_a_small_number_for_created,
       Kind::silent_data_loss},
      {"created-null", "drops chunks unless `created` is a 32-bit integer", wants_a_small_number_for_created,
       Kind::silent_data_loss},
      {"delta-null", "treats a null delta as the end",
       [](const Response& response) {
         bool ended = false;
         return text_where(response, [&](const Json& choice) {
           ended = ended || said_in(choice).is_null();
           return !ended;
         });
       },
       Kind::silent_data_loss},
      {"empty-turn", "shows null when there is no text",
       [](const Response& response) {
         ClientOutcome outcome = takes_what_there_is(response);
         if (outcome.text.empty()) outcome.text = "null";
         return outcome;
       },
       Kind::wrong_answer},
      {"equal-deltas", "drops a delta that equals the previous one",
       [](const Response& response) {
         std::string before;
         return text_where(response, [&](const Json& choice) {
           const std::string last = std::exchange(before, content_in(choice));
           return before != last || !response.is_stream();
         });
       },
       Kind::silent_data_loss},
      {"equal-deltas", "treats a delta that starts with the text so far as cumulative",
       [](const Response& response) {
         ClientOutcome outcome;
         for (const Json& choice : choices(response)) {
           const std::string content = content_in(choice);
           const bool has_all = content.compare(0, outcome.text.size(), outcome.text) == 0;
           outcome.text = has_all ? content : outcome.text + content;
         }
         return outcome;
       },
       Kind::silent_data_loss},
      {"finish-reason-content-filter", silent, takes_what_there_is, Kind::silent_data_loss},
      {"finish-reason-eos", "withholds the text until a known finish_reason arrives",
       [](const Response& response) {
         const std::vector<Json> all = choices(response);
         const bool ended = std::any_of(all.begin(), all.end(), [](const Json& choice) {
           return choice["finish_reason"] == "stop" || choice["finish_reason"] == "length";
         });
         return ended ? text_of(all) : got("");
       },
       Kind::silent_data_loss},
      {"finish-reason-error", "reports stop for every unknown finish_reason",
       [](const Response& response) {
         ClientOutcome outcome = text_of(choices(response));
         outcome.finish_reason = "stop";
         return outcome;
       },
       Kind::wrong_answer},
      {"finish-reason-max-tokens", silent, takes_what_there_is, Kind::silent_data_loss},
      {"first-chunk-placeholder", "reads only the chunks that have the id of the first",
       [](const Response& response) {
         const std::vector<Json> all = jsons(texts(response));
         std::vector<Json> taken;
         for (const Json& json : all)
           if (member(json, "id") == member(all.front(), "id")) taken.push_back(json);
         return text_of(choices(taken));
       },
       Kind::silent_data_loss},
      {"full-message-at-end", "appends the message to the deltas",
       [](const Response& response) {
         ClientOutcome outcome;
         for (const Json& choice : choices(response))
           outcome.text +=
               string_in(member(choice, "delta"), "content") + string_in(member(choice, "message"), "content");
         return outcome;
       },
       Kind::wrong_answer},
      {"line-separators-in-text", "ends lines at Unicode separators", splits_lines_at_separators,
       Kind::silent_data_loss},
      {"reasoning-details", "shows the reasoning", shows_the_reasoning, Kind::wrong_answer},
      {"reasoning-field", "shows the reasoning", shows_the_reasoning, Kind::wrong_answer},
      {"reasoning-only-turn", "shows the reasoning", shows_the_reasoning, Kind::wrong_answer},
      {"refusal", silent, takes_what_there_is, Kind::silent_data_loss},
      {"role-empty", "reads only messages of the role assistant", wants_the_role_assistant, Kind::silent_data_loss},
      {"role-missing", "reads only messages of the role assistant", wants_the_role_assistant, Kind::silent_data_loss},
      {"role-model", "reads only messages of the role assistant", wants_the_role_assistant, Kind::silent_data_loss},
      {"surrogate-alone", "drops invalid JSON", takes_what_there_is, Kind::silent_data_loss},
      {"surrogate-pair-split", "replaces each half with U+FFFD",
       [](const Response& response) {
         std::vector<std::string> all = texts(response);
         for (std::string& text : all)
           text = replace_each(replace_each(text, R"(\ud83d)", R"(\ufffd)"), R"(\ude00)", R"(\ufffd)");
         return text_of(choices(jsons(all)));
       },
       Kind::wrong_answer},
      {"text-cumulative", "joins the deltas", takes_what_there_is, Kind::wrong_answer},
      {"think-tags-cut-between-deltas", "looks for a tag in each delta alone",
       [](const Response& response) {
         ClientOutcome outcome;
         bool thinks = false;
         for (const Json& choice : choices(response)) {
           const std::string content = content_in(choice);
           if (content == "<think>" || content == "</think>")
             thinks = content == "<think>";
           else if (!thinks)
             outcome.text += content;
         }
         return outcome;
       },
       Kind::silent_data_loss},
      {"usage-cumulative", "adds up the usage",
       [](const Response& response) {
         ClientOutcome outcome = text_of(choices(response));
         int prompt = 0;
         int completion = 0;
         for (const Json& json : jsons(texts(response))) {
           const Json usage = member(json, "usage");
           if (!usage.is_object()) continue;
           prompt += usage["prompt_tokens"].get<int>();
           completion += usage["completion_tokens"].get<int>();
         }
         outcome.usage = TokenUsage(prompt, completion);
         return outcome;
       },
       Kind::wrong_answer},
      // tool calls
      {"text-and-tool-call-in-one-delta", "reads the calls of a delta only if it has no text",
       [](const Response& response) {
         ClientOutcome outcome;
         for (const Json& choice : choices(response)) outcome.text += content_in(choice);
         if (outcome.text.empty()) outcome = calls_by(response, index_of);
         return outcome;
       },
       Kind::silent_data_loss},
      {"tool-call-arguments-after-empty", "runs the first object of the arguments", runs_the_first_object,
       Kind::silent_data_loss},
      {"tool-call-arguments-concatenated", "runs the first object of the arguments", runs_the_first_object,
       Kind::silent_data_loss},
      {"tool-call-arguments-empty", "drops calls without arguments",
       [](const Response& response) {
         ClientOutcome outcome = calls_by(response, index_of);
         auto& calls = outcome.tool_calls;
         const auto has_none = [](const wire::ToolCall& call) { return call.arguments.empty(); };
         calls.erase(std::remove_if(calls.begin(), calls.end(), has_none), calls.end());
         return outcome;
       },
       Kind::silent_data_loss},
      {"tool-call-arguments-encoded-twice", "calls the tool with a string", takes_what_there_is, Kind::wrong_answer},
      {"tool-call-as-text", "drops the text in <tool_call>",
       [](const Response& response) {
         ClientOutcome outcome = takes_what_there_is(response);
         outcome.text.erase(std::min(outcome.text.find("<tool_call>"), outcome.text.size()));
         return outcome;
       },
       Kind::silent_data_loss},
      {"tool-call-finish-chunk-twice", "runs the calls at each chunk with a finish_reason",
       [](const Response& response) {
         const ClientOutcome whole = calls_by(response, index_of);
         ClientOutcome outcome;
         for (const Json& choice : choices(response)) {
           if (choice["finish_reason"] == "tool_calls")
             outcome.tool_calls.insert(outcome.tool_calls.end(), whole.tool_calls.begin(), whole.tool_calls.end());
         }
         return outcome;
       },
       Kind::wrong_answer},
      {"tool-call-index-from-1", "uses the index as the position in its list of calls",
       [](const Response& response) {
         ClientOutcome outcome;
         for (const Json& choice : choices(response))
           for (const Json& call : member(said_in(choice), "tool_calls")) {
             const auto index = call.value("index", outcome.tool_calls.size());
             if (index >= outcome.tool_calls.size()) outcome.tool_calls.resize(index + 1);
             const Json function = member(call, "function");
             outcome.tool_calls[index].name += string_in(function, "name");
             outcome.tool_calls[index].arguments += string_in(function, "arguments");
           }
         return outcome;
       },
       Kind::wrong_answer},
      {"tool-call-type-empty", "reads only calls of the type function", wants_the_type_function,
       Kind::silent_data_loss},
      {"tool-call-type-missing", "reads only calls of the type function", wants_the_type_function,
       Kind::silent_data_loss},
      {"tool-call-type-null", "reads only calls of the type function", wants_the_type_function, Kind::silent_data_loss},
      {"tool-calls-all-index-0", "tells calls apart only by index",
       [](const Response& response) {
         return calls_by(response, [](const Json& call, std::size_t position) {
           return member(call, "index").is_null() ? std::to_string(position) : call["index"].dump();
         });
       },
       Kind::wrong_answer},
      {"tool-calls-empty-list", "ignores the text of a delta with tool_calls", ignores_text_with_tool_calls,
       Kind::silent_data_loss},
      {"tool-calls-equal-ids", "tells calls apart only by id",
       [](const Response& response) {
         return calls_by(response, [](const Json& call, std::size_t) { return string_in(call, "id"); });
       },
       Kind::wrong_answer},
      {"tool-calls-null", "ignores the text of a delta with tool_calls", ignores_text_with_tool_calls,
       Kind::silent_data_loss},
      {"tool-finish-without-calls", silent, takes_what_there_is, Kind::silent_data_loss},
      // errors
      {"choices-empty", silent, takes_what_there_is, Kind::silent_data_loss},
      {"content-filter-400", "shows the error as the answer", shows_the_error_as_the_answer, Kind::wrong_answer},
      {"context-overflow-as-code", silent, takes_what_there_is, Kind::silent_data_loss},
      {"context-overflow-code-400", "shows the error as the answer", shows_the_error_as_the_answer, Kind::wrong_answer},
      {"context-overflow-in-stream", "ignores events without choices", takes_what_there_is, Kind::silent_data_loss},
      {"context-overflow-without-error", "checks only the field error",
       [](const Response& response) {
         ClientOutcome outcome = takes_what_there_is(response);
         for (const Json& json : jsons(texts(response))) outcome.error = outcome.error || json.contains("error");
         return outcome;
       },
       Kind::silent_data_loss},
      {"error-as-sse-field", "ignores unknown fields", takes_what_there_is, Kind::silent_data_loss},
      {"error-metadata-raw", "shows the error as the answer", shows_the_error_as_the_answer, Kind::wrong_answer},
      {"key-invalid-as-400", "expects every error body to be an object", takes_what_there_is, Kind::silent_data_loss},
      {"refused-by-user-agent", "shows the page", shows_the_page, Kind::wrong_answer},
      // retries
      {"cloudflare-520-then-answer", "shows the page", shows_the_page, Kind::wrong_answer},
      {"cloudflare-524-then-answer", "shows the page", shows_the_page, Kind::wrong_answer},
      {"concurrency-limit", "shows the error as the answer", shows_the_error_as_the_answer, Kind::wrong_answer},
      {"daily-quota", "shows the error as the answer", shows_the_error_as_the_answer, Kind::wrong_answer},
      {"overloaded-in-stream", "ignores events without choices", takes_what_there_is, Kind::silent_data_loss},
      {"rate-limit-in-stream", "ignores events without choices", takes_what_there_is, Kind::silent_data_loss},
      {"redirect-307", "treats any reply without an error as an answer", takes_what_there_is, Kind::silent_data_loss},
      {"reset-as-date", "waits as many seconds as the header says", waits_for_each_reset, Kind::hang},
      {"reset-as-duration", "waits for the longest reset, even if requests remain", waits_for_each_reset, Kind::hang},
      {"reset-as-epoch", "waits as many seconds as the header says", waits_for_each_reset, Kind::hang},
      {"retry-after-in-lower-case", "recognizes only the spelling Retry-After, and otherwise waits a minute",
       [](const Response& response) {
         ClientOutcome outcome = takes_what_there_is(response);
         const std::vector<std::string> names = response.header_names();
         const bool has_retry_after = std::find(names.begin(), names.end(), "Retry-After") != names.end();
         outcome.hung = response.status == 429 && !has_retry_after;
         return outcome;
       },
       Kind::hang},
      {"retry-delay-in-body", silent, takes_what_there_is, Kind::silent_data_loss},
      {"tokens-per-minute-413", silent, takes_what_there_is, Kind::silent_data_loss},
      {"unavailable-then-answer", "reports the error at once",
       [](const Response& response) {
         ClientOutcome outcome = takes_what_there_is(response);
         outcome.error = response.status != 200;
         return outcome;
       },
       Kind::error_surfaced},
      // framing
      {"blank-line-missing-between-events", "reads only the last data line of an event",
       [](const Response& response) { return text_of(choices(jsons(data_lines(response.body, true)))); },
       Kind::silent_data_loss},
      {"brotli-unasked", "reads the bytes as they are, and drops invalid JSON", takes_what_there_is,
       Kind::silent_data_loss},
      {"chunk-framing-in-body", "treats 0 and two CRLF as the end of the body",
       [](const Response& response) {
         const std::string body = response.body.substr(0, response.body.find("0\r\n\r\n"));
         const bool streamed = response.is_stream();
         return text_of(choices(jsons(streamed ? test_support::sse_events(body) : std::vector<std::string>{body})));
       },
       Kind::silent_data_loss},
      {"compressed-frame-per-event", "stops after the first member", reads_one_frame, Kind::silent_data_loss},
      {"content-encoding-claimed", "cannot decompress the body and returns an empty text",
       [](const Response& response) {
         return response.has("Content-Encoding") ? got("") : takes_what_there_is(response);
       },
       Kind::silent_data_loss},
      {"event-longer-than-1-mib", "leaves out lines of more than 1 MiB",
       [](const Response& response) {
         std::vector<std::string> all = texts(response);
         const auto is_long = [](const std::string& text) { return text.size() > 1'048'576; };
         all.erase(std::remove_if(all.begin(), all.end(), is_long), all.end());
         return text_of(choices(jsons(all)));
       },
       Kind::silent_data_loss},
      {"http-chunks-cut-events", "parses each HTTP chunk alone",
       [](const Response& response) {
         std::vector<std::string> all;
         std::size_t at = 0;
         for (const std::size_t size : response.chunks) {
           for (const std::string& data : test_support::sse_events(response.body.substr(at, size))) all.push_back(data);
           at += size;
         }
         return text_of(choices(jsons(response.chunks.empty() ? texts(response) : all)));
       },
       Kind::silent_data_loss},
      {"zstd-frame-per-event", "stops after the first frame", reads_one_frame, Kind::silent_data_loss},
  };
  return table;
}

inline Response answer_of(const Scenario& scenario, bool streamed) {
  Gateway gateway{scenario.options()};
  scenario.mount(gateway);
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat(streamed ? Json{{"stream", true}} : Json{}));
  return connection.receive_response();
}

TEST_CASE("a client with the mistake that a scenario is meant to catch fails the scenario") {
  for (const Row& row : rows()) {
    const Scenario one = scenario(row.scenario);
    for (const bool streamed : {true, false}) {
      if (!streamed && one.needs_stream()) continue;
      CAPTURE(one.name());
      CAPTURE(std::string(row.mistake));
      CAPTURE(streamed);
      const Verdict verdict = one.judge(row.client(answer_of(one, streamed)));
      CAPTURE(verdict.message());
      CHECK_FALSE(verdict);
      CHECK(verdict.kind() == row.verdict);
    }
  }
}

TEST_CASE("a client with the mistake of a scenario passes with a correct reply") {
  const Scenario text = scenario("one-write-for-all");
  const Scenario call = scenario("tool-call-in-one-chunk");
  const Response texts[] = {answer_of(text, false), answer_of(text, true)};
  const Response calls[] = {answer_of(call, false), answer_of(call, true)};
  for (const Row& row : rows()) {
    const Scenario one = scenario(row.scenario);
    const bool is_about_calls = !one.tool_calls().empty();
    for (const bool streamed : {true, false}) {
      if (!streamed && one.needs_stream()) continue;
      CAPTURE(std::string(row.mistake));
      CAPTURE(streamed);
      const Verdict verdict = is_about_calls ? call.judge(row.client(calls[streamed ? 1 : 0]))
                                             : text.judge(row.client(texts[streamed ? 1 : 0]));
      CAPTURE(verdict.message());
      CHECK(verdict.kind() == Kind::handled);
    }
  }
}

TEST_CASE("a client that treats a connection closed while idle as an empty answer fails the scenario") {
  for (const bool streamed : {true, false}) {
    const Scenario one = scenario("closed-while-idle");
    Gateway gateway{one.options()};
    one.mount(gateway);
    const std::string request = Http(gateway).format_chat(streamed ? Json{{"stream", true}} : Json{});
    RawConnection connection(gateway);
    connection.send(request);
    CHECK(one.judge(takes_what_there_is(connection.receive_response())));
    CHECK(connection.receive_all().end == test_support::End::fin);
    connection.send(request);
    const Verdict verdict = one.judge(got(connection.receive_all().bytes));
    CHECK(verdict.kind() == Kind::silent_data_loss);
    CHECK_FALSE(verdict);
    CHECK(gateway.journal().count() == 1);
  }
}

TEST_CASE("each scenario based on a bug report has a client with the reported mistake") {
  std::set<std::string> caught;
  for (const Row& row : rows()) caught.insert(row.scenario);
  for (const Scenario& one : catalogue()) {
    // References to bug reports have the form "vercel/ai#6687".
    const std::string reference = one.reference();
    const std::size_t slash = reference.find('/');
    const bool is_reported = slash != std::string::npos && reference.find('#', slash) != std::string::npos;
    if (!is_reported) continue;
    CAPTURE(one.name());
    CHECK(caught.count(one.name()) == 1);
  }
  CHECK(caught.size() == 77);
}

}  // namespace careless_clients_test
