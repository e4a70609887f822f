#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "../core/timeline.hpp"
#include "../model/connection_fault.hpp"
#include "../model/failure.hpp"
#include "../model/received_request.hpp"
#include "connection.hpp"

namespace mock_gateway {
namespace detail {

/// A request as read from a connection: whole, or with the reason why not.
struct IncomingRequest {
  ReceivedRequest request;  // keys not yet masked
  std::string raw_head;
  std::string raw_body;  // only of a chunked body: with its framing
  bool http_1_1 = true;
  bool keep_alive = true;
  /// What came is not HTTP, or never was complete: it is answered before anything else is looked at.
  std::optional<Failure> malformed;
  /// The gateway cannot serve the connection: it is answered before anything else is looked at. The body was not read.
  std::optional<Failure> turned_away;
  /// The body is larger than accepted, or its framing is; it was not read, or not to its end.
  std::optional<Failure> body_too_large;
  /// When it was complete, or given up.
  std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();
  /// What Gateway::next_connection struck it with. The body is not read before a reply that goes before it.
  std::optional<ConnectionFault> fault;
  /// The exchange's, when reading the request took time on the gateway's clock.
  std::unique_ptr<Timeline> timeline;

  bool is_answered_before_body() const { return fault && fault->failure(); }
};

/// Whether a head is a valid request, as cpp-httplib sees it: 0, or the status with which it refuses it.
using HeadCheck = std::function<int(std::string_view head)>;

/// Reads the next request, struck by a fault or not. Nothing: the connection ended before a request was complete.
std::optional<IncomingRequest> read_request(Connection& connection, const HeadCheck& check_head,
                                            const std::optional<ConnectionFault>& fault, const Clock& clock);

}  // namespace detail
}  // namespace mock_gateway
