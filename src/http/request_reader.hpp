#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "../core/heap_optional.hpp"
#include "../core/timeline.hpp"
#include "../model/connection_fault.hpp"
#include "../model/failure.hpp"
#include "../model/received_request.hpp"
#include "connection.hpp"

namespace mock_gateway::detail {

/// A request read from a connection. If it is incomplete or refused, one of the failures is set.
struct IncomingRequest {
  ReceivedRequest request;  // with unmasked keys
  std::string raw_head;
  std::string raw_body;  // only for a chunked body, including the chunk framing
  bool http_1_1 = true;
  bool keep_alive = true;
  /// Set if the request is not HTTP, or incomplete. Answered before any other check.
  HeapOptional<Failure> malformed;
  /// Set if the gateway cannot serve the connection. Answered before any other check; the body is unread.
  HeapOptional<Failure> turned_away;
  /// Set if the body or its chunk framing exceeds the limit. The body was not read to its end.
  HeapOptional<Failure> body_too_large;
  /// Set if the request is refused because of its head. The body is unread.
  HeapOptional<Failure> refused;
  bool is_body_unread = false;
  bool is_body_read_later = false;
  bool awaits_continue = false;
  /// Host and port of an absolute-form target, else empty. Takes precedence over Host (RFC 9112, 3.2.2).
  std::string authority;
  /// When the request was complete, or reading was abandoned.
  std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();
  /// The fault set by Gateway::next_connection. If it replies early, the body is not read before the reply.
  HeapOptional<ConnectionFault> fault;
  /// The exchange's timeline, if reading took time on the gateway's clock.
  std::unique_ptr<Timeline> timeline;

  bool is_answered_before_body() const { return fault && fault->failure(); }
};

/// Checks the grammar of a head with cpp-httplib. Returns 0 if valid, else the error status.
using HeadCheck = std::function<int(std::string_view head)>;

/// Returns a failure to refuse a request by its head. Then the body is not read, and no 100 is sent. May be empty.
using RefuseHead = std::function<std::optional<Failure>(const IncomingRequest& head)>;

class BodyReader {
 public:
  /// Both arguments must outlive the reader.
  BodyReader(Connection& connection, IncomingRequest& incoming) : connection_(connection), incoming_(incoming) {}

  /// Continues reading. Empty: call again when the connection is ready.
  std::optional<Connection::Arrival> go_on(const RefuseHead& refuse_head);
  /// Returns what of the body has arrived: "12 of 17 bytes of the body".
  std::string arrived() const;

 private:
  using Arrival = Connection::Arrival;
  enum class Next { framing, body, chunk_size, chunk, trailer };

  std::optional<Arrival> begin(const RefuseHead& refuse_head);
  std::optional<Arrival> read_chunks();
  std::optional<Arrival> begin_chunk();
  std::optional<Arrival> read_trailer();
  /// Appends the remaining bytes to `out`, whose size never exceeds `most`.
  std::optional<Arrival> read_left(std::size_t most, std::string& out);
  std::optional<Arrival> read_chunk_line(const char* too_long);

  Connection& connection_;
  IncomingRequest& incoming_;
  Next next_ = Next::framing;
  std::size_t max_framed_body_ = 0;  // limit of a chunked body including framing
  std::size_t left_ = 0;             // remaining bytes of the body or chunk
  std::size_t piece_ = 0;            // part of `left_` that `out` has room for
  std::size_t chunk_begin_ = 0;
  std::size_t chunk_size_ = 0;
  std::size_t fields_ = 0;  // the number of fields in the trailer
};

class RequestReader {
 public:
  /// Referenced arguments must outlive the reader.
  RequestReader(Connection& connection, const HeadCheck& check_head, const std::optional<ConnectionFault>& fault,
                const Clock& clock, RefuseHead refuse_head);

  /// Continues reading. Returns false if it must be called again when the connection is ready, true when done.
  bool advance();
  /// Returns the request. Empty if the gateway stops.
  std::optional<IncomingRequest> take() { return std::move(incoming_); }

 private:
  using Arrival = Connection::Arrival;

  /// Returns whether the body must be read.
  bool take_head(Arrival arrival);
  void take_body(Arrival arrival);
  /// Whether there is a request to answer. A timeout is answered with 408, a request that the client broke off with
  /// 400.
  bool has_arrived(Arrival arrival);
  void complete();

  Connection& connection_;
  const HeadCheck& check_head_;
  const Clock& clock_;
  RefuseHead refuse_head_;
  std::optional<IncomingRequest> incoming_;
  std::optional<BodyReader> body_;
  bool timed_out_ = false;
};

/// Reads the next request, blocking the calling thread. Empty if the gateway stops.
std::optional<IncomingRequest> read_request(Connection& connection, const HeadCheck& check_head, const Clock& clock,
                                            RefuseHead refuse_head);

class SkippedBody {
 public:
  SkippedBody(Connection& connection, IncomingRequest head) : head_(std::move(head)), body_(connection, head_) {}
  SkippedBody(const SkippedBody&) = delete;
  SkippedBody& operator=(const SkippedBody&) = delete;

  /// Continues reading. Returns whether another request can follow. Empty: call again when the connection is ready.
  std::optional<bool> advance();

 private:
  IncomingRequest head_;
  BodyReader body_;
};

/// Whether these bytes contain all of the request that would be read, according to its framing and the limits.
bool is_whole(std::string_view received, const ConnectionLimits& limits);

}  // namespace mock_gateway::detail
