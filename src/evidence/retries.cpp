// Findings about retries: which requests count as retries, how they may differ, which are too early or useless, and
// the tolerances.

#include "review_parts.hpp"

#include <algorithm>  // any_of, find, max
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "../core/json_reader.hpp"
#include "../core/random.hpp"
#include "../core/text.hpp"
#include "../model/finding_kinds.hpp"
#include "../script/excerpts.hpp"

namespace mock_gateway::detail {
namespace retries {

using RealTime = Seen::RealTime;
using Group = std::vector<const Seen*>;
using text::seconds;

/// The tolerated amount by which a client may retry earlier than asked.
inline constexpr Duration timer_tolerance = std::chrono::milliseconds{2};
/// The time between two requests below which they may be parallel calls.
inline constexpr Duration burst = std::chrono::milliseconds{100};
/// The time after a final error during which an equal new call looks like a retry.
inline constexpr Duration soon = std::chrono::seconds{1};
/// The same time for an exhausted daily quota, and for a request that the client gave up.
inline constexpr Duration a_while = std::chrono::minutes{1};
/// Members of a body that name a user or a cache; a client may change them for each try.
inline constexpr const char* labels[] = {"user", "metadata", "safety_identifier", "prompt_cache_key"};

// --- Equal requests --------------------------------------------------------------------------------------------------

/// Returns a JSON object without its labels and white space; other bodies unchanged.
std::string without_labels(const std::string& text) {
  Json body = read_json_if_valid(text);
  if (!body.is_object()) return text;
  for (const char* const label : labels) body.erase(label);
  return body.dump();
}

/// Returns a hash that is equal for a request and its retries.
std::uint64_t identity(const ExchangeRecord& record) {
  const ReceivedRequest& request = record.request;
  const std::string asked = without_labels(request.body);
  std::uint64_t value = record.leaks.credential;
  // The lengths separate the parts.
  for (const std::string* part : {&request.key_id, &request.method, &request.target, &asked})
    value = fingerprint(*part, fingerprint(std::to_string(part->size()) + ":", value));
  return value;
}

// --- Order and pauses ------------------------------------------------------------------------------------------------

bool comes_after(const Seen& first, const Seen& second) {
  if (first.answered) return second.possible > *first.answered;
  return first.outcome != Outcome::Kind::pending && first.client_left.value_or(RealTime::min()) <= second.possible;
}

/// Returns the time from the first's answer (its arrival, if unanswered) to the second, on the clock that shows more.
Duration pause_between(const Seen& first, const Seen& second) {
  const Duration in_real_time = second.record->recorded - first.answered.value_or(first.record->recorded);
  // A client that sleeps in real time has waited too, even if the gateway's clock stands still.
  const TimePoint began = first.first_byte.value_or(first.record->received);
  return std::max(in_real_time, second.record->received - began);
}

/// Returns the waiting time to print: `judged`, or `by_gateway` if that is less by at most 1 % of `asked`. The time by
/// the gateway's clock makes messages on a manual clock reproducible.
Duration shown_wait(Duration judged, Duration by_gateway, Duration asked) {
  return judged - by_gateway > asked / 100 ? judged : by_gateway;
}

bool asked_in_parallel(const Group& same) {
  for (std::size_t i = 1; i < same.size(); ++i) {
    const Seen& first = *same[i - 1];
    const Seen& second = *same[i];
    if (!comes_after(first, second)) return true;
    // The success ended the first call, so a request right after it belongs to a parallel call.
    if (first.record->status < 400 && pause_between(first, second) < burst) return true;
  }
  return false;
}

/// Returns the time until which another request counts as simultaneous.
RealTime under_way_until(const Seen& seen) {
  const bool is_pending = seen.outcome == Outcome::Kind::pending;
  if (seen.record->status >= 400) return seen.answered.value_or(is_pending ? RealTime::max() : seen.over);
  if (is_pending) return RealTime::max();
  // The gateway notices the end of a stream later than the client, which may already have sent a new request.
  return std::max(seen.answered.value_or(RealTime::min()), seen.over - burst);
}

/// Returns for each request whether its series has two simultaneous requests. A request that arrives during an earlier
/// one, or less than `burst` after the previous one, belongs to its series.
std::vector<bool> in_parallel_series(const Group& same) {
  std::vector<bool> together;  // for each series
  std::vector<std::size_t> runs;
  RealTime until = RealTime::min();
  for (const Seen* const seen : same) {
    const bool overlaps = !runs.empty() && seen->possible <= until;
    const bool goes_on = !runs.empty() && pause_between(*same[runs.size() - 1], *seen) < burst;
    if (!overlaps && !goes_on) together.push_back(false);
    if (overlaps) together.back() = true;
    runs.push_back(together.size() - 1);
    until = std::max(until, under_way_until(*seen));
  }
  std::vector<bool> is_parallel;
  for (const std::size_t run : runs) is_parallel.push_back(together[run]);
  return is_parallel;
}

// --- Mistakes --------------------------------------------------------------------------------------------------------

bool is_final(const ExchangeRecord& record) {
  if (record.advice.should_retry.value_or(false)) return false;
  if (record.status == 400 || record.status == 401 || record.status == 403) return true;
  return (record.status == 402 || record.status == 429) && record.advice.code == "insufficient_quota";
}

/// Whether the daily quota is exhausted and no time to retry is given.
bool is_over_for_the_day(const RetryAdvice& advice) {
  return advice.of_a_day && !advice.in_body && !advice.should_retry.value_or(false);
}

/// Whether the request failed and the client has read the failure.
bool was_refused(const Seen& seen) {
  // The client may not have read an incomplete answer.
  return seen.record->status >= 400 && seen.outcome == Outcome::Kind::completed && seen.first_byte && seen.answered &&
         !seen.broken && seen.record->decision != Decision::Kind::malformed;
}

bool follows(const Seen& first, const Seen& second) {
  return first.record->changes == second.record->changes && comes_after(first, second);
}

/// Whether the second may be the next try of the first by its number or Idempotency-Key.
bool numbers_fit(const Seen& first, const Seen& second) {
  if (second.number) return first.number && *first.number + 1 == *second.number;
  return !first.number && first.call == second.call;
}

std::string sign_of_new_call(const Seen& first, const Seen& second) {
  if (second.number) return *second.number == 0 ? "x-stainless-retry-count: 0" : "";
  return second.call && second.call != first.call ? "a new Idempotency-Key" : "";
}

struct TooEarly {
  std::string when;   // "after 0.5 s"
  std::string asked;  // "Retry-After was 2 s"; empty if `when` contains it
  std::string clocks;
  bool by_body = false;  // whether only the body gave the time
};

std::optional<TooEarly> too_early(const Seen& first, const Seen& second) {
  const ExchangeRecord& retry = *second.record;
  const RetryAdvice& advice = first.record->advice;
  const Duration shown = retry.received - *first.first_byte;
  const Duration waited = pause_between(first, second);
  // Only an answer without the header is judged by its body.
  const std::optional<Duration>& asked = advice.after ? advice.after : advice.in_body;
  if (asked && waited + timer_tolerance < *asked) {
    const char* const source = !advice.after            ? "the body of the 429 said "
                               : advice.in_milliseconds ? "retry-after-ms was "
                                                        : "Retry-After was ";
    return TooEarly{"after " + seconds(shown_wait(waited, shown, *asked)), source + seconds(*asked), "", !advice.after};
  }
  if (!advice.not_before) return std::nullopt;
  const Duration ahead = *advice.not_before - *first.first_byte;
  // The client compares the date with the system clock.
  const Duration pause = std::max(waited, retry.machine_time - *first.first_byte);
  if (pause + timer_tolerance >= ahead) return std::nullopt;
  const Duration apart = retry.received - retry.machine_time;
  const bool other_clock = apart > std::chrono::seconds{1} || apart < std::chrono::seconds{-1};
  return TooEarly{seconds(ahead - shown_wait(pause, shown, ahead)) + " before the date in Retry-After", "",
                  other_clock ? " The gateway's clock differs from the machine's clock. A client that ignores the Date "
                                "header compares the date with the machine's clock."
                              : ""};
}

/// Returns `401 "unauthorized"`.
std::string error_of(const ExchangeRecord& record) {
  const std::string& code = record.advice.code;
  return std::to_string(record.status) + (code.empty() ? "" : " " + excerpts::quoted(code));
}

Finding finding(const finding_kinds::Kind& kind, const Seen& first, const Seen& second, std::string message) {
  return kind.make(std::move(message), {first.record->id, second.record->id});
}

/// Returns `0.5 s after 429 "rate_limit_exceeded"`.
std::string soon_after_error(const Seen& first, const Seen& second, Duration asked) {
  const Duration by_gateway = second.record->received - *first.first_byte;
  return seconds(shown_wait(pause_between(first, second), by_gateway, asked)) + " after " + error_of(*first.record);
}

/// Whether a daily quota was exhausted and the day cannot have changed.
bool is_same_day(const Seen& first, const Seen& second) {
  return is_over_for_the_day(first.record->advice) && pause_between(first, second) < a_while;
}

/// Returns the mistake of sending the second request after the first. `alone`: no number marks the second as a retry.
std::optional<Finding> judge(const Seen& first, const Seen& second, bool alone) {
  const bool is_final_error = is_final(*first.record) && (!alone || pause_between(first, second) < soon);
  const auto early = too_early(first, second);
  if (!is_final_error && !early && !is_same_day(first, second)) return std::nullopt;
  const std::string sign = alone ? sign_of_new_call(first, second) : "";
  if (sign.empty()) {
    if (is_final_error)
      return finding(finding_kinds::retried_final_error, first, second,
                     "retried after " + error_of(*first.record) +
                         ", but a retry cannot fix this error. Report it to the caller instead.");
    if (!early)
      return finding(finding_kinds::daily_quota_retried, first, second,
                     "retried " + soon_after_error(first, second, a_while) +
                         ", which names a daily quota. Report the error to the caller: a short wait does not restore "
                         "the quota.");
    const std::string retried = "retried " + early->when + (early->asked.empty() ? "" : ", but " + early->asked);
    if (early->by_body)
      return finding(finding_kinds::retry_delay_in_body_ignored, first, second,
                     retried + ". Wait that long before retrying: some services name the time only in the body.");
    return finding(finding_kinds::retry_after_ignored, first, second,
                   retried + ". Wait as long as the header says before retrying." + early->clocks);
  }
  std::string message = "sent the same request again ";
  if (is_final_error || !early) {
    message += soon_after_error(first, second, is_final_error ? soon : a_while) + ", as a new call (" + sign +
               "). Make the retry loop around the client report the error.";
  } else {
    message += early->when + ", as a new call (" + sign + ")" + (early->asked.empty() ? "" : "; " + early->asked) +
               ". Make the retry loop around the client wait as long as the " + (early->by_body ? "body" : "header") +
               " says.";
  }
  return finding(finding_kinds::asked_again_early, first, second,
                 message + " Ignore this if the test repeats the request on purpose." + (early ? early->clocks : ""));
}

bool has_new_key(const Seen& first, const Seen& second) {
  return second.number && *second.number > 0 && second.call && second.call != first.call;
}

Finding idempotency_key_changed(const Seen& first, const Seen& second) {
  const std::string retry = "a retry (x-stainless-retry-count: " + std::to_string(*second.number) + ") with ";
  const std::string unknown = ", so a server cannot recognize it as the same call. ";
  return finding(finding_kinds::idempotency_key_changed, first, second,
                 first.call ? retry + "a different Idempotency-Key than the previous attempt" + unknown +
                                  "Use the same key for every attempt of a call."
                            : retry + "an Idempotency-Key that the previous attempt did not have" + unknown +
                                  "Send the same key with every attempt of a call.");
}

bool was_given_up(const Seen& first, const Seen& second) {
  if (!first.client_left || *first.client_left > second.record->recorded) return false;
  const bool is_its_doing = first.outcome == Outcome::Kind::client_left || first.outcome == Outcome::Kind::pending;
  return is_its_doing && (!first.answered || *first.answered > *first.client_left);
}

bool was_unanswered(const Seen& first, const Seen& second) {
  if (first.outcome == Outcome::Kind::completed) return first.answered && *first.answered > second.record->recorded;
  return first.outcome == Outcome::Kind::pending && !first.answered;
}

bool is_resent(const Seen& first, const Seen& second) {
  if (second.call || first.record->changes != second.record->changes) return false;
  const bool given_up = was_given_up(first, second);
  if (second.number)
    return *second.number > 0 && numbers_fit(first, second) && (given_up || was_unanswered(first, second));
  return !first.number && given_up && second.record->recorded - *first.client_left < a_while;
}

Finding resent_after_own_timeout(const Seen& first, const Seen& second) {
  const std::string number =
      second.number ? " (x-stainless-retry-count: " + std::to_string(*second.number) + ")" : std::string();
  return finding(finding_kinds::resent_after_own_timeout, first, second,
                 "sent the request again" + number +
                     (was_given_up(first, second) ? " after giving up on the first one"
                                                  : " while the first one was still running") +
                     ", without an Idempotency-Key: a server may run, and charge for, both. Use a longer timeout, or "
                     "send one Idempotency-Key with every attempt of a call.");
}

// --- Groups of equal requests ----------------------------------------------------------------------------------------

class EqualRequests {
 public:
  EqualRequests(const Group& same, std::vector<Finding>& findings)
      : same_(same), findings_(findings), continues_(same.size()), is_continued_(same.size()) {
    Group unnumbered;
    for (const Seen* seen : same)
      if (!seen->number) unnumbered.push_back(seen);
    parallel_ = asked_in_parallel(unnumbered);
  }

  void judge() {
    for (std::size_t i = 0; i < same_.size(); ++i) {
      judge_retry_at(i);
      // The next numbered try may retry a try that did not complete.
      const Seen& seen = *same_[i];
      if (seen.record->status >= 400 || (seen.number && seen.outcome != Outcome::Kind::completed)) open_.push_back(i);
    }
    const std::vector<bool> is_parallel = in_parallel_series(same_);
    for (std::size_t i = 1; i < same_.size(); ++i) {
      if (!is_parallel[i]) judge_lone_at(i);
      judge_resent_at(i);
    }
  }

 private:
  bool may_continue(const Seen& first, const Seen& second) const {
    if (!numbers_fit(first, second) || !follows(first, second)) return false;
    return second.number ? first.record->decision != Decision::Kind::malformed
                         : was_refused(first) && !(parallel_ && pause_between(first, second) < burst);
  }

  void judge_retry_at(std::size_t at) {
    const Seen& second = *same_[at];
    if (second.number && *second.number == 0) return;
    const bool has_its_own = second.number && std::any_of(open_.begin(), open_.end(), [&](std::size_t i) {
                               return same_[i]->call == second.call && may_continue(*same_[i], second);
                             });
    // The request may retry any of several calls, so it is wrong only if it is wrong after each.
    std::optional<std::size_t> continued;
    std::optional<Finding> wrong;
    for (const std::size_t i : open_) {
      const Seen& first = *same_[i];
      if (!may_continue(first, second) || (has_its_own && first.call != second.call)) continue;
      continued = i;
      wrong = was_refused(first) ? retries::judge(first, second, false) : std::nullopt;
      if (!wrong) break;
    }
    if (!continued) return;
    if (wrong) findings_.push_back(std::move(*wrong));
    const Seen& first = *same_[*continued];
    if (has_new_key(first, second)) findings_.push_back(idempotency_key_changed(first, second));
    is_continued_[*continued] = true;
    continues_[at] = *continued;
    open_.erase(std::find(open_.begin(), open_.end(), *continued));
  }

  void judge_lone_at(std::size_t at) {
    const Seen& first = *same_[at - 1];
    const Seen& second = *same_[at];
    // The second is a retry itself, or a retry continues the first, or judge_retry_at() has judged the pair.
    if (continues_[at] || is_continued_[at - 1] || numbers_fit(first, second)) return;
    if (!was_refused(first) || !follows(first, second)) return;
    if (auto wrong = retries::judge(first, second, true)) findings_.push_back(std::move(*wrong));
    if (has_new_key(first, second)) findings_.push_back(idempotency_key_changed(first, second));
  }

  void judge_resent_at(std::size_t at) {
    const Seen& second = *same_[at];
    // Without numbers only the previous request can be the same call.
    const std::size_t earliest = second.number ? 0 : at - 1;
    for (std::size_t i = at; i-- > earliest;) {
      if (continues_[at] ? continues_[at] != i : is_continued_[i]) continue;
      if (!is_resent(*same_[i], second)) continue;
      findings_.push_back(resent_after_own_timeout(*same_[i], second));
      is_continued_[i] = true;
      return;
    }
  }

  const Group& same_;
  std::vector<Finding>& findings_;
  bool parallel_ = false;
  std::vector<std::size_t> open_;                      // failed requests without a retry so far
  std::vector<std::optional<std::size_t>> continues_;  // for each retry, the failed request
  std::vector<bool> is_continued_;
};

}  // namespace retries

void review_retries(const std::vector<Seen>& all, std::vector<Finding>& findings) {
  std::map<std::uint64_t, retries::Group> groups;
  for (const Seen& seen : all) groups[retries::identity(*seen.record)].push_back(&seen);
  for (const auto& [identity, same] : groups) retries::EqualRequests(same, findings).judge();
}

}  // namespace mock_gateway::detail
