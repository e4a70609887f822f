// Decides which events of an answer share a write (up to 64 KiB), and pauses between separate writes.

#include "write_queue.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>

namespace mock_gateway::detail {
void WriteQueue::reserve(std::size_t size) { gathered_.reserve(std::min(size, largest_copy)); }

void WriteQueue::send(std::string_view bytes) {
  const bool keeps_together = writes_.kind == Writes::Kind::together || writes_.kind == Writes::Kind::split ||
                              (writes_.kind == Writes::Kind::each_event && is_stream_);
  if (!keeps_together && gathered_.size() - in_units_ + bytes.size() > largest_copy) {
    flush();
    if (bytes.size() > largest_copy) {
      // The last bytes are copied nevertheless, because the next mark refers to them.
      large_ = bytes.substr(0, bytes.size() - largest_copy);
      units_.push_back({large_.size(), true});
      position_ += large_.size();
      bytes.remove_prefix(large_.size());
    }
  }
  gathered_.append(bytes);
  position_ += bytes.size();
}

void WriteQueue::mark(const Sent& sent) {
  marks_.push_back({position_, sent});
  if (position_ != written_) return;
  const std::lock_guard<std::mutex> lock(progress_.handover);
  publish();
}

void WriteQueue::end_part() {
  if (writes_.kind == Writes::Kind::each_event || writes_.kind == Writes::Kind::sliced) flush();
}

void WriteQueue::flush_before_wait() {
  if (writes_.kind != Writes::Kind::together && writes_.kind != Writes::Kind::split) flush();
}

void WriteQueue::flush() {
  const std::size_t size = gathered_.size() - in_units_;
  if (size == 0) return;
  in_units_ += size;
  const std::size_t begin = position_ - size;
  if (writes_.kind == Writes::Kind::split && writes_.size >= begin && writes_.size - begin < size) {
    const std::size_t first = writes_.size - begin;
    if (first > 0) units_.push_back({first});
    units_.push_back({size - first, false, true});
  } else {
    units_.push_back({size});
  }
}

Outlet::WaitState WriteQueue::hand_over() {
  if (units_.empty()) return Outlet::WaitState::done;
  while (next_unit_ < units_.size()) {
    Unit& unit = units_[next_unit_];
    const Outlet::WaitState state = awaits_room_ ? outlet_.check_room() : pause_before(unit);
    if (state != Outlet::WaitState::done) return state;
    if (!write(unit)) return Outlet::WaitState::given_up;
    if (unit.size == 0) ++next_unit_;
  }
  units_.clear();
  next_unit_ = 0;
  gathered_.erase(0, taken_);
  in_units_ -= taken_;
  taken_ = 0;
  return Outlet::WaitState::done;
}

bool WriteQueue::write(Unit& unit) {
  std::string_view bytes = unit.is_large ? large_ : std::string_view(gathered_).substr(taken_, unit.size);
  if (writes_.kind == Writes::Kind::sliced) bytes = bytes.substr(0, writes_.size);
  const std::lock_guard<std::mutex> lock(progress_.handover);
  const std::optional<std::size_t> count = outlet_.write_some(bytes);
  if (!count) return false;
  written_ += *count;
  if (progress_.log) progress_.log->handed_over(written_, timeline_.now());
  publish();
  awaits_room_ = *count == 0;
  unit.size -= *count;
  if (unit.is_large)
    large_.remove_prefix(*count);
  else
    taken_ += *count;
  return true;
}

Outlet::WaitState WriteQueue::pause_before(Unit& unit) {
  const bool is_slice = writes_.kind == Writes::Kind::sliced && written_ > 0 && paused_at_ != written_;
  if (!unit.is_second_half && !is_slice) return Outlet::WaitState::done;
  is_split_ = is_split_ || unit.is_second_half;
  if (!reads_too_slowly_) {
    if (!pause_) pause_.emplace(outlet_);
    const Outlet::WaitState state = outlet_.check_wait(*pause_, Outlet::OnClientClosed::ignore);
    if (state != Outlet::WaitState::done) return state;
    time_to_read_ += pause_->passed();
    reads_too_slowly_ = pause_->has_timed_out() || time_to_read_ > delivery::BetweenWrites::max_total;
    pause_.reset();
  }
  unit.is_second_half = false;
  paused_at_ = written_;
  return Outlet::WaitState::done;
}

void WriteQueue::forget() {
  units_.clear();
  next_unit_ = 0;
  gathered_.clear();
  taken_ = in_units_ = 0;
  large_ = {};
  position_ = written_;
  awaits_room_ = false;
  pause_.reset();
}

bool WriteQueue::shrink() {
  if (!units_.empty() || !gathered_.empty()) return false;
  std::string().swap(gathered_);
  if (marks_.empty()) std::vector<Mark>().swap(marks_);
  return true;
}

void WriteQueue::publish() {
  const std::size_t before = published_;
  while (published_ < marks_.size() && marks_[published_].bytes <= written_) ++published_;
  if (published_ == before) return;
  const Sent& sent = marks_[published_ - 1].sent;
  progress_.events.store(sent.events, std::memory_order_relaxed);
  progress_.tokens.store(sent.tokens, std::memory_order_relaxed);
  if (sent.done && !progress_.done) {
    progress_.done_at = std::chrono::steady_clock::now();
    progress_.done = true;
  }
  if (published_ < marks_.size()) return;
  marks_.clear();
  published_ = 0;
}

}  // namespace mock_gateway::detail
