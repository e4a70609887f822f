// Gateways as C++ objects: moves, forbidden destruction, and stopping. A gateway does not change SIGPIPE, and
// frees its port.

#include <doctest/doctest.h>
#ifndef _WIN32
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#endif

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mock_gateway.hpp"
#include "support/client.hpp"

namespace lifetime_test {

using namespace mock_gateway;
using namespace std::chrono_literals;
using test_support::Http;
using test_support::RawConnection;

std::string message_of(const std::function<void()>& code) {
  try {
    code();
  } catch (const GatewayError& error) {
    return error.what();
  }
  return "";
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// --- Moved-from gateways ---------------------------------------------------------------------------------------------

TEST_CASE("every function of a moved-from Gateway throws with an explanation") {
  Gateway gateway;
  Gateway owner = std::move(gateway);
  const std::vector<std::function<void()>> uses = {
      [&] { static_cast<void>(gateway.base_url()); },
      [&] { static_cast<void>(gateway.root_url()); },
      [&] { static_cast<void>(gateway.host()); },
      [&] { static_cast<void>(gateway.port()); },
      [&] { static_cast<void>(gateway.api_key()); },
      [&] { static_cast<void>(gateway.keys()); },
      [&] { gateway.chat().reply("Hello."); },
      [&] { static_cast<void>(gateway.sweep(text("Hello."), [] {})); },
      [&] { gateway.fail_next(server_error()); },
      [&] { gateway.fail_always(server_error()); },
      [&] { gateway.clear_failures(); },
      [&] { gateway.clear_failures(for_model("mock-model")); },
      [&] { gateway.chaos(Chaos(server_error())); },
      [&] { gateway.clear_chaos(); },
      [&] { gateway.next_connection(reset_on_accept()); },
      [&] { gateway.refuse_connections(); },
      [&] { gateway.accept_connections(); },
      [&] { gateway.on("GET", "/v1/other", [](const ReceivedRequest&) { return HttpReply(200, "text"); }); },
      [&] { static_cast<void>(gateway.journal()); },
      [&] { static_cast<void>(gateway.verify()); },
      [&] { static_cast<void>(gateway.review()); },
      [&] { static_cast<void>(gateway.state("scenario")); },
      [&] { gateway.set_state("scenario", "moved"); },
      [&] { gateway.reset(); },
      [&] { gateway.stop(); },
  };
  for (std::size_t i = 0; i < uses.size(); ++i) {
    CAPTURE(i);
    CHECK(message_of(uses[i]).find("this Gateway was moved from") != std::string::npos);
  }
  CHECK(Http(owner).chat().status == 200);
}

TEST_CASE("a moved-from Gateway may be destroyed, moved again and assigned") {
  Gateway gateway;
  const std::string url = gateway.root_url();
  Gateway owner = std::move(gateway);
  { Gateway nothing = std::move(gateway); }
  gateway = std::move(owner);
  CHECK(gateway.root_url() == url);
  CHECK(Http(gateway).chat().status == 200);
}

#ifndef _WIN32  // Windows has neither fork() nor SIGPIPE.

// --- Destroyed by a function that the gateway calls ------------------------------------------------------------------

/// Runs `code` in a child process. Returns its stderr and how it ended, such as "exit 0" or "signal 6".
std::pair<std::string, std::string> run_in_child(const std::function<void()>& code) {
  int errors[2];
  REQUIRE(::pipe(errors) == 0);
  std::cout.flush();
  const pid_t process = ::fork();
  if (process == 0) {
    ::signal(SIGABRT, SIG_DFL);  // the test framework would report the signal
    ::dup2(errors[1], STDERR_FILENO);
    ::close(errors[0]);
    ::alarm(30);
    code();
    ::_exit(0);
  }
  ::close(errors[1]);
  std::string said;
  char bytes[512];
  for (ssize_t count = 0; (count = ::read(errors[0], bytes, sizeof bytes)) > 0;)
    said.append(bytes, static_cast<std::size_t>(count));
  ::close(errors[0]);
  int status = 0;
  ::waitpid(process, &status, 0);
  return {said, WIFEXITED(status) ? "exit " + std::to_string(WEXITSTATUS(status))
                                  : "signal " + std::to_string(WTERMSIG(status))};
}

TEST_CASE("a gateway destroyed by a function that it calls prints one message and aborts the program") {
  const auto check = [](const std::function<void(std::unique_ptr<Gateway>&)>& make_gateway) {
    const auto [said, end] = run_in_child([&] {
      std::unique_ptr<Gateway> gateway;
      make_gateway(gateway);
      const Http http = Http(*gateway).allow_incomplete();
      static_cast<void>(http.chat());
      for (;;) ::pause();
    });
    const std::string& printed = said;  // a structured binding cannot be captured
    CAPTURE(printed);
    CHECK(end == "signal " + std::to_string(SIGABRT));
    CHECK(count_of(said, "\n") == 1);
    CHECK(said.find("mock_gateway: the gateway made at ") == 0);
    CHECK(said.find("is destroyed by a function that it called itself") != std::string::npos);
    CHECK(count_of(said, "terminate") == 0);
  };
  check([](std::unique_ptr<Gateway>& gateway) {
    gateway = std::make_unique<Gateway>(Options{}.on_exchange([&](const Exchange&) { gateway.reset(); }));
  });
  check([](std::unique_ptr<Gateway>& gateway) {
    gateway = std::make_unique<Gateway>();
    gateway->chat().reply([&](const ChatRequest&) -> Reply {
      *gateway = Gateway();
      return text("never");
    });
  });
  check([](std::unique_ptr<Gateway>& gateway) {
    gateway = std::make_unique<Gateway>();
    gateway->chat()
        .when(matching("destroys it",
                       [&](const ChatRequest&) {
                         gateway.reset();
                         return true;
                       }))
        .reply("never");
  });
}

// --- Stopped while a function of the test runs -----------------------------------------------------------------------

using Action = void (*)(Gateway&);
void accept_connections(Gateway& gateway) { gateway.accept_connections(); }
void refuse_connections(Gateway& gateway) { gateway.refuse_connections(); }
void reset(Gateway& gateway) { gateway.reset(); }

/// Stops the gateway on another thread. Lets the function of the test continue once stop() has begun, then waits for
/// stop() to return. stop() closes the connection `open` before it waits for functions.
void stop_meanwhile(Gateway& gateway, RawConnection& open, std::promise<void>& go_on) {
  ::alarm(10);
  std::thread stop([&] { gateway.stop(); });
  open.receive_all(10s);
  go_on.set_value();
  stop.join();
}

TEST_CASE("a handler may accept or refuse connections or reset the gateway while stop() waits for the handler") {
  for (const Action act : {accept_connections, refuse_connections, reset}) {
    for (const bool is_open : {true, false}) {
      const auto outcome = run_in_child([&] {
        std::promise<void> entered;
        std::promise<void> go_on;
        Gateway gateway;
        gateway.on("POST", "/v1/wait", [&](const ReceivedRequest&) {
          entered.set_value();
          go_on.get_future().wait();
          act(gateway);
          return HttpReply(200, "late");
        });
        RawConnection client(gateway);
        client.send(Http(gateway).format("POST", "/v1/wait", "{}"));
        entered.get_future().wait();
        if (!is_open) gateway.refuse_connections();
        stop_meanwhile(gateway, client, go_on);
      });
      CAPTURE(is_open);
      CAPTURE(outcome.first);
      CHECK(outcome.second == "exit 0");
    }
  }
}

// clang's UndefinedBehaviorSanitizer checks memory through pipes. If no descriptor is free, it misreports pointers.
#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
#define NEEDS_DESCRIPTORS true
#endif
#endif
#ifndef NEEDS_DESCRIPTORS
#define NEEDS_DESCRIPTORS false
#endif

TEST_CASE("a callback for a rejected connection may accept connections or reset while stop() waits for it" *
          doctest::skip(NEEDS_DESCRIPTORS)) {
  for (const Action act : {accept_connections, reset}) {
    const auto outcome = run_in_child([&] {
      std::promise<void> entered;
      std::promise<void> go_on;
      std::unique_ptr<Gateway> gateway;
      gateway = std::make_unique<Gateway>(Options{}.on_exchange([&](const Exchange& exchange) {
        if (exchange.status() != 503) return;
        entered.set_value();
        go_on.get_future().wait();
        act(*gateway);
      }));
      RawConnection open(*gateway);
      open.send(Http(*gateway).format_chat());
      if (open.receive_response().status != 200) ::_exit(1);
      // The next client gets the last descriptor.
      const int next = ::dup(0);
      ::close(next);
      const rlimit limits{static_cast<rlim_t>(next + 1), static_cast<rlim_t>(next + 1)};
      if (::setrlimit(RLIMIT_NOFILE, &limits) != 0) ::_exit(2);
      RawConnection client(*gateway);
      client.send(Http(*gateway).format_chat());
      entered.get_future().wait();
      stop_meanwhile(*gateway, open, go_on);
    });
    CAPTURE(outcome.first);
    CHECK(outcome.second == "exit 0");
  }
}

// --- SIGPIPE ---------------------------------------------------------------------------------------------------------

std::atomic<int> pipe_signals{0};
void count_pipe_signal(int) { ++pipe_signals; }

/// Sets the process's action on SIGPIPE. The destructor restores the previous action.
class OnSigpipe {
 public:
  explicit OnSigpipe(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    ::sigaction(SIGPIPE, &action, &before_);
  }
  ~OnSigpipe() { ::sigaction(SIGPIPE, &before_, nullptr); }
  OnSigpipe(const OnSigpipe&) = delete;
  OnSigpipe& operator=(const OnSigpipe&) = delete;

  static void (*current())(int) {
    struct sigaction action {};
    ::sigaction(SIGPIPE, nullptr, &action);
    return action.sa_handler;
  }

 private:
  struct sigaction before_ {};
};

TEST_CASE("a gateway does not change the program's action on SIGPIPE") {
  for (void (*handler)(int) : {count_pipe_signal, SIG_DFL, SIG_IGN}) {
    const OnSigpipe on_sigpipe(handler);
    {
      Gateway gateway;
      CHECK((OnSigpipe::current() == handler));
      CHECK(Http(gateway).chat().status == 200);
      gateway.stop();
    }
    CHECK((OnSigpipe::current() == handler));
  }
}

TEST_CASE("gateways created in parallel do not change SIGPIPE") {
  const OnSigpipe on_sigpipe(count_pipe_signal);
  constexpr int makers = 3;
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < makers; ++i) {
      threads.emplace_back([&ready] {
        for (++ready; ready < makers;) std::this_thread::yield();
        Gateway gateway;
      });
    }
    for (std::thread& thread : threads) thread.join();
    REQUIRE((OnSigpipe::current() == count_pipe_signal));
  }
}

TEST_CASE("a client that leaves while the gateway writes raises no SIGPIPE") {
  const OnSigpipe on_sigpipe(count_pipe_signal);
  pipe_signals = 0;
  {
    ManualClock clock;
    Gateway gateway{Options{}.clock(clock)};
    gateway.chat().reply(text("one two three four five six seven eight").every(1s));
    for (const bool resets : {false, true}) {
      std::vector<RawConnection> connections;
      for (int i = 0; i < 10; ++i) {
        connections.emplace_back(gateway);
        connections.back().send(Http(gateway).format_chat({{"stream", true}}));
        REQUIRE(connections.back().receive_until("\n\n").found);
      }
      for (RawConnection& connection : connections) resets ? connection.abort() : connection.close();
      while (!clock.waits().empty()) clock.advance(1s);
      REQUIRE(gateway.journal().wait_until_idle(10s));
    }
    gateway.chat().reply(failure(200, "", "").body(std::string(8 << 20, 'x'), "text/plain"));
    for (int i = 0; i < 10; ++i) {
      RawConnection connection(gateway);
      connection.send(Http(gateway).format_chat());
      REQUIRE(connection.receive_until("\r\n").found);
      connection.close();
    }
    REQUIRE(gateway.journal().wait_until_idle(10s));
  }
  CHECK(pipe_signals.load() == 0);
}

#endif

// --- The port --------------------------------------------------------------------------------------------------------

TEST_CASE("the port of a gateway that refused connections is free as soon as it is stopped") {
  Gateway gateway;
  gateway.refuse_connections();
  CHECK_THROWS_AS(Gateway{Options{}.port(gateway.port())}, GatewayError);
  gateway.stop();
  Gateway other{Options{}.port(gateway.port())};
  CHECK(Http(other).chat().status == 200);
  CHECK_NOTHROW(gateway.accept_connections());
}

TEST_CASE("a stopped gateway frees its port after any number of calls of refuse_connections()") {
  for (const int refusals : {0, 1, 2}) {
    CAPTURE(refusals);
    Gateway gateway;
    const int port = gateway.port();
    for (int i = 0; i < refusals; ++i) {
      gateway.refuse_connections();
      gateway.accept_connections();
    }
    const Http kept = Http(gateway).keep_alive();
    CHECK(kept.chat().status == 200);
    CHECK(Http(gateway).chat().status == 200);
    CHECK_THROWS_AS(Gateway{Options{}.port(port)}, GatewayError);
    gateway.stop();
    Gateway other{Options{}.port(port)};
    CHECK(Http(other).chat().status == 200);
  }
}

}  // namespace lifetime_test
