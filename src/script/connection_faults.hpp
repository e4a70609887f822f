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

/// A queue of faults. A connection takes the first one if it has reached the moment of this fault; otherwise the fault
/// for every connection applies. Thread-safe.
class ConnectionFaults {
 public:
  struct Queued {
    ConnectionFault fault;
    std::size_t times;
    std::size_t left;
    SourceLocation where;
    std::uint64_t serial;
    std::uint64_t owner = 0;  // the number of its script document; 0: none
  };

  /// Queues a fault and returns its serial number. Throws GatewayError if `times` is 0.
  std::uint64_t add(const ConnectionFault& fault, std::size_t times, SourceLocation where, std::uint64_t owner = 0);
  /// Ignores serial numbers of faults no longer queued.
  void set_places(const std::map<std::uint64_t, SourceLocation>& places);
  /// Strikes every connection at the fault's moment; replaces an earlier fault of that moment.
  void add_to_every(const ConnectionFault& fault, std::uint64_t owner = 0);
  void clear();
  void clear_of(std::uint64_t owner);

  std::optional<Queued> take_on_accept();
  /// `reused` tells whether this is not the connection's first request.
  std::optional<ConnectionFault> take_on_request(bool reused);
  /// Returns a fault of the latest take_on_accept() to the front of the queue, because it struck no connection. No
  /// effect if the queue was cleared since, or if the fault strikes every connection.
  void give_back(Queued taken);
  /// Returns the queued faults, oldest first.
  std::vector<Queued> left() const;
  std::vector<Queued> every() const;
  std::uint64_t changes() const { return changes_; }

 private:
  /// `lend` tells whether the caller may return the fault by give_back().
  template <class Fits>
  std::optional<Queued> take(const Fits& fits, bool lend);

  mutable std::mutex mutex_;
  std::deque<Queued> queue_;
  std::vector<Queued> every_;  // at most one per moment
  std::uint64_t serial_ = 0;
  std::uint64_t lent_ = 0;  // the serial number of the fault that may be given back
  std::uint64_t lent_of_ = 0;
  std::atomic<bool> any_{false};
  std::atomic<std::uint64_t> changes_{0};
};

}  // namespace mock_gateway::detail
