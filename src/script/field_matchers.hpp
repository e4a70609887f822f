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

// A matcher of a request field is a row of a table and a public function of the row's name, whose parameter is of the
// row's kind. Its key in scripts comes from the row.

namespace mock_gateway::detail {

struct MatcherNode;

/// A field that ChatRequest has no member for. Its value is what the body has at the row's pointer.
struct InBody {
  /// The value of a request that sends none, or null, as JSON text. Null: that request has no value.
  const char* if_absent = nullptr;
};

/// Where the value of a field is found: in a member of ChatRequest, behind a function, or in the body. A member goes
/// before the body, because the reader of requests takes some values that were sent for absent.
struct FieldValue {
  // Implicit, so that a row has just the member or the function.
  constexpr FieldValue(std::optional<double> ChatRequest::*of) : number(of) {}                   // NOLINT
  constexpr FieldValue(std::optional<std::int64_t> ChatRequest::*of) : whole(of) {}              // NOLINT
  constexpr FieldValue(bool ChatRequest::*of) : flag(of) {}                                      // NOLINT
  constexpr FieldValue(std::optional<bool> ChatRequest::*of) : optional_flag(of) {}              // NOLINT
  constexpr FieldValue(std::int64_t (*of)(const ChatRequest&)) : count(of) {}                    // NOLINT
  constexpr FieldValue(std::optional<std::string_view> (*of)(const ChatRequest&)) : word(of) {}  // NOLINT
  constexpr FieldValue(bool (*of)(const ChatRequest&, std::string_view)) : has(of) {}            // NOLINT
  constexpr FieldValue(InBody of) : in_body(true), if_absent(of.if_absent) {}                    // NOLINT

  // One of them is set.
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

/// Words in an array that outlives this.
struct FieldWords {
  const char* const* words = nullptr;
  std::size_t count = 0;
};

/// A field of the request that matchers compare with one value.
struct RequestField {
  enum class Kind {
    /// It is in a range.
    number,
    /// It is this whole number.
    whole,
    flag,
    word,
    /// It is a word that names a model.
    model,
    /// It holds a word among others.
    list,
  };
  /// The matcher's function, which is its key in scripts too.
  const char* matcher;
  Kind kind;
  /// Where the body has the field. The names in it have neither "/" nor "~".
  const char* pointer;
  FieldValue value;
  /// What scripts say of the key, in a line.
  const char* help;
  /// What reports say before the value that is wanted. Null: the names of the pointer, and "is".
  const char* says = nullptr;
  /// What reports show of a request. Null: what was sent, as JSON.
  std::string (*actual)(const MatcherNode& node, const ChatCall& call) = nullptr;
  /// The words that it may be; none: any.
  FieldWords words = {};

  // The matcher, by the kind of the field.
  Matcher in_range(const Range& range) const;
  Matcher whole_is(std::int64_t number) const;
  Matcher flag_is(bool flag) const;
  /// A list matches when it holds the word. Throws GatewayError for a word that the field may not be.
  Matcher word_is(std::string word) const;
};

/// How many messages there are.
Rows<RequestField> fields_of_messages();
/// The documented fields.
Rows<RequestField> fields_of_requests();
/// The row of a matcher.
const RequestField& request_field(std::string_view matcher);
/// Appends the models that a matcher asks for. What it asks not to be is left out.
void add_models(const Matcher& matcher, std::vector<std::string>& ids);

}  // namespace mock_gateway::detail
