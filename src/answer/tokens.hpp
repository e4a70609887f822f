#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/shared.hpp"
#include "../model/pace.hpp"
#include "../model/tokenizer.hpp"
#include "../request/chat_request.hpp"
#include "events.hpp"

namespace mock_gateway::detail {

/// A text, split completely into tokens, and completely into the deltas of a stream.
struct TokenizedText {
  std::string text;
  std::vector<std::size_t> ends;  // the end offset of each token
  std::vector<std::size_t> cuts;  // the end offset of each delta; empty: one delta per token

  std::size_t size() const { return ends.size(); }
  std::string_view token(std::size_t index) const { return piece(ends, index); }
  std::size_t deltas() const { return cuts.empty() ? ends.size() : cuts.size(); }
  std::string_view delta(std::size_t index) const { return piece(cuts.empty() ? ends : cuts, index); }
  /// Returns the tokens in a delta, in units of `whole_token` and in proportion to bytes.
  std::uint64_t share(std::size_t delta) const;
  /// Returns the tokens that end in a delta, as a half-open range.
  std::pair<std::size_t, std::size_t> tokens_ending_in(std::size_t delta) const;
  void keep_tokens(std::size_t count);
  /// Keeps the first `count` bytes; shortens a token that extends beyond them.
  void keep_bytes(std::size_t count);

 private:
  std::string_view piece(const std::vector<std::size_t>& borders, std::size_t index) const {
    const std::size_t start = index == 0 ? 0 : borders[index - 1];
    return std::string_view(text).substr(start, borders[index] - start);
  }
  std::uint64_t share_of_first(std::size_t bytes) const;
};

/// Sets the ends of a text's deltas. Does nothing for by_pieces(): see PieceCutter.
void cut_into_deltas(TokenizedText& text, const Chunking& chunking, bool is_tool_arguments);

/// Splits the parts of a scripted reply by by_pieces(), in order.
class PieceCutter {
 public:
  explicit PieceCutter(const std::vector<std::string>& pieces) : pieces_(pieces) {}

  /// Returns the ends of the next part's pieces. Throws GatewayError if they do not add up to that part.
  std::vector<std::size_t> cut(std::string_view part);
  /// Throws GatewayError if pieces are left.
  void require_end() const;

 private:
  const std::vector<std::string>& pieces_;
  std::size_t used_ = 0;
};

/// The gateway's tokenizer. By default, a token is a word with the white space before it, or a single CJK ideograph,
/// kana or hangul syllable.
/// The result of a custom tokenizer is checked: GatewayError if the pieces do not add up to the text, or split a
/// character.
class Tokens {
 public:
  explicit Tokens(Tokenizer tokenizer)
      : tokenizer_(tokenizer ? share<const Tokenizer>(std::move(tokenizer)) : nullptr) {}

  /// Splits a text into tokens. The default tokenizer splits arguments of tool calls into runs of letters or of
  /// punctuation of at most 12 bytes, because compact JSON has hardly any white space.
  TokenizedText split(std::string text, bool is_tool_arguments = false) const;
  /// Returns the number of tokens that split() would return, usually without splitting.
  std::size_t count(std::string_view text) const;
  /// Counts the tokens of each message's text, name and tool calls, the tokens of the tools' JSON, and 3 per message.
  std::size_t count_prompt(const ChatRequest& request) const;

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;  // null: the default
};

}  // namespace mock_gateway::detail
