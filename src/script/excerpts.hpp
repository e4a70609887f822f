#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../core/json.hpp"

namespace mock_gateway::detail {
namespace excerpts {

/// The maximum length of a text or JSON value in reports, in bytes.
inline constexpr std::size_t shown_bytes = 120;

/// Returns the text as text::printable() does, cut with "…" after `most` bytes.
std::string plain(std::string_view text, std::size_t most = shown_bytes);
/// Returns the same in quotes, with inner quotes escaped, cut after 120 bytes.
std::string quoted(std::string_view text);
std::string quoted_end(std::string_view text);
/// Returns on one line how `actual` differs from `expected`, as excerpts around the first difference if they are long:
/// `"…lazy cat…" instead of "…lazy dog…" from byte 812 on`. Bytes count from 1, after `skipped` others of the actual
/// text. Returns only the actual text if they are equal.
std::string difference(std::string_view expected, std::string_view actual, std::size_t skipped = 0);
std::string json(const Json& value);
/// Formats a number with thousands separators: "4,096".
std::string grouped(std::size_t number);

}  // namespace excerpts
}  // namespace mock_gateway::detail
