// Console codes: lifetime and rate limit of new codes.

#include "session_codes.hpp"

#include <algorithm>

#include "../secret.hpp"

namespace mock_gateway {
namespace endpoint {

std::string SessionCodes::make() { return add(now_()); }

std::string SessionCodes::add(Clock::time_point made) {
  constexpr std::size_t random_bytes_of_code = 24;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (issued_.size() == most_remembered) issued_.pop_front();
  issued_.push_back({random_base64url(random_bytes_of_code), made});
  return issued_.back().code;
}

SessionCodes::Verdict SessionCodes::take(std::string_view code) {
  const Clock::time_point now = now_();
  const std::lock_guard<std::mutex> lock(mutex_);
  Issued* found = nullptr;
  for (Issued& one : issued_)  // compare all, to take constant time
    if (equal_in_constant_time(code, one.code)) found = &one;
  if (!found) return Verdict::unknown;
  if (found->used) return Verdict::used;
  if (now - found->made >= lifetime) return Verdict::late;
  found->used = true;
  return Verdict::good;
}

void SessionCodes::renew(const std::function<bool(const std::string& code)>& show) {
  const std::lock_guard<std::mutex> one_at_a_time(renewing_);
  const Clock::time_point now = now_();
  if (renewed_ && now - *renewed_ < pause) return;
  const std::string code = add(now);
  if (show(code)) {
    renewed_ = now;
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  issued_.erase(std::remove_if(issued_.begin(), issued_.end(), [&code](const Issued& one) { return one.code == code; }),
                issued_.end());
}

}  // namespace endpoint
}  // namespace mock_gateway
