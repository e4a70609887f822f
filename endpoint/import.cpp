// Detecting the format of a recording; the comment of the script.

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
    "curl -iN (\"HTTP/1.1 200 OK\" and all that follows, without -v), a HAR file as browsers and proxies save it, and "
    "a JSON body";

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

Imported import_json(std::string_view bytes, const Json& file, const KeyMask& mask, Notes& notes) {
  if (file.is_object() && file.contains("mock_gateway"))
    throw ImportError("this is a script already: serve it with mock-gateway --script FILE");
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
Imported import_any(std::string_view bytes, KeyMask& mask, Notes& notes) {
  const std::size_t begin = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin == std::string_view::npos) throw ImportError("the file is empty; " + std::string(understood));
  if (looks_like_curl(bytes.substr(begin))) return import_curl(bytes.substr(begin), mask, notes);
  if (looks_like_stream(bytes)) return import_body("the body of a stream", bytes, mask, notes);
  const char first = bytes[begin];
  if (first != '{' && first != '[') throw ImportError("unknown kind of file; " + std::string(understood));
  const Json file = read_file(bytes);
  return is_har(file) ? import_har(file, mask, notes) : import_json(bytes, file, mask, notes);
}

std::string comment_of(const std::string& name, const Imported& imported, const Notes& notes) {
  constexpr std::size_t most_notes = 20;
  std::string comment = "Imported from " + name + ": " + imported.kind + ".";
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
  }
  return bytes;
}

}  // namespace
}  // namespace importing

int mock_gateway::endpoint::import_recording(const std::string& path) {
  using namespace importing;
  const std::string bytes = read_all(path);
  const std::string name = name_of(path);
  KeyMask mask;
  Notes notes;
  try {
    const Imported imported = import_any(bytes, mask, notes);
    Json script = Json::object();
    script["mock_gateway"] = 1;
    script["comment"] = comment_of(name, imported, notes);
    script.update(imported.parts);
    mask_strings(script, mask);
    std::cout << laid_out(script) << std::endl;
  } catch (const ImportError& problem) {
    std::string message = "import: " + name + ": " + problem.what();
    mask.mask(message);
    throw ImportError(message);
  }
  if (!std::cout) throw ImportError("import: the script could not be written");
  return 0;
}
