// How matchers are built; its code is in `matchers.cpp`.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../request/chat_request.hpp"
#include "matcher.hpp"
#include "matcher_node.hpp"

// A matcher is two plain functions and what they use. A lambda for each would be a class that every user compiles,
// and std::function a second one.

namespace mock_gateway::detail {
namespace matchers {

using Test = bool (*)(const MatcherNode&, const ChatCall&);
using Actual = std::string (*)(const MatcherNode&, const ChatCall&);

MatcherNode leaf(std::string description, Test test, Actual actual, std::string operand = "");
/// A leaf whose test asks `text`.
MatcherNode text_leaf(std::string description, const TextMatcher& text, Test test, Actual actual,
                      std::string operand = "");

bool is_user_message(const wire::Message& message);

/// What a report shows of a text that was to match, without asking the tester's functions.
std::string shown(const TextMatcher& matcher, std::string_view text);
bool is_any_text(const TextMatcher& text);
/// " and its text contains \"21\""; nothing when it may be any.
std::string and_text(const TextMatcher& text);
/// The texts in one line, cut where it becomes long.
std::string listed(const char* heading, const std::vector<std::string_view>& texts);

}  // namespace matchers
}  // namespace mock_gateway::detail
