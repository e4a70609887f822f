#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "../core/timeline.hpp"
#include "../model/received_request.hpp"
#include "../script/scope.hpp"
#include "../script/script.hpp"

namespace mock_gateway::detail {

struct AskedRequest {
  /// The id of the request's exchange, which is recorded when the request is answered.
  std::uint64_t exchange = 0;
  std::shared_ptr<StubState> stub;
  ReceivedRequest request;  // keys are masked
  /// The start of the wait on the gateway's clock.
  TimePoint since{};
};

class AskedWait;

/// The requests of one gateway that wait for a reply from the test. Thread-safe.
class AskedRequests {
 public:
  enum class Answered {
    yes,
    /// The request was already answered, its guard ended the wait, or its client left.
    too_late,
    /// No such exchange has ever waited here.
    unknown,
  };

  /// Returns the waiting requests of a scope, oldest first.
  std::vector<AskedRequest> list(const RequestScope& scope) const;
  /// Ends the wait of an exchange with the step that answers it. The step must not ask the test again.
  Answered answer(std::uint64_t exchange, ReplyStep step);

 private:
  friend class AskedWait;
  static constexpr std::size_t most_remembered = 10'000;

  void remove(std::uint64_t exchange);  // the caller holds the mutex

  mutable std::mutex mutex_;
  std::map<std::uint64_t, AskedWait*> waiting_;
  std::set<std::uint64_t> over_;
};

/// The wait of one request. It begins on construction and ends with a reply or the guard's timeout.
class AskedWait final : public Pending {
 public:
  /// The timeout in real time, the same as at a gate.
  static constexpr std::chrono::seconds guard{10};

  /// `request` must outlive this object.
  AskedWait(AskedRequests& board, std::uint64_t exchange, std::shared_ptr<StubState> stub,
            const ReceivedRequest& request, TimePoint since, std::shared_ptr<Wake> wake);
  ~AskedWait() override;
  AskedWait(const AskedWait&) = delete;
  AskedWait& operator=(const AskedWait&) = delete;

  bool is_over() override;
  std::optional<Duration> recheck_in() override;
  bool guard_expired() const override { return guard_expired_; }
  /// Returns the test's reply, if any. Only the waiting thread may call this, after the wait.
  const std::optional<ReplyStep>& reply() const { return reply_; }

 private:
  friend class AskedRequests;

  AskedRequests& board_;
  const std::uint64_t exchange_;
  const std::shared_ptr<StubState> stub_;
  const ReceivedRequest& request_;
  const TimePoint since_;
  const std::shared_ptr<Wake> wake_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::optional<ReplyStep> reply_;  // guarded by the board's mutex during the wait
  bool guard_expired_ = false;
};

}  // namespace mock_gateway::detail
