// Faults of connections: kinds, when each strikes, names; the bytes of garbage (in the header) and of early hints.

#include "connection_fault.hpp"

#include <utility>

#include "../core/error.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"
#include "checks.hpp"

namespace mock_gateway {

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
    case Kind::reply_before_body: break;
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
    case Kind::reply_before_body: break;
  }
  return std::to_string(failure_->status()) + " before the body";
}

ConnectionFault reset_on_accept() { return ConnectionFault(ConnectionFault::Kind::reset_on_accept); }

ConnectionFault close_on_accept() { return ConnectionFault(ConnectionFault::Kind::close_on_accept); }

ConnectionFault garbage_on_accept(std::string bytes) {
  if (bytes.empty()) throw GatewayError("garbage_on_accept needs bytes to send; close_on_accept() sends none");
  ConnectionFault fault(ConnectionFault::Kind::garbage_on_accept);
  fault.bytes_ = detail::share<const std::string>(std::move(bytes));
  return fault;
}

ConnectionFault close_when_reused() { return ConnectionFault(ConnectionFault::Kind::close_when_reused); }

ConnectionFault reset_when_reused() { return ConnectionFault(ConnectionFault::Kind::reset_when_reused); }

ConnectionFault unsolicited_continue() {
  ConnectionFault fault(ConnectionFault::Kind::unsolicited_continue);
  fault.bytes_ = detail::share<const std::string>("HTTP/1.1 100 Continue\r\n\r\n");
  return fault;
}

ConnectionFault early_hints(const wire::Headers& headers) {
  std::string response = "HTTP/1.1 103 Early Hints\r\n";
  for (const wire::Header& header : headers) {
    detail::require_header_field(header.name, header.value);
    response.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  response += "\r\n";
  ConnectionFault fault(ConnectionFault::Kind::early_hints);
  fault.bytes_ = detail::share<const std::string>(std::move(response));
  return fault;
}

ConnectionFault early_hints() { return early_hints(wire::Headers{{"Link", "</style.css>; rel=preload; as=style"}}); }

ConnectionFault slow_body(std::size_t bytes, Duration gap) {
  if (bytes == 0) throw GatewayError("slow_body reads at least 1 byte at a time");
  if (gap <= Duration{0}) throw GatewayError("slow_body needs a positive gap");
  ConnectionFault fault(ConnectionFault::Kind::slow_body);
  fault.step_ = bytes;
  fault.gap_ = gap;
  return fault;
}

ConnectionFault reply_before_body(const Failure& failure) {
  ConnectionFault fault(ConnectionFault::Kind::reply_before_body);
  fault.failure_ = failure;
  return fault;
}

}  // namespace mock_gateway
