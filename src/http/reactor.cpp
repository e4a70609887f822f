// The event loop of waiting connections: which thread leads, and how long it stays without connections.

#include "reactor.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

namespace mock_gateway::detail {

Reactor::~Reactor() {
  // Sessions remain if the system gave no thread to lead.
  for (Session* const session : sessions_) delete session;
  free(ended_);
}

void Reactor::free(Session* ended) {
  while (ended) delete std::exchange(ended, ended->next_ended);
}

std::size_t Reactor::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return watched_;
}

bool Reactor::attend() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is_led_) is_led_ = workers_.run([this] { lead_on(); });
  is_one_expected_ = is_led_;
  return is_led_;
}

void Reactor::add(std::unique_ptr<Connection> connection, Serve serve) {
  const Socket socket = connection->descriptor();
  Session* made = nullptr;
  try {
    made = &make_session(connection, serve);
  } catch (const std::bad_alloc&) {  // the connection is closed without an answer
    connection->end(Outlet::Ending::close);
    serve(*connection);
    return;
  }
  Session& session = *made;
  session.is_watched = true;
  bool leader_waits_for_too_long = false;
  bool is_watched = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++watched_;
    is_one_expected_ = false;
    leader_waits_for_too_long = start_timer(session);
    // Ownership ends first, because the leader may get an event at once.
    session.state = 0;
    is_watched = poller_.add(socket, &session);
    if (!is_watched) session.state = owned;
  }
  if (!is_watched) return give_up(session);
  if (leader_waits_for_too_long) poller_.wake();
}

bool Reactor::start(std::function<std::unique_ptr<Connection>()> open, Serve serve) {
  return workers_.run([this, open = std::move(open), serve = std::move(serve)]() mutable {
    std::unique_ptr<Connection> connection = open();
    if (!connection) return;
    this->serve(make_session(connection, serve));
    while (takes_lead()) lead();
  });
}

Reactor::Session& Reactor::make_session(std::unique_ptr<Connection>& connection, Serve& serve) {
  auto session = std::make_unique<Session>(*this);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    sessions_.insert(session.get());
  }
  session->connection = std::move(connection);
  session->connection->tell_of_wakes(session.get());
  session->serve = std::move(serve);
  return *session.release();
}

void Reactor::retire() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_retired_ = true;
  }
  poller_.wake();
}

void Reactor::hand_over() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  // If the system gives no thread, this one leads again when it returns.
  is_led_ = workers_.run([this] { lead_on(); });
}

void Reactor::lead_on() {
  do lead();
  while (takes_lead());
}

bool Reactor::takes_lead() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_led_ || watched_ == 0) return false;
  return is_led_ = true;
}

void Reactor::lead() {
  const ScopedHandoff handoff(*this);
  do {
    while (next_event_ < event_count_) {
      const Poller::Event event = events_[next_event_++];
      Session& session = *static_cast<Session*>(event.owner);
      const auto flags = static_cast<std::uint8_t>(owned | ready | (event.hung_up ? hung_up : 0));
      if ((session.state.fetch_or(flags) & owned) != 0) continue;  // the owner will see the flags
      serve(session);
      if (!handoff.is_pending()) return;
    }
    // Timers come after bytes of clients, so that timers that fire repeatedly cannot delay clients.
    const Moment now = std::chrono::steady_clock::now();
    while (Session* const due = take_due(now)) {
      serve(*due);
      if (!handoff.is_pending()) return;
    }
  } while (wait_for_events());
}

bool Reactor::wait_for_events() {
  constexpr std::chrono::seconds longest_vacancy{1};
  Session* ended = nullptr;
  std::optional<Moment> until;
  bool stays = true;  // whether this thread stays leader; if not, another may lead already
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended = std::exchange(ended_, nullptr);
    if (!timers_.empty()) until = timers_.begin()->first;
    if (watched_ == 0) {
      const Moment now = std::chrono::steady_clock::now();
      vacant_since_ = std::min(vacant_since_, now);
      until = vacant_since_ + longest_vacancy;
      stays = !is_retired_ && (is_one_expected_ || now < *until);
    }
    if (watched_ > 0 || !stays) vacant_since_ = Moment::max();
    is_led_ = is_waiting_ = stays;
    waits_until_ = until.value_or(Moment::max());
  }
  free(ended);
  if (!stays) return false;
  std::optional<Duration> timeout;
  if (until) timeout = *until - std::chrono::steady_clock::now();
  next_event_ = 0;
  event_count_ = poller_.wait(events_.data(), events_.size(), timeout);
  const std::lock_guard<std::mutex> lock(mutex_);  // synchronizes with the thread that added a session
  is_waiting_ = false;
  return true;
}

void Reactor::wake(Session& session) noexcept {
  // The owner checks for wakes before it gives up the session.
  if ((session.state.fetch_or(owned | woken) & owned) != 0) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    session.next_woken = std::exchange(woken_, &session);
  }
  poller_.wake();
}

Reactor::Session* Reactor::take_due(Moment now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (woken_) return std::exchange(woken_, woken_->next_woken);
  while (!timers_.empty() && timers_.begin()->first <= now) {
    Session& session = *timers_.begin()->second;
    clear_timer(session);
    // An owned session gets a timer when it is parked.
    if ((session.state.load() & owned) != 0) continue;
    if (session.recheck_at > now) {
      set_timer(session);
    } else if ((session.state.fetch_or(owned) & owned) == 0) {
      return &session;
    }
  }
  return nullptr;
}

void Reactor::serve(Session& session) {
  do {
    // Clears the flags before serving, so that later events set them again.
    const std::uint8_t state = session.state.fetch_and(static_cast<std::uint8_t>(~(ready | woken)));
    if ((state & ready) != 0) session.connection->expect_bytes((state & hung_up) != 0);
    if (!session.serve(*session.connection)) return end(session);
    if (!watch(session)) return give_up(session);
  } while (!park(session));
}

bool Reactor::watch(Session& session) {
  const Socket socket = session.connection->descriptor();
  if (session.is_watched) {
    const sockets::Wanted wanted = session.connection->wanted();
    poller_.watch_again(socket, &session, wanted, std::exchange(session.wanted, wanted));
    return true;
  }
  if (!poller_.add(socket, &session)) return false;
  session.is_watched = true;
  const std::lock_guard<std::mutex> lock(mutex_);
  ++watched_;
  return true;
}

bool Reactor::park(Session& session) {
  bool leader_waits_for_too_long = false;
  bool is_parked = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    leader_waits_for_too_long = start_timer(session);
    std::uint8_t state = session.state.load();
    while ((state & (ready | woken)) == 0 && !is_parked)
      is_parked = session.state.compare_exchange_weak(state, static_cast<std::uint8_t>(state & ~owned));
  }
  if (leader_waits_for_too_long) poller_.wake();
  return is_parked;
}

void Reactor::give_up(Session& session) {
  session.connection->end(Outlet::Ending::close);
  while (session.serve(*session.connection)) session.connection->wait_for_event();
  end(session);
}

void Reactor::end(Session& session) {
  if (session.is_watched) poller_.remove(session.connection->descriptor());
  session.connection->tell_of_wakes(nullptr);
  session.connection.reset();
  session.serve = nullptr;
  bool is_vacant = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    clear_timer(session);
    sessions_.erase(&session);
    session.next_ended = std::exchange(ended_, &session);
    if (session.is_watched) --watched_;
    is_vacant = is_waiting_ && watched_ == 0;
  }
  if (is_vacant) poller_.wake();
}

bool Reactor::start_timer(Session& session) {
  session.recheck_at = session.connection->recheck_at();
  if (session.has_timer && session.timer->first <= session.recheck_at) return false;
  clear_timer(session);
  set_timer(session);
  return is_waiting_ && session.recheck_at < waits_until_;
}

void Reactor::set_timer(Session& session) {
  if (session.recheck_at == Moment::max()) return;
  try {
    session.timer = timers_.emplace(session.recheck_at, &session);
    session.has_timer = true;
  } catch (const std::bad_alloc&) {  // without a timer, the session waits longer
  }
}

void Reactor::clear_timer(Session& session) {
  if (std::exchange(session.has_timer, false)) timers_.erase(session.timer);
}

}  // namespace mock_gateway::detail
