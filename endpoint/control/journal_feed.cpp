// In which order changes of the journal are told.

#include "journal_feed.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mock_gateway {
namespace endpoint {

std::uint64_t JournalFeed::look(const detail::JournalState& journal) {
  const std::lock_guard<std::mutex> lock(mutex_);
  detail::JournalState::News news = journal.news(number_);
  number_ = news.number;
  forget_before(news.oldest);
  const std::uint64_t before = revision_;
  for (auto& record : news.added) {
    note(record);
    pending_.push_back(std::move(record));
  }
  // Those that were recorded and have ended since the last look are noted once.
  for (const auto& record : journal.take_ended(pending_)) {
    const auto known = known_.find(record->id);
    if (known != known_.end() && known->second.revision <= before) note(record);
  }
  if (known_.size() > sweep_at_) sweep();
  return revision_;
}

std::optional<JournalFeed::Change> JournalFeed::after(std::uint64_t revision) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto change = std::upper_bound(changes_.begin(), changes_.end(), revision,
                                 [](std::uint64_t wanted, const auto& one) { return wanted < one.first; });
  for (; change != changes_.end(); ++change) {
    if (is_void(*change)) continue;
    if (auto record = known_.at(change->second).record.lock()) return Change{change->first, std::move(record)};
  }
  return std::nullopt;
}

std::optional<JournalFeed::Change> JournalFeed::before(std::uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto known = known_.lower_bound(id); known != known_.begin();) {
    --known;
    if (auto record = known->second.record.lock()) return Change{known->second.revision, std::move(record)};
  }
  return std::nullopt;
}

std::uint64_t JournalFeed::revision_of(std::uint64_t id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = known_.find(id);
  return known == known_.end() ? 0 : known->second.revision;
}

void JournalFeed::note(const std::shared_ptr<detail::ExchangeRecord>& record) {
  known_.insert_or_assign(record->id, Known{++revision_, record});
  changes_.emplace_back(revision_, record->id);
}

bool JournalFeed::is_void(const std::pair<std::uint64_t, std::uint64_t>& change) const {
  const auto known = known_.find(change.second);
  return known == known_.end() || known->second.revision != change.first;
}

void JournalFeed::forget_before(std::uint64_t id) {
  known_.erase(known_.begin(), known_.lower_bound(id));
  while (!changes_.empty() && is_void(changes_.front())) changes_.pop_front();
}

void JournalFeed::sweep() {
  for (auto known = known_.begin(); known != known_.end();)
    known = known->second.record.expired() ? known_.erase(known) : std::next(known);
  changes_.erase(
      std::remove_if(changes_.begin(), changes_.end(), [this](const auto& change) { return is_void(change); }),
      changes_.end());
  sweep_at_ = std::max<std::size_t>(20'000, 2 * known_.size());
}

}  // namespace endpoint
}  // namespace mock_gateway
