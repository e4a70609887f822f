// Faults of connections: kinds, when each occurs, names; default garbage bytes (in the header) and early hints.

#include "connection_fault.hpp"

#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"
#include "checks.hpp"

namespace mock_gateway {

ConnectionFault::ConnectionFault(Kind kind, std::string bytes, std::size_t step, Duration gap,
                                 std::optional<Failure> failure)
    : kind_(kind),
      bytes_(detail::share<const std::string>(std::move(bytes))),
      step_(step),
      gap_(gap),
      failure_(std::move(failure)) {}

ConnectionFault::Moment ConnectionFault::moment() const {
  switch (kind_) {
    case Kind::reset_on_accept:
    case Kind::close_on_accept:
    case Kind::garbage_on_accept: return Moment::accepted;
    case Kind::close_when_reused:
    case Kind::reset_when_reused: return Moment::reused;
    case Kind::unsolicited_continue:
    case Kind::early_hints:
    case Kind::slow_body:
    case Kind::reply_before_body:
    case Kind::reply_then_read_body: break;
  }
  return Moment::request;
}

std::string ConnectionFault::to_string() const {
  switch (kind_) {
    case Kind::reset_on_accept: return "reset on accept";
    case Kind::close_on_accept: return "close on accept";
    case Kind::garbage_on_accept: return "garbage on accept";
    case Kind::close_when_reused: return "close when reused";
    case Kind::reset_when_reused: return "reset when reused";
    case Kind::unsolicited_continue: return "unsolicited 100 Continue";
    case Kind::early_hints: return "103 Early Hints";
    case Kind::slow_body: return "slow body, " + detail::text::counted(step_, "byte") + " at a time";
    case Kind::reply_before_body: return std::to_string(failure_->status()) + " before the body";
    case Kind::reply_then_read_body: break;
  }
  return std::to_string(failure_->status()) + " before the body, which is read then";
}

ConnectionFault reset_on_accept() {
  return detail::Access::make<ConnectionFault>(ConnectionFault::Kind::reset_on_accept);
}

ConnectionFault close_on_accept() {
  return detail::Access::make<ConnectionFault>(ConnectionFault::Kind::close_on_accept);
}

ConnectionFault garbage_on_accept(std::string bytes) {
  if (bytes.empty()) throw GatewayError("garbage_on_accept needs bytes to send; close_on_accept() sends none");
  return detail::Access::make<ConnectionFault>(ConnectionFault::Kind::garbage_on_accept, std::move(bytes));
}

ConnectionFault close_when_reused() {
  return detail::Access::make<ConnectionFault>(ConnectionFault::Kind::close_when_reused);
}

ConnectionFault reset_when_reused() {
  return detail::Access::make<ConnectionFault>(ConnectionFault::Kind::reset_when_reused);
}

ConnectionFault unsolicited_continue() {
  return detail::Access::make<ConnectionFault>(ConnectionFault::Kind::unsolicited_continue,
                                               "HTTP/1.1 100 Continue\r\n\r\n");
}

ConnectionFault early_hints(const wire::Headers& headers) {
  std::string response = "HTTP/1.1 103 Early Hints\r\n";
  for (const wire::Header& header : headers) {
    detail::require_header_field(header.name, header.value);
    response.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  response += "\r\n";
  return detail::Access::make<ConnectionFault>(ConnectionFault::Kind::early_hints, std::move(response));
}

ConnectionFault early_hints() { return early_hints(wire::Headers{{"Link", "</style.css>; rel=preload; as=style"}}); }

ConnectionFault slow_body(std::size_t bytes, Duration gap) {
  if (bytes == 0) throw GatewayError("slow_body reads at least 1 byte at a time");
  if (gap <= Duration{0}) throw GatewayError("slow_body needs a positive gap");
  return detail::Access::make<ConnectionFault>(ConnectionFault::Kind::slow_body, std::string(), bytes, gap);
}

ConnectionFault reply_before_body(const Failure& failure) {
  return detail::Access::make<ConnectionFault>(ConnectionFault::Kind::reply_before_body, std::string(), std::size_t{0},
                                               Duration{0}, failure);
}

ConnectionFault reply_then_read_body(const Failure& failure) {
  return detail::Access::make<ConnectionFault>(ConnectionFault::Kind::reply_then_read_body, std::string(),
                                               std::size_t{0}, Duration{0}, failure);
}

}  // namespace mock_gateway
