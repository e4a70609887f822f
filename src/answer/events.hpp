// The events of a stream: the type of an event, the interface of event sources, and the source for `chunks()`.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../core/duration.hpp"
#include "../model/reply.hpp"

namespace mock_gateway::detail {

/// One token in units of shares. At one token per second, a share is one nanosecond.
inline constexpr std::uint64_t whole_token = 1'000'000'000;

struct StreamEvent {
  /// The text after `data: `, or all bytes of a raw event.
  std::string data;
  /// Whether it is a content delta: text, reasoning, refusal or tool arguments.
  bool token = false;
  /// The tokens in such a delta, in units of `whole_token`.
  std::uint64_t share = whole_token;
  /// Whether the bytes are sent without the framing of an event.
  bool raw = false;
  /// Whether `data` consists of the lines of an event without data, separated by "\n".
  bool meta = false;
  /// When it is sent, on the pace's time scale. Empty: the pace decides.
  std::optional<Duration> at = {};
};

/// The sequence of a stream's events, without `[DONE]`.
class EventSource {
 public:
  EventSource() = default;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;
  virtual ~EventSource() = default;

  /// Writes the next event to `event`, reusing its memory. Returns false at the end.
  virtual bool next(StreamEvent& event) = 0;
};

/// The elements of a scripted stream, which must outlive this object.
class ChunkEvents final : public EventSource {
 public:
  explicit ChunkEvents(const std::vector<StreamChunk>& chunks) : chunks_(chunks) {}
  bool next(StreamEvent& event) override {
    if (sent_ == chunks_.size()) return false;
    const StreamChunk& chunk = chunks_[sent_++];
    event.data = chunk.bytes();
    event.token = chunk.is_token();
    event.raw = chunk.is_raw();
    event.meta = chunk.is_meta();
    event.at = chunk.time();
    return true;
  }

 private:
  const std::vector<StreamChunk>& chunks_;
  std::size_t sent_ = 0;
};

}  // namespace mock_gateway::detail
