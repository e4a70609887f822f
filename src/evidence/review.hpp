#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "../model/finding.hpp"

namespace mock_gateway {

/// What the client did wrong, as far as one or a few recorded exchanges prove it. True when there is nothing. Prints
/// itself, a finding a line: CHECK(gateway.review()).
///
/// | code                          | severity | when                                                                |
/// |-------------------------------|----------|---------------------------------------------------------------------|
/// | request_refused               | error    | the gateway itself answered 400, 413 or 415, whatever a script says  |
/// | retry_after_ignored           | error    | tried again before the time in retry-after-ms or Retry-After        |
/// | retried_final_error           | error    | tried again after 400, 401, 403, or insufficient_quota (402, 429)   |
/// | tool_call_unanswered          | error    | an assistant's tool call without a tool message right after it      |
/// | tool_result_unknown_id        | error    | a tool message for a call that no message before it has             |
/// | stream_left_open              | error    | not closed for half a second after `[DONE]`, the gateway waiting    |
/// | stream_abandoned              | error    | took nothing for the write timeout without closing                  |
/// | pipelined_request             | warning  | sent on the connection of an unfinished stream, and waited for it   |
/// | key_in_query                  | error    | a key in the target                                                 |
/// | key_in_body                   | error    | a key in the body                                                   |
/// | browser_request               | error    | an Origin header: sent from a browser, where no key belongs         |
/// | key_shared                    | warning  | one key from User-Agents that share no product                      |
/// | unknown_field                 | warning  | a field that is not documented, nor by OpenAI in its profile        |
/// | stop_as_string                | warning  | stop as a string in place of an array, but in the openai profile    |
/// | temperature_out_of_range      | warning  | a temperature outside of 0 to 2                                     |
/// | temperature_and_top_p         | warning  | both, where one is to be used                                       |
/// | stream_options_without_stream | warning  | without effect                                                      |
/// | duplicate_key                 | warning  | a JSON object that names a key twice                                |
///
/// A request is taken for the retry of an earlier one when all of this holds:
/// - Key, method, target, body and header fields are the same, except for fields that tell tries or traces apart
///   (x-stainless-retry-count, traceparent, x-request-id and their kin). An Idempotency-Key of its own makes a new
///   call.
/// - The earlier one was answered, whole, with a status from 400 on, before this one came, and no other continued it.
/// - Nothing was changed in between: no key or limit, no stub or scenario, no forced failure.
/// - The client, if it numbers its tries (x-stainless-retry-count), calls it the next one; 0 is a new call.
/// Where several earlier ones fit, because calls are made in parallel, it must be wrong after each of them. Where the
/// same is visibly asked in parallel (two under way at once, or again within 100 ms of a success), and tries have no
/// numbers, what comes within 100 ms of a failure is another call, and no retry. What cannot be told from
/// a retry is a test that asks the same again on purpose after an error, and calls without numbers in parallel that ask
/// the same, all fail and never come back: let them ask something else, or leave the code out.
///
/// Waiting time counts from the answer's first byte, on the gateway's clock or in real time, whichever is longer, and a
/// message tells that one. Timers fire early, so 2 ms less are enough. A date is that very second: a client is right
/// once the gateway's clock shows it, or the machine's clock, by which the client reads dates, or once as much real
/// time has passed since the answer as lay between the answer and the date. Where an answer has several fields of one
/// name that differ, as Failure::add_header makes them, clients differ in which they read: the answer then asks for no
/// time, and another try is allowed if any x-should-retry says `true`.
///
/// A failure of Gateway::chaos is judged like any other. One whose answer a fault of chaos struck is not: the client
/// may not have read it.
class [[nodiscard]] Review {
 public:
  // Defined in the .cpp: a file that copies one need not compile it.
  Review(const Review& other);
  Review(Review&& other) noexcept;
  Review& operator=(const Review& other);
  Review& operator=(Review&& other) noexcept;
  ~Review();

  /// Whether there is no finding.
  explicit operator bool() const { return findings_.empty(); }
  /// In order of the exchanges that they are about.
  const std::vector<Finding>& findings() const& { return findings_; }
  std::vector<Finding> findings() &&;
  /// How many exchanges were judged.
  std::size_t judged() const { return judged_; }
  /// How many exchanges of the gateway were evicted from the journal before anybody could judge them.
  std::size_t evicted() const { return evicted_; }
  /// How many of the judged ones had not ended.
  std::size_t open() const { return open_; }
  /// A finding a line, those that only repeat an earlier one counted behind it; or that it is clean. Then a line of
  /// what chaos did, if it could.
  std::string message() const;
  /// The same without findings of this code. Throws GatewayError, which lists them all, when there is no such code.
  Review without(const std::string& code) const;

  /// For the library.
  Review(std::vector<Finding> findings, std::string scope, std::size_t judged, std::size_t evicted, std::size_t open,
         std::string chaos);

 private:
  std::vector<Finding> findings_;
  std::string scope_;
  std::size_t judged_;
  std::size_t evicted_;
  std::size_t open_;
  std::string chaos_;
};

/// Its message, with a line end behind it if it has several lines.
std::ostream& operator<<(std::ostream& out, const Review& review);

/// Every code that a finding can have.
const std::vector<std::string>& finding_codes();

}  // namespace mock_gateway
