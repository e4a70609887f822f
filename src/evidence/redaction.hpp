#pragma once

#include <string>

#include "../keys/key_store.hpp"
#include "../model/received_request.hpp"
#include "../model/sent_answer.hpp"
#include "journal.hpp"
#include "record.hpp"

namespace mock_gateway::detail {

/// Removes what is secret from a request that is about to be recorded: every key of the gateway's, in any state, the
/// credential that this request presented, also one that no key has (somebody may have pointed a client with a real key
/// here), and whatever else looks like a key, `sk-` and more. Wherever they stand: target, header values, body, raw
/// bytes; with escapes, and, but for keys that only look like one, in base64. Fields that carry credentials by their
/// nature (Authorization, Proxy-Authorization, Cookie, x-api-key and its kin) keep at most their scheme, and a secret
/// that may be a word, such as "EMPTY", is masked there alone. A secret becomes `sk-***`; what does not begin with
/// `sk-` becomes `***`. Returns where there was a key outside of header fields.
Leaks redact(ReceivedRequest& request, std::string& raw_head, std::string& raw_body,
             const KeyStore::Presented& presented, const KeyStore& keys);

/// Masks keys in a text that was made from the request: a decision's detail, a finding, a line of a log.
void redact(std::string& text, const KeyStore::Presented& presented, const KeyStore& keys);

/// Masks the gateway's keys, and what looks like one, in an answer.
void redact(SentAnswer& answer, const KeyStore& keys);

}  // namespace mock_gateway::detail
