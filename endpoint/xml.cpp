// Text in XML and HTML: escaping and maximum length; JUnit reports.

#include "xml.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "results.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// The maximum size of a message, since JUnit readers keep messages in memory and databases.
constexpr std::size_t most_bytes = std::size_t{64} << 10;

std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + escaped_for_xml(value) + "\"";
}

std::string xml_of(const JUnitCase& one, const std::string& class_name) {
  std::string xml = "    <testcase" + attribute("classname", class_name) + attribute("name", one.name);
  if (is_in_script(one.where))
    xml += attribute("file", one.where.file) + attribute("line", std::to_string(one.where.line));
  xml += attribute("time", one.time);
  std::string inside;
  if (!one.skipped.empty()) inside += "      <skipped" + attribute("message", one.skipped) + "/>\n";
  if (one.failures > 0) {
    std::string message = one.failure.substr(0, one.failure.find('\n'));
    if (one.failures > 1) message += " (and " + std::to_string(one.failures - 1) + " more)";
    inside += "      <failure" + attribute("message", message) + attribute("type", one.type) + ">" +
              escaped_lines(one.failure) + "</failure>\n";
  }
  if (!one.output.empty()) inside += "      <system-out>" + escaped_lines(one.output) + "</system-out>\n";
  return xml + (inside.empty() ? "/>\n" : ">\n" + inside + "    </testcase>\n");
}

std::string xml_of(JUnitSuite& suite, const std::string& class_prefix) {
  std::map<std::string, std::size_t> uses;
  for (JUnitCase& one : suite.cases)
    if (const std::size_t use = ++uses[one.name]; use > 1) one.name += " [" + std::to_string(use) + "]";
  const auto number_of = [&suite](auto is_counted) {
    return std::to_string(std::count_if(suite.cases.begin(), suite.cases.end(), is_counted));
  };
  std::string xml = "  <testsuite" + attribute("name", suite.name) +
                    attribute("tests", std::to_string(suite.cases.size())) +
                    attribute("failures", number_of([](const JUnitCase& one) { return one.failures > 0; })) +
                    attribute("errors", "0") +
                    attribute("skipped", number_of([](const JUnitCase& one) { return !one.skipped.empty(); })) +
                    suite.attributes + ">\n";
  if (!suite.properties.empty()) xml += "    <properties>\n";
  for (const auto& [name, value] : suite.properties)
    xml += "      <property" + attribute("name", name) + attribute("value", std::to_string(value)) + "/>\n";
  if (!suite.properties.empty()) xml += "    </properties>\n";
  for (const JUnitCase& one : suite.cases) xml += xml_of(one, class_prefix + suite.name);
  if (!suite.output.empty()) xml += "    <system-out>" + escaped_lines(suite.output) + "</system-out>\n";
  return xml + "  </testsuite>\n";
}

}  // namespace

std::string escaped_for_xml(const std::string& bytes) {
  const std::string text = internal::text::excerpt(internal::text::as_utf8(bytes), most_bytes - std::strlen("…"));
  std::string escaped;
  char32_t character = 0;
  std::size_t length = 0;
  for (std::size_t at = 0; (length = internal::text::decode_utf8(text, at, character)) > 0; at += length) {
    const bool is_forbidden = character < 0x20 || character == 0xfffe || character == 0xffff;
    switch (character) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\t': escaped += "&#9;"; break;
      case '\n': escaped += "&#10;"; break;
      case '\r': escaped += "&#13;"; break;
      default: escaped += is_forbidden ? "\xef\xbf\xbd" : text.substr(at, length);  // U+FFFD
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

void JUnitCase::add(bool fails, const std::string& kind, const std::string& text) {
  if (fails && ++failures == 1) type = kind;
  std::string& texts = fails ? failure : output;
  texts += (texts.empty() ? "" : "\n\n") + text;
}

std::string junit_report(const std::string& name, const std::string& class_prefix, std::vector<JUnitSuite> suites) {
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", name) + ">\n";
  for (JUnitSuite& suite : suites) xml += xml_of(suite, class_prefix);
  return xml + "</testsuites>\n";
}

}  // namespace endpoint
}  // namespace mock_gateway
