// When a timeout or the trial of a connection strikes; noticing that a client left; waiting for its last reads; FIN
// or RST. How long: options.

#include "connection.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "../core/relief.hpp"
#include "../core/shared.hpp"
#include "../core/timeline.hpp"
#include "../evidence/record.hpp"
#include "workers.hpp"

namespace mock_gateway::detail {

namespace connection {

bool may_stand_in_a_head(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return byte == '\t' || byte == '\r' || byte == '\n' || (code >= 0x20 && code != 0x7f);
}

Duration left_until(std::chrono::steady_clock::time_point deadline) {
  return std::chrono::duration_cast<Duration>(deadline - std::chrono::steady_clock::now());
}

/// How many bytes of a body may take a second.
inline constexpr std::size_t slowest_body = 10240;
/// When so many bytes have been taken from the buffer, they are removed. Not at every few: the rest is moved.
inline constexpr std::size_t most_taken = 16384;
/// A request or an answer of more bytes is worth a thread of its own: others would wait for long.
inline constexpr std::size_t takes_long = 131072;
/// How much is taken of a client that nobody is reading from yet.
inline constexpr std::size_t most_unread = 131072;

}  // namespace connection

/// A client that reads slowly makes no room for a new write for a long time, because the system waits until a third of
/// the send queue is free. The queue shrinks before that.
class Connection::Standstill {
 public:
  explicit Standstill(int socket) : socket_(socket), queued_(sockets::unacknowledged(socket)) {}

  Duration length() {
    const std::size_t queued = sockets::unacknowledged(socket_);
    const auto now = std::chrono::steady_clock::now();
    if (queued < queued_) since_ = now;
    queued_ = queued;
    return now - since_;
  }

 private:
  int socket_;
  std::size_t queued_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

DescriptorWake::~DescriptorWake() { sockets::close_wake(pair_); }

void DescriptorWake::wake() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pair_.writing >= 0) sockets::signal_wake(pair_);
}

int DescriptorWake::prepare() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pair_.reading < 0) pair_ = sockets::open_wake();
  return pair_.reading;
}

void DescriptorWake::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pair_.reading >= 0) sockets::clear_wake(pair_);
}

void StopLine::stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
  if (socket_ >= 0) sockets::shut_down(socket_);
}

bool StopLine::waits_for_client() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // In this order: a thread that has taken what came has ended its wait before.
  return socket_ >= 0 && sockets::received(socket_) == 0 && waiting_;
}

void StopLine::cut() {
  const std::lock_guard<std::mutex> lock(mutex_);
  socket_ = -1;
}

Connection::Connection(int socket, std::uint64_t id, const ConnectionLimits& limits)
    : socket_(socket), id_(id), limits_(limits), stop_line_(share<StopLine>(socket)) {
  for (Duration* limit : {&limits_.read_timeout, &limits_.write_timeout, &limits_.idle_timeout, &limits_.head_timeout,
                          &limits_.body_timeout})
    *limit = bounded(*limit);
  if (limits_.trial) trial_ = Trial{opened_ + limits_.trial->time, limits_.trial->bytes};
  sockets::adopt(socket_);
}

Connection::~Connection() {
  stop_line_->cut();
  if (ending_ == Ending::reset || stalled_) {
    sockets::reset(socket_);
  } else {
    sockets::discard_received(socket_);
    sockets::shut_down(socket_);  // a forked child may hold a copy of the descriptor
    sockets::close(socket_);
  }
}

std::chrono::steady_clock::time_point Connection::within_trial(std::chrono::steady_clock::time_point moment) const {
  return trial_ ? std::min(moment, trial_->end) : moment;
}

Connection::Arrival Connection::fill(Duration timeout) {
  // A client that sends ahead of its answers must not make the buffer grow for as long as it does.
  if (position_ == buffer_.size() || position_ >= connection::most_taken) {
    buffer_.erase(0, position_);
    position_ = 0;
  }
  if (trial_ && trial_->bytes == 0) return Arrival::spent;
  auto before = std::chrono::steady_clock::now();
  const auto deadline = within_trial(before + timeout);
  for (;; before = std::chrono::steady_clock::now()) {
    if (stop_line_->is_stopped()) return Arrival::broken;
    char bytes[16384];
    std::size_t count = 0;
    std::optional<Duration> age;
    std::size_t wanted = slow_ ? std::min(sizeof bytes, slow_->allowance - takeable()) : sizeof bytes;
    if (trial_) wanted = std::min(wanted, trial_->bytes);
    switch (sockets::receive(socket_, bytes, wanted, count, age)) {
      case sockets::Transfer::done:
        if (count == 0) return stop_line_->is_stopped() ? Arrival::broken : Arrival::peer_closed;
        may_have_come_ = is_last_to_come_ || count == wanted;
        using Steady = std::chrono::steady_clock::duration;
        arrived_ = std::chrono::steady_clock::now() - std::chrono::duration_cast<Steady>(age.value_or(Duration{0}));
        sent_from_ = age ? std::max(opened_, before - std::chrono::duration_cast<Steady>(*age)) : opened_;
        buffer_.append(bytes, count);
        body_received_ += count;
        if (body_received_ > connection::takes_long) call_relief();
        if (trial_) trial_->bytes -= count;
        return Arrival::arrived;
      case sockets::Transfer::reset:
      case sockets::Transfer::failed: return Arrival::broken;
      case sockets::Transfer::would_block: break;
    }
    const auto left = std::chrono::duration_cast<Duration>(deadline - std::chrono::steady_clock::now());
    if (left <= Duration{0}) return Arrival::timed_out;
    if (slow_) slow_->timeline->settle();
    wait_for_client(sockets::Interest::readable, left);
  }
}

sockets::Readiness Connection::wait_for_client(sockets::Interest interest, Duration timeout) {
  if (timeout > Duration{0}) call_relief();
  stop_line_->set_waiting(true);
  const sockets::Readiness readiness = sockets::poll(socket_, interest, false, -1, timeout);
  stop_line_->set_waiting(false);
  return readiness;
}

Connection::Arrival Connection::receive_at_once() {
  while (buffer_.size() - position_ < connection::most_unread) {
    const Arrival arrival = fill(Duration{0});
    if (arrival != Arrival::arrived) return arrival;
  }
  return Arrival::timed_out;
}

void Connection::read_slowly(std::size_t step, Duration gap, Timeline& timeline) {
  slow_ = Slow{step, gap, &timeline};
  sockets::stop_buffer_growth(socket_);
}

std::size_t Connection::takeable() const {
  const std::size_t received = buffer_.size() - position_;
  return slow_ ? std::min(received, slow_->allowance) : received;
}

void Connection::take(std::size_t size, std::string& out) {
  out.append(buffer_, position_, size);
  position_ += size;
  if (slow_) slow_->allowance -= size;
}

Connection::Arrival Connection::more() {
  const std::size_t before = takeable();
  if (slow_ && before == slow_->allowance) {
    wait_for_turn();
    if (takeable() > before) return Arrival::arrived;
  }
  return fill(body_patience());
}

void Connection::begin_body() {
  body_began_.reset();
  if (!slow_) body_began_ = std::chrono::steady_clock::now();
  body_received_ = buffer_.size() - position_;
}

Duration Connection::body_patience() const {
  if (!body_began_) return limits_.read_timeout;
  Duration allowed = limits_.body_timeout;
  if (limits_.body_grows) allowed += std::chrono::milliseconds(body_received_ * 1000 / connection::slowest_body);
  return std::min(limits_.read_timeout, connection::left_until(*body_began_ + allowed));
}

void Connection::wait_for_turn() {
  ClockWait pending(*slow_->timeline, later(slow_->timeline->now(), slow_->gap), "a slow body");
  const bool go_on = wait(pending, OnClientClosed::give_up);
  if (pending.guard_expired()) {
    slow_->timeline->spend_guard();
    guard_expired();
  }
  if (!go_on) return slow_.reset();
  const std::size_t room = std::numeric_limits<std::size_t>::max() - slow_->allowance;
  slow_->allowance += std::min(slow_->step, room);
}

bool Connection::has_request() {
  // Empty lines before a request line are to be ignored (RFC 9112, 2.2).
  while (has_unread() && (buffer_[position_] == '\r' || buffer_[position_] == '\n')) ++position_;
  if (!has_unread()) return false;
  request_began_ = arrived_;
  request_sent_from_ = sent_from_;
  idle_since_.reset();
  body_received_ = 0;
  return true;
}

Connection::Arrival Connection::wait_for_request() {
  const auto deadline = std::chrono::steady_clock::now() + limits_.idle_timeout;
  while (!has_request()) {
    const Arrival arrival = fill(connection::left_until(deadline));
    if (arrival != Arrival::arrived) return arrival;
  }
  return Arrival::arrived;
}

std::optional<Connection::Arrival> Connection::look_for_request() {
  if (!idle_since_) idle_since_ = std::chrono::steady_clock::now();
  while (!has_request()) {
    if (!may_have_come_ && !stop_line_->is_stopped()) {
      if (std::chrono::steady_clock::now() < idle_until()) return std::nullopt;
      return Arrival::timed_out;
    }
    may_have_come_ = false;
    const Arrival arrival = fill(Duration{0});
    if (arrival != Arrival::arrived && arrival != Arrival::timed_out) return arrival;
  }
  return Arrival::arrived;
}

std::chrono::steady_clock::time_point Connection::idle_until() const {
  const auto limit = std::chrono::duration_cast<std::chrono::steady_clock::duration>(limits_.idle_timeout);
  return within_trial(idle_since_.value_or(opened_) + limit);
}

void Connection::expect_bytes(bool to_the_end) {
  may_have_come_ = true;
  is_last_to_come_ = to_the_end;
}

Connection::Arrival Connection::read_head(std::string& head) {
  const auto deadline = std::chrono::steady_clock::now() + limits_.head_timeout;
  char last = '\0';
  std::size_t line = 0;  // bytes of it so far, its end included
  for (std::size_t size = 0;;) {
    for (; position_ + size < buffer_.size(); ++size) {
      if (size == limits_.max_head) {
        head = buffer_.substr(position_, size);
        return Arrival::too_large;
      }
      const char byte = buffer_[position_ + size];
      if ((byte == '\n') != (last == '\r') || !connection::may_stand_in_a_head(byte)) {
        head = buffer_.substr(position_, size + 1);
        return Arrival::malformed;
      }
      last = byte;
      ++line;
      if (byte != '\n') continue;
      if (line == 2) {
        head = buffer_.substr(position_, size + 1);
        position_ += size + 1;
        return Arrival::arrived;
      }
      line = 0;
    }
    const Arrival arrival = fill(std::min(limits_.read_timeout, connection::left_until(deadline)));
    if (arrival != Arrival::arrived) {
      head = buffer_.substr(position_);
      return arrival;
    }
  }
}

Connection::Arrival Connection::read_exactly(std::size_t size, std::string& out) {
  for (;;) {
    const std::size_t taken = std::min(size, takeable());
    take(taken, out);
    size -= taken;
    if (size == 0) return Arrival::arrived;
    const Arrival arrival = more();
    if (arrival != Arrival::arrived) return arrival;
  }
}

Connection::Arrival Connection::read_line(std::size_t max, std::string& out) {
  for (std::size_t searched = 0;;) {
    const std::string_view received = std::string_view(buffer_).substr(position_, takeable());
    const std::size_t end = received.find('\n', searched);
    const std::size_t size = end == std::string_view::npos ? received.size() : end + 1;
    if (size > max) return Arrival::too_large;
    if (end != std::string_view::npos) {
      take(size, out);
      return Arrival::arrived;
    }
    searched = received.size();
    const Arrival arrival = more();
    if (arrival != Arrival::arrived) return arrival;
  }
}

std::uint64_t Connection::overtaken_stream() const {
  // A stream that had ended may have been read to its end before the thread that sent it went on.
  constexpr Duration tolerance = std::chrono::milliseconds{1};
  if (!stream_) return 0;
  const bool overtaken = request_began_ < stream_->began || request_began_ + tolerance < stream_->last_bytes;
  return overtaken ? stream_->exchange : 0;
}

void Connection::begin_exchange(ExchangeRecord& record, Timeline& timeline, bool streamed) {
  record_ = &record;
  timeline_ = &timeline;
  stream_.reset();
  if (streamed) stream_ = Stream{record.id, std::chrono::steady_clock::now()};
  last_bytes_follow_ = closed_before_last_bytes_ = false;
  last_write_ = {};
  is_lean_ = false;
  if (peer_closed_) record.mark_client_closed(departure(how_));
  if (std::exchange(guard_expired_, false)) record.mark_guard_expired();
}

void Connection::end_exchange() {
  record_ = nullptr;
  timeline_ = nullptr;
  last_exchange_ended_ = std::chrono::steady_clock::now();
}

std::optional<std::size_t> Connection::write_some(std::string_view bytes) {
  if (stop_line_->is_stopped()) return std::nullopt;
  const bool begins = record_ && record_->bytes == 0;
  const TimePoint now = begins ? timeline_->now() : TimePoint{};
  const auto real_now = begins ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
  std::size_t count = 0;
  const sockets::Transfer transfer = sockets::send(socket_, bytes.data(), bytes.size(), count);
  if (transfer == sockets::Transfer::reset || transfer == sockets::Transfer::failed) {
    note_peer_closed(transfer == sockets::Transfer::reset ? Departure::How::reset : Departure::How::closed);
    return std::nullopt;
  }
  if (record_ && count > 0) {
    last_write_ = timeline_->now();
    if (record_->bytes.fetch_add(count, std::memory_order_relaxed) > connection::takes_long) call_relief();
    if (begins) record_->mark_first_byte(now, real_now);
  }
  return count;
}

bool Connection::wait_until_writable() {
  if (timeline_) timeline_->settle();
  const Duration step =
      std::clamp<Duration>(limits_.write_timeout / 16, std::chrono::milliseconds{1}, std::chrono::seconds{1});
  Standstill standstill(socket_);
  for (;;) {
    Duration left = limits_.write_timeout - standstill.length();
    if (trial_) left = std::min(left, connection::left_until(trial_->end));
    if (left <= Duration{0}) {
      stalled_ = true;
      return false;
    }
    const sockets::Readiness readiness = wait_for_client(sockets::Interest::writable, std::min(left, step));
    if (readiness.ready || readiness.disconnected) return true;
  }
}

bool Connection::drain() {
  // Longer than any system that has received bytes takes to say so: then the client does not read.
  constexpr Duration longest_acknowledgement = std::chrono::milliseconds{200};
  const auto began = std::chrono::steady_clock::now();
  if (sockets::under_way(socket_) > 0) call_relief();
  Standstill standstill(socket_);
  for (Duration pause = std::chrono::microseconds{20}; sockets::under_way(socket_) > 0;
       pause = std::min<Duration>(2 * pause, std::chrono::milliseconds{1})) {
    const sockets::Readiness readiness = sockets::poll(socket_, sockets::Interest::nothing, false, -1, pause);
    if (stop_line_->is_stopped()) return false;
    if (readiness.disconnected) {
      note_disconnected();
      return false;
    }
    if (standstill.length() >= limits_.write_timeout) {
      stalled_ = true;
      return false;
    }
    const auto spent = std::chrono::steady_clock::now() - began;
    if (timeline_ && spent >= longest_acknowledgement) timeline_->settle();
  }
  return !stop_line_->is_stopped();
}

std::optional<bool> Connection::was_read() const { return sockets::was_read_by_peer(socket_); }

void Connection::last_bytes_follow() {
  if (std::exchange(last_bytes_follow_, true)) return;
  if (stream_) stream_->last_bytes = std::chrono::steady_clock::now();
  if (!peer_closed_) {
    // A reply that never waited has not looked for the client yet.
    const sockets::Readiness readiness = sockets::poll(socket_, sockets::Interest::nothing, true, -1, Duration{0});
    if (readiness.disconnected)
      note_disconnected();
    else if (readiness.peer_closed)
      note_peer_closed(Departure::How::closed);
  }
  closed_before_last_bytes_ = peer_closed_;
}

bool Connection::took_last_bytes() {
  if (!closed_before_last_bytes_) return true;
  // A client that has gone answers with RST, one that still reads with an acknowledgement.
  return drain() && !sockets::poll(socket_, sockets::Interest::nothing, false, -1, Duration{0}).disconnected;
}

bool Connection::wait(Pending& pending, OnClientClosed on_client_closed) {
  const bool is_over = wait_until_over(pending, on_client_closed);
  if (record_) record_->mark_unattended(false);
  return is_over;
}

bool Connection::wait_until_over(Pending& pending, OnClientClosed on_client_closed) {
  if (stop_line_->is_stopped()) return false;
  if (pending.over()) return true;
  call_relief();
  const int wake = pending.needs_wake() ? wake_->prepare() : -1;
  for (;;) {
    // Asked after the descriptor is ready: a wake between the two would be lost otherwise.
    if (pending.over()) return true;
    if (stop_line_->is_stopped()) return false;
    if (peer_closed_ && on_client_closed == OnClientClosed::give_up) return false;
    if (peer_closed_ && record_) record_->mark_unattended(true);
    std::optional<Duration> timeout = pending.look_again_in();
    // No descriptor was left to be woken by: then the wait asks again by itself.
    if (wake < 0 && pending.needs_wake())
      timeout = std::min<Duration>(timeout.value_or(Duration::max()), std::chrono::milliseconds{5});
    // Once per exchange, and not for a short wait: to take the memory again costs some microseconds.
    if (record_ && !is_lean_ && (!timeout || *timeout >= std::chrono::milliseconds{100})) {
      is_lean_ = true;
      release_unused_stack();
    }
    const sockets::Readiness readiness =
        sockets::poll(socket_, sockets::Interest::nothing, !peer_closed_, wake, timeout);
    if (readiness.woken) wake_->clear();
    if (readiness.disconnected) {
      note_disconnected();
      return false;
    }
    if (readiness.peer_closed) note_peer_closed(Departure::How::closed);
  }
}

void Connection::guard_expired() {
  if (record_) {
    record_->mark_guard_expired();
  } else {
    guard_expired_ = true;
  }
}

void Connection::note_peer_closed(Departure::How how) {
  if (peer_closed_ || stop_line_->is_stopped()) return;
  peer_closed_ = true;
  how_ = how;
  if (record_) record_->mark_client_closed(departure(how));
}

void Connection::note_disconnected() {
  note_peer_closed(sockets::was_reset(socket_) ? Departure::How::reset : Departure::How::closed);
}

Departure Connection::departure(Departure::How how) const {
  Departure departure;
  departure.how = how;
  departure.events = record_->progress.events;
  departure.tokens = record_->progress.tokens;
  departure.bytes = record_->bytes;
  departure.delivered = departure.bytes - std::min(departure.bytes, sockets::under_way(socket_));
  departure.at = timeline_->now();
  if (last_write_ != TimePoint{}) departure.after_last_write = departure.at - last_write_;
  return departure;
}

Outcome::Kind Connection::failure() const {
  if (stalled_) return Outcome::Kind::client_stalled;
  return stop_line_->is_stopped() && !peer_closed_ ? Outcome::Kind::stopped : Outcome::Kind::client_left;
}

void Connection::send_ending() {
  if (ending_ == Ending::keep_alive || stalled_ || std::exchange(ending_is_sent_, true)) return;
  if (ending_ == Ending::reset) return sockets::send_reset(socket_);
  // With bytes of the client's unread, or still to come, closing would make the system send RST and throw away what of
  // the answer has not reached the client.
  linger_ = linger_ || !delivered();
  sockets::shut_down_sending(socket_);
}

void Connection::finish() {
  if (ending_ == Ending::keep_alive) ending_ = Ending::close;
  send_ending();
  if (ending_ == Ending::close && std::exchange(linger_, false) && !stalled_) take_off_what_still_comes();
}

void Connection::take_off_what_still_comes() {
  const auto deadline = within_trial(std::chrono::steady_clock::now() + limits_.read_timeout);
  slow_.reset();
  // Nobody keeps it: a client that is not trusted may send a whole body as well, and so gets to its answer.
  if (trial_) trial_->bytes = limits_.max_body;
  while (std::chrono::steady_clock::now() < deadline) {
    buffer_.clear();
    position_ = 0;
    const Arrival arrival = fill(std::min<Duration>(std::chrono::seconds{1}, limits_.read_timeout));
    if (arrival == Arrival::arrived || (arrival == Arrival::timed_out && !delivered())) continue;
    return;
  }
}

void Connection::set_busy_with(std::string what) {
  const std::lock_guard<std::mutex> lock(busy_mutex_);
  busy_with_ = std::move(what);
}

std::string Connection::busy_with() const {
  if (const char* const literal = busy_literal_) return literal;
  const std::lock_guard<std::mutex> lock(busy_mutex_);
  return busy_with_;
}

}  // namespace mock_gateway::detail
