// Problems that verify() reports, such as unmet expectations and exceptions of functions, and the order of calls.

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/verification.hpp"

namespace verify_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;
using test_support::kinds;
using test_support::Response;

inline std::string at(int line) { return "(verify_test.cpp:" + std::to_string(line) + ")"; }

using Kind = Problem::Kind;

TEST_CASE("an expectation is met by the exact number of calls, and reported otherwise") {
  Gateway gateway;
  const Http http(gateway);
  gateway.chat().reply("other");
  const Stub twice = gateway.chat().named("twice").when(user_says("a")).expect(2).reply("x");
  const std::string where = at(twice.where().line);
  CHECK(gateway.verify().message() ==
        "expectation not met  \"twice\" " + where + "  expected 2 calls, got 0\n" +
            "never called: the stub at verify_test.cpp:" + std::to_string(twice.where().line - 1));
  http.ask("a");
  http.ask("b");
  CHECK(gateway.verify().message() == "expectation not met  \"twice\" " + where +
                                          "  expected 2 calls, got 1\n"
                                          "closest: exchange 2, 0 of 1\n"
                                          "  user: \"b\"\n"
                                          "  ✘ user text contains \"a\"    actual \"b\"");
  http.ask("a");
  CHECK(gateway.verify());
  http.ask("a");
  CHECK(gateway.verify().message() ==
        "expectation not met  \"twice\" " + where + "  expected 2 calls, got 3\n  exchanges 1, 3, 4");
}

TEST_CASE("an expectation can be a range") {
  Gateway gateway;
  const Http http(gateway);
  const Stub where_stub = gateway.chat().named("some").expect(between(1, 2)).reply("x");
  const std::string where = at(where_stub.where().line);
  CHECK(gateway.verify().message() == "expectation not met  \"some\" " + where + "  expected from 1 to 2 calls, got 0");
  http.chat();
  CHECK(gateway.verify());
  http.chat();
  CHECK(gateway.verify());
  http.chat();
  CHECK_FALSE(gateway.verify());
  CHECK_THROWS_AS(static_cast<void>(gateway.chat().expect(-1)), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(gateway.chat().expect(1.5)), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(gateway.chat().expect(at_least(0.5))), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(gateway.chat().expect(at_most(2.5))), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(gateway.chat().expect(between(1, 2.5))), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(gateway.chat().expect(between(0.5, 2))), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(gateway.chat().expect(between(-1, 2))), GatewayError);
  CHECK_NOTHROW(static_cast<void>(gateway.chat().expect(between(0, 2))));
  CHECK_NOTHROW(static_cast<void>(gateway.chat().expect(at_most(0))));
}

TEST_CASE("the report of an uncalled stub names the stub that answered instead") {
  Gateway gateway;
  const Http http(gateway);
  const Stub wanted_stub = gateway.chat().named("wanted").when(user_says("Hi")).expect(at_least(1)).reply("x");
  const std::string wanted = at(wanted_stub.where().line);
  SUBCASE("a newer stub") {
    const Stub where_stub = gateway.chat().named("catch-all").reply("y");
    const std::string where = at(where_stub.where().line);
    http.chat();
    CHECK(gateway.verify().message() == "expectation not met  \"wanted\" " + wanted +
                                            "  expected at least 1 call, got 0\n"
                                            "  exchange 1 matches this stub, but \"catch-all\" " +
                                            where + " answered: it is newer");
  }
  SUBCASE("a stub with a higher priority") {
    const Stub where_stub = gateway.chat().named("first").priority(1).reply("y");
    const std::string where = at(where_stub.where().line);
    http.chat();
    CHECK(gateway.verify().message() == "expectation not met  \"wanted\" " + wanted +
                                            "  expected at least 1 call, got 0\n"
                                            "  exchange 1 matches this stub, but \"first\" " +
                                            where + " answered: it has a higher priority");
  }
}

TEST_CASE("stubs that were never called or always hidden are notes, not problems") {
  Gateway gateway;
  const Stub hidden_stub = gateway.chat().named("hidden").when(user_says("Hi")).reply("x");
  const std::string hidden = at(hidden_stub.where().line);
  const Stub catch_all_stub = gateway.chat().named("catch-all").reply("y");
  const std::string catch_all = at(catch_all_stub.where().line);
  const Stub unused_stub = gateway.chat().named("unused").when(user_says("bye")).reply("z");
  const std::string unused = at(unused_stub.where().line);
  Http(gateway).chat();
  const Verification verification = gateway.verify();
  CHECK(verification);
  CHECK(verification.notes() == std::vector<std::string>{"always hidden: \"hidden\" " + hidden +
                                                             ": exchange 1 matches this stub, but \"catch-all\" " +
                                                             catch_all + " answered: it is newer",
                                                         "never called: \"unused\" " + unused});
  CHECK(verification.message().find("nothing is wrong\nalways hidden: ") == 0);
}

TEST_CASE("an expectation of a stub that is removed twice is reported once") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  {
    const ScopedStub stub = gateway.chat().named("weather").expect(1).reply("Sunny.").scoped();
    stub.remove();
  }
  REQUIRE(gateway.verify().problems().size() == 1);
  CHECK(gateway.verify().problems()[0].kind == Problem::Kind::unmet_expectation);
}

TEST_CASE("a moved scoped stub lives as long as the handle that it was moved to") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().reply("old");
  std::optional<ScopedStub> first(gateway.chat().reply("new").scoped());
  std::optional<ScopedStub> second(std::move(*first));
  first.reset();
  CHECK(Http(gateway).chat().text() == "new");
  second.reset();
  CHECK(Http(gateway).chat().text() == "old");
}

TEST_CASE("a stub that must never be called refuses requests and reports them") {
  Gateway gateway;
  gateway.chat().reply("fine");
  const Stub where_stub = gateway.chat().named("no old models").when(user_says("old")).never();
  const std::string where = at(where_stub.where().line);
  const Http http(gateway);
  CHECK(http.ask("new") == "fine");
  CHECK(gateway.verify());
  const Response refused = http.chat("old");
  CHECK(refused.status == 422);
  CHECK(refused.error_code() == "never_expected");
  CHECK(refused.error_message() == "\"no old models\" " + where + " must never be asked");
  CHECK(refused.header("x-should-retry") == "false");
  CHECK(gateway.verify().message() ==
        "expectation not met  \"no old models\" " + where + "  expected 0 calls, got 1\n  exchange 2");
  CHECK_THROWS_AS(static_cast<void>(gateway.chat().expect(1).never()), GatewayError);
}

TEST_CASE("a request that breaks a should() condition gets its reply but is reported") {
  Gateway gateway;
  const Stub where_stub =
      gateway.chat().named("cool").should(temperature_is(between(0, 0.5)), stream_is(false)).reply("x");
  const std::string where = at(where_stub.where().line);
  const Http http(gateway);
  CHECK(http.chat({{"temperature", 0.2}}).text() == "x");
  CHECK(gateway.verify());
  CHECK(http.chat({{"temperature", 0.9}}).text() == "x");
  const Verification verification = gateway.verify();
  CHECK(verification.message() ==
        "a request fails a should condition  POST /v1/chat/completions  key \"default key\"  exchange 2\n"
        "  user: \"Hi\"\n"
        "answered by \"cool\" " +
            where +
            ", which fails these should conditions\n"
            "  ✘ temperature is from 0 to 0.5    actual 0.9");
  CHECK(kinds(verification) == std::vector<Kind>{Kind::invalid});
  CHECK(verification.problems()[0].where.line == std::stoi(where.substr(where.find(':') + 1)));
}

TEST_CASE("an exception of the test's function is reported with its text") {
  Gateway gateway;
  const Http http(gateway);
  const Stub where_stub = gateway.chat().named("clumsy").reply(
      [](const ChatRequest&) -> Reply { throw std::runtime_error("out of ideas"); });
  const std::string where = at(where_stub.where().line);
  CHECK(http.chat().status == 500);
  CHECK(gateway.verify().message() ==
        "a function of the test threw  POST /v1/chat/completions  key \"default key\"  exchange 1\n"
        "  user: \"Hi\"\n"
        "  the reply function of \"clumsy\" " +
            where + " threw: out of ideas");
  gateway.reset();
  const Stub unsure = gateway.chat().when(matching("unsure", [](const ChatRequest&) -> bool { throw 42; })).reply("x");
  CHECK(http.chat().status == 500);
  CHECK(gateway.verify().problems().at(0).text ==
        "a function of the test threw  POST /v1/chat/completions  key \"default key\"  exchange 2\n"
        "  user: \"Hi\"\n"
        "  the matcher \"unsure\" of " +
            unsure.title() + " threw: an exception that is no std::exception");
  gateway.reset();
  gateway.chat()
      .should(matching("strict", [](const ChatRequest&) -> bool { throw std::runtime_error("no"); }))
      .reply("x");
  CHECK(http.chat().status == 500);
  CHECK(kinds(gateway.verify()) == std::vector<Kind>{Kind::callback_failed});
  gateway.reset();
  gateway.on("GET", "/v1/x", [](const ReceivedRequest&) -> HttpReply { throw std::runtime_error("oops"); });
  CHECK(http.get("/v1/x").status == 500);
  CHECK(gateway.verify().message() ==
        "a function of the test threw  GET /v1/x  key \"default key\"  exchange 4\n"
        "  the handler of GET /v1/x threw: oops");
}

TEST_CASE("several problems are reported together, in the order of their occurrence") {
  Gateway gateway;
  gateway.chat().when(user_says("a")).expect(1).reply("x");
  const Http http(gateway);
  http.chat("b");
  http.chat("c");
  const Verification verification = gateway.verify();
  CHECK(kinds(verification) == std::vector<Kind>{Kind::unmatched, Kind::unmatched, Kind::unmet_expectation});
  std::ostringstream printed;
  printed << verification;
  CHECK(printed.str() == verification.message() + "\n");
  CHECK(printed.str().find("3 problems\n\nno stub matched  ") == 0);
}

TEST_CASE("verify waits until requests under way have ended") {
  Gateway gateway;
  Gate gate;
  const Stub stub =
      gateway.chat().reply(text("a b").hold(gate, before_token(1)).fault(after_tokens(9), close_connection()));
  auto client = std::async(std::launch::async, [&] { return Http(gateway).stream().joined_text(); });
  REQUIRE(stub.wait_for_calls(1, 10s));
  auto judged = std::async(std::launch::async, [&] { return kinds(gateway.verify()); });
  gate.open();
  CHECK(judged.get() == std::vector<Kind>{Kind::fault_not_reached});
  CHECK(client.get() == "a b");
}

TEST_CASE("the order of calls across stubs can be checked") {
  Gateway gateway;
  const Http http(gateway);
  const Stub ask = gateway.chat().named("ask").when(user_says("ask")).reply("x");
  const std::string ask_at = at(ask.where().line);
  const Stub login = gateway.chat().named("login").when(user_says("login")).reply("x");
  const std::string login_at = at(login.where().line);
  CHECK(called_in_order(login, ask).message() == "2 problems\n\nout of order  \"login\" " + login_at +
                                                     " was not called\n\nout of order  \"ask\" " + ask_at +
                                                     " was not called");
  http.chat("login");
  http.chat("ask");
  http.chat("ask");
  CHECK(called_in_order(login, ask));
  CHECK_FALSE(called_in_order(ask, login));
  http.chat("login");
  CHECK(called_in_order(login, ask).message() == "out of order  \"ask\" " + ask_at +
                                                     " answered exchange 2, before \"login\" " + login_at +
                                                     " answered exchange 4");
}

TEST_CASE("a stub without calls does not hide the wrong order of its neighbours") {
  Gateway gateway;
  const Http http(gateway);
  const Stub first = gateway.chat().named("first").when(user_says("first")).reply("x");
  const Stub second = gateway.chat().named("second").when(user_says("second")).reply("x");
  const Stub third = gateway.chat().named("third").when(user_says("third")).reply("x");
  http.chat("third");
  http.chat("first");
  CHECK(called_in_order(third, first));
  CHECK(called_in_order(first, second, third).message() ==
        "2 problems\n\nout of order  " + second.title() + " was not called\n\nout of order  " + third.title() +
            " answered exchange 1, before " + first.title() + " answered exchange 2");
  CHECK(called_in_order(third, second, first).message() == "out of order  " + second.title() + " was not called");
  CHECK(called_in_order(second, third, first).problems().size() == 1);
  http.chat("second");
  CHECK(called_in_order(third, first, second));
}

TEST_CASE("the peak number of parallel calls of a stub is counted") {
  Gateway gateway;
  Gate gate;
  const Stub stub = gateway.chat().reply(text("a").hold(gate, before_token(1)));
  std::vector<std::future<std::string>> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(std::async(std::launch::async, [&] { return Http(gateway).ask("x"); }));
  REQUIRE(stub.wait_for_calls(3, 10s));
  gate.open();
  for (auto& client : clients) CHECK(client.get() == "a");
  CHECK(Http(gateway).ask("x") == "a");
  CHECK(stub.peak_concurrency() == 3);
  CHECK(stub.calls() == 4);
  CHECK(stub.exchanges().size() == 4);
}

TEST_CASE("a test can check that connections are reused") {
  Gateway gateway;
  const Http reusing = Http(gateway).keep_alive();
  reusing.chat();
  CHECK_FALSE(gateway.journal().last().reused_connection());
  reusing.chat();
  CHECK(gateway.journal().last().reused_connection());
  CHECK(gateway.journal().connections() == 1);
  Http(gateway).chat();
  CHECK(gateway.journal().connections() == 2);
}

TEST_CASE("contradicting options throw at once") {
  Gateway gateway;
  CHECK_THROWS_AS(gateway.chat().expect(3).times(2).reply("x"), GatewayError);
  CHECK_THROWS_AS(gateway.chat().expect(at_least(3)).reply("x", then_nothing_more()), GatewayError);
  CHECK_THROWS_AS(gateway.chat().times(1).reply("x", then_nothing_more()), GatewayError);
  CHECK_THROWS_AS(gateway.chat().times(1).never(), GatewayError);
  CHECK_THROWS_AS(gateway.chat().should(stream_is(true)).never(), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(gateway.chat().in_state("", "x")), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(gateway.chat().then_state("", "x")), GatewayError);
  CHECK_THROWS_AS(static_cast<void>(gateway.chat().then_state("a", "x").then_state("a", "y")), GatewayError);
  CHECK(Http(gateway).chat().status == 200);
}

TEST_CASE("an uncalled stub is explained by what kept it from answering when the request came") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  const Http http(gateway);
  const Stub general = gateway.chat().reply("general");
  SUBCASE("the stub was mounted after the request") {
    http.chat();
    const Stub late = gateway.chat().expect(1).reply("late");
    CHECK(gateway.verify().message() == "expectation not met  " + late.title() + "  expected 1 call, got 0");
  }
  SUBCASE("its scenario was in another state") {
    const Stub paid = gateway.chat().named("paid").in_state("order", "paid").expect(1).reply("thanks");
    http.chat();
    CHECK(gateway.verify().message() ==
          "expectation not met  " + paid.title() + "  expected 1 call, got 0\n  exchange 1 matches this stub, but " +
              general.title() + " answered: this one waits for state machine \"order\" to be \"paid\"");
  }
  SUBCASE("a forced failure answered") {
    const Stub stub = gateway.chat().expect(1).reply("x");
    gateway.fail_next(overloaded());
    http.chat();
    CHECK(gateway.verify().problems().at(0).text == "expectation not met  " + stub.title() +
                                                        "  expected 1 call, got 0\n  exchange 1 matches this stub, but "
                                                        "the answer was forced failure, 529 overloaded");
  }
}

TEST_CASE("a request that began before a reset causes no problem in the next test") {
  Gateway gateway;
  std::promise<void> begun;
  std::promise<void> go_on;
  gateway.chat()
      .when(matching("slow",
                     [&, waited = false](const ChatRequest&) mutable {
                       if (!waited) begun.set_value(), go_on.get_future().wait();
                       waited = true;
                       return false;
                     }))
      .reply("x");
  auto late = std::async(std::launch::async, [&] { return Http(gateway).chat().status; });
  begun.get_future().wait();
  gateway.reset();
  go_on.set_value();
  CHECK(late.get() == 422);
  CHECK(gateway.verify());
}

TEST_CASE("clearing the journal does not hide problems") {
  Gateway gateway;
  gateway.chat().when(user_says("a")).reply("x");
  Http(gateway).chat("b");
  gateway.journal().clear();
  CHECK(kinds(gateway.verify()) == std::vector<Kind>{Kind::unmatched});
}

TEST_CASE("verify() says that it stopped waiting") {
  Gateway gateway;
  Gate gate;
  const Stub stub = gateway.chat().reply(text("a").hold(gate, before_token(1)));
  auto client = std::async(std::launch::async, [&] { return Http(gateway).ask("x"); });
  REQUIRE(stub.wait_for_calls(1, 10s));
  const std::vector<std::string> notes = gateway.verify().notes();
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("exchange 1 is held as scripted before token 1, for ") == 0);
  gate.open();
  CHECK(client.get() == "a");
}

TEST_CASE("a client with sequential requests never counts as two parallel ones") {
  Gateway gateway;
  const Stub stub = gateway.chat().reply("x");
  const Http http = Http(gateway).keep_alive();
  for (int i = 0; i < 300; ++i) i % 2 == 0 ? http.chat() : http.stream();
  CHECK(stub.peak_concurrency() == 1);
}

TEST_CASE("a reply function keeps its state between calls, and may own handles of its gateway") {
  Gateway gateway;
  const Http http(gateway);
  gateway.chat().reply([count = 0](const ChatRequest&) mutable { return std::to_string(++count); });
  CHECK(http.ask("x") == "1");
  CHECK(http.ask("x") == "2");
  gateway.chat().reply([journal = gateway.journal(), other = gateway.chat().when(user_says("y")).reply("z")](
                           const ChatRequest&) { return std::to_string(journal.count() + other.calls()); });
  CHECK(http.ask("x") == "2");
  const auto scoped = std::make_shared<ScopedStub>(gateway.chat().when(user_says("w")).reply("w").scoped());
  gateway.chat().reply([scoped](const ChatRequest&) { return std::to_string(scoped->calls()); });
  CHECK(http.ask("x") == "0");
  gateway.reset();
  CHECK(http.chat().status == 200);
}

TEST_CASE("a key in a text that the test wrote is masked in every report") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  const CreatedKey key = gateway.keys().create("mine");
  gateway.chat().named("for " + key.secret).when(user_says(key.secret + "\n")).expect(1).reply("x");
  gateway.chat().named("not for " + key.secret).when(user_says("never")).never();
  const std::string unmatched = Http(gateway).chat().raw;
  const std::string refused = Http(gateway).chat("never").raw;
  for (const std::string& shown :
       {unmatched, refused, gateway.verify().message(), gateway.journal().all().at(0).decision().detail}) {
    CHECK(shown.find(key.secret) == std::string::npos);
    CHECK(shown.find("sk-***") != std::string::npos);
  }
}

TEST_CASE("a report contains no secret and keeps the limits of its parts") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  const CreatedKey key = gateway.keys().create("\"quoted\"\nkey");
  gateway.chat().named("long").when(user_says(equals(std::string(5000, 'x')))).reply("x");
  gateway.chat().when(has_header("authorization", contains(key.secret))).reply("x");
  Http(gateway).with_key(key.secret).chat("my key is " + key.secret + " " + std::string(100000, 'y'));
  const std::string message = gateway.verify().message();
  CHECK(message.find(key.secret) == std::string::npos);
  CHECK(message.find("sk-***") != std::string::npos);
  CHECK(message.size() < 2000);
}

}  // namespace verify_test
