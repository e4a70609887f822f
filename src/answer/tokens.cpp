// Tokens and deltas of a text; the tokens of a prompt; errors of tokenizers and pieces that do not fit.

#include "tokens.hpp"

#include <algorithm>

#include "../core/error.hpp"
#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace tokens {

bool is_space(char character) { return character == ' ' || (character >= '\t' && character <= '\r'); }

bool is_ascii(char character) { return static_cast<unsigned char>(character) < 0x80; }

/// Whether a character is a token by itself, as in scripts written without spaces.
bool stands_alone(char32_t character) {
  const auto within = [character](char32_t first, char32_t last) { return character >= first && character <= last; };
  return within(0x3041, 0x30ff)        // hiragana, katakana
         || within(0x31f0, 0x31ff)     // katakana extensions
         || within(0x3400, 0x4dbf)     // ideographs, extension A
         || within(0x4e00, 0x9fff)     // ideographs
         || within(0xac00, 0xd7a3)     // hangul syllables
         || within(0xf900, 0xfaff)     // compatibility ideographs
         || within(0xff66, 0xff9d)     // half-width katakana
         || within(0x20000, 0x3ffff);  // ideographs, later extensions
}

std::size_t word_end(std::string_view text, std::size_t start) {
  std::size_t end = start;
  while (end < text.size() && is_space(text[end])) ++end;
  const std::size_t word = end;
  while (end < text.size() && !is_space(text[end])) {
    if (is_ascii(text[end])) {
      ++end;
      continue;
    }
    char32_t character = 0;
    const std::size_t length = text::decode_utf8(text, end, character);
    if (length != 0 && stands_alone(character)) return end == word ? end + length : end;
    end += length == 0 ? 1 : length;
  }
  return end;
}

bool is_letter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || !is_ascii(character);
}

/// Returns the end of the piece of JSON at `start`: white space, then letters or punctuation, at most 12 bytes.
std::size_t argument_end(std::string_view json, std::size_t start) {
  constexpr std::size_t longest = 12;
  std::size_t end = start;
  while (end < json.size() && end - start < longest && is_space(json[end])) ++end;
  if (end == json.size() || end - start == longest) return end;
  const bool letters = is_letter(json[end]);
  while (end < json.size() && !is_space(json[end]) && is_letter(json[end]) == letters) {
    const std::size_t length = text::next_code_point(json, end);
    if (end + length - start > longest) break;
    end += length;
  }
  return end;
}

TokenizedText split_by(std::size_t (*token_end)(std::string_view, std::size_t), std::string text) {
  TokenizedText tokenized;
  if (text.empty()) return tokenized;
  tokenized.ends.reserve(text.size() / 4 + 1);  // tokens are usually longer
  for (std::size_t end = 0; end < text.size();) {
    end = token_end(text, end);
    tokenized.ends.push_back(end);
  }
  tokenized.text = std::move(text);
  return tokenized;
}

TokenizedText split_with(const Tokenizer& tokenizer, std::string text) {
  TokenizedText tokenized;
  if (text.empty()) return tokenized;
  const std::vector<std::string> pieces = tokenizer(text);
  tokenized.ends.reserve(pieces.size());
  std::size_t end = 0;
  for (const std::string& piece : pieces) {
    if (text.compare(end, piece.size(), piece) != 0) break;
    end += piece.size();
    if (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) {
      throw GatewayError("the tokenizer ended a token at byte " + std::to_string(end) + " of \"" +
                         text::excerpt(text, 60) + "\", inside a UTF-8 character; end tokens between characters");
    }
    tokenized.ends.push_back(end);
  }
  if (end != text.size() || tokenized.ends.size() != pieces.size()) {
    throw GatewayError("the tokenizer's tokens do not add up to the text \"" + text::excerpt(text, 60) +
                       "\"; return pieces whose concatenation is the text");
  }
  tokenized.text = std::move(text);
  return tokenized;
}

std::size_t characters_end(std::string_view text, std::size_t start, const Chunking& chunking) {
  const bool by_bytes = chunking.kind() == Chunking::Kind::bytes;
  std::size_t end = start;
  for (std::size_t taken = 0; end < text.size() && taken < chunking.count();) {
    const std::size_t length = text::next_code_point(text, end);
    taken += by_bytes ? length : 1;
    if (taken > chunking.count() && end != start) break;
    end += length;
  }
  return end;
}

}  // namespace tokens

std::uint64_t TokenizedText::share_of_first(std::size_t bytes) const {
  const auto token = std::upper_bound(ends.begin(), ends.end(), bytes);  // the token that contains the border
  const auto whole = static_cast<std::uint64_t>(token - ends.begin()) * whole_token;
  if (token == ends.end()) return whole;
  const std::size_t start = token == ends.begin() ? 0 : *(token - 1);
  return whole + whole_token * (bytes - start) / (*token - start);
}

std::uint64_t TokenizedText::share(std::size_t delta) const {
  if (cuts.empty()) return whole_token;
  return share_of_first(cuts[delta]) - (delta == 0 ? 0 : share_of_first(cuts[delta - 1]));
}

std::pair<std::size_t, std::size_t> TokenizedText::tokens_ending_in(std::size_t delta) const {
  if (cuts.empty()) return {delta, delta + 1};
  const auto within = [this](std::size_t bytes) {
    return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), bytes) - ends.begin());
  };
  return {delta == 0 ? 0 : within(cuts[delta - 1]), within(cuts[delta])};
}

void cut_into_deltas(TokenizedText& text, const Chunking& chunking, bool is_tool_arguments) {
  const std::size_t count = chunking.count();
  const auto keep_every = [&](const std::vector<std::size_t>& ends) {
    for (std::size_t index = 0; index < ends.size(); ++index)
      if ((index + 1) % count == 0 || index + 1 == ends.size()) text.cuts.push_back(ends[index]);
  };
  switch (chunking.kind()) {
    case Chunking::Kind::pieces: return;
    case Chunking::Kind::tokens:
      if (count > 1) keep_every(text.ends);
      return;
    case Chunking::Kind::words:
      keep_every(tokens::split_by(is_tool_arguments ? tokens::argument_end : tokens::word_end, text.text).ends);
      return;
    case Chunking::Kind::characters:
    case Chunking::Kind::bytes: break;
  }
  for (std::size_t end = 0; end < text.text.size();) {
    end = tokens::characters_end(text.text, end, chunking);
    text.cuts.push_back(end);
  }
}

std::vector<std::size_t> PieceCutter::cut(std::string_view part) {
  std::vector<std::size_t> cuts;
  for (std::size_t end = 0; end < part.size();) {
    const std::string_view rest = part.substr(end);
    if (used_ == pieces_.size())
      throw GatewayError("by_pieces: nothing is left for \"" + text::excerpt(rest, 60) + "\"; add the missing pieces");
    const std::string& piece = pieces_[used_++];
    if (rest.substr(0, piece.size()) != piece) {
      throw GatewayError("by_pieces: piece " + std::to_string(used_) + " is \"" + text::excerpt(piece, 60) +
                         "\", but the reply goes on with \"" + text::excerpt(rest, 60) +
                         "\"; pieces spell reasoning, text, refusal and tool arguments, in this order");
    }
    end += piece.size();
    cuts.push_back(end);
  }
  return cuts;
}

void PieceCutter::require_end() const {
  if (used_ == pieces_.size()) return;
  throw GatewayError("by_pieces: the reply ends before piece " + std::to_string(used_ + 1) + ", \"" +
                     text::excerpt(pieces_[used_], 60) + "\"; leave out what it does not say");
}

void TokenizedText::keep_tokens(std::size_t count) {
  if (count >= ends.size()) return;
  ends.resize(count);
  text.resize(ends.empty() ? 0 : ends.back());
}

void TokenizedText::keep_bytes(std::size_t count) {
  if (count >= text.size()) return;
  text.resize(count);
  const auto last = std::lower_bound(ends.begin(), ends.end(), count);  // the token that contains the cut
  ends.erase(last, ends.end());
  if (count > (ends.empty() ? 0 : ends.back())) ends.push_back(count);
}

TokenizedText Tokens::split(std::string text, bool is_tool_arguments) const {
  if (tokenizer_) return tokens::split_with(*tokenizer_, std::move(text));
  return tokens::split_by(is_tool_arguments ? tokens::argument_end : tokens::word_end, std::move(text));
}

std::size_t Tokens::count(std::string_view text) const {
  if (tokenizer_) return tokens::split_with(*tokenizer_, std::string(text)).size();
  std::size_t count = 0;
  for (std::size_t end = 0; end < text.size(); ++count) end = tokens::word_end(text, end);
  return count;
}

std::size_t Tokens::count_prompt(const ChatRequest& request) const {
  constexpr std::size_t frame = 3;
  std::size_t total = 0;
  for (const wire::Message& message : request.messages) {
    total += frame + count(message.name);
    total += message.content.is_string() ? count(message.content.get_ref<const std::string&>()) : count(message.text());
    for (const wire::ToolCall& call : message.tool_calls) total += count(call.name) + count(call.arguments);
  }
  if (!request.tools.empty()) {
    const auto tools = request.body.find("tools");
    if (tools != request.body.end()) total += count(tools->dump());
  }
  return total;
}

}  // namespace mock_gateway::detail
