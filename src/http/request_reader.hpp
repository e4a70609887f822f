#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "../core/seldom.hpp"
#include "../core/timeline.hpp"
#include "../model/connection_fault.hpp"
#include "../model/failure.hpp"
#include "../model/received_request.hpp"
#include "connection.hpp"

namespace mock_gateway::detail {

/// A request as read from a connection: whole, or with the reason why not.
struct IncomingRequest {
  ReceivedRequest request;  // keys not yet masked
  std::string raw_head;
  std::string raw_body;  // only of a chunked body: with its framing
  bool http_1_1 = true;
  bool keep_alive = true;
  /// What came is not HTTP, or never was complete: it is answered before anything else is looked at.
  Seldom<Failure> malformed;
  /// The gateway cannot serve the connection: it is answered before anything else is looked at. The body was not read.
  Seldom<Failure> turned_away;
  /// The body is larger than accepted, or its framing is; it was not read, or not to its end.
  Seldom<Failure> body_too_large;
  /// The head alone decides that the request is refused. The body was not read.
  Seldom<Failure> refused;
  /// Whether there is more of the body than was read.
  bool is_body_unread = false;
  /// The answer goes before the body, which is read after it.
  bool is_body_read_later = false;
  /// Whether the client waits for 100 Continue before it sends the body.
  bool awaits_continue = false;
  /// The host, and perhaps the port, of a target in the absolute form, of which `request` has the path and the query;
  /// empty for another form. It counts in place of Host (RFC 9112, 3.2.2).
  std::string authority;
  /// When it was complete, or given up.
  std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();
  /// What Gateway::next_connection struck it with. The body is not read before a reply that goes before it.
  Seldom<ConnectionFault> fault;
  /// The exchange's, when reading the request took time on the gateway's clock.
  std::unique_ptr<Timeline> timeline;

  bool is_answered_before_body() const { return fault && fault->failure(); }
};

/// Whether a head is a valid request, as cpp-httplib sees it: 0, or the status with which it refuses it.
using HeadCheck = std::function<int(std::string_view head)>;

/// Asked once the head is complete, and before a byte of the body is read: why the request is refused for its head
/// alone, if it is. Then the body is not read, and a client that waits for 100 Continue gets its answer in place of it.
/// It may be empty: it refuses none.
using RefuseHead = std::function<std::optional<Failure>(const IncomingRequest& head)>;

/// Reads a body, of a request whose head has been read.
class BodyReader {
 public:
  /// Both must outlive this.
  BodyReader(Connection& connection, IncomingRequest& incoming) : connection_(connection), incoming_(incoming) {}

  /// Reads on. Nothing: the connection knows when to look again.
  std::optional<Connection::Arrival> go_on(const RefuseHead& refuse_head);

 private:
  using Arrival = Connection::Arrival;
  enum class Next { framing, body, chunk_size, chunk, trailer };

  std::optional<Arrival> begin(const RefuseHead& refuse_head);
  std::optional<Arrival> read_chunks();
  std::optional<Arrival> begin_chunk();
  std::optional<Arrival> read_trailer();
  /// Appends the bytes that are left to `out`, which never gets longer than `most`.
  std::optional<Arrival> read_left(std::size_t most, std::string& out);
  std::optional<Arrival> read_chunk_line(const char* too_long);

  Connection& connection_;
  IncomingRequest& incoming_;
  Next next_ = Next::framing;
  std::size_t max_raw_ = 0;  // bytes of a chunked body with its framing
  std::size_t left_ = 0;     // bytes of the body, or the chunk
  std::size_t piece_ = 0;    // of these, for which there is room
  std::size_t chunk_begin_ = 0;
  std::size_t chunk_size_ = 0;
  std::size_t fields_ = 0;  // of the trailer
};

/// Reads the next request, struck by a fault or not.
class RequestReader {
 public:
  /// What is given as a reference must outlive this.
  RequestReader(Connection& connection, const HeadCheck& check_head, const std::optional<ConnectionFault>& fault,
                const Clock& clock, RefuseHead refuse_head);

  /// Reads on. False: the connection knows when to call this again. True: that was all.
  bool go_on();
  /// What was read. Nothing: the connection ended before a request was complete.
  std::optional<IncomingRequest> take() { return std::move(incoming_); }

 private:
  using Arrival = Connection::Arrival;

  /// Returns whether the body is to be read.
  bool take_head(Arrival arrival);
  void take_body(Arrival arrival);
  /// Whether it arrived, or is answered 408.
  bool has_arrived(Arrival arrival, const char* what);
  void complete();

  Connection& connection_;
  const HeadCheck& check_head_;
  const Clock& clock_;
  RefuseHead refuse_head_;
  std::optional<IncomingRequest> incoming_;
  std::optional<BodyReader> body_;  // once the head has been read
  bool timed_out_ = false;
};

/// Reads the next request, waiting for it on the calling thread. Nothing: the connection ended before it was complete.
std::optional<IncomingRequest> read_request(Connection& connection, const HeadCheck& check_head, const Clock& clock,
                                            RefuseHead refuse_head);

/// Reads the body of a request that was answered before it, and throws it away.
class SkippedBody {
 public:
  SkippedBody(Connection& connection, IncomingRequest head) : head_(std::move(head)), body_(connection, head_) {}
  SkippedBody(const SkippedBody&) = delete;
  SkippedBody& operator=(const SkippedBody&) = delete;

  /// Reads on. Nothing: the connection knows when to call this again. Else whether the next request can follow.
  std::optional<bool> go_on();

 private:
  IncomingRequest head_;
  BodyReader body_;
};

/// Whether these bytes hold a request to its end, or as much of it as is read without waiting: so far as that can be
/// told before anything is judged.
bool is_whole(std::string_view received, const ConnectionLimits& limits);

}  // namespace mock_gateway::detail
