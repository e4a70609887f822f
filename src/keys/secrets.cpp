#include "secrets.hpp"

#include <algorithm>  // max, min, sort, upper_bound
#include <cstring>    // memcmp
#include <iterator>   // prev
#include <vector>

#include "../core/text.hpp"

namespace mock_gateway {
namespace detail {
namespace secrets {

// The shortest keys that providers and proxies issue have 25 characters. Words such as "sk-learn" and the class names
// of spinners have fewer than 20.
inline constexpr std::size_t shortest_foreign_key = 20;
/// Something shorter that does not begin with `sk-` may be a word.
inline constexpr std::size_t shortest_secret = 16;
/// Fewer characters of base64 stand in a picture by chance.
inline constexpr std::size_t shortest_base64 = 8;

inline constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
inline constexpr std::string_view key_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A text with one kind of escape decoded. From bytes[at] on, up to the next jump, bytes stood at `origin` and after
/// it.
struct Decoded {
  struct Jump {
    std::size_t at;
    std::size_t origin;
  };
  std::string bytes;
  std::vector<Jump> jumps;

  std::size_t origin(std::size_t at) const;
};

struct Span {
  std::size_t begin;
  std::size_t end;
  bool begins_like_key;
  bool is_key;
};

/// The length of the escape that stands at `at`, and in `byte` what it stands for; 0 when there is none, or its byte
/// stands in no secret. `\"` and `\\` are left to Known's form for JSON: texts are full of them.
std::size_t unescape(std::string_view text, std::size_t at, char& byte);
Decoded decode(std::string_view text, char mark);
/// `nesting`: how many escapes inside of each other are decoded.
void find(std::string_view text, std::string_view beginnings,
          const std::function<std::size_t(std::string_view)>& prefix, int nesting, std::vector<Span>& found);

bool is_sensitive_header(std::string_view name) {
  // Their kin too: Proxy-Authorization, x-api-key, x-goog-api-key, x-auth-token, x-amz-security-token.
  for (const std::string_view end : {"authorization", "cookie", "api-key", "auth-token", "security-token"}) {
    if (name.size() >= end.size() && text::equals_ignoring_case(name.substr(name.size() - end.size()), end))
      return true;
  }
  return false;
}

bool looks_like_key(std::string_view text) { return text.size() > 3 && text.substr(0, 3) == "sk-"; }

void Known::add(std::string_view secret) {
  if (!looks_like_key(secret) && secret.size() < shortest_secret) return;
  const auto add_form = [this](const std::string& form) {
    forms_.insert(form);
    const std::string beginning = form.substr(0, 3);
    bool is_new = beginning != "sk-";
    for (std::size_t at = 0; at < beginnings_.size(); at += 3)
      is_new = is_new && beginnings_.substr(at, 3) != beginning;
    if (is_new) beginnings_ += beginning;
  };
  add_form(std::string(secret));
  std::string in_json;
  text::append_json_string(in_json, secret);
  add_form(in_json.substr(1, in_json.size() - 2));
  // A character of base64 has 6 bits. Where the secret is not the first byte of three, 4 or 2 of its bits share one
  // with what stands before it.
  for (const std::size_t shared : {std::size_t{0}, std::size_t{4}, std::size_t{2}}) {
    for (const std::string_view last_digits : {"+/", "-_"}) {
      std::string form;
      for (std::size_t begin = shared; begin + 6 <= 8 * secret.size(); begin += 6) {
        std::size_t value = 0;
        for (std::size_t bit = begin; bit < begin + 6; ++bit) {
          value = value * 2 + (static_cast<unsigned char>(secret[bit / 8]) >> (7 - bit % 8) & 1U);
        }
        form += value < base64_digits.size() ? base64_digits[value] : last_digits[value - base64_digits.size()];
      }
      if (form.size() >= shortest_base64) add_form(form);
    }
  }
}

std::size_t Known::prefix(std::string_view text) const {
  // What begins `text` is not greater than it. When the greatest such form differs from it somewhere, any that begins
  // it ends before that place.
  for (;;) {
    auto form = forms_.upper_bound(text);
    if (form == forms_.begin()) return 0;
    --form;
    const std::size_t most = std::min(text.size(), form->size());
    std::size_t common = 0;
    // By halves: a client may send a long credential, and a body full of its beginning.
    for (std::size_t half = most; half > 0; half /= 2) {
      while (most - common >= half && text.compare(common, half, *form, common, half) == 0) common += half;
    }
    text = text.substr(0, common);
    if (text.size() == form->size()) return text.size();
  }
}

std::size_t Decoded::origin(std::size_t at) const {
  const auto after = std::upper_bound(jumps.begin(), jumps.end(), at,
                                      [](std::size_t place, const Jump& jump) { return place < jump.at; });
  return after == jumps.begin() ? at : std::prev(after)->origin + (at - std::prev(after)->at);
}

std::size_t unescape(std::string_view text, std::size_t at, char& byte) {
  std::size_t digits = at + 1;
  if (text[at] == '\\') {
    const char letter = digits < text.size() ? text[digits] : '\0';
    if (letter == '/') return byte = letter, 2;
    if (letter != 'u' || text.compare(at + 2, 2, "00") != 0) return 0;
    digits += 3;
  }
  if (digits + 2 > text.size()) return 0;
  const int high = text::hex_value(text[digits]);
  const int low = text::hex_value(text[digits + 1]);
  if (high < 0 || low < 0) return 0;
  byte = static_cast<char>(high * 16 + low);
  return byte > ' ' && byte <= '~' ? digits + 2 - at : 0;
}

Decoded decode(std::string_view text, char mark) {
  Decoded decoded;
  std::size_t copied = 0;
  char byte = '\0';
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at)) {
    const std::size_t length = unescape(text, at, byte);
    if (length == 0) {
      ++at;
      continue;
    }
    decoded.bytes.append(text.data() + copied, at - copied) += byte;
    copied = at += length;
    decoded.jumps.push_back({decoded.bytes.size(), at});
  }
  if (!decoded.jumps.empty()) decoded.bytes.append(text.data() + copied, text.size() - copied);
  return decoded;
}

void find(std::string_view text, std::string_view beginnings,
          const std::function<std::size_t(std::string_view)>& prefix, int nesting, std::vector<Span>& found) {
  const auto is_letter_or_digit = [](char c) { return base64_digits.find(c) != std::string_view::npos; };
  // The last character of "%20", "\n" and "\u000a" belongs to no word.
  const auto follows_escape = [text](std::size_t at) {
    return (at >= 3 && text[at - 3] == '%') || (at >= 2 && text[at - 2] == '\\') ||
           (at >= 6 && text[at - 6] == '\\' && text[at - 5] == 'u');
  };
  std::size_t word_end = 0;
  for (std::size_t form = 0; form < beginnings.size(); form += 3) {
    const std::string_view wanted = beginnings.substr(form, 3);
    // Prose is full of these letters; looking for another one is a fifth of the work.
    const std::size_t rare = std::min<std::size_t>(wanted.find_first_not_of("etaoinshr"), 2);
    for (std::size_t at = text.find(wanted[rare], rare); at != std::string_view::npos;
         at = text.find(wanted[rare], at + 1)) {
      if (text.size() - at < 3 - rare || std::memcmp(text.data() + at - rare, wanted.data(), 3) != 0) continue;
      const std::size_t begin = at - rare;
      const bool begins_word = begin == 0 || !is_letter_or_digit(text[begin - 1]) || follows_escape(begin);
      const bool begins_like_key = wanted == "sk-";
      std::size_t length = prefix(text.substr(begin));
      if (begins_like_key && begins_word) {
        if (begin >= word_end) word_end = std::min(text.find_first_not_of(key_characters, begin), text.size());
        if (word_end - begin >= shortest_foreign_key) length = std::max(length, word_end - begin);
      }
      if (length == 0) continue;
      const std::size_t end = begin + length;
      const bool ends_word = end == text.size() || key_characters.find(text[end]) == std::string_view::npos;
      found.push_back({begin, end, begins_like_key, length >= shortest_secret || (begins_word && ends_word)});
    }
  }
  if (nesting == 0) return;
  for (const char mark : {'%', '\\'}) {
    const Decoded decoded = decode(text, mark);
    std::size_t next = found.size();
    if (!decoded.jumps.empty()) find(decoded.bytes, beginnings, prefix, nesting - 1, found);
    for (; next < found.size(); ++next) {
      found[next].begin = decoded.origin(found[next].begin);
      found[next].end = decoded.origin(found[next].end);
    }
  }
}

Masked mask(std::string& text, const std::string& beginnings,
            const std::function<std::size_t(std::string_view)>& prefix) {
  std::vector<Span> found;
  find(text, "sk-" + beginnings, prefix, 2, found);
  Masked result;
  if (found.empty()) return result;
  std::sort(found.begin(), found.end(), [](const Span& left, const Span& right) { return left.begin < right.begin; });
  std::string shown;
  std::size_t copied = 0;
  for (const Span& span : found) {
    result.has_key = result.has_key || span.is_key;
    const std::size_t begin = std::max(span.begin, copied);
    if (span.end <= begin) continue;
    // One that begins inside of another has the other's mask.
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
}  // namespace detail
}  // namespace mock_gateway
