// Detecting the format of a recording; the comment of the script.

#include <algorithm>  // min
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "commands.hpp"
#include "recorded.hpp"

namespace importing {
namespace {

constexpr const char* understood =
    "import understands the body of a stream (\"data: …\", \"event: …\", a comment), the output of curl -i or "
    "curl -iN (\"HTTP/1.1 200 OK\" and all that follows, without -v), a HAR file as browsers and proxies save it, a "
    "JSON body, and a stream's chunks as lines of JSON";

Json read_file(std::string_view bytes) {
  try {
    return read_json(bytes);
  } catch (const mock_gateway::GatewayError& problem) {
    throw ImportError("it begins like JSON, but is not JSON at " +
                      mock_gateway::endpoint::without_prefix(problem.what()) + "; was it cut off, or edited?");
  }
}

/// Imports a body without a head as a stub that answers every request.
Imported import_body(const std::string& what, std::string_view bytes, const KeyMask& mask, Notes& notes) {
  Recording recording;
  recording.body = std::string(bytes);
  recording.has_head = false;
  Imported imported;
  imported.kind = what + "; neither status nor headers are in the file, so it is served with 200";
  imported.parts["stubs"] = Json::array({Json{{"reply", chat_reply(std::move(recording), mask, notes)}}});
  return imported;
}

bool is_chunk(const Json& line) {
  return line.is_object() && (line.contains("error") || line.contains("choices")) &&
         text_of(line, "object") != "chat.completion";
}

/// Takes the next line that is not empty.
std::string_view next_line(std::string_view& rest, std::size_t& number) {
  std::string_view line;
  while (line.empty() && !rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    line = rest.substr(0, rest.substr(0, end).find_last_not_of(" \t\r") + 1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
  }
  return line;
}

/// Whether the text is one JSON object per line: several, or a chunk.
bool is_lines(std::string_view rest) {
  std::size_t number = 0;
  const std::string_view line = next_line(rest, number);
  const bool is_only_line = next_line(rest, number).empty();
  const Json first = json_if_valid(line);
  return first.is_object() && (!is_only_line || text_of(first, "object") == "chat.completion.chunk");
}

Imported import_lines(std::string_view rest, const KeyMask& mask, Notes& notes) {
  std::string body;
  std::size_t number = 0;
  for (std::string_view line = next_line(rest, number); !line.empty(); line = next_line(rest, number)) {
    if (!is_chunk(json_if_valid(line)))
      throw ImportError("line " + std::to_string(number) +
                        " is not a chunk of a stream, an object with \"choices\" or \"error\"");
    body.append("data: ").append(line).append("\n\n");
  }
  return import_body("the chunks of a stream as lines of JSON, with [DONE] at the end", body + "data: [DONE]\n\n", mask,
                     notes);
}

Imported import_json(std::string_view bytes, const Json& file, const KeyMask& mask, Notes& notes) {
  if (file.is_object() && file.contains("mock_gateway"))
    throw ImportError("this is a script already: serve it with mock-gateway --script FILE");
  if (const std::string foreign = mock_gateway::internal::foreign_format(file); !foreign.empty())
    throw ImportError("this looks like " + foreign + "; import reads recordings of answers");
  if (file.is_array() && !file.empty() && is_chunk(file.front()))
    throw ImportError(
        "this is a list of chunks; write one chunk per line, as in jq -c '.[]' FILE | mock-gateway import -");
  if (file.is_object() && file.contains("messages") && !file.contains("choices")) {
    throw ImportError(
        "this looks like the body of a request (it has \"messages\" and no \"choices\"); import reads what was "
        "answered");
  }
  if (file.is_object() && file.contains("error")) {
    notes.lines.push_back(
        "the body is an error, so its status was probably not 200: write it into raw_reply, or record it with curl -i");
  }
  return import_body("a JSON body", bytes, mask, notes);
}

/// Detects the format by its content.
Imported import_any(std::string_view bytes, const HarOptions& har, KeyMask& mask, Notes& notes) {
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin == std::string_view::npos) throw ImportError("the file is empty; " + std::string(understood));
  if (looks_like_curl(bytes.substr(begin))) return import_curl(bytes.substr(begin), mask, notes);
  if (looks_like_stream(bytes)) return import_body("the body of a stream", bytes, mask, notes);
  const char first = bytes[begin];
  if (bytes.substr(0, 64).find("interactions:") != std::string_view::npos)
    throw ImportError("this looks like a cassette of vcrpy or go-vcr; examples/cassette_to_har.py converts it");
  if (first != '{' && first != '[') throw ImportError("unknown kind of file; " + std::string(understood));
  if (is_lines(bytes.substr(begin))) return import_lines(bytes.substr(begin), mask, notes);
  const Json file = read_file(bytes);
  if (is_har(file)) return import_har(file, har, mask, notes);
  return import_json(bytes, file, mask, notes);
}

std::string comment_of(const std::string& name, const Imported& imported, const Notes& notes) {
  constexpr std::size_t most_notes = 20;
  std::string comment = "Imported from " + name + ": " + imported.kind + ".";
  for (const std::string& line : notes.left_out) comment += " Note: " + line + ".";
  for (std::size_t i = 0; i < notes.lines.size() && i < most_notes; ++i) comment += " Note: " + notes.lines[i] + ".";
  if (notes.lines.size() > most_notes)
    comment += " And " + text::counted(notes.lines.size() - most_notes, "more note") + " of this kind.";
  if (notes.keys > 0)
    comment += " Keys became asterisks in " + std::to_string(notes.keys) + (notes.keys == 1 ? " place." : " places.");
  return comment;
}

/// Returns the file name without folders, which may be private.
std::string name_of(const std::string& path) {
  if (path == "-") return "standard input";
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return text::is_valid_utf8(name) ? name : "a file";
}

}  // namespace

std::string read_all(const std::string& path) {
  // C++ streams do not tell why a folder cannot be read.
  const auto fail = [&path](int problem) {
    throw ImportError("import: cannot read " + path + ": " + std::generic_category().message(problem));
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(nullptr, &std::fclose);
  std::FILE* file = stdin;
  if (path != "-") {
    opened.reset(std::fopen(path.c_str(), "rb"));
    file = opened.get();
  }
  if (file == nullptr) fail(errno);
  std::string bytes;
  char block[65536];
  for (std::size_t count = 1; count > 0;) {
    count = std::fread(block, 1, sizeof block, file);
    if (count == 0 && std::ferror(file) != 0) fail(errno);
    bytes.append(block, count);
    if (bytes.size() > mock_gateway::internal::largest_script())
      throw ImportError("import: " + path + " is larger than 64 MiB");
  }
  return bytes;
}

}  // namespace importing

int mock_gateway::endpoint::import_recording(const std::string& path, bool skip_missing_bodies) {
  using namespace importing;
  const std::string bytes = read_all(path);
  const std::string name = name_of(path);
  const std::size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const HarOptions har{path == "-" ? "" : folder, skip_missing_bodies};
  KeyMask mask;
  Notes notes;
  try {
    const Imported imported = import_any(bytes, har, mask, notes);
    Json script = Json::object();
    script["mock_gateway"] = 1;
    script["comment"] = comment_of(name, imported, notes);
    script.update(imported.parts);
    mask_strings(script, mask);
    const std::string written = laid_out(script);
    if (written.size() > internal::largest_script())
      throw ImportError("its script would be larger than 64 MiB; record fewer requests");
    std::cout << written << std::endl;
  } catch (const ImportError& problem) {
    std::string message = "import: " + name + ": " + problem.what();
    mask.mask(message);
    throw ImportError(message);
  }
  if (!std::cout) throw ImportError("import: the script could not be written");
  return 0;
}
