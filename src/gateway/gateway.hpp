#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "../core/source_location.hpp"
#include "forward.hpp"

namespace mock_gateway {

/// An OpenAI-compatible model gateway inside this process: it listens when the constructor returns and is gone when the
/// destructor does, whatever clients left open: within 50 ms up to several hundred connections, and 0.06 ms for each
/// beyond them. Any number may live side by side.
///
/// Its functions may be called from any thread. What they return are handles that may outlive it. Once it was moved
/// from, they throw GatewayError; it may be destroyed, and assigned to.
///
/// A process that was forked from the one that made it has a copy of this object, and no gateway. There its destructor
/// and every function that returns nothing do nothing; what returns its addresses or api_key() does; all others throw
/// GatewayError. Handles from before the fork are not to be used there. The port, and connections, end with the
/// gateway although such a process lives.
class Gateway {
 public:
  /// Throws GatewayError when it cannot listen, saying why: the port is taken, the host is not ours.
  explicit Gateway(SourceLocation where = SourceLocation::current());
  explicit Gateway(const Options& options, SourceLocation where = SourceLocation::current());
  /// Stops, and then is the net under verify(): what it would find wrong, and nobody has looked at, becomes a failure
  /// of the running test where an adapter is in use, at the line that made the gateway; else it is printed to stderr,
  /// and the program aborts. While an exception is on its way it is printed only. Options::verify_on_destruction(false)
  /// turns it off.
  ~Gateway();
  Gateway(Gateway&&) noexcept;
  /// What this gateway was before ends as by its destructor.
  Gateway& operator=(Gateway&&) noexcept;

  /// "http://127.0.0.1:54321/v1": what an SDK takes as its base address.
  std::string base_url() const;
  /// "http://127.0.0.1:54321".
  std::string root_url() const;
  std::string host() const;
  int port() const;
  /// The default key's secret: valid from the start, and the only one that can be asked for again.
  std::string api_key() const;

  /// The console's API Keys page.
  Keys keys() const;

  /// Begins a stub for POST /v1/chat/completions.
  StubBuilder chat(SourceLocation where = SourceLocation::current());

  /// Breaks a reply at every place, in every way: the callable, which asks with the client under test and returns when
  /// the client has its answer or has given up, runs once unbroken, then once for each place of that answer and each
  /// effect that can happen there. The loop makes a step when it comes to it, and its body judges the client:
  /// `for (const auto& broken : gateway.sweep(reply, [&] { client.stream("go"); })) CHECK(…)`.
  ///
  /// Places are: before and after the head, after each event (and so after each token), inside each event in the middle
  /// and in each character of several bytes, before `[DONE]`, at the end; of a reply that is not streamed, before and
  /// after the head, inside the body likewise, at the end. Effects are sweep_effects(), on the manual clock without the
  /// stall, which nobody would end; one that does there what another does too is left out (truncate where it closes).
  /// splits() breaks nothing, and divides the answer in two writes at each byte.
  ///
  /// While the callable runs, and no longer, every chat request gets the reply of the step, whatever stubs there are,
  /// also when the client tries again; SweepOptions::when limits that. Of several requests of the unbroken run the
  /// first gives the places. A place that a step did not come to is told by the step, not by verify(); what else is
  /// wrong is told as ever. Throws GatewayError for a reply with faults of its own and, from begin() or size(), when no
  /// request of the unbroken run got the reply; what the callable throws passes.
  Sweep sweep(const Reply& reply, std::function<void()> callable, SourceLocation where = SourceLocation::current());
  Sweep sweep(const Reply& reply, std::function<void()> callable, const SweepOptions& options,
              SourceLocation where = SourceLocation::current());

  /// Answers the next `times` requests in the scope with a failure, in the order in which failures were queued.
  /// The scope is everything, an operation, for_key(id) or for_model(id). `times` at least 1, or GatewayError.
  void fail_next(const Failure& failure, std::size_t times = 1);
  void fail_next(const Failure& failure, std::size_t times, const FailureScope& scope);
  /// Answers every request in the scope with a failure until clear_failures.
  void fail_always(const Failure& failure);
  void fail_always(const Failure& failure, const FailureScope& scope);
  void clear_failures();
  void clear_failures(const FailureScope& scope);

  /// Adds a rule of chaos: what goes wrong, in which chat requests, decided by Options::seed; see Chaos. Several rules
  /// are asked in the order written, and all that strike are applied; a failure ends the list. They strike what a stub
  /// or the default answers, not what is refused. Each numbers itself from 1. Exchange::chaos says what struck;
  /// verify() and review() print the seed. That a reply did not come to a fault of chaos is no failure of verify().
  void chaos(const Chaos& rule);
  /// Drops the rules of chaos with their counts: the next one is number 1 and counts from the first request on.
  void clear_chaos();

  /// Strikes the next `times` connections with a fault, in the order in which faults were queued: the first of the
  /// queue waits until a connection comes to its place, which is the moment it is accepted, its next request once it
  /// has served one, or any request, as the fault's name says; open connections count. One that no connection came to
  /// is told by verify(). Journal::connection_hits has those that were struck. `times` at least 1, or GatewayError.
  void next_connection(const ConnectionFault& fault, std::size_t times = 1,
                       SourceLocation where = SourceLocation::current());
  /// Strikes every connection that comes to the fault's moment, until clear_connection_faults or reset, in place of an
  /// earlier fault of that moment. A fault that next_connection queued comes before it. That none came is no failure of
  /// verify().
  void every_connection(const ConnectionFault& fault);
  /// Drops the faults of next_connection that no connection came to, and those of every_connection.
  void clear_connection_faults();
  /// Closes the port, so that connecting to it fails with ECONNREFUSED, until accept_connections or reset; how often
  /// clients tried cannot be known. Open connections go on; those that wait to be accepted at that very moment are
  /// reset. Nothing happens the second time, or once the gateway is stopped.
  void refuse_connections();
  /// Opens the same port again. Throws GatewayError when another program has taken it meanwhile.
  void accept_connections();

  /// Mounts another operation behind the same keys, rights, limits, failures and journal. `path` begins with "/" and
  /// is compared as sent, without the query; a segment `{name}` takes any one segment. The handler runs on the
  /// connection's thread; what it throws becomes a 500 and a line in the exchange's decision. Mounting the same
  /// method and path again replaces the handler. Throws GatewayError for a method and path that the gateway serves
  /// itself; `DELETE /v1/models/{id}` is none.
  void on(const std::string& method, const std::string& path, std::function<HttpReply(const ReceivedRequest&)> handler);

  Journal journal() const;

  /// Whether everything went as scripted: requests that no stub answered, expectations that are not met, requests that
  /// are not as they should be, functions of the test that threw, faults that were never reached, waits that ran into
  /// their guard. Waits first, in real time, at most a second, until no exchange is under way. With a scope, only what
  /// concerns one of several tests: its requests, and the stubs that key_is or header_is gave to it.
  Verification verify() const;
  Verification verify(const RequestScope& scope) const;
  /// What the client did wrong, as far as the journal proves it. Waits like verify().
  Review review() const;
  Review review(const RequestScope& scope) const;

  /// The state of a scenario: "started" until a stub's then_state, or set_state, moved it.
  std::string state(const std::string& scenario) const;
  void set_state(const std::string& scenario, std::string state);

  /// Forgets stubs and states of scenarios, forced failures, chaos, faults of connections (the port is opened), the
  /// journal, and what verify() found; keys, limits and mounted operations stay. A request that arrives late from an
  /// earlier test cannot be told from the next test's, unless tests have a key or a header of their own (RequestScope).
  void reset();

  /// Ends every connection and stops listening: within 50 ms up to several hundred connections, and 0.06 ms for each
  /// beyond them. A tester's own function that blocks is waited for, and named on stderr after a second. The destructor
  /// does the same. Throws GatewayError when called by a function that this gateway called; the destructor then aborts
  /// the program, after a message on stderr.
  void stop();

 private:
  class Impl;
  /// Ends a gateway; in another process than its maker's it does nothing.
  struct End {
    void operator()(Impl* impl) const noexcept;
  };
  // All throw GatewayError when this gateway was moved from.
  Impl& any() const;
  /// Null in another process than its maker's.
  Impl* here() const;
  /// Throws GatewayError in another process than its maker's.
  Impl& asked() const;

  std::unique_ptr<Impl, End> impl_;
};

}  // namespace mock_gateway
