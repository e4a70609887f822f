// Text in XML and HTML: which characters may stand in it, the longest message.

#include "xml.hpp"

#include <cstddef>
#include <string_view>

#include "library.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// How much a message may hold. Readers of JUnit files keep them in memory and in databases.
constexpr std::size_t most_bytes = std::size_t{64} << 10;

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

/// At most `most_bytes` of valid UTF-8 in which every character may stand in XML 1.0: others are U+FFFD.
std::string printable_in_xml(const std::string& bytes) {
  const Json json = Json::parse(Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace));
  const auto& utf8 = json.get_ref<const std::string&>();
  std::string text;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    const std::string_view three = std::string_view(utf8).substr(i, 3);
    if (three == "\xef\xbf\xbe" || three == "\xef\xbf\xbf") {  // U+FFFE and U+FFFF
      text += replacement;
      i += 2;
    } else if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') {
      text += replacement;
    } else {
      text += utf8[i];
    }
  }
  if (text.size() <= most_bytes) return text;
  constexpr std::string_view ellipsis = "…";
  std::size_t end = most_bytes - ellipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end).append(ellipsis);
}

}  // namespace

std::string escaped_for_xml(const std::string& bytes) {
  std::string escaped;
  for (const char c : printable_in_xml(bytes)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\t': escaped += "&#9;"; break;
      case '\n': escaped += "&#10;"; break;
      case '\r': escaped += "&#13;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string escaped_lines(const std::string& bytes) {
  std::string escaped = escaped_for_xml(bytes);
  constexpr std::string_view line_end = "&#10;";
  for (std::size_t at = escaped.find(line_end); at != std::string::npos; at = escaped.find(line_end, at + 1))
    escaped.replace(at, line_end.size(), "\n");
  return escaped;
}

}  // namespace endpoint
}  // namespace mock_gateway
