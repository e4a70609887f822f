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

/// A file that cannot become a script; the message says what is wrong, where, and what to do.
struct ImportError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A header field as it was recorded.
struct Field {
  std::string name;
  std::string value;
};

/// A part of a body, and when it left, counted from the request.
struct Part {
  std::size_t end;  // in the body
  mock_gateway::Duration at;
};

/// How a gateway such as this one has sent an answer. It can write again what others cannot be trusted with, such as
/// header fields of the connection.
struct OwnDelivery {
  /// Whether it was sent event by event. What follows is known of such an answer only.
  bool is_streamed = false;
  /// When the head left.
  mock_gateway::Duration head_at{0};
  /// What left together. Each part is an element of `chunks`.
  std::vector<Part> parts = {};
};

/// What a recording says of how the connection ended.
enum class Ending { whole, closed, reset };

/// A reply as it was recorded, its body without transfer coding.
struct Recording {
  int status = 200;
  std::vector<Field> headers = {};
  std::vector<Field> early_hints = {};
  std::string body = {};
  Ending ending = Ending::whole;
  /// A bare body came without a header: what belongs to its kind is sent.
  bool has_head = true;
  /// Set when a gateway such as this one sent it. The header fields that it writes itself, of the moment and the
  /// length, are not among the headers then.
  std::optional<OwnDelivery> own = {};
};

/// Times that differ by less are taken to be the same: a machine takes so long to do anything.
inline constexpr mock_gateway::Duration least_gap = std::chrono::microseconds{500};

/// "20ms", as scripts write it; parts of a microsecond are left out.
std::string duration_text(mock_gateway::Duration duration);

/// What the comment of the script tells besides its kind.
struct Notes {
  std::vector<std::string> lines = {};
  std::size_t keys = 0;  // that were masked
};

/// The first value of that name, in any case of its letters.
std::optional<std::string> find_field(const std::vector<Field>& fields, std::string_view name);

/// Nothing when it is not base64 (RFC 4648, 4). Line ends in it are left aside.
std::optional<std::string> from_base64(std::string_view text);

/// Throws GatewayError for what is no JSON, or nests deeper than scripts may.
Json read_json(std::string_view text);
/// The same, but a discarded value.
Json json_if_valid(std::string_view text);

/// Whether the first line that is not empty is one of server-sent events.
bool looks_like_stream(std::string_view body);

/// The value of `reply` of a stub: `chunks` for a stream with status 200, else `raw_reply`. Served, it has the body of
/// the recording byte for byte, its keys masked, and its parts leave when they did. Throws ImportError for a body that
/// is compressed, whose keys nobody could find, and for a status that is not from 200 to 599.
Json chat_reply(Recording recording, const KeyMask& mask, Notes& notes);
/// The value of `reply` of an operation; likewise.
Json operation_reply(Recording recording, const KeyMask& mask, Notes& notes);

}  // namespace importing
