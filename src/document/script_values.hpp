#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/duration.hpp"
#include "../keys/api_key.hpp"
#include "../model/acceptance.hpp"
#include "../model/failure.hpp"
#include "../model/operation.hpp"
#include "../model/pace.hpp"
#include "../model/profile.hpp"
#include "../model/range.hpp"
#include "../model/received_request.hpp"
#include "../model/reply.hpp"
#include "../model/sse_dialect.hpp"
#include "../script/matcher.hpp"
#include "script_reader.hpp"

// Conversions from values of documents to C++.

namespace mock_gateway::detail {

namespace script_types {

ScriptType any();
ScriptType boolean();
ScriptType yes();
ScriptType text();
/// Returns a text used as a name: see script_values::name_of.
ScriptType name_text();
ScriptType count();
ScriptType positive();
ScriptType whole();
ScriptType number();
ScriptType texts();
ScriptType json_object();
ScriptType duration();
ScriptType duration_or_off();
ScriptType timing();
ScriptType rate();
ScriptType chunking();
ScriptType headers();
ScriptType header_value();
ScriptType range();
ScriptType text_matcher();
ScriptType rate_limit();
ScriptType token_limit();
ScriptType operation();
ScriptType operations();
ScriptType profile();
ScriptType acceptance();
ScriptType unmatched();
ScriptType clock();
ScriptType models();
ScriptType journal_limits();
ScriptType pace();
ScriptType dialect();
ScriptType token_usage();
ScriptType logprobs();
ScriptType base64();

}  // namespace script_types

/// A tag for the type that read_as returns.
template <class T>
struct As {};

// These functions throw ScriptMistake for a value of another type, and pass on GatewayError.
bool read_as(As<bool>, ScriptReader& reader, const ScriptNode& node);
std::string read_as(As<std::string>, ScriptReader& reader, const ScriptNode& node);
std::size_t read_as(As<std::size_t>, ScriptReader& reader, const ScriptNode& node);
std::int64_t read_as(As<std::int64_t>, ScriptReader& reader, const ScriptNode& node);
int read_as(As<int>, ScriptReader& reader, const ScriptNode& node);
double read_as(As<double>, ScriptReader& reader, const ScriptNode& node);
Json read_as(As<Json>, ScriptReader& reader, const ScriptNode& node);
Duration read_as(As<Duration>, ScriptReader& reader, const ScriptNode& node);
std::optional<Duration> read_as(As<std::optional<Duration>>, ScriptReader& reader, const ScriptNode& node);
Timing read_as(As<Timing>, ScriptReader& reader, const ScriptNode& node);
Rate read_as(As<Rate>, ScriptReader& reader, const ScriptNode& node);
Chunking read_as(As<Chunking>, ScriptReader& reader, const ScriptNode& node);
Pace read_as(As<Pace>, ScriptReader& reader, const ScriptNode& node);
SseDialect read_as(As<SseDialect>, ScriptReader& reader, const ScriptNode& node);
Range read_as(As<Range>, ScriptReader& reader, const ScriptNode& node);
Matcher read_as(As<Matcher>, ScriptReader& reader, const ScriptNode& node);
TextMatcher read_as(As<TextMatcher>, ScriptReader& reader, const ScriptNode& node);
TokenUsage read_as(As<TokenUsage>, ScriptReader& reader, const ScriptNode& node);
std::vector<TokenLogprob> read_as(As<std::vector<TokenLogprob>>, ScriptReader& reader, const ScriptNode& node);
wire::Headers read_as(As<wire::Headers>, ScriptReader& reader, const ScriptNode& node);
RateLimit read_as(As<RateLimit>, ScriptReader& reader, const ScriptNode& node);
TokenLimit read_as(As<TokenLimit>, ScriptReader& reader, const ScriptNode& node);
Operation read_as(As<Operation>, ScriptReader& reader, const ScriptNode& node);
Profile read_as(As<Profile>, ScriptReader& reader, const ScriptNode& node);
Acceptance read_as(As<Acceptance>, ScriptReader& reader, const ScriptNode& node);

template <class T>
T read_value(ScriptReader& reader, const ScriptNode& node) {
  return read_as(As<T>(), reader, node);
}

template <class T>
std::vector<T> read_as(As<std::vector<T>>, ScriptReader& reader, const ScriptNode& node) {
  if (!node.value.is_array()) script_reading::fail_expected(node, "a list");
  std::vector<T> values;
  for (std::size_t index = 0; index < node.value.size(); ++index)
    values.push_back(read_value<T>(reader, node.element(index)));
  return values;
}

namespace script_values {

/// Throws ScriptMistake unless it is a list of `size` elements.
void require_list(const ScriptNode& node, std::size_t size, const char* what);
/// The maximum length of names of stubs, keys, tests, gates, state machines and states. Reports and logs repeat names.
inline constexpr std::size_t most_bytes_of_name = 256;
/// Returns the error for a name that is too long; empty otherwise.
std::string name_length_error(const std::string& name);
/// Throws ScriptMistake if it is not a text or too long.
const std::string& name_of(const ScriptNode& node);
/// Returns the name or id of a key. Also throws ScriptMistake if it looks like a secret.
const std::string& key_name(const ScriptNode& node);
std::size_t one_of(const ScriptNode& node, const std::vector<std::string>& words);
std::string decode_base64(const ScriptNode& node);
/// Returns the body of an answer from its key `kind`: "json", "body" or "base64". Empty if `kind` is null.
std::string body_of(const ScriptNode& node, const char* kind);
/// Returns a time within the limits of a pace: at most 30 days.
Duration pace_time(ScriptReader& reader, const ScriptNode& node);
const std::string& text_of(const ScriptNode& node);
/// Requires `true`. `false` is a mistake: leave the key out instead.
void require_yes(const ScriptNode& node);

/// Adds the header fields in `fields` to a reply. They replace the reply's fields with the same name.
template <class T>
T with_headers(ScriptReader& reader, const ScriptNode& fields, T reply) {
  wire::Headers seen;
  for (const wire::Header& field : read_value<wire::Headers>(reader, fields)) {
    reply = seen.has(field.name) ? reply.add_header(field.name, field.value) : reply.header(field.name, field.value);
    seen.add(field.name, field.value);
  }
  return reply;
}

/// Applies each element of a list: `apply_each<&add_key>`.
template <void (*Apply)(ScriptReader&, const ScriptNode&, void*)>
void apply_each(ScriptReader& reader, const ScriptNode& node, void* target) {
  reader.read_list(node, Apply, target);
}

template <class T, class V>
void set_by(T (T::*setter)(V) const, ScriptReader& reader, const ScriptNode& node, void* target) {
  T& value = *static_cast<T*>(target);
  value = (value.*setter)(read_value<std::decay_t<V>>(reader, node));
}

template <class T>
void set_by(T (T::*setter)() const, ScriptReader&, const ScriptNode& node, void* target) {
  require_yes(node);
  T& value = *static_cast<T*>(target);
  value = (value.*setter)();
}

template <class T, class V>
void set_member(V T::*member, ScriptReader& reader, const ScriptNode& node, void* target) {
  static_cast<T*>(target)->*member = read_value<V>(reader, node);
}

}  // namespace script_values

/// SetBy<&Reply::every>::apply reads a value and passes it to the setter. A setter without a parameter requires `true`.
template <auto Setter>
struct SetBy {
  static void apply(ScriptReader& reader, const ScriptNode& node, void* target) {
    script_values::set_by(Setter, reader, node, target);
  }
};

template <auto Member>
struct SetMember {
  static void apply(ScriptReader& reader, const ScriptNode& node, void* target) {
    script_values::set_member(Member, reader, node, target);
  }
};

}  // namespace mock_gateway::detail
