#include "journal.hpp"

#include <algorithm>  // any_of, count_if, find, find_if, min, none_of
#include <chrono>
#include <iterator>  // begin, end
#include <ostream>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "../core/error.hpp"
#include "../core/text.hpp"
#include "../keys/secrets.hpp"
#include "../model/failure.hpp"

namespace mock_gateway {

namespace detail {
namespace journal {

/// The text's first line, printable, at most `most` bytes of it.
std::string one_line(std::string_view text, std::size_t most);
/// Now and `timeout` more, a year at most: the sum of a moment and Duration::max() would overflow.
std::chrono::steady_clock::time_point deadline(Duration timeout);
/// "exchange 3 (POST /v1/chat/completions)".
std::string name_of(const ExchangeRecord& record);

/// "; exchange 1 stalls as scripted after token 2 since 2.0 s"; empty when it does not wait as its script wants.
std::string scripted_wait(const ExchangeRecord& record);
/// The memory of these besides their own size: of a short text there is none.
std::size_t held(const std::string& text);
std::size_t held(const Headers& headers);
std::size_t held(const ConnectionFault& fault);
/// What scopes are told by, the body left out.
ReceivedRequest without_body(const ReceivedRequest& request);

/// In single quotes, for a POSIX shell.
std::string shell_quoted(std::string_view text);
/// Whether the bytes may stand in a command as they are: nothing of it disrupts the terminal that shows the command.
/// Line ends and tabs, which make a body readable, may.
bool is_showable(std::string_view bytes);
/// A word of a command with these bytes, which no NUL and no line end is part of.
std::string shell_argument(std::string_view bytes);
/// A word that no shell reads otherwise stands without quotes.
std::string shell_word(std::string_view text);
/// A header field as curl's argument.
std::string header_argument(const Header& header);
/// Whether curl makes this field itself, from the request that it sends.
bool made_by_curl(std::string_view name);
/// The arguments that make curl send this target.
std::string target_arguments(const std::string& root_url, const std::string& target);
/// Whether a body fits into one argument: showable, without NUL, and well below Linux's 128 KiB.
bool fits_argument(std::string_view body);
/// A command that prints the bytes, whatever they are, and shows none that is not showable.
std::string print_command(std::string_view bytes);

std::string one_line(std::string_view text, std::size_t most) {
  return text::printable(text.substr(0, text.find('\n')), most);
}

std::chrono::steady_clock::time_point deadline(Duration timeout) {
  constexpr Duration year = std::chrono::hours{24 * 365};
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::min(timeout, year));
}

std::string name_of(const ExchangeRecord& record) {
  return "exchange " + std::to_string(record.id) + " (" + one_line(record.request.method, 20) + " " +
         one_line(record.request.target, 100) + ")";
}

std::string scripted_wait(const ExchangeRecord& record) {
  const std::optional<ScriptedWait> wait = record.progress.scripted_wait();
  return wait ? "; exchange " + std::to_string(record.id) + " " + wait->under_way() : "";
}

std::size_t held(const std::string& text) {
  const std::size_t own = std::string().capacity();
  return text.capacity() > own ? text.capacity() + 1 : 0;
}

std::size_t held(const Headers& headers) {
  std::size_t total = 0;
  for (const Header& header : headers) total += sizeof(Header) + held(header.name) + held(header.value);
  return total;
}

std::size_t held(const ConnectionFault& fault) {
  std::size_t total = held(fault.bytes());
  if (const std::optional<Failure>& failure = fault.failure()) {
    total += held(failure->code()) + held(failure->message()) + held(failure->type()) + held(failure->param()) +
             held(failure->headers(TimePoint{})) + held(failure->content_type());
    if (failure->raw_body()) total += held(*failure->raw_body());
  }
  return total;
}

ReceivedRequest without_body(const ReceivedRequest& request) {
  ReceivedRequest copy;
  copy.method = request.method;
  copy.target = request.target;
  copy.headers = request.headers;
  copy.key_id = request.key_id;
  copy.key_description = request.key_description;
  return copy;
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char byte : text) {
    if (byte == '\'') {
      quoted += "'\\''";
    } else {
      quoted += byte;
    }
  }
  return quoted += '\'';
}

bool is_showable(std::string_view bytes) {
  for (std::size_t offset = 0; offset < bytes.size();) {
    char32_t character = 0;
    const std::size_t length = text::decode_utf8(bytes, offset, character);
    if (length == 0) return false;
    if (text::is_disruptive(character) && character != U'\n' && character != U'\t') return false;
    offset += length;
  }
  return true;
}

std::string shell_argument(std::string_view bytes) {
  return is_showable(bytes) ? shell_quoted(bytes) : "\"$(" + print_command(bytes) + ")\"";
}

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && text.find_first_not_of(
                                          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                          "0123456789-_.") == std::string_view::npos;
  return plain ? std::string(text) : shell_argument(text);
}

bool made_by_curl(std::string_view name) {
  constexpr std::string_view names[] = {
      "Host",    "Content-Length", "Connection",       "Keep-Alive", "Transfer-Encoding",
      "Trailer", "Expect",         "Proxy-Connection", "Upgrade",    "Accept-Encoding",
      "TE"};
  return std::any_of(std::begin(names), std::end(names),
                     [name](std::string_view made) { return text::equals_ignoring_case(name, made); });
}

std::string header_argument(const Header& header) {
  const std::string_view value = header.value;
  const std::size_t gap = std::min(value.find(' '), value.size());
  const std::string_view credential = text::trim(value.substr(gap));
  if (text::equals_ignoring_case(header.name, "Authorization") &&
      text::equals_ignoring_case(value.substr(0, gap), "Bearer") &&
      (credential == secrets::masked || credential == secrets::masked_other)) {
    return "-H \"" + header.name + ": " + std::string(value.substr(0, gap)) + " $OPENAI_API_KEY\"";
  }
  // "Name:" would remove a field of curl's own; "Name;" sends one without a value.
  return "-H " + shell_argument(value.empty() ? header.name + ";" : header.name + ": " + header.value);
}

std::string target_arguments(const std::string& root_url, const std::string& target) {
  const auto odd = [](char byte) { return byte <= ' ' || byte >= '\x7f' || byte == '#'; };
  if (target.empty() || target[0] != '/' || std::any_of(target.begin(), target.end(), odd)) {
    return "--request-target " + shell_argument(target) + " " + shell_quoted(root_url + "/");
  }
  std::string arguments;
  if (target.find_first_of("[]{}") != std::string::npos) arguments += "--globoff ";
  if (target.find("/.") != std::string::npos) arguments += "--path-as-is ";
  return arguments + shell_quoted(root_url + target);
}

bool fits_argument(std::string_view body) { return body.size() <= 100'000 && is_showable(body); }

std::string print_command(std::string_view bytes) {
  if (is_showable(bytes)) return "printf %s " + shell_quoted(bytes);
  std::string escaped;
  for (std::size_t offset = 0; offset < bytes.size();) {
    const std::size_t length = text::next_code_point(bytes, offset);
    const std::string_view character = bytes.substr(offset, length);
    offset += length;
    if (character == "\\") {
      escaped += "\\\\";
    } else if (is_showable(character)) {
      escaped += character;
    } else {
      for (const char c : character) {
        const auto byte = static_cast<unsigned char>(c);
        escaped += "\\0";  // and three octal digits
        for (const unsigned shift : {6u, 3u, 0u}) escaped += static_cast<char>('0' + ((byte >> shift) & 7u));
      }
    }
  }
  return "printf %b " + shell_quoted(escaped);
}

}  // namespace journal
}  // namespace detail

std::string to_string(Decision::Kind kind) {
  switch (kind) {
    case Decision::Kind::stub: return "stub";
    case Decision::Kind::default_reply: return "default reply";
    case Decision::Kind::unmatched: return "unmatched";
    case Decision::Kind::forced_failure: return "forced failure";
    case Decision::Kind::chaos: return "chaos";
    case Decision::Kind::rejected: return "rejected";
    case Decision::Kind::models: return "models";
    case Decision::Kind::handler: return "handler";
    case Decision::Kind::callback_failed: return "callback failed";
    case Decision::Kind::answer_failed: return "answer failed";
    case Decision::Kind::malformed: return "malformed";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, Decision::Kind kind) { return out << to_string(kind); }

std::ostream& operator<<(std::ostream& out, const Decision& decision) {
  out << to_string(decision.kind);
  if (decision.detail.empty()) return out;
  const bool plain_name = decision.kind == Decision::Kind::stub && decision.detail.find('"') == std::string::npos;
  const std::string detail = detail::text::printable_lines(decision.detail);
  return plain_name ? out << " \"" << detail << '"' : out << " (" << detail << ')';
}

std::string to_string(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::pending: return "pending";
    case Outcome::Kind::completed: return "completed";
    case Outcome::Kind::client_left: return "client left";
    case Outcome::Kind::failed_by_script: return "failed by script";
    case Outcome::Kind::client_stalled: return "client stalled";
    case Outcome::Kind::stopped: return "stopped";
    case Outcome::Kind::guard_expired: return "guard expired";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, Outcome::Kind kind) { return out << to_string(kind); }

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  out << outcome.kind;
  // Of a whole answer the number says nothing; of a broken one it is the question.
  if (outcome.kind == Outcome::Kind::completed || outcome.events == 0) return out;
  return out << " after " << detail::text::counted(outcome.events, "event");
}

std::string to_string(Departure::How how) { return how == Departure::How::reset ? "reset" : "closed"; }

std::ostream& operator<<(std::ostream& out, Departure::How how) { return out << to_string(how); }

std::ostream& operator<<(std::ostream& out, const Departure& departure) {
  return out << departure.how << " after " << detail::text::counted(departure.events, "event");
}

namespace detail {

std::size_t ExchangeRecord::weight() const {
  using journal::held;
  std::size_t total = sizeof(ExchangeRecord) + held(request.headers);
  for (const std::string* text :
       {&request.method, &request.target, &request.body, &request.key_id, &request.key_description, &raw_head,
        &raw_body, &decision.detail, &refusal, &root_url, &advice.code})
    total += held(*text);
  for (const Finding& finding : findings) {
    total +=
        sizeof(Finding) + finding.exchanges.size() * sizeof(std::uint64_t) + held(finding.code) + held(finding.message);
  }
  for (const ChaosStrike& strike : chaos) total += sizeof(ChaosStrike) + held(strike.text);
  if (connection_fault) total += held(*connection_fault);
  return total;
}

std::unique_lock<std::mutex> ExchangeRecord::lock() const {
  // Before publication nobody else knows the record.
  return signal ? std::unique_lock<std::mutex>(signal->mutex) : std::unique_lock<std::mutex>();
}

void ExchangeRecord::mark_connection(RealTime accepted) {
  const auto locked = lock();
  connected = accepted;
}

void ExchangeRecord::mark_first_byte(TimePoint at, RealTime real) {
  const auto locked = lock();
  if (first_byte) return;
  first_byte = at;
  answered = real;
}

void ExchangeRecord::mark_client_closed(const Departure& how) {
  {
    const auto locked = lock();
    if (departure) return;
    departure = how;
    left = std::chrono::steady_clock::now();
  }
  if (signal) signal->changed.notify_all();
}

void ExchangeRecord::mark_forsaken(bool is) {
  if (!signal) return;
  {
    const auto locked = lock();
    if (forsaken == is) return;
    forsaken = is;
    is ? --signal->under_way : ++signal->under_way;
  }
  signal->changed.notify_all();
}

bool ExchangeRecord::has_guard_expired() const {
  const auto locked = lock();
  return guard_expired;
}

void ExchangeRecord::mark_chaos_missed(std::size_t strike) {
  const auto locked = lock();
  chaos[strike].missed = true;
}

void ExchangeRecord::mark_delivered(std::vector<ScriptedFault> scripted, std::string finish_reason) {
  const auto locked = lock();
  faults = std::move(scripted);
  unusual_finish = std::move(finish_reason);
}

std::vector<ExchangeRecord::ScriptedFault> ExchangeRecord::scripted_faults() const {
  const auto locked = lock();
  return faults;
}

std::size_t ExchangeRecord::chaos_strikes() const {
  if (chaos.empty()) return 0;
  const auto locked = lock();
  return static_cast<std::size_t>(
      std::count_if(chaos.begin(), chaos.end(), [](const ChaosStrike& strike) { return !strike.missed; }));
}

void ExchangeRecord::mark_guard_expired() {
  {
    const auto locked = lock();
    guard_expired = true;
  }
  if (signal) signal->changed.notify_all();
}

}  // namespace detail

std::string Exchange::raw() const {
  return record_->raw_head + (record_->raw_body.empty() ? record_->request.body : record_->raw_body);
}

ChatRequest Exchange::chat() const {
  if (!record_->chat) {
    throw GatewayError(detail::journal::name_of(*record_) + " was no valid chat request: it was answered with " +
                       std::to_string(record_->status) + ", " + to_string(record_->decision.kind) +
                       "; body() and raw() hold what arrived");
  }
  try {
    return detail::parse_chat_request(record_->request.body, record_->acceptance, record_->limits);
  } catch (const detail::RequestError& error) {
    throw GatewayError(detail::journal::name_of(*record_) + " is no chat request since its keys were masked: " +
                       detail::text::printable(error.failure.message()));
  }
}

Outcome Exchange::outcome(Duration timeout) const {
  std::unique_lock<std::mutex> lock(record_->signal->mutex);
  record_->signal->changed.wait_until(lock, detail::journal::deadline(timeout),
                                      [this] { return record_->outcome != Outcome::Kind::pending; });
  return Outcome{record_->outcome, record_->progress.events};
}

std::size_t Exchange::events_sent() const {
  const std::lock_guard<std::mutex> lock(record_->progress.handover);
  return record_->progress.events;
}

std::size_t Exchange::tokens_sent() const {
  const std::lock_guard<std::mutex> lock(record_->progress.handover);
  return record_->progress.tokens;
}

std::size_t Exchange::bytes_sent() const {
  const std::lock_guard<std::mutex> lock(record_->progress.handover);
  return record_->bytes;
}

Wait Exchange::wait_for_client_to_leave(Duration timeout) const {
  const auto left = [this] { return record_->departure || record_->outcome == Outcome::Kind::client_left; };
  const std::string client = "the client of " + detail::journal::name_of(*record_);
  std::unique_lock<std::mutex> lock(record_->signal->mutex);
  if (record_->signal->changed.wait_until(lock, detail::journal::deadline(timeout), left)) {
    return Wait::fulfilled(client + " left");
  }
  return Wait::timed_out(client + " has not left; the exchange is " + to_string(record_->outcome) +
                         detail::journal::scripted_wait(*record_));
}

bool Exchange::client_closed_its_side() const {
  const std::lock_guard<std::mutex> lock(record_->signal->mutex);
  return record_->departure.has_value();
}

std::optional<Departure> Exchange::departure() const {
  const std::lock_guard<std::mutex> lock(record_->signal->mutex);
  return record_->departure;
}

std::vector<std::string> Exchange::chaos() const {
  std::vector<std::string> texts;
  if (record_->chaos.empty()) return texts;
  const std::lock_guard<std::mutex> lock(record_->signal->mutex);
  for (const auto& strike : record_->chaos) texts.push_back(strike.text + (strike.missed ? ": not reached" : ""));
  return texts;
}

std::vector<std::string> Exchange::faults() const {
  std::vector<std::string> texts;
  for (const auto& fault : record_->scripted_faults())
    texts.push_back(fault.fault.effect.to_string() + " " + fault.fault.trigger.to_string() +
                    (fault.reached ? "" : ": not reached"));
  return texts;
}

bool Exchange::guard_expired() const { return record_->has_guard_expired(); }

std::optional<TimePoint> Exchange::first_byte() const {
  const std::lock_guard<std::mutex> lock(record_->signal->mutex);
  return record_->first_byte;
}

std::optional<TimePoint> Exchange::ended() const {
  const std::lock_guard<std::mutex> lock(record_->signal->mutex);
  return record_->ended;
}

std::string Exchange::as_curl() const {
  const ReceivedRequest& request = record_->request;
  const bool has_body = !request.body.empty();
  std::string command = "curl";
  if (request.method == "HEAD" && !has_body) {
    command += " --head";  // -X HEAD would wait for the body that never comes
  } else if (request.method != (has_body ? "POST" : "GET")) {
    command += " -X " + detail::journal::shell_word(request.method);
  }
  command += " " + detail::journal::target_arguments(record_->root_url, request.target);
  for (const Header& header : request.headers) {
    if (!detail::journal::made_by_curl(header.name)) command += " " + detail::journal::header_argument(header);
  }
  if (!has_body) return command;

  if (!request.headers.has("Content-Type")) command += " -H 'Content-Type:'";  // else curl claims a form
  if (!detail::journal::fits_argument(request.body)) {
    return detail::journal::print_command(request.body) + " | " + command + " --data-binary @-";
  }
  // --data-binary takes "@" for a file's name.
  const std::string option = request.body[0] == '@' ? " --data-raw " : " --data-binary ";
  return command + option + detail::journal::shell_quoted(request.body);
}

std::string Exchange::summary() const {
  std::string decided = detail::journal::one_line(record_->decision.detail, 200);
  if (!record_->refusal.empty()) decided += ": " + detail::journal::one_line(record_->refusal, 300);
  std::ostringstream line;
  line << '#' << record_->id << ' ' << detail::journal::one_line(record_->request.method, 20) << ' '
       << detail::journal::one_line(record_->request.target, 200) << ' ' << record_->status << ' '
       << Decision{record_->decision.kind, std::move(decided)} << ' ' << outcome(Duration::zero());
  if (record_->connection_fault) line << "; connection fault " << record_->connection_fault->to_string();
  for (const std::string& fault : faults()) line << "; fault " << detail::journal::one_line(fault, 200);
  for (const std::string& strike : chaos()) line << "; chaos " << detail::journal::one_line(strike, 200);
  return line.str();
}

std::ostream& operator<<(std::ostream& out, const Exchange& exchange) { return out << exchange.summary(); }

namespace detail {

JournalState::JournalState(std::size_t max_entries, std::size_t max_bytes)
    : max_entries_(max_entries), max_bytes_(max_bytes) {
  if (max_entries == 0 || max_bytes == 0) {
    throw GatewayError("journal_limits(entries, bytes) needs at least 1 of each; the newest exchange is always kept");
  }
}

void JournalState::add(std::shared_ptr<ExchangeRecord> record) {
  std::vector<std::shared_ptr<ExchangeRecord>> out;  // freed after the lock
  {
    const std::lock_guard<std::mutex> lock(signal_->mutex);
    record->id = ++added_;
    record->signal = signal_;
    record->recorded = std::chrono::steady_clock::now();
    record->machine_time = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    // Under the lock: who sees the count finds the record.
    if (record->stub) record->stub->count_recorded(record->id);
    for (Finding& finding : record->findings) finding.exchanges = {record->id};
    for (Problem& problem : record->problems) keep(*record, std::move(problem));
    record->problems.clear();
    bytes_ += record->weight();
    records_.push_back(std::move(record));
    while (records_.size() > 1 && (records_.size() > max_entries_ || bytes_ > max_bytes_)) {
      bytes_ -= records_.front()->weight();
      out.push_back(std::move(records_.front()));
      records_.pop_front();
      ++evicted_;
    }
  }
  signal_->changed.notify_all();
}

void JournalState::report(const ExchangeRecord& record, Problem problem) {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  keep(record, std::move(problem));
}

void JournalState::keep(const ExchangeRecord& record, Problem problem) {
  if (record.epoch != epoch_) return;  // of an earlier test
  Count& count = problem_counts_[record.request.key_id];
  if (count.kept == max_problems_of_a_key) {
    ++count.dropped;
    return;
  }
  ++count.kept;
  problem.exchange = record.id;
  problem.text = text::printable_lines(problem.text);
  problem.request = journal::without_body(record.request);
  if (!problem.stub) problem.stub = record.stub;
  problems_.push_back(std::move(problem));
}

std::vector<Problem> JournalState::problems() const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return problems_;
}

std::size_t JournalState::problems_dropped(const std::vector<std::string>& key_ids) const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  std::size_t dropped = 0;
  for (const auto& [key_id, count] : problem_counts_) {
    if (key_ids.empty() || std::find(key_ids.begin(), key_ids.end(), key_id) != key_ids.end()) dropped += count.dropped;
  }
  return dropped;
}

void JournalState::forget_problems() {
  std::vector<Problem> out;  // freed after the lock
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  out.swap(problems_);
  problem_counts_.clear();
  ++epoch_;
}

std::uint64_t JournalState::newest_id() const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return added_;
}

void JournalState::began() {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  ++signal_->under_way;
}

void JournalState::dropped() {
  {
    const std::lock_guard<std::mutex> lock(signal_->mutex);
    --signal_->under_way;
  }
  signal_->changed.notify_all();
}

void JournalState::hit(ConnectionHit hit) {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  hits_.push_back(std::move(hit));
  if (hits_.size() > max_entries_) hits_.pop_front();
}

std::vector<ConnectionHit> JournalState::hits() const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return {hits_.begin(), hits_.end()};
}

void JournalState::end(ExchangeRecord& record, Outcome::Kind outcome, TimePoint at) {
  {
    const std::lock_guard<std::mutex> lock(signal_->mutex);
    if (record.outcome != Outcome::Kind::pending) return;
    record.outcome = outcome;
    record.ended = at;
    record.over = std::chrono::steady_clock::now();
    if (!std::exchange(record.forsaken, false)) --signal_->under_way;
  }
  signal_->changed.notify_all();
}

std::vector<std::shared_ptr<ExchangeRecord>> JournalState::snapshot() const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return {records_.begin(), records_.end()};
}

std::size_t JournalState::added() const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return added_while_locked();
}

std::size_t JournalState::evicted() const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return evicted_;
}

void JournalState::clear() {
  std::deque<std::shared_ptr<ExchangeRecord>> out;  // freed after the lock
  {
    const std::lock_guard<std::mutex> lock(signal_->mutex);
    out.swap(records_);
    hits_.clear();
    bytes_ = 0;
    cleared_ = added_;
    evicted_ = 0;
  }
  signal_->changed.notify_all();
}

std::shared_ptr<ExchangeRecord> JournalState::last() const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  if (!records_.empty()) return records_.back();
  throw GatewayError(added_ == 0 ? "no exchange has been recorded yet; Journal::wait_for(1, timeout) waits for one"
                                 : "no exchange has been recorded since the journal was cleared");
}

std::shared_ptr<ExchangeRecord> JournalState::at(std::uint64_t id) const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  const std::string name = "exchange " + std::to_string(id);
  if (id == 0) throw GatewayError("exchanges count from 1");
  if (id > added_) {
    throw GatewayError("there is no " + name + " yet; " +
                       (added_ == 0 ? "none has been recorded" : "the newest is " + std::to_string(added_)));
  }
  if (id <= cleared_) throw GatewayError(name + " was forgotten when the journal was cleared");
  // Ids are consecutive, and records leave from the front only.
  const std::uint64_t oldest = records_.front()->id;
  if (id < oldest) {
    throw GatewayError(name + " was evicted to keep the journal's bounds; Options::journal_limits raises them");
  }
  return records_[static_cast<std::size_t>(id - oldest)];
}

bool JournalState::wait(Duration timeout, const std::function<bool()>& condition) const {
  std::unique_lock<std::mutex> lock(signal_->mutex);
  return signal_->changed.wait_until(lock, journal::deadline(timeout), condition);
}

void JournalState::wait_until_idle(const RequestScope& scope, Duration patience) const {
  static_cast<void>(wait(patience, [&] { return open_while_locked(scope) == 0; }));
}

std::size_t JournalState::open(const RequestScope& scope) const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  return open_while_locked(scope);
}

std::size_t JournalState::open_while_locked(const RequestScope& scope) const {
  if (scope.whole()) return signal_->under_way;
  return static_cast<std::size_t>(std::count_if(records_.begin(), records_.end(), [&scope](const auto& record) {
    return record->outcome == Outcome::Kind::pending && !record->forsaken && scope.covers(record->request);
  }));
}

std::string JournalState::scripted_waits() const {
  constexpr std::size_t most = 3;
  std::string all;
  std::size_t waiting = 0;
  for (const auto& record : snapshot()) {
    const std::string wait = journal::scripted_wait(*record);
    if (!wait.empty() && ++waiting <= most) all += wait;
  }
  return waiting > most ? all + "; and " + std::to_string(waiting - most) + " more wait as scripted" : all;
}

std::shared_ptr<ExchangeRecord> JournalState::last_of_stub(const StubState& stub) const {
  const std::lock_guard<std::mutex> lock(signal_->mutex);
  const auto found = std::find_if(records_.rbegin(), records_.rend(),
                                  [&stub](const auto& record) { return record->stub.get() == &stub; });
  return found == records_.rend() ? nullptr : *found;
}

}  // namespace detail

std::size_t Journal::count() const { return state_->added(); }

std::size_t Journal::evicted() const { return state_->evicted(); }

std::vector<Exchange> Journal::all() const {
  std::vector<Exchange> exchanges;
  for (auto& record : state_->snapshot()) exchanges.emplace_back(std::move(record));
  return exchanges;
}

Exchange Journal::last() const { return Exchange(state_->last()); }

Exchange Journal::at(std::uint64_t id) const { return Exchange(state_->at(id)); }

std::vector<Exchange> Journal::by_key(const std::string& key_id) const {
  std::vector<Exchange> exchanges;
  for (auto& record : state_->snapshot()) {
    if (record->request.key_id == key_id) exchanges.emplace_back(std::move(record));
  }
  return exchanges;
}

std::vector<Exchange> Journal::in(const RequestScope& scope) const {
  std::vector<Exchange> exchanges;
  for (auto& record : state_->snapshot()) {
    if (scope.covers(record->request)) exchanges.emplace_back(std::move(record));
  }
  return exchanges;
}

std::vector<ConnectionHit> Journal::connection_hits() const { return state_->hits(); }

std::size_t Journal::connections() const {
  std::set<std::uint64_t> ids;
  for (const auto& record : state_->snapshot()) ids.insert(record->connection_id);
  return ids.size();
}

Wait Journal::wait_for(std::size_t count, Duration timeout) const {
  std::size_t recorded = 0;
  const bool fulfilled = state_->wait(timeout, [&] { return (recorded = state_->added_while_locked()) >= count; });
  if (fulfilled) return Wait::fulfilled(detail::text::counted(recorded, "exchange") + " recorded");
  return Wait::timed_out(std::to_string(recorded) + " of " + detail::text::counted(count, "exchange") +
                         (count == 1 ? " was recorded" : " were recorded") + state_->scripted_waits());
}

Wait Journal::wait_until_idle(Duration timeout) const {
  std::size_t under_way = 0;
  const bool idle = state_->wait(timeout, [&] { return (under_way = state_->open_while_locked({})) == 0; });
  if (idle) return Wait::fulfilled("no request is under way");
  std::string message = detail::text::counted(under_way, "request") + (under_way == 1 ? " is" : " are") + " under way";
  std::size_t named = 0;
  for (const Exchange& exchange : all()) {
    if (exchange.outcome(Duration::zero()) != Outcome::Kind::pending) continue;
    if (++named > 3) break;
    message += (named == 1 ? ": " : "; ") + exchange.summary();
  }
  return Wait::timed_out(message + state_->scripted_waits());
}

void Journal::clear() const { state_->clear(); }

}  // namespace mock_gateway
