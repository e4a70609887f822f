// 429 and 413 of limits: texts, rounding of Retry-After, the number of tokens that a request takes and keeps.

#include "served_request.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "../answer/embeddings.hpp"
#include "../core/text.hpp"
#include "../model/profile_traits.hpp"
#include "tester_code.hpp"

namespace mock_gateway::detail {
namespace limits {

/// The maximum number of tokens of one request, small enough that sums do not overflow.
inline constexpr std::int64_t most_tokens = std::int64_t{1} << 50;

std::size_t bounded_tokens(std::int64_t tokens) {
  return static_cast<std::size_t>(std::clamp<std::int64_t>(tokens, 0, most_tokens));
}

bool refuse_for(ServedRequest& served, const Failure& refusal, Duration left) {
  // Rounded up, so that a client that waits whole seconds is not early. The cap avoids an overflow of Duration when a
  // time close to its maximum is rounded up.
  constexpr auto longest = std::chrono::floor<std::chrono::seconds>(Duration::max());
  const Failure with_delay = refusal.retry_after(std::min(std::chrono::ceil<std::chrono::seconds>(left), longest));
  const bool in_milliseconds = traits_of(served.gateway.settings.profile).retry_after_ms;
  return served.reject(in_milliseconds ? with_delay.retry_after_ms(left) : with_delay);
}

/// Returns OpenAI's "tokens per min (TPM)", or "tokens per 10 s".
std::string unit_of(Duration window) {
  if (window == std::chrono::minutes{1}) return "tokens per min (TPM)";
  if (window == std::chrono::hours{24}) return "tokens per day (TPD)";
  return "tokens per " + text::seconds(window);
}

/// Refuses with OpenAI's text, without the name of an organization.
bool refuse_tokens(ServedRequest& served, const TokenRefusal& refusal, std::size_t tokens) {
  const auto number = [](std::size_t count) { return std::to_string(count); };
  const std::string limit = " on " + unit_of(refusal.limit.window) + ": Limit " + number(refusal.limit.tokens);
  const std::string requested = ", Requested " + number(tokens) + ". ";
  const bool has_own_type = traits_of(served.gateway.settings.profile).openai_headers;
  const std::string type = has_own_type ? "tokens" : "error";
  const auto refused = [&](int status, std::string message) {
    return failure(status, "rate_limit_exceeded", std::move(message)).type(type);
  };
  if (!refusal.left) {
    const int status = served.gateway.settings.oversized_gets_413 ? 413 : 429;
    // No wait can help, so the answer has no Retry-After.
    return served.reject(refused(status, "Request too large" + limit + requested +
                                             "The input or output tokens must be reduced in order to run "
                                             "successfully.")
                             .without_retry_after());
  }
  return refuse_for(served,
                    refused(429, "Rate limit reached" + limit + ", Used " + number(refusal.used) + requested +
                                     "Please try again in " + reset_time(*refusal.left) + "."),
                    *refusal.left);
}

template <class Count>
bool take(ServedRequest& served, const Count& count) {
  GatewayState& gateway = served.gateway;
  const std::string& key = served.presented.key.id;
  if (!gateway.keys->limits_tokens(key)) return false;
  const auto busy = busy_with(served.connection, gateway.settings.tokenizer);
  const std::size_t tokens = count(gateway.tokens);
  TakenAmount taken;
  if (const auto refused = gateway.keys->take_tokens(key, tokens, gateway.clock.now(), taken))
    return refuse_tokens(served, *refused, tokens);
  served.answer.tokens = std::make_unique<LimitUse>(gateway.keys, std::move(taken));
  return false;
}

}  // namespace limits

bool take_request(ServedRequest& served) {
  GatewayState& gateway = served.gateway;
  const std::string& key = served.presented.key.id;
  if (key.empty()) return false;  // an open operation
  TakenAmount place;
  // Uses the shared clock, not the timeline of the exchange, because all exchanges share the window.
  const auto refused = gateway.keys->take(key, gateway.clock.now(), place);
  if (place.amount > 0) served.answer.place = std::make_unique<LimitUse>(gateway.keys, std::move(place));
  if (!refused) return false;
  if (refused->left) return limits::refuse_for(served, rate_limited(), *refused->left);
  const std::string limit = text::counted(refused->concurrent, "concurrent request");
  limits::refuse_for(served,
                     failure(429, rate_limited().code(),
                             "The limit of " + limit + " is exceeded. Try again after the time in Retry-After."),
                     std::chrono::seconds{1});
  served.answer.exceeds_concurrency = true;
  return true;
}

bool take_tokens_of_chat(ServedRequest& served) {
  return limits::take(served, [&](const Tokens& tokens) {
    const ChatRequest& chat = *served.chat;
    const std::int64_t prompt = static_cast<std::int64_t>(tokens.count_prompt(chat));
    const std::int64_t choices = std::max<std::int64_t>(chat.n, 1);
    const std::int64_t each = std::min(chat.max_tokens.value_or(0), limits::most_tokens / choices);
    return limits::bounded_tokens(prompt + choices * each);
  });
}

bool take_tokens_of_embeddings(ServedRequest& served, const EmbeddingRequest& request) {
  return limits::take(served, [&](const Tokens& tokens) { return tokens_of(request, tokens); });
}

void keep_tokens(Answer& answer, const TokenUsage& usage) {
  if (answer.tokens) answer.tokens->keep(limits::bounded_tokens(usage.total_tokens()));
}

}  // namespace mock_gateway::detail
