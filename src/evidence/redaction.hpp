#pragma once

#include <string>

#include "../keys/key_store.hpp"
#include "../model/received_request.hpp"
#include "journal.hpp"

namespace mock_gateway {
inline namespace MOCK_GATEWAY_ABI {
namespace detail {

/// Removes what is secret from a request that is about to be recorded: every key of the gateway's, in any state and
/// encoding, and the credential that this request presented, also one that no key has (somebody may have pointed a
/// client with a real key here). Wherever they stand: target, header values, body, raw bytes. Fields that carry
/// credentials by their nature (Authorization, Proxy-Authorization, Cookie, x-api-key and its kin) keep at most their
/// scheme. A value in the query that looks like a key is one, too. A secret becomes `sk-***`; what does not begin with
/// `sk-` becomes `***`. Returns where there was a key outside of header fields: as a word of its own, so that a key
/// "sk-1" is not found in "task-1".
Leaks redact(ReceivedRequest& request, std::string& raw_head, std::string& raw_body,
             const KeyStore::Presented& presented, const KeyStore& keys);

/// The same for any text made from the request: a decision's detail, a finding, a line of a log.
void redact(std::string& text, const KeyStore::Presented& presented, const KeyStore& keys);

}  // namespace detail
}  // namespace MOCK_GATEWAY_ABI
}  // namespace mock_gateway
