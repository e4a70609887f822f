#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../core/json.hpp"

namespace mock_gateway::detail {
namespace excerpts {

/// The maximum length, in bytes, of a text or JSON value in reports.
inline constexpr std::size_t shown_bytes = 120;

/// Returns text::printable(), cut after `most` bytes with "…".
std::string plain(std::string_view text, std::size_t most = shown_bytes);
/// Returns the text in quotes, escaped, and cut after 120 bytes.
std::string quoted(std::string_view text);
/// Returns the last 120 bytes of a text in quotes, with "…" before them if it was cut.
std::string quoted_end(std::string_view text);
/// Describes how `actual` differs from `expected`, on one line. Short texts are shown whole, others around the first
/// difference: `"…lazy cat…" instead of "…lazy dog…" from byte 812 on`. Byte numbers start at 1 + `skipped`. Returns
/// only the actual text if both are equal.
std::string difference(std::string_view expected, std::string_view actual, std::size_t skipped = 0);
/// Returns a JSON value on one line, cut after 120 bytes with "…".
std::string json(const Json& value);
/// Formats a number with thousands separators: "4,096".
std::string grouped(std::size_t number);

}  // namespace excerpts
}  // namespace mock_gateway::detail
