#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "../core/random.hpp"
#include "schema_value.hpp"

// The formats of texts: recognized and made.

namespace mock_gateway {
namespace detail {
namespace schema {

/// The formats that are assertions; `any` constrains nothing.
enum class Format { any, date_time, date, time, duration, email, hostname, ipv4, ipv6, uuid, uri };

/// The format of a name; empty when it is not supported.
std::optional<Format> format_named(std::string_view name);

/// Whether a text is of a format: `no` only when no reader would take it.
Verdict format_verdict(Format format, std::string_view subject);

/// A text of a format, of `length` characters where the format can have it; 0 for a usual one.
std::string format_text(Format format, std::size_t length, Random& random);

}  // namespace schema
}  // namespace detail
}  // namespace mock_gateway
