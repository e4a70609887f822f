// Connections that cannot be served: how many are kept, and their timeouts.

#include "turned_away.hpp"

#include <algorithm>
#include <utility>

#include "request_reader.hpp"

namespace mock_gateway::detail {

namespace turned_away {

inline constexpr std::size_t most_guests = 8;
/// After this time without another connection, the patience is reset.
inline constexpr Duration quiet = std::chrono::seconds{1};

}  // namespace turned_away

void TurnedAway::add(std::unique_ptr<Connection> connection, std::string why) {
  const auto now = std::chrono::steady_clock::now();
  if (now - std::exchange(last_came_, now) > turned_away::quiet) patience_ = longest_patience;
  if (guests_.size() == turned_away::most_guests && !close_answered()) {
    answer(guests_.front());
    guests_.pop_front();
  }
  guests_.push_back({std::move(connection), std::move(why), now});
}

void TurnedAway::attend() {
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    Connection& connection = *guest->connection;
    Connection::Arrival arrival = connection.receive_at_once();
    const bool late = std::chrono::steady_clock::now() - guest->since >= patience(*guest);
    if (!guest->answered) {
      const bool whole = is_whole(connection.unread(), connection.limits());
      if (whole) {
        patience_ = std::min<Duration>(2 * patience_ + std::chrono::milliseconds{1}, longest_patience);
      } else if (late) {
        patience_ /= 2;
      }
      if (!whole && !late && arrival == Connection::Arrival::timed_out) {
        ++guest;
        continue;
      }
      answer(*guest);
      arrival = connection.receive_at_once();
    } else if (late) {
      arrival = Connection::Arrival::peer_closed;
    }
    if (arrival == Connection::Arrival::timed_out) {
      connection.forget_unread();
      ++guest;
    } else {
      guest = guests_.erase(guest);
    }
  }
}

void TurnedAway::answer(Guest& guest) {
  answer_(*guest.connection, guest.why);
  guest.connection->send_ending();
  guest.answered = true;
  guest.since = std::chrono::steady_clock::now();
}

bool TurnedAway::close_answered() {
  const auto first = std::find_if(guests_.begin(), guests_.end(), [](const Guest& guest) { return guest.answered; });
  if (first == guests_.end()) return false;
  guests_.erase(first);
  return true;
}

void TurnedAway::close_all() {
  for (Guest& guest : guests_)
    if (!guest.answered) answer(guest);
  guests_.clear();
}

void TurnedAway::watch(std::vector<sockets::Watched>& descriptors) const {
  for (const Guest& guest : guests_) descriptors.push_back({guest.connection->descriptor()});
}

Duration TurnedAway::due() const {
  Duration due = longest_patience;
  const auto now = std::chrono::steady_clock::now();
  for (const Guest& guest : guests_)
    due =
        std::min(due, std::max(Duration{0}, patience(guest) - std::chrono::duration_cast<Duration>(now - guest.since)));
  return due;
}

}  // namespace mock_gateway::detail
