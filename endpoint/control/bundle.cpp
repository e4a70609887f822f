// Bundles: contents, exchanges that have none, faults, timing and refusals.

#include <algorithm>  // all_of, any_of, find_if
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "../messages.hpp"
#include "../recorded.hpp"
#include "control.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

using importing::duration_text;
using importing::least_gap;

ControlError no_bundle(const Exchange& exchange, const std::string& why) {
  return {404, "no_bundle", "exchange " + std::to_string(exchange.id()) + " has no bundle: " + why};
}

/// Whether the client, not the script, decided that the connection closes or stays open.
bool is_decided_by_client(const Exchange& exchange) {
  const std::string raw = exchange.raw();
  const std::string first_line = raw.substr(0, raw.find("\r\n"));
  const bool is_old = first_line.size() >= 8 && first_line.compare(first_line.size() - 8, 8, "HTTP/1.0") == 0;
  return is_old || exchange.headers().lists("Connection", "close");
}

/// Returns the header fields that a gateway would not send by default.
std::vector<importing::Field> fields_of(const SentAnswer& answer, const Exchange& exchange) {
  const auto is_written_anew = [&](const wire::Header& field) {
    const std::string name = internal::text::lower_ascii(field.name);
    if (name == "date") return true;
    if (name == "connection") return is_decided_by_client(exchange);
    if (name == "transfer-encoding") return answer.is_streamed && field.value == "chunked";
    if (name == "content-encoding") return answer.is_compressed && field.value == "gzip";
    return name == "content-length" && !answer.is_streamed &&
           (answer.has_masked_key || field.value == std::to_string(answer.body().size()));
  };
  std::vector<importing::Field> fields;
  for (const wire::Header& field : answer.headers)
    if (!is_written_anew(field)) fields.push_back(field);
  return fields;
}

/// Builds the script of one exchange.
class Bundle {
 public:
  Bundle(const Control& control, const Exchange& exchange, SentAnswer answer)
      : control_(control), inside_(control.inside()), exchange_(exchange), answer_(std::move(answer)) {}

  Json make() {
    add_interim();
    add_answer();
    Json script = Json::object();
    script["bundle"] = about();
    script["mock_gateway"] = 1;
    script["comment"] = comment();
    Json gateway = inside_.settings_for(exchange_);
    if (!gateway.empty()) script["gateway"] = std::move(gateway);
    script.update(parts_);
    importing::mask_strings(script, mask_);
    return script;
  }

 private:
  Json about() const {
    Json exchange = as_json(exchange_);
    exchange["summary"] = internal::text::as_utf8(exchange_.summary());
    Json findings = Json::array();
    for (const Finding& finding : control_.gateway().review().findings()) {
      const auto& its = finding.exchanges;
      if (std::find(its.begin(), its.end(), exchange_.id()) != its.end()) findings.push_back(as_json(finding));
    }
    Json object = Json::object();
    object["about"] =
        "This file contains a client's request and its answer: prompts, tools and texts. Keys are masked.";
    object["version"] = MOCK_GATEWAY_VERSION;
    object["seed"] = inside_.seed();
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
      text += " Note: keys in the answer are masked, so those bytes differ.";
    return text;
  }

  bool is_scripted() const {
    switch (exchange_.decision().kind) {
      case Decision::Kind::stub:
      case Decision::Kind::default_reply:
      case Decision::Kind::unmatched:
      case Decision::Kind::chaos: return true;
      case Decision::Kind::callback_failed:
      case Decision::Kind::answer_failed: return internal::is_chat(exchange_);
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

  /// Adds interim responses: a last 103 belongs to the stub's reply, one more may belong to the connection's fault.
  void add_interim() {
    std::vector<SentAnswer::Interim> interim = answer_.interim;
    if (!interim.empty() && is_scripted() && interim.back().status == 103 && !interim.back().headers.empty()) {
      early_hints_.assign(interim.back().headers.begin(), interim.back().headers.end());
      interim.pop_back();
    }
    const std::optional<ConnectionFault>& fault = exchange_.connection_fault();
    const bool is_slow = fault && fault->kind() == ConnectionFault::Kind::slow_body;
    if (interim.size() > (is_slow ? 0U : 1U))
      throw no_bundle(exchange_, "it has more interim responses than a script can put before one answer");
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
    if (exchange_.decision().kind == Decision::Kind::malformed)
      throw no_bundle(exchange_, "the client did not send HTTP, so there is no request to answer again");
    if (is_scripted()) return add_stub();
    const bool is_before_body = exchange_.connection_fault() && exchange_.connection_fault()->failure();
    if (is_before_body && exchange_.decision().kind == Decision::Kind::forced_failure) return add_reply_before_body();
    if (answer_.ending != SentAnswer::Ending::whole)
      throw no_bundle(exchange_,
                      "its client left before the answer was whole, which only the reply of a stub can repeat");
    const std::string& method = exchange_.method();
    const std::string path = exchange_.path();
    if (method.empty() || !std::all_of(method.begin(), method.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
      throw no_bundle(exchange_, "no script can name its method, which is not written in capitals");
    if (path.empty() || path[0] != '/' || path.find_first_of(" {}") != std::string::npos ||
        !std::all_of(path.begin(), path.end(), [](char c) { return c >= '!' && c <= '~'; }))
      throw no_bundle(exchange_, "no script can name its path");
    const bool is_mounted = exchange_.decision().kind == Decision::Kind::handler ||
                            exchange_.decision().kind == Decision::Kind::embeddings ||
                            exchange_.decision().kind == Decision::Kind::callback_failed;
    if (is_mounted) return add_operation(method, path);
    add_failure(inside_.operation_name(method, path));
  }

  importing::Recording recording() const {
    importing::Recording recording;
    recording.status = answer_.status;
    recording.headers = fields_of(answer_, exchange_);
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
    if (exchange_.request().key_id.empty()) operation["open"] = true;
    operation["reply"] = importing::operation_reply(recording(), mask_, notes_);
    parts_["operations"].push_back(std::move(operation));
  }

  /// Adds a forced failure of the operation for a refused request. It applies to any key and body.
  void add_failure(const std::string& operation) {
    const Json whole = importing::operation_reply(recording(), mask_, notes_);
    if (whole.contains("base64"))
      throw no_bundle(exchange_, "a failure in a script cannot have a body that is not UTF-8");
    const std::string code =
        internal::error_code_of(exchange_).empty() ? "recorded" : internal::error_code_of(exchange_);
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
    const Failure& failure = *exchange_.connection_fault()->failure();
    if (failure.raw_body() || failure.type() != "error" || !failure.without_retry_after().headers(TimePoint{}).empty())
      throw no_bundle(
          exchange_,
          "a script cannot send a custom body or custom header fields before the request's body has arrived");
    const bool is_read_then = exchange_.connection_fault()->kind() == ConnectionFault::Kind::reply_then_read_body;
    add_connection(Json{{is_read_then ? "reply_then_read_body" : "reply_before_body",
                         {{"status", failure.status()}, {"code", failure.code()}, {"message", failure.message()}}}});
  }

  void add_stub() {
    Json stub = Json::object();
    stub["name"] = "exchange " + std::to_string(exchange_.id());
    Json when = when_of();
    if (!when.empty()) stub["when"] = std::move(when);
    stub["reply"] = reply();
    parts_["stubs"].push_back(std::move(stub));
  }

  /// The journal masks keys, so match only the text before the mask.
  Json when_of() const {
    Json when = importing::conditions(importing::json_if_valid(exchange_.body()), mask_, false);
    const auto said = when.find("user_says");
    if (said == when.end()) return when;
    const std::string text = said->begin()->get<std::string>();
    const std::size_t masked = text.find(internal::masked_secret());
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
    if (is_truncated) {  // fill up the chunk that was announced but not fully sent
      recorded.body.append(answer_.missing, '.');
      recorded.own->parts.back().end = recorded.body.size();
    }
    // A stream that broke before its first event needs an event in the script, which is never sent.
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

  /// Returns a reply that sends nothing.
  Json silent_reply() {
    Json faults = Json::array();
    add_stall(faults, "before_headers", true, answer_.ended_at);
    add_ending(faults, "before_headers");
    Json reply = Json::object();
    reply["raw_reply"] = {{"status", 200}, {"body", ""}};
    reply["faults"] = std::move(faults);
    return reply;
  }

  /// Adds the delays of a non-streamed answer: before the head, and stalls in the body.
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

  /// Adds the fault that ended the answer, at this trigger.
  void add_ending(Json& faults, const char* trigger) {
    const auto add = [&](Json effect) {
      Json fault = Json::object();
      fault[trigger] = true;
      fault["effect"] = std::move(effect);
      faults.push_back(std::move(fault));
    };
    if (!answer_.garbage.empty()) {
      const bool is_text = internal::text::is_valid_utf8(answer_.garbage);
      return add(is_text ? Json{{"garbage", answer_.garbage}}
                         : Json{{"garbage_base64", internal::text::base64(answer_.garbage)}});
    }
    switch (answer_.ending) {
      case SentAnswer::Ending::open:
      case SentAnswer::Ending::whole: return;
      case SentAnswer::Ending::closed: return add("close_connection");
      case SentAnswer::Ending::half_closed: return add("half_close");
      case SentAnswer::Ending::reset:
        if (exchange_.outcome(Duration::zero()) == Outcome::Kind::guard_expired && inside_.stall_guard()) {
          notes_.lines.push_back("the gateway waited for its client until the stall guard ended the wait");
          add(Json{{"stall", duration_text(*inside_.stall_guard())}});
        }
        return add("reset_connection");
      case SentAnswer::Ending::abandoned:
        notes_.lines.push_back(
            "nothing more was sent when the client left; at that place the gateway waits for the client to leave");
        return add("stall");
    }
  }

  const Control& control_;
  const internal::Inside inside_;
  const Exchange exchange_;
  const SentAnswer answer_;
  importing::KeyMask mask_;
  importing::Notes notes_;
  std::vector<importing::Field> early_hints_;
  Json parts_ = Json::object();
};

/// Throws ControlError if the text contains a secret.
void require_no_secret(const Control& control, const Exchange& exchange, const std::string& text) {
  std::string masked = text;
  const bool has_key = control.inside().mask(masked);
  masked = text;
  if (has_key || importing::KeyMask().mask(masked) > 0 ||
      (!control.token.empty() && text.find(control.token) != std::string::npos))
    throw no_bundle(exchange, "it would contain a secret in a place where it cannot be masked");
}

}  // namespace

std::string bundle_of(const Control& control, const Exchange& exchange) {
  if (exchange.outcome(Duration::zero()) == Outcome::Kind::pending)
    throw no_bundle(exchange, "it has not ended yet; ask again when it has");
  std::optional<SentAnswer> answer = exchange.answer();
  if (!answer) throw no_bundle(exchange, "its answer was not kept");
  if (answer->is_cut)
    throw no_bundle(exchange,
                    "its answer is larger than the gateway keeps; raise \"max_body\" in the script's \"gateway\"");
  try {
    const Json script = Bundle(control, exchange, std::move(*answer)).make();
    static_cast<void>(ScriptDocument::from_json(script));
    std::string text = importing::laid_out(script);
    require_no_secret(control, exchange, text);
    return text;
  } catch (const importing::ImportError& problem) {
    throw no_bundle(exchange, problem.what());
  } catch (const GatewayError& problem) {
    throw no_bundle(exchange, "a script cannot express what was sent: " + without_prefix(problem.what()));
  }
}

}  // namespace endpoint
}  // namespace mock_gateway
