#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "json.hpp"
#include "text.hpp"

// Reads JSON text (RFC 8259) into nlohmann's values. Writing uses nlohmann's dump().

namespace mock_gateway::detail {

/// The error for text that is not JSON or too deeply nested. what() is "invalid JSON at line 1, column 2: " and the
/// reason. The reason quotes at most one character of the text, to keep secrets out of logs.
struct JsonError : std::runtime_error {
  JsonError(std::size_t offset, text::Position position, const std::string& reason);
  /// The byte offset of the error.
  std::size_t offset;
  text::Position position;
  /// "expected ',' or '}', got a string".
  std::string reason;
};

struct JsonDuplicate {
  /// The object's path, "messages[0]"; empty for the outermost value. Keys in it are cut to 60 bytes.
  std::string object;
  std::string key;
};

/// The position of a value in its text, as byte offsets. The text of a number includes all its digits.
struct JsonPlace {
  /// JSON pointer (RFC 6901). Duplicate keys give several places with the same pointer; the last one counts.
  std::string pointer;
  /// The offset of the member's key, or of the value if it is not a member.
  std::size_t key;
  std::size_t begin;
  std::size_t end;
};

struct JsonReadOptions {
  /// The maximum nesting. Real requests need about ten. Low enough for recursive functions on any thread's stack.
  std::size_t max_depth = 512;
  /// The maximum number of values. OpenAI's largest request of embeddings has 300,000 tokens.
  std::size_t max_values = 1'000'000;
  /// Whether `// …` to the end of the line and `/* … */` count as white space.
  bool comments = false;
  /// Receives the first 100 duplicates: inner objects first, then by key.
  std::vector<JsonDuplicate>* duplicates = nullptr;
  /// Receives the place of each value, containers before the values in them.
  std::vector<JsonPlace>* places = nullptr;
};

/// Takes time and memory linear in the text, except for sorting keys and for places. The last of equal keys counts, at
/// the position of the first. Numbers without fraction and exponent that fit 64 bits become integers, others doubles;
/// beyond the range of double is an error. Skips a byte order mark before the value. Throws JsonError.
Json read_json(std::string_view text, const JsonReadOptions& options = JsonReadOptions());

/// Returns a discarded value for invalid JSON. A std::optional of Json is slow to compile.
Json read_json_if_valid(std::string_view text);

}  // namespace mock_gateway::detail
