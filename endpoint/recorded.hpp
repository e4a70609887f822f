// Recordings: their readers, and what becomes of keys, requests and replies in a script.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "library.hpp"

namespace importing {

namespace text = mock_gateway::internal::text;
using mock_gateway::Json;
using Field = mock_gateway::wire::Header;

/// The error for a recording that cannot be imported. The message names the error, its place and a remedy.
struct ImportError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Masks keys with one asterisk per byte, so that lengths and positions stay the same. Keeps the start of a key (`sk-`)
/// for readers.
class KeyMask {
 public:
  /// Adds a request's credential, to be masked everywhere. Ignores a credential under 16 bytes that does not start with
  /// `sk-`: it may be an ordinary word, such as "EMPTY".
  void add(std::string_view credential);
  /// Masks added credentials, and words of at least 20 characters that start like keys of a known issuer. Returns the
  /// number of masked keys.
  std::size_t mask(std::string& text) const;
  /// Masks a body. Also finds keys that are split across the deltas of a stream.
  std::size_t mask_body(std::string& body) const;

 private:
  struct Span {
    std::size_t begin;
    std::size_t end;
  };

  std::vector<Span> find(std::string_view text) const;

  std::vector<std::string> short_credentials_;
  /// By their last bytes, since the beginnings of tokens and signatures are often equal.
  std::unordered_map<std::uint64_t, std::set<std::string>> credentials_;
};

/// Masks all strings of a script except bodies, which are masked already. Skips base64, where masking would change
/// other bytes.
void mask_strings(mock_gateway::Json& value, const KeyMask& mask);

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
  /// What the script leaves out. The comment has all of them, and at most 20 of the other lines.
  std::vector<std::string> left_out = {};
  std::vector<std::string> lines = {};
  std::size_t keys = 0;  // masked keys
};

/// Reads a file; "-" is stdin. Throws ImportError if it cannot be read, or is larger than scripts may be.
std::string read_all(const std::string& path);

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

/// Returns a member, or null if it is missing or `object` is not an object.
const Json& member(const Json& object, const char* name);
/// Returns a string member, or an empty text.
std::string text_of(const Json& object, const char* name);

/// Returns the text of the first system message of a chat request, if any.
std::optional<std::string> system_text(const Json& body);
/// Returns the `when` of a stub for chat requests with such a body. It includes the system prompt only if wanted.
Json conditions(const Json& body, const KeyMask& mask, bool with_system);

/// An imported file, without the format version and the comment.
struct Imported {
  std::string kind;  // the file's format, for the comment
  Json parts = Json::object();
};

/// Whether the text starts with an HTTP status line.
bool looks_like_curl(std::string_view text);
/// Imports the output of `curl -i`: its last final response.
Imported import_curl(std::string_view text, KeyMask& mask, Notes& notes);

/// Whether the JSON is a HAR file (HTTP Archive 1.2), as saved by browsers and proxies.
bool is_har(const Json& file);
struct HarOptions {
  std::string folder;                // bodies may be in other files there; empty for a HAR file from stdin
  bool skip_missing_bodies = false;  // whether to leave out entries without a body, instead of throwing
};
/// Imports each kind of chat request as a stub, and other JSON answers of the same host as operations. Throws
/// ImportError if bodies of answers are missing.
Imported import_har(const Json& file, const HarOptions& options, KeyMask& mask, Notes& notes);

/// Formats a script for people: indented, one element of `chunks` per line, terminal control characters escaped. Has no
/// line end at the end.
std::string laid_out(const Json& script);

}  // namespace importing
