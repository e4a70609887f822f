// The complete bytes of replies in each profile: status line, all headers in order, body, chunk framing. A golden
// changes only if clients see a change, and is the same for every supported cpp-httplib. support/golden.hpp explains
// the notation.

#include <cstddef>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/golden.hpp"
#include "support/printing.hpp"

namespace exact_replies_test {

using namespace mock_gateway;
using test_support::chat_body;
using test_support::golden_answer_to;
using test_support::golden_reply;
using test_support::golden_stream;
using test_support::GoldenGateway;
using test_support::openai_fields;

// --- Profiles --------------------------------------------------------------------------------------------------------

TEST_CASE("the bytes of the list of models and of a model") {
  GoldenGateway on{Options{}.model("fast", "team a").model("team/deep", "team b")};
  CHECK(on.get("/v1/models") ==
        golden_reply(
            "200 OK",
            R"({"object":"list","data":[{"id":"fast","object":"model","created":1704067200,"owned_by":"team a"},{)"
            R"("id":"team/deep","object":"model","created":1704067200,"owned_by":"team b"}]})"));
  CHECK(on.get("/v1/models/team%2Fdeep") ==
        golden_reply("200 OK", R"({"id":"team/deep","object":"model","created":1704067200,"owned_by":"team b"})"));
}

/// Mounts two replies: a text after reasoning, and a tool call for "weather".
inline void script(Gateway& gateway) {
  gateway.chat().reply(thinking("Easy.").text("Hello there."));
  gateway.chat().when(user_says("weather")).reply(tool_call("get_weather", {{"city", "Paris"}}));
}

inline Json with_usage() { return {{"stream_options", {{"include_usage", true}}}}; }
inline Json weather() { return chat_body("weather"); }

inline std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

/// Returns an event for each delta. The last event has the finish_reason. DELTA and FINISH in `form` are placeholders.
inline std::vector<std::string> events(const std::string& form, const std::vector<std::string>& deltas,
                                       const std::string& last_delta, const std::string& finish_reason) {
  std::vector<std::string> all;
  for (const std::string& delta : deltas) all.push_back(replaced(replaced(form, "DELTA", delta), "FINISH", "null"));
  all.push_back(replaced(replaced(form, "DELTA", last_delta), "FINISH", '"' + finish_reason + '"'));
  return all;
}

/// Returns the deltas of the tool call. Profiles differ only in the first delta.
inline std::vector<std::string> call_deltas(const std::string& first) {
  return {first,
          R"({"tool_calls":[{"index":0,"id":"call_VtwL1NkLH1lEXWcjMyqTvcve","type":"function","function":{)"
          R"("name":"get_weather","arguments":""}}]})",
          R"({"tool_calls":[{"index":0,"function":{"arguments":"{\""}}]})",
          R"({"tool_calls":[{"index":0,"function":{"arguments":"city"}}]})",
          R"({"tool_calls":[{"index":0,"function":{"arguments":"\":\""}}]})",
          R"({"tool_calls":[{"index":0,"function":{"arguments":"Paris"}}]})",
          R"({"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]})"};
}

TEST_CASE("the bytes of the documented profile: plain, streamed with usage, and a streamed tool call") {
  GoldenGateway on{Options{}.profile(Profile::documented)};
  script(on.gateway);
  CHECK(on.chat() == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 360\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}})");
  CHECK(on.stream(with_usage()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
e1\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

\r
dd\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"reasoning_content":"Easy."},"finish_reason":null}],"usage":null}

\r
d3\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}],"usage":null}

\r
d5\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"content":" there."},"finish_reason":null}],"usage":null}

\r
c4\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}

\r
100\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
  const std::vector<std::string> call_events =
      events(R"({"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,)"
             R"("model":"mock-model","choices":[{"index":0,"delta":DELTA,"finish_reason":FINISH}]})",
             call_deltas(R"({"role":"assistant","content":null})"), "{}", "tool_calls");
  CHECK(on.stream(weather()) == golden_stream(call_events));
}

TEST_CASE("the bytes of the openai profile: plain, streamed with usage, and a streamed tool call") {
  GoldenGateway on{Options{}.profile(Profile::openai)};
  script(on.gateway);
  CHECK(on.chat() ==
        golden_reply(
            "200 OK",
            R"({"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":1704067200,)"
            R"("model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.",)"
            R"("reasoning_content":"Easy.","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{)"
            R"("prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":0},)"
            R"("completion_tokens_details":{"reasoning_tokens":1}},"system_fingerprint":"fp_f60ff5b93c"})",
            openai_fields("req_QkcpSK3rmtGoTVXOglosiJkvhVftov3e")));
  std::vector<std::string> text_events =
      events(R"({"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,)"
             R"("model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":DELTA,)"
             R"("logprobs":null,"finish_reason":FINISH}],"usage":null})",
             {R"({"role":"assistant","content":"","refusal":null})", R"({"reasoning_content":"Easy."})",
              R"({"content":"Hello"})", R"({"content":" there."})"},
             "{}", "stop");
  text_events.push_back(
      R"({"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,)"
      R"("model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[],"usage":{"prompt_tokens":4,)"
      R"("completion_tokens":3,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":0},)"
      R"("completion_tokens_details":{"reasoning_tokens":1}}})");
  CHECK(on.stream(with_usage()) == golden_stream(text_events, openai_fields("req_72RLRbz1wVEqsmLIsQ9Mj8P1OBjgoZD8")));
  const std::vector<std::string> call_events =
      events(R"({"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,)"
             R"("model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":DELTA,)"
             R"("logprobs":null,"finish_reason":FINISH}]})",
             call_deltas(R"({"role":"assistant","content":null,"refusal":null})"), "{}", "tool_calls");
  CHECK(on.stream(weather()) == golden_stream(call_events, openai_fields("req_rbzvbb7r1HzlfGiJQFidfenPXWS6AAyt")));
}

TEST_CASE("the bytes of the dashscope profile: plain, streamed with usage, and a streamed tool call") {
  GoldenGateway on{Options{}.profile(Profile::dashscope)};
  script(on.gateway);
  CHECK(on.chat() ==
        golden_reply(
            "200 OK",
            R"({"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":1704067200,)"
            R"("model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.",)"
            R"("reasoning_content":"Easy."},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":4,)"
            R"("completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}},)"
            R"("system_fingerprint":null})",
            {{"x-request-id: ae0f6257-c340-f93a-0500-4565d55f2f5c"}}));
  std::vector<std::string> text_events =
      events(R"({"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,)"
             R"("model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":DELTA,"logprobs":null,)"
             R"("finish_reason":FINISH}],"usage":null})",
             {R"({"content":null,"role":"assistant","reasoning_content":""})",
              R"({"content":null,"reasoning_content":"Easy."})", R"({"content":"Hello"})", R"({"content":" there."})"},
             R"({"content":""})", "stop");
  text_events.push_back(
      R"({"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,)"
      R"("model":"mock-model","system_fingerprint":null,"choices":[],"usage":{"prompt_tokens":4,)"
      R"("completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}})");
  CHECK(on.stream(with_usage()) ==
        golden_stream(text_events, {{"x-request-id: 34377795-8522-645e-08d6-10714d18c312"}}));
  const std::vector<std::string> call_events =
      events(R"({"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,)"
             R"("model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":DELTA,"logprobs":null,)"
             R"("finish_reason":FINISH}]})",
             call_deltas(R"({"content":null,"role":"assistant"})"), R"({"content":""})", "tool_calls");
  CHECK(on.stream(weather()) == golden_stream(call_events, {{"x-request-id: f39b5399-5b79-5485-83e9-fc775a6244c5"}}));
}

TEST_CASE("the bytes of the deepseek profile: plain, streamed with usage, and a streamed tool call") {
  GoldenGateway on{Options{}.profile(Profile::deepseek)};
  script(on.gateway);
  CHECK(on.chat() ==
        golden_reply(
            "200 OK",
            R"({"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":1704067200,)"
            R"("model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.",)"
            R"("reasoning_content":"Easy."},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":4,)"
            R"("completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1},)"
            R"("prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":4},"system_fingerprint":"fp_f60ff5b93c"})",
            {{"x-ds-trace-id: ae0f6257c340f93a05004565d55f2f5c"}}));
  std::vector<std::string> text_events =
      events(R"({"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,)"
             R"("model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":DELTA,)"
             R"("logprobs":null,"finish_reason":FINISH}],"usage":null})",
             {R"({"role":"assistant","content":null,"reasoning_content":""})",
              R"({"content":null,"reasoning_content":"Easy."})", R"({"content":"Hello","reasoning_content":null})",
              R"({"content":" there.","reasoning_content":null})"},
             R"({"content":""})", "stop");
  text_events.back() =
      replaced(text_events.back(), R"("usage":null)",
               R"("usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{)"
               R"("reasoning_tokens":1},"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":4})");
  CHECK(on.stream(with_usage()) == golden_stream(text_events, {{"x-ds-trace-id: 343777958522645e08d610714d18c312"}}));
  const std::vector<std::string> call_events = events(
      R"({"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,)"
      R"("model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":DELTA,)"
      R"("logprobs":null,"finish_reason":FINISH}]})",
      call_deltas(R"({"role":"assistant","content":null,"reasoning_content":""})"), R"({"content":""})", "tool_calls");
  CHECK(on.stream(weather()) == golden_stream(call_events, {{"x-ds-trace-id: f39b53995b79548583e9fc775a6244c5"}}));
}

TEST_CASE("the bytes of replies to clients that want the connection closed or kept") {
  GoldenGateway on;
  script(on.gateway);
  const std::string body = chat_body().dump();
  const auto request = [&](const std::string& version, const std::string& line) {
    return "POST /v1/chat/completions HTTP/" + version + "\r\nHost: x\r\nAuthorization: Bearer " +
           on.gateway.api_key() + "\r\n" + line + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
  };
  const auto answer = [](const std::string& id, const std::string& connection) {
    const std::string answered =
        R"({"id":"chatcmpl-ID","object":"chat.completion","created":1704067200,)"
        R"("model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.",)"
        R"("reasoning_content":"Easy."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,)"
        R"("total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}})";
    return golden_reply("200 OK", replaced(answered, "ID", id), {{}, {"Connection: " + connection}});
  };
  CHECK(golden_answer_to(on.gateway, request("1.1", "Connection: close")) ==
        answer("pf0Wfifg47fvW50uBBq8n6Mz", "close"));
  CHECK(golden_answer_to(on.gateway, request("1.0", "Connection: keep-alive")) ==
        answer("k2YDISi5571Dq3W8Tmd8XBMO", "keep-alive"));
  CHECK(golden_answer_to(on.gateway, request("1.0", "x-nothing: 1")) == answer("Iyo46HP3R43F0mduVMo1dX6M", "close"));
}

}  // namespace exact_replies_test
