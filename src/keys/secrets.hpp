#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "../core/version.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {
namespace secrets {

/// What stands in place of a secret wherever something is recorded or printed.
inline constexpr std::string_view masked = "sk-***";

/// Whether this has the form of a key: `sk-` and something after it.
bool looks_like_key(std::string_view text);

/// Whether a header of this name carries a credential by its nature: its value is masked wherever it is recorded.
bool is_sensitive_header(std::string_view name);

/// What is to be found.
struct Known {
  /// No secret is longer.
  std::size_t longest;
  /// Whether one of them may begin like this, which is the start of a piece of text. Asked before the rest is looked
  /// at.
  std::function<bool(std::string_view start)> may_begin;
  /// The length of the longest one with which `text` begins; 0 when it begins with none.
  std::function<std::size_t(std::string_view text)> prefix;
};

/// Replaces every secret in `text` by `sk-***` and returns how many there were. Secrets begin with `sk-`; they are also
/// found percent-encoded (RFC 3986, 2.1) or with JSON escapes (RFC 8259, 7). `known` is asked only where the text has
/// `sk-`, so that long texts are cheap.
std::size_t mask(std::string& text, const Known& known);

}  // namespace secrets
}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
