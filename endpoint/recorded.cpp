// Converts recorded replies and requests to script members: headers to leave out, bodies to refuse, conditions; formats
// the script.

#include "recorded.hpp"

#include <algorithm>  // any_of, find, find_if, min, mismatch
#include <utility>

namespace importing {
namespace {

/// The default end of a stream.
constexpr std::string_view done = "data: [DONE]\n\n";
constexpr std::string_view default_stream_type = "text/event-stream; charset=utf-8";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
/// The script parser allows 512 levels; the script itself needs some around the recorded JSON.
constexpr std::size_t most_levels = 256;

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Parses JSON whose compact form is exactly `text`; otherwise returns a discarded value.
Json json_if_compact(std::string_view text) {
  if (text.empty() || (text.front() != '{' && text.front() != '[')) return Json(Json::value_t::discarded);
  Json value = json_if_valid(text);
  if (!value.is_discarded() && value.dump() != text) return Json(Json::value_t::discarded);
  return value;
}

/// Returns the end of the event at `at`, after its blank line. Blank lines before an event are a separate part.
std::size_t end_of_event(std::string_view body, std::size_t at) {
  const auto line_end = [body](std::size_t place) -> std::size_t {
    if (body.substr(place, 2) == "\r\n") return 2;
    return place < body.size() && (body[place] == '\r' || body[place] == '\n') ? 1 : 0;
  };
  const std::size_t begin = at;
  while (line_end(at) > 0) at += line_end(at);
  if (at > begin) return at;
  while (at < body.size()) {
    at = std::min(body.find_first_of("\r\n", at), body.size());
    at += line_end(at);
    if (line_end(at) > 0) return at + line_end(at);
  }
  return at;
}

Json chunk(std::string_view event) {
  Json element = Json::object();
  if (starts_with(event, "data: {") && ends_with(event, "}\n\n")) {
    Json value = json_if_compact(event.substr(6, event.size() - 8));
    if (!value.is_discarded()) {
      element["json"] = std::move(value);
      return element;
    }
  }
  if (text::is_valid_utf8(event))
    element["raw_bytes"] = std::string(event);
  else
    element["raw_base64"] = text::base64(event);
  return element;
}

/// Adds the parts of mock-gateway's own stream to `chunks`. Returns whether the last one is the default end, which the
/// gateway adds itself.
bool add_parts(Json& reply, Json& elements, const Recording& recording) {
  mock_gateway::Duration before = recording.own->head_at;
  std::size_t begin = 0;
  for (const Part& part : recording.own->parts) {
    const std::string_view bytes = std::string_view(recording.body).substr(begin, part.end - begin);
    const bool is_later = part.at - before >= least_gap;
    if (part.end == recording.body.size() && bytes == done && !elements.empty()) {
      if (is_later) {
        Json fault{{"before_done", true}, {"effect", {{"stall", duration_text(part.at - before)}}}};
        reply["faults"].push_back(std::move(fault));
      }
      return true;
    }
    elements.push_back(chunk(bytes));
    if (is_later) {
      elements.back()["at"] = duration_text(part.at);
      before = part.at;
    }
    begin = part.end;
  }
  return false;
}

/// Adds `chunks`, and in `sse` what differs from the default dialect.
void add_stream(Json& reply, const Recording& recording) {
  Json elements = Json::array();
  Json dialect = Json::object();
  std::string_view body = recording.own ? std::string_view() : std::string_view(recording.body);
  if (starts_with(body, byte_order_mark) && body.size() > byte_order_mark.size()) {
    dialect["byte_order_mark"] = true;
    body.remove_prefix(byte_order_mark.size());
  }
  std::string_view last;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = end_of_event(body, at);
    last = body.substr(at, end - at);
    elements.push_back(chunk(last));
    at = end;
  }
  // The gateway adds the end itself. Keep it if it is the only chunk, so that the list is not empty.
  const bool ends_with_done = !recording.own && last == done && elements.size() > 1;
  if (ends_with_done) elements.erase(elements.size() - 1);
  if (!ends_with_done && !(recording.own && add_parts(reply, elements, recording))) dialect["done"] = false;
  if (recording.has_head) {
    const std::string type = find_field(recording.headers, "Content-Type").value_or("");
    if (type != default_stream_type) dialect["content_type"] = type;
  }
  reply["chunks"] = std::move(elements);
  if (!dialect.empty()) reply["sse"] = std::move(dialect);
}

/// Whether to leave out a header field: it depends on the connection, time or length, or is sensitive.
bool is_left_out(std::string_view name, bool is_own) {
  if (is_own) return text::lower_ascii(name) == "content-type" || mock_gateway::internal::is_sensitive_header(name);
  static const std::string_view names[] = {"connection", "keep-alive",     "proxy-connection",  "proxy-authenticate",
                                           "te",         "trailer",        "transfer-encoding", "upgrade",
                                           "date",       "content-length", "content-type",      "content-encoding",
                                           "alt-svc"};
  const std::string lower = text::lower_ascii(name);
  return std::find(std::begin(names), std::end(names), lower) != std::end(names) ||
         mock_gateway::internal::is_sensitive_header(name);
}

/// Returns the kept fields as an object; each value is a string or an array of strings.
Json header_object(const std::vector<Field>& fields, bool is_own, Notes& notes) {
  Json object = Json::object();
  for (const Field& field : fields) {
    // Fields such as ":status" of HTTP/2 are not valid names.
    if (is_own && mock_gateway::internal::is_sensitive_header(field.name))
      notes.lines.push_back("header " + field.name + " is left out, since it carries a credential");
    if (is_left_out(field.name, is_own) || !text::is_token(field.name)) continue;
    if (!text::is_valid_utf8(field.value) ||
        field.value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      notes.lines.push_back("header " + field.name +
                            " is left out, since its value is not UTF-8 or has a control character");
      continue;
    }
    std::string name = field.name;
    for (const auto& member : object.items())
      if (text::lower_ascii(member.key()) == text::lower_ascii(name)) name = member.key();
    Json& value = object[name];
    if (value.is_null()) {
      value = field.value;
    } else {
      if (!value.is_array()) value = Json::array({value});
      value.push_back(field.value);
    }
  }
  return object;
}

/// Adds `json`, `body` or `base64`.
void add_body(Json& reply, const std::string& body) {
  Json value = json_if_compact(body);
  if (!value.is_discarded())
    reply["json"] = std::move(value);
  else if (text::is_valid_utf8(body))
    reply["body"] = body;
  else
    reply["base64"] = text::base64(body);
}

/// Validates a recording and masks its keys. Most tools save a decompressed body with its Content-Encoding, which is
/// left out.
void prepare(Recording& recording, const KeyMask& mask, Notes& notes) {
  const int status = recording.status;
  if (status < 200 || status > 599) {
    throw ImportError("its status " + std::to_string(status) +
                      " is not a final HTTP status (200 to 599), so it cannot be served");
  }
  if ((status == 204 || status == 304) && !recording.body.empty()) {
    throw ImportError("a reply of status " + std::to_string(status) +
                      " has no body (RFC 9110, 6.4.1), but a body follows its head; remove it");
  }
  const std::string coding = text::lower_ascii(find_field(recording.headers, "Content-Encoding").value_or("identity"));
  const bool has_gzip_mark = starts_with(recording.body, "\x1F\x8B");
  const bool is_gzip = coding == "gzip" || coding == "x-gzip";
  if (has_gzip_mark || (coding != "identity" && !is_gzip && !text::is_valid_utf8(recording.body))) {
    throw ImportError("its body is compressed (Content-Encoding: " + (has_gzip_mark ? "gzip" : coding) +
                      "), so keys in it cannot be found and masked" +
                      (recording.own ? "" : "; record it again with curl --compressed"));
  }
  notes.keys += mask.mask_body(recording.body);
  for (std::vector<Field>* const fields : {&recording.headers, &recording.early_hints})
    for (Field& field : *fields)
      if (!is_left_out(field.name, recording.own.has_value()) || text::lower_ascii(field.name) == "content-type")
        notes.keys += mask.mask(field.value);
}

/// Adds status, body and content type. The type defaults to JSON: for JSON bodies, and in `raw_reply` for all.
void add_whole(Json& reply, const Recording& recording, bool is_json_unless_said) {
  reply["status"] = recording.status;
  add_body(reply, recording.body);
  const std::string type =
      find_field(recording.headers, "Content-Type").value_or(recording.has_head ? "" : "application/json");
  if (type != "application/json" || !(is_json_unless_said || reply.contains("json"))) reply["content_type"] = type;
}

void add_headers(Json& reply, const char* key, const std::vector<Field>& fields, bool is_own, Notes& notes) {
  Json headers = header_object(fields, is_own, notes);
  if (!headers.empty()) reply[key] = std::move(headers);
}

std::string text_of_message(const Json& message) {
  const Json& content = member(message, "content");
  std::string text = text_of(message, "content");
  if (content.is_array())
    for (const Json& part : content)
      if (text_of(part, "type") == "text") text += text_of(part, "text");
  return text;
}

/// Returns the text of the user's last message, if any.
std::optional<std::string> user_text(const Json& body) {
  const Json& messages = member(body, "messages");
  if (!messages.is_array()) return std::nullopt;
  for (std::size_t i = messages.size(); i > 0; --i)
    if (text_of(messages[i - 1], "role") == "user") return text_of_message(messages[i - 1]);
  return std::nullopt;
}

void add_condition(Json& when, const char* matcher, const std::string& said, const KeyMask& mask) {
  std::string masked = said;
  mask.mask(masked);
  if (masked == said) {
    when[matcher] = {{"equals", said}};
  } else if (const auto differs = std::mismatch(masked.begin(), masked.end(), said.begin()).first;
             differs != masked.begin()) {
    // Masked text never matches; match the text before the mask.
    when[matcher] = {{"starts_with", std::string(masked.begin(), differs)}};
  }
}

/// Writes a value on one line, with spaces after ':' and ','.
void write_line(std::string& out, const Json& value) {
  const bool is_object = value.is_object();
  if (!is_object && !value.is_array()) {
    out += value.dump();
    return;
  }
  const char* separator = "";
  out += is_object ? '{' : '[';
  for (const auto& member : value.items()) {
    out += std::exchange(separator, ", ");
    if (is_object) out += Json(member.key()).dump() + ": ";
    write_line(out, member.value());
  }
  out += is_object ? '}' : ']';
}

/// Writes an indented value. Short values, and elements of `chunks`, take one line each.
void write_indented(std::string& out, const Json& value, std::size_t indent, bool in_chunks) {
  constexpr std::size_t width = 110;
  std::string line;
  write_line(line, value);
  const bool is_object = value.is_object();
  const bool fits = indent > 0 && indent + line.size() <= width;
  if (in_chunks || fits || value.empty() || !(is_object || value.is_array())) {
    out += line;
    return;
  }
  const char* separator = "";
  out += is_object ? '{' : '[';
  for (const auto& member : value.items()) {
    out.append(std::exchange(separator, ",")).append("\n").append(indent + 2, ' ');
    if (is_object) out += Json(member.key()).dump() + ": ";
    const bool is_chunks = is_object && member.key() == "chunks" && member.value().is_array();
    if (!is_chunks) {
      write_indented(out, member.value(), indent + 2, false);
      continue;
    }
    out += '[';
    for (std::size_t i = 0; i < member.value().size(); ++i) {
      out.append(i == 0 ? "\n" : ",\n").append(indent + 4, ' ');
      write_line(out, member.value()[i]);
    }
    out.append("\n").append(indent + 2, ' ') += ']';
  }
  out.append("\n").append(indent, ' ') += is_object ? '}' : ']';
}

}  // namespace

std::optional<std::string> find_field(const std::vector<Field>& fields, std::string_view name) {
  const std::string wanted = text::lower_ascii(name);
  const auto found = std::find_if(fields.begin(), fields.end(), [&wanted](const Field& field) {
    return text::lower_ascii(field.name) == wanted && text::is_valid_utf8(field.value) &&
           field.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos;
  });
  return found == fields.end() ? std::nullopt : std::optional<std::string>(found->value);
}

std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string given;
  std::string bytes;
  std::size_t group = 0;
  unsigned bits = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    given += c;
    const std::size_t value = digits.find(c);
    if (value == std::string_view::npos) continue;
    group = (group << 6 | value) & 0xFFFF;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 0xFF);
  }
  // Padding is optional.
  const std::string written = importing::text::base64(bytes);
  if (given != written && given != written.substr(0, written.find('='))) return std::nullopt;
  return bytes;
}

std::string duration_text(mock_gateway::Duration duration) {
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  if (microseconds % 1'000'000 == 0) return std::to_string(microseconds / 1'000'000) + "s";
  return microseconds % 1000 == 0 ? std::to_string(microseconds / 1000) + "ms" : std::to_string(microseconds) + "us";
}

Json json_if_valid(std::string_view text) {
  try {
    return read_json(text);
  } catch (const mock_gateway::GatewayError&) {
    return Json(Json::value_t::discarded);
  }
}

Json read_json(std::string_view text) { return mock_gateway::internal::read_json(text, most_levels); }

bool looks_like_stream(std::string_view body) {
  if (starts_with(body, byte_order_mark)) body.remove_prefix(byte_order_mark.size());
  const std::size_t begin = std::min(body.find_first_not_of("\r\n"), body.size());
  const std::string_view line = body.substr(begin, body.find_first_of("\r\n", begin) - begin);
  const std::string_view name = line.substr(0, line.find(':'));
  if (name.empty()) return !line.empty();  // a comment line
  return name.size() < line.size() && (name == "data" || name == "event" || name == "id" || name == "retry");
}

Json chat_reply(Recording recording, const KeyMask& mask, Notes& notes) {
  prepare(recording, mask, notes);
  const std::string type = text::lower_ascii(find_field(recording.headers, "Content-Type").value_or(""));
  const bool looks_streamed = recording.status == 200 && !recording.body.empty() &&
                              (starts_with(type, "text/event-stream") || looks_like_stream(recording.body));
  const bool is_stream = recording.own ? recording.own->is_streamed : looks_streamed;
  Json reply = Json::object();
  if (is_stream) {
    add_stream(reply, recording);
  } else {
    reply["raw_reply"] = Json::object();
    add_whole(reply["raw_reply"], recording, true);
  }
  add_headers(reply, "headers", recording.headers, recording.own.has_value(), notes);
  add_headers(reply, "early_hints", recording.early_hints, recording.own.has_value(), notes);
  if (is_stream && recording.ending != Ending::whole) {
    const char* const effect = recording.ending == Ending::reset ? "reset_connection" : "close_connection";
    reply["faults"] = Json::array({Json{{"at_end", true}, {"effect", effect}}});
  }
  return reply;
}

Json operation_reply(Recording recording, const KeyMask& mask, Notes& notes) {
  prepare(recording, mask, notes);
  Json reply = Json::object();
  add_whole(reply, recording, false);
  add_headers(reply, "headers", recording.headers, recording.own.has_value(), notes);
  return reply;
}

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

std::optional<std::string> system_text(const Json& body) {
  const Json& messages = member(body, "messages");
  if (!messages.is_array()) return std::nullopt;
  for (const Json& message : messages)
    if (const std::string role = text_of(message, "role"); role == "system" || role == "developer")
      return text_of_message(message);
  return std::nullopt;
}

Json conditions(const Json& body, const KeyMask& mask, bool with_system) {
  Json when = Json::object();
  if (const auto said = user_text(body)) add_condition(when, "user_says", *said, mask);
  if (const auto said = system_text(body); said && with_system) add_condition(when, "system_says", *said, mask);
  if (const std::string model = text_of(body, "model"); !model.empty()) when["model_is"] = model;
  if (member(body, "stream").is_boolean()) when["stream_is"] = member(body, "stream");
  return when;
}

std::string laid_out(const Json& script) {
  std::string lines;
  write_indented(lines, script, 0, false);
  return text::printable_lines(lines);
}

}  // namespace importing
