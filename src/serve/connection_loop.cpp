// Serves the requests of a connection one after the other, with connection faults and 503 `connection_limit`.

#include "connection_loop.hpp"

#include <chrono>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "../core/handoff.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"
#include "../core/warning.hpp"
#include "tester_code.hpp"

namespace mock_gateway::detail {

std::optional<std::string> ConnectionLoop::accept(const Start& start) {
  ConnectionFaults& faults = *gateway_.connection_faults;
  std::optional<ConnectionFaults::Queued> taken = faults.take_on_accept();
  if (!taken)
    return start(Beginning::client_speaks,
                 [this, progress = share<ConnectionProgress>()](Connection& connection, const HeadCheck& check_head) {
                   return serve(connection, check_head, *progress);
                 });
  std::optional<std::string> why_not;
  try {
    why_not = start(Beginning::accepted, [this, fault = taken->fault](Connection& connection, const HeadCheck&) {
      return strike(connection, fault);
    });
  } catch (const std::bad_alloc&) {
    faults.give_back(std::move(*taken));
    throw;
  }
  if (why_not) faults.give_back(std::move(*taken));  // for a connection that can be served
  return why_not;
}

void ConnectionLoop::turn_away(Connection& connection, const HeadCheck& check_head, const std::string& why) noexcept {
  if (!std::exchange(has_turned_away_, true)) warn({"a connection is answered 503 connection_limit: ", why});
  const Failure failure(503, "connection_limit", why);
  const Connection::Arrival arrival = connection.wait_for_request();
  if (arrival != Connection::Arrival::arrived && arrival != Connection::Arrival::timed_out) return;
  std::optional<IncomingRequest> incoming;
  gateway_.journal->began();
  if (arrival == Connection::Arrival::arrived) incoming = read_request(connection, check_head, gateway_.clock, nullptr);
  if (!incoming) {
    incoming.emplace();
    connection.linger();
  }
  incoming->turned_away = failure.retry_after(std::chrono::seconds{1});
  incoming->fault.reset();
  incoming->keep_alive = false;
  RunningExchange exchange(gateway_, connection);
  exchange.begin(std::move(*incoming), 1);
  while (!exchange.advance()) connection.wait_for_event();
}

bool ConnectionLoop::serve(Connection& connection, const HeadCheck& check_head, ConnectionProgress& progress) noexcept {
  // A client that pipelines requests must not keep other clients waiting.
  constexpr std::size_t most_at_once = 32;
  for (std::size_t answered = 0;;) {
    std::optional<bool> goes_on;
    try {
      if (progress.exchange) {
        goes_on = answer(connection, progress);
        if (++answered == most_at_once) hand_off_event_loop();
      } else if (progress.skipped) {
        goes_on = skip(connection, progress);
      } else if (progress.reader) {
        goes_on = read(connection, progress);
      } else {
        goes_on = begin(connection, check_head, progress);
      }
    } catch (const std::exception& exception) {  // for example, out of memory
      warn({"a request could not be read: ", exception.what()});
      if (progress.reader) gateway_.journal->dropped();
      if (progress.answered) connection.linger();
      goes_on = false;
    }
    if (!goes_on) return true;
    if (!*goes_on) return false;
  }
}

std::optional<bool> ConnectionLoop::begin(Connection& connection, const HeadCheck& check_head,
                                          ConnectionProgress& progress) {
  // A reset would discard undelivered bytes of the previous reply.
  if (progress.is_reset && connection.check_delivery() == Outlet::WaitState::not_yet) return std::nullopt;
  if (connection.ending() != Outlet::Ending::keep_alive) return false;
  const std::optional<Connection::Arrival> arrival = connection.check_request();
  if (!arrival) return std::nullopt;
  if (*arrival != Connection::Arrival::arrived) return false;
  const std::optional<ConnectionFault> fault = gateway_.connection_faults->take_on_request(progress.position > 1);
  if (fault && fault->moment() == ConnectionFault::Moment::reused) {
    strike(connection, *fault);
    progress.is_reset = connection.ending() == Outlet::Ending::reset;
    return true;
  }
  progress.reader = std::make_unique<RequestReader>(
      connection, check_head, fault, gateway_.clock, [this](const IncomingRequest& head) {
        // Only requests with `Expect: 100-continue` are refused early. Others are read first, for the journal.
        return head.awaits_continue ? refusal_of_head(gateway_, head) : std::nullopt;
      });
  gateway_.journal->began();  // before the fault is visible, because a test may then wait for the end of the request
  if (fault) note_hit(connection, *fault);
  return true;
}

std::optional<bool> ConnectionLoop::read(Connection& connection, ConnectionProgress& progress) {
  if (!progress.reader->advance()) return std::nullopt;
  std::optional<IncomingRequest> incoming = progress.reader->take();
  if (!incoming) {
    progress.reader.reset();
    gateway_.journal->dropped();
    return false;
  }
  if (incoming->is_body_read_later) {
    progress.answered = std::make_unique<IncomingRequest>();
    progress.answered->request.headers = incoming->request.headers;
    progress.answered->http_1_1 = incoming->http_1_1;
  }
  progress.exchange = std::make_unique<RunningExchange>(gateway_, connection);
  progress.reader.reset();
  progress.exchange->begin(std::move(*incoming), progress.position);
  return true;
}

std::optional<bool> ConnectionLoop::answer(Connection& connection, ConnectionProgress& progress) {
  if (!progress.exchange->advance()) return std::nullopt;
  progress.exchange.reset();
  ++progress.position;
  if (progress.answered && connection.ending() == Outlet::Ending::keep_alive)
    progress.skipped = std::make_unique<SkippedBody>(connection, std::move(*progress.answered));
  progress.answered.reset();
  return true;
}

std::optional<bool> ConnectionLoop::skip(Connection& connection, ConnectionProgress& progress) {
  const std::optional<bool> next_can_follow = progress.skipped->advance();
  if (!next_can_follow) return std::nullopt;
  progress.skipped.reset();
  if (!*next_can_follow) {
    connection.linger();
    connection.end(Outlet::Ending::close);
  }
  return true;
}

bool ConnectionLoop::strike(Connection& connection, const ConnectionFault& fault) noexcept {
  note_hit(connection, fault);
  const bool resets = fault.kind() == ConnectionFault::Kind::reset_on_accept ||
                      fault.kind() == ConnectionFault::Kind::reset_when_reused;
  if (!fault.bytes().empty()) connection.write(fault.bytes());
  // Without lingering, unread or incoming bytes of the client make the system send RST after the FIN.
  if (!resets) connection.linger();
  connection.end(resets ? Outlet::Ending::reset : Outlet::Ending::close);
  return false;
}

void ConnectionLoop::note_hit(Connection& connection, const ConnectionFault& fault) {
  const ConnectionHit hit{connection.id(), fault};
  gateway_.journal->hit(hit);
  const auto& on_connection_hit = gateway_.settings.on_connection_hit;
  if (!on_connection_hit) return;
  const auto thrown =
      guarded(connection, "the function given to Options::on_connection_hit", [&] { on_connection_hit(hit); });
  if (thrown) warn({"the function given to Options::on_connection_hit threw: ", text::printable(*thrown)});
}

}  // namespace mock_gateway::detail
