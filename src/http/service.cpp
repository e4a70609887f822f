#include "service.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iostream>

#include "../answer/default_reply.hpp"
#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/json_reader.hpp"
#include "../core/random.hpp"
#include "../core/text.hpp"
#include "../core/timeline.hpp"
#include "../delivery/delivery.hpp"
#include "../evidence/diagnosis.hpp"
#include "../evidence/judging.hpp"
#include "../evidence/record.hpp"
#include "../evidence/redaction.hpp"
#include "../evidence/review.hpp"
#include "../model/chat_parser.hpp"
#include "../model/reply_data.hpp"
#include "../model/request_error.hpp"
#include "../script/chaos_plan.hpp"
#include "../script/matcher_node.hpp"
#include "response.hpp"

namespace mock_gateway {
namespace detail {
namespace service {

std::int64_t unix_seconds(TimePoint time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

/// "1h0m0s", "6m0s", "8.64s", "6ms": how OpenAI writes the time until a limit resets. Rounded up, to milliseconds below
/// a minute and to seconds from there on: a client that waits so long must not be a moment too early.
std::string reset_time(Duration left) {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  if (milliseconds < 1000) return std::to_string(milliseconds) + "ms";
  if (milliseconds < 60'000) {
    std::string time = std::to_string(milliseconds / 1000);
    if (const auto rest = milliseconds % 1000; rest != 0) {
      std::string fraction = std::to_string(1000 + rest).substr(1);
      fraction.erase(fraction.find_last_not_of('0') + 1);
      time += "." + fraction;
    }
    return time + "s";
  }
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(left).count();
  const std::string hours = seconds >= 3600 ? std::to_string(seconds / 3600) + "h" : "";
  return hours + std::to_string(seconds / 60 % 60) + "m" + std::to_string(seconds % 60) + "s";
}

/// The tester's code that a connection's thread is in, for the time that it is.
class Busy {
 public:
  Busy(Connection& connection, std::string what) : connection_(connection) {
    connection_.set_busy_with(std::move(what));
  }
  ~Busy() { connection_.set_busy_with({}); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  Connection& connection_;
};

/// Runs the tester's code; what it throws is returned as text.
template <class Code>
std::optional<std::string> guarded(const Code& code) {
  try {
    code();
    return std::nullopt;
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// The finish reasons that no whole answer has, "length, content_filter"; empty when there is none.
std::string unusual_finish(const std::vector<CompletionChoice>& choices) {
  std::vector<std::string> reasons;
  for (const CompletionChoice& choice : choices) {
    const std::string& reason = choice.finish_reason;
    if (reason == "stop" || reason == "tool_calls") continue;
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(reason);
  }
  std::string list;
  for (const std::string& reason : reasons) list += (list.empty() ? "" : ", ") + text::printable(reason, 40);
  return list;
}

/// What a function of the tester's threw, among code of the gateway's that may throw by itself.
struct FunctionThrew {
  std::string what;
};

/// The same tokenizer; what it throws is a FunctionThrew.
Tokenizer telling(Tokenizer tokenizer) {
  if (!tokenizer) return tokenizer;
  return [tokenizer = std::move(tokenizer)](std::string_view text) {
    std::vector<std::string> tokens;
    if (const auto thrown = guarded([&] { tokens = tokenizer(text); })) throw FunctionThrew{*thrown};
    return tokens;
  };
}

/// What a client sent, as a message shows it: with U+FFFD for bytes that are not UTF-8, which no JSON could carry.
std::string shown(std::string_view sent) {
  std::string result;
  for (;;) {
    const std::size_t valid = text::valid_utf8_prefix(sent);
    result.append(sent.substr(0, valid));
    if (valid == sent.size()) return result;
    text::append_utf8(result, 0xfffd);
    sent.remove_prefix(valid + 1);
  }
}

bool is_json_content_type(const Acceptance& acceptance, const ReceivedRequest& request) {
  const std::optional<std::string> sent = request.headers.find("Content-Type");
  if (!sent || sent->empty() || acceptance.anything_with_model_and_messages()) return true;
  const std::size_t semicolon = sent->find(';');
  const std::string_view type = text::trim(std::string_view(*sent).substr(0, semicolon));
  if (text::equals_ignoring_case(type, "application/json"))
    return semicolon == std::string::npos || acceptance.content_type_parameters();
  return acceptance.json_as_form() && text::equals_ignoring_case(type, "application/x-www-form-urlencoded") &&
         !read_json_if_valid(request.body).is_discarded();
}

}  // namespace service

struct Service::Asked {
  Connection& connection;
  const ReceivedRequest& request;
  const std::optional<Failure>& body_too_large;
  const KeyStore::Presented& presented;
  Timeline& timeline;
  Route route{};
  std::optional<ChatRequest> chat{};
  std::uint64_t fingerprint = 0;
  bool under_chaos = false;
  std::vector<Problem> problems{};
};

Service::Service(ServiceSettings settings, Clock clock, std::shared_ptr<KeyStore> keys, std::shared_ptr<Script> script,
                 std::shared_ptr<JournalState> journal, std::shared_ptr<ConnectionFaults> connection_faults,
                 std::shared_ptr<ChaosRules> chaos)
    : settings_(std::move(settings)),
      clock_(std::move(clock)),
      keys_(std::move(keys)),
      script_(std::move(script)),
      journal_(std::move(journal)),
      connection_faults_(std::move(connection_faults)),
      chaos_(std::move(chaos)),
      operations_(settings_.acceptance.model_by_id()),
      tokens_(service::telling(settings_.tokenizer)),
      started_(service::unix_seconds(clock_.now())) {}

void Service::reset() {
  script_->reset();
  failures_.clear();
  connection_faults_->clear();
  chaos_->reset();
  journal_->clear();
  journal_->forget_problems();
  occurrences_.reset();
}

void Service::serve(Connection& connection, IncomingRequest incoming, std::size_t position) noexcept {
  std::shared_ptr<ExchangeRecord> published;
  try {
    answer_and_record(connection, incoming, position, published);
  } catch (const std::exception& exception) {
    // Out of memory, say. Nothing thrown may reach cpp-httplib, which would abort the process.
    std::cerr << "mock_gateway: an exchange was given up: " << exception.what() << '\n';
    connection.end_exchange();
    connection.end(Outlet::Ending::close);
    if (published)
      journal_->end(*published, Outcome::Kind::stopped, clock_.now());
    else
      journal_->dropped();
  }
}

void Service::note_hit(Connection& connection, const ConnectionFault& fault) {
  const ConnectionHit hit{connection.id(), fault};
  journal_->hit(hit);
  if (!settings_.on_connection_hit) return;
  const service::Busy busy(connection, "the function given to Options::on_connection_hit");
  if (const auto thrown = service::guarded([&] { settings_.on_connection_hit(hit); }))
    std::cerr << "mock_gateway: the function given to Options::on_connection_hit threw: " << text::printable(*thrown)
              << '\n';
}

void Service::answer_and_record(Connection& connection, IncomingRequest& incoming, std::size_t position,
                                std::shared_ptr<ExchangeRecord>& published) {
  const std::uint64_t epoch = journal_->epoch();
  if (!incoming.timeline) incoming.timeline = std::make_unique<Timeline>(Access::state(clock_), connection.waker());
  Timeline& timeline = *incoming.timeline;
  const KeyStore::Presented presented =
      keys_->present(incoming.request.headers, settings_.acceptance.bearer_in_any_case());

  const auto record = std::make_shared<ExchangeRecord>();
  record->connection_id = connection.id();
  record->position = position;
  record->request = std::move(incoming.request);
  record->request.key_id = presented.key.id;
  record->request.key_description = presented.key.description;
  record->raw_head = std::move(incoming.raw_head);
  record->raw_body = std::move(incoming.raw_body);
  record->received = timeline.at(incoming.arrived);
  record->acceptance = settings_.acceptance;
  record->limits = settings_.chat_limits;
  record->root_url = settings_.root_url;
  record->leaks = redact(record->request, record->raw_head, record->raw_body, presented, *keys_);
  record->epoch = epoch;
  record->changes =
      keys_->changes() + script_->changes() + failures_.changes() + connection_faults_->changes() + chaos_->changes();
  record->connection_fault = incoming.fault;
  record->behind_stream = connection.overtaken_stream();

  Asked asked{connection, record->request, incoming.body_too_large, presented, timeline};
  Answer answer = incoming.turned_away ? fail(asked, *incoming.turned_away, Decision::Kind::rejected)
                  : incoming.malformed ? fail(asked, *incoming.malformed, Decision::Kind::malformed)
                  : incoming.is_answered_before_body()
                      ? fail(asked, *incoming.fault->failure(), Decision::Kind::forced_failure)
                      : decide(asked);
  if (asked.chat) {
    record->chat = true;
    record->findings = std::move(asked.chat->findings);
  }
  record->decision = answer.decision;
  redact(record->decision.detail, presented, *keys_);
  record->problems = std::move(asked.problems);
  for (Problem& problem : record->problems) redact(problem.text, presented, *keys_);
  record->under_chaos = asked.under_chaos;
  for (const ChaosRules::Hit& hit : answer.chaos) {
    record->chaos.push_back({hit.text, hit.fault.has_value(), false});
    redact(record->chaos.back().text, presented, *keys_);
  }
  record->stub = answer.stub;
  record->status = answer.status;
  record->refusal = std::move(answer.refusal);
  redact(record->refusal, presented, *keys_);
  add_profile_headers(asked, answer);
  note_answer(*record, answer.error_code, answer.headers);

  journal_->add(record);
  published = record;
  // An interim response is no part of the answer. When it cannot be written, neither can the answer.
  if (incoming.fault && !incoming.fault->bytes().empty()) connection.write(incoming.fault->bytes());
  if (!answer.interim.empty()) connection.write(answer.interim);
  if (incoming.is_answered_before_body()) connection.linger();
  connection.begin_exchange(*record, timeline, answer.stream);
  const Outcome::Kind outcome = deliver(connection, incoming, asked, answer, *record);
  connection.end_exchange();
  answer.use = StubState::Use();  // before the client can see the end, and try again
  connection.send_ending();
  journal_->end(*record, outcome, timeline.now());
  if (settings_.on_exchange) {
    const service::Busy busy(connection, "the function given to Options::on_exchange");
    if (const auto thrown = service::guarded([&] { settings_.on_exchange(Exchange(record)); }))
      std::cerr << "mock_gateway: the function given to Options::on_exchange threw: " << text::printable(*thrown)
                << '\n';
  }
}

Service::Answer Service::decide(Asked& asked) {
  asked.route = operations_.find(asked.request.method, asked.request.path());
  const Route& route = asked.route;
  const auto forced = [&](const Failure& failure) { return fail(asked, failure, Decision::Kind::forced_failure); };
  const auto rejected = [&](const Failure& failure) { return fail(asked, failure, Decision::Kind::rejected); };

  // The order is that of the documented checks: the first hit answers.
  if (const auto failure = failures_.take_for_operation(route.operation)) return forced(*failure);
  const KeyStore::Verdict verdict = asked.presented.verdict;
  const ApiKey& key = asked.presented.key;
  if (verdict == KeyStore::Verdict::disabled) return rejected(forbidden());
  if (verdict != KeyStore::Verdict::enabled) return rejected(unauthorized());
  const bool exists = route.kind != Route::Kind::unknown && route.kind != Route::Kind::wrong_method;
  if (exists && !key.operations.empty() &&
      std::find(key.operations.begin(), key.operations.end(), route.operation) == key.operations.end())
    return rejected(forbidden());
  if (const auto failure = failures_.take_for_key(key.id)) return forced(*failure);
  if (const auto left = keys_->take(key.id, asked.timeline.now())) {
    // Rounded up: a client that comes back after whole seconds must not be a moment too early.
    const Failure refusal = rate_limited(std::chrono::ceil<std::chrono::seconds>(*left));
    return rejected(settings_.profile == Profile::openai ? refusal.retry_after_ms(*left) : refusal);
  }
  switch (route.kind) {
    case Route::Kind::unknown:
      return rejected(failure(404, "unknown_path", "no operation at " + service::shown(asked.request.path())));
    case Route::Kind::wrong_method:
      return rejected(failure(405, "method_not_allowed",
                              asked.request.method + " is not allowed at " + service::shown(asked.request.path()) +
                                  "; allowed: " + route.allow)
                          .header("Allow", route.allow));
    case Route::Kind::chat:
    case Route::Kind::models:
    case Route::Kind::model:
    case Route::Kind::mounted: break;
  }
  if (asked.body_too_large) return rejected(*asked.body_too_large);
  try {
    if (route.kind == Route::Kind::chat) return answer_chat(asked);
    if (route.kind == Route::Kind::models) return answer_models(asked);
    if (route.kind == Route::Kind::model) return answer_model(asked);
    return answer_mounted(asked);
  } catch (const RequestError& error) {
    return rejected(error.failure);
  } catch (const std::exception& exception) {
    return answer_failed(asked, exception.what());
  }
}

const Model* Service::find_model(const std::string& id) const {
  for (const Model& model : settings_.models)
    if (model.id == id) return &model;
  return nullptr;
}

Service::Answer Service::answer_models(const Asked& asked) const {
  const std::vector<std::string>& usable = asked.presented.key.models;
  std::vector<Model> models;
  for (const Model& model : settings_.models)
    if (usable.empty() || std::find(usable.begin(), usable.end(), model.id) != usable.end()) models.push_back(model);
  Answer answer;
  answer.decision.kind = Decision::Kind::models;
  answer.body = models_body(models, started_);
  return answer;
}

namespace service {

Failure unknown_model(const std::string& id) {
  return failure(404, "model_not_found", "the model \"" + shown(id) + "\" does not exist").param("model");
}

bool may_use(const ApiKey& key, const std::string& model) {
  return key.models.empty() || std::find(key.models.begin(), key.models.end(), model) != key.models.end();
}

}  // namespace service

Service::Answer Service::answer_model(Asked& asked) const {
  const std::string id = text::percent_decode(asked.route.model).value_or(asked.route.model);
  if (!service::may_use(asked.presented.key, id)) throw RequestError{forbidden()};
  const Model* const model = find_model(id);
  if (!model) throw RequestError{service::unknown_model(id)};
  Answer answer;
  answer.decision = {Decision::Kind::models, id};
  answer.body = model_body(*model, started_);
  return answer;
}

Service::Answer Service::answer_chat(Asked& asked) {
  if (!service::is_json_content_type(settings_.acceptance, asked.request))
    throw RequestError{failure(
        415, "unsupported_content_type",
        "Content-Type: expected application/json, got \"" +
            text::excerpt(service::shown(asked.request.headers.find("Content-Type").value_or("")), 100) + "\"")};
  asked.chat = parse_chat_request(asked.request.body, settings_.acceptance, settings_.chat_limits);
  const ChatRequest& chat = *asked.chat;
  if (!service::may_use(asked.presented.key, chat.model)) throw RequestError{forbidden()};
  if (!find_model(chat.model)) throw RequestError{service::unknown_model(chat.model)};
  if (const auto failure = failures_.take_for_model(chat.model))
    return fail(asked, *failure, Decision::Kind::forced_failure);

  asked.fingerprint = fingerprint(std::to_string(content_fingerprint(chat)), settings_.seed ^ fingerprint(""));
  const ChatCall call(chat, asked.request);
  std::vector<ChaosRules::Hit> hits;
  if (chaos_->any()) {
    Answer failed;
    auto struck = strike(asked, call, failed);
    if (!struck) return failed;
    hits = std::move(*struck);
  }
  Answer answer;
  try {
    answer = answer_from_script(asked, call, hits);
  } catch (const std::exception& exception) {
    answer = answer_failed(asked, exception.what());
  }
  // What is refused is not struck. What failed is: the client would have met chaos before the reply.
  const bool failed =
      answer.decision == Decision::Kind::callback_failed || answer.decision == Decision::Kind::answer_failed;
  if (failed && !hits.empty()) {
    answer.reply = std::make_shared<const Reply>(Failure(answer.status, answer.error_code, ""));
    apply_chaos(hits, answer);
    answer.pace = schedule(asked, Access::data(*answer.reply).pace);
  }
  return answer;
}

Service::Answer Service::answer_from_script(Asked& asked, const ChatCall& call,
                                            const std::vector<ChaosRules::Hit>& hits) {
  const ChatRequest& chat = call.chat();
  Answer answer;
  const Failure* const chaos_failure =
      !hits.empty() && hits.back().plan().failure ? &*hits.back().plan().failure : nullptr;
  std::optional<Script::Choice> choice;
  if (!chaos_failure) {
    const service::Busy busy(asked.connection, "a matcher of a stub");
    Script::Asking asking;
    if (const auto thrown = service::guarded([&] { choice = script_->choose(call, asking); })) {
      if (!asking.stub || !asking.matcher) return answer_failed(asked, *thrown);
      return callback_failed(asked, "the matcher \"" + asking.matcher->describe() + "\" of " + asking.stub->title() +
                                        " threw: " + *thrown);
    }
    if (choice && choice->stub && choice->reply) {
      if (const auto thrown = service::guarded([&] { validate(asked, *choice, call); })) {
        Answer failed =
            callback_failed(asked, "what " + choice->stub->title() + " says it should be threw: " + *thrown);
        failed.stub = choice->stub;
        return failed;
      }
    }
  }
  if (choice && !choice->stub && settings_.unmatched_get_default_reply) choice.reset();
  if (choice && !choice->reply) return refuse(asked, *choice, call);
  if (chaos_failure) {
    answer.decision = {Decision::Kind::chaos, chaos_deed(hits.back().plan())};
    answer.reply = std::make_shared<const Reply>(*chaos_failure);
  } else if (!choice) {
    answer.decision.kind = Decision::Kind::default_reply;
    answer.reply =
        std::make_shared<const Reply>(default_reply(chat, asked.fingerprint, &asked.connection.stop_line()->stopped()));
  } else {
    const StubState& stub = *choice->stub;
    answer.decision = {Decision::Kind::stub, stub.describe()};
    answer.stub = choice->stub;
    answer.use = StubState::Use(choice->stub);
    if (choice->reply->reply) {
      answer.reply = choice->reply->reply;
    } else {
      const service::Busy busy(asked.connection, "the reply function of " + stub.title());
      const auto thrown =
          service::guarded([&] { answer.reply = std::make_shared<const Reply>((*choice->reply->function)(chat)); });
      if (thrown) {
        Answer failed = callback_failed(asked, "the reply function of " + stub.title() + " threw: " + *thrown);
        failed.stub = choice->stub;
        failed.use = std::move(answer.use);
        return failed;
      }
    }
  }

  apply_chaos(hits, answer);
  const ReplyData& reply = Access::data(*answer.reply);
  answer.interim += reply.early_hints;
  if (reply.failure) {
    Answer failed = fail(asked, *reply.failure, answer.decision.kind);
    failed.decision = answer.decision;
    failed.stub = answer.stub;
    failed.use = std::move(answer.use);
    failed.reply = answer.reply;
    failed.chaos = std::move(answer.chaos);
    failed.scripted_faults = answer.scripted_faults;
    failed.interim = std::move(answer.interim);
    failed.pace = schedule(asked, reply.pace);
    return failed;
  }
  answer.headers = reply.headers;
  if (reply.raw) {
    answer.status = reply.raw->status;
    answer.content_type = reply.raw->content_type;
    answer.body = reply.raw->body;
    answer.pace = schedule(asked, reply.pace);
    return answer;
  }
  std::optional<Pace> merged;
  if (settings_.pace.sets_anything()) merged = reply.pace.or_else(settings_.pace);
  const Pace& pace = merged ? *merged : reply.pace;
  answer.pace = schedule(asked, pace);
  if (reply.chunks) {
    answer.stream = true;
    answer.content_type = reply.sse.content_type;
    return answer;
  }
  AnswerContext context;
  context.profile = settings_.profile;
  const std::uint64_t occurrence = occurrences_.next(asked.fingerprint);
  context.id = "chatcmpl-" + Random(fingerprint(std::to_string(occurrence), asked.fingerprint)).alphanumeric(24);
  context.created = service::unix_seconds(asked.timeline.now());
  context.seed = asked.fingerprint;
  std::optional<service::Busy> busy;
  if (settings_.tokenizer) busy.emplace(asked.connection, "the function given to Options::tokenizer");
  const auto failed_by = [&](Answer failed) {
    failed.stub = answer.stub;
    failed.use = std::move(answer.use);
    return failed;
  };
  const std::string where = answer.stub ? "\n  reply of " + answer.stub->title() : "";
  try {
    answer.completion.emplace(reply, chat, context, tokens_, pace.chunking() ? &*pace.chunking() : nullptr);
    answer.unusual_finish = service::unusual_finish(answer.completion->choices());
    answer.stream = chat.stream;
    if (answer.stream) {
      answer.content_type = reply.sse.content_type;
    } else {
      answer.body = answer.completion->body();
      answer.token_count = answer.completion->delta_count();
      if (pace.rate() && pace.chunking()) {  // otherwise all deltas are alike
        CompletionEvents deltas(*answer.completion);
        answer.pace.foresee(deltas);
      }
      answer.completion.reset();  // the text is not held twice while its client reads
    }
  } catch (const service::FunctionThrew& threw) {
    return failed_by(callback_failed(asked, "the function given to Options::tokenizer threw: " + threw.what + where));
  } catch (const std::exception& exception) {
    return failed_by(answer_failed(asked, exception.what() + where));
  }
  return answer;
}

std::optional<std::vector<ChaosRules::Hit>> Service::strike(Asked& asked, const ChatCall& call, Answer& failed) const {
  asked.under_chaos = true;
  // Unlike what is generated, the turn of a streamed request does not depend on when the same came plain, nor on when
  // another key asked the same.
  std::uint64_t request = fingerprint(call.chat().stream ? "stream" : "plain", asked.fingerprint);
  if (const auto options = call.chat().body.find("stream_options"); options != call.chat().body.end())
    request = fingerprint(options->dump(), request);
  const std::string& key = asked.request.key_description;
  request = fingerprint(key.empty() ? asked.request.key_id : key, request);

  const service::Busy busy(asked.connection, "a matcher of a rule of chaos");
  ChaosRules::Asking asking;
  std::vector<ChaosRules::Hit> hits;
  const auto thrown = service::guarded([&] { hits = chaos_->decide(call, request, asking); });
  if (!thrown) return hits;
  failed = !asking.rule || !asking.matcher
               ? answer_failed(asked, *thrown)
               : callback_failed(asked, "the matcher \"" + asking.matcher->describe() + "\" of rule " +
                                            std::to_string(asking.rule->number) + " of chaos threw: " + *thrown);
  return std::nullopt;
}

void Service::apply_chaos(const std::vector<ChaosRules::Hit>& hits, Answer& answer) {
  if (hits.empty()) return;
  Reply reply = *answer.reply;
  answer.scripted_faults = Access::data(reply).faults.size();
  for (const ChaosRules::Hit& hit : hits) {
    try {
      if (hit.fault) reply = reply.fail(hit.fault->trigger, hit.fault->effect);
      if (hit.plan().pace) reply = reply.pace(*hit.plan().pace);
    } catch (const GatewayError&) {
      continue;  // what can never happen in a reply such as this one
    }
    if (hit.plan().interim) answer.interim += hit.plan().interim->bytes();
    answer.chaos.push_back(hit);
  }
  answer.reply = std::make_shared<const Reply>(std::move(reply));
}

PaceSchedule Service::schedule(const Asked& asked, const Pace& pace) {
  if (!pace.first_token() && !pace.gap() && !pace.rate()) return {};
  if (!PaceSchedule::varies(pace)) return {pace, 0, 1};
  const std::uint64_t seed = fingerprint("pace", asked.fingerprint);
  return {pace, seed, occurrences_.next(seed)};
}

void Service::validate(Asked& asked, Script::Choice& choice, const ChatCall& call) const {
  const StubState& stub = *choice.stub;
  std::vector<ExplainedCondition> broken;
  for (const Matcher& matcher : stub.plan().validators) {
    if (!detail::decide(matcher, call, choice.trail)) explain(matcher, call, choice.trail, 0, broken);
  }
  if (broken.empty()) return;
  Problem problem;
  problem.kind = Problem::Kind::invalid;
  problem.text = brief(call) + "answered by " + stub.title() + ", which says it should be\n" + condition_lines(broken);
  problem.text.pop_back();
  asked.problems.push_back(std::move(problem));
}

Service::Answer Service::refuse(Asked& asked, const Script::Choice& choice, const ChatCall& call) const {
  const bool must_not_be_asked = choice.stub && choice.stub->plan().replies.empty();
  if (must_not_be_asked) {
    std::string title = choice.stub->title();
    redact(title, asked.presented, *keys_);
    Answer answer =
        fail(asked, failure(422, "never_expected", service::shown(title) + " must never be asked").should_retry(false),
             Decision::Kind::stub);
    answer.decision.detail = choice.stub->describe();
    answer.stub = choice.stub;
    return answer;
  }
  Diagnosis diagnosis = diagnose(call, choice, script_->states());
  // What a stub's author wrote may hold a key, which then stands in a matcher or a name.
  redact(diagnosis.text, asked.presented, *keys_);
  redact(diagnosis.closest, asked.presented, *keys_);
  std::string closest = text::excerpt("no_stub_matched; closest: " + diagnosis.closest, 500);
  for (char& byte : closest) {
    if (byte < ' ' || byte > '~') byte = '?';
  }
  Answer answer = fail(asked,
                       failure(422, "no_stub_matched", "no stub matched\n" + service::shown(diagnosis.text))
                           .header("x-mock-gateway-diagnosis", std::move(closest))
                           .should_retry(false),
                       Decision::Kind::unmatched);
  answer.decision.detail = diagnosis.text;
  if (!settings_.unmatched_are_allowed) {
    Problem problem;
    problem.kind = Problem::Kind::unmatched;
    problem.text = std::move(diagnosis.text);
    problem.stub = choice.stub;
    asked.problems.push_back(std::move(problem));
  }
  return answer;
}

Service::Answer Service::answer_mounted(Asked& asked) const {
  const service::Busy busy(asked.connection, "the handler of " + asked.route.operation.to_string());
  std::optional<HttpReply> reply;
  if (const auto thrown = service::guarded([&] { reply.emplace((*asked.route.handler)(asked.request)); }))
    return callback_failed(asked, "the handler of " + asked.route.operation.to_string() + " threw: " + *thrown);
  const Decision decision{Decision::Kind::handler, asked.route.operation.to_string()};
  Answer answer;
  if (reply->failure()) {
    answer = fail(asked, *reply->failure(), Decision::Kind::handler);
  } else {
    answer.status = reply->status();
    answer.body = reply->body();
    answer.content_type = reply->content_type();
    answer.headers = reply->headers();
  }
  answer.decision = decision;
  return answer;
}

Service::Answer Service::fail(const Asked& asked, const Failure& failure, Decision::Kind kind) const {
  Answer answer;
  answer.decision = {kind, std::to_string(failure.status()) + " " + failure.code()};
  answer.status = failure.status();
  answer.error_code = failure.code();
  if (kind == Decision::Kind::rejected || kind == Decision::Kind::malformed) answer.refusal = failure.message();
  answer.content_type = failure.raw_body() ? failure.content_type() : "application/json";
  answer.headers = failure.headers(asked.timeline.now());
  answer.body = error_body(failure, settings_.profile);
  return answer;
}

Service::Answer Service::callback_failed(Asked& asked, const std::string& what) const {
  return internal_error(asked, Decision::Kind::callback_failed, Problem::Kind::callback_failed,
                        "a function of the test threw an exception; the gateway's journal has its text", what);
}

Service::Answer Service::answer_failed(Asked& asked, const std::string& reason) const {
  return internal_error(asked, Decision::Kind::answer_failed, Problem::Kind::answer_failed,
                        "the gateway could not make an answer; its journal has the reason", reason);
}

Service::Answer Service::internal_error(Asked& asked, Decision::Kind decision, Problem::Kind kind, const char* message,
                                        const std::string& reason) const {
  Answer answer = fail(asked, failure(500, "internal_error", message), decision);
  answer.decision.detail = reason;
  Problem problem;
  problem.kind = kind;
  if (asked.chat) problem.text = brief(ChatCall(*asked.chat, asked.request));
  problem.text += "  " + reason;
  asked.problems.push_back(std::move(problem));
  return answer;
}

void Service::add_profile_headers(const Asked& asked, Answer& answer) {
  if (settings_.profile != Profile::openai) return;
  const auto add = [&](const char* name, const std::string& value) {
    if (!answer.headers.has(name)) answer.headers.add(name, value);
  };
  const std::uint64_t request = fingerprint(asked.request.body, fingerprint(asked.request.target, settings_.seed));
  add("x-request-id", "req_" + Random(request ^ occurrences_.next(request)).alphanumeric(32));
  add("openai-processing-ms", "1");
  if (asked.presented.key.id.empty()) return;
  if (const auto quota = keys_->quota(asked.presented.key.id, asked.timeline.now())) {
    add("x-ratelimit-limit-requests", std::to_string(quota->limit));
    add("x-ratelimit-remaining-requests", std::to_string(quota->remaining));
    add("x-ratelimit-reset-requests", service::reset_time(quota->reset));
  }
}

void Service::report_delivery(ExchangeRecord& record, Answer& answer, const Delivery& delivery, Delivery::Result result,
                              bool is_guard_spent) {
  std::size_t of_chaos = answer.scripted_faults;
  for (std::size_t i = 0; i < answer.chaos.size(); ++i)
    if (answer.chaos[i].fault && !delivery.reached(of_chaos++)) record.mark_chaos_missed(i);
  if (answer.reply && !Access::data(*answer.reply).swept) {
    const ReplyData& plan = Access::data(*answer.reply);
    std::vector<ExchangeRecord::ScriptedFault> faults;
    const std::size_t count = answer.chaos.empty() ? plan.faults.size() : answer.scripted_faults;
    bool finish_was_sent = result == Delivery::Result::completed;
    for (std::size_t i = 0; i < count; ++i) {
      faults.push_back({plan.faults[i], delivery.reached(i)});
      // It may have been the event that was skipped.
      if (delivery.reached(i) && plan.faults[i].effect.kind() == Effect::Kind::skip_event) finish_was_sent = false;
    }
    record.mark_delivered(std::move(faults), finish_was_sent ? std::move(answer.unusual_finish) : std::string());
  }
  if (result == Delivery::Result::completed && answer.reply && !Access::data(*answer.reply).swept) {
    const ReplyData& plan = Access::data(*answer.reply);
    const auto report = [&](Problem::Kind kind, const std::string& what) {
      Problem problem;
      problem.kind = kind;
      problem.text = brief(record) + "  " + what + ": the reply ended after " + std::to_string(record.progress.tokens) +
                     " tokens and " + std::to_string(record.progress.events) + " events";
      if (kind == Problem::Kind::place_not_reached) problem.text += ", " + std::to_string(record.bytes) + " bytes";
      if (record.stub) problem.text += "\n  reply of " + record.stub->title();
      journal_->report(record, std::move(problem));
    };
    const std::size_t scripted = answer.chaos.empty() ? plan.faults.size() : answer.scripted_faults;
    for (std::size_t i = 0; i < scripted; ++i)
      if (!delivery.reached(i))
        report(Problem::Kind::fault_not_reached,
               plan.faults[i].effect.to_string() + " " + plan.faults[i].trigger.to_string());
    for (std::size_t i = 0; i < plan.holds.size(); ++i)
      if (!delivery.came_to(i)) report(Problem::Kind::place_not_reached, "hold " + plan.holds[i].place.to_string());
    for (const ExtraChunk& extra : plan.extra_chunks) {
      if (extra.number > answer.chunk_count)
        report(Problem::Kind::place_not_reached, "extra fields of chunk " + std::to_string(extra.number));
    }
    if (plan.writes.kind == Writes::Kind::split && !delivery.is_split())
      report(Problem::Kind::place_not_reached, "split write after " + std::to_string(plan.writes.size) + " bytes");
  }
  const auto report_guard = [&](const std::string& what) {
    Problem problem;
    problem.kind = Problem::Kind::guard_expired;
    problem.text = brief(record) + "  " + what;
    if (record.stub) problem.text += "\n  reply of " + record.stub->title();
    journal_->report(record, std::move(problem));
  };
  if (is_guard_spent) report_guard("a gate was not opened, or a manual clock not advanced, in time");
  if (result == Delivery::Result::guard_expired)
    report_guard("exchange " + std::to_string(record.id) + " " + delivery.waited_in_vain());
}

Outcome::Kind Service::deliver(Connection& connection, const IncomingRequest& incoming, Asked& asked, Answer& answer,
                               ExchangeRecord& record) {
  const bool bodiless = answer.status == 204 || answer.status == 304;
  const BodyFraming framing = bodiless            ? BodyFraming::none
                              : !answer.stream    ? BodyFraming::content_length
                              : incoming.http_1_1 ? BodyFraming::chunked
                                                  : BodyFraming::until_close;
  const bool keep_alive =
      incoming.keep_alive && framing != BodyFraming::until_close && !answer.headers.lists("Connection", "close");
  if (!keep_alive) connection.end(Outlet::Ending::close);
  if (incoming.malformed || incoming.body_too_large) connection.linger();
  if (!answer.headers.has("Date")) answer.headers.add("Date", http_date(asked.timeline.now()));
  if (!answer.headers.has("Connection")) {
    if (!keep_alive) answer.headers.add("Connection", "close");
    if (keep_alive && !incoming.http_1_1) answer.headers.add("Connection", "keep-alive");
  }
  const ReplyData plain;
  const ReplyData& plan = answer.reply ? Access::data(*answer.reply) : plain;
  if (answer.stream && plan.sse.gzip && !answer.headers.has("Content-Encoding"))
    answer.headers.add("Content-Encoding", "gzip");
  Delivery delivery(plan, std::move(answer.pace), connection, asked.timeline, record.received, record.progress);
  delivery.profile(settings_.profile);
  delivery.stall_guard(settings_.stall_guard);
  std::size_t length = answer.body.size();
  if (framing == BodyFraming::content_length && !answer.headers.has("Content-Length"))
    length = delivery.announced_length(length);
  const std::string head =
      response_head(answer.status, bodiless ? "" : answer.content_type, framing, length, answer.headers);
  delivery.before_last_bytes([&answer] { answer.use = StubState::Use(); });
  Delivery::Result result;
  if (answer.completion) {
    CompletionEvents events(*answer.completion);
    result = delivery.stream(head, events, framing == BodyFraming::chunked);
    answer.chunk_count = events.count();
  } else if (answer.stream) {
    ChunkEvents events(*Access::data(*answer.reply).chunks);
    result = delivery.stream(head, events, framing == BodyFraming::chunked);
  } else {
    const bool no_body = bodiless || asked.request.method == "HEAD";
    result = delivery.whole(head, no_body ? std::string_view{} : std::string_view(answer.body), answer.token_count);
  }
  report_delivery(record, answer, delivery, result, asked.timeline.is_guard_spent());
  switch (result) {
    case Delivery::Result::completed: return Outcome::Kind::completed;
    case Delivery::Result::failed_by_script: return Outcome::Kind::failed_by_script;
    case Delivery::Result::guard_expired: return Outcome::Kind::guard_expired;
    case Delivery::Result::broken_off: break;
  }
  connection.end(Outlet::Ending::close);
  return connection.failure();
}

}  // namespace detail
}  // namespace mock_gateway
