// Lets a thread hand over its duties before it blocks.

#pragma once

#include "version.hpp"

namespace mock_gateway::detail {

/// Takes over the duties of a thread that is about to block, such as the leader of an event loop.
class Relief {
 public:
  virtual ~Relief() = default;
  /// Called once, on the thread that will block.
  virtual void relieve() noexcept = 0;
};

/// Sets the relief of the calling thread, which must have none, for the lifetime of this object.
class Relieved {
 public:
  explicit Relieved(Relief& relief);
  ~Relieved();
  Relieved(const Relieved&) = delete;
  Relieved& operator=(const Relieved&) = delete;

  bool is_pending() const;
};

/// Must be called before a thread blocks, runs test code or works for long: calls its relief, if any. Cheap.
void call_relief() noexcept;

}  // namespace mock_gateway::detail
