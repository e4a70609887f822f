// Sensitive header fields (`is_sensitive_header`); the form and minimum length of keys; finding keys in texts; `sk-***`
// (in the header).

#include "secrets.hpp"

#include <algorithm>  // max, min, replace, sort, upper_bound
#include <cstring>    // memcmp
#include <iterator>   // prev
#include <utility>
#include <vector>

#include "../core/text.hpp"

namespace mock_gateway::detail {
namespace secrets {

// Keys of providers and proxies have at least 25 characters; words such as "sk-learn" have fewer than 20.
inline constexpr std::size_t shortest_foreign_key = 20;
/// A shorter secret without `sk-` may be a word.
inline constexpr std::size_t shortest_secret = 16;
/// A shorter base64 text may occur in an image by chance.
inline constexpr std::size_t shortest_base64 = 8;
/// The base64 digits for URLs, in order. The first 62 are letters and digits.
inline constexpr std::string_view key_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

struct Span {
  std::size_t begin;
  std::size_t end;
  bool begins_like_key;
  bool is_key;
};

struct Scanner {
  const Known& known;
  const Known& others;
  const std::string beginnings = "sk-" + others.beginnings() + known.beginnings();
  std::vector<Span> found = {};

  void search(std::string_view text);
  /// `nesting` is the number of levels of nested escapes to decode.
  void search_decoded(std::string_view text, int nesting);
};

bool looks_like_key(std::string_view text) { return text.size() > 3 && text.substr(0, 3) == "sk-"; }

bool is_sensitive_header(std::string_view name) {
  // Skips most names quickly: a sensitive name ends with n, e or y. This is called three times for each field.
  if (name.empty() || std::string_view("neyNEY").find(name.back()) == std::string_view::npos) return false;
  // These endings cover Proxy-Authorization, x-api-key, x-goog-api-key, x-auth-token, x-amz-security-token.
  for (const std::string_view end : {"authorization", "cookie", "api-key", "auth-token", "security-token"}) {
    if (name.size() >= end.size() && text::equals_ignoring_case(name.substr(name.size() - end.size()), end))
      return true;
  }
  return false;
}

void Known::add(std::string_view secret) {
  if (!looks_like_key(secret) && secret.size() < shortest_secret) return;
  std::string in_json;
  text::append_json_string(in_json, secret);
  std::vector<std::string> forms = {std::string(secret), in_json.substr(1, in_json.size() - 2)};
  // Base64 encodes three bytes as four characters of 6 bits. If the secret begins at the second or third byte, 4 or 2
  // of its bits share a character with the preceding byte.
  for (const std::size_t shared : {0U, 4U, 2U}) {
    std::string form;
    for (std::size_t begin = shared; begin + 6 <= 8 * secret.size(); begin += 6) {
      std::size_t value = 0;
      for (std::size_t bit = begin; bit < begin + 6; ++bit)
        value = value * 2 + (static_cast<unsigned char>(secret[bit / 8]) >> (7 - bit % 8) & 1U);
      form += key_characters[value];
    }
    if (form.size() < shortest_base64) continue;
    forms.push_back(form);
    std::replace(form.begin(), form.end(), '-', '+');
    std::replace(form.begin(), form.end(), '_', '/');
    forms.push_back(std::move(form));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (std::string& form : forms) {
    bool is_new = form.compare(0, 3, "sk-") != 0;
    for (std::size_t at = 0; at < beginnings_.size(); at += 3)
      is_new = is_new && beginnings_.compare(at, 3, form, 0, 3) != 0;
    if (is_new) beginnings_.append(form, 0, 3);
    forms_.insert(std::move(form));
  }
}

std::string Known::beginnings() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return beginnings_;
}

/// Returns the length of the longest form that `text` begins with, or 0.
std::size_t Known::prefix(std::string_view text) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Forms are sorted, and a prefix of `text` is not greater than `text`. If the greatest form that is not greater
  // differs from `text` at a position, every prefix ends before that position.
  for (auto form = forms_.upper_bound(text); form != forms_.begin(); form = forms_.upper_bound(text)) {
    --form;
    const std::size_t most = std::min(text.size(), form->size());
    std::size_t common = 0;
    // Compares by halves, to stay fast for a long credential and a body full of its prefix.
    for (std::size_t half = most; half > 0; half /= 2)
      while (most - common >= half && text.compare(common, half, *form, common, half) == 0) common += half;
    text = text.substr(0, common);
    if (common == form->size()) return common;
  }
  return 0;
}

/// Returns the length of the escape at `at` and stores its character in `byte`; 0 without an escape, or if secrets
/// cannot contain the character. Skips `\"` and `\\`, which are frequent; the JSON form of a secret covers them.
std::size_t unescape(std::string_view text, std::size_t at, char& byte) {
  const char letter = at + 1 < text.size() ? text[at + 1] : '\0';
  if (text[at] == '\\' && letter == '/') return byte = letter, 2;
  if (text[at] == '\\' && (letter != 'u' || text.compare(at + 2, 2, "00") != 0)) return 0;
  const std::size_t digits = text[at] == '\\' ? at + 4 : at + 1;
  const int value = text::hex_byte(text, digits);
  if (value < 0) return 0;
  byte = static_cast<char>(value);
  return byte >= ' ' && byte <= '~' ? digits + 2 - at : 0;
}

void Scanner::search(std::string_view text) {
  // The last character of "%20", "\n" and "\u000a" is part of an escape, not of the word before `at`.
  const auto begins_word = [text](std::size_t at) {
    return at == 0 || key_characters.substr(0, 62).find(text[at - 1]) == std::string_view::npos ||
           (at >= 3 && text[at - 3] == '%') || (at >= 2 && text[at - 2] == '\\') ||
           (at >= 6 && text[at - 6] == '\\' && text[at - 5] == 'u');
  };
  std::size_t word_end = 0;
  for (std::size_t first = 0; first < beginnings.size(); first += 3) {
    const std::string_view wanted = std::string_view(beginnings).substr(first, 3);
    const bool like_key = first == 0;
    // Searches for a letter that is rare in prose, because this takes a fifth of the time.
    const std::size_t rare = std::min<std::size_t>(wanted.find_first_not_of("etaoinshr"), 2);
    for (std::size_t at = text.find(wanted[rare], rare); at != std::string_view::npos;
         at = text.find(wanted[rare], at + 1)) {
      if (text.size() - at < 3 - rare || std::memcmp(text.data() + at - rare, wanted.data(), 3) != 0) continue;
      const std::size_t begin = at - rare;
      const bool is_word = begins_word(begin);
      std::size_t length = std::max(known.prefix(text.substr(begin)), others.prefix(text.substr(begin)));
      if (like_key && is_word) {
        if (begin >= word_end) word_end = std::min(text.find_first_not_of(key_characters, begin), text.size());
        if (word_end - begin >= shortest_foreign_key) length = std::max(length, word_end - begin);
      }
      const std::size_t end = begin + length;
      const bool ends_word = end == text.size() || key_characters.find(text[end]) == std::string_view::npos;
      if (length > 0) found.push_back({begin, end, like_key, length >= shortest_secret || (is_word && ends_word)});
    }
  }
}

void Scanner::search_decoded(std::string_view text, int nesting) {
  search(text);
  if (nesting == 0) return;
  for (const char mark : {'%', '\\'}) {
    std::string decoded;
    // For each entry, the bytes from decoded[first] up to the next entry come from text[second] onwards.
    std::vector<std::pair<std::size_t, std::size_t>> jumps;
    std::size_t copied = 0;
    char byte = '\0';
    for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at)) {
      const std::size_t length = unescape(text, at, byte);
      if (length == 0) {
        ++at;
        continue;
      }
      decoded.append(text.data() + copied, at - copied) += byte;
      copied = at += length;
      jumps.emplace_back(decoded.size(), at);
    }
    if (jumps.empty()) continue;
    jumps.insert(jumps.begin(), {0, 0});
    decoded.append(text.data() + copied, text.size() - copied);
    std::size_t next = found.size();
    search_decoded(decoded, nesting - 1);
    for (; next < found.size(); ++next) {
      for (std::size_t* const place : {&found[next].begin, &found[next].end}) {
        const auto jump =
            std::prev(std::upper_bound(jumps.begin(), jumps.end(), std::make_pair(*place, std::string_view::npos)));
        *place = jump->second + (*place - jump->first);
      }
    }
  }
}

Masked Known::mask(std::string& text, const Known& others) const {
  Scanner scanner{*this, others};
  scanner.search_decoded(text, 2);
  Masked result;
  if (scanner.found.empty()) return result;
  std::sort(scanner.found.begin(), scanner.found.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::string shown;
  std::size_t copied = 0;
  for (const Span& span : scanner.found) {
    result.has_key = result.has_key || span.is_key;
    const std::size_t begin = std::max(span.begin, copied);
    if (span.end <= begin) continue;
    // Overlapping secrets share one mask.
    if (span.begin >= copied) {
      shown.append(text, copied, begin - copied).append(span.begins_like_key ? masked : masked_other);
    }
    result.bytes += span.end - begin;
    copied = span.end;
  }
  text = shown.append(text, copied, std::string::npos);
  return result;
}

}  // namespace secrets
}  // namespace mock_gateway::detail
