#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../core/json.hpp"

namespace mock_gateway::detail {
namespace excerpts {

/// What reports show of a text or a JSON value, in bytes, before it is cut.
inline constexpr std::size_t shown_bytes = 120;

/// The text as text::printable() gives it; beyond `most` bytes cut, with "…".
std::string plain(std::string_view text, std::size_t most = shown_bytes);
/// The same in quotes, with those within it escaped; beyond 120 bytes cut.
std::string quoted(std::string_view text);
/// The same of a long text's last 120 bytes, with "…" before them.
std::string quoted_end(std::string_view text);
/// How `actual` differs from `expected`, both on one line: whole when short, else some of each around the first
/// difference, with its place: `"…lazy cat…" instead of "…lazy dog…" from byte 812 on`. Bytes count from 1, after
/// `skipped` others of the actual text. Just the actual text when they are equal.
std::string difference(std::string_view expected, std::string_view actual, std::size_t skipped = 0);
/// A JSON value on one line, beyond 120 bytes cut, with "…".
std::string json(const Json& value);
/// "4,096".
std::string grouped(std::size_t number);

}  // namespace excerpts
}  // namespace mock_gateway::detail
