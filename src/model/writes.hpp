#pragma once

#include <cstddef>

#include "../core/version.hpp"

namespace mock_gateway {

/// Into which writes the bytes of a reply are divided. TCP may join writes or split them; with TCP_NODELAY, which is
/// on, it does not wait to.
struct Writes {
  enum class Kind {
    /// What is due at the same moment in one, of 64 KiB at most: whatever waits, a ping and a fault end it. An element
    /// of
    /// raw_bytes() has one of its own.
    due_together,
    /// The head, then each event, comment and ping, and the end of the body; a plain reply as above.
    each_event,
    /// As each_event, and at most `size` bytes each.
    sliced,
    /// All at the end, or before a fault.
    together,
    /// So too, but in two: the first `size` bytes, head included, and the rest.
    split,
  };

  Kind kind = Kind::due_together;
  std::size_t size = 0;
};

}  // namespace mock_gateway
