// The ways to divide a reply into writes.

#pragma once

#include <cstddef>

#include "../core/version.hpp"

namespace mock_gateway {

/// How the bytes of a reply are divided into writes to the kernel. TCP may join or split writes; TCP_NODELAY, which is
/// on, only prevents it from waiting to join them.
struct Writes {
  enum class Kind {
    /// One write of up to 64 KiB for everything due at the same moment. Waits, pings and faults end a write. Each
    /// raw_bytes() element has its own write.
    due_together,
    /// Separate writes for the head, each event, comment and ping, and the end of the body. A plain reply is sent as in
    /// due_together.
    each_event,
    /// The writes of each_event, cut into writes of at most `size` bytes, each a separate read.
    sliced,
    /// One write for everything, at the end or before a fault.
    together,
    /// Two writes at the end or before a fault: the first `size` bytes, including the head, and the rest.
    split,
  };

  Kind kind = Kind::due_together;
  /// The maximum size of a sliced write, or the size of the first split write; 0 for other kinds.
  std::size_t size = 0;
};

}  // namespace mock_gateway
