// What others call of the review; its code is in `review.cpp`.

#pragma once

#include <string>
#include <vector>

#include "record.hpp"
#include "review.hpp"

namespace mock_gateway {
namespace detail {

class ChaosRules;

/// Throws GatewayError, which lists the codes, when there is no such code.
void require_finding_code(const std::string& code);

/// Keeps of an answer what its client may do next. `error_code` is empty when it was none of the gateway's errors.
void note_answer(ExchangeRecord& record, const std::string& error_code, const wire::Headers& headers);

/// Waits, in real time, at most `patience`, until no exchange of the scope is under way; then judges what is recorded.
Review make_review(const JournalState& journal, const ChaosRules& chaos, const RequestScope& scope,
                   const std::vector<std::string>& switched_off, Duration patience);

}  // namespace detail

}  // namespace mock_gateway
