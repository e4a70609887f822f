#include "agent.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace agent {
namespace {

struct Response {
  long status = 0;
  std::string body;
};

std::size_t append(char* bytes, std::size_t size, std::size_t count, void* body) {
  static_cast<std::string*>(body)->append(bytes, size * count);
  return size * count;
}

Response post(const std::string& url, const std::string& api_key, const std::string& body) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
  const std::string authorization = "Authorization: Bearer " + api_key;
  curl_slist* fields = curl_slist_append(nullptr, authorization.c_str());
  fields = curl_slist_append(fields, "Content-Type: application/json");
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(fields, curl_slist_free_all);
  Response response;
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &response.body);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, 60L);
  const CURLcode result = curl_easy_perform(curl.get());
  if (result != CURLE_OK) throw AgentError(0, curl_easy_strerror(result));
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &response.status);
  return response;
}

}  // namespace

Agent::Agent(std::string base_url, std::string api_key, std::string model)
    : base_url_(std::move(base_url)), api_key_(std::move(api_key)), model_(std::move(model)) {}

std::string Agent::run(const std::string& prompt, int max_turns) {
  messages_ = Json::array({{{"role", "user"}, {"content", prompt}}});
  for (int turn = 0; turn < max_turns; ++turn) {
    Json message = ask();
    messages_.push_back(message);
    const Json calls = message.value("tool_calls", Json::array());
    if (calls.empty()) return message["content"].is_string() ? message["content"].get<std::string>() : std::string();
    for (const Json& call : calls) {
      messages_.push_back({{"role", "tool"}, {"tool_call_id", call.at("id")}, {"content", call_tool(call)}});
    }
  }
  throw AgentError(0, "no answer after " + std::to_string(max_turns) + " turns");
}

Json Agent::ask() {
  Json body{{"model", model_}, {"messages", messages_}};
  for (const Tool& tool : tools_) {
    body["tools"].push_back(
        {{"type", "function"},
         {"function", {{"name", tool.name}, {"description", tool.description}, {"parameters", tool.parameters}}}});
  }
  const Response response = post(base_url_ + "/chat/completions", api_key_, body.dump());
  if (response.status != 200) throw AgentError(static_cast<int>(response.status), response.body);
  try {
    return Json::parse(response.body).at("choices").at(0).at("message");
  } catch (const Json::exception& error) {
    throw AgentError(200, std::string("the reply is malformed: ") + error.what());
  }
}

std::string Agent::call_tool(const Json& call) const {
  try {
    const Json& function = call.at("function");
    const std::string name = function.at("name");
    const auto tool = std::find_if(tools_.begin(), tools_.end(), [&](const Tool& known) { return known.name == name; });
    if (tool == tools_.end()) return "error: there is no tool " + name;
    return tool->call(Json::parse(function.at("arguments").get<std::string>()));
  } catch (const std::exception& error) {
    // The model may correct its own mistake.
    return std::string("error: ") + error.what();
  }
}

}  // namespace agent
