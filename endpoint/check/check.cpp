// `check`: its steps, and the precedence of exit codes.

#include <filesystem>
#include <iostream>
#include <set>
#include <utility>

#include "../commands.hpp"
#include "../messages.hpp"
#include "../processes.hpp"
#include "../published_file.hpp"
#include "../report.hpp"
#include "check_report.hpp"

namespace mock_gateway {
namespace endpoint {

int check(const CheckFlags& flags, const std::vector<std::string>& command) {
  require_consistent_flags(flags);
  static_cast<void>(timeout_from(flags));
  const std::vector<ReportTarget> targets = check_report_targets(flags);
  require_writable(targets);
  if (flags.write_baseline) require_publishable("--baseline", flags.baseline);
  const bool has_baseline = flags.write_baseline ? std::filesystem::exists(flags.baseline) : !flags.baseline.empty();
  const Baseline baseline = has_baseline ? Baseline(flags.baseline) : Baseline();
  Children children;
  CheckRun run(children, flags, command);
  try {
    run.try_unbroken();
    run.call_all(flags.write_baseline ? Baseline() : baseline);
  } catch (const UnusableClient& problem) {
    std::cerr << "mock-gateway: " << problem.what() << std::endl;
    return exit_unusable;
  }
  if (const std::string ended = children.end_orphans(); !ended.empty())
    run.remark("CMD left processes running; check ended them: " + ended);
  if (!lists_processes) run.remark("processes that leave CMD's process group cannot be ended on this system");

  // Restore the default signal actions: a signal during the writing of reports ends the program.
  run.heed_signals();
  children.signals().give_back();
  const std::set<std::string>* const names = flags.sweeps() ? nullptr : &run.names();
  std::vector<std::string> stale;
  if (!flags.write_baseline) stale = baseline.stale(run.all_cells(), flags, names);
  CheckResults results{run, flags, command, std::move(stale), false};
  const bool is_whole = !run.ended_by() && !run.is_incomplete() && results.judged() > 0;
  if (flags.write_baseline && is_whole) publish("--baseline", flags.baseline, baseline.renewed(run.all_cells(), flags));
  run.accept(flags.write_baseline ? nullptr : &baseline);
  results.failed = flags.fail_on != "never" && results.finds_fault();
  write_reports(targets, results);
  if (run.ended_by()) return 128 + *run.ended_by();
  return results.failed ? exit_found : 0;
}

}  // namespace endpoint
}  // namespace mock_gateway
