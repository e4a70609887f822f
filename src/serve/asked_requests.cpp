// Requests that wait for the test's reply, and the timeout (10 s, in the header).

#include "asked_requests.hpp"

#include <algorithm>  // max
#include <utility>

namespace mock_gateway::detail {

std::vector<AskedRequest> AskedRequests::list(const RequestScope& scope) const {
  std::vector<AskedRequest> asked;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [exchange, wait] : waiting_) {
    if (scope.covers(wait->request_)) asked.push_back({exchange, wait->stub_, wait->request_, wait->since_});
  }
  return asked;
}

AskedRequests::Answered AskedRequests::answer(std::uint64_t exchange, ReplyStep step) {
  std::shared_ptr<Wake> wake;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = waiting_.find(exchange);
    if (found == waiting_.end()) return over_.count(exchange) > 0 ? Answered::too_late : Answered::unknown;
    found->second->reply_ = std::move(step);
    wake = found->second->wake_;
    remove(exchange);
  }
  wake->wake();
  return Answered::yes;
}

void AskedRequests::remove(std::uint64_t exchange) {
  if (waiting_.erase(exchange) == 0) return;
  over_.insert(exchange);
  if (over_.size() > most_remembered) over_.erase(over_.begin());
}

AskedWait::AskedWait(AskedRequests& board, std::uint64_t exchange, std::shared_ptr<StubState> stub,
                     const ReceivedRequest& request, TimePoint since, std::shared_ptr<Wake> wake)
    : board_(board),
      exchange_(exchange),
      stub_(std::move(stub)),
      request_(request),
      since_(since),
      wake_(std::move(wake)) {
  const std::lock_guard<std::mutex> lock(board_.mutex_);
  board_.waiting_.emplace(exchange_, this);
}

AskedWait::~AskedWait() {
  const std::lock_guard<std::mutex> lock(board_.mutex_);
  board_.remove(exchange_);
}

bool AskedWait::is_over() {
  const std::lock_guard<std::mutex> lock(board_.mutex_);
  if (reply_) return true;
  guard_expired_ = guard_expired_ || std::chrono::steady_clock::now() - began_ >= guard;
  if (guard_expired_) board_.remove(exchange_);
  return guard_expired_;
}

std::optional<Duration> AskedWait::recheck_in() {
  const auto spent = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began_);
  return std::max(Duration{0}, Duration{guard} - spent);
}

}  // namespace mock_gateway::detail
