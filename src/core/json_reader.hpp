#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "json.hpp"
#include "text.hpp"

// Reads JSON text (RFC 8259) into nlohmann's values. Writing is nlohmann's dump().

namespace mock_gateway::detail {

/// A text that is not JSON, or nests too deep. what() is "invalid JSON at line 1, column 2: " and the reason. The
/// reason quotes at most one character of the text, so that no secret in it gets into a log.
struct JsonError : std::runtime_error {
  JsonError(std::size_t offset, text::Position position, const std::string& reason);
  /// The byte of the text that is wrong.
  std::size_t offset;
  text::Position position;
  /// "expected ',' or '}', got a string".
  std::string reason;
};

/// A key that an object has more than once.
struct JsonDuplicate {
  /// The object's place, "messages[0]". Empty: the outermost value. Keys in it are cut after 60 bytes.
  std::string object;
  std::string key;
};

/// Where a value stands in its text. The offsets count bytes; the text of a number has all its digits.
struct JsonPlace {
  /// JSON pointer (RFC 6901). Of places with the same pointer, the last counts.
  std::string pointer;
  /// The offset of the member's key; for a value that is no member, its own offset.
  std::size_t key;
  std::size_t begin;
  std::size_t end;
};

struct JsonReadOptions {
  /// The most arrays and objects within each other. Real requests need about ten; what walks a value recursively stays
  /// far from the end of any thread's stack.
  std::size_t max_depth = 512;
  /// Whether `// …` up to the end of the line and `/* … */` count as white space.
  bool comments = false;
  /// Receives the first 100 duplicates: those of an inner object before those of the object around it, else by key.
  std::vector<JsonDuplicate>* duplicates = nullptr;
  /// Receives the place of each value: that of an array or object before those of the values in it.
  std::vector<JsonPlace>* places = nullptr;
};

/// Time and memory are linear in the text, but for the sorting of an object's keys and for places. Of equal keys the
/// last value counts, at the place of the first. A number without fraction and exponent that fits 64 bits is an
/// integer; any other is a double, and beyond the range of double an error. A byte order mark before the value is
/// skipped. Throws JsonError.
Json read_json(std::string_view text, const JsonReadOptions& options = JsonReadOptions());

/// A discarded value for a text that is not JSON, or nests too deep. A std::optional of Json is slow to compile.
Json read_json_if_valid(std::string_view text);

}  // namespace mock_gateway::detail
