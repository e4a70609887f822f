// Child processes forked from a process with a gateway. A child has copies of the object and its descriptors, but not
// its threads. The child must not affect the gateway or keep its port and connections open.

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"

namespace fork_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::End;
using test_support::eventually;
using test_support::Http;
using test_support::patience;
using test_support::RawConnection;

/// True in a forked child process.
bool is_child = false;

/// A child process that runs `code`. The code exits or returns the exit status. The destructor kills the process.
class Child {
 public:
  explicit Child(const std::function<int()>& code) {
    std::cout.flush();  // otherwise both processes would print the buffered text
    process_ = ::fork();
    if (process_ != 0) return;
    is_child = true;
    for (const int fatal : {SIGABRT, SIGSEGV}) ::signal(fatal, SIG_DFL);  // the test framework would report the signal
    ::_exit(code());
  }
  ~Child() {
    if (process_ < 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Waits until the process ends. Returns how it ended, such as "exit 0" or "signal 6", or "still there" after the
  /// timeout.
  std::string end(std::chrono::milliseconds timeout = 20s) {
    int status = 0;
    if (!eventually([&] { return ::waitpid(process_, &status, WNOHANG) == process_; }, timeout)) return "still there";
    process_ = -1;
    return WIFEXITED(status) ? "exit " + std::to_string(WEXITSTATUS(status))
                             : "signal " + std::to_string(WTERMSIG(status));
  }

 private:
  pid_t process_ = -1;
};

/// Waits until the process is killed.
int wait_to_be_killed() {
  for (;;) ::pause();
}

bool is_refused(int port) {
  try {
    RawConnection connection("127.0.0.1", port);
    return false;
  } catch (const std::runtime_error&) {
    return true;
  }
}

std::string message_of(const std::function<void()>& code) {
  try {
    code();
  } catch (const GatewayError& error) {
    return error.what();
  }
  return "";
}

}  // namespace fork_test

#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
/// Turns off the leak sanitizer in child processes, which calls this at exit (sanitizer/lsan_interface.h). Otherwise
/// memory would count as leaked that only threads of the parent reference. clang does not define the macro, so the
/// function always exists there; without a sanitizer it is never called.
extern "C" int __lsan_is_turned_off() { return fork_test::is_child; }
#endif

namespace fork_test {

TEST_CASE("a child of a program with a global gateway exits normally") {
  Child program([]() -> int {
    static Gateway gateway;
    static_cast<void>(Http(gateway).chat());
    Child child([]() -> int { std::exit(0); });
    const std::string end = child.end(10s);
    if (end != "exit 0") std::cerr << "the child: " << end << '\n';
    std::exit(end == "exit 0" ? 0 : 1);
  });
  CHECK(program.end() == "exit 0");
}

TEST_CASE("a child may destroy, stop, reset, move and assign its inherited gateway") {
  auto gateway = std::make_unique<Gateway>(Options{}.verify_on_destruction(false));
  const Http http = Http(*gateway).keep_alive();
  CHECK(http.chat().status == 200);
  const std::vector<std::function<void()>> calls = {
      [&] { gateway.reset(); },
      [&] { gateway->stop(); },
      [&] { gateway->reset(); },
      [&] { Gateway other = std::move(*gateway); },
      [&] {
        gateway->refuse_connections();
        gateway->accept_connections();
        gateway->fail_always(server_error());
        gateway->clear_failures();
        gateway->fail_next(server_error());
        gateway->chaos(Chaos(server_error()));
        gateway->clear_chaos();
        gateway->next_connection(reset_on_accept());
        gateway->set_state("scenario", "moved");
        gateway->on("GET", "/v1/other", [](const ReceivedRequest&) { return HttpReply(200, "text"); });
      },
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    CAPTURE(i);
    Child child([&] {
      calls[i]();
      return 0;
    });
    CHECK(child.end() == "exit 0");
    CHECK(http.chat().status == 200);
    CHECK(gateway->verify());
  }
  CHECK(gateway->journal().count() == calls.size() + 1);
}

TEST_CASE("a child reports nothing about its inherited gateway") {
  Gateway gateway{Options{}.verify_on_destruction(true)};
  gateway.chat().when(user_says("never")).reply("no");
  static_cast<void>(Http(gateway).chat());
  Child child([&] {
    Gateway inherited = std::move(gateway);
    return 0;
  });
  CHECK(child.end() == "exit 0");
  CHECK_FALSE(gateway.verify());
}

TEST_CASE("a child may ask the inherited gateway for its addresses; other queries throw") {
  Gateway gateway;
  Child child([&] {
    const std::vector<std::function<void()>> questions = {
        [&] { static_cast<void>(gateway.journal()); },
        [&] { static_cast<void>(gateway.keys()); },
        [&] { static_cast<void>(gateway.verify()); },
        [&] { static_cast<void>(gateway.review()); },
        [&] { static_cast<void>(gateway.state("scenario")); },
        [&] { gateway.chat().reply("Hello."); },
        [&] { static_cast<void>(gateway.sweep(text("Hello."), [] {})); },
    };
    for (std::size_t i = 0; i < questions.size(); ++i)
      if (message_of(questions[i]).find("was made by another process") == std::string::npos)
        return static_cast<int>(i) + 1;
    // The addresses are available because the child is often the client.
    if (gateway.base_url() != gateway.root_url() + "/v1" || gateway.host() != "127.0.0.1") return 20;
    return Http(gateway).chat().status == 200 ? 0 : 21;
  });
  CHECK(child.end() == "exit 0");
  CHECK(gateway.journal().count() == 1);
}

TEST_CASE("the port of a destroyed gateway refuses connections and is free, even while a child lives") {
  const auto ends = [](const std::function<void(Gateway&)>& before) {
    auto gateway = std::make_unique<Gateway>();
    const int port = gateway->port();
    before(*gateway);
    const Child child(wait_to_be_killed);
    gateway.reset();
    CHECK(is_refused(port));
    Gateway again{Options{}.port(port)};
    CHECK(Http(again).chat().status == 200);
  };
  ends([](Gateway&) {});
  ends([](Gateway& gateway) { gateway.refuse_connections(); });
  ends([](Gateway& gateway) {
    gateway.refuse_connections();
    gateway.accept_connections();
  });
}

TEST_CASE("a chosen port is free after the gateway's end, even while a child lives") {
  const int port = Gateway().port();
  for (const bool refuses : {false, true}) {
    CAPTURE(refuses);
    auto gateway = std::make_unique<Gateway>(Options{}.port(port));
    if (refuses) gateway->refuse_connections();
    const Child child(wait_to_be_killed);
    gateway.reset();
    CHECK(is_refused(port));
    Gateway again{Options{}.port(port)};
    CHECK(Http(again).chat().status == 200);
  }
}

TEST_CASE("a gateway can close and open its port while a child lives") {
  Gateway gateway;
  const Child child(wait_to_be_killed);
  for (int i = 0; i < 2; ++i) {
    gateway.refuse_connections();
    CHECK(is_refused(gateway.port()));
    gateway.accept_connections();
    CHECK(Http(gateway).chat().status == 200);
  }
}

TEST_CASE("clients see the end of their connections, even while a child lives") {
  Gateway gateway{Options{}.write_timeout(200ms)};
  const Http http(gateway);
  const Json stream{{"stream", true}, {"messages", {{{"role", "user"}, {"content", "break"}}}}};
  const auto open = [&](const std::string& request, test_support::ConnectionOptions options = {}) {
    RawConnection connection(gateway, options);
    connection.send(request);
    return connection;
  };
  SUBCASE("an idle connection and a stream, when the gateway stops") {
    gateway.chat().when(user_says("break")).reply(text("one two").fault(after_events(1), stall()));
    RawConnection idle = open(http.format("GET", "/v1/models"));
    REQUIRE(idle.receive_response().status == 200);
    RawConnection streaming = open(http.format_chat(stream));
    REQUIRE(streaming.receive_until("\n\n").found);
    const Child child(wait_to_be_killed);
    gateway.stop();
    CHECK(idle.receive_all().end == End::fin);
    CHECK(streaming.receive_all().end == End::fin);
    static_cast<void>(gateway.verify());
  }
  SUBCASE("a scripted reset and a scripted close") {
    Gate gate;
    for (const bool resets : {true, false}) {
      CAPTURE(resets);
      gateway.chat().reply(text("one two")
                               .hold(gate, before_event(2))
                               .fault(after_events(2), resets ? reset_connection() : close_connection()));
      RawConnection connection = open(http.format_chat(stream));
      REQUIRE(gate.wait_until_reached(resets ? 1 : 2, patience));
      const Child child(wait_to_be_killed);
      gate.release();
      CHECK(connection.receive_all().end == (resets ? End::reset : End::fin));
    }
  }
  SUBCASE("a client that does not read is reset after the write timeout") {
    gateway.chat().reply(failure(200, "", "").body(std::string(8 << 20, 'x'), "text/plain"));
    test_support::ConnectionOptions small;
    small.receive_buffer = 4096;
    RawConnection connection = open(http.format_chat(), small);
    REQUIRE(gateway.journal().wait_for(1, patience));
    const Child child(wait_to_be_killed);
    CHECK(gateway.journal().last().outcome(20s) == Outcome::Kind::client_stalled);
    CHECK(connection.receive_all().end == End::reset);
  }
  SUBCASE("a malformed request") {
    RawConnection connection = open("nonsense\r\n\r\n");
    const Child child(wait_to_be_killed);
    CHECK(connection.receive_all().end == End::fin);
  }
}

}  // namespace fork_test
