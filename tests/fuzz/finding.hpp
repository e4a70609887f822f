#pragma once

// Reporting of findings by the harnesses, and checks that several harnesses share.

#include <time.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "mock_gateway.hpp"
#include "support/client.hpp"

namespace fuzz {

/// Prints a finding and ends the process. libFuzzer then keeps the current input.
[[noreturn]] inline void found(const std::string& what) {
  std::cerr << "FINDING: " << what << std::endl;
  std::abort();
}

inline void require(bool holds, const std::string& otherwise) {
  if (!holds) found(otherwise);
}

/// Returns the CPU time of this thread in seconds. Real time would depend on the load of the machine.
inline double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// A limit on the CPU time for one input. The library promises a fraction of a second. The limit is far higher, because
/// sanitizers make the work several times slower.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds, std::string what) : seconds_(seconds), what_(std::move(what)) {}
  ~TimeLimit() {
    const double used = thread_seconds() - began_;
    if (used > seconds_) found(what_ + " took " + std::to_string(used) + " s of CPU time");
  }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  double began_ = thread_seconds();
  double seconds_;
  std::string what_;
};

/// Checks that an error body is JSON in UTF-8 with the three documented strings.
inline void require_error_body(const std::string& body) {
  using mock_gateway::Json;
  require(mock_gateway::detail::text::is_valid_utf8(body), "an error body is not UTF-8: " + body);
  const Json parsed = Json::parse(body, nullptr, false);
  require(parsed.is_object() && parsed.contains("error") && parsed["error"].is_object(),
          "an error body has no `error` object: " + body);
  for (const char* name : {"code", "message", "type"}) {
    require(parsed["error"].contains(name) && parsed["error"][name].is_string(),
            std::string("an error body has no ") + name + ": " + body);
  }
}

/// Checks that a stream is complete and consists of events with JSON and then [DONE].
inline void require_whole_stream(const test_support::Response& response) {
  const std::vector<std::string> events = response.events();
  require(!events.empty() && events.back() == "[DONE]", "a stream does not end in [DONE]: " + response.body);
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    require(mock_gateway::Json::accept(events[i]), "an event is not JSON: " + events[i]);
  }
}

/// Checks the properties that every response must have.
inline void require_answer(const test_support::Response& response, bool to_head) {
  require(response.complete, "an incomplete response: " + response.raw);
  // 501 and 505 blame the request: HTTP defines them for an unknown transfer coding and an unknown version.
  const bool blames_the_gateway = response.status >= 500 && response.status != 501 && response.status != 505;
  require(response.status >= 100 && !blames_the_gateway, "the response is a server error: " + response.raw);
  if (to_head || response.status < 200) return;
  if (response.status >= 400) return require_error_body(response.body);
  if (response.is_stream()) return require_whole_stream(response);
  require(mock_gateway::Json::accept(response.body), "a response is not JSON: " + response.raw);
}

}  // namespace fuzz
