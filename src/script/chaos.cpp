// Chaos rules: their limits and their text.

#include "chaos.hpp"

#include <algorithm>  // none_of
#include <iterator>   // begin, end

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/text.hpp"
#include "../model/reply.hpp"
#include "chaos_plan.hpp"

namespace mock_gateway {
namespace detail {
namespace chaos_text {

std::string time(const Timing& timing) {
  const Distribution& nanoseconds = Access::distribution(timing);
  return nanoseconds.fixed() ? text::number(nanoseconds.first / 1e6) + " ms" : "a drawn time";
}

std::string pace(const Pace& pace) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (pace.first_token()) add("first token after " + time(*pace.first_token()));
  if (pace.gap()) add(time(*pace.gap()) + " between tokens");
  if (pace.rate()) {
    const Distribution& rate = Access::distribution(*pace.rate());
    add((rate.fixed() ? text::number(rate.first) : "a drawn number of") + " tokens per second");
  }
  if (pace.chunking()) add("cut in other chunks");
  return text;
}

}  // namespace chaos_text

std::string chaos_effect(const ChaosPlan& plan) {
  if (plan.failure) {
    const std::string& code = plan.failure->code();
    return std::to_string(plan.failure->status()) + (code.empty() ? "" : " " + code);
  }
  if (plan.pace) return chaos_text::pace(*plan.pace);
  if (plan.interim) return plan.interim->to_string();
  return plan.effect->to_string() + " " + (plan.trigger ? plan.trigger->to_string() : plan.drawn->to_string());
}

std::string chaos_frequency(const ChaosPlan& plan) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (plan.probability) add("probability " + text::number(*plan.probability));
  if (plan.nth) add("nth " + std::to_string(*plan.nth));
  if (plan.first) add("first " + std::to_string(*plan.first));
  if (plan.by_request) add("by request");
  return text.empty() ? "every time" : text;
}

}  // namespace detail

DrawnTrigger::DrawnTrigger(Trigger::Kind kind, std::size_t most) : kind_(kind), most_(most) {
  const auto is_kind = [kind](const detail::DrawnTriggerRow& row) { return row.kind == kind; };
  if (std::none_of(std::begin(detail::drawn_triggers), std::end(detail::drawn_triggers), is_kind))
    throw GatewayError("a trigger is drawn among events, tokens or bytes: at_any_event, at_any_token, at_any_byte");
  if (most == 0) throw GatewayError("a trigger is drawn from 1 up: at_any_token(10) is after the first up to the 10th");
}

std::string DrawnTrigger::to_string() const {
  const std::string whole = detail::Access::make<Trigger>(kind_, most_, 0u).to_string();
  return most_ == 1 ? whole : "after 1 to " + whole.substr(whole.find(' ') + 1);
}

DrawnTrigger at_any_event(std::size_t most) { return {Trigger::Kind::after_events, most}; }

DrawnTrigger at_any_token(std::size_t most) { return {Trigger::Kind::after_tokens, most}; }

DrawnTrigger at_any_byte(std::size_t most) { return {Trigger::Kind::after_bytes, most}; }

Chaos::Chaos(Trigger trigger, Effect effect) : data_(detail::ChaosPlan{}) {
  // Throws if the fault does not fit a completion: then it fits no reply.
  static_cast<void>(Reply("").fault(trigger, effect));
  edit().trigger = std::move(trigger);
  edit().effect = std::move(effect);
}

Chaos::Chaos(DrawnTrigger trigger, Effect effect) : data_(detail::ChaosPlan{}) {
  static_cast<void>(Reply("").fault(detail::Access::make<Trigger>(trigger.kind(), trigger.most(), 0u), effect));
  edit().drawn = std::move(trigger);
  edit().effect = std::move(effect);
}

Chaos::Chaos(const Failure& failure) : data_(detail::ChaosPlan{}) { edit().failure = failure; }

Chaos::Chaos(const Pace& pace) : data_(detail::ChaosPlan{}) {
  if (!pace.sets_anything())
    throw GatewayError("this pace sets nothing; set a time, such as Pace().first_token_after(2s)");
  if (pace.chunking() && pace.chunking()->kind() == Chunking::Kind::pieces)
    throw GatewayError("by_pieces fits only one reply; set it there: text(…).chunked(by_pieces({…}))");
  edit().pace = pace;
}

Chaos::Chaos(const ConnectionFault& fault) : data_(detail::ChaosPlan{}) {
  if (fault.kind() != ConnectionFault::Kind::unsolicited_continue &&
      fault.kind() != ConnectionFault::Kind::early_hints) {
    throw GatewayError("\"" + fault.to_string() +
                       "\" happens before the request is read, but chaos chooses by the request; use "
                       "Gateway::next_connection, or the nearest chaos: Chaos(before_headers(), reset_connection())");
  }
  edit().interim = fault;
}

detail::ChaosPlan& Chaos::edit() { return data_.own(); }

Chaos Chaos::with(std::initializer_list<Matcher> matchers) const {
  Chaos changed = *this;
  std::vector<Matcher>& all = changed.edit().matchers;
  all.insert(all.end(), matchers.begin(), matchers.end());
  return changed;
}

Chaos Chaos::probability(double probability) const {
  // The negation also rejects NaN.
  if (!(probability >= 0 && probability <= 1)) {
    throw GatewayError("a probability of chaos is a number from 0 to 1, not " + detail::text::number(probability) +
                       "; 0.1 strikes one in ten");
  }
  return detail::with(*this, &detail::ChaosPlan::probability, probability);
}

Chaos Chaos::nth(std::size_t n) const {
  if (n == 0) throw GatewayError("Chaos::nth(0) would strike nothing; nth(1) strikes each time, nth(3) one in 3");
  return detail::with(*this, &detail::ChaosPlan::nth, n);
}

Chaos Chaos::first(std::size_t n) const {
  if (n == 0) throw GatewayError("Chaos::first(0) would strike nothing; first(1) strikes each request once");
  return detail::with(*this, &detail::ChaosPlan::first, n);
}

Chaos Chaos::by_request() const { return detail::with(*this, &detail::ChaosPlan::by_request, true); }

std::string Chaos::to_string() const {
  std::string text = detail::chaos_effect(*data_) + " (" + detail::chaos_frequency(*data_);
  for (std::size_t i = 0; i < data_->matchers.size(); ++i)
    text += (i == 0 ? ", when " : " and ") + data_->matchers[i].to_string();
  return text + ")";
}

}  // namespace mock_gateway
