// The conditions of a stub that answers a recorded request.

#include "recorded_request.hpp"

#include <algorithm>  // mismatch
#include <cstddef>
#include <optional>

namespace importing {
namespace {

/// Returns the text of the user's last message, if any.
std::optional<std::string> user_text(const Json& body) {
  const Json& messages = member(body, "messages");
  if (!messages.is_array()) return std::nullopt;
  for (std::size_t i = messages.size(); i > 0; --i) {
    const Json& message = messages[i - 1];
    if (text_of(message, "role") != "user") continue;
    const Json& content = member(message, "content");
    std::string text = text_of(message, "content");
    if (content.is_array())
      for (const Json& part : content)
        if (text_of(part, "type") == "text") text += text_of(part, "text");
    return text;
  }
  return std::nullopt;
}

}  // namespace

const Json& member(const Json& object, const char* name) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}

std::string text_of(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

Json conditions(const Json& body, const KeyMask& mask) {
  Json when = Json::object();
  if (const auto said = user_text(body)) {
    std::string masked = *said;
    mask.mask(masked);
    if (masked == *said) {
      when["user_says"] = {{"equals", *said}};
    } else if (const auto differs = std::mismatch(masked.begin(), masked.end(), said->begin()).first;
               differs != masked.begin()) {
      // Masked text never matches; match the text before the mask.
      when["user_says"] = {{"starts_with", std::string(masked.begin(), differs)}};
    }
  }
  if (const std::string model = text_of(body, "model"); !model.empty()) when["model_is"] = model;
  if (member(body, "stream").is_boolean()) when["stream_is"] = member(body, "stream");
  return when;
}

}  // namespace importing
