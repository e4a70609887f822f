#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connection.hpp"

namespace mock_gateway::detail {

/// Connections that cannot be served, from their acceptance to their end. Each is answered when its request has come,
/// or when it has had time to send one. Nobody waits for that: the accepting thread, which alone uses this, attends to
/// them between two acceptances.
class TurnedAway {
 public:
  /// Reads what has come of a request, without waiting for more, and answers it. Throws nothing.
  using Answer = std::function<void(Connection& connection, const std::string& why)>;

  explicit TurnedAway(Answer answer) : answer_(std::move(answer)) {}

  /// Takes one over. Where eight are here already, the first of them is answered and closed at once. Throws
  /// std::bad_alloc.
  void add(std::unique_ptr<Connection> connection, std::string why);
  bool empty() const { return guests_.empty(); }
  /// Answers those whose request is whole or late. Closes those that have had their answer, when they have closed their
  /// side or time is up.
  void attend();
  /// Closes one that has its answer. False when there is none.
  bool close_answered();
  /// Closes all; those that have no answer get one before.
  void close_all();

  /// The descriptors that tell whether there is something to attend to.
  void watch(std::vector<sockets::Watched>& descriptors) const;
  /// In what time the next one is late.
  Duration due() const;

 private:
  struct Guest {
    std::unique_ptr<Connection> connection;
    std::string why;
    std::chrono::steady_clock::time_point since;  // it came, or was answered
    bool answered = false;
  };

  static constexpr Duration longest_patience = std::chrono::milliseconds{25};

  void answer(Guest& guest);
  Duration patience(const Guest& guest) const { return guest.answered ? longest_patience : patience_; }

  const Answer answer_;
  std::deque<Guest> guests_;
  std::chrono::steady_clock::time_point last_came_{};
  // For a request. Each client that says nothing halves it, so that many of them take no time from others; one that
  // speaks makes it longer again.
  Duration patience_ = longest_patience;
};

}  // namespace mock_gateway::detail
