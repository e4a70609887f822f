#pragma once

// Support for the kinds of plans: requests, and the transcript of an exchange, which is hashed.

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "mock_gateway.hpp"
#include "outgoing.hpp"

namespace oracle {

using namespace mock_gateway;
using namespace std::chrono_literals;

/// The source location of all scripted replies. verify() prints it, so a real location would change hashes when lines
/// move.
constexpr SourceLocation scripted_at{"oracle.cpp", 271};

/// The text about an exchange that is hashed.
class Transcript {
 public:
  template <class Value>
  Transcript& operator<<(const Value& value) {
    text_ << value;
    return *this;
  }
  void bytes(const char* name, std::string_view bytes);
  void text(const char* name, std::string_view text) { text_ << name << ' ' << text << '\n'; }
  std::string str() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

std::string request_of(const Gateway& gateway, const Json& body, bool closes);

/// Returns whether an exchange has ended, without waiting.
bool is_over(const Exchange& exchange);
/// Adds the record of an exchange to a transcript.
void tell(const Exchange& exchange, Transcript& transcript);
void tell(const SentAnswer& answer, Transcript& transcript);
/// Adds the size and the time of each write to a transcript.
void tell(const std::vector<Outgoing::Write>& writes, Transcript& transcript);

// These functions run the plan with this number and return its transcript.

/// Runs a reply of any kind on any clock. The client reads, resets or half-closes.
std::string reply(std::size_t number);
/// Runs the same reply on a manual clock with a client that reads, and also records which bytes share a write.
std::string writes(std::size_t number);
/// Runs a reply that exceeds the buffers of its sockets. The client reads at once, slowly, or stops reading.
std::string large_reply(std::size_t number);
/// Runs a sweep over a reply, and a sweep over its splits.
std::string sweep(std::size_t number);

/// Checks that the bytes of plans on the real clock are sent at most 5 ms late. Prints late plans.
bool leaves_in_time(std::size_t plans, std::size_t jobs);

}  // namespace oracle
