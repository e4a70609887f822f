// The events of `chunks()`.

#include "events.hpp"

namespace mock_gateway::detail {

bool ChunkEvents::next(StreamEvent& event) {
  if (sent_ == chunks_.size()) return false;
  const StreamChunk& chunk = chunks_[sent_++];
  event.data = chunk.bytes();
  event.token = chunk.is_token();
  event.raw = chunk.is_raw();
  event.meta = chunk.is_meta();
  event.at = chunk.time();
  return true;
}

}  // namespace mock_gateway::detail
