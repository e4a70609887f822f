// Queued faults of connections: which connection each strikes.

#include "connection_faults.hpp"

#include <algorithm>  // find_if, remove_if

#include "../core/error.hpp"

namespace mock_gateway::detail {

std::uint64_t ConnectionFaults::add(const ConnectionFault& fault, std::size_t times, SourceLocation where,
                                    std::uint64_t owner) {
  if (times == 0) throw GatewayError("next_connection(fault, 0) would strike nobody");
  const std::lock_guard<std::mutex> lock(mutex_);
  queue_.push_back(Queued{fault, times, times, where, ++serial_, owner});
  any_ = true;
  ++changes_;
  return serial_;
}

void ConnectionFaults::set_places(const std::map<std::uint64_t, SourceLocation>& places) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Queued& queued : queue_)
    if (const auto its = places.find(queued.serial); its != places.end()) queued.where = its->second;
}

void ConnectionFaults::add_to_every(const ConnectionFault& fault, std::uint64_t owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto same = std::find_if(every_.begin(), every_.end(),
                                 [&](const Queued& other) { return other.fault.moment() == fault.moment(); });
  if (same != every_.end()) every_.erase(same);
  every_.push_back(Queued{fault, 1, 1, {}, 0, owner});
  any_ = true;
  ++changes_;
}

void ConnectionFaults::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  queue_.clear();
  every_.clear();
  lent_ = 0;
  any_ = false;
  ++changes_;
}

void ConnectionFaults::clear_of(std::uint64_t owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto is_its = [owner](const Queued& queued) { return queued.owner == owner; };
  queue_.erase(std::remove_if(queue_.begin(), queue_.end(), is_its), queue_.end());
  every_.erase(std::remove_if(every_.begin(), every_.end(), is_its), every_.end());
  if (lent_of_ == owner) lent_ = 0;
  any_ = !queue_.empty() || !every_.empty();
  ++changes_;
}

template <class Fits>
std::optional<ConnectionFaults::Queued> ConnectionFaults::take(const Fits& fits, bool lend) {
  if (!any_) return std::nullopt;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!queue_.empty() && fits(queue_.front().fault.moment())) {
    Queued taken = queue_.front();
    if (lend) {
      lent_ = taken.serial;
      lent_of_ = taken.owner;
    }
    if (--queue_.front().left == 0) queue_.pop_front();
    any_ = !queue_.empty() || !every_.empty();
    return taken;
  }
  // A request on a reused connection has reached two moments, so two faults may fit. The newest one applies.
  for (auto fault = every_.rbegin(); fault != every_.rend(); ++fault) {
    if (fits(fault->fault.moment())) return *fault;
  }
  return std::nullopt;
}

std::optional<ConnectionFaults::Queued> ConnectionFaults::take_on_accept() {
  return take([](ConnectionFault::Moment moment) { return moment == ConnectionFault::Moment::accepted; }, true);
}

std::optional<ConnectionFault> ConnectionFaults::take_on_request(bool reused) {
  const auto fits = [reused](ConnectionFault::Moment moment) {
    return moment == ConnectionFault::Moment::request || (reused && moment == ConnectionFault::Moment::reused);
  };
  std::optional<Queued> taken = take(fits, false);
  if (!taken) return std::nullopt;
  return std::move(taken->fault);
}

void ConnectionFaults::give_back(Queued taken) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (taken.serial != lent_ || lent_ == 0) return;
  if (!queue_.empty() && queue_.front().serial == taken.serial) {
    ++queue_.front().left;
    return;
  }
  taken.left = 1;
  queue_.push_front(std::move(taken));
  any_ = true;
}

std::vector<ConnectionFaults::Queued> ConnectionFaults::left() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {queue_.begin(), queue_.end()};
}

std::vector<ConnectionFaults::Queued> ConnectionFaults::every() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return every_;
}

}  // namespace mock_gateway::detail
