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

namespace mock_gateway {

namespace detail {

struct Access;
struct GatewayState;

}  // namespace detail

/// An OpenAI-compatible model gateway inside this process. It listens when the constructor returns and is gone when the
/// destructor does, whatever clients left open; that takes up to 50 ms for several hundred connections, and 0.06 ms for
/// each beyond them. Any number may live side by side.
///
/// Its functions may be called from any thread. What they return are handles that may outlive it. Once it was moved
/// from, they throw GatewayError; it may be destroyed, and assigned to.
///
/// A process that was forked from the one that made it has a copy of this object, and no gateway. There its destructor
/// and every function that returns nothing do nothing; its addresses and api_key() can be asked for; all other
/// functions throw GatewayError. Handles from before the fork are not to be used there. The port, and connections, end
/// with the gateway although such a process lives.
class Gateway {
 public:
  /// Listens on a free port of 127.0.0.1, or as `options` say. Throws GatewayError for options that are wrong, and when
  /// it cannot listen, saying why: the port is taken, the host is not ours. Reports name `where`.
  explicit Gateway(SourceLocation where = SourceLocation::current(),
                   detail::Implementation = detail::define_MOCK_GATEWAY_IMPLEMENTATION_in_a_single_cpp_file);
  explicit Gateway(const Options& options, SourceLocation where = SourceLocation::current(),
                   detail::Implementation = detail::define_MOCK_GATEWAY_IMPLEMENTATION_in_a_single_cpp_file);
  /// Stops, and then reports the problems of verify() that nobody has looked at: as a failed check of the running test
  /// where an adapter is in use, at the line that made the gateway; else on stderr, and the program aborts. While an
  /// exception is on its way it only prints them. Options::verify_on_destruction(false) turns this off.
  ~Gateway();
  Gateway(Gateway&&) noexcept;
  /// Ends what this gateway was before, as the destructor does.
  Gateway& operator=(Gateway&&) noexcept;

  /// What an SDK takes as its base address: "http://127.0.0.1:54321/v1".
  std::string base_url() const;
  /// The same without "/v1": "http://127.0.0.1:54321".
  std::string root_url() const;
  /// The host that it listens on, as Options::host says; the addresses above have 127.0.0.1 for 0.0.0.0.
  std::string host() const;
  /// The port that it listens on, from 1 to 65535.
  int port() const;
  /// The secret of the default key, "key_1". It is valid from the start, and the only secret that can be asked for
  /// again.
  std::string api_key() const;

  /// The keys, as the console's page API Keys manages them.
  Keys keys() const;

  /// Begins a stub for POST /v1/chat/completions, which is live when reply() or never() returns.
  StubBuilder chat(SourceLocation where = SourceLocation::current());

  /// Breaks a reply at every place, in every way: the callable, which asks with the client under test and returns when
  /// the client has its answer or has given up, runs once unbroken, then once for each place of that answer and each
  /// effect that can happen there. The loop makes a step when it comes to it, and its body judges the client:
  /// `for (const auto& broken : gateway.sweep(reply, [&] { client.stream("go"); })) CHECK(…)`.
  ///
  /// The places of a stream are: before and after the head, after each event (and so after each token), in the middle
  /// of each event, inside each character of several bytes, before `[DONE]`, and at the end. Those of a reply that is
  /// not streamed are: before and after the head, in the middle of the body, inside each of its characters of several
  /// bytes, and at the end. Effects are sweep_effects(), on the manual clock without the stall, which nobody would end.
  /// An effect is left out where it does what another one does (truncate() where it closes the connection). splits()
  /// breaks nothing, and divides the answer in two writes at each byte.
  ///
  /// While the callable runs, and no longer, every chat request gets the reply of the step, whatever stubs there are,
  /// also when the client tries again; SweepOptions::when limits that. Of several requests of the unbroken run the
  /// first gives the places. SweepStep::reached says whether a step came to its place, which verify() does not report;
  /// it reports everything else. Throws GatewayError for a reply that has faults or holds of its own, or a pace on the
  /// manual clock. begin(), size() and the loop throw it when no request of the unbroken run got the reply, when two
  /// steps running make no request, and when a rule of chaos strikes a step; they let pass what the callable throws.
  Sweep sweep(const Reply& reply, std::function<void()> callable, SourceLocation where = SourceLocation::current());
  Sweep sweep(const Reply& reply, std::function<void()> callable, const SweepOptions& options,
              SourceLocation where = SourceLocation::current());

  /// Answers the next `times` requests in the scope with a failure, in the order in which failures were queued. The
  /// scope is everything, an operation, for_key(id) or for_model(id). `times` is at least 1, or GatewayError.
  void fail_next(const Failure& failure, std::size_t times = 1);
  void fail_next(const Failure& failure, std::size_t times, const FailureScope& scope);
  /// Answers every request in the scope with a failure until clear_failures.
  void fail_always(const Failure& failure);
  void fail_always(const Failure& failure, const FailureScope& scope);
  /// Ends all forced failures, queued ones too; with a scope, those that were forced for it.
  void clear_failures();
  void clear_failures(const FailureScope& scope);

  /// Adds a rule of chaos: what goes wrong, in which chat requests, decided by Options::seed; see Chaos. Several rules
  /// are asked in the order written, and all that strike are applied; a failure ends the list. They strike what a stub
  /// or the default reply answers, not what is refused. They are numbered from 1. Exchange::chaos says what struck;
  /// verify() and review() print the seed. verify() does not report a fault of chaos to which the reply did not come.
  void chaos(const Chaos& rule);
  /// Drops the rules of chaos with their counts: the next one is number 1 and counts from the first request on.
  void clear_chaos();

  /// Strikes the next `times` connections with a fault, in the order in which faults were queued: the first of the
  /// queue waits until a connection comes to its moment, which is being accepted, the next request once it has served
  /// one, or any request (ConnectionFault::Moment); open connections count. verify() reports a fault to whose moment no
  /// connection came. Journal::connection_hits has those that were struck. `times` is at least 1, or GatewayError.
  void next_connection(const ConnectionFault& fault, std::size_t times = 1,
                       SourceLocation where = SourceLocation::current());
  /// Strikes every connection that comes to the fault's moment, until clear_connection_faults or reset, in place of an
  /// earlier fault of that moment. A fault that next_connection queued comes before it. verify() does not report that
  /// no connection came.
  void every_connection(const ConnectionFault& fault);
  /// Drops the faults of next_connection that no connection came to, and those of every_connection.
  void clear_connection_faults();
  /// Closes the port, so that connecting to it fails with ECONNREFUSED, until accept_connections or reset; how often
  /// clients tried cannot be known. Open connections go on; those that wait to be accepted at that very moment are
  /// reset. Nothing happens the second time, or once the gateway is stopped.
  void refuse_connections();
  /// Opens the same port again. Throws GatewayError when another program has taken it meanwhile.
  void accept_connections();

  /// Mounts another operation behind the same keys, rights, limits, failures and journal. `method` is in capitals.
  /// `path` begins with "/" and is compared as sent, without the query; a segment `{name}` takes any one segment, and a
  /// path without one comes first. The handler runs on the connection's thread; what it throws becomes a 500 on the
  /// wire and a problem that verify() reports. Mounting the same method and path again replaces the handler. One on
  /// `GET /v1/models` answers in place of the list of models, and changes nothing in which models are served. Throws
  /// GatewayError for a method and path that only the gateway serves: `POST /v1/chat/completions` and
  /// `GET /v1/models/{id}`; `DELETE /v1/models/{id}` is none.
  void on(const std::string& method, const std::string& path, std::function<HttpReply(const ReceivedRequest&)> handler);

  /// Mounts script documents, all that they hold as one block: within it the first stub that matches answers, and all
  /// come before stubs that were mounted earlier. `path` is a file or a folder; see ScriptDocument::read. Throws
  /// ScriptError for what is wrong in them, and GatewayError for a "gateway" section, which says how a gateway starts:
  /// `Gateway(ScriptDocument::read({path}).options())`.
  LoadedScript load(const std::string& path);
  /// The same from a value.
  // A template, so that load("demo.json") is a path.
  template <class T, std::enable_if_t<std::is_same_v<T, Json>, int> = 0>
  LoadedScript load(const T& document);

  /// Every exchange so far, within Options::journal_limits.
  Journal journal() const;

  /// Whether everything went as scripted: requests that no stub answered, expectations that are not met, requests that
  /// are not as they should be, functions of the test that threw, faults that were never reached, waits that ran into
  /// their guard. Waits first, in real time, at most a second, until no exchange is under way. With a scope, only what
  /// concerns one of several tests: its requests, and the stubs that key_is or header_is gave to it. Throws
  /// GatewayError for a scope whose key this gateway does not have.
  Verification verify() const;
  Verification verify(const RequestScope& scope) const;
  /// What the client did wrong, as far as the journal proves it. Waits like verify().
  Review review() const;
  Review review(const RequestScope& scope) const;

  /// The state of a state machine: "started" until a stub's then_state, or set_state, moved it.
  std::string state(const std::string& machine) const;
  /// Moves a state machine, whatever state it is in.
  void set_state(const std::string& machine, std::string state);

  /// Forgets stubs, states of state machines, forced failures, chaos, faults of connections (the port is opened), the
  /// journal, and the problems of verify(); keys, limits and mounted operations stay. A request that arrives late from
  /// an earlier test cannot be told from the next test's, unless tests have a key or a header of their own
  /// (RequestScope).
  void reset();

  /// Ends every connection and stops listening, as the destructor does: that takes up to 50 ms for several hundred
  /// connections, and 0.06 ms for each beyond them. A function of the test that blocks is waited for, and named on
  /// stderr after a second. Throws GatewayError when called by a function that this gateway called; the destructor then
  /// aborts the program, after a message on stderr.
  void stop();

 private:
  friend struct detail::Access;
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

  /// What the gateway answers from; null in another process than its maker's.
  detail::GatewayState* serving() const;
  LoadedScript load_json(const Json& document);

  std::unique_ptr<Impl, End> impl_;
};

}  // namespace mock_gateway
