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

/// Connections that cannot be served, until they are closed. Each is answered when its request is complete or overdue.
/// Only the accepting thread uses this object, between two accepts, and never blocks for its connections.
class TurnedAway {
 public:
  /// Reads the available part of a request without waiting, and answers it. Throws nothing.
  using Answer = std::function<void(Connection& connection, const std::string& why)>;

  explicit TurnedAway(Answer answer) : answer_(std::move(answer)) {}

  /// Adds a connection. If there are already eight, the oldest is answered and closed at once. Throws std::bad_alloc.
  void add(std::unique_ptr<Connection> connection, std::string why);
  bool empty() const { return connections_.empty(); }
  /// Answers connections whose request is complete or overdue; closes answered ones at the client's FIN or timeout.
  void attend();
  /// Closes one answered connection. Returns false if none has been answered.
  bool close_answered();
  /// Answers the connections without an answer, then closes all.
  void close_all();

  void watch(std::vector<sockets::Watched>& descriptors) const;
  Duration due() const;

 private:
  struct RefusedConnection {
    std::unique_ptr<Connection> connection;
    std::string why;
    std::chrono::steady_clock::time_point since;  // when it was added or answered
    bool answered = false;
  };

  static constexpr Duration longest_patience = std::chrono::milliseconds{25};

  void answer(RefusedConnection& refused);
  Duration patience(const RefusedConnection& refused) const { return refused.answered ? longest_patience : patience_; }

  const Answer answer_;
  std::deque<RefusedConnection> connections_;
  std::chrono::steady_clock::time_point last_came_{};
  // The timeout of a request. Halved for each silent client, so that others wait less. A complete request raises it.
  Duration patience_ = longest_patience;
};

}  // namespace mock_gateway::detail
