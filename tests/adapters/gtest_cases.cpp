#define MOCK_GATEWAY_ADAPTER_GTEST
#include "scenario.hpp"
// Asking for it again changes nothing.
#include "mock_gateway.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

using namespace mock_gateway;
using namespace std::chrono_literals;
using scenario::ask_for_a_stream_that_breaks_off;
using scenario::ask_what_no_stub_answers;

namespace {

const scenario::AfterTheRun after_the_run;

TEST(Gateway, RequestThatNoStubAnswersFailsTheTestWhereItWasMade) {
  Gateway gateway;  // line: unmatched
  ask_what_no_stub_answers(gateway);
}

TEST(Gateway, WhileAnExceptionUnwindsItPrintsAMessage) {
  Gateway gateway;  // line: unwinding
  ask_what_no_stub_answers(gateway);
  throw scenario::ClientGaveUp();  // NOLINT: on purpose
}

TEST(Gateway, ReportsWhatItFoundBesideAFailedAssertion) {
  Gateway gateway;  // line: assert
  ask_what_no_stub_answers(gateway);
  ASSERT_EQ(gateway.journal().count(), 2U);
}

TEST(Gateway, DoesNotReportAgainWhatACheckHasShown) {
  Gateway gateway;
  ask_what_no_stub_answers(gateway);
  EXPECT_TRUE(gateway.verify());
}

TEST(Gateway, MayEndOnAnotherThread) {
  std::thread([] {
    Gateway gateway;  // line: thread
    ask_what_no_stub_answers(gateway);
  }).join();
}

TEST(Gateway, ReportsNothingWhenNothingIsWrong) {
  Gateway gateway;
  gateway.chat().reply("Hello.");
  test_support::Http(gateway).chat("Hi");
  EXPECT_TRUE(gateway.verify());
  EXPECT_TRUE(gateway.review());
  EXPECT_TRUE(gateway.journal().wait_for(1, 1s));
  Gateway unverified(Options{}.verify_on_destruction(false));
  ask_what_no_stub_answers(unverified);
  Gateway asked_again;
  scenario::ask_again_after_a_refusal(asked_again);
}

TEST(Gateway, PrintsValues) {
  Gateway gateway;
  gateway.chat().reply("Hello.");
  test_support::Http(gateway).chat({{"temperature", 2.5}});
  const Exchange exchange = gateway.journal().last();
  const ChatRequest request = exchange.chat();
  exchange.outcome();
  EXPECT_EQ(exchange.decision(), Decision::Kind::unmatched) << exchange;
  EXPECT_EQ(exchange.decision().kind, Decision::Kind::unmatched);
  EXPECT_EQ(exchange.outcome(), Outcome::Kind::client_left);
  EXPECT_EQ(exchange.outcome().kind, Outcome::Kind::client_left);
  EXPECT_EQ(request.temperature, 0.5);
  EXPECT_EQ(request.top_p, 0.5);
  EXPECT_EQ(request.temperature, std::nullopt);
  EXPECT_EQ(request.tool_choice.mode, wire::ToolChoice::Mode::named);
  EXPECT_EQ(request.body, (Json{{"model", "mock-model"}}));
  EXPECT_EQ(wire::ResponseFormat::Kind::json_object, wire::ResponseFormat::Kind::json_schema);
  EXPECT_EQ(std::optional(KeyState::enabled), KeyState::disabled);
  EXPECT_EQ(Profile::documented, Profile::openai);
  EXPECT_EQ(request.findings.at(0).severity, Severity::error);
  EXPECT_EQ(Problem::Kind::unmatched, Problem::Kind::invalid);
  EXPECT_EQ(Duration(20ms), 60s);
  EXPECT_EQ(std::chrono::duration<double>(0.25), 90min);
  EXPECT_EQ(ManualClock::default_start, ManualClock::default_start + 1500us);
  EXPECT_TRUE(gateway.review());
  EXPECT_TRUE(gateway.journal().wait_for(2, 1ms));
  EXPECT_FALSE(gateway.journal().wait_for(1, 1s));
  ADD_FAILURE() << request.findings.at(0);
}

TEST(Gateway, TellsWhatAScriptDidBesideACheckThatFailedForIt) {
  Gateway gateway;  // line: beside
  ask_for_a_stream_that_breaks_off(gateway);
  EXPECT_FALSE(gateway.verify());  // of what should be false GoogleTest prints no message
}

TEST(Gateway, TellsOnceWhatAScriptDidAtTheEndOfATestThatFailedForSomethingElse) {
  Gateway gateway;  // line: noted
  ask_for_a_stream_that_breaks_off(gateway);
  EXPECT_TRUE(gateway.verify());
  EXPECT_EQ(gateway.journal().count(), 2U);
  EXPECT_EQ(gateway.journal().count(), 3U);
}

TEST(Gateway, TellsOnceWhatWasAskedAgainEarlyAtTheEndOfATestThatFailedForSomethingElse) {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};  // line: asked again
  scenario::ask_again_after_a_refusal(gateway, [&] { clock.advance(20s); });
  EXPECT_TRUE(gateway.review());
  EXPECT_EQ(gateway.journal().count(), 3U);
}

TEST(Gateway, TellsNothingOfATestThatPassed) {
  Gateway gateway;
  ask_for_a_stream_that_breaks_off(gateway);
  EXPECT_TRUE(gateway.verify());
}

TEST(Gateway, TellsWhatAScriptDidWhenTheCheckFailsAfterItsEnd) {
  {
    Gateway gateway(Options{}.verify_on_destruction(false));  // line: gone
    ask_for_a_stream_that_breaks_off(gateway);
  }
  ADD_FAILURE() << "after the gateway";
}

Gateway& gateway_of_several_tests() {
  static Gateway gateway;  // line: several
  return gateway;
}

TEST(GatewayOfSeveralTests, TellsNothingOfOneThatPassed) {
  ask_for_a_stream_that_breaks_off(gateway_of_several_tests());
  EXPECT_TRUE(gateway_of_several_tests().verify());
}

TEST(GatewayOfSeveralTests, TellsInOneThatFailsOfThisOne) {
  for (int i = 0; i < 11; ++i) ask_for_a_stream_that_breaks_off(gateway_of_several_tests());
  ADD_FAILURE() << "ten exchanges are below, and how many more there are";
}

class SharedGateway : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    gateway = std::make_unique<Gateway>(Options{}, SourceLocation::current());  // line: shared
  }
  static void TearDownTestSuite() { gateway.reset(); }

  static inline std::unique_ptr<Gateway> gateway;
};

TEST_F(SharedGateway, FailsItsSuiteWhenThatEnds) { ask_what_no_stub_answers(*gateway); }

}  // namespace
