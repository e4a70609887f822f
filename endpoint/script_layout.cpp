// Formats generated scripts: indentation, line breaks, escapes.

#include "script_layout.hpp"

#include <cstddef>
#include <utility>

#include "library.hpp"

using mock_gateway::Json;

namespace {

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

std::string laid_out(const Json& script) {
  std::string lines;
  write_indented(lines, script, 0, false);
  return mock_gateway::internal::text::printable_lines(lines);
}
