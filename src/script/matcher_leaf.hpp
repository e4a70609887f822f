// Construction of matchers; its code is in `matchers.cpp`.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../request/chat_request.hpp"
#include "matcher.hpp"
#include "matcher_node.hpp"

// A matcher consists of two plain functions and their operands. Lambdas would be more classes, and instances of
// std::function, for each user to compile.

namespace mock_gateway::detail {
namespace matchers {

using Test = bool (*)(const MatcherNode&, const ChatCall&);
using Actual = std::string (*)(const MatcherNode&, const ChatCall&);

MatcherNode leaf(std::string description, Test test, Actual actual, std::string operand = "");
/// Makes a leaf whose test evaluates `text`.
MatcherNode text_leaf(std::string description, const TextMatcher& text, Test test, Actual actual,
                      std::string operand = "");

bool is_user_message(const wire::Message& message);

/// Formats a text for a report, without calling functions of the test.
std::string shown(const TextMatcher& matcher, std::string_view text);
bool is_any_text(const TextMatcher& text);
/// Returns " and its text contains \"21\""; empty if any text matches.
std::string and_text(const TextMatcher& text);
/// Lists the texts on one line, cut if it is too long.
std::string listed(const char* heading, const std::vector<std::string_view>& texts);

}  // namespace matchers
}  // namespace mock_gateway::detail
