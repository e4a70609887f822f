// Descriptions of triggers and effects of faults: names, arguments, texts. Values: `src/model/fault.cpp`; execution:
// `src/delivery/faults_and_waits.cpp`.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../core/rows.hpp"
#include "fault.hpp"

namespace mock_gateway::detail {

/// The numbers of a trigger, each at least 1.
enum class TriggerArgument {
  none,
  count,
  event_and_byte,
};

enum class TriggerReach { any_reply, streams };

struct TriggerRow {
  Trigger::Kind kind;
  /// The name of its function, and its key in scripts.
  const char* name;
  TriggerArgument argument;
  /// What its number counts, for errors: "events". Empty without a number.
  const char* counted;
  TriggerReach reach;
  /// The text of Trigger::to_string: %n is its number, %b its byte, (s) an s unless the preceding number is 1.
  const char* text;
  /// The place in the reply, for waits and notes: "after token %n". Empty: the same as `text`.
  const char* place;
  /// Why no event can be skipped, repeated or inserted there. Empty: it is possible.
  const char* no_event;
  const char* help;
};

enum class EffectPlace {
  anywhere,
  /// In the head of a plain reply.
  head,
  between_events,
  /// Between two events of a stream, where one follows.
  next_event,
};

/// Further properties of an effect, combined by addition.
struct EffectTraits {
  static constexpr unsigned none = 0;
  /// In scripts, an effect without this trait may be written as its bare name.
  static constexpr unsigned needs_argument = 1;
  /// It can last until the client leaves.
  static constexpr unsigned waits = 2;
  /// An event may be missing from a stream that ends normally.
  static constexpr unsigned omits_event = 4;
};

struct EffectRow {
  Effect::Kind kind;
  const char* name;
  EffectPlace place;
  unsigned traits;
  /// The text of Effect::to_string. %n is the number of its bytes, %d its difference, %w the end of its wait. (s) is an
  /// s unless the preceding number is 1.
  const char* text;
  /// The text of notes about the exchange, which the place follows: "was truncated".
  const char* happened;

  bool has(unsigned trait) const { return (traits & trait) != 0; }
};

enum class EffectArgument {
  /// A positive duration.
  duration,
  gate,
  /// At least one byte. `base64` is the form in scripts for bytes that are not text.
  bytes,
  base64,
  json,
  failure,
  /// Not 0.
  difference,
};

/// An effect with an argument. In scripts it is an object with this key.
struct EffectForm {
  Effect::Kind kind;
  const char* key;
  EffectArgument argument;
  const char* help;
  /// The end of the error about a wrong argument. Names the alternative that takes no argument.
  const char* instead = "";
};

namespace faults {

Rows<TriggerRow> trigger_rows();
Rows<EffectRow> effect_rows();
/// Returns the forms in the order of the documented table of script keys.
Rows<EffectForm> effect_forms();
const TriggerRow& row_of(const Trigger& trigger);
const EffectRow& row_of(const Effect& effect);

/// Throws GatewayError if a needed number is 0.
Trigger trigger(Trigger::Kind kind, std::size_t count = 0, std::size_t byte = 0);
// Each throws GatewayError if the kind does not allow the argument.
Effect effect(Effect::Kind kind);
Effect effect(Effect::Kind kind, Duration duration);
Effect effect(Effect::Kind kind, Gate gate);
Effect effect(Effect::Kind kind, std::string bytes);
Effect effect(Effect::Kind kind, const Json& data);
Effect effect(Effect::Kind kind, const Failure& failure);
Effect effect(Effect::Kind kind, std::int64_t difference);

std::string place_of(const Trigger& trigger);
std::string what_happened(const Fault& fault);

}  // namespace faults
}  // namespace mock_gateway::detail
