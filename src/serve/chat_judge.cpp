// The order of the checks of chat requests. 422 `no_stub_matched` and `never_expected` with their headers. Requests
// whose reply the test supplies.

#include "served_request.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../answer/default_reply.hpp"
#include "../core/random.hpp"
#include "../core/shared.hpp"
#include "../core/text.hpp"
#include "../evidence/diagnosis.hpp"
#include "../model/finding_kinds.hpp"
#include "../model/reply_checks.hpp"
#include "../model/request_error.hpp"
#include "../request/chat_parser.hpp"
#include "../script/chaos_plan.hpp"
#include "../script/excerpts.hpp"
#include "../script/matcher_node.hpp"
#include "tester_code.hpp"

namespace mock_gateway::detail {

struct AskedChat {
  AskedChat(ServedRequest& served, const Script::Choice& choice, std::vector<ChaosRules::Hit> its_hits)
      : stub(choice.stub),
        call(choice.call),
        hits(std::move(its_hits)),
        wait(served.gateway.asked, served.exchange, stub, served.request, served.timeline.now(),
             served.connection.waker()) {}

  std::shared_ptr<StubState> stub;
  std::size_t call;
  std::vector<ChaosRules::Hit> hits;
  AskedWait wait;
};

namespace chat_judge {

using Hits = std::vector<ChaosRules::Hit>;

// A function that returns bool returns true if it has answered the request.

/// Runs the checks that come before the script, and parses the body.
bool refuse(ServedRequest& served) {
  const ServeSettings& settings = served.gateway.settings;
  const ReceivedRequest& request = served.request;
  if (!allows_json(request, settings.acceptance)) return served.reject(unsupported_content_type(request));
  served.chat = parse_chat_request(request.body, settings.acceptance, settings.chat_limits);
  if (refuse_model(served, served.chat->model) || refuse_length(served)) return true;
  const auto forced = served.gateway.failures.take(FailureScope::Kind::model, served.chat->model);
  if (forced) return served.fail(*forced, Decision::Kind::forced_failure);
  return take_tokens_of_chat(served);
}

/// Returns the identity of the request. Unlike generated values, it depends on `stream` and on the key.
std::uint64_t identity_of(const ServedRequest& served, const ChatRequest& chat) {
  std::uint64_t request = fingerprint(chat.stream ? "stream" : "plain", served.fingerprint);
  if (const auto options = chat.body.find("stream_options"); options != chat.body.end())
    request = fingerprint(options->dump(), request);
  const std::string& key = served.request.key_description;
  return fingerprint(key.empty() ? served.request.key_id : key, request);
}

/// Records that a text was not searched for a pattern, if other conditions would have decided otherwise. `owner`: the
/// name of the stub or chaos rule. `held`: whether the conditions held.
void report_skipped(ServedRequest& served, const ChatCall& call, const FunctionResults& results,
                    const std::string& owner, const std::vector<Matcher>& conditions, bool held,
                    const std::shared_ptr<StubState>& stub = nullptr) {
  const std::vector<Matcher> open = undecided(conditions, call, results, held);
  if (open.empty()) return;
  served.problems.push_back(
      {{Problem::Kind::not_searched, brief(call) + skipped_lines("  its text", owner, open)}, stub});
}

/// Finds the chaos rules that apply to the request. Runs the test's matchers, which may throw.
bool strike(ServedRequest& served, const ChatCall& call, Hits& hits) {
  served.under_chaos = true;
  ChaosRules::MatcherInProgress in_progress;
  const auto thrown = guarded_matchers(served.connection, "a matcher of a rule of chaos", [&] {
    const std::size_t skipped = skipped_searches().count;
    hits = served.gateway.chaos->decide(call, served.answer.identity, in_progress);
    if (skipped_searches().count == skipped) return;
    for (const ChaosRules::Hit& hit : hits)
      report_skipped(served, call, {}, "rule " + std::to_string(hit.rule->number) + " of chaos", hit.plan().matchers,
                     true);
  });
  if (!thrown) return false;
  if (!in_progress.rule || !in_progress.matcher) return served.answer_failed(*thrown);
  return served.callback_failed("the matcher \"" + in_progress.matcher->to_string() + "\" of rule " +
                                std::to_string(in_progress.rule->number) + " of chaos threw: " + *thrown);
}

/// Reports a stub that answered only because a text was not searched, and stubs whose number of calls may be too small
/// because of that.
void report_skipped(ServedRequest& served, const Script::Choice& choice, const ChatCall& call) {
  for (const std::shared_ptr<StubState>& stub : choice.not_searched) {
    const bool held = stub == choice.stub;
    const std::optional<Range>& expected = stub->plan().expected_calls;
    const bool has_all = expected && static_cast<double>(stub->calls()) >= expected->most();
    if (held || has_all)
      report_skipped(served, call, choice.function_results, stub->title(), stub->plan().matchers, held, stub);
  }
}

/// Records the should() conditions that the request violates. Runs the test's functions.
void validate(ServedRequest& served, Script::Choice& choice, const ChatCall& call) {
  const StubState& stub = *choice.stub;
  std::vector<NearMiss::Condition> broken;
  for (const Matcher& matcher : stub.plan().validators) {
    const std::size_t skipped = skipped_searches().count;
    if (!decide(matcher, call, choice.function_results))
      explain(matcher, call, choice.function_results, 0, broken);
    else if (skipped_searches().count != skipped)
      report_skipped(served, call, choice.function_results, stub.title(), {matcher}, true, choice.stub);
  }
  if (broken.empty()) return;
  std::string text =
      brief(call) + "answered by " + stub.title() + ", which fails these should conditions\n" + condition_lines(broken);
  text.pop_back();
  served.problems.push_back({{Problem::Kind::invalid, std::move(text)}});
}

Reply default_reply_to(const ServedRequest& served) {
  const std::atomic<bool>& stopped = served.connection.stop_line()->stopped();
  return default_reply(*served.chat, served.fingerprint, &stopped);
}

struct DefaultReply {
  std::shared_ptr<const Reply> reply;  // null until needed, or if it cannot be made
  std::exception_ptr problem;          // the reason that it cannot be made, or null

  /// Makes the reply. Returns false if the request rules it out. Other problems are reported with the stub.
  bool make(const ServedRequest& served) {
    try {
      reply = share<const Reply>(default_reply_to(served));
    } catch (const RequestError&) {
      problem = std::current_exception();
      return false;
    } catch (const std::exception&) {
      problem = std::current_exception();
    }
    return true;
  }
};

/// Chooses the stub whose reply is owed to the request, or else a stub that applies to it, if any. Runs the test's
/// matchers, which may throw.
bool choose(ServedRequest& served, const ChatCall& call, DefaultReply& made, std::optional<Script::Choice>& choice) {
  Script::MatcherInProgress in_progress;
  if (served.answer.identity != 0) choice = served.gateway.script->choose_owed(served.answer.identity);
  served.repeats = choice.has_value();
  if (served.repeats && choice->reply->is_default()) made.make(served);
  const auto thrown = guarded_matchers(served.connection, "a matcher of a stub", [&] {
    if (!choice) choice = served.gateway.script->choose(call, in_progress, [&] { return made.make(served); });
  });
  if (thrown) {
    if (!in_progress.stub || !in_progress.matcher) return served.answer_failed(*thrown);
    return served.callback_failed("the matcher \"" + in_progress.matcher->to_string() + "\" of " +
                                  in_progress.stub->title() + " threw: " + *thrown);
  }
  if (choice) report_skipped(served, *choice, call);
  if (!choice || !choice->stub || !choice->reply) return false;
  served.answer.stub = choice->stub;
  served.answer.stub_call = choice->call;
  const auto thrown_by_validator =
      guarded_matchers(served.connection, "a matcher of a stub", [&] { validate(served, *choice, call); });
  return thrown_by_validator &&
         served.callback_failed("a should condition of " + choice->stub->title() + " threw: " + *thrown_by_validator);
}

void refuse_never_expected(ServedRequest& served, const std::shared_ptr<StubState>& stub) {
  std::string title = stub->title();
  redact(title, served.presented, *served.gateway.keys);
  served.fail(failure(422, "never_expected", text::as_utf8(title) + " must never be asked").should_retry(false),
              Decision::Kind::stub);
  served.answer.decision.detail = stub->to_string();
  served.answer.stub = stub;
}

/// Refuses an unmatched request. The client gets the diagnosis; verify() too, unless the test allows such requests.
void refuse_unmatched(ServedRequest& served, const Script::Choice& choice, const ChatCall& call) {
  const GatewayState& gateway = served.gateway;
  Diagnosis diagnosis = diagnose(call, choice, gateway.script->states());
  // The text of a matcher or a name may contain a key.
  const auto mask = [&](std::string& text) { redact(text, served.presented, *gateway.keys); };
  mask(diagnosis.text);
  mask(diagnosis.closest);
  for (NearMiss& miss : diagnosis.near_misses)
    for (std::string* const text : texts_of(miss)) mask(*text);
  std::string closest = text::excerpt("no_stub_matched; closest: " + diagnosis.closest, 500);
  for (char& byte : closest) {
    if (byte < ' ' || byte > '~') byte = '?';
  }
  // Test runners cut long messages, so the closest stub comes first.
  const std::size_t end = std::min(diagnosis.text.find('\n'), diagnosis.text.size());
  std::string message = "no stub matched\n" + diagnosis.text.substr(0, end);
  if (end < diagnosis.text.size()) message.insert(0, diagnosis.text.substr(end + 1) + '\n');
  served.fail(failure(422, "no_stub_matched", text::as_utf8(message))
                  .header("x-mock-gateway-diagnosis", std::move(closest))
                  .should_retry(false),
              Decision::Kind::unmatched);
  served.answer.decision.detail = diagnosis.text;
  served.near_misses = diagnosis.near_misses;
  if (gateway.settings.unmatched_are_allowed) return;
  RecordedProblem recorded{{Problem::Kind::unmatched, std::move(diagnosis.text)}, choice.stub};
  recorded.problem.near_misses = std::move(diagnosis.near_misses);
  served.problems.push_back(std::move(recorded));
}

bool take_asked(ServedRequest& served, const AskedChat& asked, Outlet::WaitState state, ReplyStep& step) {
  Answer& answer = served.answer;
  const std::shared_ptr<StubState>& stub = asked.stub;
  if (state == Outlet::WaitState::given_up) {
    // A client that closed only its sending side can still read this.
    served.fail(failure(500, "internal_error", "the client closed its side before the test had replied"),
                Decision::Kind::stub);
    answer.decision.detail = stub->to_string();
    return true;
  }
  if (asked.wait.reply()) {
    step = *asked.wait.reply();
    answer.delivery.start = served.timeline.now();
    return false;
  }
  served.connection.guard_expired();
  const std::string id = std::to_string(served.exchange);
  return served.never_replied("exchange " + id + " waited 10 s for the reply of " + stub->title() +
                              ", which the test supplies; send it with POST /control/v1/asked/" + id +
                              " of the program's control API (--control)");
}

/// Takes the default reply that the test chose for the stub. If it cannot be made, the stub refuses the request.
bool take_asked_default(ServedRequest& served, const StubState& stub) {
  try {
    served.answer.delivery.reply = share<const Reply>(default_reply_to(served));
    return false;
  } catch (const RequestError& error) {
    served.fail(error.failure, Decision::Kind::stub);
    served.answer.decision.detail = stub.to_string();
    return true;
  }
}

/// Fills the placeholders of a template. Throws GatewayError for an unknown placeholder.
void fill_places(ServedRequest& served, std::size_t call) {
  std::shared_ptr<const Reply>& reply = served.answer.delivery.reply;
  if (!reply || !Access::data(*reply).templated) return;
  Reply copy = *reply;
  const std::uint64_t seed = fingerprint("template " + std::to_string(call), served.fingerprint);
  const TemplateFacts facts{
      served.chat->last_user_text(), served.chat->body, served.request, call + 1, served.timeline.now(), seed};
  fill_template(Access::edit(copy), facts);
  reply = share<const Reply>(std::move(copy));
}

/// Takes the reply of a step. Runs the test's function that makes it, which may throw.
bool take_step(ServedRequest& served, const StubState& stub, ReplyStep step) {
  Answer& answer = served.answer;
  if (step.reply) {
    answer.delivery.reply = std::move(step.reply);
    return false;
  }
  if (step.is_default()) return take_asked_default(served, stub);
  const std::string function = "the reply function of " + stub.title();
  const auto thrown = guarded(served.connection, function, [&] {
    Reply reply = (*step.function)(*served.chat);
    static_cast<void>(Access::data(reply));  // throws if it was moved from
    answer.delivery.reply = share<const Reply>(std::move(reply));
  });
  return thrown && served.callback_failed(function + " threw: " + *thrown);
}

bool take_reply(ServedRequest& served, const Script::Choice& choice, const DefaultReply& made) {
  if (!choice.reply->is_default()) return take_step(served, *choice.stub, *choice.reply);
  if (made.problem) std::rethrow_exception(made.problem);
  served.answer.delivery.reply = made.reply;
  return false;
}

void ask(ServedRequest& served, const Script::Choice& choice, Hits hits) {
  served.exchange = served.gateway.journal->reserve_id();
  served.asked = share<AskedChat>(served, choice, std::move(hits));
  served.timeline.settle();
}

void take_default_reply(ServedRequest& served) {
  served.answer.decision.kind = Decision::Kind::default_reply;
  served.answer.delivery.reply = share<const Reply>(default_reply_to(served));
}

/// Answers with the chaos failure, the stub's reply or the default reply, with the chaos faults possible for it. Throws
/// RequestError for a schema or grammar that the default reply cannot satisfy.
void answer_from_script(ServedRequest& served, const ChatCall& call, const Hits& hits) {
  if (!hits.empty() && hits.back().plan().failure) {
    const ChaosPlan& plan = hits.back().plan();
    served.answer.decision = {Decision::Kind::chaos, chaos_effect(plan)};
    served.answer.delivery.reply = share<const Reply>(*plan.failure);
    return answer_with_reply(served, hits);
  }
  std::optional<Script::Choice> choice;
  DefaultReply made;
  if (choose(served, call, made, choice)) return;
  if (choice && choice->is_unanswerable) std::rethrow_exception(made.problem);
  const bool unmatched_get_default_reply = served.gateway.settings.unmatched_get_default_reply;
  if (!choice || (!choice->stub && unmatched_get_default_reply)) {
    take_default_reply(served);
    return answer_with_reply(served, hits);
  }
  if (choice->reply) {
    served.answer.decision = {Decision::Kind::stub, choice->stub->to_string()};
    served.answer.use = StubState::Use(choice->stub);
    if (choice->reply->asks) return ask(served, *choice, hits);
    if (take_reply(served, *choice, made)) return;
    fill_places(served, choice->call);
    return answer_with_reply(served, hits);
  }
  const bool must_not_be_asked = choice->stub && choice->stub->plan().replies.empty();
  if (must_not_be_asked) return refuse_never_expected(served, choice->stub);
  refuse_unmatched(served, *choice, call);
}

/// Runs `make`, which makes the answer. An exception becomes a 500, to which chaos applies as to a reply.
template <class Make>
void answer_struck(ServedRequest& served, const Hits& hits, const Make& make) {
  Answer& answer = served.answer;
  try {
    make();
  } catch (const std::exception& exception) {
    std::shared_ptr<StubState> stub = std::move(answer.stub);
    answer.restart();
    answer.stub = std::move(stub);  // it has counted the call
    served.answer_failed(exception.what());
  }
  // Chaos does not apply to rejections. It applies to these failures, as to the reply that each replaces.
  const bool failed =
      answer.decision == Decision::Kind::callback_failed || answer.decision == Decision::Kind::answer_failed;
  if (!failed || hits.empty()) return;
  answer.delivery.reply = share<const Reply>(Failure(answer.status, answer.error_code, ""));
  strike_delivery(served, hits);
}

}  // namespace chat_judge

std::uint64_t fingerprint_of(const GatewayState& gateway, const ChatRequest& chat) {
  return fingerprint(std::to_string(content_fingerprint(chat)), gateway.settings.seed ^ fingerprint(""));
}

void judge_chat(ServedRequest& served) {
  if (chat_judge::refuse(served)) return;
  const GatewayState& gateway = served.gateway;
  const ChatRequest& chat = *served.chat;
  served.fingerprint = fingerprint_of(gateway, chat);
  const ChatCall call(chat, served.request, &gateway.tokens);
  chat_judge::Hits hits;
  if (gateway.chaos->any() || gateway.script->owed().any())
    served.answer.identity = chat_judge::identity_of(served, chat);
  if (gateway.chaos->any() && chat_judge::strike(served, call, hits)) return;
  chat_judge::answer_struck(served, hits, [&] { chat_judge::answer_from_script(served, call, hits); });
}

void judge_asked(ServedRequest& served) {
  const Outlet::WaitState state = served.connection.check_wait(served.asked->wait, Outlet::OnClientClosed::leave);
  if (state == Outlet::WaitState::not_yet) return;
  const std::shared_ptr<AskedChat> asked = std::move(served.asked);
  chat_judge::answer_struck(served, asked->hits, [&] {
    ReplyStep step;
    if (chat_judge::take_asked(served, *asked, state, step)) return;
    if (chat_judge::take_step(served, *asked->stub, std::move(step))) return;
    chat_judge::fill_places(served, asked->call);
    answer_with_reply(served, asked->hits);
  });
}

}  // namespace mock_gateway::detail
