// Timeouts and limits of a connection; detecting that a client left; waiting for its last reads; FIN or RST.

#include "connection.hpp"

#include <limits>
#include <utility>

#include "../core/handoff.hpp"
#include "workers.hpp"

namespace mock_gateway::detail {

namespace connection {

bool is_no_control_character(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return code >= 0x20 && code != 0x7f;
}

bool may_stand_in_a_head(char byte) {
  return byte == '\t' || byte == '\r' || byte == '\n' || is_no_control_character(byte);
}

Duration left_until(std::chrono::steady_clock::time_point deadline) {
  return std::chrono::duration_cast<Duration>(deadline - std::chrono::steady_clock::now());
}

/// Each further second of body_timeout requires this many bytes.
inline constexpr std::size_t slowest_body = 10240;
/// Read bytes are removed from the buffer in steps of this size, because removal moves the rest.
inline constexpr std::size_t most_taken = 16384;
/// For a larger request or answer, the thread gives up the event loop, so that other connections do not wait.
inline constexpr std::size_t takes_long = 131072;
inline constexpr std::size_t most_unread = 131072;

}  // namespace connection

Duration Connection::StallTimer::length() {
  const std::size_t queued = sockets::unacknowledged(socket_);
  const auto now = std::chrono::steady_clock::now();
  if (queued < queued_) since_ = now;
  queued_ = queued;
  return now - since_;
}

Connection::Connection(Socket socket, std::uint64_t id, const ConnectionLimits& limits)
    : socket_(socket), id_(id), limits_(limits), stop_line_(share<StopLine>(socket, wake_)) {
  for (Duration* limit : {&limits_.read_timeout, &limits_.write_timeout, &limits_.idle_timeout, &limits_.head_timeout,
                          &limits_.body_timeout})
    *limit = bounded(*limit);
  if (limits_.untrusted) untrusted_ = UntrustedBudget{opened_ + limits_.untrusted->time, limits_.untrusted->bytes};
  sockets::adopt(socket_);
}

Connection::~Connection() {
  stop_line_->cut();
  if (ending_ == Ending::reset || stalled_) {
    sockets::reset(socket_);
  } else {
    sockets::discard_received(socket_);
    sockets::shut_down(socket_);  // in case a forked child holds a copy of the descriptor
    sockets::close(socket_);
  }
}

std::chrono::steady_clock::time_point Connection::within_untrusted_time(
    std::chrono::steady_clock::time_point moment) const {
  return untrusted_ ? std::min(moment, untrusted_->end) : moment;
}

std::optional<Connection::Arrival> Connection::receive(Duration patience) {
  // Keeps the buffer bounded if a client pipelines an unlimited number of requests.
  if (position_ == buffer_.size() || position_ >= connection::most_taken) {
    buffer_.erase(0, position_);
    position_ = 0;
  }
  if (untrusted_ && untrusted_->bytes == 0) return Arrival::spent;
  if (stop_line_->is_stopped()) return Arrival::broken;
  const auto before = std::chrono::steady_clock::now();
  const Moment until = waits_for(Wait::For::bytes) ? *wait_->times_out : within_untrusted_time(before + patience);
  wait_.reset();
  if (maybe_readable_ || before >= until) {
    char bytes[16384];
    std::size_t count = 0;
    std::optional<Duration> age;
    std::size_t wanted = slow_ ? std::min(sizeof bytes, slow_->allowance - takeable()) : sizeof bytes;
    if (untrusted_) wanted = std::min(wanted, untrusted_->bytes);
    switch (sockets::receive(socket_, bytes, wanted, count, age)) {
      case sockets::Transfer::done:
        if (count == 0) return stop_line_->is_stopped() ? Arrival::broken : Arrival::peer_closed;
        maybe_readable_ = peer_hung_up_ || count == wanted;
        using Steady = std::chrono::steady_clock::duration;
        arrived_ = std::chrono::steady_clock::now() - std::chrono::duration_cast<Steady>(age.value_or(Duration{0}));
        sent_from_ = age ? std::max(opened_, before - std::chrono::duration_cast<Steady>(*age)) : opened_;
        buffer_.append(bytes, count);
        body_received_ += count;
        moved_at_once_ += count;
        if (moved_at_once_ > connection::takes_long) hand_off_event_loop();
        if (untrusted_) untrusted_->bytes -= count;
        return Arrival::arrived;
      case sockets::Transfer::reset:
      case sockets::Transfer::failed: return Arrival::broken;
      case sockets::Transfer::would_block: maybe_readable_ = false;
    }
  }
  const Duration left = connection::left_until(until);
  if (left <= Duration{0}) return Arrival::timed_out;
  if (slow_) slow_->timeline.settle();
  begin_wait(Wait::For::bytes).times_out = until;
  not_yet(left);
  return std::nullopt;
}

Connection::Arrival Connection::receive_at_once() {
  maybe_readable_ = true;
  while (buffer_.size() - position_ < connection::most_unread) {
    const Arrival arrival = receive(Duration{0}).value_or(Arrival::timed_out);
    if (arrival != Arrival::arrived) return arrival;
  }
  return Arrival::timed_out;
}

void Connection::read_slowly(std::size_t step, Duration gap, Timeline& timeline) {
  slow_.emplace(step, gap, timeline);
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

std::optional<Connection::Arrival> Connection::more() {
  const std::size_t before = takeable();
  if (slow_ && before == slow_->allowance && !waits_for(Wait::For::bytes)) {
    if (!read_gap_is_over()) return std::nullopt;
    if (takeable() > before) return Arrival::arrived;
  }
  return receive(body_patience());
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

bool Connection::read_gap_is_over() {
  if (!slow_->turn) {
    slow_->turn.emplace(slow_->timeline, later(slow_->timeline.now(), slow_->gap), "a slow body");
    may_have_changed_ = true;
  }
  const WaitState state = check_wait(*slow_->turn, OnClientClosed::give_up);
  if (state == WaitState::not_yet) return false;
  if (slow_->turn->guard_expired()) {
    slow_->timeline.spend_guard();
    guard_expired();
  }
  if (state == WaitState::given_up) {
    slow_.reset();
    return true;
  }
  slow_->turn.reset();
  const std::size_t room = std::numeric_limits<std::size_t>::max() - slow_->allowance;
  slow_->allowance += std::min(slow_->step, room);
  return true;
}

bool Connection::has_request() {
  // Empty lines before a request line are ignored (RFC 9112, 2.2).
  while (has_unread() && (buffer_[position_] == '\r' || buffer_[position_] == '\n')) ++position_;
  if (!has_unread()) return false;
  request_began_ = arrived_;
  request_sent_from_ = sent_from_;
  idle_since_.reset();
  body_received_ = moved_at_once_ = 0;
  return true;
}

Connection::Arrival Connection::wait_for_request() {
  maybe_readable_ = true;
  std::optional<Arrival> arrival = check_request();
  for (; !arrival; arrival = check_request()) wait_for_event();
  return *arrival;
}

std::optional<Connection::Arrival> Connection::check_request() {
  if (!idle_since_) idle_since_ = std::chrono::steady_clock::now();
  while (!has_request()) {
    const std::optional<Arrival> arrival = receive(connection::left_until(*idle_since_ + limits_.idle_timeout));
    if (arrival != Arrival::arrived) return arrival;
  }
  return Arrival::arrived;
}

std::chrono::steady_clock::time_point Connection::recheck_at() const { return wait_ ? wait_->until : idle_until(); }

sockets::Wanted Connection::wanted() const {
  sockets::Wanted wanted;
  if (!wait_) return wanted;
  wanted.bytes = wait_->what == Wait::For::bytes;
  wanted.close = wanted.bytes || wait_->is_for_client;
  wanted.room = wait_->what == Wait::For::room;
  return wanted;
}

std::chrono::steady_clock::time_point Connection::idle_until() const {
  const auto limit = std::chrono::duration_cast<std::chrono::steady_clock::duration>(limits_.idle_timeout);
  return within_untrusted_time(idle_since_.value_or(opened_) + limit);
}

void Connection::expect_bytes(bool to_the_end) {
  maybe_readable_ = true;
  may_have_changed_ = true;
  peer_hung_up_ = to_the_end;
}

std::optional<Connection::Arrival> Connection::read_head(std::string& head) {
  if (!head_scan_) head_scan_ = HeadScan{std::chrono::steady_clock::now() + limits_.head_timeout};
  HeadScan& scan = *head_scan_;
  const auto end = [&](std::size_t size, Arrival arrival) {
    head = buffer_.substr(position_, size);
    head_scan_.reset();
    return arrival;
  };
  for (;;) {
    const std::string_view unread = std::string_view(buffer_).substr(position_, limits_.max_head);
    for (; position_ + scan.size < buffer_.size(); ++scan.size) {
      if (scan.last != '\r') {
        const std::string_view rest = unread.substr(scan.size);
        const auto plain_end = std::find_if_not(rest.begin(), rest.end(), connection::is_no_control_character);
        const auto plain = static_cast<std::size_t>(plain_end - rest.begin());
        scan.size += plain;
        scan.line += plain;
        if (plain > 0) scan.last = '\0';
        if (position_ + scan.size == buffer_.size()) break;
      }
      if (scan.size == limits_.max_head) return end(scan.size, Arrival::too_large);
      const char byte = unread[scan.size];
      if ((byte == '\n') != (scan.last == '\r') || !connection::may_stand_in_a_head(byte))
        return end(scan.size + 1, Arrival::malformed);
      scan.last = byte;
      ++scan.line;
      if (byte != '\n') continue;
      if (scan.line == 2) {
        const std::size_t size = scan.size + 1;
        end(size, Arrival::arrived);
        position_ += size;
        return Arrival::arrived;
      }
      scan.line = 0;
    }
    const std::optional<Arrival> arrival =
        receive(std::min(limits_.read_timeout, connection::left_until(scan.deadline)));
    if (!arrival) return std::nullopt;
    if (arrival != Arrival::arrived) return end(std::string::npos, *arrival);
  }
}

std::optional<Connection::Arrival> Connection::read_exactly(std::size_t& size, std::string& out) {
  for (;;) {
    const std::size_t taken = std::min(size, takeable());
    take(taken, out);
    size -= taken;
    if (size == 0) return Arrival::arrived;
    const std::optional<Arrival> arrival = more();
    if (arrival != Arrival::arrived) return arrival;
  }
}

std::optional<Connection::Arrival> Connection::read_line(std::size_t max, std::string& out) {
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
    const std::optional<Arrival> arrival = more();
    if (arrival != Arrival::arrived) return arrival;
  }
}

std::uint64_t Connection::overtaken_stream() const {
  // The client may have read the end of a stream before the sending thread noted it.
  constexpr Duration tolerance = std::chrono::milliseconds{1};
  if (!stream_) return 0;
  const bool overtaken = request_began_ < stream_->began || request_began_ + tolerance < stream_->last_bytes;
  return overtaken ? stream_->exchange : 0;
}

void Connection::begin_exchange(ExchangeObserver& observer, Timeline& timeline, std::uint64_t stream) {
  observer_ = &observer;
  timeline_ = &timeline;
  stream_.reset();
  if (stream != 0) stream_ = Stream{stream, std::chrono::steady_clock::now()};
  last_bytes_follow_ = closed_before_last_bytes_ = false;
  last_write_ = {};
  may_have_changed_ = true;
  moved_at_once_ = 0;
  if (peer_closed_) observer.mark_client_closed(leaving());
  if (std::exchange(guard_expired_, false)) observer.mark_guard_expired();
}

void Connection::end_exchange() {
  observer_ = nullptr;
  timeline_ = nullptr;
  last_exchange_ended_ = std::chrono::steady_clock::now();
}

std::optional<std::size_t> Connection::write_some(std::string_view bytes) {
  if (stop_line_->is_stopped()) return std::nullopt;
  const bool begins = observer_ && last_write_ == TimePoint{};
  const TimePoint now = begins ? timeline_->now() : TimePoint{};
  const auto real_now = begins ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
  std::size_t count = 0;
  const sockets::Transfer transfer = sockets::send(socket_, bytes.data(), bytes.size(), count);
  if (transfer == sockets::Transfer::reset || transfer == sockets::Transfer::failed) {
    note_peer_closed(transfer == sockets::Transfer::reset);
    return std::nullopt;
  }
  if (observer_ && count > 0) {
    last_write_ = timeline_->now();
    observer_->mark_written(count);
    moved_at_once_ += count;
    if (moved_at_once_ > connection::takes_long) hand_off_event_loop();
    if (begins) observer_->mark_first_byte(now, real_now);
  }
  return count;
}

sockets::Interest Connection::Wait::interest() const {
  return what == For::bytes  ? sockets::Interest::readable
         : what == For::room ? sockets::Interest::writable
                             : sockets::Interest::nothing;
}

Connection::Wait& Connection::begin_wait(Wait::For what) {
  if (!waits_for(what)) wait_.emplace(what);
  return *wait_;
}

Outlet::WaitState Connection::not_yet(std::optional<Duration> recheck_in) {
  using Steady = std::chrono::steady_clock;
  wait_->until = Steady::time_point::max();
  if (recheck_in) wait_->until = Steady::now() + std::chrono::duration_cast<Steady::duration>(bounded(*recheck_in));
  moved_at_once_ = 0;
  return WaitState::not_yet;
}

sockets::Readiness Connection::socket_changes() {
  if (seen_) return *std::exchange(seen_, std::nullopt);
  if (!std::exchange(may_have_changed_, false)) return {};
  return sockets::poll(socket_, sockets::Interest::nothing, !peer_closed_, Socket::none, Duration{0});
}

Outlet::WaitState Connection::check_wait(Pending& pending, OnClientClosed on_client_closed) {
  const WaitState state = check_pending(pending, on_client_closed);
  if (state != WaitState::not_yet && observer_) observer_->mark_unattended(false);
  return state;
}

Outlet::WaitState Connection::check_pending(Pending& pending, OnClientClosed on_client_closed) {
  if (pending.is_over()) return WaitState::done;
  if (stop_line_->is_stopped()) return WaitState::given_up;
  const sockets::Readiness changes = socket_changes();
  if (changes.disconnected) {
    note_disconnected();
    return WaitState::given_up;
  }
  if (changes.peer_closed) note_peer_closed(false);
  if (peer_closed_ &&
      (on_client_closed == OnClientClosed::give_up || (on_client_closed == OnClientClosed::leave && is_abandoned())))
    return WaitState::given_up;
  if (peer_closed_ && observer_) observer_->mark_unattended(true);
  if (observer_ && !has_unread()) {  // frees the buffer, because thousands may wait
    std::string().swap(buffer_);
    position_ = 0;
  }
  Wait& wait = begin_wait(Wait::For::exchange);
  wait.is_for_client = !peer_closed_;
  wait.is_woken = pending.needs_wake();
  return not_yet(pending.recheck_in());
}

Outlet::WaitState Connection::check_room() {
  Wait& wait = begin_wait(Wait::For::room);
  if (!wait.standstill) {
    if (timeline_) timeline_->settle();
    wait.standstill.emplace(socket_);
  }
  const sockets::Readiness readiness =
      sockets::poll(socket_, sockets::Interest::writable, false, Socket::none, Duration{0});
  Duration left = limits_.write_timeout - wait.standstill->length();
  if (untrusted_) left = std::min(left, connection::left_until(untrusted_->end));
  if (readiness.ready || readiness.disconnected || left <= Duration{0} || stop_line_->is_stopped()) {
    wait_.reset();
    if (left > Duration{0}) return WaitState::done;
    stalled_ = true;
    return WaitState::given_up;
  }
  const Duration step =
      std::clamp<Duration>(limits_.write_timeout / 16, std::chrono::milliseconds{1}, std::chrono::seconds{1});
  return not_yet(std::min(left, step));
}

Outlet::WaitState Connection::check_delivery() {
  // No system delays an acknowledgement longer. After this time, the client is not reading.
  constexpr Duration longest_acknowledgement = std::chrono::milliseconds{200};
  const bool is_delivered = delivered();
  if (is_delivered || stop_line_->is_stopped()) {
    wait_.reset();
    return stop_line_->is_stopped() ? WaitState::given_up : WaitState::done;
  }
  Wait& wait = begin_wait(Wait::For::delivery);
  if (!wait.standstill) {
    wait.standstill.emplace(socket_);
    wait.acknowledgement.emplace();
  }
  const sockets::Readiness changes = socket_changes();
  may_have_changed_ = may_have_changed_ || changes.peer_closed;  // the exchange's next wait must see it
  const Duration left = limits_.write_timeout - wait.standstill->length();
  if (changes.disconnected || left <= Duration{0}) {
    wait_.reset();
    if (changes.disconnected)
      note_disconnected();
    else
      stalled_ = true;
    return WaitState::given_up;
  }
  if (timeline_ && wait.acknowledgement->lasted() >= longest_acknowledgement) timeline_->settle();
  // A FIN that is already known would be reported again and again.
  wait.is_for_client = !peer_closed_ && !may_have_changed_;
  return not_yet(std::min(wait.acknowledgement->recheck_in(), left));
}

Outlet::WaitState Connection::check_last_bytes() {
  if (!closed_before_last_bytes_) return WaitState::done;
  if (const WaitState state = check_delivery(); state != WaitState::done) return state;
  // The client's kernel answers with RST if the client is gone, and with an acknowledgement if it reads.
  const bool has_gone =
      sockets::poll(socket_, sockets::Interest::nothing, false, Socket::none, Duration{0}).disconnected;
  return has_gone ? WaitState::given_up : WaitState::done;
}

std::optional<bool> Connection::was_read() const { return sockets::was_read_by_peer(socket_); }

void Connection::last_bytes_follow() {
  if (std::exchange(last_bytes_follow_, true)) return;
  if (stream_) stream_->last_bytes = std::chrono::steady_clock::now();
  if (!peer_closed_) {
    // A reply that never waited has not checked the client yet.
    const sockets::Readiness readiness =
        sockets::poll(socket_, sockets::Interest::nothing, true, Socket::none, Duration{0});
    if (readiness.disconnected)
      note_disconnected();
    else if (readiness.peer_closed)
      note_peer_closed(false);
  }
  closed_before_last_bytes_ = peer_closed_;
}

void Connection::wait_for_event() {
  const bool had_wake = wake_->is_prepared();
  const Socket wake = wait_->is_woken ? wake_->prepare() : Socket::none;
  // The caller checks again, because a wake before the descriptor existed was lost.
  if (wake != Socket::none && !had_wake) return;
  Duration timeout = std::max(Duration{0}, connection::left_until(wait_->until));
  // No descriptor was left for wakes, so poll for them.
  if (wake == Socket::none && wait_->is_woken) timeout = std::min<Duration>(timeout, std::chrono::milliseconds{5});
  hand_off_event_loop();
  seen_ = sockets::poll(socket_, wait_->interest(), wait_->is_for_client, wake, timeout);
  maybe_readable_ = true;
  if (seen_->woken) wake_->clear();
}

template <class Looking>
bool Connection::wait_while(const Looking& looking) {
  WaitState state = looking();
  for (; state == WaitState::not_yet; state = looking()) wait_for_event();
  seen_.reset();
  may_have_changed_ = true;
  return state == WaitState::done;
}

bool Connection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::optional<std::size_t> count = write_some(bytes);
    if (!count) return false;
    if (*count == 0 && !wait_while([this] { return check_room(); })) return false;
    bytes.remove_prefix(*count);
  }
  return true;
}

bool Connection::drain() {
  return wait_while([this] { return check_delivery(); });
}

void Connection::guard_expired() {
  if (observer_) {
    observer_->mark_guard_expired();
  } else {
    guard_expired_ = true;
  }
}

void Connection::note_peer_closed(bool is_reset) {
  if (peer_closed_ || stop_line_->is_stopped()) return;
  peer_closed_ = true;
  is_reset_ = is_reset;
  if (observer_) observer_->mark_client_closed(leaving());
}

void Connection::note_disconnected() { note_peer_closed(sockets::was_reset(socket_)); }

ExchangeObserver::Leaving Connection::leaving() const {
  ExchangeObserver::Leaving leaving{is_reset_, sockets::under_way(socket_), timeline_->now()};
  if (last_write_ != TimePoint{}) leaving.after_last_write = leaving.at - last_write_;
  return leaving;
}

Connection::Failure Connection::failure() const {
  if (stalled_) return Failure::client_stalled;
  return stop_line_->is_stopped() && !peer_closed_ ? Failure::stopped : Failure::client_left;
}

void Connection::send_ending() {
  if (ending_ == Ending::keep_alive || stalled_ || std::exchange(ending_is_sent_, true)) return;
  if (ending_ == Ending::reset) return sockets::send_reset(socket_);
  // With client bytes unread or still to come, close() would send RST and discard the undelivered answer.
  linger_ = linger_ || !delivered();
  sockets::shut_down_sending(socket_);
}

bool Connection::finish() {
  if (!std::exchange(is_finishing_, true)) {
    if (ending_ == Ending::keep_alive) ending_ = Ending::close;
    send_ending();
    if (ending_ != Ending::close || !linger_ || stalled_) return true;
    lingers_until_ = within_untrusted_time(std::chrono::steady_clock::now() + limits_.read_timeout);
    slow_.reset();
    wait_.reset();
    maybe_readable_ = true;
    // Drained bytes are not stored, so an untrusted client may still send a whole body and then read its answer.
    if (untrusted_) untrusted_->bytes = limits_.max_body;
  }
  return !lingers_until_ || drain_input();
}

bool Connection::drain_input() {
  while (std::chrono::steady_clock::now() < *lingers_until_) {
    buffer_.clear();
    position_ = 0;
    const std::optional<Arrival> arrival = receive(std::min<Duration>(std::chrono::seconds{1}, limits_.read_timeout));
    if (!arrival) return false;
    if (arrival == Arrival::arrived || (arrival == Arrival::timed_out && !delivered())) continue;
    break;
  }
  lingers_until_.reset();
  return true;
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
