#include "redaction.hpp"

#include <algorithm>  // all_of, any_of, min, none_of
#include <cstddef>
#include <iterator>  // begin, end
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/random.hpp"
#include "../core/text.hpp"
#include "../keys/secrets.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {
namespace redaction {

/// A credential that no key of the gateway has, with what replaces it.
struct Foreign {
  std::string credential;
  bool key_like;
};
using ForeignCredentials = std::vector<Foreign>;

bool has_scheme(std::string_view name);
/// What stands between the scheme and its credential: "Bearer " of "Bearer sk-1". Empty when there is no scheme.
std::string_view scheme_of(std::string_view name, std::string_view value);
/// The value of a sensitive field, its credential replaced.
std::string masked_value(std::string_view name, std::string_view value);
/// The credentials in the request's sensitive fields and its query that the store's own masking does not find.
ForeignCredentials foreign_credentials(const Headers& headers, std::string_view target,
                                       const KeyStore::Presented& presented);
/// Values of the query that nothing but a key looks like: `sk-` and at least as much as makes one hard to guess.
void add_query_credentials(ForeignCredentials& found, std::string_view target);
/// How many masked keys the text holds that are words of their own.
std::size_t whole_keys(std::string_view text);
void add_foreign(ForeignCredentials& found, std::string_view credential);
// These two return how many there were.
std::size_t mask_foreign(std::string& text, const ForeignCredentials& credentials);
std::size_t mask_text(std::string& text, const ForeignCredentials& credentials, const KeyStore& keys);
/// The sensitive fields of a header section as it arrived, continuation lines (RFC 9112, 5.2) included.
void mask_raw_fields(std::string& raw_head);

MOCK_GATEWAY_INLINE bool has_scheme(std::string_view name) {
  return text::equals_ignoring_case(name, "Authorization") || text::equals_ignoring_case(name, "Proxy-Authorization");
}

MOCK_GATEWAY_INLINE std::string_view scheme_of(std::string_view name, std::string_view value) {
  if (!has_scheme(name)) return {};
  const std::size_t gap = value.find_first_of(" \t");
  if (gap == std::string_view::npos) return text::equals_ignoring_case(value, "Bearer") ? value : std::string_view{};
  // Letters only: what stands first in a malformed field may be the key itself.
  const std::string_view scheme = value.substr(0, gap);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (scheme.size() > 12 || !std::all_of(scheme.begin(), scheme.end(), is_letter)) return {};
  const std::size_t start = value.find_first_not_of(" \t", gap);
  return value.substr(0, start);
}

MOCK_GATEWAY_INLINE std::string masked_value(std::string_view name, std::string_view value) {
  const std::string_view trimmed = text::trim(value);
  const std::string_view scheme = scheme_of(name, trimmed);
  const std::string_view credential = trimmed.substr(scheme.size());
  if (credential.empty()) return std::string(trimmed);
  const bool key_like = credential.substr(0, 3) == "sk-";
  return std::string(scheme).append(key_like ? secrets::masked : "***");
}

MOCK_GATEWAY_INLINE void add_foreign(ForeignCredentials& found, std::string_view credential) {
  // Anything shorter is no secret, and replacing it everywhere would leave nothing to read.
  const bool key_like = secrets::looks_like_key(credential);
  if (!key_like && credential.size() < 8) return;
  const auto same = [credential](const Foreign& other) { return other.credential == credential; };
  if (std::none_of(found.begin(), found.end(), same)) found.push_back({std::string(credential), key_like});
}

MOCK_GATEWAY_INLINE void add_query_credentials(ForeignCredentials& found, std::string_view target) {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return;
  const auto may_stand_in_a_key = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  for (std::string_view rest = target.substr(mark + 1); !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    const std::optional<std::string> value =
        text::percent_decode(pair.substr(std::min(pair.find('='), pair.size() - 1) + 1));
    if (value && value->size() >= 20 && secrets::looks_like_key(*value) &&
        std::all_of(value->begin(), value->end(), may_stand_in_a_key)) {
      add_foreign(found, *value);
    }
  }
}

MOCK_GATEWAY_INLINE std::size_t whole_keys(std::string_view text) {
  const auto is_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  std::size_t count = 0;
  for (std::size_t at = text.find(secrets::masked); at != std::string_view::npos;
       at = text.find(secrets::masked, at + secrets::masked.size())) {
    const std::size_t end = at + secrets::masked.size();
    // The last character of an escape ("%20", "\n") belongs to no word.
    const bool after_escape =
        (at >= 3 && text[at - 3] == '%') || (at >= 2 && text[at - 2] == '\\') || (at >= 6 && text[at - 6] == '\\');
    const bool begins = at == 0 || after_escape || !is_word(text[at - 1]);
    if (begins && (end == text.size() || !is_word(text[end]))) ++count;
  }
  return count;
}

MOCK_GATEWAY_INLINE ForeignCredentials foreign_credentials(const Headers& headers, std::string_view target,
                                                           const KeyStore::Presented& presented) {
  ForeignCredentials found;
  const bool known = !presented.key.id.empty();
  if (!known) add_foreign(found, presented.credential);
  for (const Header& header : headers) {
    if (!secrets::is_sensitive_header(header.name)) continue;
    const std::string_view value = text::trim(header.value);
    const std::string_view credential = value.substr(scheme_of(header.name, value).size());
    // What else such a field holds may be any word: replacing it in the body would change what the request says.
    const bool found_by_store = known && credential == presented.credential;
    if (secrets::looks_like_key(credential) && !found_by_store) add_foreign(found, credential);
  }
  add_query_credentials(found, target);
  return found;
}

MOCK_GATEWAY_INLINE std::size_t mask_foreign(std::string& text, const ForeignCredentials& credentials) {
  std::size_t count = 0;
  for (const Foreign& foreign : credentials) {
    const std::string& credential = foreign.credential;
    if (foreign.key_like) {
      const std::string_view wanted = credential;
      const auto may_begin = [wanted](std::string_view start) { return wanted.substr(0, start.size()) == start; };
      const auto prefix = [wanted](std::string_view piece) -> std::size_t {
        return piece.substr(0, wanted.size()) == wanted ? wanted.size() : 0;
      };
      count += secrets::mask(text, {wanted.size(), may_begin, prefix});
      continue;
    }
    for (std::size_t at = text.find(credential); at != std::string::npos; at = text.find(credential, at + 3)) {
      text.replace(at, credential.size(), "***");
      ++count;
    }
  }
  return count;
}

MOCK_GATEWAY_INLINE std::size_t mask_text(std::string& text, const ForeignCredentials& credentials,
                                          const KeyStore& keys) {
  // The foreign ones first: one may begin with a known secret, whose mask would hide it from the search.
  const std::size_t count = mask_foreign(text, credentials);
  return count + keys.mask(text);
}

MOCK_GATEWAY_INLINE void mask_raw_fields(std::string& raw_head) {
  std::string result;
  std::size_t copied = 0;
  bool in_sensitive = false;
  for (std::size_t start = 0; start < raw_head.size();) {
    const std::size_t feed = raw_head.find('\n', start);
    const std::size_t next = feed == std::string::npos ? raw_head.size() : feed + 1;
    std::size_t end = feed == std::string::npos ? raw_head.size() : feed;
    if (end > start && raw_head[end - 1] == '\r') --end;
    const std::string_view line = std::string_view(raw_head).substr(start, end - start);
    const bool continues = !line.empty() && (line[0] == ' ' || line[0] == '\t');
    if (continues && in_sensitive) {
      result.append(raw_head, copied, start - copied).append(" ***");
      copied = end;
    } else {
      const std::size_t colon = line.find(':');
      const std::string_view name = colon == std::string_view::npos ? line : text::trim(line.substr(0, colon));
      in_sensitive = colon != std::string_view::npos && secrets::is_sensitive_header(name);
      if (in_sensitive) {
        const std::string_view value = line.substr(colon + 1);
        const std::size_t lead = value.find_first_not_of(" \t");
        const std::size_t value_start = lead == std::string_view::npos ? end : start + colon + 1 + lead;
        result.append(raw_head, copied, value_start - copied).append(masked_value(name, value));
        copied = end;
      }
    }
    start = next;
  }
  if (copied > 0) raw_head = result.append(raw_head, copied, std::string::npos);
}

}  // namespace redaction

MOCK_GATEWAY_INLINE Leaks redact(ReceivedRequest& request, std::string& raw_head, std::string& raw_body,
                                 const KeyStore::Presented& presented, const KeyStore& keys) {
  const redaction::ForeignCredentials foreign =
      redaction::foreign_credentials(request.headers, request.target, presented);
  Leaks leaks;
  if (presented.key.id.empty() && !presented.credential.empty()) leaks.credential = fingerprint(presented.credential);
  Headers headers;
  for (const Header& header : request.headers) {
    std::string name = header.name;
    std::string value = secrets::is_sensitive_header(name) ? redaction::masked_value(name, header.value) : header.value;
    redaction::mask_text(name, foreign, keys);
    redaction::mask_text(value, foreign, keys);
    headers.add(std::move(name), std::move(value));
  }
  request.headers = std::move(headers);
  redaction::mask_text(request.method, foreign, keys);
  // What was there before is what somebody read in a log and sent.
  const std::size_t masked_in_target = redaction::whole_keys(request.target);
  const std::size_t masked_in_body = redaction::whole_keys(request.body);
  redaction::mask_text(request.target, foreign, keys);
  const std::size_t in_body = redaction::mask_text(request.body, foreign, keys);
  leaks.in_target = redaction::whole_keys(request.target) > masked_in_target;
  leaks.in_body = in_body > 0 && redaction::whole_keys(request.body) > masked_in_body;
  redaction::mask_raw_fields(raw_head);
  redaction::mask_text(raw_head, foreign, keys);
  // Chunks may have cut a secret in two, and then their bytes cannot be kept.
  const std::size_t in_raw_body = redaction::mask_text(raw_body, foreign, keys);
  if (!raw_body.empty() && in_raw_body < in_body) raw_body = "(left out: a key in it spans two chunks)";
  return leaks;
}

MOCK_GATEWAY_INLINE void redact(std::string& text, const KeyStore::Presented& presented, const KeyStore& keys) {
  redaction::mask_text(text, redaction::foreign_credentials({}, {}, presented), keys);
}

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
