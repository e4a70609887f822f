#pragma once

// What the oracles share: how a request is made, and what is told of an exchange before it is hashed.

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

/// Where all that is scripted is said to be: what verify() says names it, and a line that moves is to change no hash.
constexpr SourceLocation scripted_at{"oracle.cpp", 271};

/// What is hashed.
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

/// Whether it has ended, without waiting for that.
bool is_over(const Exchange& exchange);
/// What the record has of how an exchange went.
void tell(const Exchange& exchange, Transcript& told);
void tell(const SentAnswer& answer, Transcript& told);
/// The size of each write and its moment.
void tell(const std::vector<Outgoing::Write>& writes, Transcript& told);

// What the plan of a number sends, as a transcript.

/// A reply of any kind, its client reading, resetting or half-closing, on any clock.
std::string reply(std::size_t number);
/// The same reply on a manual clock with a client that reads, and which bytes share a write.
std::string writes(std::size_t number);
/// A reply larger than the buffers of its sockets, its client reading at once, slowly, or no more.
std::string large_reply(std::size_t number);
/// The steps of a sweep over a reply, and of its splits.
std::string sweep(std::size_t number);

/// Whether what plans on the real clock send leaves within 5 ms of its moment. Says which does not.
bool leaves_in_time(std::size_t plans, std::size_t jobs);

}  // namespace oracle
