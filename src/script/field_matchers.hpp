#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/rows.hpp"
#include "../model/range.hpp"
#include "../request/chat_request.hpp"
#include "matcher.hpp"

// A matcher of a request field consists of a row of a table and a public function with the row's name. The row's kind
// determines the function's parameter. The row's name is also the key in scripts.

namespace mock_gateway::detail {

struct MatcherNode;

/// A member of ChatRequest, or a function. Not the JSON of the body, because the request reader treats some sent values
/// as absent.
struct FieldValue {
  // Implicit, so that a row only needs the member or the function.
  constexpr FieldValue(std::optional<double> ChatRequest::*of) : number(of) {}                   // NOLINT
  constexpr FieldValue(std::optional<std::int64_t> ChatRequest::*of) : whole(of) {}              // NOLINT
  constexpr FieldValue(bool ChatRequest::*of) : flag(of) {}                                      // NOLINT
  constexpr FieldValue(std::optional<bool> ChatRequest::*of) : optional_flag(of) {}              // NOLINT
  constexpr FieldValue(std::int64_t (*of)(const ChatCall&)) : count(of) {}                       // NOLINT
  constexpr FieldValue(std::optional<std::string_view> (*of)(const ChatRequest&)) : word(of) {}  // NOLINT
  constexpr FieldValue(bool (*of)(const ChatRequest&, std::string_view)) : has(of) {}            // NOLINT

  // Exactly one is set.
  std::optional<double> ChatRequest::*number = nullptr;
  std::optional<std::int64_t> ChatRequest::*whole = nullptr;
  bool ChatRequest::*flag = nullptr;
  std::optional<bool> ChatRequest::*optional_flag = nullptr;
  std::int64_t (*count)(const ChatCall&) = nullptr;
  std::optional<std::string_view> (*word)(const ChatRequest&) = nullptr;
  bool (*has)(const ChatRequest&, std::string_view) = nullptr;
};

/// A list of words with static lifetime.
struct FieldWords {
  const char* const* words = nullptr;
  std::size_t count = 0;
};

struct RequestField {
  enum class Kind {
    number,
    whole,
    flag,
    word,
    model,
    list,
  };
  /// The name of the matcher's function, and its key in scripts.
  const char* matcher;
  Kind kind;
  /// The position of the field in the body. Names contain neither "/" nor "~".
  const char* pointer;
  FieldValue value;
  const char* help;
  /// The text in reports before the wanted value. Null: "is" after the names in the pointer.
  const char* says = nullptr;
  /// Formats the request's value for reports. Null: the sent value as JSON.
  std::string (*actual)(const MatcherNode& node, const ChatCall& call) = nullptr;
  /// The words that the field can have. Empty: any.
  FieldWords words = {};

  Matcher in_range(const Range& range) const;
  Matcher whole_is(std::int64_t number) const;
  Matcher flag_is(bool flag) const;
  /// Matches this word, or a list that contains it. Throws GatewayError for a word that the field cannot have.
  Matcher word_is(std::string word) const;
};

Rows<RequestField> fields_of_messages();
Rows<RequestField> fields_of_requests();
const RequestField& request_field(std::string_view matcher);
/// Adds the models that the matcher names, except in negated conditions.
void add_models(const Matcher& matcher, std::vector<std::string>& ids);

}  // namespace mock_gateway::detail
