// Running functions of the test on a connection's thread; what happens to their exceptions.

#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/handoff.hpp"
#include "../http/connection.hpp"
#include "../model/tokenizer.hpp"

namespace mock_gateway::detail {

/// A scope in which a connection's thread runs the test's code. A stop of the gateway that waits for the code names it.
template <class What>
class Busy {
 public:
  Busy(Connection& connection, What what) : connection_(connection) { connection_.set_busy_with(std::move(what)); }
  ~Busy() { connection_.set_busy_with(What()); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  Connection& connection_;
};

template <class Code>
std::optional<std::string> guarded(const Code& code) {
  try {
    code();
    return std::nullopt;
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// Runs the test's code on a connection's thread. `what` names the code, as for Busy.
template <class Code>
std::optional<std::string> guarded(Connection& connection, std::string what, const Code& code) {
  hand_off_event_loop();
  const Busy<std::string> busy(connection, std::move(what));
  return guarded(code);
}

/// Runs matchers on a connection's thread. The test's own matchers call hand_off_event_loop() themselves.
template <class Code>
std::optional<std::string> guarded_matchers(Connection& connection, const char* what, const Code& code) {
  const Busy<const char*> busy(connection, what);
  return guarded(code);
}

/// Returns the scope of calls of the tokenizer; empty if the test has given none.
inline std::optional<Busy<const char*>> busy_with(Connection& connection, const Tokenizer& tokenizer) {
  if (!tokenizer) return std::nullopt;
  return std::optional<Busy<const char*>>(std::in_place, connection, "the function given to Options::tokenizer");
}

/// The exception of the test's tokenizer, thrown through gateway code that may throw by itself.
struct TokenizerThrew : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns a tokenizer that throws TokenizerThrew if the given one throws. An empty one stays empty.
inline Tokenizer guarded_tokenizer(Tokenizer tokenizer) {
  if (!tokenizer) return tokenizer;
  return [tokenizer = std::move(tokenizer)](std::string_view text) {
    hand_off_event_loop();
    std::vector<std::string> tokens;
    if (const auto thrown = guarded([&] { tokens = tokenizer(text); }))
      throw TokenizerThrew("the function given to Options::tokenizer threw: " + *thrown);
    return tokens;
  };
}

}  // namespace mock_gateway::detail
