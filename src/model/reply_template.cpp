// The placeholders of a template, their values, and how each value is escaped.

#include "reply_checks.hpp"

#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/calendar.hpp"
#include "../core/error.hpp"
#include "../core/json_pointer.hpp"
#include "../core/json_reader.hpp"
#include "../core/random.hpp"
#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace reply_templates {

inline constexpr std::string_view of_body = "request.body.";
inline constexpr std::string_view of_header = "request.header.";
/// The largest sum of the values that a reply's placeholders are replaced by, in bytes.
inline constexpr std::size_t most_filled = std::size_t{32} << 20;

[[noreturn]] void refuse(std::string_view place) {
  throw GatewayError(
      "\"" + text::printable(std::string(place), 60) +
      "\" is not a place of a template; known: {{request.last_user_text}}, {{request.body./json/pointer}}, "
      "{{request.header.NAME}}, {{count}}, {{now}}, {{uuid}}");
}

/// Returns a UUID (RFC 9562, 5.4) that only depends on the seed.
std::string uuid(Random& random) {
  const std::uint64_t high = (random.next() & 0xffffffffffff0fffu) | 0x4000u;
  const std::uint64_t low = (random.next() & 0x3fffffffffffffffu) | 0x8000000000000000u;
  char text[40];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(high >> 32),
                static_cast<unsigned>(high >> 16 & 0xffff), static_cast<unsigned>(high & 0xffff),
                static_cast<unsigned>(low >> 48), static_cast<unsigned long long>(low & 0xffffffffffffu));
  return text;
}

/// Finds placeholders in texts and replaces them. Without facts, it only checks that the placeholders are known.
class Filler {
 public:
  explicit Filler(const TemplateFacts* facts) : facts_(facts), random_(facts ? facts->seed : 0) {}

  /// Fills a text. In the text of a JSON object or list, values are escaped.
  void fill(std::string& text) {
    if (text.find("{{") != std::string::npos) text = filled(text, is_json(text));
  }
  void fill_json_text(std::string& text) {
    if (text.find("{{") != std::string::npos) text = filled(text, true);
  }
  void fill(Json& value) {
    if (value.is_string()) {
      fill(value.get_ref<std::string&>());
    } else if (value.is_structured()) {
      for (Json& part : value) fill(part);
    }
  }

 private:
  struct Place {
    std::size_t begin;
    std::size_t end;
    std::string_view name;
  };

  static std::optional<Place> next_place(std::string_view text, std::size_t from) {
    const std::size_t begin = text.find("{{", from);
    if (begin == std::string_view::npos) return std::nullopt;
    const std::size_t end = text.find("}}", begin);
    if (end == std::string_view::npos) refuse(text.substr(begin));
    std::string_view name = text.substr(begin + 2, end - begin - 2);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    return Place{begin, end + 2, name};
  }

  /// Whether the text is a JSON object or list once the placeholders are filled.
  static bool is_json(std::string_view text) {
    std::string trial;
    std::size_t at = 0;
    while (const std::optional<Place> place = next_place(text, at)) {
      trial.append(text.substr(at, place->begin - at)).append("0");
      at = place->end;
    }
    trial.append(text.substr(at));
    try {
      return read_json(trial).is_structured();
    } catch (const JsonError&) {
      return false;
    }
  }

  std::string filled(std::string_view text, bool json) {
    std::string out;
    std::size_t at = 0;
    bool quoted = false;
    while (const std::optional<Place> place = next_place(text, at)) {
      for (; at < place->begin; ++at) {
        if (quoted && text[at] == '\\' && at + 1 < place->begin)
          out += text[at++];
        else if (text[at] == '"')
          quoted = !quoted;
        out += text[at];
      }
      const Json value = value_of(place->name);
      const std::size_t before = out.size();
      if (json && !quoted) {
        out += value.dump();
      } else {
        const std::string plain = value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
        const std::string escaped = json ? Json(plain).dump() : plain;
        out += json ? escaped.substr(1, escaped.size() - 2) : escaped;
      }
      filled_ += out.size() - before;
      if (filled_ > most_filled)
        throw GatewayError("the placeholders of a template may become 32 MiB in all; quote less of the request");
      at = place->end;
    }
    return out.append(text.substr(at));
  }

  Json value_of(std::string_view name) {
    if (name == "request.last_user_text") return facts_ ? Json(facts_->last_user_text) : Json();
    if (name == "count") return facts_ ? Json(facts_->call) : Json();
    if (name == "now") return facts_ ? Json(calendar::rfc3339_milliseconds(facts_->now)) : Json();
    if (name == "uuid") return facts_ ? Json(uuid(random_)) : Json();
    if (name.substr(0, of_body.size()) == of_body) {
      const std::string_view pointer = name.substr(of_body.size());
      if (pointer.empty() || pointer.front() != '/') refuse("{{" + std::string(name) + "}}");
      const Json* const found = facts_ ? json_pointer::find(facts_->body, pointer) : nullptr;
      return found ? *found : Json();
    }
    if (name.substr(0, of_header.size()) == of_header && name.size() > of_header.size()) {
      if (!facts_) return Json();
      const std::optional<std::string> field = facts_->http.headers.find(std::string(name.substr(of_header.size())));
      return field ? Json(*field) : Json();
    }
    refuse("{{" + std::string(name) + "}}");
  }

  const TemplateFacts* facts_;
  Random random_;
  std::size_t filled_ = 0;
};

void fill(ReplyData& data, Filler filler) {
  for (ScriptedChoice& choice : data.choices) {
    if (choice.text) filler.fill(*choice.text);
    filler.fill(choice.thinking);
    if (choice.refusal) filler.fill(*choice.refusal);
    for (ScriptedToolCall& call : choice.tool_calls) {
      if (call.custom)
        filler.fill(call.arguments);
      else
        filler.fill_json_text(call.arguments);
    }
  }
  if (data.raw) filler.fill(data.raw->body);
  for (std::vector<Json>* patches : {&data.extra, &data.extra_message})
    for (Json& patch : *patches) filler.fill(patch);
}

}  // namespace reply_templates

void require_template(const ReplyData& data) {
  ReplyData tried = data;
  reply_templates::fill(tried, reply_templates::Filler(nullptr));
}

void fill_template(ReplyData& data, const TemplateFacts& facts) {
  reply_templates::fill(data, reply_templates::Filler(&facts));
}

}  // namespace mock_gateway::detail
