// Problems about faults, holds and splits that a reply did not reach, and a gate that was not opened in time.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/verification.hpp"

namespace not_reached_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;
using test_support::kinds;
using test_support::Response;

using Kind = Problem::Kind;

TEST_CASE("a fault that the reply did not reach is reported") {
  Gateway gateway;
  const Http http = Http(gateway).allow_incomplete();
  const Stub stub =
      gateway.chat().named("short").reply(text("one two three").fault(after_tokens(5), reset_connection()));
  CHECK(http.stream().joined_text() == "one two three");
  const Verification verification = gateway.verify();
  CHECK(kinds(verification) == std::vector<Kind>{Kind::fault_not_reached});
  CHECK(verification.message() ==
        "a fault was never reached  POST /v1/chat/completions  key \"default key\"  exchange 1\n"
        "  user: \"Hi\"   stream: true\n"
        "  reset the connection after 5 tokens: the reply ended after 3 tokens and 6 events\n"
        "  reply of " +
            stub.title());
  gateway.reset();
  gateway.chat().reply(text("one two three").fault(after_tokens(2), reset_connection()));
  CHECK(http.stream().joined_text() == "one two");
  CHECK(gateway.verify());
}

TEST_CASE("a hold or split that the reply did not reach is reported") {
  Gateway gateway;
  const Http http = Http(gateway).allow_incomplete();
  Gate gate;
  const Stub stub = gateway.chat().named("short").reply(
      text("one two").hold(gate, before_token(2)).hold(gate, before_token(3)).hold(gate, before_event(9)));
  gate.open();
  const Response streamed = http.stream();
  CHECK(streamed.joined_text() == "one two");
  const Verification verification = gateway.verify();
  CHECK(kinds(verification) == std::vector<Kind>{Kind::place_not_reached, Kind::place_not_reached});
  const std::string ended = ": the reply ended after 2 tokens and 5 events, " + std::to_string(streamed.raw.size()) +
                            " bytes\n  reply of " + stub.title();
  const std::string head =
      "a place in a reply was never reached  POST /v1/chat/completions  key \"default key\"  exchange 1\n"
      "  user: \"Hi\"   stream: true\n";
  CHECK(verification.message() ==
        "2 problems\n\n" + head + "  hold before token 3" + ended + "\n\n" + head + "  hold before event 9" + ended);

  // A plain reply has no events, so a hold before any event takes effect.
  gateway.reset();
  gateway.chat().reply(text("one two").hold(gate, before_token(3)).hold(gate, before_event(9)));
  CHECK(http.chat().status == 200);
  CHECK(kinds(gateway.verify()) == std::vector<Kind>{Kind::place_not_reached});

  gateway.reset();
  gateway.chat().reply(text("one two").split_write(100000));
  CHECK(http.chat().status == 200);
  const Verification whole = gateway.verify();
  CHECK(kinds(whole) == std::vector<Kind>{Kind::place_not_reached});
  CHECK(whole.message().find("  split write after 100000 bytes: the reply ended after 2 tokens") != std::string::npos);

  // A reached place is not a problem, nor is a place that an earlier fault made unreachable.
  gateway.reset();
  gateway.chat().reply(text("one two").split_write(10));
  CHECK(http.chat().status == 200);
  gateway.chat().reply(text("one two")
                           .hold(gate, before_token(2))
                           .hold(gate, before_token(9))
                           .fault(after_tokens(2), reset_connection()));
  http.stream();
  CHECK(gateway.verify());
}

TEST_CASE("a reply as long as its first write is not split, but a reply with one byte more is") {
  const std::pair<Reply, bool> rows[] = {{text("one two"), false},
                                         {text("one two"), true},
                                         {raw_reply(200, "one two"), false},
                                         {chunks({{{"a", 1}}}), true}};
  for (const auto& [reply, streamed] : rows) {
    Gateway gateway{Options{}.clock(ManualClock{})};
    const Http http(gateway);
    const auto ask = [&, is_streamed = streamed](const Reply& one) {
      gateway.reset();
      gateway.chat().reply(one);
      return is_streamed ? http.stream() : http.chat();
    };
    const std::string whole = ask(reply).raw;
    CHECK(ask(reply.split_write(whole.size())).raw == whole);
    CHECK(kinds(gateway.verify()) == std::vector<Kind>{Kind::place_not_reached});
    CHECK(ask(reply.split_write(whole.size() + 1)).raw == whole);
    CHECK(kinds(gateway.verify()) == std::vector<Kind>{Kind::place_not_reached});
    CHECK(ask(reply.split_write(whole.size() - 1)).raw == whole);
    CHECK(gateway.verify());
    CHECK(ask(reply.split_write(1)).raw == whole);
    CHECK(gateway.verify());
  }
}

TEST_CASE("a gate that was not opened in time is reported") {
  Gateway gateway;
  Gate gate{20ms};
  gateway.chat().reply(text("a b").hold(gate, before_token(1)));
  CHECK(Http(gateway).ask("x") == "a b");
  CHECK(kinds(gateway.verify()) == std::vector<Kind>{Kind::guard_expired});
}

}  // namespace not_reached_test
