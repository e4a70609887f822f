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

}  // namespace detail

/// What the client did wrong, as far as one or a few recorded exchanges prove it. True when there is no finding but
/// notes and `asked_again_early`, which a test brings about that expects an error and then asks again; an adapter
/// prints that one at the end of a test that has failed, unless the review was printed. Prints itself, a finding a
/// line: CHECK(gateway.review()).
///
/// | code                          | severity | when                                                                |
/// |-------------------------------|----------|---------------------------------------------------------------------|
/// | request_refused               | error    | the gateway answered 400, 404 of a path, 405, 413 or 415 by itself  |
/// | retry_after_ignored           | error    | tried again before the time in retry-after-ms or Retry-After        |
/// | retried_final_error           | error    | tried again after 400, 401, 403, or insufficient_quota (402, 429)   |
/// | retry_delay_in_body_ignored   | warning  | tried again before the time in the body of a 429 without such a one |
/// | daily_quota_retried           | warning  | tried again within a minute after a 429 that names a day's quota    |
/// | asked_again_early             | warning  | the same before such a time, or within 1 s, as what looks new       |
/// | idempotency_key_changed       | warning  | a numbered retry with another Idempotency-Key                       |
/// | resent_after_own_timeout      | warning  | sent again what was not answered yet, without an Idempotency-Key    |
/// | tool_call_unanswered          | error    | an assistant's tool call without a tool message right after it      |
/// | tool_result_unknown_id        | error    | a tool message for a call that no message before it has             |
/// | stream_left_open              | error    | not closed for half a second after `[DONE]`, the gateway waiting    |
/// | stream_abandoned              | error    | took nothing for the write timeout without closing                  |
/// | pipelined_request             | warning  | sent on the connection of an unfinished stream, and waited for it   |
/// | key_in_query                  | error    | a key in the target                                                 |
/// | key_in_body                   | error    | a key in the body                                                   |
/// | key_sent_to_other_origin      | error    | followed a redirect to another gateway of the process with the key  |
/// | browser_request               | error    | an Origin header: sent from a browser, where no key belongs         |
/// | key_shared                    | warning  | one key from User-Agents that share no product                      |
/// | unlisted_model                | note     | a model that nobody listed, where any is served                     |
/// | beyond_documentation          | note     | what OpenAI documents alone, where the acceptance takes it          |
/// | unknown_field                 | warning  | an undocumented field; in the openai profile, by OpenAI too         |
/// | stop_as_string                | warning  | stop as a string, except in the openai profile                      |
/// | temperature_out_of_range      | warning  | a temperature outside of 0 to 2                                     |
/// | temperature_and_top_p         | warning  | both temperature and top_p, where one is to be used                 |
/// | stream_options_without_stream | warning  | stream_options without stream, which have no effect                 |
/// | duplicate_key                 | warning  | a JSON object that names a key twice                                |
///
/// A request is taken for the retry of an earlier one when all of this holds:
/// - Key, method, target and body are the same. Of a body that is a JSON object, the members `user`, `metadata`,
///   `safety_identifier` and `prompt_cache_key` may differ; the others are compared byte by byte, in their order.
///   Header fields may differ.
/// - The earlier one was answered whole, with a status from 400 on, before this one came, and no other request
///   continued it.
/// - Nothing was changed in between: no key, limit, stub, state machine or forced failure.
/// - The client numbers no tries (x-stainless-retry-count) and the Idempotency-Key is the same; or it numbers them, and
///   this number is the next.
/// Where several earlier ones fit, because calls are made in parallel, the retry must be wrong after each of them.
/// Where the same is visibly asked in parallel (two under way at once, or again within 100 ms of a success), and tries
/// have no numbers, what comes within 100 ms of a failure is another call, and no retry.
///
/// A request that comes right after the earlier one, alone, and whose number or key does not make it its retry, is
/// judged as well: before the time in Retry-After, and within a second of an error that another try does not change. It
/// is `asked_again_early` where it says that it is a new call, by a number of 0 or a new Idempotency-Key, and
/// the same finding as a retry where nothing says so. It is not alone where an equal request was under way together
/// with it, or with one of those that follow each other within 100 ms, or where a numbered retry continues the earlier
/// one later.
///
/// Two things look like a retry and are none: a test whose client numbers no tries, and that asks the same again on
/// purpose after an error, and calls without numbers in parallel that ask the same, all fail and never come back. Let
/// them ask something else, or leave the finding out.
///
/// Waiting time counts from the answer's first byte, on the gateway's clock or in real time, whichever is longer, and
/// the message names that time. Timers fire early, so 2 ms less are enough. A date means the second that it names: a
/// client is right once the gateway's clock shows it, or the machine's clock, by which the client reads dates, or once
/// as much real time has passed since the answer as lay between the answer and the date. Where an answer has several
/// fields of one name that differ, as Failure::add_header makes them, clients differ in which they read: the answer
/// then asks for no time, and another try is allowed if any of its x-should-retry fields says `true`.
///
/// What a client does after a failure of Gateway::chaos is judged as after any other. After an answer that a fault of
/// chaos struck it is not: the client may not have read that answer.
class [[nodiscard]] Review {
 public:
  // Defined in the .cpp: a file that copies one need not compile it. A move copies too: a result whose findings were
  // taken away would be true.
  Review(const Review& other);
  Review& operator=(const Review& other);
  ~Review();

  /// Whether there is no finding that fails a review: see Finding::fails_review.
  explicit operator bool() const;
  /// The findings in the order of the exchanges that they are about.
  const std::vector<Finding>& findings() const& { return findings_; }
  std::vector<Finding> findings() &&;
  /// How many exchanges were judged.
  std::size_t judged() const { return judged_; }
  /// How many exchanges of the gateway were evicted from the journal before anybody could judge them.
  std::size_t evicted() const { return evicted_; }
  /// How many of the judged ones had not ended.
  std::size_t open() const { return open_; }
  /// What chaos did to the judged ones, and how to have it again; empty where there was none.
  std::string chaos() const;
  /// A finding a line, with the number of those that only repeat it behind it; without findings, that it is clean. Then
  /// how many exchanges were evicted or are open, and what chaos did, if there was any.
  std::string message() const;
  /// This review without findings of that code. Throws GatewayError, which lists all codes, when there is no such code.
  Review without(const std::string& code) const;

 private:
  friend struct detail::Access;
  Review(std::vector<Finding> findings, std::string scope, std::size_t judged, std::size_t evicted, std::size_t open,
         std::string chaos, std::shared_ptr<detail::ReportedProblems> reported);

  std::vector<Finding> findings_;
  std::string scope_;
  std::size_t judged_;
  std::size_t evicted_;
  std::size_t open_;
  std::string chaos_;
  std::shared_ptr<detail::ReportedProblems> reported_;
};

/// Its message, with a line end behind it if it has several lines.
std::ostream& operator<<(std::ostream& out, const Review& review);

/// Every code that a finding can have.
const std::vector<std::string>& finding_codes();

}  // namespace mock_gateway
