#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "../model/finding.hpp"

namespace mock_gateway {

namespace detail {

struct Access;
class ReportedProblems;

/// What a review has judged. A call has one or more tries, each an exchange.
struct ReviewTally {
  std::size_t tries = 0;
  std::size_t retries = 0;
  std::size_t faults = 0;  // tries that got a scripted or forced failure, a fault or chaos
};

}  // namespace detail

/// The client's mistakes that the recorded exchanges prove. True if no finding fails the review. Notes fail none, nor
/// do the warnings marked with *, which also occur in tests that expect an error. An adapter prints these at the end of
/// a failed test, unless the review was printed. Prints one finding per line: CHECK(gateway.review()). The names of the
/// rules in docs/documented-surface.md are codes too (warning*): the profile's service refuses such a request.
///
/// | code                          | severity | when                                                                |
/// |-------------------------------|----------|---------------------------------------------------------------------|
/// | request_refused               | error    | the gateway itself answered 400, 404 for a path, 405, 413 or 415,   |
/// |                               |          | except 400 context_length_exceeded                                  |
/// | retry_after_ignored           | error    | retried before the time in retry-after-ms or Retry-After            |
/// | retried_final_error           | error    | retried after 400, 401, 403, or insufficient_quota (402, 429), that |
/// |                               |          | name no time of at most 60 s                                        |
/// | retry_delay_in_body_ignored   | warning  | retried before the time in the body of a 429 without such a header  |
/// | daily_quota_retried           | warning  | retried within a minute after a 429 that names a daily quota        |
/// | asked_again_early             | warning* | a new call before such a time, or within 1 s of a final error       |
/// | retry_storm                   | warning* | more than 10 tries of one question                                  |
/// | no_backoff                    | warning* | retried twice within 50 ms of errors that name no time              |
/// | gave_up                       | warning* | fewer than 3 tries; the stub's sequence still has an answer         |
/// | key_used_while_limited        | note     | other requests of a key before the time that its 429 names          |
/// | idempotency_key_changed       | warning  | a numbered retry with a different Idempotency-Key                   |
/// | resent_after_own_timeout      | warning  | resent an unanswered request without an Idempotency-Key             |
/// | tool_call_unanswered          | error    | an assistant's tool call without a tool message right after it      |
/// | tool_result_unknown_id        | error    | a tool message for a call that is in no earlier message             |
/// | stream_left_open              | error    | not closed 0.5 s after `[DONE]` while the gateway waited            |
/// | stream_abandoned              | error    | read nothing during the write timeout and did not close             |
/// | pipelined_request             | warning  | sent on the connection of an unfinished stream, so it had to wait   |
/// | key_in_query                  | error    | a key in the target                                                 |
/// | key_in_body                   | error    | a key in the body                                                   |
/// | key_sent_to_other_origin      | error    | a redirect took the key to another gateway of the process           |
/// | key_lost_in_redirect          | warning* | no key after a redirect to the same gateway                         |
/// | browser_request               | error    | an Origin header: sent by a browser, which should not have a key    |
/// | key_shared                    | warning  | one key from User-Agents without a common product                   |
/// | unlisted_model                | note     | a model that is not listed, if any model is served                  |
/// | beyond_documentation          | note     | documented only by OpenAI and accepted here                         |
/// | unknown_field                 | warning  | an undocumented field; in the openai profile, also by OpenAI        |
/// | stop_as_string                | warning  | stop as a string, except in the openai profile                      |
/// | temperature_out_of_range      | warning  | a temperature outside 0 to 2                                        |
/// | temperature_and_top_p         | warning  | both temperature and top_p; only one should be set                  |
/// | stream_options_without_stream | warning  | stream_options without stream, which has no effect                  |
/// | tools_empty                   | warning* | tools is [], which OpenAI refuses                                   |
/// | duplicate_key                 | warning  | a JSON object with a duplicate key                                  |
///
/// A request counts as the retry of an earlier one if:
/// - Key, method, target and body are the same. In a JSON object, the members `user`, `metadata`, `safety_identifier`
///   and `prompt_cache_key` may differ; the others are compared byte by byte, in order. Header fields may differ.
/// - The earlier one was answered completely with status 400 or above before this one arrived.
/// - No other request has retried the earlier one.
/// - The test changed no key, limit, stub, state machine, forced failure, chaos rule, connection fault or mounted
///   operation in between.
/// - The client does not number its tries (x-stainless-retry-count) and the Idempotency-Key is the same; or it numbers
///   them and this is the next number.
/// If several earlier requests fit, because of parallel calls, the retry is wrong only if it is wrong after each.
/// Without numbered tries, a request within 100 ms of a failure counts as another call if the client sends the same
/// request in parallel. Parallel means two under way at once, or another within 100 ms of a success.
///
/// A request directly after an equal one is also judged if it is alone and its number or key says that it is no retry.
/// It must not come before the time in Retry-After, or within 1 s of a final error. If the number 0 or its own
/// Idempotency-Key marks it as a new call, the finding is `asked_again_early`. Otherwise it is the same as for a retry.
/// A request is not alone if two requests of its series were under way at once. A series has equal requests that
/// overlap or are less than 100 ms apart. Nor is it alone if a numbered retry continues the earlier one later.
///
/// Two cases only look like retries, if the client does not number tries. In one, the test repeats a request after an
/// error on purpose. In the other, equal parallel calls all fail and are not retried. Vary such requests, or leave the
/// finding out.
///
/// `retry_storm` and `no_backoff` count tries of one question: equal requests one after the other, each answered with
/// 408, 409, 429 or a status from 500 on. `no_backoff` needs the real clock. `gave_up` is reported until a retry comes,
/// so review at the end. It is about 429, 500, 502, 503 and 504 that name no time above 60 s.
///
/// Waiting time counts from the first byte of the answer, on the gateway's clock or in real time, whichever is longer;
/// the message names it. Timers fire early, so 2 ms less are accepted. If Retry-After is a date, a client may retry as
/// soon as one clock allows it: the gateway's, the system clock or real time. Clients compare the date with the system
/// clock. Real time counts from the answer. If an answer has several different fields of one name
/// (Failure::add_header), clients differ in which they read. Then the answer asks for no time, and a retry is allowed
/// if any x-should-retry is `true`.
///
/// Failures of Gateway::chaos count like any other. Answers broken by a chaos fault do not, because the client may not
/// have read them.
class [[nodiscard]] Review {
 public:
  // A move copies: a moved-from review without its findings would convert to true.
  Review(const Review& other);
  Review& operator=(const Review& other);
  ~Review();

  explicit operator bool() const;
  /// Returns errors, then warnings, then notes, each in the order of their exchanges. `unlisted_model` is last, and
  /// once.
  const std::vector<Finding>& findings() const& { return findings_; }
  std::vector<Finding> findings() &&;
  std::size_t judged() const { return tally_.tries; }
  /// Returns the number of exchanges evicted from the journal before they could be judged.
  std::size_t evicted() const { return evicted_; }
  /// Returns the number of judged exchanges that had not ended.
  std::size_t open() const { return open_; }
  /// Returns what chaos did to the judged exchanges and how to repeat it. Empty without chaos.
  std::string chaos() const;
  /// Returns a line with the numbers of calls, tries and injected faults, or that the review is clean. Then one finding
  /// per line, each with the number of its repetitions. Then the number of evicted and open exchanges, and the effects
  /// of chaos, if any.
  std::string message() const;
  /// Returns this review without findings of this code. Throws GatewayError with the list of codes if it is unknown.
  Review without(const std::string& code) const;

 private:
  friend struct detail::Access;
  Review(std::vector<Finding> findings, std::string scope, detail::ReviewTally tally, std::size_t evicted,
         std::size_t open, std::string chaos, std::shared_ptr<detail::ReportedProblems> reported);

  std::vector<Finding> findings_;
  std::string scope_;
  detail::ReviewTally tally_;
  std::size_t evicted_;
  std::size_t open_;
  std::string chaos_;
  std::shared_ptr<detail::ReportedProblems> reported_;
};

/// Prints its message, with a line end if it has several lines.
std::ostream& operator<<(std::ostream& out, const Review& review);

const std::vector<std::string>& finding_codes();

}  // namespace mock_gateway
