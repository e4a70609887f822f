// How the program finds the files that it carries.

#pragma once

#include <cstddef>
#include <string_view>

// The files that the build puts into the program; cmake/Embed.cmake writes their source.

namespace mock_gateway {
namespace endpoint {

struct EmbeddedFile {
  /// Its name in endpoint/console/: "index.html".
  std::string_view name;
  std::string_view content;
};

/// The console page.
extern const EmbeddedFile embedded_files[];
extern const std::size_t embedded_file_count;
/// The OpenAPI document, without what the program adds.
extern const std::string_view embedded_openapi;

}  // namespace endpoint
}  // namespace mock_gateway
