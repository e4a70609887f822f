// `run`: its steps, and the precedence of exit codes.

#include <optional>

#include "command.hpp"
#include "commands.hpp"
#include "control_access.hpp"
#include "journal_file.hpp"
#include "messages.hpp"
#include "published_file.hpp"
#include "report.hpp"
#include "serving.hpp"

namespace mock_gateway {
namespace endpoint {

int run(Flags flags, const std::vector<std::string>& command) {
  flags.logs_all = false;  // CMD writes to the same terminal
  if (flags.print == "json")
    throw BadValue(
        "--print json: stdout belongs to CMD; the file named in MOCK_GATEWAY_INFO has the same JSON, as does "
        "--info-file");
  if (flags.journal == JournalFile::stdout_path) throw BadValue("--journal -: stdout belongs to CMD; name a file");
  if (flags.until_eof) throw BadValue("--until-eof: stdin belongs to CMD; run ends when CMD does");
  const SignalsForCommand signals;
  std::optional<PublishedFile> port_file;
  if (!flags.port_file.empty()) port_file.emplace("--port-file", flags.port_file);
  ControlAccess control(flags);
  const std::vector<ReportTarget> targets = report_targets(flags);
  require_writable(targets);
  Serving serving(flags, 0, true, control.identity());
  Gateway& gateway = serving.gateway();
  serving.warn_of_network("", gateway.host());
  if (port_file) port_file->write(std::to_string(gateway.port()) + "\n");
  const ControlSession session(control, serving);
  const TemporaryFile info(control.info(gateway) + "\n");
  const TemporaryFile starts("");
  const std::string info_variable = "MOCK_GATEWAY_INFO=" + info.path();
  Command client(command, client_environment(gateway, {info_variable, "MOCK_GATEWAY_RUN=" + starts.path()}), signals);
  raise_descriptor_limit();  // after the start, so that the command keeps the shell's limit
  const int status = client.wait();
  port_file.reset();
  control.end();

  Results results = serving.judge(flags, want_evidence(targets));
  results.command = client.how_it_ended();
  results.own_gateways = starts.size();
  results.command_failed = status != 0;
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
