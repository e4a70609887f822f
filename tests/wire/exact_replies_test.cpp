// The bytes of replies in each profile, whole: status line, every header in its order, body, chunk framing. What
// clients see changes only when these goldens do. They hold with every supported cpp-httplib. support/golden.hpp says
// how a golden is written.

#include <string>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/golden.hpp"
#include "support/printing.hpp"

namespace exact_replies_test {

using namespace mock_gateway;
using test_support::chat_body;
using test_support::golden_answer_to;
using test_support::GoldenGateway;

// --- Profiles --------------------------------------------------------------------------------------------------------

TEST_CASE("the models list and a model, to the byte") {
  GoldenGateway on{Options{}.model("fast", "team a").model("team/deep", "team b")};
  CHECK(on.get("/v1/models") == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 175\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"object":"list","data":[{"id":"fast","object":"model","created":1704067200,"owned_by":"team a"},{"id":"team/deep","object":"model","created":1704067200,"owned_by":"team b"}]})");
  CHECK(on.get("/v1/models/team%2Fdeep") == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 76\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"id":"team/deep","object":"model","created":1704067200,"owned_by":"team b"})");
}

/// A text with reasoning before it, and a tool call.
inline void script(Gateway& gateway) {
  gateway.chat().reply(thinking("Easy.").text("Hello there."));
  gateway.chat().when(user_says("weather")).reply(tool_call("get_weather", {{"city", "Paris"}}));
}

inline Json with_usage() { return {{"stream_options", {{"include_usage", true}}}}; }
inline Json weather() { return chat_body("weather"); }

TEST_CASE("the documented profile, to the byte: plain, streamed with usage, and a streamed tool call") {
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
  CHECK(on.stream(weather()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
d6\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}

\r
137\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_VtwL1NkLH1lEXWcjMyqTvcve","type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}

\r
ee\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\""}}]},"finish_reason":null}]}

\r
ef\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"city"}}]},"finish_reason":null}]}

\r
f0\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":\""}}]},"finish_reason":null}]}

\r
f0\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"Paris"}}]},"finish_reason":null}]}

\r
ee\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"finish_reason":null}]}

\r
bd\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
}

TEST_CASE("the openai profile, to the byte: plain, streamed with usage, and a streamed tool call") {
  GoldenGateway on{Options{}.profile(Profile::openai)};
  script(on.gateway);
  CHECK(on.chat() == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 472\r
x-request-id: req_QkcpSK3rmtGoTVXOglosiJkvhVftov3e\r
openai-processing-ms: 1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy.","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":1}},"system_fingerprint":"fp_f60ff5b93c"})");
  CHECK(on.stream(with_usage()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
x-request-id: req_72RLRbz1wVEqsmLIsQ9Mj8P1OBjgoZD8\r
openai-processing-ms: 1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
125\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}

\r
112\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"reasoning_content":"Easy."},"logprobs":null,"finish_reason":null}],"usage":null}

\r
108\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}],"usage":null}

\r
10a\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":" there."},"logprobs":null,"finish_reason":null}],"usage":null}

\r
f9\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}

\r
151\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":1}}}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
  CHECK(on.stream(weather()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
x-request-id: req_rbzvbb7r1HzlfGiJQFidfenPXWS6AAyt\r
openai-processing-ms: 1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
11a\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":null},"logprobs":null,"finish_reason":null}]}

\r
16c\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_VtwL1NkLH1lEXWcjMyqTvcve","type":"function","function":{"name":"get_weather","arguments":""}}]},"logprobs":null,"finish_reason":null}]}

\r
123\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\""}}]},"logprobs":null,"finish_reason":null}]}

\r
124\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"city"}}]},"logprobs":null,"finish_reason":null}]}

\r
125\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":\""}}]},"logprobs":null,"finish_reason":null}]}

\r
125\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"Paris"}}]},"logprobs":null,"finish_reason":null}]}

\r
123\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"logprobs":null,"finish_reason":null}]}

\r
f2\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}]}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
}

TEST_CASE("the dashscope profile, to the byte: plain, streamed with usage, and a streamed tool call") {
  GoldenGateway on{Options{}.profile(Profile::dashscope)};
  script(on.gateway);
  CHECK(on.chat() == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 402\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy."},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}},"system_fingerprint":null})");
  CHECK(on.stream(with_usage()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
124\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":null,"role":"assistant","reasoning_content":""},"logprobs":null,"finish_reason":null}],"usage":null}

\r
116\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"Easy."},"logprobs":null,"finish_reason":null}],"usage":null}

\r
fd\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}],"usage":null}

\r
ff\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":" there."},"logprobs":null,"finish_reason":null}],"usage":null}

\r
fa\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop"}],"usage":null}

\r
11a\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
  CHECK(on.stream(weather()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
100\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":null,"role":"assistant"},"logprobs":null,"finish_reason":null}]}

\r
161\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_VtwL1NkLH1lEXWcjMyqTvcve","type":"function","function":{"name":"get_weather","arguments":""}}]},"logprobs":null,"finish_reason":null}]}

\r
118\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\""}}]},"logprobs":null,"finish_reason":null}]}

\r
119\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"city"}}]},"logprobs":null,"finish_reason":null}]}

\r
11a\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":\""}}]},"logprobs":null,"finish_reason":null}]}

\r
11a\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"Paris"}}]},"logprobs":null,"finish_reason":null}]}

\r
118\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"logprobs":null,"finish_reason":null}]}

\r
f3\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"tool_calls"}]}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
}

TEST_CASE("the deepseek profile, to the byte: plain, streamed with usage, and a streamed tool call") {
  GoldenGateway on{Options{}.profile(Profile::deepseek)};
  script(on.gateway);
  CHECK(on.chat() == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 470\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
{"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy."},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1},"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":4},"system_fingerprint":"fp_f60ff5b93c"})");
  CHECK(on.stream(with_usage()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
12f\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"logprobs":null,"finish_reason":null}],"usage":null}

\r
121\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"Easy."},"logprobs":null,"finish_reason":null}],"usage":null}

\r
121\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":"Hello","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

\r
123\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":" there.","reasoning_content":null},"logprobs":null,"finish_reason":null}],"usage":null}

\r
1a7\r
data: {"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1},"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":4}}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
  CHECK(on.stream(weather()) == R"(
HTTP/1.1 200 OK\r
Content-Type: text/event-stream; charset=utf-8\r
Transfer-Encoding: chunked\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
\r
122\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"logprobs":null,"finish_reason":null}]}

\r
16c\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_VtwL1NkLH1lEXWcjMyqTvcve","type":"function","function":{"name":"get_weather","arguments":""}}]},"logprobs":null,"finish_reason":null}]}

\r
123\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\""}}]},"logprobs":null,"finish_reason":null}]}

\r
124\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"city"}}]},"logprobs":null,"finish_reason":null}]}

\r
125\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":\""}}]},"logprobs":null,"finish_reason":null}]}

\r
125\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"Paris"}}]},"logprobs":null,"finish_reason":null}]}

\r
123\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"logprobs":null,"finish_reason":null}]}

\r
fe\r
data: {"id":"chatcmpl-PDxwIUACMRYK4Ut2djZEemNj","object":"chat.completion.chunk","created":1704067200,"model":"mock-model","system_fingerprint":"fp_f60ff5b93c","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"tool_calls"}]}

\r
e\r
data: [DONE]

\r
0\r
\r
)");
}

TEST_CASE("the ends of connections, to the byte") {
  GoldenGateway on;
  script(on.gateway);
  const std::string body = chat_body().dump();
  const auto request = [&](const std::string& version, const std::string& line) {
    return "POST /v1/chat/completions HTTP/" + version + "\r\nHost: x\r\nAuthorization: Bearer " +
           on.gateway.api_key() + "\r\n" + line + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
  };
  CHECK(golden_answer_to(on.gateway, request("1.1", "Connection: close")) == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 360\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"id":"chatcmpl-pf0Wfifg47fvW50uBBq8n6Mz","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}})");
  CHECK(golden_answer_to(on.gateway, request("1.0", "Connection: keep-alive")) == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 360\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: keep-alive\r
\r
{"id":"chatcmpl-k2YDISi5571Dq3W8Tmd8XBMO","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}})");
  CHECK(golden_answer_to(on.gateway, request("1.0", "x-nothing: 1")) == R"(
HTTP/1.1 200 OK\r
Content-Type: application/json\r
Content-Length: 360\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: close\r
\r
{"id":"chatcmpl-Iyo46HP3R43F0mduVMo1dX6M","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Hello there.","reasoning_content":"Easy."},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":3,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":1}}})");
}

}  // namespace exact_replies_test
