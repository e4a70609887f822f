// Connections: many requests on one connection, stalled requests, clients that close, reset or never read, and random
// bytes. The gateway survives and leaks no descriptor.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/printing.hpp"
#include "support/raw_requests.hpp"
#include "support/text.hpp"

#ifdef __linux__
#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace connections_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::answer_to;
using test_support::as_chunk;
using test_support::chat_body;
using test_support::chat_head;
using test_support::ConnectionOptions;
using test_support::contains;
using test_support::End;
using test_support::eventually;
using test_support::head;
using test_support::Http;
using test_support::last_answer_to;
using test_support::patience;
using test_support::RawConnection;
using test_support::Response;

// --- Connections -----------------------------------------------------------------------------------------------------

TEST_CASE("a hundred requests use one connection") {
  Gateway gateway;
  gateway.chat().reply([](const ChatRequest& request) { return text("re: " + request.last_user_text()); });
  RawConnection connection(gateway);
  const Http http(gateway);
  for (int i = 1; i <= 100; ++i) {
    connection.send(http.format_chat(std::to_string(i)));
    const Response response = connection.receive_response();
    CHECK(response.text() == "re: " + std::to_string(i));
    CHECK_FALSE(response.has("Connection"));
  }
  const auto exchanges = gateway.journal().all();
  REQUIRE(exchanges.size() == 100);
  for (std::size_t i = 0; i < exchanges.size(); ++i) {
    CHECK(exchanges[i].connection_id() == exchanges[0].connection_id());
    CHECK(exchanges[i].position() == i + 1);
  }
}

TEST_CASE("pipelined requests are answered in order, and each is in the journal") {
  Gateway gateway;
  gateway.chat().reply([](const ChatRequest& request) { return text("re: " + request.last_user_text()); });
  const Http http(gateway);
  RawConnection connection(gateway);
  connection.send(http.format_chat("1") + http.format_chat({{"stream", true}}) + http.format("GET", "/v1/models") +
                  http.format("GET", "/v1/nothing") + http.format_chat("5"));
  CHECK(connection.receive_response().text() == "re: 1");
  CHECK(connection.receive_response().joined_text() == "re: Hi");
  CHECK(connection.receive_response().json()["object"] == "list");
  CHECK(connection.receive_response().status == 404);
  CHECK(connection.receive_response().text() == "re: 5");
  const auto exchanges = gateway.journal().all();
  REQUIRE(exchanges.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(exchanges[i].position() == i + 1);
    CHECK(exchanges[i].connection_id() == exchanges[0].connection_id());
  }
}

TEST_CASE("the gateway obeys Connection: close and ignores later bytes on the connection") {
  Gateway gateway;
  const Http http(gateway);
  for (const std::string value : {"close", "Close", "keep-alive, close"}) {
    CAPTURE(value);
    const Http closing = http.with_header("Connection", value);
    CHECK(last_answer_to(gateway, closing.format_chat()).status == 200);
    CHECK(last_answer_to(gateway, closing.format_chat({{"stream", true}})).done());
    CHECK(last_answer_to(gateway, closing.format("GET", "/v1/nothing")).status == 404);
  }
  gateway.reset();
  CHECK(last_answer_to(gateway, http.with_header("Connection", "close").format("GET", "/v1/models") +
                                    http.format("GET", "/v1/nothing"))
            .status == 200);
  const auto exchanges = gateway.journal().all();
  REQUIRE(exchanges.size() == 2);  // the second is the valid request of last_answer_to
  CHECK(exchanges[1].connection_id() != exchanges[0].connection_id());
}

TEST_CASE("the gateway closes the connection after a scripted Connection: close") {
  Gateway gateway;
  gateway.chat().reply(text("bye").header("Connection", "close"));
  const Http http(gateway);
  CHECK(last_answer_to(gateway, http.format_chat()).text() == "bye");
  CHECK(last_answer_to(gateway, http.format_chat({{"stream", true}})).joined_text() == "bye");
  gateway.fail_next(service_unavailable().header("connection", "Close"));
  RawConnection connection(gateway);
  connection.send(http.format_chat());
  CHECK(connection.receive_response().status == 503);
  CHECK(connection.receive_all().end == End::fin);
}

TEST_CASE("empty lines before a request are skipped") {
  Gateway gateway;
  RawConnection connection(gateway);
  for (int i = 0; i < 3; ++i) {
    connection.send("\r\n\r\n\n" + Http(gateway).format("GET", "/v1/models") + "\r\n");
    CHECK(connection.receive_response().status == 200);
  }
  CHECK(gateway.journal().wait_until_idle(patience));
  CHECK(gateway.journal().count() == 3);
}

TEST_CASE("a request may arrive byte by byte") {
  Gateway gateway;
  RawConnection connection(gateway);
  for (const char byte : Http(gateway).format_chat()) connection.send({&byte, 1});
  CHECK(connection.receive_response().status == 200);
}

TEST_CASE("an HTTP/1.0 client gets its response and then a close, unless it requests keep-alive") {
  Gateway gateway;
  const Response once = last_answer_to(gateway, head(gateway, "GET /v1/models HTTP/1.0"));
  CHECK(once.status == 200);
  CHECK(once.has("Content-Length"));

  RawConnection connection(gateway);
  for (int i = 0; i < 3; ++i) {
    connection.send(head(gateway, "GET /v1/models HTTP/1.0", {"Connection: Keep-Alive"}));
    const Response kept = connection.receive_response();
    CHECK(kept.status == 200);
    CHECK(kept.header("Connection") == "keep-alive");
  }
  connection.send(head(gateway, "GET /v1/models HTTP/1.0"));
  CHECK(connection.receive_response().header("Connection") == "close");
  CHECK(connection.receive_all().end == End::fin);
}

TEST_CASE("a stream to an HTTP/1.0 client is not chunked, and ends with the connection") {
  Gateway gateway;
  gateway.chat().reply("one two three");
  const std::string body = chat_body({{"stream", true}}).dump();
  const std::string length = "Content-Length: " + std::to_string(body.size());
  for (const std::string line : {"x-nothing: 1", "Connection: keep-alive"}) {
    CAPTURE(line);
    const Response response =
        answer_to(gateway, head(gateway, "POST /v1/chat/completions HTTP/1.0", {length, line}) + body);
    CHECK(response.complete);
    CHECK(response.end == End::fin);
    CHECK(response.header("Connection") == "close");
    CHECK_FALSE(response.has("Transfer-Encoding"));
    CHECK_FALSE(response.has("Content-Length"));
    CHECK(response.joined_text() == "one two three");
    CHECK(response.done());
  }
}

TEST_CASE("a request that its client breaks off is recorded as malformed, and no finding") {
  Gateway gateway(Options{}.verify_on_destruction(false));
  const std::string request = Http(gateway).format_chat();
  const std::size_t body = request.find("\r\n\r\n") + 4;
  for (const std::size_t size : {std::size_t{1}, std::size_t{10}, body - 1, body, body + 1, request.size() - 1}) {
    CAPTURE(size);
    RawConnection closing(gateway);
    closing.send(request.substr(0, size));
    closing.close();
    RawConnection half_closing(gateway);
    half_closing.send(request.substr(0, size));
    half_closing.shutdown_write();
    const Response response = half_closing.receive_response();
    CHECK(response.status == 400);
    CHECK(response.error_code() == "incomplete_request");
    const std::string came = size < body ? std::to_string(size) + (size == 1 ? " byte" : " bytes") + " of the head"
                                         : std::to_string(size - body) + " of " +
                                               std::to_string(request.size() - body) + " bytes of the body";
    CHECK(response.error_message() == "the client closed the connection after " + came);
    CHECK(half_closing.receive_all().end == End::fin);
    RawConnection resetting(gateway);
    resetting.send(request.substr(0, size));
    resetting.abort();
    CHECK(gateway.journal().wait_for(3, patience));
    CHECK(gateway.journal().wait_until_idle(patience));
    for (const Exchange& exchange : gateway.journal().all()) {
      CHECK(exchange.decision() == Decision::Kind::malformed);
      CHECK(exchange.raw().size() <= size);
    }
    CHECK(gateway.review());
    CHECK(gateway.review().findings().empty());
    CHECK(gateway.review().judged() == 3);
    CHECK(gateway.verify());
    CHECK(gateway.verify().notes().size() == 3);
    CHECK(gateway.verify().notes().front().find(" broke off: the client ") != std::string::npos);
    gateway.journal().clear();
  }
  CHECK(Http(gateway).chat().status == 200);
}

TEST_CASE("a connection that closes without a request, or between two, leaves no exchange") {
  Gateway gateway;
  RawConnection(gateway).close();
  RawConnection blank(gateway);
  blank.send("\r\n\r\n");
  blank.close();
  RawConnection idle(gateway);
  idle.send(Http(gateway).format_chat());
  CHECK(idle.receive_response().status == 200);
  idle.send("\r\n");
  idle.close();
  CHECK(Http(gateway).chat().status == 200);
  CHECK(gateway.journal().wait_until_idle(patience));
  CHECK(gateway.journal().count() == 2);
}

TEST_CASE("a Content-Length above the length of a JSON body is a finding") {
  Gateway gateway;
  RawConnection connection(gateway);
  std::string request = Http(gateway).format_chat();
  const std::size_t field = request.find("Content-Length: ") + 16;
  const std::size_t length = request.size() - request.find("\r\n\r\n") - 4;
  request.replace(field, request.find("\r\n", field) - field, std::to_string(length + 5));
  connection.send(request);
  connection.shutdown_write();
  CHECK(connection.receive_response().error_code() == "malformed_request");
  CHECK(gateway.review().message() ==
        "1 finding in 1 call, 1 try, 0 injected faults\n"
        "request_refused (exchange 1): refused with 400 malformed_request: the client closed the connection after " +
            std::to_string(length) + " of " + std::to_string(length + 5) +
            " bytes of the body, which is complete JSON. The request never reached the stubs. Send what the "
            "documentation asks for.");
}

TEST_CASE("a client that half-closes after two requests has not left while the first one waits") {
  Gateway gateway;
  gateway.chat().reply(text("one two").every(5ms), "three");
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat() + Http(gateway).format_chat());
  connection.shutdown_write();
  CHECK(connection.receive_response().text() == "one two");
  CHECK(connection.receive_response().text() == "three");
  CHECK(connection.receive_all().end == End::fin);
}

TEST_CASE("a client that half-closes after its request gets a reply that has no waits or survives this") {
  Gateway gateway;
  gateway.chat().reply("one two three", "one two three", text("one two three").every(5ms).survives_half_close());
  for (const bool stream : {false, true, false, true}) {
    RawConnection connection(gateway);
    connection.send(Http(gateway).format_chat({{"stream", stream}}));
    connection.shutdown_write();
    const Response response = connection.receive_response();
    CHECK((stream ? response.joined_text() : response.text()) == "one two three");
    CHECK(connection.receive_all().end == End::fin);
    CHECK(gateway.journal().last().outcome() == Outcome::Kind::completed);
  }
}

TEST_CASE("a stalled request gets a 408 after the read timeout, and delays no other request") {
  Gateway gateway{Options{}.read_timeout(200ms)};
  const Http http(gateway);
  const std::string request = http.format_chat();
  const std::string chunked = chat_head(gateway, {"Transfer-Encoding: chunked"});
  for (const std::string& part : {request.substr(0, 1), request.substr(0, 30), request.substr(0, request.size() - 1),
                                  chunked, chunked + "5", chunked + "5\r\nhel", chunked + "0\r\n"}) {
    CAPTURE(part);
    RawConnection connection(gateway);
    connection.send(part);
    CHECK(http.chat().status == 200);
    const Response response = connection.receive_response();
    CHECK(response.status == 408);
    CHECK(response.error_code() == "request_timeout");
    CHECK(response.header("Connection") == "close");
    CHECK(connection.receive_all().end == End::fin);
    CHECK(http.chat().status == 200);
  }
  CHECK(gateway.journal().wait_until_idle(patience));
}

TEST_CASE("an idle connection is closed after the idle timeout without a response") {
  constexpr auto timeout = 100ms;
  // Repeats the test if the machine paused, because the idle connection was closed before the client sent anything.
  bool late = true;
  for (int i = 0; i < 20 && late; ++i) {
    Gateway gateway{Options{}.idle_timeout(timeout)};
    RawConnection unused(gateway);
    const auto nothing = unused.receive_all();
    CHECK(nothing.end == End::fin);
    CHECK(nothing.bytes.empty());
    const std::string request = Http(gateway).format_chat();
    const auto began = std::chrono::steady_clock::now();
    RawConnection used(gateway);
    used.send(request);
    late = std::chrono::steady_clock::now() - began >= timeout;
    if (late) continue;
    CHECK(used.receive_response().status == 200);
    const auto rest = used.receive_all();
    CHECK(rest.end == End::fin);
    CHECK(rest.bytes.empty());
    CHECK(gateway.journal().count() == 1);
  }
  CHECK_FALSE(late);
}

TEST_CASE("a client that does not read the bytes before a fault is disconnected after the write timeout" *
          doctest::skip(!test_support::tells_delivery)) {
  Gateway gateway{Options{}.write_timeout(200ms)};
  // The reply fits into the send buffer, so only the missing acknowledgement shows that the client does not read.
  gateway.chat().reply(text(std::string(300'000, 'x')).fault(after_bytes(200'000), close_connection()));
  ConnectionOptions small;
  small.receive_buffer = 4096;
  RawConnection connection(gateway, small);
  connection.send(Http(gateway).format_chat());
  REQUIRE(gateway.journal().wait_for(1, 30s));
  CHECK(gateway.journal().last().outcome() == Outcome::Kind::client_stalled);
  CHECK(connection.receive_all().end == End::reset);
}

TEST_CASE("a client that never reads a large reply is disconnected after the write timeout") {
  Gateway gateway{Options{}.write_timeout(200ms)};
  gateway.chat().reply(text(std::string(std::size_t{8} << 20, 'x')));
  ConnectionOptions small;
  small.receive_buffer = 4096;
  for (const bool stream : {false, true}) {
    RawConnection connection(gateway, small);
    connection.send(Http(gateway).format_chat({{"stream", stream}}));
    REQUIRE(gateway.journal().wait_for(stream ? 2 : 1, 30s));
    const Exchange exchange = gateway.journal().last();
    CHECK(exchange.outcome() == Outcome::Kind::client_stalled);
    CHECK(exchange.bytes_sent() > 0);
    CHECK(exchange.bytes_sent() < std::size_t{8} << 20);
    CHECK(connection.receive_all().end == End::reset);
  }
}

#ifdef __linux__

/// A signal with an empty handler, for sending to every thread of the process. Restores the old handler at its end.
class HarmlessSignal {
 public:
  HarmlessSignal() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &action, &before_);
  }
  ~HarmlessSignal() { ::sigaction(SIGUSR1, &before_, nullptr); }
  HarmlessSignal(const HarmlessSignal&) = delete;
  HarmlessSignal& operator=(const HarmlessSignal&) = delete;

  static void send_to_all_threads() {
    DIR* const folder = ::opendir("/proc/self/task");
    REQUIRE(folder != nullptr);
    while (const dirent* const entry = ::readdir(folder)) {
      if (entry->d_name[0] != '.') ::syscall(SYS_tgkill, ::getpid(), std::stoi(entry->d_name), SIGUSR1);
    }
    ::closedir(folder);
  }

 private:
  struct sigaction before_ {};
};

TEST_CASE("a signal with a handler interrupts no transfer and no wait") {
  Gateway gateway;
  const std::string big(std::size_t{8} << 20, 'x');
  Gate gate;
  gateway.chat().reply(text(big));
  gateway.chat().when(user_says("hold")).reply(text("a b").hold(gate, before_token(2)));
  const HarmlessSignal signal;
  ConnectionOptions small;
  small.receive_buffer = 4096;
  RawConnection writing(gateway, small);
  writing.send(Http(gateway).format_chat());
  REQUIRE(gateway.journal().wait_for(1, 30s));
  REQUIRE(eventually([&] { return gateway.journal().last().bytes_sent() > 0; }));
  RawConnection holding(gateway);
  holding.send(Http(gateway).format_chat({{"stream", true}, {"messages", {{{"role", "user"}, {"content", "hold"}}}}}));
  REQUIRE(gate.wait_until_reached(patience));
  RawConnection reading(gateway);
  const std::string request = Http(gateway).format_chat("hold");
  reading.send(request.substr(0, 100));

  for (int i = 0; i < 50; ++i) {
    HarmlessSignal::send_to_all_threads();
    test_support::detail::pause();
  }
  gate.open();
  CHECK(writing.receive_response().text() == big);
  CHECK(holding.receive_response().joined_text() == "a b");
  reading.send(request.substr(100));
  CHECK(reading.receive_response().text() == "a b");
  CHECK(Http(gateway).get("/v1/models").status == 200);
}

#endif

TEST_CASE("a client that resets the connection during a stream is recorded as having left, and the stream ends") {
  Gateway gateway;
  Gate gate;
  gateway.chat().reply(text("a b c d").hold(gate, before_token(2)));
  RawConnection connection(gateway);
  connection.send(Http(gateway).format_chat({{"stream", true}}));
  REQUIRE(gate.wait_until_reached(patience));
  const Exchange exchange = gateway.journal().last();
  CHECK(connection.receive_until("\"content\":\"a\"").found);
  connection.abort();
  CHECK(exchange.outcome() == Outcome::Kind::client_left);
  CHECK(exchange.tokens_sent() == 1);
  CHECK(exchange.wait_for_client_to_leave(patience));
  CHECK(gateway.journal().wait_until_idle(patience));
}

TEST_CASE("a client that resets the connection during a large reply is recorded as having left") {
  Gateway gateway;
  gateway.chat().reply(text(std::string(std::size_t{8} << 20, 'x')));
  ConnectionOptions small;
  small.receive_buffer = 4096;
  RawConnection connection(gateway, small);
  connection.send(Http(gateway).format_chat());
  REQUIRE(gateway.journal().wait_for(1, 30s));
  REQUIRE(eventually([&] { return gateway.journal().last().bytes_sent() > 0; }));
  connection.abort();
  CHECK(gateway.journal().last().outcome() == Outcome::Kind::client_left);
}

// --- Random bytes ----------------------------------------------------------------------------------------------------

#ifdef __linux__
inline int open_descriptors() {
  DIR* const folder = ::opendir("/proc/self/fd");
  REQUIRE(folder != nullptr);
  int count = 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}
#endif

/// A generator of random bytes: noise, cut requests and damaged requests.
class Fuzz {
 public:
  Fuzz(std::uint32_t seed, std::string valid) : random_(seed), valid_(std::move(valid)) {}

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_()) % end; }
  std::string bytes() {
    switch (below(4)) {
      case 0: return noise(below(2000));
      case 1: return valid_.substr(0, below(static_cast<std::uint32_t>(valid_.size())));
      case 2: return "GET /" + noise(below(100)) + " HTTP/1.1\r\n" + noise(below(100)) + "\r\n\r\n";
      default: break;
    }
    std::string changed = valid_;
    for (std::uint32_t edits = 1 + below(8); edits > 0; --edits) {
      const std::size_t at = below(static_cast<std::uint32_t>(changed.size()));
      switch (below(3)) {
        case 0: changed[at] = static_cast<char>(below(256)); break;
        case 1: changed.erase(at, 1 + below(10)); break;
        default: changed.insert(at, noise(1 + below(10))); break;
      }
      if (changed.empty()) break;
    }
    return changed;
  }

 private:
  std::string noise(std::uint32_t size) {
    constexpr std::string_view telling = "\r\n\t :/?%;,\"{}[]\0";
    std::string result;
    for (; size > 0; --size) {
      const bool any = below(3) != 0;
      result += any ? static_cast<char>(below(256)) : telling[below(static_cast<std::uint32_t>(telling.size()))];
    }
    return result;
  }

  std::mt19937 random_;
  std::string valid_;
};

TEST_CASE("random bytes on 2,000 connections cause no crash, no hang and no leak") {
#ifdef __linux__
  const int descriptors = open_descriptors();
#endif
  {
    Gateway gateway;
    const Http http(gateway);
    const std::string chunked =
        chat_head(gateway, {"Transfer-Encoding: chunked"}) + as_chunk(chat_body().dump()) + "0\r\n\r\n";
    Fuzz fuzz(20240101, http.format_chat({{"stream", true}}) + chunked);
    int answers = 0;
    for (int i = 0; i < 2000; ++i) {
      CAPTURE(i);
      RawConnection connection(gateway);
      connection.send(fuzz.bytes());
      switch (fuzz.below(4)) {
        case 0: connection.abort(); break;
        case 1: connection.close(); break;
        default:
          connection.shutdown_write();
          // The gateway sends nothing or HTTP, and then ends the connection.
          const auto received = connection.receive_all();
          CHECK(received.end != End::open);
          if (received.bytes.empty()) break;
          CHECK(contains(received.bytes.substr(0, 10), "HTTP/1.1 "));
          ++answers;
          break;
      }
    }
    CHECK(answers > 200);
    CHECK(gateway.journal().wait_until_idle(10s));
    CHECK(http.chat().status == 200);
    CHECK(http.stream().done());
  }
#ifdef __linux__
  CHECK(open_descriptors() == descriptors);
#endif
}

#ifdef __linux__
TEST_CASE("a gateway whose clients broke off leaks no descriptor when it ends") {
  const int descriptors = open_descriptors();
  {
    Gateway gateway{Options{}.read_timeout(200ms)};
    Gate gate;
    gateway.chat().reply(text("a b").hold(gate, before_token(2)));
    gateway.chat().when(user_says("plain")).reply("plain");
    const Http http(gateway);
    std::vector<RawConnection> connections;
    for (int i = 0; i < 20; ++i) {
      for (const std::string& bytes :
           {std::string(), http.format_chat("plain"), http.format_chat({{"stream", true}}), std::string("GET /"),
            std::string("nonsense\r\n\r\n"), chat_head(gateway, {"Content-Length: 100000000"})}) {
        connections.emplace_back(gateway);
        connections.back().send(bytes);
        if (i % 3 == 0) connections.back().abort();
        if (i % 3 == 1) connections.back().shutdown_write();
      }
    }
    REQUIRE(gate.wait_until_reached(1, patience));
    CHECK(http.ask("plain") == "plain");
    CHECK(open_descriptors() > descriptors);
  }
  CHECK(open_descriptors() == descriptors);
}

TEST_CASE("a running gateway leaks no descriptor, however a connection or another gateway ends") {
  Gateway gateway;
  gateway.chat().reply("a");
  gateway.chat().when(user_says("reset")).reply(text("a b").fault(after_tokens(1), reset_connection()));
  gateway.chat().when(user_says("close")).reply(text("a b").fault(after_tokens(1), close_connection()));
  gateway.chat().when(user_says("half")).reply(text("a b").fault(after_tokens(1), half_close()));
  gateway.chat().when(user_says("apart")).reply(text("a b").slice_writes(40));
  const Http http(gateway);
  const auto stream = [&](const char* said) {
    RawConnection connection(gateway);
    connection.send(http.format_chat({{"stream", true}, {"messages", {{{"role", "user"}, {"content", said}}}}}));
    connection.receive_all(5s);
  };
  const auto struck = [&](const ConnectionFault& fault) {
    gateway.next_connection(fault);
    RawConnection(gateway).receive_all();
  };
  const auto reused = [&](const ConnectionFault& fault) {
    gateway.next_connection(fault);
    RawConnection connection(gateway);
    connection.send(http.format_chat());
    connection.receive_response();
    connection.send(http.format_chat());
    connection.receive_all();
  };
  const auto sent = [&](const std::string& bytes) {
    RawConnection connection(gateway);
    connection.send(bytes);
    return connection;
  };
  struct Row {
    std::string what;
    std::function<void()> happens;
  };
  const Row rows[] = {
      {"the client closes", [&] { sent(http.format_chat()).receive_response(); }},
      {"the client resets",
       [&] {
         sent(http.format_chat({{"stream", true}})).abort();
       }},
      {"the client closes its side", [&] { sent("GET /").shutdown_write(); }},
      {"the client says nothing", [&] { sent(""); }},
      {"a request that is none", [&] { sent("nonsense\r\n\r\n").receive_all(); }},
      {"a reply that resets", [&] { stream("reset"); }},
      {"a reply that closes", [&] { stream("close"); }},
      {"a reply that closes one side", [&] { stream("half"); }},
      {"a client that reads piece by piece",
       [&] {
         http.chat({{"stream", true}, {"messages", chat_body("apart")["messages"]}});
       }},
      {"reset on accept", [&] { struck(reset_on_accept()); }},
      {"close on accept", [&] { struck(close_on_accept()); }},
      {"garbage on accept", [&] { struck(garbage_on_accept()); }},
      {"close when reused", [&] { reused(close_when_reused()); }},
      {"reset when reused", [&] { reused(reset_when_reused()); }},
      {"connections are refused and accepted again",
       [&] {
         gateway.refuse_connections();
         gateway.accept_connections();
       }},
      {"a gateway ends that has a connection",
       [&] {
         Gateway other;
         const RawConnection connection(other);
       }},
      {"a gateway ends that refuses",
       [&] {
         Gateway other;
         other.refuse_connections();
       }},
      {"a gateway whose port is taken",
       [&] { CHECK_THROWS_AS(Gateway{Options{}.port(gateway.port())}, GatewayError); }},
      {"a gateway whose host is none of this machine",
       [&] { CHECK_THROWS_AS(Gateway{Options{}.host("192.0.2.1")}, GatewayError); }},
  };
  {
    // Warms up, because the gateway keeps some descriptors after it has served parallel connections.
    std::vector<RawConnection> together;
    for (int i = 0; i < 20; ++i) {
      together.emplace_back(gateway);
      together.back().send(Http(gateway).format_chat());
      REQUIRE(together.back().receive_response().status == 200);
    }
  }
  for (const Row& row : rows) {
    CAPTURE(row.what);
    row.happens();  // descriptors that the gateway opens once are no leak
    REQUIRE(gateway.journal().wait_until_idle(5s));
    // Waits until the number is constant, because earlier connections may still be closing.
    int before = open_descriptors();
    REQUIRE(eventually([&] {
      const int earlier = std::exchange(before, open_descriptors());
      return earlier == before;
    }));
    for (int i = 0; i < 20; ++i) row.happens();
    CHECK(eventually([&] { return open_descriptors() <= before; }));
  }
}
#endif

}  // namespace connections_test
