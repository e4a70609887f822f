// Findings about retries: which requests count as retries, how they may differ, which are too early or useless, and
// the tolerances.

#include "review_parts.hpp"

#include <algorithm>  // any_of, find, max, min
#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "../core/access.hpp"
#include "../core/json_reader.hpp"
#include "../core/random.hpp"
#include "../core/text.hpp"
#include "../model/finding_kinds.hpp"
#include "../model/reply_data.hpp"
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
/// More tries of one question are a storm.
inline constexpr std::size_t most_tries = 10;
inline constexpr std::size_t usual_tries = 3;
inline constexpr const char* usual_advice = "OpenAI's SDKs make 3 tries.";
/// The time after an error without a time within which another try shows that the client does not wait.
inline constexpr Duration no_wait = std::chrono::milliseconds{50};
/// Members of a body that name a user or a cache; a client may change them for each try.
inline constexpr const char* labels[] = {"user", "metadata", "safety_identifier", "prompt_cache_key"};

// --- Equal requests --------------------------------------------------------------------------------------------------

struct Identity {
  /// A hash that is equal for a request and its retries.
  std::uint64_t request = 0;
  /// A hash that is equal for the same messages, whatever the model is.
  std::uint64_t messages = 0;
};

Identity identity(const ExchangeRecord& record) {
  const ReceivedRequest& request = record.request;
  Json body = read_json_if_valid(request.body);
  if (body.is_object())
    for (const char* const label : labels) body.erase(label);
  const std::string asked = body.is_object() ? body.dump() : request.body;
  Identity identity;
  identity.messages = fingerprint(body.is_object() ? body.value("messages", Json()).dump() : asked);
  identity.request = record.leaks.credential;
  // The lengths separate the parts.
  for (const std::string* part : {&request.key_id, &request.method, &request.target, &asked})
    identity.request = fingerprint(*part, fingerprint(std::to_string(part->size()) + ":", identity.request));
  return identity;
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

/// Returns the time that the answer names: not positive if it has passed, empty if it is invalid.
std::optional<Duration> named_time(const Seen& seen) {
  const RetryAdvice& advice = seen.record->advice;
  if (advice.not_before && seen.first_byte) return *advice.not_before - *seen.first_byte;
  return advice.after ? advice.after : advice.in_body;
}

bool is_final(const Seen& seen) {
  const ExchangeRecord& record = *seen.record;
  if (record.advice.should_retry.value_or(false) || named_time(seen).value_or(Duration::max()) <= a_while) return false;
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

/// Whether the client has read a failure that another try may get over.
bool asks_for_retry(const Seen& seen) {
  const int status = seen.record->status;
  const bool is_transient = status == 408 || status == 409 || status == 429 || status >= 500;
  return is_transient && was_refused(seen) && seen.record->advice.should_retry.value_or(true) && !is_final(seen) &&
         !is_over_for_the_day(seen.record->advice);
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
  const bool is_final_error = is_final(first) && (!alone || pause_between(first, second) < soon);
  const auto early = too_early(first, second);
  if (!is_final_error && !early && !is_same_day(first, second)) return std::nullopt;
  const std::string sign = alone ? sign_of_new_call(first, second) : "";
  if (sign.empty()) {
    if (is_final_error)
      return finding(finding_kinds::retried_final_error, first, second,
                     "retried after " + error_of(*first.record) + ", but a retry cannot fix this error. " +
                         (first.record->advice.code == "context_length_exceeded"
                              ? "Shorten the prompt, or report the error to the caller."
                          : first.record->status == 401 ? "Use another key, or report the error to the caller."
                                                        : "Report it to the caller instead."));
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

// --- Tries of one question -------------------------------------------------------------------------------------------

/// Finds tries without end or without a wait. `tries` are consecutive: each but the last got an error and was retried.
void judge_tries(const Group& tries, bool in_real_time, std::vector<Finding>& findings) {
  if (tries.size() > most_tries)
    findings.push_back(finding(finding_kinds::retry_storm, *tries.front(), *tries.back(),
                               "asked the same question " + std::to_string(tries.size()) +
                                   " times, each time after an error. Limit the tries to " +
                                   std::to_string(most_tries) + " at most; " + usual_advice));
  if (!in_real_time) return;
  Group hasty;
  Duration shortest = Duration::max();
  for (std::size_t i = 1; i < tries.size(); ++i) {
    const Duration pause = pause_between(*tries[i - 1], *tries[i]);
    if (tries[i - 1]->record->advice.names_time || pause >= no_wait || !numbers_fit(*tries[i - 1], *tries[i])) continue;
    hasty.push_back(tries[i]);
    shortest = std::min(shortest, pause);
  }
  if (hasty.size() < 2) return;
  findings.push_back(finding(finding_kinds::no_backoff, *tries.front(), *hasty.back(),
                             "retried " + std::to_string(hasty.size()) + " times within " + seconds(no_wait) +
                                 " of an error that names no time, once after " + seconds(shortest) +
                                 ". Wait before each try, longer every time; OpenAI's SDKs wait 0.5 s, then 1 s."));
}

/// Whether the stub's sequence has an answer after this failure, and no request has asked for it.
bool leaves_answer(const ExchangeRecord& record) {
  if (record.decision != Decision::Kind::stub || !record.stub || record.stub->plan().of_catalogue) return false;
  const std::vector<ReplyStep>& steps = record.stub->plan().replies;
  if (record.stub->calls() != record.stub_call + 1 || record.stub_call >= steps.size()) return false;
  return std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(record.stub_call) + 1, steps.end(),
                     [](const ReplyStep& step) { return step.reply && !Access::data(*step.reply).failure; });
}

/// Returns the finding about the last try of a question, or none.
std::optional<Finding> judge_last(const Group& tries) {
  const Seen& last = *tries.back();
  const ExchangeRecord& record = *last.record;
  const bool is_known = record.status == 429 || record.status == 500 || (record.status >= 502 && record.status <= 504);
  const std::optional<Duration> time = named_time(last);
  if (!is_known || tries.size() >= usual_tries || !asks_for_retry(last) || !leaves_answer(record)) return std::nullopt;
  if (time && *time > a_while) return std::nullopt;
  const std::string named = time && *time > Duration::zero() ? ", which named " + seconds(*time) : "";
  return finding_kinds::gave_up.make("gave up after " + error_of(record) + named + ", with " +
                                         (tries.size() == 1 ? "1 try" : std::to_string(tries.size()) + " tries") +
                                         ", although the stub's sequence has an answer left. Retry such an error; " +
                                         usual_advice + " Ignore this if the caller should get the error.",
                                     {record.id});
}

// --- Groups of equal requests ----------------------------------------------------------------------------------------

class EqualRequests {
 public:
  EqualRequests(const Group& same, bool in_real_time, std::vector<Finding>& findings)
      : same_(same),
        findings_(findings),
        in_real_time_(in_real_time),
        continues_(same.size()),
        is_continued_(same.size()) {
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
    judge_series(is_parallel);
  }

  /// The consecutive tries that end with the last request.
  const Group& last_tries() const { return tries_; }

  std::size_t retries() const {
    std::size_t count = 0;
    for (std::size_t i = 1; i < same_.size(); ++i) {
      const Seen& before = *same_[i - 1];
      const bool was_broken = before.outcome != Outcome::Kind::completed && follows(before, *same_[i]);
      if (continues_[i] || was_broken) ++count;
    }
    return count;
  }

 private:
  void judge_series(const std::vector<bool>& is_parallel) {
    for (std::size_t i = 0; i < same_.size(); ++i) {
      const bool goes_on = i > 0 && !is_parallel[i - 1] && !is_parallel[i] && asks_for_retry(*same_[i - 1]) &&
                           follows(*same_[i - 1], *same_[i]);
      if (!goes_on && i > 0) {
        judge_tries(tries_, in_real_time_, findings_);
        tries_.clear();
      }
      tries_.push_back(same_[i]);
    }
    judge_tries(tries_, in_real_time_, findings_);
  }

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
  bool in_real_time_;
  bool parallel_ = false;
  Group tries_;
  std::vector<std::size_t> open_;                      // failed requests without a retry so far
  std::vector<std::optional<std::size_t>> continues_;  // for each retry, the failed request
  std::vector<bool> is_continued_;
};

/// Notes the requests of a key that came before the time which a 429 named for it, except those already judged. The
/// 429 of a limit of concurrent requests only concerns the refused request.
void review_limited_keys(const std::vector<Seen>& all, const std::set<std::uint64_t>& judged,
                         std::vector<Finding>& findings) {
  struct Limited {
    const Seen* by = nullptr;  // the newest 429
    const Seen* first = nullptr;
    const Seen* last = nullptr;
    std::size_t others = 0;
  };
  std::map<std::string, Limited> keys;
  for (const Seen& seen : all) {
    const ExchangeRecord& record = *seen.record;
    if (record.request.key_id.empty()) continue;
    Limited& key = keys[record.request.key_id];
    if (key.by && judged.count(record.id) == 0 && follows(*key.by, seen) && too_early(*key.by, seen)) {
      if (key.others++ == 0) key.first = key.by;
      key.last = &seen;
    }
    if (record.status == 429 && !record.exceeds_concurrency && was_refused(seen) && named_time(seen)) key.by = &seen;
  }
  for (const auto& [id, key] : keys) {
    if (key.others == 0) continue;
    const std::string& name = key.first->record->request.key_description;
    findings.push_back(finding(finding_kinds::key_used_while_limited, *key.first, *key.last,
                               text::counted(key.others, "other request") + " with key " +
                                   excerpts::quoted(name.empty() ? id : name) + " came before the " +
                                   seconds(*named_time(*key.first)) +
                                   " that its 429 named had passed. Let all callers of a key wait that long."));
  }
}

}  // namespace retries

std::size_t review_retries(const std::vector<Seen>& all, bool in_real_time, std::vector<Finding>& findings) {
  const auto first = static_cast<std::ptrdiff_t>(findings.size());
  std::map<std::uint64_t, retries::Group> groups;
  std::map<std::uint64_t, const Seen*> newest;  // the newest request with each list of messages
  std::map<const Seen*, std::uint64_t> messages;
  for (const Seen& seen : all) {
    const retries::Identity identity = retries::identity(*seen.record);
    groups[identity.request].push_back(&seen);
    newest[identity.messages] = &seen;
    messages[&seen] = identity.messages;
  }
  std::size_t count = 0;
  for (const auto& [identity, same] : groups) {
    retries::EqualRequests requests(same, in_real_time, findings);
    requests.judge();
    count += requests.retries();
    if (newest[messages[same.back()]] != same.back()) continue;  // asked again, perhaps another model
    if (auto gave_up = retries::judge_last(requests.last_tries())) findings.push_back(std::move(*gave_up));
  }
  std::set<std::uint64_t> judged;
  for (auto found = findings.begin() + first; found != findings.end(); ++found) judged.insert(found->exchanges.back());
  retries::review_limited_keys(all, judged, findings);
  return count;
}

}  // namespace mock_gateway::detail
