#include "redaction.hpp"

#include <algorithm>  // all_of, min
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "../core/random.hpp"
#include "../core/text.hpp"
#include "../keys/secrets.hpp"
#include "record.hpp"

namespace mock_gateway {
namespace detail {
namespace redaction {

bool has_scheme(std::string_view name);
/// What stands between the scheme and its credential: "Bearer " of "Bearer sk-1". Empty when there is no scheme.
std::string_view scheme_of(std::string_view name, std::string_view value);
/// The value of a sensitive field, its credential replaced.
std::string masked_value(std::string_view name, std::string_view value);
/// The credentials in the sensitive fields that no key of the gateway has.
secrets::Known foreign_credentials(const Headers& headers, const KeyStore::Presented& presented);
/// The sensitive fields of a header section as it arrived, continuation lines (RFC 9112, 5.2) and lines that are no
/// field included.
void mask_raw_fields(std::string& raw_head);

bool has_scheme(std::string_view name) {
  return text::equals_ignoring_case(name, "Authorization") || text::equals_ignoring_case(name, "Proxy-Authorization");
}

std::string_view scheme_of(std::string_view name, std::string_view value) {
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

std::string masked_value(std::string_view name, std::string_view value) {
  const std::string_view trimmed = text::trim(value);
  const std::string_view scheme = scheme_of(name, trimmed);
  const std::string_view credential = trimmed.substr(scheme.size());
  if (credential.empty()) return std::string(trimmed);
  const bool key_like = credential.substr(0, 3) == "sk-";
  return std::string(scheme).append(key_like ? secrets::masked : secrets::masked_other);
}

secrets::Known foreign_credentials(const Headers& headers, const KeyStore::Presented& presented) {
  secrets::Known foreign;
  const bool known = !presented.key.id.empty();
  if (!known) foreign.add(presented.credential);
  for (const Header& header : headers) {
    if (!secrets::is_sensitive_header(header.name)) continue;
    const std::string_view value = text::trim(header.value);
    const std::string_view credential = value.substr(scheme_of(header.name, value).size());
    // What else such a field holds may be any word: replacing it in the body would change what the request says.
    const bool found_by_store = known && credential == presented.credential;
    if (secrets::looks_like_key(credential) && !found_by_store) foreign.add(credential);
  }
  return foreign;
}

void mask_raw_fields(std::string& raw_head) {
  std::string result;
  bool is_sensitive = false;
  for (std::size_t start = 0; start < raw_head.size();) {
    const std::size_t end = std::min({raw_head.find('\r', start), raw_head.find('\n', start), raw_head.size()});
    const std::string_view line = std::string_view(raw_head).substr(start, end - start);
    const bool continues = !line.empty() && (line[0] == ' ' || line[0] == '\t');
    // A malformed line may lack its colon, or have a space before it.
    const std::string_view name = line.substr(0, line.find_first_of(":= \t"));
    if (!line.empty() && !continues) is_sensitive = secrets::is_sensitive_header(name);
    const std::size_t value = std::min(line.find_first_not_of(":= \t", name.size()), line.size());
    if (!is_sensitive || line.empty()) {
      result += line;
    } else if (continues) {
      result += " ***";
    } else {
      result.append(line.substr(0, value)).append(masked_value(name, line.substr(value)));
    }
    result.append(raw_head, end, 1);
    start = end + 1;
  }
  raw_head = std::move(result);
}

}  // namespace redaction

Leaks redact(ReceivedRequest& request, std::string& raw_head, std::string& raw_body,
             const KeyStore::Presented& presented, const KeyStore& keys) {
  const secrets::Known foreign = redaction::foreign_credentials(request.headers, presented);
  Leaks leaks;
  if (presented.key.id.empty() && !presented.credential.empty()) leaks.credential = fingerprint(presented.credential);
  Headers headers;
  for (const Header& header : request.headers) {
    std::string name = header.name;
    std::string value = secrets::is_sensitive_header(name) ? redaction::masked_value(name, header.value) : header.value;
    keys.mask(name, foreign);
    keys.mask(value, foreign);
    headers.add(std::move(name), std::move(value));
  }
  request.headers = std::move(headers);
  keys.mask(request.method, foreign);
  leaks.in_target = keys.mask(request.target, foreign).has_key;
  const secrets::Masked in_body = keys.mask(request.body, foreign);
  leaks.in_body = in_body.has_key;
  redaction::mask_raw_fields(raw_head);
  keys.mask(raw_head, foreign);
  // Chunks may have cut a secret in two, and then their bytes cannot be kept.
  const secrets::Masked in_raw_body = keys.mask(raw_body, foreign);
  if (!raw_body.empty() && in_raw_body.bytes < in_body.bytes) raw_body = "(left out: a key in it spans two chunks)";
  return leaks;
}

void redact(std::string& text, const KeyStore::Presented& presented, const KeyStore& keys) {
  keys.mask(text, redaction::foreign_credentials({}, presented));
}

}  // namespace detail
}  // namespace mock_gateway
