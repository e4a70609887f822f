// A C++ client on cpp-httplib, as an app would write it, as a driver of `mock-gateway check` (docs/driver-protocol.md).
//
//   g++ -std=c++17 cpp_httplib.cpp $(pkg-config --cflags --libs cpp-httplib) -pthread -o driver
//   mock-gateway check --driver --tools -- ./driver

#include <atomic>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <httplib.h>
#include <nlohmann/json.hpp>

using nlohmann::json;

struct Connection {
  std::string path;  // of the base URL
  std::string api_key;
  std::unique_ptr<httplib::Client> client;
};

std::map<std::string, Connection> connections;  // one per address

Connection& connection_of(const json& job) {
  const std::string base_url = job["base_url"];
  Connection& connection = connections[base_url];
  if (!connection.client) {
    const auto path = base_url.find('/', base_url.find("//") + 2);
    connection.path = base_url.substr(path);
    connection.api_key = job["api_key"];
    connection.client = std::make_unique<httplib::Client>(base_url.substr(0, path));
    connection.client->set_keep_alive(true);
  }
  return connection;
}

// Adds the content of a message or a delta to what the caller has received.
void take(const json& part, json& seen) {
  for (const char* key : {"content", "refusal"}) {
    if (const json text = part.value(key, json()); !text.is_null()) {
      seen["text"] = seen["text"].get<std::string>() + text.get<std::string>();  // throws if it is no string
    }
  }
  json& calls = seen["tool_calls"];
  for (const json& call : part.value("tool_calls", json())) {
    const std::size_t index = call.value("index", calls.size());
    while (calls.size() <= index) calls.push_back({{"name", ""}, {"arguments", ""}});
    const json& function = call.at("function");
    if (const json name = function.value("name", json()); name.is_string()) calls[index]["name"] = name;
    calls[index]["arguments"] = calls[index]["arguments"].get<std::string>() + function.value("arguments", "");
  }
}

// Processes a reply, or an event of a stream, whose choices have the key "message" or "delta".
void take_document(const json& document, const char* key, json& seen) {
  if (document.contains("error")) throw std::runtime_error(document["error"].dump());
  if (const json usage = document.value("usage", json()); usage.is_object()) seen["usage"] = usage;
  for (const json& choice : document.value("choices", json())) {
    if (choice.value("index", 0) != 0) continue;
    if (const json part = choice.value(key, json()); part.is_object()) take(part, seen);
    if (const json reason = choice.value("finish_reason", json()); reason.is_string()) seen["finish_reason"] = reason;
  }
}

// A parser of server-sent events that accepts them as they arrive.
class Events {
 public:
  Events(const json& job, json& seen) : after_tokens_(job.value("after_tokens", -1)), seen_(seen) {}

  // Returns whether there is more to read.
  bool take_bytes(const char* data, std::size_t size) {
    rest_.append(data, size);
    for (std::size_t end; (end = rest_.find('\n')) != std::string::npos;) {
      std::string line = rest_.substr(0, end);
      rest_.erase(0, end + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (!take_line(line)) return false;
    }
    return true;
  }
  // True if the caller has left or [DONE] has arrived.
  bool left() const { return left_; }
  bool done() const { return done_; }

 private:
  bool take_line(const std::string& line) {
    if (line.rfind("data:", 0) == 0) {
      data_ += (data_.empty() ? "" : "\n") + line.substr(line.rfind("data: ", 0) == 0 ? 6 : 5);
    } else if (line.empty() && !data_.empty()) {
      done_ = data_ == "[DONE]";
      if (done_) return false;
      const std::string before = seen_["text"];
      take_document(json::parse(data_), "delta", seen_);
      data_.clear();
      left_ = seen_["text"] != before && ++pieces_ == after_tokens_;
    }
    return !left_;
  }

  int after_tokens_;
  int pieces_ = 0;
  bool left_ = false;
  bool done_ = false;
  json& seen_;
  std::string rest_;  // an incomplete line
  std::string data_;  // the data of the current event
};

void call(const json& job, json& seen) {
  Connection& connection = connection_of(job);
  const bool streams = job.value("stream", job["job"] != "ask");
  json body = {
      {"model", job["model"]}, {"stream", streams}, {"messages", {{{"role", "user"}, {"content", job["prompt"]}}}}};
  if (job.contains("tools")) body["tools"] = job["tools"];

  httplib::Request request;
  request.method = "POST";
  request.path = connection.path + "/chat/completions";
  request.headers = {{"Authorization", "Bearer " + connection.api_key}, {"Content-Type", "application/json"}};
  request.body = body.dump();

  // Exceptions of a callback must not pass through cpp-httplib.
  std::exception_ptr failure;
  std::string refusal;
  int status = 0;
  Events events(job, seen);
  if (streams) {
    request.response_handler = [&](const httplib::Response& response) { return status = response.status, true; };
    request.content_receiver = [&](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
      try {
        if (status == 200) return events.take_bytes(data, size);
        refusal.append(data, size);
        return true;
      } catch (...) {
        failure = std::current_exception();
        return false;
      }
    };
  }
  std::atomic<bool> over{false};
  std::thread leaving;
  if (job.contains("after_ms")) {
    leaving = std::thread([&, after = std::chrono::milliseconds(job["after_ms"].get<int>())] {
      const auto until = std::chrono::steady_clock::now() + after;
      while (!over && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (!over) connection.client->stop();
    });
  }
  const httplib::Result result = connection.client->send(request);
  over = true;
  if (leaving.joinable()) leaving.join();

  if (failure) std::rethrow_exception(failure);
  if (events.left()) return;
  if (!events.done()) {  // then cpp-httplib reports that reading was canceled
    if (!result) throw std::runtime_error(httplib::to_string(result.error()));
    if (result->status != 200) {
      throw std::runtime_error(std::to_string(result->status) + " " + (streams ? refusal : result->body));
    }
    if (!streams) take_document(json::parse(result->body), "message", seen);
  }
  if (!seen.contains("finish_reason")) throw std::runtime_error("the answer has no end");
}

json answer(const json& job) {
  const std::string what = job["job"];
  if (what == "hello") return {{"client", "cpp-httplib"}, {"version", CPPHTTPLIB_VERSION}};
  if (what == "use_key") {
    connection_of(job).api_key = job["api_key"];
    return json::object();
  }
  if (what != "ask" && what != "stream" && what != "cancel" && what != "abandon") return {{"unknown", true}};
  json seen = {{"text", ""}, {"tool_calls", json::array()}};
  try {
    call(job, seen);
  } catch (const std::exception& error) {
    seen["error"] = error.what();
  }
  return seen;
}

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const json job = json::parse(line);
    json said = answer(job);
    said["id"] = job["id"];
    std::cout << said.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }
}
