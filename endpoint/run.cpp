#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>

#include "command.hpp"
#include "commands.hpp"
#include "messages.hpp"
#include "published_file.hpp"
#include "report.hpp"
#include "serving.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

/// 128 random bits in hexadecimal digits: no other gateway has the same.
std::string random_instance() {
  std::random_device random;
  std::string digits;
  for (int i = 0; i < 4; ++i) {
    char part[9];
    std::snprintf(part, sizeof part, "%08x", static_cast<unsigned>(random()));
    digits += part;
  }
  return digits;
}

/// What MOCK_GATEWAY_INFO names.
std::string info_of(const Gateway& gateway) {
  const Json info{{"instance", random_instance()},
                  {"pid", static_cast<std::int64_t>(::getpid())},
                  {"base_url", gateway.base_url()},
                  {"api_key", gateway.api_key()},
                  {"version", MOCK_GATEWAY_VERSION}};
  return info.dump(2) + "\n";
}

}  // namespace

int run(const Flags& flags, const std::vector<std::string>& command) {
  const SignalsForCommand signals;
  std::optional<PublishedFile> port_file;
  if (!flags.port_file.empty()) port_file.emplace("--port-file", flags.port_file);
  const std::vector<ReportTarget> targets = report_targets(flags);
  require_writable(targets);
  Serving serving(flags, 0, true);
  Gateway& gateway = serving.gateway();
  warn_of_network(gateway);
  if (port_file) port_file->write(std::to_string(gateway.port()) + "\n");
  const TemporaryFile info(info_of(gateway));
  Command client(command, client_environment(gateway.base_url(), gateway.host(), gateway.api_key(), info.path()),
                 signals);
  raise_descriptor_limit();  // after the start: the command has the limit that the shell gave
  const int status = client.wait();
  port_file.reset();

  Results results = serving.judge(flags, want_evidence(targets));
  results.command = client.how_it_ended();
  serving.stop();
  try {
    write_reports(targets, results);
  } catch (const BadValue& problem) {
    complain(problem.what());
    return status != 0 ? status : exit_unusable;
  }
  if (status != 0) return status;
  return found(results) ? exit_found : 0;
}

}  // namespace endpoint
}  // namespace mock_gateway
