#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace importing {

/// Puts asterisks in the place of keys, one for each byte, so that every length and every place stays what was
/// recorded. What begins a key (`sk-`) stays, so that a reader sees what stood there.
class KeyMask {
 public:
  /// A credential that a recorded request presented: it is masked wherever it stands. One that neither begins with
  /// `sk-` nor has 16 bytes may be a word, as "EMPTY" is, and is left aside.
  void add(std::string_view credential);
  /// Masks the credentials that were added, and words of at least 20 characters that begin like the keys of a known
  /// issuer. Returns how many were masked.
  std::size_t mask(std::string& text) const;
  /// The same for a body. Also finds a key that a stream divided between its deltas.
  std::size_t mask_body(std::string& body) const;

 private:
  struct Span {
    std::size_t begin;
    std::size_t end;
  };

  std::vector<Span> find(std::string_view text) const;

  std::vector<std::string> credentials_;
};

/// Masks everything that a script says besides bodies, which are masked already. What is base64 has no keys to be seen,
/// and would become other bytes.
void mask_strings(mock_gateway::Json& value, const KeyMask& mask);

namespace text = mock_gateway::internal::text;

}  // namespace importing
