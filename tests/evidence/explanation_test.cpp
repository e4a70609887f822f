// Explanations of the control API: which stub would answer a request, or why no stub would.

#include <string>

#include "mock_gateway.hpp"
#include "program/internal.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"

namespace explanation_test {

using namespace mock_gateway;
using test_support::chat_body;
using test_support::has_part;
using test_support::Http;
using test_support::Response;

std::string text_of(const Json& explanation) { return explanation["message"]; }

/// A gateway with some stubs. It explains requests that no client sends.
class ExplainingGateway {
 public:
  ExplainingGateway() : gateway_(Options{}.model("mock-model").model("deep").verify_on_destruction(false)) {
    key_ = gateway_.keys().create("mine", KeyOptions().models({"mock-model"}));
    gateway_.chat().named("weather").when(user_says("weather"), has_tool("get_weather")).reply("sunny");
    gateway_.chat().named("once").when(user_says("once")).times(1).reply("one");
    gateway_.chat().named("done").when(user_says("over")).reply("a", then_nothing_more());
    gateway_.chat().named("never").when(user_says("never")).never();
    gateway_.chat().named("state").when(user_says("state")).in_state("m", "moved").reply("state");
    gateway_.chat().named("own").when(key_is("mine"), user_says("mine")).reply("own");
  }

  Json explain(const Json& extra, bool with_key = false) {
    const std::string body =
        extra.is_object() && extra.contains("raw") ? extra["raw"].get<std::string>() : chat_body(extra).dump();
    const ApiKey key = gateway_.keys().find(with_key ? key_.id : gateway_.keys().list().front().id);
    return internal::Inside(gateway_).explain(body, key);
  }
  Gateway& gateway() { return gateway_; }

 private:
  Gateway gateway_;
  CreatedKey key_;
};

TEST_CASE("explaining a request changes nothing in the gateway") {
  ExplainingGateway explaining;
  const Json once = explaining.explain("once");
  CHECK(once["decision"] == "stub");
  CHECK(once["stub"]["name"] == "once");
  CHECK(explaining.explain("once")["decision"] == "stub");
  CHECK(explaining.gateway().journal().count() == 0);

  CHECK(Http(explaining.gateway()).ask("once") == "one");
  const Json again = explaining.explain("once");
  CHECK(again["decision"] == "unmatched");
  CHECK(again["stub"].is_null());
  REQUIRE_FALSE(again["near_misses"].empty());
  CHECK(has_part(text_of(again), "exhausted after 1 call"));
}

TEST_CASE("an explanation predicts the response that a client would get") {
  ExplainingGateway explaining;
  const Json near = explaining.explain("weather?");
  CHECK(near["decision"] == "unmatched");
  CHECK(near["near_misses"][0]["stub"]["name"] == "weather");
  CHECK(has_part(text_of(near), "1 of 2"));
  const Response sent = Http(explaining.gateway()).chat("weather?");
  CHECK(has_part(sent.error_message(), text_of(near).substr(text_of(near).find("closest: "))));

  const Json never = explaining.explain("never");
  CHECK(never["decision"] == "stub");
  CHECK(has_part(text_of(never), "must never be asked"));

  CHECK(explaining.explain("state")["decision"] == "unmatched");
  explaining.gateway().set_state("m", "moved");
  CHECK(explaining.explain("state")["decision"] == "stub");

  CHECK(explaining.explain("over")["decision"] == "stub");
  CHECK(Http(explaining.gateway()).ask("over") == "a");
  const Json over = explaining.explain("over");
  CHECK(over["decision"] == "unmatched");
  CHECK(has_part(text_of(over), "nothing more after 1 call"));

  const Json broken = explaining.explain({{"temperature", "hot"}});
  CHECK(broken["decision"] == "rejected");
  CHECK(broken["message"] == Http(explaining.gateway()).chat({{"temperature", "hot"}}).error_message());
  CHECK(explaining.explain({{"raw", "{"}})["decision"] == "rejected");
  CHECK(explaining.explain({{"model", "none"}})["message"] ==
        Http(explaining.gateway()).chat({{"model", "none"}}).error_message());
}

TEST_CASE("an explanation stops at an exhausted stub, but only in the scenario states of that stub") {
  ExplainingGateway explaining;
  Gateway& gateway = explaining.gateway();
  const Http http(gateway);
  gateway.chat()
      .named("new")
      .when(user_says("two"))
      .in_state("a", "on")
      .in_state("b", "on")
      .reply("new", then_nothing_more());
  gateway.chat().named("old").when(user_says("two")).priority(-1).reply("old");
  const auto explained = [&] {
    const Json explanation = explaining.explain("two");
    return explanation["stub"].is_null() ? std::string("none") : explanation["stub"]["name"].get<std::string>();
  };
  const auto answered = [&] {
    const Response response = http.chat("two");
    return response.status == 200 ? response.text() : response.error_code();
  };
  CHECK(explained() == "old");
  CHECK(answered() == "old");
  gateway.set_state("a", "on");
  gateway.set_state("b", "on");
  CHECK(explained() == "new");
  CHECK(answered() == "new");
  CHECK(explained() == "none");
  CHECK(answered() == "no_stub_matched");
  for (const char* machine : {"a", "b"}) {
    gateway.set_state(machine, "off");
    CHECK(explained() == "old");
    CHECK(answered() == "old");
    gateway.set_state(machine, "on");
    CHECK(explained() == "none");
    CHECK(answered() == "no_stub_matched");
  }
}

TEST_CASE("an explanation masks keys in stubs and in requests") {
  ExplainingGateway explaining;
  const std::string secret = explaining.gateway().api_key();
  const std::string foreign = "sk-foreign-0123456789abcdef0123456789";
  explaining.gateway()
      .chat()
      .named("for " + secret)
      .when(user_says("weather of " + foreign), user_says(secret))
      .reply("x");
  const Json explanation = explaining.explain("weather? " + secret + " " + foreign);
  CHECK(explanation["decision"] == "unmatched");
  const std::string shown = explanation.dump();
  CHECK(has_part(shown, "for sk-***"));
  CHECK(has_part(shown, "weather of sk-***"));
  CHECK(has_part(shown, "weather? sk-*** sk-***"));
  CHECK_FALSE(has_part(shown, secret));
  CHECK_FALSE(has_part(shown, foreign));
  CHECK_FALSE(has_part(text_of(explaining.explain({{"model", secret}})), secret));
}

TEST_CASE("an explanation considers the key that would send the request") {
  ExplainingGateway explaining;
  CHECK(explaining.explain("mine", true)["decision"] == "stub");
  const Json other = explaining.explain("mine");
  CHECK(other["decision"] == "unmatched");
  for (const Json& near : other["near_misses"]) CHECK(near["stub"]["name"] != "own");
  CHECK(explaining.explain({{"model", "deep"}}, true)["decision"] == "rejected");
}

TEST_CASE("an explanation refuses a chat that exceeds its model's context window") {
  Gateway gateway{Options{}.context_window("mock-model", 10).verify_on_destruction(false)};
  gateway.chat().when(prompt_tokens_are(4)).reply("short");
  const auto explained = [&](const Json& extra) {
    return internal::Inside(gateway).explain(chat_body(extra).dump(), gateway.keys().list().front());
  };
  const Json refused = explained({{"max_tokens", 7}});
  CHECK(refused["decision"] == "rejected");
  CHECK(text_of(refused) == Http(gateway).chat({{"max_tokens", 7}}).json()["error"]["message"]);
  CHECK(explained({{"max_tokens", 6}})["decision"] == "stub");
}

TEST_CASE("an explanation names the default reply, with no stubs or for unmatched requests that get it") {
  Gateway empty;
  const std::string body = chat_body().dump();
  CHECK(internal::Inside(empty).explain(body, empty.keys().list().front())["decision"] == "default reply");
  Gateway lenient{Options{}.unmatched(Unmatched::gets_default_reply)};
  lenient.chat().when(user_says("else")).reply("else");
  const Json explanation = internal::Inside(lenient).explain(body, lenient.keys().list().front());
  CHECK(explanation["decision"] == "default reply");
  CHECK(explanation["near_misses"].size() == 1);
}

}  // namespace explanation_test
