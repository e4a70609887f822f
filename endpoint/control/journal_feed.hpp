#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "evidence/record.hpp"

namespace mock_gateway {
namespace endpoint {

/// What changes in a journal, in order, for clients that follow it. A change is an exchange that was recorded, or that
/// has ended; each has a revision, and an exchange has that of its last change. Exchanges that the journal holds no
/// more are forgotten. Any thread may call it. Looking takes time for what is new and what is under way, not for the
/// journal.
class JournalFeed {
 public:
  struct Change {
    std::uint64_t revision;
    std::shared_ptr<detail::ExchangeRecord> record;
  };

  /// Looks at the journal. Returns the revision of the newest change.
  std::uint64_t look(const detail::JournalState& journal);
  /// The first change after that revision, as of the last look; nothing when there is none.
  std::optional<Change> after(std::uint64_t revision);
  /// The newest exchange with an id below that, as of the last look; nothing when there is none.
  std::optional<Change> before(std::uint64_t id);
  /// The revision of an exchange; 0 when it is not known.
  std::uint64_t revision_of(std::uint64_t id) const;

 private:
  struct Known {
    std::uint64_t revision;
    std::weak_ptr<detail::ExchangeRecord> record;  // the journal says how long it is kept
  };

  // All expect the mutex to be held.
  void note(const std::shared_ptr<detail::ExchangeRecord>& record);
  void forget_before(std::uint64_t id);
  void sweep();
  /// Whether its exchange has changed since, or is forgotten.
  bool is_void(const std::pair<std::uint64_t, std::uint64_t>& change) const;

  mutable std::mutex mutex_;
  std::uint64_t number_ = 0;                                     // of the records that were seen
  std::uint64_t revision_ = 0;                                   // of the newest change
  std::map<std::uint64_t, Known> known_;                         // by id
  std::deque<std::pair<std::uint64_t, std::uint64_t>> changes_;  // revision and id
  std::vector<std::shared_ptr<detail::ExchangeRecord>> pending_;
  std::size_t sweep_at_ = 20'000;
};

}  // namespace endpoint
}  // namespace mock_gateway
