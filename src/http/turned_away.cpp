// Connections that cannot be served: how many are kept, and their timeouts.

#include "turned_away.hpp"

#include <algorithm>
#include <utility>

#include "request_reader.hpp"

namespace mock_gateway::detail {

void TurnedAway::add(std::unique_ptr<Connection> connection, std::string why) {
  constexpr std::size_t most_waiting = 8;
  constexpr Duration quiet = std::chrono::seconds{1};  // resets patience_ if no connection came for so long
  const auto now = std::chrono::steady_clock::now();
  if (now - std::exchange(last_came_, now) > quiet) patience_ = longest_patience;
  if (connections_.size() == most_waiting && !close_answered()) {
    answer(connections_.front());
    connections_.pop_front();
  }
  connections_.push_back({std::move(connection), std::move(why), now});
}

void TurnedAway::attend() {
  for (auto refused = connections_.begin(); refused != connections_.end();) {
    Connection& connection = *refused->connection;
    Connection::Arrival arrival = connection.receive_at_once();
    const bool late = std::chrono::steady_clock::now() - refused->since >= patience(*refused);
    if (!refused->answered) {
      const bool whole = is_whole(connection.unread(), connection.limits());
      if (whole) {
        patience_ = std::min<Duration>(2 * patience_ + std::chrono::milliseconds{1}, longest_patience);
      } else if (late) {
        patience_ /= 2;
      }
      if (!whole && !late && arrival == Connection::Arrival::timed_out) {
        ++refused;
        continue;
      }
      answer(*refused);
      arrival = connection.receive_at_once();
    } else if (late) {
      arrival = Connection::Arrival::peer_closed;
    }
    if (arrival == Connection::Arrival::timed_out) {
      connection.forget_unread();
      ++refused;
    } else {
      refused = connections_.erase(refused);
    }
  }
}

void TurnedAway::answer(RefusedConnection& refused) {
  answer_(*refused.connection, refused.why);
  refused.connection->send_ending();
  refused.answered = true;
  refused.since = std::chrono::steady_clock::now();
}

bool TurnedAway::close_answered() {
  const auto first = std::find_if(connections_.begin(), connections_.end(),
                                  [](const RefusedConnection& refused) { return refused.answered; });
  if (first == connections_.end()) return false;
  connections_.erase(first);
  return true;
}

void TurnedAway::close_all() {
  for (RefusedConnection& refused : connections_)
    if (!refused.answered) answer(refused);
  connections_.clear();
}

void TurnedAway::watch(std::vector<sockets::Watched>& descriptors) const {
  for (const RefusedConnection& refused : connections_) descriptors.push_back({refused.connection->descriptor()});
}

Duration TurnedAway::due() const {
  Duration due = longest_patience;
  const auto now = std::chrono::steady_clock::now();
  for (const RefusedConnection& refused : connections_)
    due = std::min(
        due, std::max(Duration{0}, patience(refused) - std::chrono::duration_cast<Duration>(now - refused.since)));
  return due;
}

}  // namespace mock_gateway::detail
