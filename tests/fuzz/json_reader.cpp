// Fuzzes the JSON reader. It must accept the same texts as nlohmann's parser, with the same result. The recorded
// place of each value must contain that value's text. If an input starts with "c", comments are allowed in the text
// after it.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_reader.hpp"
#include "finding.hpp"

namespace fuzz {

using namespace mock_gateway;

constexpr double seconds = 3;

/// Reads a text and returns its value, or nothing if the reader rejects it. Checks that the error can be sent as JSON.
std::optional<Json> read(std::string_view text, const detail::JsonReadOptions& options) {
  const TimeLimit limit(seconds, "reading JSON");
  try {
    return detail::read_json(text, options);
  } catch (const detail::JsonError& error) {
    require(detail::text::is_valid_utf8(error.what()), "an error is not UTF-8: " + std::string(error.what()));
    require(error.reason.size() < 100, "an error quotes too much text: " + error.reason);
    require(error.position.line >= 1 && error.position.column >= 1, "an error has no line and column: " + error.reason);
    return std::nullopt;
  }
}

std::size_t count_values(const Json& value) {
  std::size_t count = 1;
  if (value.is_structured()) {
    for (const Json& part : value) count += count_values(part);
  }
  return count;
}

/// Returns whether two values have equal types and digits, which is stricter than ==.
bool identical(const Json& left, const Json& right) {
  return left.type() == right.type() && left.dump() == right.dump();
}

void require_places(std::string_view text, const Json& whole, bool comments) {
  std::vector<detail::JsonPlace> places;
  std::vector<detail::JsonDuplicate> duplicates;
  detail::JsonReadOptions options;
  options.comments = comments;
  options.places = &places;
  options.duplicates = &duplicates;
  require(read(text, options) == whole, "recording places changes the result");
  options.places = nullptr;
  if (duplicates.empty()) {
    require(places.size() == count_values(whole), "there are " + std::to_string(places.size()) + " places");
  }
  for (const detail::JsonPlace& place : places) {
    require(place.key <= place.begin && place.begin < place.end && place.end <= text.size(), "a place is invalid");
    if (!duplicates.empty()) continue;
    const Json::json_pointer pointer(place.pointer);
    const std::optional<Json> value = read(text.substr(place.begin, place.end - place.begin), options);
    require(value && identical(*value, whole.at(pointer)), "a place contains another value: " + place.pointer);
    const bool is_member = !pointer.empty() && whole.at(pointer.parent_pointer()).is_object();
    require(is_member == (place.key < place.begin), "the place of a key is wrong: " + place.pointer);
    if (!is_member) continue;
    const std::string member = "{" + std::string(text.substr(place.key, place.end - place.key)) + "}";
    require(read(member, options).value_or(Json()).size() == 1, "the place does not begin at the key: " + member);
  }
}

void attack(std::string_view text, bool comments) {
  detail::JsonReadOptions options;
  options.comments = comments;
  const std::optional<Json> limited = read(text, options);
  options.max_depth = std::numeric_limits<std::size_t>::max();
  const std::optional<Json> any = read(text, options);
  require(!limited || limited == any, "the depth limit changes the result");
  if (limited) require_places(text, *limited, comments);

  // Texts with NUL and invalid comments are not compared: nlohmann's parser stops at NUL and accepts any bytes in a
  // comment.
  if (text.find('\0') != std::string_view::npos) {
    require(comments || !any, "a NUL byte is accepted");
    return;
  }
  if (comments && !detail::text::is_valid_utf8(text)) return require(!any, "bytes that are not UTF-8 are accepted");
  const Json expected = Json::parse(text, nullptr, false, comments);
  require(any.has_value() != expected.is_discarded(), any ? "invalid JSON is accepted" : "valid JSON is refused");
  if (any) require(identical(*any, expected), "JSON is misread: " + any->dump());
}

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const bool comments = !input.empty() && input.front() == 'c';
  fuzz::attack(comments ? input.substr(1) : input, comments);
  return 0;
}
