// What others call of the review; its code is in `review.cpp`.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "record.hpp"
#include "review.hpp"

namespace mock_gateway {
namespace detail {

class ChaosRules;
class ReportedProblems;

/// Throws GatewayError, which lists the codes, when there is no such code.
void require_finding_code(const std::string& code);

/// Keeps of an answer what its client may do next. `error_code` is empty when it was none of the gateway's errors.
void note_answer(ExchangeRecord& record, const std::string& error_code, const wire::Headers& headers);

/// Waits, in real time, at most `patience`, until no exchange of the scope is under way; then judges what is recorded.
/// `reported` hears what the review prints.
Review make_review(const JournalState& journal, const ChaosRules& chaos, const RequestScope& scope,
                   const std::vector<std::string>& switched_off, Duration patience,
                   std::shared_ptr<ReportedProblems> reported);
/// The findings about exchanges after `since` that fail no review.
std::vector<Finding> harmless_findings(const JournalState& journal, const std::vector<std::string>& switched_off,
                                       std::uint64_t since);

}  // namespace detail

}  // namespace mock_gateway
