#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../script/scope.hpp"

namespace mock_gateway {
namespace detail {

class JournalState;

/// What verify() notes of the scope's exchanges after `since`, a line each: what their scripts did to the answers, what
/// was unusual in them, and which got a failure; of many exchanges the first ten.
std::vector<std::string> notes_of_exchanges(const JournalState& journal, const RequestScope& scope,
                                            std::uint64_t since);
/// The connections that a scripted fault struck, a line each.
std::vector<std::string> notes_of_connections(const JournalState& journal);
/// Of many such lines the first ten, and how many more there are.
std::vector<std::string> first_connections(std::vector<std::string> lines);
/// What is under way: what each exchange waits for as scripted, and how many others there are.
std::vector<std::string> notes_of_open(const JournalState& journal, const RequestScope& scope);

}  // namespace detail
}  // namespace mock_gateway
