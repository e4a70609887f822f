// Functions that build matchers; the code is in `matchers.cpp`.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../request/chat_request.hpp"
#include "matcher.hpp"
#include "matcher_node.hpp"

// A matcher has two plain functions and their data, because each including file would compile lambdas.

namespace mock_gateway::detail {
namespace matchers {

using Test = bool (*)(const MatcherNode&, const ChatCall&);
using Actual = std::string (*)(const MatcherNode&, const ChatCall&);

MatcherNode leaf(std::string description, Test test, Actual actual, std::string operand = "");
MatcherNode text_leaf(std::string description, const TextMatcher& text, Test test, Actual actual,
                      std::string operand = "");

bool is_user_message(const wire::Message& message);

/// Does not call the test's functions.
std::string shown(const TextMatcher& matcher, std::string_view text);
bool is_any_text(const TextMatcher& text);
/// Returns " and its text contains \"21\""; empty if any text matches.
std::string and_text(const TextMatcher& text);
std::string listed(const char* heading, const std::vector<std::string_view>& texts);

}  // namespace matchers
}  // namespace mock_gateway::detail
