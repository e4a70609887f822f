#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace importing {

/// Masks keys with one asterisk per byte, so that lengths and positions stay the same. Keeps the start of a key (`sk-`)
/// for readers.
class KeyMask {
 public:
  /// Adds a request's credential, to be masked everywhere. Ignores a credential under 16 bytes that does not start with
  /// `sk-`: it may be an ordinary word, such as "EMPTY".
  void add(std::string_view credential);
  /// Masks added credentials, and words of at least 20 characters that start like keys of a known issuer. Returns the
  /// number of masked keys.
  std::size_t mask(std::string& text) const;
  /// Masks a body. Also finds keys that are split across the deltas of a stream.
  std::size_t mask_body(std::string& body) const;

 private:
  struct Span {
    std::size_t begin;
    std::size_t end;
  };

  std::vector<Span> find(std::string_view text) const;

  std::vector<std::string> credentials_;
};

/// Masks all strings of a script except bodies, which are masked already. Skips base64, where masking would change
/// other bytes.
void mask_strings(mock_gateway::Json& value, const KeyMask& mask);

namespace text = mock_gateway::internal::text;

}  // namespace importing
