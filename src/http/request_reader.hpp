#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "../model/failure.hpp"
#include "../model/received_request.hpp"
#include "connection.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {

/// A request as read from a connection: whole, or with the reason why not.
struct IncomingRequest {
  ReceivedRequest request;  // keys not yet masked
  std::string raw_head;
  std::string raw_body;  // only of a chunked body: with its framing
  bool http_1_1 = true;
  bool keep_alive = true;
  /// Not HTTP, or never completed: answered before anything else is looked at.
  std::optional<Failure> malformed;
  /// The body is larger than accepted; it was not read.
  bool body_too_large = false;
};

/// Whether a head is a valid request, in cpp-httplib's judgement: 0, or the status with which it refuses it.
using HeadJudge = std::function<int(std::string_view head)>;

/// Reads the next request. Nothing: the connection ended before a request was complete.
std::optional<IncomingRequest> read_request(Connection& connection, const HeadJudge& judge);

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
