#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../core/duration.hpp"
#include "../model/reply.hpp"

namespace mock_gateway::detail {

/// A token, where parts of one are counted: at one token a second, a share is its time in nanoseconds.
inline constexpr std::uint64_t whole_token = 1'000'000'000;

/// One event of a stream.
struct StreamEvent {
  /// What stands after `data: `, or all bytes of a raw one.
  std::string data;
  /// Whether it is a content delta: text, reasoning, refusal or tool arguments.
  bool token = false;
  /// How many tokens such a delta holds, each counted as `whole_token`.
  std::uint64_t share = whole_token;
  /// Whether the bytes are sent as they are, without the framing of an event.
  bool raw = false;
  /// Whether `data` is the lines of an event without data, separated by "\n".
  bool meta = false;
  /// When it leaves, counted as the pace is; nothing: as the pace says.
  std::optional<Duration> at = {};
};

/// The events of a stream, one after the other, `[DONE]` not included.
class EventSource {
 public:
  EventSource() = default;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;
  virtual ~EventSource() = default;

  /// Writes the next event into `event`, reusing its memory; false when there is none.
  virtual bool next(StreamEvent& event) = 0;
};

/// The elements of a scripted stream, which must outlive this.
class ChunkEvents final : public EventSource {
 public:
  explicit ChunkEvents(const std::vector<StreamChunk>& chunks) : chunks_(chunks) {}
  bool next(StreamEvent& event) override;

 private:
  const std::vector<StreamChunk>& chunks_;
  std::size_t sent_ = 0;
};

}  // namespace mock_gateway::detail
