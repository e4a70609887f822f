// The order of journal changes for clients that follow them.

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>

#include "../core/access.hpp"
#include "../evidence/record.hpp"
#include "../serve/gateway_state.hpp"
#include "internal.hpp"

namespace mock_gateway::internal {

struct JournalFeed::Impl {
  using Record = std::shared_ptr<detail::ExchangeRecord>;
  struct Known {
    std::uint64_t revision;
    std::weak_ptr<detail::ExchangeRecord> record;  // weak: the journal decides its lifetime
  };
  struct Change {
    std::uint64_t revision;
    std::uint64_t id;
  };

  explicit Impl(const Gateway& gateway) : journal(detail::Access::serving(gateway)->journal) {}

  // The caller must hold the mutex.
  void note(const Record& record);
  void forget_before(std::uint64_t id);
  void sweep();
  bool is_superseded(const Change& change) const;

  const std::shared_ptr<detail::JournalState> journal;
  std::mutex mutex = {};
  std::uint64_t number = 0;                   // records seen so far
  std::uint64_t revision = 0;                 // the newest change
  std::map<std::uint64_t, Known> known = {};  // by the exchange's id
  std::deque<Change> changes = {};
  std::vector<Record> pending = {};
  std::size_t sweep_at = 20'000;
};

JournalFeed::JournalFeed(const Gateway& gateway) : impl_(std::make_unique<Impl>(gateway)) {}
JournalFeed::~JournalFeed() = default;

std::uint64_t JournalFeed::update() {
  Impl& its = *impl_;
  const std::lock_guard<std::mutex> lock(its.mutex);
  detail::JournalState::Changes changes = its.journal->changes_since(its.number);
  its.number = changes.number;
  its.forget_before(changes.oldest);
  const std::uint64_t before = its.revision;
  for (auto& record : changes.added) {
    its.note(record);
    its.pending.push_back(std::move(record));
  }
  // Note an exchange only once if it was both recorded and ended since the last update.
  for (const auto& record : its.journal->take_ended(its.pending)) {
    const auto known = its.known.find(record->id);
    if (known != its.known.end() && known->second.revision <= before) its.note(record);
  }
  if (its.known.size() > its.sweep_at) its.sweep();
  return its.revision;
}

std::optional<JournalFeed::Change> JournalFeed::after(std::uint64_t revision) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  auto change = std::upper_bound(impl_->changes.begin(), impl_->changes.end(), revision,
                                 [](std::uint64_t wanted, const Impl::Change& one) { return wanted < one.revision; });
  for (; change != impl_->changes.end(); ++change) {
    if (impl_->is_superseded(*change)) continue;
    if (auto record = impl_->known.at(change->id).record.lock())
      return Change{change->revision, Exchange(std::move(record))};
  }
  return std::nullopt;
}

std::optional<JournalFeed::Change> JournalFeed::before(std::uint64_t id) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  for (auto known = impl_->known.lower_bound(id); known != impl_->known.begin();) {
    --known;
    if (auto record = known->second.record.lock()) return Change{known->second.revision, Exchange(std::move(record))};
  }
  return std::nullopt;
}

std::uint64_t JournalFeed::revision_of(std::uint64_t id) const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  const auto found = impl_->known.find(id);
  return found == impl_->known.end() ? 0 : found->second.revision;
}

void JournalFeed::Impl::note(const Record& record) {
  known.insert_or_assign(record->id, Known{++revision, record});
  changes.push_back({revision, record->id});
}

bool JournalFeed::Impl::is_superseded(const Change& change) const {
  const auto found = known.find(change.id);
  return found == known.end() || found->second.revision != change.revision;
}

void JournalFeed::Impl::forget_before(std::uint64_t id) {
  known.erase(known.begin(), known.lower_bound(id));
  while (!changes.empty() && is_superseded(changes.front())) changes.pop_front();
}

void JournalFeed::Impl::sweep() {
  for (auto one = known.begin(); one != known.end();)
    one = one->second.record.expired() ? known.erase(one) : std::next(one);
  changes.erase(
      std::remove_if(changes.begin(), changes.end(), [this](const Change& one) { return is_superseded(one); }),
      changes.end());
  sweep_at = std::max<std::size_t>(20'000, 2 * known.size());
}

}  // namespace mock_gateway::internal
