#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../library.hpp"

namespace CLI {
class App;
}

namespace mock_gateway {
namespace endpoint {

/// Whether a call asks for a plain or a streamed reply.
enum class Form { plain, streamed };
const char* to_string(Form form);

struct CheckFlags {
  bool plain = false;
  bool streamed = false;
  bool tools = false;
  bool driver = false;
  std::string outcome = "text";
  std::vector<std::string> groups;
  std::vector<std::string> only;
  std::vector<std::string> skipped;
  std::vector<std::string> catalogues;
  std::optional<std::string> sweep;
  std::optional<std::string> splits;
  std::optional<std::size_t> at_most;
  std::optional<std::uint64_t> seed;
  std::optional<std::size_t> jobs;
  std::string timeout = "20s";
  std::string baseline;
  bool write_baseline = false;
  bool strict = false;
  std::vector<std::string> reports;
  std::string fail_on = "error";
  std::vector<std::string> without_findings;
  std::vector<std::string> models;
  std::string acceptance = "openai";
  std::string profile = "documented";
  std::string enforce;
  std::vector<std::string> key_headers;
  bool no_key_required = false;
  std::vector<std::string> base_paths;
  /// Has a character of two bytes, so that a Content-Length in characters is too small.
  std::string prompt = "What is the weather in Zürich?";

  /// The model that the client requests.
  std::string model() const { return models.empty() ? "mock-model" : models.front(); }
  bool sweeps() const { return sweep || splits; }
};

void add_check_flags(CLI::App& app, CheckFlags& flags);
/// Throws BadValue for flags that contradict each other.
void require_consistent_flags(const CheckFlags& flags);
/// Throws BadValue.
std::chrono::milliseconds timeout_from(const CheckFlags& flags);
/// Returns the options of the gateway for each call.
Options options_from(const CheckFlags& flags);
/// Returns a command for a POSIX shell that repeats one call: "mock-gateway check --driver --only NAME --plain --
/// python client.py". An empty name repeats a whole sweep.
std::string command_to_repeat(const CheckFlags& flags, const std::vector<std::string>& command, const std::string& name,
                              Form form);

struct ChosenScenarios {
  std::vector<Scenario> chosen;
  /// The names of all scenarios, chosen or not.
  std::set<std::string> names;
};

/// Returns the scenarios that the flags select; none for a sweep. Throws BadValue, ScriptError and GatewayError.
ChosenScenarios chosen_scenarios(const CheckFlags& flags);

}  // namespace endpoint
}  // namespace mock_gateway
