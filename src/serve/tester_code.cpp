// What becomes of exceptions of the test's functions.

#include "tester_code.hpp"

#include <string_view>
#include <vector>

namespace mock_gateway {
namespace detail {

Tokenizer guarded_tokenizer(Tokenizer tokenizer) {
  if (!tokenizer) return tokenizer;
  return [tokenizer = std::move(tokenizer)](std::string_view text) {
    std::vector<std::string> tokens;
    if (const auto thrown = guarded([&] { tokens = tokenizer(text); })) throw TokenizerThrew{*thrown};
    return tokens;
  };
}

}  // namespace detail
}  // namespace mock_gateway
