#pragma once

// Where a delivery goes in tests that look at its writes. Includes what the library keeps to itself.

#include <memory>

#include "internals.hpp"

namespace test_support {

/// Waits for nothing and keeps nothing: a test says what becomes of the bytes.
class WritesOnly : public mock_gateway::detail::Outlet {
 public:
  bool wait_until_writable() override { return false; }
  bool drain() override { return true; }
  bool wait(mock_gateway::detail::Pending&, OnClientClosed) override { return true; }
  void end(Ending) override {}
  void end_sending() override {}
  std::shared_ptr<mock_gateway::detail::Wake> waker() override { return nullptr; }
  void guard_expired() override {}
};

}  // namespace test_support
