#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace mock_gateway::detail {
namespace secrets {

/// The replacements of secrets that begin with `sk-`, and of other secrets and base64.
inline constexpr std::string_view masked = "sk-***";
inline constexpr std::string_view masked_other = "***";

/// Whether the text has the form of a key: `sk-` and at least one more character.
bool looks_like_key(std::string_view text);
/// Whether a header with this name carries a credential, so that its value is masked in records.
bool is_sensitive_header(std::string_view name);

struct Masked {
  std::size_t bytes = 0;
  /// Whether the text contained a key. A short key must be a separate word: the key "sk-1" is not found in "task-1".
  bool has_key = false;
};

/// Secrets to find in texts, plain and in base64 (standard or for URLs). Thread-safe.
class Known {
 public:
  /// Ignores a secret that neither begins with `sk-` nor has 16 bytes: it may be a word of a prompt, like "EMPTY".
  void add(std::string_view secret);
  /// Masks the added secrets, those of `others`, and foreign keys: words of at least 20 characters that begin with
  /// `sk-`. Also finds them percent-encoded (RFC 3986, 2.1), with JSON escapes (RFC 8259, 7), or with both nested. The
  /// cost does not depend on the number of secrets, except those without `sk-`.
  Masked mask(std::string& text, const Known& others = {}) const;

 private:
  friend struct Scanner;
  std::string beginnings() const;
  std::size_t prefix(std::string_view text) const;

  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> forms_;
  std::string beginnings_;  // the first three bytes of all forms except `sk-`, concatenated
};

}  // namespace secrets
}  // namespace mock_gateway::detail
