#pragma once

#include <vector>

#include "../script/chaos_rules.hpp"
#include "judgement.hpp"

namespace mock_gateway {
namespace detail {

/// Makes the answer to a chat request from the reply in its delivery plan, struck by what of chaos can happen to it:
/// status, headers and body or events, and when they leave. Runs the tester's tokenizer, which may throw.
void answer_with_reply(Judgement& judgement, const std::vector<ChaosRules::Hit>& hits);

/// Strikes a failure whose status, headers and body stay: adds to the reply in the delivery plan what of chaos can
/// happen to it, and decides when it leaves.
void strike_delivery(Judgement& judgement, const std::vector<ChaosRules::Hit>& hits);

}  // namespace detail
}  // namespace mock_gateway
