// The catalogue: its content and order, and how scenarios are found, described and mounted.

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace catalogue_test {

using namespace mock_gateway;
using test_support::Http;
using test_support::RawConnection;

TEST_CASE("every reported scenario is in the catalogue and found by its references") {
  // Each row lists all references of one issue.
  const std::vector<std::vector<std::string>> rows = {
      {"pydantic-ai#164"},
      {"xiaozhi-esp32-server#734"},
      {"langchain#32252"},
      {"llmgateway#2334"},
      {"openai-go#621", "langchaingo#942"},
      {"copilot-api#88"},
      {"litellm#40578", "openai-python#2943"},
      {"openai-node#1292"},
      {"ollama#4357"},
      {"litellm#35663"},
      {"litellm#9986"},
      {"openai-python#3709"},
      {"vllm#18412"},
      {"opencode#37841"},
      {"vercel/ai#14277"},
      {"vercel/ai#6687"},
      {"hermes-agent#11984"},  // each fragment repeats the id and the name
      {"DeepSeek"},            // usage is in the finish chunk
      {"go-openai#244"},
      {"fantasy#365"},
      {"langchainjs#1929"},
      {"openai-node#1840", "openai-python#3555"},
      {"openai-node#1825"},
      {"pi#5558"},
      {"openai-python#2065"},
      {"typesense#2837"},
      {"ollama-js#255"},
      {"AstrBot#403"},
      {"mistral.rs#79"},
      {"cpp-httplib#1808"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.front());
    const bool found = std::any_of(catalogue().begin(), catalogue().end(), [&](const Scenario& one) {
      return std::all_of(row.begin(), row.end(), [&](const std::string& reference) {
        return (", " + one.reference() + ", ").find(", " + reference + ", ") != std::string::npos;
      });
    });
    CHECK(found);
  }
  const std::vector<std::pair<std::string, std::vector<std::string>>> several = {
      {"openai-node#1840", {"retry-after-date", "retry-after-missing", "retry-after-very-large"}},
      {"AstrBot#403", {"empty-200", "blank-lines-before-reply"}},
      {"DeepSeek", {"usage-on-finish-chunk"}},
  };
  for (const auto& [reference, names] : several) {
    for (const std::string& name : names) {
      const Scenario one = scenario(name);
      CHECK((", " + one.reference() + ", ").find(", " + reference + ", ") != std::string::npos);
    }
  }
}

TEST_CASE("names in the catalogue are unique, in kebab case, and sorted within each group") {
  std::set<std::string> names;
  std::vector<std::string> groups;
  std::string previous;
  for (const Scenario& one : catalogue()) {
    CAPTURE(one.name());
    CHECK(names.insert(one.name()).second);
    CHECK(one.name().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
    CHECK(one.name().size() <= 40);
    if (groups.empty() || groups.back() != one.group()) {
      groups.push_back(one.group());
      previous.clear();
    }
    CHECK(previous < one.name());
    previous = one.name();
    for (const std::string& line : {one.description(), one.reference(), one.good_client()}) {
      CHECK(line.size() > 3);
      CHECK(line.size() <= 110);
      CHECK(line.find('\n') == std::string::npos);
      CHECK(line.back() != '.');
    }
    CHECK((one.calls() == 1 || one.calls() == 2));
  }
  CHECK(groups == std::vector<std::string>{"chunks", "tool calls", "errors", "retries", "framing", "breaks", "pace",
                                           "connection"});
}

TEST_CASE("a scenario is found by its name, and a wrong name gets suggestions") {
  CHECK(scenario("usage-chunk-without-choices").name() == "usage-chunk-without-choices");
  const auto message = [](std::string_view name) -> std::string {
    try {
      return scenario(name).name();
    } catch (const GatewayError& error) {
      return error.what();
    }
  };
  CHECK(
      message("usage-chunk-whitout-choices") ==
      "mock_gateway: there is no scenario \"usage-chunk-whitout-choices\"; did you mean usage-chunk-without-choices?");
  CHECK(message("retry-after") ==
        "mock_gateway: there is no scenario \"retry-after\"; did you mean retry-after-ms, retry-after-date, "
        "retry-after-zero?");
  for (const std::string name : {"", "nope"})
    CHECK(message(name) == "mock_gateway: there is no scenario \"" + name + "\"; `mock-gateway scenarios` lists all");
  CHECK(message(std::string(1'000'000, 'x')).size() < 400);
}

TEST_CASE("a scenario describes itself in JSON") {
  CHECK(as_json(scenario("tool-call-arguments-empty")) ==
        Json({{"name", "tool-call-arguments-empty"},
              {"group", "tool calls"},
              {"description", "sends a tool call with arguments \"\""},
              {"reference", "vercel/ai#6687"},
              {"good_client", "treats \"\" as no arguments, {}"},
              {"expected", "answer"},
              {"text", ""},
              {"tool_calls", {{{"name", "get_time"}, {"arguments", ""}}}},
              {"finish_reason", "tool_calls"},
              {"usage", {{"prompt_tokens", 9}, {"completion_tokens", 5}, {"total_tokens", 14}}},
              {"needs_stream", false},
              {"needs_timeout", false},
              {"calls", 1}}));
  const Json stalled = as_json(scenario("pings-defeat-idle-timeout"));
  CHECK(stalled["expected"] == "error");
  CHECK(stalled["text"] == "Zürich 21 °C, 東京 9 °C.");
  CHECK(stalled["tool_calls"] == Json::array());
  CHECK(stalled["finish_reason"].is_null());
  CHECK(stalled["usage"].is_null());
  CHECK(stalled["needs_stream"] == true);
  CHECK(stalled["needs_timeout"] == true);
  CHECK(as_json(scenario("closed-when-reused"))["calls"] == 2);
  for (const Scenario& one : catalogue()) CHECK_NOTHROW(as_json(one).dump());
}

TEST_CASE("a scenario keeps the given options, and its verdict replaces verify()") {
  const Options options = scenario("early-hints").options(Options{}.model("mine").seed(7));
  Gateway gateway(options);
  CHECK(Http(gateway).get("/v1/models").body.find("\"id\":\"mine\"") != std::string::npos);
  CHECK(gateway.api_key() == Gateway(Options{}.seed(7)).api_key());
  gateway.chat().expect(1).reply("never asked, which verify() would report");
}

TEST_CASE("a scenario has priority over earlier stubs, and later stubs over the scenario") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().reply("before");
  scenario("usage-on-finish-chunk").mount(gateway);
  CHECK(Http(gateway).ask("Hi") == scenario("usage-on-finish-chunk").text());
  gateway.chat().reply("after");
  CHECK(Http(gateway).ask("Hi") == "after");
}

TEST_CASE("all header names are in lower case in the scenario with lower-case names") {
  const Scenario one = scenario("header-names-in-lower-case");
  Gateway gateway{one.options()};
  one.mount(gateway);
  for (const bool streamed : {true, false}) {
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat(streamed ? Json{{"stream", true}} : Json{}));
    const std::string bytes = connection.receive_all().bytes;
    const std::string head = bytes.substr(0, bytes.find("\r\n\r\n") + 2);
    CHECK(head == std::string("HTTP/1.1 200 OK\r\n") +
                      (streamed ? "content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n"
                                : "content-type: application/json\r\ncontent-length: 284\r\n") +
                      "connection: close\r\n");
  }
}

}  // namespace catalogue_test
