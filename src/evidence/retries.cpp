// What is a retry, and what of two requests may differ; when it is too early or of no use; tolerances; texts of these
// findings.

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

/// How much earlier than told a client may come back.
inline constexpr Duration timer_tolerance = std::chrono::milliseconds{2};
/// Requests that follow each other faster may come from calls made in parallel.
inline constexpr Duration burst = std::chrono::milliseconds{100};
/// How long after a final error a new call that asks the same looks like another try.
inline constexpr Duration soon = std::chrono::seconds{1};
/// The same after the quota of a day was used up, and after the client gave a request up.
inline constexpr Duration a_while = std::chrono::minutes{1};
/// The members of a body that say whom a request is for, or where to cache it: a client may set them anew for a try.
inline constexpr const char* labels[] = {"user", "metadata", "safety_identifier", "prompt_cache_key"};

// --- Which requests ask the same -------------------------------------------------------------------------------------

/// A JSON object without its labels and its white space. Any other body as it is.
std::string without_labels(const std::string& text) {
  Json body = read_json_if_valid(text);
  if (!body.is_object()) return text;
  for (const char* const label : labels) body.erase(label);
  return body.dump();
}

/// The same for a request and its retries.
std::uint64_t identity(const ExchangeRecord& record) {
  const ReceivedRequest& request = record.request;
  const std::string asked = without_labels(request.body);
  std::uint64_t value = record.leaks.credential;
  // The lengths keep the end of one part apart from the beginning of the next.
  for (const std::string* part : {&request.key_id, &request.method, &request.target, &asked})
    value = fingerprint(*part, fingerprint(std::to_string(part->size()) + ":", value));
  return value;
}

// --- Which came when -------------------------------------------------------------------------------------------------

/// Whether the first was answered, and the second came afterwards.
bool comes_after(const Seen& first, const Seen& second) {
  if (first.answered) return second.possible > *first.answered;
  return first.outcome != Outcome::Kind::pending;
}

/// From the first's answer to the second on the clock on which it was longer; from the first request where nothing was
/// answered.
Duration pause_between(const Seen& first, const Seen& second) {
  const Duration in_real_time = second.record->recorded - first.answered.value_or(first.record->recorded);
  // A client that sleeps in real time has waited too, although the gateway's clock may stand still.
  const TimePoint began = first.first_byte.value_or(first.record->received);
  return std::max(in_real_time, second.record->received - began);
}

/// How long the client waited, as a message tells it: what it was judged by. Where another clock than the gateway's
/// made it longer by a hundredth of what was asked for at most, which says nothing, by the gateway's clock, so that a
/// manual clock gives the same message each time.
Duration told(Duration judged, Duration by_gateway, Duration asked) {
  return judged - by_gateway > asked / 100 ? judged : by_gateway;
}

/// Whether the client seems to ask the very same in several calls at once.
bool asked_in_parallel(const Group& same) {
  for (std::size_t i = 1; i < same.size(); ++i) {
    const Seen& first = *same[i - 1];
    const Seen& second = *same[i];
    if (!comes_after(first, second)) return true;
    // A call that succeeded is over: the next one has come from beside it.
    if (first.record->status < 400 && pause_between(first, second) < burst) return true;
  }
  return false;
}

/// Until when another request would have been under way together with this one.
RealTime under_way_until(const Seen& seen) {
  const bool is_pending = seen.outcome == Outcome::Kind::pending;
  if (seen.record->status >= 400) return seen.answered.value_or(is_pending ? RealTime::max() : seen.over);
  if (is_pending) return RealTime::max();
  // The gateway notes the end of a stream after the client has read it, and may have asked again.
  return std::max(seen.answered.value_or(RealTime::min()), seen.over - burst);
}

/// Says for each request whether two were under way together in its run. The next request belongs to the run if it
/// comes while an earlier one is under way, or within a burst.
std::vector<bool> in_company(const Group& same) {
  std::vector<bool> together;  // of each run
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
  std::vector<bool> company;
  for (const std::size_t run : runs) company.push_back(together[run]);
  return company;
}

// --- What was wrong --------------------------------------------------------------------------------------------------

bool is_final(const ExchangeRecord& record) {
  if (record.advice.should_retry.value_or(false)) return false;
  if (record.status == 400 || record.status == 401 || record.status == 403) return true;
  return (record.status == 402 || record.status == 429) && record.advice.code == "insufficient_quota";
}

/// Whether the quota of a day is used up, and nothing says when to come back.
bool is_over_for_the_day(const RetryAdvice& advice) {
  return advice.of_a_day && !advice.in_body && !advice.should_retry.value_or(false);
}

/// Whether it failed, and its client has read that.
bool was_refused(const Seen& seen) {
  // What was not whole the client may not have read.
  return seen.record->status >= 400 && seen.outcome == Outcome::Kind::completed && seen.first_byte && seen.answered &&
         !seen.broken && seen.record->decision != Decision::Kind::malformed;
}

/// Whether nothing was changed between the two, and the second came when the first was over.
bool follows(const Seen& first, const Seen& second) {
  return first.record->changes == second.record->changes && comes_after(first, second);
}

/// Whether the second may be the client's next try after the first, as far as header fields say.
bool numbers_fit(const Seen& first, const Seen& second) {
  if (second.number) return first.number && *first.number + 1 == *second.number;
  return !first.number && first.call == second.call;
}

/// What says that the second is a new call, and no retry of the first; empty: nothing does.
std::string sign_of_new_call(const Seen& first, const Seen& second) {
  if (second.number) return *second.number == 0 ? "x-stainless-retry-count: 0" : "";
  return second.call && second.call != first.call ? "a new Idempotency-Key" : "";
}

/// How the second came before the time that the first's answer asked for.
struct TooEarly {
  std::string when;   // "after 0.5 s"
  std::string asked;  // "Retry-After was 2 s"; empty where `when` says it
  std::string clocks;
  bool by_body = false;  // which asked for the time, and no header did
};

/// Nothing when it came in time.
std::optional<TooEarly> too_early(const Seen& first, const Seen& second) {
  const ExchangeRecord& retry = *second.record;
  const RetryAdvice& advice = first.record->advice;
  const Duration shown = retry.received - *first.first_byte;
  if (const Duration pause = pause_between(first, second); advice.after && pause + timer_tolerance < *advice.after) {
    const std::string header = advice.in_milliseconds ? "retry-after-ms" : "Retry-After";
    return TooEarly{"after " + seconds(told(pause, shown, *advice.after)), header + " was " + seconds(*advice.after),
                    ""};
  }
  if (const Duration pause = pause_between(first, second); advice.in_body && pause + timer_tolerance < *advice.in_body)
    return TooEarly{"after " + seconds(told(pause, shown, *advice.in_body)),
                    "the body of the 429 said " + seconds(*advice.in_body), "", true};
  if (!advice.not_before) return std::nullopt;
  const Duration ahead = *advice.not_before - *first.first_byte;
  // The machine's clock is the client's.
  const Duration pause = std::max(pause_between(first, second), retry.machine_time - *first.first_byte);
  if (pause + timer_tolerance >= ahead) return std::nullopt;
  const Duration apart = retry.received - retry.machine_time;
  const bool other_clock = apart > std::chrono::seconds{1} || apart < std::chrono::seconds{-1};
  return TooEarly{seconds(ahead - told(pause, shown, ahead)) + " before the date in Retry-After", "",
                  other_clock ? " The gateway's clock differs from the machine's clock. A client that ignores the Date "
                                "header compares the date with the machine's clock."
                              : ""};
}

/// `401 "unauthorized"`.
std::string error_of(const ExchangeRecord& record) {
  const std::string& code = record.advice.code;
  return std::to_string(record.status) + (code.empty() ? "" : " " + excerpts::quoted(code));
}

Finding finding(const finding_kinds::Kind& kind, const Seen& first, const Seen& second, std::string message) {
  return kind.make(std::move(message), {first.record->id, second.record->id});
}

Finding retried_final_error(const Seen& first, const Seen& second) {
  return finding(finding_kinds::retried_final_error, first, second,
                 "retried after " + error_of(*first.record) +
                     ", but a retry cannot fix this error. Report it to the caller instead.");
}

Finding came_too_early(const Seen& first, const Seen& second, const TooEarly& early) {
  if (early.by_body)
    return finding(finding_kinds::retry_delay_in_body_ignored, first, second,
                   "retried " + early.when + ", but " + early.asked +
                       ". Wait that long before retrying: some services name the time only in the body.");
  return finding(finding_kinds::retry_after_ignored, first, second,
                 "retried " + early.when + (early.asked.empty() ? "" : ", but " + early.asked) +
                     ". Wait as long as the header says before retrying." + early.clocks);
}

/// "0.5 s after 429 "rate_limit_exceeded"".
std::string soon_after_error(const Seen& first, const Seen& second, Duration asked) {
  const Duration shown = second.record->received - *first.first_byte;
  return seconds(told(pause_between(first, second), shown, asked)) + " after " + error_of(*first.record);
}

/// Whether a quota of a day was used up, and the day cannot have changed since.
bool is_same_day(const Seen& first, const Seen& second) {
  return is_over_for_the_day(first.record->advice) && pause_between(first, second) < a_while;
}

Finding daily_quota_retried(const Seen& first, const Seen& second) {
  return finding(
      finding_kinds::daily_quota_retried, first, second,
      "retried " + soon_after_error(first, second, a_while) +
          ", which names a daily quota. Report the error to the caller: a short wait does not restore the quota.");
}

/// What was wrong about the second request, which follows the first. Alone: no number makes it a retry.
std::optional<Finding> judge(const Seen& first, const Seen& second, bool alone) {
  const bool is_final_error = is_final(*first.record) && (!alone || pause_between(first, second) < soon);
  const auto early = too_early(first, second);
  if (!is_final_error && !early && !is_same_day(first, second)) return std::nullopt;
  const std::string sign = alone ? sign_of_new_call(first, second) : "";
  if (sign.empty()) {
    if (is_final_error) return retried_final_error(first, second);
    return early ? came_too_early(first, second, *early) : daily_quota_retried(first, second);
  }
  std::string message = "sent the same request again ";
  if (is_final_error || !early) {
    message += soon_after_error(first, second, is_final_error ? soon : a_while) + ", as a new call (" + sign +
               "). Make the retry loop around the client report the error.";
  } else {
    message += early->when + ", as a new call (" + sign + ")" + (early->asked.empty() ? "" : "; " + early->asked) +
               ". Make the retry loop around the client wait as long as the " +
               (early->by_body ? "body" : "header") + " says.";
  }
  return finding(finding_kinds::asked_again_early, first, second,
                 message + " Ignore this if the test repeats the request on purpose." + (early ? early->clocks : ""));
}

/// Whether it says that it is a retry, and has an Idempotency-Key that the try before it had not.
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

/// Whether the client left the first before its answer had begun, and then sent the second.
bool was_given_up(const Seen& first, const Seen& second) {
  if (!first.client_left || *first.client_left > second.record->recorded) return false;
  const bool is_its_doing = first.outcome == Outcome::Kind::client_left || first.outcome == Outcome::Kind::pending;
  return is_its_doing && (!first.answered || *first.answered > *first.client_left);
}

/// Whether the first had no answer yet when the second was there.
bool was_unanswered(const Seen& first, const Seen& second) {
  if (first.outcome == Outcome::Kind::completed) return first.answered && *first.answered > second.record->recorded;
  return first.outcome == Outcome::Kind::pending && !first.answered;
}

/// Whether the second is the first once more, by a client that did not wait for the first's answer.
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

// --- Requests that ask the same --------------------------------------------------------------------------------------

/// Judges a group of requests that ask the same.
class SameQuestion {
 public:
  SameQuestion(const Group& same, std::vector<Finding>& findings)
      : same_(same), findings_(findings), continues_(same.size()), is_continued_(same.size()) {
    Group unnumbered;
    for (const Seen* seen : same)
      if (!seen->number) unnumbered.push_back(seen);
    parallel_ = asked_in_parallel(unnumbered);
  }

  void judge() {
    for (std::size_t i = 0; i < same_.size(); ++i) {
      judge_retry_at(i);
      // A numbered try that broke is continued by the next, although it forbids nothing.
      const Seen& seen = *same_[i];
      if (seen.record->status >= 400 || (seen.number && seen.outcome != Outcome::Kind::completed)) open_.push_back(i);
    }
    const std::vector<bool> company = in_company(same_);
    for (std::size_t i = 1; i < same_.size(); ++i) {
      if (!company[i]) judge_lone_at(i);
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
    // Of several calls any may be the one that comes back: it is wrong only if it is wrong after each.
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
    // What a retry continues later was still under way, and what it has continued before is over.
    if (continues_[at] || is_continued_[at - 1] || numbers_fit(first, second)) return;
    if (!was_refused(first) || !follows(first, second)) return;
    if (auto wrong = retries::judge(first, second, true)) findings_.push_back(std::move(*wrong));
    if (has_new_key(first, second)) findings_.push_back(idempotency_key_changed(first, second));
  }

  void judge_resent_at(std::size_t at) {
    const Seen& second = *same_[at];
    // Without numbers only what came right before can be told to be the same call.
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
  std::vector<std::size_t> open_;                      // failed, and no retry has continued them
  std::vector<std::optional<std::size_t>> continues_;  // which failed request this one is the retry of
  std::vector<bool> is_continued_;
};

}  // namespace retries

void review_retries(const std::vector<Seen>& all, std::vector<Finding>& findings) {
  std::map<std::uint64_t, retries::Group> groups;
  for (const Seen& seen : all) groups[retries::identity(*seen.record)].push_back(&seen);
  for (const auto& [identity, same] : groups) retries::SameQuestion(same, findings).judge();
}

}  // namespace mock_gateway::detail
