// The files that are embedded in the program.

#pragma once

#include <cstddef>
#include <string_view>

// cmake/Embed.cmake generates their definitions.

namespace mock_gateway {
namespace endpoint {

struct EmbeddedFile {
  /// The name in endpoint/console/, such as "index.html".
  std::string_view name;
  std::string_view content;
};

/// The files of the console.
extern const EmbeddedFile embedded_files[];
extern const std::size_t embedded_file_count;
/// The embedded openapi.json, before the program's additions.
extern const std::string_view embedded_openapi;

}  // namespace endpoint
}  // namespace mock_gateway
