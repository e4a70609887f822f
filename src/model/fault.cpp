// Triggers and effects of faults: the tables of their names, arguments and restrictions; the functions that make them.

#include "fault.hpp"

#include <iterator>  // size
#include <string_view>
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/text.hpp"
#include "checks.hpp"
#include "fault_rows.hpp"

namespace mock_gateway {
namespace detail {
namespace faults {

inline constexpr const char* inside_an_event =
    "an event cannot be sent inside another; use after_events or after_tokens";

/// One row for each kind, in the order of the enum.
inline constexpr TriggerRow triggers[] = {
    {Trigger::Kind::before_headers, "before_headers", TriggerArgument::none, "", TriggerReach::any_reply,
     "before headers", "", "no stream has begun; use after_headers()", "before the status line"},
    {Trigger::Kind::after_headers, "after_headers", TriggerArgument::none, "", TriggerReach::any_reply, "after headers",
     "", "", "after the head, before the body"},
    {Trigger::Kind::after_events, "after_events", TriggerArgument::count, "events", TriggerReach::streams,
     "after %n event(s)", "after event %n", "", "after the event with this number"},
    {Trigger::Kind::after_tokens, "after_tokens", TriggerArgument::count, "tokens", TriggerReach::streams,
     "after %n token(s)", "after token %n", "", "after the token with this number"},
    {Trigger::Kind::after_bytes, "after_bytes", TriggerArgument::count, "bytes of the body", TriggerReach::any_reply,
     "after %n byte(s) of the body", "after byte %n of the body", inside_an_event, "after this many bytes of the body"},
    {Trigger::Kind::inside_event, "inside_event", TriggerArgument::event_and_byte, "events", TriggerReach::streams,
     "inside event %n, after %b byte(s)", "", inside_an_event, "after this many bytes of an event: [event, bytes]"},
    {Trigger::Kind::inside_character, "inside_character", TriggerArgument::count, "events", TriggerReach::streams,
     "inside a character of event %n", "", inside_an_event, "inside the first multi-byte character of this event"},
    {Trigger::Kind::before_done, "before_done", TriggerArgument::none, "", TriggerReach::streams, "before [DONE]", "",
     "", "after every event but [DONE]"},
    {Trigger::Kind::at_end, "at_end", TriggerArgument::none, "", TriggerReach::any_reply, "at the end", "",
     "no event follows; use before_done()", "after the last event, before the body is terminated"},
};

/// One row for each kind, in the order of the enum.
inline constexpr EffectRow effects[] = {
    {Effect::Kind::close_connection, "close_connection", EffectPlace::anywhere, EffectTraits::none,
     "close the connection", "broke off"},
    {Effect::Kind::reset_connection, "reset_connection", EffectPlace::anywhere, EffectTraits::none,
     "reset the connection", "broke off with a reset"},
    {Effect::Kind::half_close, "half_close", EffectPlace::anywhere, EffectTraits::waits, "half-close the connection",
     "was half-closed"},
    {Effect::Kind::truncate, "truncate", EffectPlace::anywhere, EffectTraits::none, "truncate the body",
     "was truncated"},
    {Effect::Kind::garbage, "garbage", EffectPlace::anywhere, EffectTraits::needs_argument,
     "send %n byte(s) of garbage", "sent %n byte(s) of garbage"},
    {Effect::Kind::stall, "stall", EffectPlace::anywhere, EffectTraits::waits, "stall%w", "stalled"},
    {Effect::Kind::error_event, "error_event", EffectPlace::between_events, EffectTraits::needs_argument,
     "send an error event", "sent an error event"},
    {Effect::Kind::skip_event, "skip_event", EffectPlace::next_event, EffectTraits::omits_event, "skip an event",
     "skipped an event"},
    {Effect::Kind::duplicate_event, "duplicate_event", EffectPlace::next_event, EffectTraits::none,
     "duplicate an event", "sent an event twice"},
    {Effect::Kind::wrong_content_length, "wrong_content_length", EffectPlace::head, EffectTraits::needs_argument,
     "announce a Content-Length wrong by %d", "announced a Content-Length wrong by %d"},
};

inline constexpr EffectForm forms[] = {
    {Effect::Kind::stall, "stall", EffectArgument::duration, "sends nothing for this time, then goes on",
     "; without one it lasts until the client leaves"},
    {Effect::Kind::stall, "stall_at_gate", EffectArgument::gate, "sends nothing until the gate with this name opens"},
    {Effect::Kind::garbage, "garbage", EffectArgument::bytes,
     "sends this text instead of the rest, then ends the connection", "; close_connection() sends none"},
    {Effect::Kind::garbage, "garbage_base64", EffectArgument::base64, "like garbage, with these bytes"},
    {Effect::Kind::error_event, "error_event", EffectArgument::json,
     "sends an event with this data instead of the rest, then [DONE]"},
    {Effect::Kind::error_event, "error_event_failure", EffectArgument::failure,
     "sends an event with the body of a failure instead of the rest, then [DONE]"},
    {Effect::Kind::wrong_content_length, "wrong_content_length", EffectArgument::difference,
     "announces a Content-Length that is wrong by this many bytes"},
};

static_assert(are_all(triggers, &TriggerRow::kind, static_cast<std::size_t>(Trigger::Kind::at_end) + 1),
              "each trigger has a row");
static_assert(are_all(effects, &EffectRow::kind, static_cast<std::size_t>(Effect::Kind::wrong_content_length) + 1),
              "each effect has a row");

Rows<TriggerRow> trigger_rows() { return {triggers, std::size(triggers)}; }
Rows<EffectRow> effect_rows() { return {effects, std::size(effects)}; }
Rows<EffectForm> effect_forms() { return {forms, std::size(forms)}; }

const TriggerRow& row_of(Trigger::Kind kind) { return triggers[static_cast<std::size_t>(kind)]; }
const EffectRow& row_of(Effect::Kind kind) { return effects[static_cast<std::size_t>(kind)]; }
const TriggerRow& row_of(const Trigger& trigger) { return row_of(trigger.kind()); }
const EffectRow& row_of(const Effect& effect) { return row_of(effect.kind()); }

/// The values of %n, %b, %d and %w in the texts of a row.
struct Values {
  std::size_t number = 0;
  std::size_t byte = 0;
  std::int64_t difference = 0;
  std::string wait = {};
};

std::string in_words(std::string_view text, const Values& values) {
  std::string words;
  bool one = false;  // whether the previous number is 1
  const auto add_number = [&](std::size_t number) {
    words += std::to_string(number);
    one = number == 1;
  };
  while (!text.empty()) {
    const std::string_view next = text.substr(0, text.front() == '%' ? 2 : text.substr(0, 3) == "(s)" ? 3 : 1);
    text.remove_prefix(next.size());
    if (next == "%n")
      add_number(values.number);
    else if (next == "%b")
      add_number(values.byte);
    else if (next == "%d")
      words += (values.difference > 0 ? "+" : "") + std::to_string(values.difference);
    else if (next == "%w")
      words += values.wait;
    else if (next == "(s)")
      words += one ? "" : "s";
    else
      words += next;
  }
  return words;
}

std::string in_words(const char* text, const Trigger& trigger) {
  return in_words(text, {trigger.count(), trigger.byte()});
}

std::string in_words(const char* text, const Effect& effect) {
  std::string wait;
  if (effect.gate())
    wait = " until a gate opens";
  else if (effect.duration())
    wait = " for " + text::decimal(effect.duration()->count(), 1000000) + " ms";
  return in_words(text, {effect.bytes().size(), 0, effect.difference(), std::move(wait)});
}

Trigger trigger(Trigger::Kind kind, std::size_t count, std::size_t byte) {
  const TriggerRow& row = row_of(kind);
  if (row.argument != TriggerArgument::none) counted_from_one(count, row.name, row.counted);
  if (row.argument == TriggerArgument::event_and_byte) counted_from_one(byte, row.name, "bytes of an event");
  return Access::make<Trigger>(kind, count, byte);
}

[[noreturn]] void refuse(Effect::Kind kind, EffectArgument argument, const char* needed) {
  std::string message = std::string(row_of(kind).name) + " needs " + needed;
  for (const EffectForm& form : forms)
    if (form.kind == kind && form.argument == argument) message += form.instead;
  throw GatewayError(message);
}

Effect effect(Effect::Kind kind) { return Access::make<Effect>(kind); }

Effect effect(Effect::Kind kind, Duration duration) {
  if (duration <= Duration::zero()) refuse(kind, EffectArgument::duration, "a positive duration");
  return Access::make<Effect>(kind, duration);
}

Effect effect(Effect::Kind kind, Gate gate) { return Access::make<Effect>(kind, std::move(gate)); }

Effect effect(Effect::Kind kind, std::string bytes) {
  if (bytes.empty()) refuse(kind, EffectArgument::bytes, "at least one byte");
  return Access::make<Effect>(kind, std::move(bytes));
}

Effect effect(Effect::Kind kind, const Json& data) {
  try {
    return Access::make<Effect>(kind, data.dump());
  } catch (const Json::exception& error) {
    throw GatewayError(std::string("the data of ") + row_of(kind).name + " cannot be written as JSON: " + error.what());
  }
}

Effect effect(Effect::Kind kind, const Failure& failure) { return Access::make<Effect>(kind, failure); }

Effect effect(Effect::Kind kind, std::int64_t difference) {
  if (difference == 0) refuse(kind, EffectArgument::difference, "a difference that is not 0");
  return Access::make<Effect>(kind, difference);
}

std::string place_of(const Trigger& trigger) {
  const TriggerRow& row = row_of(trigger);
  return in_words(*row.place ? row.place : row.text, trigger);
}

std::string what_happened(const Fault& fault) {
  const EffectRow& row = row_of(fault.effect);
  const std::string what = in_words(row.happened, fault.effect);
  return row.place == EffectPlace::head ? what : what + " " + place_of(fault.trigger);
}

}  // namespace faults
}  // namespace detail

std::string Trigger::to_string() const { return detail::faults::in_words(detail::faults::row_of(*this).text, *this); }

Trigger before_headers() { return detail::faults::trigger(Trigger::Kind::before_headers); }
Trigger after_headers() { return detail::faults::trigger(Trigger::Kind::after_headers); }
Trigger after_events(std::size_t count) { return detail::faults::trigger(Trigger::Kind::after_events, count); }
Trigger after_tokens(std::size_t count) { return detail::faults::trigger(Trigger::Kind::after_tokens, count); }
Trigger after_bytes(std::size_t count) { return detail::faults::trigger(Trigger::Kind::after_bytes, count); }
Trigger inside_event(std::size_t event, std::size_t byte) {
  return detail::faults::trigger(Trigger::Kind::inside_event, event, byte);
}
Trigger inside_character(std::size_t event) { return detail::faults::trigger(Trigger::Kind::inside_character, event); }
Trigger before_done() { return detail::faults::trigger(Trigger::Kind::before_done); }
Trigger at_end() { return detail::faults::trigger(Trigger::Kind::at_end); }

Effect::Effect(Kind kind) : kind_(kind) {}
Effect::Effect(Kind kind, Duration duration) : kind_(kind), duration_(duration) {}
Effect::Effect(Kind kind, Gate gate) : kind_(kind), gate_(std::move(gate)) {}
Effect::Effect(Kind kind, std::string bytes) : kind_(kind), bytes_(std::move(bytes)) {}
Effect::Effect(Kind kind, const Failure& failure) : kind_(kind), failure_(failure) {}
Effect::Effect(Kind kind, std::int64_t difference) : kind_(kind), difference_(difference) {}

Effect::Effect(const Effect&) = default;
Effect& Effect::operator=(const Effect&) = default;
Effect::~Effect() = default;

std::string Effect::to_string() const { return detail::faults::in_words(detail::faults::row_of(*this).text, *this); }

Effect close_connection() { return detail::faults::effect(Effect::Kind::close_connection); }
Effect reset_connection() { return detail::faults::effect(Effect::Kind::reset_connection); }
Effect half_close() { return detail::faults::effect(Effect::Kind::half_close); }
Effect truncate() { return detail::faults::effect(Effect::Kind::truncate); }
Effect garbage(std::string bytes) { return detail::faults::effect(Effect::Kind::garbage, std::move(bytes)); }
Effect stall() { return detail::faults::effect(Effect::Kind::stall); }
Effect stall(Duration duration) { return detail::faults::effect(Effect::Kind::stall, duration); }
Effect stall(Gate gate) { return detail::faults::effect(Effect::Kind::stall, std::move(gate)); }
Effect error_event(const Json& data) { return detail::faults::effect(Effect::Kind::error_event, data); }
Effect error_event(const Failure& failure) { return detail::faults::effect(Effect::Kind::error_event, failure); }
Effect skip_event() { return detail::faults::effect(Effect::Kind::skip_event); }
Effect duplicate_event() { return detail::faults::effect(Effect::Kind::duplicate_event); }
Effect wrong_content_length(std::int64_t difference) {
  return detail::faults::effect(Effect::Kind::wrong_content_length, difference);
}

}  // namespace mock_gateway
