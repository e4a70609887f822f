// Moved-from values and handles. They keep their value, equal a new value, or throw, but never crash.

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"

namespace moved_values_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;
using test_support::RawConnection;

/// Returns the result of an operation, or "refused: " and the text of the error that it throws.
std::string outcome(const std::function<std::string()>& operation) {
  try {
    return operation();
  } catch (const GatewayError& error) {
    return std::string("refused: ") + error.what();
  }
}

/// Moves from a value by construction and by assignment. Returns the results of using the moved-from value. Checks that
/// the target behaves like the original, and that the source can be assigned again.
template <class T, class Use>
std::vector<std::string> left_of(const T& made, const Use& use) {
  const auto shown = [&use](const T& value) { return outcome([&] { return use(value); }); };
  const std::string before = shown(made);
  CHECK(before.substr(0, 7) != "refused");
  std::vector<std::string> left;
  T source = made;
  T target = std::move(source);
  CHECK(shown(target) == before);
  left.push_back(shown(source));  // NOLINT: tests the moved-from object
  T copy_of_source = source;
  left.push_back(shown(copy_of_source));
  source = made;
  CHECK(shown(source) == before);
  target = std::move(source);
  CHECK(shown(target) == before);
  left.push_back(shown(source));  // NOLINT: as above
  T& alias = target;
  target = alias;
  CHECK(shown(target) == before);
  return left;
}

/// Checks that a moved-from value keeps its value.
template <class T, class Use>
void stays(const char* name, const T& made, const Use& use) {
  CAPTURE(name);
  const std::string before = use(made);
  for (const std::string& left : left_of(made, use)) CHECK(left == before);
}

/// Checks that a moved-from value equals a new one.
template <class T, class Use>
void starts_anew(const char* name, const T& made, const Use& use) {
  CAPTURE(name);
  REQUIRE(use(made) != use(T()));
  for (const std::string& left : left_of(made, use)) CHECK(left == use(T()));
}

/// Checks that a moved-from value refuses its operations, with its name in the message.
template <class T, class Use>
void is_refused(const char* name, const T& made, const Use& use) {
  CAPTURE(name);
  for (const std::string& left : left_of(made, use))
    CHECK(left == std::string("refused: mock_gateway: this ") + name +
                      " was moved from and is empty; copy it if you need it again");
}

/// Returns the body of a reply without its timestamps.
std::string answered(const Reply& reply) {
  Gateway gateway(Options().verify_on_destruction(false));
  gateway.chat().reply(reply);
  std::string body = Http(gateway).stream().body;
  const std::string created = "\"created\":";
  for (std::size_t at = 0; (at = body.find(created, at)) != std::string::npos; at += created.size())
    body.erase(at + created.size(), 10);
  return body;
}

/// Sends requests and accepts any response.
void ask_anything(const Gateway& gateway) {
  try {
    Http(gateway).stream();
  } catch (const std::exception&) {  // the reply may be incomplete
  }
}

std::string served(const Options& options) {
  Gateway gateway(options.clock(ManualClock()).verify_on_destruction(false));  // the list of models contains times
  return Http(gateway).get("/v1/models").body;
}

template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST_CASE("using a moved-from value with one setting throws, or works as with a new value") {
  is_refused("Reply", Reply("Hello.").header("X-One", "1"), answered);
  is_refused("Reply", chunks({{{"choices", Json::array()}}}), answered);
  is_refused("Reply", Reply(rate_limited(1s)), answered);
  // Every way to use a reply.
  const std::pair<const char*, std::function<void(const Reply&)>> uses[] = {
      {"text", [](const Reply& reply) { static_cast<void>(reply.text("more")); }},
      {"finish_reason", [](const Reply& reply) { static_cast<void>(reply.finish_reason("stop")); }},
      {"fault", [](const Reply& reply) { static_cast<void>(reply.fault(at_end(), reset_connection())); }},
      {"pace", [](const Reply& reply) { static_cast<void>(reply.every(1ms)); }},
      {"header", [](const Reply& reply) { static_cast<void>(reply.header("A", "b")); }},
      {"hold", [](const Reply& reply) { static_cast<void>(reply.hold(Gate(), before_event(1))); }},
      {"choices", [](const Reply& reply) { static_cast<void>(choices("a", reply)); }},
      {"sweep",
       [](const Reply& reply) {
         Gateway gateway;
         static_cast<void>(gateway.sweep(reply, [] {}));
       }},
  };
  for (const auto& use : uses) {
    const auto& name = use.first;
    const auto& run = use.second;
    CAPTURE(name);
    is_refused("Reply", Reply("Hello."), [&run](const Reply& reply) {
      run(reply);
      return std::string("done");
    });
  }

  is_refused("Chaos", Chaos(server_error()).nth(2), [](const Chaos& chaos) { return chaos.to_string(); });
  is_refused("Chaos", Chaos(at_any_token(3), stall(1ms)),
             [](const Chaos& chaos) { return chaos.when(user_says("weather")).first(2).probability(0.5).to_string(); });
  is_refused("Chaos", Chaos(Pace().first_token_after(1ms)), [](const Chaos& chaos) {
    Gateway gateway;
    gateway.chaos(chaos);
    return Http(gateway).ask("Hi");
  });

  starts_anew("Options", Options().model("fast", "me").model("slow"), served);
  starts_anew("SweepOptions", SweepOptions().effects({reset_connection()}).limit(3), [](const SweepOptions& options) {
    Gateway gateway;
    std::string names;
    for (const SweepStep& step : gateway.sweep(
             text("Hi"), [&] { ask_anything(gateway); }, options.when(stream_is(true))))
      names += step.name() + "\n";
    return names;
  });
}

TEST_CASE("a reply function that returns a moved-from reply causes a 500 and a problem in verify()") {
  Gateway gateway;
  Reply once = "Hello.";
  gateway.chat().reply([&once](const ChatRequest&) -> Reply { return std::move(once); });
  const Http http(gateway);
  CHECK(http.ask("Hi") == "Hello.");
  CHECK(http.chat().status == 500);
  const Verification verification = gateway.verify();
  CHECK_FALSE(verification);
  CHECK(verification.message().find("this Reply was moved from") != std::string::npos);
}

TEST_CASE("moved-from settings keep their values") {
  const auto on_the_wire = [](const Failure& failure) { return answered(failure); };
  stays("Failure", failure(418, "a code that is longer than what a string holds by itself", "message").type("type"),
        on_the_wire);
  stays("Failure", server_error().body(std::string(100, 'x')), on_the_wire);

  for (const Effect& effect : {garbage(std::string(40, 'g')), error_event(Json{{"error", "a text of some length"}}),
                               error_event(rate_limited()), stall(2ms), skip_event(), wrong_content_length(3)}) {
    stays("Effect", effect, [](const Effect& one) {
      const std::string failure = one.failure() ? one.failure()->code() : "";
      return one.to_string() + one.bytes() + failure;
    });
  }
  stays("Effect", stall(Gate(10ms)), [](const Effect& one) {
    Gate(*one.gate()).open();
    return one.to_string();
  });
  stays("Fault", Fault{after_bytes(3), garbage(std::string(40, 'g'))},
        [](const Fault& fault) { return fault.trigger.to_string() + fault.effect.to_string() + fault.effect.bytes(); });
  stays("DrawnTrigger", at_any_event(3), [](const DrawnTrigger& trigger) { return trigger.to_string(); });

  for (const ConnectionFault& fault : {reset_on_accept(), close_on_accept(), garbage_on_accept(), close_when_reused(),
                                       reset_when_reused(), unsolicited_continue(), early_hints(), slow_body(1, 1ms),
                                       reply_before_body(server_error()), reply_then_read_body(server_error())}) {
    stays("ConnectionFault", fault, [](const ConnectionFault& one) {
      const std::string code = one.failure() ? one.failure()->code() + one.failure()->message() : "";
      return one.to_string() + one.bytes() + std::to_string(one.step()) + code;
    });
  }
  stays("ConnectionFault", garbage_on_accept("no HTTP"), [](const ConnectionFault& fault) {
    Gateway gateway;
    gateway.next_connection(fault);
    return RawConnection(gateway).receive_all().bytes;
  });

  for (const Pace& pace : {Pace().every(recorded({1ms, 2ms})), Pace().tokens_per_second(recorded({5e8, 6e8})),
                           Pace().every(log_normal(1ms, 0)), Pace().chunked(by_pieces({"Hel", "lo."})),
                           Pace().first_token_after(recorded({1ms}))}) {
    stays("Pace", pace, [](const Pace& one) { return answered(text("Hello.").pace(one)); });
  }
  stays("Timing", recorded({1ms, 2ms}), [](const Timing& timing) { return answered(text("Hello.").every(timing)); });
  stays("Rate", recorded({5e8, 6e8}),
        [](const Rate& rate) { return answered(text("Hello you.").tokens_per_second(rate)); });
  stays("Chunking", by_pieces({"Hel", "lo."}),
        [](const Chunking& chunking) { return answered(text("Hello.").chunked(chunking)); });

  stays("SseDialect", SseDialect().line_end("\r\n").comment("a comment that is longer than 16 bytes").event("message"),
        [](const SseDialect& dialect) { return answered(text("Hello.").sse(dialect)); });
  stays("StreamChunk", raw_bytes("data: a raw event of some length\n\n"),
        [](const StreamChunk& chunk) { return answered(chunks({chunk})); });
  stays("StreamChunk", json_chunk({{"choices", Json::array()}}).at(1ms),
        [](const StreamChunk& chunk) { return answered(chunks({chunk}).chunk(chunk)); });
  stays("TokenLogprob", TokenLogprob(-0.5, {{"an alternative of some length", -1}}),
        [](const TokenLogprob& token) { return std::to_string(token.logprob()) + token.top().value().at(0).token; });
  stays("TokenUsage", TokenUsage(3, 4).total(8).cached(1), [](const TokenUsage& usage) {
    return std::to_string(usage.total_tokens()) + std::to_string(usage.cached_tokens().value_or(0));
  });
  stays("HoldPoint", before_token(2), [](const HoldPoint& place) { return place.to_string(); });
  stays("HttpReply", HttpReply(201, std::string(50, 'b')).header("X-One", "1"), [](const HttpReply& reply) {
    Gateway gateway(Options().verify_on_destruction(false));
    gateway.on("GET", "/v1/own", [&reply](const ReceivedRequest&) { return reply; });
    return Http(gateway).get("/v1/own").body;
  });
  stays("KeyOptions", KeyOptions().secret("sk-a-secret-of-some-length").models({"a model's id of some length"}),
        [](const KeyOptions& options) {
          Gateway gateway(Options().verify_on_destruction(false));
          const CreatedKey key = gateway.keys().create("mine", options);
          return key.secret + gateway.keys().find(key.id).models.at(0);
        });
  stays("Acceptance", Acceptance::openai(), [](const Acceptance& acceptance) {
    Gateway gateway(Options().acceptance(acceptance).verify_on_destruction(false));
    return Http(gateway).ask("Hi");
  });
  stays("RequestScope", RequestScope("a key's id of some length"),
        [](const RequestScope& scope) { return scope.to_string(); });
  stays("RequestScope", with_header("X-Test-Of-Some-Length", "a value of some length"),
        [](const RequestScope& scope) { return scope.to_string(); });
  stays("FailureScope", for_model("a model's id of some length"),
        [](const FailureScope& scope) { return scope.name(); });
  stays("Range", at_least(2), [](const Range& range) { return range.to_string(); });
}

TEST_CASE("a moved-from matcher keeps its conditions") {
  const TextMatcher texts[] = {"weather",
                               starts_with("What"),
                               matches_regex("w[aeiou]+ther"),
                               TextMatcher("is short", [](std::string_view text) { return text.size() < 30; }),
                               TextMatcher("weather") && starts_with("What"),
                               !TextMatcher("rain")};
  for (const TextMatcher& matcher : texts) {
    stays("TextMatcher", matcher, [](const TextMatcher& one) {
      return one.to_string() + one.explain("snow") + (one.matches("What weather?") ? "yes" : "no") +
             (!one).to_string() + (one || starts_with("a")).to_string();
    });
  }
  const Matcher matchers[] = {user_says("weather"),
                              stream_is(false),
                              user_says("weather") && model_is("mock-model"),
                              user_says("rain") || stream_is(false),
                              !user_says("rain"),
                              matching("my own", [](const ChatRequest&) { return true; })};
  for (const Matcher& matcher : matchers) {
    stays("Matcher", matcher, [](const Matcher& one) {
      Gateway gateway(Options().verify_on_destruction(false));
      gateway.chat().when(one).reply("Sunny.");
      return one.to_string() + (!one).to_string() + (one && one).to_string() + Http(gateway).ask("What weather is it?");
    });
  }
}

TEST_CASE("a moved-from result keeps its truth value") {
  Gateway gateway(Options().verify_on_destruction(false));
  gateway.chat().when(user_says("never said")).expect(1).reply("Hello.");
  CHECK(Http(gateway).get("/v1/nothing").status == 404);
  REQUIRE(gateway.journal().wait_until_idle(10s));
  const auto shown = [](const auto& result) { return result.message() + (result ? "true" : "false"); };
  stays("Verification", gateway.verify(), shown);
  stays("Review", gateway.review(), shown);
  Review review = gateway.review();
  CHECK(std::move(review).findings().size() == 1);
  CHECK_FALSE(review);  // NOLINT: tests the moved-from object
}

TEST_CASE("a moved-from iterator of a sweep is at the end") {
  Gateway gateway(Options().verify_on_destruction(false));
  const Sweep sweep = gateway.sweep(text("Hi"), [&gateway] { ask_anything(gateway); });
  Sweep::Iterator source = sweep.begin();
  const std::string first = source->name();
  Sweep::Iterator target = std::move(source);
  CHECK(target->name() == first);
  CHECK(source == sweep.end());  // NOLINT: as above
  ++source;
  source++;
  CHECK(source == sweep.end());
  CHECK((++target)->name() != first);
  Sweep::Iterator fresh;
  CHECK(++fresh == sweep.end());
}

TEST_CASE("a moved-from handle still refers to the same object") {
  Gateway gateway(Options().verify_on_destruction(false));
  const Stub stub = gateway.chat().named("hello").reply("Hello.");
  const Http http(gateway);
  CHECK(http.ask("Hi") == "Hello.");
  REQUIRE(gateway.journal().wait_until_idle(10s));
  stays("Stub", stub, [](const Stub& one) {
    return one.title() + std::to_string(one.calls()) + one.last_call().summary() +
           std::to_string(called_in_order(one) ? 1 : 0);
  });
  stays("Exchange", gateway.journal().last(), [](const Exchange& one) { return one.summary() + one.as_curl(); });
  stays("Journal", gateway.journal(), [](const Journal& one) { return std::to_string(one.count()); });
  stays("Keys", gateway.keys(), [](const Keys& one) { return one.list().at(0).id; });
  stays("Gate", Gate(10ms), [](const Gate& gate) { return gate.wait_until_reached(0, 0s).message(); });
  stays("ManualClock", ManualClock(), [](const ManualClock& clock) {
    ManualClock(clock).advance(0s);
    return std::to_string(clock.now().time_since_epoch().count());
  });
  stays("Clock", Clock(ManualClock()),
        [](const Clock& clock) { return std::to_string(clock.now().time_since_epoch().count()); });
  stays("RealClock", RealClock(), [](const RealClock& clock) { return std::to_string(clock.now() > TimePoint{}); });
  stays("InstantClock", InstantClock(),
        [](const InstantClock& clock) { return std::to_string(clock.now() > TimePoint{}); });
  stays("Sweep", gateway.sweep(text("Hi"), [&gateway] { ask_anything(gateway); }),
        [](const Sweep& sweep) { return std::to_string(sweep.size()) + sweep.begin()->name(); });
  stays("Scenario", catalogue().front(), [](const Scenario& one) {
    return one.name() + one.group() + one.text() + printed(one.expected()) + printed(one.judge({}).kind());
  });
  const ScriptDocument script =
      ScriptDocument::from_json({{"mock_gateway", 1}, {"stubs", {{{"name", "one"}, {"reply", "Two."}}}}});
  stays("ScriptDocument", script, [](const ScriptDocument& one) {
    Gateway its_own(one.options());
    return one.mount(its_own).stubs().at(0).title() + std::to_string(one.has_options());
  });
  stays("LoadedScript", script.mount(gateway), [](const LoadedScript& one) { return one.stub("one").title(); });

  ScopedStub scoped = gateway.chat().reply("For now.").scoped();
  const ScopedStub taken = std::move(scoped);
  CHECK(scoped.calls() == 0);  // NOLINT: tests the moved-from object
  CHECK(http.ask("Hi") == "For now.");
}

TEST_CASE("a builder that was moved from or has mounted its stub throws when used") {
  Gateway gateway;
  const std::string refusal =
      "refused: mock_gateway: this builder has mounted its stub, or was moved from; start another with gateway.chat()";
  const std::pair<const char*, std::function<void(StubBuilder &&)>> uses[] = {
      {"when", [](StubBuilder&& builder) { static_cast<void>(std::move(builder).when(stream_is(true))); }},
      {"should", [](StubBuilder&& builder) { static_cast<void>(std::move(builder).should(stream_is(true))); }},
      {"times", [](StubBuilder&& builder) { static_cast<void>(std::move(builder).times(1)); }},
      {"expect", [](StubBuilder&& builder) { static_cast<void>(std::move(builder).expect(1)); }},
      {"priority", [](StubBuilder&& builder) { static_cast<void>(std::move(builder).priority(1)); }},
      {"in_state", [](StubBuilder&& builder) { static_cast<void>(std::move(builder).in_state("a", "b")); }},
      {"then_state", [](StubBuilder&& builder) { static_cast<void>(std::move(builder).then_state("a", "b")); }},
      {"named", [](StubBuilder&& builder) { static_cast<void>(std::move(builder).named("a")); }},
      {"reply", [](StubBuilder&& builder) { std::move(builder).reply("Hi"); }},
      {"reply by a function",
       [](StubBuilder&& builder) { std::move(builder).reply([](const ChatRequest&) { return Reply("Hi"); }); }},
      {"reply with an end", [](StubBuilder&& builder) { std::move(builder).reply(then_nothing_more()); }},
      {"never", [](StubBuilder&& builder) { std::move(builder).never(); }},
  };
  for (const auto& use : uses) {
    const auto& name = use.first;
    const auto& run = use.second;
    CAPTURE(name);
    StubBuilder source = gateway.chat();
    StubBuilder target = std::move(source);
    CHECK(outcome([&] {
            run(std::move(source));  // NOLINT: as above
            return std::string("done");
          }) == refusal);
    std::move(target).when(user_says("never said")).reply("Hello.");
    CHECK(outcome([&] {
            run(std::move(target));  // NOLINT: as above
            return std::string("done");
          }) == refusal);
  }
  CHECK(gateway.verify());
}

}  // namespace moved_values_test
