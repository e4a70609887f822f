// The bytes of every catalogue scenario, as a client receives them until the connection ends.

#ifdef __linux__
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "mock_gateway.hpp"
#include "support/catalogue_transcript.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace catalogue_bytes_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using catalogue_transcript::observe;
using catalogue_transcript::observe_request;
using catalogue_transcript::transcript;
using test_support::End;
using test_support::Http;
using test_support::RawConnection;
using test_support::Response;

struct Golden {
  const char* name;
  /// The response to a stream request.
  const char* streamed;
  /// The response to a plain request. Null means the scenario needs a stream, so a plain request gets the default
  /// reply.
  const char* plain = nullptr;
};

constexpr const char* same = "as streamed";
constexpr const char* usual_streamed = "<role><1><2><3><4><stop>[DONE] open";
constexpr const char* usual_plain = "<answer> open";

// Complete responses. Names in angle brackets or after @ stand for default parts. `~20ms~` is a wait on the gateway's
// clock. \n and \r are line ends.
// clang-format off
inline const std::vector<Golden>& goldens() {
  static const std::vector<Golden> all = {
    // chunks
    {"choice-index-grows",
     R"(<role>data: {@chunk,"choices":[{"index":1,"delta":{"content":"Zürich "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":2,"delta":{"content":"21 °C, "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":3,"delta":{"content":"東京 "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":4,"delta":{"content":"9 °C."},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":5,"delta":{},"finish_reason":"stop"}]}\n\n[DONE] open)"},
    {"content-as-parts",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"North or south?"}]}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"Zürich "}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"21 °C, "}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"東京 "}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"9 °C."}]},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"North or south?"}]},{"type":"text","text":"Zürich 21 °C, 東京 9 °C."}]},"finish_reason":"stop"}],@usage} open)"},
    {"content-null-in-deltas",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"finish_reason":null}]}\n\n<1><2><3><4>data: {@chunk,"choices":[{"index":0,"delta":{"content":null,"reasoning_content":null},"finish_reason":"stop"}]}\n\n[DONE] open)"},
    {"content-part-of-unknown-kind",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"Zürich 21 °C, "}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":[{"type":"reference","reference_ids":[1]}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"東京 9 °C."}]},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":[{"type":"text","text":"Zürich 21 °C, "},{"type":"reference","reference_ids":[1]},{"type":"text","text":"東京 9 °C."}]},"finish_reason":"stop"}],@usage} open)"},
    {"created-as-text",
     R"(data: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":"2026-01-01T00:00:00Z","model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":"2026-01-01T00:00:00Z","model":"mock-model","choices":[{"index":0,"delta":{"content":"Zürich "},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":"2026-01-01T00:00:00Z","model":"mock-model","choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":"2026-01-01T00:00:00Z","model":"mock-model","choices":[{"index":0,"delta":{"content":"東京 "},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":"2026-01-01T00:00:00Z","model":"mock-model","choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":"2026-01-01T00:00:00Z","model":"mock-model","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n[DONE] open)",
     R"({"id":"chatcmpl-catalogue","object":"chat.completion","created":"2026-01-01T00:00:00Z","model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"created-float",
     R"(data: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600.123,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600.123,"model":"mock-model","choices":[{"index":0,"delta":{"content":"Zürich "},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600.123,"model":"mock-model","choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600.123,"model":"mock-model","choices":[{"index":0,"delta":{"content":"東京 "},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600.123,"model":"mock-model","choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600.123,"model":"mock-model","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n[DONE] open)",
     R"({"id":"chatcmpl-catalogue","object":"chat.completion","created":1767225600.123,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"created-in-milliseconds",
     R"(data: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600123,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600123,"model":"mock-model","choices":[{"index":0,"delta":{"content":"Zürich "},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600123,"model":"mock-model","choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600123,"model":"mock-model","choices":[{"index":0,"delta":{"content":"東京 "},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600123,"model":"mock-model","choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":1767225600123,"model":"mock-model","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n[DONE] open)",
     R"({"id":"chatcmpl-catalogue","object":"chat.completion","created":1767225600123,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"created-null",
     R"(data: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":null,"model":"mock-model","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":null,"model":"mock-model","choices":[{"index":0,"delta":{"content":"Zürich "},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":null,"model":"mock-model","choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":null,"model":"mock-model","choices":[{"index":0,"delta":{"content":"東京 "},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":null,"model":"mock-model","choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":null}]}\n\ndata: {"id":"chatcmpl-catalogue","object":"chat.completion.chunk","created":null,"model":"mock-model","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n[DONE] open)",
     R"({"id":"chatcmpl-catalogue","object":"chat.completion","created":null,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"delta-null",
     R"(<role><1><2>data: {@chunk,"choices":[{"index":0,"delta":null,"finish_reason":null}]}\n\n<3><4>data: {@chunk,"choices":[{"index":0,"delta":null,"finish_reason":"stop"}]}\n\n[DONE] open)"},
    {"empty-turn",
     "<role><stop>[DONE] open",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"stop"}],@usage} open)"},
    {"equal-deltas",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"6"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"66"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"66"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"6"},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"666666"},"finish_reason":"stop"}],@usage} open)"},
    {"escaped-characters",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Z\u00fcrich "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 \u00b0C, "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"\u6771\u4eac "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 \u00b0C."},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":" \ud83c\udf26"},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Z\u00fcrich 21 \u00b0C, \u6771\u4eac 9 \u00b0C. \ud83c\udf26"},"finish_reason":"stop"}],@usage} open)"},
    {"finish-chunk-twice",
     "<role><1><2><3><4><stop><stop>[DONE] open"},
    {"finish-reason-content-filter",
     R"(<role><1><2>data: {@chunk,"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}\n\n fin)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, "},"finish_reason":"content_filter"}],@usage} open)"},
    {"finish-reason-empty",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":""}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich "},"finish_reason":""}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":""}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 "},"finish_reason":""}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":""}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":""}],@usage} open)"},
    {"finish-reason-eos",
     R"(<role><1><2><3><4>data: {@chunk,"choices":[{"index":0,"delta":{},"finish_reason":"eos"}]}\n\n[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"eos"}],@usage} open)"},
    {"finish-reason-error",
     R"(<role><1><2>data: {@chunk,"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}\n\n[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, "},"finish_reason":"error"}],@usage} open)"},
    {"finish-reason-length",
     R"(<role><1><2><3>data: {@chunk,"choices":[{"index":0,"delta":{"content":"9"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9"},"finish_reason":"length"}],@usage} open)"},
    {"finish-reason-max-tokens",
     R"(<role><1><2><3>data: {@chunk,"choices":[{"index":0,"delta":{"content":"9"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{},"finish_reason":"max_tokens"}]}\n\n[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9"},"finish_reason":"max_tokens"}],@usage} open)"},
    {"finish-reason-missing",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich "}}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, "}}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 "}}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C."}}]}\n\n[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."}}],@usage} open)"},
    {"first-chunk-is-choice-1",
     R"(data: {@chunk,"choices":[{"index":1,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n<role><1>data: {@chunk,"choices":[{"index":1,"delta":{"content":"Paris 17 °C."},"finish_reason":null}]}\n\n<2><3><4><stop>data: {@chunk,"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}\n\n[DONE] open)"},
    {"first-chunk-placeholder",
     R"(data: {"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[]}\n\n<role><1><2><3><4><stop>[DONE] open)"},
    {"first-chunk-with-empty-choices",
     R"(data: {@chunk,"choices":[],"prompt_filter_results":[]}\n\n<role><1><2><3><4><stop>[DONE] open)"},
    {"full-message-at-end",
     R"(<role><1><2><3><4>data: {@chunk,"choices":[{"index":0,"delta":{},"finish_reason":"stop","message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."}}]}\n\n[DONE] open)"},
    {"line-separators-in-text",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich\xe2\x80\xa8"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C,\xe2\x80\xa9"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京\xc2\x85"},"finish_reason":null}]}\n\n<4><stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich\xe2\x80\xa821 °C,\xe2\x80\xa9東京\xc2\x859 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"reasoning-before-content",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"North or "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"south?"},"finish_reason":null}]}\n\n<1><2><3><4><stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C.","reasoning_content":"North or south?"},"finish_reason":"stop"}],@usage} open)"},
    {"reasoning-details",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":null,"reasoning_details":[{"type":"reasoning.text","index":0,"text":"North or "}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":null,"reasoning_details":[{"type":"reasoning.text","index":0,"text":"south?"}]},"finish_reason":null}]}\n\n<1><2><3><4><stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C.","reasoning_details":[{"type":"reasoning.text","index":0,"text":"North or south?"}]},"finish_reason":"stop"}],@usage} open)"},
    {"reasoning-field",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":null,"reasoning":"North or "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":null,"reasoning":"south?"},"finish_reason":null}]}\n\n<1><2><3><4><stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C.","reasoning":"North or south?"},"finish_reason":"stop"}],@usage} open)"},
    {"reasoning-only-turn",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"North or "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"south?"},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"reasoning_content":"North or south?"},"finish_reason":"stop"}],@usage} open)"},
    {"refusal",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":""},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"refusal":"I cannot "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"refusal":"help with that."},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":"I cannot help with that."},"finish_reason":"stop"}],@usage} open)"},
    {"role-chunk-missing",
     "<1><2><3><4><stop>[DONE] open"},
    {"role-empty",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"","content":""},"finish_reason":null}]}\n\n<1><2><3><4><stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"role-in-every-delta",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich ","role":"assistant"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, ","role":"assistant"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 ","role":"assistant"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C.","role":"assistant"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":"stop"}]}\n\n[DONE] open)"},
    {"role-missing",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"content":""},"finish_reason":null}]}\n\n<1><2><3><4><stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"role-model",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"model","content":""},"finish_reason":null}]}\n\n<1><2><3><4><stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"model","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"surrogate-alone",
     R"(<role><1><2><3><4>data: {@chunk,"choices":[{"index":0,"delta":{"content":" \ud83d"},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C. \ud83d"},"finish_reason":"stop"}],@usage} open)"},
    {"surrogate-pair-split",
     R"(<role><1><2><3><4>data: {@chunk,"choices":[{"index":0,"delta":{"content":" \ud83d"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"\ude00"},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C. 😀"},"finish_reason":"stop"}],@usage} open)"},
    {"text-cumulative",
     R"(<role><1>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich 21 °C, "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich 21 °C, 東京 "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":null}]}\n\n<stop>[DONE] open)"},
    {"text-in-finish-chunk",
     R"(<role><1><2><3>data: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":"stop"}]}\n\n[DONE] open)"},
    {"text-in-role-chunk",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich ","role":"assistant"},"finish_reason":null}]}\n\n<2><3><4><stop>[DONE] open)"},
    {"think-tags-cut-between-deltas",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"<think>"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"North or south?"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"</th"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"ink>Zürich "},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C."},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"<think>North or south?</think>Zürich 21 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"unknown-fields",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":"","annotations":[]},"finish_reason":null,"stop_reason":null}],"service_tier":"flex","x_groq":{"id":"req_1"}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich ","annotations":[]},"finish_reason":null,"stop_reason":null}],"service_tier":"flex","x_groq":{"id":"req_1"}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, ","annotations":[]},"finish_reason":null,"stop_reason":null}],"service_tier":"flex","x_groq":{"id":"req_1"}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 ","annotations":[]},"finish_reason":null,"stop_reason":null}],"service_tier":"flex","x_groq":{"id":"req_1"}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C.","annotations":[]},"finish_reason":null,"stop_reason":null}],"service_tier":"flex","x_groq":{"id":"req_1"}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"annotations":[]},"finish_reason":"stop","stop_reason":null}],"service_tier":"flex","x_groq":{"id":"req_1"}}\n\n[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C.","annotations":[]},"finish_reason":"stop","stop_reason":null}],@usage,"service_tier":"flex","x_groq":{"id":"req_1"}} open)"},
    {"usage-chunk-without-choices",
     R"(<role><1><2><3><4><stop>data: {@chunk,@usage}\n\n[DONE] open)"},
    {"usage-cumulative",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":{"prompt_tokens":9,"completion_tokens":0,"total_tokens":9}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich "},"finish_reason":null}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":null}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 "},"finish_reason":null}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":null}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],@usage}\n\n[DONE] open)"},
    {"usage-null-in-every-chunk",
     R"(data: {@chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich "},"finish_reason":null}],"usage":null}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":null}],"usage":null}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 "},"finish_reason":null}],"usage":null}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":null}],"usage":null}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\n\ndata: {@chunk,"choices":[],@usage}\n\n[DONE] open)"},
    {"usage-on-finish-chunk",
     R"(<role><1><2><3><4>data: {@chunk,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],@usage}\n\n[DONE] open)"},
    // tool calls
    {"stop-after-tool-call",
     "<calls><call><city><Zürich><stop>[DONE] open",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"stop"}],@usage} open)"},
    {"text-and-tool-call-in-one-delta",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}}],"content":"Let me look."},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"text-before-tool-call",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Let me look."},"finish_reason":null}]}\n\n<call><city><Zürich><called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-arguments-after-empty",
     R"(<calls><call>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":\"Zürich\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{}{\"city\":\"Zürich\"}"}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-arguments-as-object",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":{"city":"Zürich"}}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":{"city":"Zürich"}}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-arguments-broken",
     R"(<calls><call><city>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"Zü"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zü"}}]},"finish_reason":"length"}],@usage} open)"},
    {"tool-call-arguments-concatenated",
     R"(<calls><call>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":\"Zürich\"}"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":\"東京\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}{\"city\":\"東京\"}"}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-arguments-cut-in-escape",
     R"(<calls><call>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":\"Z\\u00"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"fcrich\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-arguments-empty",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_time","arguments":""}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_time","arguments":""}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-arguments-encoded-twice",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"\"{\\\"city\\\":\\\"Zürich\\\"}\""}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"\"{\\\"city\\\":\\\"Zürich\\\"}\""}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-as-text",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"<tool_call>\n"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Zürich\"}}"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"\n</tool_call>"},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Zürich\"}}\n</tool_call>"},"finish_reason":"stop"}],@usage} open)"},
    {"tool-call-finish-chunk-twice",
     "<calls><call><city><Zürich><called><called>[DONE] open",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-id-and-name-repeated",
     R"(<calls><call>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"\"Zürich\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-id-empty-in-fragments",
     R"(<calls><call>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"","type":"function","function":{"arguments":"{\"city\":"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"","type":"function","function":{"arguments":"\"Zürich\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-in-one-chunk",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-index-from-1",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\"city\":"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\"Zürich\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-name-after-arguments",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"arguments":"{\"city\":"}}]},"finish_reason":null}]}\n\n<Zürich>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"get_weather"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-type-empty",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}\n\n<city><Zürich><called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-type-missing",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}\n\n<city><Zürich><called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-type-null",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":null,"function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}\n\n<city><Zürich><called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":null,"function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-without-id",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}\n\n<city><Zürich><called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-call-without-index",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":"{\"city\":"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":"\"Zürich\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,@weather,"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-calls-all-index-0",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"東京\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}},{"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"東京\"}"}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-calls-empty-list",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich ","tool_calls":[]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, ","tool_calls":[]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 ","tool_calls":[]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C.","tool_calls":[]},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C.","tool_calls":[]},"finish_reason":"stop"}],@usage} open)"},
    {"tool-calls-equal-ids",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}}]},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"東京\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}},{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"東京\"}"}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-calls-interleaved",
     R"(<calls><call>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}\n\n<city>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\"city\":"}}]},"finish_reason":null}]}\n\n<Zürich>data: {@chunk,"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\"東京\"}"}}]},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Zürich\"}"}},{"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"東京\"}"}}]},"finish_reason":"tool_calls"}],@usage} open)"},
    {"tool-calls-null",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Zürich ","tool_calls":null},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, ","tool_calls":null},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 ","tool_calls":null},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C.","tool_calls":null},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C.","tool_calls":null},"finish_reason":"stop"}],@usage} open)"},
    {"tool-finish-without-calls",
     R"(<calls>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Let me look."},"finish_reason":null}]}\n\n<called>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Let me look."},"finish_reason":"tool_calls"}],@usage} open)"},
    // errors
    {"bad-request",
     R"((400 Bad Request) {"error":{"code":"bad_request","message":"max_tokens is too large","type":"error"}} open)",
     same},
    {"choices-empty",
     R"(data: {@chunk,"choices":[]}\n\n[DONE] open)",
     R"({@completion,"choices":[],@usage} open)"},
    {"choices-null",
     R"(data: {@chunk,"choices":null}\n\n[DONE] open)",
     R"({@completion,"choices":null,@usage} open)"},
    {"content-filter-400",
     R"((400 Bad Request) {"error":{"message":"The prompt was filtered.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"jailbreak":{"filtered":true,"detected":true}}}}} open)",
     same},
    {"context-overflow-as-code",
     R"((400 Bad Request) {"error":{"message":"This model's maximum context length is 8192 tokens, and your messages have 9001.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}} open)",
     same},
    {"context-overflow-code-400",
     R"((400 Bad Request) {"error":{"message":"Input is too long for the requested model.","type":"BadRequestError","param":null,"code":"400"}} open)",
     same},
    {"context-overflow-in-stream",
     R"(data: {"error":{"message":"This model's maximum context length is 8192 tokens, and your messages have 9001.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}\n\n[DONE] open)"},
    {"context-overflow-without-error",
     R"((400 Bad Request) {"object":"error","message":"This model's maximum context length is 8192 tokens, and your messages have 9001.","type":"BadRequestError","param":null,"code":400} open)",
     same},
    {"empty-200",
     "(no body) open",
     same},
    {"error-as-html",
     "(400 Bad Request) (content-type: text/html) <!DOCTYPE html><html><head><title>400 Bad Request</title></head><body>nginx</body></html> open",
     same},
    {"error-as-sse-field",
     R"(<role><1><2>error: {"error":{"message":"the model is overloaded","type":"server_error","param":null,"code":"overloaded"}}\n\n[DONE] open)"},
    {"error-body-cut-short",
     R"((400 Bad Request) {"error":{"code":"ba fin)",
     same},
    {"error-code-numeric",
     R"((400 Bad Request) {"error":{"message":"context length exceeded","type":"server_error","param":null,"code":400}} open)",
     same},
    {"error-event-first",
     R"(data: {"error":{"message":"the model is overloaded","type":"server_error","param":null,"code":"overloaded"}}\n\n[DONE] open)"},
    {"error-event-in-stream",
     R"(<role><1><2>data: {"error":{"message":"the model is overloaded","type":"server_error","param":null,"code":"overloaded"}}\n\n[DONE] open)"},
    {"error-event-named",
     R"(<role><1><2>event: error\ndata: {"error":{"message":"the model is overloaded","type":"server_error","param":null,"code":"overloaded"}}\n\n[DONE] open)"},
    {"error-is-a-string",
     R"((400 Bad Request) {"error":"the model is still loading"} open)",
     same},
    {"error-metadata-raw",
     R"((400 Bad Request) {"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"max_tokens is too large\",\"type\":\"server_error\",\"param\":null,\"code\":400}}","provider_name":"Mock"}}} open)",
     same},
    {"error-with-200",
     R"((content-type: application/json) {"error":{"message":"no provider is available","type":"server_error","param":null,"code":502}} open)",
     R"({"error":{"message":"no provider is available","type":"server_error","param":null,"code":502}} open)"},
    {"error-without-body",
     "(400 Bad Request) (no body) open",
     same},
    {"html-with-200",
     "(content-type: text/html) <!DOCTYPE html><html><body>Sign in to the network</body></html> open",
     same},
    {"invalid-json",
     R"(<role><1><2>data: {@chunk,"choices":[{"index":0,"delta":{"content":"東京 "},"fi\n\n<4><stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."}, open)"},
    {"key-disabled",
     R"((403 Forbidden) {"error":{"code":"unauthorized","message":"unauthorized","type":"error"}} open)",
     same},
    {"key-invalid",
     R"((401 Unauthorized) {"error":{"code":"unauthorized","message":"unauthorized","type":"error"}} open)",
     same},
    {"key-invalid-as-400",
     R"((400 Bad Request) [{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}] open)",
     same},
    {"model-not-found",
     R"((404 Not Found) {"error":{"code":"model_not_found","message":"the model does not exist","type":"error"}} open)",
     same},
    {"refused-by-user-agent",
     "(403 Forbidden) (content-type: text/html; charset=UTF-8) (cf-ray: 9b1c2d3e4f5a6b7c-ZRH) <!DOCTYPE html><html><head><title>403: Access denied, error 1010</title></head><body>cloudflare</body></html> open",
     same},
    // retries
    {"cloudflare-520-then-answer",
     "(520 Unknown) (content-type: text/html; charset=UTF-8) (cf-ray: 9b1c2d3e4f5a6b7c-ZRH) <!DOCTYPE html><html><head><title>520: Web server is returning an unknown error</title></head><body>cloudflare</body></html> open / <role><1><2><3><4><stop>[DONE] open",
     "(520 Unknown) (content-type: text/html; charset=UTF-8) (cf-ray: 9b1c2d3e4f5a6b7c-ZRH) <!DOCTYPE html><html><head><title>520: Web server is returning an unknown error</title></head><body>cloudflare</body></html> open / <answer> open"},
    {"cloudflare-524-then-answer",
     "(524 Unknown) (content-type: text/html; charset=UTF-8) (cf-ray: 9b1c2d3e4f5a6b7c-ZRH) <!DOCTYPE html><html><head><title>524: A timeout occurred</title></head><body>cloudflare</body></html> open / <role><1><2><3><4><stop>[DONE] open",
     "(524 Unknown) (content-type: text/html; charset=UTF-8) (cf-ray: 9b1c2d3e4f5a6b7c-ZRH) <!DOCTYPE html><html><head><title>524: A timeout occurred</title></head><body>cloudflare</body></html> open / <answer> open"},
    {"concurrency-limit",
     R"((429 Too Many Requests) {"error":{"message":"Too many concurrent requests of this key","type":"rate_limit_error","code":"concurrency_limit_exceeded"}} open / <role><1><2><3><4><stop>[DONE] open)",
     R"((429 Too Many Requests) {"error":{"message":"Too many concurrent requests of this key","type":"rate_limit_error","code":"concurrency_limit_exceeded"}} open / <answer> open)"},
    {"daily-quota",
     R"((429 Too Many Requests) {"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"50"}]}]}} open / (429 Too Many Requests) {"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"50"}]}]}} open)",
     same},
    {"insufficient-quota",
     R"((429 Too Many Requests) {"error":{"code":"insufficient_quota","message":"you exceeded your current quota","type":"insufficient_quota"}} open / (429 Too Many Requests) {"error":{"code":"insufficient_quota","message":"you exceeded your current quota","type":"insufficient_quota"}} open)",
     same},
    {"overloaded-in-stream",
     R"(data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n[DONE] open / <role><1><2><3><4><stop>[DONE] open)",
     R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}} open / <answer> open)"},
    {"overloaded-then-answer",
     R"((529 Site is overloaded) {"error":{"code":"overloaded","message":"The service is overloaded. Try again later.","type":"error"}} open / <role><1><2><3><4><stop>[DONE] open)",
     R"((529 Site is overloaded) {"error":{"code":"overloaded","message":"The service is overloaded. Try again later.","type":"error"}} open / <answer> open)"},
    {"rate-limit-in-stream",
     R"(data: {"error":{"message":"Rate limit exceeded, try again","type":"rate_limit_error","code":429}}\n\n[DONE] open / <role><1><2><3><4><stop>[DONE] open)",
     R"({"error":{"message":"Rate limit exceeded, try again","type":"rate_limit_error","code":429}} open / <answer> open)"},
    {"rate-limited-then-answer",
     "(429 Too Many Requests) (retry-after: 1) <limited: Retry-After> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: 1) <limited: Retry-After> open / <answer> open"},
    {"redirect-307",
     R"((307 Temporary Redirect) (location: /v1/chat/completions?moved=1) (no body) open / <role><1><2><3><4><stop>[DONE] open)",
     R"((307 Temporary Redirect) (location: /v1/chat/completions?moved=1) (no body) open / <answer> open)"},
    {"reset-as-date",
     R"((429 Too Many Requests) (x-ratelimit-remaining-requests: 0) (x-ratelimit-reset-requests: 2024-01-01T00:00:00Z) <limited> open / <role><1><2><3><4><stop>[DONE] open)",
     R"((429 Too Many Requests) (x-ratelimit-remaining-requests: 0) (x-ratelimit-reset-requests: 2024-01-01T00:00:00Z) <limited> open / <answer> open)"},
    {"reset-as-duration",
     R"((429 Too Many Requests) (x-ratelimit-remaining-requests: 58) (x-ratelimit-reset-requests: 6m0s) (x-ratelimit-remaining-tokens: 0) (x-ratelimit-reset-tokens: 0.66s) <limited> open / <role><1><2><3><4><stop>[DONE] open)",
     R"((429 Too Many Requests) (x-ratelimit-remaining-requests: 58) (x-ratelimit-reset-requests: 6m0s) (x-ratelimit-remaining-tokens: 0) (x-ratelimit-reset-tokens: 0.66s) <limited> open / <answer> open)"},
    {"reset-as-epoch",
     R"((429 Too Many Requests) (x-ratelimit-remaining: 0) (x-ratelimit-reset: 1704067200) <limited> open / <role><1><2><3><4><stop>[DONE] open)",
     R"((429 Too Many Requests) (x-ratelimit-remaining: 0) (x-ratelimit-reset: 1704067200) <limited> open / <answer> open)"},
    {"retry-after-date",
     "(429 Too Many Requests) (retry-after: Mon, 01 Jan 2024 00:00:01 GMT) <limited: Retry-After> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: Mon, 01 Jan 2024 00:00:01 GMT) <limited: Retry-After> open / <answer> open"},
    {"retry-after-fraction",
     "(429 Too Many Requests) (retry-after: 0.05) <limited: Retry-After> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: 0.05) <limited: Retry-After> open / <answer> open"},
    {"retry-after-garbage",
     "(429 Too Many Requests) (retry-after: soon) <limited: Retry-After> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: soon) <limited: Retry-After> open / <answer> open"},
    {"retry-after-in-lower-case",
     "(429 Too Many Requests) (retry-after: 1) <limited: Retry-After> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: 1) <limited: Retry-After> open / <answer> open"},
    {"retry-after-in-the-past",
     "(429 Too Many Requests) (retry-after: Sun, 06 Nov 1994 08:49:37 GMT) <limited: Retry-After> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: Sun, 06 Nov 1994 08:49:37 GMT) <limited: Retry-After> open / <answer> open"},
    {"retry-after-missing",
     "(429 Too Many Requests) <limited> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) <limited> open / <answer> open"},
    {"retry-after-ms",
     "(429 Too Many Requests) (retry-after-ms: 50) <limited> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after-ms: 50) <limited> open / <answer> open"},
    {"retry-after-negative",
     "(429 Too Many Requests) (retry-after: -1) <limited: Retry-After> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: -1) <limited: Retry-After> open / <answer> open"},
    {"retry-after-very-large",
     "(429 Too Many Requests) (retry-after: 3600) <limited: Retry-After> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: 3600) <limited: Retry-After> open / <answer> open"},
    {"retry-after-zero",
     "(429 Too Many Requests) (retry-after: 0) <limited: Retry-After> open / <role><1><2><3><4><stop>[DONE] open",
     "(429 Too Many Requests) (retry-after: 0) <limited: Retry-After> open / <answer> open"},
    {"retry-delay-in-body",
     R"((429 Too Many Requests) {"error":{"code":429,"message":"Resource has been exhausted. Please try again in 300ms.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.3s"}]}} open / <role><1><2><3><4><stop>[DONE] open)",
     R"((429 Too Many Requests) {"error":{"code":429,"message":"Resource has been exhausted. Please try again in 300ms.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.3s"}]}} open / <answer> open)"},
    {"server-error-always",
     "(500 Internal Server Error) <internal error> open / (500 Internal Server Error) <internal error> open",
     same},
    {"server-error-then-answer",
     "(500 Internal Server Error) <internal error> open / <role><1><2><3><4><stop>[DONE] open",
     "(500 Internal Server Error) <internal error> open / <answer> open"},
    {"should-retry-false",
     "(500 Internal Server Error) (x-should-retry: false) <internal error> open / <role><1><2><3><4><stop>[DONE] open",
     "(500 Internal Server Error) (x-should-retry: false) <internal error> open / <answer> open"},
    {"should-retry-true",
     R"((400 Bad Request) (x-should-retry: true) {"error":{"code":"bad_request","message":"bad request","type":"error"}} open / <role><1><2><3><4><stop>[DONE] open)",
     R"((400 Bad Request) (x-should-retry: true) {"error":{"code":"bad_request","message":"bad request","type":"error"}} open / <answer> open)"},
    {"stream-broken-then-answer",
     "<role><1><2> fin / <role><1><2><3><4><stop>[DONE] open",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c fin / <answer> open)"},
    {"tokens-per-minute-413",
     R"((413 Content Too Large) {"error":{"code":"rate_limit_exceeded","message":"tokens per minute: limit 6000, requested 9001","type":"tokens"}} open / <role><1><2><3><4><stop>[DONE] open)",
     R"((413 Content Too Large) {"error":{"code":"rate_limit_exceeded","message":"tokens per minute: limit 6000, requested 9001","type":"tokens"}} open / <answer> open)"},
    {"unavailable-then-answer",
     R"((503 Service Unavailable) (retry-after: 0) {"error":{"code":"service_unavailable","message":"The service is unavailable. Try again later.","type":"error"}} open / <role><1><2><3><4><stop>[DONE] open)",
     R"((503 Service Unavailable) (retry-after: 0) {"error":{"code":"service_unavailable","message":"The service is unavailable. Try again later.","type":"error"}} open / <answer> open)"},
    // framing
    {"answer-as-text-plain",
     "(content-type: text/plain; charset=utf-8) <role><1><2><3><4><stop>[DONE] open",
     "(content-type: text/plain; charset=utf-8) <answer> open"},
    {"answer-in-the-other-form",
     "(content-type: application/json) <answer> open",
     "(content-type: text/event-stream; charset=utf-8) <role><1><2><3><4><stop>[DONE] open"},
    {"blank-line-missing-between-events",
     R"(<role><1>data: <2>\n<3><4><stop>[DONE] open)"},
    {"blank-lines-before-reply",
     R"(\n\n\n<role><1><2><3><4><stop>[DONE] open)",
     R"(\n\n\n<answer> open)"},
    {"brotli-unasked",
     "(content-encoding: br) <role><1><2><3><4><stop>[DONE] open",
     "(content-encoding: br) <answer> open"},
    {"byte-order-mark",
     R"(\xef\xbb\xbf<role><1><2><3><4><stop>[DONE] open)"},
    {"character-split-across-reads",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Z\xc3~50ms~\xbcrich "},"finish_reason":null}]}\n\n<2><3><4><stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Z\xc3~50ms~\xbcrich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"chunk-framing-in-body",
     R"(: 0\r\n\r\ndata: <role>\r\n\r\n: 0\r\n\r\ndata: <1>\r\n\r\n: 0\r\n\r\ndata: <2>\r\n\r\n: 0\r\n\r\ndata: <3>\r\n\r\n: 0\r\n\r\ndata: <4>\r\n\r\n: 0\r\n\r\ndata: <stop>\r\n\r\n: 0\r\n\r\ndata: [DONE]\r\n\r\n open)",
     R"({"id":"chatcmpl-catalogue","object":"chat.completion","created":1767225600\r\n\r\n,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"close-delimited-body",
     "(until close) (no body)<role><1><2><3><4><stop>[DONE] fin",
     "(until close) (no body)<answer> fin"},
    {"comment-keep-alives",
     R"(: OPENROUTER PROCESSING\n\n<role>: OPENROUTER PROCESSING\n\n<1>: OPENROUTER PROCESSING\n\n<2>: OPENROUTER PROCESSING\n\n<3>: OPENROUTER PROCESSING\n\n<4>: OPENROUTER PROCESSING\n\n<stop>: OPENROUTER PROCESSING\n\n[DONE] open)"},
    {"compressed-frame-per-event",
     "(content-encoding: gzip) <role><1><2><3><4><stop>[DONE] (7 frames) open"},
    {"content-encoding-claimed",
     "(content-encoding: br) (not Brotli) <role><1><2><3><4><stop>[DONE] open",
     "(content-encoding: br) (not Brotli) <answer> open"},
    {"content-type-missing",
     "(content-type: ) <role><1><2><3><4><stop>[DONE] open"},
    {"content-type-without-charset",
     "(content-type: text/event-stream) <role><1><2><3><4><stop>[DONE] open"},
    {"crlf-line-ends",
     R"(data: <role>\r\n\r\ndata: <1>\r\n\r\ndata: <2>\r\n\r\ndata: <3>\r\n\r\ndata: <4>\r\n\r\ndata: <stop>\r\n\r\ndata: [DONE]\r\n\r\n open)"},
    {"data-after-done",
     R"(<role><1><2><3><4><stop>[DONE]data: {@chunk,"choices":[{"index":0,"delta":{"content":" And more."},"finish_reason":null}]}\n\n open)"},
    {"done-inside-text",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"A stream ends with\n"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"data: [DONE]\n\n"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":"[DONE]"},"finish_reason":null}]}\n\ndata: {@chunk,"choices":[{"index":0,"delta":{"content":" is no JSON."},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"A stream ends with\ndata: [DONE]\n\n[DONE] is no JSON."},"finish_reason":"stop"}],@usage} open)"},
    {"done-missing",
     "<role><1><2><3><4><stop> open"},
    {"done-twice",
     "<role><1><2><3><4><stop>[DONE][DONE] open"},
    {"empty-data-keep-alive",
     R"(<role>data:\n\n<1>data:\n\n<2>data:\n\n<3>data:\n\n<4><stop>[DONE] open)"},
    {"event-field",
     R"(event: completion\n<role>event: completion\n<1>event: completion\n<2>event: completion\n<3>event: completion\n<4>event: completion\n<stop>event: completion\n[DONE] open)"},
    {"event-longer-than-1-mib",
     R"(<role><1>data: { *1100000@chunk,"choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":null}]}\n\n<3><4><stop>[DONE] open)",
     R"({ *1100000@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"event-longer-than-64-kib",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"x*100000"},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"x*100000"},"finish_reason":"stop"}],@usage} open)"},
    {"event-split-across-reads",
     R"(<role><1>data: {"id":"chatcmpl-catalogue","object":"chat.completion.c~50ms~hunk","created":1767225600,"model":"mock-model","choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":null}]}\n\n<3><4><stop>[DONE] open)",
     R"({"id":"chatcmpl-catalogue","object":"chat.completion","creat~50ms~ed":1767225600,"model":"mock-model","choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"event-without-data",
     R"(<role>event: ping\n\n<1>event: ping\n\n<2>event: ping\n\n<3>event: ping\n\n<4><stop>[DONE] open)"},
    {"events-in-one-chunk",
     "<role><1><2><3><4><stop>[DONE] (in one chunk) open"},
    {"final-blank-line-missing",
     R"(<role><1><2><3><4><stop>data: [DONE]\n open)"},
    {"gzip-unasked",
     "(content-encoding: gzip) <role><1><2><3><4><stop>[DONE] open"},
    {"header-names-in-lower-case",
     "<role><1><2><3><4><stop>[DONE] fin",
     "<answer> fin"},
    {"http-chunks-cut-events",
     "<role><1><2><3><4><stop>[DONE] (in 163 chunks) open"},
    {"id-fields",
     R"(id: 1\n<role>id: 2\n<1>id: 3\n<2>id: 4\n<3>id: 5\n<4>id: 6\n<stop>id: 7\n[DONE] open)"},
    {"id-line-then-ping",
     R"(<role>id: 7\n: ping\n\n<1>id: 7\n: ping\n\n<2>id: 7\n: ping\n\n<3>id: 7\n: ping\n\n<4><stop>[DONE] open)"},
    {"last-event-without-blank-line",
     R"(<role><1><2><3>data: {@chunk,"choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":"stop"}]}\n open)"},
    {"lone-cr-line-ends",
     R"(data: <role>\r\rdata: <1>\r\rdata: <2>\r\rdata: <3>\r\rdata: <4>\r\rdata: <stop>\r\rdata: [DONE]\r\r open)"},
    {"multi-line-data",
     R"(data: {\ndata: @chunk,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]\ndata: }\n\ndata: {\ndata: @chunk,"choices":[{"index":0,"delta":{"content":"Zürich "},"finish_reason":null}]\ndata: }\n\ndata: {\ndata: @chunk,"choices":[{"index":0,"delta":{"content":"21 °C, "},"finish_reason":null}]\ndata: }\n\ndata: {\ndata: @chunk,"choices":[{"index":0,"delta":{"content":"東京 "},"finish_reason":null}]\ndata: }\n\ndata: {\ndata: @chunk,"choices":[{"index":0,"delta":{"content":"9 °C."},"finish_reason":null}]\ndata: }\n\ndata: {\ndata: @chunk,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]\ndata: }\n\n[DONE] open)"},
    {"no-space-after-colon",
     R"(data:<role>\n\ndata:<1>\n\ndata:<2>\n\ndata:<3>\n\ndata:<4>\n\ndata:<stop>\n\ndata:[DONE]\n\n open)"},
    {"one-write-for-all",
     usual_streamed,
     usual_plain},
    {"one-write-per-byte",
     usual_streamed,
     usual_plain},
    {"open-after-done",
     "<role><1><2><3><4><stop>[DONE] stalled"},
    {"retry-field",
     R"(retry: 3000\n<role><1><2><3><4><stop>[DONE] open)"},
    {"unknown-sse-field",
     R"(trace: 7\n<role>trace: 7\n<1>trace: 7\n<2>trace: 7\n<3>trace: 7\n<4>trace: 7\n<stop>[DONE] open)"},
    {"zstd-frame-per-event",
     "(content-encoding: zstd) <role><1><2><3><4><stop>[DONE] (7 frames) open"},
    // breaks
    {"close-delimited-body-cut-short",
     "(until close) (no body)<role><1><2> fin",
     R"((until close) (no body){@completion,"choices":[{"index":0,"message":{"role":"assistant","c fin)"},
    {"closed-after-done",
     "<role><1><2><3><4><stop>[DONE] fin"},
    {"closed-after-finish",
     "<role><1><2><3><4><stop> fin"},
    {"closed-after-headers",
     "(no body) fin",
     same},
    {"closed-before-headers",
     "(nothing) fin",
     same},
    {"closed-in-stream",
     "<role><1><2> fin",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c fin)"},
    {"closed-inside-character",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Z\xc3 fin)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Z\xc3 fin)"},
    {"closed-inside-event",
     R"(<role><1><2>data: {"id":"chatcmpl-catalogue","object":"chat.completion.c fin)"},
    {"content-length-too-large",
     "<role><1><2><3><4><stop>[DONE] fin",
     "<answer> fin"},
    {"content-length-too-small",
     R"(<role><1><2><3>data: {@chunk,"choices":[{"index":0,"delta":{"content":"9 ° (then) C."},"finish_reason":null}]}\n\n<stop>[DONE] open)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion (then) _tokens":5,"total_tokens":14}} open)"},
    {"garbage-in-place-of-headers",
     R"(\x15\x03\x01\x00\x02\x02P fin)",
     same},
    {"garbage-in-stream",
     "<role><1><2><html>504 Gateway Time-out</html> fin",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c<html>504 Gateway Time-out</html> fin)"},
    {"half-closed-in-stream",
     "<role><1><2> fin",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c fin)"},
    {"reset-after-done",
     "<role><1><2><3><4><stop>[DONE] reset"},
    {"reset-after-finish",
     "<role><1><2><3><4><stop> reset"},
    {"reset-after-headers",
     "(no body) reset",
     same},
    {"reset-before-headers",
     "(nothing) reset",
     same},
    {"reset-in-stream",
     "<role><1><2> reset",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c reset)"},
    {"reset-inside-character",
     R"(<role>data: {@chunk,"choices":[{"index":0,"delta":{"content":"Z\xc3 reset)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Z\xc3 reset)"},
    {"truncated-chunked-body",
     R"(<role><1><2>data: {"id":"chatcmpl-catalogue","object":"chat.completion.c{cut} fin)",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c fin)"},
    // pace
    {"live-stream",
     "<role>~50ms~<1>~50ms~<2>~50ms~<3>~50ms~<4>~50ms~<1>~50ms~<2>~50ms~<3>~50ms~<4>~50ms~<1>~50ms~<2>~50ms~<3>~50ms~<4>~50ms~<1>~50ms~<2>~50ms~<3>~50ms~<4>~50ms~<1>~50ms~<2>~50ms~<3>~50ms~<4>~50ms~<1>~50ms~<2>~50ms~<3>~50ms~<4>~50ms~<1>~50ms~<2>~50ms~<3>~50ms~<4>~50ms~<1>~50ms~<2>~50ms~<3>~50ms~<4>~50ms~<1>~50ms~<2>~50ms~<3>~50ms~<4>~50ms~<1>~50ms~<2>~50ms~<3>~50ms~<4><stop>[DONE] open",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","content":"Zürich 21 °C, 東京 9 °C.Zürich 21 °C, 東京 9 °C.Zürich 21 °C, 東京 9 °C.Zürich 21 °C, 東京 9 °C.Zürich 21 °C, 東京 9 °C.Zürich 21 °C, 東京 9 °C.Zürich 21 °C, 東京 9 °C.Zürich 21 °C, 東京 9 °C.Zürich 21 °C, 東京 9 °C.Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"pause-in-stream",
     "<role><1><2>~200ms~<3><4><stop>[DONE] open",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c~200ms~ontent":"Zürich 21 °C, 東京 9 °C."},"finish_reason":"stop"}],@usage} open)"},
    {"pings-before-first-token",
     R"(<role>~20ms~: ping\n\n~20ms~: ping\n\n~20ms~: ping\n\n~20ms~: ping\n\n~20ms~: ping\n\n~10ms~<1><2><3><4><stop>[DONE] open)"},
    {"pings-defeat-idle-timeout",
     R"(<role><1><2>~20ms~: ping\n\n~20ms~: ping\n\n~20ms~: ping\n\n stalled)"},
    {"slow-first-token",
     "<role>~300ms~<1><2><3><4><stop>[DONE] open",
     "~300ms~<answer> open"},
    {"slow-tokens",
     "<role><1>~50ms~<2>~50ms~<3>~50ms~<4><stop>[DONE] open"},
    {"stalled-after-finish",
     "<role><1><2><3><4><stop> stalled"},
    {"stalled-after-headers",
     "(no body) stalled",
     same},
    {"stalled-before-headers",
     "(nothing) stalled",
     same},
    {"stalled-body",
     "<role><1><2> stalled",
     R"({@completion,"choices":[{"index":0,"message":{"role":"assistant","c stalled)"},
    // connection
    {"closed-on-accept",
     "(nothing) fin",
     same},
    {"closed-when-reused",
     "<role><1><2><3><4><stop>[DONE] fin when reused",
     "<answer> fin when reused"},
    {"closed-while-idle",
     "<role><1><2><3><4><stop>[DONE] fin",
     "<answer> fin"},
    {"connection-close",
     "<role><1><2><3><4><stop>[DONE] fin",
     "<answer> fin"},
    {"connection-refused",
     "refused",
     same},
    {"early-hints",
     "(103 Early Hints, link: </style.css>; rel=preload; as=style) <role><1><2><3><4><stop>[DONE] open",
     "(103 Early Hints, link: </style.css>; rel=preload; as=style) <answer> open"},
    {"early-status-under-expect",
     R"((413 Content Too Large) {"error":{"code":"body_too_large","message":"the body is too large","type":"error"}} fin)",
     same},
    {"garbage-on-accept",
     R"(SSH-2.0-OpenSSH_9.2p1\r\n fin)",
     same},
    {"reset-on-accept",
     "(nothing) reset",
     same},
    {"reset-on-first-accept",
     "(nothing) reset / 200",
     same},
    {"reset-when-reused",
     "<role><1><2><3><4><stop>[DONE] reset when reused",
     "<answer> reset when reused"},
    {"slow-request-reading",
     "~5ms~~5ms~<role><1><2><3><4><stop>[DONE] open",
     "~5ms~~5ms~<answer> open"},
    {"unsolicited-continue",
     "(100 Continue) <role><1><2><3><4><stop>[DONE] open",
     "(100 Continue) <answer> open"},
  };
  return all;
}
// clang-format on

TEST_CASE("each scenario sends the documented bytes until the connection ends") {
  REQUIRE(goldens().size() == catalogue().size());
  for (std::size_t i = 0; i < goldens().size(); ++i) {
    const Golden& golden = goldens()[i];
    const Scenario& scenario = catalogue()[i];
    REQUIRE(scenario.name() == golden.name);
    CAPTURE(scenario.name());
    REQUIRE((scenario.needs_stream() || golden.plain != nullptr));
    CHECK(observe(scenario, true, golden.streamed) == golden.streamed);
    const char* const plain = !golden.plain ? usual_plain : golden.plain == same ? golden.streamed : golden.plain;
    CHECK(observe(scenario, false, plain) == plain);
    // These scenarios differ only in how bytes are divided into writes, which this notation does not show.
    if (scenario.name().compare(0, 9, "one-write") == 0) {
      CHECK(golden.streamed == std::string(usual_streamed));
    } else {
      CHECK(golden.streamed != std::string(usual_streamed));
    }
  }
}

TEST_CASE("a scenario behaves the same for every request and every client") {
  for (const char* const name : {"server-error-then-answer", "closed-before-headers", "reset-on-accept", "early-hints",
                                 "usage-chunk-without-choices"}) {
    const Scenario one = scenario(name);
    CAPTURE(one.name());
    ManualClock clock;
    Gateway gateway{one.options(Options{}.clock(clock))};
    one.mount(gateway);
    const auto both = [&] {
      return observe_request(gateway, clock, one, true, "") + " / " + observe_request(gateway, clock, one, true, "");
    };
    const std::string first = both();
    for (int again = 0; again < 5; ++again) CHECK(both() == first);
  }
}

TEST_CASE("the gateway waits for the client on a half-closed connection, not on a closed connection") {
  for (const char* const name : {"half-closed-in-stream", "closed-in-stream"}) {
    const Scenario one = scenario(name);
    CAPTURE(one.name());
    Gateway gateway{one.options()};
    one.mount(gateway);
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", true}}));
    CHECK(connection.receive_all().end == End::fin);
    const Exchange exchange = gateway.journal().last();
    if (one.name() == "half-closed-in-stream") CHECK(exchange.outcome(0ms) == Outcome::Kind::pending);
    connection.shutdown_write();
    CHECK(exchange.outcome() == Outcome::Kind::broken_by_fault);
    CHECK(exchange.client_closed_its_side() == (one.name() == "half-closed-in-stream"));
  }
}

/// Returns the sizes of the reads of a client that reads a reply while it arrives.
inline std::vector<std::size_t> reads_of(const Scenario& scenario) {
  Gateway gateway{scenario.options()};
  scenario.mount(gateway);
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  std::string all;
  std::vector<std::size_t> reads;
  while (all.find("\r\n0\r\n\r\n") == std::string::npos) {
    const std::string bytes = connection.receive_once();
    REQUIRE(bytes != "");
    all += bytes;
    reads.push_back(bytes.size());
  }
  CHECK(transcript(all, true).text + " open" == usual_streamed);
  return reads;
}

/// Returns whether the system reports how many bytes a program has read. A sandbox may refuse to.
inline bool tells_what_was_read() {
#ifdef __linux__
  const int system = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (system < 0) return false;
  struct {
    nlmsghdr head;
    inet_diag_req_v2 asked;
  } request{};
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;  // of all connections
  request.asked.sdiag_family = AF_INET;
  request.asked.sdiag_protocol = IPPROTO_TCP;
  request.asked.idiag_states = ~0U;
  alignas(nlmsghdr) char answer[65536];
  ssize_t size = -1;
  if (::send(system, &request, sizeof request, 0) == static_cast<ssize_t>(sizeof request))
    size = ::recv(system, answer, sizeof answer, MSG_DONTWAIT);
  ::close(system);
  nlmsghdr head{};
  if (size < static_cast<ssize_t>(sizeof head)) return false;
  std::memcpy(&head, answer, sizeof head);
  return head.nlmsg_type == SOCK_DIAG_BY_FAMILY;
#else
  return false;
#endif
}

TEST_CASE("a client reads one write at once, and single-byte writes byte by byte") {
  CHECK(reads_of(scenario("one-write-for-all")).size() == 1);
  // If the reader is delayed for a second, the gateway no longer waits for it, and several writes may arrive at once.
  const bool each_alone = tells_what_was_read();
  std::vector<std::size_t> reads;
  const auto is_divided = [&] {
    return each_alone ? reads.size() > 1000 && *std::max_element(reads.begin(), reads.end()) == 1 : reads.size() > 20;
  };
  for (int attempt = 0; attempt < 5 && !is_divided(); ++attempt) reads = reads_of(scenario("one-write-per-byte"));
  CAPTURE(each_alone);
  CAPTURE(reads.size());
  CHECK(is_divided());
}

TEST_CASE("in the scenario with an early status the response comes before the body and without 100 Continue") {
  const Scenario one = scenario("early-status-under-expect");
  Gateway gateway{one.options()};
  one.mount(gateway);
  std::string request = Http(gateway).format_chat();
  request.insert(request.find("Content-Length"), "Expect: 100-continue\r\n");
  RawConnection connection(gateway);
  connection.send(request.substr(0, request.find("\r\n\r\n") + 4));
  const Response response = connection.receive_response();
  CHECK(response.status == 413);
  CHECK(response.error_code() == "body_too_large");
  CHECK(connection.receive_all().end == End::fin);
}

}  // namespace catalogue_bytes_test
