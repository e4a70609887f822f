// What the library knows of each trigger and each effect by its name. The rows stand in `src/model/fault.cpp`; what one
// does stands in `src/delivery/delivery.cpp`.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../core/rows.hpp"
#include "fault.hpp"

namespace mock_gateway::detail {

/// What a trigger takes.
enum class TriggerArgument {
  none,
  /// How many, or which, from 1 on.
  count,
  /// The number of an event, and how many of its bytes; both from 1 on.
  event_and_byte,
};

/// Which replies have such a point.
enum class TriggerReach { any_reply, streams };

/// A trigger. Checks, texts, and the keys of scripts with their schema come from its row.
struct TriggerRow {
  Trigger::Kind kind;
  /// Its function, and its key in scripts.
  const char* name;
  TriggerArgument argument;
  /// What its number counts, as an error says: "events". Empty when it takes none.
  const char* counted;
  TriggerReach reach;
  /// The words of Trigger::to_string: %n is its number, %b its byte, (s) an s unless the number before it is 1.
  const char* text;
  /// Where in the reply it was met, as waits and notes say: "after token %n". Empty: the same words.
  const char* place;
  /// Why no event can be left out, repeated or inserted there. Empty: one can.
  const char* no_event;
  /// Its line in the table of a script's keys.
  const char* help;
};

/// Where an effect can happen.
enum class EffectPlace {
  anywhere,
  /// In the head of a plain reply.
  head,
  /// Between two events of a stream.
  between_events,
  /// Between two events of a stream, where one follows.
  next_event,
};

/// What else is to be known of an effect; several are added up.
struct EffectTraits {
  static constexpr unsigned none = 0;
  /// Scripts have its name alone, unless it has this.
  static constexpr unsigned needs_argument = 1;
  /// It can last until the client leaves.
  static constexpr unsigned waits = 2;
  /// An event of the reply may be missing in a stream that ends well.
  static constexpr unsigned omits_event = 4;
};

/// An effect. Checks, texts, and its name in scripts come from its row.
struct EffectRow {
  Effect::Kind kind;
  /// Its function, and its name in scripts.
  const char* name;
  EffectPlace place;
  unsigned traits;
  /// The words of Effect::to_string: %n is the number of its bytes, %d its difference, %w what ends its wait, (s) an s
  /// unless the number before it is 1.
  const char* text;
  /// What happened to the exchange, as notes say, in front of the place: "was truncated".
  const char* happened;

  bool has(unsigned trait) const { return (traits & trait) != 0; }
};

/// The kinds of arguments that effects take.
enum class EffectArgument {
  /// A positive duration.
  duration,
  gate,
  /// Bytes, at least one; `base64` is how scripts have those that are no text.
  bytes,
  base64,
  json,
  failure,
  /// A number that is not 0.
  difference,
};

/// An effect with an argument. Scripts have one as an object with this key.
struct EffectForm {
  Effect::Kind kind;
  const char* key;
  EffectArgument argument;
  /// Its line in the table of a script's keys.
  const char* help;
  /// What an error says behind the argument that is needed: what there is without it.
  const char* instead = "";
};

namespace faults {

Rows<TriggerRow> trigger_rows();
Rows<EffectRow> effect_rows();
/// In the order in which scripts' tables have them.
Rows<EffectForm> effect_forms();
const TriggerRow& row_of(const Trigger& trigger);
const EffectRow& row_of(const Effect& effect);

/// A trigger. Throws GatewayError for a number of 0 where it takes one.
Trigger trigger(Trigger::Kind kind, std::size_t count = 0, std::size_t byte = 0);
// An effect with an argument of that kind. Each throws GatewayError for one that the kind excludes.
Effect effect(Effect::Kind kind);
Effect effect(Effect::Kind kind, Duration duration);
Effect effect(Effect::Kind kind, Gate gate);
Effect effect(Effect::Kind kind, std::string bytes);
Effect effect(Effect::Kind kind, const Json& data);
Effect effect(Effect::Kind kind, const Failure& failure);
Effect effect(Effect::Kind kind, std::int64_t difference);

/// Where in the reply a trigger was met, as waits and notes say: "after token 2".
std::string place_of(const Trigger& trigger);
/// What happened to the exchange, as notes say: "broke off after token 2".
std::string what_happened(const Fault& fault);

}  // namespace faults
}  // namespace mock_gateway::detail
