// Masks keys in recordings. For the journal, see `src/keys/secrets.cpp`.

#include "recorded.hpp"

#include <algorithm>  // fill, find, max, min
#include <cstddef>
#include <cstring>

namespace importing {
namespace {

// The same limits and rules as for masking in the library's journal.
constexpr std::size_t shortest_foreign_key = 20;
constexpr std::size_t shortest_secret = 16;
constexpr std::string_view letters_and_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view key_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Prefixes of keys. Recordings of real services may have other keys than `sk-` ones.
constexpr std::string_view beginnings[] = {"sk-",    "gsk_", "xai-", "pplx-",       "hf_",
                                           "nvapi-", "AIza", "ghp_", "github_pat_", "AKIA"};

/// Members of events whose strings continue from event to event.
constexpr std::string_view delta_fields[] = {
    "content", "reasoning_content", "reasoning", "refusal", "arguments", "input", "text"};

/// Returns the last bytes of a text, which must have as many.
std::uint64_t last_bytes(std::string_view text) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, text.data() + text.size() - sizeof bytes, sizeof bytes);
  return bytes;
}

std::size_t kept_of(const std::string& credential) { return credential.compare(0, 3, "sk-") == 0 ? 3 : 0; }
bool holds(std::string_view characters, char one) { return characters.find(one) != std::string_view::npos; }

/// Whether a word starts at `at`. The last character of an escape ("%20", "\n", "\u000a") does not belong to a word.
bool begins_word(std::string_view text, std::size_t at) {
  return at == 0 || !holds(letters_and_digits, text[at - 1]) || (at >= 3 && text[at - 3] == '%') ||
         (at >= 2 && text[at - 2] == '\\') || (at >= 6 && text[at - 6] == '\\' && text[at - 5] == 'u');
}

/// Whether a key with this prefix may start here.
bool may_begin_key(std::string_view text, std::size_t at, std::string_view beginning) {
  // Other prefixes also occur inside names of functions and, by chance, in base64.
  const bool goes_on = beginning != "sk-" && at > 0 && holds("+/-_", text[at - 1]);
  return !goes_on && begins_word(text, at);
}

/// Separate pieces of a body, concatenated, with their positions in the body.
struct Joined {
  struct Run {
    std::size_t in_text;
    std::size_t in_body;
    std::size_t size;
  };

  std::string text = {};
  std::vector<Run> runs = {};

  void append(std::string_view body, std::size_t begin, std::size_t end) {
    if (begin == end) return;
    runs.push_back({text.size(), begin, end - begin});
    text.append(body.substr(begin, end - begin));
  }
  /// Masks the bytes of the body that a range of the text came from.
  void mask(std::string& body, std::size_t begin, std::size_t end) const {
    for (const Run& run : runs) {
      const std::size_t first = std::max(begin, run.in_text);
      const std::size_t last = std::min(end, run.in_text + run.size);
      if (first >= last) continue;
      const auto place = body.begin() + static_cast<std::ptrdiff_t>(run.in_body + (first - run.in_text));
      std::fill(place, place + static_cast<std::ptrdiff_t>(last - first), '*');
    }
  }
};

/// Joins the string values of all members with this name. Escapes become spaces, since keys contain no escaped
/// characters.
Joined join(std::string_view body, std::string_view field) {
  const std::string wanted = '"' + std::string(field) + '"';
  Joined joined;
  for (std::size_t at = body.find(wanted); at != std::string_view::npos; at = body.find(wanted, at)) {
    at += wanted.size();
    std::size_t next = body.find_first_not_of(" \t", at);
    if (next == std::string_view::npos || body[next] != ':') continue;
    next = body.find_first_not_of(" \t", next + 1);
    if (next == std::string_view::npos || body[next] != '"') continue;
    for (at = next + 1; at < body.size() && body[at] != '"';) {
      const std::size_t end = std::min(body.find_first_of("\"\\", at), body.size());
      joined.append(body, at, end);
      at = end;
      if (at == body.size() || body[at] != '\\') continue;
      joined.text += ' ';
      at = std::min(at + (at + 1 < body.size() && body[at + 1] == 'u' ? 6 : 2), body.size());
    }
  }
  return joined;
}

}  // namespace

void KeyMask::add(std::string_view credential) {
  if (credential.size() >= shortest_secret)
    credentials_[last_bytes(credential)].emplace(credential);
  else if (mock_gateway::internal::looks_like_key(credential) &&
           std::find(short_credentials_.begin(), short_credentials_.end(), credential) == short_credentials_.end())
    short_credentials_.emplace_back(credential);
}

std::vector<KeyMask::Span> KeyMask::find(std::string_view text) const {
  std::vector<Span> found;
  for (const std::string_view beginning : beginnings) {
    for (std::size_t at = text.find(beginning); at != std::string_view::npos;) {
      std::size_t next = at + beginning.size();
      if (may_begin_key(text, at, beginning)) {
        const std::size_t end = std::min(text.find_first_not_of(key_characters, at), text.size());
        const bool has_digit = text.substr(next, end - next).find_first_of("0123456789") != std::string_view::npos;
        if (end - at >= shortest_foreign_key && (has_digit || beginning == "sk-")) {
          found.push_back({next, end});
          next = end;
        }
      }
      at = text.find(beginning, next);
    }
  }
  for (std::size_t end = sizeof(std::uint64_t); !credentials_.empty() && end <= text.size(); ++end) {
    const auto known = credentials_.find(last_bytes(text.substr(0, end)));
    if (known == credentials_.end()) continue;
    for (const std::string& credential : known->second)
      if (end >= credential.size() && text.substr(end - credential.size(), credential.size()) == credential)
        found.push_back({end - credential.size() + kept_of(credential), end});
  }
  for (const std::string& credential : short_credentials_) {
    for (std::size_t at = text.find(credential); at != std::string_view::npos; at = text.find(credential, at + 1)) {
      const std::size_t end = at + credential.size();
      const bool ends_word = end == text.size() || !holds(key_characters, text[end]);
      // Do not find the key "sk-1" in "task-1".
      if (begins_word(text, at) && ends_word) found.push_back({at + kept_of(credential), end});
    }
  }
  return found;
}

std::size_t KeyMask::mask(std::string& text) const {
  const std::vector<Span> found = find(text);
  for (const Span& span : found)
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(span.begin),
              text.begin() + static_cast<std::ptrdiff_t>(span.end), '*');
  return found.size();
}

std::size_t KeyMask::mask_body(std::string& body) const {
  std::size_t count = mask(body);
  for (const std::string_view field : delta_fields) {
    const Joined joined = join(body, field);
    const std::vector<Span> found = find(joined.text);
    for (const Span& span : found) joined.mask(body, span.begin, span.end);
    count += found.size();
  }
  return count;
}

void mask_strings(mock_gateway::Json& value, const KeyMask& mask) {
  if (value.is_string()) {
    mask.mask(value.get_ref<std::string&>());
  } else if (value.is_array()) {
    for (mock_gateway::Json& element : value) mask_strings(element, mask);
  } else if (value.is_object()) {
    for (auto& member : value.get_ref<mock_gateway::Json::object_t&>())
      if (member.first != "raw_base64" && member.first != "base64") mask_strings(member.second, mask);
  }
}

}  // namespace importing
