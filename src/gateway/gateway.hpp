#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "../core/forward.hpp"
#include "../core/implementation.hpp"
#include "../core/json.hpp"
#include "../core/source_location.hpp"
#include "../model/operation.hpp"

namespace mock_gateway {

namespace detail {

struct Access;
struct GatewayState;

}  // namespace detail

/// An OpenAI-compatible model gateway in this process. It listens when the constructor returns and is stopped when the
/// destructor returns, even with open clients. Stopping takes up to 50 ms for several hundred connections, and 0.06 ms
/// for each further one. Any number of gateways can exist at the same time.
///
/// All functions are thread-safe. The handles they return may outlive the gateway. A moved-from gateway throws
/// GatewayError; it may be destroyed and assigned to.
///
/// A forked process has a copy of this object but no gateway. There, its destructor and all functions that return
/// nothing have no effect, addresses and api_key() work, and all other functions throw GatewayError. Do not use handles
/// from before the fork there. The port and the connections close with the gateway, even if such a process lives on.
class Gateway {
 public:
  /// Listens on a free port of 127.0.0.1, or as `options` say. Throws GatewayError for invalid options, or with the
  /// reason if it cannot listen: the port is taken, or the host is not local. Reports name `where`.
  explicit Gateway(SourceLocation where = SourceLocation::current(),
                   detail::Implementation = detail::define_MOCK_GATEWAY_IMPLEMENTATION_in_a_single_cpp_file);
  explicit Gateway(const Options& options, SourceLocation where = SourceLocation::current(),
                   detail::Implementation = detail::define_MOCK_GATEWAY_IMPLEMENTATION_in_a_single_cpp_file);
  /// Stops, then reports problems of verify() that the test has not read. With an adapter, they fail the running test
  /// at the line that made the gateway. Otherwise they are printed on stderr and the program aborts. During stack
  /// unwinding they are only printed. Options::verify_on_destruction(false) turns the report off.
  ~Gateway();
  Gateway(Gateway&&) noexcept;
  /// Stops the previous gateway, as the destructor does.
  Gateway& operator=(Gateway&&) noexcept;

  /// Returns the base URL for an SDK: "http://127.0.0.1:54321/v1", or with the first Options::base_path.
  std::string base_url() const;
  /// Returns the URL without a path: "http://127.0.0.1:54321".
  std::string root_url() const;
  /// Returns the host it listens on, from Options::host. In the URLs above, 0.0.0.0 becomes 127.0.0.1.
  std::string host() const;
  /// Returns the port it listens on, from 1 to 65535.
  int port() const;
  /// Returns the secret of the default key, "key_1", which is valid from the start. No other secret can be read later.
  std::string api_key() const;

  /// Returns the keys, as the console page API Keys manages them.
  Keys keys() const;

  /// Begins a stub for POST /v1/chat/completions; reply() or never() mounts it.
  StubBuilder chat(SourceLocation where = SourceLocation::current());

  /// Breaks a reply at every place, in every way. The callable sends a request with the client under test and returns
  /// when the client has its answer or has given up. It runs once with the unbroken reply, then once for each place in
  /// that answer and each effect possible there. Each iteration of the loop runs one step; its body judges the client:
  /// `for (const auto& broken : gateway.sweep(reply, [&] { client.stream("go"); })) CHECK(…)`.
  ///
  /// Places in a stream: before and after the head, after each event (and so each token), in the middle of each event,
  /// inside each multi-byte character, before `[DONE]`, and at the end. Places in other replies: before and after the
  /// head, in the middle of the body, inside each of its multi-byte characters, and at the end. The effects are
  /// sweep_effects(), without the stall on the manual clock, which would not advance. Effects that equal another one at
  /// a place are skipped.
  ///
  /// While the callable runs, every chat request gets the step's reply instead of a stub's, including retries;
  /// SweepOptions::when restricts this. Of several requests of the unbroken run, the first determines the places.
  /// SweepStep::reached tells whether a step reached its place; verify() does not report that, but everything else.
  /// Throws GatewayError for a reply with faults or holds, or with a pace on the manual clock. So do begin(), size()
  /// and the loop if no request of the unbroken run got the reply, if two consecutive steps make no request, or if a
  /// chaos rule strikes a step. They let exceptions of the callable pass.
  Sweep sweep(const Reply& reply, std::function<void()> callable, SourceLocation where = SourceLocation::current());
  Sweep sweep(const Reply& reply, std::function<void()> callable, const SweepOptions& options,
              SourceLocation where = SourceLocation::current());

  /// Answers the next `times` requests in the scope, at least 1, with a failure, in the order queued. The scope is
  /// everything, an operation, for_key(id) or for_model(id).
  void fail_next(const Failure& failure, std::size_t times = 1);
  void fail_next(const Failure& failure, std::size_t times, const FailureScope& scope);
  /// Answers every request in the scope with a failure until clear_failures().
  void fail_always(const Failure& failure);
  void fail_always(const Failure& failure, const FailureScope& scope);
  /// Ends all forced failures, including queued ones. With a scope, ends only the failures forced for this scope.
  void clear_failures();
  void clear_failures(const FailureScope& scope);

  /// Adds a chaos rule; see Chaos. Options::seed decides which requests it strikes. All rules that strike apply, in the
  /// order added, up to the first failure. They affect answers of stubs and of the default reply, not rejections. Their
  /// numbers start at 1. Exchange::chaos lists the strikes; verify() and review() print the seed. verify() does not
  /// report a chaos fault that the reply did not reach.
  void chaos(const Chaos& rule);
  /// Removes the chaos rules and their counts: the next rule is number 1 and counts from the first request.
  void clear_chaos();

  /// Strikes the next `times` connections, at least 1, with a fault, in the order queued. The first fault in the queue
  /// waits for a connection, new or open, at its moment (ConnectionFault::Moment): when accepted, at the next request
  /// after a first one, or at any request. verify() reports a fault that found no connection.
  /// Journal::connection_hits lists the connections struck.
  void next_connection(const ConnectionFault& fault, std::size_t times = 1,
                       SourceLocation where = SourceLocation::current());
  /// Strikes every connection at the fault's moment until clear_connection_faults() or reset(). Replaces an earlier
  /// fault of that moment. Faults queued by next_connection come first. verify() does not report an unused fault.
  void every_connection(const ConnectionFault& fault);
  /// Removes the pending faults of next_connection and every_connection.
  void clear_connection_faults();
  /// Closes the port, so that connecting fails with ECONNREFUSED, until accept_connections() or reset(). The number of
  /// attempts is unknown. Open connections continue; those waiting to be accepted are reset. No effect if the port is
  /// closed or the gateway stopped.
  void refuse_connections();
  /// Opens the same port again. Throws GatewayError if another program has taken it.
  void accept_connections();

  /// Mounts an operation with the same keys, rights, limits, failures and journal. `method` is in upper case. `path`
  /// begins with "/" and is compared as sent, without the query. A segment `{name}` matches any one segment; a path
  /// without braces takes precedence. The handler runs on the connection's thread; its exceptions become a 500 and a
  /// problem that verify() reports. Mounting the same method and path again replaces the handler. A handler for
  /// `GET /v1/models` replaces the list of models but not the set of served models. Throws GatewayError for operations
  /// that only the gateway serves: `POST /v1/chat/completions` and `GET /v1/models/{id}`, but not
  /// `DELETE /v1/models/{id}`.
  ///
  /// `NeedsKey::no` opens the operation: no request is refused for its key, whether it is missing, wrong, disabled or
  /// without the right. A key of the gateway that is sent still counts, with its limits and forced failures.
  void on(const std::string& method, const std::string& path, std::function<HttpReply(const ReceivedRequest&)> handler,
          NeedsKey needs_key = NeedsKey::yes);

  /// Mounts the script documents of a file or a folder, as ScriptDocument::read and ScriptDocument::mount do. Throws
  /// ScriptError for errors in the documents, and GatewayError for a "gateway" section, which configures the start of a
  /// gateway: `Gateway(ScriptDocument::read({path}).options())`.
  LoadedScript load(const std::string& path);
  /// Mounts a document from a JSON value.
  // A template, so that load("demo.json") is a path.
  template <class T, std::enable_if_t<std::is_same_v<T, Json>, int> = 0>
  LoadedScript load(const T& document);

  /// Returns all exchanges so far, within Options::journal_limits.
  Journal journal() const;

  /// Verifies that everything went as scripted. Reports unmatched requests, unmet expectations, requests that violate
  /// should() conditions, exceptions of the test's functions, faults never reached, and waits ended by their guard.
  /// First waits in real time, up to 1 s, until all is read that clients have sent, and up to 1 s until no exchange is
  /// under way. With a scope, only covers one of several tests: its requests, and the stubs bound to it by key_is or
  /// header_is. Throws GatewayError for a scope with an unknown key.
  Verification verify() const;
  Verification verify(const RequestScope& scope) const;
  /// Returns the client's mistakes that the journal proves. Waits for exchanges like verify().
  Review review() const;
  Review review(const RequestScope& scope) const;

  /// Returns the state of a state machine: "started" until then_state() of a stub or set_state() changes it.
  std::string state(const std::string& machine) const;
  /// Sets the state of a state machine.
  void set_state(const std::string& machine, std::string state);

  /// Removes stubs, states of state machines, forced failures, chaos, connection faults (and opens the port), the
  /// journal, and the problems of verify(). Keeps keys, limits and mounted operations. A late request of an earlier
  /// test counts for the next test, unless tests have their own key or header (RequestScope).
  void reset();

  /// Closes all connections and stops listening, as the destructor does. Waits for blocking functions of the test, and
  /// names them on stderr after 1 s. Throws GatewayError if called from a function that this gateway called; the
  /// destructor then aborts the program with a message on stderr.
  void stop();

 private:
  friend struct detail::Access;
  class Impl;
  struct End {
    void operator()(Impl* impl) const noexcept;
  };
  // All throw GatewayError for a moved-from gateway.
  Impl& any() const;
  /// Returns null in a forked process.
  Impl* here() const;
  /// Throws GatewayError in a forked process.
  Impl& asked() const;

  /// Returns the state that connections answer from; null in a forked process.
  detail::GatewayState* serving() const;
  LoadedScript load_json(const Json& document);

  std::unique_ptr<Impl, End> impl_;
};

}  // namespace mock_gateway
