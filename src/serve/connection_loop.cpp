// One request after the other; faults of connections when they happen; 503 `connection_limit`.

#include "connection_loop.hpp"

#include <chrono>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "../core/relief.hpp"
#include "../core/text.hpp"
#include "../core/warning.hpp"
#include "tester_code.hpp"

namespace mock_gateway::detail {

std::optional<std::string> ConnectionLoop::accept(const Start& start) {
  ConnectionFaults& faults = *gateway_.connection_faults;
  std::optional<ConnectionFaults::Queued> taken = faults.take_on_accept();
  if (!taken)
    return start(Beginning::client_speaks,
                 [this, position = std::size_t{1}](Connection& connection, const HeadCheck& check_head) mutable {
                   return serve(connection, check_head, position);
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
  if (why_not) faults.give_back(std::move(*taken));  // it is for a connection that can be served
  return why_not;
}

void ConnectionLoop::turn_away(Connection& connection, const HeadCheck& check_head, const std::string& why) noexcept {
  if (!std::exchange(has_turned_away_, true)) warn({"a connection is answered 503 connection_limit: ", why});
  const Failure failure(503, "connection_limit", why);
  const Connection::Arrival arrival = connection.wait_for_request();
  if (arrival != Connection::Arrival::arrived && arrival != Connection::Arrival::timed_out) return;
  std::optional<IncomingRequest> incoming;
  gateway_.journal->began();
  if (arrival == Connection::Arrival::arrived)
    incoming = read_request(connection, check_head, std::nullopt, gateway_.clock, nullptr);
  if (!incoming) {
    incoming.emplace();
    connection.linger();
  }
  incoming->turned_away = failure.retry_after(std::chrono::seconds{1});
  incoming->fault.reset();
  incoming->keep_alive = false;
  runner_.run(connection, std::move(*incoming), 1);
}

bool ConnectionLoop::serve(Connection& connection, const HeadCheck& check_head, std::size_t& position) noexcept {
  // A client that sends ahead of its answers must not keep others waiting.
  constexpr std::size_t most_at_once = 32;
  for (std::size_t served = 0; connection.ending() == Outlet::Ending::keep_alive; ++position) {
    if (++served == most_at_once) call_relief();
    const std::optional<Connection::Arrival> arrival = connection.look_for_request();
    if (!arrival) return true;
    if (*arrival != Connection::Arrival::arrived) return false;
    const std::optional<ConnectionFault> fault = gateway_.connection_faults->take_on_request(position > 1);
    if (fault) {
      if (fault->moment() == ConnectionFault::Moment::reused) return strike(connection, *fault);
      note_hit(connection, *fault);
    }
    gateway_.journal->began();
    std::optional<IncomingRequest> incoming;
    std::optional<IncomingRequest> answered;  // the head of one that is answered before its body
    try {
      incoming = read_request(connection, check_head, fault, gateway_.clock, [this](const IncomingRequest& head) {
        // Others are read whole before they are judged: what they hold is evidence, whatever they are answered.
        return head.awaits_continue ? refusal_of_head(gateway_, head) : std::nullopt;
      });
      if (incoming && incoming->is_body_read_later) {
        answered.emplace();
        answered->request.headers = incoming->request.headers;
        answered->http_1_1 = incoming->http_1_1;
      }
    } catch (const std::exception& exception) {  // out of memory, say
      warn({"a request could not be read: ", exception.what()});
      incoming.reset();
    }
    if (!incoming) {
      gateway_.journal->dropped();
      return false;
    }
    runner_.run(connection, std::move(*incoming), position);
    if (answered && connection.ending() == Outlet::Ending::keep_alive && !skip(connection, std::move(*answered))) {
      connection.linger();
      connection.end(Outlet::Ending::close);
    }
  }
  return false;
}

bool ConnectionLoop::skip(Connection& connection, IncomingRequest&& head) noexcept {
  try {
    return skip_body(connection, std::move(head));
  } catch (const std::exception& exception) {  // out of memory, say
    warn({"the body of a request could not be read: ", exception.what()});
    return false;
  }
}

bool ConnectionLoop::strike(Connection& connection, const ConnectionFault& fault) noexcept {
  note_hit(connection, fault);
  const bool resets = fault.kind() == ConnectionFault::Kind::reset_on_accept ||
                      fault.kind() == ConnectionFault::Kind::reset_when_reused;
  if (!fault.bytes().empty()) connection.write(fault.bytes());
  // With bytes of the client's unread, or still to come, the system would send RST after the FIN.
  if (resets)
    connection.drain();  // a reset would throw away what has not arrived of the reply before
  else
    connection.linger();
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
