#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "../core/error.hpp"
#include "../core/source_location.hpp"
#include "../evidence/journal.hpp"
#include "../keys/key_store.hpp"
#include "../model/failure.hpp"
#include "../model/http_reply.hpp"
#include "../model/operation.hpp"
#include "../script/forced_failures.hpp"
#include "chat_script.hpp"
#include "options.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {

/// An OpenAI-compatible model gateway inside this process: it listens when the constructor returns and is gone,
/// within 50 ms whatever clients left open, when the destructor does. Any number may live side by side.
///
/// Its functions may be called from any thread. What they return are handles that may outlive it.
class Gateway {
 public:
  /// Throws GatewayError when it cannot listen, saying why: the port is taken, the host is not ours.
  explicit Gateway(const Options& options = {});
  ~Gateway();
  Gateway(Gateway&&) noexcept;
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

  /// Answers the next `times` requests in the scope with a failure, in the order in which failures were queued.
  /// The scope is everything, an operation, for_key(id) or for_model(id). `times` at least 1, or GatewayError.
  void fail_next(const Failure& failure, std::size_t times = 1, const FailureScope& scope = {});
  /// Answers every request in the scope with a failure until clear_failures.
  void fail_always(const Failure& failure, const FailureScope& scope = {});
  void clear_failures();
  void clear_failures(const FailureScope& scope);

  /// Mounts another operation behind the same keys, rights, limits, failures and journal. `path` begins with "/" and
  /// is compared as sent, without the query; a segment `{name}` takes any one segment. The handler runs on the
  /// connection's thread; what it throws becomes a 500 and a line in the exchange's decision. Mounting the same
  /// method and path again replaces the handler. Throws GatewayError for a path the gateway serves itself.
  void on(const std::string& method, const std::string& path, OperationHandler handler);

  Journal journal() const;

  /// Forgets stubs, forced failures and the journal; keys, limits and mounted operations stay.
  void reset();

  /// Ends every connection and stops listening, within 50 ms; a tester's own function that blocks is waited for, and
  /// named on stderr after a second. The destructor does the same. Throws GatewayError when called by a function that
  /// this gateway called.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
