// What a bundle holds, which exchanges have none, and why; how faults, times and refusals are written in it.

#include "bundle.hpp"

#include <algorithm>  // all_of, any_of, find_if
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "../messages.hpp"
#include "../recorded_reply.hpp"
#include "../recorded_request.hpp"
#include "../script_layout.hpp"
#include "core/text.hpp"
#include "model/acceptance.hpp"
#include "model/profile_traits.hpp"
#include "model/request_error.hpp"
#include "request/chat_parser.hpp"
#include "serve/gateway_state.hpp"
#include "serve/request_checks.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

using importing::duration_text;
using importing::least_gap;

ControlError no_bundle(const detail::ExchangeRecord& record, const std::string& why) {
  return {404, "no_bundle", "exchange " + std::to_string(record.id) + " has no bundle: " + why};
}

// What the gateway is like.

/// The switches that are not as in `base`.
Json differences(const Acceptance& acceptance, const Acceptance& base) {
  using detail::StrictAcceptance;
  Json object = Json::object();
  for (const detail::ExtensionRow& row : detail::extensions)
    if (acceptance.has(row.extension) != base.has(row.extension)) object[row.name] = acceptance.has(row.extension);
  // Off is not the same as off but for what is documented.
  if (!acceptance.has(Extension::unknown_fields) &&
      StrictAcceptance::takes_documented_fields(acceptance) != StrictAcceptance::takes_documented_fields(base))
    object["unknown_fields"] = false;
  if (!acceptance.has(Extension::null_as_absent) &&
      StrictAcceptance::takes_documented_nulls(acceptance) != StrictAcceptance::takes_documented_nulls(base))
    object["null_as_absent"] = false;
  return object;
}

/// Nothing where the profile decides the same.
Json acceptance_of(const Acceptance& acceptance, Profile profile) {
  const detail::ProfileTraits& traits = detail::traits_of(profile);
  if (differences(acceptance, traits.acceptance()).empty()) return {};
  for (const detail::NamedAcceptance& one : detail::acceptances)
    if (differences(acceptance, detail::StrictAcceptance::under(one.make(), traits.documented())).empty())
      return one.name;
  const Acceptance strict = detail::StrictAcceptance::under(Acceptance::strict(), traits.documented());
  const bool is_partly_strict = detail::StrictAcceptance::takes_documented_fields(acceptance) ||
                                detail::StrictAcceptance::takes_documented_nulls(acceptance);
  Json object{{"base", is_partly_strict ? "strict" : "default"}};
  object.update(differences(acceptance, is_partly_strict ? strict : Acceptance()));
  return object;
}

/// Whether a gateway of which nothing is said would take this chat request.
bool is_taken_by_default(const detail::ExchangeRecord& record, const detail::ServeSettings& settings) {
  const Acceptance standard = detail::traits_of(settings.profile).acceptance();
  try {
    detail::parse_chat_request(record.request.body, standard, settings.chat_limits);
  } catch (const detail::RequestError&) {
    return false;
  }
  return detail::allows_json(record.request, standard);
}

/// How the gateway must start: what of it decides what requests get, and is not as it is unless set. What the program
/// takes unless told otherwise, any model and OpenAI's bodies, stands there only for a request that needs it: a gateway
/// that is running can load a script without the rest.
Json gateway_of(const detail::ServeSettings& settings, const detail::ExchangeRecord& record) {
  constexpr std::size_t largest_body = std::size_t{16} << 20;
  const wire::Model standard{"mock-model"};
  Json gateway = Json::object();
  const std::vector<wire::Model>& models = settings.models;
  if (settings.any_model) {
    if (record.chat && importing::text_of(Json::parse(record.request.body, nullptr, false), "model") != standard.id)
      gateway["models"] = "any";
  } else if (models.size() != 1 || models[0].id != standard.id || models[0].owner != standard.owner) {
    Json list = Json::array();
    for (const wire::Model& model : models) {
      if (model.owner == standard.owner)
        list.push_back(model.id);
      else
        list.push_back(Json{{"id", model.id}, {"owner", model.owner}});
    }
    gateway["models"] = std::move(list);
  }
  if (settings.profile != Profile::documented) gateway["profile"] = to_string(settings.profile);
  const bool is_openai = differences(settings.acceptance, Acceptance::openai()).empty();
  if (!is_openai || (record.chat && !is_taken_by_default(record, settings))) {
    if (Json acceptance = acceptance_of(settings.acceptance, settings.profile); !acceptance.is_null())
      gateway["acceptance"] = std::move(acceptance);
  }
  if (settings.chat_limits.max_n != detail::ChatLimits().max_n) gateway["max_n"] = settings.chat_limits.max_n;
  if (record.request.body.size() > largest_body) gateway["max_body"] = record.request.body.size();
  return gateway;
}

// What the answer is like.

/// Whether the client, and not the script, decided that the connection closes or stays open.
bool is_decided_by_client(const detail::ExchangeRecord& record) {
  const std::string first_line = record.raw_head.substr(0, record.raw_head.find("\r\n"));
  const bool is_old = first_line.size() >= 8 && first_line.compare(first_line.size() - 8, 8, "HTTP/1.0") == 0;
  return is_old || record.request.headers.lists("Connection", "close");
}

/// The fields that a gateway would not send of itself.
std::vector<importing::Field> fields_of(const SentAnswer& answer, const detail::ExchangeRecord& record) {
  const auto is_written_anew = [&](const wire::Header& field) {
    const std::string name = detail::text::lower_ascii(field.name);
    if (name == "date") return true;
    if (name == "connection") return is_decided_by_client(record);
    if (name == "transfer-encoding") return answer.is_streamed && field.value == "chunked";
    if (name == "content-encoding") return answer.is_compressed && field.value == "gzip";
    return name == "content-length" && !answer.is_streamed &&
           (answer.has_masked_key || field.value == std::to_string(answer.body().size()));
  };
  std::vector<importing::Field> fields;
  for (const wire::Header& field : answer.headers)
    if (!is_written_anew(field)) fields.push_back({field.name, field.value});
  return fields;
}

/// One exchange, and the script that is made of it.
class Bundle {
 public:
  Bundle(const Control& control, const std::shared_ptr<detail::ExchangeRecord>& record, SentAnswer answer)
      : control_(control), exchange_(record), record_(*record), answer_(std::move(answer)) {}

  Json make() {
    add_interim();
    add_answer();
    Json script = Json::object();
    script["bundle"] = about();
    script["mock_gateway"] = 1;
    script["comment"] = comment();
    Json gateway = gateway_of(control_.state().settings, record_);
    if (!gateway.empty()) script["gateway"] = std::move(gateway);
    script.update(parts_);
    importing::mask_strings(script, mask_);
    return script;
  }

 private:
  Json about() const {
    Json exchange = as_json(exchange_);
    exchange["summary"] = detail::text::as_utf8(exchange_.summary());
    Json findings = Json::array();
    for (const Finding& finding : control_.gateway().review().findings()) {
      const auto& its = finding.exchanges;
      if (std::find(its.begin(), its.end(), record_.id) != its.end()) findings.push_back(as_json(finding));
    }
    Json object = Json::object();
    object["about"] =
        "This file holds what a client asked and what it was answered: prompts, tools and texts. Keys are "
        "masked in it.";
    object["version"] = MOCK_GATEWAY_VERSION;
    object["seed"] = control_.state().settings.seed;
    object["exchange"] = std::move(exchange);
    object["findings"] = std::move(findings);
    return object;
  }

  std::string comment() const {
    std::string text =
        "Serve it with mock-gateway --script FILE: the same request gets the same answer, byte for byte "
        "and at the same pace.";
    for (const std::string& note : notes_.lines) text += " Note: " + note + ".";
    if (notes_.keys > 0 || answer_.has_masked_key)
      text += " Note: keys in the answer are masked, so that its bytes are others there.";
    return text;
  }

  bool is_scripted() const {
    switch (record_.decision.kind) {
      case Decision::Kind::stub:
      case Decision::Kind::default_reply:
      case Decision::Kind::unmatched:
      case Decision::Kind::chaos: return true;
      case Decision::Kind::callback_failed:
      case Decision::Kind::answer_failed: return record_.chat;
      case Decision::Kind::forced_failure:
      case Decision::Kind::rejected:
      case Decision::Kind::models:
      case Decision::Kind::embeddings:
      case Decision::Kind::handler:
      case Decision::Kind::preflight:
      case Decision::Kind::malformed: break;
    }
    return false;
  }

  /// Interim responses. The last one may belong to the reply of a stub, one more to the connection.
  void add_interim() {
    std::vector<SentAnswer::Interim> interim = answer_.interim;
    if (!interim.empty() && is_scripted() && interim.back().status == 103 && !interim.back().headers.empty()) {
      for (const wire::Header& field : interim.back().headers) early_hints_.push_back({field.name, field.value});
      interim.pop_back();
    }
    const std::optional<ConnectionFault>& fault = record_.connection_fault;
    const bool is_slow = fault && fault->kind() == ConnectionFault::Kind::slow_body;
    if (interim.size() > (is_slow ? 0U : 1U))
      throw no_bundle(record_, "it has more interim responses than a script can put before one answer");
    if (is_slow) add_connection(Json{{"slow_body", {{"bytes", fault->step()}, {"gap", duration_text(fault->gap())}}}});
    if (interim.empty()) return;
    if (interim[0].status == 100) return add_connection("unsolicited_continue");
    Json headers = Json::object();
    for (const wire::Header& field : interim[0].headers) headers[field.name].push_back(field.value);
    add_connection(Json{{"early_hints", std::move(headers)}});
  }

  void add_connection(Json fault) {
    parts_["connections"].push_back(Json{{"fault", std::move(fault)}, {"always", true}});
  }

  void add_answer() {
    if (record_.decision.kind == Decision::Kind::malformed)
      throw no_bundle(record_, "what came is no HTTP, so that there is no request to answer again");
    if (is_scripted()) return add_stub();
    const detail::Route route = control_.state().operations.find(record_.request.method, record_.request.path());
    const bool is_before_body = record_.connection_fault && record_.connection_fault->failure();
    if (is_before_body && record_.decision.kind == Decision::Kind::forced_failure) return add_reply_before_body();
    if (answer_.ending != SentAnswer::Ending::whole)
      throw no_bundle(record_,
                      "its client left before the answer was whole, which only the reply of a stub can repeat");
    const std::string& method = record_.request.method;
    const std::string path = record_.request.path();
    if (method.empty() || !std::all_of(method.begin(), method.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
      throw no_bundle(record_, "no script can name its method, which is not written in capitals");
    if (path.empty() || path[0] != '/' || path.find_first_of(" {}") != std::string::npos ||
        !std::all_of(path.begin(), path.end(), [](char c) { return c >= '!' && c <= '~'; }))
      throw no_bundle(record_, "no script can name its path");
    const bool is_mounted = record_.decision.kind == Decision::Kind::handler ||
                            record_.decision.kind == Decision::Kind::embeddings ||
                            record_.decision.kind == Decision::Kind::callback_failed;
    if (is_mounted) return add_operation(method, path);
    const bool is_chat = route.kind == detail::Route::Kind::chat;
    const bool is_models = route.kind == detail::Route::Kind::models || route.kind == detail::Route::Kind::model;
    add_failure(is_chat ? "chat_completions" : is_models ? "list_models" : method + " " + path);
  }

  importing::Recording recording() const {
    importing::Recording recording;
    recording.status = answer_.status;
    recording.headers = fields_of(answer_, record_);
    recording.early_hints = early_hints_;
    importing::OwnDelivery& own = recording.own.emplace();
    own.is_streamed = answer_.is_streamed;
    own.head_at = answer_.head_at;
    for (const SentAnswer::Part& part : answer_.parts) {
      recording.body += part.bytes;
      own.parts.push_back({recording.body.size(), part.at});
    }
    return recording;
  }

  void add_operation(const std::string& method, const std::string& path) {
    Json operation = Json::object();
    operation["method"] = method;
    operation["path"] = path;
    operation["reply"] = importing::operation_reply(recording(), mask_, notes_);
    parts_["operations"].push_back(std::move(operation));
  }

  /// What was refused, whatever the key and the body were: the answer is forced on the operation.
  void add_failure(const std::string& operation) {
    const Json whole = importing::operation_reply(recording(), mask_, notes_);
    if (whole.contains("base64")) throw no_bundle(record_, "no failure of a script has a body that is not UTF-8");
    const std::string code = record_.advice.code.empty() ? "recorded" : record_.advice.code;
    Json failure = Json::object();
    failure["failure"] = {{"status", answer_.status}, {"code", code}, {"message", "as it was answered"}};
    const std::string type = whole.contains("content_type") ? whole["content_type"].get<std::string>() : "";
    if (whole.contains("json") && !whole.contains("content_type")) {
      failure["error_json"] = whole["json"];
    } else {
      failure["error_body"] = whole.contains("json")   ? Json(whole["json"].dump())
                              : whole.contains("body") ? whole["body"]
                                                       : Json("");
      failure["content_type"] = type;
    }
    if (whole.contains("headers")) failure["headers"] = whole["headers"];
    if (answer_.status == 429 && !answer_.headers.has("Retry-After")) failure["without_retry_after"] = true;
    failure["always"] = true;
    failure["for"] = {{"operation", operation}};
    parts_["failures"].push_back(std::move(failure));
    notes_.lines.push_back("every request to " + operation + " gets this answer, whatever its key and body");
  }

  void add_reply_before_body() {
    const Failure& failure = *record_.connection_fault->failure();
    if (failure.raw_body() || failure.type() != "error" || !failure.without_retry_after().headers(TimePoint{}).empty())
      throw no_bundle(record_, "no script can send a body or header fields of one's own before the request's body");
    const bool is_read_then = record_.connection_fault->kind() == ConnectionFault::Kind::reply_then_read_body;
    add_connection(Json{{is_read_then ? "reply_then_read_body" : "reply_before_body",
                         {{"status", failure.status()}, {"code", failure.code()}, {"message", failure.message()}}}});
  }

  void add_stub() {
    Json stub = Json::object();
    stub["name"] = "exchange " + std::to_string(record_.id);
    Json when = when_of();
    if (!when.empty()) stub["when"] = std::move(when);
    stub["reply"] = reply();
    parts_["stubs"].push_back(std::move(stub));
  }

  /// What is masked in the journal is not what will be asked: the text up to there tells the request.
  Json when_of() const {
    Json when = importing::conditions(importing::json_if_valid(record_.request.body), mask_);
    const auto said = when.find("user_says");
    if (said == when.end()) return when;
    const std::string text = said->begin()->get<std::string>();
    const std::size_t masked = text.find(detail::secrets::masked_other);
    if (masked == std::string::npos) return when;
    if (masked == 0)
      when.erase("user_says");
    else
      *said = Json{{"starts_with", text.substr(0, masked)}};
    return when;
  }

  Json reply() {
    if (answer_.status == 0) return silent_reply();
    importing::Recording recorded = recording();
    const std::size_t sent = recorded.body.size();
    const bool is_truncated = answer_.missing > 0 && answer_.ending == SentAnswer::Ending::closed;
    if (is_truncated) {  // the rest of an event of which HTTP announced more than came
      recorded.body.append(answer_.missing, '.');
      recorded.own->parts.back().end = recorded.body.size();
    }
    // A stream that broke before its first event has one all the same, which is not sent.
    const bool is_bare = answer_.is_streamed && answer_.parts.empty() && answer_.ending != SentAnswer::Ending::whole;
    if (is_bare) {
      recorded.body = ":\n\n";
      recorded.own->parts.push_back({recorded.body.size(), Duration{0}});
    }
    Json reply = importing::chat_reply(std::move(recorded), mask_, notes_);
    if (answer_.is_compressed) {
      reply["sse"]["gzip"] = true;
      notes_.lines.push_back("the body is shown as it was before gzip, which the gateway applies again");
    }
    Json faults = answer_.is_streamed ? Json::array() : gaps_of_whole(reply);
    if (answer_.is_streamed && answer_.head_at >= least_gap) add_stall(faults, "before_headers", true, answer_.head_at);
    if (reply.contains("faults"))
      for (Json& fault : reply["faults"]) faults.push_back(std::move(fault));
    const char* const trigger = is_bare ? "after_headers" : "at_end";
    const Duration last = answer_.parts.empty() ? answer_.head_at : answer_.parts.back().until;
    if (is_truncated) {
      add_stall(faults, "after_bytes", sent, answer_.ended_at - last);
      faults.push_back(Json{{"after_bytes", sent}, {"effect", "truncate"}});
    } else {
      add_stall(faults, trigger, true, answer_.ended_at - last);
      add_ending(faults, trigger);
    }
    reply.erase("faults");
    if (!faults.empty()) reply["faults"] = std::move(faults);
    return reply;
  }

  /// Nothing was sent of it.
  Json silent_reply() {
    Json faults = Json::array();
    add_stall(faults, "before_headers", true, answer_.ended_at);
    add_ending(faults, "before_headers");
    Json reply = Json::object();
    reply["raw_reply"] = {{"status", record_.status}, {"body", ""}};
    reply["faults"] = std::move(faults);
    return reply;
  }

  /// The times of an answer in one piece: of its head, and where it stopped inside of the body.
  Json gaps_of_whole(Json& reply) const {
    Json faults = Json::array();
    if (answer_.head_at >= least_gap) reply["first_token_after"] = duration_text(answer_.head_at);
    Duration before = answer_.head_at;
    std::size_t sent = 0;
    for (const SentAnswer::Part& part : answer_.parts) {
      if (sent == 0)
        add_stall(faults, "after_headers", true, part.at - before);
      else
        add_stall(faults, "after_bytes", sent, part.at - before);
      sent += part.bytes.size();
      before = part.until;
    }
    return faults;
  }

  static void add_stall(Json& faults, const char* trigger, const Json& place, Duration duration) {
    if (duration < least_gap) return;
    Json fault = Json::object();
    fault[trigger] = place;
    fault["effect"] = {{"stall", duration_text(duration)}};
    faults.push_back(std::move(fault));
  }

  /// How the answer ended, at that place.
  void add_ending(Json& faults, const char* trigger) {
    const auto add = [&](Json effect) {
      Json fault = Json::object();
      fault[trigger] = true;
      fault["effect"] = std::move(effect);
      faults.push_back(std::move(fault));
    };
    if (!answer_.garbage.empty()) {
      const bool is_text = detail::text::is_valid_utf8(answer_.garbage);
      return add(is_text ? Json{{"garbage", answer_.garbage}}
                         : Json{{"garbage_base64", detail::text::base64(answer_.garbage)}});
    }
    switch (answer_.ending) {
      case SentAnswer::Ending::open:
      case SentAnswer::Ending::whole: return;
      case SentAnswer::Ending::closed: return add("close_connection");
      case SentAnswer::Ending::half_closed: return add("half_close");
      case SentAnswer::Ending::reset:
        if (record_.outcome == Outcome::Kind::guard_expired && control_.state().settings.stall_guard) {
          notes_.lines.push_back("the gateway waited for its client until the guard of such waits ended it");
          add(Json{{"stall", duration_text(*control_.state().settings.stall_guard)}});
        }
        return add("reset_connection");
      case SentAnswer::Ending::abandoned:
        notes_.lines.push_back("nothing more was sent when the client left; the gateway waits there for it to leave");
        return add("stall");
    }
  }

  const Control& control_;
  const Exchange exchange_;
  const detail::ExchangeRecord& record_;
  const SentAnswer answer_;
  importing::KeyMask mask_;
  importing::Notes notes_;
  std::vector<importing::Field> early_hints_;
  Json parts_ = Json::object();
};

/// Throws ControlError when a secret is left in the text.
void require_no_secret(const Control& control, const detail::ExchangeRecord& record, const std::string& text) {
  std::string masked = text;
  const bool has_key = control.state().keys->mask(masked).has_key;
  masked = text;
  if (has_key || importing::KeyMask().mask(masked) > 0 ||
      (!control.token.empty() && text.find(control.token) != std::string::npos))
    throw no_bundle(record, "a secret would stand in it, at a place where it cannot be masked");
}

}  // namespace

std::string bundle_of(const Control& control, const std::shared_ptr<detail::ExchangeRecord>& record) {
  const Exchange exchange(record);
  if (exchange.outcome(Duration::zero()) == Outcome::Kind::pending)
    throw no_bundle(*record, "it has not ended yet; ask again when it has");
  std::optional<SentAnswer> answer = exchange.answer();
  if (!answer) throw no_bundle(*record, "its answer was not kept");
  if (answer->is_cut)
    throw no_bundle(
        *record,
        "its answer has more bytes than are kept of one; \"max_body\" of the script's \"gateway\" raises that");
  try {
    const Json script = Bundle(control, record, std::move(*answer)).make();
    static_cast<void>(ScriptDocument::from_json(script));
    std::string text = laid_out(script);
    require_no_secret(control, *record, text);
    return text;
  } catch (const importing::ImportError& problem) {
    throw no_bundle(*record, problem.what());
  } catch (const GatewayError& problem) {
    throw no_bundle(*record, "no script can say what was sent: " + without_prefix(problem.what()));
  }
}

}  // namespace endpoint
}  // namespace mock_gateway
