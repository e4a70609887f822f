// The form of replies, plain and streamed and in every profile, and the request fields that change replies.
// default_reply_test.cpp tests replies without a script, tokens_test.cpp the conversion of text to tokens.

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/scripted.hpp"

namespace completion_test {

using namespace mock_gateway;
using test_support::all_profiles;
using test_support::Http;
using test_support::merged;
using test_support::pieces;
using test_support::Response;
using test_support::weather_function;
using test_support::with_usage;

/// Replaces every JSON string that begins with `start` by `name`. Used for generated values in a golden.
inline std::string with_names(std::string text, const std::string& start, const std::string& name) {
  std::size_t found = 0;
  while ((found = text.find('"' + start, found)) != std::string::npos) {
    text.replace(found + 1, text.find('"', found + 1) - found - 1, name);
    ++found;
  }
  return text;
}

inline std::string golden(const std::string& text) {
  return with_names(with_names(with_names(text, "chatcmpl-", "ID"), "call_", "CALL"), "fp_", "FP");
}

inline std::vector<std::size_t> choice_order(const Response& response) {
  std::vector<std::size_t> order;
  for (const Json& event : response.json_events()) {
    for (const Json& choice : event["choices"]) order.push_back(choice["index"].get<std::size_t>());
  }
  return order;
}

TEST_CASE("a streamed reply joins to the plain reply in every profile") {
  const std::pair<const char*, Reply> replies[] = {
      {"text", text("one two, \"three\"\n\t Zürich 東京 \\ end ")},
      {"empty text", text("")},
      {"thinking", thinking("Let me see. 42?").text("It is 42.")},
      {"nothing but thinking", thinking("Let me see.")},
      {"refusal", refusal("I cannot help with that.")},
      {"one tool call", tool_call("get_weather", {{"city", "Zürich, \"東京\""}, {"days", 3}})},
      {"text, thinking and tool calls",
       thinking("Two calls.").text("One moment.").tool_call("a", Json::object()).tool_call("b", {{"list", {1, 2, 3}}})},
      {"JSON", json_text({{"city", "Paris"}, {"days", {1, 2}}})},
      {"different choices",
       choices(text("yes, it is"), tool_call("f", {{"q", "x y z"}}), text("no").finish_reason("content_filter"))},
  };
  for (const Profile profile : all_profiles) {
    Gateway gateway(Options{}.profile(profile));
    const Http http = Http(gateway).keep_alive();
    for (const auto& scripted : replies) {
      const char* const name = scripted.first;
      gateway.chat().reply(scripted.second);
      for (const std::size_t n : {std::size_t{1}, std::size_t{3}}) {
        for (const Json& limit : {Json::object(), Json{{"max_tokens", 4}}, Json{{"stop", {"two, \"th", "is"}}}}) {
          CAPTURE(profile);
          CAPTURE(name);
          CAPTURE(n);
          CAPTURE(limit.dump());
          const Json fields = merged(limit, {{"n", n}});
          const Response plain = http.chat(fields);
          const Response stream = http.stream(fields);
          const Response counted = http.stream(merged(fields, with_usage));
          REQUIRE(plain.status == 200);
          REQUIRE(stream.status == 200);
          CHECK(stream.done());
          CHECK(counted.done());
          REQUIRE(plain.json()["choices"].size() == n);
          for (std::size_t choice = 0; choice < n; ++choice) {
            CHECK(stream.joined_message(choice) == plain.message(choice));
            CHECK(counted.joined_message(choice) == plain.message(choice));
            CHECK(stream.finish_reason(choice) == plain.finish_reason(choice));
          }
          CHECK(stream.usage() == nullptr);
          CHECK(counted.usage() == plain.usage());
        }
      }
    }
  }
}

TEST_CASE("a stream of ten thousand tokens arrives completely") {
  std::string long_text = "0";
  for (int number = 1; number < 10'000; ++number) long_text += ' ' + std::to_string(number);
  Gateway gateway;
  gateway.chat().reply(long_text);
  const Response stream = Http(gateway).stream();
  CHECK(stream.joined_text() == long_text);
  CHECK(stream.json_events().size() == 10'002);  // includes the chunks with the role and the finish_reason
}

TEST_CASE("a plain reply has the keys of the profile, in the profile's order") {
  const auto body = [](Profile profile) {
    Gateway gateway(Options{}.profile(profile).clock(ManualClock()));
    gateway.chat().reply(thinking("Hm.").text("Hi.").tool_call("f", {{"a", 1}}));
    return golden(Http(gateway).chat().body);
  };
  const std::string head =
      R"({"id":"ID","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,)"
      R"("message":{"role":"assistant","content":"Hi.","reasoning_content":"Hm.",)"
      R"("tool_calls":[{"id":"CALL","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}])";
  const std::string usage = R"("usage":{"prompt_tokens":4,"completion_tokens":7,"total_tokens":11,)";
  const std::string reasoning = R"("completion_tokens_details":{"reasoning_tokens":1})";
  CHECK(body(Profile::documented) == head + R"(},"finish_reason":"tool_calls"}],)" + usage + reasoning + "}}");
  CHECK(body(Profile::openai) == head + R"(,"refusal":null},"logprobs":null,"finish_reason":"tool_calls"}],)" + usage +
                                     R"("prompt_tokens_details":{"cached_tokens":0},)" + reasoning +
                                     R"(},"system_fingerprint":"FP"})");
  CHECK(body(Profile::dashscope) == head + R"(},"logprobs":null,"finish_reason":"tool_calls"}],)" + usage + reasoning +
                                        R"(},"system_fingerprint":null})");
  CHECK(body(Profile::deepseek) == head + R"(},"logprobs":null,"finish_reason":"tool_calls"}],)" + usage + reasoning +
                                       R"(,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":4},)"
                                       R"("system_fingerprint":"FP"})");
}

TEST_CASE("a plain reply with only text has exactly the documented keys") {
  Gateway gateway(Options{}.clock(ManualClock()));
  gateway.chat().reply("Hello there.");
  CHECK(golden(Http(gateway).chat().body) ==
        R"({"id":"ID","object":"chat.completion","created":1704067200,"model":"mock-model","choices":[{"index":0,)"
        R"("message":{"role":"assistant","content":"Hello there."},"finish_reason":"stop"}],)"
        R"("usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6}})");
}

TEST_CASE("a reply with only a tool call has null content") {
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    Gateway gateway(Options{}.profile(profile));
    gateway.chat().reply(tool_call("f"));
    const Json choice = Http(gateway).chat().json()["choices"][0];
    CHECK(choice["message"]["content"] == nullptr);
    CHECK(choice["finish_reason"] == "tool_calls");
  }
}

TEST_CASE("a complete stream has the bytes of the profile") {
  const auto stream = [](Profile profile) {
    Gateway gateway(Options{}.profile(profile).clock(ManualClock()));
    gateway.chat().reply(thinking("Hm.").text("Hi, you.").tool_call("f", {{"a", 1}}));
    return golden(Http(gateway).stream(with_usage).body);
  };
  // The parts of a profile's events: the envelope, the delta, the fields after the delta, and usage.
  struct Shape {
    std::string after_model;
    std::string before_finish;
  };
  const auto event = [](const Shape& shape, const std::string& delta, const std::string& finish = "null",
                        const std::string& usage = "null") {
    return R"(data: {"id":"ID","object":"chat.completion.chunk","created":1704067200,"model":"mock-model")" +
           shape.after_model + R"(,"choices":[{"index":0,"delta":)" + delta + shape.before_finish +
           R"(,"finish_reason":)" + finish + R"(}],"usage":)" + usage + "}\n\n";
  };
  const auto usage_event = [](const Shape& shape, const std::string& usage) {
    return R"(data: {"id":"ID","object":"chat.completion.chunk","created":1704067200,"model":"mock-model")" +
           shape.after_model + R"(,"choices":[],"usage":)" + usage + "}\n\n";
  };
  const auto call_events = [&](const Shape& shape) {
    std::string events = event(
        shape, R"({"tool_calls":[{"index":0,"id":"CALL","type":"function","function":{"name":"f","arguments":""}}]})");
    for (const char* fragment : {R"({\")", "a", R"(\":)", "1", "}"}) {
      events +=
          event(shape, std::string(R"({"tool_calls":[{"index":0,"function":{"arguments":")") + fragment + R"("}}]})");
    }
    return events;
  };
  const std::string done = "data: [DONE]\n\n";
  const std::string counts = R"({"prompt_tokens":4,"completion_tokens":8,"total_tokens":12,)";
  const std::string reasoning = R"("completion_tokens_details":{"reasoning_tokens":1})";

  SUBCASE("documented") {
    const Shape shape{"", ""};
    CHECK(stream(Profile::documented) ==
          event(shape, R"({"role":"assistant","content":""})") + event(shape, R"({"reasoning_content":"Hm."})") +
              event(shape, R"({"content":"Hi,"})") + event(shape, R"({"content":" you."})") + call_events(shape) +
              event(shape, "{}", "\"tool_calls\"") + usage_event(shape, counts + reasoning + "}") + done);
  }
  SUBCASE("openai") {
    const Shape shape{R"(,"system_fingerprint":"FP")", R"(,"logprobs":null)"};
    CHECK(stream(Profile::openai) ==
          event(shape, R"({"role":"assistant","content":"","refusal":null})") +
              event(shape, R"({"reasoning_content":"Hm."})") + event(shape, R"({"content":"Hi,"})") +
              event(shape, R"({"content":" you."})") + call_events(shape) + event(shape, "{}", "\"tool_calls\"") +
              usage_event(shape, counts + R"("prompt_tokens_details":{"cached_tokens":0},)" + reasoning + "}") + done);
  }
  SUBCASE("dashscope") {
    const Shape shape{R"(,"system_fingerprint":null)", R"(,"logprobs":null)"};
    CHECK(stream(Profile::dashscope) == event(shape, R"({"content":null,"role":"assistant","reasoning_content":""})") +
                                            event(shape, R"({"content":null,"reasoning_content":"Hm."})") +
                                            event(shape, R"({"content":"Hi,"})") +
                                            event(shape, R"({"content":" you."})") + call_events(shape) +
                                            event(shape, R"({"content":""})", "\"tool_calls\"") +
                                            usage_event(shape, counts + reasoning + "}") + done);
  }
  SUBCASE("deepseek") {
    const Shape shape{R"(,"system_fingerprint":"FP")", R"(,"logprobs":null)"};
    CHECK(stream(Profile::deepseek) ==
          event(shape, R"({"role":"assistant","content":null,"reasoning_content":""})") +
              event(shape, R"({"content":null,"reasoning_content":"Hm."})") +
              event(shape, R"({"content":"Hi,","reasoning_content":null})") +
              event(shape, R"({"content":" you.","reasoning_content":null})") + call_events(shape) +
              event(shape, R"({"content":""})", "\"tool_calls\"",
                    counts + reasoning + R"(,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":4})") +
              done);
  }
}

TEST_CASE("no chunk has usage unless the request includes it") {
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    Gateway gateway(Options{}.profile(profile));
    gateway.chat().reply("one two");
    for (const Json& event : Http(gateway).stream().json_events()) CHECK_FALSE(event.contains("usage"));

    const std::vector<Json> events = Http(gateway).stream(merged({{"n", 2}}, with_usage)).json_events();
    for (std::size_t index = 0; index + 1 < events.size(); ++index) CHECK(events[index].at("usage") == nullptr);
    CHECK(events.back().at("usage").at("total_tokens") == 4 + 2 * 2);
    CHECK(events.back()["choices"].size() == (profile == Profile::deepseek ? 1u : 0u));
  }
}

TEST_CASE("a request with n gets n choices, streamed in turn and finished at the end") {
  Gateway gateway;
  gateway.chat().reply(choices(text("a b c"), text("d")));
  CHECK(Http(gateway).chat().json()["choices"].size() == 1);
  const Response plain = Http(gateway).chat({{"n", 3}});
  CHECK(plain.text(0) == "a b c");
  CHECK(plain.text(1) == "d");
  CHECK(plain.text(2) == "a b c");  // the scripted replies repeat
  CHECK(plain.usage()["completion_tokens"] == 7);

  const Response stream = Http(gateway).stream({{"n", 2}});
  CHECK(choice_order(stream) == std::vector<std::size_t>{0, 1, 0, 1, 0, 0, 0, 1});
  const std::vector<Json> events = stream.json_events();
  for (std::size_t index = 0; index < events.size(); ++index) {
    CHECK(events[index]["choices"][0]["finish_reason"].is_null() == (index + 2 < events.size()));
    CHECK(events[index]["id"] == events[0]["id"]);
    CHECK(events[index]["created"] == events[0]["created"]);
  }
}

TEST_CASE("a tool call repeated for another choice has its own id") {
  Gateway gateway;
  gateway.chat().reply(tool_call("f").tool_call("g", {{"a", 1}}));
  std::set<std::string> ids;
  const Response response = Http(gateway).chat({{"n", 3}});
  for (std::size_t choice = 0; choice < 3; ++choice) {
    const Json message = response.message(choice);
    for (const Json& call : message.at("tool_calls")) {
      const std::string id = call["id"];
      CHECK(id.size() == 29);
      CHECK(id.compare(0, 5, "call_") == 0);
      CHECK(std::all_of(id.begin() + 5, id.end(), [](unsigned char c) { return std::isalnum(c) != 0; }));
      ids.insert(id);
    }
  }
  CHECK(ids.size() == 6);
}

TEST_CASE("several choices may have different endings") {
  Gateway gateway;
  gateway.chat().reply(choices(text("yes"), text("no").finish_reason("length")));
  const Response stream = Http(gateway).stream({{"n", 2}});
  CHECK(stream.finish_reason(0) == "stop");
  CHECK(stream.finish_reason(1) == "length");
}

TEST_CASE("max_tokens truncates each choice with finish_reason length") {
  Gateway gateway;
  const Http http(gateway);
  SUBCASE("text") {
    gateway.chat().reply("one two three four");
    const Response cut = http.chat({{"max_tokens", 2}, {"n", 2}});
    for (const std::size_t choice : {std::size_t{0}, std::size_t{1}}) {
      CHECK(cut.text(choice) == "one two");
      CHECK(cut.finish_reason(choice) == "length");
    }
    CHECK(cut.usage()["completion_tokens"] == 4);
    CHECK(http.chat({{"max_tokens", 4}}).text() == "one two three four");
    CHECK(http.chat({{"max_tokens", 4}}).finish_reason() == "length");  // as from real servers at exactly the limit
    CHECK(http.chat({{"max_tokens", 5}}).finish_reason() == "stop");
  }
  SUBCASE("reasoning counts") {
    gateway.chat().reply(thinking("one two three").text("four five"));
    const Response cut = http.chat({{"max_tokens", 4}});
    CHECK(cut.message()["reasoning_content"] == "one two three");
    CHECK(cut.text() == "four");
    const Response all_thought = http.chat({{"max_tokens", 2}});
    CHECK(all_thought.message()["reasoning_content"] == "one two");
    CHECK(all_thought.json()["choices"][0]["message"]["content"] == "");
    CHECK(all_thought.usage()["completion_tokens_details"]["reasoning_tokens"] == 2);
  }
  SUBCASE("tool arguments are cut at token ends, and later calls are dropped") {
    gateway.chat().reply(tool_call("f", {{"city", "New York"}}).tool_call("g", {{"a", 1}}));
    const Response cut = http.chat({{"max_tokens", 4}});
    REQUIRE(cut.message()["tool_calls"].size() == 1);
    CHECK(cut.message()["tool_calls"][0]["function"]["arguments"] == R"({"city":"New)");
    CHECK(cut.finish_reason() == "length");
  }
  SUBCASE("a verbatim reply is not truncated") {
    gateway.chat().reply(text("one two three").verbatim());
    const Response whole = http.chat({{"max_tokens", 1}, {"stop", {"two"}}});
    CHECK(whole.text() == "one two three");
    CHECK(whole.finish_reason() == "stop");
  }
  SUBCASE("the default reply is truncated too") {
    CHECK(Http(gateway).chat({{"max_tokens", 3}}).usage()["completion_tokens"] == 3);
    CHECK(http.chat({{"max_tokens", 3}}).finish_reason() == "length");
  }
}

TEST_CASE("text ends before the earliest stop sequence, which is never sent") {
  Gateway gateway;
  const Http http(gateway);
  gateway.chat().reply(thinking("first two, then three").text("one two, three four"));
  const auto both = [&](const Json& stop) {
    const Response plain = http.chat({{"stop", stop}});
    const Response stream = http.stream({{"stop", stop}});
    CHECK(stream.joined_message() == plain.message());
    CHECK(plain.message()["reasoning_content"] == "first two, then three");
    CHECK(plain.finish_reason() == "stop");
    CHECK(stream.finish_reason() == "stop");
    return plain.text();
  };
  CHECK(both(Json::array({"two"})) == "one ");
  CHECK(both(Json::array({"wo, th"})) == "one t");  // begins inside a token and ends in the next
  CHECK(both(Json::array({"four", "three"})) == "one two, ");
  CHECK(both(Json::array({"two", "three", "four"})) == "one ");  // the order of the list does not matter
  CHECK(both(Json::array({"one"})) == "");
  CHECK(both(Json::array({"nowhere"})) == "one two, three four");
  CHECK(both(Json("three")) == "one two, ");
  CHECK(http.chat({{"stop", {"three"}}}).usage()["completion_tokens"] == 4 + 3);  // "one", " two,", " "

  // A stop sequence after max_tokens does not count.
  const Response short_reply = http.chat({{"stop", {"two, three"}}, {"max_tokens", 4 + 2}});
  CHECK(short_reply.text() == "one two,");
  CHECK(short_reply.finish_reason() == "length");
}

TEST_CASE("a stop sequence within the last tokens that max_tokens allows ends the reply normally") {
  struct Row {
    std::string stop;
    int max_tokens;
    std::string text;
    std::string finish_reason;
  };
  const Row rows[] = {
      {"two", 2, "one ", "stop"},
      {"two", 3, "one ", "stop"},
      {"one", 1, "", "stop"},
      {"two", 1, "one", "length"},
      {"four", 4, "one two three ", "stop"},
      {"four", 3, "one two three", "length"},
      {"never", 4, "one two three four", "length"},
      {"never", 5, "one two three four", "stop"},
  };
  for (const Profile profile : all_profiles) {
    for (const Reply& reply : {text("one two three four"), refusal("one two three four")}) {
      Gateway gateway{Options{}.profile(profile)};
      gateway.chat().reply(reply);
      const Http http(gateway);
      for (const Row& row : rows) {
        CAPTURE(profile);
        CAPTURE(row.stop);
        CAPTURE(row.max_tokens);
        const Json limits = {{"stop", {row.stop}}, {"max_tokens", row.max_tokens}};
        const Response plain = http.chat(limits);
        const Json message = plain.message();
        CHECK(message["content"].get<std::string>() + message.value("refusal", "") == row.text);
        CHECK(plain.finish_reason() == row.finish_reason);
        const Response stream = http.stream(limits);
        CHECK(stream.joined_message() == message);
        CHECK(stream.finish_reason() == row.finish_reason);
      }
    }
  }
}

TEST_CASE("a stop sequence ends text before tool calls, and is not searched in arguments") {
  Gateway gateway;
  gateway.chat().reply(text("one two").tool_call("f", {{"word", "three"}}));
  const Response untouched = Http(gateway).chat({{"stop", {"three"}}});
  CHECK(untouched.message()["tool_calls"][0]["function"]["arguments"] == R"({"word":"three"})");
  CHECK(untouched.finish_reason() == "tool_calls");
  const Response ended = Http(gateway).chat({{"stop", {"two"}}});
  CHECK(ended.text() == "one ");
  CHECK_FALSE(ended.message().contains("tool_calls"));
  CHECK(ended.finish_reason() == "stop");
}

TEST_CASE("enable_thinking puts reasoning before the content") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  CHECK_FALSE(http.chat().message().contains("reasoning_content"));
  CHECK_FALSE(http.chat({{"enable_thinking", false}}).message().contains("reasoning_content"));

  const Json variants[] = {{{"enable_thinking", true}},
                           {{"enable_thinking", true}, {"response_format", {{"type", "json_object"}}}},
                           {{"enable_thinking", true}, {"tools", {weather_function()}}, {"tool_choice", "required"}}};
  for (const Json& fields : variants) {
    CAPTURE(fields.dump());
    const Response plain = http.chat(fields);
    const Json message = plain.message();
    CHECK(message["reasoning_content"].get<std::string>().size() > 10);
    CHECK((message["content"] != "" || message.contains("tool_calls")));
    const Response stream = http.stream(merged(fields, with_usage));
    CHECK(stream.joined_message() == message);
    CHECK(stream.usage()["completion_tokens_details"]["reasoning_tokens"] ==
          pieces(stream, "reasoning_content").size());
    bool content_began = false;
    for (const Json& delta : stream.deltas()) {
      content_began = content_began || (delta.value("content", Json()).is_string() && delta["content"] != "") ||
                      delta.contains("tool_calls");
      CHECK_FALSE((content_began && delta.contains("reasoning_content")));
    }
  }
}

TEST_CASE("usage counts sent and prompt tokens") {
  Gateway gateway;
  const Http http = Http(gateway).keep_alive();
  gateway.chat().reply(thinking("one two").text("three four five").tool_call("f", {{"a", 1}}));
  const Response stream = http.stream(merged({{"n", 2}}, with_usage));
  const Json usage = stream.usage();
  std::size_t sent = 0;
  for (const std::size_t choice : {std::size_t{0}, std::size_t{1}}) {
    sent += pieces(stream, "content", choice).size() + pieces(stream, "reasoning_content", choice).size();
    for (const Json& delta : stream.deltas(choice)) {
      if (delta.contains("tool_calls") && delta["tool_calls"][0]["function"]["arguments"] != "") ++sent;
    }
  }
  CHECK(usage["completion_tokens"] == sent);
  CHECK(gateway.journal().last().tokens_sent() == sent);
  CHECK(usage["completion_tokens_details"]["reasoning_tokens"] == 4);
  CHECK(usage["total_tokens"] ==
        usage["prompt_tokens"].get<std::size_t>() + usage["completion_tokens"].get<std::size_t>());

  const auto prompt = [&](const Json& fields) { return http.chat(fields).usage()["prompt_tokens"].get<std::size_t>(); };
  const std::size_t base = prompt({});
  CHECK(prompt("Hi there") == base + 1);
  CHECK(prompt({{"messages", {{{"role", "user"}, {"content", {{{"type", "text"}, {"text", "Hi there"}}}}}}}}) ==
        base + 1);
  CHECK(prompt({{"tools", {weather_function()}}}) > base);
  CHECK(prompt({{"tools", Json::array()}}) == base);
  const Json named = {{"role", "user"}, {"name", "Bob Ross"}, {"content", "Hi"}};
  CHECK(prompt({{"messages", Json::array({named})}}) == base + 2);
  // Tool calls of the assistant count as prompt tokens, including their arguments.
  const auto after_call = [&](const char* arguments) {
    const Json call = {{"id", "c"}, {"type", "function"}, {"function", {{"name", "f"}, {"arguments", arguments}}}};
    return prompt({{"messages",
                    {{{"role", "user"}, {"content", "Hi"}},
                     {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", {call}}},
                     {{"role", "tool"}, {"tool_call_id", "c"}, {"content", "21"}}}}});
  };
  CHECK(after_call("one two three") == after_call("one") + 2);
  CHECK(
      prompt({{"messages", {{{"role", "system"}, {"content", "Be brief."}}, {{"role", "user"}, {"content", "Hi"}}}}}) ==
      base + 5);
}

TEST_CASE("a refusal has its own field in the openai profile, and is content in other profiles") {
  for (const Profile profile : all_profiles) {
    CAPTURE(profile);
    Gateway gateway(Options{}.profile(profile));
    gateway.chat().reply(refusal("I will not."));
    const Json message = Http(gateway).chat().json()["choices"][0]["message"];
    if (profile == Profile::openai) {
      CHECK(message["content"] == nullptr);
      CHECK(message["refusal"] == "I will not.");
    } else {
      CHECK(message["content"] == "I will not.");
      CHECK_FALSE(message.contains("refusal"));
    }
  }
}

TEST_CASE("a reply may claim another model and another finish_reason") {
  Gateway gateway;
  gateway.chat().reply(text("Hi").model("mock-model-2024").finish_reason("content_filter"));
  const Response plain = Http(gateway).chat();
  CHECK(plain.json()["model"] == "mock-model-2024");
  CHECK(plain.finish_reason() == "content_filter");
  const Response stream = Http(gateway).stream();
  CHECK(stream.json_events()[0]["model"] == "mock-model-2024");
  CHECK(stream.finish_reason() == "content_filter");
}

TEST_CASE("errors have the keys of the profile, in the profile's order") {
  const auto bodies = [](Profile profile) {
    Gateway gateway(Options{}.profile(profile));
    const Http http(gateway);
    std::vector<std::string> result{http.without_key().chat().body};
    for (const Failure& failure :
         {forbidden(), failure(400, "bad", "Bad \"input\"").param("messages[0]"), failure(500, "broken", "Broken"),
          failure(429, "rate_limit_exceeded", "Slow down").type("tokens")}) {
      gateway.fail_next(failure);
      result.push_back(http.chat().body);
    }
    return result;
  };
  CHECK(bodies(Profile::documented) ==
        std::vector<std::string>{
            R"({"error":{"code":"unauthorized","message":"unauthorized","type":"error"}})",
            R"({"error":{"code":"unauthorized","message":"unauthorized","type":"error"}})",
            R"({"error":{"code":"bad","message":"Bad \"input\"","type":"error"}})",
            R"({"error":{"code":"broken","message":"Broken","type":"error"}})",
            R"({"error":{"code":"rate_limit_exceeded","message":"Slow down","type":"tokens"}})",
        });
  CHECK(
      bodies(Profile::openai) ==
      std::vector<std::string>{
          R"({"error":{"message":"Incorrect API key provided: ****. You can find your API key at https://platform.openai.com/account/api-keys.",)"
          R"("type":"invalid_request_error","param":null,)"
          R"("code":"invalid_api_key"}})",
          R"({"error":{"code":"unsupported_country_region_territory",)"
          R"("message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}})",
          R"({"error":{"message":"Bad \"input\"","type":"invalid_request_error","param":"messages[0]",)"
          R"("code":"bad"}})",
          R"({"error":{"message":"Broken","type":"server_error","param":null,"code":"broken"}})",
          R"({"error":{"message":"Slow down","type":"tokens","param":null,"code":"rate_limit_exceeded"}})",
      });
}

TEST_CASE("a failure that a test defines has OpenAI's type for its status, and OpenAI's code if there is one") {
  Gateway gateway(Options{}.profile(Profile::openai));
  const Http http(gateway);
  const auto error = [&](const Failure& failure) {
    gateway.fail_next(failure);
    const Json all = http.chat().json()["error"];
    return all["type"].get<std::string>() + " " + all["code"].get<std::string>() + " " + all["message"].dump();
  };
  CHECK(error(failure(400, "a", "b")) == R"(invalid_request_error a "b")");
  CHECK(error(failure(428, "a", "b")) == R"(invalid_request_error a "b")");
  CHECK(error(failure(429, "a", "b")) == R"(requests a "b")");
  CHECK(error(failure(430, "a", "b")) == R"(invalid_request_error a "b")");
  CHECK(error(failure(499, "a", "b")) == R"(invalid_request_error a "b")");
  CHECK(error(failure(500, "a", "b")) == R"(server_error a "b")");
  CHECK(error(failure(501, "a", "b")) == R"(server_error a "b")");
  CHECK(error(failure(404, "unknown_path", "b")) == R"(invalid_request_error unknown_url "b")");
  const auto below = failure(400, "value_below_minimum", "b");
  const auto above = failure(400, "value_above_maximum", "b");
  CHECK(error(below) == R"(invalid_request_error value_below_minimum "b")");
  CHECK(error(above) == R"(invalid_request_error value_above_maximum "b")");
  CHECK(error(failure(400, "a", "b").param("n")) == R"(invalid_request_error a "b")");
  for (const char* const integer : {"n", "max_tokens", "max_completion_tokens", "seed", "top_logprobs"}) {
    CHECK(error(below.param(integer)) == R"(invalid_request_error integer_below_min_value "b")");
    CHECK(error(above.param(integer)) == R"(invalid_request_error integer_above_max_value "b")");
  }
  for (const char* const decimal : {"temperature", "top_p", "presence_penalty", "anything"}) {
    CHECK(error(below.param(decimal)) == R"(invalid_request_error decimal_below_min_value "b")");
    CHECK(error(above.param(decimal)) == R"(invalid_request_error decimal_above_max_value "b")");
  }
  // Only this profile has OpenAI's texts for 401 and 403.
  const std::string documented = R"( unauthorized "unauthorized")";
  CHECK(
      error(failure(401, "unauthorized", "unauthorized")) ==
      R"(invalid_request_error invalid_api_key "Incorrect API key provided: ****. You can find your API key at https://platform.openai.com/account/api-keys.")");
  CHECK(error(failure(403, "unauthorized", "unauthorized")) ==
        "request_forbidden unsupported_country_region_territory "
        R"("Country, region, or territory not supported")");
  CHECK(error(failure(402, "unauthorized", "unauthorized")) == "invalid_request_error" + documented);
  CHECK(error(failure(500, "unauthorized", "unauthorized")) == "server_error" + documented);
  CHECK(error(failure(401, "unauthorized", "no")) == R"(invalid_request_error unauthorized "no")");
  CHECK(error(failure(401, "no", "unauthorized")) == R"(invalid_request_error no "unauthorized")");
  CHECK(error(failure(500, "a", "b").type("error")) == R"(server_error a "b")");
}

TEST_CASE("the openai profile uses OpenAI's codes for numbers out of range") {
  Gateway gateway(Options{}.profile(Profile::openai));
  const auto code = [&](const Json& fields) { return Http(gateway).chat(fields).error_code(); };
  CHECK(code({{"max_tokens", 0}}) == "integer_below_min_value");
  CHECK(code({{"n", 1000}}) == "integer_above_max_value");
  CHECK(code({{"temperature", 2.5}}) == "decimal_above_max_value");
  CHECK(code({{"presence_penalty", -2.5}}) == "decimal_below_min_value");
  CHECK(code({{"n", 0}}) == "integer_below_min_value");
  CHECK(code({{"max_completion_tokens", 0}}) == "integer_below_min_value");
  CHECK(code({{"logprobs", true}, {"top_logprobs", 21}}) == "integer_above_max_value");
  CHECK(code({{"logprobs", true}, {"top_logprobs", -1}}) == "integer_below_min_value");
  CHECK(code({{"top_p", 1.5}}) == "decimal_above_max_value");
  CHECK(code({{"top_p", -1}}) == "decimal_below_min_value");
}

}  // namespace completion_test
