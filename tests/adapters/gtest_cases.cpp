#include "scenario.hpp"
// An adapter may be requested after a first include without it, and more than once.
#define MOCK_GATEWAY_ADAPTER_GTEST
#include "mock_gateway.hpp"
// Including it again changes nothing.
#include "mock_gateway.hpp"

#include <chrono>
#include <memory>
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

TEST(Gateway, ReportsNothingWhenNothingIsWrong) { scenario::do_nothing_wrong(); }

TEST(Gateway, PrintsValues) {
  Gateway gateway;
  scenario::ask_too_hot(gateway);
  EXPECT_EQ(Duration(20ms), 60s);
  EXPECT_EQ(std::chrono::duration<double>(0.25), 90min);
  EXPECT_EQ(ManualClock::default_start, ManualClock::default_start + 1500us);
  EXPECT_TRUE(gateway.review());
  EXPECT_TRUE(gateway.journal().wait_for(2, 1ms));
  EXPECT_FALSE(gateway.journal().wait_for(1, 1s));
}

TEST(Gateway, NotesWhatAScriptDidBesideACheckThatFailedForIt) {
  Gateway gateway;  // line: beside
  ask_for_a_stream_that_breaks_off(gateway);
  EXPECT_FALSE(gateway.verify());  // GoogleTest prints no message for a value that should be false
}

TEST(Gateway, NotesOnceAtTheEndOfATestThatFailedForSomethingElse) {
  Gateway gateway;  // line: noted
  ask_for_a_stream_that_breaks_off(gateway);
  EXPECT_TRUE(gateway.verify());
  EXPECT_EQ(gateway.journal().count(), 2U);
  EXPECT_EQ(gateway.journal().count(), 3U);
}

Gateway& gateway_of_several_tests() {
  static Gateway gateway;  // line: several
  return gateway;
}

TEST(GatewayOfSeveralTests, NotesNothingOfATestThatPassed) {
  ask_for_a_stream_that_breaks_off(gateway_of_several_tests());
  EXPECT_TRUE(gateway_of_several_tests().verify());
}

TEST(GatewayOfSeveralTests, NotesOfATestThatFailedOnlyWhatBelongsToIt) {
  ask_for_a_stream_that_breaks_off(gateway_of_several_tests());
  ADD_FAILURE() << "exchange 2 is below";
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
