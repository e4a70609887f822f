#include "matchers.hpp"

#include <algorithm>  // any_of, find_if, min
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../answer/schema_pattern.hpp"
#include "../core/error.hpp"
#include "../core/json_pointer.hpp"
#include "../core/text.hpp"
#include "../model/failure.hpp"
#include "excerpts.hpp"

namespace mock_gateway {
namespace detail {
namespace matchers {

/// The description of any_text().
inline constexpr std::string_view anything = "is anything";
/// The longest text that a pattern is searched for in.
inline constexpr std::size_t searched_bytes = 65536;

using Test = std::function<bool(const ChatCall&)>;
using Actual = std::function<std::string(const ChatCall&)>;

Matcher leaf(std::string description, Test test, Actual actual) {
  MatcherNode node;
  node.description = std::move(description);
  node.test = std::move(test);
  node.actual = std::move(actual);
  return Matcher(std::move(node));
}

/// A leaf whose test asks `text`.
Matcher text_leaf(std::string description, const TextMatcher& text, Test test, Actual actual) {
  MatcherNode node;
  node.description = std::move(description);
  node.test = std::move(test);
  node.actual = std::move(actual);
  node.built_in = text.built_in();
  return Matcher(std::move(node));
}

/// What a report shows of a text that was to match, without asking the tester's functions.
std::string shown(const TextMatcher& matcher, std::string_view text) {
  return matcher.built_in() ? matcher.explain(text) : excerpts::quoted(text);
}

bool is_any_text(const TextMatcher& text) { return text.built_in() && text.describe() == anything; }

/// " and its text contains \"21\""; nothing when it may be any.
std::string and_text(const TextMatcher& text) {
  return is_any_text(text) ? std::string() : " and its text " + text.describe();
}

/// The texts in one line, cut where it becomes long.
std::string listed(const char* heading, const std::vector<std::string_view>& texts) {
  std::string list;
  for (const std::string_view text : texts) {
    if (list.size() > excerpts::shown_bytes) break;
    if (!list.empty()) list += ", ";
    list += text;
  }
  return heading + excerpts::plain(list);
}

// ---- Patterns

/// Whether the pattern occurs in the text; nothing when that takes too many steps.
std::optional<bool> search(const schema::Pattern& pattern, std::string_view text) {
  schema::Budget budget;
  try {
    return schema::occurs(pattern, text, budget);
  } catch (const schema::Unsupported&) {
    return std::nullopt;
  }
}

std::string explain_search(const schema::Pattern& pattern, std::string_view text) {
  if (text.size() > searched_bytes) {
    return "not searched: it has " + excerpts::grouped(text.size()) + " bytes, more than " +
           excerpts::grouped(searched_bytes);
  }
  if (!search(pattern, text)) return "given up after " + excerpts::grouped(schema::work_limit) + " steps";
  return excerpts::quoted(text);
}

// ---- Messages

bool has_user_message(const ChatRequest& chat) {
  return std::any_of(chat.messages.rbegin(), chat.messages.rend(),
                     [](const Message& message) { return message.role == "user"; });
}

std::string last_role(const ChatRequest& chat) {
  return chat.messages.empty() ? "no messages"
                               : "last message is of role " + excerpts::plain(chat.messages.back().role);
}

using Messages = std::vector<const Message*>;

Messages system_messages(const ChatRequest& chat) {
  Messages messages;
  for (const Message& message : chat.messages) {
    if (message.role == "system" || message.role == "developer") messages.push_back(&message);
  }
  return messages;
}

Messages all_messages(const ChatRequest& chat) {
  Messages messages;
  for (const Message& message : chat.messages) messages.push_back(&message);
  return messages;
}

/// Some of these messages says what is asked for.
Matcher some_message(std::string description, const char* noun, Messages (*choose)(const ChatRequest&),
                     const TextMatcher& text) {
  return text_leaf(
      std::move(description), text,
      [choose, text](const ChatCall& call) {
        const Messages messages = choose(call.chat());
        return std::any_of(messages.begin(), messages.end(),
                           [&text](const Message* message) { return text.matches(message->text()); });
      },
      [choose, text, noun](const ChatCall& call) {
        const Messages messages = choose(call.chat());
        if (messages.empty()) return std::string("no ") + noun;
        // The one that matches, for the report of a negation; else the last, which is the nearest.
        const Message* chosen = messages.back();
        if (text.built_in()) {
          const auto matching = std::find_if(messages.begin(), messages.end(),
                                             [&text](const Message* message) { return text.matches(message->text()); });
          if (matching != messages.end()) chosen = *matching;
        }
        const std::string said = shown(text, chosen->text());
        if (messages.size() == 1) return said;
        return text::counted(messages.size(), noun) + ", " + (chosen == messages.back() ? "the last" : "one") +
               " of role " + excerpts::plain(chosen->role) + ": " + said;
      });
}

/// The message at a position that may count from the end; null when there is none.
const Message* message_at(const ChatRequest& chat, int position) {
  const auto count = static_cast<std::ptrdiff_t>(chat.messages.size());
  const std::ptrdiff_t index = position < 0 ? count + position : position;
  return index < 0 || index >= count ? nullptr : &chat.messages[static_cast<std::size_t>(index)];
}

struct ToolResult {
  const Message* message;
  /// The function that was called; null when no call has its id.
  const std::string* function;
};

/// Those with which the conversation ends.
std::vector<ToolResult> final_tool_results(const ChatRequest& chat) {
  std::vector<ToolResult> results;
  std::size_t first = chat.messages.size();
  while (first > 0 && chat.messages[first - 1].role == "tool") --first;
  if (first == chat.messages.size()) return results;
  // From the end, so that of calls with the same id the latest counts.
  std::unordered_map<std::string_view, const std::string*> functions;
  for (std::size_t index = first; index-- > 0;) {
    const std::vector<ToolCall>& calls = chat.messages[index].tool_calls;
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) functions.emplace(call->id, &call->name);
  }
  for (std::size_t index = first; index < chat.messages.size(); ++index) {
    const auto function = functions.find(chat.messages[index].tool_call_id);
    results.push_back({&chat.messages[index], function == functions.end() ? nullptr : function->second});
  }
  return results;
}

bool is_of_function(const ToolResult& result, const std::string& function) {
  return result.function != nullptr && *result.function == function;
}

bool is_of_call(const ToolResult& result, const std::string& call_id) {
  return result.message->tool_call_id == call_id;
}

/// A tool result at the end of the conversation that is of what `name` says, by `is_of`.
Matcher final_tool_result(std::string description, std::string name,
                          bool (*is_of)(const ToolResult&, const std::string&), const TextMatcher& text) {
  return text_leaf(
      std::move(description) + and_text(text), text,
      [name, is_of, text](const ChatCall& call) {
        const std::vector<ToolResult> results = final_tool_results(call.chat());
        return std::any_of(results.begin(), results.end(), [&](const ToolResult& result) {
          return is_of(result, name) && text.matches(result.message->text());
        });
      },
      [name, is_of, text](const ChatCall& call) {
        const std::vector<ToolResult> results = final_tool_results(call.chat());
        if (results.empty()) return last_role(call.chat());
        constexpr std::size_t most = 5;
        std::string list;
        for (std::size_t index = 0; index < std::min(results.size(), most); ++index) {
          const ToolResult& result = results[index];
          const std::string said = result.message->text();
          if (!list.empty()) list += "; ";
          list += "call " + excerpts::quoted(result.message->tool_call_id) + " of " +
                  (result.function == nullptr ? "no known function" : excerpts::plain(*result.function)) + ": " +
                  (is_of(result, name) ? shown(text, said) : excerpts::quoted(said));
        }
        if (results.size() > most) list += "; and " + std::to_string(results.size() - most) + " more";
        return list;
      });
}

// ---- Fields

/// A field of the body as it was sent: the parsed request no longer knows a default from a value.
std::string sent(const Json* value) { return value == nullptr ? "not sent" : excerpts::json(*value); }

Actual sent_field(const char* name) {
  return [name](const ChatCall& call) { return sent(json_pointer::child(call.chat().body, name)); };
}

template <class Number>
Matcher number_is(const char* name, std::optional<Number> ChatRequest::*field, const Range& range) {
  return leaf(
      std::string(name) + " is " + range.describe(),
      [field, range](const ChatCall& call) {
        const std::optional<Number>& value = call.chat().*field;
        return value && range.contains(static_cast<double>(*value));
      },
      sent_field(name));
}

/// A field that is of type bool, or an optional one.
template <class Flag>
Matcher flag_is(const char* name, Flag ChatRequest::*field, bool expected) {
  return leaf(
      std::string(name) + (expected ? " is true" : " is false"),
      [field, expected](const ChatCall& call) { return call.chat().*field == expected; }, sent_field(name));
}

std::string tools(const ChatCall& call) {
  if (call.chat().tools.empty()) return "no tools";
  std::vector<std::string_view> names;
  for (const Tool& tool : call.chat().tools) names.push_back(tool.name);
  return listed("tools: ", names);
}

std::string tool_choice(const ToolChoice& choice) {
  switch (choice.mode) {
    case ToolChoice::Mode::none: return "none";
    case ToolChoice::Mode::automatic: return "auto";
    case ToolChoice::Mode::required: return "required";
    case ToolChoice::Mode::named: break;
  }
  return choice.name;
}

// ---- JSON

using Pointer = std::vector<std::string>;

/// The names of a JSON pointer. Throws GatewayError.
Pointer parse_pointer(const std::string& source) {
  const auto refuse = [&source](const char* why) {
    throw GatewayError(excerpts::quoted(source) + " is no JSON pointer: " + why);
  };
  if (!source.empty() && source.front() != '/') refuse("it begins with \"/\", or is empty for the whole body");
  Pointer names;
  for (std::size_t start = 1; start <= source.size();) {
    const std::size_t end = std::min(source.find('/', start), source.size());
    std::optional<std::string> name = json_pointer::name_of(std::string_view(source).substr(start, end - start));
    if (!name) refuse("\"~\" is written ~0, and \"/\" within a name ~1");
    names.push_back(std::move(*name));
    start = end + 1;
  }
  return names;
}

const Json* value_at(const Json& root, const Pointer& pointer) {
  const Json* value = &root;
  for (const std::string& name : pointer) {
    value = json_pointer::child(*value, name);
    if (value == nullptr) return nullptr;
  }
  return value;
}

std::string place(const std::string& pointer) { return pointer.empty() ? "the root" : excerpts::plain(pointer); }

/// Whether a number that is no integer by type has this integer's value. Exact, also where a double has gaps.
template <class Integer>
bool has_value(double real, Integer integer) {
  constexpr double limit =
      sizeof(Integer) == 8 && std::is_unsigned_v<Integer> ? 18446744073709551616.0 : 9223372036854775808.0;
  const double least = std::is_unsigned_v<Integer> ? 0.0 : -limit;
  return real >= least && real < limit && static_cast<double>(static_cast<Integer>(real)) == real &&
         static_cast<Integer>(real) == integer;
}

bool same_number(const Json& a, const Json& b) {
  if (a.is_number_float() && b.is_number_float()) return a.get<double>() == b.get<double>();
  if (b.is_number_float()) return same_number(b, a);
  if (a.is_number_float()) {
    const auto real = a.get<double>();
    return b.is_number_unsigned() ? has_value(real, b.get<std::uint64_t>()) : has_value(real, b.get<std::int64_t>());
  }
  // nlohmann compares a large unsigned number as if it were negative.
  if (a.is_number_unsigned() == b.is_number_unsigned()) return a == b;
  const Json& with_sign = a.is_number_unsigned() ? b : a;
  const Json& without_sign = a.is_number_unsigned() ? a : b;
  const auto number = with_sign.get<std::int64_t>();
  return number >= 0 && static_cast<std::uint64_t>(number) == without_sign.get<std::uint64_t>();
}

/// Where a value differs from what was expected.
struct Difference {
  std::string pointer;
  /// Null: nothing there.
  const Json* expected;
  const Json* actual;
};

/// Whether objects may have members that were not named.
enum class Extent { whole, part };

std::optional<Difference> first_difference(const Json& expected, const Json& actual, Extent extent);

/// The first difference of two values that are both there or not, under a name.
std::optional<Difference> difference_below(std::string_view name, const Json* expected, const Json* actual,
                                           Extent extent) {
  std::optional<Difference> difference = expected != nullptr && actual != nullptr
                                             ? first_difference(*expected, *actual, extent)
                                             : Difference{{}, expected, actual};
  if (difference) difference->pointer.insert(0, json_pointer::token(name));
  return difference;
}

std::optional<Difference> first_difference_in_object(const Json& expected, const Json& actual, Extent extent) {
  for (const auto& [name, value] : expected.get_ref<const Json::object_t&>()) {
    if (auto difference = difference_below(name, &value, json_pointer::child(actual, name), extent)) return difference;
  }
  if (extent == Extent::part || expected.size() == actual.size()) return std::nullopt;
  for (const auto& [name, value] : actual.get_ref<const Json::object_t&>()) {
    if (json_pointer::child(expected, name) == nullptr) return difference_below(name, nullptr, &value, extent);
  }
  return std::nullopt;
}

std::optional<Difference> first_difference(const Json& expected, const Json& actual, Extent extent) {
  if (expected.is_object() && actual.is_object()) return first_difference_in_object(expected, actual, extent);
  if (expected.is_array() && actual.is_array()) {
    for (std::size_t index = 0; index < std::max(expected.size(), actual.size()); ++index) {
      const Json* wanted = index < expected.size() ? &expected[index] : nullptr;
      const Json* found = index < actual.size() ? &actual[index] : nullptr;
      if (auto difference = difference_below(std::to_string(index), wanted, found, extent)) return difference;
    }
    return std::nullopt;
  }
  const bool same = expected.is_number() && actual.is_number() ? same_number(expected, actual) : expected == actual;
  if (same) return std::nullopt;
  return Difference{{}, &expected, &actual};
}

/// "at /messages/0/role: \"user\" instead of \"system\"".
std::string explain(const Difference& difference) {
  const auto shown_or_nothing = [](const Json* value) { return value == nullptr ? "nothing" : excerpts::json(*value); };
  const std::string where = "at " + place(difference.pointer) + ": ";
  if (difference.expected != nullptr && difference.actual != nullptr && difference.expected->is_string() &&
      difference.actual->is_string()) {
    return where + excerpts::difference(difference.expected->get_ref<const std::string&>(),
                                        difference.actual->get_ref<const std::string&>());
  }
  return where + shown_or_nothing(difference.actual) + " instead of " + shown_or_nothing(difference.expected);
}

/// What is at a pointer: whole when it is short, else what differs.
std::string explain(const std::string& pointer, const Json& expected, const Json* actual) {
  if (actual == nullptr) return "nothing there";
  std::string whole = actual->dump(-1, ' ', false, Json::error_handler_t::replace);
  std::optional<Difference> difference = first_difference(expected, *actual, Extent::whole);
  if (whole.size() <= excerpts::shown_bytes || !difference) return excerpts::plain(whole);
  difference->pointer.insert(0, pointer);
  return explain(*difference);
}

// ---- How it came

/// Of several values of one name.
std::string shown_values(const TextMatcher& text, const std::vector<std::string>& values) {
  if (values.empty()) return "not sent";
  if (values.size() == 1) return shown(text, values.front());
  constexpr std::size_t most = 5;
  std::string list;
  for (std::size_t index = 0; index < std::min(values.size(), most); ++index) {
    list += (list.empty() ? "" : ", ") + excerpts::quoted(values[index]);
  }
  return values.size() > most ? list + " and " + std::to_string(values.size() - most) + " more" : list;
}

/// One of the values that `find` gives matches.
Matcher some_value(std::string description, const TextMatcher& text,
                   const std::function<std::vector<std::string>(const ReceivedRequest&)>& find) {
  return text_leaf(
      std::move(description) + (is_any_text(text) ? std::string() : " " + text.describe()), text,
      [find, text](const ChatCall& call) {
        const std::vector<std::string> values = find(call.http());
        return std::any_of(values.begin(), values.end(),
                           [&text](const std::string& value) { return text.matches(value); });
      },
      [find, text](const ChatCall& call) { return shown_values(text, find(call.http())); });
}

/// As forms and queries are encoded; what is badly encoded stays as it is.
std::string query_decoded(std::string_view encoded) {
  std::string spaced(encoded);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  std::optional<std::string> decoded = text::percent_decode(spaced);
  return decoded ? std::move(*decoded) : std::string(encoded);
}

std::vector<std::string> query_values(const ReceivedRequest& http, std::string_view name) {
  const std::string query = http.query();
  std::vector<std::string> values;
  for (std::size_t start = 0; start < query.size();) {
    const std::size_t end = std::min(query.find('&', start), query.size());
    const std::string_view parameter = std::string_view(query).substr(start, end - start);
    const std::size_t equal_sign = std::min(parameter.find('='), parameter.size());
    if (!parameter.empty() && query_decoded(parameter.substr(0, equal_sign)) == name) {
      values.push_back(query_decoded(parameter.substr(std::min(equal_sign + 1, parameter.size()))));
    }
    start = end + 1;
  }
  return values;
}

/// A leaf that lets only one test's requests through.
Matcher scoped_leaf(std::string description, RequestScope scope, Actual actual) {
  MatcherNode node;
  node.description = std::move(description);
  node.test = [scope](const ChatCall& call) { return scope.covers(call.http()); };
  node.actual = std::move(actual);
  node.scope = std::move(scope);
  return Matcher(std::move(node));
}

}  // namespace matchers
}  // namespace detail

TextMatcher contains(std::string part) { return TextMatcher(std::move(part)); }

TextMatcher equals(std::string text) {
  namespace excerpts = detail::excerpts;
  std::string description = "is " + excerpts::quoted(text);
  return TextMatcher(TextMatcher::Node{
      std::move(description), [text](std::string_view actual) { return actual == text; },
      [text](std::string_view actual) {
        const bool is_short = text.size() <= excerpts::shown_bytes && actual.size() <= excerpts::shown_bytes;
        return is_short ? excerpts::quoted(actual) : excerpts::difference(text, actual);
      },
      true});
}

TextMatcher starts_with(std::string start) {
  namespace excerpts = detail::excerpts;
  std::string description = "starts with " + excerpts::quoted(start);
  const auto matches = [start](std::string_view text) { return text.substr(0, start.size()) == start; };
  return TextMatcher(TextMatcher::Node{std::move(description), matches,
                                       [start, matches](std::string_view text) {
                                         // The excerpt shows as much as differs, unless the start itself is long.
                                         return start.size() <= excerpts::shown_bytes || matches(text)
                                                    ? excerpts::quoted(text)
                                                    : excerpts::difference(start, text);
                                       },
                                       true});
}

TextMatcher ends_with(std::string end) {
  namespace excerpts = detail::excerpts;
  std::string description = "ends with " + excerpts::quoted(end);
  const auto tail = [end](std::string_view text) {
    return text.substr(text.size() - std::min(text.size(), end.size()));
  };
  return TextMatcher(TextMatcher::Node{std::move(description),
                                       [end, tail](std::string_view text) { return tail(text) == end; },
                                       [end, tail](std::string_view text) {
                                         const std::string_view actual = tail(text);
                                         return end.size() <= excerpts::shown_bytes || actual == end
                                                    ? excerpts::quoted_end(text)
                                                    : excerpts::difference(end, actual, text.size() - actual.size());
                                       },
                                       true});
}

TextMatcher matches_regex(std::string pattern) {
  using detail::schema::Pattern;
  std::shared_ptr<const Pattern> parsed;
  try {
    parsed = std::make_shared<const Pattern>(detail::schema::parse_pattern(pattern));
  } catch (const detail::schema::Unsupported& unsupported) {
    throw GatewayError("matches_regex(" + detail::excerpts::quoted(pattern) + "): " + unsupported.reason +
                       " TextMatcher(description, function) takes any other test of a text.");
  }
  return TextMatcher(TextMatcher::Node{
      "matches the pattern " + detail::excerpts::quoted(pattern),
      [parsed](std::string_view text) {
        return text.size() <= detail::matchers::searched_bytes &&
               detail::matchers::search(*parsed, text).value_or(false);
      },
      [parsed](std::string_view text) { return detail::matchers::explain_search(*parsed, text); }, true});
}

TextMatcher any_text() {
  return TextMatcher(
      TextMatcher::Node{std::string(detail::matchers::anything), [](std::string_view) { return true; }, {}, true});
}

Matcher user_says(TextMatcher text) {
  return detail::matchers::text_leaf(
      "user text " + text.describe(), text,
      [text](const ChatCall& call) {
        const std::string& said = call.user_text();
        return (!said.empty() || detail::matchers::has_user_message(call.chat())) && text.matches(said);
      },
      [text](const ChatCall& call) {
        return detail::matchers::has_user_message(call.chat()) ? detail::matchers::shown(text, call.user_text())
                                                               : "no user message";
      });
}

Matcher system_says(TextMatcher text) {
  return detail::matchers::some_message("system text " + text.describe(), "system message",
                                        detail::matchers::system_messages, text);
}

Matcher any_message_says(TextMatcher text) {
  return detail::matchers::some_message("text of some message " + text.describe(), "message",
                                        detail::matchers::all_messages, text);
}

Matcher message_is(int position, std::string role, TextMatcher text) {
  using detail::matchers::message_at;
  const std::string place = position == -1 ? "last message" : "message " + std::to_string(position);
  std::string description = place + " is of role " + detail::excerpts::plain(role) + detail::matchers::and_text(text);
  return detail::matchers::text_leaf(
      std::move(description), text,
      [position, role, text](const ChatCall& call) {
        const Message* message = message_at(call.chat(), position);
        return message != nullptr && message->role == role && text.matches(message->text());
      },
      [position, role, text](const ChatCall& call) {
        const Message* message = message_at(call.chat(), position);
        if (message == nullptr) {
          return "only " + detail::text::counted(call.chat().messages.size(), "message");
        }
        return "role " + detail::excerpts::plain(message->role) + ": " +
               (message->role == role ? detail::matchers::shown(text, message->text())
                                      : detail::excerpts::quoted(message->text()));
      });
}

Matcher turns_are(Range count) {
  const auto turns = [](const ChatCall& call) {
    return std::count_if(call.chat().messages.begin(), call.chat().messages.end(),
                         [](const Message& message) { return message.role == "user"; });
  };
  return detail::matchers::leaf(
      "number of user messages is " + count.describe(),
      [turns, count](const ChatCall& call) { return count.contains(static_cast<double>(turns(call))); },
      [turns](const ChatCall& call) { return std::to_string(turns(call)); });
}

Matcher messages_are(Range count) {
  return detail::matchers::leaf(
      "number of messages is " + count.describe(),
      [count](const ChatCall& call) { return count.contains(static_cast<double>(call.chat().messages.size())); },
      [](const ChatCall& call) { return std::to_string(call.chat().messages.size()); });
}

Matcher last_is_tool_result() {
  return detail::matchers::leaf(
      "last message is a tool result",
      [](const ChatCall& call) { return !call.chat().messages.empty() && call.chat().messages.back().role == "tool"; },
      [](const ChatCall& call) { return detail::matchers::last_role(call.chat()); });
}

Matcher tool_result(std::string function, TextMatcher text) {
  std::string description = "ends with a tool result of " + detail::excerpts::quoted(function);
  return detail::matchers::final_tool_result(std::move(description), std::move(function),
                                             detail::matchers::is_of_function, text);
}

Matcher tool_result_of(std::string call_id, TextMatcher text) {
  std::string description = "ends with a tool result of call " + detail::excerpts::quoted(call_id);
  return detail::matchers::final_tool_result(std::move(description), std::move(call_id), detail::matchers::is_of_call,
                                             text);
}

Matcher model_is(std::string id) {
  std::string description = "model is " + detail::excerpts::quoted(id);
  return detail::matchers::leaf(
      std::move(description), [id = std::move(id)](const ChatCall& call) { return call.chat().model == id; },
      detail::matchers::sent_field("model"));
}

Matcher stream_is(bool stream) { return detail::matchers::flag_is("stream", &ChatRequest::stream, stream); }

Matcher include_usage_is(bool include_usage) {
  return detail::matchers::leaf(
      std::string("stream_options.include_usage is ") + (include_usage ? "true" : "false"),
      [include_usage](const ChatCall& call) { return call.chat().include_usage == include_usage; },
      [](const ChatCall& call) {
        const Json* options = detail::json_pointer::child(call.chat().body, "stream_options");
        return detail::matchers::sent(options == nullptr ? nullptr
                                                         : detail::json_pointer::child(*options, "include_usage"));
      });
}

Matcher temperature_is(Range range) {
  return detail::matchers::number_is("temperature", &ChatRequest::temperature, range);
}

Matcher top_p_is(Range range) { return detail::matchers::number_is("top_p", &ChatRequest::top_p, range); }

Matcher max_tokens_is(Range range) {
  return detail::matchers::number_is("max_tokens", &ChatRequest::max_tokens, range);
}

Matcher presence_penalty_is(Range range) {
  return detail::matchers::number_is("presence_penalty", &ChatRequest::presence_penalty, range);
}

Matcher repetition_penalty_is(Range range) {
  return detail::matchers::number_is("repetition_penalty", &ChatRequest::repetition_penalty, range);
}

Matcher n_is(Range range) {
  return detail::matchers::leaf(
      "n is " + range.describe(),
      [range](const ChatCall& call) { return range.contains(static_cast<double>(call.chat().n)); },
      detail::matchers::sent_field("n"));
}

Matcher seed_is(std::int64_t seed) {
  return detail::matchers::leaf(
      "seed is " + std::to_string(seed), [seed](const ChatCall& call) { return call.chat().seed == seed; },
      detail::matchers::sent_field("seed"));
}

Matcher has_stop(std::string sequence) {
  std::string description = "stop has " + detail::excerpts::quoted(sequence);
  return detail::matchers::leaf(
      std::move(description),
      [sequence = std::move(sequence)](const ChatCall& call) {
        return std::find(call.chat().stop.begin(), call.chat().stop.end(), sequence) != call.chat().stop.end();
      },
      detail::matchers::sent_field("stop"));
}

Matcher has_tool(std::string name) {
  std::string description = "has tool " + detail::excerpts::quoted(name);
  return detail::matchers::leaf(
      std::move(description), [name = std::move(name)](const ChatCall& call) { return call.chat().has_tool(name); },
      detail::matchers::tools);
}

Matcher tools_are(Range count) {
  return detail::matchers::leaf(
      "number of tools is " + count.describe(),
      [count](const ChatCall& call) { return count.contains(static_cast<double>(call.chat().tools.size())); },
      [](const ChatCall& call) {
        const std::size_t tools = call.chat().tools.size();
        return tools == 0 ? "no tools" : std::to_string(tools) + ", " + detail::matchers::tools(call);
      });
}

Matcher tool_choice_is(std::string choice) {
  std::string description = "tool_choice is " + detail::excerpts::quoted(choice);
  return detail::matchers::leaf(
      std::move(description),
      [choice = std::move(choice)](const ChatCall& call) {
        return detail::matchers::tool_choice(call.chat().tool_choice) == choice;
      },
      [](const ChatCall& call) {
        const bool was_sent = detail::json_pointer::child(call.chat().body, "tool_choice") != nullptr;
        return detail::excerpts::quoted(detail::matchers::tool_choice(call.chat().tool_choice)) +
               (was_sent ? "" : " (not sent)");
      });
}

Matcher parallel_tool_calls_is(bool parallel) {
  return detail::matchers::flag_is("parallel_tool_calls", &ChatRequest::parallel_tool_calls, parallel);
}

Matcher response_format_is(std::string type) {
  using Kind = ResponseFormat::Kind;
  if (type != "text" && type != "json_object" && type != "json_schema") {
    throw GatewayError("a response_format is \"text\", \"json_object\" or \"json_schema\", not " +
                       detail::excerpts::quoted(type));
  }
  const Kind kind = type == "text" ? Kind::text : type == "json_object" ? Kind::json_object : Kind::json_schema;
  return detail::matchers::leaf(
      "response_format is " + detail::excerpts::quoted(type),
      [kind](const ChatCall& call) {
        return (call.chat().response_format ? call.chat().response_format->kind : Kind::text) == kind;
      },
      [](const ChatCall& call) {
        const Json* format = detail::json_pointer::child(call.chat().body, "response_format");
        const Json* sent_type = format == nullptr ? nullptr : detail::json_pointer::child(*format, "type");
        return detail::matchers::sent(sent_type == nullptr ? format : sent_type);
      });
}

Matcher response_schema_is(std::string name) {
  using Kind = ResponseFormat::Kind;
  std::string description = "response schema is " + detail::excerpts::quoted(name);
  return detail::matchers::leaf(
      std::move(description),
      [name = std::move(name)](const ChatCall& call) {
        const std::optional<ResponseFormat>& format = call.chat().response_format;
        return format && format->kind == Kind::json_schema && format->name == name;
      },
      [](const ChatCall& call) {
        const std::optional<ResponseFormat>& format = call.chat().response_format;
        if (format && format->kind == Kind::json_schema) return detail::excerpts::quoted(format->name);
        const Json* sent = detail::json_pointer::child(call.chat().body, "response_format");
        return sent == nullptr ? "response_format not sent" : "response_format " + detail::excerpts::json(*sent);
      });
}

Matcher enable_thinking_is(bool enabled) {
  return detail::matchers::flag_is("enable_thinking", &ChatRequest::enable_thinking, enabled);
}

Matcher logprobs_is(bool logprobs) { return detail::matchers::flag_is("logprobs", &ChatRequest::logprobs, logprobs); }

Matcher has_field(std::string name) {
  namespace json_pointer = detail::json_pointer;
  return detail::matchers::leaf(
      "has field " + detail::excerpts::quoted(name),
      [name](const ChatCall& call) { return json_pointer::child(call.chat().body, name) != nullptr; },
      [name](const ChatCall& call) {
        if (const Json* value = json_pointer::child(call.chat().body, name)) return detail::excerpts::json(*value);
        std::vector<std::string_view> names;
        for (const auto& field : call.chat().body.get_ref<const Json::object_t&>()) names.push_back(field.first);
        return detail::matchers::listed("fields: ", names);
      });
}

Matcher json_at(std::string pointer, Json value) {
  using detail::matchers::value_at;
  const detail::matchers::Pointer tokens = detail::matchers::parse_pointer(pointer);
  return detail::matchers::leaf(
      "json at " + detail::matchers::place(pointer) + " is " + detail::excerpts::json(value),
      [tokens, value](const ChatCall& call) {
        using detail::matchers::Extent;
        const Json* actual = value_at(call.chat().body, tokens);
        return actual != nullptr && !detail::matchers::first_difference(value, *actual, Extent::whole);
      },
      [tokens, pointer, value](const ChatCall& call) {
        return detail::matchers::explain(pointer, value, value_at(call.chat().body, tokens));
      });
}

Matcher json_text_at(std::string pointer, TextMatcher text) {
  using detail::matchers::value_at;
  const detail::matchers::Pointer tokens = detail::matchers::parse_pointer(pointer);
  return detail::matchers::text_leaf(
      "text at " + detail::matchers::place(pointer) + " " + text.describe(), text,
      [tokens, text](const ChatCall& call) {
        const Json* actual = value_at(call.chat().body, tokens);
        return actual != nullptr && actual->is_string() && text.matches(actual->get_ref<const std::string&>());
      },
      [tokens, text](const ChatCall& call) {
        const Json* actual = value_at(call.chat().body, tokens);
        if (actual == nullptr) return std::string("nothing there");
        if (!actual->is_string()) return "no text: " + detail::excerpts::json(*actual);
        return detail::matchers::shown(text, actual->get_ref<const std::string&>());
      });
}

Matcher body_includes(Json part) {
  std::string description = "body includes " + detail::excerpts::json(part);
  // Shared, because what is found points into it.
  const auto difference = [expected = std::make_shared<const Json>(std::move(part))](const ChatCall& call) {
    return detail::matchers::first_difference(*expected, call.chat().body, detail::matchers::Extent::part);
  };
  return detail::matchers::leaf(
      std::move(description), [difference](const ChatCall& call) { return !difference(call); },
      [difference](const ChatCall& call) {
        const std::optional<detail::matchers::Difference> found = difference(call);
        return found ? detail::matchers::explain(*found) : std::string();
      });
}

Matcher has_header(std::string name) { return has_header(std::move(name), any_text()); }

Matcher has_header(std::string name, TextMatcher value) {
  detail::require_header_field(name, "");
  const std::string description = (detail::matchers::is_any_text(value) ? "has header " : "header ") + name;
  return detail::matchers::some_value(description, value,
                                      [name](const ReceivedRequest& http) { return http.headers.all(name); });
}

Matcher header_is(std::string name, std::string value) {
  RequestScope scope = with_header(name, value);
  return detail::matchers::scoped_leaf("header " + name + " is " + detail::excerpts::quoted(value), std::move(scope),
                                       [name, value](const ChatCall& call) {
                                         return detail::matchers::shown_values(equals(value),
                                                                               call.http().headers.all(name));
                                       });
}

Matcher key_is(std::string id_or_description) {
  RequestScope scope(id_or_description);
  return detail::matchers::scoped_leaf("key is " + detail::excerpts::quoted(id_or_description), std::move(scope),
                                       [](const ChatCall& call) {
                                         const ReceivedRequest& http = call.http();
                                         if (http.key_id.empty()) return std::string("no key of the gateway's");
                                         const std::string id = detail::excerpts::quoted(http.key_id);
                                         if (http.key_description.empty()) return id;
                                         return id + ", " + detail::excerpts::quoted(http.key_description);
                                       });
}

Matcher has_query(std::string name, TextMatcher value) {
  std::string description = detail::matchers::is_any_text(value) ? "query has " : "query parameter ";
  description += detail::excerpts::plain(name);
  return detail::matchers::some_value(std::move(description), value, [name](const ReceivedRequest& http) {
    return detail::matchers::query_values(http, name);
  });
}

Matcher matching(std::string name, std::function<bool(const ChatRequest&)> test) {
  std::function<bool(const ChatCall&)> of_call;
  if (test) of_call = [test = std::move(test)](const ChatCall& call) { return test(call.chat()); };
  return matching_call(std::move(name), std::move(of_call));
}

Matcher matching_call(std::string name, std::function<bool(const ChatCall&)> test) {
  if (name.empty()) throw GatewayError("a condition of your own needs a name, by which reports show it");
  if (!test) throw GatewayError("the condition " + detail::excerpts::quoted(name) + " has no function to ask");
  detail::MatcherNode node;
  node.description = std::move(name);
  node.test = std::move(test);
  node.built_in = false;
  return Matcher(std::move(node));
}

}  // namespace mock_gateway
