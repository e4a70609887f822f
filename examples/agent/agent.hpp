#pragma once

// A small agent for OpenAI-compatible gateways, on libcurl. It sends a prompt, runs the tools that the model calls,
// sends their results, and repeats until the model answers. An example of a loop worth testing; its suite is
// agent_test.cpp.

#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace agent {

using Json = nlohmann::ordered_json;

/// A status other than 200, or no response.
class AgentError : public std::runtime_error {
 public:
  AgentError(int status, const std::string& message) : std::runtime_error(message), status_(status) {}
  /// 0 if there was no response.
  int status() const { return status_; }

 private:
  int status_;
};

struct Tool {
  std::string name;
  std::string description;
  /// JSON Schema of the arguments.
  Json parameters;
  /// The text of an exception is sent to the model as the tool's result.
  std::function<std::string(const Json& arguments)> call;
};

class Agent {
 public:
  /// `base_url` ends in /v1.
  Agent(std::string base_url, std::string api_key, std::string model = "mock-model");

  void add_tool(Tool tool) { tools_.push_back(std::move(tool)); }

  /// Returns the model's answer to the prompt, after at most `max_turns` requests. Throws AgentError.
  std::string run(const std::string& prompt, int max_turns = 8);
  /// The messages of the last run.
  const Json& messages() const { return messages_; }

 private:
  Json ask();
  std::string call_tool(const Json& call) const;

  std::string base_url_;
  std::string api_key_;
  std::string model_;
  std::vector<Tool> tools_;
  Json messages_;
};

}  // namespace agent
