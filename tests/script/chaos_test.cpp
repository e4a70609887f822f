// Chaos: which requests it affects and how. The same seed affects the same requests in any order.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/text.hpp"
#include "support/threads.hpp"

namespace chaos_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::Http;
using test_support::in_threads;
using test_support::patience;
using test_support::RawConnection;
using test_support::Response;
using test_support::without_counts;
using Texts = std::vector<std::string>;

inline Options lenient(std::uint64_t seed = 1) { return Options{}.seed(seed).verify_on_destruction(false); }

inline Json streamed(const std::string& question) {
  Json body = test_support::chat_body(Json(question));
  body["stream"] = true;
  return body;
}

/// A client that accepts replies changed by chaos.
inline Http robust(const Gateway& gateway) { return Http(gateway).keep_alive().allow_incomplete(); }

/// Sends a request and reads the body, which is shorter than announced. Closes the connection and returns the received
/// bytes.
inline std::string left_at_the_end_of_the_body(const Gateway& gateway) {
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat());
  const std::string head = connection.receive_until("\r\n\r\n").bytes;
  const auto body = connection.receive_until([](std::string_view bytes) { return Json::accept(bytes); });
  CHECK(body.found);
  return head + body.bytes;
}

/// Returns the affected requests with the effect and the occurrence. They are sorted, so the order of arrival does not
/// matter.
inline Texts struck(const Gateway& gateway) {
  REQUIRE(gateway.journal().wait_until_idle(10s));
  Texts all;
  for (const Exchange& exchange : gateway.journal().all())
    for (const std::string& strike : exchange.chaos())
      all.push_back(exchange.chat().last_user_text() + (exchange.chat().stream ? " streamed: " : ": ") + strike);
  std::sort(all.begin(), all.end());
  return all;
}

/// Sends one request `comings` times. Returns the numbers of those that got a failure, counted from 1.
inline std::vector<std::size_t> failed_of(const Http& http, std::size_t comings, const std::string& question) {
  std::vector<std::size_t> failed;
  for (std::size_t coming = 1; coming <= comings; ++coming)
    if (http.chat(Json(question)).status != 200) failed.push_back(coming);
  return failed;
}

/// Returns the message of the error that this code throws.
template <class Code>
std::string refused(const Code& code) {
  try {
    code();
  } catch (const GatewayError& error) {
    return error.what();
  }
  return "accepted";
}

using Comings = std::vector<std::size_t>;

// --- Which requests are affected -------------------------------------------------------------------------------------

TEST_CASE("a rule with a probability affects that share of different requests, and of repetitions of one request") {
  Gateway gateway(lenient());
  gateway.chaos(Chaos(server_error()).probability(0.1));
  const Http http = robust(gateway);
  std::size_t failed = 0;
  for (int i = 0; i < 2000; ++i)
    if (http.chat(Json("question " + std::to_string(i))).status == 500) ++failed;
  // The standard deviation of 2,000 draws is 13.
  CHECK(failed > 160);
  CHECK(failed < 240);
  const std::size_t of_one = failed_of(http, 2000, "the same").size();
  CHECK(of_one > 160);
  CHECK(of_one < 240);
}

TEST_CASE("probability 0 affects nothing, and probability 1 everything") {
  Gateway gateway(lenient());
  gateway.chaos(Chaos(server_error()).probability(0));
  CHECK(failed_of(robust(gateway), 50, "Hi").empty());
  gateway.chaos(Chaos(server_error()).probability(1));
  CHECK(failed_of(robust(gateway), 50, "Hi").size() == 50);
}

TEST_CASE("gateways with the same seed affect the same requests at the same places") {
  const Chaos cut = Chaos(at_any_token(4), close_connection()).probability(0.5).by_request();
  Gateway one(lenient(7));
  Gateway other(lenient(7));
  Gateway of_another_seed(lenient(8));
  for (Gateway* const gateway : {&one, &other, &of_another_seed}) {
    gateway->chat().reply("one two three four five");
    gateway->chaos(cut);
  }
  // Returns how much of its reply each question got.
  const auto sent = [](Gateway& gateway) {
    std::vector<std::size_t> tokens;
    for (int i = 0; i < 40; ++i) {
      robust(gateway).stream(Json("question " + std::to_string(i)));
      REQUIRE(gateway.journal().wait_until_idle(10s));
      tokens.push_back(gateway.journal().last().tokens_sent());
    }
    return tokens;
  };
  const std::vector<std::size_t> first = sent(one);
  sent(one);  // the retries of a client, which here come after all questions
  CHECK(sent(one) == first);
  CHECK(sent(other) == first);
  CHECK(sent(of_another_seed) != first);
  CHECK(std::set<std::size_t>(first.begin(), first.end()) == std::set<std::size_t>{1, 2, 3, 4, 5});

  // A rule that counts requests continues to count.
  Gateway counting(lenient(7));
  counting.chaos(Chaos(server_error()).first(1).by_request());
  CHECK(failed_of(robust(counting), 3, "Hi") == Comings{1});
}

/// Returns 40 questions, plain and streamed, each of them 4 times.
inline std::vector<std::pair<std::string, bool>> questions() {
  std::vector<std::pair<std::string, bool>> all;
  for (int coming = 0; coming < 4; ++coming) {
    for (int i = 0; i < 40; ++i) {
      all.emplace_back("question " + std::to_string(i), false);
      all.emplace_back("question " + std::to_string(i), true);
    }
  }
  return all;
}

inline Texts struck_by(std::uint64_t seed, const std::vector<std::pair<std::string, bool>>& asked,
                       std::size_t clients) {
  Gateway gateway(lenient(seed));
  gateway.chat().reply("one two three four five");
  gateway.chaos(Chaos(at_any_token(8), close_connection()).probability(0.3).when(stream_is(true)));
  gateway.chaos(Chaos(rate_limited(1s)).nth(3).when(user_says("7")));
  gateway.chaos(Chaos(overloaded()).probability(0.1));
  gateway.chaos(Chaos(early_hints()).first(1).probability(0.5));
  in_threads(clients, [&](std::size_t client) {
    const Http http = robust(gateway);
    for (std::size_t i = client; i < asked.size(); i += clients) {
      RawConnection connection(gateway);
      connection.send(http.format(
          "POST", test_support::chat_path,
          asked[i].second ? streamed(asked[i].first).dump() : test_support::chat_body(Json(asked[i].first)).dump()));
      if (connection.receive_response().status == 103) connection.receive_response();
    }
  });
  return struck(gateway);
}

TEST_CASE("the same requests are affected in the same way, for any number of clients and any order") {
  auto asked = questions();
  const Texts in_order = struck_by(1, asked, 1);
  CHECK(in_order.size() > 60);
  std::reverse(asked.begin(), asked.end());
  CHECK(struck_by(1, asked, 1) == in_order);
  for (const unsigned seed : {1u, 2u, 3u}) {
    std::shuffle(asked.begin(), asked.end(), std::mt19937(seed));
    CHECK(struck_by(1, asked, 8) == in_order);
  }
  CHECK(struck_by(2, asked, 8) != in_order);
}

TEST_CASE("every rule counts parallel equal requests in the same order") {
  Gateway gateway(lenient());
  constexpr std::size_t rules = 12;
  for (std::size_t rule = 0; rule < rules; ++rule) gateway.chaos(Chaos(Pace().first_token_after(1us)).nth(2));
  in_threads(8, [&](std::size_t) {
    const Http http = robust(gateway);
    for (int request = 0; request < 250; ++request) http.chat();
  });
  REQUIRE(gateway.journal().wait_until_idle(10s));
  std::size_t struck_by_all = 0;
  std::size_t struck_by_some = 0;
  for (const Exchange& exchange : gateway.journal().all()) {
    const std::size_t strikes = exchange.chaos().size();
    if (strikes == rules) ++struck_by_all;
    if (strikes != 0 && strikes != rules) ++struck_by_some;
  }
  REQUIRE(gateway.journal().count() == 2000);
  CHECK(struck_by_all == 1000);
  CHECK(struck_by_some == 0);
}

TEST_CASE("nth() and first() count the occurrences of each request separately") {
  Gateway gateway(lenient());
  const Http http = robust(gateway);
  gateway.chaos(Chaos(server_error()).nth(3));
  CHECK(failed_of(http, 2, "a") == Comings{});
  CHECK(failed_of(http, 7, "b") == Comings{3, 6});
  CHECK(failed_of(http, 2, "a") == Comings{1});
  gateway.clear_chaos();
  gateway.chaos(Chaos(server_error()).first(2));
  CHECK(failed_of(http, 5, "a") == Comings{1, 2});
  CHECK(failed_of(http, 5, "b") == Comings{1, 2});
  gateway.clear_chaos();
  gateway.chaos(Chaos(server_error()).first(5).nth(2));  // both conditions must hold
  CHECK(failed_of(http, 8, "a") == Comings{2, 4});
}

TEST_CASE("a retry is another occurrence of a request; another key or a stream makes it another request") {
  Gateway gateway(lenient());
  const std::string other = gateway.keys().create("another service").secret;
  gateway.chaos(Chaos(rate_limited()).nth(2));
  const Http http = robust(gateway);
  CHECK(http.chat().status == 200);
  CHECK(http.with_key(other).chat().status == 200);
  CHECK(http.stream().status == 200);
  CHECK(http.stream({{"stream_options", {{"include_usage", true}}}}).status == 200);
  CHECK(http.chat({{"temperature", 0.5}}).status == 200);
  CHECK(http.with_header("x-stainless-retry-count", "1").with_header("Idempotency-Key", "7").chat().status == 429);
  CHECK(http.with_key(other).chat().status == 429);
  CHECK(http.stream().status == 429);
}

TEST_CASE("chaos for a key depends on the key's description, not on when it was created") {
  const auto struck_by_key = [](const Texts& descriptions) {
    Gateway gateway(lenient());
    std::map<std::string, std::string> secrets;
    for (const std::string& description : descriptions)
      secrets[description] = gateway.keys().create(description).secret;
    gateway.chaos(Chaos(server_error()).probability(0.5));
    std::map<std::string, Texts> failed;
    for (const auto& [description, secret] : secrets) {
      const Http http = robust(gateway).with_key(secret);
      for (const char letter : std::string("abcdefghijklmnop"))
        if (http.chat(Json(std::string(1, letter))).status != 200) failed[description].emplace_back(1, letter);
    }
    return failed;
  };
  const auto struck = struck_by_key({"billing", "search", "support"});
  CHECK(struck == struck_by_key({"support", "billing", "search"}));
  CHECK(struck.at("billing") != struck.at("search"));
  CHECK(struck.at("billing") == struck_by_key({"more", "billing"}).at("billing"));

  // Keys without a description are distinguished by their ids.
  Gateway gateway(lenient());
  gateway.chaos(Chaos(server_error()).nth(2));
  for (int i = 0; i < 2; ++i) {
    const Http http = robust(gateway).with_key(gateway.keys().create().secret);
    CHECK(http.chat().status == 200);
    CHECK(http.chat().status == 500);
  }
}

TEST_CASE("a rule affects and counts only matching requests") {
  Gateway gateway(lenient());
  const Http http = robust(gateway);
  gateway.chaos(Chaos(server_error())
                    .nth(2)
                    .when(user_says("weather"), !stream_is(true))
                    .when(has_header("x-tenant", equals("b"))));
  const Http tenant = http.with_header("X-Tenant", "b");
  CHECK(tenant.chat(Json("weather?")).status == 200);
  CHECK(http.chat(Json("weather?")).status == 200);  // the rule does not count this request
  CHECK(tenant.chat(Json("sports?")).status == 200);
  CHECK(tenant.chat(Json("sports?")).status == 200);
  CHECK(tenant.chat(Json("weather?")).status == 500);
}

TEST_CASE("refused requests are neither affected nor counted") {
  Gateway gateway(lenient());
  gateway.chaos(Chaos(server_error()).nth(2));
  const Http http = robust(gateway);
  CHECK(http.without_key().chat().status == 401);
  CHECK(http.chat({{"model", "unknown"}}).status == 404);
  CHECK(http.get("/v1/models").status == 200);
  CHECK(http.chat().status == 200);
  CHECK(http.chat().status == 500);
  gateway.chaos(Chaos(before_headers(), close_connection()));
  gateway.chat().when(user_says("something else")).reply("one");
  CHECK(http.chat().error_code() == "no_stub_matched");
  CHECK(gateway.journal().last().chaos().empty());
}

// --- Effects ---------------------------------------------------------------------------------------------------------

TEST_CASE("a failure of chaos calls no stub: the retry gets the scripted reply") {
  Gateway gateway;
  const Stub stub = gateway.chat().expect(2).reply("one", "two");
  gateway.chaos(Chaos(rate_limited(1s)).first(1));
  const Http http(gateway);
  const Response failed = http.chat();
  CHECK(failed.status == 429);
  CHECK(failed.header("Retry-After") == "1");
  CHECK(failed.error_code() == "rate_limit_exceeded");
  CHECK(gateway.journal().last().decision() == Decision::Kind::chaos);
  CHECK(gateway.journal().last().decision().detail == "429 rate_limit_exceeded");
  CHECK(stub.calls() == 0);
  CHECK(http.ask("Hi") == "one");
  CHECK(http.ask("Hi") == "two");
  CHECK(gateway.verify());
}

/// Returns the bytes of a gateway's first reply, and how the connection ended.
inline RawConnection::Received first_reply(const std::vector<Chaos>& rules, bool stream) {
  ManualClock clock;
  Gateway gateway(lenient().clock(clock));
  gateway.chat().reply("one Zürich two");
  for (const Chaos& rule : rules) gateway.chaos(rule);
  RawConnection connection(gateway);
  connection.send(
      Http(gateway).with_header("Connection", "close").format_chat(stream ? Json{{"stream", true}} : Json{}));
  return connection.receive_all();
}

TEST_CASE("a fault of chaos breaks the reply at its exact byte, after everything before it") {
  const std::string plain = first_reply({}, false).bytes;
  const std::size_t body = plain.find("\r\n\r\n") + 4;
  const auto cut = first_reply({Chaos(after_bytes(50), reset_connection())}, false);
  CHECK(cut.bytes == plain.substr(0, body + 50));
  CHECK(cut.end == End::reset);

  const std::string stream = first_reply({}, true).bytes;
  const auto broken = first_reply({Chaos(after_tokens(2), close_connection())}, true);
  CHECK(broken.bytes == stream.substr(0, stream.find("\r\n", stream.find("Zürich")) + 2));
  CHECK(broken.end == End::fin);

  const auto noisy = first_reply({Chaos(before_headers(), garbage("noise"))}, true);
  CHECK(noisy.bytes == "noise");
  CHECK(noisy.end == End::fin);
}

TEST_CASE("a random place can be any possible place") {
  Gateway gateway(lenient());
  gateway.chat().reply("one two three four five");
  gateway.chaos(Chaos(at_any_token(4), close_connection()));
  const Http http = robust(gateway);
  for (int i = 0; i < 200; ++i) http.post(test_support::chat_path, streamed("question " + std::to_string(i)));
  REQUIRE(gateway.journal().wait_until_idle(10s));
  std::map<std::size_t, int> places;
  for (const Exchange& exchange : gateway.journal().all()) {
    const std::size_t tokens = exchange.tokens_sent();
    ++places[tokens];
    CHECK(exchange.chaos() ==
          Texts{"rule 1: close the connection after " + std::to_string(tokens) + (tokens == 1 ? " token" : " tokens") +
                ", drawn from 1 to 4 (every time, seed 1, occurrence 1)"});
  }
  REQUIRE(places.size() == 4);
  for (std::size_t place = 1; place <= 4; ++place) CHECK(places[place] > 25);
}

TEST_CASE("chaos slows a reply and keeps the reply's other settings") {
  ManualClock clock;
  Gateway gateway(lenient().clock(clock).model("mock-model").model("slow"));
  gateway.chat().reply(text("one two").every(1s));
  gateway.chaos(Chaos(Pace().first_token_after(2s)).first(1).when(stream_is(true), model_is("slow")));
  const auto ask = [&] {
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"model", "slow"}, {"stream", true}}));
    return connection;
  };
  RawConnection slow = ask();
  REQUIRE(clock.wait_for_waits(1, patience));
  clock.advance(2s - 1ms);
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.tokens_sent() == 0);
  clock.advance(1ms);
  CHECK(slow.receive_until("one").found);
  REQUIRE(clock.wait_for_waits(1, patience));
  clock.advance(1s);
  CHECK(slow.receive_until("[DONE]").found);
  CHECK(exchange.chaos() == Texts{"rule 1: first token after 2000 ms (first 1, seed 1, occurrence 1)"});

  RawConnection second = ask();
  CHECK(second.receive_until("one").found);  // arrives without delay
  clock.advance(1s);
}

TEST_CASE("chaos adds an interim response before a reply") {
  Gateway gateway;
  gateway.chaos(Chaos(early_hints()).first(1));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat());
  CHECK(connection.receive_response().status == 103);
  CHECK(connection.receive_response().status == 200);
  connection.send(Http(gateway).format_chat());
  CHECK(connection.receive_response().status == 200);
  CHECK(gateway.journal().at(1).chaos() == Texts{"rule 1: 103 Early Hints (first 1, seed 1, occurrence 1)"});
}

TEST_CASE("interim responses come in the order of the rules, and then those of the reply") {
  for (const bool stream : {false, true}) {
    CAPTURE(stream);
    Gateway gateway;
    gateway.chat().reply(text("Hello").early_hints({{"Link", "</reply>"}}));
    gateway.chaos(Chaos(early_hints({{"Link", "</first>"}})));
    gateway.chaos(Chaos(unsolicited_continue()));
    gateway.chaos(Chaos(early_hints({{"Link", "</third>"}})));
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", stream}}));
    Texts came;
    Response response;
    while ((response = connection.receive_response()).status < 200)
      came.push_back(std::to_string(response.status) + response.header("Link"));
    CHECK(came == Texts{"103</first>", "100", "103</third>", "103</reply>"});
    CHECK(response.status == 200);
    CHECK(gateway.journal().last().chaos().size() == 3);
  }
}

TEST_CASE("all applicable rules apply in order, up to a failure; rules after it only count the request") {
  Gateway gateway(lenient());
  gateway.chaos(Chaos(after_bytes(10), close_connection()).first(1));
  gateway.chaos(Chaos(unsolicited_continue()).first(1));
  gateway.chaos(Chaos(rate_limited()).first(1));
  gateway.chaos(Chaos(server_error()).first(2));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat());
  CHECK(connection.receive_response().status == 100);
  const Response cut = connection.receive_response();
  CHECK(cut.status == 429);
  CHECK(cut.body == std::string("{\"error\":{\"message\"").substr(0, 10));
  CHECK_FALSE(cut.complete);
  CHECK(gateway.journal().last().chaos() ==
        Texts{"rule 1: close the connection after 10 bytes of the body (first 1, seed 1, occurrence 1)",
              "rule 2: unsolicited 100 Continue (first 1, seed 1, occurrence 1)",
              "rule 3: 429 rate_limit_exceeded (first 1, seed 1, occurrence 1)"});
  const Http http(gateway);
  CHECK(http.chat().status == 500);
  CHECK(gateway.journal().last().chaos() == Texts{"rule 4: 500 internal_error (first 2, seed 1, occurrence 2)"});
  CHECK(http.chat().status == 200);
}

TEST_CASE("an effect that is impossible for a reply is skipped, and an unreached place is not a problem") {
  Gateway gateway(lenient());
  gateway.chat().reply(raw_reply(200, "as it is"), service_unavailable(), "one two",
                       text("one two").fault(after_tokens(9), close_connection()));
  gateway.chaos(Chaos(after_tokens(5), close_connection()));
  gateway.chaos(Chaos(Pace().every(1ms)).first(1));
  const Http http(gateway);
  CHECK(http.chat().body == "as it is");
  CHECK(gateway.journal().last().chaos().empty());
  CHECK(http.chat().status == 503);
  CHECK(gateway.journal().last().chaos().empty());
  CHECK(http.stream().joined_text() == "one two");
  REQUIRE(gateway.journal().wait_until_idle(patience));
  CHECK(gateway.journal().last().chaos() ==
        Texts{"rule 1: close the connection after 5 tokens (every time, seed 1, occurrence 1): not reached",
              "rule 2: 1 ms between tokens (first 1, seed 1, occurrence 1)"});
  CHECK(gateway.verify());
  // An unreached fault of the script is a problem.
  http.stream();
  REQUIRE(gateway.verify().problems().size() == 1);
  CHECK(gateway.verify().problems()[0].kind == Problem::Kind::fault_not_reached);
  CHECK(gateway.verify().problems()[0].text.find("after 9 tokens") != std::string::npos);
}

TEST_CASE("an exchange records whether each rule was reached, in addition to scripted faults") {
  const std::string missed = ": not reached";
  const auto told = [&](const Reply& reply, const std::vector<Chaos>& rules) {
    Gateway gateway(lenient());
    gateway.chat().reply(reply);
    for (const Chaos& rule : rules) gateway.chaos(rule);
    robust(gateway).stream();
    REQUIRE(gateway.journal().wait_until_idle(10s));
    std::string all;
    for (const std::string& strike : gateway.journal().last().chaos())
      all += strike.substr(0, 6) + (strike.find(missed) == std::string::npos ? " struck\n" : missed + "\n");
    return all;
  };
  const Reply reply = text("one two three four");
  const Chaos near(after_tokens(2), skip_event());
  const Chaos far(after_tokens(9), close_connection());
  const Chaos slow(Pace().every(0s));
  const Fault comes{after_tokens(1), skip_event()};
  const Fault never{after_tokens(8), skip_event()};
  CHECK(told(reply, {near, far}) == "rule 1 struck\nrule 2: not reached\n");
  CHECK(told(reply.fault(comes.trigger, comes.effect), {far}) == "rule 1: not reached\n");
  CHECK(told(reply.fault(never.trigger, never.effect), {near}) == "rule 1 struck\n");
  CHECK(told(reply.fault(comes.trigger, comes.effect).fault(never.trigger, never.effect), {slow, far, near, slow}) ==
        "rule 1 struck\nrule 2: not reached\nrule 3 struck\nrule 4 struck\n");
  CHECK(told(reply.fault(never.trigger, never.effect).fault(comes.trigger, comes.effect), {near, slow, far}) ==
        "rule 1 struck\nrule 2 struck\nrule 3: not reached\n");
}

TEST_CASE("a rule that cannot apply to a reply does not prevent later rules") {
  Gateway gateway(lenient());
  gateway.chat().reply(raw_reply(200, "as it is"));
  gateway.chaos(Chaos(after_tokens(5), close_connection()));
  gateway.chaos(Chaos(unsolicited_continue()));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat());
  CHECK(connection.receive_response().status == 100);
  CHECK(connection.receive_response().body == "as it is");
  CHECK(gateway.journal().last().chaos() ==
        Texts{"rule 2: unsolicited 100 Continue (every time, seed 1, occurrence 1)"});
}

// --- Reports to the tester -------------------------------------------------------------------------------------------

TEST_CASE("a gateway without chaos does not mention it") {
  Gateway gateway;
  const Http http(gateway);
  http.chat();
  CHECK(gateway.verify().message() == "nothing is wrong");
  CHECK(without_counts(gateway.review().message()) == "clean: 1 exchange judged");
  CHECK(gateway.journal().last().summary() == "#1 POST /v1/chat/completions 200 default reply completed");
}

TEST_CASE("verify() and review() print the seed, the affected requests and how to repeat them") {
  Gateway gateway(lenient(42));
  gateway.chaos(Chaos(after_tokens(2), close_connection()).nth(2).when(stream_is(true)));
  CHECK(gateway.verify().message() ==
        "nothing is wrong\n"
        "chaos: seed 42, 1 rule, 0 of 0 requests struck; Options{}.seed(42) or --seed 42 repeats these strikes");
  gateway.chaos(Chaos(unauthorized()).first(1).when(!stream_is(true)));
  gateway.chaos(Chaos(after_tokens(100), close_connection()));
  const Http http = robust(gateway);
  http.stream();
  http.stream();
  http.chat();
  http.get("/v1/models");
  const std::string line =
      "chaos: seed 42, 3 rules, 2 of 3 requests struck; Options{}.seed(42) or --seed 42 repeats these strikes";
  CHECK(gateway.verify().message() == "nothing is wrong\n" + line);
  CHECK(gateway.verify().notes() == Texts{line});
  CHECK(without_counts(gateway.review().message()) == "clean: 4 exchanges judged\n" + line);
  CHECK(gateway.journal().at(2).summary() ==
        "#2 POST /v1/chat/completions 200 default reply broken by fault after 3 events; "
        "chaos rule 1: close the connection after 2 tokens (nth 2, seed 42, occurrence 2); "
        "chaos rule 3: close the connection after 100 tokens (every time, seed 42, occurrence 2): not reached");
  CHECK(gateway.journal().at(3).summary() ==
        "#3 POST /v1/chat/completions 401 chaos (401 unauthorized) completed; "
        "chaos rule 2: 401 unauthorized (first 1, seed 42, occurrence 1)");

  http.chat();
  CHECK(without_counts(gateway.review().message()) ==
        "retried_final_error (exchange 5 after 3): retried after 401 \"unauthorized\", but a retry cannot fix this "
        "error. Use another key, or report the error to the caller.\n"
        "chaos: seed 42, 3 rules, 2 of 4 requests struck; Options{}.seed(42) or --seed 42 repeats these strikes");

  gateway.chat().named("weather").when(user_says("weather")).expect(1).reply("Sunny.");
  gateway.chaos(Chaos(overloaded()).when(user_says("weather")));
  http.chat(Json("weather?"));
  gateway.clear_chaos();
  const std::string unmet = gateway.verify().message();
  CHECK(unmet.find("exchange 6 matches this stub, but the answer was chaos, 401 unauthorized\n"
                   "chaos: seed 42, no rules left, 3 of 5 requests struck; Options{}.seed(42) or --seed 42 repeats "
                   "these strikes") != std::string::npos);

  gateway.journal().clear();
  gateway.reset();
  http.chat();
  CHECK(gateway.verify().message() == "nothing is wrong");
}

TEST_CASE("a scope reports only its own affected requests") {
  Gateway gateway(lenient());
  const CreatedKey mine = gateway.keys().create("mine");
  gateway.chaos(Chaos(server_error()).first(1));
  const Http http = robust(gateway);
  http.chat();
  http.chat();
  http.with_key(mine.secret).chat();
  CHECK(gateway.verify(mine.id).message() ==
        "nothing is wrong\nchaos: seed 1, 1 rule, 1 of 1 request struck; Options{}.seed(1) or --seed 1 repeats these "
        "strikes");
}

TEST_CASE("review() considers only failures that the client received completely") {
  Gateway gateway(lenient());
  gateway.chaos(Chaos(unauthorized()).first(1).when(user_says("read")));
  const Http http = robust(gateway);
  http.chat(Json("read"));
  http.chat(Json("read"));
  REQUIRE(gateway.review().findings().size() == 1);
  CHECK(gateway.review().findings()[0].code == "retried_final_error");

  gateway.reset();
  gateway.chaos(Chaos(before_headers(), wrong_content_length(5)).first(1));
  gateway.chaos(Chaos(unauthorized()).first(1));
  CHECK(left_at_the_end_of_the_body(gateway).find("HTTP/1.1 401") == 0);
  http.chat();
  REQUIRE(gateway.journal().wait_until_idle(patience));
  CHECK(gateway.journal().all().front().outcome() == Outcome::Kind::completed);
  CHECK(gateway.review());

  gateway.reset();
  gateway.chat().reply(Reply(unauthorized()).fault(before_headers(), wrong_content_length(5)), "now");
  left_at_the_end_of_the_body(gateway);
  http.chat();
  CHECK(gateway.review());

  // A fault that was not reached does not count as an effect.
  gateway.reset();
  gateway.chaos(Chaos(after_bytes(10'000), close_connection()).first(1));
  gateway.chaos(Chaos(unauthorized()).first(1));
  CHECK(http.chat().complete);
  CHECK(http.chat().status == 200);
  CHECK(gateway.review().findings().size() == 1);
}

TEST_CASE("a matcher of chaos that throws causes a 500 and a problem") {
  Gateway gateway(lenient());
  gateway.chaos(Chaos(server_error()).first(1).when(user_says("never")));
  gateway.chaos(Chaos(server_error()).when(matching("is odd", [](const ChatRequest&) -> bool {
    throw std::runtime_error("no idea");
  })));
  const Response response = Http(gateway).chat();
  CHECK(response.status == 500);
  CHECK(gateway.journal().last().decision() == Decision::Kind::callback_failed);
  const Verification verification = gateway.verify();
  REQUIRE(verification.problems().size() == 1);
  CHECK(verification.problems()[0].text ==
        "a function of the test threw  POST /v1/chat/completions  key \"default key\"  exchange 1\n"
        "  user: \"Hi\"\n"
        "  the matcher \"is odd\" of rule 2 of chaos threw: no idea");
}

TEST_CASE("a key in text sent by chaos is masked in the journal") {
  Gateway gateway(lenient());
  gateway.chaos(Chaos(failure(500, gateway.api_key(), "oops")));
  Http(gateway).chat();
  const Exchange exchange = gateway.journal().last();
  REQUIRE(exchange.chaos().size() == 1);
  CHECK(exchange.chaos()[0].find(gateway.api_key()) == std::string::npos);
  CHECK(exchange.summary().find(gateway.api_key()) == std::string::npos);
}

// --- Rules -----------------------------------------------------------------------------------------------------------

TEST_CASE("reset() and clear_chaos() remove rules and counts; past effects stay recorded") {
  Gateway gateway(lenient());
  const Http http = robust(gateway);
  for (const bool resets : {true, false}) {
    gateway.chaos(Chaos(server_error()).first(1));
    CHECK(http.chat().status == 500);
    const Exchange exchange = gateway.journal().last();
    resets ? gateway.reset() : gateway.clear_chaos();
    CHECK(http.chat().status == 200);
    CHECK(exchange.chaos() == Texts{"rule 1: 500 internal_error (first 1, seed 1, occurrence 1)"});
  }
  gateway.chaos(Chaos(server_error()).first(1));
  CHECK(http.chat().status == 500);
}

TEST_CASE("a rule describes itself") {
  CHECK(Chaos(after_tokens(2), reset_connection()).probability(0.1).when(user_says("weather")).to_string() ==
        "reset the connection after 2 tokens (probability 0.1, when user text contains \"weather\")");
  CHECK(Chaos(at_any_event(10), skip_event()).nth(3).first(9).to_string() ==
        "skip an event after 1 to 10 events (nth 3, first 9)");
  CHECK(Chaos(at_any_byte(1), close_connection()).to_string() ==
        "close the connection after 1 byte of the body (every time)");
  CHECK(Chaos(rate_limited(1s)).probability(1).to_string() == "429 rate_limit_exceeded (probability 1)");
  CHECK(Chaos(rate_limited(1s)).first(2).by_request().to_string() == "429 rate_limit_exceeded (first 2, by request)");
  CHECK(Chaos(Pace().first_token_after(uniform(1ms, 2ms)).tokens_per_second(2.5).chunked(by_words())).to_string() ==
        "first token after a drawn time, 2.5 tokens per second, cut in other chunks (every time)");
  CHECK(Chaos(Pace().first_token_after(2s).every(1500us)).to_string() ==
        "first token after 2000 ms, 1.5 ms between tokens (every time)");
  CHECK(Chaos(Pace().every(normal(20ms, 5ms))).to_string() == "a drawn time between tokens (every time)");
  CHECK(Chaos(Pace().tokens_per_second(normal(20.0, 5.0))).to_string() ==
        "a drawn number of tokens per second (every time)");
  CHECK(Chaos(unsolicited_continue()).to_string() == "unsolicited 100 Continue (every time)");
}

TEST_CASE("a rule that can have no effect throws") {
  const Chaos rule(server_error());
  const auto wrong = [](const std::string& given) {
    return "mock_gateway: a probability of chaos is a number from 0 to 1, not " + given + "; 0.1 strikes one in ten";
  };
  CHECK(refused([&] { (void)rule.probability(1.5); }) == wrong("1.5"));
  CHECK(refused([&] { (void)rule.probability(-0.1); }) == wrong("-0.1"));
  CHECK(refused([&] { (void)rule.probability(std::stod("nan")); }) == wrong("NaN"));
  CHECK(refused([&] { (void)rule.nth(0); }) ==
        "mock_gateway: Chaos::nth(0) would strike nothing; nth(1) strikes each time, nth(3) one in 3");
  CHECK(refused([&] { (void)rule.first(0); }) ==
        "mock_gateway: Chaos::first(0) would strike nothing; first(1) strikes each request once");
  CHECK(refused([] { at_any_token(0); }) ==
        "mock_gateway: a trigger is drawn from 1 up: at_any_token(10) is after the first up to the 10th");
  CHECK(refused([] { DrawnTrigger(Trigger::Kind::at_end, 3); }) ==
        "mock_gateway: a trigger is drawn among events, tokens or bytes: at_any_event, at_any_token, at_any_byte");
  CHECK(refused([] { Chaos(before_headers(), truncate()); }) ==
        "mock_gateway: \"truncate the body before headers\" can never happen: the body has not begun; use "
        "close_connection()");
  CHECK(refused([] { Chaos(at_any_byte(5), skip_event()); }) ==
        "mock_gateway: \"skip an event after 5 bytes of the body\" can never happen: an event cannot be sent inside "
        "another; use after_events or after_tokens");
  CHECK(refused([] { Chaos{Pace()}; }) ==
        "mock_gateway: this pace sets nothing; set a time, such as Pace().first_token_after(2s)");
  CHECK(refused([] { Chaos{Pace().chunked(by_pieces({"a"}))}; }) ==
        "mock_gateway: by_pieces fits only one reply; set it there: text(…).chunked(by_pieces({…}))");
  CHECK(refused([] { Chaos{reset_on_accept()}; }) ==
        "mock_gateway: \"reset on accept\" happens before the request is read, but chaos chooses by the request; use "
        "Gateway::next_connection, or the nearest chaos: Chaos(before_headers(), reset_connection())");
  for (const ConnectionFault& fault :
       {close_on_accept(), garbage_on_accept(), close_when_reused(), reset_when_reused(), slow_body(1, 1s),
        reply_before_body(server_error()), reply_then_read_body(server_error())})
    CHECK_THROWS_AS(Chaos{fault}, GatewayError);
}

TEST_CASE("rules can change while clients send requests") {
  Gateway gateway(lenient());
  gateway.chat().reply("one two three");
  std::atomic<bool> over{false};
  std::atomic<std::size_t> answered{0};
  std::vector<std::thread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&gateway, &over, &answered] {
      const Http http = robust(gateway);
      while (!over) {
        const int status = http.stream().status;
        if (status == 200 || status == 503) ++answered;
      }
    });
  }
  const auto keep_asking = [&answered] {
    const std::size_t before = answered;
    return test_support::eventually([&] { return answered >= before + 4; });
  };
  for (int round = 0; round < 50; ++round) {
    gateway.chaos(Chaos(service_unavailable()).nth(2).when(matching("is asked", [](const ChatRequest& request) {
      return request.stream;
    })));
    gateway.chaos(Chaos(at_any_token(3), close_connection()).probability(0.5));
    CHECK(keep_asking());
    for (const Exchange& exchange : gateway.journal().all()) CHECK(!exchange.summary().empty());
    round % 5 == 0 ? gateway.reset() : gateway.clear_chaos();
    if (round % 5 == 0) gateway.chat().reply("one two three");
  }
  over = true;
  for (std::thread& client : clients) client.join();
  CHECK(gateway.journal().wait_until_idle(patience));
}

}  // namespace chaos_test
