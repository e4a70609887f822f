#pragma once

// How every harness reports a finding, and the checks that several share.

#include <time.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "mock_gateway.hpp"
#include "support/client.hpp"

namespace fuzz {

/// Ends the process; libFuzzer then keeps the current input.
[[noreturn]] inline void found(const std::string& what) {
  std::cerr << "FINDING: " << what << std::endl;
  std::abort();
}

inline void require(bool holds, const std::string& otherwise) {
  if (!holds) found(otherwise);
}

/// The CPU time of this thread in seconds: real time would blame the input for a busy machine.
inline double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Reports work on one input that takes far more than the fraction of a second which the library promises; sanitizers
/// make it several times slower.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds, std::string what) : seconds_(seconds), what_(std::move(what)) {}
  ~TimeLimit() {
    const double used = thread_seconds() - began_;
    if (used > seconds_) found(what_ + " took " + std::to_string(used) + " s of processor time");
  }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  double began_ = thread_seconds();
  double seconds_;
  std::string what_;
};

/// Checks that an error body is UTF-8 JSON with the three documented strings.
inline void require_error_body(const std::string& body) {
  using mock_gateway::Json;
  require(mock_gateway::detail::text::is_valid_utf8(body), "an error body is not UTF-8: " + body);
  const Json parsed = Json::parse(body, nullptr, false);
  require(parsed.is_object() && parsed.contains("error") && parsed["error"].is_object(),
          "an error body is no error: " + body);
  for (const char* name : {"code", "message", "type"}) {
    require(parsed["error"].contains(name) && parsed["error"][name].is_string(),
            std::string("an error body has no ") + name + ": " + body);
  }
}

/// Checks that a stream is complete: events of JSON, then [DONE].
inline void require_whole_stream(const test_support::Response& response) {
  const std::vector<std::string> events = response.events();
  require(!events.empty() && events.back() == "[DONE]", "a stream does not end in [DONE]: " + response.body);
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    require(mock_gateway::Json::accept(events[i]), "an event is no JSON: " + events[i]);
  }
}

/// Checks what holds for every response.
inline void require_answer(const test_support::Response& response, bool to_head) {
  require(response.complete, "an answer is not whole: " + response.raw);
  // HTTP defines 501 for an unknown transfer coding and 505 for an unknown version.
  const bool blames_the_gateway = response.status >= 500 && response.status != 501 && response.status != 505;
  require(response.status >= 100 && !blames_the_gateway, "the gateway takes the blame: " + response.raw);
  if (to_head || response.status < 200) return;
  if (response.status >= 400) return require_error_body(response.body);
  if (response.is_stream()) return require_whole_stream(response);
  require(mock_gateway::Json::accept(response.body), "an answer is no JSON: " + response.raw);
}

}  // namespace fuzz
