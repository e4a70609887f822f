// The functions of `Exchange`: `summary()` (the log line), `as_curl()`, `chat()`, `raw()`, and its faults and chaos.

#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>

#include "../core/access.hpp"
#include "../core/error.hpp"
#include "../core/text.hpp"
#include "../keys/secrets.hpp"
#include "../model/request_error.hpp"
#include "../request/chat_parser.hpp"
#include "record.hpp"

namespace mock_gateway {

namespace detail {
namespace journal {

/// Returns the first line of the text, printable, at most `most` bytes.
std::string one_line(std::string_view text, std::size_t most) {
  return text::printable(text.substr(0, text.find('\n')), most);
}

/// Returns "exchange 3 (POST /v1/chat/completions)".
std::string name_of(const ExchangeRecord& record) {
  return "exchange " + std::to_string(record.id) + " (" + one_line(record.request.method, 20) + " " +
         one_line(record.request.target, 100) + ")";
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

/// Whether the bytes can appear in a command without disrupting a terminal. Line ends and tabs can.
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

/// Returns a printf command that prints these bytes and itself contains only showable characters.
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
        escaped += "\\0";  // followed by three octal digits
        for (const unsigned shift : {6u, 3u, 0u}) escaped += static_cast<char>('0' + ((byte >> shift) & 7u));
      }
    }
  }
  return "printf %b " + shell_quoted(escaped);
}

/// Returns a shell word with these bytes, which contain no NUL and no line end.
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

/// `is_key_header`: its value is a key without a scheme.
std::string header_argument(const wire::Header& header, bool is_key_header) {
  const std::string_view value = header.value;
  const std::size_t scheme = is_key_header ? 0 : std::min(value.find(' '), value.size());
  const std::string_view credential = text::trim(value.substr(scheme));
  const bool is_bearer = text::equals_ignoring_case(header.name, "Authorization") &&
                         text::equals_ignoring_case(value.substr(0, scheme), "Bearer");
  if ((is_bearer || is_key_header) && (credential == secrets::masked || credential == secrets::masked_other)) {
    return "-H \"" + header.name + ": " + std::string(value.substr(0, scheme)) + (is_bearer ? " " : "") +
           "$OPENAI_API_KEY\"";
  }
  // For curl, "Name:" removes a field; "Name;" sends it without a value.
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

/// Whether a body fits into one argument: showable, without NUL, and far below Linux's limit of 128 KiB.
bool fits_argument(std::string_view body) { return body.size() <= 100'000 && is_showable(body); }

}  // namespace journal
}  // namespace detail

Exchange::Exchange(std::shared_ptr<detail::ExchangeRecord> record) : record_(std::move(record)) {}

std::uint64_t Exchange::id() const { return record_->id; }
std::uint64_t Exchange::connection_id() const { return record_->connection_id; }
std::size_t Exchange::position() const { return record_->position; }
bool Exchange::reused_connection() const { return record_->position > 1; }
const std::string& Exchange::method() const& { return record_->request.method; }
std::string Exchange::path() const { return record_->request.path(); }
std::string Exchange::query() const { return record_->request.query(); }
const wire::Headers& Exchange::headers() const& { return record_->request.headers; }
const std::string& Exchange::body() const& { return record_->request.body; }
const ReceivedRequest& Exchange::request() const& { return record_->request; }
const std::string& Exchange::key_id() const& { return record_->request.key_id; }
const Decision& Exchange::decision() const& { return record_->decision; }
int Exchange::status() const {
  const bool is_pending = outcome(Duration::zero()) == Outcome::Kind::pending;
  return is_pending || bytes_sent() > 0 ? record_->status : 0;
}
std::vector<NearMiss> Exchange::near_misses() const { return record_->near_misses; }
const std::vector<Finding>& Exchange::findings() const& { return record_->findings; }
const std::optional<ConnectionFault>& Exchange::connection_fault() const& { return record_->connection_fault; }
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
Duration Exchange::lateness() const { return Duration(record_->progress.lateness); }
TimePoint Exchange::received() const { return record_->received; }
std::string Exchange::method() && { return record_->request.method; }
wire::Headers Exchange::headers() && { return record_->request.headers; }
std::string Exchange::body() && { return record_->request.body; }
ReceivedRequest Exchange::request() && { return record_->request; }
std::string Exchange::key_id() && { return record_->request.key_id; }
Decision Exchange::decision() && { return record_->decision; }
std::vector<Finding> Exchange::findings() && { return record_->findings; }
std::optional<ConnectionFault> Exchange::connection_fault() && { return record_->connection_fault; }

std::string Exchange::raw() const {
  return record_->raw_head + (record_->raw_body.empty() ? record_->request.body : record_->raw_body);
}

ChatRequest Exchange::chat() const {
  if (!record_->chat) {
    throw GatewayError(detail::journal::name_of(*record_) + " is not a valid chat request: it was answered with " +
                       std::to_string(record_->status) + ", " + to_string(record_->decision.kind) +
                       "; body() and raw() return the bytes that arrived");
  }
  try {
    return detail::parse_chat_request(record_->request.body, record_->acceptance, record_->limits);
  } catch (const detail::RequestError& error) {
    throw GatewayError(detail::journal::name_of(*record_) +
                       " cannot be read as a chat request because its keys were masked: " +
                       detail::text::printable(error.failure.message()));
  }
}

Outcome Exchange::outcome(Duration timeout) const {
  std::unique_lock<std::mutex> lock(record_->signal->mutex);
  record_->signal->changed.wait_until(lock, detail::journal::deadline(timeout),
                                      [this] { return record_->outcome != Outcome::Kind::pending; });
  return detail::journal::outcome_of(*record_);
}

Wait Exchange::wait_for_client_to_leave(Duration timeout) const {
  const auto left = [this] { return record_->departure || record_->outcome == Outcome::Kind::client_left; };
  const std::string client = "the client of " + detail::journal::name_of(*record_);
  std::unique_lock<std::mutex> lock(record_->signal->mutex);
  if (record_->signal->changed.wait_until(lock, detail::journal::deadline(timeout), left)) {
    return detail::Access::make<Wait>(true, client + " left");
  }
  return detail::Access::make<Wait>(false, client + " has not left; the exchange is " +
                                               detail::journal::text_of(detail::journal::outcome_of(*record_)));
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
    command += " --head";  // -X HEAD would wait for a body
  } else if (request.method != (has_body ? "POST" : "GET")) {
    command += " -X " + detail::journal::shell_word(request.method);
  }
  command += " " + detail::journal::target_arguments(record_->root_url, request.target);
  for (const wire::Header& header : request.headers) {
    if (detail::journal::made_by_curl(header.name)) continue;
    const bool is_key_header = record_->keys && record_->keys->is_key_header(header.name);
    command += " " + detail::journal::header_argument(header, is_key_header);
  }
  if (!has_body) return command;

  if (!request.headers.has("Content-Type")) command += " -H 'Content-Type:'";  // otherwise curl declares a form
  if (!detail::journal::fits_argument(request.body)) {
    return detail::journal::print_command(request.body) + " | " + command + " --data-binary @-";
  }
  // --data-binary interprets "@" as a file name.
  const std::string option = request.body[0] == '@' ? " --data-raw " : " --data-binary ";
  return command + option + detail::journal::shell_quoted(request.body);
}

std::string Exchange::summary() const {
  // The diagnosis of an unmatched request begins with an indented line.
  std::string_view told = record_->decision.detail;
  told.remove_prefix(std::min(told.find_first_not_of(' '), told.size()));
  std::string decided = detail::journal::one_line(told, 200);
  if (!record_->refusal.empty()) decided += ": " + detail::journal::one_line(record_->refusal, 300);
  const detail::ExchangeRecord& record = *record_;
  std::string line = "#" + std::to_string(record.id) + " " + detail::journal::one_line(record.request.method, 20) +
                     " " + detail::journal::one_line(record.request.target, 200) + " " +
                     (status() == 0 ? "(no status)" : std::to_string(record.status)) + " " +
                     detail::journal::text_of(Decision{record.decision.kind, std::move(decided)}) + " " +
                     detail::journal::text_of(outcome(Duration::zero()));
  if (record.connection_fault) line += "; connection fault " + record.connection_fault->to_string();
  for (const std::string& fault : faults()) line += "; fault " + detail::journal::one_line(fault, 200);
  for (const std::string& strike : chaos()) line += "; chaos " + detail::journal::one_line(strike, 200);
  return line;
}

std::optional<SentAnswer> Exchange::answer() const {
  if (!record_->progress.log) return std::nullopt;
  SentAnswer answer = record_->progress.log->sent();
  if (record_->keys) detail::redact(answer, *record_->keys);
  return answer;
}

std::ostream& operator<<(std::ostream& out, const Exchange& exchange) { return out << exchange.summary(); }

}  // namespace mock_gateway
