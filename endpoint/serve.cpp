#include <pthread.h>

#include <csignal>
#include <iostream>
#include <optional>
#include <string_view>

#include "commands.hpp"
#include "messages.hpp"
#include "published_file.hpp"
#include "report.hpp"
#include "serving.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

std::string quoted_for_shell(const std::string& text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:";
  if (text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void introduce(const Gateway& gateway, const Flags& flags) {
  const std::string url = quoted_for_shell(gateway.base_url());
  const std::string key = gateway.api_key();
  const std::string model = flags.models.empty() ? "mock-model" : split(flags.models.front(), '=').first;
  const Json body{{"model", model}, {"messages", {{{"role", "user"}, {"content", "Hello"}}}}};
  warn_of_network(gateway);
  std::cout << "base URL  " << gateway.base_url() << "\n"
            << "API key   " << key << "\n\n"
            << "export OPENAI_BASE_URL=" << url << " OPENAI_API_KEY=" << quoted_for_shell(key)
            << "\n"
            // A proxy in the environment would not reach this machine's loopback.
            << "curl --noproxy '*' " << url << "/chat/completions -H "
            << quoted_for_shell("Authorization: Bearer " + key) << " -H 'Content-Type: application/json' -d "
            << quoted_for_shell(body.dump()) << "\n\n"
            << "ready" << std::endl;
}

}  // namespace

int serve(const Flags& flags) {
  constexpr int default_port = 8080;
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  if (!flags.scripts.empty()) sigaddset(&ends, SIGHUP);  // reads the scripts again
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // whoever read what it prints may be gone

  std::optional<PublishedFile> port_file;
  if (!flags.port_file.empty()) port_file.emplace("--port-file", flags.port_file);
  const std::vector<ReportTarget> targets = report_targets(flags);
  require_writable(targets);
  raise_descriptor_limit();
  Serving serving(flags, default_port, flags.wants_judgement());
  if (port_file) port_file->write(std::to_string(serving.gateway().port()) + "\n");
  serving.watch_scripts(flags);
  introduce(serving.gateway(), flags);

  int signal = 0;
  while (sigwait(&ends, &signal) == 0 && signal == SIGHUP) serving.reload_scripts();
  port_file.reset();  // before the port is closed, so that nobody finds there what is gone
  std::optional<Results> results;
  if (flags.wants_judgement()) results = serving.judge(flags, want_evidence(targets));
  serving.stop();
  if (!results) return 0;
  write_reports(targets, *results);
  return found(*results) ? exit_found : 0;
}

}  // namespace endpoint
}  // namespace mock_gateway
