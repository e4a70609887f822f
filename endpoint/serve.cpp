// `serve`: default port, output at the start, signals.

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <optional>

#include "commands.hpp"
#include "control_access.hpp"
#include "journal_file.hpp"
#include "messages.hpp"
#include "published_file.hpp"
#include "report.hpp"
#include "serving.hpp"

namespace mock_gateway {
namespace endpoint {
namespace {

bool journal_has_stdout(const Flags& flags) { return flags.journal == JournalFile::stdout_path; }

void require_stdout_for_journal(const Flags& flags, const std::vector<ReportTarget>& targets) {
  if (!journal_has_stdout(flags)) return;
  // Log collectors that read stdout must not receive the key or the token.
  if (flags.print == "json")
    throw BadValue("--journal -: stdout carries only the journal; use --info-file FILE instead of --print json");
  for (const ReportTarget& target : targets)
    if (target.file == "-") throw BadValue("--journal -: stdout carries only the journal; name a file for the report");
}

void introduce(const Gateway& gateway, ControlAccess& control, const Flags& flags) {
  if (flags.print == "json") {
    std::cout << control.info(gateway) << std::endl;
    return;
  }
  const std::string url = quoted_for_shell(gateway.base_url());
  const std::string key = gateway.api_key();
  const std::string model = internal::Inside(gateway).first_model();
  const Json body{{"model", model}, {"messages", {{{"role", "user"}, {"content", "Hello"}}}}};
  const int descriptor = journal_has_stdout(flags) ? STDERR_FILENO : STDOUT_FILENO;
  std::ostream& out = descriptor == STDERR_FILENO ? std::cerr : std::cout;
  out << "base URL  " << gateway.base_url() << "\n"
      << "API key   " << key << "\n";
  // Print codes only on a terminal: files and CI logs are kept.
  if (!control.url().empty())
    out << "console   " << (::isatty(descriptor) != 0 ? control.console_with_code() : control.url() + "/") << "\n";
  out << "\n"
      << "export OPENAI_BASE_URL=" << url << " OPENAI_API_KEY=" << quoted_for_shell(key)
      << "\n"
      // A proxy from the environment cannot reach loopback addresses of this machine.
      << "curl --noproxy '*' " << url << "/chat/completions -H " << quoted_for_shell("Authorization: Bearer " + key)
      << " -H 'Content-Type: application/json' -d " << quoted_for_shell(body.dump()) << "\n\n"
      << "ready" << std::endl;
}

}  // namespace

int serve(const Flags& flags) {
  constexpr int default_port = 8080;
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  if (!flags.scripts.empty()) sigaddset(&ends, SIGHUP);  // reloads the scripts
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  take_over_stderr();
  std::signal(SIGPIPE, SIG_IGN);  // the reader of the output may be gone

  std::optional<PublishedFile> port_file;
  if (!flags.port_file.empty()) port_file.emplace("--port-file", flags.port_file);
  ControlAccess control(flags);
  const std::vector<ReportTarget> targets = report_targets(flags);
  require_writable(targets);
  require_stdout_for_journal(flags, targets);
  raise_descriptor_limit();
  Serving serving(flags, default_port, flags.wants_judgement(), control.identity());
  if (port_file) port_file->write(std::to_string(serving.gateway().port()) + "\n");
  serving.watch_scripts(flags);
  const ControlSession session(control, serving);
  if (flags.until_eof) end_with_stdin();
  serving.warn_of_network("", serving.gateway().host());
  introduce(serving.gateway(), control, flags);

  int signal = 0;
  while (sigwait(&ends, &signal) == 0 && signal == SIGHUP) serving.reload_scripts();
  limit_stderr_writes();
  port_file.reset();  // before the port closes, so that no reader finds a closed port
  control.end();
  std::optional<Results> results;
  if (flags.wants_judgement()) results = serving.judge(flags, want_evidence(targets));
  serving.stop();
  if (!results) return 0;
  write_reports(targets, *results);
  return found(*results) ? exit_found : 0;
}

}  // namespace endpoint
}  // namespace mock_gateway
