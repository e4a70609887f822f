// Where recorded requests and answers are masked. Which fields and keys: `src/keys/secrets.cpp`.

#include <algorithm>  // all_of, find_if, find_if_not
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "../core/access.hpp"
#include "../core/random.hpp"
#include "../core/text.hpp"
#include "../keys/secrets.hpp"
#include "record.hpp"

namespace mock_gateway::detail {
namespace redaction {

/// Returns the scheme with its space: "Bearer " of "Bearer sk-1". Empty without a scheme.
std::string_view scheme_of(std::string_view name, std::string_view value) {
  if (!text::equals_ignoring_case(name, "Authorization") && !text::equals_ignoring_case(name, "Proxy-Authorization"))
    return {};
  const std::string_view scheme = value.substr(0, value.find_first_of(" \t"));
  if (scheme.size() == value.size()) return text::equals_ignoring_case(value, "Bearer") ? value : std::string_view{};
  // Only letters: a malformed field may begin with the key itself.
  const bool is_word = std::all_of(scheme.begin(), scheme.end(), [](char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
  });
  if (scheme.size() > 12 || !is_word) return {};
  return value.substr(0, value.find_first_not_of(" \t", scheme.size()));
}

std::string masked_value(std::string_view name, std::string_view value) {
  const std::string_view trimmed = text::trim(value);
  const std::string_view scheme = scheme_of(name, trimmed);
  const std::string_view credential = trimmed.substr(scheme.size());
  if (credential.empty()) return std::string(trimmed);
  return std::string(scheme).append(credential.substr(0, 3) == "sk-" ? secrets::masked : secrets::masked_other);
}

/// Adds the credentials in sensitive fields that are not keys of the gateway.
void add_foreign(secrets::Known& foreign, const wire::Headers& headers, const KeyStore::Presented& presented,
                 const KeyStore& keys) {
  if (presented.key.id.empty()) foreign.add(presented.credential);
  for (const wire::Header& header : headers) {
    if (!keys.is_sensitive_header(header.name)) continue;
    const std::string_view value = text::trim(header.value);
    const std::string_view credential = value.substr(scheme_of(header.name, value).size());
    // Another value may be any word. Masking that word in the body would change the request.
    const bool is_key = secrets::looks_like_key(credential) || keys.is_key_header(header.name);
    if (is_key && credential != presented.credential) foreign.add(credential);
  }
}

/// Masks the sensitive fields of a raw head, including continuation lines (RFC 9112, 5.2) and malformed lines.
std::string masked_fields(const std::string& raw_head, const KeyStore& keys) {
  const auto is_behind_name = [](char byte) { return byte == ':' || byte == '=' || byte == ' ' || byte == '\t'; };
  std::string result;
  result.reserve(raw_head.size());
  bool is_sensitive = false;
  for (std::size_t start = 0; start < raw_head.size();) {
    std::size_t end = start;
    while (end < raw_head.size() && raw_head[end] != '\r' && raw_head[end] != '\n') ++end;
    const std::string_view line = std::string_view(raw_head).substr(start, end - start);
    if (!line.empty()) {
      const bool continues = line[0] == ' ' || line[0] == '\t';
      // A malformed line may have no colon, or a space before it.
      const auto name_end = std::find_if(line.begin(), line.end(), is_behind_name);
      const std::string_view name = line.substr(0, static_cast<std::size_t>(name_end - line.begin()));
      if (!continues) is_sensitive = keys.is_sensitive_header(name);
      const auto value =
          static_cast<std::size_t>(std::find_if_not(name_end, line.end(), is_behind_name) - line.begin());
      if (!is_sensitive)
        result += line;
      else if (continues)
        result.append(" ").append(secrets::masked_other);
      else
        result.append(line.substr(0, value)).append(masked_value(name, line.substr(value)));
    }
    result.append(raw_head, end, 1);
    start = end + 1;
  }
  return result;
}

/// Whether the body arrived as one chunk, complete after its size line.
bool is_one_chunk(const std::string& raw_body, const std::string& body) {
  const std::size_t size_line = raw_body.find("\r\n");
  return size_line != std::string::npos && raw_body.compare(size_line + 2, body.size(), body) == 0;
}

}  // namespace redaction

Leaks redact(ReceivedRequest& request, std::string& raw_head, std::string& raw_body,
             const KeyStore::Presented& presented, const KeyStore& keys) {
  secrets::Known foreign;
  redaction::add_foreign(foreign, request.headers, presented, keys);
  Leaks leaks;
  if (!presented.credential.empty()) leaks.presented = fingerprint(presented.credential);
  if (presented.key.id.empty()) leaks.credential = leaks.presented;
  raw_head = redaction::masked_fields(raw_head, keys);
  for (wire::Header& header : Access::fields(request.headers))
    if (keys.is_sensitive_header(header.name)) header.value = redaction::masked_value(header.name, header.value);
  // The raw head contains all fields, so without a secret in it no field has one.
  if (keys.mask(raw_head, foreign).bytes > 0) {
    for (wire::Header& header : Access::fields(request.headers)) {
      keys.mask(header.name, foreign);
      keys.mask(header.value, foreign);
    }
    keys.mask(request.method, foreign);
    leaks.in_target = keys.mask(request.target, foreign).has_key;
  }
  const bool in_pieces = !redaction::is_one_chunk(raw_body, request.body);
  const secrets::Masked in_body = keys.mask(request.body, foreign);
  leaks.in_body = in_body.has_key;
  if (!raw_body.empty()) keys.mask(raw_body, foreign);
  // Chunks may have split a secret, so the raw bytes cannot be kept.
  if (!raw_body.empty() && in_pieces && in_body.bytes > 0) raw_body = "(left out: a key in it may span two chunks)";
  return leaks;
}

void redact(std::string& text, const KeyStore::Presented& presented, const KeyStore& keys) {
  if (text.empty()) return;
  secrets::Known foreign;
  redaction::add_foreign(foreign, {}, presented, keys);
  keys.mask(text, foreign);
}

void redact(SentAnswer& answer, const KeyStore& keys) {
  const auto mask_text = [&](std::string& text) {
    answer.has_masked_key = keys.mask(text).bytes > 0 || answer.has_masked_key;
  };
  const auto mask_headers = [&](wire::Headers& headers) {
    wire::Headers masked;
    for (const wire::Header& header : headers) {
      std::string value = header.value;
      mask_text(value);
      masked.add(header.name, std::move(value));
    }
    headers = std::move(masked);
  };
  mask_headers(answer.headers);
  for (SentAnswer::Interim& interim : answer.interim) mask_headers(interim.headers);
  mask_text(answer.garbage);
  std::string whole = answer.body();
  if (keys.mask(whole).bytes == 0) return;
  answer.has_masked_key = true;
  for (SentAnswer::Part& part : answer.parts) keys.mask(part.bytes);
  if (answer.body() != whole) answer.parts = {{std::move(whole), answer.parts.front().at, answer.parts.back().until}};
}

}  // namespace mock_gateway::detail
