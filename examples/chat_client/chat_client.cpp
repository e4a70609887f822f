#include "chat_client.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <utility>

namespace chat_client {

using nlohmann::json;

void SseParser::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);  // the rest of a CRLF
    after_cr_ = false;
    const std::size_t length = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, length);
    if (length == std::string_view::npos) return;
    after_cr_ = bytes[length] == '\r';
    bytes.remove_prefix(length + 1);
    end_line();
  }
}

void SseParser::end_line() {
  std::string line = std::exchange(line_, {});
  if (std::exchange(first_line_, false) && line.compare(0, 3, "\xEF\xBB\xBF") == 0) line.erase(0, 3);
  if (line.empty()) {
    const std::optional<std::string> data = std::exchange(data_, std::nullopt);
    if (data && !data->empty()) on_data_(*data);
    return;
  }
  const std::size_t colon = line.find(':');
  if (line.substr(0, colon) != "data") return;
  std::string value = colon == std::string::npos ? "" : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.erase(0, 1);
  data_ = data_ ? *data_ + '\n' + value : value;
}

namespace detail {

enum class Progress { wants_more, satisfied, failed };

/// One request and its response.
class Exchange {
 public:
  /// `on_stream` receives the body of an event stream, piece by piece.
  explicit Exchange(std::function<Progress(std::string_view)> on_stream = {}) : on_stream_(std::move(on_stream)) {}

  void begin() {
    code = CURLE_OK;
    status = 0;
    headers.clear();
    body.clear();
    satisfied = false;
  }

  bool is_stream() const {
    return on_stream_ && status == 200 && header("content-type").find("text/event-stream") == 0;
  }
  /// Bytes that are no HTTP response: the request arrived, and the server may have processed it.
  bool is_garbage() const {
    return status == 0 && (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY);
  }
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }

  void take_header(std::string_view line) {
    if (line.substr(0, 5) == "HTTP/") {  // of an interim or the final response
      headers.clear();
      status = std::atoi(std::string(line.substr(line.find(' ') + 1)).c_str());
      return;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::size_t first = line.find_first_not_of(" \t", colon + 1);
    const std::size_t last = line.find_last_not_of(" \t\r\n");
    headers[name] = first <= last ? std::string(line.substr(first, last - first + 1)) : "";
  }
  bool take_body(std::string_view bytes) {
    if (!is_stream()) {
      body += bytes;
      return true;
    }
    const Progress progress = on_stream_(bytes);
    satisfied = progress == Progress::satisfied;
    return progress != Progress::failed;
  }

  CURLcode code = CURLE_OK;
  int status = 0;  // 0: no byte of a response yet
  std::map<std::string, std::string> headers;
  std::string body;
  bool cancelled = false;
  /// The response is complete; the transfer need not wait until the server ends it.
  bool satisfied = false;
  std::exception_ptr thrown;  // thrown by the caller's code; exceptions must not pass through libcurl

 private:
  std::function<Progress(std::string_view)> on_stream_;
};

std::size_t on_header(char* bytes, std::size_t, std::size_t size, void* exchange) {
  static_cast<Exchange*>(exchange)->take_header({bytes, size});
  return size;
}

std::size_t on_body(char* bytes, std::size_t, std::size_t size, void* exchange) {
  auto& to = *static_cast<Exchange*>(exchange);
  try {
    return to.take_body({bytes, size}) ? size : 0;
  } catch (...) {
    to.thrown = std::current_exception();
    return 0;
  }
}

/// Gives libcurl the body of the request once. If libcurl could read it again, it would resend the request by itself
/// when a kept-alive connection fails before the response: uncounted and without a pause, and a chat request costs
/// money.
struct Upload {
  std::string_view left;

  static std::size_t take(char* buffer, std::size_t, std::size_t room, void* upload) {
    std::string_view& left = static_cast<Upload*>(upload)->left;
    const std::size_t size = left.copy(buffer, room);
    left.remove_prefix(size);
    return size;
  }
};

bool is_loopback(const std::string& url) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parsed(curl_url(), curl_url_cleanup);
  char* host = nullptr;
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK ||
      curl_url_get(parsed.get(), CURLUPART_HOST, &host, 0) != CURLUE_OK) {
    return false;
  }
  const std::string name = host;
  curl_free(host);
  return name == "localhost" || name == "[::1]" || name.compare(0, 4, "127.") == 0;
}

/// libcurl's handles: a transfer, and the event loop that drives it, so that another thread can cancel it.
class Connection {
 public:
  Connection() {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (ready != CURLE_OK) throw std::runtime_error("libcurl does not start");
    loop_ = curl_multi_init();
    transfer_ = curl_easy_init();
  }
  ~Connection() {
    curl_easy_cleanup(transfer_);
    curl_multi_cleanup(loop_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void cancel() {
    cancelled_ = true;
    curl_multi_wakeup(loop_);
  }

  void post(Exchange& exchange, const std::string& url, const std::string& key, const std::string& body,
            std::chrono::seconds stall_timeout) {
    exchange.begin();
    curl_slist* headers = nullptr;
    for (const std::string& field : {"Authorization: Bearer " + key, std::string("Content-Type: application/json"),
                                     std::string("Expect:")}) {  // do not wait for "100 Continue"
      headers = curl_slist_append(headers, field.c_str());
    }
    curl_easy_reset(transfer_);
    curl_easy_setopt(transfer_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(transfer_, CURLOPT_HTTPHEADER, headers);
    Upload upload{body};
    curl_easy_setopt(transfer_, CURLOPT_POST, 1L);
    curl_easy_setopt(transfer_, CURLOPT_READFUNCTION, Upload::take);
    curl_easy_setopt(transfer_, CURLOPT_READDATA, &upload);
    curl_easy_setopt(transfer_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(transfer_, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(transfer_, CURLOPT_HEADERDATA, &exchange);
    curl_easy_setopt(transfer_, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(transfer_, CURLOPT_WRITEDATA, &exchange);
    curl_easy_setopt(transfer_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(transfer_, CURLOPT_CONNECTTIMEOUT, 10L);
    curl_easy_setopt(transfer_, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(transfer_, CURLOPT_LOW_SPEED_TIME, static_cast<long>(stall_timeout.count()));
    // A proxy from the environment cannot reach this machine's loopback address.
    if (is_loopback(url)) curl_easy_setopt(transfer_, CURLOPT_NOPROXY, "*");
    curl_multi_add_handle(loop_, transfer_);
    run(exchange);
    curl_multi_remove_handle(loop_, transfer_);
    curl_slist_free_all(headers);
  }

 private:
  void run(Exchange& exchange) {
    using Steady = std::chrono::steady_clock;
    std::optional<Steady::time_point> give_up;
    for (;;) {
      if (cancelled_) {
        exchange.cancelled = true;
        return;
      }
      int running = 0;
      curl_multi_perform(loop_, &running);
      if (running == 0) break;
      int wait = 1000;
      if (exchange.satisfied) {
        // Waits briefly for the end of the body, so that the connection can be reused.
        if (!give_up) give_up = Steady::now() + std::chrono::milliseconds(200);
        wait = static_cast<int>((*give_up - Steady::now()) / std::chrono::milliseconds(1));
        if (wait <= 0) return;
      }
      curl_multi_poll(loop_, nullptr, 0, wait, nullptr);
    }
    int left = 0;
    const CURLMsg* message = curl_multi_info_read(loop_, &left);
    if (!message) return;
    // libcurl wanted to resend the body, which the upload forbids: there was no response.
    exchange.code = message->data.result == CURLE_SEND_FAIL_REWIND ? CURLE_GOT_NOTHING : message->data.result;
  }

  CURLM* loop_ = nullptr;
  CURL* transfer_ = nullptr;
  std::atomic<bool> cancelled_{false};
};

/// The state of a stream after the events so far.
struct StreamState {
  std::string received;
  std::string finish_reason;
  bool done = false;
  std::optional<ClientError> error;

  bool whole() const { return done || !finish_reason.empty(); }
  Progress progress() const { return error ? Progress::failed : done ? Progress::satisfied : Progress::wants_more; }
  void fail(ClientError::Kind kind, const std::string& message) { error.emplace(kind, 200, message); }

  /// Processes the data of an event and returns its text.
  std::string take(const std::string& data) {
    if (error || done) return "";
    done = data == "[DONE]";
    if (done) return "";
    try {
      const json event = json::parse(data);
      if (event.contains("error") && !event["error"].is_null()) {
        fail(ClientError::server_error, "the stream reports an error: " + event["error"].dump());
        return "";
      }
      const json choices = event.value("choices", json());
      if (choices.empty()) return "";  // a usage chunk
      const json& choice = choices.at(0);
      if (const json reason = choice.value("finish_reason", json()); reason.is_string()) finish_reason = reason;
      const json delta = choice.value("delta", json());
      if (!delta.is_object() || !delta.contains("content") || !delta["content"].is_string()) return "";
      received += delta["content"].get_ref<const std::string&>();
      return delta["content"];
    } catch (const json::exception& problem) {
      fail(ClientError::invalid_response, std::string("an event that is no chunk: ") + problem.what());
      return "";
    }
  }
};

/// The error of an exchange; empty if a response arrived and libcurl reports no error.
std::optional<ClientError> error_of(const Exchange& exchange) {
  if (exchange.cancelled) return ClientError(ClientError::cancelled, exchange.status, "cancelled");
  if (exchange.code == CURLE_OPERATION_TIMEDOUT) {
    return ClientError(ClientError::timed_out, exchange.status, curl_easy_strerror(exchange.code));
  }
  if (exchange.is_garbage()) {
    return ClientError(ClientError::invalid_response, exchange.status, "what came is no HTTP");
  }
  if (exchange.code != CURLE_OK) {
    return ClientError(ClientError::connection_lost, exchange.status, curl_easy_strerror(exchange.code));
  }
  if (exchange.status == 200) return std::nullopt;
  const ClientError::Kind kind = exchange.status == 401   ? ClientError::unauthorized
                                 : exchange.status == 403 ? ClientError::forbidden
                                 : exchange.status == 429 ? ClientError::rate_limited
                                 : exchange.status >= 500 ? ClientError::server_error
                                                          : ClientError::rejected;
  const json body = json::parse(exchange.body, nullptr, false);
  std::string message = std::to_string(exchange.status);
  if (body.is_object() && body.contains("error") && body["error"].is_object()) {
    message += " " + body["error"].value("message", "");
  }
  return ClientError(kind, exchange.status, message);
}

bool worth_a_retry(const Exchange& exchange) {
  if (exchange.cancelled || exchange.is_garbage()) return false;
  if (exchange.code != CURLE_OK) return exchange.status == 0 && exchange.code != CURLE_OPERATION_TIMEDOUT;
  if (const std::string told = exchange.header("x-should-retry"); !told.empty()) return told == "true";
  const int status = exchange.status;
  return status == 408 || status == 409 || status == 429 || status >= 500;
}

/// Parses all of `text` as a number in units of `unit`.
std::optional<std::chrono::nanoseconds> duration(const std::string& text, double unit) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(number >= 0 && number < 1e9)) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(number * unit));
}

/// The wait that the server requests: `retry-after-ms`, else Retry-After in seconds or as a date.
std::optional<std::chrono::nanoseconds> asked_wait(const Exchange& exchange) {
  if (const auto wait = duration(exchange.header("retry-after-ms"), 1e6)) return wait;
  const std::string asked = exchange.header("retry-after");
  if (const auto wait = duration(asked, 1e9)) return wait;
  const time_t date = curl_getdate(asked.c_str(), nullptr);
  if (date < 0) return std::nullopt;
  // Compares with the server's Date, in case the two clocks differ.
  const time_t server_now = curl_getdate(exchange.header("date").c_str(), nullptr);
  const time_t now = server_now < 0 ? std::time(nullptr) : server_now;
  if (date < now) return std::nullopt;
  return std::chrono::seconds(date - now);
}

/// Half a second, doubled with each retry up to 8 s, minus up to a quarter at random so that clients do not retry at
/// once.
std::chrono::nanoseconds own_wait(int retry) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const double seconds = std::min(0.5 * static_cast<double>(1 << std::min(retry, 10)), 8.0);
  const double share = std::uniform_real_distribution<double>(0.75, 1.0)(random);
  return std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(seconds * share * 1e9));
}

}  // namespace detail

void sleep_in_real_time(std::chrono::nanoseconds duration) { std::this_thread::sleep_for(duration); }

RunningStream::~RunningStream() {
  if (connection_) cancel();
}
void RunningStream::cancel() { connection_->cancel(); }

ChatClient::ChatClient(std::string base_url, std::string api_key, Sleeper sleep, Settings settings)
    : base_url_(std::move(base_url)),
      api_key_(std::move(api_key)),
      sleep_(std::move(sleep)),
      settings_(std::move(settings)),
      connection_(std::make_shared<detail::Connection>()) {}

ChatClient ChatClient::from_environment(Settings settings) {
  const char* key = std::getenv("OPENAI_API_KEY");
  if (!key || !*key) throw std::runtime_error("OPENAI_API_KEY is not set");
  const char* base_url = std::getenv("OPENAI_BASE_URL");
  if (const char* model = std::getenv("OPENAI_MODEL")) settings.model = model;
  return ChatClient(base_url ? base_url : "https://api.openai.com/v1", key, sleep_in_real_time, std::move(settings));
}

void ChatClient::send(detail::Exchange& exchange, const std::string& prompt, bool stream) {
  json body{{"model", settings_.model}, {"messages", {{{"role", "user"}, {"content", prompt}}}}};
  if (stream) body["stream"] = true;
  if (settings_.temperature) body["temperature"] = *settings_.temperature;
  const std::string text = body.dump();
  for (int retry = 0;; ++retry) {
    connection_->post(exchange, base_url_ + "/chat/completions", api_key_, text, settings_.stall_timeout);
    if (exchange.thrown) std::rethrow_exception(exchange.thrown);
    if (retry == settings_.max_retries || !worth_a_retry(exchange)) return;
    const auto wait = asked_wait(exchange).value_or(detail::own_wait(retry));
    if (wait > settings_.longest_wait) return;
    sleep_(wait);
  }
}

std::string ChatClient::ask(const std::string& prompt) {
  detail::Exchange exchange;
  send(exchange, prompt, false);
  if (const auto error = error_of(exchange)) throw ClientError(*error);
  try {
    return json::parse(exchange.body).at("choices").at(0).at("message").at("content").get<std::string>();
  } catch (const json::exception& problem) {
    throw ClientError(ClientError::invalid_response, exchange.status, problem.what());
  }
}

StreamResult ChatClient::stream(const std::string& prompt, const OnDelta& on_delta) {
  detail::StreamState state;
  SseParser parser([&](const std::string& data) {
    const std::string text = state.take(data);
    if (!text.empty() && on_delta && !on_delta(text)) state.fail(ClientError::cancelled, "cancelled");
  });
  detail::Exchange exchange([&](std::string_view bytes) {
    parser.feed(bytes);
    return state.progress();
  });
  send(exchange, prompt, true);

  // After its last event the reply is complete, however the connection ends.
  if (!state.error && !state.whole()) state.error = error_of(exchange);
  if (!state.error && !state.whole()) {
    if (exchange.is_stream()) {
      state.fail(ClientError::connection_lost, "the stream ended before the reply did");
    } else {
      state.fail(ClientError::invalid_response, "asked for a stream, got " + exchange.header("content-type"));
    }
  }
  return StreamResult(std::move(state.received), std::move(state.finish_reason), std::move(state.error));
}

RunningStream ChatClient::start_stream(const std::string& prompt, OnDelta on_delta) {
  // A separate client, so that this one stays usable on its thread.
  auto worker = std::make_shared<ChatClient>(base_url_, api_key_, sleep_, settings_);
  auto result = std::async(std::launch::async, [worker, prompt, on_delta = std::move(on_delta)] {
    return worker->stream(prompt, on_delta);
  });
  return RunningStream(worker->connection_, result.share());
}

}  // namespace chat_client
