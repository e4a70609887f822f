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

// A matcher of a request field has a row in a table and a public function of the same name, whose parameter depends on
// the row's kind. The row also defines its key in scripts.

namespace mock_gateway::detail {

struct MatcherNode;

/// A field without a member in ChatRequest. Its value is read from the body at the row's pointer.
struct InBody {
  /// The value, as JSON text, for a request that omits the field or sends null. Null: there is no value.
  const char* if_absent = nullptr;
};

/// The source of a field's value: a member of ChatRequest, a function, or the body. A member is preferred to the body,
/// because the request reader treats some sent values as absent.
struct FieldValue {
  // Implicit, so that a row names just the member or the function.
  constexpr FieldValue(std::optional<double> ChatRequest::*of) : number(of) {}                   // NOLINT
  constexpr FieldValue(std::optional<std::int64_t> ChatRequest::*of) : whole(of) {}              // NOLINT
  constexpr FieldValue(bool ChatRequest::*of) : flag(of) {}                                      // NOLINT
  constexpr FieldValue(std::optional<bool> ChatRequest::*of) : optional_flag(of) {}              // NOLINT
  constexpr FieldValue(std::int64_t (*of)(const ChatRequest&)) : count(of) {}                    // NOLINT
  constexpr FieldValue(std::optional<std::string_view> (*of)(const ChatRequest&)) : word(of) {}  // NOLINT
  constexpr FieldValue(bool (*of)(const ChatRequest&, std::string_view)) : has(of) {}            // NOLINT
  constexpr FieldValue(InBody of) : in_body(true), if_absent(of.if_absent) {}                    // NOLINT

  // Exactly one is set.
  std::optional<double> ChatRequest::*number = nullptr;
  std::optional<std::int64_t> ChatRequest::*whole = nullptr;
  bool ChatRequest::*flag = nullptr;
  std::optional<bool> ChatRequest::*optional_flag = nullptr;
  std::int64_t (*count)(const ChatRequest&) = nullptr;
  std::optional<std::string_view> (*word)(const ChatRequest&) = nullptr;
  bool (*has)(const ChatRequest&, std::string_view) = nullptr;
  bool in_body = false;
  const char* if_absent = nullptr;
};

/// A view of an array of words.
struct FieldWords {
  const char* const* words = nullptr;
  std::size_t count = 0;
};

/// A request field that matchers compare with one value.
struct RequestField {
  enum class Kind {
    /// A number in a range.
    number,
    /// An exact whole number.
    whole,
    flag,
    word,
    /// A model id.
    model,
    /// A list that contains a word.
    list,
  };
  /// The name of the matcher's function, and of its key in scripts.
  const char* matcher;
  Kind kind;
  /// JSON pointer of the field in the body. Its names contain neither "/" nor "~".
  const char* pointer;
  FieldValue value;
  /// One-line description of the key in scripts.
  const char* help;
  /// Text before the expected value in reports. Null: the names of the pointer, and "is".
  const char* says = nullptr;
  /// Formats the actual value for reports. Null: the value as sent, as JSON.
  std::string (*actual)(const MatcherNode& node, const ChatCall& call) = nullptr;
  /// The allowed words; empty if any word is allowed.
  FieldWords words = {};

  // Each makes the matcher of a kind of field.
  Matcher in_range(const Range& range) const;
  Matcher whole_is(std::int64_t number) const;
  Matcher flag_is(bool flag) const;
  /// A list field matches if it contains the word. Throws GatewayError for a word that is not allowed.
  Matcher word_is(std::string word) const;
};

/// The fields that count messages.
Rows<RequestField> fields_of_messages();
/// The documented fields.
Rows<RequestField> fields_of_requests();
/// Returns the row of a matcher.
const RequestField& request_field(std::string_view matcher);
/// Appends the models that a matcher requires, without those that it excludes.
void add_models(const Matcher& matcher, std::vector<std::string>& ids);

}  // namespace mock_gateway::detail
