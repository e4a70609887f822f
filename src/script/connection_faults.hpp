#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../core/source_location.hpp"
#include "../model/connection_fault.hpp"

namespace mock_gateway::detail {

/// A FIFO queue of connection faults. The first connection that reaches the moment of the first fault takes it. If it
/// cannot be taken, the fault of every connection applies. Thread-safe.
class ConnectionFaults {
 public:
  struct Queued {
    ConnectionFault fault;
    std::size_t times;
    std::size_t left;
    SourceLocation where;
    std::uint64_t serial;
    std::uint64_t owner = 0;  // its script document; 0: none
  };

  /// Returns the serial number of the queued fault. Throws GatewayError if `times` is 0.
  std::uint64_t add(const ConnectionFault& fault, std::size_t times, SourceLocation where, std::uint64_t owner = 0);
  /// Updates the source locations of faults by serial number. Ignores faults that are no longer queued.
  void set_places(const std::map<std::uint64_t, SourceLocation>& places);
  /// Applies the fault to every connection that reaches its moment. Replaces an earlier such fault of the same moment.
  void add_to_every(const ConnectionFault& fault, std::uint64_t owner = 0);
  void clear();
  void clear_of(std::uint64_t owner);

  std::optional<Queued> take_on_accept();
  /// `reused`: whether the connection has had an earlier request.
  std::optional<ConnectionFault> take_on_request(bool reused);
  /// Returns the fault of the newest take_on_accept to the front of the queue, because it had no effect. Does nothing
  /// if the fault was cleared since, or applies to every connection.
  void give_back(Queued taken);
  /// Returns the faults still queued, oldest first.
  std::vector<Queued> left() const;
  /// Returns the faults that apply to every connection.
  std::vector<Queued> every() const;
  /// Counts additions and removals of faults.
  std::uint64_t changes() const { return changes_; }

 private:
  /// `lend`: whether give_back() may follow.
  template <class Fits>
  std::optional<Queued> take(const Fits& fits, bool lend);

  mutable std::mutex mutex_;
  std::deque<Queued> queue_;
  std::vector<Queued> every_;  // at most one per moment
  std::uint64_t serial_ = 0;
  std::uint64_t lent_ = 0;     // the serial number of the fault that give_back() accepts
  std::uint64_t lent_of_ = 0;  // its owner
  std::atomic<bool> any_{false};
  std::atomic<std::uint64_t> changes_{0};
};

}  // namespace mock_gateway::detail
