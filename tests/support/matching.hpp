#pragma once

// Evaluation and explanation of matchers without a gateway. A file that includes this file must include internals.hpp
// too, because CMake searches for that include.

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "internals.hpp"
#include "mock_gateway.hpp"
#include "printing.hpp"

namespace matching_support {

using namespace mock_gateway;
using mock_gateway::detail::FunctionResults;

/// A request as a client sends it.
struct Sent {
  Sent(const char* sent_body) : Sent(std::string(sent_body)) {}
  Sent(std::string sent_body) : body(std::move(sent_body)) {}

  Sent header(std::string name, std::string value) && {
    http.headers.add(std::move(name), std::move(value));
    return std::move(*this);
  }
  Sent query(const std::string& text) && {
    http.target += "?" + text;
    return std::move(*this);
  }
  Sent key(std::string id, std::string description) && {
    http.key_id = std::move(id);
    http.key_description = std::move(description);
    return std::move(*this);
  }

  std::string body;
  ReceivedRequest http{"POST", "/v1/chat/completions", {}, "", "", ""};
};

/// Returns a request with a model, one user message and these fields, for example `"n":2`.
inline Sent with(const std::string& fields) {
  return R"({"model":"mock-model","messages":[{"role":"user","content":"Hi"}])" + (fields.empty() ? "" : "," + fields) +
         "}";
}

/// Returns a request with these messages. They are JSON, separated by commas, without the brackets of the list.
inline Sent said(const std::string& messages) { return R"({"model":"mock-model","messages":[)" + messages + "]}"; }

inline std::string message(const std::string& role, const std::string& text) {
  return Json{{"role", role}, {"content", text}}.dump();
}

inline Sent user(const std::string& text) { return said(message("user", text)); }

/// One request, and the matcher that is evaluated for it.
class Asked {
 public:
  Asked(const Matcher& matcher, const Sent& sent)
      : matcher_(matcher),
        http_(sent.http),
        chat_(mock_gateway::detail::parse_chat_request(sent.body, Acceptance{}, mock_gateway::detail::ChatLimits{})) {}

  bool decide() { return mock_gateway::detail::decide(matcher_, call_, function_results_); }

  /// Appends the explanation to `lines`. Returns whether the matcher matched, or nothing if that is unknown.
  std::optional<bool> explained(std::string& lines) const {
    std::vector<NearMiss::Condition> conditions;
    const std::optional<bool> matched =
        mock_gateway::detail::explain(matcher_, call_, function_results_, 0, conditions);
    for (const NearMiss::Condition& condition : conditions) {
      if (!lines.empty()) lines += '\n';
      lines += std::string(2 * condition.depth, ' ') + mark(condition.holds) + " " + condition.expected;
      if (!condition.actual.empty()) lines += "    actual " + condition.actual;
    }
    return matched;
  }

 private:
  static std::string mark(std::optional<bool> holds) {
    if (!holds) return "not evaluated:";
    return *holds ? "✔" : "✘";
  }

  const Matcher& matcher_;
  const ReceivedRequest http_;
  const ChatRequest chat_;
  const ChatCall call_{chat_, http_};
  FunctionResults function_results_;
};

inline bool matches(const Matcher& matcher, const Sent& sent) { return Asked(matcher, sent).decide(); }

/// Evaluates and explains a matcher. Returns the explanation, which has a line for each condition.
inline std::string explain_lines(const Matcher& matcher, const Sent& sent) {
  Asked asked(matcher, sent);
  const bool decided = asked.decide();
  std::string lines;
  const std::optional<bool> explained = asked.explained(lines);
  CHECK(explained.value_or(decided) == decided);
  return lines;
}

struct Case {
  Matcher matcher;
  Sent match;
  Sent mismatch;
  std::string report;  // the explanation why `mismatch` does not match
};

inline void check(const std::vector<Case>& cases) {
  for (const Case& row : cases) {
    INFO(row.matcher.to_string());
    CHECK(matches(row.matcher, row.match));
    CHECK(explain_lines(row.matcher, row.match) == "✔ " + row.matcher.to_string());
    CHECK_FALSE(matches(row.matcher, row.mismatch));
    CHECK(explain_lines(row.matcher, row.mismatch) == row.report);
  }
}

inline const std::string weather_call =
    R"({"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":)"
    R"({"name":"get_weather","arguments":"{}"}},{"id":"call_2","type":"function","function":)"
    R"({"name":"get_time","arguments":"{}"}}]})";

inline std::string result_of(const std::string& id, const std::string& text) {
  return Json{{"role", "tool"}, {"tool_call_id", id}, {"content", text}}.dump();
}

}  // namespace matching_support
