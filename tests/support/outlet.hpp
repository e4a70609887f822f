#pragma once

// A destination of deliveries for tests that inspect their writes. Includes internal headers of the library.

#include <memory>

#include "internals.hpp"

namespace test_support {

/// Never waits and stores nothing: the test decides about the bytes.
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
