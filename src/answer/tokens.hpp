#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../model/pace.hpp"
#include "../model/tokenizer.hpp"
#include "../request/chat_request.hpp"
#include "events.hpp"

namespace mock_gateway::detail {

/// A text and its tokens, which together are all of it; so are the deltas in which it is streamed.
struct TokenizedText {
  std::string text;
  std::vector<std::size_t> ends;  // the byte after each token
  std::vector<std::size_t> cuts;  // the byte after each delta; empty: a delta is a token

  std::size_t size() const { return ends.size(); }
  std::string_view token(std::size_t index) const { return piece(ends, index); }
  std::size_t deltas() const { return cuts.empty() ? ends.size() : cuts.size(); }
  std::string_view delta(std::size_t index) const { return piece(cuts.empty() ? ends : cuts, index); }
  /// How much of its tokens a delta holds, each counted as `whole_token`, in proportion to the bytes.
  std::uint64_t share(std::size_t delta) const;
  /// The tokens that end in a delta: from the first number to before the second.
  std::pair<std::size_t, std::size_t> tokens_ending_in(std::size_t delta) const;
  /// Drops what follows the first `count` tokens.
  void keep_tokens(std::size_t count);
  /// Drops what follows the first `count` bytes; a token that reaches beyond them becomes shorter.
  void keep_bytes(std::size_t count);

 private:
  std::string_view piece(const std::vector<std::size_t>& borders, std::size_t index) const {
    const std::size_t start = index == 0 ? 0 : borders[index - 1];
    return std::string_view(text).substr(start, borders[index] - start);
  }
  /// The share of the first `bytes` bytes.
  std::uint64_t share_of_first(std::size_t bytes) const;
};

/// Sets where the deltas of a text end. By pieces, nothing: see PieceCutter.
void cut_into_deltas(TokenizedText& text, const Chunking& chunking, bool is_tool_arguments);

/// Cuts the parts of a scripted reply by by_pieces(), one after the other.
class PieceCutter {
 public:
  explicit PieceCutter(const std::vector<std::string>& pieces) : pieces_(pieces) {}

  /// The ends of the pieces of the next part. Throws GatewayError when they are not that part.
  std::vector<std::size_t> cut(std::string_view part);
  /// Throws GatewayError when pieces are left over.
  void require_end() const;

 private:
  const std::vector<std::string>& pieces_;
  std::size_t used_ = 0;
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
  /// How many tokens split gives; in most cases it counts without splitting.
  std::size_t count(std::string_view text) const;
  /// The tokens of a request: those of every message's text, name and tool calls, and of the tools' JSON, and 3 per
  /// message for its frame.
  std::size_t count_prompt(const ChatRequest& request) const;

 private:
  Tokenizer tokenizer_;  // empty: words
};

}  // namespace mock_gateway::detail
