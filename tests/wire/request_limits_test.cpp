// Limits on the memory and time of one request, with any framing and any pace of the client. Also tests what counts
// against the journal's byte limit.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/internals.hpp"
#include "support/raw_requests.hpp"
#include "support/timing.hpp"

namespace request_limits_test {

/// The largest allocation of this program in bytes, and the number of allocations of at least `counted_from` bytes.
std::atomic<std::size_t> largest{0};
std::atomic<std::size_t> counted_from{std::size_t(-1)};
std::atomic<std::size_t> counted{0};

void note(std::size_t size) {
  std::size_t before = largest;
  while (size > before && !largest.compare_exchange_weak(before, size)) {
  }
  if (size >= counted_from) ++counted;
}

}  // namespace request_limits_test

// Counts nothing with sanitizers that define operator new: those of clang, and g++'s address sanitizer.
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REQUEST_LIMITS_TEST_NOTES_NOTHING
#endif
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(REQUEST_LIMITS_TEST_NOTES_NOTHING)
void* operator new(std::size_t size) {
  request_limits_test::note(size);
  if (void* const memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
// If these are inlined, g++ warns that free() does not match operator new.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace request_limits_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::answer_to;
using test_support::chat_body;
using test_support::chat_head;
using test_support::End;
using test_support::eventually;
using test_support::Http;
using test_support::patience;
using test_support::RawConnection;
using test_support::Response;

std::string hexadecimal(std::size_t size) {
  std::string digits;
  for (; size > 0; size /= 16) digits.insert(digits.begin(), "0123456789abcdef"[size % 16]);
  return digits;
}

std::size_t held(const Exchange& exchange) { return exchange.raw().size() + exchange.body().size(); }

// --- Memory ----------------------------------------------------------------------------------------------------------

TEST_CASE("chunk extensions count against a request's limit, beyond which they get a 413") {
  const std::size_t max_body = 64 << 10;
  const std::size_t bound = (64 << 10) + 2 * max_body + (64 << 10);
  Gateway gateway{Options{}.max_body(max_body)};
  std::string request = chat_head(gateway, {"Transfer-Encoding: chunked"});
  for (int i = 0; i < 500; ++i) request += "1;" + std::string(4000, 'x') + "\r\n \r\n";
  const Response response = answer_to(gateway, request + "0\r\n\r\n");
  CHECK(response.status == 413);
  CHECK(response.error_code() == "body_too_large");
  CHECK(response.header("Connection") == "close");
  CHECK(held(gateway.journal().last()) <= bound);
  CHECK(mock_gateway::detail::Access::record(gateway.journal().last()).weight() <= bound);
  CHECK(Http(gateway).chat().status == 200);
}

TEST_CASE("trailers count against a request's limit, beyond which they get a 413") {
  Gateway gateway{Options{}.max_body(1024)};
  std::string request = chat_head(gateway, {"Transfer-Encoding: chunked"}) + "0\r\n";
  for (int i = 0; i < 90; ++i) request += "x: " + std::string(4000, 'y') + "\r\n";
  const Response response = answer_to(gateway, request + "\r\n");
  CHECK(response.status == 413);
  CHECK(response.error_code() == "body_too_large");
  CHECK(held(gateway.journal().last()) <= (64 << 10) + 2 * 1024 + (64 << 10));
}

TEST_CASE("a chunked body may have 32 KiB of framing, and not a byte more") {
  const std::size_t max_body = 8192;
  Gateway gateway{Options{}.max_body(max_body)};
  std::string body = chat_body().dump();
  body += std::string(max_body - body.size(), ' ');
  for (const std::size_t excess : {std::size_t{0}, std::size_t{1}}) {
    CAPTURE(excess);
    // The body has one chunk and a trailer that reaches the limit.
    std::string framed = hexadecimal(body.size()) + "\r\n" + body + "\r\n0\r\n";
    std::size_t left = max_body + 32768 + excess - framed.size() - 2;
    for (; left > 4000; left -= 4000) framed += "x: " + std::string(4000 - 5, 'y') + "\r\n";
    framed += "x: " + std::string(left - 5, 'y') + "\r\n\r\n";
    REQUIRE(framed.size() == max_body + 32768 + excess);
    const Response response = answer_to(gateway, chat_head(gateway, {"Transfer-Encoding: chunked"}) + framed);
    CHECK(response.status == (excess == 0 ? 200 : 413));
    if (excess == 1) CHECK(response.error_message().find("40960") != std::string::npos);
  }
}

TEST_CASE("reading the largest chunked body needs its memory only once") {
  const std::size_t max_body = 3 << 20;
  Gateway gateway{Options{}.max_body(max_body)};
  // The body has many short texts, because a long text would add memory of the JSON parser.
  Json messages = Json::array();
  for (int i = 0; i < 2900; ++i) messages.push_back({{"role", "user"}, {"content", std::string(1000, 'x')}});
  std::string body = chat_body({{"messages", messages}}).dump();
  REQUIRE(body.size() <= max_body);
  body += std::string(max_body - body.size(), ' ');
  std::string framed;
  for (std::size_t at = 0; at < body.size(); at += 16384) framed += "4000\r\n" + body.substr(at, 16384) + "\r\n";
  framed += "0\r\n\r\n";
  REQUIRE(framed.size() < max_body + 32768);
  const std::string request = chat_head(gateway, {"Transfer-Encoding: chunked"}) + framed;
  RawConnection connection(gateway);
  largest = 0;
  connection.send(request);
  CHECK(connection.receive_response().status == 200);
  CHECK(largest.load() <= max_body + 32768 + 1);
  CHECK((gateway.journal().last().body() == body));
  const std::string raw = gateway.journal().last().raw();
  CHECK((raw.size() > framed.size() && raw.substr(raw.size() - framed.size()) == framed));
  CHECK(mock_gateway::detail::Access::record(gateway.journal().last()).weight() < 2 * max_body + (64 << 10));
}

TEST_CASE("a chunked body of any size counts with its own bytes and those of its framing") {
  Gateway gateway;
  for (const std::size_t size : {std::size_t{200'000}, std::size_t{300'000}, std::size_t{500'000}}) {
    CAPTURE(size);
    std::string body = chat_body().dump();
    body += std::string(size - body.size(), ' ');
    std::string framed;
    for (std::size_t at = 0; at < body.size(); at += 1000) framed += "3e8\r\n" + body.substr(at, 1000) + "\r\n";
    const std::string head = chat_head(gateway, {"Transfer-Encoding: chunked"});
    CHECK(answer_to(gateway, head + framed + "0\r\n\r\n").status == 200);
    const std::size_t weight = mock_gateway::detail::Access::record(gateway.journal().last()).weight();
    CHECK(weight < body.size() + framed.size() + 8192);
    CHECK(weight > body.size() + framed.size());
  }
}

TEST_CASE("without a body limit a chunk of the largest representable size gets a 413") {
  Gateway gateway{Options{}.max_body(std::size_t(-1))};
  RawConnection connection(gateway);
  connection.send(chat_head(gateway, {"Transfer-Encoding: chunked"}) + "FFFFFFFFFFFFFFFF\r\nx\r\n");
  CHECK(connection.receive_response().status == 413);
}

TEST_CASE("a client that pipelines requests does not increase the gateway's memory") {
  Gateway gateway{Options{}.journal_limits(10, 1 << 20)};
  // The size of a request and the size of a read have no common factor, so their ends hardly ever coincide.
  const Http http = Http(gateway).with_header("x", std::string(4000, 'x'));
  const std::size_t rest = 8191 - http.with_header("y", "").format("GET", "/v1/models").size();
  const std::string request = http.with_header("y", std::string(rest, 'y')).format("GET", "/v1/models");
  REQUIRE(request.size() == 8191);
  constexpr int count = 500;
  std::string ahead;
  for (int i = 0; i < count; ++i) ahead += request;
  RawConnection connection(gateway);
  largest = 0;
  std::thread sender([&] { connection.send(ahead); });
  CHECK(gateway.journal().wait_for(count, 30s));
  sender.join();
  CHECK(largest.load() < (256 << 10));
  for (int i = 0; i < count; ++i) REQUIRE(connection.receive_response().status == 200);
}

TEST_CASE("the record of a request for verify() contains no copy of its body") {
  const std::size_t size = 4 << 20;
  const auto copies = [&](Unmatched policy) {
    Gateway gateway{Options{}.unmatched(policy).verify_on_destruction(false)};
    gateway.chat().when(user_says("something else")).reply("yes");
    const std::string request = Http(gateway).format_chat({{"x", std::string(size, 'x')}});
    RawConnection connection(gateway);
    counted_from = size;
    counted = 0;
    connection.send(request);
    CHECK(connection.receive_response().status == 422);
    CHECK(gateway.journal().wait_until_idle(patience));
    counted_from = std::size_t(-1);
    CHECK(static_cast<bool>(gateway.verify()) == (policy == Unmatched::allowed));
    return counted.load();
  };
  CHECK(copies(Unmatched::fails_verification) == copies(Unmatched::allowed));
}

TEST_CASE("the journal's byte limit counts key descriptions and replies of connection faults") {
  const std::string large(100'000, 'x');
  SUBCASE("the description of a request's key") {
    Gateway gateway{Options{}.journal_limits(1000, 1 << 20)};
    const Http http = Http(gateway).with_key(gateway.keys().create(large).secret);
    for (int i = 0; i < 20; ++i) CHECK(http.chat().status == 200);
    CHECK(gateway.journal().evicted() >= 9);
  }
  SUBCASE("the reply of the fault on a request's connection") {
    Gateway gateway{Options{}.journal_limits(1000, 1 << 20)};
    for (int i = 0; i < 20; ++i) {
      gateway.next_connection(reply_before_body(failure(413, "no", large)));
      CHECK(Http(gateway).chat().status == 413);
    }
    CHECK(gateway.journal().evicted() >= 9);
  }
}

TEST_CASE("the journal's byte limit counts everything that it keeps of an exchange") {
  const std::string large(6'000, 'x');
  const auto sum = [](const std::vector<std::string>& texts) {
    std::size_t size = 0;
    for (const std::string& text : texts) size += sizeof text + text.size();
    return size;
  };
  // The record keeps the bytes of a head in addition to its fields.
  const auto head_of = [](const Exchange& exchange) {
    return mock_gateway::detail::Access::record(exchange).raw_head.capacity();
  };
  // `what` names a kind of data. `ask` makes an exchange with much of it, and `size` measures it in the exchange.
  struct Row {
    std::string what;
    std::function<void(Gateway&, const Http&)> ask;
    std::function<std::size_t(const Exchange&)> size;
  };
  const std::vector<Row> rows = {
      {"the body", [&](Gateway&, const Http& http) { http.chat(Json(large)); },
       [](const Exchange& exchange) { return exchange.body().size(); }},
      {"the target", [&](Gateway&, const Http& http) { http.get("/v1/models?" + large); },
       [&](const Exchange& exchange) { return exchange.query().size() + head_of(exchange); }},
      {"a header field's value", [&](Gateway&, const Http& http) { http.with_header("X-Large", large).chat(); },
       [&](const Exchange& exchange) {
         return exchange.headers().find("X-Large").value_or("").size() + head_of(exchange);
       }},
      {"a header field's name", [&](Gateway&, const Http& http) { http.with_header(large, "1").chat(); },
       [&](const Exchange& exchange) {
         return (exchange.headers().find(large) ? large.size() : 0) + head_of(exchange);
       }},
      {"a request that is none",
       [&](Gateway& gateway, const Http&) {
         RawConnection connection(gateway);
         connection.send("GET /" + large + "\r\n\r\n");
         connection.receive_all();
       },
       [](const Exchange& exchange) { return exchange.raw().size(); }},
      {"near misses",
       [](Gateway& gateway, const Http& http) {
         if (gateway.journal().count() == 0) {
           const std::string other(60, 'y');
           Matcher wanted = user_says(equals("0" + other));
           for (int i = 1; i < 60; ++i) wanted = wanted || user_says(equals(std::to_string(i) + other));
           gateway.chat().when(wanted).reply("x");
         }
         http.chat();
       },
       [](const Exchange& exchange) {
         std::size_t size = exchange.decision().detail.size();  // the text that describes the conditions
         for (const NearMiss& near : exchange.near_misses())
           for (const NearMiss::Condition& condition : near.conditions)
             size += sizeof condition + condition.expected.size() + condition.actual.size();
         return size;
       }},
      {"strikes of chaos",
       [](Gateway& gateway, const Http& http) {
         for (int i = 0; gateway.journal().count() == 0 && i < 60; ++i)
           gateway.chaos(Chaos(Pace().first_token_after(1ns)));
         http.chat();
       },
       [sum](const Exchange& exchange) { return sum(exchange.chaos()); }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    constexpr std::size_t bytes = 100'000;
    Gateway gateway{Options{}.journal_limits(1000, bytes).unmatched(Unmatched::allowed).verify_on_destruction(false)};
    const Http http(gateway);
    std::size_t size = 0;
    for (int i = 0; i < 60; ++i) {
      row.ask(gateway, http);
      REQUIRE(gateway.journal().wait_until_idle(5s));
      size += row.size(gateway.journal().last());
    }
    CHECK(size > 2 * bytes);  // otherwise nothing would be evicted
    size = 0;
    for (const Exchange& exchange : gateway.journal().all()) size += row.size(exchange);
    CHECK(size <= bytes);
    CHECK(gateway.journal().all().size() > 1);
    CHECK(gateway.journal().all().size() + gateway.journal().evicted() == 60);
  }
}

// --- Time ------------------------------------------------------------------------------------------------------------

TEST_CASE("a head that arrives steadily but too slowly gets a 408") {
  Gateway gateway{Options{}.head_timeout(300ms)};
  RawConnection connection(gateway);
  connection.send("GET /v1/models HTTP/1.1\r\nHost: gateway\r\nx: ");
  bool answered = false;
  for (int i = 0; i < 1000 && !answered; ++i) {
    connection.send("y");
    answered = connection.receive_until([](std::string_view text) { return text.size() >= 12; }, 20ms).found;
  }
  CHECK(answered);
  CHECK(gateway.journal().wait_for(1, patience));
  CHECK(gateway.journal().last().status() == 408);
  CHECK(Http(gateway).chat().status == 200);
}

TEST_CASE("the timeout of a head starts at its first byte, not at the connection or the previous request") {
  Gateway gateway{Options{}.head_timeout(3s)};
  const std::string request = Http(gateway).format("GET", "/v1/models");
  RawConnection connection(gateway);
  connection.send(request);
  CHECK(connection.receive_response().status == 200);
  CHECK_FALSE(connection.receive_until("x", 3200ms).found);
  // Sends the request in two parts, so that the gateway must wait for the second part.
  connection.send(request.substr(0, 20));
  CHECK_FALSE(connection.receive_until("x", 100ms).found);
  connection.send(request.substr(20));
  CHECK(connection.receive_response().status == 200);
}

/// Sends a body byte by byte until a response arrives, for at most 20 s. Returns whether a response arrived.
bool is_answered_while_a_body_comes(const Gateway& gateway, RawConnection& connection, bool chunked) {
  connection.send(chat_head(gateway, {chunked ? "Transfer-Encoding: chunked" : "Content-Length: 100000"}));
  bool answered = false;
  for (int i = 0; i < 1000 && !answered; ++i) {
    connection.send(chunked ? "1\r\n \r\n" : " ");
    answered = connection.receive_until([](std::string_view text) { return text.size() >= 12; }, 20ms).found;
  }
  return answered;
}

TEST_CASE("a body that arrives steadily but too slowly gets a 408, with Content-Length or in chunks") {
  Gateway gateway{Options{}.body_timeout(300ms)};
  for (const bool chunked : {false, true}) {
    CAPTURE(chunked);
    RawConnection connection(gateway);
    CHECK(is_answered_while_a_body_comes(gateway, connection, chunked));
    CHECK(gateway.journal().last().status() == 408);
    CHECK(gateway.journal().last().raw().find("POST /v1") == 0);
  }
  CHECK(Http(gateway).chat().status == 200);
}

TEST_CASE("a body gets another second for each received 10 KiB") {
  Gateway gateway{Options{}.body_timeout(1ms)};
  const std::string body = chat_body(std::string(102'400, 'x')).dump();
  RawConnection connection(gateway);
  // Sends the head and most of the body together, because bytes that arrive before the body is read count too.
  connection.send(chat_head(gateway, {"Content-Length: " + std::to_string(body.size())}) + body.substr(0, 102'400));
  const auto nothing = connection.receive_until("x", 2s);
  CHECK_FALSE(nothing.found);
  CHECK(nothing.end == End::open);
  connection.send(body.substr(102'400));
  CHECK(connection.receive_response().status == 200);
}

TEST_CASE("a large body gives no extra time to later bodies on its connection") {
  for (const bool chunked : {false, true}) {
    CAPTURE(chunked);
    Gateway gateway{Options{}.body_timeout(300ms)};
    RawConnection connection(gateway);
    // The large body gets more time than the test waits for the next response.
    const std::string large = chat_body(std::string(1 << 20, 'x')).dump();
    connection.send(chat_head(gateway, {"Content-Length: " + std::to_string(large.size())}) + large);
    REQUIRE(connection.receive_response().status == 200);
    CHECK(is_answered_while_a_body_comes(gateway, connection, chunked));
    CHECK(gateway.journal().last().status() == 408);
    CHECK(gateway.journal().last().position() == 2);
  }
}

TEST_CASE("a body read by slow_body() may take any time") {
  ManualClock clock;
  Gateway gateway{Options{}.clock(clock).body_timeout(1ms)};
  gateway.next_connection(slow_body(100, 1h));
  const std::string body = chat_body().dump();
  REQUIRE(body.size() < 100);
  RawConnection connection(gateway);
  connection.send(chat_head(gateway, {"Content-Length: " + std::to_string(body.size())}) + body.substr(0, 50));
  REQUIRE(clock.wait_for_waits(1, patience));
  clock.advance(1h);
  const auto nothing = connection.receive_until("x", 100ms);
  CHECK_FALSE(nothing.found);
  CHECK(nothing.end == End::open);
  connection.send(body.substr(50));
  CHECK(connection.receive_response().status == 200);
}

TEST_CASE("empty lines before a request do not keep an idle connection open") {
  Gateway gateway{Options{}.idle_timeout(300ms)};
  RawConnection connection(gateway);
  const bool ended = eventually([&] {
    connection.send("\r\n");
    connection.receive_until("x", 10ms);
    return connection.end() != End::open;
  });
  CHECK(ended);
  CHECK(gateway.journal().count() == 0);
}

TEST_CASE("the timeouts of head and body are positive, and may be disabled") {
  CHECK_THROWS_AS(Gateway{Options{}.head_timeout(0s)}, GatewayError);
  CHECK_THROWS_AS(Gateway{Options{}.body_timeout(-1s)}, GatewayError);
  Gateway gateway{Options{}.head_timeout(Duration::max()).body_timeout(Duration::max())};
  CHECK(Http(gateway).chat().status == 200);
}

}  // namespace request_limits_test
