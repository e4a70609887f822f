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

/// Transport limits, always in real time.
struct ConnectionLimits {
  /// Budget of a connection until it is trusted.
  struct UntrustedBudget {
    /// From acceptance on, including reading, answering and waiting.
    Duration time;
    std::size_t bytes;
  };

  Duration read_timeout;
  Duration write_timeout;
  Duration idle_timeout;
  Duration head_timeout;
  Duration body_timeout;
  std::size_t max_head;
  std::size_t max_body;
  /// Whether body_timeout grows by 1 s per 10 KiB of received body.
  bool body_grows = true;
  /// Whether connections may use the descriptors reserved by Server::keep_descriptors.
  bool uses_kept_descriptors = false;
  /// Empty: every connection is trusted from the start.
  std::optional<UntrustedBudget> untrusted = std::nullopt;
};

/// A client connection: all reads, writes and waits, and how it is closed. Used by one thread at a time; stop_line()
/// and busy_with() by any thread.
class Connection final : public Outlet {
 public:
  /// `spent`: the untrusted connection has used up its byte budget.
  enum class Arrival { arrived, peer_closed, timed_out, too_large, malformed, broken, spent };
  enum class Failure { client_left, client_stalled, stopped };

  /// Takes ownership of the socket.
  Connection(Socket socket, std::uint64_t id, const ConnectionLimits& limits);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  std::uint64_t id() const { return id_; }
  const ConnectionLimits& limits() const { return limits_; }
  Socket descriptor() const { return socket_; }
  /// Returns the latest time to serve this connection again, even without socket events.
  std::chrono::steady_clock::time_point recheck_at() const;
  sockets::Wanted wanted() const;
  void trust() { untrusted_.reset(); }

  // Reading. An empty Arrival means "not yet": call again at recheck_at() or after a socket event.
  /// Waits for the first byte of the next request, up to the idle timeout.
  Arrival wait_for_request();
  /// Like wait_for_request(), but does not block.
  std::optional<Arrival> check_request();
  /// Notes that bytes may have arrived. `to_the_end`: they are the client's last.
  void expect_bytes(bool to_the_end);
  /// Reads a head with its blank line. Returns `malformed` at the first invalid byte, so other protocols fail early.
  std::optional<Arrival> read_head(std::string& head);
  /// Starts the body timeout for read_exactly and read_line. It does not apply while reading slowly.
  void begin_body();
  /// Appends up to `size` received bytes to `out` and subtracts them from `size`. Returns `arrived` when `size` is 0.
  std::optional<Arrival> read_exactly(std::size_t& size, std::string& out);
  /// Appends one line with its line end to `out`. Returns `too_large` beyond `max` bytes.
  std::optional<Arrival> read_line(std::size_t max, std::string& out);
  /// Makes read_exactly and read_line take `step` bytes per `gap`, until read_at_once() or the client's FIN.
  void read_slowly(std::size_t step, Duration gap, Timeline& timeline);
  void read_at_once() { slow_.reset(); }
  /// Receives up to 128 KiB without blocking, as unread bytes. Returns `timed_out` if more may come.
  Arrival receive_at_once();
  bool has_unread() const { return position_ < buffer_.size(); }
  std::string_view unread() const { return std::string_view(buffer_).substr(position_); }
  void forget_unread() { position_ = buffer_.size(); }
  /// Whether the client has closed its side and no request bytes are left.
  bool is_abandoned() const { return !has_unread() && sockets::was_closed(socket_); }
  /// Returns when the last received byte reached this system, or the end of the last exchange if that is later.
  std::chrono::steady_clock::time_point arrival() const { return std::max(arrived_, last_exchange_ended_); }

  /// Returns a lower bound: the client sent the current request no earlier than this.
  std::chrono::steady_clock::time_point request_sent_from() const { return request_sent_from_; }
  /// Returns the exchange whose stream was unfinished when the current request began to arrive, or 0 if none.
  std::uint64_t overtaken_stream() const;

  // Writing. The observer of the current exchange is notified.
  /// `stream` is the id of the exchange if its answer is a stream, otherwise 0.
  void begin_exchange(ExchangeObserver& observer, Timeline& timeline, std::uint64_t stream);
  void end_exchange();
  std::optional<std::size_t> write_some(std::string_view bytes) override;
  WaitState check_wait(Pending& pending, OnClientClosed on_client_closed) override;
  WaitState check_room() override;
  WaitState check_delivery() override;
  WaitState check_last_bytes() override;
  void last_bytes_follow() override;
  bool delivered() const override { return sockets::under_way(socket_) == 0; }
  bool has_left() const override { return sockets::unsent(socket_) == 0; }
  std::optional<bool> was_read() const override;
  void end(Ending ending) override { ending_ = ending; }
  void end_sending() override { sockets::shut_down_sending(socket_); }
  std::shared_ptr<Wake> waker() override { return wake_; }
  void tell_of_wakes(Wake* other) { wake_->tell(other); }
  void guard_expired() override;

  // Blocking calls.
  /// Blocks until the event that the last check_…() waits for, or until recheck_at().
  void wait_for_event();
  /// Writes all bytes. Returns false if the client left or does not read, or the gateway stops.
  bool write(std::string_view bytes);
  /// Waits until the client's kernel has received all written bytes. Returns false as write() does.
  bool drain();

  Ending ending() const { return ending_; }
  /// Returns why write(), drain() or a check_…() gave up.
  Failure failure() const;
  /// Whether the client sent FIN, but not before last_bytes_follow().
  bool closed_after_last_bytes() const { return peer_closed_ && !is_reset_ && !closed_before_last_bytes_; }
  /// Makes finish() drain the client's bytes: RST for unread ones could discard the answer. Implied until delivery.
  void linger() { linger_ = true; }
  /// Sends FIN or RST as ending() asks. Must be called before the exchange ends, because tests rely on that order.
  void send_ending();
  /// Ends the connection as ending() asks. Returns false if it must be called again, at recheck_at(). The socket stays
  /// open until the destructor, because the StopLine may use it.
  bool finish();
  bool is_finishing() const { return is_finishing_; }

  const std::shared_ptr<StopLine>& stop_line() const { return stop_line_; }
  /// Sets which test code this connection's thread runs; empty if none. Callable from any thread.
  void set_busy_with(std::string what);
  /// Sets it to a string literal, without a copy; null if none.
  void set_busy_with(const char* literal) { busy_literal_ = literal; }
  std::string busy_with() const;

 private:
  using Moment = std::chrono::steady_clock::time_point;

  struct Slow {
    Slow(std::size_t its_step, Duration its_gap, Timeline& its_timeline)
        : step(its_step), gap(its_gap), timeline(its_timeline) {}

    std::size_t step;
    Duration gap;
    Timeline& timeline;
    std::size_t allowance = 0;
    std::optional<ClockWait> turn;
  };
  struct HeadScan {
    Moment deadline;
    std::size_t size = 0;
    std::size_t line = 0;  // the length of the current line so far, with its line end
    char last = '\0';
  };

  /// Measures how long the client's kernel has accepted nothing. Observes the send queue, because it shrinks first.
  class StallTimer {
   public:
    explicit StallTimer(Socket socket) : socket_(socket), queued_(sockets::unacknowledged(socket)) {}
    Duration length();

   private:
    Socket socket_;
    std::size_t queued_;
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  };
  struct Stream {
    std::uint64_t exchange = 0;
    std::chrono::steady_clock::time_point began{};
    std::chrono::steady_clock::time_point last_bytes{};  // the time just before the last bytes are written
  };

  struct Wait {
    enum class For {
      bytes,
      room,
      delivery,
      /// What the exchange waits for: a clock, a gate or the client's reads.
      exchange,
    };

    explicit Wait(For its_what) : what(its_what) {}
    sockets::Interest interest() const;

    For what;
    Moment until{};                                  // the latest time to look again
    bool is_for_client = false;                      // whether the wait ends when the client closes its side
    bool is_woken = false;                           // whether another thread may end the wait
    std::optional<Moment> times_out = {};            // only for bytes
    std::optional<StallTimer> standstill = {};       // only for room and delivery
    std::optional<Acknowledgement> acknowledgement;  // only for delivery
  };

  struct UntrustedBudget {
    std::chrono::steady_clock::time_point end;
    std::size_t bytes;  // the rest of its byte budget
  };

  /// Receives available bytes. Returns `timed_out` after `patience` without any.
  std::optional<Arrival> receive(Duration patience);
  bool has_request();
  std::chrono::steady_clock::time_point within_untrusted_time(std::chrono::steady_clock::time_point moment) const;
  std::optional<Arrival> more();
  /// Whether the gap of slow reading is over.
  bool read_gap_is_over();
  Duration body_patience() const;
  std::size_t takeable() const;
  void take(std::size_t size, std::string& out);
  std::chrono::steady_clock::time_point idle_until() const;
  WaitState check_pending(Pending& pending, OnClientClosed on_client_closed);
  bool waits_for(Wait::For what) const { return wait_ && wait_->what == what; }
  /// Continues the wait for `what`, or begins it.
  Wait& begin_wait(Wait::For what);
  /// Sets the latest time to check the wait again. Returns `not_yet`.
  WaitState not_yet(std::optional<Duration> recheck_in);
  /// Returns the changes of the socket since the last call.
  sockets::Readiness socket_changes();
  template <class Looking>
  bool wait_while(const Looking& looking);
  void note_peer_closed(bool is_reset);
  void note_disconnected();
  ExchangeObserver::Leaving leaving() const;
  /// Drains what the client sends. Returns true when done.
  bool drain_input();

  Socket socket_;
  std::uint64_t id_;
  ConnectionLimits limits_;
  std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
  std::shared_ptr<DescriptorWake> wake_ = share<DescriptorWake>();
  bool maybe_readable_ = true;  // whether there may be bytes to receive
  bool peer_hung_up_ = false;
  std::optional<std::chrono::steady_clock::time_point> idle_since_;
  std::string buffer_;
  std::size_t position_ = 0;
  std::chrono::steady_clock::time_point arrived_ = opened_;
  std::chrono::steady_clock::time_point request_began_ = opened_;  // when the request's first byte arrived
  // Lower bounds: the client sent its newest byte and the request's first no earlier. opened_ if the system has none.
  std::chrono::steady_clock::time_point sent_from_ = opened_;
  std::chrono::steady_clock::time_point request_sent_from_ = opened_;
  std::chrono::steady_clock::time_point last_exchange_ended_{};
  std::optional<Stream> stream_;
  std::optional<UntrustedBudget> untrusted_;
  Ending ending_ = Ending::keep_alive;
  bool linger_ = false;
  bool is_finishing_ = false;
  std::optional<Moment> lingers_until_;
  bool ending_is_sent_ = false;
  std::optional<HeadScan> head_scan_;
  std::optional<Slow> slow_;
  std::optional<std::chrono::steady_clock::time_point> body_began_;  // unset while reading slowly
  std::size_t body_received_ = 0;
  bool guard_expired_ = false;  // whether a guard expired before the exchange began
  bool peer_closed_ = false;
  bool is_reset_ = false;
  TimePoint last_write_{};
  bool stalled_ = false;
  bool last_bytes_follow_ = false;
  bool closed_before_last_bytes_ = false;
  std::optional<Wait> wait_;
  std::size_t moved_at_once_ = 0;  // bytes received and written since the last wait
  bool may_have_changed_ = true;   // the socket may have changed since socket_changes()
  std::optional<sockets::Readiness> seen_;
  ExchangeObserver* observer_ = nullptr;
  Timeline* timeline_ = nullptr;
  std::shared_ptr<StopLine> stop_line_;
  std::atomic<const char*> busy_literal_{nullptr};
  mutable std::mutex busy_mutex_;
  std::string busy_with_;
};

}  // namespace mock_gateway::detail
