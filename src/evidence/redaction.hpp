#pragma once

#include <string>

#include "../keys/key_store.hpp"
#include "../model/received_request.hpp"
#include "../model/sent_answer.hpp"
#include "journal.hpp"
#include "record.hpp"

namespace mock_gateway::detail {

/// Masks secrets in a request before it is recorded, as `sk-***` or `***`: the gateway's keys in any state, the
/// request's credential even if it is no key, and anything that looks like a key, such as `sk-…`. Covers target, header
/// values, body and raw bytes, with escapes, and in base64 except for values that only look like keys. Credential
/// fields (Authorization, Proxy-Authorization, Cookie, x-api-key and similar) keep at most their scheme. A secret that
/// may be a word ("EMPTY") is masked in these fields only. Returns where keys were found outside header fields.
Leaks redact(ReceivedRequest& request, std::string& raw_head, std::string& raw_body,
             const KeyStore::Presented& presented, const KeyStore& keys);

/// Masks keys in a text derived from the request: a decision's detail, a finding, a log line.
void redact(std::string& text, const KeyStore::Presented& presented, const KeyStore& keys);

/// Masks the gateway's keys and strings that look like keys in an answer.
void redact(SentAnswer& answer, const KeyStore& keys);

}  // namespace mock_gateway::detail
