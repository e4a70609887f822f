// Many parallel connections, and the responses when the system has no more descriptors or threads.

#include <doctest/doctest.h>
#ifndef _WIN32
#include <sys/resource.h>
#include <sys/wait.h>
#endif

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"
#include "support/timing.hpp"

namespace scale_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::eventually;
using test_support::Http;
using test_support::RawConnection;
using test_support::Response;
using test_support::sanitized;

const Json stalled_stream{{"stream", true}, {"messages", {{{"role", "user"}, {"content", "stall"}}}}};

#ifndef _WIN32  // Windows has neither fork() nor limits of descriptors and threads.

/// Returns the lowest free descriptor.
int next_descriptor() {
  const int descriptor = ::dup(0);
  ::close(descriptor);
  return descriptor;
}

void limit(decltype(RLIMIT_NOFILE) resource, rlim_t most) {
  const rlimit limits{most, most};
  if (::setrlimit(resource, &limits) != 0) std::cerr << "setrlimit failed\n";
}

/// Limits this process to `count` more descriptors.
void leave_descriptors(int count) { limit(RLIMIT_NOFILE, static_cast<rlim_t>(next_descriptor() + count)); }

/// Makes the system refuse further threads to this process. Switches from root to another user, because the limit does
/// not apply to root.
void leave_no_thread() {
  if (::geteuid() == 0 && ::setuid(54321) != 0) std::cerr << "setuid failed\n";
  limit(RLIMIT_NPROC, 1);
}

/// A gateway in a separate process, so that limits affect only the gateway.
class GatewayProcess {
 public:
  /// Runs `before` and `after` in the gateway's process, before and after the gateway starts.
  explicit GatewayProcess(
      const std::function<void()>& before, const std::function<void(Gateway&)>& after = [](Gateway&) {}) {
    int control[2];
    int addresses[2];
    int errors[2];
    REQUIRE((::pipe(control) == 0 && ::pipe(addresses) == 0 && ::pipe(errors) == 0));
    std::cout.flush();  // otherwise both processes would print the buffered text
    process_ = ::fork();
    if (process_ == 0) {
      ::close(control[1]);
      ::dup2(errors[1], STDERR_FILENO);
      serve(before, after, control[0], addresses[1]);
      ::_exit(0);
    }
    ::close(control[0]);
    ::close(addresses[1]);
    ::close(errors[1]);
    control_ = control[1];
    errors_ = errors[0];
    const std::string address = read_all(addresses[0]);
    ::close(addresses[0]);
    port_ = std::atoi(address.c_str());
    key_ = address.substr(address.find(' ') + 1);
  }
  ~GatewayProcess() { end(); }
  GatewayProcess(const GatewayProcess&) = delete;
  GatewayProcess& operator=(const GatewayProcess&) = delete;

  /// Whether the gateway started.
  bool serves() const { return port_ != 0; }
  Http http() const { return {"127.0.0.1", port_, key_}; }
  RawConnection connect() const { return {"127.0.0.1", port_}; }
  /// Requests a stream that stalls after its first event, on a new connection. Returns the status.
  int begin_stream(std::vector<RawConnection>& connections) const {
    connections.push_back(connect());
    connections.back().send(http().format_chat(stalled_stream));
    const std::string head = connections.back().receive_until("\r\n\r\n").bytes;
    return head.size() < 12 ? 0 : std::atoi(head.c_str() + 9);
  }

  /// Ends the process and returns its stderr.
  std::string end() {
    if (process_ < 0) return {};
    ::close(control_);
    const std::string said = read_all(errors_);
    ::close(errors_);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
    return said;
  }

 private:
  static void serve(const std::function<void()>& before, const std::function<void(Gateway&)>& after, int control,
                    int address) {
    try {
      before();
      Gateway gateway{Options{}.verify_on_destruction(false).unmatched(Unmatched::gets_default_reply)};
      gateway.chat().when(user_says("stall")).reply(text("one two").fault(after_events(1), stall()));
      after(gateway);
      const std::string reached = std::to_string(gateway.port()) + " " + gateway.api_key();
      if (::write(address, reached.data(), reached.size()) < 0) std::cerr << "write failed\n";
      ::close(address);
      char byte = 0;
      while (::read(control, &byte, 1) > 0) {
      }
      if (!gateway.verify()) std::cerr << gateway.verify() << '\n';
    } catch (const std::exception& exception) {
      std::cerr << "thrown: " << exception.what() << '\n';
    }
  }

  static std::string read_all(int descriptor) {
    std::string all;
    char bytes[512];
    for (ssize_t count = 0; (count = ::read(descriptor, bytes, sizeof bytes)) > 0;)
      all.append(bytes, static_cast<std::size_t>(count));
    return all;
  }

  pid_t process_ = -1;
  int control_ = -1;
  int errors_ = -1;
  int port_ = 0;
  std::string key_;
};

void check_turned_away(const Response& response, const std::string& reason) {
  CHECK(response.status == 503);
  CHECK(response.error_code() == "connection_limit");
  CHECK(response.error_type() == "error");
  CHECK(response.error_message().find(reason) != std::string::npos);
  CHECK(response.header("Retry-After") == "1");
  CHECK(response.header("Connection") == "close");
}

#endif

TEST_CASE("300 stalled or held exchanges delay no other exchange") {
  Gateway gateway;
  Gate gate(60s);
  gateway.chat().reply("Hello.");
  gateway.chat().when(user_says("stall")).reply(text("one two").fault(after_events(1), stall()));
  gateway.chat().when(user_says("hold")).reply(text("one two").hold(gate, before_event(1)));
  const Http http(gateway);
  std::vector<RawConnection> slow;
  for (int i = 0; i < 150; ++i) {
    slow.emplace_back(gateway);
    slow.back().send(http.format_chat(stalled_stream));
    slow.emplace_back(gateway);
    slow.back().send(http.format_chat("hold"));
  }
  REQUIRE(gate.wait_until_reached(150, 30s));
  for (std::size_t i = 0; i < slow.size(); i += 2) REQUIRE(slow[i].receive_until("\n\n").found);

  CHECK(test_support::is_within(2s, [&] {
    return test_support::time_of([&] {
      for (int i = 0; i < 20; ++i) CHECK(http.chat().status == 200);
    });
  }));

  gate.open();
  for (std::size_t i = 1; i < slow.size(); i += 2) CHECK(slow[i].receive_response().text() == "one two");
}

TEST_CASE("more and more connections are each served in parallel") {
  Gateway gateway;
  const Http http(gateway);
  for (const std::size_t count : {1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
    CAPTURE(count);
    Gate gate(60s);
    const ScopedStub stub = gateway.chat().reply(text("one two").hold(gate, before_event(1))).scoped();
    std::vector<RawConnection> clients;
    while (clients.size() < count) clients.emplace_back(gateway);
    for (RawConnection& client : clients) client.send(http.format_chat());
    REQUIRE(gate.wait_until_reached(count, 30s));
    gate.open();
    for (RawConnection& client : clients) CHECK(client.receive_response().text() == "one two");
  }
}

#ifndef _WIN32

TEST_CASE("a new connection gets a 503 until a descriptor is free" * doctest::skip(sanitized)) {
  GatewayProcess gateway([] { leave_descriptors(30); });
  std::vector<RawConnection> streams;
  int status = 0;
  while (streams.size() < 60 && (status = gateway.begin_stream(streams)) == 200) {
  }
  CHECK(status == 503);
  CHECK(streams.size() > 14);  // worker threads use a few descriptors
  streams.pop_back();

  for (int i = 0; i < 5; ++i) check_turned_away(gateway.http().chat(), "(ulimit -n)");
  check_turned_away(gateway.http().request("GET", "/v1/models"), "no descriptor left");
  // Existing connections continue, and descriptors that they free are reused.
  CHECK(streams.front().receive_until("\n\n").found);
  streams.erase(streams.begin(), streams.begin() + 3);
  CHECK(eventually([&] { return gateway.http().chat().status == 200; }));
  // Rejected clients leave no descriptors behind: the capacity is the same as before.
  for (int i = 0; i < 40; ++i) gateway.http().chat();
  std::vector<RawConnection> again = std::move(streams);
  const std::size_t before = again.size() + 3;
  // Rejected connections may close a moment later on a busy machine.
  CHECK(eventually([&] {
    if (gateway.begin_stream(again) != 200) again.pop_back();
    return again.size() == before;
  }));
  CHECK(gateway.begin_stream(again) == 503);

  const std::string said = gateway.end();
  CHECK(said.find("a connection is answered 503 connection_limit: this process has no descriptor left") !=
        std::string::npos);
}

TEST_CASE("a client that sends nothing gets a 503 too if there is no free descriptor" * doctest::skip(sanitized)) {
  GatewayProcess gateway([] { leave_descriptors(30); });
  std::vector<RawConnection> streams;
  while (streams.size() < 60 && gateway.begin_stream(streams) == 200) {
  }
  RawConnection silent = gateway.connect();
  check_turned_away(silent.receive_response(), "no descriptor left");
  CHECK(silent.receive_all().end == test_support::End::fin);
}

TEST_CASE("silent clients that get a 503 delay no other client" * doctest::skip(sanitized)) {
  for (const bool has_thread : {true, false}) {
    CAPTURE(has_thread);
    GatewayProcess gateway(
        [has_thread] {
          if (has_thread) leave_descriptors(30);
        },
        [has_thread](Gateway&) {
          if (!has_thread) leave_no_thread();
        });
    std::vector<RawConnection> clients;
    while (has_thread && clients.size() < 60 && gateway.begin_stream(clients) == 200) {
    }
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < 300; ++i) clients.push_back(gateway.connect());
    check_turned_away(gateway.http().chat(), has_thread ? "no descriptor left" : "another thread");
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
    CHECK(taken.count() < 3);
  }
}

TEST_CASE("parallel clients all get a 503 if there is no free descriptor" * doctest::skip(sanitized)) {
  GatewayProcess gateway([] { leave_descriptors(30); });
  std::vector<RawConnection> streams;
  while (streams.size() < 60 && gateway.begin_stream(streams) == 200) {
  }
  std::vector<std::vector<Response>> answers(10);
  std::vector<std::thread> clients;
  for (std::vector<Response>& mine : answers)
    clients.emplace_back([&gateway, &mine] {
      const Http http = gateway.http();
      while (mine.size() < 20) mine.push_back(http.chat());
    });
  for (std::thread& client : clients) client.join();
  for (const std::vector<Response>& some : answers)
    for (const Response& answer : some) check_turned_away(answer, "no descriptor left");
}

TEST_CASE("a new connection gets a 503 if the system refuses threads" * doctest::skip(sanitized)) {
  GatewayProcess gateway([] {}, [](Gateway&) { leave_no_thread(); });
  for (int i = 0; i < 5; ++i) check_turned_away(gateway.http().chat(), "another thread");
  CHECK(gateway.end().find("a connection is answered 503 connection_limit: the system refuses another thread") !=
        std::string::npos);
}

TEST_CASE("if the system refuses threads, a running function continues and open connections wait for its thread" *
          doctest::skip(sanitized)) {
  int release[2];
  REQUIRE(::pipe(release) == 0);
  GatewayProcess gateway([] {},
                         [&release](Gateway& made) {
                           made.chat().when(user_says("block")).reply([&release](const ChatRequest&) {
                             char byte = 0;
                             return ::read(release[0], &byte, 1) == 1 ? text("late") : text("not released");
                           });
                           // This request starts the thread that waits for clients.
                           if (Http(made).request("GET", "/v1/models").status != 200) std::cerr << "not served\n";
                           leave_no_thread();
                         });
  const std::string models = gateway.http().format("GET", "/v1/models");
  std::vector<RawConnection> open;
  for (int i = 0; i < 3; ++i) {
    open.push_back(gateway.connect());
    open.back().send(models);
    REQUIRE(open.back().receive_response().status == 200);
  }
  RawConnection blocked = gateway.connect();
  blocked.send(gateway.http().format_chat("block"));
  // Waits until the function runs and occupies the only thread.
  REQUIRE(eventually([&] { return gateway.connect().receive_response(100ms).status == 503; }));
  for (RawConnection& connection : open) connection.send(models);
  check_turned_away(gateway.http().chat(), "another thread");
  for (const RawConnection& connection : open) CHECK(connection.buffered().empty());
  REQUIRE(::write(release[1], "x", 1) == 1);
  CHECK(blocked.receive_response().text() == "late");
  for (RawConnection& connection : open) CHECK(connection.receive_response().status == 200);
  CHECK(eventually([&] { return gateway.http().chat().status == 200; }));
  CHECK(gateway.end().find("not served") == std::string::npos);
  for (const int end : release) ::close(end);
}

TEST_CASE("waiting exchanges need no thread, even if the system refuses threads" * doctest::skip(sanitized)) {
  GatewayProcess gateway([] {},
                         [](Gateway& made) {
                           if (Http(made).request("GET", "/v1/models").status != 200) std::cerr << "not served\n";
                           leave_no_thread();
                         });
  std::vector<RawConnection> stalled;
  while (stalled.size() < 20) {
    REQUIRE(gateway.begin_stream(stalled) == 200);
    REQUIRE(stalled.back().receive_until("\n\n").found);
    CHECK(gateway.http().chat().status == 200);
  }
  CHECK(gateway.end().find("not served") == std::string::npos);
}

TEST_CASE("a fault on accept does not strike a connection that gets a 503" * doctest::skip(sanitized)) {
  for (const std::size_t times : {std::size_t{1}, std::size_t{3}}) {
    CAPTURE(times);
    GatewayProcess gateway([] {},
                           [times](Gateway& made) {
                             made.next_connection(close_on_accept(), times);
                             made.next_connection(reset_on_accept(), 2);
                             leave_no_thread();
                           });
    for (int i = 0; i < 3; ++i) check_turned_away(gateway.http().chat(), "another thread");
    const std::string said = gateway.end();
    CAPTURE(said);
    const std::size_t first = said.find("close on accept");
    const std::size_t second = said.find("reset on accept");
    CHECK((first != std::string::npos && second != std::string::npos && first < second));
    CHECK(said.find(times == 1 ? "no connection reached it" : "3 of 3 are left") != std::string::npos);
    CHECK(said.find("2 of 2 are left") != std::string::npos);
  }
}

TEST_CASE("a gateway that starts with few descriptors reports the limit" * doctest::skip(sanitized)) {
  GatewayProcess few([] { leave_descriptors(30); });
  CHECK(few.end().find("descriptors (ulimit -n) and has used most") != std::string::npos);

  GatewayProcess enough([] { leave_descriptors(100); });
  CHECK(enough.end().empty());

  GatewayProcess none([] { leave_descriptors(0); });
  CHECK(none.end().find("thrown: mock_gateway: cannot listen on 127.0.0.1:0: Too many open files") !=
        std::string::npos);

  GatewayProcess no_thread(leave_no_thread);
  CHECK(no_thread.end().find("thrown: mock_gateway: cannot accept connections: the system refuses another thread") !=
        std::string::npos);
}

TEST_CASE("with any number of descriptors, a gateway serves or reports the limit" * doctest::skip(sanitized)) {
  for (int count = 0; count <= 12; ++count) {
    CAPTURE(count);
    GatewayProcess few([count] { leave_descriptors(count); });
    if (few.serves()) {
      const int status = few.http().chat().status;
      CHECK((status == 200 || status == 503));
      CHECK(few.end().find("thrown") == std::string::npos);
    } else {
      const std::string said = few.end();
      CAPTURE(said);
      CHECK(
          (said.find("thrown: mock_gateway: cannot listen on 127.0.0.1:0: Too many open files") != std::string::npos ||
           said.find("thrown: mock_gateway: cannot accept connections: this process has no descriptor left") !=
               std::string::npos));
    }
  }
}

TEST_CASE("connections with descriptors above 1024 are served like others" * doctest::skip(sanitized)) {
  rlimit limits{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limits) == 0);
  if (limits.rlim_max < 1200) {
    MESSAGE("not run: the limit of descriptors (ulimit -Hn) is below 1200");
    return;
  }
  GatewayProcess gateway([] {
    limit(RLIMIT_NOFILE, 1200);
    while (::dup(0) < 1100) {
    }
  });
  CHECK(gateway.http().chat().status == 200);
  std::vector<RawConnection> streams;
  for (int i = 0; i < 20; ++i) CHECK(gateway.begin_stream(streams) == 200);
  for (RawConnection& stream : streams) CHECK(stream.receive_until("\n\n").found);
  CHECK(gateway.http().request("GET", "/v1/models").status == 200);
}

#endif

}  // namespace scale_test
