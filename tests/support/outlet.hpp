#pragma once

// An outlet for tests that inspect the writes of a delivery. Includes internal headers of the library.

#include <memory>

#include "internals.hpp"

namespace test_support {

/// An outlet that never waits. A derived class of the test handles the bytes.
class WritesOnly : public mock_gateway::detail::Outlet {
 public:
  WaitState check_wait(mock_gateway::detail::Pending&, OnClientClosed) override { return WaitState::done; }
  WaitState check_room() override { return WaitState::given_up; }
  WaitState check_delivery() override { return WaitState::done; }
  WaitState check_last_bytes() override { return WaitState::done; }
  void end(Ending) override {}
  void end_sending() override {}
  std::shared_ptr<mock_gateway::detail::Wake> waker() override { return nullptr; }
  void guard_expired() override {}
};

}  // namespace test_support
