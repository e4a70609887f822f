// What the readers of recordings give.

#pragma once

#include <string>
#include <string_view>

#include "recorded_reply.hpp"

namespace importing {

/// What a file becomes, but for the version of the format and the comment.
struct Imported {
  std::string kind;  // of file, for the comment
  Json parts = Json::object();
};

/// Whether the text begins with the status line of an HTTP reply.
bool looks_like_curl(std::string_view text);
/// The output of `curl -i`: the last final reply counts.
Imported import_curl(std::string_view text, KeyMask& mask, Notes& notes);

/// Whether it is a HAR file (HTTP Archive 1.2), as browsers and proxies save it.
bool is_har(const Json& file);
/// A stub for each kind of chat request, and operations for what else the same host answered as JSON.
Imported import_har(const Json& file, KeyMask& mask, Notes& notes);

}  // namespace importing
