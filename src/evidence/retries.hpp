#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../model/finding.hpp"
#include "record.hpp"

namespace mock_gateway {
namespace detail {

/// An exchange under review, with what of its record may still change as it is now.
struct Seen {
  using RealTime = ExchangeRecord::RealTime;

  std::shared_ptr<ExchangeRecord> record;
  Outcome::Kind outcome = Outcome::Kind::pending;
  bool client_closed = false;
  std::optional<RealTime> client_left;
  std::optional<TimePoint> first_byte;
  std::optional<RealTime> answered;
  /// The client could send the request from this moment on.
  RealTime possible{};
  RealTime over{};
  /// The number of the try, from a client that numbers its tries; 0 for the first.
  std::optional<std::int64_t> number;
  /// Its Idempotency-Key.
  std::optional<std::string> call;
  /// A fault of chaos struck its answer, or Content-Length was not its own.
  bool broken = false;
};

/// Finds requests that come back too early, or should not come back. What is a retry: see Review. `all` is in the order
/// of ids.
void judge_retries(const std::vector<Seen>& all, std::vector<Finding>& findings);

}  // namespace detail
}  // namespace mock_gateway
