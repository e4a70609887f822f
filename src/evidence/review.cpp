// `review()`: when each finding occurs, its text; which exchanges it waits for; how it prints.

#include "review.hpp"

#include <algorithm>  // adjacent_find, all_of, any_of, find, find_if, min, none_of, remove_if, stable_partition, stable_sort
#include <chrono>
#include <cstdint>
#include <functional>  // not_equal_to
#include <iterator>    // distance
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

#include "../core/access.hpp"
#include "../core/calendar.hpp"
#include "../core/error.hpp"
#include "../core/text.hpp"
#include "../core/timeline.hpp"
#include "../model/finding_kinds.hpp"
#include "../request/service_rules.hpp"
#include "../script/excerpts.hpp"
#include "diagnosis.hpp"
#include "gateway_problems.hpp"
#include "record.hpp"
#include "review_parts.hpp"

namespace mock_gateway {
namespace detail {
namespace review {

using RealTime = Seen::RealTime;

/// The time for a client to close a stream after its end.
inline constexpr Duration time_to_close = std::chrono::milliseconds{500};

std::optional<Duration> parse_number(std::string_view text, Duration unit) {
  text = text::trim(text);
  double value = 0;
  double digit_weight = 0;  // of the next decimal place
  std::size_t digits = 0;
  for (const char c : text) {
    if (c == '.' && digit_weight == 0) {
      digit_weight = 0.1;
    } else if (c >= '0' && c <= '9') {
      ++digits;
      if (digit_weight == 0) {
        value = value * 10 + (c - '0');
      } else {
        value += (c - '0') * digit_weight;
        digit_weight /= 10;
      }
    } else {
      return std::nullopt;
    }
  }
  if (digits == 0) return std::nullopt;
  constexpr double most = 3e18;  // in nanoseconds; about 95 years
  const double count = std::min(value * static_cast<double>(unit.count()), most);
  return Duration{static_cast<Duration::rep>(count + 0.5)};
}

std::vector<Seen> requests_in(const JournalState& journal, const RequestScope& scope) {
  std::vector<Seen> all;
  for (auto& record : journal.snapshot()) {
    if (!scope.covers(record->request)) continue;
    Seen seen;
    seen.record = std::move(record);
    const wire::Headers& headers = seen.record->request.headers;
    if (const auto count = headers.find("x-stainless-retry-count"))
      seen.number = text::whole_number(text::trim(*count));
    seen.call = headers.find("Idempotency-Key");
    const std::lock_guard<std::mutex> lock(journal.signal()->mutex);
    const ExchangeRecord& now = *seen.record;
    seen.outcome = now.outcome;
    seen.client_closed = now.departure.has_value();
    seen.client_left = now.left;
    seen.first_byte = now.first_byte;
    seen.answered = now.answered;
    seen.possible = now.position == 1 && now.sendable != RealTime{} ? now.sendable : now.recorded;
    seen.over = now.over;
    seen.has_fault = now.decision == Decision::Kind::forced_failure || now.connection_fault || !now.chaos.empty() ||
                     (now.decision == Decision::Kind::stub && now.status >= 400) ||
                     std::any_of(now.faults.begin(), now.faults.end(),
                                 [](const ExchangeRecord::ScriptedFault& scripted) { return scripted.reached; });
    seen.broken =
        std::any_of(now.chaos.begin(), now.chaos.end(),
                    [](const ExchangeRecord::ChaosStrike& strike) { return strike.fault && !strike.missed; }) ||
        std::any_of(now.faults.begin(), now.faults.end(), [](const ExchangeRecord::ScriptedFault& scripted) {
          return scripted.reached && scripted.fault.effect.kind() == Effect::Kind::wrong_content_length;
        });
    all.push_back(std::move(seen));
  }
  return all;
}

/// Returns the products in a User-Agent without versions: "openai/python" of "AsyncOpenAI/Python 1.2.3".
std::set<std::string> products(std::string_view user_agent) {
  const auto is_version = [](std::string_view part) {
    if (!part.empty() && part[0] == 'v') part.remove_prefix(1);
    return !part.empty() && part[0] >= '0' && part[0] <= '9';
  };
  const std::string all = text::lower_ascii(user_agent);
  std::set<std::string> names;
  for (std::string_view rest = all; !rest.empty();) {
    std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    // The asynchronous client of an SDK is not a different service.
    if (word.substr(0, 5) == "async") word.remove_prefix(5);
    if (is_version(word)) continue;
    // Another version is not a different service either.
    for (std::size_t slash = word.find('/'); slash != std::string_view::npos; slash = word.find('/', slash + 1))
      if (is_version(word.substr(slash + 1))) word = word.substr(0, slash);
    if (!word.empty()) names.emplace(word);
  }
  return names;
}

void review_alone(const Seen& seen, std::vector<Finding>& findings) {
  const ExchangeRecord& record = *seen.record;
  const auto add = [&](const finding_kinds::Kind& kind, std::string message) {
    findings.push_back(kind.make(std::move(message), {record.id}));
  };
  findings.insert(findings.end(), record.findings.begin(), record.findings.end());
  if (const std::string reason = refusal(record); !reason.empty() && !is_broken_off(record)) {
    const char* const advice =
        has_no_default_reply(record) ? ". The gateway cannot generate a default reply for it. Script a reply."
        : record.status == 404
            ? ". The request never reached the stubs. Correct the client's address, or mount the operation."
        : record.status == 405 ? ". The request never reached the stubs. Use a method that the operation supports."
                               : ". The request never reached the stubs. Send what the documentation asks for.";
    add(finding_kinds::request_refused,
        "refused with " + std::to_string(record.status) + " " + record.advice.code + ": " + reason + advice);
  }
  if (record.leaks.in_target) {
    add(finding_kinds::key_in_query,
        "the request target contains a key, and targets are often logged. Send the key only in the " +
            key_headers(record) + " header.");
  }
  if (record.leaks.in_body) {
    add(finding_kinds::key_in_body,
        "the body contains a key. Send the key only in the " + key_headers(record) + " header.");
  }
  if (const auto origin = record.request.headers.find("Origin"); origin && !record.origin_is_named) {
    add(finding_kinds::browser_request,
        "Origin is " + excerpts::quoted(*origin) +
            ", so a browser sent the request. Keep keys on a server and let the page call that server.");
  }
  if (seen.outcome == Outcome::Kind::client_stalled && !seen.client_closed) {
    add(finding_kinds::stream_abandoned,
        "the client stopped reading and left the connection open until the gateway gave up. Close a stream when it is "
        "no longer needed.");
  }
  if (record.progress.done && seen.outcome != Outcome::Kind::client_stalled) {
    const RealTime until = seen.client_left                         ? *seen.client_left
                           : seen.outcome == Outcome::Kind::pending ? std::chrono::steady_clock::now()
                                                                    : seen.over;
    if (until - record.progress.done_at.load() >= time_to_close) {
      add(finding_kinds::stream_left_open,
          "the stream was still open half a second after [DONE]. Close it at [DONE] instead of waiting for the "
          "connection to end.");
    }
  }
  if (record.behind_stream != 0) {
    findings.push_back(finding_kinds::pipelined_request.make(
        "sent on a connection whose stream had not finished, so the request waited for the stream to end. Use another "
        "connection, or close the stream first.",
        {record.behind_stream, record.id}));
  }
}

void review_sharing(const std::vector<Seen>& all, std::vector<Finding>& findings) {
  struct User {
    std::set<std::string> products;
    std::string agent;
    std::uint64_t exchange;
  };
  struct Key {
    std::string name;
    std::vector<User> users;
  };
  std::map<std::string, Key> keys;
  for (const Seen& seen : all) {
    const ReceivedRequest& request = seen.record->request;
    const auto agent = request.headers.find("User-Agent");
    if (request.key_id.empty() || !agent) continue;
    Key& key = keys[request.key_id];
    key.name = request.key_description.empty() ? request.key_id : request.key_description;
    std::set<std::string> names = products(*agent);
    if (names.empty()) continue;
    // One common product is enough: parts of an SDK add different names.
    const auto same = std::find_if(key.users.begin(), key.users.end(), [&names](const User& user) {
      return std::any_of(names.begin(), names.end(), [&](const auto& name) { return user.products.count(name) > 0; });
    });
    if (same == key.users.end()) {
      key.users.push_back({std::move(names), *agent, seen.record->id});
    } else {
      same->products.merge(names);
    }
  }
  for (const auto& [id, key] : keys) {
    if (key.users.size() < 2) continue;
    constexpr std::size_t most = 3;
    const std::size_t shown = std::min(key.users.size(), most);
    std::string agents;
    std::vector<std::uint64_t> exchanges;
    for (std::size_t i = 0; i < shown; ++i) {
      if (i > 0) agents += i + 1 == key.users.size() ? " and " : ", ";
      agents += excerpts::quoted(key.users[i].agent);
      exchanges.push_back(key.users[i].exchange);
    }
    if (key.users.size() > most) agents += " and " + std::to_string(key.users.size() - most) + " more";
    findings.push_back(finding_kinds::key_shared.make(
        "key " + excerpts::quoted(key.name) + " is used by " + agents + ". Create a key for each service.",
        std::move(exchanges)));
  }
}

/// Joins the notes about unlisted models, because each request may have one, and moves the note to the end.
void join_unlisted(std::vector<Finding>& findings) {
  const auto is_other = [](const Finding& finding) { return finding.code != finding_kinds::unlisted_model.code; };
  const auto first = std::stable_partition(findings.begin(), findings.end(), is_other);
  const auto more = static_cast<std::size_t>(std::distance(first, findings.end()));
  if (more < 2) return;
  first->message += " " + text::counted(more - 1, "more request") +
                    " asked for an unlisted model, the last in exchange " +
                    std::to_string(findings.back().exchanges.back()) + ".";
  findings.erase(first + 1, findings.end());
}

void arrange(std::vector<Finding>& findings, const std::vector<std::string>& switched_off) {
  const auto is_off = [&](const Finding& finding) {
    return std::find(switched_off.begin(), switched_off.end(), finding.code) != switched_off.end();
  };
  findings.erase(std::remove_if(findings.begin(), findings.end(), is_off), findings.end());
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity > b.severity : a.exchanges.back() < b.exchanges.back();
  });
  join_unlisted(findings);
}

/// Returns the target of a redirect as a URL (RFC 3986, 5.2.2), without removing dot segments.
std::string resolved(const std::string& location, const ExchangeRecord& record) {
  const std::string& root = record.root_url;
  if (location.empty() || location.find("://") < location.find_first_of("/?")) return location;
  if (location.substr(0, 2) == "//") return root.substr(0, root.find('/')) + location;
  if (location.front() == '/') return root + location;
  const std::string path = record.request.path();
  return root + (location.front() == '?' ? path : path.substr(0, path.rfind('/') + 1)) + location;
}

}  // namespace review

void require_finding_code(const std::string& code) {
  const std::vector<std::string>& codes = finding_codes();
  if (std::find(codes.begin(), codes.end(), code) != codes.end()) return;
  std::string list;
  for (const std::string& known : codes) list += (list.empty() ? "" : ", ") + known;
  throw GatewayError("there is no finding " + excerpts::quoted(code) + "; the codes are " + list);
}

void note_answer(ExchangeRecord& record, const std::string& error_code, const wire::Headers& headers,
                 std::string_view body) {
  RetryAdvice& advice = record.advice;
  advice = RetryAdvice{};
  advice.code = error_code;
  const std::vector<std::string> retries = headers.all("x-should-retry");
  const auto says = [&retries](const char* what) {
    return std::find(retries.begin(), retries.end(), what) != retries.end();
  };
  if (says("true") || says("false")) advice.should_retry = says("true");
  const bool is_redirect = record.status > 300 && record.status < 309 && record.status != 304;
  if (is_redirect) record.redirect = review::resolved(headers.find("Location").value_or(""), record);
  const bool has_time = headers.has("Retry-After") || headers.has("retry-after-ms");
  if (record.status == 429 && !has_time) note_body(advice, body);
  advice.names_time = has_time || advice.in_body;
  // If a field occurs with several values, clients differ in which one they read.
  const auto differ = [&headers](const char* name) {
    const std::vector<std::string> fields = headers.all(name);
    return std::adjacent_find(fields.begin(), fields.end(), std::not_equal_to<>()) != fields.end();
  };
  if (differ("retry-after-ms")) return;
  if (const auto milliseconds = headers.find("retry-after-ms")) {
    advice.after = review::parse_number(*milliseconds, std::chrono::milliseconds{1});
    advice.in_milliseconds = advice.after.has_value();
  }
  if (const auto field = headers.find("Retry-After"); field && !advice.after && !differ("Retry-After")) {
    advice.after = review::parse_number(*field, std::chrono::seconds{1});
    if (!advice.after) advice.not_before = calendar::parse_http_date(*field);
  }
}

Review make_review(const JournalState& journal, const ChaosRules& chaos, const RequestScope& scope,
                   const std::vector<std::string>& switched_off, bool in_real_time, Duration patience,
                   std::shared_ptr<ReportedProblems> reported) {
  journal.wait_until_idle(scope, patience);
  std::vector<Seen> all = review::requests_in(journal, scope);
  std::vector<Finding> findings;
  ReviewTally tally;
  tally.tries = all.size();
  std::size_t open = 0;
  for (const Seen& seen : all) {
    review::review_alone(seen, findings);
    if (seen.has_fault) ++tally.faults;
    if (seen.outcome == Outcome::Kind::pending && !seen.client_closed) ++open;
  }
  const auto is_part = [](const Seen& seen) { return is_broken_off(*seen.record); };
  all.erase(std::remove_if(all.begin(), all.end(), is_part), all.end());  // parts of requests may be equal
  tally.retries = review_retries(all, in_real_time, findings);
  review_redirects(all, journal, findings);
  review::review_sharing(all, findings);
  review::arrange(findings, switched_off);
  return Access::make<Review>(std::move(findings), scope.to_string(), tally, journal.evicted(), open,
                              chaos_line(chaos, journal, scope), std::move(reported));
}

std::vector<Finding> harmless_findings(const JournalState& journal, const std::vector<std::string>& switched_off,
                                       bool in_real_time, std::uint64_t since) {
  const std::vector<Seen> all = review::requests_in(journal, {});
  std::vector<Finding> findings;
  // Such findings about retries need a failed request. Without one, skip the slow comparison.
  if (std::any_of(all.begin(), all.end(), [](const Seen& seen) { return seen.record->status >= 400; }))
    static_cast<void>(review_retries(all, in_real_time, findings));
  review::arrange(findings, switched_off);
  const auto is_other = [since](const Finding& one) { return one.fails_review || one.exchanges.back() <= since; };
  findings.erase(std::remove_if(findings.begin(), findings.end(), is_other), findings.end());
  return findings;
}

Review GatewayProblems::review(const RequestScope& scope, Duration patience) const {
  return make_review(*gateway_.journal, *gateway_.chaos, scope, without_findings_, is_in_real_time(), patience,
                     reported_);
}

bool GatewayProblems::is_in_real_time() const { return !is_manual(gateway_.clock) && !is_instant(gateway_.clock); }

std::vector<std::string> GatewayProblems::new_findings(std::uint64_t since) const {
  std::vector<Finding> found = harmless_findings(*gateway_.journal, without_findings_, is_in_real_time(), since);
  const auto was_printed = [this](const Finding& one) { return reported_->new_notes({text_of(one)}).empty(); };
  found.erase(std::remove_if(found.begin(), found.end(), was_printed), found.end());
  if (found.empty()) return {};
  constexpr std::size_t none = 0;
  const auto review =
      Access::make<Review>(std::move(found), std::string(), ReviewTally{}, none, none, std::string(), nullptr);
  return {masked(review.message())};
}

}  // namespace detail

Review::Review(const Review&) = default;
Review& Review::operator=(const Review&) = default;
Review::~Review() = default;

Review::Review(std::vector<Finding> findings, std::string scope, detail::ReviewTally tally, std::size_t evicted,
               std::size_t open, std::string chaos, std::shared_ptr<detail::ReportedProblems> reported)
    : findings_(std::move(findings)),
      scope_(std::move(scope)),
      tally_(tally),
      evicted_(evicted),
      open_(open),
      chaos_(std::move(chaos)),
      reported_(std::move(reported)) {}

Review::operator bool() const {
  return std::none_of(findings_.begin(), findings_.end(), [](const Finding& finding) { return finding.fails_review; });
}

std::vector<Finding> Review::findings() && { return findings_; }
std::string Review::chaos() const { return chaos_; }

std::string Review::message() const {
  std::string rest;
  const auto add = [&rest](const std::string& part) { rest += (rest.empty() ? "" : ", ") + part; };
  if (evicted_ > 0) {
    add(detail::text::counted(evicted_, "exchange") + (evicted_ == 1 ? " was" : " were") +
        " evicted before the review");
  }
  if (open_ > 0) add(detail::text::counted(open_, "exchange") + (open_ == 1 ? " is" : " are") + " still open");

  const std::string chaos = chaos_.empty() ? "" : "\n" + chaos_;
  const std::string counts = detail::text::counted(tally_.tries - tally_.retries, "call") + ", " +
                             std::to_string(tally_.tries) + (tally_.tries == 1 ? " try, " : " tries, ") +
                             detail::text::counted(tally_.faults, "injected fault");
  std::string clean;
  const bool is_part = tally_.tries == 0 && !findings_.empty();
  if (!is_part && std::all_of(findings_.begin(), findings_.end(),
                              [](const Finding& finding) { return finding.severity == Severity::note; })) {
    const std::string of_scope = scope_.empty() ? "" : " with " + scope_;
    const std::string judged = tally_.tries == 0
                                   ? "no exchange" + of_scope + " was recorded"
                                   : detail::text::counted(tally_.tries, "exchange") + of_scope + " judged";
    const bool is_plain = tally_.retries == 0 && tally_.faults == 0;
    clean = "clean: " + judged + (is_plain ? "" : " (" + counts + ")") + (rest.empty() ? "" : "; " + rest);
  }
  std::string lines = clean;
  if (clean.empty() && !is_part) lines = detail::text::counted(findings_.size(), "finding") + " in " + counts;
  std::vector<std::string> harmless;
  for (const Finding& finding : findings_)
    if (!finding.fails_review) harmless.push_back(detail::text_of(finding));
  if (reported_) reported_->add_notes(harmless);
  const auto kind_of = [](const Finding& finding) {
    // The wait differs each time: "retried 0.5 s after 429 …, but Retry-After was 1 s".
    const bool is_wait = finding.code == detail::finding_kinds::retry_after_ignored.code ||
                         finding.code == detail::finding_kinds::retry_delay_in_body_ignored.code;
    const std::size_t reason = is_wait ? std::min(finding.message.find(", but "), finding.message.size()) : 0;
    return std::pair(finding.code, finding.message.substr(reason));
  };
  std::map<std::pair<std::string, std::string>, std::vector<const Finding*>> alike;
  for (const Finding& finding : findings_) alike[kind_of(finding)].push_back(&finding);
  for (const Finding& finding : findings_) {
    const std::vector<const Finding*>& others = alike[kind_of(finding)];
    if (others.front() != &finding) continue;
    if (!lines.empty()) lines += '\n';
    lines += detail::text_of(finding);
    if (others.size() > 1) {
      lines += " (" + std::to_string(others.size() - 1) + " more like it, the last in exchange " +
               std::to_string(others.back()->exchanges.back()) + ")";
    }
  }
  return (rest.empty() || !clean.empty() ? lines : lines + "\n" + rest) + chaos;
}

Review Review::without(const std::string& code) const {
  detail::require_finding_code(code);
  Review rest = *this;
  const auto is_it = [&code](const Finding& finding) { return finding.code == code; };
  rest.findings_.erase(std::remove_if(rest.findings_.begin(), rest.findings_.end(), is_it), rest.findings_.end());
  return rest;
}

std::ostream& operator<<(std::ostream& out, const Review& review) {
  return out << detail::text::ended_lines(review.message());
}

const std::vector<std::string>& finding_codes() {
  static const std::vector<std::string> codes = [] {
    std::vector<std::string> all;
    for (const detail::finding_kinds::Kind& kind : detail::finding_kinds::all) all.emplace_back(kind.code);
    for (const detail::service_rules::Rule& rule : detail::service_rules::rules)
      if (std::find(all.begin(), all.end(), rule.name) == all.end()) all.emplace_back(rule.name);
    return all;
  }();
  return codes;
}

}  // namespace mock_gateway
