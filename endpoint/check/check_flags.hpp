#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../library.hpp"

namespace CLI {
class App;
}

namespace mock_gateway {
namespace endpoint {

/// How a client asks: `stream` false or true.
enum class Form { plain, streamed };
/// "plain", "streamed".
const char* to_string(Form form);

/// The flags of `check` as they were given.
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
  std::string prompt = "What is the weather?";

  /// The model that the client is to ask for.
  std::string model() const { return models.empty() ? "mock-model" : models.front(); }
  bool sweeps() const { return sweep || splits; }
};

void add_check_flags(CLI::App& app, CheckFlags& flags);
/// Throws BadValue for flags that do not fit together.
void require_sense(const CheckFlags& flags);
/// Throws BadValue.
std::chrono::milliseconds timeout_from(const CheckFlags& flags);
/// How the gateway of a call starts.
Options options_from(const CheckFlags& flags);
/// What a client is to be given to make one call again as it was made here: "mock-gateway check --driver --only NAME
/// --plain -- python client.py", for a POSIX shell. Without a name, all of a sweep.
std::string command_to_repeat(const CheckFlags& flags, const std::vector<std::string>& command, const std::string& name,
                              Form form);

}  // namespace endpoint
}  // namespace mock_gateway
