#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../model/chat_request.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {

/// Splits text into tokens, whose concatenation is the text and none of which ends inside a UTF-8 character. One token
/// is one streamed content delta, one unit of `max_tokens` and of `usage`. It may be called from several threads.
using Tokenizer = std::function<std::vector<std::string>(std::string_view text)>;

namespace detail {

/// A text and its tokens, which together are all of it.
struct TokenizedText {
  std::string text;
  std::vector<std::size_t> ends;  // the byte after each token

  std::size_t size() const { return ends.size(); }
  std::string_view token(std::size_t index) const {
    const std::size_t start = index == 0 ? 0 : ends[index - 1];
    return std::string_view(text).substr(start, ends[index] - start);
  }
  /// Drops what follows the first `count` tokens.
  void keep_tokens(std::size_t count);
  /// Drops what follows the first `count` bytes; a token that reaches beyond them becomes shorter.
  void keep_bytes(std::size_t count);
};

/// The gateway's tokenizer. Unless one is given, a word with the white space before it is a token, and so is each CJK
/// ideograph, kana or hangul syllable.
///
/// What a given tokenizer returns is checked: GatewayError when the pieces do not add up to the text or one ends
/// inside a character.
class Tokens {
 public:
  explicit Tokens(Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {}

  TokenizedText split(std::string text) const;
  /// Splits the arguments of a tool call. Compact JSON has hardly any white space, so that without a given tokenizer
  /// its tokens are runs of letters or of punctuation, of at most 12 bytes.
  TokenizedText split_arguments(std::string json) const;
  /// As many as split gives, in most cases without splitting.
  std::size_t count(std::string_view text) const;
  /// Of a request: the tokens of every message's text, name, tool calls, and of the tools' JSON, and 3 per message
  /// for its frame.
  std::size_t count_prompt(const ChatRequest& request) const;

 private:
  Tokenizer tokenizer_;  // empty: words
};

}  // namespace detail

}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
