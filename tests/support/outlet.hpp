#pragma once

// An outlet for tests that inspect the writes of a delivery. Includes internal headers of the library.

#include <memory>

#include "internals.hpp"

namespace test_support {

/// An outlet that never waits. A derived class of the test handles the bytes.
class WritesOnly : public mock_gateway::detail::Outlet {
 public:
  Look look(mock_gateway::detail::Pending&, OnClientClosed) override { return Look::over; }
  Look look_for_room() override { return Look::given_up; }
  Look look_for_delivery() override { return Look::over; }
  Look look_for_last_bytes() override { return Look::over; }
  void end(Ending) override {}
  void end_sending() override {}
  std::shared_ptr<mock_gateway::detail::Wake> waker() override { return nullptr; }
  void guard_expired() override {}
};

}  // namespace test_support
