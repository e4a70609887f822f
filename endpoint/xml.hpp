#pragma once

#include <string>

namespace mock_gateway {
namespace endpoint {

/// Text as XML 1.0 and HTML can hold it, at most 64 KiB: what markup is made of is escaped, and what a parser would
/// change in an attribute or at a line end; a character that XML forbids is U+FFFD.
std::string escaped_for_xml(const std::string& bytes);
/// The same where a line end may stay one.
std::string escaped_lines(const std::string& bytes);

}  // namespace endpoint
}  // namespace mock_gateway
