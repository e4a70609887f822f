// The journal: its records of exchanges, its limits, and how a test waits for exchanges.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/shell.hpp"
#include "support/text.hpp"

namespace journal_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::chat_body;
using test_support::chat_path;
using test_support::error_of;
using test_support::eventually;
using test_support::has_part;
using test_support::Http;
using test_support::printed;
using test_support::RawConnection;
using test_support::Response;

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST_CASE("an exchange records everything that the client sent, except its key") {
  const Gateway gateway;
  const Http http = Http(gateway).with_header("X-Request", "7").with_header("x-request", "8");
  const Response response = http.post(std::string(chat_path) + "?trace=1", chat_body({{"temperature", 0.2}}));
  REQUIRE(response.status == 200);

  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.id() == 1);
  CHECK(exchange.method() == "POST");
  CHECK(exchange.path() == chat_path);
  CHECK(exchange.query() == "trace=1");
  CHECK(exchange.headers().find("authorization") == "Bearer sk-***");
  CHECK(exchange.headers().all("X-REQUEST") == std::vector<std::string>{"7", "8"});
  CHECK(exchange.body() == chat_body({{"temperature", 0.2}}).dump());
  CHECK(exchange.raw() ==
        replaced(http.format("POST", std::string(chat_path) + "?trace=1", chat_body({{"temperature", 0.2}}).dump()),
                 gateway.api_key(), "sk-***"));
  CHECK(exchange.key_id() == gateway.keys().list().front().id);
  CHECK(exchange.status() == 200);
  CHECK(exchange.outcome() == Outcome::Kind::completed);
  CHECK(exchange.bytes_sent() == response.raw.size());
  CHECK(exchange.events_sent() == 0);
}

TEST_CASE("the chat request is available in parsed form") {
  const Gateway gateway;
  Http(gateway).chat(
      {{"temperature", 0.2}, {"stop", "END"}, {"messages", Json::array({{{"role", "user"}, {"content", "Hi"}}})}});
  const auto& request = gateway.journal().last().chat();
  CHECK(request.temperature == 0.2);
  CHECK(request.messages.back().text() == "Hi");
  CHECK(request.stop == std::vector<std::string>{"END"});
  const std::vector<Finding> findings = gateway.journal().last().findings();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].code == "stop_as_string");
}

TEST_CASE("reading the chat request of an exchange that has none is an error") {
  const Gateway gateway;
  Http(gateway).get("/v1/models");
  CHECK(has_part(error_of([&] { gateway.journal().last().chat(); }),
                 "exchange 1 (GET /v1/models) is not a valid chat request"));
  const std::string longest = "/" + std::string(99, 'a');
  Http(gateway).get(longest);
  CHECK(has_part(error_of([&] { gateway.journal().last().chat(); }), " (GET " + longest + ") is"));
  Http(gateway).get(longest + "b");
  CHECK(has_part(error_of([&] { gateway.journal().last().chat(); }), "a…) is"));
  Http(gateway).post(chat_path, Json{{"model", "mock-model"}});
  CHECK(has_part(error_of([&] { gateway.journal().last().chat(); }), "answered with 400"));
}

TEST_CASE("raw() of a chunked request has the chunk framing, body() has not") {
  const Gateway gateway;
  const std::string body = chat_body("chunked").dump();
  const std::string head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                           gateway.api_key() + "\r\nContent-Type: application/json\r\n" +
                           "Transfer-Encoding: chunked\r\n\r\n";
  std::ostringstream chunks;
  chunks << std::hex << 10 << "\r\n" << body.substr(0, 10) << "\r\n";
  chunks << body.size() - 10 << ";note=1\r\n" << body.substr(10) << "\r\n0\r\nX-Trailer: 1\r\n\r\n";
  RawConnection connection(gateway);
  connection.send(head + chunks.str());
  REQUIRE(connection.receive_response().status == 200);
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.body() == body);
  CHECK(exchange.chat().last_user_text() == "chunked");
  CHECK(exchange.raw() == replaced(head, gateway.api_key(), "sk-***") + chunks.str());
}

TEST_CASE("a key split by chunks is masked too") {
  const Gateway gateway;
  const std::string key = gateway.api_key();
  const std::string body = chat_body(key).dump();
  const std::size_t cut = body.find(key) + 10;
  std::ostringstream request;
  request << "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " << key
          << "\r\nTransfer-Encoding: chunked\r\n\r\n"
          << std::hex << cut << "\r\n"
          << body.substr(0, cut) << "\r\n"
          << body.size() - cut << "\r\n"
          << body.substr(cut) << "\r\n0\r\n\r\n";
  RawConnection connection(gateway);
  connection.send(request.str());
  REQUIRE(connection.receive_response().status == 200);
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.chat().last_user_text() == "sk-***");
  CHECK_FALSE(has_part(exchange.raw(), key.substr(0, 10)));
  CHECK_FALSE(has_part(exchange.raw(), key.substr(10)));

  // A key within one chunk is masked in place.
  std::ostringstream in_one;
  in_one << request.str().substr(0, request.str().find("\r\n\r\n") + 4) << std::hex << body.size() << "\r\n"
         << body << "\r\n0\r\n\r\n";
  connection.send(in_one.str());
  REQUIRE(connection.receive_response().status == 200);
  CHECK(has_part(gateway.journal().last().raw(), "\"content\":\"sk-***\""));
  CHECK_FALSE(has_part(gateway.journal().last().raw(), key));

  // The split key is masked even if a trailer field contains the complete key.
  const std::string end = "0\r\n\r\n";
  std::string with_trailer = request.str();
  with_trailer.replace(with_trailer.rfind(end), end.size(), "0\r\nX-Copy: " + key + "\r\n\r\n");
  connection.send(with_trailer);
  REQUIRE(connection.receive_response().status == 200);
  CHECK_FALSE(has_part(gateway.journal().last().raw(), key.substr(10)));
}

TEST_CASE("an exchange records its connection and its position on the connection") {
  const Gateway gateway;
  const Http kept = Http(gateway).keep_alive();
  kept.chat();
  kept.chat();
  Http(gateway).chat();
  const std::vector<Exchange> exchanges = gateway.journal().all();
  REQUIRE(exchanges.size() == 3);
  CHECK(exchanges[0].connection_id() == exchanges[1].connection_id());
  CHECK(exchanges[2].connection_id() != exchanges[1].connection_id());
  CHECK(exchanges[0].position() == 1);
  CHECK(exchanges[1].position() == 2);
  CHECK(exchanges[2].position() == 1);
}

TEST_CASE("each exchange records its decision and reason, and a summary fits on one line") {
  Gateway gateway;
  gateway.on("GET", "/v1/files", [](const ReceivedRequest&) { return Json::array(); });
  const Http http(gateway);
  const auto kind = [&] { return gateway.journal().last().decision().kind; };
  http.chat();
  CHECK(kind() == Decision::Kind::default_reply);
  http.get("/v1/models");
  CHECK(kind() == Decision::Kind::models);
  http.get("/v1/files");
  CHECK(kind() == Decision::Kind::handler);
  http.get("/v1/nothing");
  CHECK(kind() == Decision::Kind::rejected);
  CHECK(has_part(gateway.journal().last().decision().detail, "unknown_path"));
  http.without_key().chat();
  CHECK(kind() == Decision::Kind::rejected);
  CHECK(gateway.journal().last().key_id() == "");
  gateway.fail_next(server_error());
  http.chat();
  CHECK(kind() == Decision::Kind::forced_failure);
  gateway.chat().named("weather").reply("sunny");
  http.chat();
  CHECK(kind() == Decision::Kind::stub);

  const Exchange last = gateway.journal().last();
  REQUIRE(last.outcome() == Outcome::Kind::completed);
  CHECK(last.summary() == "#7 POST /v1/chat/completions 200 stub \"weather\" completed");
  CHECK(printed(last) == last.summary());
  CHECK(printed(last.decision()) == "stub \"weather\"");
}

TEST_CASE("the log function is called when an exchange ends") {
  std::mutex mutex;
  std::vector<std::string> log;
  const auto lines = [&] {
    const std::lock_guard<std::mutex> lock(mutex);
    return log;
  };
  const Gateway gateway{Options{}.on_exchange([&](const Exchange& exchange) {
    const std::lock_guard<std::mutex> lock(mutex);
    log.push_back(exchange.summary());
  })};
  Http(gateway).chat();
  REQUIRE(eventually([&] { return lines().size() == 1; }));
  Http(gateway).without_key().get("/v1/models");
  REQUIRE(eventually([&] { return lines().size() == 2; }));
  CHECK(lines()[0] == "#1 POST /v1/chat/completions 200 default reply completed");
  CHECK(lines()[1].substr(0, 31) == "#2 GET /v1/models 401 rejected ");
}

TEST_CASE("an exception in the log function does not affect the exchange") {
  const Gateway gateway{Options{}.on_exchange([](const Exchange&) { throw std::runtime_error("the log is full"); })};
  const Http http = Http(gateway).keep_alive();
  CHECK(http.chat().status == 200);
  CHECK(http.chat().status == 200);
  CHECK(gateway.journal().count() == 2);
}

TEST_CASE("an exchange that ended before a byte was sent has no status") {
  Gateway gateway(Options{}.verify_on_destruction(false));
  gateway.chat().reply(text("x").fault(before_headers(), close_connection()),
                       text("x").fault(after_headers(), close_connection()));
  for (int request = 1; request <= 2; ++request) {
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat());
    REQUIRE(gateway.journal().wait_for(static_cast<std::size_t>(request), 10s));
    CHECK(gateway.journal().last().outcome(10s) == Outcome::Kind::broken_by_fault);
  }
  const std::vector<Exchange> all = gateway.journal().all();
  CHECK(all[0].status() == 0);
  CHECK(as_json(all[0]).at("status").is_null());
  CHECK(has_part(all[0].summary(), "/v1/chat/completions (no status) stub"));
  CHECK(all[1].status() == 200);
  CHECK(as_json(all[1]).at("status") == 200);
}

TEST_CASE("an exchange is recorded before the gateway sends the first byte of the reply") {
  Gateway gateway;
  gateway.chat().reply(text("x").fault(before_headers(), stall()));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat());
  REQUIRE(gateway.journal().wait_for(1, 10s));
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.status() == 200);
  CHECK(exchange.decision().kind == Decision::Kind::stub);
  CHECK(exchange.outcome(0s) == Outcome::Kind::pending);
  CHECK(exchange.bytes_sent() == 0);
  CHECK_FALSE(exchange.first_byte().has_value());
  CHECK_FALSE(exchange.ended().has_value());
  connection.close();
  CHECK(exchange.outcome() == Outcome::Kind::client_left);
  CHECK(exchange.ended().has_value());
}

TEST_CASE("a client that leaves a stream is recorded with the events sent to it") {
  Gateway gateway;
  Gate gate;
  const Stub stub = gateway.chat().reply(text("a b c d").hold(gate, before_token(2)));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(10s));
  const Exchange exchange = stub.last_call();
  CHECK_FALSE(exchange.client_closed_its_side());
  CHECK_FALSE(exchange.wait_for_client_to_leave(0s));
  connection.abort();
  CHECK(exchange.wait_for_client_to_leave(10s));
  gate.open();
  const Outcome outcome = exchange.outcome();
  CHECK(outcome == Outcome::Kind::client_left);
  CHECK(outcome.events == 2);
  CHECK(printed(outcome) == "client left after 2 events");
  CHECK(exchange.tokens_sent() == 1);
}

TEST_CASE("a half-closing client is recorded, and gets a reply that survives this") {
  Gateway gateway;
  Gate gate;
  const Stub stub = gateway.chat().reply(text("a b").hold(gate, before_token(2)).survives_half_close());
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  connection.shutdown_write();
  REQUIRE(gate.wait_until_reached(10s));
  CHECK(stub.last_call().wait_for_client_to_leave(10s));
  CHECK(stub.last_call().client_closed_its_side());
  gate.open();
  CHECK(connection.receive_response().done());
  CHECK(stub.last_call().outcome() == Outcome::Kind::completed);
}

TEST_CASE("a scripted break is recorded as scripted") {
  Gateway gateway;
  gateway.chat().reply(text("a b c").fault(after_events(2), close_connection()));
  const Response response = Http(gateway).allow_incomplete().stream();
  CHECK_FALSE(response.complete);
  const Outcome outcome = gateway.journal().last().outcome();
  CHECK(outcome == Outcome::Kind::broken_by_fault);
  CHECK(outcome.events == 2);
  CHECK(printed(outcome) == "broken by fault after 2 events");
}

TEST_CASE("a complete stream is recorded with its events, tokens and bytes") {
  Gateway gateway;
  gateway.chat().reply("a b c");
  const Response response = Http(gateway).stream();
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.outcome() == Outcome::Kind::completed);
  CHECK(exchange.events_sent() == response.events().size());
  CHECK(exchange.tokens_sent() == 3);
  CHECK(exchange.bytes_sent() == response.raw.size());
  CHECK(printed(exchange.outcome()) == "completed");
}

TEST_CASE("recorded times are on the gateway's clock") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock)};
  gateway.chat().reply(text("one two").first_token_after(2s).every(1s));
  auto answer = std::async(std::launch::async, [&] { return Http(gateway).chat().status; });
  REQUIRE(clock.wait_for_waits(1, 10s));
  clock.advance(5s);
  CHECK(answer.get() == 200);
  const Exchange exchange = gateway.journal().last();
  REQUIRE(exchange.outcome() == Outcome::Kind::completed);
  CHECK(exchange.received() == ManualClock::default_start);
  CHECK(exchange.first_byte() == ManualClock::default_start + 3s);
  CHECK(exchange.ended().value() >= ManualClock::default_start + 3s);
  CHECK(exchange.ended().value() <= ManualClock::default_start + 5s);
}

#ifdef __linux__
TEST_CASE("a request's recorded arrival is when the system received it, even if the gateway reads it later") {
  std::atomic<bool> busy{false};
  std::atomic<bool> may_go_on{false};
  const RealClock clock;
  const Gateway gateway{Options{}.clock(clock).on_exchange([&](const Exchange&) {
    busy = true;
    eventually([&] { return may_go_on.load(); });
  })};
  const std::string request = Http(gateway).format_chat();
  RawConnection connection(gateway);
  TimePoint before{};
  TimePoint unblocked{};
  TimePoint received{};
  // Repeats the measurement, because the system may be late in stamping or delivering bytes.
  const bool received_before_read = eventually([&] {
    busy = may_go_on = false;
    connection.send(request);
    connection.receive_response();
    REQUIRE(eventually([&] { return busy.load(); }));
    before = clock.now();
    connection.send(request);
    eventually([&] { return clock.now() - before >= 20ms; });
    unblocked = clock.now();
    busy = false;
    may_go_on = true;
    REQUIRE(connection.receive_response().status == 200);
    received = gateway.journal().last().received();
    REQUIRE(eventually([&] { return busy.load(); }));
    return unblocked - received >= 10ms;
  });
  CHECK(received_before_read);
  CHECK(received >= before);
}
#endif

TEST_CASE("the recorded arrival of a pipelined request is when the previous reply has ended") {
  Gateway gateway;
  gateway.chat().reply(text("one").first_token_after(30ms));
  RawConnection connection(gateway);
  const std::string request = Http(gateway).format_chat();
  connection.send(request + request);
  connection.receive_response();
  connection.receive_response();
  const std::vector<Exchange> exchanges = gateway.journal().all();
  REQUIRE(exchanges.size() == 2);
  REQUIRE(exchanges[1].outcome() == Outcome::Kind::completed);
  CHECK(exchanges[1].received() - exchanges[0].received() >= 30ms);
  CHECK(exchanges[1].first_byte().value() - exchanges[1].received() >= 30ms);
}

TEST_CASE("a request that is read slowly or is cut off is recorded as received when reading ends") {
  const RealClock clock;
  Gateway gateway{Options{}.clock(clock).read_timeout(50ms)};
  const std::string request = Http(gateway).format_chat();
  TimePoint sent = clock.now();
  gateway.next_connection(slow_body(chat_body().dump().size() / 2, 20ms));
  RawConnection slow(gateway);
  slow.send(request);
  CHECK(slow.receive_response().status == 200);
  CHECK(gateway.journal().last().received() - sent >= 40ms);

  sent = clock.now();
  RawConnection cut(gateway);
  cut.send(request.substr(0, request.size() - 1));
  CHECK(cut.receive_response().status == 408);
  CHECK(gateway.journal().last().received() - sent >= 50ms);
}

TEST_CASE("an exchange records that the real-time guard of a manual clock ended its wait") {
  const ManualClock clock{ManualClock::default_start, 20ms};
  Gateway gateway{Options{}.clock(clock).verify_on_destruction(false)};
  gateway.chat().reply(text("late").first_token_after(1h));
  CHECK(Http(gateway).ask("x") == "late");
  CHECK(gateway.journal().last().guard_expired());
  gateway.chat().reply("at once");
  Http(gateway).chat();
  CHECK_FALSE(gateway.journal().last().guard_expired());
}

TEST_CASE("the journal keeps the newest exchanges within its limit and counts evicted ones") {
  const Gateway gateway{Options{}.journal_limits(3, 1 << 20)};
  const Http http = Http(gateway).keep_alive();
  std::vector<Exchange> kept;
  for (int i = 0; i < 5; ++i) {
    http.get("/v1/models");
    kept.push_back(gateway.journal().last());
  }
  const Journal journal = gateway.journal();
  CHECK(journal.count() == 5);
  CHECK(journal.evicted() == 2);
  REQUIRE(journal.all().size() == 3);
  CHECK(journal.all().front().id() == 3);
  CHECK(journal.last().id() == 5);
  CHECK(journal.at(3).id() == 3);
  CHECK(has_part(error_of([&] { journal.at(2); }), "exchange 2 was evicted"));
  CHECK(has_part(error_of([&] { journal.at(2); }), "Options::journal_limits"));
  CHECK(has_part(error_of([&] { journal.at(6); }), "there is no exchange 6 yet; the newest is 5"));
  CHECK(error_of([&] { journal.at(0); }) == "mock_gateway: exchange numbers start at 1");
  CHECK(kept[0].path() == "/v1/models");  // a handle keeps its evicted exchange
  CHECK(kept[0].outcome() == Outcome::Kind::completed);
}

TEST_CASE("a cleared journal has its full capacity again") {
  const Gateway gateway{Options{}.journal_limits(3, 20'000)};
  const Http http(gateway);
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    for (int i = 0; i < 3; ++i) http.chat(std::string(4'000, 'x'));
    CHECK(gateway.journal().all().size() == 3);
    CHECK(gateway.journal().evicted() == 0);
    gateway.journal().clear();
  }
}

TEST_CASE("the journal stays within its byte limit, but always keeps the newest exchange") {
  const Gateway gateway{Options{}.journal_limits(1000, 20'000)};
  const Http http(gateway);
  for (int i = 0; i < 4; ++i) http.chat(std::string(4'000, 'x'));
  CHECK(gateway.journal().count() == 4);
  CHECK(gateway.journal().evicted() >= 1);
  CHECK(gateway.journal().all().size() + gateway.journal().evicted() == 4);
  http.chat(std::string(50'000, 'y'));
  REQUIRE(gateway.journal().all().size() == 1);
  CHECK(gateway.journal().last().body().size() > 50'000);
  http.get("/v1/models");
  REQUIRE(gateway.journal().all().size() == 1);
  CHECK(gateway.journal().last().path() == "/v1/models");
}

TEST_CASE("journal limits of 0 throw at once") {
  CHECK_THROWS_AS(Gateway{Options{}.journal_limits(0, 1)}, GatewayError);
  CHECK_THROWS_AS(Gateway{Options{}.journal_limits(1, 0)}, GatewayError);
}

TEST_CASE("a test waits for a number of exchanges, and a failed wait reports how many there were") {
  const Gateway gateway;
  const Journal journal = gateway.journal();
  CHECK(has_part(error_of([&] { journal.last(); }), "no exchange has been recorded yet"));
  auto client = std::async(std::launch::async, [&] {
    for (int i = 0; i < 2; ++i) Http(gateway).chat();
  });
  CHECK(journal.wait_for(2, 10s));
  client.get();
  const Wait late = journal.wait_for(3, 1ms);
  CHECK_FALSE(late);
  CHECK(late.message() == "2 of 3 exchanges were recorded");
  CHECK(printed(late) == "timed out: 2 of 3 exchanges were recorded");
  CHECK(journal.wait_for(1, 0s).message() == "2 exchanges recorded");
}

TEST_CASE("wait_until_idle() waits for replies under way and for requests that have begun") {
  Gateway gateway;
  const Journal journal = gateway.journal();
  CHECK(journal.wait_until_idle(0s));
  Gate gate;
  gateway.chat().reply(text("a b").hold(gate, before_token(2)));
  RawConnection stream(gateway);
  stream.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(10s));
  const Wait busy = journal.wait_until_idle(1ms);
  CHECK_FALSE(busy);
  CHECK(has_part(busy.message(), "1 request is under way: #1 POST /v1/chat/completions 200 stub"));

  RawConnection half(gateway);
  half.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n");
  CHECK(eventually([&] { return has_part(journal.wait_until_idle(0s).message(), "2 requests are under way"); }));
  half.close();
  gate.open();
  CHECK(stream.receive_response().done());
  CHECK(journal.wait_until_idle(10s));
  CHECK(journal.at(1).outcome(0s) == Outcome::Kind::completed);
}

TEST_CASE("exchanges are found by key") {
  const Gateway gateway;
  const CreatedKey key = gateway.keys().create("mine");
  Http(gateway).get("/v1/models");
  Http(gateway).with_key(key.secret).get("/v1/models");
  Http(gateway).with_key(key.secret).chat();
  gateway.keys().disable(key.id);
  Http(gateway).with_key(key.secret).chat();
  const std::vector<Exchange> mine = gateway.journal().by_key(key.id);
  REQUIRE(mine.size() == 3);
  CHECK(mine[0].id() == 2);
  CHECK(mine[2].status() == 403);
  CHECK(mine[2].key_id() == key.id);
  CHECK(gateway.journal().by_key("key_9").empty());
}

TEST_CASE("a cleared journal counts from zero, and its ids continue") {
  const Gateway gateway;
  const Journal journal = gateway.journal();
  Http(gateway).chat();
  Http(gateway).chat();
  journal.clear();
  CHECK(journal.count() == 0);
  CHECK(journal.all().empty());
  CHECK(has_part(error_of([&] { journal.last(); }), "since the journal was cleared"));
  for (const std::string id : {"1", "2"}) {
    CHECK(has_part(error_of([&] { journal.at(std::stoull(id)); }),
                   "exchange " + id + " was removed when the journal was cleared"));
  }
  CHECK(has_part(error_of([&] { journal.at(3); }), "there is no exchange 3 yet; the newest is 2"));
  Http(gateway).chat();
  CHECK(journal.wait_for(1, 0s));
  CHECK(journal.count() == 1);
  CHECK(journal.last().id() == 3);
  CHECK(journal.at(3).id() == 3);
  CHECK(has_part(error_of([&] { journal.at(2); }), "exchange 2 was removed when the journal was cleared"));
}

TEST_CASE("the error for a missing exchange says whether it never existed, was evicted or was cleared") {
  const Gateway gateway{Options{}.journal_limits(2, 1 << 20)};
  const Journal journal = gateway.journal();
  const auto why = [&](std::uint64_t id) { return error_of([&] { journal.at(id); }); };
  CHECK(has_part(why(0), "exchange numbers start at 1"));
  CHECK(has_part(why(1), "there is no exchange 1 yet; none has been recorded"));
  const Http http = Http(gateway).keep_alive();
  for (int i = 0; i < 3; ++i) http.get("/v1/models");
  CHECK(has_part(why(1), "exchange 1 was evicted because the journal was full"));
  CHECK(journal.at(2).id() == 2);
  journal.clear();
  for (const std::uint64_t id : {1U, 2U, 3U}) CHECK(has_part(why(id), "was removed when the journal was cleared"));
  for (int i = 0; i < 3; ++i) http.get("/v1/models");
  CHECK(has_part(why(3), "exchange 3 was removed when the journal was cleared"));
  CHECK(has_part(why(4), "exchange 4 was evicted because the journal was full"));
  CHECK(journal.at(5).id() == 5);
}

TEST_CASE("wait_until_idle() waits for an exchange that was under way when the journal was cleared") {
  Gateway gateway;
  Gate gate;
  const Stub stub = gateway.chat().reply(text("a b").hold(gate, before_token(2)));
  RawConnection stream(gateway);
  stream.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(10s));
  const Exchange exchange = stub.last_call();
  gateway.journal().clear();
  CHECK_FALSE(gateway.journal().wait_until_idle(0s));
  gate.open();
  CHECK(gateway.journal().wait_until_idle(10s));
  CHECK(exchange.outcome(0s) == Outcome::Kind::completed);
}

TEST_CASE("the summary of an unmatched request quotes the request") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  gateway.chat().when(user_says("weather")).reply("Sunny.");
  CHECK(Http(gateway).chat("Hello").status == 422);
  const std::string line = gateway.journal().last().summary();
  CHECK_MESSAGE(line.find(" 422 unmatched (user: \"Hello\"") != std::string::npos, line);
}

TEST_CASE("malformed HTTP is recorded too") {
  const Gateway gateway;
  RawConnection connection(gateway);
  connection.send("SMTP HELO sk-not-a-key-of-ours\r\n\r\n");
  CHECK(connection.receive_response().status == 400);
  const Exchange exchange = gateway.journal().last();
  CHECK(exchange.decision().kind == Decision::Kind::malformed);
  CHECK(exchange.status() == 400);
  CHECK(exchange.summary().find('\n') == std::string::npos);
}

TEST_CASE("references from a temporary Journal stay valid after an eviction") {
  Gateway gateway{Options{}.journal_limits(1, 1 << 20).verify_on_destruction(false)};
  gateway.chat().when(user_says("nothing")).reply("x");
  Http(gateway).with_header("X-Mine", "1").chat("kept");
  const auto& body = gateway.journal().last().body();
  const auto& request = gateway.journal().last().request();
  std::vector<std::string> names;
  for (const wire::Header& header : gateway.journal().last().headers()) names.push_back(header.name);
  std::size_t issues = 0;
  for (const Problem& issue : gateway.verify().problems()) issues += issue.exchanges.size();
  Http(gateway).get("/v1/models");  // evicts the exchange
  CHECK(has_part(body, "kept"));
  CHECK(request.method == "POST");
  CHECK(std::count(names.begin(), names.end(), "X-Mine") == 1);
  CHECK(issues == 1);
}

TEST_CASE("exchanges and the journal outlive their gateway") {
  const std::pair<Journal, Exchange> left = [] {
    const Gateway gateway;
    Http(gateway).chat("remember me");
    return std::make_pair(gateway.journal(), gateway.journal().last());
  }();
  CHECK(left.first.count() == 1);
  CHECK(left.first.wait_until_idle(0s));
  CHECK(left.second.chat().last_user_text() == "remember me");
  CHECK(left.second.outcome(0s) == Outcome::Kind::completed);
}

#ifndef _WIN32  // The command is for a POSIX shell.
TEST_CASE("the curl command of an exchange repeats the request") {
  if (test_support::run_curl("curl --version", "").status != 0) {
    MESSAGE("curl is not installed: test skipped");
    return;
  }
  Gateway gateway;
  gateway.on("POST", "/v1/echo",
             [](const ReceivedRequest& request) { return HttpReply(200, request.body, "application/octet-stream"); });
  gateway.on("PATCH", "/v1/files/{name}", [](const ReceivedRequest&) { return Json::object(); });
  const Http http(gateway);
  const std::string awkward = "it's \"quoted\" $HOME `id` \\n \\ %41 !x\n\t\xe6\x9d\xb1";
  struct Request {
    Http http;
    std::string method;
    std::string target;
    std::string body;
  };
  const std::vector<Request> requests = {
      {http, "POST", chat_path, chat_body("it's a \"quote\"").dump()},
      {http.with_header("X-Odd", "it's $HOME `id` \"x\""), "POST", "/v1/echo", awkward},
      {http.with_content_type("text/plain; charset=utf-8"), "POST", "/v1/echo", "@not-a-file"},
      {http.without_content_type(), "POST", "/v1/echo", "plain"},
      {http, "POST", "/v1/echo", std::string("nul \0 and \\0 'both'", 19)},
      {http, "POST", "/v1/echo", "C:\\new\\table \\\\ \xff\\"},
      {http, "POST", "/v1/echo", std::string(150'000, '\'') + "\\x"},
      {http.with_header("X-Empty", ""), "GET", "/v1/models", ""},
      {http, "GET", "/v1/models/mock-model?a=[1-3]&b={x,y}&c='", ""},
      {http, "GET", "/v1/models?a=[1-3]", ""},
      {http, "GET", "/v1/models?b={x,y}", ""},
      {http, "GET", "/v1/models/}?c={", ""},
      {http, "GET", "/v1/../v1/./models", ""},
      {http, "PATCH", "/v1/files/a%20b", "{}"},
      {http, "HEAD", "/v1/models", ""},
      {http, "DELETE", chat_path, ""},
      {http.with_authorization("bearer " + gateway.api_key()), "GET", "/v1/models", ""},
      {http.without_key(), "GET", "/v1/models", ""},
      {http.with_authorization("Basic dXNlcjpwYXNzd29yZA=="), "GET", "/v1/models", ""},
  };
  for (std::size_t i = 0; i < requests.size(); ++i) {
    CAPTURE(i);
    const Request& request = requests[i];
    request.http.request(request.method, request.target,
                         request.body.empty() ? std::nullopt : std::optional<std::string>(request.body));
    const Exchange first = gateway.journal().last();
    const std::string command = first.as_curl();
    CAPTURE(command.substr(0, 500));
    CHECK_FALSE(has_part(command, gateway.api_key()));
    const test_support::Shell shell = test_support::run_curl(command, gateway.api_key());
    CHECK(shell.status == 0);
    CHECK(shell.output == "");
    const Exchange again = gateway.journal().last();
    REQUIRE(again.id() == first.id() + 1);
    CHECK(again.method() == first.method());
    CHECK(again.path() == first.path());
    CHECK(again.query() == first.query());
    CHECK((again.body() == first.body()));
    CHECK(again.status() == first.status());
    CHECK(again.key_id() == first.key_id());
    for (const wire::Header& header : first.headers()) {
      CAPTURE(header.name);
      if (header.name != "Host" && header.name != "Content-Length") {
        CHECK(again.headers().find(header.name) == header.value);
      }
    }
    CHECK(again.headers().has("Content-Type") == first.headers().has("Content-Type"));
  }
}
#endif

TEST_CASE("the curl command of an exchange contains no unnecessary options") {
  Gateway gateway{Options{}.verify_on_destruction(false)};
  RawConnection connection(gateway);
  struct Row {
    std::string line;  // method and target of the request line
    std::string body;
    std::string command;
  };
  const std::string root = "http://127.0.0.1:" + std::to_string(gateway.port());
  const std::string type = "-H 'Content-Type:' --data-binary ";
  const std::vector<Row> rows = {
      {"GET /v1/models", "", "curl '" + root + "/v1/models'"},
      {"GET /v1/models", "x", "curl -X GET '" + root + "/v1/models' " + type + "'x'"},
      {"POST /v1/models", "", "curl -X POST '" + root + "/v1/models'"},
      {"POST /v1/models", "x", "curl '" + root + "/v1/models' " + type + "'x'"},
      {"POST /v1/models", "@x", "curl '" + root + "/v1/models' -H 'Content-Type:' --data-raw '@x'"},
      {"HEAD /v1/models", "", "curl --head '" + root + "/v1/models'"},
      {"HEAD /v1/models", "x", "curl -X HEAD '" + root + "/v1/models' " + type + "'x'"},
      {"OPTIONS *", "", "curl -X OPTIONS --request-target '*' '" + root + "/'"},
      {"GET http://elsewhere/v1/models", "", "curl '" + root + "/v1/models'"},
      {"GET /v1/models?a#b", "", "curl --request-target '/v1/models?a#b' '" + root + "/'"},
      {"GET /v1/[a]", "", "curl --globoff '" + root + "/v1/[a]'"},
      {"GET /v1/./models", "", "curl --path-as-is '" + root + "/v1/./models'"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const std::string length = row.body.empty() ? "" : "Content-Length: " + std::to_string(row.body.size()) + "\r\n";
    connection.send(row.line + " HTTP/1.1\r\nHost: gateway\r\n" + length + "\r\n" + row.body);
    const Response response = connection.receive_response(test_support::default_timeout, row.line[0] == 'H');
    REQUIRE(response.complete);
    CHECK(gateway.journal().last().as_curl() == row.command);
    if (response.header("Connection") == "close") connection = RawConnection(gateway);
  }
}

}  // namespace journal_test
