// The ways to divide a reply into writes.

#pragma once

#include <cstddef>

#include "../core/version.hpp"

namespace mock_gateway {

/// How the bytes of a reply are divided into writes to the kernel. TCP may join writes or split them; with TCP_NODELAY,
/// which is on, it does not wait to join them.
struct Writes {
  enum class Kind {
    /// One write for what is due at the same moment, of 64 KiB at most. A wait, a ping and a fault end it. An element
    /// of raw_bytes() has a write of its own.
    due_together,
    /// A write each for the head, each event, comment and ping, and the end of the body. A plain reply leaves as in
    /// due_together.
    each_event,
    /// The writes of each_event, cut into writes of `size` bytes at most, each a read of its own.
    sliced,
    /// One write for all, at the end or before a fault.
    together,
    /// Two writes at the end or before a fault: the first `size` bytes, head included, and the rest.
    split,
  };

  Kind kind = Kind::due_together;
  /// The bytes of a write of sliced, or of the first write of split; 0 for the other kinds.
  std::size_t size = 0;
};

}  // namespace mock_gateway
