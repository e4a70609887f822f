#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "../core/clock.hpp"
#include "../core/shared.hpp"
#include "../core/timeline.hpp"
#include "../delivery/outlet.hpp"
#include "exchange_observer.hpp"
#include "sockets.hpp"
#include "wakes.hpp"

namespace mock_gateway::detail {

/// Transport limits: always real time.
struct ConnectionLimits {
  /// What a connection may take that nobody has trusted yet.
  struct Trial {
    /// Since it was accepted, for all that is read, answered and waited for.
    Duration time;
    /// How many bytes it may send.
    std::size_t bytes;
  };

  Duration read_timeout;
  Duration write_timeout;
  Duration idle_timeout;
  Duration head_timeout;
  Duration body_timeout;
  std::size_t max_head;
  std::size_t max_body;
  /// Whether body_timeout is longer by a second for each 10 KiB of the body that have been received.
  bool body_grows = true;
  /// Whether connections may take the descriptors that Server::keep_descriptors keeps.
  bool uses_kept_descriptors = false;
  /// Empty: each connection is trusted from its beginning.
  std::optional<Trial> trial = std::nullopt;
};

/// One client's connection: every byte in and out, every wait, and the way it ends. Used by one thread; stop_line() and
/// busy_with() by any.
class Connection final : public Outlet {
 public:
  /// `spent`: the connection is on trial, and has sent as much as it may.
  enum class Arrival { arrived, peer_closed, timed_out, too_large, malformed, broken, spent };
  enum class Failure { client_left, client_stalled, stopped };

  /// Takes the descriptor over.
  Connection(int socket, std::uint64_t id, const ConnectionLimits& limits);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  std::uint64_t id() const { return id_; }
  const ConnectionLimits& limits() const { return limits_; }
  int descriptor() const { return socket_; }
  /// When something is to be done though nothing has come: a wait of the exchange under way is to be looked at, or the
  /// client has sent no request for too long.
  std::chrono::steady_clock::time_point look_again_at() const;
  /// What of the socket it waits for.
  sockets::Wanted wanted() const;
  /// Ends its trial.
  void trust() { trial_.reset(); }

  // Reading. Nothing as an Arrival: it has not all come so far, and the connection knows when to look again.
  /// Waits for the first byte of the next request, as long as a connection may be idle.
  Arrival wait_for_request();
  /// Does so without waiting.
  std::optional<Arrival> look_for_request();
  /// Bytes may have come since the last were received; `to_the_end`: all that will ever come.
  void expect_bytes(bool to_the_end);
  /// Reads through the blank line that ends a head. `malformed` at the first byte that no head has, which what is no
  /// HTTP has soon: a control character, or a line end that is not CRLF.
  std::optional<Arrival> read_head(std::string& head);
  /// From now on read_exactly and read_line time out when the body takes longer in all than it may. One that is read
  /// slowly may take any time.
  void begin_body();
  /// Appends as many bytes to `out` as `size` says and have come, and takes them off `size`: all when they have
  /// arrived.
  std::optional<Arrival> read_exactly(std::size_t& size, std::string& out);
  /// Appends one line with its line end to `out`; `too_large` beyond `max` bytes.
  std::optional<Arrival> read_line(std::size_t max, std::string& out);
  /// From now on read_exactly and read_line take `step` bytes after each `gap` of the timeline, until read_at_once. A
  /// client that closes its side ends that.
  void read_slowly(std::size_t step, Duration gap, Timeline& timeline);
  void read_at_once() { slow_.reset(); }
  /// Takes what is there already, 128 KiB at most, and leaves it unread. `timed_out` when more may come.
  Arrival receive_at_once();
  /// Whether bytes have been received that nobody has read.
  bool has_unread() const { return position_ < buffer_.size(); }
  std::string_view unread() const { return std::string_view(buffer_).substr(position_); }
  void forget_unread() { position_ = buffer_.size(); }
  /// Whether the client has closed its side, and sent nothing else that is to be answered.
  bool is_abandoned() const { return !has_unread() && sockets::was_closed(socket_); }
  /// When the last byte that was received reached this system: under load, long before a thread of ours has read it. It
  /// is never before the end of the last exchange.
  std::chrono::steady_clock::time_point arrival() const { return std::max(arrived_, last_exchange_ended_); }

  /// The request that was read last was sent at this moment or later.
  std::chrono::steady_clock::time_point request_sent_from() const { return request_sent_from_; }
  /// The exchange whose stream was unfinished when the request that is being read began to arrive; 0: none.
  std::uint64_t overtaken_stream() const;

  // Writing: the exchange under way hears of what happens.
  /// `stream`: the id of an exchange whose answer is a stream; 0 otherwise.
  void begin_exchange(ExchangeObserver& observer, Timeline& timeline, std::uint64_t stream);
  void end_exchange();
  std::optional<std::size_t> write_some(std::string_view bytes) override;
  Look look(Pending& pending, OnClientClosed on_client_closed) override;
  Look look_for_room() override;
  Look look_for_delivery() override;
  Look look_for_last_bytes() override;
  void last_bytes_follow() override;
  bool delivered() const override { return sockets::under_way(socket_) == 0; }
  bool has_left() const override { return sockets::unsent(socket_) == 0; }
  std::optional<bool> was_read() const override;
  void end(Ending ending) override { ending_ = ending; }
  void end_sending() override { sockets::shut_down_sending(socket_); }
  std::shared_ptr<Wake> waker() override { return wake_; }
  /// Has its waker wake that too from now on; null: nothing more.
  void tell_of_wakes(Wake* other) { wake_->tell(other); }
  void guard_expired() override;

  // Waiting, on the thread that calls.
  /// Waits until what the last look waited for may have come, or it is time to look again.
  void wait_for_news();
  /// Hands over every byte; false when the client has gone, does not read, or the gateway stops.
  bool write(std::string_view bytes);
  /// Waits until the client's kernel has what was written. False when the client has gone, does not read, or the
  /// gateway stops.
  bool drain();

  Ending ending() const { return ending_; }
  /// Why write, drain or a look gave up.
  Failure failure() const;
  /// The body of the request was not read: before the connection closes, what the client still sends is taken off
  /// it for a while, so that it gets to read its answer. So it is of itself where the answer is not all delivered.
  void linger() { linger_ = true; }
  /// Sends the FIN or RST that ending() wants, if any. An exchange is over when that is done: who hears of its end
  /// finds the connection closed.
  void send_ending();
  /// Says goodbye as ending() wants it. Returns whether that is done; else the connection knows when this is to be
  /// called again. The descriptor stays open, for the stop line to reach, until the destructor.
  bool finish();
  /// Whether finish() was called.
  bool is_finishing() const { return is_finishing_; }

  const std::shared_ptr<StopLine>& stop_line() const { return stop_line_; }
  /// What of the tester's code this connection's thread is in; empty when in none. From any thread.
  void set_busy_with(std::string what);
  /// Does the same with a literal, at no cost; null: in none.
  void set_busy_with(const char* literal) { busy_literal_ = literal; }
  std::string busy_with() const;

 private:
  using Moment = std::chrono::steady_clock::time_point;

  /// Slow reading: `step` more bytes may be taken after each gap.
  struct Slow {
    Slow(std::size_t its_step, Duration its_gap, Timeline& its_timeline)
        : step(its_step), gap(its_gap), timeline(its_timeline) {}

    std::size_t step;
    Duration gap;
    Timeline& timeline;
    std::size_t allowance = 0;
    std::optional<ClockWait> turn;
  };
  /// How far a head was looked through.
  struct HeadScan {
    Moment deadline;
    std::size_t size = 0;
    std::size_t line = 0;  // bytes of it so far, its end included
    char last = '\0';
  };

  /// How long the client's kernel has taken none of what was written. A client that reads slowly makes no room for a
  /// new write for a long time, because the system waits until a third of the send queue is free. The queue shrinks
  /// before that.
  class Standstill {
   public:
    explicit Standstill(int socket) : socket_(socket), queued_(sockets::unacknowledged(socket)) {}
    Duration length();

   private:
    int socket_;
    std::size_t queued_;
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  };
  /// The stream that was sent last.
  struct Stream {
    std::uint64_t exchange = 0;
    std::chrono::steady_clock::time_point began{};
    std::chrono::steady_clock::time_point last_bytes{};  // they followed
  };

  /// What the connection waits for, or waited for last.
  struct Wait {
    enum class For {
      bytes,
      /// For more to be written.
      room,
      /// Of what was written, to the client's kernel.
      delivery,
      /// A clock, a gate or a client that reads, as the exchange wants.
      exchange,
    };

    explicit Wait(For its_what) : what(its_what) {}
    sockets::Interest interest() const;

    For what;
    Moment until{};                                  // the latest moment to look again
    bool is_for_client = false;                      // whether it matters that the client closes its side
    bool is_woken = false;                           // whether another thread may end it
    std::optional<Moment> times_out = {};            // of bytes
    std::optional<Standstill> standstill = {};       // of room and delivery
    std::optional<Acknowledgement> acknowledgement;  // of delivery
  };

  /// A trial that has begun.
  struct Trial {
    std::chrono::steady_clock::time_point end;
    std::size_t bytes;  // that may still come
  };

  /// Receives what has come. `timed_out` when nothing has for as long as `patience`, which counts from the first call
  /// after something came.
  std::optional<Arrival> receive(Duration patience);
  /// Whether there is a first byte of the next request.
  bool has_request();
  /// This moment, or the end of the trial where that comes before it.
  std::chrono::steady_clock::time_point within_trial(std::chrono::steady_clock::time_point moment) const;
  /// More bytes that may be taken, now or after the gap of slow reading.
  std::optional<Arrival> more();
  /// Whether the gap of slow reading is over.
  bool comes_to_turn();
  /// How long the client may go on without sending a byte of the body.
  Duration body_patience() const;
  /// How many received bytes may be taken now.
  std::size_t takeable() const;
  void take(std::size_t size, std::string& out);
  std::chrono::steady_clock::time_point idle_until() const;
  Look look_at(Pending& pending, OnClientClosed on_client_closed);
  bool waits_for(Wait::For what) const { return wait_ && wait_->what == what; }
  /// Goes on with the wait for that, or begins it.
  Wait& begin_wait(Wait::For what);
  /// Has the connection looked at again after that time, or when what it waits for has come.
  Look not_yet(std::optional<Duration> look_again_in);
  /// What has become of the socket since it was looked at last.
  sockets::Readiness news();
  template <class Looking>
  bool wait_while(const Looking& looking);
  void note_peer_closed(bool is_reset);
  /// Notes that the connection can be used no more.
  void note_disconnected();
  ExchangeObserver::Leaving leaving() const;
  /// Returns whether no more is to be taken off.
  bool take_off_what_still_comes();

  int socket_;
  std::uint64_t id_;
  ConnectionLimits limits_;
  std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
  std::shared_ptr<DescriptorWake> wake_ = share<DescriptorWake>();
  bool may_have_come_ = true;  // something that was not received yet
  bool is_last_to_come_ = false;
  std::optional<std::chrono::steady_clock::time_point> idle_since_;
  std::string buffer_;
  std::size_t position_ = 0;
  std::chrono::steady_clock::time_point arrived_ = opened_;
  std::chrono::steady_clock::time_point request_began_ = opened_;  // its first byte reached this system
  // No earlier its client sent the newest bytes, and the request's first: the connection was opened, or they reached
  // this system where that is known. A client may open connections long before it has something to send.
  std::chrono::steady_clock::time_point sent_from_ = opened_;
  std::chrono::steady_clock::time_point request_sent_from_ = opened_;
  std::chrono::steady_clock::time_point last_exchange_ended_{};
  std::optional<Stream> stream_;
  std::optional<Trial> trial_;
  Ending ending_ = Ending::keep_alive;
  bool linger_ = false;
  bool is_finishing_ = false;
  std::optional<Moment> lingers_until_;
  bool ending_is_sent_ = false;
  std::optional<HeadScan> head_scan_;
  std::optional<Slow> slow_;
  std::optional<std::chrono::steady_clock::time_point> body_began_;  // of one that may not take any time
  std::size_t body_received_ = 0;
  bool guard_expired_ = false;  // before the exchange began
  bool peer_closed_ = false;
  bool is_reset_ = false;   // by the client
  TimePoint last_write_{};  // of the exchange
  bool stalled_ = false;
  bool last_bytes_follow_ = false;
  bool closed_before_last_bytes_ = false;
  std::optional<Wait> wait_;
  std::size_t moved_at_once_ = 0;           // bytes received and written since something was waited for
  bool has_news_ = true;                    // the socket may have changed since it was looked at
  std::optional<sockets::Readiness> seen_;  // by the wait for news
  ExchangeObserver* observer_ = nullptr;
  Timeline* timeline_ = nullptr;
  std::shared_ptr<StopLine> stop_line_;
  std::atomic<const char*> busy_literal_{nullptr};
  mutable std::mutex busy_mutex_;
  std::string busy_with_;
};

}  // namespace mock_gateway::detail
