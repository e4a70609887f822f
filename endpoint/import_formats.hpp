// The readers of recorded formats, and their result.

#pragma once

#include <string>
#include <string_view>

#include "recorded_reply.hpp"

namespace importing {

/// An imported file, without the format version and the comment.
struct Imported {
  std::string kind;  // the file's format, for the comment
  Json parts = Json::object();
};

/// Whether the text starts with an HTTP status line.
bool looks_like_curl(std::string_view text);
/// Imports the output of `curl -i`: its last final response.
Imported import_curl(std::string_view text, KeyMask& mask, Notes& notes);

/// Whether the JSON is a HAR file (HTTP Archive 1.2), as saved by browsers and proxies.
bool is_har(const Json& file);
/// Imports each kind of chat request as a stub, and other JSON answers of the same host as operations.
Imported import_har(const Json& file, KeyMask& mask, Notes& notes);

}  // namespace importing
