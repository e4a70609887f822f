// Fields that the openai profile accepts because OpenAI documents them. An explicit Acceptance takes precedence over
// the profile.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"

namespace openai_profile_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_path;
using test_support::Http;
using test_support::Response;

const Json user = {{"role", "user"}, {"content", "Hi"}};
const Json shell = {{"type", "custom"},
                    {"custom", {{"name", "shell"}, {"description", "Runs it."}, {"format", {{"type", "text"}}}}}};
const Json shell_call = {{"id", "call_1"}, {"type", "custom"}, {"custom", {{"name", "shell"}, {"input", "ls -l"}}}};
const Json shell_choice = {{"type", "custom"}, {"custom", {{"name", "shell"}}}};

/// A gateway, by default with the openai profile, and a client with one connection to it.
struct Wire {
  explicit Wire(const Options& options = Options{}.profile(Profile::openai))
      : gateway(options), http(Http(gateway).keep_alive()) {}

  /// Sends a request. Returns its findings as "CODE: MESSAGE", separated by spaces, or the status and body of an error.
  std::string findings(const Json& fields) const {
    const Response response = http.chat(fields);
    if (response.status != 200) return std::to_string(response.status) + " " + response.body;
    std::string codes;
    for (const Finding& finding : gateway.journal().last().findings())
      codes += (codes.empty() ? "" : " ") + finding.code + ": " + finding.message;
    return codes;
  }
  ChatRequest understood(const Json& fields) const {
    CHECK(findings(fields) == "");
    return gateway.journal().last().chat();
  }
  /// Sends a request. Returns its 400 as "CODE at PARAM", or another status.
  std::string refused(const Json& fields) const {
    const Response response = http.chat(fields);
    if (response.status != 400) return std::to_string(response.status);
    return response.error_code() + " at " + response.json()["error"]["param"].dump();
  }

  Gateway gateway;
  Http http;
};

inline Json saying(const Json& message) { return {{"messages", Json::array({user, message})}}; }

TEST_CASE("the openai profile accepts role developer and content parts of images, audio and files") {
  const Wire wire;
  CHECK(wire.understood(saying({{"role", "developer"}, {"content", "Be brief."}})).messages[1].role == "developer");
  const Json parts = {{{"type", "text"}, {"text", "What is this?"}},
                      {{"type", "image_url"}, {"image_url", {{"url", "data:image/png;base64,AA"}, {"detail", "low"}}}},
                      {{"type", "input_audio"}, {"input_audio", {{"data", "AA"}, {"format", "wav"}}}},
                      {{"type", "file"}, {"file", {{"file_id", "file-1"}}}}};
  const ChatRequest request = wire.understood(saying({{"role", "user"}, {"content", parts}}));
  CHECK(request.last_user_text() == "What is this?");
  CHECK(request.messages[1].content.size() == 4);
  CHECK(wire.gateway.review());
}

TEST_CASE("the error for a content part that does not have OpenAI's form names the place") {
  const Wire wire;
  const std::vector<std::pair<Json, std::string>> parts = {
      {{{"type", "image_url"}}, R"(missing_required_parameter at "messages[1].content[0].image_url")"},
      {{{"type", "image_url"}, {"image_url", "http://127.0.0.1/cat.png"}},
       R"(invalid_type at "messages[1].content[0].image_url")"},
      {{{"type", "image_url"}, {"image_url", {{"detail", "low"}}}},
       R"(missing_required_parameter at "messages[1].content[0].image_url.url")"},
      {{{"type", "input_audio"}, {"input_audio", {{"data", "AA"}}}},
       R"(missing_required_parameter at "messages[1].content[0].input_audio.format")"},
      {{{"type", "input_audio"}, {"input_audio", {{"data", 1}, {"format", "wav"}}}},
       R"(invalid_type at "messages[1].content[0].input_audio.data")"},
      {{{"type", "file"}, {"file", "file-1"}}, R"(invalid_type at "messages[1].content[0].file")"}};
  for (const auto& [part, error] : parts)
    CHECK(wire.refused(saying({{"role", "user"}, {"content", Json::array({part})}})) == error);
}

TEST_CASE("the openai profile obeys max_completion_tokens, and sends OpenAI's 400 if max_tokens is set too") {
  Wire wire;
  wire.gateway.chat().reply("one two three");
  const Response plain = wire.http.chat({{"max_completion_tokens", 2}});
  CHECK(plain.text() == "one two");
  CHECK(plain.finish_reason() == "length");
  CHECK(plain.usage()["completion_tokens"] == 2);
  const Response stream = wire.http.stream({{"max_completion_tokens", 2}});
  CHECK(stream.joined_text() == "one two");
  CHECK(stream.finish_reason() == "length");
  CHECK(wire.understood({{"max_completion_tokens", 2}}).max_tokens == 2);
  CHECK(wire.understood({{"max_completion_tokens", 2}, {"max_tokens", nullptr}}).max_tokens == 2);
  CHECK(wire.understood({{"max_completion_tokens", nullptr}, {"max_tokens", 3}}).max_tokens == 3);

  for (const Json& both :
       {Json{{"max_tokens", 5}, {"max_completion_tokens", 2}}, Json{{"max_completion_tokens", 2}, {"max_tokens", 2}}}) {
    const Response refused = wire.http.chat(both);
    CHECK(refused.status == 400);
    CHECK(
        refused.body ==
        R"({"error":{"message":"Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",)"
        R"("type":"invalid_request_error","param":"max_tokens","code":"invalid_parameter_combination"}})");
  }
  CHECK(wire.refused({{"max_completion_tokens", 0}}) == R"(integer_below_min_value at "max_completion_tokens")");
  CHECK(wire.refused({{"max_completion_tokens", "2"}}) == R"(invalid_type at "max_completion_tokens")");
}

TEST_CASE("outside the openai profile max_completion_tokens has no effect and gets a finding with advice") {
  Wire wire{Options{}};
  wire.gateway.chat().reply("one two three");
  CHECK(wire.http.chat({{"max_completion_tokens", 1}}).text() == "one two three");
  CHECK(wire.findings({{"max_completion_tokens", 1}, {"max_tokens", 2}}) ==
        "unknown_field: max_completion_tokens: not a documented field; use max_tokens instead.");
  CHECK(wire.gateway.journal().last().chat().max_tokens == 2);
  const Acceptance acceptance = Acceptance().with(Extension::max_completion_tokens);
  const Wire taking{Options{}.acceptance(acceptance)};
  CHECK(taking.findings({{"max_completion_tokens", 1}}) ==
        "beyond_documentation: max_completion_tokens: documented by OpenAI but not by the gateway; accepted because of "
        "the acceptance switch max_completion_tokens takes it.");
  CHECK(taking.gateway.review());
  CHECK(taking.gateway.journal().last().chat().max_tokens == 1);
  CHECK(taking.http.chat({{"max_completion_tokens", 1}, {"max_tokens", 1}}).error_code() ==
        "invalid_parameter_combination");
}

TEST_CASE("custom tools are accepted in tools, as a choice and in messages") {
  const Wire wire;
  const Json function = {{"type", "function"}, {"function", {{"name", "f"}}}};
  const ChatRequest request = wire.understood(
      {{"messages", Json::array({user,
                                 {{"role", "assistant"}, {"tool_calls", {shell_call}}},
                                 {{"role", "tool"}, {"tool_call_id", "call_1"}, {"content", "a.txt"}}})},
       {"tools", {shell, function}},
       {"tool_choice", shell_choice}});
  REQUIRE(request.tools.size() == 2);
  CHECK(request.tools[0].custom);
  CHECK(request.tools[0].description == "Runs it.");
  CHECK_FALSE(request.tools[1].custom);
  CHECK(request.has_tool("shell"));
  CHECK(request.tool_choice.mode == wire::ToolChoice::Mode::named);
  CHECK(request.tool_choice.name == "shell");
  REQUIRE(request.messages[1].tool_calls.size() == 1);
  CHECK(request.messages[1].tool_calls[0].custom);
  CHECK(request.messages[1].tool_calls[0].name == "shell");
  CHECK(request.messages[1].tool_calls[0].arguments == "ls -l");
  CHECK(wire.gateway.review());
}

TEST_CASE("the error for an invalid custom tool names the place") {
  const Wire wire;
  const Json nameless = {{"type", "custom"}, {"custom", Json::object()}};
  const Json no_input = {{"id", "c"}, {"type", "custom"}, {"custom", {{"name", "shell"}}}};
  const Json bad_format = {{"type", "custom"}, {"custom", {{"name", "shell"}, {"format", "text"}}}};
  const Json function_choice = {{"type", "function"}, {"function", {{"name", "shell"}}}};
  const Json unknown_type = {{"type", "robot"}, {"custom", {{"name", "shell"}}}};
  CHECK(wire.refused({{"tools", {nameless}}}) == R"(missing_required_parameter at "tools[0].custom.name")");
  CHECK(wire.refused({{"tools", {bad_format}}}) == R"(invalid_type at "tools[0].custom.format")");
  CHECK(wire.refused({{"tools", {unknown_type}}}) == R"(invalid_value at "tools[0].type")");
  CHECK(wire.http.chat({{"tools", {unknown_type}}}).error_message() ==
        R"(tools[0].type: expected one of "function", "custom", got "robot")");
  CHECK(wire.refused({{"tools", {shell}}, {"tool_choice", function_choice}}) ==
        R"(invalid_value at "tool_choice.function.name")");
  CHECK(wire.refused({{"tool_choice", shell_choice}}) == R"(invalid_value at "tool_choice.custom.name")");
  CHECK(wire.refused(saying({{"role", "assistant"}, {"tool_calls", {no_input}}})) ==
        R"(missing_required_parameter at "messages[1].tool_calls[0].custom.input")");
  const Wire documented{Options{}};
  CHECK(documented.http.chat({{"tools", {shell}}}).error_message() ==
        R"(tools[0].type: expected "function", got "custom"; the acceptance switch custom_tools accepts it, )"
        "and so does the profile openai");
}

TEST_CASE("the default reply calls a custom tool with text, plain and streamed, and refuses a grammar") {
  const Wire wire;
  const Json fields = {{"tools", {shell}}, {"tool_choice", shell_choice}};
  const Json call = wire.http.chat(fields).json()["choices"][0]["message"].at("tool_calls")[0];
  CHECK(call["type"] == "custom");
  CHECK(call.at("custom").at("name") == "shell");
  CHECK(call.at("custom").at("input").get<std::string>().size() > 5);
  std::string input;
  for (const Json& delta : wire.http.stream(fields).deltas()) {
    if (!delta.contains("tool_calls")) continue;
    CHECK_FALSE(delta["tool_calls"][0].contains("function"));
    input += delta["tool_calls"][0].at("custom").at("input").get<std::string>();
  }
  CHECK(input == call.at("custom").at("input"));
  Json grammar = shell;
  grammar["custom"]["format"] = {{"type", "grammar"},
                                 {"grammar", {{"syntax", "lark"}, {"definition", "start: \"x\""}}}};
  CHECK(wire.refused({{"tools", {grammar}}, {"tool_choice", "required"}}) ==
        R"(unsupported_schema at "tools[0].custom.format")");
}

TEST_CASE("only fields that OpenAI does not document are findings in the openai profile") {
  const Wire wire;
  const Json fields = {{"audio", {{"format", "mp3"}, {"voice", "alloy"}}},
                       {"frequency_penalty", 0.5},
                       {"function_call", "none"},
                       {"functions", {{{"name", "f"}}}},
                       {"logit_bias", {{"50256", -100}}},
                       {"logprobs", true},
                       {"max_completion_tokens", 100},
                       {"metadata", {{"team", "a"}}},
                       {"modalities", {"text", "audio"}},
                       {"moderation", {{"model", "m"}}},
                       {"n", 1},
                       {"parallel_tool_calls", false},
                       {"prediction", {{"type", "content"}, {"content", "Hi"}}},
                       {"presence_penalty", 0.5},
                       {"prompt_cache_key", "k"},
                       {"prompt_cache_options", Json::object()},
                       {"prompt_cache_retention", "24h"},
                       {"reasoning_effort", "low"},
                       {"response_format", {{"type", "text"}}},
                       {"safety_identifier", "s"},
                       {"seed", 1},
                       {"service_tier", "flex"},
                       {"stop", "END"},
                       {"store", true},
                       {"stream", true},
                       {"stream_options", {{"include_usage", true}, {"include_obfuscation", false}}},
                       {"temperature", 1},
                       {"tools", {{{"type", "function"}, {"function", {{"name", "f"}}}}}},
                       {"top_logprobs", 1},
                       {"user", "u"},
                       {"verbosity", "low"},
                       {"web_search_options", Json::object()}};
  for (const auto& field : fields.items()) {
    const std::string& key = field.key();
    if (key == "top_logprobs" || key == "stream_options" || key == "parallel_tool_calls") continue;  // need another
    CAPTURE(field.key());
    CHECK(wire.findings({{field.key(), field.value()}}) == "");
  }
  CHECK(wire.findings(fields) == "");
  CHECK(wire.gateway.review());
  CHECK(wire.findings({{"top_k", 5}}) == "unknown_field: top_k: not a documented field; leave it out.");
  CHECK(wire.findings({{"include_obfuscation", true}}) != "");
  CHECK(Wire{Options{}}.findings({{"user", "u"}}) == "unknown_field: user: not a documented field; leave it out.");
}

TEST_CASE("a client may send back messages with the fields that OpenAI sends in place of content") {
  Wire wire;
  wire.gateway.chat().reply(refusal("I cannot help with that."));
  const Json message = wire.http.chat().json()["choices"][0]["message"];
  REQUIRE(message["content"].is_null());
  CHECK(wire.findings(saying(message)) == "");
  CHECK(wire.findings(saying({{"role", "assistant"}, {"audio", {{"id", "audio_1"}}}})) == "");
  CHECK(wire.refused(saying({{"role", "assistant"}, {"content", nullptr}, {"refusal", nullptr}})) ==
        R"(invalid_type at "messages[1].content")");
  CHECK(wire.refused(saying({{"role", "user"}, {"content", nullptr}, {"refusal", "no"}})) ==
        R"(invalid_type at "messages[1].content")");
}

// OpenAI's openapi.yaml, ChatCompletionRequestFunctionMessage: deprecated, and its content may be null.
TEST_CASE("a conversation from before there were tools keeps its messages of role function") {
  const Json call = {
      {"role", "assistant"}, {"content", nullptr}, {"function_call", {{"name", "f"}, {"arguments", "{}"}}}};
  const auto answered = [&call](const Json& content) {
    return Json{{"messages", {call, {{"role", "function"}, {"name", "f"}, {"content", content}}}},
                {"functions", {{{"name", "f"}}}}};
  };
  const std::vector<Options> services = {Options{}, Options{}.enforce(Profile::openai),
                                         Options{}.acceptance(Acceptance::strict())};
  for (Options options : services) {
    const Wire wire{options.profile(Profile::openai)};
    CHECK(wire.findings(answered("21")) == "");
    CHECK(wire.findings(answered(nullptr)) == "");
    CHECK(wire.understood(answered("21")).messages[1].role == "function");
  }
  CHECK(Wire{Options{}.profile(Profile::documented)}.http.chat(answered("21")).status == 400);
  CHECK(Wire{Options{}.profile(Profile::dashscope)}.http.chat(answered("21")).status == 400);
}

TEST_CASE("an explicit Acceptance overrides that of the openai profile") {
  const auto with = [](const Acceptance& acceptance) {
    return Options{}.profile(Profile::openai).acceptance(acceptance);
  };
  const Json developer = saying({{"role", "developer"}, {"content", "Be brief."}});
  const Wire by_default{with(Acceptance())};
  CHECK(by_default.refused(developer) == R"(invalid_value at "messages[1].role")");
  CHECK(by_default.refused({{"tools", {shell}}}) == R"(invalid_value at "tools[0].type")");
  CHECK(by_default.findings({{"max_completion_tokens", 1}}) ==
        "unknown_field: max_completion_tokens: not a documented field; use max_tokens instead.");
  CHECK(by_default.findings({{"user", "u"}}) ==
        "");  // accepted because unknown fields are, and no finding because OpenAI documents it
  const Wire strict{with(Acceptance::strict())};
  CHECK(strict.refused({{"top_k", 5}}) == R"(unknown_parameter at "top_k")");
  CHECK(strict.findings({{"user", "u"}, {"stop", "x"}}) == "");  // accepted because OpenAI documents these fields
  const Wire lenient{with(Acceptance::lenient())};
  CHECK(lenient.understood(developer).messages.size() == 2);
  CHECK(lenient.findings({{"max_completion_tokens", 1}, {"max_tokens", 2}}).find("max_tokens_twice: ") == 0);
  Acceptance without_developers = Acceptance::openai();
  without_developers = without_developers.with(Extension::developer_role, false);
  const Wire changed{with(without_developers)};
  CHECK(changed.refused(developer) == R"(invalid_value at "messages[1].role")");
  CHECK(changed.understood({{"max_completion_tokens", 1}}).max_tokens == 1);
  // The order of the two settings does not matter.
  const Wire reversed{Options{}.acceptance(Acceptance()).profile(Profile::openai)};
  CHECK(reversed.refused(developer) == R"(invalid_value at "messages[1].role")");
}

TEST_CASE("other profiles do not accept OpenAI's fields") {
  for (const Profile profile : {Profile::documented, Profile::dashscope, Profile::deepseek}) {
    CAPTURE(profile);
    const Wire wire{Options{}.profile(profile)};
    CHECK(wire.http.chat(saying({{"role", "developer"}, {"content", "Be brief."}})).status == 400);
    CHECK(wire.http.chat({{"tools", {shell}}}).status == 400);
    CHECK(wire.findings({{"stop", "x"}}).substr(0, 15) == "stop_as_string:");
  }
}

TEST_CASE("each profile is found by its name, and an unknown name lists all") {
  std::string list;
  for (const std::string& name : profile_names()) {
    CHECK(to_string(profile_named(name)) == name);
    if (!list.empty()) list += name == profile_names().back() ? " or " : ", ";
    list += name;
  }
  CHECK(list.substr(0, 29) == "documented, openai, dashscope");
  CHECK(profile_named("dashscope") == Profile::dashscope);
  const std::string message = "mock_gateway: no profile is named \"nobody's\"; use " + list;
  CHECK_THROWS_WITH_AS(profile_named("nobody's"), message.c_str(), GatewayError);
}

TEST_CASE("the time until a limit resets is printed in hours, minutes and seconds, and is never rounded down") {
  const std::vector<std::pair<Duration, std::string>> times = {{1ns, "1ms"},
                                                               {6ms, "6ms"},
                                                               {999'000'001ns, "1s"},
                                                               {8640ms, "8.64s"},
                                                               {8'640'000'001ns, "8.641s"},
                                                               {59'999'000'000ns, "59.999s"},
                                                               {59'999'600'000ns, "1m0s"},
                                                               {60s, "1m0s"},
                                                               {60'000'000'001ns, "1m1s"},
                                                               {6min, "6m0s"},
                                                               {3599s, "59m59s"},
                                                               {3'599'500ms, "1h0m0s"},
                                                               {1h, "1h0m0s"},
                                                               {3'600'001ms, "1h0m1s"},
                                                               {7199s, "1h59m59s"},
                                                               {3599h, "3599h0m0s"},
                                                               {25h + 61s, "25h1m1s"}};
  for (const auto& [window, text] : times) {
    const auto& text_shown = text;  // a lambda in C++17 cannot name a structured binding
    CAPTURE(text_shown);
    const Gateway gateway{Options{}.profile(Profile::openai).clock(ManualClock{}).limit(1, window)};
    CHECK(Http(gateway).get("/v1/models").header("x-ratelimit-reset-requests") == text);
  }
}

}  // namespace openai_profile_test
