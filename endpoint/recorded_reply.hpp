#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "mock_gateway.hpp"
#include "recorded_keys.hpp"

namespace importing {

using mock_gateway::Json;

/// The error for a recording that cannot be imported. The message names the error, its place and a remedy.
struct ImportError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A recorded header field.
struct Field {
  std::string name;
  std::string value;
};

/// A part of a body, and when it was sent after the request.
struct Part {
  std::size_t end;  // offset in the body
  mock_gateway::Duration at;
};

/// How mock-gateway itself sent an answer. It can replay details that are unreliable in other recordings, such as
/// connection headers.
struct OwnDelivery {
  /// Whether it was sent as single events. The members below are only set for such answers.
  bool is_streamed = false;
  /// When the head was sent.
  mock_gateway::Duration head_at{0};
  /// The parts as they were sent. Each becomes an element of `chunks`.
  std::vector<Part> parts = {};
};

/// How the connection ended in the recording.
enum class Ending { whole, closed, reset };

/// A recorded reply; its body has no transfer coding.
struct Recording {
  int status = 200;
  std::vector<Field> headers = {};
  std::vector<Field> early_hints = {};
  std::string body = {};
  Ending ending = Ending::whole;
  /// False for a body without a head, which gets the default headers of its type.
  bool has_head = true;
  /// Set for an answer of mock-gateway. `headers` then excludes the fields that it generates, such as Date and
  /// Content-Length.
  std::optional<OwnDelivery> own = {};
};

/// Smaller time differences are treated as noise.
inline constexpr mock_gateway::Duration least_gap = std::chrono::microseconds{500};

/// Formats a duration as in scripts: "20ms". Truncates to microseconds.
std::string duration_text(mock_gateway::Duration duration);

/// Further lines of the script's comment.
struct Notes {
  std::vector<std::string> lines = {};
  std::size_t keys = 0;  // masked keys
};

/// Returns the first field with this name, compared without case.
std::optional<std::string> find_field(const std::vector<Field>& fields, std::string_view name);

/// Decodes base64 (RFC 4648, 4). Ignores line ends. Returns nothing for invalid input.
std::optional<std::string> from_base64(std::string_view text);

/// Throws GatewayError for invalid JSON, or JSON nested deeper than scripts allow.
Json read_json(std::string_view text);
/// Returns a discarded value instead of throwing.
Json json_if_valid(std::string_view text);

/// Whether the first non-empty line is one of server-sent events.
bool looks_like_stream(std::string_view body);

/// Returns the `reply` of a stub: `chunks` for a stream with status 200, otherwise `raw_reply`. It replays the recorded
/// body byte for byte, with masked keys and the recorded timing. Throws ImportError for a compressed body, since keys
/// in it cannot be found, and for a status outside 200 to 599.
Json chat_reply(Recording recording, const KeyMask& mask, Notes& notes);
/// Returns the `reply` of an operation. Throws ImportError like chat_reply().
Json operation_reply(Recording recording, const KeyMask& mask, Notes& notes);

}  // namespace importing
