// Turns a reply into an answer: `id` and `created` (`context_of`), pace, early hints, added chaos, and unusual parts
// for notes.

#include "served_request.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "../answer/completion.hpp"
#include "../answer/completion_events.hpp"
#include "../core/access.hpp"
#include "../core/calendar.hpp"
#include "../core/error.hpp"
#include "../core/random.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"
#include "../model/profile_traits.hpp"
#include "../model/reply_data.hpp"
#include "../script/chaos_plan.hpp"
#include "tester_code.hpp"

namespace mock_gateway::detail {
namespace reply_answer {

/// Adds the chaos that is possible for the delivery's reply.
void apply(const std::vector<ChaosRules::Hit>& hits, DeliveryPlan& delivery) {
  if (hits.empty()) return;
  Reply reply = *delivery.reply;
  delivery.scripted_faults = Access::data(reply).faults.size();
  for (const ChaosRules::Hit& hit : hits) {
    try {
      if (hit.fault) reply = reply.fault(hit.fault->trigger, hit.fault->effect);
      if (hit.plan().pace) reply = reply.pace(*hit.plan().pace);
    } catch (const GatewayError&) {
      continue;  // the fault or pace is impossible for such a reply
    }
    if (hit.plan().interim) delivery.interim += hit.plan().interim->bytes();
    delivery.chaos.push_back(hit);
  }
  delivery.reply = share<const Reply>(std::move(reply));
}

PaceSchedule schedule(ServedRequest& served, const Pace& pace) {
  if (!pace.first_token() && !pace.gap() && !pace.rate()) return {};
  if (!PaceSchedule::varies(pace)) return {pace, 0, 1};
  const std::uint64_t seed = fingerprint("pace", served.fingerprint);
  return {pace, seed, served.gateway.occurrences.next(seed)};
}

/// Describes unusual parts (several choices, several tool calls, "finish_reason length was sent"), or returns "".
std::string unusual(const std::vector<CompletionChoice>& choices) {
  std::vector<std::string> reasons;
  std::size_t most_calls = 0;
  for (const CompletionChoice& choice : choices) {
    most_calls = std::max(most_calls, choice.tool_calls.size());
    const std::string& reason = choice.finish_reason;
    if (reason == "stop" || reason == "tool_calls") continue;
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(reason);
  }
  std::string list;
  for (const std::string& reason : reasons)
    list += (list.empty() ? "finish_reason " : ", ") + text::printable(reason, 40);
  if (!list.empty()) list += " was sent";
  const auto add = [&list](std::size_t count, const char* what) {
    if (count > 1) list += (list.empty() ? "" : ", ") + std::to_string(count) + what;
  };
  add(choices.size(), " choices were sent");
  add(most_calls, " tool calls were sent in one choice");
  return list;
}

AnswerContext context_of(ServedRequest& served) {
  AnswerContext context;
  context.profile = served.gateway.settings.profile;
  const std::uint64_t occurrence = served.gateway.occurrences.next(served.fingerprint);
  const Random random(fingerprint(std::to_string(occurrence), served.fingerprint));
  const std::string_view form = traits_of(context.profile).completion_id;
  context.id = form.empty() ? served.request_id() : make_id(form, random, served.timeline.now());
  context.created = calendar::unix_seconds(served.timeline.now());
  context.seed = served.fingerprint;
  return context;
}

/// Makes the completion: the body of a plain answer, or the source of the events of a streamed one.
void complete(ServedRequest& served, const ReplyData& reply, const Pace& pace) {
  const ChatRequest& chat = *served.chat;
  Answer& answer = served.answer;
  DeliveryPlan& delivery = answer.delivery;
  Completion& completion = delivery.completion.emplace(reply, chat, context_of(served), served.gateway.tokens,
                                                       pace.chunking() ? &*pace.chunking() : nullptr);
  keep_tokens(answer, completion.usage());
  delivery.unusual = unusual(completion.choices());
  delivery.stream = chat.stream;
  if (delivery.stream) {
    answer.content_type = reply.sse.content_type();
    return;
  }
  answer.body = completion.body();
  delivery.token_count = completion.delta_count();
  if (pace.rate() && pace.chunking()) {  // otherwise each delta is a whole token
    CompletionEvents deltas(completion);
    delivery.pace.foresee(deltas);
  }
  delivery.completion.reset();  // do not keep the text twice while the client reads
}

}  // namespace reply_answer

void answer_with_reply(ServedRequest& served, const std::vector<ChaosRules::Hit>& hits) {
  const ServeSettings& settings = served.gateway.settings;
  Answer& answer = served.answer;
  DeliveryPlan& delivery = answer.delivery;
  reply_answer::apply(hits, delivery);
  const ReplyData& reply = Access::data(*delivery.reply);
  if (served.incoming.http_1_1) delivery.interim += reply.early_hints;  // RFC 9110, 15.2
  if (reply.failure) {
    served.become(*reply.failure, true);
    delivery.pace = reply_answer::schedule(served, reply.pace);
    return;
  }
  answer.headers = reply.headers;
  if (reply.raw) {
    answer.status = reply.raw->status;
    answer.content_type = reply.raw->content_type;
    answer.body = reply.raw->body;
    if (answer.tokens && answer.status < 400) answer.tokens->keep_all();
    delivery.pace = reply_answer::schedule(served, reply.pace);
    return;
  }
  std::optional<Pace> merged;
  if (settings.pace.sets_anything()) merged = reply.pace.or_else(settings.pace);
  const Pace& pace = merged ? *merged : reply.pace;
  delivery.pace = reply_answer::schedule(served, pace);
  if (reply.chunks) {
    delivery.stream = true;
    answer.content_type = reply.sse.content_type();
    if (answer.tokens) answer.tokens->keep_all();
    return;
  }
  const auto where = [&answer] { return answer.stub ? "\n  reply of " + answer.stub->title() : std::string{}; };
  const auto busy = busy_with(served.connection, settings.tokenizer);
  try {
    reply_answer::complete(served, reply, pace);
  } catch (const TokenizerThrew& threw) {
    served.callback_failed(threw.what() + where());
  } catch (const std::exception& exception) {
    served.answer_failed(exception.what() + where());
  }
}

void strike_delivery(ServedRequest& served, const std::vector<ChaosRules::Hit>& hits) {
  DeliveryPlan& delivery = served.answer.delivery;
  reply_answer::apply(hits, delivery);
  delivery.pace = reply_answer::schedule(served, Access::data(*delivery.reply).pace);
}

}  // namespace mock_gateway::detail
