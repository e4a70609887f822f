#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace mock_gateway::detail {
namespace secrets {

/// What stands in place of a secret that begins with `sk-` wherever something is recorded or printed; and of any other,
/// and of base64.
inline constexpr std::string_view masked = "sk-***";
inline constexpr std::string_view masked_other = "***";

/// Whether this has the form of a key: `sk-` and something after it.
bool looks_like_key(std::string_view text);
/// Whether a header of this name carries a credential by its nature: its value is masked wherever it is recorded.
bool is_sensitive_header(std::string_view name);

/// What was masked in a text.
struct Masked {
  std::size_t bytes = 0;
  /// Whether a key was among it: as a word of its own, so that a key "sk-1" is not found in "task-1", or long enough to
  /// be nothing else.
  bool has_key = false;
};

/// Secrets that texts are searched for: as they are, and inside of base64, standard or for URLs. For any thread.
class Known {
 public:
  /// A secret that neither begins with `sk-` nor has 16 bytes may be a word of a prompt, as "EMPTY" is, and is not
  /// searched for.
  void add(std::string_view secret);
  /// Masks these secrets, `others`, and keys of anybody else: words of at least 20 characters that begin with `sk-`.
  /// Also finds them percent-encoded (RFC 3986, 2.1) or with JSON escapes (RFC 8259, 7), or with one inside of the
  /// other. The number of secrets costs nothing, but for those that do not begin with `sk-`.
  Masked mask(std::string& text, const Known& others = {}) const;

 private:
  friend struct Scanner;
  std::string beginnings() const;
  std::size_t prefix(std::string_view text) const;

  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> forms_;
  std::string beginnings_;  // the first three bytes of every form but `sk-`, one after the other
};

}  // namespace secrets
}  // namespace mock_gateway::detail
