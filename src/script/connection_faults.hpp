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

/// The faults that wait for a connection, first queued, first struck: only the first can be taken, by the first
/// connection that comes to its moment. Where it is not taken, the fault of every connection is. Thread-safe.
class ConnectionFaults {
 public:
  struct Queued {
    ConnectionFault fault;
    std::size_t times;
    std::size_t left;
    SourceLocation where;
    std::uint64_t serial;
    std::uint64_t owner = 0;  // the script document that it came from; 0: none
  };

  /// Returns the serial of what is queued. Throws GatewayError when `times` is 0.
  std::uint64_t add(const ConnectionFault& fault, std::size_t times, SourceLocation where, std::uint64_t owner = 0);
  /// Says where faults stand now, by their serials. Nothing happens with those that are queued no more.
  void set_places(const std::map<std::uint64_t, SourceLocation>& places);
  /// Strikes every connection that comes to the fault's moment, in place of an earlier one of that moment.
  void add_to_every(const ConnectionFault& fault, std::uint64_t owner = 0);
  void clear();
  void clear_of(std::uint64_t owner);

  std::optional<Queued> take_on_accept();
  /// `reused`: whether the request is not the connection's first.
  std::optional<ConnectionFault> take_on_request(bool reused);
  /// Puts what the newest take_on_accept gave back in front: it struck nobody. Nothing happens when it was cleared
  /// since, or when the fault strikes every connection anyway.
  void give_back(Queued taken);
  /// Those that no connection took, oldest first.
  std::vector<Queued> left() const;
  /// Those that strike every connection that comes to their moment.
  std::vector<Queued> every() const;
  /// How often faults were queued or cleared.
  std::uint64_t changes() const { return changes_; }

 private:
  /// `lend`: whether it may be given back.
  template <class Fits>
  std::optional<Queued> take(const Fits& fits, bool lend);

  mutable std::mutex mutex_;
  std::deque<Queued> queue_;
  std::vector<Queued> every_;  // at most one of a moment
  std::uint64_t serial_ = 0;
  std::uint64_t lent_ = 0;     // the serial of what may be given back
  std::uint64_t lent_of_ = 0;  // its owner
  std::atomic<bool> any_{false};
  std::atomic<std::uint64_t> changes_{0};
};

}  // namespace mock_gateway::detail
